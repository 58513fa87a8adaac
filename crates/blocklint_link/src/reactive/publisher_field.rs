//! Fields of the project's classes that store chains and schedulers.

use blocklint_facts::{AssignKind, At, BodyKind, FormId, Sym};

use crate::classes::hierarchy::Ancestor;
use crate::linker::Linker;
use crate::program::ids::{ClassRef, Name, VarRef};
use crate::values::expr::Scope;
use crate::values::value::Val;

impl<'a> Linker<'a> {
    /// Returns the variable of the field that the attribute `base.name` reads.
    pub(crate) fn field_of_attribute(&self, scope: Scope, base: FormId, sym: Sym) -> Option<VarRef> {
        let name = self.program.global(scope.file, sym)?;
        let typed = self.eval(scope, base);
        let class = self.values.members(typed.value).into_iter().find_map(|val| match val {
            Val::Class(class) | Val::Instance { class, .. } => Some(class),
            _ => None,
        })?;
        self.field_in(class, name)
    }

    /// Returns the values that are assigned to a variable, each with its position. For a field the values of
    /// `this.chain = …` are included.
    pub(crate) fn values_assigned_to(&self, var: VarRef) -> Vec<(At, FormId)> {
        /// The maximal number of assignments of each kind that are returned.
        const MAX_ASSIGNMENTS: usize = 8;
        let facts = self.program.facts(var.file);
        let direct_assigns =
            self.program.assigns_of(var).filter(|assignment| assignment.kind != AssignKind::Definition);
        let mut values: Vec<(At, FormId)> = direct_assigns
            .filter(|row| row.value.is_some())
            .map(|row| (row.at, row.value))
            .take(MAX_ASSIGNMENTS)
            .collect();
        let var_facts = self.program.var(var);
        if facts.body(var_facts.body).kind == BodyKind::Class {
            let of_class = |position: At| {
                let class = self.class_around(self.program.body_of(var.file, position));
                class.is_some_and(|class| class.file == var.file && self.program.class(class).body == var_facts.body)
            };
            let by_this = self.program.index_of(var.file).attr_assigns(var_facts.name).iter().filter(|(_, own)| *own);
            let rows = by_this.map(|&(assign, _)| facts.assign(assign)).filter(|row| row.value.is_some());
            values.extend(rows.filter(|row| of_class(row.at)).map(|row| (row.at, row.value)).take(MAX_ASSIGNMENTS));
        }
        values
    }

    fn field_in(&self, class: ClassRef, name: Name) -> Option<VarRef> {
        self.mro(class).iter().find_map(|ancestor| match *ancestor {
            Ancestor::Class(owner) => {
                let (owner, var) = self.own_member(owner, name)?;
                Some(owner.file.var_ref(var))
            }
            _ => None,
        })
    }
}
