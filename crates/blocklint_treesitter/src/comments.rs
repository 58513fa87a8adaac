//! blocklint's comments in a file: directives (`// blocklint: ignore`), and comments that say that a call blocks on
//! purpose.

use blocklint_core::Span;
use blocklint_facts::{
    Directive, FactsBuilder, Form, FormId, Suppression, SuppressionKind, Sym, covered_line, find_directives,
    parse_directive, states_intent,
};
use memchr::memmem;
use tree_sitter::Node;

use crate::walk::span;

/// Records the directives of a file. Finds their words in the text first, then checks in the tree if the words are in a
/// comment.
pub fn record_directives(
    facts: &mut FactsBuilder,
    source: &[u8],
    root: Node<'_>,
    is_comment: impl Fn(Node<'_>) -> bool,
) {
    let mut next = 0;
    for offset in word_offsets(source) {
        if offset < next {
            continue;
        }
        let Some(node) = comment_at(root, offset, &is_comment) else { continue };
        let Some((part, end)) = directive_part(source, node, offset) else { continue };
        let text = String::from_utf8_lossy(&source[offset..end]);
        let parsed = parse_directive(&text).or_else(|| is_own_noqa(&text).then(|| Directive::malformed(text.trim())));
        let Some(mut parsed) = parsed else { continue };
        next = part.end as usize;
        let rules: Vec<FormId> = parsed
            .rules
            .iter()
            .map(|rule| {
                let rule = facts.intern_literal(rule);
                facts.form(Form::Str(rule))
            })
            .collect();
        let rules = facts.list(&rules);
        let reason = if parsed.reason.is_empty() { Sym::NONE } else { facts.intern(parsed.reason) };
        let whole = Span::new(node.start_byte() as u32, trimmed_end(source, node) as u32);
        let governed = add_definition_line(source, root, covered_line(source, whole, b"//"));
        let line = parsed.resolve_lines(begins_line(source, node.start_byte()), governed, source.len());
        facts.suppression(Suppression { kind: parsed.kind, rules, reason, comment: part, covered_span: line });
    }
}

/// Returns the offsets of the words with which directives begin, in order.
fn word_offsets(source: &[u8]) -> Vec<usize> {
    let mut offsets: Vec<usize> = find_directives(source).into_iter().map(|offset| offset as usize).collect();
    offsets.extend(memmem::find_iter(source, b"noqa"));
    offsets.sort_unstable();
    offsets
}

/// True for `noqa` with a rule of blocklint (`noqa: BLT101`), which is the form of Python's linters.
fn is_own_noqa(text: &str) -> bool {
    let codes = text.strip_prefix("noqa").and_then(|rest| rest.trim_start().strip_prefix(':'));
    codes.is_some_and(|codes| codes.contains("BLT"))
}

/// Returns the part of a comment with the directive whose word is at an offset, from its marker (`//`), and the end of
/// the directive's text. `None` if the word is not at the beginning of the comment, behind a further `//`, or at the
/// beginning of a line of a block comment.
fn directive_part(source: &[u8], comment: Node<'_>, offset: usize) -> Option<(Span, usize)> {
    let (start, comment_end) = (comment.start_byte(), trimmed_end(source, comment));
    let line_start =
        source[start..offset].iter().rposition(|&byte| byte == b'\n').map_or(start, |line| start + line + 1);
    let line_end = memchr::memchr(b'\n', &source[offset..comment_end]).map_or(comment_end, |line| offset + line);
    let is_sign = |byte: &u8| matches!(byte, b'/' | b'*' | b'!' | b' ' | b'\t');
    if source[start..comment_end].starts_with(b"/*") {
        if !source[line_start..offset].iter().all(is_sign) {
            return None;
        }
        let text = source[offset..line_end].trim_ascii_end();
        let end = offset + text.strip_suffix(b"*/").unwrap_or(text).trim_ascii_end().len();
        let is_whole = line_start == start && line_end == comment_end;
        let part = if is_whole { start..comment_end } else { offset..end };
        return Some((Span::new(part.start as u32, part.end as u32), end));
    }
    let mut marker = line_start + memmem::rfind(&source[line_start..offset], b"//")?;
    if !source[marker..offset].iter().all(is_sign) {
        return None;
    }
    // A document comment has three slashes.
    while marker > start && source[marker - 1] == b'/' {
        marker -= 1;
    }
    // The reason of a directive may contain `//`, for example in a URL.
    let next = memmem::find_iter(&source[offset..line_end], b" //").find(|&next| {
        let text = String::from_utf8_lossy(&source[offset + next + 3..line_end]);
        parse_directive(&text).is_some() || text.trim_start().starts_with(|c: char| c.is_ascii_uppercase())
    });
    let end = next.map_or(line_end, |next| offset + next);
    let end = offset + source[offset..end].trim_ascii_end().len();
    Some((Span::new(marker as u32, end as u32), end))
}

/// Returns the lines of a comment, with the line of the definition's name if the comment is in the header of a
/// definition, so that the comment applies to the whole body.
fn add_definition_line(source: &[u8], root: Node<'_>, lines: Span) -> Span {
    let text = &source[lines.start as usize..lines.end as usize];
    let first = lines.start as usize + (text.len() - text.trim_ascii_start().len());
    let Some(mut node) = root.descendant_for_byte_range(first, first + 1) else { return lines };
    loop {
        let (name, body) = (node.child_by_field_name("name"), node.child_by_field_name("body"));
        if let (Some(name), Some(body)) = (name, body) {
            // The bracket that opens the body is the last of the header.
            let is_header = first <= body.start_byte();
            let name = covered_line(source, span(name), b"//");
            return if is_header { Span::new(lines.start.min(name.start), lines.end.max(name.end)) } else { lines };
        }
        // An attribute is a sibling before the item that it belongs to.
        let next = match node.kind() {
            "attribute_item" => node.next_named_sibling(),
            _ => node.parent(),
        };
        let Some(next) = next else { return lines };
        node = next;
    }
}

/// Records the comments on lines of their own in which authors say that the following code blocks on purpose.
pub fn record_intent_comments(
    facts: &mut FactsBuilder,
    source: &[u8],
    root: Node<'_>,
    is_comment: impl Fn(Node<'_>) -> bool,
) {
    let mut next = 0;
    for offset in memmem::find_iter(source, b"//") {
        // The marker is inside of a comment that was read, or behind code.
        if offset < next || !begins_line(source, offset) {
            continue;
        }
        let end = memchr::memchr(b'\n', &source[offset..]).map_or(source.len(), |line| offset + line);
        next = end;
        let text = source[offset..end].trim_ascii_end();
        if !states_intent(&String::from_utf8_lossy(text)) || comment_at(root, offset, &is_comment).is_none() {
            continue;
        }
        let comment = Span::new(offset as u32, (offset + text.len()) as u32);
        let line = covered_line(source, comment, b"//");
        let rules = facts.list(&[]);
        facts.suppression(Suppression {
            kind: SuppressionKind::Meant,
            rules,
            reason: Sym::NONE,
            comment,
            covered_span: line,
        });
    }
}

/// True if only blanks are before an offset on its line.
fn begins_line(source: &[u8], offset: usize) -> bool {
    let before = source[..offset].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
    before.is_none_or(|&byte| byte == b'\n')
}

/// Returns the comment that contains an offset.
fn comment_at<'t>(root: Node<'t>, offset: usize, is_comment: &impl Fn(Node<'_>) -> bool) -> Option<Node<'t>> {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if is_comment(node) {
            return (span(node).contains_offset(offset as u32)).then_some(node);
        }
        cursor.goto_first_child_for_byte(offset)?;
    }
}

/// Returns the end of a comment's text without the line end, which the node of a doc comment includes.
fn trimmed_end(source: &[u8], node: Node<'_>) -> usize {
    let mut end = node.end_byte();
    while end > node.start_byte() && matches!(source[end - 1], b'\n' | b'\r') {
        end -= 1;
    }
    end
}
