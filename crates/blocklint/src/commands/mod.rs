//! The commands of the binary, one file each, and the helpers that they share.

mod ask;
mod baseline;
mod cache;
mod change;
mod check;
mod codemod;
mod config;
mod debug;
mod edits;
mod evidence;
mod fix;
mod generate;
mod ignore;
mod left_out;
mod missing;
mod models;
mod plan;
mod render;
mod rule;
mod server;
mod version;
mod watch;
mod why;

use camino::{Utf8Path, Utf8PathBuf};

pub(crate) use ask::ask_command;
pub(crate) use baseline::baseline;
pub(crate) use cache::clean;
pub(crate) use check::check;
pub(crate) use codemod::codemod;
pub(crate) use config::config;
pub(crate) use debug::debug;
pub(crate) use generate::{man_page, shell_completion};
pub(crate) use models::models;
pub(crate) use plan::plan_command;
pub(crate) use rule::rule;
pub(crate) use server::server;
pub(crate) use version::version;
pub(crate) use why::why;

use crate::messages::Failure;

/// Returns the current folder.
fn current_folder() -> Result<Utf8PathBuf, Failure> {
    let folder = std::env::current_dir().map_err(|error| Failure::new(format!("the current folder: {error}")))?;
    Utf8PathBuf::from_path_buf(folder)
        .map_err(|folder| Failure::new(format!("the current folder's name is not UTF-8: {}", folder.display())))
}

/// Returns a path relative to the current folder, as in `../app/views.py`; unchanged if it is more than three folders
/// up.
fn path_from(path: &Utf8Path, current: &Utf8Path) -> Utf8PathBuf {
    let mut up = Utf8PathBuf::new();
    // A path with more than three `..` is harder to read than the absolute path.
    for folder in current.ancestors().take(4) {
        if let Ok(inside) = path.strip_prefix(folder) {
            return up.join(inside);
        }
        up.push("..");
    }
    path.to_owned()
}

/// Turns a write error into a failure; no failure if the reader closed the pipe early, as `head` does.
fn ignore_closed_pipe(written: std::io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot write: {error}")))
        }
        _ => Ok(()),
    }
}
