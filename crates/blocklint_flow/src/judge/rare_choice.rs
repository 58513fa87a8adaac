//! Branches that are one of many: `elif provider == "…"` for the fiftieth time. The more values it is compared with,
//! the less likely is just this one, so calls there are reported with less confidence, unless a caller decides which
//! value it is.

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

/// Answers of this file that are kept for one program.
#[derive(Default)]
struct Memo {
    /// The number of values that a body compares a form with.
    alternatives: Table<(FileId, BodyId, FormId), usize, Plain>,
    /// The number of texts that the functions of a file compare what they call by one name with.
    texts_compared: Table<(FileId, Sym), usize, Plain>,
}

/// The number of alternatives from which on one of them is taken rarely.
const SOME: usize = 8;

/// From so many on, what stands in one is not shown by default.
const MANY: usize = 20;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Value {
    Text(Sym),
    Number(i64),
    Named(FormId),
}

/// Returns the branches around a site in its body that have a test, inner ones first: how the test came out, and the
/// branch.
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

/// True if a site runs only after a failure: the path to it goes through a `catch` (Java).
pub(crate) fn stands_in_catch(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    around(facts, linker.program.site(site).at.region).any(|id| facts.region(id).kind == RegionKind::Handler)
}

/// Returns the inferred steps for one of many values that a body compares the same with.
pub(crate) fn steps_of_value(linker: &Linker<'_>, site: SiteRef) -> u8 {
    let then = tested_around(linker, site).filter(|&(.., holds)| holds);
    let steps = then.flat_map(|(_, region, _)| {
        let subjects = chosen_by(linker, site.file, region.test, 4).into_iter();
        subjects.map(move |subject| steps_among(alternatives(linker, site.file, region.body, subject)))
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
        chosen_by(linker, site.file, test, 4).into_iter().find_map(|subject| {
            let Form::Var(var) = facts.form(subject) else { return None };
            let row = facts.var(var);
            let VarKind::Param(index) = row.kind else { return None };
            let is_rare = || {
                steps_among(alternatives(linker, site.file, row.body, subject)) > 0
                    || texts_compared(linker, site.file, row.name) >= MANY
            };
            let asks = |guard: &&Guard| guard.param == index && guard.tests_text();
            guards.iter().find(asks).filter(|_| is_rare()).cloned()
        })
    })
}

/// Returns the forms that a test compares with one or some values, so that it holds for these only. Of `kind == Kind.A`
/// both sides may be meant; the one that is compared again and again is meant.
fn chosen_by(linker: &Linker<'_>, file: FileId, test: FormId, depth: u32) -> SmallVec<[FormId; 2]> {
    let Some(depth) = depth.checked_sub(1) else { return SmallVec::new() };
    let facts = linker.program.facts(file);
    match facts.form(test) {
        Form::Compare(comparison @ (Comparison::Eq | Comparison::In), left, right) => {
            let sides = [(left, right), (right, left)];
            let sides = &sides[..if comparison == Comparison::Eq { 2 } else { 1 }];
            let is_subject = |&&(subject, other): &&(FormId, FormId)| {
                matches!(facts.form(subject), Form::Var(_) | Form::Attr(..))
                    && values_in(linker, file, other).next().is_some()
            };
            sides.iter().filter(is_subject).map(|&(subject, _)| subject).collect()
        }
        Form::Alt(AltKind::And, list) => {
            let mut parts = facts.list(list).iter().map(|&part| chosen_by(linker, file, part, depth));
            parts.find(|subjects| !subjects.is_empty()).unwrap_or_default()
        }
        // `a == "x" or a == "y"`: both of one subject.
        Form::Alt(AltKind::Or, list) => {
            let mut parts = facts.list(list).iter().map(|&part| chosen_by(linker, file, part, depth));
            let mut first = parts.next().unwrap_or_default();
            for part in parts {
                first.retain(|known| part.iter().any(|&other| facts.form(other) == facts.form(*known)));
            }
            first
        }
        _ => SmallVec::new(),
    }
}

/// Returns the values that a form is or holds, with which another is compared.
fn values_in(linker: &Linker<'_>, file: FileId, form: FormId) -> impl Iterator<Item = Value> {
    let facts = linker.program.facts(file);
    let parts: SmallVec<[FormId; 4]> = match facts.form(form) {
        Form::Display(_, list) => facts.list(list).iter().copied().collect(),
        _ => smallvec![form],
    };
    parts.into_iter().filter_map(|part| match facts.form(part) {
        Form::Str(text) => Some(Value::Text(text)),
        Form::Int(value) => Some(Value::Number(value)),
        // `model in catalogue.chat_models`
        Form::Attr(..) | Form::Var(_) | Form::Name(_) => Some(Value::Named(part)),
        _ => None,
    })
}

/// Returns the number of values that a body compares a form with.
fn alternatives(linker: &Linker<'_>, file: FileId, body: BodyId, subject: FormId) -> usize {
    linker.query(&linker.layer_memo::<Memo>().alternatives, (file, body, subject), usize::default, || {
        let facts = linker.program.facts(file);
        let wanted = facts.form(subject);
        let mut found: FxHashSet<Value> = FxHashSet::default();
        for region in facts.regions.iter().filter(|region| region.body == body && region.test.is_some()) {
            collect(linker, file, region.test, wanted, &mut found, 4);
        }
        found.len()
    })
}

/// Returns the number of texts that the functions of a file compare variables of one name with. `provider` is one of fifty
/// also where a function asks for two of them alone.
fn texts_compared(linker: &Linker<'_>, file: FileId, name: Sym) -> usize {
    linker.query(&linker.layer_memo::<Memo>().texts_compared, (file, name), usize::default, || {
        let facts = linker.program.facts(file);
        let mut found: FxHashSet<Value> = FxHashSet::default();
        for (at, var) in facts.vars.iter().enumerate().filter(|(_, var)| var.name == name) {
            let wanted = Form::Var(VarId(at as u32));
            for region in facts.regions.iter().filter(|region| region.body == var.body && region.test.is_some()) {
                collect(linker, file, region.test, wanted, &mut found, 4);
            }
        }
        found.retain(|value| matches!(value, Value::Text(_)));
        found.len()
    })
}

fn collect(linker: &Linker<'_>, file: FileId, test: FormId, subject: Form, found: &mut FxHashSet<Value>, depth: u32) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let facts = linker.program.facts(file);
    match facts.form(test) {
        Form::Not(inner) => collect(linker, file, inner, subject, found, depth),
        Form::Compare(Comparison::Eq | Comparison::NotEq | Comparison::In | Comparison::NotIn, left, right)
            if facts.form(left) == subject =>
        {
            found.extend(values_in(linker, file, right));
        }
        Form::Compare(Comparison::Eq | Comparison::NotEq, left, right) if facts.form(right) == subject => {
            found.extend(values_in(linker, file, left));
        }
        Form::Alt(AltKind::And | AltKind::Or, list) => {
            facts.list(list).iter().for_each(|&part| collect(linker, file, part, subject, found, depth));
        }
        _ => {}
    }
}

fn steps_among(alternatives: usize) -> u8 {
    match alternatives {
        0..SOME => 0,
        SOME..MANY => 1,
        _ => 3,
    }
}
