//! The cache of a run: its folder, the warning if it cannot be written, and `blocklint clean`.

use std::io::Write;

use blocklint_engine::{CACHE_FOLDER, Cache, NotACache, RunResult, cache_version, clean_cache};
use blocklint_project::{Project, Request, absolute, discover_root};
use camino::Utf8Path;

use super::{current_folder, ignore_closed_pipe};
use crate::CLEAN;
use crate::arguments::{Check, Clean};
use crate::messages::{Failure, warning};

/// Returns the cache of a run; `None` with `--no-cache`, or if the text of a file comes from stdin.
pub(super) fn open(check: &Check, project: &Project, current: &Utf8Path) -> Option<Cache> {
    // Text from stdin differs from the file on disk, which the next run reads.
    if check.no_cache || project.files.iter().any(|file| file.given.is_some()) {
        return None;
    }
    Some(match &check.cache_dir {
        Some(folder) => Cache::in_folder(&absolute(current, folder), &project.root, cache_version()),
        None => Cache::of_project(&project.root, cache_version()),
    })
}

/// Warns if the cache could not be written to the folder of `--cache-dir`. No warning follows for the default folder,
/// because a run without a cache is only slower.
pub(super) fn warn_if_unkept(check: &Check, ran: &RunResult) {
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
    let shown_folder = folder.strip_prefix(&current).unwrap_or(&folder);
    let message = match clean_cache(&folder) {
        Ok(true) => format!("Removed the cache {shown_folder}.\n"),
        Ok(false) => format!("No cache at {shown_folder}.\n"),
        Err(Ok(NotACache)) => {
            return Err(Failure::new(format!("{shown_folder}: not removed: blocklint made no cache there")));
        }
        Err(Err(error)) => return Err(Failure::new(format!("{shown_folder}: {error}"))),
    };
    ignore_closed_pipe(std::io::stdout().write_all(message.as_bytes()))?;
    Ok(CLEAN)
}
