//! Edits of comments: a rule of a list goes or is written anew, or the whole comment goes.

use std::ops::Range;

use blocklint_core::{Applicability, Edit, Fix, Place, Span};

/// An edit that mends a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommentEdit {
    /// Its action, in the imperative.
    pub(crate) title: String,
    /// The rules it names, as written.
    pub(crate) words: Vec<String>,
    /// The rules that it is to name; none where it is to go.
    pub(crate) instead: Vec<String>,
}

/// Returns the edit of a comment at a place in its file's text; `None` where the text is not the one that was read.
pub(crate) fn fix_of_comment(text: &str, place: &Place, edit: &CommentEdit) -> Option<Fix> {
    let comment = place.span.start as usize..place.span.end as usize;
    let written = text.get(comment.clone())?;
    let is_annotation = written.starts_with('"');
    let (range, content) = match edit.instead.as_slice() {
        [] if is_annotation => (without_literal(text, comment)?, String::new()),
        [] => (without_comment(text, comment), String::new()),
        instead => {
            let list = list_in(written, &edit.words)?;
            let separator = if written[list.clone()].contains(", ") { ", " } else { "," };
            (comment.start + list.start..comment.start + list.end, instead.join(separator))
        }
    };
    // One that silences more than before is for its author to write.
    let only_takes = edit.instead.iter().all(|word| edit.words.contains(word));
    let place = Place::unlocated(place.path.clone(), Span::new(range.start as u32, range.end as u32));
    Some(Fix {
        title: edit.title.clone(),
        applicability: if only_takes { Applicability::Safe } else { Applicability::Display },
        edits: vec![Edit { place, content }],
    })
}

/// Returns where the words stand in a comment, from the first to the last.
fn list_in(comment: &str, words: &[String]) -> Option<Range<usize>> {
    let mut at = comment.find('[').or_else(|| comment.find(':')).map_or(0, |at| at + 1);
    let mut start = None;
    for word in words {
        let found = at + comment.get(at..)?.find(word.as_str())?;
        start = start.or(Some(found));
        at = found + word.len();
    }
    Some(start?..at)
}

/// Returns the range to delete with a comment: its whole line if it stands alone, else also the space before it.
fn without_comment(text: &str, comment: Range<usize>) -> Range<usize> {
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

/// Returns the range to delete with a string of `@SuppressWarnings`: the annotation if the string is its only one, else
/// also its comma.
fn without_literal(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let open = text[..literal.start].rfind('(')?;
    let annotation = text[..open].rfind('@')?;
    let close = closing(text, open)?;
    let inside = &text[open + 1..close];
    if strings(inside) == 1 {
        return Some(without_comment(text, annotation..close + 1));
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

/// Returns the bracket that closes the one at an offset; strings are passed over.
fn closing(text: &str, open: usize) -> Option<usize> {
    let mut in_string = false;
    let mut escaped = false;
    for (at, c) in text[open..].char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            ')' if !in_string => return Some(open + at),
            _ => {}
        }
    }
    None
}

/// Returns the number of strings.
fn strings(text: &str) -> usize {
    text.replace("\\\"", "").matches('"').count() / 2
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use camino::Utf8Path;

    use super::*;

    fn edited(text: &str, comment: &str, words: &[&str], instead: &[&str]) -> (String, Applicability) {
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
    fn a_whole_comment_goes_with_what_sets_it_off() {
        let gone = |text: &str, comment: &str| edited(text, comment, &["BLT101"], &[]).0;
        let ours = "# blocklint: ignore[BLT101] why";
        assert_eq!(gone("f()  # blocklint: ignore[BLT101] why\ng()\n", ours), "f()\ng()\n");
        assert_eq!(gone("  # blocklint: ignore[BLT101] why\r\n  g()\r\n", ours), "  g()\r\n");
        assert_eq!(gone("f()  # blocklint: ignore[BLT101] why", ours), "f()");
        assert_eq!(gone("f()  # type: ignore  # noqa: BLT101", "# noqa: BLT101"), "f()  # type: ignore");
        assert_eq!(gone("f()  # noqa: BLT101  # pragma: no cover", "# noqa: BLT101"), "f()  # pragma: no cover");
        assert_eq!(gone("/* blocklint: ignore[BLT101] */ f();", "/* blocklint: ignore[BLT101] */"), "f();");
    }

    #[test]
    fn a_part_of_a_list_goes_or_is_written_anew() {
        let ours = "# blocklint: ignore[BLT101, BLT102,blocking-file] BLT102";
        let words = ["BLT101", "BLT102", "blocking-file"];
        let (text, applicability) = edited(ours, ours, &words, &["BLT101", "blocking-file"]);
        assert_eq!(text, "# blocklint: ignore[BLT101, blocking-file] BLT102");
        assert_eq!(applicability, Applicability::Safe);
        let (text, _) =
            edited("f()  # noqa:E501,BLT101 long", "# noqa:E501,BLT101 long", &["E501", "BLT101"], &["E501"]);
        assert_eq!(text, "f()  # noqa:E501 long");
        let (text, applicability) = edited("# noqa: BLT999", "# noqa: BLT999", &["BLT999"], &["BLT101"]);
        assert_eq!((text.as_str(), applicability), ("# noqa: BLT101", Applicability::Display));
    }

    #[test]
    fn an_annotation_goes_with_its_last_string() {
        let gone = |text: &str| edited(text, "\"blocklint:BLT101\"", &["BLT101"], &[]).0;
        assert_eq!(gone("    @SuppressWarnings(\"blocklint:BLT101\")\n    void f() {}\n"), "    void f() {}\n");
        assert_eq!(gone("@SuppressWarnings({\"blocklint:BLT101\"}) void f() {}"), "void f() {}");
        assert_eq!(gone("@SuppressWarnings({\"blocklint:BLT101\", \"a)\"}) x"), "@SuppressWarnings({\"a)\"}) x");
        assert_eq!(gone("@SuppressWarnings({\"a\", \"blocklint:BLT101\"}) x"), "@SuppressWarnings({\"a\"}) x");
        let (text, _) =
            edited("@SuppressWarnings(\"blocklint:BTL101\")", "\"blocklint:BTL101\"", &["BTL101"], &["BLT101"]);
        assert_eq!(text, "@SuppressWarnings(\"blocklint:BLT101\")");
    }
}
