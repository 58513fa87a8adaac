//! The loops around a site: `for` over a collection, or `while` a condition holds.

use blocklint_core::Language;
use blocklint_facts::{ExitKind, Form, Region, RegionId, RegionKind, SiteKind};
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_link::syntax::regions::around;

/// True if a loop iterates over a collection, rather than runs while a condition holds.
fn is_iterated(linker: &Linker<'_>, file: FileId, region: &Region) -> bool {
    linker.program.sites_in(file.body_ref(region.body)).any(|site| {
        let site_facts = linker.program.site(site);
        site_facts.kind == SiteKind::Iterate && site_facts.callee == region.test
    })
}

/// True if a site runs once for each element of a collection: a loop around it iterates over a collection that is not a
/// literal. False in a loop that counts or waits (`for i in range(3):`), which does not show how many elements there
/// are.
pub fn is_per_item(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let mut current: RegionId = linker.program.site(site).at.region;
    while let Some(id) = current.get() {
        let region = facts.region(id);
        match region.kind {
            RegionKind::Body => return false,
            RegionKind::Loop if region.test.is_some() && iterates_over_collection(linker, site.file, id) => {
                return !returns_a_value(linker, site.file, id);
            }
            _ => current = region.parent,
        }
    }
    false
}

/// True if a site is in a loop that runs while a condition holds, not in a loop over a collection.
pub fn is_looped(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    around(facts, linker.program.site(site).at.region)
        .map(|id| facts.region(id))
        .any(|region| region.kind == RegionKind::Loop && !is_iterated(linker, site.file, &region))
}

/// True if a loop returns a value: it tries the elements one after the other until one fits.
fn returns_a_value(linker: &Linker<'_>, file: FileId, id: RegionId) -> bool {
    let facts = linker.program.facts(file);
    let is_in_loop = |mut inner: RegionId| {
        while let Some(region) = inner.get() {
            match facts.region(region).kind {
                _ if region == id => return true,
                RegionKind::Handler => return false,
                _ => inner = facts.region(region).parent,
            }
        }
        false
    };
    facts.exits.iter().any(|exit| exit.kind == ExitKind::Return && exit.value.is_some() && is_in_loop(exit.at.region))
}

/// True if a loop iterates over a collection that is not a literal.
fn iterates_over_collection(linker: &Linker<'_>, file: FileId, id: RegionId) -> bool {
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
