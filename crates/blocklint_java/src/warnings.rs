//! Suppression by `@SuppressWarnings("blocklint:blocking-sleep")`, which applies to the whole declaration.

use blocklint_core::Span;
use blocklint_facts::{FactsBuilder, Form, Suppression, SuppressionKind, Sym};
use memchr::memmem;
use tree_sitter::Node;

use crate::annotations::last_name;
use crate::kinds::{K, child, fields, kind};
use crate::walker::span;

const NAME: &str = "blocklint";

/// Adds the suppressions of the annotations. `"blocklint"` without a rule suppresses all rules. A string that is almost
/// one of blocklint's (`"BLT101"`, `"Blocklint:BLT101"`) is a malformed suppression.
pub(crate) fn add_suppress_warnings(facts: &mut FactsBuilder, source: &[u8], root: Node<'_>) {
    // One search for the name of the annotation is faster than one for each spelling of its strings.
    for name_offset in memmem::find_iter(source, b"SuppressWarnings") {
        let Some(node) = annotation_at(source, root, name_offset) else { continue };
        let Some(declaration_span) = declaration_span(node) else { continue };
        let (start, end) = (node.start_byte(), node.end_byte());
        let mut from = start;
        while let Some(open) = memchr::memchr(b'"', &source[from..end]).map(|at| from + at) {
            let close = source[open + 1..end].iter().position(|byte| matches!(byte, b'"' | b'\n'));
            let Some(close) = close.map(|at| open + 1 + at) else { break };
            from = close + 1;
            let written = String::from_utf8_lossy(&source[open + 1..close]).into_owned();
            let Some((kind, rule)) = parse_warning(written.trim()) else { continue };
            let words = rule.map(|rule| {
                let rule = facts.intern_literal(rule);
                facts.form(Form::Str(rule))
            });
            let rules = facts.list(words.as_slice());
            let reason = match kind {
                SuppressionKind::Malformed => facts.intern_literal(&format!("\"{written}\"")),
                _ => Sym::NONE,
            };
            let comment = Span::new(open as u32, close as u32 + 1);
            facts.suppression(Suppression { kind, rules, reason, comment, covered_span: declaration_span });
        }
    }
}

/// Parses one string of the annotation. Returns its kind and its rule; `None` for a warning of another tool.
fn parse_warning(written: &str) -> Option<(SuppressionKind, Option<&str>)> {
    let is_code = |text: &str| {
        let number = text.get(..3).filter(|head| head.eq_ignore_ascii_case("BLT")).map(|_| &text[3..]);
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let malformed = Some((SuppressionKind::Malformed, None));
    let Some((head, rest)) = written.split_at_checked(NAME.len()).filter(|(head, _)| head.eq_ignore_ascii_case(NAME))
    else {
        return if is_code(written) { malformed } else { None };
    };
    match rest.strip_prefix(':').map(str::trim) {
        // `blocklinter:…` is another tool.
        None if rest.starts_with(|c: char| c.is_alphanumeric()) => None,
        _ if head != NAME => malformed,
        Some(rule) if rule.is_empty() || rule.contains([',', ' ', '[', '(']) => malformed,
        Some(rule) => Some((SuppressionKind::Ignore, Some(rule))),
        None if rest.is_empty() => Some((SuppressionKind::Ignore, None)),
        None => malformed,
    }
}

/// Returns the annotation `@SuppressWarnings` whose name begins at an offset.
fn annotation_at<'t>(source: &[u8], root: Node<'t>, offset: usize) -> Option<Node<'t>> {
    let mut node = root.descendant_for_byte_range(offset, offset + 1)?;
    while kind(node) != K::Annotation {
        node = node.parent()?;
    }
    let name = last_name(child(node, fields().name)?);
    (name.start_byte() == offset && source.get(name.byte_range()) == Some(b"SuppressWarnings")).then_some(node)
}

/// Returns the span of the declaration that has an annotation.
fn declaration_span(annotation: Node<'_>) -> Option<Span> {
    let modifiers = annotation.parent().filter(|parent| kind(*parent) == K::Modifiers)?;
    modifiers.parent().map(span)
}
