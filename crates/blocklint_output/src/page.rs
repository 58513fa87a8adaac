//! The page of findings for people, as the engine arranges it: blocks of causes, and the entry points to name.

use blocklint_core::CallDuration;

/// The arrangement of findings on a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The blocks in their order, which together have all groups. Empty if each group is a block.
    pub blocks: Vec<PageBlock>,
    /// For each finding, the entry point to name. Findings beyond the end of the list name none.
    pub reached_from: Vec<Option<ReachedFrom>>,
}

impl Page {
    /// A page on which each group is a block and no entry points are named.
    pub const PLAIN: &'static Page = &Page { blocks: Vec::new(), reached_from: Vec::new() };
}

/// The causes of one function.
#[derive(Clone, Debug, PartialEq)]
pub struct PageBlock {
    /// The groups of the causes: indices into the list of groups.
    pub groups: Vec<u32>,
    /// Qualified name of the function with the causes.
    pub function: String,
    /// True if this function must not block, and all findings of the block are its own calls.
    pub is_entry: bool,
    /// The number of functions that must not block and reach the function.
    pub reach: u32,
}

/// The entry point that reaches a finding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReachedFrom {
    /// Its index in the list of the finding's entry points.
    pub entry: u32,
    /// The time of the blocking call for each run of the entry point, if it is known.
    pub takes: Option<CallDuration>,
}
