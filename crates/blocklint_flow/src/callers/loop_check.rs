//! Code that a test reserves for threads without a running loop: the handler of a `get_running_loop` that raised, the
//! branch where `is_running()` is false, the branch for another thread than the loop's.

use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{AltKind, BodyId, Comparison, Exit, Form, FormId, RegionId, RegionKind};
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{EmptyMeanwhile, Plain, Table};
use blocklint_link::program::ids::{BodyRef, FileId, Name, SiteRef};
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::Asks;
use rustc_hash::FxHashSet;

/// Answers of this file that are kept for one program.
#[derive(Default)]
struct Memo {
    asking: Table<FileId, Rc<Asking>, Plain>,
    ask_names: Table<Language, Rc<[Name]>, Plain>,
    answering: Table<Language, Rc<FxHashSet<Name>>, EmptyMeanwhile>,
}

/// Where one file asks whether a loop runs.
#[derive(Debug, Default)]
pub(crate) struct Asking {
    /// Guarded parts (their body and group) that ask: their handlers mean that none runs.
    tries: FxHashSet<(BodyId, u32)>,
    /// Bodies that ask.
    bodies: FxHashSet<BodyId>,
}

/// True if a site stands where no event loop runs in its thread.
pub(crate) fn off_the_loop(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let mut at = linker.program.site(site).at.region;
    while let Some(id) = at.get() {
        let region = facts.region(id);
        let reserved = match region.kind {
            RegionKind::Then => tests_no_loop(linker, site.file, region.test, 6) == Some(true),
            RegionKind::Else => {
                region.test.is_some() && tests_no_loop(linker, site.file, region.test, 6) == Some(false)
                    || region.test.is_none() && sibling_branch_holds(linker, site.file, id)
            }
            RegionKind::Handler => try_asks(linker, site.file, id),
            _ => false,
        };
        if reserved {
            return true;
        }
        at = region.parent;
    }
    false
}

/// True if an event loop runs in the thread where a form is true (Java).
pub(crate) fn tests_loop(linker: &Linker<'_>, file: FileId, form: FormId) -> bool {
    linker.program.language(file) == Language::Java && tests_no_loop(linker, file, form, 6) == Some(false)
}

/// For an `else` without a test of its own: the result of the test of its branch.
fn sibling_branch_holds(linker: &Linker<'_>, file: FileId, id: RegionId) -> bool {
    let facts = linker.program.facts(file);
    let own = facts.region(id);
    facts
        .regions
        .iter()
        .filter(|region| region.group == own.group && region.body == own.body && region.kind == RegionKind::Then)
        .any(|region| tests_no_loop(linker, file, region.test, 6) == Some(false))
}

/// True if the guarded part before a handler asks for the running loop, so that the handler means there is none.
fn try_asks(linker: &Linker<'_>, file: FileId, handler: RegionId) -> bool {
    let own = linker.program.facts(file).region(handler);
    asking(linker, file).tries.contains(&(own.body, own.group))
}

/// Returns the places at which a file checks whether a loop runs, out of the cache if they are known.
fn asking(linker: &Linker<'_>, file: FileId) -> Rc<Asking> {
    let memo = linker.layer_memo::<Memo>();
    linker.query(&memo.asking, file, Rc::default, || Rc::new(find_asking(linker, file)))
}

fn find_asking(linker: &Linker<'_>, file: FileId) -> Asking {
    let mut asking = Asking::default();
    let facts = linker.program.facts(file);
    for name in ask_names(linker, facts.language).iter() {
        let Some(sym) = linker.program.local(file, *name) else { continue };
        for &site in linker.program.index_of(file).sites_named(sym) {
            let row = facts.site(site);
            let region = facts.region(row.at.region);
            if asks(linker, file.site_ref(site), 0) != Some(Asks::RunningLoop) {
                continue;
            }
            if region.kind == RegionKind::Try {
                asking.tries.insert((region.body, region.group));
            }
            asking.bodies.insert(facts.body_of(row.at));
        }
    }
    asking
}

/// Returns the names of calls that check for a loop, and of project functions that return such an answer.
fn ask_names(linker: &Linker<'_>, language: Language) -> Rc<[Name]> {
    linker.query(&linker.layer_memo::<Memo>().ask_names, language, Rc::default, || {
        let models = linker.library.of(language).names(blocklint_models::Uses::ASKS);
        let mut names: Vec<Name> = models.filter_map(|row| linker.program.name(row.name)).collect();
        names = names.into_iter().flat_map(|name| linker.with_aliases(name)).collect();
        names.sort();
        names.dedup();
        Rc::from(names)
    })
}

