//! Edits of suppression comments: removes or replaces rules in a list, or removes the whole comment.

use std::ops::Range;

use blocklint_core::{Applicability, Edit, Fix, Place, Span};

/// An edit of a suppression comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommentEdit {
    /// The title of the fix, in the imperative.
    pub(crate) title: String,
    /// The rules in the comment, as written.
    pub(crate) words: Vec<String>,
    /// The rules that the edited comment has; empty if the comment is removed.
    pub(crate) instead: Vec<String>,
}

/// Returns the fix of a comment at a place in the text of its file; `None` if the text has changed since the analysis.
pub(crate) fn fix_of_comment(text: &str, place: &Place, edit: &CommentEdit) -> Option<Fix> {
    let comment = place.span.start as usize..place.span.end as usize;
    let written = text.get(comment.clone())?;
    let is_annotation = written.starts_with('"');
    let (range, content) = match edit.instead.as_slice() {
        [] if is_annotation => (range_of_literal(text, comment)?, String::new()),
        [] => (range_of_comment(text, comment), String::new()),
        instead => {
            let list = range_of_words(written, &edit.words)?;
            let separator = if written[list.clone()].contains(", ") { ", " } else { "," };
            (comment.start + list.start..comment.start + list.end, instead.join(separator))
        }
    };
    // An edit that adds a rule would suppress more than before, so it is only displayed.
    let only_removes = edit.instead.iter().all(|word| edit.words.contains(word));
    let place = Place::unlocated(place.path.clone(), Span::new(range.start as u32, range.end as u32));
    Some(Fix {
        title: edit.title.clone(),
        applicability: if only_removes { Applicability::Safe } else { Applicability::Display },
        edits: vec![Edit { place, content }],
    })
}

/// Returns the range from the first to the last of these words in a comment.
fn range_of_words(comment: &str, words: &[String]) -> Option<Range<usize>> {
    let mut end = comment.find('[').or_else(|| comment.find(':')).map_or(0, |bracket| bracket + 1);
    let mut start = None;
    for word in words {
        let word_start = end + comment.get(end..)?.find(word.as_str())?;
        start = start.or(Some(word_start));
        end = word_start + word.len();
    }
    Some(start?..end)
}

/// Returns the range to delete for a comment: its whole line if it is alone on it, else the comment and the spaces
/// before it.
fn range_of_comment(text: &str, comment: Range<usize>) -> Range<usize> {
    let start = text[..comment.start].rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let end = text[comment.end..].find(['\n', '\r']).map_or(text.len(), |at| comment.end + at);
    let (before, after) = (&text[start..comment.start], &text[comment.end..end]);
    match (before.trim().is_empty(), after.trim().is_empty()) {
        (true, true) => {
            let rest = &text[end..];
            let ending = if rest.starts_with("\r\n") { 2 } else { usize::from(!rest.is_empty()) };
            start..end + ending
        }
        (false, true) => start + before.trim_end().len()..end,
        (_, false) => comment.start..comment.end + (after.len() - after.trim_start().len()),
    }
}

/// Returns the range to delete for a string of `@SuppressWarnings`: the whole annotation if it has no other string,
/// else the string and its comma (Java).
fn range_of_literal(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let open = text[..literal.start].rfind('(')?;
    let annotation = text[..open].rfind('@')?;
    let close = closing_bracket(text, open)?;
    let inside = &text[open + 1..close];
    if count_strings(inside) == 1 {
        return Some(range_of_comment(text, annotation..close + 1));
    }
    let rest = &text[literal.end..close];
    match rest.trim_start().strip_prefix(',') {
        Some(next) => Some(literal.start..close - next.trim_start().len()),
        None => {
            let before = text[open..literal.start].trim_end().strip_suffix(',')?;
            Some(open + before.len()..literal.end)
        }
    }
}

/// Returns the offset of the bracket that closes the one at `open`; brackets in strings are skipped.
fn closing_bracket(text: &str, open: usize) -> Option<usize> {
    let mut in_string = false;
    let mut escaped = false;
    for (index, c) in text[open..].char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            ')' if !in_string => return Some(open + index),
            _ => {}
        }
    }
    None
}

