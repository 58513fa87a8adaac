//! Segments: files with the facts of many source files one after the other. A segment is written once and never
//! changed.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::stored;

/// The place of the facts of one source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FactsPlace {
    /// The id of the segment.
    pub(crate) segment: u64,
    pub(crate) offset: u64,
    pub(crate) length: u32,
    checksum: u64,
}

/// An open segment.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) id: u64,
    file: SharedFile,
    /// The number of its bytes.
    length: u64,
}

impl Segment {
    /// Opens a segment. `None` if it is missing.
    pub(crate) fn open(folder: &Utf8Path, id: u64) -> Option<Self> {
        let path = path(folder, id);
        let file = stored::is_plain(&path).then(|| File::open(path).ok()).flatten()?;
        let length = file.metadata().ok()?.len();
        Some(Segment { id, file: SharedFile::new(file), length })
    }

    /// Reads the bytes at a place into `buffer`, and returns them. `None` if they are damaged.
    pub(crate) fn read<'b>(&self, place: FactsPlace, buffer: &'b mut Vec<u8>) -> Option<&'b [u8]> {
        // The length is checked first, because a damaged list must not make the program allocate any amount of memory.
        place.offset.checked_add(u64::from(place.length)).filter(|end| *end <= self.length)?;
        buffer.clear();
        buffer.resize(place.length as usize, 0);
        self.file.read(buffer, place.offset).ok()?;
        (xxh3_64(buffer) == place.checksum).then_some(buffer)
    }
}

/// Returns the path of a segment.
pub(crate) fn path(folder: &Utf8Path, id: u64) -> Utf8PathBuf {
    folder.join(format!("{id:016x}.facts"))
}

/// Writes a segment. Facts are written as they come, so that those of a large project are not in memory twice.
pub(crate) struct SegmentWriter {
    folder: Utf8PathBuf,
    file: BufWriter<NamedTempFile>,
    hasher: Xxh3,
    places: Vec<FactsPlace>,
    offset: u64,
}

impl SegmentWriter {
    pub(crate) fn new(folder: &Utf8Path) -> io::Result<Self> {
        let file = tempfile::Builder::new().prefix(stored::UNFINISHED).tempfile_in(folder)?;
        Ok(SegmentWriter {
            folder: folder.to_owned(),
            file: BufWriter::with_capacity(1 << 18, file),
            hasher: Xxh3::new(),
            places: Vec::new(),
            offset: 0,
        })
    }

    pub(crate) fn push(&mut self, facts: &[u8]) -> io::Result<()> {
        self.file.write_all(facts)?;
        self.hasher.update(facts);
        let length = u32::try_from(facts.len()).map_err(io::Error::other)?;
        // The id of the segment is known when it is finished.
        self.places.push(FactsPlace { segment: 0, offset: self.offset, length, checksum: xxh3_64(facts) });
        self.offset += u64::from(length);
        Ok(())
    }

    /// Names the segment by the hash of its content, and returns the places of the facts. Two processes that write the
    /// same content write one segment.
    pub(crate) fn finish(self) -> io::Result<Vec<FactsPlace>> {
        let id = self.hasher.digest();
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.persist(path(&self.folder, id)).map_err(|error| error.error)?;
        Ok(self.places.into_iter().map(|place| FactsPlace { segment: id, ..place }).collect())
    }
}

/// A file that several threads read at once.
#[cfg(unix)]
#[derive(Debug)]
struct SharedFile(File);

#[cfg(unix)]
impl SharedFile {
    fn new(file: File) -> Self {
        SharedFile(file)
    }

    fn read(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.0, buffer, offset)
    }
}

#[cfg(not(unix))]
#[derive(Debug)]
struct SharedFile(std::sync::Mutex<File>);

#[cfg(not(unix))]
impl SharedFile {
    fn new(file: File) -> Self {
        SharedFile(std::sync::Mutex::new(file))
    }

    fn read(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = self.0.lock().map_err(|_| io::Error::other("another thread failed"))?;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(buffer)
    }
}
