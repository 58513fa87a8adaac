//! Remedies of findings. A rule chooses the remedy. The front end of the language turns it into edits on a fresh parse
//! of the file, or refuses with a reason.

use serde::{Deserialize, Serialize};

use crate::{Applicability, Bound, Edit, Fix, Place, Span};

/// The edits that can mend a finding, in order of preference: the first that can be written is its fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// The kinds of edits; never empty.
    pub edit_kinds: Vec<EditKind>,
    /// The most that the fix may be, whatever its preconditions show.
    pub at_most: Applicability,
}

impl Remedy {
    /// Returns the edits of the first kind that can be written, ascending and no surer than the remedy allows.
    ///
    /// # Errors
    ///
    /// Returns the edits of the first kind that can be written. If none can, returns the refusal of the first kind,
    /// because that kind is the best.
    pub fn first(
        &self,
        mut write: impl FnMut(&EditKind) -> Result<WrittenEdit, Refusal>,
    ) -> Result<WrittenEdit, Refusal> {
        let mut refused = None;
        for edit_kind in &self.edit_kinds {
            match write(edit_kind) {
                Ok(mut written) => {
                    written.applicability = written.applicability.min(self.at_most);
                    written.edits.sort_by_key(|(span, _)| *span);
                    return Ok(written);
                }
                Err(refusal) => refused = refused.or(Some(refusal)),
            }
        }
        Err(refused.unwrap_or_else(|| Refusal::new("there is no edit for it")))
    }
}

/// A kind of edit that mends a finding at a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditKind {
    /// The async twin takes the same arguments: rename the callee and await it.
    Twin {
        /// The twin's path (`asyncio.sleep`).
        path: String,
        /// True if it is a method of the same receiver, of which only the last name changes.
        method: bool,
        /// True if the twin has the same observable effect, as a sleep has.
        same: bool,
        /// The requirement that the manifest must have besides, in words for users.
        needs: Option<String>,
    },
    /// The async twin is a method of another type, of which the call's own expression makes a value: rename that type
    /// there, and await the call.
    TwinType {
        /// The type as it is (`std::process::Command`).
        from: String,
        /// The type that has the twin (`tokio::process::Command`).
        to: String,
        /// The requirement that the manifest must have besides, in words for users.
        needs: Option<String>,
    },
    /// This text takes the place of the call.
    Rewrite {
        /// The text, with parts of the call put in.
        template: Vec<Piece>,
    },
    /// Hand the call to a thread and await it.
    Offload {
        /// The functions that do so; the first that the file imports already, else the last.
        to: Vec<Offload>,
    },
    /// Take an argument away.
    DropArgument {
        /// Its name.
        name: String,
        /// The change of behaviour, in words; none if the behaviour stays as it is.
        changes: Option<String>,
    },
    /// Give one more argument by its name.
    AddArgument {
        /// Its name.
        name: String,
        /// Its text.
        value: String,
        /// The change of behaviour, in words.
        changes: String,
    },
    /// Java: the call stands in a chain of publishers, or in an expression that builds one. The effect of the call runs
    /// where it may block, or becomes a part of the chain.
    Chain {
        /// The library's names.
        of: Publishers,
        /// The library's method that is given the lambda in which the call stands, where one is.
        taker: Option<String>,
        /// A publisher of the result of the call, where there is one.
        template: Option<Vec<Piece>>,
        /// True if a worker may run the call.
        offload: bool,
    },
    /// Java: the call makes a scheduler for each instance or call; one for all takes its place.
    Share {
        /// The library's names.
        of: Publishers,
    },
    /// Python: the call makes an executor for each instance or call; a name of the module for all takes its place.
    ShareInModule,
    /// Rust: the functions on the path to the blocking call become `async`, with their calls awaited, and that its
    /// async twin.
    Asyncify,
    /// The call stands where a callable is wanted: hand over the callee and its arguments.
    HandOver {
        /// True if what takes the callable passes the arguments behind it on.
        passes: bool,
    },
}

