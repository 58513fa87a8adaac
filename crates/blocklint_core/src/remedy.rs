//! Remedies of findings: the kinds of edit (`EditKind`) that a rule chooses, and the results of writing them
//! (`WrittenEdit`, `Refusal`). The front end of the language writes the edits on a fresh parse of the file.

use serde::{Deserialize, Serialize};

use crate::{Applicability, Bound, Edit, Fix, Place, Span};

/// The kinds of edit that can fix a finding, in order of preference: the first that can be written is its fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// The kinds of edit, best first; never empty.
    pub edit_kinds: Vec<EditKind>,
    /// The upper limit of the fix's applicability, whatever its preconditions show.
    pub at_most: Applicability,
}

impl Remedy {
    /// Returns the edits of the first kind that `write` can write, in ascending order of their spans. Their
    /// applicability is limited to `at_most`.
    ///
    /// # Errors
    ///
    /// Returns the refusal of the first kind if no kind can be written, because the first kind is the best.
    pub fn write_first(
        &self,
        mut write: impl FnMut(&EditKind) -> Result<WrittenEdit, Refusal>,
    ) -> Result<WrittenEdit, Refusal> {
        let mut first_refusal = None;
        for edit_kind in &self.edit_kinds {
            match write(edit_kind) {
                Ok(mut written) => {
                    written.applicability = written.applicability.min(self.at_most);
                    written.edits.sort_by_key(|(span, _)| *span);
                    return Ok(written);
                }
                Err(refusal) => first_refusal = first_refusal.or(Some(refusal)),
            }
        }
        Err(first_refusal.unwrap_or_else(|| Refusal::new("there is no edit for this call")))
    }
}

/// A kind of edit that fixes a finding at a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditKind {
    /// Replaces the callee by its async twin, which takes the same arguments, and awaits the call.
    Twin {
        /// The twin's path (`asyncio.sleep`).
        path: String,
        /// True if the twin is a method of the same receiver, so that only the method's name changes.
        is_method: bool,
        /// True if the twin has the same observable effect, as a sleep has.
        same_effect: bool,
        /// The requirement that the manifest must have in addition, in words for users.
        requirement: Option<String>,
    },
    /// Replaces the type that the call's own expression creates (`Command::new("ls").output()`), because the async twin
    /// is a method of another type, and awaits the call.
    TwinType {
        /// The type as it is (`std::process::Command`).
        from: String,
        /// The type that has the twin (`tokio::process::Command`).
        to: String,
        /// The requirement that the manifest must have in addition, in words for users.
        requirement: Option<String>,
    },
    /// Replaces the call by a text.
    Rewrite {
        /// The text, with placeholders for parts of the call.
        template: Vec<Piece>,
    },
    /// Passes the call to a worker thread and awaits it.
    Offload {
        /// The functions that can run the call. The edit uses the first that the file already imports, else the last.
        functions: Vec<Offload>,
    },
    /// Removes an argument.
    DropArgument {
        /// Its name.
        name: String,
        /// The change of behaviour, in words; `None` if the behaviour stays the same.
        changes: Option<String>,
    },
    /// Adds a keyword argument.
    AddArgument {
        /// Its name.
        name: String,
        /// Its text.
        value: String,
        /// The change of behaviour, in words.
        changes: String,
    },
    /// Moves a call in a chain of publishers, or in an expression that builds one, to a thread that may block, or makes
    /// it a publisher of the chain (Java).
    Chain {
        /// The names of the library of publishers.
        publishers: Publishers,
        /// The library's method that takes the lambda around the call; `None` if no lambda is around it.
        taker: Option<String>,
        /// An expression for a publisher of the call's result, if the model has one.
        template: Option<Vec<Piece>>,
        /// True if a worker may run the call.
        offload: bool,
    },
    /// Replaces the scheduler that each instance or call creates by a shared one (Java).
    Share {
        /// The names of the library of publishers.
        publishers: Publishers,
    },
    /// Replaces the executor that each instance or call creates by a variable of the module (Python).
    ShareInModule,
    /// Makes the functions on the path to the blocking call `async`, awaits their calls, and replaces the blocking call
    /// by its async twin (Rust).
    Asyncify,
    /// Passes the callee and its arguments instead of the call, because the argument must be a callable.
    HandOver {
        /// True if the function that takes the callable forwards further arguments to it.
        forwards_arguments: bool,
    },
}

