//! Java to facts: one parse, one walk, nothing but the file's bytes.
//!
//! How the language's shapes stand in the facts is told in `docs/facts.md`.

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
mod scope;
mod statements;
mod types;
mod walker;
mod warnings;

use blocklint_core::Language;
use blocklint_facts::{FileFacts, Sym};
use blocklint_treesitter::{Started, comments, start};

pub use crate::fixes::{Shape, fix};
use crate::kinds::{K, grammar, kind};
use crate::scope::Scopes;
use crate::walker::Walker;
use crate::warnings::suppressed_warnings;

/// Returns the facts of one Java file. Parts that do not parse are left out, with one problem that says where they
/// start. Never fails; deep nesting is followed to a bound, for which a stack of 16 MiB is enough in any build.
pub fn extract(bytes: &[u8]) -> FileFacts {
    extract_watched(bytes, || {})
}

/// As [`extract`]; calls `parsed` once the tree stands, for timings.
pub fn extract_watched(bytes: &[u8], parsed: impl FnOnce()) -> FileFacts {
    let Started { walk, tree, .. } = match start(Language::Java, &grammar(), bytes, None, parsed) {
        Ok(started) => started,
        Err(facts) => return *facts,
    };
    let root = tree.root_node();
    let mut walker =
        Walker { walk, scopes: Scopes::default(), members: rustc_hash::FxHashMap::default(), yields: Vec::new() };
    walker.scopes.open();
    walker.walk_file(root);
    comments(&mut walker.facts, bytes, root, |node| matches!(kind(node), K::LineComment | K::BlockComment));
    suppressed_warnings(&mut walker.facts, bytes, root);
    walker.walk.facts.finish()
}

/// A name that is not there.
pub(crate) const NO_NAME: Sym = Sym::NONE;
