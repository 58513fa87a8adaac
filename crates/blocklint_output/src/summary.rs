//! The last line: how much was found, and how much lies below the chosen level.

use std::io::{self, Write};

use blocklint_core::{Confidence, Severity};

/// What the last line counts.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// Findings shown.
    pub findings: usize,
    /// Causes behind them (those of their best paths).
    pub causes: usize,
    /// Findings of the chosen rules that lie below the chosen level.
    pub below: usize,
    /// The least severity shown.
    pub min_severity: Severity,
    /// The least confidence shown.
    pub min_confidence: Confidence,
}

/// Writes the line.
///
/// # Errors
///
/// Those of the writer.
pub fn summary(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    match (summary.findings, summary.causes) {
        (0, _) => write!(out, "No findings")?,
        (findings, 0) => write!(out, "Found {}", count(findings, "finding"))?,
        (findings, causes) => write!(out, "Found {} with {}", count(findings, "finding"), count(causes, "cause"))?,
    }
    if summary.below > 0 {
        write!(
            out,
            "; {}",
            if summary.findings == 0 { count(summary.below, "finding") } else { format!("{} more", summary.below) }
        )?;
        write!(out, " below `{}`/`{}` (show ", summary.min_severity, summary.min_confidence)?;
        write!(out, "{} with ", if summary.below == 1 { "it" } else { "them" })?;
        write!(out, "--min-severity note --min-confidence low)")?;
    }
    writeln!(out, ".")
}

pub(crate) fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}
