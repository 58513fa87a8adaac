//! Fields of the project's classes that chains and schedulers are kept in.

use blocklint_facts::{FormId, Sym};

use crate::eval::Scope;
use crate::hierarchy::Ancestor;
use crate::ids::{ClassRef, VarRef};
use crate::link::Link;
use crate::value::Val;

impl<'a> Link<'a> {
    /// The variable of the field that `base.name` reads: of the class around, of another class, of an instance.
    pub(crate) fn field_behind(&self, scope: Scope, base: FormId, sym: Sym) -> Option<VarRef> {
        let name = self.program.global(scope.file, sym)?;
        let typed = self.eval(scope, base);
        let class = self.values.members(typed.value).into_iter().find_map(|val| match val {
            Val::Class(class) | Val::Instance { class, .. } => Some(class),
            _ => None,
        })?;
        self.field_in(class, name)
    }

    fn field_in(&self, class: ClassRef, name: crate::ids::Name) -> Option<VarRef> {
        self.mro(class).iter().find_map(|ancestor| match *ancestor {
            Ancestor::Class(owner) => {
                let (owner, var) = self.own_member(owner, name)?;
                Some(VarRef { file: owner.file, var })
            }
            _ => None,
        })
    }
}
