//! Problems that did not end the run.

use std::fmt;
use std::path::Path;

use camino::{Utf8Path, Utf8PathBuf};

/// One thing that could not be looked at, in one line.
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

    /// Returns the line, with the path relative to `folder` where it lies below.
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

/// Returns the system's reason without the number behind it (`No such file or directory`).
pub(crate) fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}
