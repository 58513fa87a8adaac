//! The choice of a finding's fix, as a [`Remedy`]. The front end of the language writes the edit, or refuses it.

use blocklint_core::{
    Applicability, Bound, BoundCall, BoundUse, EditKind, Effect, FixKind, Language, Offload, Piece, Refusal, Remedy,
    Runtime, last_name,
};

use crate::{SiteForm, Subject};

/// The advice of a model row about edits of a finding's call, as plain data: `RowAdvice` of the analysis without
/// references.
#[derive(Clone, Debug, Default)]
pub struct Advice {
    /// The text that replaces the call.
    pub rewrite: Option<Vec<Piece>>,
    /// The only kind of fix that is right for the call, if the row restricts it.
    pub kind: Option<FixKind>,
    /// True if the call only builds a lazy result, and the code that consumes the result blocks.
    pub lazy: bool,
    /// True if the function that expects a callable (BLT403) forwards further arguments to the callable.
    pub forwards_arguments: bool,
    /// True if the call returns a coroutine.
    pub returns_coroutine: bool,
    /// The call, or a call that it reaches, that cannot move to another thread.
    pub bound: Option<BoundCall>,
    /// The library's method that takes the lambda around the call (Java).
    pub taker: Option<String>,
    /// True if the twin has the same result type and failures as the call.
    pub twin_returns_same: bool,
    /// The availability of the twin in the build of the file.
    pub twin_availability: Availability,
    /// The availability of the function that runs a call in a thread, in the build of the file.
    pub pool_availability: Availability,
    /// The functions between the finding and the call that can become `async` together, or the reason why they cannot;
    /// `None` if the call is direct.
    pub chain: Option<Result<AsyncHelpers, Refusal>>,
}

/// The functions on a path that can become `async` together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsyncHelpers {
    /// True if a loop calls one of them, so that a fix by a thread would switch threads in each iteration.
    pub hops_in_loop: bool,
}

/// Returns the refusal of an edit that would move a call from its thread, loop or task.
pub fn refusal_of_bound(bound: &BoundCall) -> Refusal {
    let call = &bound.call;
    let reason = match (bound.to, bound.how) {
        (_, BoundUse::Returned) => {
            format!("it returns a `{call}`, which belongs to the running loop and is awaited there")
        }
        (Bound::ContextRead | Bound::Context, BoundUse::Entered | BoundUse::EnteredUnknown) => {
            format!("`{call}` sets the context of this task, which threads do not receive before Python 3.9")
        }
        (_, BoundUse::Entered) => {
            format!("`with {call}` affects only the thread that enters it")
        }
        (_, BoundUse::EnteredUnknown) => {
            format!("`with {call}` may affect only the thread that enters it")
        }
        (Bound::Thread | Bound::Block, BoundUse::Made) => {
            format!("it creates a `{call}`, which works only in the thread that creates it")
        }
        (Bound::Thread | Bound::Block, BoundUse::Used) => {
            format!("it uses a `{call}` that was created in this thread and works in no other")
        }
        (Bound::Thread | Bound::Block, BoundUse::Called) => {
            format!("`{call}` works only in the thread that calls it now")
        }
        (Bound::Loop, BoundUse::Made) => {
            format!("it creates a `{call}`, whose coroutines belong to the running loop")
        }
        (Bound::Loop, BoundUse::Used) => {
            format!("it uses a `{call}`, which belongs to the running loop")
        }
        (Bound::Loaded, BoundUse::Called) => {
            format!("`{call}` runs code that is loaded at run time and may need this thread")
        }
        (Bound::Loaded, BoundUse::Used | BoundUse::Made) => {
            format!("it uses a `{call}`, whose code is loaded at run time and may need this thread")
        }
        (Bound::Loop, BoundUse::Called) => format!("`{call}` needs the thread of the running loop"),
        (Bound::Context, BoundUse::Used | BoundUse::Made) => {
            format!("it uses a `{call}`, which belongs to the calling task")
        }
        (Bound::ContextRead, _) => {
            format!("`{call}` reads the context of this task, which threads do not receive before Python 3.9")
        }
        (Bound::Nothing, _) => format!("`{call}` must stay in this thread"),
        (Bound::Context, BoundUse::Called) => format!("`{call}` changes state of the calling task"),
    };
    Refusal::with_place(reason, bound.place.clone())
}

/// The availability of a function that an edit would call, according to the manifests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Availability {
    /// No manifest shows it.
    #[default]
    Unknown,
    /// The build has the function.
    Available,
    /// The manifest must enable a feature first: "feature `a` of `b`".
    MissingFeature(String),
    /// Only a newer version of the library has the function: "`a` 2, and 1 is what the build has".
    NeedsNewerVersion(String),
    /// The build depends on this other runtime as well, and no code shows which of them runs the call.
    AmbiguousRuntime(String),
    /// The build does not depend on the function's library.
    Unavailable,
}

/// The refusal of a rule that has no edit in a language.
pub(crate) const NO_EDIT: &str = "no edit is known";

/// The refusal of an edit for a rule about greenlets.
pub(crate) const NO_GREENLETS: &str = "Rust has no greenlets";

