//! Parses expectations in comments of fixtures: `# error: [blocking-sleep]`, `# ok`, `# todo-ok`.

use std::fmt;

use blocklint_core::{Confidence, Severity};

/// One expectation.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The row of the code that it is about.
    pub row: u32,
    /// The row of its comment.
    pub comment_row: u32,
    /// True if it describes a known miss or false alarm (`todo-…`).
    pub todo: bool,
    /// The expected finding, or `Ok`.
    pub expected: Expected,
}

/// The expectation of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// No finding.
    Ok,
    /// A finding.
    Finding {
        /// Its severity.
        severity: Severity,
        /// The name of its rule.
        rule: String,
        /// Its confidence, if that is pinned.
        confidence: Option<Confidence>,
        /// Texts that occur in its message or trace.
        texts: Vec<String>,
    },
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let todo = if self.todo { "todo-" } else { "" };
        match &self.expected {
            Expected::Ok => write!(f, "{todo}ok"),
            Expected::Finding { severity, rule, confidence, texts } => {
                write!(f, "{todo}{severity}: [{rule}]")?;
                if let Some(confidence) = confidence {
                    write!(f, " {confidence}")?;
                }
                texts.iter().try_for_each(|text| write!(f, " \"{text}\""))
            }
        }
    }
}

/// The expectations of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scan {
    /// In the order of the file.
    pub(crate) expectations: Vec<Expectation>,
    /// True if a comment suppresses a rule. Such a comment counts as an expectation, because a finding appears
    /// if it has no effect.
    pub(crate) suppresses: bool,
    /// Comments that cannot be parsed, with their rows.
    pub(crate) problems: Vec<(u32, String)>,
}

/// Returns the characters with which a comment begins in a file; `None` if files of this kind have no expectations.
fn comment_marker(path: &str) -> Option<&'static str> {
    match path.rsplit_once('.')?.1 {
        "py" | "pyi" => Some("#"),
        "rs" | "java" => Some("//"),
        _ => None,
    }
}

/// Parses the expectations of a file.
pub(crate) fn scan(path: &str, text: &str) -> Scan {
    let mut scan = Scan::default();
    let Some(marker) = comment_marker(path) else { return scan };
    // Expectations on lines of their own apply to the next line of code.
    let mut waiting = Vec::new();
    let mut last_row = 0;
    for (row, line) in (1..).zip(text.lines()) {
        last_row = row;
        let trimmed = line.trim_start();
        let is_comment_line = trimmed.is_empty() || trimmed.starts_with(marker);
        let comments = line.match_indices(marker).map(|(at, _)| line[at + marker.len()..].trim());
        for comment in comments {
            scan.suppresses |= is_suppression(comment);
            match parse_comment(comment) {
                None => continue,
                Some(Err(problem)) => scan.problems.push((row, problem)),
                Some(Ok((todo, expected))) => {
                    let expectation = Expectation { row, comment_row: row, todo, expected };
                    if is_comment_line { waiting.push(expectation) } else { scan.expectations.push(expectation) }
                }
            }
            break;
        }
        if !is_comment_line {
            scan.expectations.extend(waiting.drain(..).map(|waiting| Expectation { row, ..waiting }));
        }
    }
    for expectation in waiting {
        scan.problems.push((expectation.comment_row, format!("no line of code follows `{expectation}`")));
    }
    scan.expectations.sort_by_key(|expectation| (expectation.row, expectation.comment_row));
    report_contradictions(&mut scan);
    debug_assert!(scan.expectations.iter().all(|expectation| expectation.row <= last_row));
    scan
}

/// Adds a problem for each line that expects both a finding and `ok`.
fn report_contradictions(scan: &mut Scan) {
    for same_line in scan.expectations.chunk_by(|a, b| a.row == b.row) {
        let ok = same_line.iter().find(|e| e.expected == Expected::Ok && !e.todo);
        if let (Some(ok), true) = (ok, same_line.len() > 1) {
            scan.problems.push((ok.comment_row, "`ok` cannot stand beside another expectation of its line".to_owned()));
        }
    }
}

fn is_suppression(comment: &str) -> bool {
    comment.starts_with("blocklint: ignore")
        || comment.split_once(':').is_some_and(|(head, codes)| {
            head.eq_ignore_ascii_case("noqa") && codes.to_ascii_uppercase().contains("BLT")
        })
}

type ParsedComment = Option<Result<(bool, Expected), String>>;

/// Parses the text of a comment; `None` if it is no expectation.
fn parse_comment(comment: &str) -> ParsedComment {
    let (todo, text) = match comment.strip_prefix("todo-") {
        Some(rest) => (true, rest),
        None => (false, comment),
    };
    let word_end = text.find(|c: char| !c.is_ascii_alphabetic() && c != '-').unwrap_or(text.len());
    let (word, rest) = text.split_at(word_end);
    if word == "ok" {
        return match rest {
            "" => Some(Ok((todo, Expected::Ok))),
            _ if rest.starts_with(": ") => Some(Ok((todo, Expected::Ok))),
            _ => Some(Err(format!("`{comment}`: nothing may follow `ok` but `: ` and a reason"))),
        };
    }
    let has_rule = begins_with_rule(rest.strip_prefix(':').unwrap_or(rest).trim_start());
    match Severity::parse(word) {
        Some(severity) if rest.starts_with(':') => {
            let finding = parse_finding(severity, rest[1..].trim());
            Some(finding.map(|expected| (todo, expected)).map_err(|problem| format!("`{comment}`: {problem}")))
        }
        // Without this error `# err: [blocking-file]` would be treated as prose.
        _ if has_rule && word != "blocklint" && !word.is_empty() => Some(Err(format!(
            "`{comment}`: expected `error: […]`, `warning: […]`, `note: […]`, the same with `todo-`, `ok` or `todo-ok`"
        ))),
        _ if todo => Some(Err(format!("`{comment}`: `todo-` stands before `ok`, `error`, `warning` or `note`"))),
        _ => None,
    }
}

