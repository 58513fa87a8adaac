//! The call that makes a value in the same body: `client = Client(…)` for `client.get(…)`.

use blocklint_facts::{Form, FormId, SiteKind};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::SiteRef;
use blocklint_link::syntax::forms::mentions;

/// The depth to which expressions are searched.
pub const DEPTH: u32 = 4;

/// Returns the call that makes the object which `value` evaluates to, if the body of `site` has that call.
pub fn find_maker_in_body(linker: &Linker<'_>, value: FormId, site: SiteRef) -> Option<SiteRef> {
    let (facts, site_id) = linker.program.facts_and_id(site);
    let body = facts.body_of(linker.program.site(site).at);
    let maker = std::cell::Cell::new(None);
    // The outermost call returns the object, because an argument of a call is another object. `with` binds the object
    // that it enters, so its site is skipped.
    mentions(facts, value, DEPTH, &|form| match form {
        Form::Result(call) if call != site_id && facts.site(call).kind != SiteKind::Enter => {
            maker.set(Some(site.file.site_ref(call)));
            true
        }
        _ => false,
    });
    maker.get().filter(|maker| facts.body_of(linker.program.site(*maker).at) == body)
}
