//! Against which version of its library each built-in model was last checked.

use blocklint_builtin::VERIFIED;
use toml::de::{DeTable, DeValue};

/// The record of a check of a model against its library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The model, below `rules/models`.
    pub file: String,
    /// The library's name in the registry.
    pub library: String,
    /// Its version.
    pub version: String,
    /// Rows of the model, switches not counted.
    pub rows: u32,
    /// Expanded paths that were looked up in the library.
    pub checked: u32,
    /// Expanded paths that were not: synthetic ones, and those of rows with `unchecked`.
    pub exempt: u32,
    /// Expanded paths of rows with `unchecked`.
    pub unchecked: u32,
    /// Hash of the model's bytes (SHA-256), in hexadecimal digits.
    pub sha256: String,
}

/// Returns every record, by file.
pub fn verified() -> Vec<Verified> {
    // The record is part of the program; a test reads every one of its entries.
    let Ok(document) = DeTable::parse(VERIFIED) else { return Vec::new() };
    let Some(DeValue::Array(entries)) = document.get_ref().get("model").map(|models| models.get_ref()) else {
        return Vec::new();
    };
    entries.iter().filter_map(|entry| read(entry.get_ref().as_table()?)).collect()
}

fn read(table: &DeTable<'_>) -> Option<Verified> {
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
    fn every_entry_is_read() {
        let entries = VERIFIED.lines().filter(|line| *line == "[[model]]").count();
        assert!(entries > 0);
        assert_eq!(verified().len(), entries);
    }
}
