//! The words of BLT401 and BLT402: threads without a bound, connections that are held too long.

use blocklint_core::Language;

use crate::words::one_line;

/// What there are as many of as threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unbounded<'a> {
    /// Elements of a collection.
    PerItem,
    /// Requests, messages or events that enter this body.
    PerEntry(&'a str),
    /// The work never ends.
    Endless,
}

/// Who waits for a connection that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starved<'a> {
    /// It is held over this `await`.
    OverAwait(&'a str),
    /// It is held, from this call on, while one more of the pool is taken.
    Second(&'a str),
    /// A job waits for what this call hands to the pool that runs it.
    OwnJob(&'a str),
}

/// What is wrong with a hand-over, in one sentence without a full stop.
pub(crate) fn offload_message(
    language: Language,
    written: &str,
    unbounded: Unbounded<'_>,
    takes: Option<&str>,
) -> String {
    let written = one_line(written);
    let many = match unbounded {
        Unbounded::PerItem => "for each item".to_owned(),
        Unbounded::PerEntry(name) => format!("for each request to `{name}`"),
        Unbounded::Endless => return format!("`{written}` hands work without an end to a pool for work that ends"),
    };
    match takes {
        Some(takes) => {
            format!("`{written}` hands work to a thread {many}, and each waits in `{takes}` for a connection")
        }
        // The pool of asyncio and anyio has some threads; what has no bound is how much waits for them.
        None if language == Language::Python => {
            format!("`{written}` hands work to the shared threads {many}, as many pieces at once as there are")
        }
        None => format!("`{written}` hands work to a thread {many}, and nothing bounds how many there are at once"),
    }
}

/// Why it matters.
pub(crate) fn offload_why(language: Language, unbounded: Unbounded<'_>, takes: Option<&str>) -> &'static str {
    match (unbounded, takes, language) {
        (Unbounded::Endless, _, _) => {
            "it holds one thread of the pool for ever, and the runtime waits for it when it ends"
        }
        (_, Some(_), _) => {
            "threads that wait for a connection are not there for anybody else, and more of them make no connection"
        }
        (_, None, Language::Python) => {
            "the pool has a few threads for all: whoever comes next waits behind every item, in this and in other requests"
        }
        (_, None, _) => {
            "under load there are hundreds of threads for a few cores, and everything else waits as if the work were done in place"
        }
    }
}

/// What to do.
pub(crate) fn offload_help(language: Language, unbounded: Unbounded<'_>) -> &'static str {
    match (unbounded, language) {
        (Unbounded::Endless, Language::Rust) => "give it a thread of its own: `std::thread::spawn`",
        (Unbounded::Endless, _) => "give it a thread of its own",
        (_, Language::Rust) => {
            "take a permit of a shared `Semaphore` with about as many as cores before it, or use a pool that is bounded (rayon and a \
             oneshot channel)"
        }
        (_, Language::Python) => {
            "bound it: hold a shared `asyncio.Semaphore` around each, or give the work an executor of its own"
        }
        (_, Language::Java) => "bound it: `flatMap` with a concurrency, or an executor with a bounded queue",
    }
}

/// What is wrong with a connection that is held.
pub(crate) fn starved_message(written: &str, call: &str, starved: Starved<'_>, owner: &str) -> String {
    let written = one_line(written);
    match starved {
        Starved::OverAwait(awaited) => {
            format!(
                "`{written}` waits in {owner} for a connection on the thread that runs tasks, and holds it over `await {}`",
                one_line(awaited)
            )
        }
        Starved::Second(first) => {
            format!(
                "`{call}` takes a second connection of the pool in {owner} while that of `{}` is held",
                one_line(first)
            )
        }
        Starved::OwnJob(handed) => {
            format!("`{written}` waits in {owner} for what `{}` hands to the pool that runs it", one_line(handed))
        }
    }
}

/// Why it matters.
pub(crate) fn starved_why(starved: Starved<'_>) -> &'static str {
    match starved {
        Starved::OverAwait(_) => {
            "when all connections are out, tasks that wait for one hold the threads on which their holders would go on and give \
             theirs back: the program stands still"
        }
        Starved::Second(_) => {
            "when all connections are held by such tasks, each waits for another one's, for ever or until the time is up"
        }
        Starved::OwnJob(_) => {
            "when all threads of the pool run such jobs, each waits for one that no thread is left for: none ever ends"
        }
    }
}

/// What to do.
pub(crate) fn starved_help(language: Language, starved: Starved<'_>) -> &'static str {
    match (starved, language) {
        (Starved::OverAwait(_), Language::Rust) => {
            "take the connection and use it inside one `spawn_blocking(move || …).await`; a larger pool or a longer timeout only \
             delays it"
        }
        (Starved::OverAwait(_), _) => {
            "take the connection and use it inside one function that is handed to a thread as a whole; a larger pool or a longer \
             timeout only delays it"
        }
        (Starved::OwnJob(_), _) => {
            "call it in place, give it a pool of its own, or let what waits run elsewhere; a larger pool only delays it"
        }
        (Starved::Second(_), _) => "pass the first connection on, or give it back before the second one is taken",
    }
}