/// Returns names of project functions that return the result of such a call.
fn answering_names(linker: &Linker<'_>, language: Language) -> Rc<FxHashSet<Name>> {
    let memo = linker.layer_memo::<Memo>();
    linker.query(&memo.answering, language, Rc::default, || Rc::new(find_answering_names(linker, language)))
}

fn find_answering_names(linker: &Linker<'_>, language: Language) -> FxHashSet<Name> {
    let mut found = FxHashSet::default();
    for name in ask_names(linker, language).iter() {
        for &(file, _) in linker.program.occurrences(*name) {
            if linker.program.language(file) != language {
                continue;
            }
            for &body in &asking(linker, file).bodies {
                let body = file.body_ref(body);
                if returns_loop_test(linker, body, 3) {
                    found.extend(linker.body_names(body));
                }
            }
        }
    }
    found
}

/// Returns true if no loop runs here where a test holds, and false if one does.
fn tests_no_loop(linker: &Linker<'_>, file: FileId, test: FormId, depth: u32) -> Option<bool> {
    let depth = depth.checked_sub(1)?;
    let facts = linker.program.facts(file);
    match facts.form(test) {
        Form::Not(inner) => tests_no_loop(linker, file, inner, depth).map(|says| !says),
        // A call whose result is true or false: `loop.is_running()`.
        Form::Result(site) => match asks(linker, file.site_ref(site), depth)? {
            Asks::RunningLoop => Some(false),
            Asks::Worker => Some(true),
            Asks::Arguments => None,
        },
        Form::Compare(comparison, left, right) => {
            let asked = is_answer(linker, file, left, depth) || is_answer(linker, file, right, depth);
            let null = facts.form(left) == Form::None || facts.form(right) == Form::None;
            match comparison {
                // `_get_running_loop() is None`; `get_ident() == loop_thread`.
                Comparison::Is | Comparison::Eq if asked => Some(null),
                Comparison::IsNot | Comparison::NotEq if asked => Some(!null),
                _ => None,
            }
        }
        Form::Alt(AltKind::And, list) => {
            facts.list(list).iter().find_map(|&part| tests_no_loop(linker, file, part, depth).filter(|says| *says))
        }
        Form::Var(_) => is_answer(linker, file, test, depth).then_some(false),
        _ => None,
    }
}

/// True if a form is the answer of a call that asks: its result, or a variable that holds it.
fn is_answer(linker: &Linker<'_>, file: FileId, form: FormId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(file);
    match facts.form(form) {
        Form::Result(site) => asks(linker, file.site_ref(site), depth) == Some(Asks::RunningLoop),
        Form::Var(var) => facts.assigns_of(var).any(|row| is_answer(linker, file, row.value, depth)),
        _ => false,
    }
}

/// Returns the answer of a call about its thread.
fn asks(linker: &Linker<'_>, site: SiteRef, depth: u32) -> Option<Asks> {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site);
    // Names decide whether looking further is worth it.
    let name = linker.program.global(site.file, row.name)?;
    let named = ask_names(linker, facts.language).binary_search(&name).is_ok();
    if !named && (depth == 0 || !answering_names(linker, facts.language).contains(&name)) {
        return None;
    }
    let callee = linker.callee(site, EnvId::NONE);
    linker.values.members(callee.value).iter().find_map(|val| match *val {
        Val::External(path) | Val::Method { path, .. } => linker.library.calls(path).iter().find_map(|row| row.asks),
        // A function of the project that passes the answer on.
        Val::Fn { body, .. } => (depth > 0 && returns_loop_test(linker, body, depth - 1)).then_some(Asks::RunningLoop),
        _ => None,
    })
}

/// True if a function returns the result of such a call.
fn returns_loop_test(linker: &Linker<'_>, body: BodyRef, depth: u32) -> bool {
    let facts = linker.program.facts(body.file);
    // `for (Executor executor : loops) { if (executor.inEventLoop()) return true; } return false;`
    let is_true_on_loop = |exit: Exit| {
        let tests_loop = |(test, holds)| holds && tests_no_loop(linker, body.file, test, depth) == Some(false);
        facts.language == Language::Java
            && facts.form(exit.value) == Form::Bool(true)
            && linker.tests_at(body.file, exit.at.region).any(tests_loop)
    };
    let mut ends = linker.program.exits_in(body).filter(|exit| exit.value.is_some());
    ends.any(|exit| is_answer(linker, body.file, exit.value, depth) || is_true_on_loop(exit))
}
