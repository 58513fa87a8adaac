//! Rust to facts: one parse, one walk, nothing but the file's bytes.
//!
//! How the language's shapes stand in the facts is told in `docs/facts.md`.

mod attrs;
mod blocks;
mod calls;
mod drops;
mod exprs;
mod fixes;
mod flow;
mod items;
mod kinds;
mod macros;
mod patterns;
mod repair;
mod scope;
mod types;
mod uses;
mod walker;

use blocklint_core::Language;
use blocklint_facts::{FileFacts, Sym};
use blocklint_treesitter::{Started, comments, start};

pub use crate::fixes::fix;
use crate::kinds::{K, grammar, kind};
use crate::scope::{ScopeKind, Scopes};
use crate::walker::Walker;

/// The facts of one Rust file. What does not parse is left out, with one problem that says where it starts. Never
/// fails; deep nesting is followed to a bound, for which a stack of 16 MiB is
/// enough in any build.
pub fn extract(bytes: &[u8]) -> FileFacts {
    extract_watched(bytes, || {})
}

/// As [`extract`]; calls `parsed` once the tree stands, for timings.
pub fn extract_watched(bytes: &[u8], parsed: impl FnOnce()) -> FileFacts {
    let Started { walk, tree, parser } =
        match start(Language::Rust, &grammar(), bytes, Some(repair::without_attributes), parsed) {
            Ok(started) => started,
            Err(facts) => return *facts,
        };
    let root = tree.root_node();
    let mut walker = Walker {
        walk,
        parser,
        scopes: Scopes::default(),
        test: false,
        macro_depth: 0,
        members: rustc_hash::FxHashMap::default(),
        pattern_start: 0,
        breaks: Vec::new(),
        owned: drops::Owned::default(),
    };
    walker.scopes.push(ScopeKind::Module);
    walker.items(root);
    comments(&mut walker.facts, bytes, root, |node| matches!(kind(node), K::LineComment | K::BlockComment));
    walker.walk.facts.finish()
}

/// A name that is not there.
pub(crate) const NO_NAME: Sym = Sym::NONE;
