//! States of library objects, which model rows set and test: a socket after `s.setblocking(False)`.

use crate::effect::guard::{Guard, Question, Source};
use crate::linker::Linker;
use crate::models::row_match::ConditionResult;
use crate::program::ids::{FileId, SiteRef};
use crate::syntax::forms::field_of;
use crate::values::value::{BoundId, EnvId, Val};
use blocklint_core::Language;
use blocklint_facts::{FileFacts, Form, FormId, SiteId, Sym, VarKind};
use blocklint_models::{Argument, Condition, Subject, Test};

impl Linker<'_> {
    /// Returns a guard on the parameter that decides a condition `state = …` on a receiver. It exists if the call that
    /// created the receiver is in the same body and a parameter of the body decides the state that the call sets.
    pub(crate) fn guard_of_receiver_state(
        &self,
        site: SiteRef,
        condition: &Condition,
        receiver: BoundId,
    ) -> Option<Guard> {
        let (Subject::Argument(Argument::Receiver), [Test::State(state)]) = (&condition.subject, &condition.tests[..])
        else {
            return None;
        };
        let Val::Library { made: Some(creation), .. } = self.values.single(receiver) else { return None };
        if self.program.body_of_site(creation) != self.program.body_of_site(site) {
            return None;
        }
        self.values.members(self.callee(creation, EnvId::NONE).value).iter().find_map(|val| {
            let (Val::External(path) | Val::Method { path, .. }) = *val else { return None };
            let rows = self.rows_for_call(path, creation);
            rows.with(|row| row.state.is_some()).find_map(|row| match &row.when[..] {
                [when] if row.state.as_deref() == Some(state) && row.unless.is_empty() => {
                    match self.condition_result(when, creation, BoundId::NONE, EnvId::NONE) {
                        ConditionResult::Param(index) => {
                            Some(Guard::new(index, Source::Exempt, Question::Condition(when.clone()), false))
                        }
                        _ => None,
                    }
                }
                _ => None,
            })
        })
    }

    /// True if every value that is assigned to a field comes from a call that sets a state. `None` does not count.
    pub(crate) fn is_field_in_state(&self, file: FileId, form: FormId, state: &str) -> bool {
        let facts = self.program.facts(file);
        let Some(field) = field_of(facts, form) else { return false };
        let mut assigned = values_assigned(facts, field).filter(|&value| facts.form(value) != Form::None).peekable();
        assigned.peek().is_some()
            && assigned.all(|value| match facts.form(value) {
                Form::Result(site) => self.call_sets_state(file.site_ref(site), state),
                _ => false,
            })
    }

    /// Returns the results of the calls on a local variable before a site, because such calls may set its type:
    /// `options.setWorker(true);`.
    pub(crate) fn states_set_by_calls(&self, site: SiteRef, form: FormId) -> Vec<Val> {
        let facts = self.program.facts(site.file);
        let Form::Var(var) = facts.form(form) else { return Vec::new() };
        if facts.var(var).kind != VarKind::Inner {
            return Vec::new();
        }
        let position = self.program.site(site).at;
        let mut results = Vec::new();
        for (index, site_facts) in facts.sites.iter().enumerate() {
            let call = site.file.site_ref(SiteId(index as u32));
            if site_facts.at.position < position.position
                && facts.body_of(site_facts.at) == facts.body_of(position)
                && self.receiver_form(call).is_some_and(|receiver| facts.form(receiver) == Form::Var(var))
            {
                results.extend(self.values.members(self.result(call, EnvId::NONE).value));
            }
        }
        results
    }
}

/// Returns the values that a file assigns to a field through the receiver: `self.name = …`.
fn values_assigned(facts: &FileFacts, field: Sym) -> impl Iterator<Item = FormId> {
    let rows = facts.assigns.iter().filter(|assignment| assignment.target.is_some());
    rows.filter(move |row| field_of(facts, row.target) == Some(field)).filter_map(|row| row.value.get())
}

impl<'a> Linker<'a> {
    /// True if an object is in a state that the call that created it sets, or a call on the same variable or field.
    pub(crate) fn is_in_state(
        &self,
        site: SiteRef,
        form: FormId,
        argument: &Argument,
        receiver: BoundId,
        state: &str,
        env: EnvId,
    ) -> bool {
        let find = || self.is_in_state_within_depth(site, form, argument, receiver, state, env);
        self.tables.models.state_depth.nest(find).unwrap_or(false)
    }

    /// True if an object is in a state. Queries of conditions may nest, so callers use [`Linker::is_in_state`].
    pub(crate) fn is_in_state_within_depth(
        &self,
        site: SiteRef,
        form: FormId,
        argument: &Argument,
        receiver: BoundId,
        state: &str,
        env: EnvId,
    ) -> bool {
        let val = if *argument == Argument::Receiver && receiver.is_some() {
            self.values.single(receiver)
        } else {
            match self.values.members(self.eval(self.scope_of(site, env), form).value).first() {
                Some(&val) => val,
                None => return false,
            }
        };
        if let Val::Library { made: Some(made), .. } = val
            && self.call_sets_state(made, state)
        {
            return true;
        }
        if self.program.language(site.file) == Language::Java && self.is_field_in_state(site.file, form, state) {
            return true;
        }
        // A call such as `s.setblocking(False)` on the same variable or field.
        let Val::Library { ty, .. } = val else { return false };
        let facts = self.program.facts(site.file);
        let holder = facts.form(form);
        for name in self.library.state_names(ty, state) {
            let Some(name) = self.program.name(&name) else { continue };
            for &(file, sym) in self.program.occurrences(name) {
                let declaring_facts = self.program.facts(file);
                for &setter in self.program.index_of(file).sites_named(sym) {
                    let setter = file.site_ref(setter);
                    let Some(receiver_of_setter) = self.receiver_form(setter) else { continue };
                    let is_same = match (holder, declaring_facts.form(receiver_of_setter)) {
                        (Form::Var(a), Form::Var(b)) => file == site.file && a == b,
                        (Form::Attr(_, a), Form::Attr(_, b)) => {
                            facts.text(a) == declaring_facts.text(b)
                                && self.have_related_owners(site, form, setter, receiver_of_setter)
                        }
                        _ => false,
                    };
                    if is_same && self.call_sets_state(setter, state) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// True if the objects of two attribute forms are of the same class, or of a class and its subclass.
    pub(crate) fn have_related_owners(&self, a: SiteRef, a_form: FormId, b: SiteRef, b_form: FormId) -> bool {
        let class = |site: SiteRef, form: FormId| {
            let facts = self.program.facts(site.file);
            let Form::Attr(base, _) = facts.form(form) else { return None };
            match self.values.members(self.eval(self.scope_of(site, EnvId::NONE), base).value)[..] {
                [Val::Instance { class, .. }] => Some(class),
                _ => None,
            }
        };
        match (class(a, a_form), class(b, b_form)) {
            (Some(a), Some(b)) => self.is_subclass(a, b) || self.is_subclass(b, a),
            _ => false,
        }
    }

    /// True if a row of a call sets a state.
    pub(crate) fn call_sets_state(&self, site: SiteRef, state: &str) -> bool {
        let callee = self.callee(site, EnvId::NONE);
        self.values.members(callee.value).iter().any(|val| {
            let (Val::External(path) | Val::Method { path, .. }) = *val else { return false };
            self.rows_for_call(path, site).with(|row| row.state.is_some()).any(|row| {
                row.state.as_deref() == Some(state) && self.conditions_hold(&row.when, &row.unless, site, EnvId::NONE)
            })
        })
    }
}
