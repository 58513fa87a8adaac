//! Calls of a file by their names, those that stand before a site in its body, and those that a body awaits.

use blocklint_facts::{SiteFlags, SiteId, SiteKind};

use crate::linker::Linker;
use crate::program::ids::{BodyRef, FileId, SiteRef};

impl<'a> Linker<'a> {
    /// Returns the sites of a file under any of these names.
    pub fn sites_under<'s>(&'s self, file: FileId, names: &'s [&str]) -> impl Iterator<Item = SiteId> + 's {
        let index = self.program.index_of(file);
        let syms = names.iter().filter_map(move |text| self.program.local(file, self.program.name(text)?));
        syms.flat_map(|sym| index.sites_named(sym).iter().copied())
    }

    /// Returns the calls that a body awaits.
    pub fn awaited_in(&self, body: BodyRef) -> impl Iterator<Item = SiteRef> {
        self.program.sites_in(body).filter(|of| self.program.site(*of).flags.has(SiteFlags::AWAITED))
    }

    /// Returns the calls under any of these names that stand before a site in its body.
    pub fn calls_before<'s>(&'s self, site: SiteRef, names: &'s [&str]) -> impl Iterator<Item = SiteId> + 's {
        let facts = self.program.facts(site.file);
        let here = self.program.site(site).at;
        let body = facts.body_of(here);
        self.sites_under(site.file, names).filter(move |&before| {
            let row = facts.site(before);
            row.kind == SiteKind::Call && row.at.position < here.position && facts.body_of(row.at) == body
        })
    }
}
