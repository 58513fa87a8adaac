//! Branches that ask what a parameter is an instance of, `isinstance(answer, Answer)`, decided by what callers pass.

use blocklint_core::Language;
use blocklint_facts::FormId;

use crate::labels::label::AskedType;
use crate::labels::label::Guard;
use crate::link::Link;
use crate::link::eval::Scope;
use crate::link::names;
use crate::link::value::{EnvId, Val};
use crate::program::ids::SiteRef;

impl Link<'_> {
    /// The types that a form names, if all are literals' or the project's own: no class of a library is derived from those by
    /// surprise.
    pub(crate) fn types_asked_for(&self, place: Scope, class: FormId) -> Option<Vec<AskedType>> {
        let language = self.program.language(place.file);
        let members = self.values.members(self.instances_of(place, class).value);
        let types: Option<Vec<AskedType>> = members
            .into_iter()
            .map(|val| match val {
                Val::Library { ty, .. } => {
                    names::is_literal_type(language, self.library.text(ty).as_ref()).then_some(AskedType::Literal(ty))
                }
                Val::Instance { class, .. } if language == Language::Python => Some(AskedType::Class(class)),
                _ => None,
            })
            .collect();
        types.filter(|types| !types.is_empty())
    }

    /// Whether what a site passes is known to be of other types than a guard asks for, or of those that it rules out.
    pub(crate) fn fails_by_type(
        &self,
        site: SiteRef,
        form: FormId,
        env: EnvId,
        guard: &Guard,
        types: &[AskedType],
    ) -> bool {
        let typed = self.eval(self.scope_of(site, env), form);
        let members = self.values.members(typed.value);
        let is_sure = typed.steps == 0 || self.program.language(site.file) == Language::Java;
        is_sure
            && !members.is_empty()
            && members.into_iter().all(|val| match guard.wanted {
                true => self.is_of_none(site, val, types),
                false => self.program.language(site.file) == Language::Python && self.is_of_one(val, types),
            })
    }

    fn is_of_none(&self, site: SiteRef, val: Val, types: &[AskedType]) -> bool {
        let language = self.program.language(site.file);
        match val {
            Val::None => true,
            Val::Library { ty, .. } => {
                !types.contains(&AskedType::Literal(ty))
                    && names::is_literal_type(language, self.library.text(ty).as_ref())
            }
            // No class of a project is derived from those of Java's literals.
            Val::Instance { .. } if language == Language::Java => true,
            Val::Instance { class, .. } => types.iter().all(|asked| match *asked {
                // What is declared as a base may be any of its derived classes.
                AskedType::Class(asked) => !self.is_subclass(class, asked) && !self.is_subclass(asked, class),
                AskedType::Literal(_) => false,
            }),
            _ => false,
        }
    }

    fn is_of_one(&self, val: Val, types: &[AskedType]) -> bool {
        types.iter().any(|asked| match (*asked, val) {
            (AskedType::Class(asked), Val::Instance { class, .. }) => self.is_subclass(class, asked),
            (AskedType::Literal(asked), Val::Library { ty, .. }) => asked == ty,
            _ => false,
        })
    }
}
