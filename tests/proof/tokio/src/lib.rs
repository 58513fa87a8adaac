//! Shared code of all programs: their runs and their counts.

mod overload;
mod starvation;

pub use overload::{live, overload, render};
pub use starvation::{Connection, Connections, notify, pool, starve};

/// Returns the number of threads of this process.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}
