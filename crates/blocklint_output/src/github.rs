//! GitHub's workflow commands, which make annotations on the lines of a pull request.

use std::fmt::Write as _;
use std::io::{self, Write};

use blocklint_core::Severity;

use crate::RenderInput;
use crate::paths::place_text;

/// Writes one command per finding: `::error title=…,file=…,line=…,col=…,endLine=…,endColumn=…::message`. Paths are
/// absolute, because the runner knows the folder of the checkout, but not the folder in which the command ran.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_github(out: &mut dyn Write, input: &RenderInput<'_>) -> io::Result<()> {
    for finding in input.findings {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let place = &finding.place;
        let title = escape_property(&format!("blocklint ({})", finding.rule));
        let mut line = format!("::{command} title={title},file={}", escape_property(place.path.as_str()));
        // Rows in a cell are no lines of the notebook's file, so the annotation is at the file. The message has the
        // cell.
        let (start, end) = match place.cell {
            Some(_) => (Default::default(), Default::default()),
            None => (place.start, place.end),
        };
        if start.row > 0 {
            let _ = write!(line, ",line={},col={}", start.row, start.column);
            let _ = write!(line, ",endLine={},endColumn={}", end.row, end.column);
        }
        // A reviewer sees only the annotation, so it also says what to do.
        let mut message =
            format!("{}: {} {}", place_text(place, input.folder), finding.rule, one_line(&finding.message));
        if finding.trace.len() > 1 {
            let _ = write!(message, "\npath: {}", one_line(&finding.trace_line()));
        }
        if let Some(help) = &finding.help {
            let _ = write!(message, "\nhelp: {}", one_line(help));
        }
        if let Some(url) = input.url(finding.rule) {
            let _ = write!(message, "\nrule: {url}");
        }
        writeln!(out, "{line}::{}", escape_data(&message))?;
    }
    Ok(())
}

/// Returns a text with a space for each control character, so that it has one line and cannot control a terminal.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Returns the data of a command with the characters escaped that end a command.
fn escape_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Returns a property of a command with the characters escaped that end a property, such as commas and colons.
fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{escape_data, escape_property};

    #[test]
    fn characters_that_end_a_command_are_escaped() {
        assert_eq!(escape_data("100%\r\nof: a, b"), "100%25%0D%0Aof: a, b");
        assert_eq!(escape_property("C:\\a,b%.py"), "C%3A\\a%2Cb%25.py");
    }
}
