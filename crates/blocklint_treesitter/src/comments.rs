//! blocklint's comments in a file.

use blocklint_core::Span;
use blocklint_facts::{FactsBuilder, Form, FormId, Suppression, SuppressionKind, Sym, directive, is_meant, lines_of};
use memchr::memmem;
use tree_sitter::Node;

use crate::walk::span;

const WORD: &str = "blocklint";

/// Records the directives of a file. Finds the comments by their word, then asks the tree whether it stands in one.
pub fn comments(facts: &mut FactsBuilder, source: &[u8], root: Node<'_>, is_comment: impl Fn(Node<'_>) -> bool) {
    let mut from = 0;
    while let Some(at) = memmem::find(&source[from..], WORD.as_bytes()).map(|at| from + at) {
        from = at + WORD.len();
        let Some(node) = comment_at(root, at, &is_comment) else { continue };
        let text = String::from_utf8_lossy(source.get(node.byte_range()).unwrap_or_default());
        let inner = text.trim_start_matches('/').trim_start_matches('*').trim_end_matches('/').trim_end_matches('*');
        let Some(mut read) = directive(inner.trim_start_matches(['/', '*', '!'])) else { continue };
        // A comment that says it twice says it once.
        from = from.max(node.end_byte());
        let comment = Span::new(node.start_byte() as u32, trimmed_end(source, node) as u32);
        let rules: Vec<FormId> = read
            .rules
            .iter()
            .map(|rule| {
                let rule = facts.intern_literal(rule);
                facts.form(Form::Str(rule))
            })
            .collect();
        let rules = facts.list(&rules);
        let reason = if read.reason.is_empty() { Sym::NONE } else { facts.intern(read.reason) };
        let line = read.lines(begins_line(source, node.start_byte()), lines_of(source, comment, b"//"), source.len());
        facts.suppression(Suppression { kind: read.kind, rules, reason, comment, line });
    }
}

/// Records the comments on lines of their own in which authors say that what follows holds its thread on purpose.
pub fn meant(facts: &mut FactsBuilder, source: &[u8], root: Node<'_>, is_comment: impl Fn(Node<'_>) -> bool) {
    let mut from = 0;
    for at in memmem::find_iter(source, b"//") {
        // Within a comment already, or behind code.
        if at < from || !begins_line(source, at) {
            continue;
        }
        let end = memchr::memchr(b'\n', &source[at..]).map_or(source.len(), |line| at + line);
        from = end;
        let text = source[at..end].trim_ascii_end();
        if !is_meant(&String::from_utf8_lossy(text)) || comment_at(root, at, &is_comment).is_none() {
            continue;
        }
        let comment = Span::new(at as u32, (at + text.len()) as u32);
        let line = lines_of(source, comment, b"//");
        let rules = facts.list(&[]);
        facts.suppression(Suppression { kind: SuppressionKind::Meant, rules, reason: Sym::NONE, comment, line });
    }
}

/// Whether nothing but space stands before an offset on its line.
fn begins_line(source: &[u8], at: usize) -> bool {
    let before = source[..at].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
    before.is_none_or(|&byte| byte == b'\n')
}

/// The comment that holds an offset.
fn comment_at<'t>(root: Node<'t>, at: usize, is_comment: &impl Fn(Node<'_>) -> bool) -> Option<Node<'t>> {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if is_comment(node) {
            return (span(node).contains_offset(at as u32)).then_some(node);
        }
        cursor.goto_first_child_for_byte(at)?;
    }
}

/// The end of a comment's text: a doc comment's node takes its line end along.
fn trimmed_end(source: &[u8], node: Node<'_>) -> usize {
    let mut end = node.end_byte();
    while end > node.start_byte() && matches!(source[end - 1], b'\n' | b'\r') {
        end -= 1;
    }
    end
}
