//! The options of a fixture: rules, levels and signals, as its `toml` blocks set them.

use blocklint_core::{Confidence, Severity};

/// The rules and levels with which a project is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Codes, prefixes or names of the rules that are on; empty means all.
    pub select: Vec<String>,
    /// Codes, prefixes or names of the rules that are off.
    pub ignore: Vec<String>,
    /// The minimum severity of shown findings.
    pub min_severity: Severity,
    /// The minimum confidence of shown findings.
    pub min_confidence: Confidence,
    /// The signals on which the section depends: without each of them it must fail.
    pub signals: Vec<String>,
    /// The signal that is switched off, if any.
    pub without: Option<String>,
    /// The seed of a random order in which the targets of every call are queried before the search.
    pub ask_first: Option<u64>,
    /// The lines whose findings are known to depend on that order, as `PATH:LINE`.
    pub order_dependent: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            select: Vec::new(),
            ignore: Vec::new(),
            min_severity: Severity::Note,
            min_confidence: Confidence::Medium,
            signals: Vec::new(),
            without: None,
            ask_first: None,
            order_dependent: Vec::new(),
        }
    }
}

impl Options {
    /// Returns these options, overridden by those of the TOML text.
    ///
    /// # Errors
    ///
    /// If the text is not TOML, a key is unknown, or a value has the wrong type.
    pub fn with_toml(&self, text: &str) -> Result<Options, String> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
        let mut options = self.clone();
        for (key, value) in &table {
            match key.as_str() {
                "select" => options.select = parse_strings(key, value)?,
                "ignore" => options.ignore = parse_strings(key, value)?,
                "min-severity" => options.min_severity = parse_word(key, value, Severity::parse)?,
                "min-confidence" => options.min_confidence = parse_word(key, value, Confidence::parse)?,
                "signals" => options.signals = parse_strings(key, value)?,
                "order-dependent" => options.order_dependent = parse_strings(key, value)?,
                _ => {
                    return Err(format!(
                        "unknown option `{key}`; there are `select`, `ignore`, `min-severity`, `min-confidence`, `signals`, \
                         `order-dependent` (name the block if it is a file)"
                    ));
                }
            }
        }
        Ok(options)
    }
}

fn parse_strings(key: &str, value: &toml::Value) -> Result<Vec<String>, String> {
    let list = value.as_array().ok_or_else(|| format!("`{key}` must be a list of strings"))?;
    list.iter()
        .map(|item| item.as_str().map(str::to_owned).ok_or_else(|| format!("`{key}` must be a list of strings")))
        .collect()
}

fn parse_word<T>(key: &str, value: &toml::Value, parse: fn(&str) -> Option<T>) -> Result<T, String> {
    value.as_str().and_then(parse).ok_or_else(|| format!("`{key}` cannot be {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_options_override_only_their_own_keys() {
        let outer = Options::default().with_toml("select = [\"BLT101\"]\nmin-confidence = \"low\"").expect("valid");
        let inner = outer.with_toml("min-severity = \"error\"").expect("valid");
        assert_eq!(inner.select, ["BLT101"]);
        assert_eq!(inner.min_confidence, Confidence::Low);
        assert_eq!(inner.min_severity, Severity::Error);
    }

    #[test]
    fn unknown_keys_and_invalid_values_are_errors() {
        for (text, part) in
            [("confidence = 1", "unknown option `confidence`"), ("min-severity = \"bad\"", "min-severity"), ("a", "")]
        {
            let error = Options::default().with_toml(text).expect_err(text);
            assert!(error.contains(part), "{error}");
        }
    }
}
