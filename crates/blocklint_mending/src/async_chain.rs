//! The data of a chain: helpers that become `async` together with all of their callers, or the reason why they cannot
//! (Rust).

use std::sync::Arc;

use blocklint_core::Place;
use blocklint_link::models::availability::PathAvailability;
use camino::Utf8Path;

/// The functions and calls that change together if blocking calls are replaced by their async twins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The functions that become `async`.
    pub helpers: Vec<ChainHelper>,
    /// Tests that call them, which become `async` tests.
    pub tests: Vec<ChainHelper>,
    /// The attribute that runs an `async` test on the runtime of the twins.
    pub runs_tests: String,
    /// All calls of the helpers, which get an `.await`. A place begins at the receiver of the call.
    pub calls: Vec<Place>,
    /// The blocking calls that are replaced by their twins.
    pub sinks: Vec<ChainSink>,
    /// The names of calls that have the name of a helper but run other functions.
    pub others: Vec<Place>,
    /// The files of the helpers' crates, in which macros and comments may mention a helper.
    pub files: Vec<Arc<Utf8Path>>,
    /// True if other crates can call `pub` functions of the helpers' crates.
    pub exports: bool,
    /// True if a library call is in a loop, so that its twin would hop to a thread in each iteration.
    pub hops_in_loop: bool,
}

/// A function that becomes `async`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainHelper {
    /// The place of its name.
    pub place: Place,
    /// Its name.
    pub name: String,
}

/// A blocking call that is replaced by its twin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainSink {
    /// The place of the call, from its receiver on.
    pub place: Place,
    /// The path of the twin.
    pub twin: String,
}

/// A reason why helpers cannot become `async`, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unchained {
    /// The reason.
    pub why: NoChain,
    /// The place of the code that is the reason.
    pub place: Place,
}

/// A reason why helpers cannot become `async`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoChain {
    /// A blocking call in a helper has no twin that returns the same type.
    NoTwin(String),
    /// The twin is not available in the file of the call.
    Unavailable(PathAvailability),
    /// The blocking call is in a closure, or another function is called with its callee: `spawn_blocking(load)`.
    InClosure,
    /// A closure that is not `async` calls this helper.
    CalledInClosure(String),
    /// A test that starts a runtime itself calls this helper.
    CalledByTest(String),
    /// A test calls a helper, and the attribute for `async` tests is not available.
    NoAsyncTest(Box<PathAvailability>),
    /// This helper has no known caller.
    NoKnownCaller(String),
    /// This helper is used as a value.
    Value(String),
    /// A call may run this helper or another function.
    Ambiguous(String),
    /// A helper is called in a constant or a similar place.
    InConstant(String),
    /// This helper is recursive.
    Recursive(String),
    /// The chain has too many helpers, or its path is too long.
    TooMany,
}
