//! Adds suppression comments for many lines of one file together, because each try extracts the facts of the file
//! again.
//!
//! If the comments fail together, they are tried in halves, down to single lines.

use std::collections::BTreeSet;

use blocklint_core::{RuleCode, Span};

use super::page::{Edit, Page};

/// A line that gets a suppression comment.
pub(super) struct Line<T> {
    /// An offset in the line, which changes when comments are added before it.
    pub(super) offset: u32,
    pub(super) rules: BTreeSet<RuleCode>,
    /// The caller's data for the line.
    pub(super) findings: T,
}

/// Adds a comment for each line, or adds the rules to its present comment. The lines must be sorted. `done` is called
/// with the result of each line.
pub(super) fn ignore_lines<T>(
    page: &mut Page<'_>,
    lines: Vec<Line<T>>,
    reason: &str,
    done: &mut dyn FnMut(T, Result<(), String>),
) {
    // The last part is done first, because a comment does not move the lines above it.
    let mut parts = vec![lines];
    while let Some(mut part) = parts.pop() {
        if part.len() < 2 {
            for line in part {
                let placed = page.ignore(line.offset, &line.rules, reason);
                done(line.findings, placed.map(|edit| shift_lines(&mut parts, edit)));
            }
            continue;
        }
        let Some((new_page, edits, is_suppressed)) = try_together(page, &part, reason) else {
            let later = part.split_off(part.len() / 2);
            parts.extend([part, later]);
            continue;
        };
        if is_suppressed.iter().all(|is_suppressed| *is_suppressed) {
            *page = new_page;
            // All edits have offsets of the text before them, so the last is applied first.
            edits.into_iter().rev().for_each(|edit| shift_lines(&mut parts, edit));
            part.into_iter().for_each(|line| done(line.findings, Ok(())));
            continue;
        }
        let (suppressed, others): (Vec<_>, Vec<_>) =
            part.into_iter().zip(is_suppressed).partition(|(_, is_suppressed)| *is_suppressed);
        let lines = |part: Vec<(Line<T>, bool)>| part.into_iter().map(|(line, _)| line).collect::<Vec<_>>();
        let (suppressed, mut others) = (lines(suppressed), lines(others));
        if suppressed.is_empty() {
            let later = others.split_off(others.len() / 2);
            parts.extend([others, later]);
        } else {
            parts.extend([others, suppressed]);
        }
    }
}

/// Shifts the offsets of the remaining lines after an edit.
fn shift_lines<T>(parts: &mut [Vec<Line<T>>], edit: Edit) {
    for line in parts.iter_mut().flatten().filter(|line| edit.at <= line.offset) {
        line.offset = line.offset.saturating_add_signed(edit.grown);
    }
}

