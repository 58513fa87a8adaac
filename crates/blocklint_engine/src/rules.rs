//! Which rules a run reports where: what the configuration states, and the command line on top.

use blocklint_core::{Finding, Suppression, SuppressionSource};
use blocklint_project::{Configuration, ConfigurationError, FilePattern, Setting};
use blocklint_rules::{Layer, Selection, Selector};
use camino::Utf8Path;

use crate::Failure;

/// The rule settings of the command line. Empty lists set nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct RuleArguments<'a> {
    /// `--select`.
    pub select: &'a [String],
    /// `--extend-select`.
    pub extend_select: &'a [String],
    /// `--ignore`.
    pub ignore: &'a [String],
}

/// Which rules are reported where.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The rules that are reported.
    pub selection: Selection,
    /// Rules that are not, by file.
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
    /// Everything that names no rule; paths relative to `current`.
    pub fn new(
        configuration: &Configuration,
        arguments: RuleArguments<'_>,
        current: &Utf8Path,
    ) -> Result<Self, Failure> {
        let mut errors = Vec::new();
        let mut of_file = |settings: &[Setting]| {
            let parsed = settings.iter().map(|setting| {
                Selector::parse(&setting.value)
                    .map_err(|error| ConfigurationError::of_setting(setting, error.to_string()).relative_to(current))
            });
            parsed.filter_map(|parsed| parsed.map_err(|error| errors.push(error)).ok()).collect::<Vec<_>>()
        };
        let mut layers: Vec<Layer> = Vec::new();
        for rules in &configuration.rules {
            layers.push(Layer {
                select: rules.select.as_deref().map(&mut of_file),
                extend_select: of_file(&rules.extend_select),
                ignore: of_file(&rules.ignore),
            });
        }
        let per_file = configuration.per_file_ignores.iter();
        let per_file = per_file
            .map(|entry| (FilePattern::new(&configuration.root, &entry.pattern), of_file(&entry.rules)))
            .collect();
        let mut of_line = |list: &[String]| {
            let parsed = list.iter().map(|text| Selector::parse(text));
            parsed.filter_map(|parsed| parsed.map_err(|error| errors.push(error.to_string())).ok()).collect::<Vec<_>>()
        };
        let from_line = Layer {
            select: (!arguments.select.is_empty()).then(|| of_line(arguments.select)),
            extend_select: of_line(arguments.extend_select),
            ignore: of_line(arguments.ignore),
        };
        match errors.is_empty() {
            true => {
                layers.push(from_line);
                Ok(Rules { selection: Selection::layered(&layers), per_file })
            }
            false => Err(Failure::all(errors)),
        }
    }

    /// Marks the findings that stand in a file whose `per-file-ignores` name their rule.
    pub fn hide(&self, findings: &mut [Finding]) {
        for finding in findings.iter_mut().filter(|finding| finding.suppression.is_none()) {
            let names = |rules: &[Selector]| rules.iter().any(|rule| rule.matches(finding.rule));
            // Rules first: they are looked up faster than patterns.
            if self.per_file.iter().any(|(pattern, rules)| names(rules) && pattern.matches(&finding.place.path)) {
                finding.suppression = Some(Suppression { reason: None, source: SuppressionSource::Configuration });
            }
        }
    }
}
