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
mod macro_rules;
mod macros;
mod patterns;
mod repair;
mod scope;
mod types;
mod uses;
mod walker;

use std::time::{Duration, Instant};

use blocklint_core::Language;
use blocklint_facts::{FileFacts, Sym};
use blocklint_treesitter::{Started, comments, meant, start};
use tree_sitter::Tree;

pub use crate::fixes::{Called, ChainPart, Chained, Sought, Unchanged, asyncify, fix, mention, without_unused_imports};
use crate::kinds::{K, grammar, kind};
use crate::scope::{ScopeKind, Scopes};
use crate::walker::Walker;

/// Returns the facts of one Rust file. Parts that do not parse are left out, with one problem that says where they
/// start. Never fails; deep nesting is followed to a bound, for which a stack of 16 MiB is enough in any build.
pub fn extract(bytes: &[u8]) -> FileFacts {
    extract_watched(bytes, || {})
}

/// As [`extract`]; calls `parsed` once the tree stands, for timings.
pub fn extract_watched(bytes: &[u8], parsed: impl FnOnce()) -> FileFacts {
    walk(bytes, parsed, None).0
}

/// As [`extract`]; also how long it took to parse the file with the freeing of its tree, and to parse the arguments of its
/// macros once more.
pub fn extract_timed(bytes: &[u8]) -> (FileFacts, Duration, Duration) {
    let started = Instant::now();
    let mut parsed = Duration::ZERO;
    let (facts, tree, again) = walk(bytes, || parsed = started.elapsed(), Some(Duration::ZERO));
    let started = Instant::now();
    drop(tree);
    (facts, parsed + started.elapsed(), again.unwrap_or_default())
}

/// Returns the facts, the tree they were read from, and what macros took if `again` starts to count it.
fn walk(bytes: &[u8], parsed: impl FnOnce(), again: Option<Duration>) -> (FileFacts, Option<Tree>, Option<Duration>) {
    let Started { walk, tree, parser } =
        match start(Language::Rust, &grammar(), bytes, Some(repair::without_attributes), parsed) {
            Ok(started) => started,
            Err(facts) => return (*facts, None, again),
        };
    let root = tree.root_node();
    let mut walker = Walker {
        walk,
        parser,
        scopes: Scopes::default(),
        test: false,
        macro_depth: 0,
        has_macros: false,
        deferring: rustc_hash::FxHashMap::default(),
        members: rustc_hash::FxHashMap::default(),
        pattern_start: 0,
        breaks: Vec::new(),
        owned: drops::Owned::default(),
        again,
    };
    walker.scopes.open(ScopeKind::Module);
    walker.walk_items(root);
    comments(&mut walker.facts, bytes, root, is_comment);
    meant(&mut walker.facts, bytes, root, is_comment);
    let again = walker.again;
    (walker.walk.facts.finish(), Some(tree), again)
}

fn is_comment(node: tree_sitter::Node<'_>) -> bool {
    matches!(kind(node), K::LineComment | K::BlockComment)
}

/// A name that is not there.
pub(crate) const NO_NAME: Sym = Sym::NONE;
