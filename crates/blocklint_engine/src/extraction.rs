//! Extracts the facts of source files with the front ends, on all threads.

use std::sync::Arc;
use std::time::{Duration, Instant};

use blocklint_analysis::{FileIndex, Scratch};
use blocklint_core::{Language, Span, UnreadFile};
use blocklint_facts::FileFacts;
use blocklint_output::CellStart;
use blocklint_project::{Project, SourceFile};
use blocklint_rules::Unread;
use rayon::prelude::*;

use crate::panics::catch;
use crate::progress::{Progress, Step};
use crate::templates::{is_template, mark_template};

/// The result of extraction for one file.
#[derive(Debug)]
pub struct Extracted {
    /// The facts of the file; `None` if it was not read.
    pub facts: Option<FileFacts>,
    /// The index of the uses of its names and values, if it was built during extraction.
    pub index: Option<FileIndex>,
    /// True if the facts came out of the cache. Their index is built on demand.
    pub(crate) is_kept: bool,
    /// The part that could not be read, with its span.
    pub unread: Option<(Span, Unread)>,
    /// The time for reading, decoding and parsing.
    parse: Duration,
    /// The time for the facts and the index.
    walk: Duration,
}

impl Extracted {
    /// Builds the index of names and values while the facts are in the processor's cache. For facts out of the cache
    /// folder, it is built when it is first needed.
    fn build_index(&mut self, scratch: &mut Scratch) {
        let indexed = Instant::now();
        self.index = self.facts.as_ref().filter(|_| !self.is_kept).map(|facts| FileIndex::new(facts, scratch));
        self.walk += indexed.elapsed();
    }

    /// True if the file could be opened, even if it could not be parsed.
    pub(crate) fn was_opened(&self) -> bool {
        !matches!(self.unread, Some((_, Unread::Whole(UnreadFile::Unreadable(_)))))
    }
}

/// Returns the results of all files in order, and the times for parsing and for facts. The wall time is divided in
/// proportion to the threads' times. Must run in a pool of threads with large stacks.
pub(crate) fn extract_all(project: &Project, progress: &dyn Progress) -> (Vec<Extracted>, Duration, Duration) {
    let limit = project.configuration.max_file_size;
    let (extracted, parse, facts) = on_all_threads(project, progress, |_, file| (extract(file, limit), ()));
    (extracted.into_iter().map(|(extracted, ())| extracted).collect(), parse, facts)
}

/// Calls `make` with the index of each file and the file, on all threads, and adds the index of names to each result.
/// The times are those of [`extract_all`].
pub(crate) fn on_all_threads<T: Send>(
    project: &Project,
    progress: &dyn Progress,
    make: impl Fn(usize, &SourceFile) -> (Extracted, T) + Sync,
) -> (Vec<(Extracted, T)>, Duration, Duration) {
    progress.begin(Step::Read, project.files.len());
    let started = Instant::now();
    let extracted = project.files.par_iter().enumerate().map_init(Scratch::default, |scratch, (at, file)| {
        let (mut extracted, rest) = make(at, file);
        extracted.build_index(scratch);
        progress.advance();
        (extracted, rest)
    });
    let extracted = extracted.collect::<Vec<_>>();
    let wall = started.elapsed();
    let parse: Duration = extracted.iter().map(|(file, _)| file.parse).sum();
    let walk: Duration = extracted.iter().map(|(file, _)| file.walk).sum();
    let share = parse.as_secs_f64() / (parse + walk).as_secs_f64().max(f64::MIN_POSITIVE);
    let parse = wall.mul_f64(share.min(1.0));
    (extracted, parse, wall.saturating_sub(parse))
}

/// Returns the results of `extract` for these files in order, with their indices of names. Must run in a pool of
/// threads with large stacks.
pub(crate) fn extract_some(files: &[&SourceFile], extract: impl Fn(&SourceFile) -> Extracted + Sync) -> Vec<Extracted> {
    let extracted = files.par_iter().map_init(Scratch::default, |scratch, file| {
        let mut extracted = extract(file);
        extracted.build_index(scratch);
        extracted
    });
    extracted.collect()
}

/// Extracts the facts from the text of a file that is open in an editor. Spans count the bytes of this text in UTF-8,
/// even if the file declares another encoding.
pub(crate) fn extract_text(file: &SourceFile, text: &str, limit: u64) -> Extracted {
    let size = text.len() as u64;
    let started = Instant::now();
    if size > limit {
        return unread_result(Unread::Whole(UnreadFile::TooLarge { size, limit }), started);
    }
    // The front end decodes the declared encoding, so the text is encoded in it.
    let declared = match file.language {
        Language::Python => blocklint_python::encode_like(text.as_bytes(), text),
        Language::Rust | Language::Java => None,
    };
    let facts = match facts_of_bytes(file, declared.as_deref().unwrap_or(text.as_bytes()), || ()) {
        Ok(facts) => facts,
        Err(reason) => return unread_result(Unread::Internal(reason), started),
    };
    Extracted { parse: started.elapsed(), ..extracted_from_facts(file, facts) }
}

