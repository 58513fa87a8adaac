//! `blocklint check --evidence FILE`: findings that were seen while the program ran are marked and shown first.

use blocklint_core::{Confidence, Severity};
use blocklint_engine::{Chosen, Evidence, Levels, locate_in};
use blocklint_output::Sources;
use blocklint_project::Project;
use camino::{Utf8Path, Utf8PathBuf};

use crate::arguments::Check;
use crate::messages::{Failure, verbose};

/// Reads the evidence files, in the order of the command line.
pub(super) fn read(check: &Check) -> Result<Vec<(Utf8PathBuf, Evidence)>, Failure> {
    let read_file = |path: &Utf8PathBuf| match Evidence::read(path) {
        Ok(evidence) => Ok((path.clone(), evidence)),
        Err(failure) => Err(Failure::all(failure.lines.iter().map(|line| format!("--evidence: {line}")))),
    };
    check.evidence.iter().map(read_file).collect()
}

/// Returns the levels of the analysis: the lowest with evidence, because seen findings are shown at any level.
pub(super) fn levels_with_evidence(check: &Check, levels: Levels) -> Levels {
    let lowest = Levels { severity: Severity::Note, confidence: Confidence::Low };
    if check.evidence.is_empty() { levels } else { lowest }
}

/// Marks the findings that were seen, and removes findings below `levels` that were not. Returns `texts` with the
/// sources that it read.
pub(super) fn apply(
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
        verbose(describe_match(path, evidence.kind, weighed));
    }
    Evidence::hide_unless_confirmed(chosen, levels);
    texts
}

fn describe_match(path: &Utf8Path, kind: &str, weighed: blocklint_engine::EvidenceCounts) -> String {
    let blocklint_engine::EvidenceCounts { all, explained } = weighed;
    format!("evidence {path}: {kind}, {all} in all; {explained} of a finding, {} of none", all - explained)
}
