//! The progress bar on stderr, for runs in a terminal that take longer than a second.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use blocklint_engine::{Progress, Step};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console;

/// The time before the bar is shown.
const DELAY: Duration = Duration::from_secs(1);

/// A progress bar that appears after a second and disappears when it is dropped.
pub(crate) struct Bar {
    bar: ProgressBar,
    /// A flag that the run is over, and a condition for threads that wait for it.
    is_finished: Arc<(Mutex<bool>, Condvar)>,
    display_thread: Option<JoinHandle<()>>,
}

impl Bar {
    pub(crate) fn new() -> Bar {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let is_finished = Arc::new((Mutex::new(false), Condvar::new()));
        let display_thread = console::shows_progress().then(|| {
            let (bar, is_finished) = (bar.clone(), Arc::clone(&is_finished));
            let wait = move || {
                let (ended, changed) = &*is_finished;
                let guard = ended.lock().unwrap_or_else(PoisonError::into_inner);
                let waited = changed.wait_timeout_while(guard, DELAY, |ended| !*ended);
                let guard = waited.unwrap_or_else(PoisonError::into_inner).0;
                // The lock is held, so that the bar is not shown after the run is over.
                if !*guard {
                    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(12));
                    bar.enable_steady_tick(Duration::from_millis(100));
                }
            };
            std::thread::Builder::new().name("blocklint-progress".to_owned()).spawn(wait).ok()
        });
        Bar { bar, is_finished, display_thread: display_thread.flatten() }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        *self.is_finished.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.is_finished.1.notify_all();
        if let Some(display_thread) = self.display_thread.take() {
            // The thread ends at once; the panic hook has reported a panic in it.
            let _ = display_thread.join();
        }
        self.bar.finish_and_clear();
    }
}

impl Progress for Bar {
    fn begin(&self, step: Step, pieces: usize) {
        if self.display_thread.is_none() {
            return;
        }
        let (template, message) = match step {
            Step::Read => ("{msg} {bar:28.cyan/dim} {human_pos}/{human_len} files", "Reading  "),
            Step::Resolve => ("{msg} {spinner:.cyan} following calls, {elapsed}", "Resolving"),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("━╸─"));
        }
        self.bar.set_message(message);
        self.bar.set_length(pieces as u64);
        self.bar.set_position(0);
    }

    fn advance(&self) {
        if self.display_thread.is_some() {
            self.bar.inc(1);
        }
    }
}
