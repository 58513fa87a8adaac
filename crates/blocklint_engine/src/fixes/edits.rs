//! Many edits of one text as one change, and where its places went.

use std::collections::BTreeSet;

use blocklint_core::{Edit, Span};

/// Edits of one text, sorted, that do not overlap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Change {
    edits: BTreeSet<(u32, u32, String)>,
}

impl Change {
    /// Adds the edits of one fix; equal edits are made once. `false`, with nothing added, where one of them overlaps
    /// an edit of another fix.
    pub(crate) fn add<'e>(&mut self, edits: impl Iterator<Item = &'e Edit> + Clone) -> bool {
        let key = |edit: &Edit| (edit.place.span.start, edit.place.span.end, edit.content.clone());
        let fits = edits.clone().all(|edit| {
            self.edits.contains(&key(edit))
                || self.edits.iter().all(|(start, end, _)| !overlap(Span::new(*start, *end), edit.place.span))
        });
        if fits {
            self.edits.extend(edits.map(key));
        }
        fits
    }

    /// The changed text; `None` if an edit lies outside of it or splits a character.
    pub(crate) fn apply(&self, text: &str) -> Option<String> {
        let mut changed = String::with_capacity(text.len() + 64);
        let mut from = 0;
        for (start, end, content) in &self.edits {
            changed.push_str(text.get(from..*start as usize)?);
            changed.push_str(content);
            from = *end as usize;
        }
        changed.push_str(text.get(from..)?);
        Some(changed)
    }

    /// Where an offset of the text went. What is replaced from an offset on still begins there; what is inserted at
    /// an offset stands before it.
    pub(crate) fn moved(&self, offset: u32) -> u32 {
        let mut shift = 0i64;
        for (start, end, content) in &self.edits {
            let length = content.len() as i64;
            match (start, end) {
                (start, end) if start == end && *start <= offset => shift += length,
                (start, end) if *end <= offset && *start < offset => shift += length - i64::from(end - start),
                (start, end) if *start < offset && offset < *end => return (i64::from(*start) + shift) as u32,
                _ => {}
            }
        }
        (i64::from(offset) + shift) as u32
    }
}

/// Whether two edits touch the same text, or both insert at one place.
fn overlap(a: Span, b: Span) -> bool {
    match (a.start == a.end, b.start == b.end) {
        (true, true) => a.start == b.start,
        (true, false) => b.start < a.start && a.start < b.end,
        (false, true) => a.start < b.start && b.start < a.end,
        (false, false) => a.start < b.end && b.start < a.end,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use blocklint_core::Place;
    use camino::Utf8Path;

    use super::*;

    fn edit(start: u32, end: u32, content: &str) -> Edit {
        let place = Place::unlocated(Arc::from(Utf8Path::new("/a.py")), Span::new(start, end));
        Edit { place, content: content.to_owned() }
    }

    #[test]
    fn edits_apply_together_and_places_follow() {
        let mut change = Change::default();
        // `import x` at the top, `f(` → `await g(f, `, a bracket behind.
        assert!(change.add([edit(0, 0, "import x\n"), edit(4, 6, "await g(f, "), edit(8, 8, ")")].iter()));
        assert_eq!(change.apply("a = f(1).b").as_deref(), Some("import x\na = await g(f, 1)).b"));
        assert_eq!([0, 4, 5, 6, 9].map(|at| change.moved(at)), [9, 13, 13, 24, 28]);
        assert!(change.add([edit(0, 0, "import x\n")].iter()), "an equal edit is made once");
        assert!(!change.add([edit(9, 10, "c"), edit(5, 7, "")].iter()), "all or nothing");
        assert_eq!(change.apply("a = f(1).b").as_deref(), Some("import x\na = await g(f, 1)).b"));
        assert!(!change.add([edit(0, 0, "import y\n")].iter()), "the order of two insertions would be chance");
        assert_eq!(change.apply("a"), None);
    }
}
