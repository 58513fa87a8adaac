//! `blocklint check --fix` and `--diff`.

use std::io::{self, Write};
use std::sync::Arc;

use blocklint_core::{Applicability, Finding};
use blocklint_engine::{FixRequest, FixResult};
use camino::Utf8Path;

use super::{left_out, unless_closed};
use crate::arguments::Check;
use crate::messages::{Failure, error, warning};
use crate::output_file::Output;
use crate::{CLEAN, FAILED, FOUND, interrupt};

/// The results of fixes.
pub(super) struct Outcome {
    /// The findings that are gone.
    pub(super) fixed_findings: Vec<Finding>,
    /// The files that were written.
    pub(super) files: Vec<Arc<Utf8Path>>,
    /// True if a file that was to change is as it was.
    pub(super) unwritten: bool,
}

/// Returns the fixes that are applied.
pub(super) fn allowed(check: &Check) -> Applicability {
    if check.unsafe_fixes { Applicability::Unsafe } else { Applicability::Safe }
}

/// Applies fixes and writes the files.
pub(super) fn fix(request: FixRequest<'_>, current: &Utf8Path) -> Result<Outcome, Failure> {
    let fixed = blocklint_engine::fix(request)?;
    tell_refused(&fixed, current);
    // Each file is written whole, and with those that change with it, even where the run is ended meanwhile.
    let of = |group: Vec<_>| interrupt::uninterrupted(|| blocklint_engine::write(&group, &request.project.base));
    let unwritten: Vec<_> = fixed.groups().into_iter().flat_map(of).collect();
    for file in &unwritten {
        error(format!("{}: not fixed: {}", shown(&file.path, current), file.reason));
    }
    let is_as_it_was = |path: &Arc<Utf8Path>| unwritten.iter().any(|file| file.path == *path);
    let fixed_findings = fixed.findings.into_iter().filter(|finding| !is_as_it_was(&finding.place.path)).collect();
    let files = fixed.changes.into_iter().map(|change| change.path).filter(|path| !is_as_it_was(path)).collect();
    Ok(Outcome { fixed_findings, files, unwritten: !unwritten.is_empty() })
}

/// Prints what would change.
pub(super) fn diff(check: &Check, request: FixRequest<'_>, current: &Utf8Path) -> Result<u8, Failure> {
    let fixed = blocklint_engine::fix(request)?;
    left_out::tell(request.project, &fixed.left_out, current);
    tell_refused(&fixed, current);
    let print = || -> io::Result<()> {
        let mut out = Output::new(check.output_file.as_deref())?;
        for change in &fixed.changes {
            blocklint_output::write_diff(&mut out, &change.path, current, &change.text_before, &change.text_after)?;
        }
        out.finish()
    };
    unless_closed(print())?;
    let would = match fixed.findings.len() {
        0 => "No findings would be fixed".to_owned(),
        1 => "Would fix 1 finding".to_owned(),
        more => format!("Would fix {more} findings"),
    };
    // If stderr is closed, the error cannot be reported.
    let _ = writeln!(io::stderr(), "{would}.");
    let done = request.project.missing.is_empty() && (fixed.left_out.is_empty() || !check.strict);
    Ok(match (done, fixed.changes.is_empty() || check.exit_zero) {
        (false, _) => FAILED,
        (true, true) => CLEAN,
        (true, false) => FOUND,
    })
}

fn tell_refused(fixed: &FixResult, current: &Utf8Path) {
    for refused in &fixed.refused {
        let (path, row) = (shown(&refused.finding.place.path, current), refused.finding.place.start.row);
        warning(format!("{path}:{row}: {} not fixed: {}", refused.finding.rule, refused.reason));
    }
}

fn shown<'p>(path: &'p Utf8Path, current: &Utf8Path) -> &'p Utf8Path {
    path.strip_prefix(current).unwrap_or(path)
}
