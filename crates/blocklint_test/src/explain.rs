//! Explains lines of a project, as `blocklint why` does.

use blocklint_core::{Confidence, Severity};
use blocklint_engine::{
    AskedLine, CommentChecks, ExplainRequest, Levels, Options as EngineOptions, Progress, Step,
    explain as explain_lines,
};
use blocklint_output::write_explanation;
use camino::Utf8Path;

use crate::fixing::FixtureRun;
use crate::{CodeLine, Options};

/// A [`Progress`] that shows nothing.
struct NoProgress;

impl Progress for NoProgress {
    fn begin(&self, _: Step, _: usize) {}

    fn advance(&self) {}
}

/// Returns the output of `blocklint why` for each line. It shows findings of all levels, also those below the levels of
/// the section.
pub(crate) fn explain(root: &Utf8Path, options: &Options, lines: &[CodeLine]) -> Result<Vec<String>, String> {
    let to_message = |failure: blocklint_engine::Failure| failure.lines.join("\n");
    let FixtureRun { project, models, rules, .. } = FixtureRun::new(root, options)?;
    let levels = Levels { severity: Severity::Note, confidence: Confidence::Low };
    let mut asked_lines = Vec::new();
    let mut positions = Vec::new();
    for line in lines {
        let path = root.join(&line.path);
        let file = project.files.iter().position(|file| *file.path == path);
        positions.push(file.map(|_| asked_lines.len()));
        asked_lines.extend(file.map(|file| AskedLine { file, cell: None, line: line.row }));
    }
    let comments = CommentChecks::new(&project, &rules.selection);
    let request = ExplainRequest {
        project: &project,
        models: &models,
        rules: &rules,
        levels,
        options: EngineOptions { records_reasons: true, comments, ..EngineOptions::new(levels.confidence) },
        lines: &asked_lines,
        remove_known: &|_| Vec::new(),
        progress: &NoProgress,
    };
    let (explained, _) = explain_lines(&request).map_err(to_message)?;
    let mut texts = Vec::new();
    for position in positions {
        let line = position.and_then(|number| explained.get(number)?.as_ref());
        let mut out = Vec::new();
        if let Some(line) = line {
            write_explanation(&mut out, std::slice::from_ref(line), root, false).map_err(|error| error.to_string())?;
        }
        texts.push(String::from_utf8_lossy(&out).into_owned());
    }
    Ok(texts)
}
