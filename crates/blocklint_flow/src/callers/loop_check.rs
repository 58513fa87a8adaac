//! Code that runs only in threads without a running event loop, because a test checks for the loop: the handler of a
//! `get_running_loop()` that raised, the branch where `loop.is_running()` is false, the branch for another thread than
//! the loop's.

use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{AltKind, BodyId, Comparison, Exit, FileFacts, Form, FormId, RegionId, RegionKind, SiteId};
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{EmptyMeanwhile, Plain, Table};
use blocklint_link::program::ids::{BodyRef, FileId, Name, SiteRef};
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::{Asks, Uses};
use rustc_hash::FxHashSet;

/// The most nested calls that are followed from a function to the test that it returns.
const MAX_RETURN_DEPTH: u32 = 3;

/// How deep a test is searched: its parts, and the functions and variables in them.
const MAX_TEST_DEPTH: u32 = 6;

/// Results of this file's queries, stored for one program.
#[derive(Default)]
struct Memo {
    /// By file: its checks for a running loop.
    checks: Table<FileId, Rc<LoopChecks>, Plain>,
    /// By language: the names of library calls that check for a running loop.
    library_check_names: Table<Language, Rc<[Name]>, Plain>,
    /// By language: the names of project functions that return the result of such a call.
    project_check_names: Table<Language, Rc<FxHashSet<Name>>, EmptyMeanwhile>,
}

/// The checks for a running event loop in one file.
#[derive(Debug, Default)]
pub(crate) struct LoopChecks {
    /// The `try` blocks (their body and group) with a check: their handlers run if no loop runs.
    tries: FxHashSet<(BodyId, u32)>,
    /// The bodies with a check.
    bodies: FxHashSet<BodyId>,
}

/// True if a site runs only if no event loop runs in its thread.
pub(crate) fn runs_off_loop(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let mut current = linker.program.site(site).at.region;
    while let Some(id) = current.get() {
        let region = facts.region(id);
        let is_off_loop = match region.kind {
            RegionKind::Then => tests_no_loop(linker, site.file, region.test, MAX_TEST_DEPTH) == Some(true),
            RegionKind::Else => {
                region.test.is_some() && tests_no_loop(linker, site.file, region.test, MAX_TEST_DEPTH) == Some(false)
                    || region.test.is_none() && is_else_of_loop_test(linker, site.file, id)
            }
            RegionKind::Case => linker
                .test_of(site.file, id)
                .is_some_and(|(test, holds)| tests_no_loop(linker, site.file, test, 6) == Some(holds)),
            RegionKind::Handler => has_check_in_try(linker, site.file, id),
            _ => false,
        };
        if is_off_loop {
            return true;
        }
        current = region.parent;
    }
    false
}

/// True if an expression is true only on the thread of an event loop: `isOnEventLoop()` (Java).
pub(crate) fn tests_loop(linker: &Linker<'_>, file: FileId, form: FormId) -> bool {
    linker.program.language(file) == Language::Java && tests_no_loop(linker, file, form, MAX_TEST_DEPTH) == Some(false)
}

/// True if an `else` without a test of its own belongs to a branch that runs only on an event loop.
fn is_else_of_loop_test(linker: &Linker<'_>, file: FileId, id: RegionId) -> bool {
    let facts = linker.program.facts(file);
    let arm = facts.region(id);
    facts
        .regions
        .iter()
        .filter(|region| region.group == arm.group && region.body == arm.body && region.kind == RegionKind::Then)
        .any(|region| tests_no_loop(linker, file, region.test, MAX_TEST_DEPTH) == Some(false))
}

/// True if the `try` block of a handler checks for the running loop, so that the handler runs if no loop runs.
fn has_check_in_try(linker: &Linker<'_>, file: FileId, handler: RegionId) -> bool {
    let region = linker.program.facts(file).region(handler);
    loop_checks_in(linker, file).tries.contains(&(region.body, region.group))
}

