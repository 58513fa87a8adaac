//! The checks of `[alias]` tables (roots, cycles, contradictions), and the canonical spelling of a path.

use blocklint_core::Language;
use rustc_hash::FxHashMap;

use super::super::error::{ModelError, Table};
use super::super::language::separator;
use super::super::path::{is_under, qualified};
use super::super::read::Origin;
use super::super::rows::{File, FileInfo};
use super::DeclaredNames;

/// The maximal number of aliases that lead to each other. A longer chain is reported as a cycle.
const MAX_ALIAS_CHAIN: usize = 16;

pub(super) struct Aliases<'f> {
    targets: FxHashMap<(Language, &'f str), &'f str>,
    lower_layers: &'f dyn DeclaredNames,
}

/// True if a path is under one of the file's roots.
pub(super) fn is_under_roots(info: &FileInfo, path: &str) -> bool {
    info.roots.iter().any(|root| is_under(path, root, info.language))
}

impl<'f> Aliases<'f> {
    pub(super) fn collect(files: &'f [File], lower_layers: &'f dyn DeclaredNames) -> Self {
        let mut targets = FxHashMap::default();
        for file in files {
            for (spelling, target, _) in &file.aliases {
                targets.entry((file.info.language, spelling.as_str())).or_insert(target.as_str());
            }
        }
        Aliases { targets, lower_layers }
    }

    /// Returns the path after replacing the longest alias of whole segments; `None` if no alias matches.
    fn replace_alias(&self, language: Language, path: &str) -> Option<String> {
        let mut end = path.len();
        loop {
            let spelling = &path[..end];
            let target = self.targets.get(&(language, spelling)).map(|target| (*target).to_owned());
            if let Some(target) = target.or_else(|| self.lower_layers.alias(language, spelling)) {
                return Some(format!("{target}{}", &path[end..]));
            }
            end = spelling.rfind(separator(language))?;
        }
    }

    /// Returns the path that rows must use; `None` if aliases form a cycle.
    pub(super) fn canonical(&self, language: Language, path: &str) -> Option<String> {
        if let Some((implementor, implemented, member)) = qualified(path) {
            let (canonical_implementor, canonical_implemented) =
                (self.canonical(language, implementor)?, self.canonical(language, implemented)?);
            return Some(format!("<{canonical_implementor} as {canonical_implemented}>::{member}"));
        }
        let mut current = path.to_owned();
        for _ in 0..MAX_ALIAS_CHAIN {
            match self.replace_alias(language, &current) {
                Some(next) => current = next,
                None => return Some(current),
            }
        }
        None
    }

    pub(super) fn check(
        &self,
        files: &[File],
        origin: Origin,
        lower_layers: &dyn DeclaredNames,
        errors: &mut Vec<ModelError>,
    ) {
        for file in files {
            let language = file.info.language;
            let mut error = |line: u32, spelling: &str, message: String| {
                errors.push(ModelError {
                    file: file.info.label.clone(),
                    line,
                    table: Table::Alias,
                    key: spelling.to_owned(),
                    message,
                });
            };
            for (spelling, target, line) in &file.aliases {
                if self.canonical(language, spelling).is_none() {
                    error(*line, spelling, format!("aliases go in a circle from `{spelling}`"));
                }
                let is_under_own_roots = is_under_roots(&file.info, spelling) || is_under_roots(&file.info, target);
                // A facade crate re-exports names of another library that has a model.
                let is_described = |other_file: &File| {
                    other_file.info.language == language && is_under_roots(&other_file.info, target)
                };
                let is_facade = files.iter().any(is_described) || lower_layers.is_described(language, target);
                if origin != Origin::User && !is_under_own_roots && !is_facade {
                    let roots = file.info.roots.join(", ");
                    error(*line, spelling, format!("neither side is under this file's roots ({roots})"));
                }
                let contradicting = files.iter().flat_map(|other_file| {
                    let contradicts = move |alias: &&(String, String, u32)| {
                        other_file.info.language == language && alias.0 == *spelling && alias.1 != *target
                    };
                    other_file.aliases.iter().filter(contradicts).map(move |alias| (&other_file.info.label, alias))
                });
                for (label, (_, other_target, other_line)) in contradicting {
                    // The contradiction is reported once, at the later alias.
                    if (label, other_line) < (&file.info.label, line) {
                        error(*line, spelling, format!("leads to `{other_target}` in {label}:{other_line}"));
                    }
                }
            }
        }
    }
}
