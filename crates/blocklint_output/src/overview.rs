//! The overview of the causes of all findings, which the engine computes and renderers show.

use blocklint_core::{Confidence, Hold, Severity};

/// The overview of all findings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overview {
    /// The overviews of the groups of findings, in the order of the groups.
    pub groups: Vec<GroupOverview>,
    /// The number of functions with findings.
    pub functions: u32,
    /// The index of the group whose cause should be mended first: an edit of it mends the most of the worst findings.
    /// `None` if no edit mends more than one finding.
    pub first: Option<usize>,
    /// The change that a plan begins with, if it ends more than one finding.
    pub begin: Option<Begin>,
}

/// The change to begin with.
#[derive(Clone, Debug, PartialEq)]
pub struct Begin {
    /// The kind of change.
    pub kind: BeginKind,
    /// The place of the call. `None` for a whole function.
    pub place: Option<blocklint_core::Place>,
    /// The changed function, or the function with the call.
    pub function: String,
    /// The library's call, or the called function. Empty for a whole function.
    pub call: String,
    /// The number of findings that end with it.
    pub mends: u32,
}

/// The kind of the first change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeginKind {
    /// The line that enters the library.
    Cause,
    /// A whole function.
    Function,
    /// One call in code that must not block.
    Call,
}

/// The overview of the findings of one cause.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupOverview {
    /// A unique id of 16 hexadecimal digits, which does not change when lines move.
    pub id: String,
    /// The number of functions with findings of the group.
    pub functions: u32,
    /// The number of findings that have no other cause, so that one edit of the cause mends them.
    pub mends: u32,
    /// The longest hold of the group's findings.
    pub hold: Hold,
    /// The severity of the group's worst finding.
    pub severity: Severity,
    /// The confidence of the group's surest finding.
    pub confidence: Confidence,
    /// The findings of other groups that have this cause, too: indices into the list of findings.
    pub also: Vec<u32>,
    /// The paths of its findings.
    pub graph: PathGraph,
}

/// The graph of a group's traces. Traces through the same function share its node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathGraph {
    /// The functions, then the library calls at the ends.
    pub nodes: Vec<PathNode>,
    /// The calls between the nodes.
    pub edges: Vec<PathEdge>,
    /// For each finding of the group, the nodes of its trace in order. Empty for a finding without a trace.
    pub paths: Vec<Vec<u32>>,
}

/// A function, or a library call at the end of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathNode {
    /// Its qualified name.
    pub name: String,
    /// Its kind.
    pub kind: PathNodeKind,
    /// The number of calls from it to the end, on the longest path that passes no node twice.
    pub distance: u32,
    /// The number of the group's findings whose trace passes through it.
    pub findings: u32,
}

/// The kind of a node of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathNodeKind {
    /// A function that must not block.
    Entry,
    /// A function between the entry and the call.
    Step,
    /// The library call that blocks.
    Call,
}

/// One function calls another, or the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathEdge {
    /// The caller: an index into the nodes.
    pub from: u32,
    /// The callee.
    pub to: u32,
    /// The number of the group's findings whose trace has this call.
    pub findings: u32,
}
