//! The options of one run.

use blocklint_core::{Confidence, Severity};

/// Which findings a project is checked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Codes, prefixes or names of the rules that are on; empty means all.
    pub select: Vec<String>,
    /// Codes, prefixes or names of the rules that are off.
    pub ignore: Vec<String>,
    /// The least severity that is shown.
    pub min_severity: Severity,
    /// The least confidence that is shown.
    pub min_confidence: Confidence,
    /// The signals that the section is about: without each of them it must fail.
    pub signals: Vec<String>,
    /// A signal that is switched off.
    pub without: Option<String>,
    /// The seed of a random order in which the targets of every call are asked for before the search.
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
    /// These options with what the TOML text sets.
    ///
    /// # Errors
    ///
    /// Text that is no TOML, an unknown key, a value of the wrong kind.
    pub fn with(&self, text: &str) -> Result<Options, String> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
        let mut options = self.clone();
        for (key, value) in &table {
            match key.as_str() {
                "select" => options.select = strings(key, value)?,
                "ignore" => options.ignore = strings(key, value)?,
                "min-severity" => options.min_severity = word(key, value, Severity::parse)?,
                "min-confidence" => options.min_confidence = word(key, value, Confidence::parse)?,
                "signals" => options.signals = strings(key, value)?,
                "order-dependent" => options.order_dependent = strings(key, value)?,
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

fn strings(key: &str, value: &toml::Value) -> Result<Vec<String>, String> {
    let list = value.as_array().ok_or_else(|| format!("`{key}` must be a list of strings"))?;
    list.iter()
        .map(|item| item.as_str().map(str::to_owned).ok_or_else(|| format!("`{key}` must be a list of strings")))
        .collect()
}

fn word<T>(key: &str, value: &toml::Value, parse: fn(&str) -> Option<T>) -> Result<T, String> {
    value.as_str().and_then(parse).ok_or_else(|| format!("`{key}` cannot be {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_options_change_only_what_they_name() {
        let outer = Options::default().with("select = [\"BLT101\"]\nmin-confidence = \"low\"").expect("valid");
        let inner = outer.with("min-severity = \"error\"").expect("valid");
        assert_eq!(inner.select, ["BLT101"]);
        assert_eq!(inner.min_confidence, Confidence::Low);
        assert_eq!(inner.min_severity, Severity::Error);
    }

    #[test]
    fn a_key_or_value_that_means_nothing_is_an_error() {
        for (text, part) in
            [("confidence = 1", "unknown option `confidence`"), ("min-severity = \"bad\"", "min-severity"), ("a", "")]
        {
            let error = Options::default().with(text).expect_err(text);
            assert!(error.contains(part), "{error}");
        }
    }
}
