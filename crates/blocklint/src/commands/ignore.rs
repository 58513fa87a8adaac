//! `blocklint check --add-ignore`.

use std::io::Write;

use blocklint_engine::{Chosen, IgnoreRequest, ignored, locate, on_large_stacks, write};
use blocklint_project::Project;
use camino::Utf8Path;

use super::unless_closed;
use crate::arguments::Check;
use crate::messages::{Failure, error, warning};
use crate::{CLEAN, FAILED};

/// Writes a comment at each finding.
pub(super) fn add(check: &Check, project: &Project, chosen: &mut Chosen, current: &Utf8Path) -> Result<u8, Failure> {
    let reason = check.add_ignore.as_deref().unwrap_or_default().trim();
    if reason.chars().any(char::is_control) {
        return Err(Failure::new("--add-ignore: a reason is one line of text"));
    }
    // Rows of what is told; the spans stay as they are.
    locate(project, chosen);
    let request = IgnoreRequest { project, findings: &chosen.findings, reason };
    let ignored = on_large_stacks(|| ignored(request))?;
    let shown = |path: &Utf8Path| path.strip_prefix(current).unwrap_or(path).to_string();
    for one in &ignored.unplaced {
        let place = &one.finding.place;
        warning(format!(
            "{}:{}: {} not ignored: {}",
            shown(&place.path),
            place.start.row,
            one.finding.rule,
            one.reason
        ));
    }
    let unwritten = write(&ignored.changes, &project.base);
    let mut count: usize = ignored.changes.iter().map(|change| change.mended).sum();
    for file in &unwritten {
        error(format!("{}: not written: {}", shown(&file.path), file.reason));
        let change = ignored.changes.iter().find(|change| change.path == file.path);
        count -= change.map_or(0, |change| change.mended);
    }
    let said = match count {
        0 => "Nothing to ignore.\n".to_owned(),
        1 => "Ignored 1 finding.\n".to_owned(),
        more => format!("Ignored {more} findings.\n"),
    };
    unless_closed(std::io::stdout().write_all(said.as_bytes()))?;
    let failed = !unwritten.is_empty() || !project.missing.is_empty();
    Ok(if failed { FAILED } else { CLEAN })
}
