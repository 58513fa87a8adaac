//! `--config`: a file in place of the one that is found, and keys that win over it.

use camino::{Utf8Path, Utf8PathBuf};
use toml::de::DeTable;

use super::{ConfigurationError, KEYS, keys};

/// The name of the command line's own configuration in errors.
pub(super) const LABEL: &str = "--config";

/// The values of `--config`.
#[derive(Debug, Default)]
pub(super) struct Given {
    /// The file, absolute.
    pub(super) file: Option<Utf8PathBuf>,
    /// `key = value`, as TOML.
    pub(super) keys: Vec<String>,
}

/// Takes the values of `--config` apart: one that is a key and a value, or a file.
pub(super) fn given(values: &[String], current: &Utf8Path) -> Result<Given, Vec<ConfigurationError>> {
    let mut given = Given::default();
    let mut errors = Vec::new();
    for value in values {
        let path = crate::absolute(current, Utf8Path::new(value));
        let is_key = value.split_once('=').is_some_and(|(key, _)| is_key(key.trim()));
        let failed = if is_key && !path.is_file() {
            match DeTable::parse(value) {
                Ok(_) => {
                    given.keys.push(value.clone());
                    None
                }
                Err(error) => Some(format!("`{value}` is not TOML: {}{}", error.message(), quoted(value))),
            }
        } else if !path.is_file() {
            Some(match path.is_dir() {
                true => format!("`{value}` is a folder"),
                false => format!("`{value}` is neither a file nor `key=value`"),
            })
        } else if given.file.is_some() {
            Some(format!("`{value}` is a second file; there is one configuration"))
        } else {
            given.file = Some(path);
            None
        };
        errors.extend(failed.map(ConfigurationError::of_line));
    }
    if errors.is_empty() { Ok(given) } else { Err(errors) }
}

/// True if the text before a `=` can be meant as a key.
fn is_key(text: &str) -> bool {
    let first = text.split('.').next().unwrap_or_default().trim_matches('"');
    !first.is_empty() && first.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// Returns a hint for a value that does not parse: the value in the quotes that a shell needs, or a note that its key
/// is unknown.
fn quoted(value: &str) -> String {
    let Some((key, word)) = value.split_once('=') else { return String::new() };
    let (key, word) = (key.trim(), word.trim());
    let is_word =
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'));
    let Some(known) = KEYS.iter().find(|known| known.name == key) else {
        return format!(" ({})", keys::unknown(key));
    };
    match (is_word, known.value.starts_with("list")) {
        (true, true) => format!(" (a shell takes `{key}=[\"{word}\"]` in single quotes)"),
        (true, false) => format!(" (a shell takes `{key}=\"{word}\"` in single quotes)"),
        (false, _) => String::new(),
    }
}
