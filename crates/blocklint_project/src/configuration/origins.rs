//! The origins of settings: files, `--config`, and options of the command line. `blocklint config` shows them.

use std::sync::Arc;

use blocklint_core::{Confidence, Severity};
use camino::{Utf8Path, Utf8PathBuf};

use super::{Configuration, File, LABEL, Persona, RuleSettings, Setting};

/// A place at which a key is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The key.
    pub key: &'static str,
    /// The file, or the option of the command line.
    pub file: Arc<File>,
    /// The line, from 1; 0 for the command line.
    pub line: u32,
}

impl Origin {
    /// Returns the place as text. The path is relative to `folder` if the file is below it.
    pub(super) fn place(&self, folder: &Utf8Path) -> String {
        let file = self.file.path.strip_prefix(folder).unwrap_or(&self.file.path);
        match self.line {
            0 => file.to_string(),
            _ if file == LABEL => file.to_string(),
            line => format!("{file}:{line}"),
        }
    }
}

/// An option of the command line that overrides a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionValue {
    /// The key.
    pub key: &'static str,
    /// The option as it is typed: `--select`.
    pub option: &'static str,
    /// Its values; a single one unless the key is a list.
    pub values: Vec<String>,
}

impl Configuration {
    /// Adds the place at which a key is set. Keys whose values of several files are joined keep all places; of other
    /// keys, the last place replaces the earlier ones. `select` removes the earlier places of all rule lists.
    pub(super) fn add_origin(&mut self, key: &'static str, file: &Arc<File>, line: u32) {
        match key {
            "extend-select" | "ignore" | "extend-exclude" | "per-file-ignores" | "severity" | "extend" => {}
            // Other rule lists of the same file or of the command line stay.
            "select" => self.origins.retain(|origin| {
                let has_same_source = origin.file == *file || (origin.line == 0 && line == 0);
                has_same_source && origin.key != "select"
                    || !matches!(origin.key, "select" | "extend-select" | "ignore")
            }),
            // A persona replaces the levels of other files, but not those of its own file.
            "persona" => self.origins.retain(|origin| {
                let is_level = matches!(origin.key, "min-severity" | "min-confidence");
                origin.key != "persona" && (!is_level || origin.file == *file || line == 0)
            }),
            key => self.origins.retain(|origin| origin.key != key),
        }
        self.origins.push(Origin { key, file: Arc::clone(file), line });
    }

    /// Returns the configuration with options of the command line added. It is only for display; a run applies its
    /// options elsewhere.
    pub fn with_options(&self, options: &[OptionValue]) -> Configuration {
        let mut all = self.clone();
        let mut rules = RuleSettings::default();
        for OptionValue { key, option, values } in options {
            let file = Arc::new(File { path: Utf8PathBuf::from(*option), table: "" });
            let setting = |value: &String| Setting { value: value.clone(), key, file: Arc::clone(&file), line: 0 };
            let settings = || values.iter().map(setting).collect::<Vec<_>>();
            let first = values.first().map(String::as_str).unwrap_or_default();
            match *key {
                "select" => rules.select = Some(settings()),
                "extend-select" => rules.extend_select = settings(),
                "ignore" => rules.ignore = settings(),
                "exclude" => all.exclude.clone_from(values),
                "extend-exclude" => all.extend_exclude.extend(values.iter().cloned()),
                "min-severity" => all.min_severity = Severity::parse(first),
                "min-confidence" => all.min_confidence = Confidence::parse(first),
                "persona" => all.persona = Persona::parse(first),
                "baseline" => all.baseline = Some(Utf8PathBuf::from(first)),
                // No other key has an option, as a test ensures.
                _ => continue,
            }
            all.add_origin(key, &file, 0);
        }
        all.rules.push(rules);
        all
    }

    /// Returns the places at which a key is set; none if it has its default.
    pub(super) fn places(&self, key: &str, folder: &Utf8Path) -> Vec<String> {
        let places_of = |key: &str| -> Vec<String> {
            self.origins.iter().filter(|origin| origin.key == key).map(|origin| origin.place(folder)).collect()
        };
        match (key, places_of(key)) {
            ("min-severity" | "min-confidence", places) if places.is_empty() => places_of("persona"),
            (_, places) => places,
        }
    }
}
