//! blocklint's own comments, which read the same in every language.

use blocklint_core::Span;

use crate::SuppressionKind;

/// The directive to blocklint in the text of a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive<'a> {
    /// Its kind.
    pub kind: SuppressionKind,
    /// The rules named in brackets, as written; empty for a bare `ignore`.
    pub rules: Vec<&'a str>,
    /// The text that follows; empty if there is none. Of a `Malformed` comment the whole text.
    pub reason: &'a str,
    /// The whole text behind the comment's marker.
    pub said: &'a str,
    /// True if it covers its whole file, if it stands alone on its line.
    pub of_file: bool,
}

impl<'a> Directive<'a> {
    /// Returns a comment that is near to one of blocklint's and none.
    pub fn malformed(said: &'a str) -> Self {
        Directive { kind: SuppressionKind::Malformed, rules: Vec::new(), reason: said, said, of_file: false }
    }

    /// Returns the lines that it covers: those of the line it governs, or the whole file. One for the whole file that
    /// stands behind code cannot be read.
    pub fn lines(&mut self, is_alone: bool, governed: Span, length: usize) -> Span {
        match self.of_file {
            true if is_alone => Span::new(0, length as u32),
            true => {
                self.kind = SuppressionKind::Malformed;
                self.reason = self.said;
                governed
            }
            false => governed,
        }
    }
}

/// Reads `blocklint: ignore[BLT101, blocking-file] reason`, `blocklint: ignore`, `blocklint: ignore-file[…]` or
/// `blocklint: nonblocking` from the text behind a comment's marker. A comment that begins nearly like one of these
/// (`Blocklint: ignore[…]`, `blocklint: ignore(…)`, `blockint: ignore[…]`) is `Malformed`; the rules crate
/// distinguishes it from a sentence. Returns `None` for any other comment.
pub fn directive(text: &str) -> Option<Directive<'_>> {
    let text = text.trim();
    let malformed = Directive::malformed(text);
    let Some(said) = strip_name(text) else { return is_near_name(text).then_some(malformed) };
    let is_exact = text.starts_with(NAME);
    let Some(rest) = said.trim_start().strip_prefix(':').map(str::trim_start) else {
        // A sentence may begin with the name.
        let next = said.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '_' | '.'));
        let speaks = WORDS.iter().any(|word| starts_with_ignoring_case(next, word));
        return speaks.then_some(malformed);
    };
    if !is_exact {
        return Some(malformed);
    }
    let ignore = strip_word(rest, "ignore-file").map(|rest| (rest, true));
    let ignore = ignore.or_else(|| strip_word(rest, "ignore").map(|rest| (rest, false)));
    // `ignore-fil` is neither.
    if let Some((rest, of_file)) = ignore.filter(|(rest, _)| !is_hyphenated(rest)) {
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
        return Some(Directive { kind: SuppressionKind::Ignore, rules, reason: reason(rest), said: text, of_file });
    }
    match strip_word(rest, "nonblocking") {
        Some(rest) if !rest.trim_start().starts_with('[') && !takes_other_brackets(rest) => {
            let (kind, reason) = (SuppressionKind::Nonblocking, reason(rest));
            Some(Directive { kind, rules: Vec::new(), reason, said: text, of_file: false })
        }
        _ => Some(malformed),
    }
}

/// Returns the offsets of all words by which [`directive`] knows its comments, in order, wherever they stand.
pub fn directive_places(bytes: &[u8]) -> Vec<u32> {
    let mut places: Vec<u32> = Vec::new();
    // The common spellings of the name; the search for a fixed text is much faster than one in any case.
    for rest in ["locklint", "LOCKLINT", "lockLint"] {
        let found = memchr::memmem::find_iter(bytes, rest).filter_map(|at| at.checked_sub(1));
        places.extend(found.filter(|&at| matches!(bytes[at], b'b' | b'B')).map(|at| at as u32));
    }
    // Misspelt names, by what follows them.
    for word in [": ignore", ":ignore", ": nonblocking"] {
        for colon in memchr::memmem::find_iter(bytes, word) {
            let longest = &bytes[colon.saturating_sub(LONGEST_NAME)..colon];
            let letters = longest.iter().rev().take_while(|byte| is_of_name(**byte)).count();
            if is_near_name_alone(&bytes[colon - letters..colon]) {
                places.push((colon - letters) as u32);
            }
        }
    }
    places.sort_unstable();
    places.dedup();
    places
}

