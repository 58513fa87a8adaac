//! From source files to facts, on all threads.

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
use crate::templates::{is_template, mark};

/// The outcome of one file.
#[derive(Debug)]
pub struct Extracted {
    /// The facts of the file; none if it was not read.
    pub facts: Option<FileFacts>,
    /// Where its names and values are used; only [`on_all_threads`] makes it.
    pub index: Option<FileIndex>,
    /// True if its index is built only on demand, because its facts came from the cache and are not in the processor's
    /// caches.
    pub(crate) is_kept: bool,
    /// The unreadable part, with its span.
    pub unread: Option<(Span, Unread)>,
    /// Time until its tree stood: reading, decoding, parsing.
    parse: Duration,
    /// Time for its facts.
    walk: Duration,
}

impl Extracted {
    /// Makes the index of names and values while the facts lie in the processor's cache. For facts out of the cache
    /// folder it is made when it is first needed.
    fn make_index(&mut self, scratch: &mut Scratch) {
        let indexed = Instant::now();
        self.index = self.facts.as_ref().filter(|_| !self.is_kept).map(|facts| FileIndex::new(facts, scratch));
        self.walk += indexed.elapsed();
    }

    /// True if the file could be opened, even if it could not be parsed.
    pub(crate) fn was_opened(&self) -> bool {
        !matches!(self.unread, Some((_, Unread::Whole(UnreadFile::Unreadable(_)))))
    }
}

/// Returns the facts of all files, in their order. Must run in a pool of threads with large stacks. Says how long it
/// took to parse and to make facts: the wall time, divided as the threads' time was.
pub(crate) fn extract_all(project: &Project, progress: &dyn Progress) -> (Vec<Extracted>, Duration, Duration) {
    let limit = project.configuration.max_file_size;
    let (extracted, parse, facts) = on_all_threads(project, progress, |_, file| (extract(file, limit), ()));
    (extracted.into_iter().map(|(extracted, ())| extracted).collect(), parse, facts)
}

/// Returns each file as the function makes it, and where its names are used; the function gets its number. For the rest
/// as [`extract_all`].
pub(crate) fn on_all_threads<T: Send>(
    project: &Project,
    progress: &dyn Progress,
    make: impl Fn(usize, &SourceFile) -> (Extracted, T) + Sync,
) -> (Vec<(Extracted, T)>, Duration, Duration) {
    progress.begin(Step::Read, project.files.len());
    let started = Instant::now();
    let extracted = project.files.par_iter().enumerate().map_init(Scratch::default, |scratch, (at, file)| {
        let (mut extracted, rest) = make(at, file);
        extracted.make_index(scratch);
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

/// Returns the results of `extract` for these files, in their order, with their indices. Must run in a pool of threads
/// with large stacks.
pub(crate) fn extract_some(files: &[&SourceFile], extract: impl Fn(&SourceFile) -> Extracted + Sync) -> Vec<Extracted> {
    let extracted = files.par_iter().map_init(Scratch::default, |scratch, file| {
        let mut extracted = extract(file);
        extracted.make_index(scratch);
        extracted
    });
    extracted.collect()
}

/// Returns the facts of a file that an editor holds open. Their spans count the bytes of this text, whatever encoding
/// the file declares for the bytes it has on disk.
pub(crate) fn extract_text(file: &SourceFile, text: &str, limit: u64) -> Extracted {
    let size = text.len() as u64;
    let started = Instant::now();
    let not_read = |unread| {
        let unread = Some((Span::default(), unread));
        Extracted { facts: None, index: None, is_kept: false, unread, parse: started.elapsed(), walk: Duration::ZERO }
    };
    if size > limit {
        return not_read(Unread::Whole(UnreadFile::TooLarge { size, limit }));
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
    Extracted { parse: started.elapsed(), ..of_facts(file, facts) }
}

/// Returns the facts of one file.
pub fn extract(file: &SourceFile, limit: u64) -> Extracted {
    let started = Instant::now();
    let bytes = match file.read(limit) {
        Ok(bytes) => bytes,
        Err(unread) => return extract_unread(unread, started),
    };
    extract_read(file, &bytes, started)
}

/// Returns the extraction of a file that has no bytes to offer.
pub(crate) fn extract_unread(unread: UnreadFile, started: Instant) -> Extracted {
    not_read(Unread::Whole(unread), started)
}

/// Extracts the facts from bytes that were read; `started` is the begin of the read.
pub(crate) fn extract_read(file: &SourceFile, bytes: &[u8], started: Instant) -> Extracted {
    let mut parse = None;
    let facts = match facts_of_bytes(file, bytes, || parse = Some(started.elapsed())) {
        Ok(facts) => facts,
        Err(reason) => return not_read(Unread::Internal(reason), started),
    };
    let whole = started.elapsed();
    let parse = parse.unwrap_or(whole);
    Extracted { parse, walk: whole.saturating_sub(parse), ..of_facts(file, facts) }
}

/// Returns the result for a file that has these facts. A template counts as read, because it is no source file.
pub(crate) fn of_facts(file: &SourceFile, facts: Option<FileFacts>) -> Extracted {
    let sources = facts.as_ref().filter(|facts| !is_template(facts, &file.relative));
    let problem = sources.and_then(|facts| facts.problems.first());
    let unread = problem.map(|first| (first.span, Unread::InPart(first.message.clone())));
    Extracted { facts, index: None, is_kept: false, unread, parse: Duration::ZERO, walk: Duration::ZERO }
}

fn not_read(unread: Unread, started: Instant) -> Extracted {
    let unread = Some((Span::default(), unread));
    Extracted { facts: None, index: None, is_kept: false, unread, parse: started.elapsed(), walk: Duration::ZERO }
}

/// Returns the facts of these bytes.
///
/// # Errors
///
/// Returns the facts of the bytes, or the message of a panic of the front end.
fn facts_of_bytes(file: &SourceFile, bytes: &[u8], parsed: impl FnOnce()) -> Result<Option<FileFacts>, String> {
    let mut facts = catch(|| facts_of(file, bytes, parsed))?;
    if let Some(facts) = facts.as_mut().filter(|_| !file.is_notebook()) {
        mark(facts, bytes);
    }
    Ok(facts)
}

/// Returns the facts of a file that holds these bytes.
///
/// # Errors
///
/// Why there are none: no front end, or a mistake in it.
pub(crate) fn extract_bytes(file: &SourceFile, bytes: &[u8]) -> Result<FileFacts, String> {
    facts_of_bytes(file, bytes, || ())?.ok_or_else(|| "this language is not read yet".to_owned())
}

/// Returns the facts that the front end of the language extracts from the bytes; calls `parsed` when the tree is
/// complete. Returns nothing for a language without a front end.
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

/// Returns the text whose bytes the spans of a file's facts count, and where the cells of a notebook begin in it.
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

/// Returns the bytes as text of the same length: one `?` for each byte that is none.
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
