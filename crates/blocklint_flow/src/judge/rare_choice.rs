//! Signals `one-value-of-many` and `in-a-catch`: a branch for one value of many (the fiftieth `elif provider == "…"`)
//! is rarely taken, so calls in it have less confidence, unless a caller decides the value.

use blocklint_core::Language;
use blocklint_facts::{AltKind, BodyId, Comparison, Form, FormId, Region, RegionId, RegionKind, Sym, VarId, VarKind};
use blocklint_link::effect::guard::Guard;
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_link::syntax::regions::around;
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

use crate::guards::enclosing::guards_over;

/// How deep a test is searched for its comparisons.
const MAX_TEST_DEPTH: u32 = 4;

/// Cached answers about one program.
#[derive(Default)]
struct Memo {
    /// The number of values that a body compares a form with.
    alternatives: Table<(FileId, BodyId, FormId), usize, Plain>,
    /// The number of texts that the functions of a file compare variables of one name with.
    texts_compared: Table<(FileId, Sym), usize, Plain>,
}

/// From this number of alternatives on, a branch for one of them adds an inferred step.
const SOME: usize = 8;

/// From this number of alternatives on, a branch for one of them adds so many steps that its calls are not shown by
/// default.
const MANY: usize = 20;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum ComparedValue {
    Text(Sym),
    Number(i64),
    Named(FormId),
}

/// Returns the branches with a test around a site in its body, innermost first, each with the result of its test.
fn tested_around(linker: &Linker<'_>, site: SiteRef) -> impl Iterator<Item = (RegionId, Region, bool)> {
    let facts = linker.program.facts(site.file);
    around(facts, linker.program.site(site).at.region).filter_map(|id| {
        let region = facts.region(id);
        match region.kind {
            RegionKind::Then => Some((id, region, true)),
            RegionKind::Else if region.test.is_some() => Some((id, region, false)),
            _ => None,
        }
    })
}

/// True if a site is in a `catch` (Java).
pub(crate) fn is_in_catch(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    around(facts, linker.program.site(site).at.region).any(|id| facts.region(id).kind == RegionKind::Handler)
}

/// Returns the inferred steps of a site in branches that are one of many: by the number of values that the body
/// compares the same form with.
pub(crate) fn steps_of_value(linker: &Linker<'_>, site: SiteRef) -> u8 {
    let taken = tested_around(linker, site).filter(|&(.., holds)| holds);
    let steps = taken.flat_map(|(_, region, _)| {
        let subjects = compared_forms(linker, site.file, region.test, MAX_TEST_DEPTH).into_iter();
        subjects.map(move |subject| steps_of_alternatives(count_alternatives(linker, site.file, region.body, subject)))
    });
    steps.max().unwrap_or(0)
}

/// Returns the condition around a site that a parameter is one of many texts (Python).
pub(crate) fn guard_of_rare_choice(linker: &Linker<'_>, site: SiteRef) -> Option<Guard> {
    let facts = linker.program.facts(site.file);
    if facts.language != Language::Python {
        return None;
    }
    let guards = guards_over(linker, site);
    let mut tests = linker.tests_around(site).filter(|&(_, holds)| holds);
    tests.find_map(|(test, _)| {
        compared_forms(linker, site.file, test, MAX_TEST_DEPTH).into_iter().find_map(|subject| {
            let Form::Var(var) = facts.form(subject) else { return None };
            let var_facts = facts.var(var);
            let VarKind::Param(index) = var_facts.kind else { return None };
            let is_rare = || {
                steps_of_alternatives(count_alternatives(linker, site.file, var_facts.body, subject)) > 0
                    || count_compared_texts(linker, site.file, var_facts.name) >= MANY
            };
            let is_for_param = |guard: &&Guard| guard.param == index && guard.tests_text();
            guards.iter().find(is_for_param).filter(|_| is_rare()).cloned()
        })
    })
}

