//! The result of a call that an edit would hand to a thread: an open file, a connection, an object.

use blocklint_link::linker::Linker;
use blocklint_link::program::ids::SiteRef;
use blocklint_link::values::value::{EnvId, Val};

/// The result of a call, as far as it matters to an edit that hands the call to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// Something that blocks as well when it is used: a file, a connection.
    Blocks,
    /// An object that the call makes.
    Object,
    /// Anything else.
    Other,
}

/// Returns the kind of a call's result.
pub fn result_kind(linker: &Linker<'_>, site: SiteRef) -> ResultKind {
    let given = linker.values.members(linker.result(site, EnvId::NONE).value);
    let blocks = |val: &Val| matches!(*val, Val::Library { ty, .. } if linker.library.has_blocking_members(ty));
    if given.iter().any(blocks) {
        return ResultKind::Blocks;
    }
    let makes = |val: Val| match val {
        Val::Class(_) => true,
        Val::External(path) => linker.library.is_type(path),
        _ => false,
    };
    let callee = linker.values.members(linker.callee(site, EnvId::NONE).value);
    if !callee.is_empty() && callee.into_iter().all(makes) { ResultKind::Object } else { ResultKind::Other }
}

/// True if a call returns something that holds the thread as well when it is used: an open file, by itself or in a
/// `Result`. [Rust]
pub fn result_blocks(linker: &Linker<'_>, site: SiteRef) -> bool {
    let blocks = |ty| linker.library.has_blocking_members(ty);
    linker.values.members(linker.result(site, EnvId::NONE).value).iter().any(|val| match *val {
        Val::Library { ty, args, .. } => {
            let held = linker.values.nth(args, 0).into_iter().flat_map(|held| linker.values.members(held).to_vec());
            blocks(ty) || held.into_iter().any(|val| matches!(val, Val::Library { ty, .. } if blocks(ty)))
        }
        _ => false,
    })
}
