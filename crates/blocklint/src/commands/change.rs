//! `blocklint check --since REF`, `--changed`, `--staged`: findings compared with an earlier state of the repository.

use blocklint_engine::{Compare, RunRequest, RunResult, StateBefore, run_change};

use crate::arguments::Check;
use crate::messages::Failure;

/// Returns the option that requests a comparison, and the state to compare with.
pub(super) fn requested_comparison(check: &Check) -> Option<(&'static str, Compare)> {
    match (&check.since, check.changed, check.staged) {
        (Some(name), ..) => Some(("--since", Compare::Since(name.clone()))),
        (_, true, _) => Some(("--changed", Compare::Changed)),
        (_, _, true) => Some(("--staged", Compare::Staged)),
        _ => None,
    }
}

/// Runs the analysis; with `--since`, `--changed` or `--staged` also over the earlier state.
pub(super) fn run_with_comparison(
    check: &Check,
    request: RunRequest<'_>,
) -> Result<(RunResult, Option<StateBefore>), Failure> {
    let Some((option, compare)) = requested_comparison(check) else {
        return Ok((blocklint_engine::run(request)?, None));
    };
    let (ran, before) = run_change(request, &compare).map_err(|failure| prefix_option(option, &failure))?;
    Ok((ran, Some(before)))
}

/// Returns the failure with the option at the beginning of each line, as in `--since: no such commit`.
pub(super) fn prefix_option(option: &str, failure: &Failure) -> Failure {
    Failure::all(failure.lines.iter().map(|line| format!("{option}: {line}")))
}
