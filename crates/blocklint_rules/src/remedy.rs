//! Which fix a finding asks for. How it is written, and whether it can be, is the front end's matter.

use blocklint_core::{
    Applicability, Effect, Language, Offload, Piece, Place, Refusal, Remedy, Runtime, Way, last_name,
};

use crate::{Made, RawFinding, SiteKind, What};

/// What the model row of a finding says about mending it.
#[derive(Clone, Debug, Default)]
pub struct Advice {
    /// The text in place of the call.
    pub rewrite: Option<Vec<Piece>>,
    /// The only kind of fix that is right.
    pub kind: Option<FixKind>,
    /// The call only builds: what consumes its result blocks.
    pub lazy: bool,
    /// The call that takes a result instead of a callable would pass arguments on to the callable.
    pub passes: bool,
    /// The call gives a coroutine.
    pub gives_coroutine: bool,
    /// What is called, or something below it, cannot move to another thread.
    pub bound: Option<BoundCall>,
    /// The library's method that is given the lambda in which the call stands.
    pub taker: Option<String>,
    /// The twin gives what the call gives, and can fail in the same way.
    pub same: bool,
    /// Whether the twin can be called there.
    pub twin: Reach,
    /// Whether what hands a call to a thread can be called there.
    pub pool: Reach,
    /// Whether the functions on the way can become `async` together; none where none stands between.
    pub chain: Option<Result<Helpers, Refusal>>,
}

/// Functions that can become `async` together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Helpers {
    /// A call in a loop would hop to a thread on each turn.
    pub hops: bool,
}

/// A call, or a use of a value, that cannot move to another thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundCall {
    /// To what it belongs.
    pub to: BoundTo,
    /// What is done with it.
    pub how: BoundUse,
    /// The path of the call or of the value's type.
    pub call: String,
    /// Where it stands.
    pub place: Place,
}

/// What is done with something that belongs to its thread, loop or task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundUse {
    /// It is called.
    Called,
    /// It is a value that was made elsewhere, and is used.
    Used,
    /// It is a value that is made, and outlives the call.
    Made,
    /// It is a value that the call gives, and that is awaited.
    Given,
    /// It is entered by a `with` block around the call, which stays.
    Entered,
    /// The same, and nobody knows what that does.
    EnteredUnknown,
}

/// To what something belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundTo {
    /// The thread in which it is made or called.
    Thread,
    /// The event loop's thread.
    Loop,
    /// The task or context that calls it.
    Context,
    /// The same, which it only asks.
    Asked,
    /// To what nobody sees: code that is loaded while the program runs.
    Loaded,
    /// The thread that enters a `with` block.
    Block,
}

impl BoundCall {
    /// Why what holds this call does not move.
    pub fn refusal(&self) -> Refusal {
        let call = &self.call;
        let reason = match (self.to, self.how) {
            (_, BoundUse::Given) => {
                format!("it gives a `{call}`, which is awaited on the running loop and belongs there")
            }
            (BoundTo::Asked | BoundTo::Context, BoundUse::Entered | BoundUse::EnteredUnknown) => {
                format!("`{call}` sets the context of this task, which no thread is given before Python 3.9")
            }
            (_, BoundUse::Entered) => {
                format!("what `with {call}` sets holds in the thread that enters it, and stays in this one")
            }
            (_, BoundUse::EnteredUnknown) => {
                format!("nothing shows that what `with {call}` sets would hold in another thread")
            }
            (BoundTo::Thread | BoundTo::Block, BoundUse::Made) => {
                format!("it makes a `{call}`, which works only in the thread in which it is made")
            }
            (BoundTo::Thread | BoundTo::Block, BoundUse::Used) => {
                format!("a `{call}` that was made in this thread is used, and works in no other")
            }
            (BoundTo::Thread | BoundTo::Block, BoundUse::Called) => {
                format!("`{call}` works only in the thread in which it is called now")
            }
            (BoundTo::Loop, BoundUse::Made) => {
                format!("it makes a `{call}`, whose coroutines belong to the running loop")
            }
            (BoundTo::Loop, BoundUse::Used) => {
                format!("a `{call}` is used, which belongs to the running loop")
            }
            (BoundTo::Loaded, BoundUse::Called) => {
                format!("`{call}` runs code that is loaded while the program runs, and nobody sees what that needs")
            }
            (BoundTo::Loaded, BoundUse::Used | BoundUse::Made) => {
                format!(
                    "a `{call}` is used, whose code is loaded while the program runs, and nobody sees what that needs"
                )
            }
            (BoundTo::Loop, BoundUse::Called) => format!("`{call}` needs the thread of the running loop"),
            (BoundTo::Context, BoundUse::Used | BoundUse::Made) => {
                format!("a `{call}` is used, which belongs to the task that calls it")
            }
            (BoundTo::Asked, _) => {
                format!("`{call}` asks the context of this task, which no thread is given before Python 3.9")
            }
            (BoundTo::Context, BoundUse::Called) => format!("what `{call}` changes belongs to the task that calls it"),
        };
        Refusal::at(reason, self.place.clone())
    }
}

