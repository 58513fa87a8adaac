//! The `blocklint` command.

fn main() {}