/// True if a text begins like `[rule-name]`.
fn begins_with_rule(text: &str) -> bool {
    let name = text.strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
}

/// Reads `[rule] confidence "text" …`.
fn parse_finding(severity: Severity, text: &str) -> Result<Expected, String> {
    let (rule, rest) = text
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .ok_or_else(|| "expected `[rule-name]` behind the colon".to_owned())?;
    let mut rest = rest.trim_start();
    let mut confidence = None;
    if !rest.is_empty() && !rest.starts_with('"') {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let word = &rest[..end];
        confidence = Some(Confidence::parse(word).ok_or_else(|| {
            format!("`{word}` is no confidence (`low`, `medium`, `high`) and no text in quotation marks")
        })?);
        rest = rest[end..].trim_start();
    }
    let mut texts = Vec::new();
    while !rest.is_empty() {
        let (quoted, after) = rest
            .strip_prefix('"')
            .and_then(|rest| rest.split_once('"'))
            .ok_or_else(|| format!("expected text in quotation marks, found `{rest}`"))?;
        if quoted.is_empty() {
            return Err("an empty text occurs everywhere".to_owned());
        }
        texts.push(quoted.to_owned());
        rest = after.trim_start();
    }
    Ok(Expected::Finding { severity, rule: rule.to_owned(), confidence, texts })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expectations_of(path: &str, text: &str) -> Vec<String> {
        let scan = scan(path, text);
        assert_eq!(scan.problems, []);
        scan.expectations.iter().map(|e| format!("{}<{} {e}", e.row, e.comment_row)).collect()
    }

    #[test]
    fn expectations_are_read_at_the_end_of_a_line_and_above_it() {
        let text = "a()  # error: [x] high \"p → q\" \"2 s\"\n\
                    # warning: [y]\n# note: [z] low\n\n# blocklint: ignore[BLT101]\nb()\n\
                    c()  # blocklint: ignore[BLT101] a reason  # todo-ok\nd()  # ok: a reason\n";
        assert_eq!(
            expectations_of("a.py", text),
            ["1<1 error: [x] high \"p → q\" \"2 s\"", "6<2 warning: [y]", "6<3 note: [z] low", "7<7 todo-ok", "8<8 ok",]
        );
    }

    #[test]
    fn rust_and_java_comments_are_read() {
        assert_eq!(expectations_of("a.rs", "a(); // todo-error: [x]\n#[b] // ok"), ["1<1 todo-error: [x]", "2<2 ok"]);
        assert_eq!(expectations_of("A.java", "a(); // ok"), ["1<1 ok"]);
        assert_eq!(expectations_of("a.toml", "a = 1 # ok"), [""; 0]);
    }

    #[test]
    fn prose_is_ignored() {
        assert_eq!(expectations_of("a.py", "# okay, this is fine\na()  # the error: none\nb[1]  # see [1]"), [""; 0]);
    }

    #[test]
    fn malformed_expectations_are_problems() {
        for (comment, part) in [
            ("error: blocking-file", "[rule-name]"),
            ("Error: [x]", "expected `error: […]`"),
            ("warn: [x]", "expected `error: […]`"),
            ("error [x]", "expected `error: […]`"),
            ("todo: [x]", "expected `error: […]`"),
            ("todo-maybe", "`todo-` stands before"),
            ("error: [x] sure", "`sure` is no confidence"),
            ("error: [x] high \"open", "quotation marks"),
            ("error: [x] \"\"", "empty text"),
            ("ok for now", "nothing may follow `ok`"),
        ] {
            let scan = scan("a.py", &format!("a()  # {comment}"));
            assert_eq!(scan.expectations, [], "{comment}");
            assert!(scan.problems.iter().any(|(row, text)| *row == 1 && text.contains(part)), "{:?}", scan.problems);
        }
    }

    #[test]
    fn expectations_without_code_and_contradictions_are_problems() {
        let lost = scan("a.py", "a()\n# ok\n");
        assert!(lost.problems[0].1.contains("no line of code"), "{:?}", lost.problems);
        let both = scan("a.py", "# error: [x]\na()  # ok\n");
        assert!(both.problems[0].1.contains("cannot stand beside"), "{:?}", both.problems);
    }

    #[test]
    fn suppressions_are_recognised() {
        for text in ["a() # noqa: E501, BLT101", "a() # blocklint: ignore[BLT101]", "# NOQA: blt101"] {
            assert!(scan("a.py", text).suppresses, "{text}");
        }
        assert!(!scan("a.py", "a() # noqa: E501").suppresses);
    }
}
