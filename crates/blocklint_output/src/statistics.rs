//! How often each rule was broken, as ruff counts, and how much each cause stalls.

use std::collections::BTreeMap;
use std::io::{self, Write};

use blocklint_core::{Cause, Finding, Hold, Location};
use serde::Serialize;

use crate::paths::{harmless, shown_place};
use crate::{GroupOverview, Overview, Shown};

#[derive(Serialize)]
struct Row {
    code: String,
    name: &'static str,
    count: usize,
    fixable: bool,
    fixable_count: usize,
}

fn rows(findings: &[Finding]) -> Vec<Row> {
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
    // Stable: rules broken equally often stay in order of their codes.
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows
}

/// Writes count, code and name of each rule, the most frequent first.
///
/// # Errors
///
/// Those of the writer.
pub fn statistics(out: &mut dyn Write, shown: &Shown<'_>) -> io::Result<()> {
    let rows = rows(shown.findings);
    let width = rows.first().map_or(0, |row| row.count.to_string().len());
    for row in rows {
        writeln!(out, "{:>width$}\t{}\t{}", row.count, row.code, row.name)?;
    }
    Ok(())
}

/// Writes the same as an array of objects.
///
/// # Errors
///
/// Those of the writer.
pub fn statistics_json(out: &mut dyn Write, shown: &Shown<'_>) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &rows(shown.findings))?;
    writeln!(out)
}

/// The counts of one cause.
#[derive(Serialize)]
struct CauseRow<'a> {
    call: &'a str,
    filename: &'a str,
    location: Location,
    function: &'a str,
    /// Findings whose best path ends there.
    count: usize,
    /// Findings of which it is the only cause.
    mends: u32,
    /// Functions that must not block and reach it.
    reach: u32,
    #[serde(serialize_with = "crate::json::hold")]
    hold: Hold,
}

fn causes<'a>(shown: &Shown<'a>, overview: &'a Overview) -> Vec<(&'a Cause, CauseRow<'a>)> {
    let groups = shown.groups.iter().zip(&overview.groups);
    let row = |cause: &'a Cause, count: usize, of: &GroupOverview| CauseRow {
        call: &cause.call,
        filename: cause.place.path.as_str(),
        location: cause.place.start,
        function: &cause.function,
        count,
        mends: of.mends,
        reach: cause.reach,
        hold: of.hold,
    };
    let rows = groups.filter_map(|(group, of)| {
        let cause = group.cause.as_ref()?;
        Some((cause, row(cause, group.findings.len(), of)))
    });
    rows.collect()
}

/// Writes a line for each cause, in the order in which they are worth row_advice: its findings, how many functions it
/// stalls, for how long, the call and its place.
///
/// # Errors
///
/// Those of the writer.
pub fn statistics_by_cause(out: &mut dyn Write, shown: &Shown<'_>, overview: &Overview) -> io::Result<()> {
    let lines = causes(shown, overview).into_iter().map(|(cause, row)| {
        let functions = if row.reach == 1 { "function" } else { "functions" };
        let stalls = format!("{} {functions}", row.reach);
        let call = harmless(row.call).into_owned();
        [row.count.to_string(), stalls, in_words(row.hold), call, shown_place(&cause.place, shown.folder)]
    });
    let lines: Vec<[String; 5]> = lines.collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 4] = std::array::from_fn(width);
    for [count, stalls, hold, call, place] in &lines {
        let [a, b, c, d] = widths;
        writeln!(out, "{count:>a$}  {stalls:<b$}  {hold:>c$}  {call:<d$}  {place}")?;
    }
    Ok(())
}

/// Writes the same as an array of objects.
///
/// # Errors
///
/// Those of the writer.
pub fn statistics_by_cause_json(out: &mut dyn Write, shown: &Shown<'_>, overview: &Overview) -> io::Result<()> {
    let rows: Vec<CauseRow<'_>> = causes(shown, overview).into_iter().map(|(_, row)| row).collect();
    serde_json::to_writer_pretty(&mut *out, &rows)?;
    writeln!(out)
}

fn in_words(hold: Hold) -> String {
    match hold {
        Hold::Unstated => "-".to_owned(),
        Hold::Brief => "brief".to_owned(),
        Hold::Unbounded => "no bound".to_owned(),
        Hold::Seconds(time) if !time.is_finite() => "no bound".to_owned(),
        Hold::Seconds(time) => format!("{time} s"),
    }
}
