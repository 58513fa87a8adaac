//! Changed files as one unified diff.

use std::io::{self, Write};

use camino::Utf8Path;
use similar::TextDiff;

use crate::paths::shown as shown_path;

/// Writes what changed in one file, as `patch` reads it; paths are relative to `folder`.
///
/// # Errors
///
/// Those of the writer.
pub fn diff(out: &mut dyn Write, path: &Utf8Path, folder: &Utf8Path, before: &str, after: &str) -> io::Result<()> {
    let name = shown_path(path, folder);
    let diff = TextDiff::from_lines(before, after);
    write!(out, "{}", diff.unified_diff().context_radius(3).header(&name, &name))
}
