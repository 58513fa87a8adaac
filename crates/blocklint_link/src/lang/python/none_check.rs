//! Python: `None` checks: values whose declared type excludes `None`, and assignments that replace a missing parameter
//! (`if name is None: name = look_up()`).

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{AltKind, Assign, At, Comparison, FileFacts, Form, FormId, RegionId, VarId, VarKind};

use crate::calls::targets::Target;
use crate::effect::constant::Constant;
use crate::effect::guard::{Choice, Guard, Question};
use crate::guards::branch::is_condition;
use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, FileId};
use crate::syntax::forms::mentions;
use crate::syntax::regions::around;
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// How deep an annotation is searched for `None`.
const MAX_TYPE_DEPTH: u32 = 6;

impl Guard {
    /// True if the guard allows only `None` or a falsy value of its parameter: `if not name:`.
    pub fn tests_absence(&self) -> bool {
        match &*self.question {
            Question::Choice(Choice::Null) => self.wanted,
            Question::Choice(Choice::Truth) => !self.wanted,
            _ => false,
        }
    }
}

impl Linker<'_> {
    /// True if a form's declared type excludes the value that a guard tests for: a `str` is not `None`. A string also
    /// counts as true, because callers of a parameter with the default `None` pass a text that is not empty.
    pub fn type_excludes_none(&self, scope: Scope, form: FormId, guard: &Guard) -> bool {
        if !guard.tests_absence() || self.program.language(scope.file) != Language::Python {
            return false;
        }
        let facts = self.program.facts(scope.file);
        if let Form::Var(var) = facts.form(form)
            && let VarKind::Param(index) = facts.var(var).kind
        {
            let body = scope.file.body_ref(facts.var(var).body);
            return facts.assigns_of(var).next().is_none() && self.annotation_excludes_none(body, index, guard);
        }
        ends_in_true_literal(facts, form)
            || self.is_piece_of_text(scope, form)
            || self.type_excludes_guard(self.eval(scope, form), guard)
    }

    /// True if a form is an element of a split string: `name.split("/")[0]`.
    fn is_piece_of_text(&self, scope: Scope, form: FormId) -> bool {
        let facts = self.program.facts(scope.file);
        let Form::Subscript(base, _) = facts.form(form) else { return false };
        let base = match facts.form(base) {
            Form::Var(var) => facts.only_value_of(var).map_or(base, |only| only.value),
            _ => base,
        };
        matches!(facts.form(base), Form::Result(call) if lang::python::builtins::splits_string(facts.text(facts.site(call).name)))
    }

    /// True if a parameter's annotation excludes the value that a guard tests for.
    pub fn annotation_excludes_none(&self, body: BodyRef, param: u32, guard: &Guard) -> bool {
        let facts = self.program.facts(body.file);
        let Some(row) = self.program.params_of(body).get(param as usize) else { return false };
        facts.language == Language::Python
            && guard.tests_absence()
            && row.annotation.is_some()
            // `name: str = None` does not exclude `None`.
            && self.default_of(body, param) != Some(Constant::Null)
            && !mentions(facts, row.annotation, MAX_TYPE_DEPTH, &|form| matches!(form, Form::None))
            && (self.is_literal_type(body.file, row.annotation)
                || self.type_excludes_guard(self.annotation(self.signature_scope(body), row.annotation), guard))
    }

    /// True if an annotation lists the values of a parameter: `Literal["a", "b"]`.
    fn is_literal_type(&self, file: FileId, annotation: FormId) -> bool {
        let facts = self.program.facts(file);
        let Form::Subscript(base, _) = facts.form(annotation) else { return false };
        let constructor = self.eval(Scope { file, at: At::default(), env: EnvId::NONE }, base);
        self.values.members(constructor.value).into_iter().all(|val| match val {
            Val::External(path) => lang::python::builtins::is_literal_constructor(self.library.text(path).as_ref()),
            _ => false,
        })
    }

    /// True if a declared type excludes the value that a guard tests for.
    fn type_excludes_guard(&self, typed: Typed, guard: &Guard) -> bool {
        let members = self.values.members(typed.value);
        typed.inferred_steps == 0
            && !members.is_empty()
            && members.into_iter().all(|val| match val {
                // Numbers, flags and containers may be false.
                Val::Library { ty, .. } => {
                    guard.tests_null() || lang::python::builtins::is_text(self.library.text(ty).as_ref())
                }
                Val::Instance { .. } | Val::Class(_) | Val::Fn { .. } => true,
                _ => false,
            })
    }

    /// True if an assignment replaces a parameter only if it was `None` or false: `if name is None: name = look_up()`,
    /// `name = name_of(name, answer)` where `name_of` begins with `if name is not None: return name`.
    pub(crate) fn replaces_only_missing(&self, file: FileId, assign: &Assign, var: VarId) -> bool {
        let facts = self.program.facts(file);
        facts.language == Language::Python
            && (self.runs_only_if_missing(file, assign.at.region, var)
                || self.is_returned_unless_missing(file, assign.value, var))
    }

    /// True if a region runs only if a variable is `None` or false: `if name is None:`, `if not name:`.
    fn runs_only_if_missing(&self, file: FileId, region: RegionId, var: VarId) -> bool {
        let facts = self.program.facts(file);
        self.tests_at(file, region).any(|(test, outcome)| {
            // In the branch of `a and b` both are true; in the `else` of `a or b` both are false.
            match facts.form(test) {
                Form::Alt(AltKind::And, list) if outcome => {
                    facts.list(list).iter().any(|&part| tests_absent(facts, part, true, var))
                }
                Form::Alt(AltKind::Or, list) if !outcome => {
                    facts.list(list).iter().any(|&part| tests_absent(facts, part, false, var))
                }
                _ => tests_absent(facts, test, outcome, var),
            }
        })
    }

    /// True if a value is the result of a function of the project that returns its argument, a variable, unless the
    /// argument is `None` or false.
    fn is_returned_unless_missing(&self, file: FileId, value: FormId, var: VarId) -> bool {
        let facts = self.program.facts(file);
        let call = match facts.form(value) {
            Form::Result(call) => call,
            Form::Alt(AltKind::Or, list) => {
                return facts
                    .list(list)
                    .first()
                    .is_some_and(|&first| self.is_returned_unless_missing(file, first, var));
            }
            _ => return false,
        };
        let Some(arg) = facts.args_of(call).iter().position(|arg| facts.form(arg.value) == Form::Var(var)) else {
            return false;
        };
        let site = file.site_ref(call);
        match self.targets(site, EnvId::NONE).list[..] {
            [Target::Body { body, with_receiver, .. }] => self
                .param_for(site, arg as u32, body, with_receiver)
                .is_some_and(|param| self.returns_param_unless_missing(body, param)),
            _ => false,
        }
    }

    /// True if a function begins with the return of a parameter that is not `None` or false: `if name: return name`.
    fn returns_param_unless_missing(&self, body: BodyRef, param: u32) -> bool {
        let (facts, body_id) = self.program.facts_and_id(body);
        let mut exits = self.program.exits_in(body);
        let Some(first) = exits.next() else { return false };
        let Form::Var(var) = facts.form(first.value) else { return false };
        let var_facts = facts.var(var);
        var_facts.body == body_id
            && matches!(var_facts.kind, VarKind::Param(index) if index == param)
            && facts.assigns_of(var).next().is_none()
            && first.at.region.get().is_some_and(|id| {
                around(facts, first.at.region).filter(|&id| is_condition(facts.region(id).kind)).count() == 1
                    && self
                        .test_of(body.file, id)
                        .is_some_and(|(test, outcome)| tests_absent(facts, test, !outcome, var))
            })
    }

    /// True if a value is `None` or false only if a variable is: `name or other`, `table.get(key, name or None)`.
    pub(crate) fn falls_back_on(&self, scope: Scope, value: FormId, var: VarId) -> bool {
        let facts = self.program.facts(scope.file);
        if facts.language != Language::Python {
            return false;
        }
        match facts.form(value) {
            Form::Var(other) => other == var,
            Form::Alt(AltKind::Or, list) => facts.list(list).iter().any(|&part| self.falls_back_on(scope, part, var)),
            Form::Result(call) => {
                let site_facts = facts.site(call);
                lang::words_of(facts.language).reads_key(facts.text(site_facts.name))
                    && matches!(facts.form(site_facts.callee), Form::Attr(..))
                    && facts.args_of(call).get(1).is_some_and(|default| self.falls_back_on(scope, default.value, var))
            }
            _ => false,
        }
    }
}

