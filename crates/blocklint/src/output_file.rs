//! Where findings are written to: stdout, or a file that is replaced whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, StdoutLock, Write};

use camino::Utf8Path;
use tempfile::NamedTempFile;

use crate::interrupt::{self, Guard};

/// The target of output; nothing of a file is seen before [`Output::finish`].
pub(crate) enum Output {
    Stdout(BufWriter<StdoutLock<'static>>),
    /// A device, a pipe, or a file in a folder where none can be made.
    Direct(BufWriter<File>),
    File {
        new: BufWriter<NamedTempFile>,
        target: std::path::PathBuf,
        _guard: Guard,
    },
}

impl Output {
    /// Returns the file of this name, or stdout.
    ///
    /// # Errors
    ///
    /// Why it cannot be written.
    pub(crate) fn new(path: Option<&Utf8Path>) -> io::Result<Output> {
        match path {
            Some(path) => Self::file(path).map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}"))),
            None => Ok(Output::Stdout(BufWriter::new(io::stdout().lock()))),
        }
    }

    fn file(path: &Utf8Path) -> io::Result<Output> {
        // Replacing a link would cut it.
        let target = match fs::canonicalize(path) {
            Ok(target) => target,
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.into(),
            Err(error) => return Err(error),
        };
        let existing = fs::metadata(&target).ok();
        let direct = |target| Ok(Output::Direct(BufWriter::new(OpenOptions::new().write(true).open(target)?)));
        if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
            return direct(&target);
        }
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(std::path::Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".blocklint-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = existing.as_ref().map_or(0o666, |existing| existing.permissions().mode() & 0o777);
            builder.permissions(fs::Permissions::from_mode(mode));
        }
        if existing.is_some() {
            // A file may be replaced in a folder that may be written, even where the file itself may not.
            OpenOptions::new().write(true).open(&target)?;
        }
        match interrupt::guarded(|| builder.tempfile_in(folder), NamedTempFile::path) {
            Ok((new, guard)) => Ok(Output::File { new: BufWriter::new(new), target, _guard: guard }),
            Err(_) if existing.is_some() => {
                let file = OpenOptions::new().write(true).truncate(true).open(&target)?;
                Ok(Output::Direct(BufWriter::new(file)))
            }
            Err(_) if !folder.is_dir() => Err(io::Error::new(io::ErrorKind::NotFound, "there is no such folder")),
            Err(error) => Err(error),
        }
    }

    /// Ends what was written: from now on the file holds it.
    ///
    /// # Errors
    ///
    /// Why it cannot be written.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Output::Stdout(mut out) => out.flush(),
            Output::Direct(mut out) => out.flush(),
            Output::File { new, target, _guard } => {
                let new = new.into_inner().map_err(io::IntoInnerError::into_error)?;
                new.persist(&target).map(drop).map_err(|error| error.error)
            }
        }
    }
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
