//! What all programs share: how they are run and what is counted.

mod overload;
mod starvation;

pub use overload::{live, overload, render};
pub use starvation::{Connection, Connections, notify, pool, starve};

/// How many threads this process has now.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}
