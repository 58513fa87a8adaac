//! Java: call sites that a model row with a wildcard can match. A site can match only where the library is imported, or where a class of a file
//! that imports it is named, or where code names it in full.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{ImportKind, SiteKind, Sym};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lang::java::names::package;
use crate::linker::Linker;
use crate::program::ids::{FileId, Name, SiteRef};

/// Call sites that rows with wildcards can match.
#[derive(Default)]
pub struct OfGlobs {
    /// The calls.
    pub sites: Vec<SiteRef>,
    /// The names in the files of such calls.
    pub names: Vec<(FileId, Sym)>,
}

impl<'a> Linker<'a> {
    /// Returns the sites that globs of Java's rows may mean. The search compares them file by file, because a glob
    /// often matches every name.
    pub fn java_sites_of_globs(&self) -> OfGlobs {
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
        if by_package.is_empty() {
            return OfGlobs::default();
        }
        // Each file is asked once for all packages.
        let mut wanted: FxHashMap<FileId, Vec<&str>> = FxHashMap::default();
        let mut seen = SeenPackages::default();
        let mut spelled_out: FxHashMap<FileId, Vec<&str>> = FxHashMap::default();
        for (package, patterns) in &by_package {
            for file in self.program.files_naming_all(package.split('.')) {
                spelled_out.entry(file).or_default().extend(patterns);
            }
        }
        for (slot, source) in self.program.files.iter().enumerate() {
            let facts = &source.facts;
            if facts.language != Language::Java {
                continue;
            }
            let file = FileId(slot as u32);
            let mut patterns: Vec<&str> = spelled_out.remove(&file).unwrap_or_default();
            for import in &facts.imports {
                let module = facts.text(import.module);
                if lang::java::generated_code::names_stubs(module) {
                    patterns.extend(by_package.get(lang::java::generated_code::PACKAGE_OF_STUBS).into_iter().flatten());
                }
                // The package of what is imported, and those around it.
                let module = self.library.of(Language::Java).canonical(module);
                let mut at = Some(&*module);
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
            let own = package(self, file);
            for class in facts.classes.iter().filter(|class| class.name.is_some()) {
                let Some(name) = self.program.global(file, class.name) else { continue };
                for &(other, _) in self.program.occurrences(name) {
                    if seen.has(self, other, own) {
                        wanted.entry(other).or_default().extend(&patterns);
                    }
                }
            }
            wanted.entry(file).or_default().extend(&patterns);
        }
        let mut called: FxHashSet<Name> = FxHashSet::default();
        for (&file, patterns) in &mut wanted {
            patterns.sort_unstable();
            patterns.dedup();
            let facts = self.program.facts(file);
            for site in facts.sites.iter().filter(|site| matches!(site.kind, SiteKind::Call | SiteKind::New)) {
                let text = facts.text(site.name);
                if patterns.iter().any(|pattern| blocklint_models::segment_matches(pattern, text)) {
                    called.extend(self.program.global(file, site.name));
                }
            }
        }
        let mut found = OfGlobs::default();
        for &file in wanted.keys() {
            let facts = self.program.facts(file);
            let index = self.program.index_of(file);
            for (sym, _) in facts.symbols.iter() {
                if self.program.global(file, sym).is_none_or(|name| !called.contains(&name)) {
                    continue;
                }
                found.names.push((file, sym));
                let calls = index.sites_named(sym).iter().filter(|&&site| facts.site(site).kind != SiteKind::Read);
                found.sites.extend(calls.map(|&site| file.site_ref(site)));
            }
        }
        found
    }
}

/// The packages whose classes files can name: their own, and those of what they import.
#[derive(Default)]
struct SeenPackages<'a>(FxHashMap<FileId, FxHashSet<&'a str>>);

impl<'a> SeenPackages<'a> {
    fn has(&mut self, linker: &Linker<'a>, file: FileId, wanted: &str) -> bool {
        let seen = self.0.entry(file).or_insert_with(|| {
            let facts = linker.program.facts(file);
            let mut seen = FxHashSet::default();
            for import in &facts.imports {
                // A package itself, or one of its classes or of their members.
                let around = if import.kind == ImportKind::Package { 1 } else { 3 };
                let mut at = Some(facts.text(import.module));
                for _ in 0..around {
                    let Some(package) = at else { break };
                    seen.insert(package);
                    at = package.rsplit_once('.').map(|(around, _)| around);
                }
            }
            seen
        });
        // Code outside all packages can use names without a package.
        seen.contains(wanted) || wanted.is_empty()
    }
}
