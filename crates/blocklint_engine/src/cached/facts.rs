//! The cached facts of files: finds the stored facts of unchanged files, extracts those of changed ones, and stores
//! them.

use std::cell::RefCell;
use std::io;
use std::time::Instant;

use blocklint_analysis::SourceFile as Analysed;
use blocklint_cache::{Digest, FileUpdate, Files, KnownFile};
use blocklint_facts::{BodyId, FileFacts, RegionId, SiteId, VarId, validate};
use blocklint_project::{Project, SourceFile, read};
use rustc_hash::FxHashMap;

use super::digest_of_files;
use super::inputs::{FileState, FileStates};
use crate::Progress;
use crate::extraction::{Extracted, extract_read, extract_unread, extracted_from_facts, on_all_threads};
use crate::panics::catch;

/// The outcome of reading one file, for its entry in the cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileOutcome {
    state: FileState,
    /// The digest of its bytes, or of the reason why it could not be read.
    content: Digest,
    /// The stored entry of the file, if its content is unchanged.
    known: Option<KnownFile>,
    /// True if its facts may be stored; false if it could not be read or its extraction panicked.
    pub(super) is_storable: bool,
}

thread_local! {
    /// A buffer for the stored bytes of one file's facts.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Returns the facts of all files, out of the cache if they did not change. Must run in a pool of threads with large
/// stacks.
pub(super) fn extract_known(
    project: &Project,
    files: &Files,
    states: &FileStates,
    progress: &dyn Progress,
) -> (Vec<(Extracted, FileOutcome)>, std::time::Duration, std::time::Duration) {
    let limit = project.configuration.max_file_size;
    on_all_threads(project, progress, |index, file| extract_known_file(file, files, states.files[index], limit))
}

fn extract_known_file(file: &SourceFile, files: &Files, state: FileState, limit: u64) -> (Extracted, FileOutcome) {
    let known = files.get(file.relative.as_str()).copied();
    let same_stat = known.filter(|known| known.stat.is_some() && known.stat == state.stat);
    let fits = state.stat.is_some_and(|stat| stat.size <= limit);
    let outcome = |content, known, is_storable| FileOutcome { state, content, known, is_storable };
    let stored = |known: &KnownFile| stored_facts(file, files, known).filter(|_| fits);
    if let Some(known) = same_stat.or_else(|| known.filter(|known| state.content == Some(known.content)))
        && let Some(extracted) = stored(&known)
    {
        return (extracted, outcome(known.content, Some(known), true));
    }
    let started = Instant::now();
    let bytes = match read(&file.path, limit) {
        Ok(bytes) => bytes,
        Err(unread) => {
            let extracted = extract_unread(unread, started);
            // If the reason changes, the digest changes.
            let content = Digest::of_bytes(format!("{:?}", extracted.unread).as_bytes());
            return (extracted, outcome(content, None, false));
        }
    };
    let content = Digest::of_bytes(&bytes);
    if let Some(known) = known.filter(|known| known.content == content)
        && let Some(extracted) = stored(&known)
    {
        return (extracted, outcome(content, Some(known), true));
    }
    let extracted = extract_read(file, &bytes, started);
    let is_storable = extracted.facts.is_some();
    (extracted, outcome(content, None, is_storable))
}

/// Returns the stored facts of a file; `None` if they cannot be decoded or are not consistent.
fn stored_facts(file: &SourceFile, files: &Files, known: &KnownFile) -> Option<Extracted> {
    let facts = BUFFER.with_borrow_mut(|buffer| FileFacts::from_bytes(files.facts(known, buffer)?))?;
    (facts.language == file.language && are_consistent(&facts)).then(|| {
        let mut extracted = extracted_from_facts(file, Some(facts));
        extracted.is_kept = true;
        extracted
    })
}

/// True if all indices in the facts are valid. The analysis would panic otherwise. A checksum is not enough, because
/// the author of a repository may commit manipulated facts with a correct checksum.
fn are_consistent(facts: &FileFacts) -> bool {
    let check = || {
        let ids = |count: usize| 0..count as u32;
        // An index out of bounds panics here, which `catch` turns into false.
        validate(facts).is_ok()
            && facts.symbols.iter().all(|(sym, _)| sym.is_some())
            && ids(facts.bodies.len()).map(BodyId).all(|id| {
                let parent = facts.body(id).parent;
                let follows = parent.get().is_none_or(|parent| parent < id);
                follows
                    && facts.params_of(id).len() <= facts.params.len()
                    && facts.vars_of(id).all(|var| facts.var(var).body == id)
            })
            && ids(facts.regions.len())
                .map(RegionId)
                .all(|id| facts.region(id).parent.get().is_none_or(|parent| parent < id))
            && ids(facts.vars.len()).map(VarId).all(|id| facts.assigns_of(id).count() <= facts.assigns.len())
            && ids(facts.sites.len()).map(SiteId).all(|id| facts.args_of(id).len() <= facts.args.len())
            && facts.suppressions.iter().all(|suppression| facts.list(suppression.rules).len() <= facts.lists.len())
    };
    catch(check) == Ok(true)
}

/// Returns the digest of the bytes of all files as they were read.
pub(super) fn content_digest(project: &Project, outcomes: &[FileOutcome]) -> Digest {
    digest_of_files(project, outcomes.iter().map(|outcome| Some(outcome.content))).unwrap_or(Digest(0))
}

/// Stores the entries of all files. New facts are those of the linker's input `sources`.
pub(super) fn store_linked_facts(
    project: &Project,
    files: Files,
    outcomes: &[FileOutcome],
    sources: &[Analysed],
) -> io::Result<()> {
    let facts: FxHashMap<&str, &FileFacts> = sources.iter().map(|file| (file.path.as_str(), &file.facts)).collect();
    store_entries(project, files, outcomes, |index| facts.get(project.files[index].path.as_str()).copied())
}

/// Stores the entries of all files. New facts are those of `extracted`.
pub(super) fn store_extracted_facts(
    project: &Project,
    files: Files,
    outcomes: &[FileOutcome],
    extracted: &[Extracted],
) -> io::Result<()> {
    store_entries(project, files, outcomes, |index| extracted[index].facts.as_ref())
}

/// Stores the entries of all files; `facts` returns the new facts of a file by its index.
fn store_entries<'f>(
    project: &Project,
    files: Files,
    outcomes: &[FileOutcome],
    facts: impl Fn(usize) -> Option<&'f FileFacts>,
) -> io::Result<()> {
    let listed = project.files.iter().zip(outcomes).enumerate().map(|(index, (file, outcome))| {
        let stat = outcome.state.stat.filter(|_| !outcome.state.is_recent);
        let located = match outcome.known {
            Some(known) => FileUpdate::Kept(known.with_stat(stat)),
            None => {
                let facts = facts(index).filter(|_| outcome.is_storable).and_then(FileFacts::to_bytes);
                FileUpdate::New { stat, content: outcome.content, facts }
            }
        };
        (file.relative.as_str(), located)
    });
    files.save(listed, |path| has_source_file(project, path))
}

/// True if a file exists. Entries of existing files outside of this run stay in the cache, because runs with other
/// settings may need them.
pub(super) fn has_source_file(project: &Project, path: &str) -> bool {
    project.base.join(path).is_file()
}
