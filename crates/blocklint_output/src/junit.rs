//! JUnit's XML: each file is a test suite, each finding a test that failed.

use std::io::{self, Write};

use blocklint_core::Finding;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::RenderInput;
use crate::paths::portable;

/// Writes the report. Without findings it has one test that passed.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_junit(out: &mut dyn Write, input: &RenderInput<'_>) -> io::Result<()> {
    let mut report = Report::new("blocklint");
    for findings in input.findings.chunk_by(|a, b| a.place.path == b.place.path) {
        let Some(first) = findings.first() else { continue };
        let mut suite = TestSuite::new(&*portable(&first.place.path, input.folder));
        suite.extra.insert("package".into(), "blocklint".into());
        suite.add_test_cases(findings.iter().map(|finding| test_case(finding, input)));
        report.add_test_suite(suite);
    }
    if input.findings.is_empty() {
        let mut suite = TestSuite::new("blocklint");
        suite.extra.insert("package".into(), "blocklint".into());
        suite.add_test_case(TestCase::new("No findings", TestCaseStatus::success()));
        report.add_test_suite(suite);
    }
    report.serialize(out).map_err(io::Error::other)
}

fn test_case(finding: &Finding, input: &RenderInput<'_>) -> TestCase {
    let place = &finding.place;
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(finding.severity.as_str()).set_message(finding.message.as_str());
    let cell = place.cell.map_or_else(String::new, |cell| format!("cell {cell}, "));
    let mut text = format!("{cell}line {}, col {}, {}", place.start.row, place.start.column, finding.message);
    if finding.trace.len() > 1 {
        text = format!("{text}\npath: {}", finding.trace_line());
    }
    if let Some(help) = &finding.help {
        text = format!("{text}\nhelp: {help}");
    }
    if let Some(url) = input.url(finding.rule) {
        text = format!("{text}\nrule: {url}");
    }
    status.set_description(text);
    let mut test = TestCase::new(format!("blocklint.{}", finding.rule), status);
    let file = portable(&place.path, input.folder);
    test.set_classname(&*file);
    let position = [("file", file.into_owned()), ("line", place.start.row.to_string())];
    let position = position.into_iter().chain([("column", place.start.column.to_string())]);
    test.extra.extend(position.map(|(name, value)| (name.into(), value.into())));
    test
}
