//! The last line: how much was found, and how much lies below the chosen level.

use std::io::{self, Write};

use blocklint_core::{Applicability, Confidence, Finding, Place, Severity};

use crate::paths::{harmless, shown_place};
use crate::{Begin, BeginKind, Overview, Shown};

/// The counts of the last line.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// Findings of the chosen rules and levels.
    pub findings: usize,
    /// Causes behind them (those of their best paths).
    pub causes: usize,
    /// True if some of what the user named was not there.
    pub incomplete: bool,
    /// How many of the findings are left out because more than `--max-findings` were found.
    pub capped: usize,
    /// Findings of the chosen rules that lie below the chosen level.
    pub below: usize,
    /// Findings that would be shown if they were not only for tests, examples or a command line.
    pub aside: usize,
    /// How many of those are shown all the same, because nothing else was found.
    pub shown_aside: usize,
    /// How many functions of the project must not block, where that was counted, and in how many files.
    pub must_not_block: Option<(usize, usize)>,
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
        (0, _) => write!(out, "{}", none(summary))?,
        (findings, 0) => write!(out, "Found {}", count(findings, "finding"))?,
        (findings, causes) => write!(out, "Found {} with {}", count(findings, "finding"), count(causes, "cause"))?,
    }
    below(out, summary)
}

/// Writes the line of a run that fixed this many findings; `summary` counts those that remain.
///
/// # Errors
///
/// Those of the writer.
pub fn fixed_summary(out: &mut dyn Write, fixed: usize, summary: &Summary) -> io::Result<()> {
    let (all, remaining) = (count(fixed + summary.findings, "finding"), summary.findings);
    match fixed + remaining {
        0 => write!(out, "{}", none(summary))?,
        _ => write!(out, "Found {all} ({fixed} fixed, {remaining} remaining)")?,
    }
    below(out, summary)
}

/// Writes how many of the findings have a fix that can be applied, and how many have a suggestion, which only a person
/// can apply; nothing where no finding has either. `unsafe_too` is true if `--unsafe-fixes` was given.
///
/// # Errors
///
/// Those of the writer.
pub fn fixable(out: &mut dyn Write, findings: &[Finding], unsafe_too: bool) -> io::Result<()> {
    let of = |applicability| {
        let fixes = findings.iter().filter_map(|finding| finding.fix.as_ref());
        fixes.filter(|fix| fix.applicability == applicability && !fix.edits.is_empty()).count()
    };
    let (safe, other, suggested) = (of(Applicability::Safe), of(Applicability::Unsafe), of(Applicability::Display));
    let hidden = if other == 1 { "1 hidden fix".to_owned() } else { format!("{other} hidden fixes") };
    let fixes = match (safe, other, unsafe_too) {
        (0, 0, _) => None,
        (_, _, true) => Some(format!("[*] {} fixable with --fix", safe + other)),
        (0, _, false) => Some(format!("No fixes available ({hidden} can be enabled with --unsafe-fixes)")),
        (_, 0, false) => Some(format!("[*] {safe} fixable with --fix")),
        _ => Some(format!("[*] {safe} fixable with --fix ({hidden} can be enabled with --unsafe-fixes)")),
    };
    match (fixes, suggested) {
        (None, 0) => Ok(()),
        (Some(fixes), 0) => writeln!(out, "{fixes}."),
        (None, _) => writeln!(out, "{} to apply by hand.", count(suggested, "suggestion")),
        (Some(fixes), _) => writeln!(out, "{fixes}; {} to apply by hand.", count(suggested, "suggestion")),
    }
}

