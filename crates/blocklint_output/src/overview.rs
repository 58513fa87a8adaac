//! The overview of a report over its causes: plain data that the engine computes and renderers show.

use blocklint_core::{Confidence, Hold, Severity};

/// The overview of all findings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overview {
    /// One for each group of findings, in their order.
    pub groups: Vec<GroupOverview>,
    /// How many functions the findings stand in.
    pub functions: u32,
    /// The group whose cause is to be mended first: of the worst ones, no other edit of one place mends as much.
    /// Nothing where no edit mends more than one finding.
    pub first: Option<usize>,
    /// The change that a plan begins with, if it ends more than one finding.
    pub begin: Option<Begin>,
}

/// The change to begin with.
#[derive(Clone, Debug, PartialEq)]
pub struct Begin {
    /// The place of the change.
    pub kind: BeginKind,
    /// The call; none of a function as a whole.
    pub place: Option<blocklint_core::Place>,
    /// The function, or the one that the call stands in.
    pub function: String,
    /// The library's call, or the function that is called; empty of a function as a whole.
    pub call: String,
    /// The number of findings that end with it.
    pub mends: u32,
}

/// The place of the first change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeginKind {
    /// The line that enters the library.
    Cause,
    /// A function as a whole.
    Function,
    /// One call in code that must not block.
    Call,
}

/// The overview of the findings of one cause.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupOverview {
    /// 16 hexadecimal digits that stay equal while lines move; no other group has them.
    pub id: String,
    /// How many functions its findings stand in.
    pub functions: u32,
    /// How many of all findings have no other cause, so that one edit there mends them.
    pub mends: u32,
    /// How long the longest of its findings can block a thread.
    pub hold: Hold,
    /// How bad the worst of them is.
    pub severity: Severity,
    /// How sure the surest of them is.
    pub confidence: Confidence,
    /// Findings whose best path has another cause, and which this one stalls as well; indices into the list of
    /// findings.
    pub also: Vec<u32>,
    /// The paths of its findings.
    pub graph: PathGraph,
}

/// The traces of a group's findings, joined where they run through the same functions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathGraph {
    /// Functions, and last the library calls at the ends.
    pub nodes: Vec<PathNode>,
    /// The calls between the nodes.
    pub edges: Vec<PathEdge>,
    /// For each finding of the group, the nodes of its trace in order; empty where it has none.
    pub paths: Vec<Vec<u32>>,
}

/// A function, or a library call at the end of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathNode {
    /// Its qualified name.
    pub name: String,
    /// Its kind.
    pub kind: PathNodeKind,
    /// How many calls lie between it and the end, on the longest way that does not come back to where it was.
    pub distance: u32,
    /// How many of the group's findings run through it.
    pub findings: u32,
}

/// The kind of a node of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathNodeKind {
    /// A function that must not block.
    Entry,
    /// A function on the way.
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
    /// How many of the group's findings take this way.
    pub findings: u32,
}
