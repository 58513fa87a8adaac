//! Explains lines of a project as `blocklint why` does.

use blocklint_core::{Confidence, Severity};
use blocklint_engine::{
    AskedLine, CommentChecks, ExplainRequest, Levels, Options as EngineOptions, Progress, Step,
    explain as explain_lines,
};
use blocklint_output::write_explanation;
use camino::Utf8Path;

use crate::fixing::Run;
use crate::{CodeLine, Options};

/// Shows no progress.
struct Unwatched;

impl Progress for Unwatched {
    fn begin(&self, _: Step, _: usize) {}

    fn advance(&self) {}
}

/// Returns the text of `blocklint why` for each line, at all levels, so that findings below those of the section are
/// shown too.
pub(crate) fn explain(root: &Utf8Path, options: &Options, lines: &[CodeLine]) -> Result<Vec<String>, String> {
    let told = |failure: blocklint_engine::Failure| failure.lines.join("\n");
    let Run { project, models, rules, .. } = Run::new(root, options)?;
    let levels = Levels { severity: Severity::Note, confidence: Confidence::Low };
    let mut asked = Vec::new();
    let mut places = Vec::new();
    for line in lines {
        let path = root.join(&line.path);
        let file = project.files.iter().position(|file| *file.path == path);
        places.push(file.map(|_| asked.len()));
        asked.extend(file.map(|file| AskedLine { file, cell: None, line: line.row }));
    }
    let comments = CommentChecks::new(&project, &rules.selection);
    let request = ExplainRequest {
        project: &project,
        models: &models,
        rules: &rules,
        levels,
        options: EngineOptions { account: true, comments, ..EngineOptions::new(levels.confidence) },
        lines: &asked,
        remove_known: &|_| Vec::new(),
        progress: &Unwatched,
    };
    let (explained, _) = explain_lines(&request).map_err(told)?;
    let mut texts = Vec::new();
    for place in places {
        let line = place.and_then(|number| explained.get(number)?.as_ref());
        let mut out = Vec::new();
        if let Some(line) = line {
            write_explanation(&mut out, std::slice::from_ref(line), root, false).map_err(|error| error.to_string())?;
        }
        texts.push(String::from_utf8_lossy(&out).into_owned());
    }
    Ok(texts)
}
