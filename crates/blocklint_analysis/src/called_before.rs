//! Calls by their names: those of a file, and those that stand before a site in its body.

use blocklint_facts::{SiteId, SiteKind};

use crate::ids::{FileId, SiteRef};
use crate::link::Link;

impl<'a> Link<'a> {
    /// The sites of a file under any of these names.
    pub(crate) fn sites_under<'s>(&'s self, file: FileId, names: &'s [&str]) -> impl Iterator<Item = SiteId> + 's {
        let index = self.program.index_of(file);
        let syms = names.iter().filter_map(move |text| self.program.local(file, self.program.name(text)?));
        syms.flat_map(|sym| index.sites_named(sym).iter().copied())
    }

    /// The calls under any of these names that stand before a site in its body.
    pub(crate) fn calls_before<'s>(&'s self, site: SiteRef, names: &'s [&str]) -> impl Iterator<Item = SiteId> + 's {
        let facts = self.program.facts(site.file);
        let here = facts.site(site.site).at;
        let body = facts.body_of(here);
        self.sites_under(site.file, names).filter(move |&before| {
            let row = facts.site(before);
            row.kind == SiteKind::Call && row.at.position < here.position && facts.body_of(row.at) == body
        })
    }
}
