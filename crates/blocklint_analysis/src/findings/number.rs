//! Sorts findings and numbers equal ones, so that a fingerprint needs no line.

use crate::raw_finding::RawFinding;
use blocklint_core::RuleCode;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::FileId;
use rustc_hash::FxHashMap;

/// Sorts findings by path and place, and numbers the equal calls of one body. A name defined twice is one body here, because the
/// fingerprint knows bodies by their names.
pub(super) fn sort_and_number(linker: &Linker<'_>, found: &mut [RawFinding]) {
    let path_of = |finding: &RawFinding| &linker.program.files[finding.file.index()].relative;
    found.sort_by(|a, b| (path_of(a), a.span, a.rule).cmp(&(path_of(b), b.span, b.rule)));
    let mut seen: FxHashMap<(RuleCode, FileId, String, String), u32> = FxHashMap::default();
    for finding in found {
        let body = linker.qualified_name(linker.program.body_of_site(finding.site));
        let count = seen.entry((finding.rule, finding.file, body, finding.callee.clone())).or_default();
        finding.occurrence = *count;
        *count += 1;
    }
}
