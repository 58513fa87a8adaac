//! The words of BLT501 and BLT502: what is made more often than it needs to be.

use blocklint_core::Language;

/// What a call makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// Threads.
    Threads,
    /// Connections.
    Connections,
}

/// How often it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anew<'a> {
    /// Each time a library enters this body.
    PerEntry(&'a str),
    /// For each element of what this body goes through.
    PerItem(&'a str),
    /// For each instance of this class.
    PerInstance(&'a str),
    /// In each call of this body.
    PerCall(&'a str),
}

/// What is wrong, in one sentence without a full stop.
pub(crate) fn message(made: Made, anew: Anew<'_>, call: &str) -> String {
    let what = match made {
        Made::Threads => "makes threads",
        Made::Connections => "opens connections",
    };
    match anew {
        Anew::PerEntry(name) => format!("`{call}` {what} anew for each request to `{name}`"),
        Anew::PerItem(name) => format!("`{call}` {what} anew for each item in `{name}`"),
        Anew::PerInstance(class) => format!("`{call}` {what} for each instance of `{class}`"),
        Anew::PerCall(name) => format!("`{call}` {what} anew in each call of `{name}`"),
    }
}

/// Why it matters.
pub(crate) fn why(made: Made, anew: Anew<'_>) -> String {
    match (made, anew) {
        (Made::Threads, Anew::PerInstance(_)) => {
            "threads grow with the number of instances, also where each instance gives its own back in the end"
                .to_owned()
        }
        (Made::Threads, _) => {
            "threads are started and ended each time, and nothing bounds how many there are at once".to_owned()
        }
        (Made::Connections, _) => {
            "each one connects and shakes hands anew, and nothing bounds how many there are at once".to_owned()
        }
    }
}

/// What to do.
pub(crate) fn help(made: Made, language: Language, call: &str) -> String {
    match (made, language) {
        // What has no name of a scheduler of Reactor's kind cannot be told from here: the advice holds for both.
        (Made::Threads, Language::Java) if call.contains("cheduler") => {
            "share one: `private static final Scheduler SHARED = Schedulers.newBoundedElastic(…)`; then remove `dispose()` of the \
             scheduler, keep the `Disposable` of each subscription and dispose that in `close()`"
                .to_owned()
        }
        (Made::Threads, Language::Java) => {
            "share one: a `private static final` field, which no instance shuts down, or one that is handed in".to_owned()
        }
        (Made::Threads, Language::Python) => {
            "share one: make it once for the module or application and hand it in; no instance shuts it down".to_owned()
        }
        (Made::Threads, Language::Rust) => {
            "share one: hand in a `Handle` of the application's runtime, or keep one in a `LazyLock`".to_owned()
        }
        (Made::Connections, Language::Python) => {
            "make it once at start-up and share it: in the application's state, a module or a cached dependency".to_owned()
        }
        (Made::Connections, _) => "make it once at start-up and share it: it is made to be used by many".to_owned(),
    }
}