/// The names of a library of publishers (Java).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Publishers {
    /// The class of a publisher of at most one value.
    pub one: &'static str,
    /// The class of a publisher of many values.
    pub many: &'static str,
    /// The class whose static methods return schedulers.
    pub schedulers: &'static str,
    /// The call on `schedulers` that returns a scheduler whose workers may block.
    pub workers: &'static str,
    /// The replacement for `workers` in versions that lack it.
    pub older_workers: &'static str,
    /// The type of a scheduler.
    pub scheduler: &'static str,
    /// The constant of `schedulers` for the maximal number of worker threads.
    pub cap: &'static str,
    /// The constant of `schedulers` for the maximal number of queued tasks.
    pub queue: &'static str,
    /// The methods of publishers and schedulers that start work until it is disposed; the first is that of publishers.
    pub starts: &'static [&'static str],
    /// The type of a subscription, whose method ends it.
    pub subscription: &'static str,
    /// The class that combines many subscriptions into one.
    pub subscriptions: &'static str,
}

impl Publishers {
    /// Returns the path of the function that returns a scheduler whose workers may block.
    pub fn workers_path(&self) -> String {
        format!("{}.{}", self.schedulers, self.workers.trim_end_matches("()"))
    }
}

/// A function that runs a callable in a worker thread: `await path(callable, args…)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offload {
    /// The path of the function (`asyncio.to_thread`).
    pub path: String,
    /// True if it passes keyword arguments on to the callable.
    pub keywords: bool,
    /// True if awaiting the function yields a `Result` that reports the callable's panic (Rust).
    pub fallible: bool,
}

/// A part of a text that replaces a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Piece {
    /// Literal text.
    Text(String),
    /// Source of the receiver.
    Receiver,
    /// Source of all arguments.
    Args,
    /// Source of the argument at this position, from 0.
    Position(u32),
    /// Source of the argument with this name.
    Named(String),
    /// Source of the whole call.
    Call,
    /// A callable that makes the call.
    Callable,
    /// The callee and its arguments as a list of arguments, as most pools take them: `load, path`.
    Handed,
    /// The callee, a tuple of its positional arguments and a dictionary of its keyword arguments; an empty tuple or
    /// dictionary is left out: `load, (path,)`.
    Applied,
    /// A path that is imported and then written by its local name.
    Import(String),
}

/// The edits of a remedy in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenEdit {
    /// The action of the edits, in the imperative.
    pub title: String,
    /// The review that the edits need before they are applied.
    pub applicability: Applicability,
    /// The replaced spans with their new text; ascending, without overlap.
    pub edits: Vec<(Span, String)>,
}

impl WrittenEdit {
    /// Returns the edits as the fix of a finding at this place.
    pub fn into_fix(self, place: &Place) -> Fix {
        let edit = |(span, content)| Edit { place: Place::unlocated(place.path.clone(), span), content };
        Fix { title: self.title, applicability: self.applicability, edits: self.edits.into_iter().map(edit).collect() }
    }
}

/// A call, or a use of a value, that cannot move to another thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundCall {
    /// The thread, loop or task to which it belongs.
    pub to: Bound,
    /// The kind of use.
    pub how: BoundUse,
    /// The path of the call or of the value's type, or the qualified name of the project's function.
    pub call: String,
    /// The site of the call or use.
    pub place: Place,
}

/// The kind of use that binds a call or value to its thread, loop or task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundUse {
    /// It is called.
    Called,
    /// It is a value that was created elsewhere, and is used.
    Used,
    /// It is a value that is created by the call and outlives it.
    Made,
    /// It is the result of the call, and it is awaited.
    Returned,
    /// It is entered by a `with` block around the call; the edit would not move that block.
    Entered,
    /// It is entered by a `with` block around the call, and the effect of entering it is unknown.
    EnteredUnknown,
}

/// The reason why a finding has no fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A clause that completes "no fix, because …".
    pub reason: String,
    /// The place in the source that shows the reason, if it is not the place of the finding.
    pub place: Option<Place>,
}

impl Refusal {
    /// Returns a refusal for this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Refusal { reason: reason.into(), place: None }
    }

    /// Returns a refusal whose reason another place shows.
    pub fn with_place(reason: impl Into<String>, place: Place) -> Self {
        Refusal { reason: reason.into(), place: Some(place) }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)
    }
}
