//! blocklint_project
