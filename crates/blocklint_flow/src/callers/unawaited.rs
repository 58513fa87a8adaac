//! Coroutines that are created and never awaited. The check of fixes compares them before and after an edit.

use blocklint_facts::{BodyKind, Form, Site, SiteFlags, SiteId, SiteKind};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, FileId};
use blocklint_link::program::occurrences::{Mention, Wrap};
use blocklint_link::values::value::{EnvId, Val};
use smallvec::SmallVec;

/// True if the result of a call is neither used nor awaited.
fn drops(row: &Site) -> bool {
    row.flags.has(SiteFlags::DISCARDED) && !row.flags.has(SiteFlags::AWAITED)
}

/// Returns the calls of a file that stand as statements and return a coroutine, of the project or (if models declare
/// the callee asynchronous) of a library: of each the body's qualified name and the name called. A library's task or
/// future is among them, which may well be dropped: compare with what was there before.
pub fn unawaited(linker: &Linker<'_>, file: FileId) -> Vec<(String, String)> {
    let facts = linker.program.facts(file);
    let mut found = Vec::new();
    for (at, row) in facts.sites.iter().enumerate() {
        if !drops(&row) || !matches!(row.kind, SiteKind::Call | SiteKind::New) {
            continue;
        }
        let site = file.site_ref(SiteId(at as u32));
        let result = linker.result(site, EnvId::NONE);
        let members = linker.values.members(result.value);
        if members.iter().any(|member| matches!(member, Val::Coroutine { .. } | Val::Awaitable(_))) {
            let function = linker.qualified_name(linker.program.body_of_site(site));
            found.push((function, facts.symbols.get(row.name).to_owned()));
        }
    }
    found
}

/// True if the coroutine of a function inside of another one is never awaited: the outer one only returns it, and the
/// callers of that drop it.
pub(crate) fn is_dropped(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    let row = linker.program.body(body);
    let Some(outer) = row.parent.get().filter(|&outer| facts.body(outer).kind == BodyKind::Function) else {
        return false;
    };
    let index = linker.program.index_of(body.file);
    if row.var.is_none() || !index.mentions_named(row.name).is_empty() {
        return false;
    }
    let is_returned = |&site: &SiteId| {
        let mut uses = index.uses_of_result(site).iter();
        let only = (uses.next(), uses.next());
        matches!(only, (Some((Mention::Exit(exit), Wrap::Direct)), None)
                if facts.body_of(facts.exits.at(exit as usize).at) == outer)
    };
    // Other functions of the file may bear the name.
    let calls_it = |&&site: &&SiteId| facts.form(facts.site(site).callee) == Form::Var(row.var);
    let calls: SmallVec<[SiteId; 4]> = index.sites_named(row.name).iter().filter(calls_it).copied().collect();
    !calls.is_empty() && calls.iter().all(is_returned) && is_result_always_dropped(linker, body.file.body_ref(outer))
}

/// True if a function is called and each call drops its result.
fn is_result_always_dropped(linker: &Linker<'_>, body: BodyRef) -> bool {
    let row = linker.program.body(body);
    let Some(name) = linker.program.global(body.file, row.name).filter(|_| row.var.is_some()) else { return false };
    let mut called = false;
    for name in linker.with_aliases(name) {
        for &(file, sym) in linker.program.occurrences(name) {
            let index = linker.program.index_of(file);
            if !index.mentions_named(sym).is_empty() {
                return false;
            }
            for &site in index.sites_named(sym) {
                let targets = linker.targets(file.site_ref(site), EnvId::NONE);
                let is_meant = targets.receiver_of(body).is_some();
                if !is_meant && !targets.unknown && !targets.list.is_empty() {
                    continue;
                }
                if !drops(&linker.program.facts(file).site(site)) {
                    return false;
                }
                called |= is_meant;
            }
        }
    }
    called
}
