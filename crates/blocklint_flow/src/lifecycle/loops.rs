//! Loops around a site: over a collection, or as long as something holds.

use blocklint_core::Language;
use blocklint_facts::{ExitKind, Form, Region, RegionId, RegionKind, SiteKind};
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_link::syntax::regions::around;

/// True if a loop iterates over a collection, rather than runs while a condition holds.
fn is_iterated(linker: &Linker<'_>, file: FileId, region: &Region) -> bool {
    linker.program.sites_in(file.body_ref(region.body)).any(|of| {
        let row = linker.program.site(of);
        row.kind == SiteKind::Iterate && row.callee == region.test
    })
}

/// True if a site runs once for each element of a collection: a loop around it iterates over something which is not
/// written out. A loop that counts or waits shows nothing about how much there is.
pub fn is_per_item(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let mut at: RegionId = linker.program.site(site).at.region;
    while let Some(id) = at.get() {
        let region = facts.region(id);
        match region.kind {
            RegionKind::Body => return false,
            RegionKind::Loop if region.test.is_some() && goes_through(linker, site.file, id) => {
                return !returns_within(linker, site.file, id);
            }
            _ => at = region.parent,
        }
    }
    false
}

/// True if a site stands in a loop that goes on as long as something holds: not one over a collection.
pub fn is_looped(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    around(facts, linker.program.site(site).at.region)
        .map(|id| facts.region(id))
        .any(|region| region.kind == RegionKind::Loop && !is_iterated(linker, site.file, &region))
}

/// True if a loop ends by returning what it was looking for: it tries one after the other.
fn returns_within(linker: &Linker<'_>, file: FileId, id: RegionId) -> bool {
    let facts = linker.program.facts(file);
    let is_within = |mut at: RegionId| {
        while let Some(region) = at.get() {
            match facts.region(region).kind {
                _ if region == id => return true,
                RegionKind::Handler => return false,
                _ => at = facts.region(region).parent,
            }
        }
        false
    };
    facts.exits.iter().any(|exit| exit.kind == ExitKind::Return && exit.value.is_some() && is_within(exit.at.region))
}

/// True if a loop iterates over a collection that is not a literal.
fn goes_through(linker: &Linker<'_>, file: FileId, id: RegionId) -> bool {
    let facts = linker.program.facts(file);
    let region = facts.region(id);
    is_iterated(linker, file, &region)
        && match facts.form(region.test) {
            Form::Display(..) | Form::Pairs(_) => false,
            Form::Result(call) => !lang::words_of(facts.language).returns_count(facts.text(facts.site(call).name)),
            Form::Other => facts.language != Language::Rust,
            _ => true,
        }
}
