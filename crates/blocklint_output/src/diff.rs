//! The changes of files as unified diffs.

use std::io::{self, Write};

use camino::Utf8Path;
use similar::TextDiff;

use crate::paths::path_text;

/// Writes the change of one file as a unified diff, which `patch` reads. Paths are relative to `folder`.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_diff(
    out: &mut dyn Write,
    path: &Utf8Path,
    folder: &Utf8Path,
    before: &str,
    after: &str,
) -> io::Result<()> {
    let name = path_text(path, folder);
    let diff = TextDiff::from_lines(before, after);
    write!(out, "{}", diff.unified_diff().context_radius(3).header(&name, &name))
}
