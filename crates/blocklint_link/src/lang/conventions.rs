//! What names say by convention, one file for each language: lists of words and how they are read. Never what a name is bound to, nor
//! what follows from it.

use crate::lang;
use blocklint_core::Language;

/// Whether a method name is that of a functional interface of the language's own library.
pub(crate) fn is_functional_method(language: Language, name: &str) -> bool {
    language == Language::Java && lang::java::conventions::FUNCTIONAL_METHODS.contains(&name)
}
