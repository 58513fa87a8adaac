//! `blocklint check --add-ignore`.

use blocklint_engine::{Baseline, Chosen, IgnoreRequest, IgnoreResult, StateBefore, ignore_findings, write};
use blocklint_output::write_changed_files;
use camino::Utf8Path;

use super::check::{Prepared, options};
use super::{baseline, unless_closed};
use crate::arguments::Check;
use crate::messages::{Failure, error, warning};
use crate::{CLEAN, FAILED, console};

/// Findings that are known of before, and not ignored again.
#[derive(Clone, Copy)]
pub(super) struct Old<'o> {
    pub(super) baseline: Option<&'o Baseline>,
    pub(super) before: Option<&'o StateBefore>,
}

/// Writes a comment at each finding.
pub(super) fn add(check: &Check, prepared: &Prepared, old: Old<'_>, chosen: &Chosen) -> Result<u8, Failure> {
    let Prepared { project, rules, levels, models, current, .. } = prepared;
    let reason = check.add_ignore.as_deref().unwrap_or_default().trim();
    if reason.chars().any(char::is_control) {
        return Err(Failure::new("--add-ignore: a reason is one line of text"));
    }
    let leave_out = |chosen: &mut Chosen| {
        if let Some(baseline) = old.baseline {
            baseline::hold(check, baseline, chosen, prepared);
        }
        if let Some(before) = old.before {
            before.compare(chosen, project);
        }
    };
    let options = options(check, prepared)?;
    let (levels, findings) = (*levels, chosen.findings.as_slice());
    let request = IgnoreRequest { project, models, rules, levels, options, findings, leave_out: &leave_out, reason };
    let IgnoreResult { changes, mut findings, unplaced } = ignore_findings(request)?;
    let shown = |path: &Utf8Path| path.strip_prefix(current).unwrap_or(path).to_string();
    for one in &unplaced {
        let place = &one.finding.place;
        let (file, row) = (shown(&place.path), place.start.row);
        warning(format!("{file}:{row}: {} not ignored: {}", one.finding.rule, one.reason));
    }
    let unwritten = write(&changes, &project.base);
    let is_as_it_was = |path: &Utf8Path| unwritten.iter().any(|file| *file.path == *path);
    for file in &unwritten {
        error(format!("{}: not written: {}", shown(&file.path), file.reason));
    }
    findings.retain(|finding| !is_as_it_was(&finding.place.path));
    if console::verbosity() >= 0 {
        let files = changes.iter().map(|change| &*change.path).filter(|path| !is_as_it_was(path)).collect::<Vec<_>>();
        let findings = findings.iter().collect::<Vec<_>>();
        let mut said = Vec::new();
        match files.is_empty() {
            true => said.extend_from_slice(b"Nothing to ignore.\n"),
            false => write_changed_files(&mut said, "Ignored", &files, &findings, current, check.show_fixes)?,
        }
        unless_closed(std::io::Write::write_all(&mut std::io::stdout(), &said))?;
    }
    let failed = !unwritten.is_empty() || !project.missing.is_empty();
    Ok(if failed { FAILED } else { CLEAN })
}
