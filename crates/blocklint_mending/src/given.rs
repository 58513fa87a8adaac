//! The result of a call that an edit would hand to a thread: an open file, a connection, an object.

use blocklint_facts::{Form, FormId, SiteKind};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::SiteRef;
use blocklint_link::syntax::forms::mentions;
use blocklint_link::values::value::{EnvId, Val};

/// How deep forms are gone through.
pub(crate) const DEPTH: u32 = 4;

/// Returns the call of a site's body that makes the object which a value is.
pub fn made_in(linker: &Linker<'_>, value: FormId, site: SiteRef) -> Option<SiteRef> {
    let (facts, site_id) = linker.program.facts_and_id(site);
    let body = facts.body_of(linker.program.site(site).at);
    let made = std::cell::Cell::new(None);
    // The outermost call gives the object, and `with` what it enters; what a call was given is another object.
    mentions(facts, value, DEPTH, &|form| match form {
        Form::Result(of) if of != site_id && facts.site(of).kind != SiteKind::Enter => {
            made.set(Some(site.file.site_ref(of)));
            true
        }
        _ => false,
    });
    made.get().filter(|made| facts.body_of(linker.program.site(*made).at) == body)
}

/// The result of a call, as far as it matters to an edit that hands the call to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// Something that blocks as well when it is used: a file, a connection.
    Blocks,
    /// An object that the call makes.
    Object,
    /// Anything else.
    Other,
}

/// Returns the kind of a call's result.
pub fn given_by(linker: &Linker<'_>, site: SiteRef) -> Given {
    let given = linker.values.members(linker.result(site, EnvId::NONE).value);
    let blocks = |val: &Val| matches!(*val, Val::Library { ty, .. } if linker.library.has_blocking_members(ty));
    if given.iter().any(blocks) {
        return Given::Blocks;
    }
    let makes = |val: Val| match val {
        Val::Class(_) => true,
        Val::External(path) => linker.library.is_type(path),
        _ => false,
    };
    let callee = linker.values.members(linker.callee(site, EnvId::NONE).value);
    if !callee.is_empty() && callee.into_iter().all(makes) { Given::Object } else { Given::Other }
}

/// True if a call gives something that holds the thread as well when it is used: an open file, by itself or in a `Result`. [Rust]
pub fn gives_what_blocks(linker: &Linker<'_>, site: SiteRef) -> bool {
    let blocks = |ty| linker.library.has_blocking_members(ty);
    linker.values.members(linker.result(site, EnvId::NONE).value).iter().any(|val| match *val {
        Val::Library { ty, args, .. } => {
            let held = linker.values.nth(args, 0).into_iter().flat_map(|held| linker.values.members(held).to_vec());
            blocks(ty) || held.into_iter().any(|val| matches!(val, Val::Library { ty, .. } if blocks(ty)))
        }
        _ => false,
    })
}
