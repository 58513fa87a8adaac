//! Loads the models of a run in three layers: the built-in models, those that libraries ship, and the user's own, which
//! win.

use blocklint_core::Work;
use blocklint_models::{Models, check_user_files, read_shipped};
use blocklint_project::{Project, read_text};
use camino::Utf8Path;

use crate::Failure;

/// Returns the built-in models with the model files of the configuration and of the project's libraries.
///
/// # Errors
///
/// Every mistake in the user's own model files, because a row with a mistake would silently do nothing.
pub fn load(project: &Project, current: &Utf8Path) -> Result<Models, Failure> {
    load_with_messages(project, current).map(|(models, _)| models)
}

/// Returns the models, and a message for each mistake in a model file that a library ships. A shipped file with a
/// mistake is left out.
///
/// # Errors
///
/// Every mistake in the user's own model files.
pub fn load_with_messages(project: &Project, current: &Utf8Path) -> Result<(Models, Vec<String>), Failure> {
    let (mut shipped, mut messages) = (Vec::new(), Vec::new());
    for model in &project.shipped {
        let label = model.path.strip_prefix(current).unwrap_or(&model.path).to_string();
        match read_text(&model.path) {
            Ok(text) => {
                let (file, errors) = read_shipped(&label, &text, &model.tops);
                shipped.extend(file.filter(|file| file.info.language == model.language));
                messages.extend(errors.iter().map(|error| format!("{error}; shipped by {}, left out", model.package)));
            }
            Err(error) => messages.push(format!("{label}: {error}")),
        }
    }
    let lines = project.configuration.severity.iter();
    let severities: Vec<_> = lines.filter_map(|(kind, severity)| Some((Work::parse(kind)?, *severity))).collect();
    if project.configuration.models.is_empty() && shipped.is_empty() {
        return Ok((Models::builtin().with_severities(severities), messages));
    }
    let mut sources = Vec::new();
    for path in &project.configuration.models {
        let label = path.strip_prefix(current).unwrap_or(path).to_string();
        match read_text(path) {
            Ok(text) => sources.push((label, text)),
            Err(error) => return Err(Failure::new(format!("{label}: {error}"))),
        }
    }
    let files = check_user_files(sources.iter().map(|(label, text)| (label.as_str(), text.as_str())))
        .map_err(|errors| Failure::all(errors.iter().map(ToString::to_string)))?;
    Models::with_shipped(&files, &shipped)
        .map(|models| (models.with_severities(severities), messages))
        .map_err(Failure::new)
}
