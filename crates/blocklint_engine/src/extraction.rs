//! From source files to facts, on all threads.

use std::sync::Arc;
use std::time::{Duration, Instant};

use blocklint_analysis::{FileIndex, Scratch};
use blocklint_core::{Language, Span};
use blocklint_facts::FileFacts;
use blocklint_output::CellStart;
use blocklint_project::{Project, SourceFile};
use blocklint_rules::Unread;
use rayon::prelude::*;

use crate::panics::catch;
use crate::progress::{Progress, Step};

/// What became of one file.
#[derive(Debug)]
pub struct Extracted {
    /// What it says; nothing where it was not read.
    pub facts: Option<FileFacts>,
    /// Where its names and values are used; only [`extract_all`] makes it.
    pub index: Option<FileIndex>,
    /// What of it is unknown, and where.
    pub unread: Option<(Span, Unread)>,
    /// Time until its tree stood: reading, decoding, parsing.
    parse: Duration,
    /// Time for its facts.
    walk: Duration,
}

impl Extracted {
    /// Whether the file could be opened, whatever came of it.
    pub(crate) fn was_opened(&self) -> bool {
        !matches!(self.unread, Some((_, Unread::Unreadable(_))))
    }
}

/// The facts of all files, in their order. Must run in a pool of threads with large stacks. Says how
/// long it took to parse and to make facts: the wall time, divided as the threads' time was.
pub(crate) fn extract_all(project: &Project, progress: &dyn Progress) -> (Vec<Extracted>, Duration, Duration) {
    progress.begin(Step::Read, project.files.len());
    let started = Instant::now();
    let limit = project.configuration.max_file_size;
    let files: Vec<&SourceFile> = project.files.iter().collect();
    let extracted = extract_some(&files, |file| {
        let extracted = extract(file, limit);
        progress.advance();
        extracted
    });
    let wall = started.elapsed();
    let parse: Duration = extracted.iter().map(|file| file.parse).sum();
    let walk: Duration = extracted.iter().map(|file| file.walk).sum();
    let share = parse.as_secs_f64() / (parse + walk).as_secs_f64().max(f64::MIN_POSITIVE);
    let parse = wall.mul_f64(share.min(1.0));
    (extracted, parse, wall.saturating_sub(parse))
}

/// What `extract` makes of these files, in their order, with their indices. Must run in a pool of threads with large stacks.
pub(crate) fn extract_some(files: &[&SourceFile], extract: impl Fn(&SourceFile) -> Extracted + Sync) -> Vec<Extracted> {
    let extracted = files.par_iter().map_init(Scratch::default, |scratch, file| {
        let mut extracted = extract(file);
        let indexed = Instant::now();
        // While the facts lie in the processor's cache.
        extracted.index = extracted.facts.as_ref().map(|facts| FileIndex::new(facts, scratch));
        extracted.walk += indexed.elapsed();
        extracted
    });
    extracted.collect()
}

/// The facts of a file that an editor holds open. Their spans count the bytes of this text, whatever encoding the file
/// declares for the bytes it has on disk.
pub(crate) fn extract_text(file: &SourceFile, text: &str, limit: u64) -> Extracted {
    let size = text.len() as u64;
    let started = Instant::now();
    let not_read = |unread| {
        let unread = Some((Span::default(), unread));
        Extracted { facts: None, index: None, unread, parse: started.elapsed(), walk: Duration::ZERO }
    };
    if size > limit {
        return not_read(Unread::TooLarge { size, limit });
    }
    // Decoding takes the declared encoding, so that the text has to stand in it.
    let declared = match file.language {
        Language::Python => blocklint_python::encode_like(text.as_bytes(), text),
        Language::Rust | Language::Java => None,
    };
    let facts = match facts_of_bytes(file, declared.as_deref().unwrap_or(text.as_bytes()), || ()) {
        Ok(facts) => facts,
        Err(reason) => return not_read(Unread::Internal(reason)),
    };
    let problem = facts.as_ref().and_then(|facts| facts.problems.first());
    let unread = problem.map(|first| (first.span, Unread::InPart(first.message.clone())));
    Extracted { facts, index: None, unread, parse: started.elapsed(), walk: Duration::ZERO }
}

