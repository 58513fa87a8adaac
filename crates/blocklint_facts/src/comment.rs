//! blocklint's own comments (`blocklint: ignore[…]`, `blocklint: nonblocking`): their syntax, which is equal in all
//! languages, and the lines that they cover.

use blocklint_core::Span;

use crate::SuppressionKind;

/// A directive to blocklint in a comment: `blocklint: ignore[BLT101] reason`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive<'a> {
    /// The kind of the directive.
    pub kind: SuppressionKind,
    /// The rules in brackets, as written; empty for an `ignore` without brackets.
    pub rules: Vec<&'a str>,
    /// The text behind the directive; empty if there is none. For a `Malformed` comment the whole text.
    pub reason: &'a str,
    /// The whole text behind the comment's marker.
    pub text: &'a str,
    /// True if it covers the whole file, which it may only if it is alone on its line.
    pub is_file_wide: bool,
}

impl<'a> Directive<'a> {
    /// Returns the directive of a comment that is similar to a comment of blocklint and cannot be parsed.
    pub fn malformed(text: &'a str) -> Self {
        Directive { kind: SuppressionKind::Malformed, rules: Vec::new(), reason: text, text, is_file_wide: false }
    }

    /// Returns the text that the directive covers: the `governed` line, or the whole file. A directive for the whole
    /// file that is behind code becomes `Malformed`.
    pub fn resolve_lines(&mut self, is_alone: bool, governed: Span, length: usize) -> Span {
        match self.is_file_wide {
            true if is_alone => Span::new(0, length as u32),
            true => {
                self.kind = SuppressionKind::Malformed;
                self.reason = self.text;
                governed
            }
            false => governed,
        }
    }
}

/// Parses the text behind a comment's marker: `blocklint: ignore[BLT101, blocking-file] reason`, `blocklint: ignore`,
/// `blocklint: ignore-file[…]` or `blocklint: nonblocking`. Returns a `Malformed` directive for a comment that begins
/// similarly (`Blocklint: ignore[…]`, `blocklint: ignore(…)`, `blockint: ignore[…]`); `blocklint_rules` distinguishes
/// it from a sentence. Returns `None` for any other comment.
pub fn parse_directive(text: &str) -> Option<Directive<'_>> {
    let text = text.trim();
    let malformed = Directive::malformed(text);
    let Some(after_name) = strip_name(text) else { return begins_with_misspelt_name(text).then_some(malformed) };
    let is_exact = text.starts_with(NAME);
    let Some(rest) = after_name.trim_start().strip_prefix(':').map(str::trim_start) else {
        // A sentence can begin with the name too.
        let next = after_name.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '_' | '.'));
        let has_directive = WORDS.iter().any(|word| starts_with_ignoring_case(next, word));
        return has_directive.then_some(malformed);
    };
    if !is_exact {
        return Some(malformed);
    }
    let ignore = strip_word(rest, "ignore-file").map(|rest| (rest, true));
    let ignore = ignore.or_else(|| strip_word(rest, "ignore").map(|rest| (rest, false)));
    // `ignore-fil` is neither of the two words.
    if let Some((rest, is_file_wide)) = ignore.filter(|(rest, _)| !is_hyphenated(rest)) {
        let (rules, rest) = match rest.trim_start().strip_prefix('[') {
            Some(list) => match list.split_once(']') {
                Some((list, rest))
                    if !list.trim_matches([',', ' ', '\t']).is_empty() && !rest.trim_start().starts_with('[') =>
                {
                    (list, rest)
                }
                _ => return Some(malformed),
            },
            None if takes_other_brackets(rest) => return Some(malformed),
            None => ("", rest),
        };
        let rules = rules.split(',').map(str::trim).filter(|rule| !rule.is_empty()).collect();
        return Some(Directive {
            kind: SuppressionKind::Ignore,
            rules,
            reason: strip_reason(rest),
            text,
            is_file_wide,
        });
    }
    match strip_word(rest, "nonblocking") {
        Some(rest) if !rest.trim_start().starts_with('[') && !takes_other_brackets(rest) => {
            let (kind, reason) = (SuppressionKind::Nonblocking, strip_reason(rest));
            Some(Directive { kind, rules: Vec::new(), reason, text, is_file_wide: false })
        }
        _ => Some(malformed),
    }
}

/// Returns the offsets, in order, of all names in the bytes of a file with which a directive can begin, inside and
/// outside of comments.
pub fn find_directives(bytes: &[u8]) -> Vec<u32> {
    let mut offsets: Vec<u32> = Vec::new();
    // The common spellings of the name. A search for a fixed text is much faster than one that ignores case.
    for rest in ["locklint", "LOCKLINT", "lockLint"] {
        let starts = memchr::memmem::find_iter(bytes, rest).filter_map(|offset| offset.checked_sub(1));
        offsets.extend(starts.filter(|&start| matches!(bytes[start], b'b' | b'B')).map(|start| start as u32));
    }
    // Misspelt names, which are found by the words behind them.
    for word in [": ignore", ":ignore", ": nonblocking"] {
        for colon in memchr::memmem::find_iter(bytes, word) {
            let longest = &bytes[colon.saturating_sub(LONGEST_NAME)..colon];
            let letters = longest.iter().rev().take_while(|byte| is_name_byte(**byte)).count();
            if is_misspelt_name(&bytes[colon - letters..colon]) {
                offsets.push((colon - letters) as u32);
            }
        }
    }
    offsets.sort_unstable();
    offsets.dedup();
    offsets
}

