//! Ctrl-C and other requests to end: the run ends at once and leaves nothing behind.
//!
//! A run that lasts leaves a file beside its output, until the output is whole. The signals are only listened to while
//! there is one; everywhere else the system's own answer to them is the right one.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// Files that are to go if the run does.
static PENDING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static LISTENING: Once = Once::new();

/// Until this is dropped, the end of the run also ends the file.
pub(crate) struct Guard(PathBuf);

impl Drop for Guard {
    fn drop(&mut self) {
        pending().retain(|path| *path != self.0);
    }
}

/// Makes a file that goes if the run is ended before the guard is dropped. A request to end that comes meanwhile waits
/// until it is known which file that is.
pub(crate) fn guarded<T, E>(
    make: impl FnOnce() -> Result<T, E>,
    path: impl FnOnce(&T) -> &Path,
) -> Result<(T, Guard), E> {
    LISTENING.call_once(listen);
    let mut pending = pending();
    let made = make()?;
    let path = path(&made).to_owned();
    pending.push(path.clone());
    Ok((made, Guard(path)))
}

fn pending() -> MutexGuard<'static, Vec<PathBuf>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does the work as a whole: a request to end waits for it.
pub(crate) fn uninterrupted<T>(work: impl FnOnce() -> T) -> T {
    LISTENING.call_once(listen);
    let _held = pending();
    work()
}

#[cfg(unix)]
fn listen() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    // Without signals there is no request to end the run.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    let wait = move || {
        for signal in signals.forever() {
            let pending = pending();
            for path in pending.iter() {
                let _ = std::fs::remove_file(path);
            }
            // Ends the process as the signal would have, so that a shell sees why.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    let _ = std::thread::Builder::new().name("blocklint-signals".to_owned()).spawn(wait);
}

#[cfg(not(unix))]
fn listen() {}
