//! One line per finding: `path:line:column: CODE message`.

use std::io::{self, Write};

use crate::Shown;
use crate::paths::{harmless, shown_place};

/// Writes one line per finding.
///
/// # Errors
///
/// Those of the writer.
pub fn concise(out: &mut dyn Write, shown: &Shown<'_>) -> io::Result<()> {
    for finding in shown.findings {
        let place = shown_place(&finding.place, shown.folder);
        writeln!(out, "{place}: {} {}", finding.rule, harmless(&finding.message))?;
    }
    Ok(())
}
