//! blocklint_rust
