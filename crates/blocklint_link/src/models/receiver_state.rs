//! States of an object that a parameter decides: `with urlopen(url) as response: response.read()`.

use crate::effect::guard::{Guard, Question, Source};
use crate::linker::Linker;
use crate::models::row_match::ConditionResult;
use crate::program::ids::{FileId, SiteRef};
use crate::syntax::forms::field_of;
use crate::values::value::{BoundId, EnvId, Val};
use blocklint_core::Language;
use blocklint_facts::{FileFacts, Form, FormId, Sym, VarKind};
use blocklint_models::{Argument, Condition, Subject, Test};

impl Linker<'_> {
    /// Returns the parameter that decides whether a condition `state = …` on a receiver is met, where the call that
    /// made the receiver stands in the same body and a parameter of that body decides the object that it makes.
    pub(crate) fn state_by_param(&self, site: SiteRef, condition: &Condition, receiver: BoundId) -> Option<Guard> {
        let (Subject::Argument(Argument::Receiver), [Test::State(state)]) = (&condition.subject, &condition.tests[..])
        else {
            return None;
        };
        let Val::Library { made: Some(made), .. } = self.values.single(receiver) else { return None };
        if self.program.body_of_site(made) != self.program.body_of_site(site) {
            return None;
        }
        self.values.members(self.callee(made, EnvId::NONE).value).iter().find_map(|val| {
            let (Val::External(path) | Val::Method { path, .. }) = *val else { return None };
            let rows = self.rows_for_call(path, made);
            rows.with(|row| row.state.is_some()).find_map(|row| match &row.when[..] {
                [when] if row.state.as_deref() == Some(state) && row.unless.is_empty() => {
                    match self.shown(when, made, BoundId::NONE, EnvId::NONE) {
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

    /// True if every value that a field is given comes from a call that put it in a state. `None` is left out.
    pub(crate) fn is_field_in_state(&self, file: FileId, form: FormId, state: &str) -> bool {
        let facts = self.program.facts(file);
        let Some(field) = field_of(facts, form) else { return false };
        let mut given = values_assigned(facts, field).filter(|&value| facts.form(value) != Form::None).peekable();
        given.peek().is_some()
            && given.all(|value| match facts.form(value) {
                Form::Result(site) => self.call_sets_state(file.site_ref(site), state),
                _ => false,
            })
    }

    /// Returns the types that a local variable is given by calls on it as statements: `options.setWorker(true);`.
    pub(crate) fn states_set_by_calls(&self, site: SiteRef, form: FormId) -> Vec<Val> {
        let facts = self.program.facts(site.file);
        let Form::Var(var) = facts.form(form) else { return Vec::new() };
        if facts.var(var).kind != VarKind::Inner {
            return Vec::new();
        }
        let here = self.program.site(site).at;
        let mut found = Vec::new();
        for (at, row) in facts.sites.iter().enumerate() {
            let call = site.file.site_ref(blocklint_facts::SiteId(at as u32));
            if row.at.position < here.position
                && facts.body_of(row.at) == facts.body_of(here)
                && self.receiver_form(call).is_some_and(|of| facts.form(of) == Form::Var(var))
            {
                found.extend(self.values.members(self.result(call, EnvId::NONE).value));
            }
        }
        found
    }
}

/// Returns the values that a file assigns to a field of the object itself.
fn values_assigned(facts: &FileFacts, field: Sym) -> impl Iterator<Item = FormId> {
    let rows = facts.assigns.iter().filter(|row| row.target.is_some());
    rows.filter(move |row| field_of(facts, row.target) == Some(field)).filter_map(|row| row.value.get())
}

impl<'a> Linker<'a> {
    /// True if an object was put in a state: by the call that made it, or by a call on the same variable or field.
    pub(crate) fn in_state(
        &self,
        site: SiteRef,
        form: FormId,
        argument: &Argument,
        receiver: BoundId,
        state: &str,
        env: EnvId,
    ) -> bool {
        let find = || self.was_put_in(site, form, argument, receiver, state, env);
        self.tables.models.states_asked.nest(find).unwrap_or(false)
    }

    pub(crate) fn was_put_in(
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
        // `s.setblocking(False)` on the same variable or field.
        let Val::Library { ty, .. } = val else { return false };
        let facts = self.program.facts(site.file);
        let holder = facts.form(form);
        for name in self.library.state_names(ty, state) {
            let Some(name) = self.program.name(&name) else { continue };
            for &(file, sym) in self.program.occurrences(name) {
                let other = self.program.facts(file);
                for &setter in self.program.index_of(file).sites_named(sym) {
                    let setter = file.site_ref(setter);
                    let Some(on) = self.receiver_form(setter) else { continue };
                    let same = match (holder, other.form(on)) {
                        (Form::Var(a), Form::Var(b)) => file == site.file && a == b,
                        (Form::Attr(_, a), Form::Attr(_, b)) => {
                            facts.text(a) == other.text(b) && self.same_owner(site, form, setter, on)
                        }
                        _ => false,
                    };
                    if same && self.call_sets_state(setter, state) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// True if two attribute forms belong to one class, or one to a class derived from the other's.
    pub(crate) fn same_owner(&self, a: SiteRef, a_form: FormId, b: SiteRef, b_form: FormId) -> bool {
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

    /// True if a call brings its receiver into a state, by a row of the models.
    pub(crate) fn call_sets_state(&self, site: SiteRef, state: &str) -> bool {
        let callee = self.callee(site, EnvId::NONE);
        self.values.members(callee.value).iter().any(|val| {
            let (Val::External(path) | Val::Method { path, .. }) = *val else { return false };
            self.rows_for_call(path, site).with(|row| row.state.is_some()).any(|row| {
                row.state.as_deref() == Some(state) && self.conditions_shown(&row.when, &row.unless, site, EnvId::NONE)
            })
        })
    }
}
