//! The time that each part of a run took, and the amount of work.

use std::fmt;
use std::time::Duration;

/// Wall time per part.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timings {
    /// Finding files and reading models.
    pub discover: Duration,
    /// Reading, decoding and parsing files.
    pub parse: Duration,
    /// Extracting facts from the trees.
    pub facts: Duration,
    /// Loading symbols and the hierarchy of classes.
    pub link: Duration,
    /// Resolving names and types, and the search.
    pub solve: Duration,
    /// Messages, places, rendering.
    pub output: Duration,
    /// The number of files whose facts were extracted; facts of other files came out of the cache.
    pub extracted: usize,
    /// The number of times that the whole program was linked and solved; 0 if the result came out of the cache.
    pub analyses: usize,
}

impl fmt::Display for Timings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("discover", self.discover),
            ("parse", self.parse),
            ("facts", self.facts),
            ("link", self.link),
            ("solve", self.solve),
            ("output", self.output),
        ];
        for (name, time) in parts {
            writeln!(f, "{name:<8} {:>9.1} ms", time.as_secs_f64() * 1e3)?;
        }
        let total: Duration = parts.iter().map(|(_, time)| *time).sum();
        writeln!(f, "{:<8} {:>9.1} ms", "total", total.as_secs_f64() * 1e3)?;
        writeln!(f, "{:<8} {:>9} files read for their facts, {} of all analysed", "work", self.extracted, self.analyses)
    }
}
