//! Python: what is there for sure by its declared type, and what falls back on a parameter.

use blocklint_core::Language;
use blocklint_facts::{AltKind, At, Form, FormId, VarId, VarKind};

use crate::constants::Constant;
use crate::eval::Scope;
use crate::guards::mentions;
use crate::ids::{BodyRef, FileId};
use crate::label::{Choice, Guard, Question};
use crate::link::{Link, Typed};
use crate::names;
use crate::value::{EnvId, Val};

impl Guard {
    /// Whether it holds only where a parameter is `None` or false in the language's sense.
    pub(crate) fn asks_for_nothing(&self) -> bool {
        match &*self.question {
            Question::Choice(Choice::Null) => self.wanted,
            Question::Choice(Choice::Truth) => !self.wanted,
            _ => false,
        }
    }
}

impl Link<'_> {
    /// Whether a form's declared type leaves no room for what a guard asks for: a `str` is not `None`, and who passes one where
    /// `None` is the default has one that is not empty.
    pub(crate) fn is_there(&self, scope: Scope, form: FormId, guard: &Guard) -> bool {
        if !guard.asks_for_nothing() || self.program.language(scope.file) != Language::Python {
            return false;
        }
        let facts = self.program.facts(scope.file);
        if let Form::Var(var) = facts.form(form)
            && let VarKind::Param(index) = facts.var(var).kind
        {
            let body = BodyRef { file: scope.file, body: facts.var(var).body };
            return facts.assigns_of(var).next().is_none() && self.is_there_by_annotation(body, index, guard);
        }
        self.is_piece_of_text(scope, form) || self.leaves_no_room(self.eval(scope, form), guard)
    }

    /// Whether a form is a piece of a text, whatever that is: `name.split("/")[0]`.
    fn is_piece_of_text(&self, scope: Scope, form: FormId) -> bool {
        let facts = self.program.facts(scope.file);
        let Form::Subscript(base, _) = facts.form(form) else { return false };
        let base = match facts.form(base) {
            Form::Var(var) => facts.only_value_of(var).map_or(base, |only| only.value),
            _ => base,
        };
        matches!(facts.form(base), Form::Result(call) if names::python::splits(facts.text(facts.site(call).name)))
    }

    /// The same for a parameter, by its annotation.
    pub(crate) fn is_there_by_annotation(&self, body: BodyRef, param: u32, guard: &Guard) -> bool {
        let facts = self.program.facts(body.file);
        let Some(row) = facts.params_of(body.body).get(param as usize) else { return false };
        facts.language == Language::Python
            && guard.asks_for_nothing()
            && row.annotation.is_some()
            // `name: str = None` says less than it means.
            && self.default_of(body, param) != Some(Constant::Null)
            && !mentions(facts, row.annotation, 6, &|form| matches!(form, Form::None))
            && (self.names_literals(body.file, row.annotation)
                || self.leaves_no_room(self.annotation(self.signature_scope(body), row.annotation), guard))
    }

    /// Whether an annotation lists what may be passed: `Literal["a", "b"]`.
    fn names_literals(&self, file: FileId, annotation: FormId) -> bool {
        let facts = self.program.facts(file);
        let Form::Subscript(base, _) = facts.form(annotation) else { return false };
        let named = self.eval(Scope { file, at: At::default(), env: EnvId::NONE }, base);
        self.values.members(named.value).into_iter().all(|val| match val {
            Val::External(path) => names::python::lists_literals(self.library.text(path).as_ref()),
            _ => false,
        })
    }

    fn leaves_no_room(&self, typed: Typed, guard: &Guard) -> bool {
        let members = self.values.members(typed.value);
        typed.steps == 0
            && !members.is_empty()
            && members.into_iter().all(|val| match val {
                // Numbers, flags and containers may be false.
                Val::Library { ty, .. } => {
                    guard.asks_for_null() || names::python::is_text(self.library.text(ty).as_ref())
                }
                Val::Instance { .. } | Val::Class(_) | Val::Fn { .. } => true,
                _ => false,
            })
    }

    /// Whether a value is nothing only where a variable was: `name or other`, `table.get(key, name or None)`.
    pub(crate) fn falls_back_on(&self, scope: Scope, value: FormId, var: VarId) -> bool {
        let facts = self.program.facts(scope.file);
        if facts.language != Language::Python {
            return false;
        }
        match facts.form(value) {
            Form::Var(other) => other == var,
            Form::Alt(AltKind::Or, list) => facts.list(list).iter().any(|&part| self.falls_back_on(scope, part, var)),
            Form::Result(call) => {
                let row = facts.site(call);
                names::reads_a_key(facts.language, facts.text(row.name))
                    && matches!(facts.form(row.callee), Form::Attr(..))
                    && facts.args_of(call).get(1).is_some_and(|default| self.falls_back_on(scope, default.value, var))
            }
            _ => false,
        }
    }
}
