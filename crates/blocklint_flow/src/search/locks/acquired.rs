//! Thread locks that a coroutine takes with `acquire()` and holds over an `await`, until a `release()` (Python).

use blocklint_core::Language;
use blocklint_facts::{FileFacts, Flow, Form, FormId, SiteFlags, SiteId, SiteKind};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_link::syntax::regions::is_region_in;
use blocklint_link::values::value::EnvId;

use crate::search::locks::{HeldOverAwait, lock_place_within, lock_type};

const ACQUIRE: &str = "acquire";
const RELEASE: &str = "release";

/// The most variables that are followed to the place of a lock.
const DEPTH: u32 = 4;

/// Adds the thread locks that coroutines of a file take with `acquire()` and hold over an `await`.
pub(crate) fn add_acquired_locks(linker: &Linker<'_>, file: FileId, held_locks: &mut Vec<HeldOverAwait>) {
    let facts = linker.program.facts(file);
    let Some(acquire) = linker.program.name(ACQUIRE).and_then(|name| linker.program.local(file, name)) else { return };
    if facts.language != Language::Python {
        return;
    }
    for &site in linker.program.index_of(file).sites_named(acquire) {
        let site_facts = facts.site(site);
        let Form::Attr(lock, _) = facts.form(site_facts.callee) else { continue };
        let is_coroutine =
            matches!(facts.body(facts.body_of(site_facts.at)).flow, Flow::Coroutine | Flow::AsyncGenerator);
        if site_facts.kind != SiteKind::Call
            || site_facts.flags.has(SiteFlags::AWAITED)
            || !is_coroutine
            || never_waits(facts, site)
        {
            continue;
        }
        let taken = file.site_ref(site);
        let Some(awaited) = first_await_while_held(linker, taken, lock) else { continue };
        if let Some(ty) = lock_type(linker, linker.scope_of(taken, EnvId::NONE), lock) {
            held_locks.push(HeldOverAwait { taken, awaited: file.site_ref(awaited), ty });
        }
    }
}

/// True if an `acquire` call does not wait for the lock: `acquire(False)`, `acquire(blocking=False)`.
fn never_waits(facts: &FileFacts, call: SiteId) -> bool {
    facts.args_of(call).iter().take(2).any(|arg| {
        facts.form(arg.value) == Form::Bool(false) && (arg.name.is_none() || facts.text(arg.name) == "blocking")
    })
}

/// Returns the first await after a lock is taken that no `release()` precedes on the same path.
fn first_await_while_held(linker: &Linker<'_>, taken: SiteRef, lock: FormId) -> Option<SiteId> {
    let facts = linker.program.facts(taken.file);
    let taken_at = linker.program.site(taken).at;
    let body = facts.body_of(taken_at);
    let awaits = facts.sites.iter().enumerate().filter(|(_, site_facts)| {
        (site_facts.flags.has(SiteFlags::AWAITED) || site_facts.flags.has(SiteFlags::ASYNC))
            && site_facts.at.position > taken_at.position
            && facts.body_of(site_facts.at) == body
            && is_region_in(facts, site_facts.at.region, taken_at.region)
    });
    let mut awaits = awaits.map(|(index, _)| SiteId(index as u32)).peekable();
    awaits.peek()?;
    let release = linker.program.name(RELEASE).and_then(|name| linker.program.local(taken.file, name));
    let sites = release.map_or(&[][..], |sym| linker.program.index_of(taken.file).sites_named(sym));
    let releases: Vec<SiteId> = sites
        .iter()
        .copied()
        .filter(|&site| {
            let site_facts = facts.site(site);
            site_facts.at.position > taken_at.position
                && facts.body_of(site_facts.at) == body
                && matches!(facts.form(site_facts.callee), Form::Attr(released, _) if is_same_lock(linker, taken, released, lock))
        })
        .collect();
    awaits.find(|&awaited| {
        let awaited_at = facts.site(awaited).at;
        !releases.iter().any(|&release| {
            let released_at = facts.site(release).at;
            released_at.position < awaited_at.position && is_region_in(facts, awaited_at.region, released_at.region)
        })
    })
}

/// True if two forms of a body are the same lock: they are equal, or the same variable or field stores both.
fn is_same_lock(linker: &Linker<'_>, taken: SiteRef, released: FormId, lock: FormId) -> bool {
    let facts = linker.program.facts(taken.file);
    let scope = linker.scope_of(taken, EnvId::NONE);
    let place_of = |form: FormId| lock_place_within(linker, scope, form, DEPTH);
    facts.form(released) == facts.form(lock) || place_of(released).is_some_and(|place| place_of(lock) == Some(place))
}
