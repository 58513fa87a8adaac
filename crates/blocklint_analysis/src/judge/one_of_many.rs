//! Branches that are one of many: `elif provider == "…"` for the fiftieth time. That the value is just this one is less
//! likely the more others it is compared with, so what stands there is reported less surely, unless a caller says which it
//! is.

use blocklint_core::Language;
use blocklint_facts::{
    AltKind, BodyId, BodyKind, Comparison, Form, FormId, Region, RegionId, RegionKind, Sym, VarId, VarKind,
};
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

use crate::code::regions::around;
use crate::judge::memo::Memo;
use crate::labels::label::{Guard, is_rare_scheme};
use crate::link::Link;
use crate::link::completed::is_same;
use crate::link::names::java;
use crate::link::value::EnvId;
use crate::program::ids::{FileId, SiteRef, VarRef};

/// From so many alternatives on, one of them is taken rarely enough to say so.
const SOME: usize = 8;

/// From so many on, what stands in one is not shown by default.
const MANY: usize = 20;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Value {
    Text(Sym),
    Number(i64),
    Named(FormId),
}

impl<'a> Link<'a> {
    /// The branches around a site in its body that have a test, inner ones first: how the test came out, and the branch.
    fn tested_around(&self, site: SiteRef) -> impl Iterator<Item = (RegionId, Region, bool)> {
        let facts = self.program.facts(site.file);
        around(facts, facts.site(site.site).at.region).filter_map(|id| {
            let region = facts.region(id);
            match region.kind {
                RegionKind::Then => Some((id, region, true)),
                RegionKind::Else if region.test.is_some() => Some((id, region, false)),
                _ => None,
            }
        })
    }

    /// Java: whether a way through a `catch` leads to a site, which is taken where something failed.
    pub(crate) fn stands_in_catch(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        around(facts, facts.site(site.site).at.region).any(|id| facts.region(id).kind == RegionKind::Handler)
    }

    /// Java: whether a call looks up a host that a test around it says to be an address.
    pub(crate) fn looks_up_address(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        java::looks_up_host(facts.text(facts.site(site.site).name))
            && self.tested_around(site).any(|(_, region, holds)| self.says_address(site.file, region.test, holds))
    }

    /// Java: whether a site stands behind a test for what a program may be given, and mostly is not.
    pub(crate) fn is_for_optional_part(&self, site: SiteRef) -> bool {
        self.tested_around(site).any(|(_, region, holds)| self.asks_for_optional(site, region.test, holds))
    }

    /// Rust: whether a site stands where an optional part of an object is not there.
    pub(crate) fn is_for_lacking_part(&self, site: SiteRef) -> bool {
        self.tested_around(site).any(|(_, region, holds)| self.lacks_optional(site.file, region.test, holds))
    }

    /// Rust: whether a site stands in a branch that begins with `debug_assert!(false)`.
    pub(crate) fn is_in_unexpected_branch(&self, site: SiteRef) -> bool {
        self.tested_around(site).any(|(id, ..)| self.is_never_expected(site.file, id))
    }

    /// Rust: the inferred steps for one variant of an enum.
    pub(crate) fn steps_of_variant(&self, site: SiteRef) -> u8 {
        let then = self.tested_around(site).filter(|&(.., holds)| holds);
        then.map(|(_, region, _)| steps_among(self.variants_beside(site, region.test))).max().unwrap_or(0)
    }

    /// Python: whether a site stands behind a test for a text of a rare kind.
    pub(crate) fn is_for_kind_of_text(&self, site: SiteRef) -> bool {
        let mut then = self.tested_around(site).filter(|&(.., holds)| holds);
        then.any(|(_, region, _)| self.asks_for_kind_of_text(site.file, region.test, 3))
    }

    /// The inferred steps for one of many values that a body compares the same with.
    pub(crate) fn steps_of_value(&self, site: SiteRef) -> u8 {
        let then = self.tested_around(site).filter(|&(.., holds)| holds);
        let steps = then.flat_map(|(_, region, _)| {
            let subjects = self.chosen_by(site.file, region.test, 4).into_iter();
            subjects.map(move |subject| steps_among(self.alternatives(site.file, region.body, subject)))
        });
        steps.max().unwrap_or(0)
    }

    /// Whether a site stands behind a test for one of many texts that a file tells apart under one name.
    pub(crate) fn is_one_of_many_texts(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let mut then = self.tested_around(site).filter(|&(.., holds)| holds);
        then.any(|(_, region, _)| {
            self.chosen_by(site.file, region.test, 4).into_iter().any(|subject| match facts.form(subject) {
                Form::Var(var) => {
                    !self.asks_for_nothing(site.file, region.test, 4)
                        && self.told_apart(site.file, facts.var(var).name) >= MANY
                }
                _ => false,
            })
        })
    }

