//! The list of the files of a project in the cache, with the places of their facts.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::segments::{self, FactsPlace, Segment, SegmentWriter};
use crate::{Digest, Stat, stored};

/// The most segments. If there are more, all facts are written to one segment.
const MOST_SEGMENTS: usize = 12;
/// The most bytes of unused facts. If there are more, and they are more than half, all facts are written to one
/// segment.
const MOST_WASTE: u64 = 1 << 20;

/// The name of the file with the list.
pub(crate) const INDEX: &str = "files";

/// A file as an earlier run read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFile {
    /// The metadata of the file when it was read. `None` if a later change may leave the metadata as it is.
    pub stat: Option<Stat>,
    /// The digest of its bytes.
    pub content: Digest,
    /// The place of its facts. `None` if only its content is known.
    facts: Option<FactsPlace>,
}

/// A file of a run for the new list.
#[derive(Clone, Debug)]
pub enum FileUpdate {
    /// The file has the facts that are stored already.
    Kept(KnownFile),
    /// The file has new facts.
    New {
        /// The metadata of the file.
        stat: Option<Stat>,
        /// The digest of its bytes.
        content: Digest,
        /// Its facts, as bytes. `None` if they should not be stored.
        facts: Option<Vec<u8>>,
    },
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Index {
    /// The segments, each with the number of its bytes that are in use.
    segments: Vec<(u64, u64)>,
    files: Vec<(String, KnownFile)>,
}

/// The known files of a project.
#[derive(Debug)]
pub struct Files {
    folder: Utf8PathBuf,
    index: Index,
    by_path: FxHashMap<String, u32>,
    segments: Vec<Segment>,
}

impl KnownFile {
    /// Returns the file with other metadata.
    #[must_use]
    pub fn with_stat(self, stat: Option<Stat>) -> Self {
        KnownFile { stat, ..self }
    }
}

impl Files {
    /// Reads the list. Without a list no file is known.
    pub(crate) fn read(folder: &Utf8Path) -> Self {
        let index: Index = stored::read(&folder.join(INDEX)).unwrap_or_default();
        let by_path = (0u32..).zip(&index.files).map(|(index, (path, _))| (path.clone(), index)).collect();
        let segments = index.segments.iter().filter_map(|(id, _)| Segment::open(folder, *id)).collect();
        Files { folder: folder.to_owned(), index, by_path, segments }
    }

    /// Returns a list without files.
    pub(crate) fn empty(folder: &Utf8Path) -> Self {
        Files {
            folder: folder.to_owned(),
            index: Index::default(),
            by_path: FxHashMap::default(),
            segments: Vec::new(),
        }
    }

    /// Returns the entry of the file at this path.
    pub fn get(&self, path: &str) -> Option<&KnownFile> {
        let position = *self.by_path.get(path)?;
        self.index.files.get(position as usize).map(|(_, known)| known)
    }

    /// Reads the facts of a file into `buffer`, and returns them. `None` if they are missing or damaged.
    pub fn facts<'b>(&self, known: &KnownFile, buffer: &'b mut Vec<u8>) -> Option<&'b [u8]> {
        let place = known.facts?;
        self.segments.iter().find(|segment| segment.id == place.segment)?.read(place, buffer)
    }

    /// Replaces the list. `files` are all files of this run, sorted by path. Other files stay in the list if `stays` is
    /// true for their path.
    ///
    /// # Errors
    ///
    /// If a file cannot be written. The old list then stays.
    pub fn save<'f>(
        self,
        files: impl Iterator<Item = (&'f str, FileUpdate)>,
        stays: impl Fn(&str) -> bool,
    ) -> io::Result<()> {
        let mut listed = Vec::with_capacity(self.index.files.len());
        let (mut writer, mut written) = (None, Vec::new());
        let mut has_changes = false;
        for (path, update) in files {
            let known = match update {
                FileUpdate::Kept(known) => {
                    has_changes |= self.get(path) != Some(&known);
                    known
                }
                FileUpdate::New { stat, content, facts } => {
                    has_changes = true;
                    if let Some(facts) = facts {
                        let writer = match &mut writer {
                            Some(writer) => writer,
                            none => none.insert(SegmentWriter::new(&self.folder)?),
                        };
                        writer.push(&facts)?;
                        written.push(listed.len());
                    }
                    KnownFile { stat, content, facts: None }
                }
            };
            listed.push((path.to_owned(), known));
        }
        if let Some(writer) = writer {
            for (index, place) in written.into_iter().zip(writer.finish()?) {
                listed[index].1.facts = Some(place);
            }
        }
        let paths_of_run: FxHashSet<&str> = listed.iter().map(|(path, _)| path.as_str()).collect();
        let others = self.index.files.iter().filter(|(path, _)| !paths_of_run.contains(path.as_str()));
        let others: Vec<_> = others.cloned().collect();
        let before = others.len();
        let others: Vec<_> = others.into_iter().filter(|(path, _)| stays(path)).collect();
        has_changes |= others.len() != before;
        if !has_changes {
            return Ok(());
        }
        listed.extend(others);
        let mut index = Index { segments: segment_lengths(&listed), files: listed };
        if self.is_scattered(&index) {
            self.merge_segments(&mut index)?;
        }
        stored::write(&self.folder.join(INDEX), &index)
    }

    /// True if a list has too many segments, or too many bytes of them are unused.
    fn is_scattered(&self, index: &Index) -> bool {
        let used: u64 = index.segments.iter().map(|(_, used)| used).sum();
        let size = |id: u64| std::fs::metadata(segments::path(&self.folder, id)).map_or(0, |about| about.len());
        let whole: u64 = index.segments.iter().map(|(id, _)| size(*id)).sum();
        index.segments.len() > MOST_SEGMENTS || whole > 2 * used + MOST_WASTE
    }

    /// Writes all facts to one new segment.
    fn merge_segments(&self, index: &mut Index) -> io::Result<()> {
        let segments: FxHashMap<u64, Segment> =
            index.segments.iter().filter_map(|(id, _)| Some((*id, Segment::open(&self.folder, *id)?))).collect();
        let (mut writer, mut written, mut buffer) = (SegmentWriter::new(&self.folder)?, Vec::new(), Vec::new());
        for (number, (_, known)) in index.files.iter_mut().enumerate() {
            let Some(place) = known.facts.take() else { continue };
            if let Some(facts) = segments.get(&place.segment).and_then(|segment| segment.read(place, &mut buffer)) {
                writer.push(facts)?;
                written.push(number);
            }
        }
        for (number, place) in written.into_iter().zip(writer.finish()?) {
            index.files[number].1.facts = Some(place);
        }
        index.segments = segment_lengths(&index.files);
        Ok(())
    }
}

/// Returns the ids of the segments that the list of a folder refers to.
pub(crate) fn segments_of(folder: &Utf8Path) -> Vec<u64> {
    let index: Index = stored::read(&folder.join(INDEX)).unwrap_or_default();
    index.segments.into_iter().map(|(id, _)| id).collect()
}

/// Returns the segments that files refer to, each with the number of its bytes that are in use.
fn segment_lengths(files: &[(String, KnownFile)]) -> Vec<(u64, u64)> {
    let mut lengths: FxHashMap<u64, u64> = FxHashMap::default();
    for place in files.iter().filter_map(|(_, known)| known.facts) {
        *lengths.entry(place.segment).or_default() += u64::from(place.length);
    }
    let mut lengths: Vec<_> = lengths.into_iter().collect();
    lengths.sort_unstable();
    lengths
}
