//! Where settings come from: files, `--config`, and options of the command line.

use std::sync::Arc;

use blocklint_core::{Confidence, Severity};
use camino::{Utf8Path, Utf8PathBuf};

use super::{Configuration, File, LABEL, Persona, RuleSettings, Setting};

/// Where a key was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The key.
    pub key: &'static str,
    /// The file; for the command line its option.
    pub file: Arc<File>,
    /// The line, from 1; 0 for the command line.
    pub line: u32,
}

impl Origin {
    /// Returns the place, with the path relative to a folder where it lies below.
    pub(super) fn place(&self, folder: &Utf8Path) -> String {
        let file = self.file.path.strip_prefix(folder).unwrap_or(&self.file.path);
        match self.line {
            0 => file.to_string(),
            _ if file == LABEL => file.to_string(),
            line => format!("{file}:{line}"),
        }
    }
}

/// An option of the command line that says what a key would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionValue {
    /// The key.
    pub key: &'static str,
    /// The option, as it is typed.
    pub option: &'static str,
    /// Its values; of keys that hold one value, one.
    pub values: Vec<String>,
}

impl Configuration {
    /// Notes the place at which a key is set. Lists that others add to keep all places; of the rest the last one
    /// decides, and `select` begins again.
    pub(super) fn comes_from(&mut self, key: &'static str, file: &Arc<File>, line: u32) {
        match key {
            "extend-select" | "ignore" | "extend-exclude" | "per-file-ignores" | "severity" | "extend" => {}
            // Other keys of the same file or the same command line still hold.
            "select" => self.origins.retain(|of| {
                let is_same = of.file == *file || (of.line == 0 && line == 0);
                is_same && of.key != "select" || !matches!(of.key, "select" | "extend-select" | "ignore")
            }),
            // It decides what other files said of levels; one that stands beside it decides itself.
            "persona" => self.origins.retain(|of| {
                let is_level = matches!(of.key, "min-severity" | "min-confidence");
                of.key != "persona" && (!is_level || of.file == *file || line == 0)
            }),
            key => self.origins.retain(|of| of.key != key),
        }
        self.origins.push(Origin { key, file: Arc::clone(file), line });
    }

    /// Returns the configuration with options of the command line added. It is only for display, because a run reads
    /// its options in other ways.
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
                // No other key has an option; that each is read is a test.
                _ => continue,
            }
            all.comes_from(key, &file, 0);
        }
        all.rules.push(rules);
        all
    }

    /// Where a key was said; nothing where its default holds.
    pub(super) fn places(&self, key: &str, folder: &Utf8Path) -> Vec<String> {
        let of = |key: &str| -> Vec<String> {
            self.origins.iter().filter(|origin| origin.key == key).map(|origin| origin.place(folder)).collect()
        };
        match (key, of(key)) {
            ("min-severity" | "min-confidence", places) if places.is_empty() => of("persona"),
            (_, places) => places,
        }
    }
}
