//! The [`HarnessEngine`] that runs the real analysis.

use blocklint_core::{Finding, RuleCode};
use blocklint_engine::{CommentChecks, Levels, analyse, choose, load_models, locate, signal_named};
use blocklint_output::{RenderInput, TerminalStyle, write_full};
use blocklint_project::{Project, Request, discover};
use blocklint_rules::{RULES, Selection, rule};
use camino::Utf8Path;

use crate::explain::explain;
use crate::fixing::fix;
use crate::{CodeLine, FixRun, HarnessEngine, Options};

/// Returns the real engine.
pub fn engine() -> Option<&'static dyn HarnessEngine> {
    Some(&Engine)
}

/// Discovers the project at `root`.
pub(crate) fn project_at(root: &Utf8Path) -> Result<Project, String> {
    discover(Request { current: root, paths: &[root.to_owned()], isolated: false })
        .map_err(|errors| errors.iter().map(|error| error.relative_to(root)).collect::<Vec<_>>().join("\n"))
}

struct Engine;

impl HarnessEngine for Engine {
    fn check(&self, root: &Utf8Path, options: &Options) -> Result<Vec<Finding>, String> {
        let selection = Selection::new(&options.select, &[], &options.ignore)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
        let project = project_at(root)?;
        let models = load_models(&project, root).map_err(|failure| failure.lines.join("\n"))?;
        let mut engine_options = blocklint_engine::Options::new(options.min_confidence);
        engine_options.comments = CommentChecks::new(&project, &selection);
        engine_options.ask_first = options.ask_first;
        if let Some(name) = &options.without {
            let signal = signal_named(name).ok_or_else(|| format!("there is no signal `{name}`"))?;
            engine_options.without = engine_options.without.with(signal);
        }
        let report = analyse(&project, &models, engine_options).map_err(|failure| failure.lines.join("\n"))?;
        let levels = Levels { severity: options.min_severity, confidence: options.min_confidence };
        let mut chosen = choose(report.findings, report.groups, &selection, levels);
        locate(&project, &mut chosen);
        Ok(chosen.findings)
    }

    fn rule_name(&self, code: RuleCode) -> Option<&str> {
        rule(code).map(|rule| rule.name)
    }

    fn rule_names(&self) -> Vec<&str> {
        RULES.iter().map(|rule| rule.name).collect()
    }

    fn explain(&self, root: &Utf8Path, options: &Options, lines: &[CodeLine]) -> Result<Vec<String>, String> {
        explain(root, options, lines)
    }

    fn fix(&self, root: &Utf8Path, options: &Options) -> Result<FixRun, String> {
        fix(root, options)
    }

    fn render(&self, root: &Utf8Path, findings: &[Finding]) -> Result<String, String> {
        let project = project_at(root)?;
        let mut chosen = blocklint_engine::Chosen {
            groups: blocklint_engine::group_by_cause(findings),
            findings: findings.to_vec(),
            aside: 0,
            left_aside: Vec::new(),
            minor: Vec::new(),
            must_not_block: None,
            below: 0,
            suppressed: Vec::new(),
        };
        let sources = locate(&project, &mut chosen);
        let shown = RenderInput {
            page: blocklint_output::Page::PLAIN,
            findings: &chosen.findings,
            groups: &chosen.groups,
            sources: &sources,
            folder: root,
            pages: None,
        };
        let mut out = Vec::new();
        write_full(&mut out, &shown, TerminalStyle::default()).map_err(|error| error.to_string())?;
        String::from_utf8(out).map_err(|error| error.to_string())
    }
}
