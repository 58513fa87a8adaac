//! Aliases of a layer: roots, cycles and the canonical spelling.

use blocklint_core::Language;
use rustc_hash::FxHashMap;

use super::super::error::{ModelError, Table};
use super::super::language::separator;
use super::super::path::{is_under, qualified};
use super::super::read::Origin;
use super::super::rows::{File, FileInfo};
use super::Declared;

pub(super) struct Aliases<'f> {
    targets: FxHashMap<(Language, &'f str), &'f str>,
    below: &'f dyn Declared,
}

/// True if a path lies under the file's roots.
pub(super) fn in_roots(info: &FileInfo, path: &str) -> bool {
    info.roots.iter().any(|root| is_under(path, root, info.language))
}

impl<'f> Aliases<'f> {
    pub(super) fn of(files: &'f [File], below: &'f dyn Declared) -> Self {
        let mut targets = FxHashMap::default();
        for file in files {
            for (spelling, target, _) in &file.aliases {
                targets.entry((file.info.language, spelling.as_str())).or_insert(target.as_str());
            }
        }
        Aliases { targets, below }
    }

    /// One step: the longest alias that matches whole segments.
    fn step(&self, language: Language, path: &str) -> Option<String> {
        let mut end = path.len();
        loop {
            let spelling = &path[..end];
            let target = self.targets.get(&(language, spelling)).map(|target| (*target).to_owned());
            if let Some(target) = target.or_else(|| self.below.alias(language, spelling)) {
                return Some(format!("{target}{}", &path[end..]));
            }
            end = spelling.rfind(separator(language))?;
        }
    }

    /// Returns the path that rows must use, or `None` where aliases go in a circle.
    pub(super) fn canonical(&self, language: Language, path: &str) -> Option<String> {
        if let Some((implementor, implemented, member)) = qualified(path) {
            let (left, right) = (self.canonical(language, implementor)?, self.canonical(language, implemented)?);
            return Some(format!("<{left} as {right}>::{member}"));
        }
        let mut current = path.to_owned();
        for _ in 0..16 {
            match self.step(language, &current) {
                Some(next) => current = next,
                None => return Some(current),
            }
        }
        None
    }

    pub(super) fn check(&self, files: &[File], origin: Origin, below: &dyn Declared, errors: &mut Vec<ModelError>) {
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
                let own = in_roots(&file.info, spelling) || in_roots(&file.info, target);
                // A facade crate: another library's name leads to a path of a loaded model.
                let is_described = |other: &File| other.info.language == language && in_roots(&other.info, target);
                let facade = files.iter().any(is_described) || below.is_described(language, target);
                if origin != Origin::User && !own && !facade {
                    let roots = file.info.roots.join(", ");
                    error(*line, spelling, format!("neither side is under this file's roots ({roots})"));
                }
                let other = files.iter().flat_map(|other| {
                    let same = move |alias: &&(String, String, u32)| {
                        other.info.language == language && alias.0 == *spelling && alias.1 != *target
                    };
                    other.aliases.iter().filter(same).map(move |alias| (&other.info.label, alias))
                });
                for (label, (_, elsewhere, at)) in other {
                    // Reported once, at the later of the two.
                    if (label, at) < (&file.info.label, line) {
                        error(*line, spelling, format!("leads to `{elsewhere}` in {label}:{at}"));
                    }
                }
            }
        }
    }
}
