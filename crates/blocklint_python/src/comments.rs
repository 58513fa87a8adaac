//! Comments that silence rules or make a promise.

use blocklint_core::Span;
use blocklint_facts::{FactsBuilder, Form, FormId, List, Suppression, SuppressionKind, Sym};
use ruff_python_ast::token::{Token, TokenKind, Tokens};
use ruff_text_size::{Ranged, TextSize};

use crate::walk::span;

/// Records the comments of a file.
pub(crate) fn collect(source: &str, tokens: &Tokens, facts: &mut FactsBuilder) {
    let mut last = None;
    for at in places(source.as_bytes()) {
        let offset = TextSize::new(at);
        let index = tokens.partition_point(|token| token.end() <= offset);
        let Some(token) = tokens.get(index) else { continue };
        if token.kind() != TokenKind::Comment || !token.range().contains(offset) || last == Some(index) {
            continue;
        }
        last = Some(index);
        let line = governed_line(source, tokens, index);
        directives(&source[token.range()], |directive| {
            let rules: Vec<FormId> = directive
                .rules
                .iter()
                .map(|rule| {
                    let sym = facts.intern_literal(rule);
                    facts.form(Form::Str(sym))
                })
                .collect();
            let rules = if rules.is_empty() { List::EMPTY } else { facts.list(&rules) };
            let reason = match directive.reason {
                "" => Sym::NONE,
                reason => facts.intern_literal(reason),
            };
            facts.suppression(Suppression { kind: directive.kind, rules, reason, comment: span(token.range()), line });
        });
    }
}

/// Offsets of the words that a comment of interest holds, in order.
fn places(bytes: &[u8]) -> impl Iterator<Item = u32> {
    // `q` is rare, and no other letter of `noqa` is.
    let noqa = memchr::memchr2_iter(b'q', b'Q', bytes)
        .filter(|&at| at >= 2 && bytes.get(at - 2..at + 2).is_some_and(|word| word.eq_ignore_ascii_case(b"noqa")))
        .map(|at| at as u32 - 2);
    let ours = memchr::memmem::find_iter(bytes, b"blocklint").map(|at| at as u32);
    let mut all: Vec<u32> = ours.collect();
    let sorted = all.is_empty();
    all.extend(noqa);
    if !sorted {
        all.sort_unstable();
    }
    all.into_iter()
}

/// The line the comment speaks for: its own where code precedes it, else the next that holds code.
fn governed_line(source: &str, tokens: &Tokens, comment: usize) -> Span {
    let own = line_at(source, tokens[comment].start());
    let before = &source[own.start as usize..tokens[comment].start().to_usize()];
    if !before.trim_matches(['\u{feff}', ' ', '\t', '\u{c}']).is_empty() {
        return own;
    }
    let code = |token: &&Token| {
        !matches!(
            token.kind(),
            TokenKind::Comment
                | TokenKind::NonLogicalNewline
                | TokenKind::Newline
                | TokenKind::Indent
                | TokenKind::Dedent
                | TokenKind::EndOfFile
        )
    };
    tokens[comment..].iter().find(code).map_or(own, |token| line_at(source, token.start()))
}

/// The line around an offset, without its end.
fn line_at(source: &str, offset: TextSize) -> Span {
    let offset = offset.to_usize();
    let bytes = source.as_bytes();
    let start = memchr::memrchr2(b'\n', b'\r', &bytes[..offset]).map_or(0, |at| at + 1);
    let end = memchr::memchr2(b'\n', b'\r', &bytes[offset..]).map_or(bytes.len(), |at| offset + at);
    Span::new(start as u32, end as u32)
}

/// One thing a comment says.
#[derive(Debug, PartialEq, Eq)]
struct Directive<'a> {
    kind: SuppressionKind,
    rules: Vec<&'a str>,
    reason: &'a str,
}

/// Calls `found` for each part of the comment, which begins with `#`, that says something.
fn directives<'a>(comment: &'a str, mut found: impl FnMut(Directive<'a>)) {
    let mut rest = comment;
    while let Some(at) = memchr::memchr(b'#', rest.as_bytes()) {
        rest = &rest[at + 1..];
        let part = rest.trim_start();
        let Some(directive) = directive(part) else { continue };
        found(directive);
    }
}

fn directive(part: &str) -> Option<Directive<'_>> {
    if let Some(rest) = strip_word(part, "blocklint") {
        let rest = rest.trim_start().strip_prefix(':')?.trim_start();
        if let Some(rest) = strip_word(rest, "ignore") {
            let (rules, rest) = match rest.trim_start().strip_prefix('[') {
                Some(list) => list.split_once(']')?,
                None => ("", rest),
            };
            let rules = rules.split(',').map(str::trim).filter(|rule| !rule.is_empty()).collect();
            return Some(Directive { kind: SuppressionKind::Ignore, rules, reason: reason(rest) });
        }
        let rest = strip_word(rest, "nonblocking")?;
        return Some(Directive { kind: SuppressionKind::Nonblocking, rules: Vec::new(), reason: reason(rest) });
    }
    let rest = strip_word(part, "noqa")?;
    let Some(mut rest) = rest.trim_start().strip_prefix(':') else {
        return Some(Directive { kind: SuppressionKind::Noqa, rules: Vec::new(), reason: reason(rest) });
    };
    let mut rules = Vec::new();
    loop {
        let list = rest.trim_start_matches([',', ' ', '\t']);
        let end = list.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(list.len());
        let (rule, after) = list.split_at(end);
        if !is_rule(rule) {
            break;
        }
        rules.push(rule);
        rest = after;
    }
    // `# noqa: because` names no rule: ruff and flake8 differ on it, and hiding nothing is the safer reading.
    if rules.is_empty() {
        return None;
    }
    Some(Directive { kind: SuppressionKind::Noqa, rules, reason: reason(rest) })
}

/// `BLT101`, or a name with a hyphen.
fn is_rule(word: &str) -> bool {
    let code = word.len() >= 2
        && word.as_bytes()[0].is_ascii_alphabetic()
        && word.as_bytes()[word.len() - 1].is_ascii_digit()
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    code || (word.contains('-') && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
}

/// The text behind a word (in any case) that ends there.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let head = text.get(..word.len())?;
    let rest = &text[word.len()..];
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (head.eq_ignore_ascii_case(word) && ends).then_some(rest)
}

/// What stands behind a directive, up to the next one.
fn reason(rest: &str) -> &str {
    let end = memchr::memchr_iter(b'#', rest.as_bytes())
        .find(|&at| {
            let next = rest[at + 1..].trim_start();
            directive(next).is_some() || next.starts_with("type:") || next.starts_with("pragma")
        })
        .unwrap_or(rest.len());
    rest[..end].trim_matches([' ', '\t', '-', ':', ';', '(', ')'])
}
