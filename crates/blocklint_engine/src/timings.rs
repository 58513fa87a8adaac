//! How long each part of a run took, and what was done in it.

use std::fmt;
use std::time::Duration;

/// Wall time per part.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timings {
    /// Finding files and reading models.
    pub discover: Duration,
    /// Reading, decoding and parsing files.
    pub parse: Duration,
    /// Making facts of the trees.
    pub facts: Duration,
    /// Loading symbols and the hierarchy of classes.
    pub link: Duration,
    /// Resolving what is asked for, and the search.
    pub solve: Duration,
    /// Words, places, rendering.
    pub output: Duration,
    /// Files that were read for their facts: those of others were kept by an earlier run.
    pub extracted: usize,
    /// How often the whole program was linked and solved; 0 where an earlier run did it.
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
