//! Which fix a finding asks for. How it is written, and whether it can be, is the front end's matter.

use blocklint_core::{
    Applicability, Bound, BoundCall, BoundUse, EditKind, Effect, FixKind, Language, Offload, Piece, Refusal, Remedy,
    Runtime, last_name,
};

use crate::{SiteForm, Subject};

/// The advice of a model row about edits of a finding's call, as plain data: `RowAdvice` of the analysis without references.
#[derive(Clone, Debug, Default)]
pub struct Advice {
    /// The text in place of the call.
    pub rewrite: Option<Vec<Piece>>,
    /// The only kind of fix that is right.
    pub kind: Option<FixKind>,
    /// The call only builds: what consumes its result blocks.
    pub lazy: bool,
    /// The call that takes a result instead of a callable would pass arguments on to the callable.
    pub forwards_arguments: bool,
    /// The call returns a coroutine.
    pub returns_coroutine: bool,
    /// The call, or something below it, that cannot move to another thread.
    pub bound: Option<BoundCall>,
    /// The library's method that is given the lambda in which the call stands.
    pub taker: Option<String>,
    /// The twin returns what the call returns, and can fail in the same way.
    pub twin_returns_same: bool,
    /// The availability of the twin there.
    pub twin_availability: Availability,
    /// The availability there of the function that hands a call to a thread.
    pub pool_availability: Availability,
    /// The functions on the path that can become `async` together, or the reason why they cannot; none where none
    /// stands between.
    pub chain: Option<Result<Helpers, Refusal>>,
}

/// Functions that can become `async` together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Helpers {
    /// A call in a loop would hop to a thread on each turn.
    pub hops_in_loop: bool,
}

/// Returns the reason why the code around a call does not move.
pub fn refusal(bound: &BoundCall) -> Refusal {
    let call = &bound.call;
    let reason = match (bound.to, bound.how) {
        (_, BoundUse::Given) => {
            format!("it returns a `{call}`, which belongs to the running loop and is awaited there")
        }
        (Bound::ContextRead | Bound::Context, BoundUse::Entered | BoundUse::EnteredUnknown) => {
            format!("`{call}` sets the context of this task, which threads do not receive before Python 3.9")
        }
        (_, BoundUse::Entered) => {
            format!("`with {call}` affects only the thread that enters it")
        }
        (_, BoundUse::EnteredUnknown) => {
            format!("it is not known that `with {call}` would affect another thread")
        }
        (Bound::Thread | Bound::Block, BoundUse::Made) => {
            format!("it makes a `{call}`, which works only in the thread that creates it")
        }
        (Bound::Thread | Bound::Block, BoundUse::Used) => {
            format!("a `{call}` that was created in this thread is used, and works in no other")
        }
        (Bound::Thread | Bound::Block, BoundUse::Called) => {
            format!("`{call}` works only in the thread that calls it now")
        }
        (Bound::Loop, BoundUse::Made) => {
            format!("it makes a `{call}`, whose coroutines belong to the running loop")
        }
        (Bound::Loop, BoundUse::Used) => {
            format!("a `{call}` is used, which belongs to the running loop")
        }
        (Bound::Loaded, BoundUse::Called) => {
            format!("`{call}` runs code that is loaded at run time, whose needs are unknown")
        }
        (Bound::Loaded, BoundUse::Used | BoundUse::Made) => {
            format!("a `{call}` is used, whose code is loaded at run time and has unknown needs")
        }
        (Bound::Loop, BoundUse::Called) => format!("`{call}` needs the thread of the running loop"),
        (Bound::Context, BoundUse::Used | BoundUse::Made) => {
            format!("a `{call}` is used, which belongs to the task that calls it")
        }
        (Bound::ContextRead, _) => {
            format!("`{call}` reads the context of this task, which threads do not receive before Python 3.9")
        }
        (Bound::Nothing, _) => format!("`{call}` stays in this thread"),
        (Bound::Context, BoundUse::Called) => format!("`{call}` changes state of the task that calls it"),
    };
    Refusal::at(reason, bound.place.clone())
}

/// The availability of a function that an edit would call, as far as manifests show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Availability {
    /// Nothing shows it.
    #[default]
    Unknown,
    /// It can.
    Yes,
    /// The manifest must ask for this besides: "feature `a` of `b`".
    Needs(String),
    /// A newer version of the library has it: "`a` 2, and 1 is what the build has".
    Newer(String),
    /// It depends on another runtime as well, and nothing shows which runs the code.
    Beside(String),
    /// It does not depend on the library.
    No,
}

/// The refusal of an edit for a language in which a rule has none.
pub(crate) const NO_EDIT: &str = "no edit is known";

/// The refusal of an edit for a rule about greenlets.
pub(crate) const NO_GREENLETS: &str = "there are no greenlets in Rust";

