//! The records of verified models (`VERIFIED.toml`): the version of its library against which each built-in model was
//! last checked.

use blocklint_builtin::VERIFIED;
use toml::de::{DeTable, DeValue};

/// The record of a check of a model against its library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The path of the model below `rules/models`.
    pub file: String,
    /// The library's name in the registry.
    pub library: String,
    /// The version of the library.
    pub version: String,
    /// The number of rows of the model, without switches.
    pub rows: u32,
    /// The number of expanded paths that were looked up in the library.
    pub checked: u32,
    /// The number of expanded paths that were not looked up: synthetic ones, and those of rows with `unchecked`.
    pub exempt: u32,
    /// The number of expanded paths of rows with `unchecked`.
    pub unchecked: u32,
    /// The SHA-256 hash of the model's bytes, in hexadecimal digits.
    pub sha256: String,
}

/// Returns every record, in the order of files.
pub fn verified() -> Vec<Verified> {
    // The records are part of the program, and a test parses every entry.
    let Ok(document) = DeTable::parse(VERIFIED) else { return Vec::new() };
    let Some(DeValue::Array(entries)) = document.get_ref().get("model").map(|models| models.get_ref()) else {
        return Vec::new();
    };
    entries.iter().filter_map(|entry| read_entry(entry.get_ref().as_table()?)).collect()
}

fn read_entry(table: &DeTable<'_>) -> Option<Verified> {
    let text = |key: &str| Some(table.get(key)?.get_ref().as_str()?.to_owned());
    let number = |key: &str| match table.get(key)?.get_ref() {
        DeValue::Integer(number) => number.as_str().parse().ok(),
        _ => None,
    };
    Some(Verified {
        file: text("file")?,
        library: text("library")?,
        version: text("version")?,
        rows: number("rows")?,
        checked: number("checked")?,
        exempt: number("exempt")?,
        unchecked: number("unchecked")?,
        sha256: text("sha256")?,
    })
}

#[cfg(test)]
mod tests {
    use super::{VERIFIED, verified};

    #[test]
    fn every_entry_is_parsed() {
        let entries = VERIFIED.lines().filter(|line| *line == "[[model]]").count();
        assert!(entries > 0);
        assert_eq!(verified().len(), entries);
    }
}
