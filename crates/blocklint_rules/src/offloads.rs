//! The words of BLT401 and BLT402: threads without a bound, connections that are held too long.

use blocklint_core::{Language, Refusal, Remedy, Starved, Unbounded, What};

use crate::Advice;
use crate::remedy::NO_EDIT;
use crate::rule::Mistake;
use crate::words::{Subject, Words, one_line};

pub(crate) static WORDS: Mistake = Mistake { words, remedy, doubt };

fn words(raw: &Subject<'_>) -> Option<Words> {
    Some(match raw.what {
        What::Offloads { unbounded, takes } => Words {
            message: offload_message(raw.language, raw.written, unbounded, takes.as_deref()),
            notes: vec![offload_why(raw.language, unbounded, takes.as_deref()).to_owned()],
            help: Some(offload_help(raw.language, unbounded).to_owned()),
        },
        What::Starves(starved) => Words {
            message: starved_message(raw.written, raw.call, starved, &raw.owner.words()),
            notes: vec![starved_why(starved).to_owned()],
            help: Some(starved_help(raw.language, starved).to_owned()),
        },
        _ => return None,
    })
}

fn remedy(raw: &Subject<'_>, _: &Advice) -> Option<Result<Remedy, Refusal>> {
    let reason = match (raw.what, raw.language) {
        (What::Starves(_) | What::Offloads { .. }, Language::Rust) => {
            "what bounds the work, and who holds the connection, is for the program to say"
        }
        (What::Starves(_) | What::Offloads { .. }, Language::Java) => NO_EDIT,
        (What::Starves(Starved::OwnJob { .. }), _) => "where a job runs is for the program to say",
        (What::Starves(_), _) => "what is done with the connection must move to a thread as a whole",
        (What::Offloads { .. }, _) => "how much may run at once is for the program to say",
        _ => return None,
    };
    Some(Err(Refusal::new(reason)))
}

/// Returns the message of a hand-over, in one sentence without a full stop.
fn offload_message(language: Language, written: &str, unbounded: &Unbounded, takes: Option<&str>) -> String {
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

/// Returns the sentence on why it matters.
fn offload_why(language: Language, unbounded: &Unbounded, takes: Option<&str>) -> &'static str {
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

/// Returns the sentence on what to do.
fn offload_help(language: Language, unbounded: &Unbounded) -> &'static str {
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

/// Returns the message of a connection that is held.
fn starved_message(written: &str, call: &str, starved: &Starved, owner: &str) -> String {
    let written = one_line(written);
    match starved {
        Starved::OverAwait { awaited } => {
            format!(
                "`{written}` waits in {owner} for a connection on the thread that runs tasks, and holds it over `await {}`",
                one_line(awaited)
            )
        }
        Starved::Second { first } => {
            format!(
                "`{call}` takes a second connection of the pool in {owner} while that of `{}` is held",
                one_line(first)
            )
        }
        Starved::OwnJob { handed } => {
            format!("`{written}` waits in {owner} for what `{}` hands to the pool that runs it", one_line(handed))
        }
    }
}

/// Returns the sentence on why it matters.
fn starved_why(starved: &Starved) -> &'static str {
    match starved {
        Starved::OverAwait { .. } => {
            "when all connections are out, tasks that wait for one hold the threads on which their holders would go on and give \
             theirs back: the program stands still"
        }
        Starved::Second { .. } => {
            "when all connections are held by such tasks, each waits for another one's, for ever or until the time is up"
        }
        Starved::OwnJob { .. } => {
            "when all threads of the pool run such jobs, each waits for one that no thread is left for: none ever ends"
        }
    }
}

/// Returns the sentence on what to do.
fn starved_help(language: Language, starved: &Starved) -> &'static str {
    match (starved, language) {
        (Starved::OverAwait { .. }, Language::Rust) => {
            "take the connection and use it inside one `spawn_blocking(move || …).await`; a larger pool or a longer timeout only \
             delays it"
        }
        (Starved::OverAwait { .. }, _) => {
            "take the connection and use it inside one function that is handed to a thread as a whole; a larger pool or a longer \
             timeout only delays it"
        }
        (Starved::OwnJob { .. }, _) => {
            "call it in place, give it a pool of its own, or let what waits run elsewhere; a larger pool only delays it"
        }
        (Starved::Second { .. }, _) => "pass the first connection on, or give it back before the second one is taken",
    }
}

fn doubt(what: &What) -> Option<&'static str> {
    Some(match what {
        What::Starves(Starved::Second { .. } | Starved::OwnJob { .. }) => "the other one is some calls away",
        What::Offloads { unbounded: Unbounded::PerItem, .. } => "how many items there are at once is inferred",
        What::Offloads { unbounded: Unbounded::PerEntry(_), .. } => {
            "how many of them run at once is inferred from code that calls it"
        }
        What::Offloads { unbounded: Unbounded::Endless, .. } => "that the work never ends is inferred",
        _ => return None,
    })
}
