//! BLT601 lock-held-across-await.

use blocklint_core::{Language, Mistake, Refusal, Remedy, RuleCode, Runtime};

use crate::remedy::NO_EDIT;
use crate::rule::MistakeWords;
use crate::words::{FindingText, Subject, one_line};
use crate::{Advice, Rule};

/// Reports a thread's lock that is held while the task is suspended.
pub(crate) static LOCK_HELD_ACROSS_AWAIT: Rule = Rule {
    code: RuleCode::LOCK_HELD_ACROSS_AWAIT,
    name: "lock-held-across-await",
    summary: "a thread's lock is held over an await",
    page: include_str!("../../../rules/BLT601-lock-held-across-await.md"),
    effect: None,
    noun: "lock held across await",
    mistake_words: Some(&WORDS),
};

static WORDS: MistakeWords = MistakeWords { words, remedy, doubt: |_| None };

fn words(subject: &Subject<'_>) -> Option<FindingText> {
    let Mistake::LockHeldAcrossAwait { awaited, reentrant } = subject.mistake else { return None };
    let (written, awaited, owner, call) =
        (one_line(subject.written), one_line(awaited), subject.owner.words(), subject.call);
    let message = match (subject.language, reentrant) {
        (Language::Rust, _) => {
            format!("the guard of `{written}` (`{call}`) is held across `{awaited}.await` in {owner}")
        }
        (_, true) => {
            format!(
                "re-entrant lock `{written}` is held across `await {awaited}` in {owner} and does not exclude other tasks"
            )
        }
        (_, false) => format!("lock `{written}` is held across `await {awaited}` in {owner}"),
    };
    let why = if *reentrant {
        "all tasks of the event loop share one thread, so the re-entrant lock lets each of them in; only other threads wait"
    } else {
        "a task that tries to take the lock meanwhile blocks the event loop, so this task cannot resume and release it"
    };
    Some(FindingText { message, notes: vec![why.to_owned()], help: Some(help(subject)) })
}

/// Returns the help, with the lock of the runtime for which tasks can wait.
fn help(subject: &Subject<'_>) -> String {
    let lock = match (subject.language, subject.runtime) {
        (_, Some(Runtime::Trio)) => "`trio.Lock`",
        (_, Some(Runtime::Anyio)) => "`anyio.Lock`",
        (Language::Python, _) => "`asyncio.Lock`",
        (Language::Rust, _) => "the runtime's own `Mutex`",
        (Language::Java, _) => "a lock that does not block",
    };
    format!("release the lock before the `await`, or use {lock} everywhere it is taken")
}

fn remedy(subject: &Subject<'_>, _: &Advice) -> Option<Result<Remedy, Refusal>> {
    let Mistake::LockHeldAcrossAwait { .. } = subject.mistake else { return None };
    Some(Err(Refusal::new(match subject.language {
        Language::Python => "the lock must be replaced by an async lock at every place that takes it",
        Language::Rust => "the place to release the guard must be chosen by hand",
        Language::Java => NO_EDIT,
    })))
}
