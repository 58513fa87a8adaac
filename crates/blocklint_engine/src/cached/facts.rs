//! Facts of files that did not change.

use std::cell::RefCell;
use std::io;
use std::time::Instant;

use blocklint_analysis::SourceFile as Analysed;
use blocklint_cache::{Digest, FileUpdate, Files, KnownFile};
use blocklint_facts::{BodyId, FileFacts, RegionId, SiteId, VarId, validate};
use blocklint_project::{Project, SourceFile, read};
use rustc_hash::FxHashMap;

use super::digest_of;
use super::inputs::{FileState, FileStates};
use crate::Progress;
use crate::extraction::{Extracted, extract_read, extract_unread, of_facts, on_all_threads};
use crate::panics::catch;

/// The outcome of one file, for the list that is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Became {
    seen: FileState,
    content: Digest,
    /// The known entry of the file, if its content still is the same.
    known: Option<KnownFile>,
    /// True if its facts may be stored; false after a panic.
    pub(super) keeps: bool,
}

thread_local! {
    /// Room for the bytes of one file's facts.
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Returns the facts of all files, of those that did not change as they were kept. Must run in a pool of threads with
/// large stacks.
pub(super) fn extract_known(
    project: &Project,
    files: &Files,
    looked: &FileStates,
    progress: &dyn Progress,
) -> (Vec<(Extracted, Became)>, std::time::Duration, std::time::Duration) {
    let limit = project.configuration.max_file_size;
    on_all_threads(project, progress, |at, file| one(file, files, looked.files[at], limit))
}

fn one(file: &SourceFile, files: &Files, seen: FileState, limit: u64) -> (Extracted, Became) {
    let known = files.get(file.relative.as_str()).copied();
    let same_stat = known.filter(|known| known.stat.is_some() && known.stat == seen.stat);
    let fits = seen.stat.is_some_and(|stat| stat.size <= limit);
    let became = |content, known, keeps| Became { seen, content, known, keeps };
    let of = |known: &KnownFile| kept(file, files, known).filter(|_| fits);
    if let Some(known) = same_stat.or_else(|| known.filter(|known| seen.content == Some(known.content)))
        && let Some(extracted) = of(&known)
    {
        return (extracted, became(known.content, Some(known), true));
    }
    let started = Instant::now();
    let bytes = match read(&file.path, limit) {
        Ok(bytes) => bytes,
        Err(unread) => {
            let extracted = extract_unread(unread, started);
            // It reads otherwise once the reason is another.
            let content = Digest::of_bytes(format!("{:?}", extracted.unread).as_bytes());
            return (extracted, became(content, None, false));
        }
    };
    let content = Digest::of_bytes(&bytes);
    if let Some(known) = known.filter(|known| known.content == content)
        && let Some(extracted) = of(&known)
    {
        return (extracted, became(content, Some(known), true));
    }
    let extracted = extract_read(file, &bytes, started);
    let keeps = extracted.facts.is_some();
    (extracted, became(content, None, keeps))
}

/// Returns the stored facts of a file. Bytes that cannot be decoded count as absent.
fn kept(file: &SourceFile, files: &Files, known: &KnownFile) -> Option<Extracted> {
    let facts = ROOM.with_borrow_mut(|room| FileFacts::from_bytes(files.facts(known, room)?))?;
    (facts.language == file.language && holds_together(&facts)).then(|| {
        let mut extracted = of_facts(file, Some(facts));
        extracted.is_kept = true;
        extracted
    })
}

/// True if everything exists that the facts refer to. A checksum does not ensure this, because the author of a
/// repository may commit facts with a fitting checksum, and the analysis, which trusts facts, would panic.
fn holds_together(facts: &FileFacts) -> bool {
    let look = || {
        let ids = |count: usize| 0..count as u32;
        // This check reads in order; the analysis reads in any order. A missing place panics, which the caller catches.
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
            && facts.suppressions.iter().all(|of| facts.list(of.rules).len() <= facts.lists.len())
    };
    catch(look) == Ok(true)
}

/// Returns the digest of the bytes of all files, as they were read.
pub(super) fn digest(project: &Project, all: &[Became]) -> Digest {
    digest_of(project, all.iter().map(|became| Some(became.content))).unwrap_or(Digest(0))
}

/// Writes the list, with the facts that are new, as the analysis has them.
pub(super) fn save_sources(project: &Project, files: Files, all: &[Became], sources: &[Analysed]) -> io::Result<()> {
    let facts: FxHashMap<&str, &FileFacts> = sources.iter().map(|file| (file.path.as_str(), &file.facts)).collect();
    write(project, files, all, |at| facts.get(project.files[at].path.as_str()).copied())
}

/// Stores facts as they were extracted.
pub(super) fn save(project: &Project, files: Files, all: &[Became], extracted: &[Extracted]) -> io::Result<()> {
    write(project, files, all, |at| extracted[at].facts.as_ref())
}

fn write<'f>(
    project: &Project,
    files: Files,
    all: &[Became],
    facts: impl Fn(usize) -> Option<&'f FileFacts>,
) -> io::Result<()> {
    let listed = project.files.iter().zip(all).enumerate().map(|(at, (file, became))| {
        let stat = became.seen.stat.filter(|_| !became.seen.recent);
        let located = match became.known {
            Some(known) => FileUpdate::Kept(known.with_stat(stat)),
            None => {
                let facts = facts(at).filter(|_| became.keeps).and_then(FileFacts::to_bytes);
                FileUpdate::New { stat, content: became.content, facts }
            }
        };
        (file.relative.as_str(), located)
    });
    files.save(listed, |path| stays(project, path))
}

/// True if the entry of a file outside this run stays: other runs, with other settings, may need it.
pub(super) fn stays(project: &Project, path: &str) -> bool {
    project.base.join(path).is_file()
}
