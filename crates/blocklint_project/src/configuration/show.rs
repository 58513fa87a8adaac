//! The settings that hold, as TOML that says the same.

use std::fmt::Write;

use camino::Utf8Path;

use super::{BASELINE_FILE, Configuration, KEYS, RuleSettings, Setting};

impl Configuration {
    /// Returns the value of a key that holds, as TOML; `None` if there is no such key. Settings of several files about
    /// rules and files are joined; the last file with `select` begins the lists of `select` and `ignore` anew, as in a
    /// run.
    pub fn value_of(&self, key: &str) -> Option<String> {
        let from = self.rules.iter().rposition(|rules| rules.select.is_some()).unwrap_or(0);
        let layers = self.rules.get(from..).unwrap_or_default();
        let all = |of: fn(&RuleSettings) -> &[Setting]| list(layers.iter().flat_map(of).map(|one| one.value.as_str()));
        Some(match key {
            "extend" => list(self.extended.iter().map(|file| file.as_str())),
            "select" => match layers.first().and_then(|rules| rules.select.as_deref()) {
                Some(select) => list(select.iter().map(|one| one.value.as_str())),
                None => list(["ALL"].into_iter()),
            },
            "extend-select" => all(|rules| &rules.extend_select),
            "ignore" => all(|rules| &rules.ignore),
            "per-file-ignores" => {
                let entries = self.per_file_ignores.iter().map(|entry| {
                    let rules = list(entry.rules.iter().map(|rule| rule.value.as_str()));
                    format!("{} = {rules}", text(&entry.pattern))
                });
                match entries.collect::<Vec<_>>().join(", ") {
                    entries if entries.is_empty() => "{}".to_owned(),
                    entries => format!("{{ {entries} }}"),
                }
            }
            "exclude" => list(self.exclude.iter().map(String::as_str)),
            "extend-exclude" => list(self.extend_exclude.iter().map(String::as_str)),
            "severity" => {
                let lines =
                    self.severity.iter().map(|(kind, severity)| format!("{kind} = {}", text(severity.as_str())));
                match lines.collect::<Vec<_>>().join(", ") {
                    lines if lines.is_empty() => "{}".to_owned(),
                    lines => format!("{{ {lines} }}"),
                }
            }
            "min-severity" => text(self.levels().0.as_str()),
            "min-confidence" => text(self.levels().1.as_str()),
            "persona" => text(self.persona.unwrap_or_default().as_str()),
            "models" => list(self.models.iter().map(|file| file.as_str())),
            "switches" => list(self.switches.iter().map(|one| one.value.as_str())),
            "require-reason" => self.require_reason.to_string(),
            "baseline" => text(self.baseline.as_ref().map_or(BASELINE_FILE, |file| file.as_str())),
            "max-file-size" => self.max_file_size.to_string(),
            _ => return None,
        })
    }

    /// Returns all settings that hold, one in each line, as TOML, with where each comes from. Of `extend`, the files
    /// are a comment. Files lie below `folder` or are told whole.
    pub fn shown(&self, folder: &Utf8Path) -> String {
        let mut shown = String::new();
        // A baseline that is named must be there.
        let is_shown = |name: &str| name != "extend" && (name != "baseline" || self.baseline.is_some());
        for key in KEYS.iter().filter(|key| is_shown(key.name)) {
            if let Some(value) = self.value_of(key.name) {
                let places = self.places(key.name, folder);
                let from = if places.is_empty() { "default".to_owned() } else { places.join(", ") };
                let _ = writeln!(shown, "{} = {value}  # {from}", key.name);
            }
        }
        shown
    }
}

fn list<'t>(values: impl Iterator<Item = &'t str>) -> String {
    format!("[{}]", values.map(text).collect::<Vec<_>>().join(", "))
}

fn text(value: &str) -> String {
    toml::Value::String(value.to_owned()).to_string()
}