    /// Python: whether a test asks for a text of a rare kind, by what it holds: `"env:" in value`. What stands there is for values
    /// that point elsewhere.
    fn asks_for_kind_of_text(&self, file: FileId, test: FormId, depth: u32) -> bool {
        let facts = self.program.facts(file);
        let Some(depth) = depth.checked_sub(1) else { return false };
        if facts.language != Language::Python {
            return false;
        }
        match facts.form(test) {
            Form::Compare(Comparison::In, part, _) => {
                matches!(facts.form(part), Form::Str(text) if is_rare_scheme(facts.text(text)))
            }
            Form::Alt(AltKind::And, list) => {
                facts.list(list).iter().any(|&part| self.asks_for_kind_of_text(file, part, depth))
            }
            _ => false,
        }
    }

    /// Python: the condition around a site that says which of many texts a parameter is.
    pub(crate) fn guard_of_rare_choice(&self, site: SiteRef) -> Option<Guard> {
        let facts = self.program.facts(site.file);
        if facts.language != Language::Python {
            return None;
        }
        let guards = self.guards_over(site);
        let mut tests = self.tests_over(site).filter(|&(_, holds)| holds);
        tests.find_map(|(test, _)| {
            self.chosen_by(site.file, test, 4).into_iter().find_map(|subject| {
                let Form::Var(var) = facts.form(subject) else { return None };
                let row = facts.var(var);
                let VarKind::Param(index) = row.kind else { return None };
                let is_rare = || {
                    steps_among(self.alternatives(site.file, row.body, subject)) > 0
                        || self.told_apart(site.file, row.name) >= MANY
                };
                let asks = |guard: &&Guard| guard.param == index && guard.asks_for_text();
                guards.iter().find(asks).filter(|_| is_rare()).cloned()
            })
        })
    }

    /// Whether a test that comes out so says that what is called is there, which only a setter gives:
    /// `if (this.optimizer != null) this.optimizer.fill();`.
    fn asks_for_optional(&self, site: SiteRef, test: FormId, holds: bool) -> bool {
        let file = site.file;
        let facts = self.program.facts(file);
        let (field, nothing) = match facts.form(test) {
            Form::Not(inner) => return self.asks_for_optional(site, inner, !holds),
            Form::Alt(AltKind::And, list) if holds => {
                return facts.list(list).iter().any(|&part| self.asks_for_optional(site, part, true));
            }
            Form::Compare(Comparison::NotEq, left, right) if holds => (left, right),
            Form::Compare(Comparison::Eq, left, right) if !holds => (left, right),
            _ => return false,
        };
        let is_called = self.receiver_form(site).is_some_and(|of| is_same(facts, of, field));
        if facts.form(nothing) != Form::None || !is_called {
            return false;
        }
        let scope = self.scope_of(site, EnvId::NONE);
        let var = match facts.form(field) {
            Form::Attr(base, sym) => self.field_behind(scope, base, sym),
            Form::Var(var) if facts.body(facts.var(var).body).kind == BodyKind::Class => Some(VarRef { file, var }),
            _ => None,
        };
        let Some(var) = var else { return false };
        let facts = self.program.facts(var.file);
        let given = self.given_to(var);
        let by_setter = |at: blocklint_facts::At| {
            let name = facts.text(facts.body(facts.body_of(at)).name);
            java::is_setter(name)
        };
        !given.is_empty()
            && given.iter().all(|&(at, value)| facts.form(value) == Form::None || by_setter(at))
            && given.iter().any(|&(at, _)| by_setter(at))
    }

    /// Whether a test that comes out so says that a host is written as an address.
    fn says_address(&self, file: FileId, test: FormId, holds: bool) -> bool {
        let facts = self.program.facts(file);
        match facts.form(test) {
            Form::Not(inner) => self.says_address(file, inner, !holds),
            Form::Result(call) => holds && java::asks_for_address(facts.text(facts.site(call).name)),
            _ => false,
        }
    }

