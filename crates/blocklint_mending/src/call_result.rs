//! The kind of a call's result, which decides if a fix may run the call in a thread: an open file, a new object.

use blocklint_link::linker::Linker;
use blocklint_link::program::ids::SiteRef;
use blocklint_link::values::value::{EnvId, Val};

/// The kind of the result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// An object whose methods block too: a file, a connection.
    Blocks,
    /// A new instance of the called class.
    Object,
    /// Anything else.
    Other,
}

/// Returns the kind of a call's result.
pub fn result_kind(linker: &Linker<'_>, site: SiteRef) -> ResultKind {
    let results = linker.values.members(linker.result(site, EnvId::NONE).value);
    let blocks = |val: &Val| matches!(*val, Val::Library { ty, .. } if linker.library.has_blocking_members(ty));
    if results.iter().any(blocks) {
        return ResultKind::Blocks;
    }
    let is_class = |val: Val| match val {
        Val::Class(_) => true,
        Val::External(path) => linker.library.is_type(path),
        _ => false,
    };
    let callee = linker.values.members(linker.callee(site, EnvId::NONE).value);
    if !callee.is_empty() && callee.into_iter().all(is_class) { ResultKind::Object } else { ResultKind::Other }
}

/// True if a call returns an object whose methods block too, directly or in a `Result`: an open file (Rust).
pub fn result_blocks(linker: &Linker<'_>, site: SiteRef) -> bool {
    let blocks = |ty| linker.library.has_blocking_members(ty);
    linker.values.members(linker.result(site, EnvId::NONE).value).iter().any(|val| match *val {
        Val::Library { ty, args, .. } => {
            let inner = linker.values.nth(args, 0).into_iter().flat_map(|value| linker.values.members(value).to_vec());
            blocks(ty) || inner.into_iter().any(|val| matches!(val, Val::Library { ty, .. } if blocks(ty)))
        }
        _ => false,
    })
}
