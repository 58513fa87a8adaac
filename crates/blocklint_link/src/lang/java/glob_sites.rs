//! Java: call sites that a model row with a glob (`*`) can match. Such a site is in a file that imports the library,
//! uses a class of a file that imports it, or spells out the library's package.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{ImportKind, SiteKind, Sym};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lang::java::names::package_of_file;
use crate::linker::Linker;
use crate::program::ids::{FileId, Name, SiteRef};

/// The call sites that rows with globs can match.
#[derive(Default)]
pub struct GlobSites {
    /// The call sites.
    pub sites: Vec<SiteRef>,
    /// The names of these call sites in their files.
    pub names: Vec<(FileId, Sym)>,
}

impl<'a> Linker<'a> {
    /// Returns the sites that globs of Java's rows can match. Files are searched one by one, because a glob often
    /// matches every name.
    pub fn java_glob_sites(&self) -> GlobSites {
        let by_package = self.glob_patterns_by_package();
        if by_package.is_empty() {
            return GlobSites::default();
        }
        let patterns_by_file = self.glob_patterns_by_file(&by_package);
        let mut called: FxHashSet<Name> = FxHashSet::default();
        for (&file, patterns) in &patterns_by_file {
            let facts = self.program.facts(file);
            for site in facts.sites.iter().filter(|site| matches!(site.kind, SiteKind::Call | SiteKind::New)) {
                let text = facts.text(site.name);
                if patterns.iter().any(|pattern| blocklint_models::segment_matches(pattern, text)) {
                    called.extend(self.program.global(file, site.name));
                }
            }
        }
        let mut glob_sites = GlobSites::default();
        for &file in patterns_by_file.keys() {
            let facts = self.program.facts(file);
            let index = self.program.index_of(file);
            for (sym, _) in facts.symbols.iter() {
                if self.program.global(file, sym).is_none_or(|name| !called.contains(&name)) {
                    continue;
                }
                glob_sites.names.push((file, sym));
                let calls = index.sites_named(sym).iter().filter(|&&site| facts.site(site).kind != SiteKind::Read);
                glob_sites.sites.extend(calls.map(|&site| file.site_ref(site)));
            }
        }
        glob_sites
    }

    /// Returns the globs of last segments, by the package of their rows.
    fn glob_patterns_by_package(&self) -> FxHashMap<String, Vec<&'a str>> {
        let mut by_package: FxHashMap<String, Vec<&'a str>> = FxHashMap::default();
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
        by_package
    }

    /// Returns the globs that can match in each file: those of the packages that it spells out or imports, and those of
    /// files whose classes it uses.
    fn glob_patterns_by_file(&self, by_package: &FxHashMap<String, Vec<&'a str>>) -> FxHashMap<FileId, Vec<&'a str>> {
        let mut patterns_by_file: FxHashMap<FileId, Vec<&'a str>> = FxHashMap::default();
        let mut visible = VisiblePackages::default();
        let mut spelled_out: FxHashMap<FileId, Vec<&'a str>> = FxHashMap::default();
        for (package, patterns) in by_package {
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
            let mut patterns: Vec<&'a str> = spelled_out.remove(&file).unwrap_or_default();
            for import in &facts.imports {
                let module = facts.text(import.module);
                if lang::java::generated_code::is_stub_import(module) {
                    patterns.extend(by_package.get(lang::java::generated_code::PACKAGE_OF_STUBS).into_iter().flatten());
                }
                // The package of the imported name, and the packages around it.
                let module = self.library.of(Language::Java).canonical(module);
                let mut enclosing = Some(&*module);
                while let Some(package) = enclosing {
                    patterns.extend(by_package.get(package).into_iter().flatten());
                    enclosing = package.rsplit_once('.').map(|(around, _)| around);
                }
            }
            if patterns.is_empty() {
                continue;
            }
            patterns.sort_unstable();
            patterns.dedup();
            let own_package = package_of_file(self, file);
            for class in facts.classes.iter().filter(|class| class.name.is_some()) {
                let Some(name) = self.program.global(file, class.name) else { continue };
                for &(other, _) in self.program.occurrences(name) {
                    if visible.contains(self, other, own_package) {
                        patterns_by_file.entry(other).or_default().extend(&patterns);
                    }
                }
            }
            patterns_by_file.entry(file).or_default().extend(&patterns);
        }
        for patterns in patterns_by_file.values_mut() {
            patterns.sort_unstable();
            patterns.dedup();
        }
        patterns_by_file
    }
}

/// For each file the packages whose classes it may use: its own package, and the packages of its imports.
#[derive(Default)]
struct VisiblePackages<'a>(FxHashMap<FileId, FxHashSet<&'a str>>);

impl<'a> VisiblePackages<'a> {
    fn contains(&mut self, linker: &Linker<'a>, file: FileId, package: &str) -> bool {
        let packages = self.0.entry(file).or_insert_with(|| {
            let facts = linker.program.facts(file);
            let mut packages = FxHashSet::default();
            for import in &facts.imports {
                // The import of a package, of a class, or of a member of a class.
                let segments = if import.kind == ImportKind::Package { 1 } else { 3 };
                let mut enclosing = Some(facts.text(import.module));
                for _ in 0..segments {
                    let Some(package) = enclosing else { break };
                    packages.insert(package);
                    enclosing = package.rsplit_once('.').map(|(around, _)| around);
                }
            }
            packages
        });
        // Classes of the default package are visible in all files.
        packages.contains(package) || package.is_empty()
    }
}
