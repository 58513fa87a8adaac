//! Catches panics of the analysis and returns their messages, without a hook printing them.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    static CAUGHT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Installs a panic hook that prints no panic that [`catch`] returns.
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

/// The reason why the work unwound.
pub(crate) enum Caught {
    /// The message and place of a panic.
    Panic(String),
    /// The payload of an unwinding for which no panic hook ran (`resume_unwind`).
    Payload(Box<dyn Any + Send>),
}

/// Runs the work and returns its result.
///
/// # Errors
///
/// The message and place of its panic.
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_payload(work).map_err(|caught| match caught {
        Caught::Panic(message) => message,
        Caught::Payload(_) => "panic".to_owned(),
    })
}

/// Runs the work as [`catch`] does, and distinguishes panics from other unwindings.
pub(crate) fn catch_payload<T>(work: impl FnOnce() -> T) -> Result<T, Caught> {
    let outer = CATCHING.replace(true);
    // Unwind safety: the callers drop the data that the work may have left half-written.
    let done = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(outer);
    // No message was caught here if the panic happened on another thread: the hook printed it there.
    done.map_err(|payload| match (panic_message(&*payload), CAUGHT.take()) {
        (Some(_), Some(message)) | (Some(message), None) => Caught::Panic(message),
        (None, _) => Caught::Payload(payload),
    })
}

fn panic_message(payload: &(dyn Any + Send)) -> Option<String> {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
}

#[cfg(test)]
mod tests {
    #[test]
    fn catch_returns_message_and_place_of_a_panic() {
        super::install_hook();
        let numbers: Vec<u32> = Vec::new();
        let caught = super::catch(|| numbers[3]).expect_err("it panics");
        assert!(caught.starts_with("index out of bounds") && caught.contains("panics.rs:"), "{caught}");
        assert_eq!(super::catch(|| 1), Ok(1));
    }
}
