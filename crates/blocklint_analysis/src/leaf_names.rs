//! Java: the names that globs of rows stand for. A call can mean one only where the library is imported, or where a
//! class of a file that imports it is named.

use blocklint_core::Language;
use blocklint_facts::SiteKind;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::{FileId, Name};
use crate::link::Link;

impl<'a> Link<'a> {
    /// The names of calls that globs of Java's rows may mean.
    pub(crate) fn java_names_of_globs(&self) -> FxHashSet<Name> {
        let mut by_package: FxHashMap<String, Vec<&str>> = FxHashMap::default();
        for glob in self.library.of(Language::Java).glob_name_patterns() {
            let package: Vec<&str> = glob
                .prefix
                .split('.')
                .take_while(|part| part.starts_with(|first: char| first.is_lowercase()))
                .collect();
            if !package.is_empty() {
                by_package.entry(package.join(".")).or_default().push(glob.pattern);
            }
        }
        let mut found = FxHashSet::default();
        if by_package.is_empty() {
            return found;
        }
        // Each file is asked once for all packages.
        let mut wanted: FxHashMap<FileId, Vec<&str>> = FxHashMap::default();
        for (slot, source) in self.program.files.iter().enumerate() {
            let facts = &source.facts;
            if facts.language != Language::Java {
                continue;
            }
            let file = FileId(slot as u32);
            let mut patterns: Vec<&str> = Vec::new();
            for import in &facts.imports {
                let module = facts.text(import.module);
                // The package of what is imported, and those around it.
                let mut at = Some(module);
                while let Some(package) = at {
                    patterns.extend(by_package.get(package).into_iter().flatten());
                    at = package.rsplit_once('.').map(|(around, _)| around);
                }
            }
            if patterns.is_empty() {
                continue;
            }
            patterns.sort_unstable();
            patterns.dedup();
            for class in facts.classes.iter().filter(|class| class.name.is_some()) {
                let Some(name) = self.program.global(file, class.name) else { continue };
                for &(other, _) in self.program.occurrences(name) {
                    wanted.entry(other).or_default().extend(&patterns);
                }
            }
            wanted.entry(file).or_default().extend(&patterns);
        }
        for (file, mut patterns) in wanted {
            patterns.sort_unstable();
            patterns.dedup();
            let facts = self.program.facts(file);
            for site in facts.sites.iter().filter(|site| matches!(site.kind, SiteKind::Call | SiteKind::New)) {
                let text = facts.text(site.name);
                if patterns.iter().any(|pattern| blocklint_models::segment_matches(pattern, text)) {
                    found.extend(self.program.global(file, site.name));
                }
            }
        }
        found
    }
}
