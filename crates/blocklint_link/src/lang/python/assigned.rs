//! Python: values of variables: what other files assign to a module, lists that are written out, types that a call names.

use blocklint_facts::{Assign, AssignKind, BodyKind, DisplayKind, Form, FormId, VarId};

use crate::linker::{Linker, Typed};
use crate::program::ids::FileId;
use crate::values::expr::{MAX_LITERAL_ELEMENTS, Scope};
use crate::values::value::Val;

impl Linker<'_> {
    /// Returns what others assign to a variable of a module that holds no definition.
    pub(crate) fn assigned_by_other_files(&self, file: FileId, id: VarId) -> Option<Typed> {
        let facts = self.program.facts(file);
        let is_value = |row: Assign| matches!(row.kind, AssignKind::Plain | AssignKind::Declaration);
        if !facts.assigns_of(id).all(is_value) {
            return None;
        }
        self.module_attribute_from_others(file, self.program.global(file, facts.var(id).name)?)
    }

    /// Returns what a local holds whose elements are all written out and known, and to which nothing is added:
    /// `steps: List[Step] = [Load(), Save()]` holds no other step.
    pub(crate) fn literal_elements(&self, scope: Scope, row: &Assign) -> Option<Typed> {
        let facts = self.program.facts(scope.file);
        let (Form::Display(kind, list), Form::Var(var)) = (facts.form(row.value), facts.form(row.target)) else {
            return None;
        };
        let is_local = facts.body(facts.var(var).body).kind == BodyKind::Function;
        let is_complete = (1..=MAX_LITERAL_ELEMENTS).contains(&facts.list(list).len());
        if kind == DisplayKind::Tuple || !is_local || !is_complete {
            return None;
        }
        let given = self.eval(scope, row.value);
        let [Val::Library { ty, args, .. }] = self.values.members(given.value)[..] else { return None };
        let elements = self.values.members(self.values.nth(args, 0)?);
        let all_made = elements.iter().all(|val| matches!(val, Val::Instance { .. }));
        (all_made && !self.has_added_elements(scope.file, var, ty)).then_some(given)
    }

    /// True if a value is a call under the last name of a library's type.
    pub(crate) fn makes_declared(&self, file: FileId, declared: Val, value: FormId) -> bool {
        let facts = self.program.facts(file);
        let (Val::Library { ty, .. }, Form::Result(site)) = (declared, facts.form(value)) else { return false };
        self.library.text(ty).rsplit('.').next() == Some(facts.text(facts.site(site).name))
    }
}
