//! The words of BLT501 and BLT502: threads and connections that are made more often than they need to be.

use blocklint_core::{Applicability, CreatedKind, CreatedPer, EditKind, Language, Mistake, Refusal, Remedy, Runtime};

use crate::remedy::{Availability, NO_EDIT};
use crate::rule::MistakeWords;
use crate::words::{FindingText, Subject};
use crate::{Advice, SiteForm};

pub(crate) static WORDS: MistakeWords = MistakeWords { words, remedy, doubt };

fn words(raw: &Subject<'_>) -> Option<FindingText> {
    let Mistake::CreatedRepeatedly { made, anew, of } = raw.mistake else { return None };
    Some(FindingText {
        message: message(*made, *anew, of, raw.call),
        notes: vec![why(*made, *anew).to_owned()],
        help: Some(help(*made, raw.language, raw.call).to_owned()),
    })
}

fn remedy(raw: &Subject<'_>, advice: &Advice) -> Option<Result<Remedy, Refusal>> {
    let Mistake::CreatedRepeatedly { made, .. } = raw.mistake else { return None };
    let refuse = |reason: &str| Some(Err(Refusal::new(reason)));
    match (raw.language, made) {
        (Language::Python, CreatedKind::Threads) if raw.site == SiteForm::Call => {
            Some(Ok(Remedy { edit_kinds: vec![EditKind::ShareInModule], at_most: Applicability::Unsafe }))
        }
        (Language::Java, CreatedKind::Threads) => {
            let Some(of) = Runtime::publishers(Some(Runtime::Reactor)) else { return refuse(NO_EDIT) };
            if let Availability::Newer(what) = &advice.pool_availability {
                return refuse(&format!("a shared bounded scheduler needs {what}"));
            }
            Some(Ok(Remedy { edit_kinds: vec![EditKind::Share { of }], at_most: Applicability::Unsafe }))
        }
        _ => refuse("the place that creates and shuts down the shared object must be chosen by hand"),
    }
}

/// Returns the message, in one sentence without a full stop.
fn message(made: CreatedKind, anew: CreatedPer, of: &str, call: &str) -> String {
    let what = match made {
        CreatedKind::Threads => "creates threads",
        CreatedKind::Connections => "opens connections",
    };
    match anew {
        CreatedPer::PerEntry => format!("`{call}` {what} for each request to `{of}`"),
        CreatedPer::PerItem => format!("`{call}` {what} for each item in `{of}`"),
        CreatedPer::PerInstance { .. } => format!("`{call}` {what} for each instance of `{of}`"),
        CreatedPer::PerCall => format!("`{call}` {what} in each call of `{of}`"),
    }
}

/// Returns the sentence on why it matters.
fn why(made: CreatedKind, anew: CreatedPer) -> &'static str {
    match (made, anew) {
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

/// Returns the sentence on what to do.
fn help(made: CreatedKind, language: Language, call: &str) -> &'static str {
    match (made, language) {
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
    let Mistake::CreatedRepeatedly { anew, .. } = mistake else { return None };
    Some(match anew {
        CreatedPer::PerEntry | CreatedPer::PerItem => "how often it is made is inferred from code that calls it",
        CreatedPer::PerInstance { is_shown: true } => {
            "how many instances there are is inferred from code that makes them"
        }
        CreatedPer::PerInstance { is_shown: false } => "nothing shows how many instances there are",
        CreatedPer::PerCall => "nothing shows how often the function is called",
    })
}
