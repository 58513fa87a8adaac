//! Candidate sites of model rows: the sites that may call a path of a row, by their last name and the libraries of
//! their file.

use blocklint_core::Language;
use blocklint_facts::SiteKind;
use blocklint_models::Uses;

use crate::imports::library_reach::LibraryReach;
use crate::linker::Linker;
use crate::program::ids::SiteRef;

impl<'a> Linker<'a> {
    /// Returns the sites of these kinds that have the last name of a row with such a use, in files in focus that may
    /// use the row's library, in order. `select` filters the paths that share a last name.
    pub fn sites_of_rows(
        &self,
        reach: &LibraryReach,
        language: Language,
        uses: Uses,
        kinds: &[SiteKind],
        select: impl Fn(Vec<&'a str>) -> Vec<&'a str>,
    ) -> Vec<SiteRef> {
        let separator = crate::models::library::separator(language);
        let mut sites: Vec<SiteRef> = Vec::new();
        for row in self.library.of(language).names(uses) {
            let Some(name) = self.program.name(row.name).filter(|&name| self.is_name_in_focus(name)) else { continue };
            let paths = select(row.paths(uses).map(|path| path.path).collect());
            if paths.is_empty() {
                continue;
            }
            let roots = reach.roots(paths.iter().map(|path| path.split(separator).next().unwrap_or(path)));
            for name in self.with_aliases(name) {
                for &(file, sym) in self.program.occurrences(name).iter().filter(|(file, _)| self.is_in_focus(*file)) {
                    let facts = self.program.facts(file);
                    if facts.language != language || !reach.may_hold(file, language, &roots) {
                        continue;
                    }
                    let of_file = self.program.index_of(file).sites_named(sym).iter().copied();
                    let of_kind = of_file.filter(|&site| kinds.contains(&facts.site(site).kind));
                    sites.extend(of_kind.map(|site| file.site_ref(site)));
                }
            }
        }
        sites.sort();
        sites.dedup();
        sites
    }
}
