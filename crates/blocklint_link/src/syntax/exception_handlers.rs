//! Handlers of exceptions, and the code that runs after a guarded part failed.

use crate::syntax::forms;
use blocklint_facts::{At, Exit, ExitKind, FileFacts, Form, FormId, Region, RegionId, RegionKind};

use crate::syntax::regions::lies_in;

/// Returns the guarded part of a `try` that failed in one way where a place is reached: the place stands in its
/// handler, or behind a guarded part that returns.
///
/// `exits` are those of the body of `at` and of the bodies around it.
pub fn tried_before(
    facts: &FileFacts,
    at: At,
    is_meant: fn(&str) -> bool,
    mut exits: impl Iterator<Item = Exit>,
) -> Option<RegionId> {
    if let Some(handler) = handler_around(facts, at.region).filter(|&handler| catches_only(facts, handler, is_meant)) {
        let is_guarded = |region: &Region| {
            region.kind == RegionKind::Try && region.body == handler.body && region.group == handler.group
        };
        return facts.regions.iter().position(|region| is_guarded(&region)).map(|nth| RegionId(nth as u32));
    }
    exits.find_map(|exit| {
        let id = exit.at.region.get()?;
        let guarded = facts.region(id);
        let is_left = exit.kind == ExitKind::Return
            && guarded.kind == RegionKind::Try
            && exit.at.position < at.position
            && !lies_in(facts, at.region, id)
            && guarded.parent.is_some()
            && lies_in(facts, at.region, guarded.parent)
            && all_catch_only(facts, guarded, is_meant);
        is_left.then_some(id)
    })
}

/// True if a handler catches only exceptions with certain names.
fn catches_only(facts: &FileFacts, handler: Region, is_meant: fn(&str) -> bool) -> bool {
    let is_one = |ty: FormId| exception_name(facts, ty).is_some_and(is_meant);
    match facts.form(handler.test) {
        Form::Display(_, list) => facts.list(list).iter().all(|&ty| is_one(ty)),
        _ => is_one(handler.test),
    }
}

/// True if all handlers of a `try` catch only exceptions with certain names.
fn all_catch_only(facts: &FileFacts, guarded: Region, is_meant: fn(&str) -> bool) -> bool {
    let mut handlers = facts
        .regions
        .iter()
        .filter(|region| {
            region.kind == RegionKind::Handler && region.body == guarded.body && region.group == guarded.group
        })
        .peekable();
    handlers.peek().is_some() && handlers.all(|handler| catches_only(facts, handler, is_meant))
}

/// Returns the nearest exception handler around a place.
pub fn handler_around(facts: &FileFacts, region: RegionId) -> Option<Region> {
    let mut at = region;
    while let Some(id) = at.get() {
        let region = facts.region(id);
        if region.kind == RegionKind::Handler {
            return Some(region);
        }
        at = region.parent;
    }
    None
}

/// Returns the last name of an exception's type.
pub fn exception_name(facts: &FileFacts, exception: FormId) -> Option<&str> {
    forms::last_name(facts, exception).map(|name| facts.text(name))
}
