//! `blocklint check --evidence FILE`.

use blocklint_core::{Confidence, Severity};
use blocklint_engine::{Chosen, Evidence, Levels, locate_in};
use blocklint_output::Sources;
use blocklint_project::Project;
use camino::{Utf8Path, Utf8PathBuf};

use crate::arguments::Check;
use crate::messages::{Failure, verbose};

/// Returns the files of evidence, in their order.
pub(super) fn read(check: &Check) -> Result<Vec<(Utf8PathBuf, Evidence)>, Failure> {
    let read = |path: &Utf8PathBuf| match Evidence::read(path) {
        Ok(evidence) => Ok((path.clone(), evidence)),
        Err(failure) => Err(Failure::all(failure.lines.iter().map(|line| format!("--evidence: {line}")))),
    };
    check.evidence.iter().map(read).collect()
}

/// Returns the least that a run has to find: what was seen is shown however bad and sure it is.
pub(super) fn levels(check: &Check, levels: Levels) -> Levels {
    let none = Levels { severity: Severity::Note, confidence: Confidence::Low };
    if check.evidence.is_empty() { levels } else { none }
}

/// Marks what was seen, and takes out what was not and lies below the levels. The texts that were read for it come back.
pub(super) fn weigh(
    evidence: &[(Utf8PathBuf, Evidence)],
    chosen: &mut Chosen,
    project: &Project,
    levels: Levels,
    texts: Sources,
) -> Sources {
    if evidence.is_empty() {
        return texts;
    }
    let texts = locate_in(project, chosen, texts);
    for (path, evidence) in evidence {
        let weighed = evidence.mark_confirmed(chosen, project);
        verbose(said(path, evidence.kind, weighed));
    }
    Evidence::hide_unless_confirmed(chosen, levels);
    texts
}

fn said(path: &Utf8Path, kind: &str, weighed: blocklint_engine::EvidenceCounts) -> String {
    let blocklint_engine::EvidenceCounts { all, explained } = weighed;
    format!("evidence {path}: {kind}, {all} in all; {explained} of a finding, {} of none", all - explained)
}
