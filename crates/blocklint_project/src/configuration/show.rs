//! Shows the effective configuration as TOML, for `blocklint config`.

use std::fmt::Write;

use camino::Utf8Path;

use super::{BASELINE_FILE, Configuration, KEYS, RuleSettings, Setting};

impl Configuration {
    /// Returns the effective value of a key as TOML; `None` if there is no such key. Lists of several files are joined.
    /// The last file with `select` replaces the rule lists of earlier files, as in a run.
    pub fn value_of(&self, key: &str) -> Option<String> {
        let from = self.rules.iter().rposition(|rules| rules.select.is_some()).unwrap_or(0);
        let layers = self.rules.get(from..).unwrap_or_default();
        let list_key = |key_of_layer: fn(&RuleSettings) -> &[Setting]| {
            list_to_toml(layers.iter().flat_map(key_of_layer).map(|setting| setting.value.as_str()))
        };
        Some(match key {
            "extend" => list_to_toml(self.extended.iter().map(|file| file.as_str())),
            "select" => match layers.first().and_then(|rules| rules.select.as_deref()) {
                Some(select) => list_to_toml(select.iter().map(|setting| setting.value.as_str())),
                None => list_to_toml(["ALL"].into_iter()),
            },
            "extend-select" => list_key(|rules| &rules.extend_select),
            "ignore" => list_key(|rules| &rules.ignore),
            "per-file-ignores" => {
                let entries = self.per_file_ignores.iter().map(|entry| {
                    let rules = list_to_toml(entry.rules.iter().map(|rule| rule.value.as_str()));
                    format!("{} = {rules}", text_to_toml(&entry.pattern))
                });
                match entries.collect::<Vec<_>>().join(", ") {
                    entries if entries.is_empty() => "{}".to_owned(),
                    entries => format!("{{ {entries} }}"),
                }
            }
            "exclude" => list_to_toml(self.exclude.iter().map(String::as_str)),
            "extend-exclude" => list_to_toml(self.extend_exclude.iter().map(String::as_str)),
            "severity" => {
                let lines = self
                    .severity
                    .iter()
                    .map(|(kind, severity)| format!("{kind} = {}", text_to_toml(severity.as_str())));
                match lines.collect::<Vec<_>>().join(", ") {
                    lines if lines.is_empty() => "{}".to_owned(),
                    lines => format!("{{ {lines} }}"),
                }
            }
            "min-severity" => text_to_toml(self.levels().0.as_str()),
            "min-confidence" => text_to_toml(self.levels().1.as_str()),
            "persona" => text_to_toml(self.persona.unwrap_or_default().as_str()),
            "models" => list_to_toml(self.models.iter().map(|file| file.as_str())),
            "switches" => list_to_toml(self.switches.iter().map(|setting| setting.value.as_str())),
            "require-reason" => self.require_reason.to_string(),
            "baseline" => text_to_toml(self.baseline.as_ref().map_or(BASELINE_FILE, |file| file.as_str())),
            "max-file-size" => self.max_file_size.to_string(),
            _ => return None,
        })
    }

    /// Returns all effective settings as TOML, one a line, each with its origin in a comment. Paths of origins are
    /// relative to `folder` if they are below it.
    pub fn to_toml(&self, folder: &Utf8Path) -> String {
        let mut toml = String::new();
        // The default of `baseline` is left out, because a configured baseline must exist.
        let is_shown = |name: &str| name != "extend" && (name != "baseline" || self.baseline.is_some());
        for key in KEYS.iter().filter(|key| is_shown(key.name)) {
            if let Some(value) = self.value_of(key.name) {
                let places = self.places(key.name, folder);
                let from = if places.is_empty() { "default".to_owned() } else { places.join(", ") };
                let _ = writeln!(toml, "{} = {value}  # {from}", key.name);
            }
        }
        toml
    }
}

fn list_to_toml<'t>(values: impl Iterator<Item = &'t str>) -> String {
    format!("[{}]", values.map(text_to_toml).collect::<Vec<_>>().join(", "))
}

fn text_to_toml(value: &str) -> String {
    toml::Value::String(value.to_owned()).to_string()
}
