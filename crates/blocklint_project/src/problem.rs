//! Problems that do not end a run, such as an unreadable folder.

use std::fmt;
use std::path::Path;

use camino::{Utf8Path, Utf8PathBuf};

/// A file or folder that could not be read, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file or folder, absolute; characters that are not UTF-8 are replaced.
    pub path: Utf8PathBuf,
    /// The problem, without the path.
    pub message: String,
}

impl Problem {
    pub(crate) fn new(path: &Path, message: impl Into<String>) -> Self {
        Problem { path: Utf8PathBuf::from(path.to_string_lossy().into_owned()), message: message.into() }
    }

    /// Returns the path and the message. The path is relative to `folder` if it is below it.
    pub fn relative_to(&self, folder: &Utf8Path) -> String {
        let path = self.path.strip_prefix(folder).unwrap_or(&self.path);
        let path = if path.as_str().is_empty() { Utf8Path::new(".") } else { path };
        format!("{path}: {}", self.message)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Returns the message of a system error without its number: `No such file or directory`.
pub(crate) fn error_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
