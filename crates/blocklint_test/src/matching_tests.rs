//! Tests of the comparison of findings with expectations.

use blocklint_core::Confidence;
use camino::Utf8Path;

use super::*;
use crate::expectation::scan;
use crate::fake::{FakeEngine, finding};

/// Returns the differences for the line `a(b)`, with these comments above it and findings of these rules.
fn differences_for(comments: &[&str], rules: &[u16]) -> Vec<String> {
    let unchanged = |finding: Finding| finding;
    differences_for_changed(comments, rules, unchanged)
}

fn differences_for_changed(comments: &[&str], rules: &[u16], change: impl Fn(Finding) -> Finding) -> Vec<String> {
    let mut text: String = comments.iter().map(|comment| format!("# {comment}\n")).collect();
    let offset = text.len();
    text.push_str("a(b)\n");
    let scan = scan("main.py", &text);
    assert_eq!(scan.problems, []);
    let findings: Vec<_> =
        rules.iter().map(|rule| change(finding(Utf8Path::new("/p/main.py"), &text, offset, *rule))).collect();
    let refs: Vec<&Finding> = findings.iter().collect();
    differences(&scan.expectations, &refs, &FakeEngine)
        .into_iter()
        .map(|d| format!("{}: {}", d.row, d.message))
        .collect()
}

#[test]
fn expected_findings_make_no_difference() {
    assert_eq!(
        differences_for(&["error: [blocking-sleep] high \"handler → load → m.sleep\" \"message 101\""], &[101]),
        [""; 0]
    );
    assert_eq!(differences_for(&["warning: [blocking-file]", "error: [blocking-sleep]"], &[101, 104]), [""; 0]);
    assert_eq!(differences_for(&["ok"], &[]), [""; 0]);
    assert_eq!(differences_for(&[], &[]), [""; 0]);
}

#[test]
fn unmet_expectations_name_the_closest_finding() {
    let nothing = differences_for(&["error: [blocking-sleep]"], &[]);
    assert_eq!(nothing, ["1: expected `error: [blocking-sleep]`, found nothing of that rule"]);
    let severity = differences_for(&["warning: [blocking-sleep] low \"elsewhere\""], &[101]);
    assert_eq!(
        severity,
        ["1: expected `warning: [blocking-sleep] low \"elsewhere\"`, but the severity is `error`, the confidence is \
          `high`, neither message nor trace holds \"elsewhere\"\n\
          error: [blocking-sleep] high \"handler → load → m.sleep\"\nat column 1: message 101"]
    );
}

#[test]
fn unknown_rules_get_a_suggestion() {
    let misspelt = differences_for(&["error: [blocking-slep]"], &[]);
    assert!(misspelt[0].ends_with("no rule is called that: did you mean `blocking-sleep`?"), "{misspelt:?}");
}

#[test]
fn every_finding_must_be_expected() {
    let two = differences_for(&["error: [blocking-sleep]"], &[101, 101]);
    assert_eq!(two.len(), 1);
    assert!(two[0].starts_with("2: unexpected finding\nerror: [blocking-sleep]"), "{two:?}");
    let ok = differences_for(&["ok"], &[104]);
    assert!(ok[0].starts_with("1: expected no finding here, found\nwarning: [blocking-file]"), "{ok:?}");
    assert_eq!(differences_for(&[], &[101]).len(), 1);
}

#[test]
fn expectations_are_matched_with_as_many_findings_as_possible() {
    let lower = |mut finding: Finding| {
        if finding.rule.0 == 101 && finding.span_is_first() {
            finding.confidence = Confidence::Medium;
        }
        finding
    };
    // The loose expectation fits both findings, the strict one only one of them.
    let loose_first = ["error: [blocking-sleep]", "error: [blocking-sleep] high"];
    assert_eq!(differences_for(&loose_first, &[101, 101]), [""; 0]);
    assert_eq!(differences_for_changed(&loose_first, &[101], lower).len(), 1);
}

trait First {
    fn span_is_first(&self) -> bool;
}

impl First for Finding {
    fn span_is_first(&self) -> bool {
        self.place.start.column == 1
    }
}

#[test]
fn loose_expectations_leave_findings_to_strict_ones() {
    let text = "a(b)\n";
    let path = Utf8Path::new("/p/main.py");
    let mut medium = finding(path, text, 0, 101);
    medium.confidence = Confidence::Medium;
    let high = finding(path, text, 0, 101);
    let expectation = |comment: &str| scan("main.py", &format!("a(b)  # {comment}")).expectations.remove(0);
    let expectations = [expectation("error: [blocking-sleep]"), expectation("error: [blocking-sleep] high")];
    for findings in [[&high, &medium], [&medium, &high]] {
        assert_eq!(differences(&expectations, &findings, &FakeEngine), []);
    }
}

#[test]
fn todo_expectations_fail_once_they_are_outdated() {
    assert_eq!(differences_for(&["todo-error: [blocking-sleep]"], &[]), [""; 0]);
    let found = differences_for(&["todo-error: [blocking-sleep]"], &[101]);
    assert_eq!(found, ["1: `todo-error: [blocking-sleep]` is found by now: write `error: [blocking-sleep]`"]);
    assert_eq!(differences_for(&["todo-ok"], &[101]), [""; 0]);
    assert_eq!(differences_for(&["todo-ok"], &[]), ["1: this false alarm is gone: write `ok`"]);
    assert_eq!(differences_for(&["todo-ok", "error: [blocking-sleep]"], &[101, 104]), [""; 0]);
    // A known miss does not excuse findings of other rules.
    assert_eq!(differences_for(&["todo-error: [blocking-sleep]"], &[104]).len(), 1);
}
