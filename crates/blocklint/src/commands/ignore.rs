//! `blocklint check --add-ignore`: a suppression comment is written at each shown finding.

use blocklint_engine::{Baseline, Chosen, IgnoreRequest, IgnoreResult, StateBefore, ignore_findings, write};
use blocklint_output::write_changed_files;
use camino::Utf8Path;

use super::check::{Prepared, analysis_options};
use super::{baseline, ignore_closed_pipe};
use crate::arguments::Check;
use crate::messages::{Failure, error, warning};
use crate::{CLEAN, FAILED, console};

/// The baseline and the earlier state whose findings get no comment, because they are hidden already.
#[derive(Clone, Copy)]
pub(super) struct EarlierFindings<'o> {
    pub(super) baseline: Option<&'o Baseline>,
    pub(super) before: Option<&'o StateBefore>,
}

/// Writes a suppression comment at each finding, and prints which files changed.
pub(super) fn add_comments(
    check: &Check,
    prepared: &Prepared,
    earlier: EarlierFindings<'_>,
    chosen: &Chosen,
) -> Result<u8, Failure> {
    let Prepared { project, rules, levels, models, current, .. } = prepared;
    let reason = check.add_ignore.as_deref().unwrap_or_default().trim();
    if reason.chars().any(char::is_control) {
        return Err(Failure::new("--add-ignore: a reason is one line of text"));
    }
    let leave_out = |chosen: &mut Chosen| {
        if let Some(baseline) = earlier.baseline {
            baseline::hide_baselined(check, baseline, chosen, prepared);
        }
        if let Some(before) = earlier.before {
            before.compare(chosen, project);
        }
    };
    let options = analysis_options(check, prepared)?;
    let (levels, findings) = (*levels, chosen.findings.as_slice());
    let request = IgnoreRequest { project, models, rules, levels, options, findings, leave_out: &leave_out, reason };
    let IgnoreResult { changes, mut findings, unplaced } = ignore_findings(request)?;
    let relative = |path: &Utf8Path| path.strip_prefix(current).unwrap_or(path).to_string();
    for refusal in &unplaced {
        let place = &refusal.finding.place;
        let (file, row) = (relative(&place.path), place.start.row);
        warning(format!("{file}:{row}: {} not ignored: {}", refusal.finding.rule, refusal.reason));
    }
    let unwritten = write(&changes, &project.base);
    let is_unwritten = |path: &Utf8Path| unwritten.iter().any(|file| *file.path == *path);
    for file in &unwritten {
        error(format!("{}: not written: {}", relative(&file.path), file.reason));
    }
    findings.retain(|finding| !is_unwritten(&finding.place.path));
    if console::verbosity() >= 0 {
        let files = changes.iter().map(|change| &*change.path).filter(|path| !is_unwritten(path)).collect::<Vec<_>>();
        let findings = findings.iter().collect::<Vec<_>>();
        let mut message = Vec::new();
        if files.is_empty() {
            message.extend_from_slice(b"Nothing to ignore.\n")
        } else {
            write_changed_files(&mut message, "Ignored", &files, &findings, current, check.show_fixes)?
        }
        ignore_closed_pipe(std::io::Write::write_all(&mut std::io::stdout(), &message))?;
    }
    let failed = !unwritten.is_empty() || !project.missing.is_empty();
    Ok(if failed { FAILED } else { CLEAN })
}
