//! Findings in random orders of questions: they must be equal.

use std::collections::BTreeSet;
use std::fmt::Write;

use blocklint_core::Finding;
use camino::Utf8Path;

use crate::{HarnessEngine, Options};

/// The most differing findings that are shown.
const MOST_SHOWN: usize = 20;

/// Demands that the findings below `root` are the usual ones if all calls, callers and roots were asked for in the random order of each seed
/// before. Findings differ only at the places that `options.order_dependent` lists, and at each of these for one seed or more.
///
/// # Errors
///
/// The differences, fit to be shown, or an obstacle to a run.
pub fn demand_equal_findings(
    check: &dyn HarnessEngine,
    root: &Utf8Path,
    options: &Options,
    usual: &[Finding],
    seeds: &[u64],
) -> Result<(), String> {
    let usual = shown(root, usual);
    let mut not_seen: BTreeSet<&str> = options.order_dependent.iter().map(String::as_str).collect();
    let mut problems = String::new();
    for &seed in seeds {
        let shuffled = check.check(root, &Options { ask_first: Some(seed), ..options.clone() })?;
        let shuffled = shown(root, &shuffled);
        let lost = usual.difference(&shuffled).map(|(place, finding)| ('-', place, finding));
        let new = shuffled.difference(&usual).map(|(place, finding)| ('+', place, finding));
        let mut different: Vec<_> = lost.chain(new).collect();
        different.sort_by_key(|(sign, place, finding)| (*place, *sign == '+', *finding));
        different.retain(|(_, place, _)| {
            not_seen.remove(place.as_str());
            !options.order_dependent.contains(place)
        });
        if !different.is_empty() {
            let _ = writeln!(
                problems,
                "{} findings differ if calls are asked for in the order of seed {seed}:",
                different.len()
            );
            for (sign, _, finding) in different.iter().take(MOST_SHOWN) {
                let _ = writeln!(problems, "{sign} {finding}");
            }
        }
    }
    if !seeds.is_empty() {
        for place in not_seen {
            let _ =
                writeln!(problems, "the findings at {place} are equal in any order: remove it from `order-dependent`");
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Returns each finding with all that it says, after its place, `PATH:LINE` below `root`.
fn shown(root: &Utf8Path, findings: &[Finding]) -> BTreeSet<(String, String)> {
    let below = format!("{root}/");
    let text_of = |finding: &Finding| {
        let path = finding.place.path.as_str();
        let line = finding.place.start.row;
        (format!("{}:{line}", path.strip_prefix(&below).unwrap_or(path)), format!("{finding:?}").replace(&below, ""))
    };
    findings.iter().map(text_of).collect()
}
