//! Checks for editors before they offer fixes: the fixes that can be applied together, and if a text still parses.

use std::sync::Arc;

use blocklint_core::{Fix, Language, Span};
use camino::{Utf8Path, Utf8PathBuf};

use super::selection::Together;
use crate::extraction::extract_text;

/// A file, with its replaced spans and their new texts.
pub type EditsOfFile = (Arc<Utf8Path>, Vec<(Span, String)>);

/// Returns the edits of the fixes that can be applied together, by file, sorted by span. Earlier fixes win.
pub fn applicable_together<'f>(fixes: impl Iterator<Item = &'f Fix>) -> Vec<EditsOfFile> {
    let mut together = Together::default();
    for fix in fixes {
        together.add(fix);
    }
    let owned = |edits: Vec<(Span, &str)>| edits.into_iter().map(|(span, text)| (span, text.to_owned())).collect();
    together.files().map(|(path, edits)| (Arc::clone(path), owned(edits))).collect()
}

/// The numbers of problems and suppressions in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParseCounts {
    /// The number of parts that do not parse.
    pub problems: usize,
    /// The number of suppression comments.
    pub suppressions: usize,
}

/// Parses one text in the language of the path's extension; `None` if the path has no known extension or if the front
/// end fails. Needs a large stack ([`crate::STACK_SIZE`]).
pub fn parse_counts(path: &Utf8Path, text: &str) -> Option<ParseCounts> {
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
    Some(ParseCounts { problems: facts.problems.len(), suppressions: facts.suppressions.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_counts_has_problems_and_suppressions() {
        let counts = |text: &str| parse_counts(Utf8Path::new("/a.py"), text).expect("Python");
        assert_eq!(counts("x = 1  # blocklint: ignore\n"), ParseCounts { problems: 0, suppressions: 1 });
        assert_eq!(counts("x = '''# blocklint: ignore\n'''\n"), ParseCounts { problems: 0, suppressions: 0 });
        assert!(counts("x = (\n").problems > 0);
    }
}
