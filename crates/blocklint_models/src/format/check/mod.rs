//! The checks of parsed model files: each row, each file, and all files of a layer together.

mod aliases;
mod names;
mod order;
mod rows;
mod twins;

use blocklint_core::Language;

use super::error::ModelError;
use super::read::Origin;
use super::rows::File;
use aliases::Aliases;
pub use rows::check_kinds;
pub use twins::find_blocking_row;

/// The names that the layers below the checked one declare. A user file may use a tag, a switch or a type parameter of
/// the built-in models.
pub trait DeclaredNames {
    /// Returns all tags of types.
    fn tags(&self, language: Language) -> Vec<String>;
    /// Returns the names of all switches.
    fn switches(&self, language: Language) -> Vec<String>;
    /// Returns the parameters of a type, in order.
    fn params(&self, language: Language, path: &str) -> Vec<String>;
    /// True if a row or alias has this path, or a path under it.
    fn is_described(&self, language: Language, path: &str) -> bool;
    /// Returns the target of the alias with exactly this spelling.
    fn alias(&self, language: Language, spelling: &str) -> Option<String>;
    /// True if a library has a row with `native`; `None` if the library is unknown.
    fn library(&self, language: Language, name: &str) -> Option<bool>;
    /// Returns `file:line` of an unconditional row which declares that a call of this path holds the thread for more
    /// than a `note`.
    fn find_blocking_row(&self, language: Language, path: &str) -> Option<String>;
}

/// The declarations below the lowest layer: none.
#[derive(Clone, Copy, Debug)]
pub struct NoDeclarations;

impl DeclaredNames for NoDeclarations {
    fn tags(&self, _: Language) -> Vec<String> {
        Vec::new()
    }
    fn switches(&self, _: Language) -> Vec<String> {
        Vec::new()
    }
    fn params(&self, _: Language, _: &str) -> Vec<String> {
        Vec::new()
    }
    fn is_described(&self, _: Language, _: &str) -> bool {
        false
    }
    fn alias(&self, _: Language, _: &str) -> Option<String> {
        None
    }
    fn library(&self, _: Language, _: &str) -> Option<bool> {
        None
    }
    fn find_blocking_row(&self, _: Language, _: &str) -> Option<String> {
        None
    }
}

/// Returns the errors of the files of a layer that `read_file` cannot detect, because they concern several keys, rows
/// or files. They are sorted by file and line.
pub fn check_layer(files: &[File], origin: Origin, lower_layers: &dyn DeclaredNames) -> Vec<ModelError> {
    let mut errors = Vec::new();
    let aliases = Aliases::collect(files, lower_layers);
    aliases.check(files, origin, lower_layers, &mut errors);
    for file in files {
        rows::check(file, origin, &aliases, &mut errors);
    }
    names::check(files, lower_layers, &mut errors);
    order::check(files, &mut errors);
    twins::check(files, &aliases, lower_layers, &mut errors);
    errors.sort();
    errors.dedup();
    errors
}
