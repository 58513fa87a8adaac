//! Statistics (`--statistics`): the number of findings of each rule, as ruff counts them, and of each cause.

use std::collections::BTreeMap;
use std::io::{self, Write};

use blocklint_core::{Cause, Finding, Hold, Location};
use serde::Serialize;

use crate::paths::{escape_controls, place_text};
use crate::{GroupOverview, Overview, RenderInput};

#[derive(Serialize)]
struct Row {
    code: String,
    name: &'static str,
    count: usize,
    fixable: bool,
    fixable_count: usize,
}

fn rows_by_rule(findings: &[Finding]) -> Vec<Row> {
    let mut counts = BTreeMap::new();
    for finding in findings {
        let (count, fixable) = counts.entry(finding.rule).or_insert((0, 0));
        *count += 1;
        *fixable += usize::from(finding.fix.is_some());
    }
    let rows = counts.into_iter().map(|(code, (count, fixable_count))| Row {
        code: code.to_string(),
        name: blocklint_rules::rule(code).map_or("", |rule| rule.name),
        count,
        fixable: fixable_count > 0,
        fixable_count,
    });
    let mut rows = rows.collect::<Vec<_>>();
    // The sort is stable, so rules with equal counts stay in the order of their codes.
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows
}

/// Writes the number of findings, the code and the name of each rule, the most frequent first.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_statistics(out: &mut dyn Write, input: &RenderInput<'_>) -> io::Result<()> {
    let rows = rows_by_rule(input.findings);
    let width = rows.first().map_or(0, |row| row.count.to_string().len());
    for row in rows {
        writeln!(out, "{:>width$}\t{}\t{}", row.count, row.code, row.name)?;
    }
    Ok(())
}

/// Writes the statistics of [`write_statistics`] as an array of objects.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_statistics_json(out: &mut dyn Write, input: &RenderInput<'_>) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &rows_by_rule(input.findings))?;
    writeln!(out)
}

/// The counts of one cause.
#[derive(Serialize)]
struct CauseRow<'a> {
    call: &'a str,
    filename: &'a str,
    location: Location,
    function: &'a str,
    /// The number of findings whose best path ends at the cause.
    count: usize,
    /// The number of findings that have no other cause.
    mends: u32,
    /// The number of functions that must not block and reach the cause.
    reach: u32,
    #[serde(serialize_with = "crate::json::hold")]
    hold: Hold,
}

/// Returns the causes in the order of their groups, each with its counts.
fn rows_by_cause<'a>(input: &RenderInput<'a>, overview: &'a Overview) -> Vec<(&'a Cause, CauseRow<'a>)> {
    let groups = input.groups.iter().zip(&overview.groups);
    let row = |cause: &'a Cause, count: usize, overview: &GroupOverview| CauseRow {
        call: &cause.call,
        filename: cause.place.path.as_str(),
        location: cause.place.start,
        function: &cause.function,
        count,
        mends: overview.mends,
        reach: cause.reach,
        hold: overview.hold,
    };
    let rows = groups.filter_map(|(group, overview)| {
        let cause = group.cause.as_ref()?;
        Some((cause, row(cause, group.findings.len(), overview)))
    });
    rows.collect()
}

/// Writes a line for each cause, the most rewarding one first: its number of findings, the number of functions that it
/// stalls and for how long, the call and its place.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_statistics_by_cause(out: &mut dyn Write, input: &RenderInput<'_>, overview: &Overview) -> io::Result<()> {
    let lines = rows_by_cause(input, overview).into_iter().map(|(cause, row)| {
        let functions = if row.reach == 1 { "function" } else { "functions" };
        let stalls = format!("{} {functions}", row.reach);
        let call = escape_controls(row.call).into_owned();
        [row.count.to_string(), stalls, hold_text(row.hold), call, place_text(&cause.place, input.folder)]
    });
    let lines: Vec<[String; 5]> = lines.collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 4] = std::array::from_fn(width);
    for [count, stalls, hold, call, place] in &lines {
        let [count_width, stalls_width, hold_width, call_width] = widths;
        writeln!(
            out,
            "{count:>count_width$}  {stalls:<stalls_width$}  {hold:>hold_width$}  {call:<call_width$}  {place}"
        )?;
    }
    Ok(())
}

/// Writes the statistics of [`write_statistics_by_cause`] as an array of objects.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_statistics_by_cause_json(
    out: &mut dyn Write,
    input: &RenderInput<'_>,
    overview: &Overview,
) -> io::Result<()> {
    let rows: Vec<CauseRow<'_>> = rows_by_cause(input, overview).into_iter().map(|(_, row)| row).collect();
    serde_json::to_writer_pretty(&mut *out, &rows)?;
    writeln!(out)
}

fn hold_text(hold: Hold) -> String {
    match hold {
        Hold::Unstated => "-".to_owned(),
        Hold::Brief => "brief".to_owned(),
        Hold::Unbounded => "no bound".to_owned(),
        Hold::Seconds(time) if !time.is_finite() => "no bound".to_owned(),
        Hold::Seconds(time) => format!("{time} s"),
    }
}
