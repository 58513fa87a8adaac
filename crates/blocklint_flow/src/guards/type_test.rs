//! Branches that ask what a parameter is an instance of, `isinstance(answer, Answer)`, decided by what callers pass.

use blocklint_core::Language;
use blocklint_facts::FormId;
use blocklint_link::effect::label::AskedType;
use blocklint_link::effect::label::Guard;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::SiteRef;
use blocklint_link::values::value::{EnvId, Val};

/// Whether what a site passes is known to be of other types than a guard asks for, or of those that it rules out.
pub(crate) fn fails_by_type(
    link: &Linker<'_>,
    site: SiteRef,
    form: FormId,
    env: EnvId,
    guard: &Guard,
    types: &[AskedType],
) -> bool {
    let typed = link.eval(link.scope_of(site, env), form);
    let members = link.values.members(typed.value);
    let is_sure = typed.inferred_steps == 0 || link.program.language(site.file) == Language::Java;
    is_sure
        && !members.is_empty()
        && members.into_iter().all(|val| match guard.wanted {
            true => is_of_none(link, site, val, types),
            false => link.program.language(site.file) == Language::Python && is_of_one(link, val, types),
        })
}

fn is_of_none(link: &Linker<'_>, site: SiteRef, val: Val, types: &[AskedType]) -> bool {
    let language = link.program.language(site.file);
    match val {
        Val::None => true,
        Val::Library { ty, .. } => {
            let is_asked =
                |asked: &AskedType| *asked == AskedType::Literal(ty) || matches!(asked, AskedType::Library(_));
            !types.iter().any(is_asked) && lang::is_literal_type(language, link.library.text(ty).as_ref())
        }
        // No class of a project is derived from those of Java's literals.
        Val::Instance { .. } if language == Language::Java => true,
        Val::Instance { class, .. } => types.iter().all(|asked| match *asked {
            // What is declared as a base may be any of its derived classes.
            AskedType::Class(asked) => !link.is_subclass(class, asked) && !link.is_subclass(asked, class),
            AskedType::Literal(_) | AskedType::Library(_) => false,
        }),
        _ => false,
    }
}

fn is_of_one(link: &Linker<'_>, val: Val, types: &[AskedType]) -> bool {
    types.iter().any(|asked| match (*asked, val) {
        (AskedType::Class(asked), Val::Instance { class, .. }) => link.is_subclass(class, asked),
        (AskedType::Literal(asked), Val::Library { ty, .. }) => asked == ty,
        // `isinstance(io.BytesIO(data), io.IOBase)`
        (AskedType::Library(asked), Val::Library { ty, .. }) => link.library.is_subtype(ty, asked),
        _ => false,
    })
}
