//! Suppression comments: `# blocklint: ignore[…]`, `# noqa: …`, `# ruff: ignore[…]`, `# blocklint: nonblocking`.

use blocklint_core::Span;
use blocklint_facts::{
    Directive, FactsBuilder, Form, FormId, List, Suppression, SuppressionKind, Sym, find_directives, parse_directive,
};
use ruff_python_ast::token::{Token, TokenKind, Tokens};
use ruff_text_size::{Ranged, TextRange, TextSize};

use crate::walk::span;

/// Adds the suppression comments of a file to the facts.
pub(crate) fn collect_suppressions(source: &str, tokens: &Tokens, facts: &mut FactsBuilder) {
    let mut last = None;
    for at in find_suppression_words(source.as_bytes()) {
        let offset = TextSize::new(at);
        let index = tokens.partition_point(|token| token.end() <= offset);
        let Some(token) = tokens.get(index) else { continue };
        if token.kind() != TokenKind::Comment || !token.range().contains(offset) || last == Some(index) {
            continue;
        }
        last = Some(index);
        let (is_alone, own_lines) = find_own_lines(source, tokens, index);
        let mut governed = None;
        let mut has_noqa = false;
        for_each_directive(&source[token.range()], |mut directive, part| {
            let is_noqa = directive.kind == SuppressionKind::Noqa;
            let is_bare_noqa = is_noqa && directive.rules.is_empty();
            // flake8 and ruff ignore a comment for the file behind code, and read only the first `noqa` of a comment.
            if is_noqa && directive.is_file_wide && !is_alone || is_bare_noqa && has_noqa {
                return;
            }
            has_noqa |= is_noqa;
            let line = if is_bare_noqa {
                own_lines
            } else {
                let governed =
                    *governed.get_or_insert_with(|| find_governed_lines(source, tokens, index, is_alone, own_lines));
                directive.resolve_lines(is_alone, governed, source.len())
            };
            let part = TextRange::at(token.start() + part.start(), part.len());
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
            facts.suppression(Suppression {
                kind: directive.kind,
                rules,
                reason,
                comment: span(part),
                covered_span: line,
            });
        });
    }
}

/// Returns the offsets of the words that every suppression comment contains one of (`noqa`, `blocklint`, `ruff:`), in
/// order.
fn find_suppression_words(bytes: &[u8]) -> Vec<u32> {
    // The search looks for `q`, because it is the rarest letter of `noqa`.
    let noqa = memchr::memchr2_iter(b'q', b'Q', bytes)
        .filter(|&at| at >= 2 && bytes.get(at - 2..at + 2).is_some_and(|word| word.eq_ignore_ascii_case(b"noqa")))
        .map(|at| at as u32 - 2);
    let mut offsets = find_directives(bytes);
    offsets.extend(memchr::memmem::find_iter(bytes, "ruff:").map(|at| at as u32));
    let is_sorted = offsets.is_empty();
    offsets.extend(noqa);
    if !is_sorted {
        offsets.sort_unstable();
    }
    offsets
}

/// Returns true if a comment is alone on its line, and the comment's lines: its own, and those before it that a
/// multi-line string or a backslash joins to it, because these cannot have a comment.
fn find_own_lines(source: &str, tokens: &Tokens, comment: usize) -> (bool, Span) {
    let mut lines = line_at(source, tokens[comment].start());
    let before = &source[lines.start as usize..tokens[comment].start().to_usize()];
    if before.trim_matches(['\u{feff}', ' ', '\t', '\u{c}']).is_empty() {
        return (true, lines);
    }
    // f-strings and t-strings are several tokens.
    let mut open_strings = 0_usize;
    for token in tokens[..comment].iter().rev() {
        match token.kind() {
            TokenKind::FStringEnd | TokenKind::TStringEnd => open_strings += 1,
            TokenKind::FStringStart | TokenKind::TStringStart => open_strings = open_strings.saturating_sub(1),
            _ if open_strings > 0 => continue,
            _ if token.end().to_u32() <= lines.start => {
                let between = &source[token.end().to_usize()..lines.start as usize];
                if !between.trim_start_matches([' ', '\t', '\u{c}']).starts_with('\\') {
                    break;
                }
            }
            _ => {}
        }
        if open_strings == 0 && token.start().to_u32() < lines.start {
            lines.start = line_at(source, token.start()).start;
        }
    }
    (false, lines)
}

