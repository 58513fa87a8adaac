//! Guards over the type of a parameter (`if isinstance(answer, Answer):`), decided by the types of the callers'
//! arguments.

use blocklint_core::Language;
use blocklint_facts::FormId;
use blocklint_link::effect::guard::Guard;
use blocklint_link::effect::guard::TestedType;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::SiteRef;
use blocklint_link::values::value::{EnvId, Val};

/// True if the types of an argument fail a guard: none of them is one that the guard wants, or all of them are types
/// that it rules out.
pub(crate) fn fails_by_type(
    linker: &Linker<'_>,
    site: SiteRef,
    form: FormId,
    env: EnvId,
    guard: &Guard,
    types: &[TestedType],
) -> bool {
    let typed = linker.eval(linker.scope_of(site, env), form);
    let members = linker.values.members(typed.value);
    let is_sure = typed.inferred_steps == 0 || linker.program.language(site.file) == Language::Java;
    is_sure
        && !members.is_empty()
        && members.into_iter().all(|val| {
            if guard.wanted {
                is_of_none(linker, site, val, types)
            } else {
                linker.program.language(site.file) == Language::Python && is_of_one(linker, val, types)
            }
        })
}

/// True if a value is surely an instance of none of the types.
fn is_of_none(linker: &Linker<'_>, site: SiteRef, val: Val, types: &[TestedType]) -> bool {
    let language = linker.program.language(site.file);
    match val {
        Val::None => true,
        Val::Library { ty, .. } => {
            let may_match =
                |asked: &TestedType| *asked == TestedType::Literal(ty) || matches!(asked, TestedType::Library(_));
            !types.iter().any(may_match) && lang::words_of(language).is_literal_type(linker.library.text(ty).as_ref())
        }
        // No class of a project is derived from the classes of Java's literals, such as `String`.
        Val::Instance { .. } if language == Language::Java => true,
        Val::Instance { class, .. } => types.iter().all(|asked| match *asked {
            // An object that is declared as a base may be of any derived class.
            TestedType::Class(asked) => !linker.is_subclass(class, asked) && !linker.is_subclass(asked, class),
            TestedType::Literal(_) | TestedType::Library(_) => false,
        }),
        _ => false,
    }
}

/// True if a value is surely an instance of one of the types.
fn is_of_one(linker: &Linker<'_>, val: Val, types: &[TestedType]) -> bool {
    types.iter().any(|asked| match (*asked, val) {
        (TestedType::Class(asked), Val::Instance { class, .. }) => linker.is_subclass(class, asked),
        (TestedType::Literal(asked), Val::Library { ty, .. }) => asked == ty,
        // `isinstance(io.BytesIO(data), io.IOBase)`
        (TestedType::Library(asked), Val::Library { ty, .. }) => linker.library.is_subtype(ty, asked),
        _ => false,
    })
}
