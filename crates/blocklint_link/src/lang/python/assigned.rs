//! Python: values of variables: attributes that other files assign to a module, literal lists, calls named like a
//! declared type.

use blocklint_facts::{Assign, AssignKind, BodyKind, DisplayKind, Form, FormId, VarId};

use crate::linker::{Linker, Typed};
use crate::program::ids::FileId;
use crate::values::expr::{MAX_LITERAL_ELEMENTS, Scope};
use crate::values::value::Val;

impl Linker<'_> {
    /// Returns the values that other files assign to a variable of a module (`settings.client = Client()`), unless the
    /// module defines a function or class of this name.
    pub(crate) fn assigned_by_other_files(&self, file: FileId, id: VarId) -> Option<Typed> {
        let facts = self.program.facts(file);
        let is_value = |row: Assign| matches!(row.kind, AssignKind::Plain | AssignKind::Declaration);
        if !facts.assigns_of(id).all(is_value) {
            return None;
        }
        self.module_attribute_from_others(file, self.program.global(file, facts.var(id).name)?)
    }

    /// Returns the value of a local that holds a literal list of instances of the project and is never extended:
    /// `steps: List[Step] = [Load(), Save()]` has these two element types and not every `Step`.
    pub(crate) fn literal_list_value(&self, scope: Scope, row: &Assign) -> Option<Typed> {
        let facts = self.program.facts(scope.file);
        let (Form::Display(kind, list), Form::Var(var)) = (facts.form(row.value), facts.form(row.target)) else {
            return None;
        };
        let is_local = facts.body(facts.var(var).body).kind == BodyKind::Function;
        let is_short = (1..=MAX_LITERAL_ELEMENTS).contains(&facts.list(list).len());
        if kind == DisplayKind::Tuple || !is_local || !is_short {
            return None;
        }
        let literal = self.eval(scope, row.value);
        let [Val::Library { ty, args, .. }] = self.values.members(literal.value)[..] else { return None };
        let elements = self.values.members(self.values.nth(args, 0)?);
        let all_instances = elements.iter().all(|val| matches!(val, Val::Instance { .. }));
        (all_instances && !self.has_added_elements(scope.file, var, ty)).then_some(literal)
    }

    /// True if a value is a call of the last name of a declared library type: `client: httpx.Client = Client()`.
    pub(crate) fn calls_declared_type(&self, file: FileId, declared: Val, value: FormId) -> bool {
        let facts = self.program.facts(file);
        let (Val::Library { ty, .. }, Form::Result(site)) = (declared, facts.form(value)) else { return false };
        self.library.text(ty).rsplit('.').next() == Some(facts.text(facts.site(site).name))
    }
}
