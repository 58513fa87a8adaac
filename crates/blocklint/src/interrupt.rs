//! Signals that end the run (SIGINT, SIGTERM, SIGHUP): temporary files are removed before the process ends.
//!
//! Output goes to a temporary file in the folder of its target until it is complete. The signal handler is installed
//! when the first such file is created; before that the default action of the system is right.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// Temporary files that are removed if a signal ends the run.
static PENDING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static LISTENING: Once = Once::new();

/// Keeps a temporary file in the list of files that a signal removes, until it is dropped.
pub(crate) struct Guard(PathBuf);

impl Drop for Guard {
    fn drop(&mut self) {
        lock_pending().retain(|path| *path != self.0);
    }
}

/// Creates a file with `create`, and returns it with a guard: a signal before the guard is dropped removes the file. A
/// signal during `create` waits until the path is known.
pub(crate) fn create_guarded<T, E>(
    create: impl FnOnce() -> Result<T, E>,
    path: impl FnOnce(&T) -> &Path,
) -> Result<(T, Guard), E> {
    LISTENING.call_once(listen_for_signals);
    let mut pending = lock_pending();
    let file = create()?;
    let path = path(&file).to_owned();
    pending.push(path.clone());
    Ok((file, Guard(path)))
}

fn lock_pending() -> MutexGuard<'static, Vec<PathBuf>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work`; a signal that arrives meanwhile takes effect after it.
pub(crate) fn run_uninterrupted<T>(work: impl FnOnce() -> T) -> T {
    LISTENING.call_once(listen_for_signals);
    let _pending = lock_pending();
    work()
}

#[cfg(unix)]
fn listen_for_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    // If the handler cannot be installed, signals keep their default action.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    let wait = move || {
        for signal in signals.forever() {
            let pending = lock_pending();
            for path in pending.iter() {
                let _ = std::fs::remove_file(path);
            }
            // The default handler ends the process, so that a shell sees the signal as the reason.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    let _ = std::thread::Builder::new().name("blocklint-signals".to_owned()).spawn(wait);
}

#[cfg(not(unix))]
fn listen_for_signals() {}
