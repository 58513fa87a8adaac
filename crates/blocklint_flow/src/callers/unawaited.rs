//! Coroutines that are created and never awaited. The check of fixes compares their number before and after an edit.

use blocklint_facts::{BodyKind, Form, Site, SiteFlags, SiteId, SiteKind};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, FileId};
use blocklint_link::program::occurrences::{Mention, Wrap};
use blocklint_link::values::value::{EnvId, Val};
use smallvec::SmallVec;

/// True if the result of a call is neither used nor awaited.
fn drops_result(row: &Site) -> bool {
    row.flags.has(SiteFlags::DISCARDED) && !row.flags.has(SiteFlags::AWAITED)
}

/// Returns the calls of a file that drop a coroutine: each with the qualified name of its body and the name of its
/// callee. The coroutine is of the project, or of a library if its models declare the callee asynchronous. Calls that
/// return a library's task or future are included, though code may drop those, so only a comparison with the code
/// before an edit shows a mistake.
pub fn find_unawaited(linker: &Linker<'_>, file: FileId) -> Vec<(String, String)> {
    let facts = linker.program.facts(file);
    let mut calls = Vec::new();
    for (index, site_facts) in facts.sites.iter().enumerate() {
        if !drops_result(&site_facts) || !matches!(site_facts.kind, SiteKind::Call | SiteKind::New) {
            continue;
        }
        let site = file.site_ref(SiteId(index as u32));
        let result = linker.result(site, EnvId::NONE);
        let members = linker.values.members(result.value);
        if members.iter().any(|member| matches!(member, Val::Coroutine { .. } | Val::Awaitable(_))) {
            let function = linker.qualified_name(linker.program.body_of_site(site));
            calls.push((function, facts.symbols.get(site_facts.name).to_owned()));
        }
    }
    calls
}

/// True if the coroutine of a nested function is never awaited: the enclosing function only returns it, and all its
/// callers drop the result.
pub(crate) fn is_dropped(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    let body_facts = linker.program.body(body);
    let Some(outer) = body_facts.parent.get().filter(|&outer| facts.body(outer).kind == BodyKind::Function) else {
        return false;
    };
    let index = linker.program.index_of(body.file);
    if body_facts.var.is_none() || !index.mentions_named(body_facts.name).is_empty() {
        return false;
    }
    let is_returned = |&site: &SiteId| {
        let mut uses = index.uses_of_result(site).iter();
        let first_two = (uses.next(), uses.next());
        matches!(first_two, (Some((Mention::Exit(exit), Wrap::Direct)), None)
                if facts.body_of(facts.exits.at(exit as usize).at) == outer)
    };
    // Other functions of the file may have the same name.
    let calls_body = |&&site: &&SiteId| facts.form(facts.site(site).callee) == Form::Var(body_facts.var);
    let calls: SmallVec<[SiteId; 4]> = index.sites_named(body_facts.name).iter().filter(calls_body).copied().collect();
    !calls.is_empty() && calls.iter().all(is_returned) && is_result_always_dropped(linker, body.file.body_ref(outer))
}

/// True if a function is called and each call drops its result.
fn is_result_always_dropped(linker: &Linker<'_>, body: BodyRef) -> bool {
    let body_facts = linker.program.body(body);
    let Some(name) = linker.program.global(body.file, body_facts.name).filter(|_| body_facts.var.is_some()) else {
        return false;
    };
    let mut is_called = false;
    for name in linker.with_aliases(name) {
        for &(file, sym) in linker.program.occurrences(name) {
            let index = linker.program.index_of(file);
            if !index.mentions_named(sym).is_empty() {
                return false;
            }
            for &site in index.sites_named(sym) {
                let targets = linker.targets(file.site_ref(site), EnvId::NONE);
                let has_target = targets.receiver_of(body).is_some();
                if !has_target && !targets.unknown && !targets.list.is_empty() {
                    continue;
                }
                if !drops_result(&linker.program.facts(file).site(site)) {
                    return false;
                }
                is_called |= has_target;
            }
        }
    }
    is_called
}