/// Returns the lines to which a comment with rules applies: its own if code precedes it, else the next line with code.
/// At the header of a definition (`@decorator`) they reach to the line of its name, so that it applies to the body.
fn find_governed_lines(source: &str, tokens: &Tokens, comment: usize, is_alone: bool, own_lines: Span) -> Span {
    let is_code = |token: &&Token| !is_trivia(token.kind());
    let (lines, index) = if is_alone {
        match tokens[comment..].iter().position(|token| is_code(&token)) {
            Some(distance) => (line_at(source, tokens[comment + distance].start()), comment + distance),
            None => return own_lines,
        }
    } else {
        (own_lines, comment)
    };
    find_definition_line(source, tokens, index)
        .map_or(lines, |name| Span::new(lines.start.min(name.start), lines.end.max(name.end)))
}

/// Returns the line of the `def` or `class` whose header (from the first decorator to the colon) contains this token.
fn find_definition_line(source: &str, tokens: &Tokens, index: usize) -> Option<Span> {
    let mut start =
        tokens[..index].iter().rposition(|token| token.kind() == TokenKind::Newline).map_or(0, |end| end + 1);
    loop {
        start += tokens[start..].iter().position(|token| !is_trivia(token.kind()))?;
        let kind = tokens[start].kind();
        let is_async = kind == TokenKind::Async;
        let after = if is_async { tokens.get(start + 1)?.kind() } else { kind };
        match after {
            TokenKind::Def | TokenKind::Class => return Some(line_at(source, tokens[start].start())),
            TokenKind::At if !is_async => {
                start += tokens[start..].iter().position(|token| token.kind() == TokenKind::Newline)? + 1;
            }
            _ => return None,
        }
    }
}

/// True if a token is a comment, a line end or indentation.
fn is_trivia(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Comment
            | TokenKind::NonLogicalNewline
            | TokenKind::Newline
            | TokenKind::Indent
            | TokenKind::Dedent
            | TokenKind::EndOfFile
    )
}

/// Returns the line around an offset, without its end.
fn line_at(source: &str, offset: TextSize) -> Span {
    let offset = offset.to_usize();
    let bytes = source.as_bytes();
    let start = memchr::memrchr2(b'\n', b'\r', &bytes[..offset]).map_or(0, |at| at + 1);
    let end = memchr::memchr2(b'\n', b'\r', &bytes[offset..]).map_or(bytes.len(), |at| offset + at);
    Span::new(start as u32, end as u32)
}

/// Bytes of a comment that are read.
const LONGEST: usize = 2_000;

/// Calls `visit` with each directive of a comment and its range in the comment. A directive begins with a `#`.
fn for_each_directive<'a>(comment: &'a str, mut visit: impl FnMut(Directive<'a>, TextRange)) {
    // A line of a million `#` is no place for a directive.
    let comment = &comment[..comment.floor_char_boundary(LONGEST)];
    let mut from = 0;
    while let Some(start) = memchr::memchr(b'#', &comment.as_bytes()[from..]).map(|start| from + start) {
        from = start + 1;
        let part = &comment[from..];
        let part = &part[..find_part_end(part)];
        if let Some(directive) = parse_own_or_noqa(part) {
            let end = from + part.trim_end().len();
            visit(directive, TextRange::new(TextSize::new(start as u32), TextSize::new(end as u32)));
        }
    }
}