/// Reads one file and extracts its facts.
pub fn extract(file: &SourceFile, limit: u64) -> Extracted {
    let started = Instant::now();
    let bytes = match file.read(limit) {
        Ok(bytes) => bytes,
        Err(unread) => return extract_unread(unread, started),
    };
    extract_read(file, &bytes, started)
}

/// Returns the result for a file that could not be read.
pub(crate) fn extract_unread(unread: UnreadFile, started: Instant) -> Extracted {
    unread_result(Unread::Whole(unread), started)
}

/// Extracts the facts from bytes that were read; `started` is the time before reading.
pub(crate) fn extract_read(file: &SourceFile, bytes: &[u8], started: Instant) -> Extracted {
    let mut parse = None;
    let facts = match facts_of_bytes(file, bytes, || parse = Some(started.elapsed())) {
        Ok(facts) => facts,
        Err(reason) => return unread_result(Unread::Internal(reason), started),
    };
    let whole = started.elapsed();
    let parse = parse.unwrap_or(whole);
    Extracted { parse, walk: whole.saturating_sub(parse), ..extracted_from_facts(file, facts) }
}

/// Returns the result for a file with these facts. A template counts as read, because it is no source file.
pub(crate) fn extracted_from_facts(file: &SourceFile, facts: Option<FileFacts>) -> Extracted {
    let sources = facts.as_ref().filter(|facts| !is_template(facts, &file.relative));
    let problem = sources.and_then(|facts| facts.problems.first());
    let unread = problem.map(|first| (first.span, Unread::InPart(first.message.clone())));
    Extracted { facts, index: None, is_kept: false, unread, parse: Duration::ZERO, walk: Duration::ZERO }
}

fn unread_result(unread: Unread, started: Instant) -> Extracted {
    let unread = Some((Span::default(), unread));
    Extracted { facts: None, index: None, is_kept: false, unread, parse: started.elapsed(), walk: Duration::ZERO }
}

/// Extracts the facts from bytes, and marks templates. Calls `parsed` when the tree is complete.
///
/// # Errors
///
/// The message of a panic of the front end.
fn facts_of_bytes(file: &SourceFile, bytes: &[u8], parsed: impl FnOnce()) -> Result<Option<FileFacts>, String> {
    let mut facts = catch(|| parse_bytes(file, bytes, parsed))?;
    if let Some(facts) = facts.as_mut().filter(|_| !file.is_notebook()) {
        mark_template(facts, bytes);
    }
    Ok(facts)
}

/// Extracts the facts from the bytes of a file.
///
/// # Errors
///
/// If the language has no front end, or if it panics.
pub(crate) fn extract_bytes(file: &SourceFile, bytes: &[u8]) -> Result<FileFacts, String> {
    facts_of_bytes(file, bytes, || ())?.ok_or_else(|| "this language is not read yet".to_owned())
}

/// Extracts the facts with the front end of the language. Calls `parsed` when the tree is complete.
fn parse_bytes(file: &SourceFile, bytes: &[u8], parsed: impl FnOnce()) -> Option<FileFacts> {
    match file.language {
        Language::Python => {
            // The size of the file was checked when it was read.
            let limits = blocklint_python::Limits { max_bytes: usize::MAX };
            Some(if file.is_notebook() {
                blocklint_python::extract_notebook(bytes, &limits, parsed)
            } else {
                blocklint_python::extract_watched(bytes, &limits, parsed)
            })
        }
        Language::Rust => Some(blocklint_rust::extract_watched(bytes, parsed)),
        Language::Java => Some(blocklint_java::extract_watched(bytes, parsed)),
    }
}

/// Decodes the bytes of a file to the text to which the spans of its facts refer. Also returns the starts of a
/// notebook's cells.
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
            Err(error) => Arc::from(lossy_text_of_same_length(error.as_bytes())),
        },
    };
    (text, Vec::new())
}

/// Decodes UTF-8 to a text of equal length: each invalid byte becomes a `?`.
fn lossy_text_of_same_length(bytes: &[u8]) -> String {
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
    fn invalid_bytes_keep_the_offsets_of_text() {
        assert_eq!(super::lossy_text_of_same_length(b"a\xff\xfe\xc3\xa9b"), "a??éb");
    }
}