/// The names of a library of publishers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Publishers {
    /// The publisher of one value.
    pub one: &'static str,
    /// The publisher of many.
    pub many: &'static str,
    /// The class that returns schedulers.
    pub schedulers: &'static str,
    /// The call on it that returns workers which may block.
    pub workers: &'static str,
    /// The call that returned the workers in versions that lack it.
    pub older_workers: &'static str,
    /// A scheduler.
    pub scheduler: &'static str,
    /// The constant of `schedulers` for how many threads workers have.
    pub cap: &'static str,
    /// The constant of `schedulers` for how many tasks wait for them.
    pub queue: &'static str,
    /// Methods of publishers and schedulers that begin what goes on until it is ended; the first, of publishers.
    pub starts: &'static [&'static str],
    /// The call that ends a subscription.
    pub subscription: &'static str,
    /// The class that makes one of many.
    pub subscriptions: &'static str,
}

impl Publishers {
    /// Returns the function that returns workers which may block.
    pub fn workers_path(&self) -> String {
        format!("{}.{}", self.schedulers, self.workers.trim_end_matches("()"))
    }
}

/// A function that runs a callable in a worker thread: `await path(callable, args…)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offload {
    /// Its path (`asyncio.to_thread`).
    pub path: String,
    /// True if it passes keyword arguments on to the callable.
    pub keywords: bool,
    /// True if what is awaited is a `Result` that reports the callable's panic.
    pub fallible: bool,
}

/// One part of a text that takes the place of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Piece {
    /// Source text as it is.
    Text(String),
    /// Source of the receiver.
    Receiver,
    /// Source of all arguments.
    Args,
    /// Source of the argument at this position, from 0.
    Position(u32),
    /// Source of the argument of this name.
    Named(String),
    /// The whole call.
    Call,
    /// The call as something to hand over.
    Callable,
    /// The callee and its arguments behind each other, as most pools take them: `load, path`.
    Handed,
    /// The callee, a tuple of its positional arguments and a dictionary of its keyword arguments, as far as there are any:
    /// `load, (path,)`.
    Applied,
    /// A path that is imported and then written by its local name.
    Import(String),
}

/// The edits of a remedy in the one file that it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenEdit {
    /// The action of the edits, in the imperative.
    pub title: String,
    /// True if they may be applied unseen.
    pub applicability: Applicability,
    /// The replaced spans with their new text; ascending, without overlap.
    pub edits: Vec<(Span, String)>,
}

impl WrittenEdit {
    /// Returns the written text as a fix of a finding at this place.
    pub fn at(self, place: &Place) -> Fix {
        let edit = |(span, content)| Edit { place: Place::unlocated(place.path.clone(), span), content };
        Fix { title: self.title, applicability: self.applicability, edits: self.edits.into_iter().map(edit).collect() }
    }
}

/// A call, or a use of a value, that cannot move to another thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundCall {
    /// The thread, loop or task to which it belongs.
    pub to: Bound,
    /// The use that is made of it.
    pub how: BoundUse,
    /// The path of the call or of the value's type, or the qualified name of the project's function.
    pub call: String,
    /// The place of the call or use.
    pub place: Place,
}

/// A use of something that belongs to its thread, loop or task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundUse {
    /// It is called.
    Called,
    /// It is a value that was made elsewhere, and is used.
    Used,
    /// It is a value that is made, and outlives the call.
    Made,
    /// It is a result of the call, and it is awaited.
    Given,
    /// It is entered by a `with` block around the call, which stays.
    Entered,
    /// It is entered by a `with` block around the call, which stays; the effect of that is unknown.
    EnteredUnknown,
}

/// Why a finding has no fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A clause that completes "no fix, because …".
    pub reason: String,
    /// Where a reader sees it, if that is elsewhere.
    pub place: Option<Place>,
}

impl Refusal {
    /// Returns a refusal for this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Refusal { reason: reason.into(), place: None }
    }

    /// Returns a refusal for something that stands elsewhere.
    pub fn at(reason: impl Into<String>, place: Place) -> Self {
        Refusal { reason: reason.into(), place: Some(place) }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)
    }
}
