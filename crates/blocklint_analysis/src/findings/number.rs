//! Order of findings, and numbers of equal findings, so that a fingerprint needs no line number.

use crate::raw_finding::RawFinding;
use blocklint_core::RuleCode;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::FileId;
use rustc_hash::FxHashMap;

/// Sorts findings by path and place, and numbers the equal calls of one body. Two bodies with one name are treated as
/// one, because the fingerprint contains the name.
pub(super) fn sort_and_number(linker: &Linker<'_>, findings: &mut [RawFinding]) {
    let path_of = |finding: &RawFinding| &linker.program.files[finding.file.index()].relative;
    findings.sort_by(|a, b| (path_of(a), a.span, a.rule).cmp(&(path_of(b), b.span, b.rule)));
    let mut counts: FxHashMap<(RuleCode, FileId, String, String), u32> = FxHashMap::default();
    for finding in findings {
        let body = linker.qualified_name(linker.program.body_of_site(finding.site));
        let count = counts.entry((finding.rule, finding.file, body, finding.callee.clone())).or_default();
        finding.occurrence = *count;
        *count += 1;
    }
}
