//! Branches over a parameter: the guard they put on what stands in them.

use std::rc::Rc;

use blocklint_facts::{AltKind, Comparison, Form, FormId, RegionId, RegionKind, VarKind};

use crate::constants::Constant;
use crate::ids::{BodyRef, SiteRef};
use crate::label::{Choice, Guard, Question, Source};
use crate::link::Link;
use crate::names;
use crate::rows::Shown;
use crate::value::{EnvId, Val};

impl<'a> Link<'a> {
    /// The condition on a parameter of its body under which a site is reached, of the innermost branch that has one.
    pub(crate) fn branch_guard(&self, site: SiteRef) -> Option<Guard> {
        let facts = self.program.facts(site.file);
        let mut at = facts.site(site.site).at.region;
        while let Some(id) = at.get() {
            let region = facts.region(id);
            let found = match region.kind {
                RegionKind::Then => self.choice(site, region.test, true, 4),
                RegionKind::Else if region.test.is_some() => self.choice(site, region.test, false, 4),
                RegionKind::Else => self.sibling_test(site, id).and_then(|test| self.choice(site, test, false, 4)),
                _ => None,
            };
            if found.is_some() {
                return found;
            }
            at = region.parent;
        }
        None
    }

    /// Whether a test or an exception decides that a site is reached.
    pub(crate) fn is_in_branch(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let mut at = facts.site(site.site).at.region;
        while let Some(id) = at.get() {
            let region = facts.region(id);
            if matches!(region.kind, RegionKind::Then | RegionKind::Else | RegionKind::Case | RegionKind::Handler) {
                return true;
            }
            at = region.parent;
        }
        false
    }

    /// The condition under which a conditional expression gives a body as the callee of a site:
    /// `write = slow if careful else quick; write()`.
    pub(crate) fn selection_guard(&self, site: SiteRef, body: BodyRef) -> Option<Guard> {
        let facts = self.program.facts(site.file);
        let mut form = facts.site(site.site).callee;
        if let Form::Var(var) = facts.form(form) {
            let mut rows = facts.assigns_of(var);
            let only = rows.next()?;
            if rows.next().is_some() {
                return None;
            }
            form = only.value;
        }
        let Form::Alt(AltKind::Ternary, list) = facts.form(form) else { return None };
        let [test, then, otherwise] = facts.list(list) else { return None };
        let gives = |form: FormId| {
            let typed = self.eval(self.scope_of(site, EnvId::NONE), form);
            self.values.members(typed.value).iter().any(|val| matches!(*val, Val::Fn { body: of, .. } if of == body))
        };
        match (gives(*then), gives(*otherwise)) {
            (true, false) => self.choice(site, *test, true, 4),
            (false, true) => self.choice(site, *test, false, 4),
            _ => None,
        }
    }

    /// The test of the branch that an `else` without a test of its own belongs to.
    pub(crate) fn sibling_test(&self, site: SiteRef, id: RegionId) -> Option<FormId> {
        let facts = self.program.facts(site.file);
        let own = facts.region(id);
        // Arms follow each other: the `then` lies shortly before its `else`.
        (0..id.0).rev().take(256).find_map(|at| {
            let region = facts.region(RegionId(at));
            (region.kind == RegionKind::Then && region.group == own.group && region.body == own.body)
                .then_some(region.test)
        })
    }

    /// The guard of a test that must come out as `wanted`.
    fn choice(&self, site: SiteRef, test: FormId, wanted: bool, depth: u32) -> Option<Guard> {
        let depth = depth.checked_sub(1)?;
        let facts = self.program.facts(site.file);
        let guard = |param: u32, choice: Choice, wanted: bool| Guard {
            param,
            source: Source::Branch,
            question: Rc::new(Question::Choice(choice)),
            wanted,
            passed: 0,
            rare: 0,
        };
        match facts.form(test) {
            Form::Not(inner) => self.choice(site, inner, !wanted, depth),
            Form::Var(_) => Some(guard(self.own_param(site, test)?, Choice::Truth, wanted)),
            Form::Compare(comparison, left, right) => {
                let param = self.own_param(site, left)?;
                let holds = match comparison {
                    Comparison::Is | Comparison::Eq => wanted,
                    Comparison::IsNot | Comparison::NotEq => !wanted,
                    _ => return None,
                };
                match self.constant(site, right, EnvId::NONE, 3) {
                    Constant::Hidden | Constant::Param(_) => None,
                    Constant::Null => Some(guard(param, Choice::Null, holds)),
                    other => Some(guard(param, Choice::Equals(other), holds)),
                }
            }
            // `name.startswith("s3:")`
            Form::Result(call) => {
                let row = facts.site(call);
                let Form::Attr(subject, _) = facts.form(row.callee) else { return None };
                let end = names::asks_for_end(facts.language, facts.text(row.name))?;
                let param = self.own_param_but_for_prefixes(site, subject)?;
                let [only] = facts.args_of(call)[..] else { return None };
                let Constant::Str(part) = self.constant(site, only.value, EnvId::NONE, 3) else { return None };
                let choice = match end {
                    names::StringEnd::First => Choice::Begins(part),
                    names::StringEnd::Last => Choice::Ends(part),
                };
                Some(guard(param, choice, wanted))
            }
            // All of `a and b` hold, none of `a or b` does.
            Form::Alt(AltKind::And, list) if wanted => {
                facts.list(list).iter().find_map(|&part| self.choice(site, part, true, depth))
            }
            Form::Alt(AltKind::Or, list) if !wanted => {
                facts.list(list).iter().find_map(|&part| self.choice(site, part, false, depth))
            }
            _ => None,
        }
    }

