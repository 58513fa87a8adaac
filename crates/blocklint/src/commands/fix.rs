//! `blocklint check --fix` and `--diff`: fixes are applied to the files, or printed as a diff.

use std::io::{self, Write};
use std::sync::Arc;

use blocklint_core::{Applicability, Finding};
use blocklint_engine::{FixRequest, FixResult};
use camino::Utf8Path;

use super::{ignore_closed_pipe, left_out};
use crate::arguments::Check;
use crate::messages::{Failure, error, warning};
use crate::output_file::Output;
use crate::{CLEAN, FAILED, FOUND, interrupt};

/// The result of `--fix`.
pub(super) struct Outcome {
    /// The findings that are gone.
    pub(super) fixed_findings: Vec<Finding>,
    /// The files that were written.
    pub(super) files: Vec<Arc<Utf8Path>>,
    /// True if a file could not be written.
    pub(super) unwritten: bool,
}

/// Returns the least safe applicability that is applied: unsafe fixes only with `--unsafe-fixes`.
pub(super) fn allowed_applicability(check: &Check) -> Applicability {
    if check.unsafe_fixes { Applicability::Unsafe } else { Applicability::Safe }
}

/// Applies fixes, writes the files, and reports refused fixes and files that could not be written.
pub(super) fn apply(request: FixRequest<'_>, current: &Utf8Path) -> Result<Outcome, Failure> {
    let fixed = blocklint_engine::fix(request)?;
    report_refused(&fixed, current);
    // Files that change together are all written or none, even if a signal ends the run meanwhile.
    let write_group =
        |group: Vec<_>| interrupt::run_uninterrupted(|| blocklint_engine::write(&group, &request.project.base));
    let unwritten: Vec<_> = fixed.groups().into_iter().flat_map(write_group).collect();
    for file in &unwritten {
        error(format!("{}: not fixed: {}", relative(&file.path, current), file.reason));
    }
    let is_unwritten = |path: &Arc<Utf8Path>| unwritten.iter().any(|file| file.path == *path);
    let fixed_findings = fixed.findings.into_iter().filter(|finding| !is_unwritten(&finding.place.path)).collect();
    let files = fixed.changes.into_iter().map(|change| change.path).filter(|path| !is_unwritten(path)).collect();
    Ok(Outcome { fixed_findings, files, unwritten: !unwritten.is_empty() })
}

/// Prints the diff that `--fix` would apply.
pub(super) fn print_diff(check: &Check, request: FixRequest<'_>, current: &Utf8Path) -> Result<u8, Failure> {
    let fixed = blocklint_engine::fix(request)?;
    left_out::report(request.project, &fixed.left_out, current);
    report_refused(&fixed, current);
    let print = || -> io::Result<()> {
        let mut out = Output::new(check.output_file.as_deref())?;
        for change in &fixed.changes {
            blocklint_output::write_diff(&mut out, &change.path, current, &change.text_before, &change.text_after)?;
        }
        out.finish()
    };
    ignore_closed_pipe(print())?;
    let summary = match fixed.findings.len() {
        0 => "No findings would be fixed".to_owned(),
        1 => "Would fix 1 finding".to_owned(),
        more => format!("Would fix {more} findings"),
    };
    // If stderr is closed, the error cannot be reported.
    let _ = writeln!(io::stderr(), "{summary}.");
    let is_done = request.project.missing.is_empty() && (fixed.left_out.is_empty() || !check.strict);
    Ok(match (is_done, fixed.changes.is_empty() || check.exit_zero) {
        (false, _) => FAILED,
        (true, true) => CLEAN,
        (true, false) => FOUND,
    })
}

fn report_refused(fixed: &FixResult, current: &Utf8Path) {
    for refused in &fixed.refused {
        let (path, row) = (relative(&refused.finding.place.path, current), refused.finding.place.start.row);
        warning(format!("{path}:{row}: {} not fixed: {}", refused.finding.rule, refused.reason));
    }
}

fn relative<'p>(path: &'p Utf8Path, current: &Utf8Path) -> &'p Utf8Path {
    path.strip_prefix(current).unwrap_or(path)
}
