//! The target of `--output-file`: stdout, or a file that is replaced only when the output is complete. The file of a
//! baseline is replaced in the same way. Fixed sources are replaced by `fixing/writing.rs` of the engine, because they
//! also keep their owner and are checked for changes by other programs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, StdoutLock, Write};

use camino::Utf8Path;
use tempfile::NamedTempFile;

use crate::interrupt::{self, Guard};

/// The target of output. A file keeps its old content until [`Output::finish`].
pub(crate) enum Output {
    Stdout(BufWriter<StdoutLock<'static>>),
    /// A device, a pipe, or an existing file in a folder where no temporary file can be created.
    Direct(BufWriter<File>),
    File {
        new: BufWriter<NamedTempFile>,
        target: std::path::PathBuf,
        _guard: Guard,
    },
}

impl Output {
    /// Opens the file at `path`, or stdout without a path.
    ///
    /// # Errors
    ///
    /// If the target cannot be written.
    pub(crate) fn new(path: Option<&Utf8Path>) -> io::Result<Output> {
        match path {
            Some(path) => {
                Self::open_file(path).map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))
            }
            None => Ok(Output::Stdout(BufWriter::new(io::stdout().lock()))),
        }
    }

    fn open_file(path: &Utf8Path) -> io::Result<Output> {
        // A link is resolved first, because replacing it would leave its target unchanged.
        let target = match fs::canonicalize(path) {
            Ok(target) => target,
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.into(),
            Err(error) => return Err(error),
        };
        let metadata = fs::metadata(&target).ok();
        let open_directly = |target| Ok(Output::Direct(BufWriter::new(OpenOptions::new().write(true).open(target)?)));
        if metadata.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            return open_directly(&target);
        }
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(std::path::Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".blocklint-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = metadata.as_ref().map_or(0o666, |metadata| metadata.permissions().mode() & 0o777);
            builder.permissions(fs::Permissions::from_mode(mode));
        }
        if metadata.is_some() {
            // Replacing needs only a writable folder, so this checks that the existing file is writable too.
            OpenOptions::new().write(true).open(&target)?;
        }
        match interrupt::create_guarded(|| builder.tempfile_in(folder), NamedTempFile::path) {
            Ok((new, guard)) => Ok(Output::File { new: BufWriter::new(new), target, _guard: guard }),
            Err(_) if metadata.is_some() => {
                let file = OpenOptions::new().write(true).truncate(true).open(&target)?;
                Ok(Output::Direct(BufWriter::new(file)))
            }
            Err(_) if !folder.is_dir() => Err(io::Error::new(io::ErrorKind::NotFound, "there is no such folder")),
            Err(error) => Err(error),
        }
    }

    /// Flushes the output; a temporary file replaces its target.
    ///
    /// # Errors
    ///
    /// If the target cannot be written.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Output::Stdout(mut out) => out.flush(),
            Output::Direct(mut out) => out.flush(),
            Output::File { new, target, _guard } => {
                let new = new.into_inner().map_err(io::IntoInnerError::into_error)?;
                new.as_file().sync_all()?;
                new.persist(&target).map(drop).map_err(|error| error.error)
            }
        }
    }
}

/// Replaces the content of a file, or creates the file; on an error the old content stays.
///
/// # Errors
///
/// If the file cannot be written.
pub(crate) fn replace_file(path: &Utf8Path, content: &[u8]) -> io::Result<()> {
    let mut output = Output::open_file(path)?;
    output.write_all(content)?;
    output.finish()
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Stdout(out) => out.write(bytes),
            Output::Direct(out) => out.write(bytes),
            Output::File { new, .. } => new.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Stdout(out) => out.flush(),
            Output::Direct(out) => out.flush(),
            Output::File { new, .. } => new.flush(),
        }
    }
}
