//! Errors of model files: one line each, with a suggestion for a near miss.

use std::fmt;

/// The table of a model file that an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// The keys at the top of the file.
    Top,
    /// `[alias]`.
    Alias,
    /// `[[call]]`.
    Call,
    /// `[[type]]`.
    Type,
    /// `[[handover]]`.
    Handover,
    /// `[[switch]]`.
    Switch,
}

impl Table {
    /// Returns the name, without brackets; empty for the top.
    pub fn name(self) -> &'static str {
        match self {
            Table::Top => "",
            Table::Alias => "alias",
            Table::Call => "call",
            Table::Type => "type",
            Table::Handover => "handover",
            Table::Switch => "switch",
        }
    }
}

/// One thing wrong with a model file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModelError {
    /// The file, as the caller labelled it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// The table.
    pub table: Table,
    /// The key, or `toml` where the file is no TOML there.
    pub key: String,
    /// The mistake, and the probable intention where there is one.
    pub message: String,
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.file, self.line)?;
        match self.table {
            Table::Top => {}
            Table::Alias => f.write_str("[alias] ")?,
            table => write!(f, "[[{}]] ", table.name())?,
        }
        write!(f, "{}: {}", self.key, self.message)
    }
}

impl std::error::Error for ModelError {}

/// Returns `; did you mean ...?` for the nearest of the candidates, or nothing if none is near.
pub(super) fn near<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |candidate| format!("; did you mean `{candidate}`?"))
}

/// Returns the nearest of the candidates, if any is near: a third of the word may be wrong, and one letter of a short
/// one.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Nothing that long is a near miss, and comparing takes its length times that of each candidate.
    if word.len() > 100 {
        return None;
    }
    let lower = word.to_lowercase();
    let best = candidates
        .into_iter()
        .filter(|candidate| *candidate != word)
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .min_by_key(|(distance, _)| *distance);
    best.filter(|(distance, _)| *distance <= (word.chars().count() / 3).max(1)).map(|(_, candidate)| candidate)
}
