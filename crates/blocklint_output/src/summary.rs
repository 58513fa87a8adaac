//! The last lines of a run: the number of findings, the findings below the chosen level, fixes, the baseline.

use std::io::{self, Write};

use blocklint_core::{Applicability, Confidence, Finding, Place, Severity};

use crate::paths::{escape_controls, place_text};
use crate::{Begin, BeginKind, Overview, RenderInput};

/// The counts of the last line.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// The number of findings of the chosen rules and levels.
    pub findings: usize,
    /// The number of causes of their best paths.
    pub causes: usize,
    /// True if a path that the user gave does not exist.
    pub incomplete: bool,
    /// The number of findings that are not shown because there are more than `--max-findings`.
    pub capped: usize,
    /// The number of findings of the chosen rules below the chosen level.
    pub below: usize,
    /// The number of findings that are left aside, because only tests, examples or command lines reach them.
    pub aside: usize,
    /// The number of findings left aside that are shown, because there are no others.
    pub shown_aside: usize,
    /// The number of functions that must not block, and the number of files that were read, if they were counted.
    pub must_not_block: Option<(usize, usize)>,
    /// The lowest severity that is shown.
    pub min_severity: Severity,
    /// The lowest confidence that is shown.
    pub min_confidence: Confidence,
}

/// Writes the last line: the numbers of findings and causes, and of the findings that are not shown.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_summary(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    match (summary.findings, summary.causes) {
        (0, _) => write!(out, "{}", no_findings_text(summary))?,
        (findings, 0) => write!(out, "Found {}", count(findings, "finding"))?,
        (findings, causes) => write!(out, "Found {} with {}", count(findings, "finding"), count(causes, "cause"))?,
    }
    write_not_shown(out, summary)
}

/// Writes the last line of a run that fixed findings. `summary` has the counts of those that remain.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_fixed_summary(out: &mut dyn Write, fixed: usize, summary: &Summary) -> io::Result<()> {
    let (findings_text, remaining) = (count(fixed + summary.findings, "finding"), summary.findings);
    match fixed + remaining {
        0 => write!(out, "{}", no_findings_text(summary))?,
        _ => write!(out, "Found {findings_text} ({fixed} fixed, {remaining} remaining)")?,
    }
    write_not_shown(out, summary)
}

/// Writes how many of the findings have a fix, and how many have a suggestion, which only a person can apply; nothing
/// if no finding has one. `unsafe_too` is true if the user gave `--unsafe-fixes`.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_fixable(out: &mut dyn Write, findings: &[Finding], unsafe_too: bool) -> io::Result<()> {
    let count_of = |applicability| {
        let fixes = findings.iter().filter_map(|finding| finding.fix.as_ref());
        fixes.filter(|fix| fix.applicability == applicability && !fix.edits.is_empty()).count()
    };
    let (safe, risky, suggested) =
        (count_of(Applicability::Safe), count_of(Applicability::Unsafe), count_of(Applicability::Display));
    let hidden = if risky == 1 { "1 hidden fix".to_owned() } else { format!("{risky} hidden fixes") };
    let fixes = match (safe, risky, unsafe_too) {
        (0, 0, _) => None,
        (_, _, true) => Some(format!("[*] {} fixable with --fix", safe + risky)),
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

/// Writes why findings that are usually left aside are shown; nothing if none is shown.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_left_aside(out: &mut dyn Write, findings: &[Finding], summary: &Summary) -> io::Result<()> {
    let mut reasons: Vec<&str> = Vec::new();
    for because in findings.iter().filter_map(|finding| finding.aside).map(|aside| aside.because) {
        if !reasons.contains(&because) {
            reasons.push(because);
        }
    }
    if summary.shown_aside == 0 || reasons.is_empty() {
        return Ok(());
    }
    let findings_text = count(summary.aside, "finding");
    let shown_text = match summary.aside - summary.shown_aside.min(summary.aside) {
        0 => findings_text,
        _ => format!("{} of {findings_text}", summary.shown_aside),
    };
    writeln!(
        out,
        "Shown because nothing else was found: {shown_text} that would be left aside, because {}. {} not count without \
         --include-aside.",
        reasons.join(", or "),
        if summary.aside == 1 { "It does" } else { "They do" }
    )
}

/// Writes the change to begin with, which is the first step of a plan; nothing if there is only one group.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_first_change(out: &mut dyn Write, input: &RenderInput<'_>, overview: &Overview) -> io::Result<()> {
    let Some(begin) = overview.begin.as_ref().filter(|_| input.groups.len() > 1) else { return Ok(()) };
    let (call, findings_text) = (escape_controls(&begin.call), count(input.findings.len(), "finding"));
    let place_text = located_place(begin, input).map_or_else(String::new, |place| place_text(place, input.folder));
    let mends = begin.mends;
    match begin.kind {
        BeginKind::Cause => {
            writeln!(out, "Begin with `{call}` at {place_text}: one edit there clears {mends} of {findings_text}.")
        }
        BeginKind::Call => {
            writeln!(
                out,
                "Begin with the call of `{call}` at {place_text}: one edit there clears {mends} of {findings_text}."
            )
        }
        BeginKind::Function => {
            let function = escape_controls(&begin.function);
            writeln!(
                out,
                "Begin with the whole function `{function}`: a change of it clears {mends} of {findings_text}."
            )
        }
    }
}

/// Returns the place of a change with row and column, from the finding or cause at that place.
fn located_place<'s>(begin: &Begin, input: &RenderInput<'s>) -> Option<&'s Place> {
    let unlocated = begin.place.as_ref()?;
    let mut places = input
        .findings
        .iter()
        .flat_map(|finding| std::iter::once(&finding.place).chain(finding.causes.iter().map(|cause| &cause.place)));
    places.find(|place| place.path == unlocated.path && place.span == unlocated.span)
}

/// Writes how many findings the baseline hides, and how many of its entries are stale.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_baseline_counts(out: &mut dyn Write, findings: usize, stale: usize) -> io::Result<()> {
    if findings > 0 {
        writeln!(out, "{} in the baseline.", count(findings, "finding"))?;
    }
    match stale {
        0 => Ok(()),
        1 => writeln!(out, "1 finding of the baseline is gone; `blocklint baseline prune` removes it."),
        more => writeln!(out, "{more} findings of the baseline are gone; `blocklint baseline prune` removes them."),
    }
}

/// Writes how many findings were there before a change. `older_state` describes the earlier state
/// (`the branch main`).
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_already_there(out: &mut dyn Write, findings: usize, older_state: &str) -> io::Result<()> {
    match findings {
        0 => writeln!(out, "Compared with {older_state}."),
        1 => writeln!(out, "Compared with {older_state}, where 1 finding was there already."),
        more => writeln!(out, "Compared with {older_state}, where {more} findings were there already."),
    }
}

/// Returns the text for no findings. A user who gave a missing path must not read that all is well.
fn no_findings_text(summary: &Summary) -> &'static str {
    if summary.incomplete { "No findings in the paths that exist" } else { "No findings" }
}

/// Writes the end of the last line: the numbers of the findings that are not shown.
fn write_not_shown(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
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
        // `write_left_aside` reports them.
        _ if summary.shown_aside > 0 => Ok(()),
        number => writeln!(
            out,
            "Left aside: {} that only tests, examples or command lines reach (show with --include-aside).",
            count(number, "finding")
        ),
    }
}

/// Returns a number with a noun: `1 finding`, `2 findings`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}
