//! Guards over a getter of a parameter (Rust): a branch over `if !filters.all_authorized()` in the callee is decided by
//! the branches around the caller's call. Also counts the branches that decide if a site runs.

use blocklint_core::Language;
use blocklint_facts::{AltKind, FileFacts, Form, FormId, RegionId, RegionKind, SiteId, VarId, VarKind};
use blocklint_link::effect::guard::{Choice, Guard, Question, Source};
use blocklint_link::guards::branch::is_condition;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_link::syntax::regions::around;

/// The most regions before a site that are searched.
const MAX_EARLIER_REGIONS: usize = 256;

/// The depth to which a test is read.
const DEPTH: u32 = 4;

/// Returns the guard around a site that calls a method of the project on a parameter: `if !filters.all_authorized()`.
pub(crate) fn getter_guard(linker: &Linker<'_>, site: SiteRef) -> Option<Guard> {
    if linker.program.language(site.file) != Language::Rust {
        return None;
    }
    let facts = linker.program.facts(site.file);
    let body = facts.body_of(linker.program.site(site).at);
    arms_around(linker, site).find_map(|(id, test, outcome)| {
        let (subject, getter, wanted) = find_getter(facts, test, outcome, DEPTH)?;
        let Form::Var(var) = facts.form(subject) else { return None };
        let var_facts = facts.var(var);
        let VarKind::Param(index) = var_facts.kind else { return None };
        let is_own = var_facts.body == body && facts.assigns_of(var).next().is_none();
        let name = facts.text(facts.site(getter).name);
        let is_of_project =
            || linker.program.name(name).is_some_and(|name| linker.hierarchy.count_bodies_named(name) > 0);
        let is_assigned = || is_assigned_in(linker, site.file, id, var);
        (is_own && is_of_project() && !is_assigned()).then(|| {
            let question = Question::Choice(Choice::MethodReturnsTrue(name.to_owned()));
            Guard::new(index, Source::Branch, question, wanted)
        })
    })
}

/// Returns the result that the branches around a site show for a getter of a variable: false for `ready` inside of
/// `if !state.ready()`.
pub(crate) fn getter_result(linker: &Linker<'_>, site: SiteRef, subject: FormId, getter: &str) -> Option<bool> {
    let facts = linker.program.facts(site.file);
    let Form::Var(var) = facts.form(subject) else { return None };
    arms_around(linker, site).find_map(|(id, test, outcome)| {
        let (receiver, call, result) = find_getter(facts, test, outcome, DEPTH)?;
        let is_same = facts.form(receiver) == Form::Var(var) && facts.text(facts.site(call).name) == getter;
        (is_same && !is_assigned_in(linker, site.file, id, var)).then_some(result)
    })
}

/// True if a region assigns a variable, so that its methods may return another result.
fn is_assigned_in(linker: &Linker<'_>, file: FileId, id: RegionId, var: VarId) -> bool {
    let facts = linker.program.facts(file);
    let span = facts.region(id).span;
    facts.assigns_of(var).any(|assign| span.start < assign.span.start && assign.span.end <= span.end)
}

/// Returns the arms of branches around a site, the innermost first: each with its test and the result of the test.
fn arms_around(linker: &Linker<'_>, site: SiteRef) -> impl Iterator<Item = (RegionId, FormId, bool)> {
    let facts = linker.program.facts(site.file);
    around(facts, linker.program.site(site).at.region).filter_map(move |id| {
        let (test, outcome) = linker.test_of(site.file, id)?;
        test.is_some().then_some((id, test, outcome))
    })
}

/// Returns how many tests decide if a site runs: the tests around it, without the tests of an early exit before it
/// (`if done { return; }`).
pub(crate) fn deciding_tests_over(linker: &Linker<'_>, site: SiteRef) -> u32 {
    let facts = linker.program.facts(site.file);
    let decides = |&id: &RegionId| {
        let kind = facts.region(id).kind;
        is_condition(kind) && (kind == RegionKind::Handler || !follows_early_exit(linker, site.file, id))
    };
    around(facts, linker.program.site(site).at.region).filter(decides).count() as u32
}

/// True if an arm is the rest of its block behind an early exit: it begins where the other arm ends.
fn follows_early_exit(linker: &Linker<'_>, file: FileId, id: RegionId) -> bool {
    let facts = linker.program.facts(file);
    let arm = facts.region(id);
    (0..id.0).rev().take(MAX_EARLIER_REGIONS).map(|index| facts.region(RegionId(index))).any(|region| {
        let between = arm.span.start.checked_sub(region.span.end);
        region.group == arm.group && region.body == arm.body && between.is_some_and(|between| between <= 1)
    })
}

/// Returns the receiver of the getter (a method without arguments) that a test calls, the call, and the getter's result
/// if the test evaluates to `outcome`.
fn find_getter(facts: &FileFacts, test: FormId, outcome: bool, depth: u32) -> Option<(FormId, SiteId, bool)> {
    let depth = depth.checked_sub(1)?;
    match facts.form(test) {
        Form::Not(inner) => find_getter(facts, inner, !outcome, depth),
        Form::Result(call) => match facts.form(facts.site(call).callee) {
            Form::Attr(subject, _) if facts.args_of(call).is_empty() => Some((subject, call, outcome)),
            _ => None,
        },
        Form::Alt(AltKind::And, list) if outcome => {
            facts.list(list).iter().find_map(|&part| find_getter(facts, part, true, depth))
        }
        Form::Alt(AltKind::Or, list) if !outcome => {
            facts.list(list).iter().find_map(|&part| find_getter(facts, part, false, depth))
        }
        _ => None,
    }
}