/// Returns the checks for a running loop in a file; cached.
fn loop_checks_in(linker: &Linker<'_>, file: FileId) -> Rc<LoopChecks> {
    let memo = linker.layer_memo::<Memo>();
    linker.query(&memo.checks, file, Rc::default, || Rc::new(find_loop_checks(linker, file)))
}

fn find_loop_checks(linker: &Linker<'_>, file: FileId) -> LoopChecks {
    let mut checks = LoopChecks::default();
    let facts = linker.program.facts(file);
    for name in library_check_names(linker, facts.language).iter() {
        let Some(sym) = linker.program.local(file, *name) else { continue };
        for &site in linker.program.index_of(file).sites_named(sym) {
            let site_facts = facts.site(site);
            let region = facts.region(site_facts.at.region);
            if thread_check_of(linker, file.site_ref(site), 0) != Some(Asks::RunningLoop) {
                continue;
            }
            if region.kind == RegionKind::Try {
                checks.tries.insert((region.body, region.group));
            }
            checks.bodies.insert(facts.body_of(site_facts.at));
        }
    }
    checks
}

/// Returns the names of library calls that check for a running loop, with the project's aliases of them.
fn library_check_names(linker: &Linker<'_>, language: Language) -> Rc<[Name]> {
    linker.query(&linker.layer_memo::<Memo>().library_check_names, language, Rc::default, || {
        let models = linker.library.of(language).names(Uses::ASKS);
        let mut names: Vec<Name> = models.filter_map(|row| linker.program.name(row.name)).collect();
        names = names.into_iter().flat_map(|name| linker.with_aliases(name)).collect();
        names.sort();
        names.dedup();
        Rc::from(names)
    })
}

/// Returns the names of project functions that return the result of a check for a running loop; cached.
fn project_check_names(linker: &Linker<'_>, language: Language) -> Rc<FxHashSet<Name>> {
    let memo = linker.layer_memo::<Memo>();
    linker
        .query(&memo.project_check_names, language, Rc::default, || Rc::new(find_project_check_names(linker, language)))
}

fn find_project_check_names(linker: &Linker<'_>, language: Language) -> FxHashSet<Name> {
    let mut names = FxHashSet::default();
    for name in library_check_names(linker, language).iter() {
        for &(file, _) in linker.program.occurrences(*name) {
            if linker.program.language(file) != language {
                continue;
            }
            for &body in &loop_checks_in(linker, file).bodies {
                let body = file.body_ref(body);
                if returns_loop_test(linker, body, MAX_RETURN_DEPTH) {
                    names.extend(linker.body_names(body));
                }
            }
        }
    }
    names
}

/// Returns true if no event loop runs in the thread where a test holds, and false if one does. `None` if the test is no
/// check for a loop.
fn tests_no_loop(linker: &Linker<'_>, file: FileId, test: FormId, depth: u32) -> Option<bool> {
    let depth = depth.checked_sub(1)?;
    let facts = linker.program.facts(file);
    match facts.form(test) {
        Form::Not(inner) => tests_no_loop(linker, file, inner, depth).map(|is_off_loop| !is_off_loop),
        // `Handle::try_current().is_ok()`
        Form::Result(site) if let Some((receiver, says_failed)) = failure_test(facts, site) => {
            is_check_result(linker, file, receiver, depth).then_some(says_failed)
        }
        // A call whose result is true or false: `loop.is_running()`.
        Form::Result(site) => match thread_check_of(linker, file.site_ref(site), depth)? {
            Asks::RunningLoop => Some(false),
            Asks::Worker => Some(true),
            Asks::Arguments => None,
        },
        Form::Compare(comparison, left, right) => {
            let has_check = is_check_result(linker, file, left, depth) || is_check_result(linker, file, right, depth);
            // `_get_running_loop() is None`; `Err(_)` for `Handle::try_current()`.
            let is_absent = |form: FormId| match facts.form(form) {
                Form::Name(name) => lang::words_of(facts.language).failure == Some(facts.text(name)),
                form => form == Form::None,
            };
            let has_null = is_absent(left) || is_absent(right);
            match comparison {
                // `get_ident() == loop_thread`
                Comparison::Is | Comparison::Eq if has_check => Some(has_null),
                Comparison::IsNot | Comparison::NotEq if has_check => Some(!has_null),
                _ => None,
            }
        }
        Form::Alt(AltKind::And, list) => facts
            .list(list)
            .iter()
            .find_map(|&part| tests_no_loop(linker, file, part, depth).filter(|is_off_loop| *is_off_loop)),
        Form::Var(_) => is_check_result(linker, file, test, depth).then_some(false),
        _ => None,
    }
}