/// Returns the number of string literals.
fn count_strings(text: &str) -> usize {
    text.replace("\\\"", "").matches('"').count() / 2
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use camino::Utf8Path;

    use super::*;

    fn apply_edits(text: &str, comment: &str, words: &[&str], instead: &[&str]) -> (String, Applicability) {
        let start = text.find(comment).expect("it is there");
        let place = Place::unlocated(
            Arc::from(Utf8Path::new("/a.py")),
            Span::new(start as u32, (start + comment.len()) as u32),
        );
        let owned = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let edit = CommentEdit { title: String::new(), words: owned(words), instead: owned(instead) };
        let fix = fix_of_comment(text, &place, &edit).expect("an edit");
        let edit = &fix.edits[0];
        let (before, after) = (&text[..edit.place.span.start as usize], &text[edit.place.span.end as usize..]);
        (format!("{before}{}{after}", edit.content), fix.applicability)
    }

    #[test]
    fn a_comment_is_removed_with_its_line_or_the_spaces_before_it() {
        let without = |text: &str, comment: &str| apply_edits(text, comment, &["BLT101"], &[]).0;
        let ours = "# blocklint: ignore[BLT101] why";
        assert_eq!(without("f()  # blocklint: ignore[BLT101] why\ng()\n", ours), "f()\ng()\n");
        assert_eq!(without("  # blocklint: ignore[BLT101] why\r\n  g()\r\n", ours), "  g()\r\n");
        assert_eq!(without("f()  # blocklint: ignore[BLT101] why", ours), "f()");
        assert_eq!(without("f()  # type: ignore  # noqa: BLT101", "# noqa: BLT101"), "f()  # type: ignore");
        assert_eq!(without("f()  # noqa: BLT101  # pragma: no cover", "# noqa: BLT101"), "f()  # pragma: no cover");
        assert_eq!(without("/* blocklint: ignore[BLT101] */ f();", "/* blocklint: ignore[BLT101] */"), "f();");
    }

    #[test]
    fn rules_of_a_list_are_removed_or_replaced() {
        let ours = "# blocklint: ignore[BLT101, BLT102,blocking-file] BLT102";
        let words = ["BLT101", "BLT102", "blocking-file"];
        let (text, applicability) = apply_edits(ours, ours, &words, &["BLT101", "blocking-file"]);
        assert_eq!(text, "# blocklint: ignore[BLT101, blocking-file] BLT102");
        assert_eq!(applicability, Applicability::Safe);
        let (text, _) =
            apply_edits("f()  # noqa:E501,BLT101 long", "# noqa:E501,BLT101 long", &["E501", "BLT101"], &["E501"]);
        assert_eq!(text, "f()  # noqa:E501 long");
        let (text, applicability) = apply_edits("# noqa: BLT999", "# noqa: BLT999", &["BLT999"], &["BLT101"]);
        assert_eq!((text.as_str(), applicability), ("# noqa: BLT101", Applicability::Display));
    }

    #[test]
    fn an_annotation_is_removed_with_its_last_string() {
        let without = |text: &str| apply_edits(text, "\"blocklint:BLT101\"", &["BLT101"], &[]).0;
        assert_eq!(without("    @SuppressWarnings(\"blocklint:BLT101\")\n    void f() {}\n"), "    void f() {}\n");
        assert_eq!(without("@SuppressWarnings({\"blocklint:BLT101\"}) void f() {}"), "void f() {}");
        assert_eq!(without("@SuppressWarnings({\"blocklint:BLT101\", \"a)\"}) x"), "@SuppressWarnings({\"a)\"}) x");
        assert_eq!(without("@SuppressWarnings({\"a\", \"blocklint:BLT101\"}) x"), "@SuppressWarnings({\"a\"}) x");
        let (text, _) =
            apply_edits("@SuppressWarnings(\"blocklint:BTL101\")", "\"blocklint:BTL101\"", &["BTL101"], &["BLT101"]);
        assert_eq!(text, "@SuppressWarnings(\"blocklint:BLT101\")");
    }
}