const NAME: &str = "blocklint";

/// How long a misspelt name may be.
const LONGEST_NAME: usize = 12;

/// How the words begin that follow the name, blocklint's own and those of other linters.
const WORDS: [&str; 6] = ["ignore", "nonblocking", "non-blocking", "disable", "skip", "noqa"];

/// Returns the text behind the name, in any case, where the name ends there.
fn strip_name(text: &str) -> Option<&str> {
    let (head, rest) = text.split_at_checked(NAME.len())?;
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric());
    (head.eq_ignore_ascii_case(NAME) && ends).then_some(rest)
}

/// True if a text begins with what may be the name misspelt, a colon and a word of blocklint's.
fn is_near_name(text: &str) -> bool {
    let Some((name, rest)) = text.split_once(':') else { return false };
    let rest = rest.trim_start();
    is_near_name_alone(name.as_bytes())
        && ["ignore", "nonblocking"].iter().any(|word| starts_with_ignoring_case(rest, word))
}

/// True if a word may be the name misspelt. The rules crate measures how near it is.
fn is_near_name_alone(name: &[u8]) -> bool {
    (6..=LONGEST_NAME).contains(&name.len())
        && matches!(name[0], b'b' | b'B')
        && name.iter().all(|byte| is_of_name(*byte))
        && !name.eq_ignore_ascii_case(NAME.as_bytes())
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_')
}

fn starts_with_ignoring_case(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
}

/// True if rules follow a word otherwise than in square brackets: `(BLT101)`, `=BLT101`. A bracket behind a space begins
/// a reason.
fn takes_other_brackets(rest: &str) -> bool {
    rest.starts_with(['(', '{', '<']) || rest.trim_start().starts_with('=')
}

/// True if a word goes on behind a hyphen; ` - because` and `-- because` are reasons.
fn is_hyphenated(rest: &str) -> bool {
    rest.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric()))
}

/// True if a line of a comment states in its author's own words that code holds its thread on purpose, or briefly
/// enough: `We voluntarily use a non async operation`, `brief enough to run on the async runtime`.
pub fn is_meant(line: &str) -> bool {
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
    // Told fast of most lines, and without a copy in small letters.
    const PARTS: &[&str] = &["enough", "purpose", "oluntar", "ntentional", "eliberate"];
    if !PARTS.iter().any(|part| line.contains(part)) {
        return false;
    }
    let line = line.to_lowercase();
    let has_one = |words: &[&str]| words.iter().any(|word| line.contains(word));
    has_one(CHOSEN)
        && has_one(&["sync", "block"])
        // A call that does not block needs no such words, and a call beside them may block.
        && !has_one(&["not block", "n't block", "never block", "nonblocking", "non-blocking"])
}

/// Returns the text behind a word that ends there.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(word)?;
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    ends.then_some(rest)
}

/// Returns the text behind a directive, without the signs between them.
fn reason(rest: &str) -> &str {
    rest.trim_start_matches([' ', '\t', '-', ':', ',', ';']).trim_end()
}

