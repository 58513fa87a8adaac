//! Comments that silence rules or make a promise.

use blocklint_core::Span;
use blocklint_facts::{Directive, FactsBuilder, Form, FormId, List, Suppression, SuppressionKind, Sym, directive};
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

/// How much of a comment is read, in bytes.
const LONGEST: usize = 2_000;

/// Calls `found` for each part of the comment, which begins with `#`, that says something.
fn directives<'a>(comment: &'a str, mut found: impl FnMut(Directive<'a>)) {
    // A line of a million `#` is no place for a directive.
    let mut rest = &comment[..comment.floor_char_boundary(LONGEST)];
    while let Some(at) = memchr::memchr(b'#', rest.as_bytes()) {
        rest = &rest[at + 1..];
        if let Some(directive) = one(&rest[..part_end(rest)]) {
            found(directive);
        }
    }
}

/// Where the next part begins that says something to some tool: a reason may hold a `#` itself.
fn part_end(rest: &str) -> usize {
    memchr::memchr_iter(b'#', rest.as_bytes())
        .find(|&at| {
            let next = rest[at + 1..].trim_start();
            one(next).is_some() || next.starts_with("type:") || next.starts_with("pragma")
        })
        .unwrap_or(rest.len())
}

/// Reads one part: blocklint's own words, or `noqa` as flake8 and ruff have it.
fn one(part: &str) -> Option<Directive<'_>> {
    if let Some(directive) = directive(part) {
        return Some(directive);
    }
    let rest = strip_noqa(part.trim_start())?;
    let Some(mut rest) = rest.trim_start().strip_prefix(':') else {
        return Some(Directive { kind: SuppressionKind::Noqa, rules: Vec::new(), reason: rest.trim() });
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
    Some(Directive { kind: SuppressionKind::Noqa, rules, reason: rest.trim() })
}

/// `BLT101`, or a name with a hyphen.
fn is_rule(word: &str) -> bool {
    let code = word.len() >= 2
        && word.as_bytes()[0].is_ascii_alphabetic()
        && word.as_bytes()[word.len() - 1].is_ascii_digit()
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    code || (word.contains('-') && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
}

/// The text behind `noqa`, in any case.
fn strip_noqa(text: &str) -> Option<&str> {
    let (head, rest) = (text.get(..4)?, &text[4..]);
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (head.eq_ignore_ascii_case("noqa") && ends).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kind, rules and reason of each directive.
    fn all(comment: &str) -> Vec<(SuppressionKind, Vec<String>, String)> {
        let mut found = Vec::new();
        directives(comment, |directive| {
            let rules = directive.rules.iter().map(|&rule| rule.to_owned()).collect();
            found.push((directive.kind, rules, directive.reason.to_owned()));
        });
        found
    }

    fn single(comment: &str) -> (SuppressionKind, String, String) {
        let mut found = all(comment);
        assert_eq!(found.len(), 1, "{comment}: {found:?}");
        let (kind, rules, reason) = found.remove(0);
        (kind, rules.join(" "), reason)
    }

    #[test]
    fn rules_and_reasons() {
        use SuppressionKind::{Ignore, Nonblocking, Noqa};
        for (comment, kind, rules, reason) in [
            ("# blocklint: ignore", Ignore, "", ""),
            ("#blocklint:ignore[BLT101]", Ignore, "BLT101", ""),
            (
                "# Blocklint: ignore[ BLT101,blocking-file , ] start-up only",
                Ignore,
                "BLT101 blocking-file",
                "start-up only",
            ),
            ("# blocklint: ignore[BLT101]: see #12 -- once", Ignore, "BLT101", "see #12 -- once"),
            ("# blocklint: ignore -- legacy (rewritten soon)", Ignore, "", "legacy (rewritten soon)"),
            ("# blocklint: nonblocking, called per frame", Nonblocking, "", "called per frame"),
            ("# noqa", Noqa, "", ""),
            ("#NOQA:E501", Noqa, "E501", ""),
            ("# noqa: BLT101 , ASYNC251,F401 because", Noqa, "BLT101 ASYNC251 F401", "because"),
            ("# noqa:BLT101 blocking-file", Noqa, "BLT101 blocking-file", ""),
            ("# see below # noqa", Noqa, "", ""),
        ] {
            assert_eq!(single(comment), (kind, rules.to_owned(), reason.to_owned()), "{comment}");
        }
    }

    #[test]
    fn several_in_one_comment() {
        let found = all("# type: ignore  # noqa: E501 long  # blocklint: ignore[BLT102] why  # pragma: no cover");
        assert_eq!(
            found,
            [
                (SuppressionKind::Noqa, vec!["E501".to_owned()], "long".to_owned()),
                (SuppressionKind::Ignore, vec!["BLT102".to_owned()], "why".to_owned()),
            ]
        );
    }

    #[test]
    fn what_only_looks_like_one_says_nothing() {
        for comment in [
            "# flake8: noqa",
            "# ruff: noqa: E501",
            "# noqa: because",
            "# noqall",
            "# about noqa",
            "# blocklint",
            "# blocklint: ignored",
            "# blocklint: ignore[BLT101",
            "# blocklint ignore",
        ] {
            assert_eq!(all(comment), [], "{comment}");
        }
    }
}