    /// What a test compares with one or some values, so that it holds for these only. Of `kind == Kind.A` both sides may be
    /// meant; which one is compared again and again tells.
    fn chosen_by(&self, file: FileId, test: FormId, depth: u32) -> SmallVec<[FormId; 2]> {
        let Some(depth) = depth.checked_sub(1) else { return SmallVec::new() };
        let facts = self.program.facts(file);
        match facts.form(test) {
            Form::Compare(comparison @ (Comparison::Eq | Comparison::In), left, right) => {
                let sides = [(left, right), (right, left)];
                let sides = &sides[..if comparison == Comparison::Eq { 2 } else { 1 }];
                let is_subject = |&&(subject, other): &&(FormId, FormId)| {
                    matches!(facts.form(subject), Form::Var(_) | Form::Attr(..))
                        && self.values_in(file, other).next().is_some()
                };
                sides.iter().filter(is_subject).map(|&(subject, _)| subject).collect()
            }
            Form::Alt(AltKind::And, list) => {
                let mut parts = facts.list(list).iter().map(|&part| self.chosen_by(file, part, depth));
                parts.find(|subjects| !subjects.is_empty()).unwrap_or_default()
            }
            // `a == "x" or a == "y"`: both of one subject.
            Form::Alt(AltKind::Or, list) => {
                let mut parts = facts.list(list).iter().map(|&part| self.chosen_by(file, part, depth));
                let mut first = parts.next().unwrap_or_default();
                for part in parts {
                    first.retain(|known| part.iter().any(|&other| facts.form(other) == facts.form(*known)));
                }
                first
            }
            _ => SmallVec::new(),
        }
    }

    /// What a form is or holds that another is compared with.
    fn values_in(&self, file: FileId, form: FormId) -> impl Iterator<Item = Value> {
        let facts = self.program.facts(file);
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

    /// With how many values a body compares what a form is, remembered.
    fn alternatives(&self, file: FileId, body: BodyId, subject: FormId) -> usize {
        if let Some(&known) = self.above::<Memo>().alternatives.borrow().get(&(file, body, subject)) {
            return known;
        }
        let facts = self.program.facts(file);
        let wanted = facts.form(subject);
        let mut found: FxHashSet<Value> = FxHashSet::default();
        for region in facts.regions.iter().filter(|region| region.body == body && region.test.is_some()) {
            self.collect(file, region.test, wanted, &mut found, 4);
        }
        self.above::<Memo>().alternatives.borrow_mut().insert((file, body, subject), found.len());
        found.len()
    }

    /// Whether a test compares with the empty text, which is what nobody has chosen.
    fn asks_for_nothing(&self, file: FileId, test: FormId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let facts = self.program.facts(file);
        let is_empty = |form: FormId| matches!(facts.form(form), Form::Str(text) if facts.text(text).is_empty());
        match facts.form(test) {
            Form::Compare(_, left, right) => is_empty(left) || is_empty(right),
            Form::Alt(_, list) => facts.list(list).iter().any(|&part| self.asks_for_nothing(file, part, depth)),
            _ => false,
        }
    }

    /// With how many texts the functions of a file compare what they all call the same, remembered: `provider` is one of
    /// fifty, also where a function asks for two of them alone.
    fn told_apart(&self, file: FileId, name: Sym) -> usize {
        if let Some(&known) = self.above::<Memo>().told_apart.borrow().get(&(file, name)) {
            return known;
        }
        let facts = self.program.facts(file);
        let mut found: FxHashSet<Value> = FxHashSet::default();
        for (at, var) in facts.vars.iter().enumerate().filter(|(_, var)| var.name == name) {
            let wanted = Form::Var(VarId(at as u32));
            for region in facts.regions.iter().filter(|region| region.body == var.body && region.test.is_some()) {
                self.collect(file, region.test, wanted, &mut found, 4);
            }
        }
        found.retain(|value| matches!(value, Value::Text(_)));
        self.above::<Memo>().told_apart.borrow_mut().insert((file, name), found.len());
        found.len()
    }

    fn collect(&self, file: FileId, test: FormId, subject: Form, found: &mut FxHashSet<Value>, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let facts = self.program.facts(file);
        match facts.form(test) {
            Form::Not(inner) => self.collect(file, inner, subject, found, depth),
            Form::Compare(Comparison::Eq | Comparison::NotEq | Comparison::In | Comparison::NotIn, left, right)
                if facts.form(left) == subject =>
            {
                found.extend(self.values_in(file, right));
            }
            Form::Compare(Comparison::Eq | Comparison::NotEq, left, right) if facts.form(right) == subject => {
                found.extend(self.values_in(file, left));
            }
            Form::Alt(AltKind::And | AltKind::Or, list) => {
                facts.list(list).iter().for_each(|&part| self.collect(file, part, subject, found, depth));
            }
            _ => {}
        }
    }
}

fn steps_among(alternatives: usize) -> u8 {
    match alternatives {
        0..SOME => 0,
        SOME..MANY => 1,
        _ => 3,
    }
}
