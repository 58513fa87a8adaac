//! The sentences of BLT401 and BLT402: work that is passed to threads without a bound, and pools that starve.

use blocklint_core::{Language, Mistake, Refusal, Remedy, Starved, Unbounded};

use crate::Advice;
use crate::remedy::NO_EDIT;
use crate::rule::MistakeWords;
use crate::words::{FindingText, Subject, one_line};

pub(crate) static WORDS: MistakeWords = MistakeWords { words, remedy, doubt };

fn words(subject: &Subject<'_>) -> Option<FindingText> {
    Some(match subject.mistake {
        Mistake::UnboundedOffload { unbounded, connection_call } => FindingText {
            message: offload_message(subject.language, subject.written, unbounded, connection_call.as_deref()),
            notes: vec![offload_why(subject.language, unbounded, connection_call.as_deref()).to_owned()],
            help: Some(offload_help(subject.language, unbounded).to_owned()),
        },
        Mistake::PoolStarvation(starved) => FindingText {
            message: starved_message(subject.written, subject.call, starved, &subject.owner.words()),
            notes: vec![starved_why(starved).to_owned()],
            help: Some(starved_help(subject.language, starved).to_owned()),
        },
        _ => return None,
    })
}

fn remedy(subject: &Subject<'_>, _: &Advice) -> Option<Result<Remedy, Refusal>> {
    let reason = match (subject.mistake, subject.language) {
        (Mistake::PoolStarvation(_) | Mistake::UnboundedOffload { .. }, Language::Rust) => {
            "the limit, and the code that holds the connection, must be chosen by hand"
        }
        (Mistake::PoolStarvation(_) | Mistake::UnboundedOffload { .. }, Language::Java) => NO_EDIT,
        (Mistake::PoolStarvation(Starved::OwnJob { .. }), _) => "the thread that runs the job must be chosen by hand",
        (Mistake::PoolStarvation(_), _) => "all work with the connection must move to a thread together",
        (Mistake::UnboundedOffload { .. }, _) => "the limit must be chosen by hand",
        _ => return None,
    };
    Some(Err(Refusal::new(reason)))
}

/// Returns the message about work that is passed to threads.
fn offload_message(language: Language, written: &str, unbounded: &Unbounded, connection_call: Option<&str>) -> String {
    let written = one_line(written);
    let many = match unbounded {
        Unbounded::PerItem => "for each item".to_owned(),
        Unbounded::PerEntry(name) => format!("for each request to `{name}`"),
        Unbounded::Endless => return format!("`{written}` passes endless work to a pool for short tasks"),
    };
    match connection_call {
        Some(connection_call) => {
            format!("`{written}` runs work in a thread {many}, and each waits in `{connection_call}` for a connection")
        }
        // The pools of asyncio and anyio limit the number of threads, but not the number of jobs that wait for them.
        None if language == Language::Python => {
            format!("`{written}` submits work to the shared threads {many}, all of it at once")
        }
        None => format!("`{written}` runs work in a thread {many}, with no limit on how many run at once"),
    }
}

/// Returns the note that says why work without a bound matters.
fn offload_why(language: Language, unbounded: &Unbounded, connection_call: Option<&str>) -> &'static str {
    match (unbounded, connection_call, language) {
        (Unbounded::Endless, _, _) => {
            "it occupies one thread of the pool for ever, and the runtime waits for that thread at shutdown"
        }
        (_, Some(_), _) => {
            "threads that wait for a connection can do no other work, and more threads create no more connections"
        }
        (_, None, Language::Python) => {
            "the pool has few threads for the whole process: later work, also of other requests, queues behind all \
             items"
        }
        (_, None, _) => "under load hundreds of threads compete for a few cores, and everything else waits",
    }
}

/// Returns the help for work without a bound.
fn offload_help(language: Language, unbounded: &Unbounded) -> &'static str {
    match (unbounded, language) {
        (Unbounded::Endless, Language::Rust) => "use a dedicated thread: `std::thread::spawn`",
        (Unbounded::Endless, _) => "use a dedicated thread",
        (_, Language::Rust) => {
            "acquire a permit of a shared `Semaphore` first, with about as many permits as cores, or use a bounded \
             pool (rayon and a oneshot channel)"
        }
        (_, Language::Python) => {
            "limit it: acquire a shared `asyncio.Semaphore` around each task, or use a dedicated executor"
        }
        (_, Language::Java) => "limit it: `flatMap` with a concurrency, or an executor with a bounded queue",
    }
}

/// Returns the message about a pool that can starve.
fn starved_message(written: &str, call: &str, starved: &Starved, owner: &str) -> String {
    let written = one_line(written);
    match starved {
        Starved::OverAwait { awaited } => {
            format!(
                "`{written}` in {owner} waits for a connection on a thread that runs tasks, and keeps it across `await \
                 {}`",
                one_line(awaited)
            )
        }
        Starved::SecondConnection { first } => {
            format!(
                "`{call}` takes a second connection from the pool in {owner} while `{}` still holds the first",
                one_line(first)
            )
        }
        Starved::OwnJob { other_job } => {
            format!("`{written}` in {owner} waits for a job that `{}` submits to the same pool", one_line(other_job))
        }
    }
}

/// Returns the note that says why a starved pool matters.
fn starved_why(starved: &Starved) -> &'static str {
    match starved {
        Starved::OverAwait { .. } => {
            "once all connections are taken, waiting tasks block the threads on which their holders would resume and \
             release them: a deadlock"
        }
        Starved::SecondConnection { .. } => {
            "once such tasks hold all connections, each waits for a connection of another: a deadlock, until a timeout \
             if there is one"
        }
        Starved::OwnJob { .. } => {
            "once such jobs occupy all threads of the pool, each waits for a job that no thread is left to run: a \
             deadlock"
        }
    }
}

/// Returns the help for a pool that can starve.
fn starved_help(language: Language, starved: &Starved) -> &'static str {
    match (starved, language) {
        (Starved::OverAwait { .. }, Language::Rust) => {
            "take and use the connection inside one `spawn_blocking(move || …).await`; a larger pool or a longer \
             timeout only delays the deadlock"
        }
        (Starved::OverAwait { .. }, _) => {
            "take and use the connection inside one function that runs in a thread; a larger pool or a longer timeout \
             only delays the deadlock"
        }
        (Starved::OwnJob { .. }, _) => {
            "call it directly, use a separate pool, or wait outside of the pool; a larger pool only delays the deadlock"
        }
        (Starved::SecondConnection { .. }, _) => {
            "pass the first connection along, or release it before taking the second"
        }
    }
}

fn doubt(mistake: &Mistake) -> Option<&'static str> {
    Some(match mistake {
        Mistake::PoolStarvation(Starved::SecondConnection { .. } | Starved::OwnJob { .. }) => {
            "the other one is several calls away"
        }
        Mistake::UnboundedOffload { unbounded: Unbounded::PerItem, .. } => {
            "the number of simultaneous items is inferred"
        }
        Mistake::UnboundedOffload { unbounded: Unbounded::PerEntry(_), .. } => {
            "the number of simultaneous calls is inferred from the callers"
        }
        Mistake::UnboundedOffload { unbounded: Unbounded::Endless, .. } => {
            "the analysis only infers that the work never ends"
        }
        _ => return None,
    })
}
