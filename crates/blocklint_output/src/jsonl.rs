//! JSON Lines: one JSON object per line, with the same fields as an object of the format `json`.

use std::io::{self, Write};

use crate::RenderInput;
use crate::json::finding_object;

/// Writes one object per finding, each on a line of its own.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_jsonl(out: &mut dyn Write, input: &RenderInput<'_>) -> io::Result<()> {
    for finding in input.findings {
        serde_json::to_writer(&mut *out, &finding_object(finding, input))?;
        writeln!(out)?;
    }
    Ok(())
}
