//! Parses a file and begins its facts: the tree, the body of the top level, and the problems of the text.

use blocklint_core::{Language, Span};
use blocklint_facts::{
    Body, BodyFlags, BodyId, BodyKind, ClassId, FactsBuilder, FileFacts, Flow, FormId, List, RegionId, VarId,
};
use tree_sitter::{Node, Parser, Tree};

use crate::walk::{Walk, span};

/// A parsed file.
pub struct StartedWalk<'s> {
    /// The walk, at the top level.
    pub walk: Walk<'s>,
    /// The tree.
    pub tree: Tree,
    /// The parser, with the language set.
    pub parser: Parser,
}

/// A function that works around a mistake of a grammar. It returns a text of the same length that parses instead of the
/// file's text, or `None` if it has no better text.
pub type Repair = fn(&[u8], Node<'_>) -> Option<Vec<u8>>;

/// Parses a file, and returns its walk at the top level. Calls `parsed` when the tree is made. The first syntax error
/// is one problem, bytes that are not UTF-8 are another.
///
/// # Errors
///
/// Facts with a problem and no code, if the parser returns no tree.
pub fn start_walk<'s>(
    language: Language,
    grammar: &tree_sitter::Language,
    bytes: &'s [u8],
    repair: Option<Repair>,
    parsed: impl FnOnce(),
) -> Result<StartedWalk<'s>, Box<FileFacts>> {
    let mut facts = FactsBuilder::new(language, bytes);
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
    let tree = match parser.set_language(grammar) {
        Ok(()) => parser.parse(bytes, None),
        Err(_) => None,
    };
    let tree = tree.map(|tree| match repair {
        Some(repair) => repair_tree(&mut parser, bytes, tree, repair),
        None => tree,
    });
    let Some(tree) = tree else {
        facts.problem(whole, "the file could not be parsed".to_owned());
        return Err(Box::new(facts.finish()));
    };
    parsed();
    let valid = std::str::from_utf8(bytes);
    if let Err(error) = valid {
        let offset = error.valid_up_to() as u32;
        facts.problem(Span::new(offset, offset + 1), "a byte here is not valid UTF-8".to_owned());
    }
    if let Some(error) = first_error(tree.root_node()) {
        let message = "syntax error; the rest of the file was read".to_owned();
        facts.problem(span(error), message);
    }
    let region = facts.facts().body(body).region;
    let walk =
        Walk { facts, source: bytes, valid: valid.ok(), body, region, class: ClassId::NONE, depth: 0, too_deep: false };
    Ok(StartedWalk { walk, tree, parser })
}

/// Returns the tree of the repaired text. Repairs go on while the first error moves towards the end of the text.
fn repair_tree(parser: &mut Parser, bytes: &[u8], mut tree: Tree, repair: Repair) -> Tree {
    let mut text: Option<Vec<u8>> = None;
    for _ in 0..MOST_REPAIRS {
        let Some(error) = first_error(tree.root_node()) else { break };
        let before = error.start_byte();
        let Some(next) = repair(text.as_deref().unwrap_or(bytes), tree.root_node()) else { break };
        let Some(better) = parser.parse(&next, None).filter(|_| next.len() == bytes.len()) else { break };
        if first_error(better.root_node()).is_some_and(|error| error.start_byte() < before) {
            break;
        }
        (tree, text) = (better, Some(next));
    }
    tree
}

/// The most repairs of one text.
const MOST_REPAIRS: u32 = 4;

/// Returns the first node of a tree that is an error or missing.
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