/// Adds the best comment for each line at once. Returns the new page, the edits, and for each line if its own comment
/// suppresses its rules; `None` if the comments would change the code. If several lines share one comment, the last
/// line has it, and the rules of the others are added later.
fn try_together<'f, T>(page: &Page<'f>, lines: &[Line<T>], reason: &str) -> Option<(Page<'f>, Vec<Edit>, Vec<bool>)> {
    let mut edits: Vec<Option<(Span, String)>> = Vec::with_capacity(lines.len());
    let mut before = u32::MAX;
    for line in lines.iter().rev() {
        let place = page.comment_places(line.offset, &line.rules, reason).into_iter().next();
        let place = place.filter(|(span, _)| span.end < before || span.end == before && span.start < before);
        before = place.as_ref().map_or(before, |(span, _)| span.start);
        edits.push(place);
    }
    edits.reverse();
    let comments: Vec<(Span, &str)> = edits.iter().flatten().map(|(span, content)| (*span, content.as_str())).collect();
    let (new_page, page_edits) = page.with_comments(&comments).ok()?;
    let growth_before =
        |offset: u32| page_edits.iter().take_while(|edit| edit.at < offset).map(|edit| edit.grown).sum::<i32>();
    let comment = |(span, content): &(Span, String)| {
        let start = span.start.saturating_add_signed(growth_before(span.start));
        Span::new(start, start + content.len() as u32)
    };
    let is_suppressed = lines.iter().enumerate().map(|(index, line)| {
        let offset = line.offset.saturating_add_signed(growth_before(line.offset + 1));
        // A statement of several lines gets one comment, as if the comments were added one after the other.
        let next = edits.get(index + 1).and_then(Option::as_ref).map(comment);
        let is_shared = next.is_some_and(|next| new_page.is_comment_for_line(next, offset));
        edits[index].is_some() && !is_shared && new_page.suppresses(offset, &line.rules)
    });
    let is_suppressed = is_suppressed.collect();
    Some((new_page, page_edits, is_suppressed))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use blocklint_core::Language;
    use blocklint_project::SourceFile;
    use camino::Utf8Path;

    use super::*;

    fn file(language: Language) -> SourceFile {
        let path: Arc<Utf8Path> = Arc::from(Utf8Path::new("/p/a"));
        SourceFile { path, relative: "a".into(), language, reported: true, unit: 0, import_root: None, given: None }
    }

    /// Returns the lines that contain one of these words, with one or two rules each.
    fn lines(text: &str, words: &[&str]) -> Vec<Line<usize>> {
        let mut offsets: Vec<usize> =
            words.iter().flat_map(|word| text.match_indices(word)).map(|(at, _)| at).collect();
        offsets.sort_unstable();
        // One for each line.
        offsets.dedup_by_key(|at| text[..*at].matches(['\n', '\r']).count());
        let line = |(nth, offset): (usize, usize)| {
            let rules = (0..=nth % 2).map(|rule| RuleCode(101 + rule as u16)).collect();
            Line { offset: offset as u32, rules, findings: nth }
        };
        offsets.into_iter().enumerate().map(line).collect()
    }

    /// Returns the text with comments that are added together, and the text with comments that are added one by one
    /// from the end, each with the number of lines without a comment.
    fn both(language: Language, text: &str, words: &[&str]) -> [(String, usize); 2] {
        let file = file(language);
        let page = || Page::new(&file, text.as_bytes().to_vec()).expect("a page");
        let shown = |page: Page<'_>| page.text.to_string();
        let (mut together, mut failed) = (page(), 0);
        ignore_lines(&mut together, lines(text, words), "why", &mut |_, result| failed += usize::from(result.is_err()));
        let (mut single, mut failed_alone) = (page(), 0);
        for line in lines(text, words).iter().rev() {
            failed_alone += usize::from(single.ignore(line.offset, &line.rules, "why").is_err());
        }
        [(shown(together), failed), (shown(single), failed_alone)]
    }

    #[test]
    fn comments_added_together_are_where_single_ones_would_be() {
        let part = "async def f(x):\n    stop(1)\n    y = 1 + \\\n        stop(2) + \\\n        2\n    a(stop(3),\n      stop(4))\n    stop(5)  # blocklint: ignore[BLT104,  BLT105 ] known\n    z = \"\"\"\n    stop(6)\n    \"\"\"; stop(7)\n    if x: stop(8); stop(9)\n    # blocklint: ignore[BLT106]\n    w(stop(10),\n      stop(11))\n    stop(12).of_a_name_that_is_long_enough.that_no_comment_fits_behind_it_in_the_line\n";
        let python = part.repeat(7);
        for text in [python.clone(), python.replace('\n', "\r\n"), format!("\u{feff}{python}")] {
            let [together, single] = both(Language::Python, &text, &["stop("]);
            assert_eq!(together, single);
            assert!(together.1 == 0 && together.0.matches("ignore[").count() > 40, "{together:?}");
        }
        let part = "async fn f() {\n    stop(\n        1,\n    );\n    a(stop(2), stop(3)); // said\n    let x = \"\n    stop(4)\";\n    a(\n        stop(5),\n        stop(6),\n    );\n}\n";
        let [together, single] = both(Language::Rust, &part.repeat(9), &["stop("]);
        assert_eq!(together, single);
        assert!(together.0.matches("ignore[").count() > 20, "{together:?}");
    }
}
