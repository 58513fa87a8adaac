//! Messages on stderr.

use std::fmt::Display;
use std::io::Write;

use anstyle::{AnsiColor, Style};

use crate::{FAILED, console};

/// Why a run ends without a result.
#[derive(Debug)]
pub(crate) struct Failure {
    lines: Vec<String>,
}

impl Failure {
    pub(crate) fn new(line: impl Display) -> Self {
        Failure { lines: vec![line.to_string()] }
    }

    /// Messages that were written before.
    pub(crate) fn told() -> Self {
        Failure { lines: Vec::new() }
    }

    /// Several errors, all of which are told.
    pub(crate) fn all(lines: impl IntoIterator<Item = String>) -> Self {
        Failure { lines: lines.into_iter().collect() }
    }

    /// Says why, and gives the exit code.
    pub(crate) fn tell(&self) -> u8 {
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
    say("error", AnsiColor::Red, &message);
}

pub(crate) fn warning(message: impl Display) {
    if console::verbosity() < 0 {
        return;
    }
    say("warning", AnsiColor::Yellow, &message);
}

/// A warning with lines that belong to it.
pub(crate) fn warning_with(message: impl Display, lines: &[String]) {
    if console::verbosity() < 0 {
        return;
    }
    say("warning", AnsiColor::Yellow, &message);
    for line in lines {
        let line = line.replace(|c: char| c.is_control(), " ");
        // If stderr is closed, the error cannot be reported.
        let _ = writeln!(anstream::stderr(), "  {line}");
    }
}

/// A line for those who want to know more.
pub(crate) fn verbose(message: impl Display) {
    if console::verbosity() > 0 {
        say("info", AnsiColor::Cyan, &message);
    }
}

/// One line; colour only where stderr is a terminal that wants it.
fn say(word: &str, color: AnsiColor, message: &dyn Display) {
    let style = Style::new().bold().fg_color(Some(color.into()));
    let line = message.to_string().replace(|c: char| c.is_control(), " ");
    // If stderr is closed, the error cannot be reported.
    let _ = writeln!(anstream::stderr(), "{style}{word}{style:#}: {line}");
}
