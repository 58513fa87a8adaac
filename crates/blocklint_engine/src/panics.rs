//! A panic while one file is read costs that file, not the run.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    static CAUGHT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps panics that [`catch`] is going to tell from being printed.
pub fn install_hook() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !CATCHING.get() {
            return default(info);
        }
        let words = info.payload_as_str().unwrap_or("panic");
        let place = info.location().map_or(String::new(), |at| format!(" ({}:{})", at.file(), at.line()));
        CAUGHT.set(Some(format!("{words}{place}")));
    }));
}

/// Runs the work.
///
/// # Errors
///
/// Where and why it panicked.
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    CATCHING.set(true);
    // What the work touched is dropped with it: it shares nothing that could be left half-written.
    let done = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(false);
    done.map_err(|_| CAUGHT.take().unwrap_or_else(|| "panic".to_owned()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_panic_becomes_a_sentence() {
        super::install_hook();
        let numbers: Vec<u32> = Vec::new();
        let caught = super::catch(|| numbers[3]).expect_err("it panics");
        assert!(caught.starts_with("index out of bounds") && caught.contains("panics.rs:"), "{caught}");
        assert_eq!(super::catch(|| 1), Ok(1));
    }
}
