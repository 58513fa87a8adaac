//! Changes as people read them.

use camino::Utf8Path;
use similar::TextDiff;

use super::Change;

/// The changes as one unified diff, with paths relative to `folder` where they lie below it. Line endings are shown as
/// they are; a byte-order mark belongs to the first line.
pub fn unified_diff(changes: &[Change], folder: &Utf8Path) -> String {
    let mut out = String::new();
    for change in changes {
        let path = change.path.strip_prefix(folder).unwrap_or(&change.path);
        let diff = TextDiff::from_lines(&*change.text_before, &*change.text_after);
        out.push_str(&diff.unified_diff().header(path.as_str(), path.as_str()).to_string());
    }
    out
}
