//! One file per command.

mod baseline;
mod cache;
mod change;
mod check;
mod config;
mod debug;
mod edits;
mod fix;
mod generate;
mod ignore;
mod missing;
mod models;
mod render;
mod rule;
mod server;
mod version;
mod watch;
mod why;

use camino::Utf8PathBuf;

pub(crate) use baseline::baseline;
pub(crate) use cache::clean;
pub(crate) use check::check;
pub(crate) use config::config;
pub(crate) use debug::debug;
pub(crate) use generate::{man_page, shell_completion};
pub(crate) use models::models;
pub(crate) use rule::{all_rules, rule};
pub(crate) use server::server;
pub(crate) use version::version;
pub(crate) use why::why;

use crate::messages::Failure;

/// The current folder.
fn current_folder() -> Result<Utf8PathBuf, Failure> {
    let folder = std::env::current_dir().map_err(|error| Failure::new(format!("the current folder: {error}")))?;
    Utf8PathBuf::from_path_buf(folder)
        .map_err(|folder| Failure::new(format!("the current folder's name is not UTF-8: {}", folder.display())))
}

/// A reader that has read enough (`| head`) is no failure.
fn unless_closed(written: std::io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot write: {error}")))
        }
        _ => Ok(()),
    }
}
