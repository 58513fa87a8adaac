//! `blocklint generate-shell-completion` and `blocklint generate-man-page`.

use std::fs;
use std::io::Write;

use camino::Utf8Path;
use clap::CommandFactory;
use clap_complete::Shell;

use super::ignore_closed_pipe;
use crate::CLEAN;
use crate::arguments::Arguments;
use crate::messages::Failure;

pub(crate) fn shell_completion(shell: Shell) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "blocklint", &mut script);
    ignore_closed_pipe(std::io::stdout().write_all(&script))?;
    Ok(CLEAN)
}

/// Prints the manual page of `blocklint`, or writes the pages of all commands into `folder`.
pub(crate) fn man_page(folder: Option<&Utf8Path>) -> Result<u8, Failure> {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Arguments::command()).render(&mut page)?;
        ignore_closed_pipe(std::io::stdout().write_all(&page))?;
        return Ok(CLEAN);
    };
    let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Arguments::command(), folder));
    written.map_err(|error| Failure::new(format!("{folder}: {error}")))?;
    Ok(CLEAN)
}
