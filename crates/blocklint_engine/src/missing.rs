//! Calls of libraries that no model describes.

use std::sync::Arc;

use blocklint_core::{Confidence, Language, Place};
use blocklint_models::Models;
use blocklint_output::Sources;
use blocklint_project::Project;
use camino::Utf8Path;

use crate::analyse::with_linker;
use crate::sources::locate_one;
use crate::{Failure, Options};

/// A call, in code that must not block, of a library name without any row.
#[derive(Clone, Debug)]
pub struct Missing {
    /// Where it stands.
    pub place: Place,
    /// The language.
    pub language: Language,
    /// The path that is called.
    pub path: String,
    /// True if some model has other names of the library.
    pub known_library: bool,
    /// True if its result is awaited where it stands.
    pub awaited: bool,
}

/// Returns every such call of a project's reported files, in the order of files and places.
///
/// # Errors
/// If the system starts no threads.
pub fn missing(project: &Project, models: &Models) -> Result<Vec<Missing>, Failure> {
    let options = Options::new(Confidence::Medium);
    let (mut found, _) = with_linker(project, models, options, |linker| {
        let call = |call: blocklint_analysis::MissingCall| {
            let file = &linker.program.files[call.file.index()];
            let path: Arc<Utf8Path> = Arc::clone(&file.path);
            Missing {
                place: Place::unlocated(path, call.span),
                language: file.facts.language,
                path: call.path,
                known_library: call.known_library,
                awaited: call.awaited,
            }
        };
        blocklint_analysis::find_missing_calls(linker).into_iter().map(call).collect::<Vec<Missing>>()
    })?;
    let mut sources = Sources::default();
    for call in &mut found {
        locate_one(project, &mut call.place, &mut sources);
    }
    Ok(found)
}
