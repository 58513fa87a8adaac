//! Parses the values of `--config`: a file that replaces the project's configuration, or `key=value`, which overrides
//! keys.

use camino::{Utf8Path, Utf8PathBuf};
use toml::de::DeTable;

use super::{ConfigurationError, KEYS, keys};

/// The name of the source of `key=value` in error messages.
pub(super) const LABEL: &str = "--config";

/// The parsed values of `--config`.
#[derive(Debug, Default)]
pub(super) struct Overrides {
    /// The configuration file, absolute.
    pub(super) file: Option<Utf8PathBuf>,
    /// The values of the form `key = value`, each a TOML document.
    pub(super) keys: Vec<String>,
}

/// Parses the values of `--config`.
pub(super) fn parse_overrides(values: &[String], current: &Utf8Path) -> Result<Overrides, Vec<ConfigurationError>> {
    let mut overrides = Overrides::default();
    let mut errors = Vec::new();
    for value in values {
        let path = crate::absolute(current, Utf8Path::new(value));
        let is_key = value.split_once('=').is_some_and(|(key, _)| is_key(key.trim()));
        let error = if is_key && !path.is_file() {
            match DeTable::parse(value) {
                Ok(_) => {
                    overrides.keys.push(value.clone());
                    None
                }
                Err(error) => Some(format!("`{value}` is not TOML: {}{}", error.message(), parse_hint(value))),
            }
        } else if !path.is_file() {
            Some(if path.is_dir() {
                format!("`{value}` is a folder")
            } else {
                format!("`{value}` is neither a file nor `key=value`")
            })
        } else if overrides.file.is_some() {
            Some(format!("`{value}` is a second file; there is one configuration"))
        } else {
            overrides.file = Some(path);
            None
        };
        errors.extend(error.map(ConfigurationError::of_command_line));
    }
    if errors.is_empty() { Ok(overrides) } else { Err(errors) }
}

/// True if the text before a `=` looks like a key.
fn is_key(text: &str) -> bool {
    let first = text.split('.').next().unwrap_or_default().trim_matches('"');
    !first.is_empty() && first.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// Returns a hint for a value that does not parse: its form with the quotes that a shell needs, or the message about
/// its unknown key.
fn parse_hint(value: &str) -> String {
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
