//! Errors of model files: a line of text for each, with a suggestion for misspelt words.

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
    /// Returns the name of the table without brackets; empty for the top of the file.
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

/// An error in a model file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModelError {
    /// The file, as the caller labelled it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// The table with the error.
    pub table: Table,
    /// The key with the error, or `toml` if the text is no valid TOML.
    pub key: String,
    /// The mistake, and a suggestion if a known word is similar.
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

/// Returns `; did you mean ...?` with the nearest of the candidates; empty if none is similar.
pub(super) fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |candidate| format!("; did you mean `{candidate}`?"))
}

/// The maximal length of a word that is compared with candidates. No candidate is longer, and the time of a comparison
/// grows with the product of both lengths.
const MAX_COMPARED: usize = 100;

/// Returns the most similar of the candidates; `None` if none is similar. A third of the letters may differ, and always
/// one letter.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_COMPARED {
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
