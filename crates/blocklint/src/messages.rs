//! Messages on stderr: errors, warnings, the lines of `-v`, and failures of a run.

use std::fmt::Display;
use std::io::Write;

use anstyle::{AnsiColor, Style};
pub(crate) use blocklint_engine::Failure;

use crate::{FAILED, console};

/// Prints the reasons of a failure and returns the exit code.
pub(crate) fn report_failure(failure: &Failure) -> u8 {
    for line in &failure.lines {
        error(line);
    }
    FAILED
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
