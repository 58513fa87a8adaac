//! blocklint's comments in a file.

use blocklint_core::Span;
use blocklint_facts::{
    Directive, FactsBuilder, Form, FormId, Suppression, SuppressionKind, Sym, covered_line, find_directives,
    parse_directive, states_intent,
};
use memchr::memmem;
use tree_sitter::Node;

use crate::walk::span;

/// Records the directives of a file. Finds them by their words, then asks the tree whether these stand in a comment.
pub fn comments(facts: &mut FactsBuilder, source: &[u8], root: Node<'_>, is_comment: impl Fn(Node<'_>) -> bool) {
    let mut from = 0;
    for at in places(source) {
        if at < from {
            continue;
        }
        let Some(node) = comment_at(root, at, &is_comment) else { continue };
        let Some((part, end)) = part_at(source, node, at) else { continue };
        let text = String::from_utf8_lossy(&source[at..end]);
        let read = parse_directive(&text).or_else(|| is_noqa_of_ours(&text).then(|| Directive::malformed(text.trim())));
        let Some(mut read) = read else { continue };
        from = part.end as usize;
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
        let whole = Span::new(node.start_byte() as u32, trimmed_end(source, node) as u32);
        let governed = with_definition(source, root, covered_line(source, whole, b"//"));
        let line = read.resolve_lines(begins_line(source, node.start_byte()), governed, source.len());
        facts.suppression(Suppression { kind: read.kind, rules, reason, comment: part, line });
    }
}

/// Returns the offsets of the words by which directives are known, in order.
fn places(source: &[u8]) -> Vec<usize> {
    let mut all: Vec<usize> = find_directives(source).into_iter().map(|at| at as usize).collect();
    all.extend(memmem::find_iter(source, b"noqa"));
    all.sort_unstable();
    all
}

/// True for `noqa: BLT101`, which is a comment of Python's linters.
fn is_noqa_of_ours(text: &str) -> bool {
    let codes = text.strip_prefix("noqa").and_then(|rest| rest.trim_start().strip_prefix(':'));
    codes.is_some_and(|codes| codes.contains("BLT"))
}

/// Returns the part of a comment that begins with the word at an offset, from its marker, and the end of its text. The word
/// stands behind the comment's marker, behind a further `//`, or at the beginning of a line of a block comment.
fn part_at(source: &[u8], comment: Node<'_>, at: usize) -> Option<(Span, usize)> {
    let (start, comment_end) = (comment.start_byte(), trimmed_end(source, comment));
    let line_start = source[start..at].iter().rposition(|&byte| byte == b'\n').map_or(start, |line| start + line + 1);
    let line_end = memchr::memchr(b'\n', &source[at..comment_end]).map_or(comment_end, |line| at + line);
    let is_sign = |byte: &u8| matches!(byte, b'/' | b'*' | b'!' | b' ' | b'\t');
    if source[start..comment_end].starts_with(b"/*") {
        if !source[line_start..at].iter().all(is_sign) {
            return None;
        }
        let text = source[at..line_end].trim_ascii_end();
        let end = at + text.strip_suffix(b"*/").unwrap_or(text).trim_ascii_end().len();
        let is_whole = line_start == start && line_end == comment_end;
        let part = if is_whole { start..comment_end } else { at..end };
        return Some((Span::new(part.start as u32, part.end as u32), end));
    }
    let mut marker = line_start + memmem::rfind(&source[line_start..at], b"//")?;
    if !source[marker..at].iter().all(is_sign) {
        return None;
    }
    // A document comment has three slashes.
    while marker > start && source[marker - 1] == b'/' {
        marker -= 1;
    }
    // A reason may hold `//` itself, as addresses do.
    let next = memmem::find_iter(&source[at..line_end], b" //").find(|&next| {
        let text = String::from_utf8_lossy(&source[at + next + 3..line_end]);
        parse_directive(&text).is_some() || text.trim_start().starts_with(|c: char| c.is_ascii_uppercase())
    });
    let end = next.map_or(line_end, |next| at + next);
    let end = at + source[at..end].trim_ascii_end().len();
    Some((Span::new(marker as u32, end as u32), end))
}

/// Returns the lines, and with them that of the name of the definition in whose header they stand, so that a comment there
/// speaks for the body.
fn with_definition(source: &[u8], root: Node<'_>, lines: Span) -> Span {
    let text = &source[lines.start as usize..lines.end as usize];
    let first = lines.start as usize + (text.len() - text.trim_ascii_start().len());
    let Some(mut node) = root.descendant_for_byte_range(first, first + 1) else { return lines };
    loop {
        let (name, body) = (node.child_by_field_name("name"), node.child_by_field_name("body"));
        if let (Some(name), Some(body)) = (name, body) {
            // The bracket that opens the body is the last of the header.
            let is_header = first <= body.start_byte();
            let name = covered_line(source, span(name), b"//");
            return match is_header {
                true => Span::new(lines.start.min(name.start), lines.end.max(name.end)),
                false => lines,
            };
        }
        // Attributes stand beside what they are of.
        let next = match node.kind() {
            "attribute_item" => node.next_named_sibling(),
            _ => node.parent(),
        };
        let Some(next) = next else { return lines };
        node = next;
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
        if !states_intent(&String::from_utf8_lossy(text)) || comment_at(root, at, &is_comment).is_none() {
            continue;
        }
        let comment = Span::new(at as u32, (at + text.len()) as u32);
        let line = covered_line(source, comment, b"//");
        let rules = facts.list(&[]);
        facts.suppression(Suppression { kind: SuppressionKind::Meant, rules, reason: Sym::NONE, comment, line });
    }
}

/// True if nothing but space stands before an offset on its line.
fn begins_line(source: &[u8], at: usize) -> bool {
    let before = source[..at].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
    before.is_none_or(|&byte| byte == b'\n')
}

/// Returns the comment that holds an offset.
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

/// Returns the end of a comment's text: a doc comment's node takes its line end along.
fn trimmed_end(source: &[u8], node: Node<'_>) -> usize {
    let mut end = node.end_byte();
    while end > node.start_byte() && matches!(source[end - 1], b'\n' | b'\r') {
        end -= 1;
    }
    end
}
