//! The sentences and edits of BLT501 and BLT502: threads and connections that are created more often than necessary.

use blocklint_core::{Applicability, CreatedKind, CreatedPer, EditKind, Language, Mistake, Refusal, Remedy, Runtime};

use crate::remedy::{Availability, NO_EDIT};
use crate::rule::MistakeWords;
use crate::words::{FindingText, Subject};
use crate::{Advice, SiteForm};

pub(crate) static WORDS: MistakeWords = MistakeWords { words, remedy, doubt };

fn words(subject: &Subject<'_>) -> Option<FindingText> {
    let Mistake::CreatedRepeatedly { made, occasion, owner } = subject.mistake else { return None };
    Some(FindingText {
        message: message(*made, *occasion, owner, subject.call),
        notes: vec![why(*made, *occasion).to_owned()],
        help: Some(help(*made, subject.language, subject.call).to_owned()),
    })
}

fn remedy(subject: &Subject<'_>, advice: &Advice) -> Option<Result<Remedy, Refusal>> {
    let Mistake::CreatedRepeatedly { made, .. } = subject.mistake else { return None };
    let refuse = |reason: &str| Some(Err(Refusal::new(reason)));
    match (subject.language, made) {
        (Language::Python, CreatedKind::Threads) if subject.site == SiteForm::Call => {
            Some(Ok(Remedy { edit_kinds: vec![EditKind::ShareInModule], at_most: Applicability::Unsafe }))
        }
        (Language::Java, CreatedKind::Threads) => {
            let Some(publishers) = Runtime::publishers(Some(Runtime::Reactor)) else { return refuse(NO_EDIT) };
            if let Availability::NeedsNewerVersion(what) = &advice.pool_availability {
                return refuse(&format!("a shared bounded scheduler needs {what}"));
            }
            Some(Ok(Remedy { edit_kinds: vec![EditKind::Share { publishers }], at_most: Applicability::Unsafe }))
        }
        _ => refuse("the place that creates and shuts down the shared object must be chosen by hand"),
    }
}

/// Returns the message, in one sentence without a full stop.
fn message(kind: CreatedKind, occasion: CreatedPer, owner: &str, call: &str) -> String {
    let action = match kind {
        CreatedKind::Threads => "creates threads",
        CreatedKind::Connections => "opens connections",
    };
    match occasion {
        CreatedPer::PerEntry => format!("`{call}` {action} for each request to `{owner}`"),
        CreatedPer::PerItem => format!("`{call}` {action} for each item in `{owner}`"),
        CreatedPer::PerInstance { .. } => format!("`{call}` {action} for each instance of `{owner}`"),
        CreatedPer::PerCall => format!("`{call}` {action} in each call of `{owner}`"),
    }
}

/// Returns the note that says why it matters.
fn why(kind: CreatedKind, occasion: CreatedPer) -> &'static str {
    match (kind, occasion) {
        (CreatedKind::Threads, CreatedPer::PerInstance { .. }) => {
            "the number of threads grows with the number of instances, even if each instance shuts its own down"
        }
        (CreatedKind::Threads, _) => {
            "threads are started and stopped each time, with no limit on how many exist at once"
        }
        (CreatedKind::Connections, _) => {
            "each one opens new connections (TCP and TLS handshakes), with no limit on how many exist at once"
        }
    }
}

/// Returns the help.
fn help(kind: CreatedKind, language: Language, call: &str) -> &'static str {
    match (kind, language) {
        // The text of a call without a scheduler's name does not show its kind, so the advice holds for both.
        (CreatedKind::Threads, Language::Java) if call.contains("cheduler") => {
            "share one: `private static final Scheduler SHARED = Schedulers.newBoundedElastic(…)`; then remove `dispose()` of the \
             scheduler, keep the `Disposable` of each subscription and dispose that in `close()`"
        }
        (CreatedKind::Threads, Language::Java) => {
            "share one: in a `private static final` field that no instance shuts down, or passed in"
        }
        (CreatedKind::Threads, Language::Python) => {
            "share one: create it once for the module or application and pass it in; no instance shuts it down"
        }
        (CreatedKind::Threads, Language::Rust) => {
            "share one: pass in a `Handle` of the application's runtime, or keep one in a `LazyLock`"
        }
        (CreatedKind::Connections, Language::Python) => {
            "create it once at start-up and share it: in the application's state, a module or a cached dependency"
        }
        (CreatedKind::Connections, _) => "create it once at start-up and share it: it is designed to be shared",
    }
}

fn doubt(mistake: &Mistake) -> Option<&'static str> {
    let Mistake::CreatedRepeatedly { occasion, .. } = mistake else { return None };
    Some(match occasion {
        CreatedPer::PerEntry | CreatedPer::PerItem => "the number of creations is inferred from the callers",
        CreatedPer::PerInstance { is_shown: true } => {
            "the number of instances is inferred from the code that creates them"
        }
        CreatedPer::PerInstance { is_shown: false } => "the code does not show how many instances exist",
        CreatedPer::PerCall => "the code does not show how often the function is called",
    })
}
