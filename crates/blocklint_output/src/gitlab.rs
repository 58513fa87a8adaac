//! GitLab's Code Quality report, which merge requests show.

use std::io::{self, Write};

use blocklint_core::{Finding, Severity};
use camino::Utf8Path;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::RenderInput;
use crate::paths::portable;

#[derive(Serialize)]
struct Issue<'a> {
    check_name: String,
    description: String,
    severity: &'static str,
    fingerprint: String,
    /// Code Climate's field for a longer text.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Content>,
    location: Location<'a>,
}

#[derive(Serialize)]
struct Content {
    /// Markdown.
    body: String,
}

#[derive(Serialize)]
struct Location<'a> {
    path: std::borrow::Cow<'a, str>,
    positions: Positions,
}

#[derive(Serialize)]
struct Positions {
    begin: Position,
    end: Position,
}

#[derive(Serialize)]
struct Position {
    line: u32,
    column: u32,
}

/// Writes all findings as one array. Paths are relative to `root`, which must be the folder of the repository.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_gitlab(out: &mut dyn Write, input: &RenderInput<'_>, root: &Utf8Path) -> io::Result<()> {
    // GitLab treats two issues with one fingerprint as the same issue, so later ones get a number.
    let mut times: FxHashMap<&str, u32> = FxHashMap::default();
    let issues = input.findings.iter().map(|finding| {
        let nth = times.entry(&finding.fingerprint).or_insert(0);
        *nth += 1;
        let fingerprint = match nth {
            1 => finding.fingerprint.clone(),
            nth => format!("{}-{nth}", finding.fingerprint),
        };
        issue(finding, fingerprint, input, root)
    });
    serde_json::to_writer_pretty(&mut *out, &issues.collect::<Vec<_>>())?;
    writeln!(out)
}

fn issue<'a>(finding: &'a Finding, fingerprint: String, input: &RenderInput<'_>, root: &Utf8Path) -> Issue<'a> {
    let place = &finding.place;
    // Rows in a cell are no lines of the notebook's file.
    let position = |row: u32, column: u32| match place.cell {
        Some(_) => Position { line: 1, column: 1 },
        None => Position { line: row.max(1), column: column.max(1) },
    };
    let cell = place.cell.map_or_else(String::new, |cell| format!("cell {cell}, line {}: ", place.start.row));
    Issue {
        check_name: finding.rule.to_string(),
        description: format!("{}: {cell}{}", finding.rule, finding.message),
        severity: match finding.severity {
            Severity::Error => "major",
            Severity::Warning => "minor",
            Severity::Note => "info",
        },
        fingerprint,
        content: input.url(finding.rule).map(|url| Content { body: format!("The rule: <{url}>") }),
        location: Location {
            path: portable(&place.path, root),
            positions: Positions {
                begin: position(place.start.row, place.start.column),
                end: position(place.end.row, place.end.column),
            },
        },
    }
}
