//! The results of one analysis of a workspace, from which requests are answered: plain data that any thread may read.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use blocklint_core::Finding;
use blocklint_engine::{Remedies, Timings};
use camino::Utf8Path;

use crate::blocking_graph::BlockingGraph;
use crate::text::Text;

/// A path of a file.
pub(crate) type FilePath = Arc<Utf8Path>;

/// The results of one analysis.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    /// The files that it looked at.
    pub(crate) files: Arc<HashSet<FilePath>>,
    /// The reported findings, by path and offset; places are spans.
    pub(crate) findings: Vec<Finding>,
    /// The findings of each file, as indices.
    pub(crate) by_file: HashMap<FilePath, Vec<usize>>,
    /// The texts that the spans count, of all files in which something of a finding lies, or that
    /// decide whether it can be mended.
    pub(crate) texts: HashMap<FilePath, Arc<Text>>,
    /// The fixes of the findings.
    pub(crate) remedies: Remedies,
    /// The bodies on the paths to the calls that block.
    pub(crate) blocking_graph: BlockingGraph,
    /// How long it took.
    pub(crate) timings: Timings,
}

impl Analysis {
    /// Returns the findings of a file, in order.
    pub(crate) fn findings_in(&self, path: &Utf8Path) -> impl Iterator<Item = &Finding> {
        self.by_file.get(path).into_iter().flatten().filter_map(|&at| self.findings.get(at))
    }

    /// Returns the text of a file, as spans count it; only of files in which something of a finding lies.
    pub(crate) fn text(&self, path: &Utf8Path) -> Option<&Arc<Text>> {
        self.texts.get(path)
    }
}