    /// What a branch around a site says that a string begins with.
    pub(crate) fn known_beginning(&self, site: SiteRef, subject: FormId) -> Option<String> {
        let facts = self.program.facts(site.file);
        let mut at = facts.site(site.site).at.region;
        while let Some(id) = at.get() {
            let region = facts.region(id);
            if region.kind == RegionKind::Then
                && let Some(found) = self.beginning_in(site, region.test, subject, 4)
            {
                return Some(found);
            }
            at = region.parent;
        }
        None
    }

    /// Whether a branch around a site says that a variable is false in the language's sense, and that it is `None`: each
    /// only as far as a test tells, and if the branch gives it no other value.
    pub(crate) fn known_false(&self, site: SiteRef, subject: FormId) -> (Option<bool>, Option<bool>) {
        let facts = self.program.facts(site.file);
        let Form::Var(var) = facts.form(subject) else { return (None, None) };
        let (mut is_false, mut is_null) = (None, None);
        let mut at = facts.site(site.site).at.region;
        while let Some(id) = at.get() {
            let region = facts.region(id);
            let holds = match region.kind {
                RegionKind::Then => Some(true),
                RegionKind::Else if region.test.is_some() => Some(false),
                _ => None,
            };
            if let Some(holds) = holds
                && !facts.assigns_of(var).any(|assign| self.lies_in(site.file, assign.at.region, id))
            {
                let told = self.told_of(site, region.test, holds, subject, 4);
                is_false = is_false.or(told.0);
                is_null = is_null.or(told.1);
            }
            at = region.parent;
        }
        (is_false, is_null)
    }

    fn lies_in(&self, file: crate::ids::FileId, region: RegionId, outer: RegionId) -> bool {
        let facts = self.program.facts(file);
        let mut at = region;
        while let Some(id) = at.get() {
            if id == outer {
                return true;
            }
            at = facts.region(id).parent;
        }
        false
    }

    /// What a test that comes out as `holds` tells of a variable: whether it is false, whether it is `None`.
    fn told_of(
        &self,
        site: SiteRef,
        test: FormId,
        holds: bool,
        subject: FormId,
        depth: u32,
    ) -> (Option<bool>, Option<bool>) {
        let Some(depth) = depth.checked_sub(1) else { return (None, None) };
        let facts = self.program.facts(site.file);
        match facts.form(test) {
            Form::Not(inner) => self.told_of(site, inner, !holds, subject, depth),
            Form::Var(_) if facts.form(test) == facts.form(subject) => match holds {
                true => (Some(false), Some(false)),
                // An empty string is false and not `None`.
                false => (Some(true), None),
            },
            Form::Compare(comparison, left, right)
                if facts.form(left) == facts.form(subject) && facts.form(right) == Form::None =>
            {
                let null = match comparison {
                    Comparison::Is | Comparison::Eq => holds,
                    Comparison::IsNot | Comparison::NotEq => !holds,
                    _ => return (None, None),
                };
                (null.then_some(true), Some(null))
            }
            Form::Alt(AltKind::And, list) if holds => facts.list(list).iter().fold((None, None), |known, &part| {
                let told = self.told_of(site, part, true, subject, depth);
                (known.0.or(told.0), known.1.or(told.1))
            }),
            Form::Alt(AltKind::Or, list) if !holds => facts.list(list).iter().fold((None, None), |known, &part| {
                let told = self.told_of(site, part, false, subject, depth);
                (known.0.or(told.0), known.1.or(told.1))
            }),
            _ => (None, None),
        }
    }

