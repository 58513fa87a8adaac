//! The code that waits for a finding: requests and messages, timers and tasks, or only the start and the end of the
//! program. It decides which finding of a cause is shown first, and adds points to the order of causes.

use blocklint_core::{EntryKind, Finding, Hold, ReachedBy};
use blocklint_models::ReachPoints;
use blocklint_output::ReachedFrom;

/// The signals of findings that run only after a failure.
const AFTER_A_FAILURE: [&str; 3] = ["after-a-failure", "in-a-catch", "fails-besides"];

/// The code that waits for a finding; what matters most is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Waiting {
    /// Requests or messages.
    Serving,
    /// Timers and tasks beside them.
    Beside,
    /// The entry points are not known.
    Unknown,
    /// Only the start, the end or a reload of the program, commands, or the handling of an error.
    OutsideServing,
}

/// Returns the code that waits for a finding.
pub(crate) fn waiting(finding: &Finding) -> Waiting {
    if finding.reasons.iter().any(|reason| AFTER_A_FAILURE.contains(&reason.name)) {
        return Waiting::OutsideServing;
    }
    let kinds = finding.reached_by.iter().map(|entry| entry.kind);
    kinds.filter(|&kind| kind != EntryKind::Test).map(waiting_of_kind).min().unwrap_or(Waiting::Unknown)
}

fn waiting_of_kind(kind: EntryKind) -> Waiting {
    match kind {
        EntryKind::Request | EntryKind::Message => Waiting::Serving,
        EntryKind::Tick | EntryKind::Task => Waiting::Beside,
        EntryKind::None | EntryKind::Unknown | EntryKind::Test => Waiting::Unknown,
        EntryKind::Start | EntryKind::Stop | EntryKind::Reload | EntryKind::Command => Waiting::OutsideServing,
    }
}

/// Returns the entry point that people are shown for a finding: of those that are known, the one that matters most.
/// Also the time of the call for each of its runs, where it was measured and nothing else tells how long the call takes.
pub(crate) fn reached_from(finding: &Finding) -> Option<ReachedFrom> {
    let is_known = |entry: &ReachedBy| !matches!(entry.kind, EntryKind::None | EntryKind::Unknown | EntryKind::Test);
    let known = (0u32..).zip(&finding.reached_by).filter(|(_, entry)| is_known(entry));
    // The list is in the order of kinds: requests come before messages.
    let (entry, _) = known.min_by_key(|&(index, entry)| (waiting_of_kind(entry.kind), index))?;
    let is_measured = matches!(finding.hold, Hold::Unstated | Hold::Brief);
    let takes = finding.weight.filter(|_| is_measured).and_then(|weight| weight.duration);
    // An unknown caller may matter more than the start of the program.
    let is_least = waiting_of_kind(finding.reached_by[entry as usize].kind) == Waiting::OutsideServing;
    (!is_least || waiting(finding) == Waiting::OutsideServing).then_some(ReachedFrom { entry, takes })
}

/// Returns the points of a cause besides those of its kind of work: that many functions reach it, and these findings
/// are its own.
pub(crate) fn points_of_reach<'a>(functions: u32, findings: impl Iterator<Item = &'a Finding>) -> i32 {
    let points = ReachPoints::builtin();
    let of_waiting = match findings.map(waiting).min() {
        Some(Waiting::Serving) => points.serving,
        Some(Waiting::OutsideServing) => points.outside_serving,
        Some(Waiting::Beside | Waiting::Unknown) | None => 0,
    };
    points.of_functions(functions) + of_waiting
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use blocklint_core::{CallDuration, Place, Reason, RuleCode, Severity, Span, Weight, Work};
    use camino::Utf8Path;

    use super::*;

    fn finding(kinds: &[EntryKind]) -> Finding {
        let place = Place::unlocated(Arc::from(Utf8Path::new("/p/a.py")), Span::new(0, 1));
        let entry = |&kind| ReachedBy { kind, entry: "a.f".to_owned(), route: None, place: place.clone() };
        Finding {
            reached_by: kinds.iter().map(entry).collect(),
            ..Finding::of_source(RuleCode(102), Severity::Error, String::new(), place.clone())
        }
    }

    #[test]
    fn requests_matter_more_than_tasks_and_unknown_code_more_than_the_start() {
        use EntryKind::{Command, Message, Request, Start, Stop, Task, Test, Unknown};
        for (kinds, expected, shown) in [
            (&[Request, Task, Start][..], Waiting::Serving, Some(0)),
            (&[Message, Stop], Waiting::Serving, Some(0)),
            (&[Task, Start, Unknown], Waiting::Beside, Some(0)),
            (&[Start, Unknown], Waiting::Unknown, None),
            (&[Start, Command, Test], Waiting::OutsideServing, Some(0)),
            (&[Test], Waiting::Unknown, None),
            (&[], Waiting::Unknown, None),
        ] {
            let finding = finding(kinds);
            assert_eq!(waiting(&finding), expected, "{kinds:?}");
            assert_eq!(reached_from(&finding).map(|from| from.entry), shown, "{kinds:?}");
        }
    }

    #[test]
    fn the_handling_of_an_error_waits_outside_of_serving() {
        let mut finding = finding(&[EntryKind::Request]);
        let reason = |name| Reason { name, says: "", makes: "note", place: None };
        finding.reasons = vec![reason("after-a-failure")];
        assert_eq!(waiting(&finding), Waiting::OutsideServing);
        assert!(AFTER_A_FAILURE.iter().all(|name| crate::signal_named(name).is_some()));
    }

    #[test]
    fn a_measured_time_is_for_each_run_unless_the_hold_is_known() {
        let takes = CallDuration::parse("35 ms");
        let work = Work::parse("file-certificates").expect("a kind");
        let mut finding =
            Finding { weight: Some(Weight { work, duration: takes, points: 4 }), ..finding(&[EntryKind::Request]) };
        assert_eq!(reached_from(&finding).and_then(|from| from.takes), takes);
        finding.hold = Hold::Unbounded;
        assert_eq!(reached_from(&finding), Some(ReachedFrom { entry: 0, takes: None }));
    }

    #[test]
    fn many_requests_count_more_than_one_start() {
        let served = points_of_reach(43, [finding(&[EntryKind::Request])].iter());
        let at_start = points_of_reach(1, [finding(&[EntryKind::Start])].iter());
        let unknown = points_of_reach(1, [finding(&[])].iter());
        assert!(served > unknown && unknown > at_start, "{served} {unknown} {at_start}");
    }
}