const NAME: &str = "blocklint";

/// The maximal length of a misspelt name.
const LONGEST_NAME: usize = 12;

/// The beginnings of words that can follow the name: directives of blocklint and of other linters.
const WORDS: [&str; 6] = ["ignore", "nonblocking", "non-blocking", "disable", "skip", "noqa"];

/// Returns the text behind the name, of either case; `None` if the text does not begin with the name as a whole word.
fn strip_name(text: &str) -> Option<&str> {
    let (head, rest) = text.split_at_checked(NAME.len())?;
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric());
    (head.eq_ignore_ascii_case(NAME) && ends).then_some(rest)
}

/// True if a text begins with a misspelt name, a colon and a directive of blocklint.
fn begins_with_misspelt_name(text: &str) -> bool {
    let Some((name, rest)) = text.split_once(':') else { return false };
    let rest = rest.trim_start();
    is_misspelt_name(name.as_bytes())
        && ["ignore", "nonblocking"].iter().any(|word| starts_with_ignoring_case(rest, word))
}

/// True if a word is possibly the name misspelt. `blocklint_rules` measures the similarity.
fn is_misspelt_name(name: &[u8]) -> bool {
    (6..=LONGEST_NAME).contains(&name.len())
        && matches!(name[0], b'b' | b'B')
        && name.iter().all(|byte| is_name_byte(*byte))
        && !name.eq_ignore_ascii_case(NAME.as_bytes())
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_')
}

fn starts_with_ignoring_case(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
}

/// True if the rules behind a word are in other signs than square brackets: `(BLT101)`, `=BLT101`. A bracket behind a
/// space begins a reason.
fn takes_other_brackets(rest: &str) -> bool {
    rest.starts_with(['(', '{', '<']) || rest.trim_start().starts_with('=')
}

/// True if the word continues behind a hyphen: `ignore-fil`. ` - because` and `-- because` are reasons.
fn is_hyphenated(rest: &str) -> bool {
    rest.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric()))
}

/// True if a line of a comment says in the author's own words that code holds its thread on purpose, or briefly enough:
/// `We voluntarily use a non async operation`, `brief enough to run on the async runtime`.
pub fn states_intent(line: &str) -> bool {
    const CHOSEN: &[&str] = &[
        "voluntar",
        "on purpose",
        "intentional",
        "deliberate",
        "brief enough",
        "fast enough",
        "quick enough",
        "cheap enough",
    ];
    // A fast test that excludes most lines, without a copy in lower case.
    const PARTS: &[&str] = &["enough", "purpose", "oluntar", "ntentional", "eliberate"];
    if !PARTS.iter().any(|part| line.contains(part)) {
        return false;
    }
    let line = line.to_lowercase();
    let has_any = |words: &[&str]| words.iter().any(|word| line.contains(word));
    has_any(CHOSEN)
        && has_any(&["sync", "block"])
        // A call that does not block needs no such comment, and another call next to the comment may block.
        && !has_any(&["not block", "n't block", "never block", "nonblocking", "non-blocking"])
}

/// Returns the text behind a word; `None` if the text does not begin with the whole word.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(word)?;
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    ends.then_some(rest)
}

/// Returns the reason behind a directive, without the signs between them.
fn strip_reason(rest: &str) -> &str {
    rest.trim_start_matches([' ', '\t', '-', ':', ',', ';']).trim_end()
}

/// Returns the line that a comment covers: its own line if code is before it, the line of its end if code is behind it,
/// otherwise the next line with code. At the end of the file it covers its own line. `marker` begins a line comment
/// (`//`).
pub fn covered_line(bytes: &[u8], comment: Span, marker: &[u8]) -> Span {
    let comment_line = line_at(bytes, comment.start as usize);
    let before = &bytes[comment_line.start as usize..comment.start as usize];
    if !before.trim_ascii().is_empty() {
        return comment_line;
    }
    let mut line = line_at(bytes, comment.end.max(comment.start) as usize);
    let after = bytes[comment.end as usize..line.end.max(comment.end) as usize].trim_ascii();
    if !after.is_empty() && !after.starts_with(marker) {
        return line;
    }
    let mut in_block = false;
    while (line.end as usize) < bytes.len() {
        line = line_at(bytes, line.end as usize + 1);
        let text = bytes[line.start as usize..line.end as usize].trim_ascii();
        in_block |= text.starts_with(b"/*");
        if !in_block && !text.is_empty() && !text.starts_with(marker) {
            return line;
        }
        in_block &= memchr::memmem::find(text, b"*/").is_none();
    }
    comment_line
}

