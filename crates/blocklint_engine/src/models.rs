//! The models of a run: the built-in ones, and the user's on top.

use std::fs;

use blocklint_models::{Models, check_user_files};
use blocklint_project::Configuration;
use camino::Utf8Path;

use crate::Failure;

/// Reads the model files that the configuration names.
///
/// # Errors
///
/// Every mistake in them; a user who writes a model wants to know before it silently does nothing.
pub fn load(configuration: &Configuration, current: &Utf8Path) -> Result<Models, Failure> {
    if configuration.models.is_empty() {
        return Ok(Models::builtin());
    }
    let mut sources = Vec::new();
    for path in &configuration.models {
        let label = path.strip_prefix(current).unwrap_or(path).to_string();
        match fs::read_to_string(path) {
            Ok(text) => sources.push((label, text)),
            Err(error) => return Err(Failure::new(format!("{label}: {error}"))),
        }
    }
    let files = check_user_files(sources.iter().map(|(label, text)| (label.as_str(), text.as_str())))
        .map_err(|errors| Failure::all(errors.iter().map(ToString::to_string)))?;
    Models::with_user(&files).map_err(Failure::new)
}
