//! Panics that are caught: the code that catches them reports them, and no hook prints them.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    static CAUGHT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps panics that [`catch`] reports from being printed.
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

/// The reason why the work ended.
pub(crate) enum Caught {
    /// A panic: its message, and where it happened.
    Panic(String),
    /// An unwinding that no hook has seen, with its payload.
    Payload(Box<dyn Any + Send>),
}

/// Runs the work.
///
/// # Errors
///
/// Where and why it panicked.
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_payload(work).map_err(|caught| match caught {
        Caught::Panic(message) => message,
        Caught::Payload(_) => "panic".to_owned(),
    })
}

/// Runs the work; distinguishes panics from other unwindings.
pub(crate) fn catch_payload<T>(work: impl FnOnce() -> T) -> Result<T, Caught> {
    let outer = CATCHING.replace(true);
    // Data that the work touched is dropped with it, so nothing shared is left half-written.
    let done = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(outer);
    // A panic on another thread was printed by the hook there.
    done.map_err(|payload| match (message_of(&*payload), CAUGHT.take()) {
        (Some(_), Some(message)) | (Some(message), None) => Caught::Panic(message),
        (None, _) => Caught::Payload(payload),
    })
}

fn message_of(payload: &(dyn Any + Send)) -> Option<String> {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
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
