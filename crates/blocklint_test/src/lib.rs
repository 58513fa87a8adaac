//! blocklint_test
