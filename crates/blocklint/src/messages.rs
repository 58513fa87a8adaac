//! Messages on stderr: errors, warnings, the lines of `-v`, and failures of a run.

use std::fmt::Display;
use std::io::Write;

use anstyle::{AnsiColor, Style};

use crate::{FAILED, console};

/// The error messages of a run that ends without a result.
#[derive(Debug)]
pub(crate) struct Failure {
    lines: Vec<String>,
}

impl Failure {
    pub(crate) fn new(line: impl Display) -> Self {
        Failure { lines: vec![line.to_string()] }
    }

    /// Returns a failure without messages, for errors that have been printed.
    pub(crate) fn already_reported() -> Self {
        Failure { lines: Vec::new() }
    }

    /// Returns a failure with several messages.
    pub(crate) fn all(lines: impl IntoIterator<Item = String>) -> Self {
        Failure { lines: lines.into_iter().collect() }
    }

    /// Prints the messages and returns the exit code.
    pub(crate) fn report(&self) -> u8 {
        for line in &self.lines {
            error(line);
        }
        FAILED
    }
}

impl From<blocklint_engine::Failure> for Failure {
    fn from(failure: blocklint_engine::Failure) -> Self {
        Failure { lines: failure.lines }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::new(error)
    }
}

pub(crate) fn error(message: impl Display) {
    print_line("error", AnsiColor::Red, &message);
}

pub(crate) fn warning(message: impl Display) {
    if console::verbosity() < 0 {
        return;
    }
    print_line("warning", AnsiColor::Yellow, &message);
}

/// Prints a warning with indented lines below it.
pub(crate) fn warning_with(message: impl Display, lines: &[String]) {
    if console::verbosity() < 0 {
        return;
    }
    print_line("warning", AnsiColor::Yellow, &message);
    for line in lines {
        let line = line.replace(|c: char| c.is_control(), " ");
        // If stderr is closed, the error cannot be reported.
        let _ = writeln!(anstream::stderr(), "  {line}");
    }
}

/// Prints a line with `-v`.
pub(crate) fn verbose(message: impl Display) {
    if console::verbosity() > 0 {
        print_line("info", AnsiColor::Cyan, &message);
    }
}

/// Prints one line, with colour if stderr is a terminal that shows it.
fn print_line(word: &str, color: AnsiColor, message: &dyn Display) {
    let style = Style::new().bold().fg_color(Some(color.into()));
    let line = message.to_string().replace(|c: char| c.is_control(), " ");
    // If stderr is closed, the error cannot be reported.
    let _ = writeln!(anstream::stderr(), "{style}{word}{style:#}: {line}");
}
