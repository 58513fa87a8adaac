//! Fixes a project as `--fix --unsafe-fixes` does, and looks at what became of it without trusting the gate.

use std::fmt::Write;

use blocklint_core::{Applicability, Finding};
use blocklint_engine::{
    Chosen, CommentChecks, Containment, FixRequest, Fixed, Levels, Refused, RuleArguments, Rules, analyse, attach,
    choose, load_models, locate, on_large_stacks, write,
};
use blocklint_models::Models;
use blocklint_output::diff;
use blocklint_project::Project;
use blocklint_rules::{UNREADABLE_SOURCE, rule};
use camino::Utf8Path;

use crate::engine::project_at;
use crate::{FixRun, Options};

/// Applies all fixes to the files below `root`.
pub(crate) fn fix(root: &Utf8Path, options: &Options) -> Result<FixRun, String> {
    let run = Run::new(root, options)?;
    let mut problems = Vec::new();
    let (before, reasons) = run.findings()?;
    let done = run.apply()?;
    let mut text = String::new();
    for (finding, reason) in before.findings.iter().zip(reasons) {
        told(&mut text, root, finding, reason.as_deref(), &done.refused);
    }
    for file in &done.changes {
        let mut out = Vec::new();
        diff(&mut out, &file.path, root, &file.text_before, &file.text_after).map_err(|error| error.to_string())?;
        text.push_str(&String::from_utf8_lossy(&out));
    }
    if let Some(unwritten) = write(&done.changes, root).first() {
        return Err(format!("{}: {}", unwritten.path, unwritten.reason));
    }
    for refused in &done.refused {
        if refused.finding.fix.as_ref().is_some_and(|fix| fix.applicability == Applicability::Safe) {
            problems.push(format!("a safe fix was taken back: {} ({})", refused.finding.message, refused.reason));
        }
    }
    if done.changes.is_empty() {
        return Ok(FixRun { text, problems });
    }
    let (after, _) = run.findings()?;
    let unreadable = |chosen: &Chosen| chosen.findings.iter().filter(|f| f.rule == UNREADABLE_SOURCE.code).count();
    if unreadable(&after) > unreadable(&before) {
        problems.push(format!("a fixed file does not parse\n{text}"));
    }
    if after.findings.len() + done.mended.len() > before.findings.len() + renewed(&before, &done) {
        problems.push(format!("findings remain that were fixed, or are new\n{text}"));
    }
    let again = run.apply()?;
    if !again.changes.is_empty() {
        problems.push(format!("a second run changes something\n{text}"));
    }
    Ok(FixRun { text, problems })
}

/// Findings that were fixed and were not there at first: the fix of another made them worth one.
fn renewed(before: &Chosen, done: &Fixed) -> usize {
    done.mended.len().saturating_sub(before.findings.len())
}

fn told(text: &mut String, root: &Utf8Path, finding: &Finding, reason: Option<&str>, refused: &[Refused]) {
    let name = rule(finding.rule).map_or("?", |rule| rule.name);
    let path = finding.place.path.strip_prefix(root).unwrap_or(&finding.place.path);
    let _ = write!(text, "{path}:{}:{} {name}: ", finding.place.start.row, finding.place.start.column);
    let back = refused.iter().find(|one| one.finding.fingerprint == finding.fingerprint);
    let _ = match (&finding.fix, reason, back) {
        (Some(fix), _, Some(back)) => writeln!(text, "{}, taken back: {}", fix.title, back.reason),
        (Some(fix), ..) => {
            let word = match fix.applicability {
                Applicability::Safe => "safe",
                Applicability::Unsafe => "unsafe",
                Applicability::Display => "display",
            };
            writeln!(text, "{word}: {}", fix.title)
        }
        (None, reason, _) => writeln!(text, "no fix: {}", reason.unwrap_or("none is known")),
    };
}

/// The project, the models and the levels of every step.
pub(crate) struct Run {
    pub(crate) project: Project,
    pub(crate) models: Models,
    pub(crate) rules: Rules,
    levels: Levels,
}

impl Run {
    pub(crate) fn new(root: &Utf8Path, options: &Options) -> Result<Run, String> {
        let told = |failure: blocklint_engine::Failure| failure.lines.join("\n");
        let project = project_at(root)?;
        let models = load_models(&project, root).map_err(told)?;
        let arguments = RuleArguments { select: &options.select, extend_select: &[], ignore: &options.ignore };
        let rules = Rules::new(&project.configuration, arguments, root).map_err(told)?;
        let levels = Levels { severity: options.min_severity, confidence: options.min_confidence };
        Ok(Run { project, models, rules, levels })
    }

    fn options(&self) -> blocklint_engine::Options {
        let comments = CommentChecks::new(&self.project, &self.rules.selection);
        blocklint_engine::Options { comments, ..blocklint_engine::Options::new(self.levels.confidence) }
    }

    /// Returns the findings with their fixes, and the reasons for those without one.
    fn findings(&self) -> Result<(Chosen, Vec<Option<String>>), String> {
        let told = |failure: blocklint_engine::Failure| failure.lines.join("\n");
        let mut report = analyse(&self.project, &self.models, self.options()).map_err(told)?;
        self.rules.hide(&mut report.findings);
        let mut chosen = choose(report.findings, report.groups, &self.rules.selection, self.levels);
        let reasons =
            on_large_stacks(|| attach(&self.project, &report.remedies, &mut chosen.findings)).map_err(told)?;
        locate(&self.project, &mut chosen);
        Ok((chosen, reasons.into_iter().map(|reason| reason.map(|reason| reason.to_string())).collect()))
    }

    fn apply(&self) -> Result<Fixed, String> {
        let (project, models, rules, levels) = (&self.project, &self.models, &self.rules, self.levels);
        let request = FixRequest {
            project,
            models,
            rules,
            levels,
            include_aside: false,
            allowed: Applicability::Unsafe,
            containment: Containment::default(),
        };
        blocklint_engine::fix(request).map_err(|failure| failure.lines.join("\n"))
    }
}