/// Returns the forms that a test compares with one value or some values, so that it holds for these only. For
/// `kind == Kind.A` it returns both sides, because callers count the comparisons of each.
fn compared_forms(linker: &Linker<'_>, file: FileId, test: FormId, depth: u32) -> SmallVec<[FormId; 2]> {
    let Some(depth) = depth.checked_sub(1) else { return SmallVec::new() };
    let facts = linker.program.facts(file);
    match facts.form(test) {
        Form::Compare(comparison @ (Comparison::Eq | Comparison::In), left, right) => {
            let sides = [(left, right), (right, left)];
            let sides = &sides[..if comparison == Comparison::Eq { 2 } else { 1 }];
            let is_subject = |&&(subject, value): &&(FormId, FormId)| {
                matches!(facts.form(subject), Form::Var(_) | Form::Attr(..))
                    && values_in(linker, file, value).next().is_some()
            };
            sides.iter().filter(is_subject).map(|&(subject, _)| subject).collect()
        }
        Form::Alt(AltKind::And, list) => {
            let mut parts = facts.list(list).iter().map(|&part| compared_forms(linker, file, part, depth));
            parts.find(|subjects| !subjects.is_empty()).unwrap_or_default()
        }
        // `a == "x" or a == "y"`: both parts compare the same form.
        Form::Alt(AltKind::Or, list) => {
            let mut parts = facts.list(list).iter().map(|&part| compared_forms(linker, file, part, depth));
            let mut common = parts.next().unwrap_or_default();
            for part in parts {
                common.retain(|subject| part.iter().any(|&form| facts.form(form) == facts.form(*subject)));
            }
            common
        }
        _ => SmallVec::new(),
    }
}

/// Returns the literal and named values that a form is, or that it contains as a display.
fn values_in(linker: &Linker<'_>, file: FileId, form: FormId) -> impl Iterator<Item = ComparedValue> {
    let facts = linker.program.facts(file);
    let parts: SmallVec<[FormId; 4]> = match facts.form(form) {
        Form::Display(_, list) => facts.list(list).iter().copied().collect(),
        _ => smallvec![form],
    };
    parts.into_iter().filter_map(|part| match facts.form(part) {
        Form::Str(text) => Some(ComparedValue::Text(text)),
        Form::Int(value) => Some(ComparedValue::Number(value)),
        // `model in catalogue.chat_models`
        Form::Attr(..) | Form::Var(_) | Form::Name(_) => Some(ComparedValue::Named(part)),
        _ => None,
    })
}

/// Returns the number of values that a body compares a form with.
fn count_alternatives(linker: &Linker<'_>, file: FileId, body: BodyId, subject: FormId) -> usize {
    linker.query(&linker.layer_memo::<Memo>().alternatives, (file, body, subject), usize::default, || {
        let facts = linker.program.facts(file);
        let wanted = facts.form(subject);
        let mut values: FxHashSet<ComparedValue> = FxHashSet::default();
        for region in facts.regions.iter().filter(|region| region.body == body && region.test.is_some()) {
            collect_compared_values(linker, file, region.test, wanted, &mut values, MAX_TEST_DEPTH);
        }
        values.len()
    })
}

/// Returns the number of texts that the functions of a file compare variables of one name with. So `provider` is one of
/// fifty values even in a function that compares it with two of them.
fn count_compared_texts(linker: &Linker<'_>, file: FileId, name: Sym) -> usize {
    linker.query(&linker.layer_memo::<Memo>().texts_compared, (file, name), usize::default, || {
        let facts = linker.program.facts(file);
        let mut values: FxHashSet<ComparedValue> = FxHashSet::default();
        for (index, var) in facts.vars.iter().enumerate().filter(|(_, var)| var.name == name) {
            let wanted = Form::Var(VarId(index as u32));
            for region in facts.regions.iter().filter(|region| region.body == var.body && region.test.is_some()) {
                collect_compared_values(linker, file, region.test, wanted, &mut values, MAX_TEST_DEPTH);
            }
        }
        values.retain(|value| matches!(value, ComparedValue::Text(_)));
        values.len()
    })
}

/// Adds the values that a test compares a form with.
fn collect_compared_values(
    linker: &Linker<'_>,
    file: FileId,
    test: FormId,
    subject: Form,
    values: &mut FxHashSet<ComparedValue>,
    depth: u32,
) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let facts = linker.program.facts(file);
    match facts.form(test) {
        Form::Not(inner) => collect_compared_values(linker, file, inner, subject, values, depth),
        Form::Compare(Comparison::Eq | Comparison::NotEq | Comparison::In | Comparison::NotIn, left, right)
            if facts.form(left) == subject =>
        {
            values.extend(values_in(linker, file, right));
        }
        Form::Compare(Comparison::Eq | Comparison::NotEq, left, right) if facts.form(right) == subject => {
            values.extend(values_in(linker, file, left));
        }
        Form::Alt(AltKind::And | AltKind::Or, list) => {
            facts
                .list(list)
                .iter()
                .for_each(|&part| collect_compared_values(linker, file, part, subject, values, depth));
        }
        _ => {}
    }
}

/// Returns the inferred steps for a branch that is one of a number of alternatives.
fn steps_of_alternatives(alternatives: usize) -> u8 {
    match alternatives {
        0..SOME => 0,
        SOME..MANY => 1,
        _ => 3,
    }
}
