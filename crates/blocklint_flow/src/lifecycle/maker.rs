//! Calls that make the object which a value is.

use blocklint_facts::{Form, FormId, SiteKind};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::SiteRef;
use blocklint_link::syntax::forms::mentions;

/// The depth to which forms are searched.
pub const DEPTH: u32 = 4;

/// Returns the call of a site's body that makes the object which a value is.
pub fn made_in(linker: &Linker<'_>, value: FormId, site: SiteRef) -> Option<SiteRef> {
    let (facts, site_id) = linker.program.facts_and_id(site);
    let body = facts.body_of(linker.program.site(site).at);
    let made = std::cell::Cell::new(None);
    // The outermost call returns the object, and `with` binds the object that it enters; an argument of a call is
    // another object.
    mentions(facts, value, DEPTH, &|form| match form {
        Form::Result(of) if of != site_id && facts.site(of).kind != SiteKind::Enter => {
            made.set(Some(site.file.site_ref(of)));
            true
        }
        _ => false,
    });
    made.get().filter(|made| facts.body_of(linker.program.site(*made).at) == body)
}
