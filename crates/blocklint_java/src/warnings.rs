//! `@SuppressWarnings("blocklint:blocking-sleep")`: a comment that the language knows, for the whole declaration.

use blocklint_core::Span;
use blocklint_facts::{FactsBuilder, Form, Suppression, SuppressionKind, Sym};
use memchr::memmem;
use tree_sitter::Node;

use crate::annotations::last_name;
use crate::kinds::{K, child, fields, kind};
use crate::walker::span;

const WORD: &[u8] = b"\"blocklint";

/// Records what annotations silence. `"blocklint"` alone is like a comment that names no rule.
pub(crate) fn suppressed_warnings(facts: &mut FactsBuilder, source: &[u8], root: Node<'_>) {
    for at in memmem::find_iter(source, WORD) {
        let end = source[at + 1..].iter().position(|byte| matches!(byte, b'"' | b'\n'));
        let Some(end) = end.map(|end| at + 1 + end) else { return };
        let said = String::from_utf8_lossy(&source[at + WORD.len()..end]).into_owned();
        let Some(declaration) = declaration(source, root, at) else { continue };
        let rule = match said.strip_prefix(':').map(str::trim) {
            Some("") => continue,
            Some(rule) => Some(rule),
            None if said.is_empty() => None,
            // `blocklinter:…` is another tool.
            None => continue,
        };
        let words = rule.map(|rule| {
            let rule = facts.intern_literal(rule);
            facts.form(Form::Str(rule))
        });
        let rules = facts.list(words.as_slice());
        facts.suppression(Suppression {
            kind: SuppressionKind::Ignore,
            rules,
            reason: Sym::NONE,
            comment: Span::new(at as u32, end as u32 + 1),
            line: declaration,
        });
    }
}

/// What the annotation stands before that holds a string at an offset.
fn declaration(source: &[u8], root: Node<'_>, at: usize) -> Option<Span> {
    let mut node = root.descendant_for_byte_range(at, at + 1)?;
    while kind(node) != K::Annotation {
        node = node.parent()?;
    }
    let name = last_name(child(node, fields().name)?);
    if source.get(name.byte_range()) != Some(b"SuppressWarnings") {
        return None;
    }
    let modifiers = node.parent().filter(|parent| kind(*parent) == K::Modifiers)?;
    modifiers.parent().map(span)
}
