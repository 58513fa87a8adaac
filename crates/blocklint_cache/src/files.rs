//! Which facts of which files are kept.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::segments::{self, At, Segment, Writer};
use crate::{Digest, Stat, stored};

/// Segments beyond which all are written as one.
const MOST_SEGMENTS: usize = 12;
/// The bytes of unused facts beyond which all segments are written as one too, if they are more than half.
const MOST_WASTE: u64 = 1 << 20;

/// The name of the file that lists them.
pub(crate) const INDEX: &str = "files";

/// A file as an earlier run knew it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// The metadata of the file when it was read; `None` if a later change might leave the metadata as it is.
    pub stat: Option<Stat>,
    /// Its bytes.
    pub content: Digest,
    /// Its facts; `None` where only its content is known.
    facts: Option<At>,
}

/// The facts of a file for the list that is kept: those of before, or new ones.
#[derive(Clone, Debug)]
pub enum Located {
    /// As they are kept already.
    Kept(Known),
    /// New ones.
    New {
        /// The metadata of the file.
        stat: Option<Stat>,
        /// Its bytes.
        content: Digest,
        /// Its facts, as bytes; nothing where they are not to be kept.
        facts: Option<Vec<u8>>,
    },
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Index {
    /// Segments with their lengths.
    segments: Vec<(u64, u64)>,
    files: Vec<(String, Known)>,
}

/// The known files of a project.
#[derive(Debug)]
pub struct Files {
    folder: Utf8PathBuf,
    index: Index,
    by_path: FxHashMap<String, u32>,
    segments: Vec<Segment>,
}

impl Known {
    /// Returns the entry with the current metadata of the file.
    #[must_use]
    pub fn at(self, stat: Option<Stat>) -> Self {
        Known { stat, ..self }
    }
}

impl Files {
    /// Reads the list; without one nothing is known.
    pub(crate) fn read(folder: &Utf8Path) -> Self {
        let index: Index = stored::read(&folder.join(INDEX)).unwrap_or_default();
        let by_path = (0u32..).zip(&index.files).map(|(at, (path, _))| (path.clone(), at)).collect();
        let segments = index.segments.iter().filter_map(|(id, _)| Segment::open(folder, *id)).collect();
        Files { folder: folder.to_owned(), index, by_path, segments }
    }

    /// Knows nothing.
    pub(crate) fn none(folder: &Utf8Path) -> Self {
        Files {
            folder: folder.to_owned(),
            index: Index::default(),
            by_path: FxHashMap::default(),
            segments: Vec::new(),
        }
    }

    /// Returns the entry of the file at this path.
    pub fn get(&self, path: &str) -> Option<&Known> {
        let at = *self.by_path.get(path)?;
        self.index.files.get(at as usize).map(|(_, known)| known)
    }

    /// Returns the facts of a file, as bytes in `buffer`; `None` where they are not there as they were written.
    pub fn facts<'b>(&self, known: &Known, buffer: &'b mut Vec<u8>) -> Option<&'b [u8]> {
        let at = known.facts?;
        self.segments.iter().find(|segment| segment.id == at.segment)?.read(at, buffer)
    }

    /// Replaces the list: `files` are all of this run by path, sorted. Of others those stay that `stays` says.
    ///
    /// # Errors
    ///
    /// Where something cannot be written; the old list then stands.
    pub fn save<'f>(
        self,
        files: impl Iterator<Item = (&'f str, Located)>,
        stays: impl Fn(&str) -> bool,
    ) -> io::Result<()> {
        let mut listed = Vec::with_capacity(self.index.files.len());
        let (mut writer, mut of) = (None, Vec::new());
        let mut changes = false;
        for (path, located) in files {
            let known = match located {
                Located::Kept(known) => {
                    changes |= self.get(path) != Some(&known);
                    known
                }
                Located::New { stat, content, facts } => {
                    changes = true;
                    if let Some(facts) = facts {
                        let writer = match &mut writer {
                            Some(writer) => writer,
                            none => none.insert(Writer::new(&self.folder)?),
                        };
                        writer.push(&facts)?;
                        of.push(listed.len());
                    }
                    Known { stat, content, facts: None }
                }
            };
            listed.push((path.to_owned(), known));
        }
        if let Some(writer) = writer {
            for (number, at) in of.into_iter().zip(writer.finish()?) {
                listed[number].1.facts = Some(at);
            }
        }
        let of_run: FxHashSet<&str> = listed.iter().map(|(path, _)| path.as_str()).collect();
        let others = self.index.files.iter().filter(|(path, _)| !of_run.contains(path.as_str()));
        let others: Vec<_> = others.cloned().collect();
        let before = others.len();
        let others: Vec<_> = others.into_iter().filter(|(path, _)| stays(path)).collect();
        changes |= others.len() != before;
        if !changes {
            return Ok(());
        }
        listed.extend(others);
        let mut index = Index { segments: lengths(&listed), files: listed };
        if self.is_scattered(&index) {
            self.gather(&mut index)?;
        }
        stored::write(&self.folder.join(INDEX), &index)
    }

    /// True if too many segments, or too much of them, would be kept for too little.
    fn is_scattered(&self, index: &Index) -> bool {
        let live: u64 = index.segments.iter().map(|(_, live)| live).sum();
        let size = |id: u64| std::fs::metadata(segments::path(&self.folder, id)).map_or(0, |about| about.len());
        let whole: u64 = index.segments.iter().map(|(id, _)| size(*id)).sum();
        index.segments.len() > MOST_SEGMENTS || whole > 2 * live + MOST_WASTE
    }

    /// Writes all facts as one segment.
    fn gather(&self, index: &mut Index) -> io::Result<()> {
        let open: FxHashMap<u64, Segment> =
            index.segments.iter().filter_map(|(id, _)| Some((*id, Segment::open(&self.folder, *id)?))).collect();
        let (mut writer, mut of, mut buffer) = (Writer::new(&self.folder)?, Vec::new(), Vec::new());
        for (number, (_, known)) in index.files.iter_mut().enumerate() {
            let Some(at) = known.facts.take() else { continue };
            if let Some(piece) = open.get(&at.segment).and_then(|segment| segment.read(at, &mut buffer)) {
                writer.push(piece)?;
                of.push(number);
            }
        }
        for (number, at) in of.into_iter().zip(writer.finish()?) {
            index.files[number].1.facts = Some(at);
        }
        index.segments = lengths(&index.files);
        Ok(())
    }
}

/// Returns the numbers of the segments that a list asks for.
pub(crate) fn segments_of(folder: &Utf8Path) -> Vec<u64> {
    let index: Index = stored::read(&folder.join(INDEX)).unwrap_or_default();
    index.segments.into_iter().map(|(id, _)| id).collect()
}

/// Returns the segments that are asked for, with the bytes of each that are.
fn lengths(files: &[(String, Known)]) -> Vec<(u64, u64)> {
    let mut lengths: FxHashMap<u64, u64> = FxHashMap::default();
    for at in files.iter().filter_map(|(_, known)| known.facts) {
        *lengths.entry(at.segment).or_default() += u64::from(at.length);
    }
    let mut lengths: Vec<_> = lengths.into_iter().collect();
    lengths.sort_unstable();
    lengths
}
