//! Regions and bodies of a file: the regions around a place, and the function around a closure or block.

use blocklint_facts::{BodyId, BodyKind, FileFacts, Region, RegionId, RegionKind};

/// Returns the regions around a place, its own first.
pub fn around(facts: &FileFacts, region: RegionId) -> impl Iterator<Item = RegionId> {
    std::iter::successors(region.get(), |&id| facts.region(id).parent.get())
}

/// True if a region is `outer` or lies in it. `outer` may be none: then it stands for the whole body, and the answer is true.
pub fn lies_in(facts: &FileFacts, region: RegionId, outer: RegionId) -> bool {
    outer.is_none() || around(facts, region).any(|id| id == outer)
}

/// Returns the outcome of the test under which a branch runs; `None` for a region that is no branch.
pub(crate) fn outcome(region: &Region) -> Option<bool> {
    match region.kind {
        RegionKind::Then => Some(true),
        RegionKind::Else if region.test.is_some() => Some(false),
        _ => None,
    }
}

/// True if a line holds the first or the last character of a span.
pub fn touches(line: blocklint_core::Span, span: blocklint_core::Span) -> bool {
    line.contains_offset(span.start) || line.contains_offset(span.end.saturating_sub(1).max(span.start))
}

/// Returns the function that a body is, or stands in: closures, blocks and generator expressions belong to it.
pub fn function_around(facts: &FileFacts, mut body: BodyId) -> BodyId {
    while matches!(facts.body(body).kind, BodyKind::Lambda | BodyKind::AsyncBlock | BodyKind::GeneratorExpression)
        && let Some(parent) = facts.body(body).parent.get()
    {
        body = parent;
    }
    body
}
