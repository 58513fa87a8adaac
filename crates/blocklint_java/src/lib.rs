//! Java to facts: one parse, one walk, nothing but the file's bytes.
//!
//! How the language's shapes stand in the facts is told in `docs/facts.md`.

mod annotations;
mod branches;
mod calls;
mod classes;
mod comments;
mod exprs;
mod imports;
mod kinds;
mod literals;
mod members;
mod scope;
mod statements;
mod types;
mod walker;

use blocklint_core::{Language, Span};
use blocklint_facts::{
    Body, BodyFlags, BodyId, BodyKind, ClassId, FactsBuilder, FileFacts, Flow, FormId, List, RegionId, Sym, VarId,
};
use tree_sitter::{Node, Parser};

use crate::scope::Scopes;
use crate::walker::Walker;

/// The facts of one Java file. What does not parse is left out, with one problem that says where it starts. Never
/// fails; deep nesting is followed to a bound, for which a stack of 16 MiB is
/// enough in any build.
pub fn extract(bytes: &[u8]) -> FileFacts {
    extract_watched(bytes, || {})
}

/// As [`extract`]; calls `parsed` once the tree stands, for timings.
pub fn extract_watched(bytes: &[u8], parsed: impl FnOnce()) -> FileFacts {
    let mut facts = FactsBuilder::new(Language::Java, bytes);
    let whole = Span::new(0, bytes.len() as u32);
    let name = facts.intern("");
    let body = facts.body(Body {
        kind: BodyKind::Module,
        flow: Flow::Sync,
        flags: BodyFlags::default(),
        name,
        parent: BodyId::NONE,
        class: ClassId::NONE,
        params: List::EMPTY,
        decorators: List::EMPTY,
        returns: FormId::NONE,
        span: whole,
        name_span: Span::new(0, 0),
        region: RegionId::NONE,
        var: VarId::NONE,
    });
    let mut parser = Parser::new();
    let tree = match parser.set_language(&kinds::grammar()) {
        Ok(()) => parser.parse(bytes, None),
        Err(_) => None,
    };
    let Some(tree) = tree else {
        facts.problem(whole, "the file could not be parsed".to_owned());
        return facts.finish();
    };
    parsed();
    let root = tree.root_node();
    let region = facts.facts().body(body).region;
    let mut walker = Walker {
        facts,
        source: bytes,
        scopes: Scopes::default(),
        body,
        region,
        class: ClassId::NONE,
        members: rustc_hash::FxHashMap::default(),
        depth: 0,
        too_deep: false,
        yields: Vec::new(),
    };
    if let Err(error) = std::str::from_utf8(bytes) {
        let at = error.valid_up_to() as u32;
        walker.facts.problem(Span::new(at, at + 1), "a byte here is not valid UTF-8".to_owned());
    }
    if let Some(error) = first_error(root) {
        let message = "syntax error; the rest of the file was read".to_owned();
        walker.facts.problem(walker::span(error), message);
    }
    walker.scopes.push();
    walker.file(root);
    walker.comments(root);
    walker.facts.finish()
}

/// The first part that did not parse.
fn first_error(root: Node<'_>) -> Option<Node<'_>> {
    if !root.has_error() {
        return None;
    }
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            return Some(node);
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(root);
            }
        }
    }
}

/// A name that is not there.
pub(crate) const NO_NAME: Sym = Sym::NONE;
