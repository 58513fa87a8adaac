//! Fixes a project, as `--fix --unsafe-fixes` does, and checks the result independently of the checks in the engine.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use blocklint_core::{Applicability, Finding, RuleCode};
use blocklint_engine::{
    Chosen, CommentChecks, Containment, Faults, FixRequest, FixResult, Levels, RefusedFix, RuleArguments, Rules,
    analyse, attach_fixes, choose, find_faults, load_models, locate, on_large_stacks, write,
};
use blocklint_models::Models;
use blocklint_output::write_diff;
use blocklint_project::Project;
use blocklint_rules::rule;
use camino::Utf8Path;

use crate::engine::project_at;
use crate::{FixRun, Options};

/// Applies all fixes to the files below `root`.
pub(crate) fn fix(root: &Utf8Path, options: &Options) -> Result<FixRun, String> {
    let run = FixtureRun::new(root, options)?;
    let mut problems = Vec::new();
    let (before, reasons) = run.findings()?;
    let faults_before = run.find_faults()?;
    let done = run.apply()?;
    let mut text = String::new();
    for (finding, reason) in before.chosen.findings.iter().zip(reasons) {
        describe_fix(&mut text, root, finding, reason.as_deref(), &done.refused);
    }
    for file in &done.changes {
        let mut out = Vec::new();
        write_diff(&mut out, &file.path, root, &file.text_before, &file.text_after)
            .map_err(|error| error.to_string())?;
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
    let faults_after = run.find_faults()?;
    for path in faults_after.unparsed.difference(&faults_before.unparsed) {
        problems.push(format!("{path} does not parse after the fixes\n{text}"));
    }
    for ((path, function, name), count) in &faults_after.unawaited {
        if *count > faults_before.unawaited.get(&(path.clone(), function.clone(), name.clone())).copied().unwrap_or(0) {
            problems.push(format!("{path}: `{function}` makes a coroutine of `{name}` and drops it\n{text}"));
        }
    }
    problems.extend(
        find_regressions(&before.keys, &after.keys, &done.findings).into_iter().map(|line| format!("{line}\n{text}")),
    );
    // Each fix removes one shown finding. Fixed findings that were not shown before, because another fix raised their
    // level, are not counted.
    let fixed_but_not_shown = done.findings.len().saturating_sub(before.chosen.findings.len());
    if after.chosen.findings.len() + done.findings.len() > before.chosen.findings.len() + fixed_but_not_shown {
        problems.push(format!("findings remain that were fixed, or are new\n{text}"));
    }
    let second_run = run.apply()?;
    if !second_run.changes.is_empty() {
        problems.push(format!("a second run changes something\n{text}"));
    }
    Ok(FixRun { text, problems })
}

/// The part of a finding that stays equal while lines move: rule, file, function and call.
type Key = (RuleCode, Arc<Utf8Path>, String, String);

fn finding_key(finding: &Finding) -> Key {
    let call = finding.trace.first().map_or(&finding.message, |step| &step.call);
    (finding.rule, Arc::clone(&finding.place.path), finding.function.clone(), call.clone())
}

/// Returns a line for each fixed finding that remains and for each new one, at all levels. A finding counts as new only
/// if its function has more findings of the rule than before, because an edit may change the call in the key of a
/// neighbouring finding.
fn find_regressions(before: &[Key], after: &[Key], fixed: &[Finding]) -> Vec<String> {
    let fixed: Vec<Key> = fixed.iter().map(finding_key).collect();
    let count = |keys: &[Key], expected: &Key| keys.iter().filter(|key| *key == expected).count();
    let in_function = |keys: &[Key], expected: &Key| {
        keys.iter().filter(|key| (key.0, &key.1, &key.2) == (expected.0, &expected.1, &expected.2)).count()
    };
    let mut lines = Vec::new();
    for key in after.iter().collect::<BTreeSet<_>>() {
        let (old_count, new_count, fixed_count) = (count(before, key), count(after, key), count(&fixed, key));
        let (rule, path, function, call) = key;
        // A fix may raise another finding with the same key to a level at which it is fixed too.
        if fixed_count > 0 && new_count > old_count.saturating_sub(fixed_count) {
            lines.push(format!("{path}: {rule} of `{call}` in `{function}` was fixed and is still there"));
        }
        if fixed_count == 0 && new_count > old_count && in_function(after, key) > in_function(before, key) {
            lines.push(format!("{path}: {rule} of `{call}` in `{function}` is new"));
        }
    }
    lines
}

fn describe_fix(text: &mut String, root: &Utf8Path, finding: &Finding, reason: Option<&str>, refused: &[RefusedFix]) {
    let name = rule(finding.rule).map_or("?", |rule| rule.name);
    let path = finding.place.path.strip_prefix(root).unwrap_or(&finding.place.path);
    let _ = write!(text, "{path}:{}:{} {name}: ", finding.place.start.row, finding.place.start.column);
    let taken_back = refused.iter().find(|refusal| refusal.finding.fingerprint == finding.fingerprint);
    let _ = match (&finding.fix, reason, taken_back) {
        (Some(fix), _, Some(taken_back)) => writeln!(text, "{}, taken back: {}", fix.title, taken_back.reason),
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

/// The findings of one state of the files.
struct Findings {
    /// The keys of all findings, also of rules and levels that are not selected.
    keys: Vec<Key>,
    /// The findings of the selected rules and levels.
    chosen: Chosen,
}

/// The project, models, rules and levels with which a fixture is analysed and fixed.
pub(crate) struct FixtureRun {
    pub(crate) project: Project,
    pub(crate) models: Models,
    pub(crate) rules: Rules,
    levels: Levels,
}

impl FixtureRun {
    pub(crate) fn new(root: &Utf8Path, options: &Options) -> Result<FixtureRun, String> {
        let to_message = |failure: blocklint_engine::Failure| failure.lines.join("\n");
        let project = project_at(root)?;
        let models = load_models(&project, root).map_err(to_message)?;
        let arguments = RuleArguments { select: &options.select, extend_select: &[], ignore: &options.ignore };
        let rules = Rules::new(&project.configuration, arguments, root).map_err(to_message)?;
        let levels = Levels { severity: options.min_severity, confidence: options.min_confidence };
        Ok(FixtureRun { project, models, rules, levels })
    }

    fn options(&self) -> blocklint_engine::Options {
        let comments = CommentChecks::new(&self.project, &self.rules.selection);
        blocklint_engine::Options { comments, ..blocklint_engine::Options::new(self.levels.confidence) }
    }

    fn find_faults(&self) -> Result<Faults, String> {
        find_faults(&self.project, &self.models).map_err(|failure| failure.lines.join("\n"))
    }

    /// Returns the findings with their fixes, and the reasons for those without one.
    fn findings(&self) -> Result<(Findings, Vec<Option<String>>), String> {
        let to_message = |failure: blocklint_engine::Failure| failure.lines.join("\n");
        let mut report = analyse(&self.project, &self.models, self.options()).map_err(to_message)?;
        let keys = report.findings.iter().map(finding_key).collect();
        self.rules.suppress_per_file(&mut report.findings);
        let mut chosen = choose(report.findings, report.groups, &self.rules.selection, self.levels);
        let reasons = on_large_stacks(|| attach_fixes(&self.project, &report.remedies, &mut chosen.findings))
            .map_err(to_message)?;
        locate(&self.project, &mut chosen);
        Ok((
            Findings { keys, chosen },
            reasons.into_iter().map(|reason| reason.map(|reason| reason.to_string())).collect(),
        ))
    }

    fn apply(&self) -> Result<FixResult, String> {
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
