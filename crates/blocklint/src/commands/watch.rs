//! `blocklint check --watch`: a run for each change, until Ctrl-C.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use blocklint_project::{Request, discover};
use camino::Utf8Path;
use notify::event::ModifyKind;
use notify::{Event, EventKind, RecursiveMode, Watcher};

use super::current_folder;
use crate::arguments::Check;
use crate::console;
use crate::messages::Failure;

/// The time without changes after which a run begins, because editors write a file in several steps and a checkout many
/// files.
const DEBOUNCE: Duration = Duration::from_millis(120);
/// Folders whose changes start no run.
const IGNORED_FOLDERS: [&str; 7] = [".git", ".hg", ".jj", ".blocklint_cache", "__pycache__", "node_modules", "target"];
/// Extensions of the files that decide about findings: sources, configuration, models, manifests.
const READ_EXTENSIONS: &str = "py pyi ipynb rs java toml txt cfg lock xml gradle kts yml yaml sh service";
/// Names, without extension, of files that decide about findings.
const READ_NAMES: [&str; 5] = ["Procfile", "Dockerfile", ".gitignore", ".ignore", "Pipfile"];

/// The environment variable that marks a process as a run that `--watch` started.
const IS_RUN: &str = "_BLOCKLINT_WATCHED_RUN";

/// True if this process is a run that `--watch` started.
pub(super) fn is_run() -> bool {
    env::var_os(IS_RUN).is_some()
}

/// Runs once, and again after each change, until the process is ended.
pub(super) fn watch(check: &Check) -> Result<u8, Failure> {
    let current = current_folder()?;
    // If the configuration has mistakes, the current folder is watched until they are fixed.
    let request = Request { current: &current, paths: &check.paths, isolated: check.isolated };
    let root = discover(request).map_or_else(|_| current.clone(), |project| project.root);
    let (sender, receiver) = channel();
    let send_event = move |event: notify::Result<Event>| {
        // Fails only once the receiver is gone.
        let _ = sender.send(event);
    };
    let failed = |error: notify::Error| Failure::new(format!("cannot watch {root}: {error}"));
    let mut watcher = notify::recommended_watcher(send_event).map_err(failed)?;
    watcher.watch(root.as_std_path(), RecursiveMode::Recursive).map_err(failed)?;
    loop {
        clear_screen()?;
        run_once()?;
        if console::verbosity() >= 0 {
            let _ = writeln!(io::stderr(), "\nWatching {root} for changes; end with Ctrl-C.");
        }
        wait_for_change(&receiver, check, &root)?;
    }
}

/// Makes one run in a process of its own, so that the system frees its memory at the end.
fn run_once() -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::new(format!("cannot start a run: {error}"));
    let mut command = Command::new(env::current_exe().map_err(failed)?);
    command.args(env::args_os().skip(1)).env(IS_RUN, "1").stdin(Stdio::null());
    // A failed run has reported its error, and the next change may fix it.
    command.status().map_err(failed)?;
    Ok(())
}

/// Waits until a file that decides about findings changes, and then until no more changes follow.
fn wait_for_change(receiver: &Receiver<notify::Result<Event>>, check: &Check, root: &Utf8Path) -> Result<(), Failure> {
    let gone = || Failure::new(format!("{root} can no longer be watched"));
    loop {
        let event = receiver.recv().map_err(|_| gone())?;
        if event.is_ok_and(|event| is_relevant(&event, check)) {
            break;
        }
    }
    loop {
        match receiver.recv_timeout(DEBOUNCE) {
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => return Ok(()),
            Err(RecvTimeoutError::Disconnected) => return Err(gone()),
        }
    }
}

fn is_relevant(event: &Event, check: &Check) -> bool {
    let is_change = match event.kind {
        EventKind::Create(_) | EventKind::Remove(_) | EventKind::Any => true,
        EventKind::Modify(kind) => !matches!(kind, ModifyKind::Metadata(_)),
        EventKind::Access(_) | EventKind::Other => false,
    };
    is_change
        && event.paths.iter().filter_map(|path| Utf8Path::from_path(path)).any(|path| decides_findings(path, check))
}

fn decides_findings(path: &Utf8Path, check: &Check) -> bool {
    let output_name = check.output_file.as_ref().and_then(|file| file.file_name());
    let name = path.file_name().unwrap_or_default();
    if path.components().any(|part| IGNORED_FOLDERS.contains(&part.as_str()))
        || Some(name) == output_name
        || name.starts_with(".blocklint-")
    {
        return false;
    }
    let by_extension =
        path.extension().is_some_and(|extension| READ_EXTENSIONS.split(' ').any(|read| read == extension));
    by_extension || READ_NAMES.iter().any(|read| name.starts_with(read))
}

/// Clears the screen, if stdout is a terminal.
fn clear_screen() -> Result<(), Failure> {
    let mut out = io::stdout();
    if out.is_terminal() {
        // Clears the screen and the scrollback, and moves the cursor to the first column of the first line.
        super::ignore_closed_pipe(out.write_all(b"\x1b[2J\x1b[3J\x1b[H").and_then(|()| out.flush()))?;
    }
    Ok(())
}
