//! From source files to facts, on all threads.

use std::sync::Arc;

use blocklint_core::{Language, Span};
use blocklint_facts::FileFacts;
use blocklint_project::{Project, SourceFile, read};
use blocklint_rules::Unread;
use rayon::prelude::*;

use crate::panics::catch;

/// What became of one file.
#[derive(Debug)]
pub(crate) struct Extracted {
    /// What it says; nothing where it was not read.
    pub(crate) facts: Option<FileFacts>,
    /// What of it is unknown, and where.
    pub(crate) unread: Option<(Span, Unread)>,
}

/// The facts of all files, in their order. Must run in a pool of threads with large stacks.
pub(crate) fn extract_all(project: &Project) -> Vec<Extracted> {
    let limit = project.configuration.max_file_size;
    project.files.par_iter().map(|file| extract(file, limit)).collect()
}

/// The facts of one file.
pub(crate) fn extract(file: &SourceFile, limit: u64) -> Extracted {
    let not_read = |unread| Extracted { facts: None, unread: Some((Span::default(), unread)) };
    let bytes = match read(&file.path, limit) {
        Ok(bytes) => bytes,
        Err(blocklint_project::Unread::Unreadable(reason)) => return not_read(Unread::Unreadable(reason)),
        Err(blocklint_project::Unread::TooLarge { size, limit }) => return not_read(Unread::TooLarge { size, limit }),
    };
    let Some(front_end) = front_end(file.language) else { return Extracted { facts: None, unread: None } };
    match catch(|| front_end(&bytes, limit)) {
        Ok(facts) => {
            let unread = facts.problems.first().map(|first| (first.span, Unread::InPart(first.message.clone())));
            Extracted { facts: Some(facts), unread }
        }
        Err(reason) => not_read(Unread::Internal(reason)),
    }
}

/// Makes facts of bytes, at most so many.
type FrontEnd = fn(&[u8], u64) -> FileFacts;

/// What makes facts of a language's bytes; none for a language that is not read yet.
fn front_end(language: Language) -> Option<FrontEnd> {
    match language {
        Language::Python => Some(|bytes, limit| {
            let max_bytes = usize::try_from(limit).unwrap_or(usize::MAX);
            blocklint_python::extract_with(bytes, &blocklint_python::Limits { max_bytes })
        }),
        Language::Rust | Language::Java => None,
    }
}

/// The text whose bytes the spans of a file's facts count.
pub(crate) fn decode(language: Language, bytes: Vec<u8>) -> Arc<str> {
    match language {
        Language::Python => Arc::from(&*blocklint_python::decode(&bytes).text),
        Language::Rust | Language::Java => match String::from_utf8(bytes) {
            Ok(text) => Arc::from(text),
            Err(error) => Arc::from(same_length(error.as_bytes())),
        },
    }
}

/// The bytes as text of the same length: one `?` for each byte that is none.
fn same_length(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn text_with_strange_bytes_keeps_its_offsets() {
        assert_eq!(super::same_length(b"a\xff\xfe\xc3\xa9b"), "a??éb");
    }
}
