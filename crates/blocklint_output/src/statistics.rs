//! How often each rule was broken, as ruff counts.

use std::collections::BTreeMap;
use std::io::{self, Write};

use blocklint_core::Finding;
use serde::Serialize;

use crate::Shown;

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