    /// The beginning of a string that a test states where it holds.
    fn beginning_in(&self, site: SiteRef, test: FormId, subject: FormId, depth: u32) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let facts = self.program.facts(site.file);
        match facts.form(test) {
            Form::Alt(AltKind::And, list) => {
                facts.list(list).iter().find_map(|&part| self.beginning_in(site, part, subject, depth))
            }
            Form::Result(call) => {
                let row = facts.site(call);
                let Form::Attr(base, _) = facts.form(row.callee) else { return None };
                let same = facts.form(base) == facts.form(subject) && matches!(facts.form(subject), Form::Var(_));
                let first = names::asks_for_end(facts.language, facts.text(row.name)) == Some(names::StringEnd::First);
                let [only] = facts.args_of(call)[..] else { return None };
                match self.constant(site, only.value, EnvId::NONE, 3) {
                    Constant::Str(text) if same && first => Some(text),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// As `own_param`, also if a prefix was taken off before: `if name.startswith("env:"): name = name[4:]`. Without that
    /// prefix nothing is assigned, and with it the rest is not known to begin otherwise.
    fn own_param_but_for_prefixes(&self, site: SiteRef, form: FormId) -> Option<u32> {
        let facts = self.program.facts(site.file);
        let Form::Var(var) = facts.form(form) else { return None };
        let row = facts.var(var);
        let VarKind::Param(index) = row.kind else { return None };
        let takes_off = |region: RegionId| {
            let region = facts.region(region);
            let Form::Result(call) = facts.form(region.test) else { return false };
            let test = facts.site(call);
            let on_it = matches!(facts.form(test.callee), Form::Attr(base, _) if facts.form(base) == Form::Var(var));
            region.kind == RegionKind::Then
                && on_it
                && names::asks_for_end(facts.language, facts.text(test.name)).is_some()
        };
        let own = row.body == facts.body_of(facts.site(site.site).at);
        (own && facts.assigns_of(var).all(|assign| takes_off(assign.at.region))).then_some(index)
    }

    /// The parameter of the site's own body that a form is, if nothing assigns to it.
    fn own_param(&self, site: SiteRef, form: FormId) -> Option<u32> {
        let facts = self.program.facts(site.file);
        let Form::Var(var) = facts.form(form) else { return None };
        let row = facts.var(var);
        let VarKind::Param(index) = row.kind else { return None };
        let own = row.body == facts.body_of(facts.site(site.site).at);
        (own && facts.assigns_of(var).next().is_none()).then_some(index)
    }
}

/// What a literal answers to the test of a branch.
pub(crate) fn answer(choice: &Choice, constant: &Constant) -> Shown {
    let truth = |holds: bool| if holds { Shown::Yes } else { Shown::No };
    match (choice, constant) {
        (_, Constant::Param(index)) => Shown::Param(*index),
        (_, Constant::Hidden) => Shown::Hidden,
        (Choice::Null, constant) => truth(*constant == Constant::Null),
        (Choice::Truth, Constant::Null) => Shown::No,
        (Choice::Truth, Constant::Bool(value)) => truth(*value),
        (Choice::Truth, Constant::Int(value)) => truth(*value != 0),
        (Choice::Truth, Constant::Float(value)) => truth(*value != 0.0),
        (Choice::Truth, Constant::Str(text)) => truth(!text.is_empty()),
        // An enum's member, a function: true unless it says otherwise, which is rare.
        (Choice::Truth, Constant::Symbols(_)) => Shown::Hidden,
        (Choice::Begins(part), Constant::Str(text)) => truth(text.starts_with(part.as_str())),
        // The end of a long string was cut off.
        (Choice::Ends(_), Constant::Str(text)) if text.len() >= 64 => Shown::Hidden,
        (Choice::Ends(part), Constant::Str(text)) => truth(text.ends_with(part.as_str())),
        (Choice::Begins(_) | Choice::Ends(_), Constant::Symbols(_)) => Shown::Hidden,
        (Choice::Begins(_) | Choice::Ends(_), _) => Shown::No,
        (Choice::Equals(wanted), constant) => match (wanted, constant) {
            (Constant::Symbols(a), Constant::Symbols(b)) => truth(a == b),
            (Constant::Symbols(_), _) | (_, Constant::Symbols(_)) => Shown::Hidden,
            _ => truth(wanted == constant),
        },
    }
}
