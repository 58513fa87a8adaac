//! Rust: branches over the result of a method of a parameter (`if !filters.all_authorized()`), decided by the branches
//! that a caller stands in; and calls that run whatever a test shows.

use blocklint_core::Language;
use blocklint_facts::{AltKind, FileFacts, Form, FormId, RegionId, RegionKind, SiteId, VarKind};
use blocklint_link::effect::guard::{Choice, Guard, Question, Source};
use blocklint_link::guards::branch::is_condition;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_link::syntax::regions::around;

/// How deep a test is looked into.
const DEPTH: u32 = 4;

/// Returns the condition under which a site is reached that asks a parameter of its body by a method of the project.
pub(crate) fn getter_guard(linker: &Linker<'_>, site: SiteRef) -> Option<Guard> {
    if linker.program.language(site.file) != Language::Rust {
        return None;
    }
    let facts = linker.program.facts(site.file);
    let body = facts.body_of(linker.program.site(site).at);
    arms_around(linker, site).find_map(|(id, test, holds)| {
        let (subject, getter, wanted) = asked(facts, test, holds, DEPTH)?;
        let Form::Var(var) = facts.form(subject) else { return None };
        let row = facts.var(var);
        let VarKind::Param(index) = row.kind else { return None };
        let is_own = row.body == body && facts.assigns_of(var).next().is_none();
        let name = facts.text(facts.site(getter).name);
        let of_project = || linker.program.name(name).is_some_and(|name| linker.hierarchy.bodies_named(name) > 0);
        let changes = || is_assigned_in(linker, site.file, id, var);
        (is_own && of_project() && !changes()).then(|| {
            let question = Question::Choice(Choice::MethodReturnsTrue(name.to_owned()));
            Guard::new(index, Source::Branch, question, wanted)
        })
    })
}

/// Returns the result of a method without arguments on a variable, as the branches around a site show it.
pub(crate) fn getter_result(linker: &Linker<'_>, site: SiteRef, subject: FormId, getter: &str) -> Option<bool> {
    let facts = linker.program.facts(site.file);
    let Form::Var(var) = facts.form(subject) else { return None };
    arms_around(linker, site).find_map(|(id, test, holds)| {
        let (of, call, told) = asked(facts, test, holds, DEPTH)?;
        let same = facts.form(of) == Form::Var(var) && facts.text(facts.site(call).name) == getter;
        (same && !is_assigned_in(linker, site.file, id, var)).then_some(told)
    })
}

/// True if a variable is set anew in a region: then its methods may return something else.
fn is_assigned_in(linker: &Linker<'_>, file: FileId, id: RegionId, var: blocklint_facts::VarId) -> bool {
    let facts = linker.program.facts(file);
    let span = facts.region(id).span;
    facts.assigns_of(var).any(|assign| span.start < assign.span.start && assign.span.end <= span.end)
}

/// Returns the arms of branches around a site, the innermost first: each with its test, and whether that came out true.
fn arms_around(linker: &Linker<'_>, site: SiteRef) -> impl Iterator<Item = (RegionId, FormId, bool)> {
    let facts = linker.program.facts(site.file);
    around(facts, linker.program.site(site).at.region).filter_map(move |id| {
        let (test, holds) = linker.test_of(site.file, id)?;
        test.is_some().then_some((id, test, holds))
    })
}

/// Returns how many tests decide that a site is reached: those around it, not those whose other side leaves.
pub(crate) fn deciding_tests_over(linker: &Linker<'_>, site: SiteRef) -> u32 {
    let facts = linker.program.facts(site.file);
    let decides = |&id: &RegionId| {
        let kind = facts.region(id).kind;
        is_condition(kind) && (kind == RegionKind::Handler || !is_rest(linker, site.file, id))
    };
    around(facts, linker.program.site(site).at.region).filter(decides).count() as u32
}

/// True if an arm is the rest of its block, behind a branch that leaves it otherwise: it begins where that ends.
fn is_rest(linker: &Linker<'_>, file: FileId, id: RegionId) -> bool {
    let facts = linker.program.facts(file);
    let own = facts.region(id);
    (0..id.0).rev().take(256).map(|at| facts.region(RegionId(at))).any(|region| {
        let between = own.span.start.checked_sub(region.span.end);
        region.group == own.group && region.body == own.body && between.is_some_and(|between| between <= 1)
    })
}

/// Returns the method without arguments that a test calls, its receiver, and its result if the test comes out so.
fn asked(facts: &FileFacts, test: FormId, holds: bool, depth: u32) -> Option<(FormId, SiteId, bool)> {
    let depth = depth.checked_sub(1)?;
    match facts.form(test) {
        Form::Not(inner) => asked(facts, inner, !holds, depth),
        Form::Result(call) => match facts.form(facts.site(call).callee) {
            Form::Attr(subject, _) if facts.args_of(call).is_empty() => Some((subject, call, holds)),
            _ => None,
        },
        Form::Alt(AltKind::And, list) if holds => {
            facts.list(list).iter().find_map(|&part| asked(facts, part, true, depth))
        }
        Form::Alt(AltKind::Or, list) if !holds => {
            facts.list(list).iter().find_map(|&part| asked(facts, part, false, depth))
        }
        _ => None,
    }
}
