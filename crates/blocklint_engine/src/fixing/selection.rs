//! Selects fixes that can be applied together because their edits do not overlap.

use std::collections::BTreeMap;
use std::sync::Arc;

use blocklint_core::{Edit, Fix, Span};
use camino::Utf8Path;

/// The edits of fixes that can be applied together: the replaced spans of each file with their new texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Together {
    files: BTreeMap<Arc<Utf8Path>, BTreeMap<Span, String>>,
}

impl Together {
    /// Adds all edits of a fix. Returns false and adds nothing if one of its edits overlaps or touches an edit that was
    /// added before, because the order of two texts at one place is undecided. The next round tries the fix again.
    /// Equal imports at one place are shared, and so are equal fixes, because two rules can make the same edit at one
    /// call.
    pub(crate) fn add(&mut self, fix: &Fix) -> bool {
        let is_there = |edit: &Edit| {
            let file = self.files.get(&edit.place.path);
            file.and_then(|file_edits| file_edits.get(&edit.place.span))
                .is_some_and(|file_edits| *file_edits == edit.content)
        };
        if !fix.edits.is_empty() && is_sound(&fix.edits) && fix.edits.iter().all(is_there) {
            return true;
        }
        let fits = |edit: &Edit| match self.files.get(&edit.place.path) {
            None => true,
            Some(file_edits) => is_shared(file_edits, edit) || !touches(file_edits, edit.place.span),
        };
        if !fix.edits.iter().all(fits) || !is_sound(&fix.edits) {
            return false;
        }
        for edit in &fix.edits {
            let file = self.files.entry(Arc::clone(&edit.place.path)).or_default();
            file.insert(edit.place.span, edit.content.clone());
        }
        true
    }

    /// Returns the edits of each file, ascending.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&Arc<Utf8Path>, Vec<(Span, &str)>)> {
        self.files.iter().map(|(path, edits)| {
            (path, edits.iter().map(|(span, content)| (*span, content.as_str())).collect::<Vec<_>>())
        })
    }
}

/// True if the edits of one fix do not overlap. They may touch, but no two may have equal spans.
pub(crate) fn is_sound(edits: &[Edit]) -> bool {
    edits.iter().enumerate().all(|(index, edit)| {
        let span = edit.place.span;
        let later_edits = edits.iter().skip(index + 1).filter(|later| later.place.path == edit.place.path);
        later_edits
            .map(|later| later.place.span)
            .all(|later_span| (span.end <= later_span.start || later_span.end <= span.start) && span != later_span)
    })
}

fn is_shared(known_edits: &BTreeMap<Span, String>, edit: &Edit) -> bool {
    let span = edit.place.span;
    span.start == span.end && known_edits.get(&span) == Some(&edit.content) && is_import(&edit.content)
}

/// True if inserted text is an import: a line, or further names of one (`, sleep`). Other equal texts may be needed
/// twice at one place, such as closing brackets.
fn is_import(content: &str) -> bool {
    let content = content.trim();
    let mut words = content.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()).peekable();
    let is_line = matches!(words.peek(), Some(&("import" | "from" | "use")));
    let is_name = |word: &str| word.chars().all(|c| c == '_' || c == '.' || c.is_alphanumeric());
    let is_names =
        content.contains(',') && words.peek().is_some() && words.all(|word| is_name(word) && word != "await");
    is_line || is_names
}

fn touches(known_edits: &BTreeMap<Span, String>, span: Span) -> bool {
    known_edits.keys().any(|known_span| known_span.start <= span.end && span.start <= known_span.end)
}

#[cfg(test)]
mod tests {
    use blocklint_core::{Applicability, Place};

    use super::*;

    fn fix(edits: &[(u32, u32, &str)]) -> Fix {
        let path: Arc<Utf8Path> = Arc::from(Utf8Path::new("/a.py"));
        let edit = |&(start, end, content): &(u32, u32, &str)| Edit {
            place: Place::unlocated(Arc::clone(&path), Span::new(start, end)),
            content: content.to_owned(),
        };
        Fix { title: String::new(), applicability: Applicability::Safe, edits: edits.iter().map(edit).collect() }
    }

    fn taken(fixes: &[Fix]) -> (Vec<bool>, Vec<(u32, u32, String)>) {
        let mut together = Together::default();
        let taken = fixes.iter().map(|fix| together.add(fix)).collect();
        let edits = together.files().flat_map(|(_, edits)| edits);
        (taken, edits.map(|(span, text)| (span.start, span.end, text.to_owned())).collect())
    }

    #[test]
    fn a_fix_with_an_overlapping_or_touching_edit_waits() {
        let (taken, edits) = taken(&[
            fix(&[(10, 20, "a")]),
            fix(&[(30, 31, "b"), (15, 16, "c")]),
            fix(&[(20, 22, "d")]),
            fix(&[(10, 10, "e")]),
            fix(&[(30, 31, "f")]),
        ]);
        assert_eq!(taken, [true, false, false, false, true]);
        assert_eq!(edits, [(10, 20, "a".to_owned()), (30, 31, "f".to_owned())]);
    }

    #[test]
    fn an_import_is_shared_and_a_bracket_is_not() {
        for (content, shared) in [
            ("import asyncio\n", true),
            ("from a import b as c\n", true),
            (", sleep", true),
            (")", false),
            ("await ", false),
            ("asyncio.to_thread(", false),
        ] {
            let (taken, edits) =
                taken(&[fix(&[(0, 0, content), (10, 12, "x")]), fix(&[(0, 0, content), (20, 22, "y")])]);
            assert_eq!(taken, [true, shared], "{content}");
            assert_eq!(edits.iter().filter(|(_, _, text)| text == content).count(), 1, "{content}");
        }
        let (taken, _) = taken(&[fix(&[(0, 0, "import a\n")]), fix(&[(0, 0, "import b\n")])]);
        assert_eq!(taken, [true, false], "two imports at one place come one after the other");
    }

    #[test]
    fn two_findings_with_one_fix_share_it() {
        let both = fix(&[(0, 0, "import a\n"), (10, 12, "await b("), (14, 14, ")")]);
        let (taken, edits) = taken(&[both.clone(), both]);
        assert_eq!((taken, edits.len()), (vec![true, true], 3));
    }

    #[test]
    fn a_fix_that_overlaps_itself_is_none() {
        assert_eq!(taken(&[fix(&[(1, 5, "a"), (4, 6, "b")])]).0, [false]);
        assert_eq!(taken(&[fix(&[(1, 5, "a"), (5, 6, "b")])]).0, [true]);
        assert_eq!(taken(&[fix(&[(1, 1, "a"), (1, 1, "a")])]).0, [false]);
    }
}