/// True if an expression is the result of a check for a running loop, or a variable with that result.
fn is_check_result(linker: &Linker<'_>, file: FileId, form: FormId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(file);
    match facts.form(form) {
        Form::Result(site) => {
            thread_check_of(linker, file.site_ref(site), depth) == Some(Asks::RunningLoop)
                // `Handle::try_current().ok()`
                || facts.language == Language::Rust
                    && matches!(facts.form(facts.site(site).callee), Form::Attr(receiver, _)
                        if lang::rust::names::keeps_absence(facts.text(facts.site(site).name))
                            && is_check_result(linker, file, receiver, depth))
        }
        Form::Var(var) => {
            facts.assigns_of(var).any(|assignment| is_check_result(linker, file, assignment.value, depth))
        }
        _ => false,
    }
}

/// Returns the operand of a test for a failure, and true if "yes" means failed: `current` of `current.is_err()`.
fn failure_test(facts: &FileFacts, test: SiteId) -> Option<(FormId, bool)> {
    let row = facts.site(test);
    let Form::Attr(receiver, _) = facts.form(row.callee) else { return None };
    let (words, name) = (lang::words_of(facts.language), facts.text(row.name));
    let says_failed = words.failure_test(name).or_else(|| words.absence_test(name))?;
    Some((receiver, says_failed))
}

/// Returns the property of its thread that a call checks: a running loop, or a worker.
fn thread_check_of(linker: &Linker<'_>, site: SiteRef, depth: u32) -> Option<Asks> {
    let facts = linker.program.facts(site.file);
    let site_facts = linker.program.site(site);
    // The name is compared first, because it rules most calls out.
    let name = linker.program.global(site.file, site_facts.name)?;
    let has_library_name = library_check_names(linker, facts.language).binary_search(&name).is_ok();
    if !has_library_name && (depth == 0 || !project_check_names(linker, facts.language).contains(&name)) {
        return None;
    }
    let callee = linker.callee(site, EnvId::NONE);
    linker.values.members(callee.value).iter().find_map(|val| match *val {
        Val::External(path) | Val::Method { path, .. } => linker.library.calls(path).iter().find_map(|row| row.asks),
        // A function of the project that returns the result of a check.
        Val::Fn { body, .. } => (depth > 0 && returns_loop_test(linker, body, depth - 1)).then_some(Asks::RunningLoop),
        _ => None,
    })
}

/// True if a function returns the result of a check for a running loop.
fn returns_loop_test(linker: &Linker<'_>, body: BodyRef, depth: u32) -> bool {
    let facts = linker.program.facts(body.file);
    // `for (Executor executor : loops) { if (executor.inEventLoop()) return true; } return false;`
    let is_true_on_loop = |exit: Exit| {
        let tests_loop = |(test, outcome)| outcome && tests_no_loop(linker, body.file, test, depth) == Some(false);
        facts.language == Language::Java
            && facts.form(exit.value) == Form::Bool(true)
            && linker.tests_at(body.file, exit.at.region).any(tests_loop)
    };
    let mut ends = linker.program.exits_in(body).filter(|exit| exit.value.is_some());
    ends.any(|exit| is_check_result(linker, body.file, exit.value, depth) || is_true_on_loop(exit))
}
