//! The real binary, in one program: each of its modules is a part of what it does.

mod bad_input;
mod cli;
mod configuration;
mod fix;
mod hooks;
mod incidents;
mod libraries;
mod machine_output;
mod models;
mod names;
mod notebooks;
mod pages;
mod programs;
mod readme;
mod ruff;
mod rust_compile;
mod same_output;
mod sarif;
mod sha256;
mod shipped;
mod signals;
mod suppressions;
mod teach;
mod versions;
mod why;
