//! One line per finding: `path:line:column: CODE message`.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::paths::{escape_controls, place_text};
use crate::{RenderInput, TerminalStyle};

/// Writes one line per finding.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_concise(out: &mut dyn Write, input: &RenderInput<'_>, terminal: TerminalStyle) -> io::Result<()> {
    let bold = terminal.style(Style::new().bold());
    let red = terminal.style(Style::new().bold().fg_color(Some(AnsiColor::Red.into())));
    for finding in input.findings {
        let code = terminal.link_to_page(&finding.rule.to_string(), input.url(finding.rule).as_deref());
        let place = terminal.link(&place_text(&finding.place, input.folder), &finding.place);
        writeln!(out, "{bold}{place}{bold:#}: {red}{code}{red:#} {}", escape_controls(&finding.message))?;
    }
    Ok(())
}