/// The facts of one file.
pub fn extract(file: &SourceFile, limit: u64) -> Extracted {
    let started = Instant::now();
    let not_read = |unread| {
        let unread = Some((Span::default(), unread));
        Extracted { facts: None, index: None, unread, parse: started.elapsed(), walk: Duration::ZERO }
    };
    let bytes = match file.read(limit) {
        Ok(bytes) => bytes,
        Err(blocklint_project::Unread::Unreadable(reason)) => return not_read(Unread::Unreadable(reason)),
        Err(blocklint_project::Unread::TooLarge { size, limit }) => return not_read(Unread::TooLarge { size, limit }),
    };
    let mut parse = None;
    let facts = match facts_of_bytes(file, &bytes, || parse = Some(started.elapsed())) {
        Ok(facts) => facts,
        Err(reason) => return not_read(Unread::Internal(reason)),
    };
    let problem = facts.as_ref().and_then(|facts| facts.problems.first());
    let unread = problem.map(|first| (first.span, Unread::InPart(first.message.clone())));
    let whole = started.elapsed();
    let parse = parse.unwrap_or(whole);
    Extracted { facts, index: None, unread, parse, walk: whole.saturating_sub(parse) }
}

/// The facts of these bytes.
///
/// # Errors
///
/// What broke in the front end.
fn facts_of_bytes(file: &SourceFile, bytes: &[u8], parsed: impl FnOnce()) -> Result<Option<FileFacts>, String> {
    catch(|| facts_of(file, bytes, parsed))
}

/// The facts of a file that holds these bytes.
///
/// # Errors
///
/// Why there are none: no front end, or a mistake in it.
pub(crate) fn extract_bytes(file: &SourceFile, bytes: &[u8]) -> Result<FileFacts, String> {
    facts_of_bytes(file, bytes, || ())?.ok_or_else(|| "this language is not read yet".to_owned())
}

/// What the front end of the language makes of the bytes; it tells when the tree stands. Nothing for a
/// language that has no front end yet.
fn facts_of(file: &SourceFile, bytes: &[u8], parsed: impl FnOnce()) -> Option<FileFacts> {
    match file.language {
        Language::Python => {
            // How long a file may be was decided when it was read.
            let limits = blocklint_python::Limits { max_bytes: usize::MAX };
            Some(match file.is_notebook() {
                true => blocklint_python::extract_notebook(bytes, &limits, parsed),
                false => blocklint_python::extract_watched(bytes, &limits, parsed),
            })
        }
        Language::Rust => Some(blocklint_rust::extract_watched(bytes, parsed)),
        Language::Java => Some(blocklint_java::extract_watched(bytes, parsed)),
    }
}

/// The text whose bytes the spans of a file's facts count, and where the cells of a notebook begin in it.
pub(crate) fn decode(file: &SourceFile, bytes: Vec<u8>) -> (Arc<str>, Vec<CellStart>) {
    if file.is_notebook() {
        let notebook = blocklint_python::decode_notebook(&bytes).unwrap_or_default();
        let cells = notebook.cells.iter().map(|cell| CellStart { offset: cell.offset, number: cell.number });
        return (Arc::from(notebook.text.replace('\0', " ")), cells.collect());
    }
    let text = match file.language {
        Language::Python => Arc::from(&*blocklint_python::decode(&bytes).text),
        Language::Rust | Language::Java => match String::from_utf8(bytes) {
            Ok(text) => Arc::from(text),
            Err(error) => Arc::from(same_length(error.as_bytes())),
        },
    };
    (text, Vec::new())
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
