//! Fields of the project's classes that chains and schedulers are kept in.

use blocklint_facts::{FormId, Sym};

use crate::eval::Scope;
use crate::hierarchy::Ancestor;
use crate::ids::{ClassRef, FileId, VarRef};
use crate::link::Link;
use crate::value::{EnvId, Val};

impl<'a> Link<'a> {
    /// The variable of the field that `base.name` reads: of the class around, of another class, of an instance.
    pub(crate) fn field_behind(&self, file: FileId, base: FormId, sym: Sym) -> Option<VarRef> {
        let facts = self.program.facts(file);
        let name = self.program.global(file, sym)?;
        let class = match facts.form(base) {
            // `this` is evaluated where it stands; a form does not tell where that is.
            blocklint_facts::Form::This => return self.field_of_this(file, name),
            _ => {
                let scope = Scope { file, at: blocklint_facts::At::default(), env: EnvId::NONE };
                let typed = self.eval(scope, base);
                self.values.members(typed.value).into_iter().find_map(|val| match val {
                    Val::Class(class) | Val::Instance { class, .. } => Some(class),
                    _ => None,
                })?
            }
        };
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

    /// The one field of this name that a class of the file declares.
    fn field_of_this(&self, file: FileId, name: crate::ids::Name) -> Option<VarRef> {
        let facts = self.program.facts(file);
        let mut found = None;
        for class in &facts.classes {
            if let Some(var) = self.program.scope_var(file, class.body, name) {
                if found.is_some() {
                    return None;
                }
                found = Some(VarRef { file, var });
            }
        }
        found
    }
}
