//! One JSON object per line, the same as those of the array.

use std::io::{self, Write};

use crate::Shown;
use crate::json::object;

/// Writes one object per finding, each on a line of its own.
///
/// # Errors
///
/// Those of the writer.
pub fn jsonl(out: &mut dyn Write, shown: &Shown<'_>) -> io::Result<()> {
    for finding in shown.findings {
        serde_json::to_writer(&mut *out, &object(finding, shown))?;
        writeln!(out)?;
    }
    Ok(())
}
