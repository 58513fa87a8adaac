//! Regions (branches, loops, `try`) and bodies of one file: the regions around a position, and the function around a
//! closure or block.

use blocklint_facts::{BodyId, BodyKind, FileFacts, Region, RegionId, RegionKind};

/// Returns a region and the regions around it, inner ones first.
pub fn around(facts: &FileFacts, region: RegionId) -> impl Iterator<Item = RegionId> {
    std::iter::successors(region.get(), |&id| facts.region(id).parent.get())
}

/// True if a region is `outer` or nested in it. Also true if `outer` is none, which means the whole body.
pub fn is_region_in(facts: &FileFacts, region: RegionId, outer: RegionId) -> bool {
    outer.is_none() || around(facts, region).any(|id| id == outer)
}

/// Returns the outcome of the test under which a branch runs; `None` if a region is no branch.
pub(crate) fn outcome(region: &Region) -> Option<bool> {
    match region.kind {
        RegionKind::Then => Some(true),
        RegionKind::Else if region.test.is_some() => Some(false),
        _ => None,
    }
}

/// True if a line contains the first or the last character of a span.
pub fn touches(line: blocklint_core::Span, span: blocklint_core::Span) -> bool {
    line.contains_offset(span.start) || line.contains_offset(span.end.saturating_sub(1).max(span.start))
}

/// Returns the innermost function around a body, or the body itself if it is no lambda, async block or generator
/// expression.
pub fn function_around(facts: &FileFacts, mut body: BodyId) -> BodyId {
    while matches!(facts.body(body).kind, BodyKind::Lambda | BodyKind::AsyncBlock | BodyKind::GeneratorExpression)
        && let Some(parent) = facts.body(body).parent.get()
    {
        body = parent;
    }
    body
}