/// Returns the line that a comment covers: its own if code stands before it, that of its end if code follows there,
/// else the next line that holds more than a comment; its own again at the end of the file. `marker` is what starts a
/// line comment (`//`).
pub fn lines_of(bytes: &[u8], comment: Span, marker: &[u8]) -> Span {
    let own = line_at(bytes, comment.start as usize);
    let before = &bytes[own.start as usize..comment.start as usize];
    if !before.trim_ascii().is_empty() {
        return own;
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
    own
}

/// Returns the line that holds an offset, without its end.
fn line_at(bytes: &[u8], offset: usize) -> Span {
    let offset = offset.min(bytes.len());
    let start = bytes[..offset].iter().rposition(|&b| matches!(b, b'\n' | b'\r')).map_or(0, |at| at + 1);
    let end = bytes[offset..].iter().position(|&b| matches!(b, b'\n' | b'\r')).map_or(bytes.len(), |at| offset + at);
    Span::new(start as u32, end as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_and_reason_are_taken_apart() {
        let read = directive(" blocklint: ignore[BLT101, blocking-file] start-up only ").expect("a directive");
        assert_eq!(read.kind, SuppressionKind::Ignore);
        assert_eq!(read.rules, ["BLT101", "blocking-file"]);
        assert_eq!(read.reason, "start-up only");
        assert_eq!(directive("blocklint: ignore").map(|d| d.rules.len()), Some(0));
        assert_eq!(directive("blocklint: ignore (rewritten soon)").map(|d| d.reason), Some("(rewritten soon)"));
        assert_eq!(directive("blocklint: nonblocking").map(|d| d.kind), Some(SuppressionKind::Nonblocking));
        for sentence in ["see blocklint: ignore", "blocklint reads this", "Blocklint reads this", "blocklint-async"] {
            assert_eq!(directive(sentence), None, "{sentence}");
        }
    }

    #[test]
    fn what_cannot_be_read_keeps_its_words() {
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
            let read = directive(text).expect("it begins like one");
            assert_eq!((read.kind, read.rules.len(), read.reason), (SuppressionKind::Malformed, 0, text), "{text}");
        }
    }

    #[test]
    fn places_are_found_in_every_spelling() {
        let text =
            b"blocklint: x Blocklint BLOCKLINT blockLint  blockint: ignore  type: ignore  bloklint:ignore xlocklint";
        let found: Vec<&[u8]> = directive_places(text).iter().map(|&at| &text[at as usize..at as usize + 6]).collect();
        let expected: [&[u8]; 6] = [b"blockl", b"Blockl", b"BLOCKL", b"blockL", b"blocki", b"blokli"];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_whole_file_is_spoken_for_where_nothing_else_stands_on_the_line() {
        let line = Span::new(5, 9);
        let mut read = directive("blocklint: ignore-file[BLT104] read once").expect("a directive");
        assert_eq!((read.of_file, read.rules.as_slice(), read.reason), (true, &["BLT104"][..], "read once"));
        assert_eq!(read.lines(true, line, 80), Span::new(0, 80));
        assert_eq!((read.lines(false, line, 80), read.kind), (line, SuppressionKind::Malformed));
        assert_eq!(read.reason, "blocklint: ignore-file[BLT104] read once");
        assert_eq!(directive("blocklint: ignore -file").map(|read| read.of_file), Some(false));
        assert_eq!(directive("blocklint: ignore").map(|mut read| read.lines(true, line, 80)), Some(line));
    }

    #[test]
    fn authors_say_in_words_what_they_mean() {
        assert!(is_meant("// We voluntarily use a non async operation: A rename is quick."));
        assert!(is_meant("// brief enough to run on the async runtime"));
        assert!(is_meant("// Blocking on purpose"));
        assert!(!is_meant("// Intentionally does not block"));
        assert!(!is_meant("// on purpose"));
        assert!(!is_meant("// sync the files"));
    }

    #[test]
    fn a_comment_alone_speaks_for_the_next_line_of_code() {
        let text = b"a();\n// one\n// two\n\nb(); // three\n// end";
        let at = |word: &str| {
            let start = std::str::from_utf8(text).expect("utf-8").find(word).expect("in text") as u32;
            let line = lines_of(text, Span::new(start, start + word.len() as u32), b"//");
            &text[line.start as usize..line.end as usize]
        };
        assert_eq!(at("// one"), b"b(); // three");
        assert_eq!(at("// three"), b"b(); // three");
        assert_eq!(at("// end"), b"// end");
        let text = b"/* one */ a();\n/* two */\n/* three\n   more */\nb();";
        let at = |from: u32, to: u32| {
            let line = lines_of(text, Span::new(from, to), b"//");
            &text[line.start as usize..line.end as usize]
        };
        assert_eq!(at(0, 9), b"/* one */ a();");
        assert_eq!(at(15, 24), b"b();");
    }
}
