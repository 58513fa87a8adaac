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

/// Editors write a file in several steps, and a checkout many files: a run begins once nothing happened for so long.
const QUIET: Duration = Duration::from_millis(120);
/// Folders in which nothing is read.
const OTHERS: [&str; 7] = [".git", ".hg", ".jj", ".blocklint_cache", "__pycache__", "node_modules", "target"];
/// Extensions and names of what decides about findings: sources, configuration, models, manifests.
const READ: &str = "py pyi ipynb rs java toml txt cfg lock xml gradle kts yml yaml sh service";
const READ_NAMES: [&str; 5] = ["Procfile", "Dockerfile", ".gitignore", ".ignore", "Pipfile"];

/// Tells a process that it is one of the runs that another process starts.
const IS_RUN: &str = "_BLOCKLINT_WATCHED_RUN";

/// True if this process is one of the runs that another process starts.
pub(super) fn is_run() -> bool {
    env::var_os(IS_RUN).is_some()
}

/// Runs again for each change, until it is ended.
pub(super) fn watch(check: &Check) -> Result<u8, Failure> {
    let current = current_folder()?;
    // Where a configuration is wrong, the folder of the run is watched until it is right.
    let request = Request { current: &current, paths: &check.paths, isolated: check.isolated };
    let root = discover(request).map_or_else(|_| current.clone(), |project| project.root);
    let (sender, receiver) = channel();
    let tell = move |event: notify::Result<Event>| {
        // Fails only once the receiver is gone.
        let _ = sender.send(event);
    };
    let failed = |error: notify::Error| Failure::new(format!("cannot watch {root}: {error}"));
    let mut watcher = notify::recommended_watcher(tell).map_err(failed)?;
    watcher.watch(root.as_std_path(), RecursiveMode::Recursive).map_err(failed)?;
    loop {
        clear()?;
        run_once()?;
        if console::verbosity() >= 0 {
            let _ = writeln!(io::stderr(), "\nWatching {root} for changes; end with Ctrl-C.");
        }
        wait(&receiver, check, &root)?;
    }
}

/// Makes one run, in a process of its own, so that all the memory that it needed is free when it ends.
fn run_once() -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::new(format!("cannot start a run: {error}"));
    let mut command = Command::new(env::current_exe().map_err(failed)?);
    command.args(env::args_os().skip(1)).env(IS_RUN, "1").stdin(Stdio::null());
    // The run has told what is wrong with this state of the files; the next state may be right.
    command.status().map_err(failed)?;
    Ok(())
}

/// Waits until something that is read has changed, and then until nothing changes any more.
fn wait(receiver: &Receiver<notify::Result<Event>>, check: &Check, root: &Utf8Path) -> Result<(), Failure> {
    let gone = || Failure::new(format!("{root} can no longer be watched"));
    loop {
        let event = receiver.recv().map_err(|_| gone())?;
        if event.is_ok_and(|event| matters(&event, check)) {
            break;
        }
    }
    loop {
        match receiver.recv_timeout(QUIET) {
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => return Ok(()),
            Err(RecvTimeoutError::Disconnected) => return Err(gone()),
        }
    }
}

fn matters(event: &Event, check: &Check) -> bool {
    let is_change = match event.kind {
        EventKind::Create(_) | EventKind::Remove(_) | EventKind::Any => true,
        EventKind::Modify(what) => !matches!(what, ModifyKind::Metadata(_)),
        EventKind::Access(_) | EventKind::Other => false,
    };
    is_change && event.paths.iter().filter_map(|path| Utf8Path::from_path(path)).any(|path| is_read(path, check))
}

fn is_read(path: &Utf8Path, check: &Check) -> bool {
    let own = check.output_file.as_ref().and_then(|file| file.file_name());
    let name = path.file_name().unwrap_or_default();
    if path.components().any(|part| OTHERS.contains(&part.as_str()))
        || Some(name) == own
        || name.starts_with(".blocklint-")
    {
        return false;
    }
    let by_extension = path.extension().is_some_and(|extension| READ.split(' ').any(|read| read == extension));
    by_extension || READ_NAMES.iter().any(|read| name.starts_with(read))
}

/// Only a terminal has something to clear.
fn clear() -> Result<(), Failure> {
    let mut out = io::stdout();
    if out.is_terminal() {
        // The screen, what was scrolled off it, and the cursor to its corner.
        super::unless_closed(out.write_all(b"\x1b[2J\x1b[3J\x1b[H").and_then(|()| out.flush()))?;
    }
    Ok(())
}
