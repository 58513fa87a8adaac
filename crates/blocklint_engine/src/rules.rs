//! The rules that a run reports, and in which files: the configuration's `select`, `ignore` and `per-file-ignores`,
//! with the command line on top.

use blocklint_core::{Finding, Suppression, SuppressionSource};
use blocklint_project::{Configuration, ConfigurationError, FilePattern, Setting};
use blocklint_rules::{Layer, Selection, Selector};
use camino::Utf8Path;

use crate::Failure;

/// The rule options of the command line. An empty list leaves the configuration's list as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct RuleArguments<'a> {
    /// `--select`.
    pub select: &'a [String],
    /// `--extend-select`.
    pub extend_select: &'a [String],
    /// `--ignore`.
    pub ignore: &'a [String],
}

/// The selected rules, and the exceptions of single files.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The rules that are reported.
    pub selection: Selection,
    /// The rules that `per-file-ignores` hides in files that match a pattern.
    per_file: Vec<(FilePattern, Vec<Selector>)>,
}

impl Rules {
    /// Returns all rules, everywhere.
    pub fn all() -> Self {
        Rules { selection: Selection::all(), per_file: Vec::new() }
    }

    /// Reads the rules that configuration and command line name; the command line wins.
    ///
    /// # Errors
    ///
    /// Every selector that matches no rule. Paths in messages are relative to `current`.
    pub fn new(
        configuration: &Configuration,
        arguments: RuleArguments<'_>,
        current: &Utf8Path,
    ) -> Result<Self, Failure> {
        let mut errors = Vec::new();
        let mut parse_settings = |settings: &[Setting]| {
            let parsed = settings.iter().map(|setting| {
                Selector::parse(&setting.value)
                    .map_err(|error| ConfigurationError::of_setting(setting, error.to_string()).relative_to(current))
            });
            parsed.filter_map(|parsed| parsed.map_err(|error| errors.push(error)).ok()).collect::<Vec<_>>()
        };
        let mut layers: Vec<Layer> = Vec::new();
        for rules in &configuration.rules {
            layers.push(Layer {
                select: rules.select.as_deref().map(&mut parse_settings),
                extend_select: parse_settings(&rules.extend_select),
                ignore: parse_settings(&rules.ignore),
            });
        }
        let per_file = configuration.per_file_ignores.iter();
        let per_file = per_file
            .map(|entry| (FilePattern::new(&configuration.root, &entry.pattern), parse_settings(&entry.rules)))
            .collect();
        let mut parse_arguments = |list: &[String]| {
            let parsed = list.iter().map(|text| Selector::parse(text));
            parsed.filter_map(|parsed| parsed.map_err(|error| errors.push(error.to_string())).ok()).collect::<Vec<_>>()
        };
        let command_line = Layer {
            select: (!arguments.select.is_empty()).then(|| parse_arguments(arguments.select)),
            extend_select: parse_arguments(arguments.extend_select),
            ignore: parse_arguments(arguments.ignore),
        };
        if errors.is_empty() {
            layers.push(command_line);
            Ok(Rules { selection: Selection::layered(&layers), per_file })
        } else {
            Err(Failure::all(errors))
        }
    }

    /// Suppresses the findings whose rule is in the `per-file-ignores` of their file.
    pub fn suppress_per_file(&self, findings: &mut [Finding]) {
        for finding in findings.iter_mut().filter(|finding| finding.suppression.is_none()) {
            let names = |rules: &[Selector]| rules.iter().any(|rule| rule.matches(finding.rule));
            // Rules first: they are looked up faster than patterns.
            if self.per_file.iter().any(|(pattern, rules)| names(rules) && pattern.matches(&finding.place.path)) {
                finding.suppression = Some(Suppression { reason: None, source: SuppressionSource::Configuration });
            }
        }
    }
}
