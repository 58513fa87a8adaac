//! A second runtime made for calculations (Rust), the subject of the signal `computing-pool`:
//! `Builder::new_multi_thread().thread_name("cpu").build()` and its `spawn`.

use blocklint_facts::{BodyKind, Form, SiteId};
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::syntax::forms::last_name;
use blocklint_link::values::value::{EnvId, Val};

use crate::judge::signal::PathSubject;

/// The most calls of a builder's chain that are read.
const LONGEST: u32 = 16;

/// True if each task that runs the root of a path is spawned on a runtime that is there for calculations.
pub(crate) fn runs_on_computing_runtime(traced: &PathSubject<'_, '_>) -> bool {
    let (linker, root) = (traced.linker, traced.root);
    let row = linker.program.body(root);
    let taker_in = |file: FileId, mention: Mention| match mention {
        Mention::Arg(site, _) => Some(file.site_ref(site)),
        _ => None,
    };
    let takers: Vec<Option<SiteRef>> = if row.kind == BodyKind::Function {
        let calls = traced.callers.call_sites(root);
        let outside_tests = calls.iter().filter(|site| !linker.is_for_tests(linker.program.body_of_site(**site)));
        outside_tests
            .map(|site| {
                let mut uses = linker.program.uses_of_result(*site).iter();
                uses.find_map(|(mention, _)| taker_in(site.file, mention))
            })
            .collect()
    } else {
        linker.program.uses_of_callable(root).iter().map(|(mention, _)| taker_in(root.file, mention)).collect()
    };
    !takers.is_empty()
        && takers.iter().all(|taker| taker.is_some_and(|taker| spawns_on_computing_runtime(linker, taker)))
}

/// True if a call spawns a task on a runtime whose variable, field or threads have the name of calculations:
/// `self.cpu_pool.spawn(task)`.
fn spawns_on_computing_runtime(linker: &Linker<'_>, spawn: SiteRef) -> bool {
    let facts = linker.program.facts(spawn.file);
    let is_of_library = linker.values.members(linker.callee(spawn, EnvId::NONE).value).iter().any(|val| {
        matches!(*val, Val::Method { path, .. } if linker.library.calls(path).with(|row| row.concurrency.is_some()).next().is_some())
    });
    if !is_of_library {
        return false;
    }
    let Some(receiver) = linker.receiver_form(spawn) else { return false };
    let name = last_name(facts, receiver).map(|name| facts.text(name));
    name.is_some_and(lang::rust::conventions::names_calculation) || {
        let receiver = linker.eval(linker.scope_of(spawn, EnvId::NONE), receiver);
        linker.values.members(receiver.value).iter().any(
            |val| matches!(*val, Val::Library { made: Some(made), .. } if has_threads_for_calculation(linker, made)),
        )
    }
}

/// True if a builder's chain names its threads after calculations: `builder.thread_name("cpu").build()`.
fn has_threads_for_calculation(linker: &Linker<'_>, build: SiteRef) -> bool {
    let facts = linker.program.facts(build.file);
    let receiver_call = |site: SiteId| match facts.form(linker.receiver_form(build.file.site_ref(site))?) {
        Form::Result(receiver) => Some(receiver),
        _ => None,
    };
    let (_, build_id) = linker.program.facts_and_id(build);
    std::iter::successors(Some(build_id), |&site| receiver_call(site)).take(LONGEST as usize).any(|site| {
        facts.text(facts.site(site).name) == "thread_name"
            && facts.args_of(site).first().is_some_and(|arg| {
                matches!(facts.form(arg.value), Form::Str(text) if lang::rust::conventions::names_calculation(facts.text(text)))
            })
    })
}
