//! JSON Lines: one JSON object per line, with the same fields as an object of the format `json`.

use std::io::{self, Write};

use crate::Shown;
use crate::json::finding_object;

/// Writes one object per finding, each on a line of its own.
///
/// # Errors
///
/// Those of the writer.
pub fn write_jsonl(out: &mut dyn Write, shown: &Shown<'_>) -> io::Result<()> {
    for finding in shown.findings {
        serde_json::to_writer(&mut *out, &finding_object(finding, shown))?;
        writeln!(out)?;
    }
    Ok(())
}
