//! Helpers that would become `async` together with all that call them, before the change has words or text. Plain data.

use std::sync::Arc;

use blocklint_core::Place;
use blocklint_link::models::availability::PathAvailability;
use camino::Utf8Path;

/// The functions and calls that change together when the calls at the end of a finding's path become their async twins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The functions that become `async`.
    pub helpers: Vec<ChainHelper>,
    /// Tests that call them, which become `async` tests.
    pub tests: Vec<ChainHelper>,
    /// The attribute that runs an `async` test on the runtime of the twins.
    pub runs_tests: String,
    /// All calls of them, from the name that is called on: each is awaited.
    pub calls: Vec<Place>,
    /// The calls that get the place of their twins.
    pub sinks: Vec<ChainSink>,
    /// The names of calls that bear a helper's name and run something else.
    pub others: Vec<Place>,
    /// The files in which a helper could be mentioned besides.
    pub files: Vec<Arc<Utf8Path>>,
    /// True if another crate could call what is `pub`.
    pub exports: bool,
    /// True if a call of a library stands in a loop, which a twin makes a hop to a thread on each turn.
    pub hops_in_loop: bool,
}

/// A function that becomes `async`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainHelper {
    /// Where its name stands.
    pub at: Place,
    /// Its name.
    pub name: String,
}

/// A call that gets the place of its twin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainSink {
    /// Where it stands, from the name that is called on.
    pub at: Place,
    /// The twin's path.
    pub twin: String,
}

/// A reason why helpers cannot become `async`, and where a reader sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unchained {
    /// The reason.
    pub why: NoChain,
    /// Its place.
    pub at: Place,
}

/// A reason why helpers cannot become `async`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoChain {
    /// A call in them holds the thread and has no twin that returns the same.
    NoTwin(String),
    /// The twin cannot be called there.
    Unavailable(PathAvailability),
    /// The call that holds the thread stands in a closure, or is handed over.
    InClosure,
    /// A closure that is not `async` calls this one.
    CalledInClosure(String),
    /// A test that is not `async` calls this one, and starts a runtime itself.
    CalledByTest(String),
    /// A test that is not `async` calls a helper, and the attribute that would make it so cannot be used there.
    NoAsyncTest(Box<PathAvailability>),
    /// This one is not `async` and has no known caller.
    NoKnownCaller(String),
    /// This one is handed over as a value.
    Value(String),
    /// The call may run another function than this one.
    Ambiguous(String),
    /// It stands in a constant or the like.
    InConstant(String),
    /// They call each other in a circle.
    Recursive(String),
    /// The path is too long to be changed at once, or has too many functions.
    TooMany,
}
