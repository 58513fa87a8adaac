//! Facts of many files one behind the other, in files that are written once and never changed.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::stored;

/// Where the bytes of one file's facts lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct At {
    /// Which segment.
    pub(crate) segment: u64,
    pub(crate) offset: u64,
    pub(crate) length: u32,
    sum: u64,
}

/// A segment that is open.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) id: u64,
    file: Source,
    /// How many bytes it has.
    length: u64,
}

impl Segment {
    /// Opens it; `None` where it is not there.
    pub(crate) fn open(folder: &Utf8Path, id: u64) -> Option<Self> {
        let path = path(folder, id);
        let file = stored::is_plain(&path).then(|| File::open(path).ok()).flatten()?;
        let length = file.metadata().ok()?.len();
        Some(Segment { id, file: Source::new(file), length })
    }

    /// Returns the bytes at a place into `buffer`; `None` where they are not what was written.
    pub(crate) fn read<'b>(&self, at: At, buffer: &'b mut Vec<u8>) -> Option<&'b [u8]> {
        // A list that is not this program's must not make it ask for memory without end.
        at.offset.checked_add(u64::from(at.length)).filter(|end| *end <= self.length)?;
        buffer.clear();
        buffer.resize(at.length as usize, 0);
        self.file.read(buffer, at.offset).ok()?;
        (xxh3_64(buffer) == at.sum).then_some(buffer)
    }
}

/// Returns the file of a segment.
pub(crate) fn path(folder: &Utf8Path, id: u64) -> Utf8PathBuf {
    folder.join(format!("{id:016x}.facts"))
}

/// A segment that is being written: pieces go out as they come, so that a large project's facts do not lie in memory twice.
pub(crate) struct Writer {
    folder: Utf8PathBuf,
    file: BufWriter<NamedTempFile>,
    hasher: Xxh3,
    places: Vec<At>,
    offset: u64,
}

impl Writer {
    pub(crate) fn new(folder: &Utf8Path) -> io::Result<Self> {
        let file = tempfile::Builder::new().prefix(stored::UNFINISHED).tempfile_in(folder)?;
        Ok(Writer {
            folder: folder.to_owned(),
            file: BufWriter::with_capacity(1 << 18, file),
            hasher: Xxh3::new(),
            places: Vec::new(),
            offset: 0,
        })
    }

    pub(crate) fn push(&mut self, piece: &[u8]) -> io::Result<()> {
        self.file.write_all(piece)?;
        self.hasher.update(piece);
        let length = u32::try_from(piece.len()).map_err(io::Error::other)?;
        // Its segment has no number before it is whole.
        self.places.push(At { segment: 0, offset: self.offset, length, sum: xxh3_64(piece) });
        self.offset += u64::from(length);
        Ok(())
    }

    /// Gives it its name, which is that of its content: two processes that write the same write one. The places of the pieces.
    pub(crate) fn finish(self) -> io::Result<Vec<At>> {
        let id = self.hasher.digest();
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.persist(path(&self.folder, id)).map_err(|error| error.error)?;
        Ok(self.places.into_iter().map(|at| At { segment: id, ..at }).collect())
    }
}

/// A file that several threads read at once.
#[cfg(unix)]
#[derive(Debug)]
struct Source(File);

#[cfg(unix)]
impl Source {
    fn new(file: File) -> Self {
        Source(file)
    }

    fn read(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.0, buffer, offset)
    }
}

#[cfg(not(unix))]
#[derive(Debug)]
struct Source(std::sync::Mutex<File>);

#[cfg(not(unix))]
impl Source {
    fn new(file: File) -> Self {
        Source(std::sync::Mutex::new(file))
    }

    fn read(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = self.0.lock().map_err(|_| io::Error::other("another thread failed"))?;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(buffer)
    }
}