/// Returns the offset of the `#` that begins the next directive, of blocklint or of another tool. Any other `#` is part
/// of the reason (`see #12`).
fn find_part_end(rest: &str) -> usize {
    memchr::memchr_iter(b'#', rest.as_bytes())
        .find(|&at| {
            let next = rest[at + 1..].trim_start();
            parse_own_or_noqa(next).is_some() || is_tool_comment(next)
        })
        .unwrap_or(rest.len())
}

/// True if the text behind a `#` is a directive of some tool: `type: ignore`, `fmt: off`, `nosec`.
fn is_tool_comment(text: &str) -> bool {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '@'))).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let is_word = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '@');
    is_word && (rest.starts_with(':') || matches!(word, "pragma" | "nosec" | "NOSONAR" | "nopep8"))
}

/// Parses one directive: one of blocklint's own, or the `noqa` of flake8 and ruff.
fn parse_own_or_noqa(part: &str) -> Option<Directive<'_>> {
    if let Some(directive) = parse_directive(part) {
        return Some(directive);
    }
    if let Some(directive) = parse_ruff_ignore(part.trim_start()) {
        return Some(directive);
    }
    // `# flake8: noqa: BLT101` and `# ruff: noqa: BLT101` apply to the file.
    let tool = ["flake8", "ruff"].iter().find_map(|tool| strip_tool(part.trim_start(), tool));
    let is_file_wide = tool.is_some();
    let rest = strip_noqa(tool.unwrap_or(part.trim_start()))?;
    let Some(mut rest) = rest.trim_start().strip_prefix(':') else {
        // `# flake8: noqa` without codes applies to that tool only. `# noqa E501` means a rule of another tool, and in
        // `# noqa is not needed here` the word begins a sentence.
        let (rules, reason) = (Vec::new(), rest.trim());
        let is_bare = reason.is_empty() || rest.starts_with([' ', '\t']) && reason.starts_with(['-', '–', '—', '#']);
        let bare = Directive { kind: SuppressionKind::Noqa, rules, reason, text: reason, is_file_wide };
        if !is_file_wide && !is_bare && begins_with_our_code(rest) {
            return Some(Directive::malformed(part.trim()));
        }
        return (!is_file_wide && is_bare).then_some(bare);
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
    // ruff and flake8 read `# noqa: because` differently; to hide nothing is safer.
    if rules.is_empty() {
        return None;
    }
    let reason = rest.trim();
    Some(Directive { kind: SuppressionKind::Noqa, rules, reason, text: reason, is_file_wide })
}

/// Parses `ruff: ignore[BLT101] reason` and `ruff: file-ignore[BLT101]`, which mean the same as `noqa: BLT101`.
fn parse_ruff_ignore(part: &str) -> Option<Directive<'_>> {
    let rest = strip_tool(part, "ruff")?;
    let ignore = rest.strip_prefix("file-ignore[").map(|list| (list, true));
    let (list, is_file_wide) = ignore.or_else(|| rest.strip_prefix("ignore[").map(|list| (list, false)))?;
    let (list, reason) = list.split_once(']')?;
    let rules: Vec<&str> = list.split(',').map(str::trim).filter(|rule| is_rule(rule)).collect();
    let (kind, reason) = (SuppressionKind::Noqa, reason.trim());
    (!rules.is_empty()).then_some(Directive { kind, rules, reason, text: reason, is_file_wide })
}

/// True if the text behind `noqa` begins with a code of blocklint, so that only the colon is missing.
fn begins_with_our_code(rest: &str) -> bool {
    let code = rest.trim_start_matches([' ', '\t', '(', '[', ',', '=', '-', ';']);
    code.strip_prefix("BLT").is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

/// True for `BLT101`, `BLT`, or a name with a hyphen.
fn is_rule(word: &str) -> bool {
    if word == "BLT" {
        return true;
    }
    let code = word.len() >= 2
        && word.as_bytes()[0].is_ascii_alphabetic()
        && word.as_bytes()[word.len() - 1].is_ascii_digit()
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    code || (word.contains('-') && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
}

/// Returns the text behind a tool's name and a colon.
fn strip_tool<'a>(text: &'a str, tool: &str) -> Option<&'a str> {
    text.strip_prefix(tool)?.trim_start().strip_prefix(':').map(str::trim_start)
}