/// Returns the line of an offset, without its line end.
fn line_at(bytes: &[u8], offset: usize) -> Span {
    let offset = offset.min(bytes.len());
    let start = bytes[..offset].iter().rposition(|&b| matches!(b, b'\n' | b'\r')).map_or(0, |index| index + 1);
    let end =
        bytes[offset..].iter().position(|&b| matches!(b, b'\n' | b'\r')).map_or(bytes.len(), |index| offset + index);
    Span::new(start as u32, end as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_and_reason_are_parsed() {
        let read = parse_directive(" blocklint: ignore[BLT101, blocking-file] start-up only ").expect("a directive");
        assert_eq!(read.kind, SuppressionKind::Ignore);
        assert_eq!(read.rules, ["BLT101", "blocking-file"]);
        assert_eq!(read.reason, "start-up only");
        assert_eq!(parse_directive("blocklint: ignore").map(|d| d.rules.len()), Some(0));
        assert_eq!(parse_directive("blocklint: ignore (rewritten soon)").map(|d| d.reason), Some("(rewritten soon)"));
        assert_eq!(parse_directive("blocklint: nonblocking").map(|d| d.kind), Some(SuppressionKind::Nonblocking));
        for sentence in ["see blocklint: ignore", "blocklint reads this", "Blocklint reads this", "blocklint-async"] {
            assert_eq!(parse_directive(sentence), None, "{sentence}");
        }
    }

    #[test]
    fn malformed_directives_keep_their_text() {
        for text in [
            "blocklint: ignored[BLT101]",
            "blocklint: ignore[BLT101",
            "blocklint: ignore[ ,]",
            "blocklint: ignore[BLT101] [BLT102]",
            "blocklint: ignore-fil[BLT101]",
            "blocklint: ignore(BLT101)",
            "blocklint: ignore =BLT101",
            "blocklint: Ignore[BLT101]",
            "blocklint: nonblocking[BLT101]",
            "blocklint ignore[BLT101]",
            "blocklint-ignore[BLT101]",
            "blocklint:",
            "Blocklint: ignore[BLT101]",
            "BLOCKLINT: ignore",
            "blockint: ignore[BLT101]",
            "block-lint:ignore[BLT101]",
        ] {
            let read = parse_directive(text).expect("it begins like one");
            assert_eq!((read.kind, read.rules.len(), read.reason), (SuppressionKind::Malformed, 0, text), "{text}");
        }
    }

    #[test]
    fn directives_are_found_in_every_spelling() {
        let text =
            b"blocklint: x Blocklint BLOCKLINT blockLint  blockint: ignore  type: ignore  bloklint:ignore xlocklint";
        let names: Vec<&[u8]> =
            find_directives(text).iter().map(|&start| &text[start as usize..start as usize + 6]).collect();
        let expected: [&[u8]; 6] = [b"blockl", b"Blockl", b"BLOCKL", b"blockL", b"blocki", b"blokli"];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_directive_for_the_whole_file_must_be_alone_on_its_line() {
        let line = Span::new(5, 9);
        let mut read = parse_directive("blocklint: ignore-file[BLT104] read once").expect("a directive");
        assert_eq!((read.is_file_wide, read.rules.as_slice(), read.reason), (true, &["BLT104"][..], "read once"));
        assert_eq!(read.resolve_lines(true, line, 80), Span::new(0, 80));
        assert_eq!((read.resolve_lines(false, line, 80), read.kind), (line, SuppressionKind::Malformed));
        assert_eq!(read.reason, "blocklint: ignore-file[BLT104] read once");
        assert_eq!(parse_directive("blocklint: ignore -file").map(|read| read.is_file_wide), Some(false));
        assert_eq!(parse_directive("blocklint: ignore").map(|mut read| read.resolve_lines(true, line, 80)), Some(line));
    }

    #[test]
    fn comments_that_state_an_intent_are_recognised() {
        assert!(states_intent("// We voluntarily use a non async operation: A rename is quick."));
        assert!(states_intent("// brief enough to run on the async runtime"));
        assert!(states_intent("// Blocking on purpose"));
        assert!(!states_intent("// Intentionally does not block"));
        assert!(!states_intent("// on purpose"));
        assert!(!states_intent("// sync the files"));
    }

    #[test]
    fn a_comment_alone_on_its_line_covers_the_next_line_of_code() {
        let text = b"a();\n// one\n// two\n\nb(); // three\n// end";
        let covered = |word: &str| {
            let start = std::str::from_utf8(text).expect("utf-8").find(word).expect("in text") as u32;
            let line = covered_line(text, Span::new(start, start + word.len() as u32), b"//");
            &text[line.start as usize..line.end as usize]
        };
        assert_eq!(covered("// one"), b"b(); // three");
        assert_eq!(covered("// three"), b"b(); // three");
        assert_eq!(covered("// end"), b"// end");
        let text = b"/* one */ a();\n/* two */\n/* three\n   more */\nb();";
        let covered = |from: u32, to: u32| {
            let line = covered_line(text, Span::new(from, to), b"//");
            &text[line.start as usize..line.end as usize]
        };
        assert_eq!(covered(0, 9), b"/* one */ a();");
        assert_eq!(covered(15, 24), b"b();");
    }
}
