//! Where a run keeps what the next one needs not do again, and `blocklint clean`.

use std::io::Write;

use blocklint_engine::{CACHE_FOLDER, Cache, NotACache, RunResult, cache_version, clean_cache};
use blocklint_project::{Project, Request, absolute, discover_root};
use camino::Utf8Path;

use super::{current_folder, unless_closed};
use crate::CLEAN;
use crate::arguments::{Check, Clean};
use crate::messages::{Failure, warning};

/// Returns the cache of a run; none where the user wants none, or gives the text of a file.
pub(super) fn of(check: &Check, project: &Project, current: &Utf8Path) -> Option<Cache> {
    // Text from stdin is no state of the files; the next run asks for theirs.
    if check.no_cache || project.files.iter().any(|file| file.given.is_some()) {
        return None;
    }
    Some(match &check.cache_dir {
        Some(folder) => Cache::in_folder(&absolute(current, folder), &project.root, cache_version()),
        None => Cache::of_project(&project.root, cache_version()),
    })
}

/// A folder that the user named should be one that can be written. Elsewhere a run without a cache is as good, and only
/// slower.
pub(super) fn tell(check: &Check, ran: &RunResult) {
    if let (Some(folder), Some(why)) = (&check.cache_dir, &ran.cache_error) {
        warning(format!("{folder}: no cache is kept there: {why}"));
    }
}

pub(crate) fn clean(arguments: &Clean) -> Result<u8, Failure> {
    let current = current_folder()?;
    let folder = match &arguments.cache_dir {
        Some(folder) => absolute(&current, folder),
        None => {
            let path = arguments.path.clone().into_iter().collect::<Vec<_>>();
            let root = discover_root(Request { current: &current, paths: &path, isolated: true });
            root.join(CACHE_FOLDER)
        }
    };
    let shown = folder.strip_prefix(&current).unwrap_or(&folder);
    let said = match clean_cache(&folder) {
        Ok(true) => format!("Removed the cache {shown}.\n"),
        Ok(false) => format!("No cache at {shown}.\n"),
        Err(Ok(NotACache)) => return Err(Failure::new(format!("{shown}: not removed: blocklint made no cache there"))),
        Err(Err(error)) => return Err(Failure::new(format!("{shown}: {error}"))),
    };
    unless_closed(std::io::stdout().write_all(said.as_bytes()))?;
    Ok(CLEAN)
}
