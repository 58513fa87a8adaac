//! The codes of flake8-async and ruff (`ASYNC251`), with the rules that report the same calls:
//! `rules/async-codes.toml`.

use std::sync::OnceLock;

use blocklint_core::RuleCode;

use crate::comments::resolve_rules;

/// A code of flake8-async.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsyncCode {
    /// The code: `ASYNC251`.
    pub code: String,
    /// ruff's name for the code; `None` if ruff does not have it.
    pub ruff: Option<String>,
    /// The mistake that it reports, in Markdown.
    pub says: String,
    /// The rules for the same mistake, as the table writes them.
    pub rules: Vec<String>,
    /// The further calls that these rules report, in Markdown; empty without rules.
    pub beyond: String,
}

/// Returns all codes, in ascending order.
pub fn async_codes() -> &'static [AsyncCode] {
    static CODES: OnceLock<Vec<AsyncCode>> = OnceLock::new();
    CODES.get_or_init(|| {
        // A test checks that the table can be parsed.
        let table: toml::Table = include_str!("../../../rules/async-codes.toml").parse().unwrap_or_default();
        let codes = table.get("code").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
        codes.iter().filter_map(toml::Value::as_table).map(read_code).collect()
    })
}

fn read_code(table: &toml::Table) -> AsyncCode {
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

/// Returns the rules that report the same direct calls as a code or all codes with a prefix (`ASYNC251`, `ASYNC2`).
pub fn rules_of_async_code(text: &str) -> Vec<RuleCode> {
    let typed = text.to_ascii_uppercase();
    if !typed.starts_with("ASYNC") {
        return Vec::new();
    }
    let matching = async_codes().iter().filter(|code| code.code.starts_with(&typed));
    let mut rules: Vec<RuleCode> = matching.flat_map(|code| &code.rules).flat_map(|rule| resolve_rules(rule)).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_complete_and_its_rules_exist() {
        assert!(async_codes().len() > 15);
        for pair in async_codes().windows(2) {
            assert!(pair[0].code < pair[1].code);
        }
        for known in async_codes() {
            assert!(known.code.starts_with("ASYNC") && !known.says.is_empty(), "{known:?}");
            assert_eq!(known.rules.is_empty(), known.beyond.is_empty(), "{known:?}");
            assert!(known.rules.iter().all(|rule| !resolve_rules(rule).is_empty()), "{known:?}");
        }
    }

    #[test]
    fn codes_and_prefixes_have_rules() {
        let rules = |text: &str| rules_of_async_code(text).iter().map(|rule| rule.0).collect::<Vec<_>>();
        assert_eq!(rules("ASYNC251"), [101]);
        assert_eq!(rules("async222"), [105, 106]);
        assert_eq!(rules("ASYNC22"), [105, 106]);
        assert_eq!(rules("ASYNC100"), []);
        assert_eq!(rules("A"), []);
        assert_eq!(rules("BLT101"), []);
    }
}
