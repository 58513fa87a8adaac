//! Parses the paragraph `Specifies:` of a document, which lists the source files that it specifies.

/// The word that begins the paragraph.
const WORD: &str = "Specifies:";

/// A source file that a document specifies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecifiedFile {
    /// The path as in the document, such as `link/values/attribute.rs`.
    pub path: String,
    /// The line of the document.
    pub line: u32,
}

/// Returns the files of the paragraph `Specifies:`, which is between the title and the first block or section.
pub(crate) fn parse_specified_files(text: &str) -> Vec<SpecifiedFile> {
    let mut headings = 0;
    let mut files = Vec::new();
    let mut in_paragraph = false;
    for (line, text) in (1..).zip(text.lines()) {
        headings += usize::from(text.starts_with('#'));
        if headings > 1 || text.starts_with("```") || (in_paragraph && text.trim().is_empty()) {
            break;
        }
        in_paragraph |= text.starts_with(WORD);
        if in_paragraph {
            let quoted = text.split('`').skip(1).step_by(2);
            files.extend(quoted.map(|path| SpecifiedFile { path: path.to_owned(), line }));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::parse_specified_files;

    fn paths(text: &str) -> Vec<(u32, String)> {
        parse_specified_files(text).into_iter().map(|file| (file.line, file.path)).collect()
    }

    #[test]
    fn the_paragraph_may_have_several_lines_and_ends_at_a_blank_one() {
        let text = "# T\n\nSpecifies: `link/a.rs`,\n`flow/b.rs`.\n\nProse with `code`.\n\n## A\n";
        assert_eq!(paths(text), [(3, "link/a.rs".to_owned()), (4, "flow/b.rs".to_owned())]);
    }

    #[test]
    fn a_paragraph_after_a_section_or_block_is_ignored() {
        assert_eq!(paths("# T\n\n## A\n\nSpecifies: `link/a.rs`\n"), []);
        assert_eq!(paths("# T\n\n```py\n```\n\nSpecifies: `link/a.rs`\n"), []);
    }
}
