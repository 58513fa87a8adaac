//! Workflow commands, which GitHub shows as annotations beside the lines of a pull request.

use std::fmt::Write as _;
use std::io::{self, Write};

use blocklint_core::Severity;

use crate::Shown;
use crate::paths::shown_place;

/// Writes one command per finding: `::error title=…,file=…,line=…,col=…,endLine=…,endColumn=…::message`. Paths are
/// absolute, because the runner knows where the checkout lies whatever folder the command ran in.
///
/// # Errors
///
/// Those of the writer.
pub fn github(out: &mut dyn Write, shown: &Shown<'_>) -> io::Result<()> {
    for finding in shown.findings {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let place = &finding.place;
        let title = property(&format!("blocklint ({})", finding.rule));
        let mut line = format!("::{command} title={title},file={}", property(place.path.as_str()));
        // A notebook's cells are no lines of its file: the annotation stands at the file, the message says where.
        let (start, end) = match place.cell {
            Some(_) => (Default::default(), Default::default()),
            None => (place.start, place.end),
        };
        if start.row > 0 {
            let _ = write!(line, ",line={},col={}", start.row, start.column);
            let _ = write!(line, ",endLine={},endColumn={}", end.row, end.column);
        }
        // The annotation is all that a reviewer sees, so it says what to do as well.
        let mut message =
            format!("{}: {} {}", shown_place(place, shown.folder), finding.rule, one_line(&finding.message));
        if finding.trace.len() > 1 {
            let _ = write!(message, "\npath: {}", one_line(&finding.trace_line()));
        }
        if let Some(help) = &finding.help {
            let _ = write!(message, "\nhelp: {}", one_line(help));
        }
        if let Some(url) = shown.url(finding.rule) {
            let _ = write!(message, "\nrule: {url}");
        }
        writeln!(out, "{line}::{}", data(&message))?;
    }
    Ok(())
}

/// Returns the text without characters that break a line or drive a terminal.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Returns a message as the runner reads it back.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Returns a property as the runner reads it back: commas and colons end one.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{data, property};

    #[test]
    fn what_ends_a_command_is_escaped() {
        assert_eq!(data("100%\r\nof: a, b"), "100%25%0D%0Aof: a, b");
        assert_eq!(property("C:\\a,b%.py"), "C%3A\\a%2Cb%25.py");
    }
}