/// Writes why findings that are left aside are shown all the same, and why they usually are not; nothing where none is
/// shown.
///
/// # Errors
///
/// Those of the writer.
pub fn left_aside(out: &mut dyn Write, shown: &[Finding], summary: &Summary) -> io::Result<()> {
    let mut reasons: Vec<&str> = Vec::new();
    for because in shown.iter().filter_map(|finding| finding.aside).map(|aside| aside.because) {
        if !reasons.contains(&because) {
            reasons.push(because);
        }
    }
    if summary.shown_aside == 0 || reasons.is_empty() {
        return Ok(());
    }
    let all = count(summary.aside, "finding");
    let number = match summary.aside - summary.shown_aside.min(summary.aside) {
        0 => all,
        _ => format!("{} of {all}", summary.shown_aside),
    };
    writeln!(
        out,
        "Shown because nothing else was found: {number} that would be left aside, because {}. {} not count without \
         --include-aside.",
        reasons.join(", or "),
        if summary.aside == 1 { "It does" } else { "They do" }
    )
}

/// Writes which change to begin with, the first of a plan; nothing where no choice is to be made.
///
/// # Errors
///
/// Those of the writer.
pub fn begin(out: &mut dyn Write, shown: &Shown<'_>, overview: &Overview) -> io::Result<()> {
    let Some(begin) = overview.begin.as_ref().filter(|_| shown.groups.len() > 1) else { return Ok(()) };
    let (call, all) = (harmless(&begin.call), count(shown.findings.len(), "finding"));
    let at = located(begin, shown).map_or_else(String::new, |place| shown_place(place, shown.folder));
    let mends = begin.mends;
    match begin.kind {
        BeginKind::Cause => writeln!(out, "Begin with `{call}` at {at}: one edit there clears {mends} of {all}."),
        BeginKind::Call => {
            writeln!(out, "Begin with the call of `{call}` at {at}: one edit there clears {mends} of {all}.")
        }
        BeginKind::Function => {
            let function = harmless(&begin.function);
            writeln!(out, "Begin with all that `{function}` does: a change of it clears {mends} of {all}.")
        }
    }
}

/// Returns the place of a change as the findings have it, by row and column.
fn located<'s>(begin: &Begin, shown: &Shown<'s>) -> Option<&'s Place> {
    let meant = begin.place.as_ref()?;
    let mut places = shown
        .findings
        .iter()
        .flat_map(|finding| std::iter::once(&finding.place).chain(finding.causes.iter().map(|cause| &cause.place)));
    places.find(|place| place.path == meant.path && place.span == meant.span)
}

/// Writes how many findings the baseline hides, and how many of its entries are stale.
///
/// # Errors
///
/// Those of the writer.
pub fn in_baseline(out: &mut dyn Write, findings: usize, stale: usize) -> io::Result<()> {
    if findings > 0 {
        writeln!(out, "{} in the baseline.", count(findings, "finding"))?;
    }
    match stale {
        0 => Ok(()),
        1 => writeln!(out, "1 finding of the baseline is gone; `blocklint baseline prune` takes it out."),
        more => writeln!(out, "{more} findings of the baseline are gone; `blocklint baseline prune` takes them out."),
    }
}

/// Writes how many findings a change did not bring. `with` says with what the files were compared.
///
/// # Errors
///
/// Those of the writer.
pub fn were_there(out: &mut dyn Write, findings: usize, with: &str) -> io::Result<()> {
    match findings {
        0 => writeln!(out, "Compared with {with}."),
        1 => writeln!(out, "Compared with {with}, where 1 finding was there already."),
        more => writeln!(out, "Compared with {with}, where {more} findings were there already."),
    }
}

/// Returns a user who named a missing path must not read that all is well.
fn none(summary: &Summary) -> &'static str {
    if summary.incomplete { "No findings in what is there" } else { "No findings" }
}

fn below(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    if summary.capped > 0 {
        write!(out, ", of which {} are not shown (--max-findings)", summary.capped)?;
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
    if let (0, 0, Some((0, files))) = (summary.findings, summary.aside, summary.must_not_block) {
        write!(out, ": 0 functions that must not block in {}", count(files, "file"))?;
    }
    writeln!(out, ".")?;
    match summary.aside {
        0 => Ok(()),
        // `left_aside` tells of them.
        _ if summary.shown_aside > 0 => Ok(()),
        number => writeln!(
            out,
            "Left aside: {} that only tests, examples or command lines reach (show with --include-aside).",
            count(number, "finding")
        ),
    }
}

pub(crate) fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}
