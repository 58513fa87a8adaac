//! The checks of one row, one file and all files of a layer, after they could be read.

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
pub use twins::holding_row;

/// The declarations of the layers below the checked one. A user file may use a tag, a switch or a type parameter of the
/// built-in models.
pub trait Declared {
    /// Returns all tags of types.
    fn tags(&self, language: Language) -> Vec<String>;
    /// Returns the names of all switches.
    fn switches(&self, language: Language) -> Vec<String>;
    /// Returns the parameters of a type, in order.
    fn params(&self, language: Language, path: &str) -> Vec<String>;
    /// True if a row or alias names this path or one under it.
    fn is_described(&self, language: Language, path: &str) -> bool;
    /// Returns where the alias with exactly this spelling leads.
    fn alias(&self, language: Language, spelling: &str) -> Option<String>;
    /// `None` for an unknown library, else whether it has a row with `native`.
    fn library(&self, language: Language, name: &str) -> Option<bool>;
    /// `file:line` of an unconditional row by which calling this path holds the thread for more than a `note`.
    fn holds(&self, language: Language, path: &str) -> Option<String>;
}

/// The layer below the lowest one.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

impl Declared for Nothing {
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
    fn holds(&self, _: Language, _: &str) -> Option<String> {
        None
    }
}

/// Checks all files of one layer together: everything that `read_file` cannot see in one value. Errors
/// come sorted by file and line.
pub fn check_layer(files: &[File], origin: Origin, below: &dyn Declared) -> Vec<ModelError> {
    let mut errors = Vec::new();
    let aliases = Aliases::of(files, below);
    aliases.check(files, origin, below, &mut errors);
    for file in files {
        rows::check(file, origin, &aliases, &mut errors);
    }
    names::check(files, below, &mut errors);
    order::check(files, &mut errors);
    twins::check(files, &aliases, below, &mut errors);
    errors.sort();
    errors.dedup();
    errors
}
