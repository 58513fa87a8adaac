//! Reads which source files a document specifies.

/// The word that begins the paragraph.
const WORD: &str = "Specifies:";

/// A file that a document names as specified by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecifiedFile {
    /// Its path as the document writes it.
    pub path: String,
    /// The line of the document.
    pub line: u32,
}

/// Returns the files that the paragraph `Specifies:` names, which stands between the title and the first block or
/// section.
pub(crate) fn specified_files(text: &str) -> Vec<SpecifiedFile> {
    let mut headings = 0;
    let mut files = Vec::new();
    let mut inside = false;
    for (line, text) in (1..).zip(text.lines()) {
        headings += usize::from(text.starts_with('#'));
        if headings > 1 || text.starts_with("```") || (inside && text.trim().is_empty()) {
            break;
        }
        inside |= text.starts_with(WORD);
        if inside {
            let quoted = text.split('`').skip(1).step_by(2);
            files.extend(quoted.map(|path| SpecifiedFile { path: path.to_owned(), line }));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::specified_files;

    fn paths(text: &str) -> Vec<(u32, String)> {
        specified_files(text).into_iter().map(|file| (file.line, file.path)).collect()
    }

    #[test]
    fn the_paragraph_may_have_several_lines_and_ends_at_a_blank_one() {
        let text = "# T\n\nSpecifies: `link/a.rs`,\n`flow/b.rs`.\n\nProse with `code`.\n\n## A\n";
        assert_eq!(paths(text), [(3, "link/a.rs".to_owned()), (4, "flow/b.rs".to_owned())]);
    }

    #[test]
    fn a_section_or_a_block_says_nothing_of_the_document() {
        assert_eq!(paths("# T\n\n## A\n\nSpecifies: `link/a.rs`\n"), []);
        assert_eq!(paths("# T\n\n```py\n```\n\nSpecifies: `link/a.rs`\n"), []);
    }
}
