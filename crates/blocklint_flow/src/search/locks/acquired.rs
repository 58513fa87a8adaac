//! Python: locks of threads that a coroutine takes with `acquire()` and holds over an `await`, until a `release()`.

use blocklint_core::Language;
use blocklint_facts::{FileFacts, Flow, Form, FormId, SiteFlags, SiteId, SiteKind};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_link::syntax::regions::is_region_in;
use blocklint_link::values::value::EnvId;

use crate::search::locks::{HeldOverAwait, lock_of, lock_type};

/// The method that takes a lock, and the one that lets go of it.
const TAKES: &str = "acquire";
const LETS_GO: &str = "release";

/// How deep the form of a lock is followed.
const DEPTH: u32 = 4;

/// Adds where coroutines of a file hold a lock of threads over an `await` that they took with a call.
pub(crate) fn add_acquired(linker: &Linker<'_>, file: FileId, found: &mut Vec<HeldOverAwait>) {
    let facts = linker.program.facts(file);
    let Some(takes) = linker.program.name(TAKES).and_then(|name| linker.program.local(file, name)) else { return };
    if facts.language != Language::Python {
        return;
    }
    for &site in linker.program.index_of(file).sites_named(takes) {
        let row = facts.site(site);
        let Form::Attr(lock, _) = facts.form(row.callee) else { continue };
        let is_coroutine = matches!(facts.body(facts.body_of(row.at)).flow, Flow::Coroutine | Flow::AsyncGenerator);
        if row.kind != SiteKind::Call || row.flags.has(SiteFlags::AWAITED) || !is_coroutine || only_tries(facts, site) {
            continue;
        }
        let taken = file.site_ref(site);
        let Some(awaited) = first_await_while_held(linker, taken, lock) else { continue };
        if let Some(ty) = lock_type(linker, linker.scope_of(taken, EnvId::NONE), lock) {
            found.push(HeldOverAwait { taken, awaited: file.site_ref(awaited), ty });
        }
    }
}

/// True if a call takes the lock only where it is free: `acquire(False)`, `acquire(blocking=False)`.
fn only_tries(facts: &FileFacts, call: SiteId) -> bool {
    facts.args_of(call).iter().take(2).any(|arg| {
        facts.form(arg.value) == Form::Bool(false) && (arg.name.is_none() || facts.text(arg.name) == "blocking")
    })
}

/// Returns what is awaited first after a lock was taken and before the coroutine lets go of it on the way there.
fn first_await_while_held(linker: &Linker<'_>, taken: SiteRef, lock: FormId) -> Option<SiteId> {
    let facts = linker.program.facts(taken.file);
    let took = linker.program.site(taken);
    let body = facts.body_of(took.at);
    let awaits = facts.sites.iter().enumerate().filter(|(_, row)| {
        (row.flags.has(SiteFlags::AWAITED) || row.flags.has(SiteFlags::ASYNC))
            && row.at.position > took.at.position
            && facts.body_of(row.at) == body
            && is_region_in(facts, row.at.region, took.at.region)
    });
    let mut awaits = awaits.map(|(at, _)| SiteId(at as u32)).peekable();
    awaits.peek()?;
    let lets_go = linker.program.name(LETS_GO).and_then(|name| linker.program.local(taken.file, name));
    let sites = lets_go.map_or(&[][..], |sym| linker.program.index_of(taken.file).sites_named(sym));
    let releases: Vec<SiteId> = sites
        .iter()
        .copied()
        .filter(|&site| {
            let row = facts.site(site);
            row.at.position > took.at.position
                && facts.body_of(row.at) == body
                && matches!(facts.form(row.callee), Form::Attr(of, _) if is_same(linker, taken, of, lock))
        })
        .collect();
    awaits.find(|&site| {
        let at = facts.site(site).at;
        !releases.iter().any(|&release| {
            let released = facts.site(release).at;
            released.position < at.position && is_region_in(facts, at.region, released.region)
        })
    })
}

/// True if two forms of a body are the same lock, as far as names show.
fn is_same(linker: &Linker<'_>, taken: SiteRef, of: FormId, lock: FormId) -> bool {
    let facts = linker.program.facts(taken.file);
    let scope = linker.scope_of(taken, EnvId::NONE);
    facts.form(of) == facts.form(lock)
        || lock_of(linker, scope, of, DEPTH).is_some_and(|same| lock_of(linker, scope, lock, DEPTH) == Some(same))
}
