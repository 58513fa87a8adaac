//! Call sites of a file or body: those with given names, those before a site, and those that the body awaits.

use blocklint_facts::{SiteFlags, SiteId, SiteKind};

use crate::linker::Linker;
use crate::program::ids::{BodyRef, FileId, SiteRef};

impl<'a> Linker<'a> {
    /// Returns the sites of a file that have any of these names.
    pub fn sites_with_names<'s>(&'s self, file: FileId, names: &'s [&str]) -> impl Iterator<Item = SiteId> + 's {
        let index = self.program.index_of(file);
        let syms = names.iter().filter_map(move |text| self.program.local(file, self.program.name(text)?));
        syms.flat_map(|sym| index.sites_named(sym).iter().copied())
    }

    /// Returns the calls that a body awaits.
    pub fn awaited_sites_in(&self, body: BodyRef) -> impl Iterator<Item = SiteRef> {
        self.program.sites_in(body).filter(|site| self.program.site(*site).flags.has(SiteFlags::AWAITED))
    }

    /// Returns the calls with any of these names that are before a site in the same body.
    pub fn calls_before<'s>(&'s self, site: SiteRef, names: &'s [&str]) -> impl Iterator<Item = SiteId> + 's {
        let facts = self.program.facts(site.file);
        let position = self.program.site(site).at;
        let body = facts.body_of(position);
        self.sites_with_names(site.file, names).filter(move |&call| {
            let site_facts = facts.site(call);
            site_facts.kind == SiteKind::Call
                && site_facts.at.position < position.position
                && facts.body_of(site_facts.at) == body
        })
    }
}
