//! Exception handlers, and the code that runs after a `try` failed.

use crate::syntax::forms;
use blocklint_facts::{At, Exit, ExitKind, FileFacts, Form, FormId, Region, RegionId, RegionKind};

use crate::syntax::regions::is_region_in;

/// Returns the `try` that failed before a position: the position is in one of its handlers, or after a `try` whose
/// guarded part returns.
///
/// All handlers must catch only exceptions that meet `is_matching_name`. `exits` are those of the body of `at` and of
/// the bodies around it.
pub fn failed_try_before(
    facts: &FileFacts,
    at: At,
    is_matching_name: fn(&str) -> bool,
    mut exits: impl Iterator<Item = Exit>,
) -> Option<RegionId> {
    if let Some(handler) =
        handler_around(facts, at.region).filter(|&handler| catches_only(facts, handler, is_matching_name))
    {
        let is_guarded = |region: &Region| {
            region.kind == RegionKind::Try && region.body == handler.body && region.group == handler.group
        };
        return facts.regions.iter().position(|region| is_guarded(&region)).map(|index| RegionId(index as u32));
    }
    exits.find_map(|exit| {
        let id = exit.at.region.get()?;
        let guarded = facts.region(id);
        let is_left = exit.kind == ExitKind::Return
            && guarded.kind == RegionKind::Try
            && exit.at.position < at.position
            && !is_region_in(facts, at.region, id)
            && guarded.parent.is_some()
            && is_region_in(facts, at.region, guarded.parent)
            && all_catch_only(facts, guarded, is_matching_name);
        is_left.then_some(id)
    })
}

/// True if a handler catches only exceptions whose names meet a predicate.
fn catches_only(facts: &FileFacts, handler: Region, is_matching_name: fn(&str) -> bool) -> bool {
    let is_matching = |ty: FormId| exception_name(facts, ty).is_some_and(is_matching_name);
    match facts.form(handler.test) {
        Form::Display(_, list) => facts.list(list).iter().all(|&ty| is_matching(ty)),
        _ => is_matching(handler.test),
    }
}

/// True if all handlers of a `try` catch only exceptions whose names meet a predicate.
fn all_catch_only(facts: &FileFacts, guarded: Region, is_matching_name: fn(&str) -> bool) -> bool {
    let mut handlers = facts
        .regions
        .iter()
        .filter(|region| {
            region.kind == RegionKind::Handler && region.body == guarded.body && region.group == guarded.group
        })
        .peekable();
    handlers.peek().is_some() && handlers.all(|handler| catches_only(facts, handler, is_matching_name))
}

/// Returns the innermost exception handler around a region.
pub fn handler_around(facts: &FileFacts, region: RegionId) -> Option<Region> {
    let mut next = region;
    while let Some(id) = next.get() {
        let region = facts.region(id);
        if region.kind == RegionKind::Handler {
            return Some(region);
        }
        next = region.parent;
    }
    None
}

/// Returns the last name of an exception's type.
pub fn exception_name(facts: &FileFacts, exception: FormId) -> Option<&str> {
    forms::last_name(facts, exception).map(|name| facts.text(name))
}
