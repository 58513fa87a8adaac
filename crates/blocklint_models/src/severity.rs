//! How bad a call is by the kind of its work: the table `rules/severity.toml`, with the user's lines on top.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use blocklint_core::{Effect, Severity, Takes, Weight, Work};
use serde::Deserialize;

use crate::CallRow;

/// The text of the table.
static TEXT: &str = include_str!("../../../rules/severity.toml");

/// One line of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeverityLine {
    /// How bad one call is while the program serves.
    pub severity: Severity,
    /// The place of a finding among those of its severity; more come first.
    pub points: u32,
    /// The time of one call on a local machine, where it was measured.
    pub takes: Option<Takes>,
}

/// A line as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    says: String,
    severity: String,
    points: u32,
    takes: Option<String>,
}

impl Written {
    fn read(&self) -> Option<SeverityLine> {
        let takes = match &self.takes {
            Some(text) => Some(Takes::parse(text)?),
            None => None,
        };
        Some(SeverityLine { severity: Severity::parse(&self.severity)?, points: self.points, takes })
    }
}

/// The lines that are compiled into blocklint, with what each kind of work is in a few words. Read once, when the first is asked for.
fn builtin() -> &'static BTreeMap<Work, (SeverityLine, String)> {
    static LINES: OnceLock<BTreeMap<Work, (SeverityLine, String)>> = OnceLock::new();
    // A test reads every line, so none is left out here.
    LINES.get_or_init(|| {
        let written: BTreeMap<String, Written> = toml::from_str(TEXT).unwrap_or_default();
        let lines = written.into_iter();
        lines.filter_map(|(name, line)| Some((Work::parse(&name)?, (line.read()?, line.says)))).collect()
    })
}

/// The severity, points and time of each kind of work: the built-in lines, with severities that the user sets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeverityTable {
    own: BTreeMap<Work, Severity>,
}

impl SeverityTable {
    /// Sets the severity of one kind of work, as a user wishes.
    pub fn set(&mut self, work: Work, severity: Severity) {
        self.own.insert(work, severity);
    }

    /// Returns the line of a kind of work.
    pub fn line(&self, work: Work) -> SeverityLine {
        // Every kind has a line, a test says.
        let known = builtin().get(&work).map(|(line, _)| *line);
        let line = known.unwrap_or(SeverityLine { severity: Severity::Error, points: 0, takes: None });
        SeverityLine { severity: self.own.get(&work).copied().unwrap_or(line.severity), ..line }
    }

    /// Returns what a kind of work is, in a few words.
    pub fn says(work: Work) -> &'static str {
        builtin().get(&work).map_or("", |(_, says)| says)
    }

    /// Returns all lines with their names, in the order of effects.
    pub fn lines(&self) -> impl Iterator<Item = (Work, SeverityLine)> + '_ {
        Work::all().map(|work| (work, self.line(work)))
    }

    /// Returns how bad a call is by its row: the row's own severity, else that of its kind of work.
    pub fn of_row(&self, row: &CallRow, effect: Effect) -> Severity {
        row.severity.unwrap_or_else(|| self.line(Work { effect, kind: row.kind }).severity)
    }

    /// Returns the weight of a call by its row; `None` if the row holds no thread. The time is the row's own, else that of its kind.
    pub fn weight(&self, row: &CallRow) -> Option<Weight> {
        let work = row.work()?;
        let line = self.line(work);
        Some(Weight { work, takes: row.takes.or(line.takes), points: line.points })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_and_every_kind_has_one() {
        let heads = TEXT.lines().filter(|line| line.starts_with('[')).count();
        assert_eq!(builtin().len(), heads);
        for work in Work::all() {
            assert!(builtin().contains_key(&work), "{} has no line", work.name());
        }
    }

    #[test]
    fn a_line_of_the_user_wins_and_keeps_points_and_time() {
        let mut table = SeverityTable::default();
        let entry = Work::parse("file-entry").expect("a kind");
        let before = table.line(entry);
        table.set(entry, Severity::Error);
        assert_eq!(table.line(entry), SeverityLine { severity: Severity::Error, ..before });
        assert_ne!(before.severity, Severity::Error);
    }
}
