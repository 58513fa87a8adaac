//! The blocks of the format `full`: the groups of a block, and the findings that are written in full or as a list below
//! those.

use blocklint_core::{Cause, Context, Finding, Group};
use rustc_hash::FxHashSet;

use crate::written::Written;
use crate::{PageBlock, ReachedFrom, RenderInput};

/// The fewest findings that are written as a list below a finding that shows their path. Fewer are shown in full.
const FEWEST_LISTED: usize = 2;

/// The groups of one block of the page.
pub(crate) struct PageGroups<'a> {
    /// The cause of the first group; `None` for findings without one.
    pub(crate) cause: Option<&'a Cause>,
    pub(crate) groups: Vec<&'a Group>,
    pub(crate) block: Option<&'a PageBlock>,
}

impl<'a> PageGroups<'a> {
    /// True if the block has one finding, which says as much as the heading of its cause would.
    pub(crate) fn is_alone(&self) -> bool {
        self.groups.len() == 1 && self.groups[0].findings.len() == 1 && self.cause.is_some_and(|cause| cause.reach <= 1)
    }

    /// Returns the findings of all groups.
    pub(crate) fn findings(&self, input: &RenderInput<'a>) -> impl Iterator<Item = PageFinding<'a>> + '_ {
        let RenderInput { findings, page, .. } = *input;
        self.groups.iter().flat_map(|group| &group.findings).filter_map(move |&index| {
            let finding = findings.get(index as usize)?;
            Some(PageFinding { finding, from: page.reached_from.get(index as usize).copied().flatten() })
        })
    }
}

/// Returns the blocks of the page; each group is one if the page has none.
pub(crate) fn page_blocks<'a>(input: &RenderInput<'a>) -> Vec<PageGroups<'a>> {
    if input.page.blocks.is_empty() {
        let each = |group: &'a Group| PageGroups { cause: group.cause.as_ref(), groups: vec![group], block: None };
        return input.groups.iter().map(each).collect();
    }
    let blocks = input.page.blocks.iter().map(|block| {
        let groups = block.groups.iter().filter_map(|&index| input.groups.get(index as usize));
        let groups: Vec<&Group> = groups.collect();
        PageGroups { cause: groups.first().and_then(|group| group.cause.as_ref()), groups, block: Some(block) }
    });
    blocks.collect()
}

/// A finding with the entry point that the page names for it.
#[derive(Clone, Copy)]
pub(crate) struct PageFinding<'a> {
    pub(crate) finding: &'a Finding,
    pub(crate) from: Option<ReachedFrom>,
}

impl<'a> PageFinding<'a> {
    /// Returns the route that reaches the finding.
    pub(crate) fn route(&self) -> Option<&'a str> {
        self.finding.reached_by.get(self.from?.entry as usize)?.route.as_deref()
    }
}

/// The findings of a block by the form in which they are written.
#[derive(Default)]
pub(crate) struct Sorted<'a> {
    pub(crate) in_full: Vec<PageFinding<'a>>,
    /// Findings whose traces join an earlier trace at their second step. In full they would push the next cause off the
    /// screen.
    pub(crate) same_path: Vec<PageFinding<'a>>,
    /// Findings for other calls of the function to which an earlier trace leads, with the same advice.
    pub(crate) same_function: Vec<PageFinding<'a>>,
}

pub(crate) fn sort_by_form<'a>(block: &PageGroups<'a>, input: &RenderInput<'a>) -> Sorted<'a> {
    let sort = |lists_path: bool, lists_function: bool| {
        let mut sorted = Sorted::default();
        let (mut traces, mut advice) = (Written::default(), FxHashSet::default());
        for shown in block.findings(input) {
            let finding = shown.finding;
            let is_path = finding.context != Some(Context::Greenlet) && !finding.trace.is_empty();
            let of_function = lists_function && is_path && traces.has_path_to_last(&finding.trace);
            let joins_earlier = traces.add_trace(&finding.trace).own == 1 && finding.trace.len() > 1;
            let knows_advice = advice.contains(&(finding.rule, finding.help.as_deref()));
            if lists_path && is_path && joins_earlier {
                sorted.same_path.push(shown);
            } else if of_function && knows_advice {
                sorted.same_function.push(shown);
            } else {
                advice.insert((finding.rule, finding.help.as_deref()));
                sorted.in_full.push(shown);
            }
        }
        sorted
    };
    let has_function = block.groups.len() > 1;
    let sorted = sort(true, has_function);
    let (paths, functions) = (sorted.same_path.len() >= FEWEST_LISTED, sorted.same_function.len() >= FEWEST_LISTED);
    if paths && (functions || !has_function) { sorted } else { sort(paths, functions && has_function) }
}