/// Returns the remedy of a finding: the kinds of edit that can fix it, best first.
///
/// # Errors
///
/// Returns the reason if no edit is right.
pub fn choose_remedy(subject: &Subject<'_>, advice: &Advice) -> Result<Remedy, Refusal> {
    if let Some(remedy) = subject.rule.mistake_words.and_then(|mistake| (mistake.remedy)(subject, advice)) {
        return remedy;
    }
    let refuse = |reason: &str| Err(Refusal::new(reason));
    match subject.language {
        Language::Python => {}
        Language::Java => return crate::remedy_java::choose_java_remedy(subject, advice),
        Language::Rust => return crate::remedy_rust::choose_rust_remedy(subject, advice),
    }
    match subject.site {
        SiteForm::HandOver => return refuse("the function is only passed here: its body must change"),
        SiteForm::Implicit => {
            return refuse("there is no call here: a property, an operator, `with`, `for` or an import runs the code");
        }
        SiteForm::Call => {}
    }
    if !subject.owner.kind.is_async() {
        return refuse("the function is not `async`, so it cannot `await`");
    }
    if advice.kind == Some(FixKind::None) {
        return refuse("no model describes a correct edit of this call");
    }
    let mut edit_kinds = Vec::new();
    let is_newer = |availability: &Availability| matches!(availability, Availability::NeedsNewerVersion(_));
    if advice.kind != Some(FixKind::Offload) && subject.is_direct && !is_newer(&advice.twin_availability) {
        match (&advice.rewrite, subject.twin) {
            (Some(template), _) => edit_kinds.push(EditKind::Rewrite { template: template.clone() }),
            // A sleep has no other fix than its twin: moving it to a thread is no fix.
            (None, Some(twin)) if twin.is_local && !advice.lazy && subject.rule.effect == Some(Effect::Sleep) => {
                let edit_kind = EditKind::Twin {
                    path: twin.path.to_owned(),
                    is_method: false,
                    same_effect: true,
                    requirement: None,
                };
                return Ok(Remedy { edit_kinds: vec![edit_kind], at_most: Applicability::Safe });
            }
            (None, Some(twin)) if twin.is_local && !advice.lazy => edit_kinds.push(EditKind::Twin {
                path: twin.path.to_owned(),
                is_method: twin.path.rsplit_once('.').map(|(parent, _)| parent)
                    == subject.call.rsplit_once('.').map(|(parent, _)| parent),
                same_effect: false,
                requirement: None,
            }),
            _ => {}
        }
    }
    let mut at_most = Applicability::Safe;
    if let Some(bound) = advice.bound.as_ref().filter(|_| edit_kinds.is_empty()) {
        return Err(refusal_of_bound(bound));
    }
    if let Availability::NeedsNewerVersion(what) = &advice.pool_availability
        && edit_kinds.is_empty()
    {
        return Err(Refusal::new(format!("running calls in a thread needs {what}")));
    }
    if advice.kind != Some(FixKind::Twin)
        && !subject.holds_gil
        && advice.bound.is_none()
        && !is_newer(&advice.pool_availability)
    {
        let lazy = advice.lazy && subject.is_direct;
        // Another thread can run an event loop, but the coroutine was written for the loop of this thread.
        let nested = subject.rule.effect == Some(Effect::NestedLoop);
        if !(lazy || nested && subject.is_direct) {
            // The edit is only displayed: an interrupted program whose thread waits for input ends only when a person
            // has typed the line.
            let waits_for_input = subject.rule.effect == Some(Effect::Input);
            if edit_kinds.is_empty()
                && (waits_for_input
                    || nested
                    || is_acquire(subject)
                    || advice.kind.is_none() && is_database_step(subject))
            {
                at_most = Applicability::Display;
            }
            edit_kinds.push(EditKind::Offload { functions: thread_functions(subject.runtime) });
        } else if lazy && edit_kinds.is_empty() {
            return refuse("the call only builds a lazy result: the code that consumes it blocks");
        }
    }
    if let Availability::NeedsNewerVersion(what) = &advice.twin_availability
        && edit_kinds.is_empty()
    {
        return Err(Refusal::new(format!("its replacement needs {what}")));
    }
    match edit_kinds.is_empty() {
        false => Ok(Remedy { edit_kinds, at_most }),
        true if subject.holds_gil => refuse("a thread would not help, because the call keeps the GIL"),
        true => refuse("the surrounding code must await the coroutine"),
    }
}

/// True if the call acquires a lock (`lock.acquire()`), which a worker thread would own instead of this thread.
fn is_acquire(subject: &Subject<'_>) -> bool {
    subject.is_direct && subject.rule.effect == Some(Effect::Wait) && last_name(subject.call) == "acquire"
}

/// True if the call is one step of work with a database. Connections and transactions often belong to the thread that
/// created them, so that all steps can move to a thread together, but no single step can.
fn is_database_step(subject: &Subject<'_>) -> bool {
    subject.is_direct && subject.rule.effect == Some(Effect::Database)
}

/// Returns the functions that run a call in a worker thread of a runtime (Python), best first.
fn thread_functions(runtime: Option<Runtime>) -> Vec<Offload> {
    let functions = Runtime::thread_functions(runtime).iter();
    functions.map(|&(path, keywords)| Offload { path: path.to_owned(), keywords, fallible: false }).collect()
}
