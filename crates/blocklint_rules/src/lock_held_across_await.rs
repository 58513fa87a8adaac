//! BLT601 lock-held-across-await.

use blocklint_core::{Language, Refusal, Remedy, RuleCode, Runtime, What};

use crate::remedy::NO_EDIT;
use crate::rule::Mistake;
use crate::words::{Subject, Words, one_line};
use crate::{Advice, Rule};

/// Holding a thread's lock while the task is suspended.
pub(crate) static LOCK_HELD_ACROSS_AWAIT: Rule = Rule {
    code: RuleCode::LOCK_HELD_ACROSS_AWAIT,
    name: "lock-held-across-await",
    summary: "a thread's lock is held over an await",
    page: include_str!("../../../rules/BLT601-lock-held-across-await.md"),
    effect: None,
    noun: "lock held across await",
    mistake: Some(&WORDS),
};

static WORDS: Mistake = Mistake { words, remedy, doubt: |_| None };

fn words(raw: &Subject<'_>) -> Option<Words> {
    let What::LockOverAwait { awaited, reentrant } = raw.what else { return None };
    let (written, awaited, owner, call) = (one_line(raw.written), one_line(awaited), raw.owner.words(), raw.call);
    let message = match (raw.language, reentrant) {
        (Language::Rust, _) => format!("what `{written}` gives (`{call}`) is held over `{awaited}.await` in {owner}"),
        (_, true) => {
            format!("re-entrant lock `{written}` is held over `await {awaited}` in {owner} and keeps no other task out")
        }
        (_, false) => format!("lock `{written}` is held over `await {awaited}` in {owner}"),
    };
    let why = match reentrant {
        true => {
            "all tasks of the event loop run on the thread that has the lock: it lets each of them in, and only other threads \
             wait until this task has gone on"
        }
        false => {
            "whoever takes the lock meanwhile holds the event loop, so that this task cannot go on and let go of it"
        }
    };
    Some(Words { message, notes: vec![why.to_owned()], help: Some(help(raw)) })
}

/// A lock that tasks can wait for.
fn help(raw: &Subject<'_>) -> String {
    let lock = match (raw.language, raw.runtime) {
        (_, Some(Runtime::Trio)) => "`trio.Lock`",
        (_, Some(Runtime::Anyio)) => "`anyio.Lock`",
        (Language::Python, _) => "`asyncio.Lock`",
        (Language::Rust, _) => "the runtime's own `Mutex`",
        (Language::Java, _) => "a lock that does not block",
    };
    format!("let go of the lock before the `await`, or use {lock} wherever it is taken")
}

fn remedy(raw: &Subject<'_>, _: &Advice) -> Option<Result<Remedy, Refusal>> {
    let What::LockOverAwait { .. } = raw.what else { return None };
    Some(Err(Refusal::new(match raw.language {
        Language::Python => "a lock that tasks can wait for must take its place wherever it is taken",
        Language::Rust => "where the guard can be let go is for the program to say",
        Language::Java => NO_EDIT,
    })))
}
