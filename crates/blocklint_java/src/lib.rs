//! The Java front end: extracts [`FileFacts`] from a source file by one parse and one walk, and writes fixes for its
//! calls.
//!
//! `docs/facts.md` describes how each shape of the language is represented in the facts.

mod annotations;
mod branches;
mod calls;
mod classes;
mod declarations;
mod exprs;
mod fixes;
mod imports;
mod kinds;
mod literals;
mod members;
mod repair;
mod scope;
mod statements;
mod types;
mod walker;
mod warnings;

use blocklint_core::Language;
use blocklint_facts::{FileFacts, Sym};
use blocklint_treesitter::{StartedWalk, record_directives, start_walk};

pub use crate::fixes::{Shape, fix};
use crate::kinds::{K, grammar, kind};
use crate::scope::Scopes;
use crate::walker::Walker;
use crate::warnings::add_suppress_warnings;

/// Returns the facts of one Java file. Parts that do not parse are left out, with one problem at their start. Never
/// fails. Nesting is walked up to a limit, for which a stack of 16 MiB is enough in any build.
pub fn extract(bytes: &[u8]) -> FileFacts {
    extract_watched(bytes, || {})
}

/// As [`extract`]. It calls `parsed` between parsing and the walk, so that a caller can measure the time of each.
pub fn extract_watched(bytes: &[u8], parsed: impl FnOnce()) -> FileFacts {
    let StartedWalk { walk, tree, .. } =
        match start_walk(Language::Java, &grammar(), bytes, Some(repair::without_unknown_syntax), parsed) {
            Ok(started) => started,
            Err(facts) => return *facts,
        };
    let root = tree.root_node();
    let mut walker =
        Walker { walk, scopes: Scopes::default(), members: rustc_hash::FxHashMap::default(), yields: Vec::new() };
    walker.scopes.open();
    walker.walk_file(root);
    record_directives(&mut walker.facts, bytes, root, |node| matches!(kind(node), K::LineComment | K::BlockComment));
    add_suppress_warnings(&mut walker.facts, bytes, root);
    walker.walk.facts.finish()
}

/// The symbol of a missing name.
pub(crate) const NO_NAME: Sym = Sym::NONE;
