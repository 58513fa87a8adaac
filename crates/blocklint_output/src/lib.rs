//! blocklint_output
