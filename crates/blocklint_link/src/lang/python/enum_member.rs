//! Python: constants of enumeration members: `Kind.VIDEO.value` is the literal that the class assigns to the member,
//! and so is `Kind.VIDEO` itself if the enumeration derives from `str` or `int`.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{At, Form, FormId, Sym};

use crate::classes::hierarchy::Ancestor;
use crate::effect::constant::Constant;
use crate::lang::python::builtins::EnumBase;
use crate::linker::Linker;
use crate::program::ids::{ClassRef, FileId};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// The number of variables that are followed from a member's value to its literal.
const DEPTH: u32 = 3;

impl Linker<'_> {
    /// Returns the constant of an enumeration's member (`Kind.VIDEO`) or of its value (`Kind.VIDEO.value`); `None` for
    /// other attributes.
    pub(crate) fn enum_member(&self, file: FileId, base: FormId, name: Sym) -> Option<Constant> {
        let facts = self.program.facts(file);
        if facts.language != Language::Python {
            return None;
        }
        match facts.form(base) {
            Form::Attr(class, member) if lang::python::conventions::is_enum_value_attribute(facts.text(name)) => {
                self.find_member(file, class, member).map(|(_, _, value)| value)
            }
            _ => {
                let (class, kind, value) = self.find_member(file, base, name)?;
                Some(match kind {
                    EnumBase::Literal => value,
                    // The member is equal to itself only.
                    EnumBase::Opaque => {
                        Constant::Symbols(vec![format!("{}.{}", self.qualified_class(class), facts.text(name))])
                    }
                })
            }
        }
    }

    /// Returns the enumeration, the kind of its members, and the constant that the class assigns to a member.
    fn find_member(&self, file: FileId, class: FormId, member: Sym) -> Option<(ClassRef, EnumBase, Constant)> {
        let facts = self.program.facts(file);
        if !matches!(facts.form(class), Form::Var(_) | Form::Name(_) | Form::Attr(..)) {
            return None;
        }
        let scope = Scope { file, at: At::default(), env: EnvId::NONE };
        let [Val::Class(class)] = self.values.members(self.eval(scope, class).value)[..] else { return None };
        let kind = self.enum_kind(class)?;
        let (owner, var) = self.own_member(class, self.program.global(file, member)?)?;
        let facts = self.program.facts(owner.file);
        let assign = facts.only_value_of(var)?;
        let value =
            match self.constant_in(self.program.body_of(owner.file, assign.at), assign.value, EnvId::NONE, DEPTH) {
                literal @ (Constant::Str(_) | Constant::Int(_) | Constant::Float(_) | Constant::Bool(_)) => literal,
                _ => Constant::Hidden,
            };
        Some((class, kind, value))
    }

    /// Returns the kind of an enumeration's members, or `None` if the class is no enumeration.
    fn enum_kind(&self, class: ClassRef) -> Option<EnumBase> {
        let (mut kind, mut is_enum) = (None, false);
        for ancestor in self.mro(class).iter() {
            let Ancestor::Library(path, _) = *ancestor else { continue };
            let path = self.library.text(path);
            kind = kind.max(lang::python::builtins::enum_base(&path));
            is_enum |= lang::python::builtins::is_enum(&path);
        }
        kind.filter(|_| is_enum)
    }
}
