//! `blocklint check --since REF`, `--changed`, `--staged`.

use blocklint_engine::{Compare, RunRequest, RunResult, StateBefore, run_change};

use crate::arguments::Check;
use crate::messages::Failure;

/// Returns the state that a run is compared with, and the option that says so.
pub(super) fn compared_with(check: &Check) -> Option<(&'static str, Compare)> {
    match (&check.since, check.changed, check.staged) {
        (Some(name), ..) => Some(("--since", Compare::Since(name.clone()))),
        (_, true, _) => Some(("--changed", Compare::Changed)),
        (_, _, true) => Some(("--staged", Compare::Staged)),
        _ => None,
    }
}

/// Runs; with what a comparison is asked with, also over the state before.
pub(super) fn run(check: &Check, request: RunRequest<'_>) -> Result<(RunResult, Option<StateBefore>), Failure> {
    let Some((option, compare)) = compared_with(check) else { return Ok((blocklint_engine::run(request)?, None)) };
    let (ran, before) = run_change(request, &compare).map_err(|failure| of_option(option, &failure))?;
    Ok((ran, Some(before)))
}

/// Returns a failure, with the option that asked for what failed.
pub(super) fn of_option(option: &str, failure: &blocklint_engine::Failure) -> Failure {
    Failure::all(failure.lines.iter().map(|line| format!("{option}: {line}")))
}