/// Whether an edit can call something, as far as manifests tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Nothing tells.
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

/// Kinds of fixes, as models name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixKind {
    /// The async twin.
    Twin,
    /// A worker thread.
    Offload,
    /// No edit is right.
    None,
}

/// Decides which fix a finding asks for.
///
/// # Errors
///
/// Why there is none.
pub fn remedy(raw: &RawFinding<'_>, advice: &Advice) -> Result<Remedy, Refusal> {
    let refuse = |reason: &str| Err(Refusal::new(reason));
    match raw.language {
        Language::Python => {}
        Language::Java => return crate::remedy_java::remedy(raw, advice),
        Language::Rust => return crate::remedy_rust::remedy(raw, advice),
    }
    match raw.what {
        What::Holds => {}
        What::CalledInstead { .. } => {
            if advice.gives_coroutine {
                return refuse("what is called is a coroutine function: await it, and take the thread away");
            }
            let ways = vec![Way::HandOver { passes: advice.passes }];
            return Ok(Remedy { ways, at_most: Applicability::Unsafe });
        }
        What::HoldsHub { adapter, .. } => {
            return match &advice.rewrite {
                _ if adapter.is_some() => refuse("one call at start-up makes all of the library's calls cooperative"),
                _ if raw.site != SiteKind::Call => refuse("no call is written here that could be handed over"),
                _ if raw.holds_gil => refuse("a thread would not free the hub"),
                _ if advice.lazy => refuse("the call only builds: what consumes its result holds the thread"),
                _ if advice.kind == Some(FixKind::None) => refuse("no edit of this call is right"),
                Some(template) => {
                    let ways = vec![Way::Rewrite { template: template.clone() }];
                    Ok(Remedy { ways, at_most: Applicability::Unsafe })
                }
                None => refuse("models know no pool of real threads for it"),
            };
        }
        What::LargeResponse(response) => return response.remedy(),
        What::LatePatch { .. } => return refuse("the order of imports is the program's own matter"),
        What::LockOverAwait { .. } => {
            return refuse("a lock that tasks can wait for must take its place wherever it is taken");
        }
        What::Starves(crate::offloads::Starved::OwnJob(_)) => {
            return refuse("where a job runs is for the program to say");
        }
        What::Starves(_) => return refuse("what is done with the connection must move to a thread as a whole"),
        What::Offloads { .. } => return refuse("how much may run at once is for the program to say"),
        What::MadeAnew { made: Made::Threads, .. } if raw.site == SiteKind::Call => {
            return Ok(Remedy { ways: vec![Way::ShareInModule], at_most: Applicability::Unsafe });
        }
        What::MadeAnew { .. } => {
            return refuse("where it is made once, and who ends it, is for the program to say");
        }
    }
    match raw.site {
        SiteKind::HandOver => return refuse("the function is handed over here, and what it does must change"),
        SiteKind::Implicit => {
            return refuse(
                "no call is written here: a property, an operator, `with`, `for` or an import runs the code",
            );
        }
        SiteKind::Call => {}
    }
    if !raw.owner.kind.is_async() {
        return refuse("the function is not `async`: nothing can be awaited in it");
    }
    if advice.kind == Some(FixKind::None) {
        return refuse("no edit of this call is right");
    }
    let mut ways = Vec::new();
    let is_newer = |reach: &Reach| matches!(reach, Reach::Newer(_));
    if advice.kind != Some(FixKind::Offload) && raw.direct && !is_newer(&advice.twin) {
        match (&advice.rewrite, raw.twin) {
            (Some(template), _) => ways.push(Way::Rewrite { template: template.clone() }),
            // To sleep in a thread is nobody's wish.
            (None, Some(twin)) if twin.local && !advice.lazy && raw.rule.effect == Some(Effect::Sleep) => {
                let way = Way::Twin { path: twin.path.to_owned(), method: false, same: true, needs: None };
                return Ok(Remedy { ways: vec![way], at_most: Applicability::Safe });
            }
            (None, Some(twin)) if twin.local && !advice.lazy => ways.push(Way::Twin {
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
    if let Some(bound) = advice.bound.as_ref().filter(|_| ways.is_empty()) {
        return Err(bound.refusal());
    }
    if let Reach::Newer(what) = &advice.pool
        && ways.is_empty()
    {
        return Err(Refusal::new(format!("what hands calls to a thread needs {what}")));
    }
    if advice.kind != Some(FixKind::Twin) && !raw.holds_gil && advice.bound.is_none() && !is_newer(&advice.pool) {
        let lazy = advice.lazy && raw.direct;
        // Inside another thread a loop can be run, but the coroutine was written for this one.
        let nested = raw.rule.effect == Some(Effect::NestedLoop);
        if !(lazy || nested && raw.direct) {
            // A person decides: once the line is awaited in a thread, a program that is interrupted ends only when it was typed.
            let asks = raw.rule.effect == Some(Effect::Input);
            if ways.is_empty() && (asks || nested || is_acquire(raw) || advice.kind.is_none() && is_part_of_work(raw)) {
                at_most = Applicability::Display;
            }
            ways.push(Way::Offload { to: offloads(raw.runtime) });
        } else if lazy && ways.is_empty() {
            return refuse("the call only builds: what consumes its result holds the thread");
        }
    }
    if let Reach::Newer(what) = &advice.twin
        && ways.is_empty()
    {
        return Err(Refusal::new(format!("what takes its place needs {what}")));
    }
    match ways.is_empty() {
        false => Ok(Remedy { ways, at_most }),
        true if raw.holds_gil => refuse("a thread would not free the event loop"),
        true => refuse("the coroutine must be awaited by the code around it"),
    }
}

/// Whether the call takes a lock: another thread would own it.
fn is_acquire(raw: &RawFinding<'_>) -> bool {
    raw.direct && raw.rule.effect == Some(Effect::Wait) && last_name(raw.call) == "acquire"
}

/// Whether the call is one step of work with a database. Connections and transactions often belong to the thread that made
/// them: the work as a whole can move to one, its steps one by one cannot.
fn is_part_of_work(raw: &RawFinding<'_>) -> bool {
    raw.direct && raw.rule.effect == Some(Effect::Database)
}

/// How a runtime hands a call to a thread: what is used where the file imports it, and what else.
fn offloads(runtime: Option<Runtime>) -> Vec<Offload> {
    let functions = Runtime::thread_functions(runtime).iter();
    functions.map(|&(path, keywords)| Offload { path: path.to_owned(), keywords, fallible: false }).collect()
}
