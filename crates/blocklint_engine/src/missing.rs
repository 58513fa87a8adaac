//! Library calls without a row in any model, for `blocklint debug missing`.

use std::sync::Arc;

use blocklint_core::{Confidence, Language, Place};
use blocklint_models::Models;
use blocklint_output::Sources;
use blocklint_project::Project;
use camino::Utf8Path;

use crate::analyse::with_linker;
use crate::sources::locate_one;
use crate::{Failure, Options};

/// A call of a library in code that must not block, where no model has a row for the called path.
#[derive(Clone, Debug)]
pub struct Missing {
    /// The place of the call.
    pub place: Place,
    /// The language.
    pub language: Language,
    /// The path that is called.
    pub path: String,
    /// True if a model has rows for other paths of the library.
    pub known_library: bool,
    /// True if the call is awaited on the spot.
    pub awaited: bool,
}

/// Returns the library calls without a row in the reported files of a project, in the order of files and places.
///
/// # Errors
/// If the system starts no threads.
pub fn find_missing_calls(project: &Project, models: &Models) -> Result<Vec<Missing>, Failure> {
    let options = Options::new(Confidence::Medium);
    let (mut calls, _) = with_linker(project, models, options, |linker| {
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
    for call in &mut calls {
        locate_one(project, &mut call.place, &mut sources);
    }
    Ok(calls)
}
