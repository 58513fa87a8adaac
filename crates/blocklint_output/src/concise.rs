//! One line per finding: `path:line:column: CODE message`.

use std::io::{self, Write};

use crate::Shown;
use crate::paths::{harmless, shown as shown_path};

/// Writes one line per finding.
///
/// # Errors
///
/// Those of the writer.
pub fn concise(out: &mut dyn Write, shown: &Shown<'_>) -> io::Result<()> {
    for finding in shown.findings {
        let (path, at) = (shown_path(&finding.place.path, shown.folder), finding.place.start);
        writeln!(out, "{path}:{}:{}: {} {}", at.row, at.column, finding.rule, harmless(&finding.message))?;
    }
    Ok(())
}