/// Returns the text behind `noqa`, in any case.
fn strip_noqa(text: &str) -> Option<&str> {
    let (head, rest) = (text.get(..4)?, &text[4..]);
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (head.eq_ignore_ascii_case("noqa") && ends).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns kind, rules and reason of each directive.
    fn parse_all(comment: &str) -> Vec<(SuppressionKind, Vec<String>, String)> {
        let mut directives = Vec::new();
        for_each_directive(comment, |directive, _| {
            let rules = directive.rules.iter().map(|&rule| rule.to_owned()).collect();
            directives.push((directive.kind, rules, directive.reason.to_owned()));
        });
        directives
    }

    fn single(comment: &str) -> (SuppressionKind, String, String) {
        let mut found = parse_all(comment);
        assert_eq!(found.len(), 1, "{comment}: {found:?}");
        let (kind, rules, reason) = found.remove(0);
        (kind, rules.join(" "), reason)
    }

    #[test]
    fn directives_have_rules_and_reasons() {
        use SuppressionKind::{Ignore, Nonblocking, Noqa};
        for (comment, kind, rules, reason) in [
            ("# blocklint: ignore", Ignore, "", ""),
            ("#blocklint:ignore[BLT101]", Ignore, "BLT101", ""),
            (
                "# blocklint: ignore[ BLT101,blocking-file , ] start-up only",
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
            ("# ruff: ignore[ASYNC251, BLT101] why", Noqa, "ASYNC251 BLT101", "why"),
            ("# noqa - legacy", Noqa, "", "- legacy"),
            ("# noqa: BLT why", Noqa, "BLT", "why"),
        ] {
            assert_eq!(single(comment), (kind, rules.to_owned(), reason.to_owned()), "{comment}");
        }
    }

    #[test]
    fn a_comment_has_several_directives() {
        let found = parse_all("# type: ignore  # noqa: E501 long  # blocklint: ignore[BLT102] why  # pragma: no cover");
        assert_eq!(
            found,
            [
                (SuppressionKind::Noqa, vec!["E501".to_owned()], "long".to_owned()),
                (SuppressionKind::Ignore, vec!["BLT102".to_owned()], "why".to_owned()),
            ]
        );
    }

    #[test]
    fn comments_that_only_look_like_directives_are_ignored() {
        for comment in [
            "# flake8: noqa",
            "# ruff: noqa",
            "# noqa: because",
            "# noqall",
            "# about noqa",
            "# noqa is not needed here",
            "# noqa E501",
            "# noqa(E501)",
            "# noqa[E501]",
            "# noqa, E501",
            "# noqa-why",
            "# `# noqa` was here",
            "# type: ignore, noqa",
            "# blocklint",
            "# blocklint reads this",
        ] {
            assert_eq!(parse_all(comment), [], "{comment}");
        }
        for comment in
            ["# blocklint: ignored", "# blocklint: ignore[BLT101", "# blocklint ignore", "# Blocklint: ignore"]
        {
            assert_eq!(single(comment).0, SuppressionKind::Malformed, "{comment}");
        }
    }

    #[test]
    fn directives_have_their_range_and_know_if_they_apply_to_the_file() {
        let comment = "# é  # noqa: E501 long  # blocklint: ignore-file[BLT102] why ";
        let mut found = Vec::new();
        for_each_directive(comment, |directive, part| found.push((&comment[part], directive.is_file_wide)));
        assert_eq!(found, [("# noqa: E501 long", false), ("# blocklint: ignore-file[BLT102] why", true)]);
        let mut found = Vec::new();
        for_each_directive("# ruff: noqa: BLT104, E501", |directive, _| {
            found.push((directive.rules, directive.is_file_wide))
        });
        assert_eq!(found, [(vec!["BLT104", "E501"], true)]);
    }
}
