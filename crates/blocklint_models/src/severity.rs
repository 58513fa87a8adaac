//! The severity of a call by the kind of its work (`SeverityTable`): the table `rules/severity.toml`, and the user's
//! severities. Also the points of the code that waits for a call (`ReachPoints`).

use std::collections::BTreeMap;
use std::sync::OnceLock;

use blocklint_core::{CallDuration, Effect, Severity, Weight, Work};
use serde::Deserialize;

use crate::CallRow;

/// The text of the table.
static TEXT: &str = include_str!("../../../rules/severity.toml");

/// One line of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeverityLine {
    /// The severity of one call while the program serves.
    pub severity: Severity,
    /// The rank of a finding among those of its severity; more points come first.
    pub points: u32,
    /// The time of one call on a local machine, if it was measured.
    pub duration: Option<CallDuration>,
}

/// A line as `rules/severity.toml` writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLine {
    says: String,
    severity: String,
    points: u32,
    takes: Option<String>,
}

impl WrittenLine {
    fn parse(&self) -> Option<SeverityLine> {
        let duration = match &self.takes {
            Some(text) => Some(CallDuration::parse(text)?),
            None => None,
        };
        Some(SeverityLine { severity: Severity::parse(&self.severity)?, points: self.points, duration })
    }
}

/// The points that a cause has besides those of its kind of work, by the code that waits for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReachPoints {
    /// Numbers of functions that must not block. Each number that a cause reaches is one point more.
    pub functions: Vec<u32>,
    /// The points of a cause that requests or messages reach.
    pub serving: i32,
    /// The points of a cause that is reached only at the start, the end or a reload of the program, by commands, or
    /// after a failure.
    pub outside_serving: i32,
}

impl ReachPoints {
    /// Returns the built-in points. The table is parsed at the first call.
    pub fn builtin() -> &'static ReachPoints {
        &table().reach
    }

    /// Returns the points of a cause that this many functions reach.
    pub fn of_functions(&self, functions: u32) -> i32 {
        self.functions.iter().filter(|&&number| functions >= number).count() as i32
    }
}

/// The built-in table.
#[derive(Default)]
struct Table {
    /// The lines, each with a short description of the kind of work.
    lines: BTreeMap<Work, (SeverityLine, String)>,
    reach: ReachPoints,
}

/// The table as `rules/severity.toml` writes it.
#[derive(Default, Deserialize)]
struct WrittenTable {
    #[serde(default)]
    reach: ReachPoints,
    #[serde(flatten)]
    lines: BTreeMap<String, WrittenLine>,
}

/// Returns the built-in table, which is parsed at the first call.
fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    // A test parses every line, so that no line is dropped here.
    TABLE.get_or_init(|| {
        let written: WrittenTable = toml::from_str(TEXT).unwrap_or_default();
        let lines = written.lines.into_iter();
        let lines = lines.filter_map(|(name, line)| Some((Work::parse(&name)?, (line.parse()?, line.says)))).collect();
        Table { lines, reach: written.reach }
    })
}

/// Returns the lines of the built-in table, each with a short description of the kind of work.
fn builtin() -> &'static BTreeMap<Work, (SeverityLine, String)> {
    &table().lines
}

/// The severity, points and time of each kind of work: the built-in lines, with severities that the user sets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeverityTable {
    user_severities: BTreeMap<Work, Severity>,
}

impl SeverityTable {
    /// Sets the severity of a kind of work.
    pub fn set(&mut self, work: Work, severity: Severity) {
        self.user_severities.insert(work, severity);
    }

    /// Returns the line of a kind of work.
    pub fn line(&self, work: Work) -> SeverityLine {
        // A test checks that every kind of work has a line.
        let builtin_line = builtin().get(&work).map(|(line, _)| *line);
        let line = builtin_line.unwrap_or(SeverityLine { severity: Severity::Error, points: 0, duration: None });
        SeverityLine { severity: self.user_severities.get(&work).copied().unwrap_or(line.severity), ..line }
    }

    /// Returns a short description of a kind of work.
    pub fn description(work: Work) -> &'static str {
        builtin().get(&work).map_or("", |(_, description)| description)
    }

    /// Returns all lines with their kinds of work, in the order of effects.
    pub fn lines(&self) -> impl Iterator<Item = (Work, SeverityLine)> + '_ {
        Work::all().map(|work| (work, self.line(work)))
    }

    /// Returns the severity of a call by its row: the row's own severity, or that of its kind of work.
    pub fn severity_of_row(&self, row: &CallRow, effect: Effect) -> Severity {
        row.severity.unwrap_or_else(|| self.line(Work { effect, kind: row.kind }).severity)
    }

    /// Returns the weight of a call by its row; `None` if the row holds no thread. The time is the row's own, or that
    /// of its kind of work.
    pub fn weight(&self, row: &CallRow) -> Option<Weight> {
        let work = row.work()?;
        let line = self.line(work);
        Some(Weight { work, duration: row.duration.or(line.duration), points: line.points })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_parsed_and_every_kind_has_a_line() {
        let heads = TEXT.lines().filter(|line| line.starts_with('[')).count();
        assert_eq!(builtin().len() + 1, heads, "and `[reach]`");
        assert!(!ReachPoints::builtin().functions.is_empty());
        for work in Work::all() {
            assert!(builtin().contains_key(&work), "{} has no line", work.name());
        }
    }

    #[test]
    fn each_number_of_functions_that_is_reached_is_one_point() {
        let reach = ReachPoints { functions: vec![3, 10], ..ReachPoints::default() };
        assert_eq!([0, 2, 3, 9, 10, 99].map(|functions| reach.of_functions(functions)), [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn the_users_severity_wins_and_points_and_time_stay() {
        let mut table = SeverityTable::default();
        let entry = Work::parse("file-entry").expect("a kind");
        let before = table.line(entry);
        table.set(entry, Severity::Error);
        assert_eq!(table.line(entry), SeverityLine { severity: Severity::Error, ..before });
        assert_ne!(before.severity, Severity::Error);
    }
}
