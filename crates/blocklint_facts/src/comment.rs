//! blocklint's own comments, which read the same in every language.

use blocklint_core::Span;

use crate::SuppressionKind;

/// What the text of a comment says to blocklint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive<'a> {
    /// What it says.
    pub kind: SuppressionKind,
    /// The rules named in brackets, as written; empty for a bare `ignore`.
    pub rules: Vec<&'a str>,
    /// What follows; empty if nothing does. Of one that cannot be read, all that stands behind `blocklint`.
    pub reason: &'a str,
    /// All that stands behind `blocklint`.
    pub said: &'a str,
    /// Whether it speaks for its whole file, where it stands alone on its line.
    pub of_file: bool,
}

impl Directive<'_> {
    /// The lines it speaks for: those of the line it governs, or the whole file. One for the whole file that stands
    /// behind code cannot be read.
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
/// `blocklint: nonblocking`, in any case, from the text behind a comment's marker. What begins like one of these and is
/// none is `Malformed`; `None` for any other comment.
pub fn directive(text: &str) -> Option<Directive<'_>> {
    let said = strip_word(text.trim(), "blocklint")?.trim();
    let malformed =
        Directive { kind: SuppressionKind::Malformed, rules: Vec::new(), reason: said, said, of_file: false };
    let Some(rest) = said.strip_prefix(':').map(str::trim_start) else {
        // A sentence may begin with the name.
        let speaks = ["ignore", "ignore-file", "nonblocking"]
            .iter()
            .any(|word| strip_word(said, word).is_some_and(|rest| rest.is_empty() || rest.starts_with('[')));
        return speaks.then_some(malformed);
    };
    let ignore = strip_word(rest, "ignore-file").map(|rest| (rest, true));
    let ignore = ignore.or_else(|| strip_word(rest, "ignore").map(|rest| (rest, false)));
    // `ignore-fil` is neither.
    if let Some((rest, of_file)) = ignore.filter(|(rest, _)| !is_hyphenated(rest)) {
        let (rules, rest) = match rest.trim_start().strip_prefix('[') {
            Some(list) => match list.split_once(']') {
                Some((list, rest)) if !list.trim_matches([',', ' ', '\t']).is_empty() => (list, rest),
                _ => return Some(malformed),
            },
            None => ("", rest),
        };
        let rules = rules.split(',').map(str::trim).filter(|rule| !rule.is_empty()).collect();
        return Some(Directive { kind: SuppressionKind::Ignore, rules, reason: reason(rest), said, of_file });
    }
    let Some(rest) = strip_word(rest, "nonblocking") else { return Some(malformed) };
    let rules = Vec::new();
    Some(Directive { kind: SuppressionKind::Nonblocking, rules, reason: reason(rest), said, of_file: false })
}

/// Whether a word goes on behind a hyphen; ` - because` and `-- because` are reasons.
fn is_hyphenated(rest: &str) -> bool {
    rest.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric()))
}

/// Whether a line of a comment says in its author's own words that code holds its thread on purpose, or briefly enough:
/// `We voluntarily use a non async operation`, `brief enough to run on the async runtime`.
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
        // What does not block needs no such words, and what they stand beside may.
        && !has_one(&["not block", "n't block", "never block", "nonblocking", "non-blocking"])
}

/// The text behind a word (in any case) that ends there.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let head = text.get(..word.len())?;
    let rest = &text[word.len()..];
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (head.eq_ignore_ascii_case(word) && ends).then_some(rest)
}

/// What is said behind a directive, without the signs that set it off.
fn reason(rest: &str) -> &str {
    rest.trim_start_matches([' ', '\t', '-', ':', ',', ';']).trim_end()
}

/// The line a comment speaks for: its own if code stands before it, else the next line that holds more than a
/// comment; its own again at the end of the file. `marker` is what starts a line comment (`//`).
pub fn lines_of(bytes: &[u8], comment: Span, marker: &[u8]) -> Span {
    let own = line_at(bytes, comment.start as usize);
    let before = &bytes[own.start as usize..comment.start as usize];
    if !before.trim_ascii().is_empty() {
        return own;
    }
    let mut line = line_at(bytes, comment.end.max(comment.start) as usize);
    while (line.end as usize) < bytes.len() {
        line = line_at(bytes, line.end as usize + 1);
        let text = bytes[line.start as usize..line.end as usize].trim_ascii();
        if !text.is_empty() && !text.starts_with(marker) {
            return line;
        }
    }
    own
}

/// The line that holds an offset, without its end.
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
        assert_eq!(directive("blocklint: nonblocking").map(|d| d.kind), Some(SuppressionKind::Nonblocking));
        assert_eq!(directive("see blocklint: ignore"), None);
        assert_eq!(directive("blocklint reads this"), None);
    }

    #[test]
    fn what_cannot_be_read_keeps_its_words() {
        for text in
            [": ignored[BLT101]", ": ignore[BLT101", ": ignore[ ,]", ": ignore-fil[BLT101]", "ignore[BLT101]", ":"]
        {
            let comment = format!("blocklint {text}");
            let read = directive(&comment).expect("it begins like one");
            assert_eq!((read.kind, read.rules.len(), read.reason), (SuppressionKind::Malformed, 0, text), "{text}");
        }
    }

    #[test]
    fn a_whole_file_is_spoken_for_where_nothing_else_stands_on_the_line() {
        let line = Span::new(5, 9);
        let mut read = directive("blocklint: ignore-file[BLT104] read once").expect("a directive");
        assert_eq!((read.of_file, read.rules.as_slice(), read.reason), (true, &["BLT104"][..], "read once"));
        assert_eq!(read.lines(true, line, 80), Span::new(0, 80));
        assert_eq!((read.lines(false, line, 80), read.kind), (line, SuppressionKind::Malformed));
        assert_eq!(read.reason, ": ignore-file[BLT104] read once");
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
    }
}
