//! The Rust front end: extracts [`FileFacts`] from a source file by one parse and one walk, and writes fixes for its
//! calls.
//!
//! `docs/facts.md` describes how each shape of the language is represented in the facts.

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
use blocklint_treesitter::{StartedWalk, record_directives, record_intent_comments, start_walk};
use tree_sitter::Tree;

pub use crate::fixes::{
    Called, ChainPart, Chained, Sought, Unchanged, asyncify, find_mention, fix, without_unused_imports,
};
use crate::kinds::{K, grammar, kind};
use crate::scope::{ScopeKind, Scopes};
use crate::walker::Walker;

/// Returns the facts of one Rust file. Parts that do not parse are left out, with one problem at their start. Never
/// fails. Nesting is walked up to a limit, for which a stack of 16 MiB is enough in any build.
pub fn extract(bytes: &[u8]) -> FileFacts {
    extract_watched(bytes, || {})
}

/// As [`extract`]. It calls `parsed` between parsing and the walk, so that a caller can measure the time of each.
pub fn extract_watched(bytes: &[u8], parsed: impl FnOnce()) -> FileFacts {
    extract_with_tree(bytes, parsed, None).0
}

/// As [`extract`]. Also returns the time of parsing the file and dropping its tree, and the time of parsing the
/// arguments of its macros once more.
pub fn extract_timed(bytes: &[u8]) -> (FileFacts, Duration, Duration) {
    let started = Instant::now();
    let mut parsed = Duration::ZERO;
    let (facts, tree, macro_parse_time) = extract_with_tree(bytes, || parsed = started.elapsed(), Some(Duration::ZERO));
    let started = Instant::now();
    drop(tree);
    (facts, parsed + started.elapsed(), macro_parse_time.unwrap_or_default())
}

/// Returns the facts and the tree of a file, and the time of parsing macros if `macro_parse_time` is `Some`.
fn extract_with_tree(
    bytes: &[u8],
    parsed: impl FnOnce(),
    macro_parse_time: Option<Duration>,
) -> (FileFacts, Option<Tree>, Option<Duration>) {
    let StartedWalk { walk, tree, parser } =
        match start_walk(Language::Rust, &grammar(), bytes, Some(repair::without_attributes), parsed) {
            Ok(started) => started,
            Err(facts) => return (*facts, None, macro_parse_time),
        };
    let root = tree.root_node();
    let mut walker = Walker {
        walk,
        parser,
        scopes: Scopes::default(),
        is_test: false,
        macro_depth: 0,
        has_macros: false,
        deferred_arguments: rustc_hash::FxHashMap::default(),
        members: rustc_hash::FxHashMap::default(),
        pattern_start: 0,
        breaks: Vec::new(),
        owned: drops::Owned::default(),
        macro_parse_time,
    };
    walker.scopes.open(ScopeKind::Module);
    walker.walk_items(root);
    record_directives(&mut walker.facts, bytes, root, is_comment);
    record_intent_comments(&mut walker.facts, bytes, root, is_comment);
    let macro_parse_time = walker.macro_parse_time;
    (walker.walk.facts.finish(), Some(tree), macro_parse_time)
}

fn is_comment(node: tree_sitter::Node<'_>) -> bool {
    matches!(kind(node), K::LineComment | K::BlockComment)
}

/// The symbol of a missing name.
pub(crate) const NO_NAME: Sym = Sym::NONE;
