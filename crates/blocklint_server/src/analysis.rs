//! The results of one analysis of a workspace folder: plain data that any thread may read to answer requests.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use blocklint_core::Finding;
use blocklint_engine::{Remedies, Timings};
use camino::Utf8Path;

use crate::blocking_graph::BlockingGraph;
use crate::text::Text;

/// A shared path of a file.
pub(crate) type FilePath = Arc<Utf8Path>;

/// The results of one analysis.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    /// The analysed files.
    pub(crate) files: Arc<HashSet<FilePath>>,
    /// The reported findings, sorted by path and offset; their places have spans, but no lines.
    pub(crate) findings: Vec<Finding>,
    /// The findings of each file, as indices into `findings`.
    pub(crate) by_file: HashMap<FilePath, Vec<usize>>,
    /// The texts that were analysed, of files that have a finding, a step or cause of one, or decide whether a fix
    /// applies.
    pub(crate) texts: HashMap<FilePath, Arc<Text>>,
    /// The fixes of the findings.
    pub(crate) remedies: Remedies,
    /// The bodies on the paths to the calls that block.
    pub(crate) blocking_graph: BlockingGraph,
    /// The time that each part of the analysis took.
    pub(crate) timings: Timings,
}

impl Analysis {
    /// Returns the findings of a file, in order.
    pub(crate) fn findings_in(&self, path: &Utf8Path) -> impl Iterator<Item = &Finding> {
        self.by_file.get(path).into_iter().flatten().filter_map(|&index| self.findings.get(index))
    }

    /// Returns the text of a file as it was analysed, so that spans fit it; `None` if no finding involves the file.
    pub(crate) fn text(&self, path: &Utf8Path) -> Option<&Arc<Text>> {
        self.texts.get(path)
    }
}