/// Decides which fix a finding asks for.
///
/// # Errors
///
/// Why there is none.
pub fn remedy(raw: &Subject<'_>, advice: &Advice) -> Result<Remedy, Refusal> {
    if let Some(own) = raw.rule.words.and_then(|mistake| (mistake.remedy)(raw, advice)) {
        return own;
    }
    let refuse = |reason: &str| Err(Refusal::new(reason));
    match raw.language {
        Language::Python => {}
        Language::Java => return crate::remedy_java::remedy(raw, advice),
        Language::Rust => return crate::remedy_rust::remedy(raw, advice),
    }
    match raw.site {
        SiteForm::HandOver => return refuse("the function is only passed here: its body must change"),
        SiteForm::Implicit => {
            return refuse("there is no call here: a property, an operator, `with`, `for` or an import runs the code");
        }
        SiteForm::Call => {}
    }
    if !raw.owner.kind.is_async() {
        return refuse("the function is not `async`: nothing can be awaited in it");
    }
    if advice.kind == Some(FixKind::None) {
        return refuse("the models know no correct edit of this call");
    }
    let mut edit_kinds = Vec::new();
    let is_newer = |availability: &Availability| matches!(availability, Availability::Newer(_));
    if advice.kind != Some(FixKind::Offload) && raw.direct && !is_newer(&advice.twin_availability) {
        match (&advice.rewrite, raw.twin) {
            (Some(template), _) => edit_kinds.push(EditKind::Rewrite { template: template.clone() }),
            // No fix moves a sleep to a thread.
            (None, Some(twin)) if twin.is_local && !advice.lazy && raw.rule.effect == Some(Effect::Sleep) => {
                let edit_kind = EditKind::Twin { path: twin.path.to_owned(), method: false, same: true, needs: None };
                return Ok(Remedy { edit_kinds: vec![edit_kind], at_most: Applicability::Safe });
            }
            (None, Some(twin)) if twin.is_local && !advice.lazy => edit_kinds.push(EditKind::Twin {
                path: twin.path.to_owned(),
                method: twin.path.rsplit_once('.').map(|(parent, _)| parent)
                    == raw.call.rsplit_once('.').map(|(parent, _)| parent),
                same: false,
                needs: None,
            }),
            _ => {}
        }
    }
    let mut at_most = Applicability::Safe;
    if let Some(bound) = advice.bound.as_ref().filter(|_| edit_kinds.is_empty()) {
        return Err(refusal(bound));
    }
    if let Availability::Newer(what) = &advice.pool_availability
        && edit_kinds.is_empty()
    {
        return Err(Refusal::new(format!("running calls in a thread needs {what}")));
    }
    if advice.kind != Some(FixKind::Twin)
        && !raw.holds_gil
        && advice.bound.is_none()
        && !is_newer(&advice.pool_availability)
    {
        let lazy = advice.lazy && raw.direct;
        // Inside another thread a loop can be run, but the coroutine was written for this one.
        let nested = raw.rule.effect == Some(Effect::NestedLoop);
        if !(lazy || nested && raw.direct) {
            // A person decides: once the line is awaited in a thread, a program that is interrupted ends only when it was typed.
            let asks = raw.rule.effect == Some(Effect::Input);
            if edit_kinds.is_empty()
                && (asks || nested || is_acquire(raw) || advice.kind.is_none() && is_part_of_work(raw))
            {
                at_most = Applicability::Display;
            }
            edit_kinds.push(EditKind::Offload { to: offloads(raw.runtime) });
        } else if lazy && edit_kinds.is_empty() {
            return refuse("the call only builds a lazy result: the code that consumes it blocks");
        }
    }
    if let Availability::Newer(what) = &advice.twin_availability
        && edit_kinds.is_empty()
    {
        return Err(Refusal::new(format!("its replacement needs {what}")));
    }
    match edit_kinds.is_empty() {
        false => Ok(Remedy { edit_kinds, at_most }),
        true if raw.holds_gil => refuse("a thread would not help, because the call keeps the GIL"),
        true => refuse("the surrounding code must await the coroutine"),
    }
}

/// True if the call takes a lock: another thread would own it.
fn is_acquire(raw: &Subject<'_>) -> bool {
    raw.direct && raw.rule.effect == Some(Effect::Wait) && last_name(raw.call) == "acquire"
}

/// True if the call is one step of work with a database. Connections and transactions often belong to the thread that made
/// them: the work as a whole can move to one, its steps one by one cannot.
fn is_part_of_work(raw: &Subject<'_>) -> bool {
    raw.direct && raw.rule.effect == Some(Effect::Database)
}

/// Returns how a runtime hands a call to a thread: what is used where the file imports it, and what else.
fn offloads(runtime: Option<Runtime>) -> Vec<Offload> {
    let functions = Runtime::thread_functions(runtime).iter();
    functions.map(|&(path, keywords)| Offload { path: path.to_owned(), keywords, fallible: false }).collect()
}
