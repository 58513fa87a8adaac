//! What fixes do to a project, and that they keep what they promise.

use std::collections::BTreeMap;

use blocklint_core::{Finding, RuleCode};
use camino::{Utf8Path, Utf8PathBuf};
use similar::TextDiff;

use crate::{Check, Mending, Options};

/// Applies the fixes in the files below `root`, where `before` was found, and gives back what a `fix` block pins.
///
/// # Errors
///
/// The first promise that is not kept.
pub(crate) fn fixed(
    root: &Utf8Path,
    options: &Options,
    before: &[Finding],
    check: &dyn Check,
) -> Result<String, String> {
    let mending = check.fix(root, options)?;
    let mut after = check.check(root, options)?;
    after.retain(|finding| finding.suppression.is_none());
    let (known, left) = (counted(before), counted(&after));
    for (what, count) in &left {
        let (rule, path, function, call) = what;
        if *count > known.get(what).copied().unwrap_or_default() {
            let path = path.strip_prefix(root).unwrap_or(path);
            return Err(format!("fixing brings a new finding: {rule} in `{path}`, `{function}`, at `{call}`"));
        }
    }
    if after.len() + mending.mended > before.len() {
        let (mended, left, before) = (mending.mended, after.len(), before.len());
        return Err(format!("{mended} of {before} findings were mended, but {left} are left"));
    }
    let again = check.fix(root, options)?;
    match again.files.is_empty() {
        true => Ok(shown(root, &mending)),
        false => Err(format!("fixing a second time changes more:\n{}", shown(root, &again))),
    }
}

/// A unified diff, then what was taken back.
fn shown(root: &Utf8Path, mending: &Mending) -> String {
    let below = |path: &Utf8PathBuf| path.strip_prefix(root).unwrap_or(path).to_owned();
    let mut text = String::new();
    for (path, before, after) in &mending.files {
        let name = below(path);
        let diff = TextDiff::from_lines(before.as_str(), after.as_str());
        let diff = diff.unified_diff().header(name.as_str(), name.as_str()).to_string();
        // Editors take blanks at the end of a line away.
        diff.lines().for_each(|line| text.extend([if line == " " { "" } else { line }, "\n"]));
    }
    for (path, row, rule, reason) in &mending.refused {
        text.push_str(&format!("{}:{row}: {rule} not fixed: {reason}\n", below(path)));
    }
    text
}

type Counts = BTreeMap<(RuleCode, Utf8PathBuf, String, String), usize>;

/// Findings by what stays of them while lines move.
fn counted(findings: &[Finding]) -> Counts {
    let mut counts = Counts::new();
    for finding in findings {
        let call = finding.trace.first().map_or(&finding.message, |step| &step.call);
        let key = (finding.rule, finding.place.path.to_path_buf(), finding.function.clone(), call.clone());
        *counts.entry(key).or_default() += 1;
    }
    counts
}
