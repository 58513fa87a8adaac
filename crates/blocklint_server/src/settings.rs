//! The settings that the user of an editor makes for a workspace folder.

use blocklint_core::{Confidence, Severity};
use serde::Deserialize;
use serde_json::Value;

/// The settings of one workspace folder; a setting that the client does not send has its default.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Settings {
    /// True if anything is reported.
    pub(crate) enable: bool,
    /// Rules that are reported, instead of those that the configuration selects.
    pub(crate) select: Option<Vec<String>>,
    /// Rules that are reported in addition.
    pub(crate) extend_select: Option<Vec<String>>,
    /// Rules that are not reported.
    pub(crate) ignore: Option<Vec<String>>,
    #[serde(deserialize_with = "deserialize_severity")]
    pub(crate) min_severity: Option<Severity>,
    #[serde(deserialize_with = "deserialize_confidence")]
    pub(crate) min_confidence: Option<Confidence>,
    /// True if findings that only tests, examples and command lines reach are reported too.
    pub(crate) include_aside: bool,
    /// When a changed text is analysed.
    pub(crate) run: Run,
    /// The files that are reported: the whole workspace, or open files only.
    pub(crate) diagnostic_mode: DiagnosticMode,
    /// True if a session stores the facts of the project's files for the next one.
    pub(crate) cache: bool,
    /// True if code lenses show how many async functions a helper stalls.
    pub(crate) code_lens: bool,
    /// True if `source.fixAll` is offered.
    pub(crate) fix_all: bool,
    pub(crate) code_action: CodeActions,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Run {
    #[default]
    OnType,
    OnSave,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum DiagnosticMode {
    #[default]
    OpenFilesOnly,
    Workspace,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct CodeActions {
    pub(crate) fix_violation: Enabled,
    pub(crate) disable_rule_comment: Enabled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Enabled {
    pub(crate) enable: bool,
}

impl Default for Enabled {
    fn default() -> Self {
        Enabled { enable: true }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            enable: true,
            select: None,
            extend_select: None,
            ignore: None,
            min_severity: None,
            min_confidence: None,
            include_aside: false,
            run: Run::default(),
            diagnostic_mode: DiagnosticMode::default(),
            cache: true,
            code_lens: false,
            fix_all: true,
            code_action: CodeActions::default(),
        }
    }
}

impl Settings {
    /// Parses the settings that a client sends, at the top level or below `blocklint` or `settings`.
    ///
    /// # Errors
    ///
    /// If a setting has an invalid value.
    pub(crate) fn read(value: &Value) -> Result<Self, String> {
        let inner = ["settings", "blocklint"].iter().fold(value, |value, key| match value.get(key) {
            Some(inner) if inner.is_object() => inner,
            _ => value,
        });
        match inner {
            Value::Object(_) => serde_json::from_value(inner.clone()).map_err(|error| error.to_string()),
            _ => Ok(Settings::default()),
        }
    }
}

fn deserialize_severity<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Severity>, D::Error> {
    deserialize_word(deserializer, Severity::parse, Severity::ALL.iter().map(|level| level.as_str()))
}

fn deserialize_confidence<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Confidence>, D::Error> {
    deserialize_word(deserializer, Confidence::parse, Confidence::ALL.iter().map(|level| level.as_str()))
}

fn deserialize_word<'de, T, D: serde::Deserializer<'de>>(
    deserializer: D,
    parse: impl Fn(&str) -> Option<T>,
    all: impl Iterator<Item = &'static str>,
) -> Result<Option<T>, D::Error> {
    // Settings forms of editors send an empty word if the user chose nothing.
    let Some(text) = Option::<String>::deserialize(deserializer)?.filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let message = || format!("`{text}` is none of {}", all.collect::<Vec<_>>().join(", "));
    parse(&text).map(Some).ok_or_else(|| serde::de::Error::custom(message()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_read_at_the_top_level_and_in_sections() {
        let expected = Settings { run: Run::OnSave, min_severity: Some(Severity::Note), ..Settings::default() };
        let plain = json!({ "run": "onSave", "minSeverity": "note", "trace": { "server": "off" }, "select": null });
        for value in [
            plain.clone(),
            json!({ "settings": plain }),
            json!({ "blocklint": plain }),
            json!({ "settings": { "blocklint": plain } }),
        ] {
            assert_eq!(Settings::read(&value).as_ref(), Ok(&expected), "{value}");
        }
        assert_eq!(Settings::read(&Value::Null), Ok(Settings::default()));
    }

    #[test]
    fn invalid_values_are_errors() {
        let error = Settings::read(&json!({ "minSeverity": "bad" })).expect_err("wrong");
        assert!(error.contains("`bad` is none of note, warning, error"), "{error}");
        assert!(Settings::read(&json!({ "run": "never" })).expect_err("wrong").contains("onSave"));
    }
}