/// True if the last operand of `or` is a literal that is true: `name or "default"`.
fn ends_in_true_literal(facts: &FileFacts, form: FormId) -> bool {
    let Form::Alt(AltKind::Or, list) = facts.form(form) else { return false };
    facts.list(list).last().is_some_and(|&last| match facts.form(last) {
        Form::Str(text) => !facts.text(text).is_empty(),
        Form::Int(number) => number != 0,
        Form::Bool(is_true) => is_true,
        form => matches!(form, Form::Callable(_) | Form::Class(_)),
    })
}

/// True if a test with the result `outcome` shows that a variable is `None` or false.
fn tests_absent(facts: &FileFacts, test: FormId, outcome: bool, var: VarId) -> bool {
    let is_var = |form: FormId| facts.form(form) == Form::Var(var);
    let compares_with_none = |left: FormId, right: FormId| is_var(left) && facts.form(right) == Form::None;
    match facts.form(test) {
        Form::Var(tested) => !outcome && tested == var,
        Form::Not(inner) => outcome && is_var(inner),
        Form::Compare(Comparison::Is | Comparison::Eq, left, right) => outcome && compares_with_none(left, right),
        Form::Compare(Comparison::IsNot | Comparison::NotEq, left, right) => {
            !outcome && compares_with_none(left, right)
        }
        _ => false,
    }
}
