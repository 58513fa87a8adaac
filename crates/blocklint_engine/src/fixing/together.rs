//! Checks for an editor before it offers edits: which of them go together, and if the text after them still parses.

use std::sync::Arc;

use blocklint_core::{Fix, Language, Span};
use camino::{Utf8Path, Utf8PathBuf};

use super::selection::Together;
use crate::extraction::extract_text;

/// A file, and what replaces which parts of it.
pub type EditsOfFile = (Arc<Utf8Path>, Vec<(Span, String)>);

/// Returns the edits of as many of these fixes as can be applied together, in their order: of each file what is
/// replaced and by what, ascending.
pub fn applicable_together<'f>(fixes: impl Iterator<Item = &'f Fix>) -> Vec<EditsOfFile> {
    let mut together = Together::default();
    for fix in fixes {
        together.add(fix);
    }
    let owned = |edits: Vec<(Span, &str)>| edits.into_iter().map(|(span, text)| (span, text.to_owned())).collect();
    together.files().map(|(path, edits)| (Arc::clone(path), owned(edits))).collect()
}

/// The result of a front end for one text by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    /// How many parts of it are not understood.
    pub problems: usize,
    /// How many comments in it silence rules.
    pub suppressions: usize,
}

/// Reads one text by itself, in the language of the path's extension; `None` for a path of no language, and where reading
/// fails. Needs a large stack ([`crate::STACK_SIZE`]).
pub fn glance(path: &Utf8Path, text: &str) -> Option<Glance> {
    let language = match path.extension()? {
        "py" => Language::Python,
        "rs" => Language::Rust,
        "java" => Language::Java,
        _ => return None,
    };
    let file = blocklint_project::SourceFile {
        path: Arc::from(path),
        relative: Utf8PathBuf::from(path.file_name()?),
        language,
        reported: true,
        unit: 0,
        import_root: None,
        given: None,
    };
    let facts = extract_text(&file, text, u64::MAX).facts?;
    Some(Glance { problems: facts.problems.len(), suppressions: facts.suppressions.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glance_counts_problems_and_comments() {
        let glance = |text: &str| glance(Utf8Path::new("/a.py"), text).expect("Python");
        assert_eq!(glance("x = 1  # blocklint: ignore\n"), Glance { problems: 0, suppressions: 1 });
        assert_eq!(glance("x = '''# blocklint: ignore\n'''\n"), Glance { problems: 0, suppressions: 0 });
        assert!(glance("x = (\n").problems > 0);
    }
}
