//! The codes of flake8-async and ruff, and the rules that see the same call: `rules/async-codes.toml`.

use std::sync::OnceLock;

use blocklint_core::RuleCode;

use crate::comments::meant;

/// A code of flake8-async.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsyncCode {
    /// The code.
    pub code: String,
    /// ruff's name of it; `None` where ruff has none.
    pub ruff: Option<String>,
    /// The mistake that it reports; Markdown.
    pub says: String,
    /// The rules for the same mistake, as they are written.
    pub rules: Vec<String>,
    /// The further calls that these rules report; Markdown, empty without rules.
    pub beyond: String,
}

/// Returns all of them, by code.
pub fn async_codes() -> &'static [AsyncCode] {
    static CODES: OnceLock<Vec<AsyncCode>> = OnceLock::new();
    CODES.get_or_init(|| {
        // That it can be read is a test.
        let table: toml::Table = include_str!("../../../rules/async-codes.toml").parse().unwrap_or_default();
        let codes = table.get("code").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
        codes.iter().filter_map(toml::Value::as_table).map(of).collect()
    })
}

fn of(table: &toml::Table) -> AsyncCode {
    let text = |key: &str| table.get(key).and_then(toml::Value::as_str).map(str::to_owned);
    let rules = table.get("rules").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
    AsyncCode {
        code: text("code").unwrap_or_default(),
        ruff: text("ruff"),
        says: text("says").unwrap_or_default(),
        rules: rules.iter().filter_map(toml::Value::as_str).map(str::to_owned).collect(),
        beyond: text("beyond").unwrap_or_default(),
    }
}

/// Returns the rules that see the same direct call as the codes that begin so (`ASYNC251`, `ASYNC2`).
pub fn rules_of_async(text: &str) -> Vec<RuleCode> {
    let typed = text.to_ascii_uppercase();
    if !typed.starts_with("ASYNC") {
        return Vec::new();
    }
    let same = async_codes().iter().filter(|known| known.code.starts_with(&typed));
    let mut rules: Vec<RuleCode> = same.flat_map(|known| &known.rules).flat_map(|rule| meant(rule)).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_whole_and_its_rules_exist() {
        assert!(async_codes().len() > 15);
        for pair in async_codes().windows(2) {
            assert!(pair[0].code < pair[1].code);
        }
        for known in async_codes() {
            assert!(known.code.starts_with("ASYNC") && !known.says.is_empty(), "{known:?}");
            assert_eq!(known.rules.is_empty(), known.beyond.is_empty(), "{known:?}");
            assert!(known.rules.iter().all(|rule| !meant(rule).is_empty()), "{known:?}");
        }
    }

    #[test]
    fn codes_and_prefixes_have_rules() {
        let rules = |text: &str| rules_of_async(text).iter().map(|rule| rule.0).collect::<Vec<_>>();
        assert_eq!(rules("ASYNC251"), [101]);
        assert_eq!(rules("async222"), [105, 106]);
        assert_eq!(rules("ASYNC22"), [105, 106]);
        assert_eq!(rules("ASYNC100"), []);
        assert_eq!(rules("A"), []);
        assert_eq!(rules("BLT101"), []);
    }
}
