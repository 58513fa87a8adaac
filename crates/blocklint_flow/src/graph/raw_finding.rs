//! What the analysis found, before it has words.

use std::sync::Arc;

use blocklint_core::{Aside, Confidence, Context, Effect, Fails, Hold, RuleCode, Runtime, Severity, Span};
use blocklint_link::models::availability::Available;
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, SiteRef};
use blocklint_models::{Creates, FixKind, Template};

use crate::entries::root::RootKind;
use crate::mending::async_chain::{Chain, Unchained};

/// A signal that spoke of a finding: what made it less bad, less sure, or worse.
#[derive(Clone, Copy, Debug)]
pub struct Reason {
    /// The signal's name.
    pub name: &'static str,
    /// What it says, as a clause.
    pub says: &'static str,
    /// What it makes of a finding, in a word or two.
    pub makes: &'static str,
    /// Where a reader sees it.
    pub place: Option<(FileId, Span)>,
}

/// Something on the way of a finding that is inferred and not shown, which makes the finding less sure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// A call runs one of several things, and not all of them hold the thread.
    Choice(Choice),
    /// The value that a call is made on, or the callee, is inferred.
    Inferred(SiteRef),
    /// A call may also run something that is not known.
    PerhapsOther(SiteRef),
    /// Nothing is known of what a method is called on; the project has only one method of this name.
    ByName(SiteRef),
    /// That a call runs its argument of this number is inferred.
    Argument(SiteRef, u32),
    /// A condition at a call, or around it, is neither shown to hold nor ruled out.
    Undecided(SiteRef),
    /// That the body runs where it must not block is inferred.
    Root(RootKind),
    /// That a greenlet enters this body is inferred.
    Entry(BodyRef),
}

/// The things that one call may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The call.
    pub site: SiteRef,
    /// The number of things that it may run.
    pub all: usize,
    /// The number of them that hold the thread as the finding says.
    pub holding: usize,
    /// The bodies of the project that do.
    pub holders: Vec<BodyRef>,
    /// The bodies of the project that do not.
    pub others: Vec<BodyRef>,
}

/// One rule broken at one place.
#[derive(Clone, Debug)]
pub struct RawFinding {
    /// The signals that spoke, where the analysis was told to account for them.
    pub reasons: Vec<Reason>,
    /// The inferred steps of its way, where the analysis was told to account for them.
    pub doubts: Vec<Doubt>,
    /// How bad it would be if it were not only for tests, examples or a command line.
    pub aside: Option<Aside>,
    /// The rule.
    pub rule: RuleCode,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// What is wrong.
    pub what: What,
    /// How the thread is held; `None` where no call holds it.
    pub effect: Option<Effect>,
    /// The kind of thread, where it matters.
    pub context: Option<Context>,
    /// Its machinery, where known.
    pub runtime: Option<Runtime>,
    /// The body that must not block, or in which the mistake is made.
    pub root: BodyRef,
    /// Why it must not; `None` where that does not matter.
    pub root_kind: Option<RootKind>,
    /// Whether the place hands a function over instead of calling it.
    pub handed: bool,
    /// How long one call can hold the thread.
    pub hold: Hold,
    /// What the call does besides.
    pub fails: Option<Fails>,
    /// The file it stands in.
    pub file: FileId,
    /// Where.
    pub span: Span,
    /// The site it stands at.
    pub site: SiteRef,
    /// The steps from the place to the row; the first is the place.
    pub trace: Vec<RawStep>,
    /// Indices of the causes behind it, that of the trace first.
    pub causes: Vec<u32>,
    /// The causes that break another rule than this one: the rule, and the index of the cause.
    pub also: Vec<(RuleCode, u32)>,
    /// Path of the row at the end of the trace.
    pub call: String,
    /// A loop on the way runs it more than once.
    pub repeats: bool,
    /// The long call over which another holds the lock that the call waits for.
    pub held_by: Option<RawStep>,
    /// The row's note.
    pub note: Option<String>,
    /// Async twins of the row for the root's runtime: path, and whether the edit is local.
    pub twins: Vec<(String, bool)>,
    /// What the row says about mending the call.
    pub mending: Mending,
    /// A worker thread would not free the loop.
    pub holds_gil: bool,
    /// Qualified name of the callee at the place, for the fingerprint.
    pub callee: String,
    /// Which of the equal calls of its body it is, from 0.
    pub occurrence: u32,
    /// Silenced at its own place: the comment's reason.
    pub suppressed: Option<Option<String>>,
    /// The functions behind it in which a comment silences another cause of its rule.
    pub partly_silenced: Vec<String>,
}

/// What a model row says about mending a call of it.
#[derive(Clone, Debug, Default)]
pub struct Mending {
    /// The text in place of the call, for the root's runtime.
    pub rewrite: Option<Template>,
    /// The only kind of fix that is right.
    pub kind: Option<FixKind>,
    /// The call only builds: what consumes its result blocks.
    pub lazy: bool,
    /// The call that takes a result instead of a callable would pass arguments on to the callable.
    pub passes: bool,
    /// The call gives a coroutine.
    pub gives_coroutine: bool,
    /// It holds the thread shortly: only a loop around it makes it long.
    pub brief: bool,
    /// The twin gives what the call gives, and can fail in the same way.
    pub same: bool,
    /// Whether the twin can be called there.
    pub twin: Available,
    /// Whether what hands a call to a thread can be called there.
    pub pool: Available,
    /// Rust: what becomes `async` together where helpers lead to the call, or why they do not.
    pub chain: Option<Result<Arc<Chain>, Unchained>>,
    /// The call that would start threads without a bound if this one were handed to one: what it makes runs for each item.
    pub starts: Option<SiteRef>,
}

/// What is wrong at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A call holds a thread that must not be held.
    Holds,
    /// The result of a call is handed to this call instead of the callable.
    CalledInstead {
        /// The taker as written.
        taker: String,
    },
    /// A native call holds the hub of greenlets; the trace begins where one of them enters.
    HoldsHub {
        /// How many bodies that greenlets enter reach it.
        entries: u32,
        /// The call at start-up that makes the library cooperative, if there is one.
        adapter: Option<String>,
        /// The runtime's pool of real threads.
        pool: Option<String>,
    },
    /// An import comes before the call that patches what it takes.
    LatePatch {
        /// The name that stays as it was (`time.sleep`), or the module that takes some.
        taken: String,
        /// Whether it is a module that takes names itself.
        is_module: bool,
        /// The call that patches.
        patch: String,
    },
    /// A response that may be large is serialised on the event loop.
    LargeResponse {
        /// Which way it takes.
        way: Serialisation,
        /// The endpoint's name.
        endpoint: String,
        /// The call that its items come from, as written.
        source: Option<String>,
        /// Whether the code of that call is not there.
        is_unseen: bool,
        /// A bound that is visible and large.
        bound: Option<u64>,
        /// Annotated fields of one item; 0 where they are not known.
        fields: u32,
        /// Levels of models of one item; 0 where they are not known.
        levels: u32,
        /// What else versions of the declared range do.
        versions: Option<String>,
        /// The response class of the route, as written, if it may be dropped.
        class: Option<String>,
        /// The response model that could be declared, as the file writes it.
        model: Option<String>,
    },
    /// A thread's lock is held over an `await`.
    LockOverAwait {
        /// What is awaited, as written.
        awaited: String,
        /// Whether the lock lets the thread in again which has it, and with it all tasks of the event loop.
        reentrant: bool,
    },
    /// Threads or connections are made more often than they need to be.
    MadeAnew {
        /// What is made.
        creates: Creates,
        /// How often.
        anew: Anew,
    },
    /// A connection of a pool is held where others wait for one.
    Starves(Starved),
    /// Work is handed to threads without a bound.
    Offloads {
        /// What there are as many of as threads.
        unbounded: Unbounded,
        /// The call by which each piece takes a connection of a pool, if it does.
        takes: Option<String>,
    },
}

/// Who waits for a connection that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starved {
    /// The task itself may need the thread that waits for a connection: it is held over an `await`.
    OverAwait {
        /// What is awaited.
        awaited: SiteRef,
    },
    /// The holder waits for one more of the same pool.
    Second {
        /// Where the first one is taken.
        first: SiteRef,
    },
    /// A job waits for another one of the pool of threads that runs it.
    OwnJob {
        /// Where the other one is handed over.
        handed: SiteRef,
    },
}

/// What there are as many of as threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unbounded {
    /// Elements of a collection.
    PerItem,
    /// Requests, messages or events that enter this body.
    PerEntry(BodyRef),
    /// The work never ends.
    Endless,
}

/// How often something is made that could be made once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anew {
    /// For each request, message or event for which a library enters this body.
    PerEntry(BodyRef),
    /// For each element of what this body goes through.
    PerItem(BodyRef),
    /// For each instance of a class.
    PerInstance {
        /// The class.
        class: ClassRef,
        /// Whether code of the project makes instances again and again.
        shown: bool,
    },
    /// In each call, and nobody is seen to call.
    PerCall,
}

/// One step of a trace.
#[derive(Clone, Debug)]
pub struct RawStep {
    /// The file.
    pub file: FileId,
    /// The site, or the argument that hands a function over.
    pub span: Span,
    /// Qualified name of the body it stands in.
    pub function: String,
    /// Qualified name of what is called, or the row's path.
    pub call: String,
    /// The callee as written.
    pub written: String,
}

/// A place in the project that enters a model row.
#[derive(Clone, Debug)]
pub struct RawCause {
    /// The file.
    pub file: FileId,
    /// The site.
    pub span: Span,
    /// Qualified name of the body it stands in.
    pub function: String,
    /// The row's path.
    pub call: String,
    /// How many roots reach it.
    pub reach: u32,
}

/// How a response is made of what an endpoint returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serialisation {
    /// One call of compiled code gives the bytes.
    Direct,
    /// Data are made of the models first, then JSON is rendered by the interpreter's own encoder, for the version knows no
    /// other way.
    Rendered,
    /// The same, for a response class is named.
    ByClass,
    /// The endpoint makes a response of data itself, which renders JSON of them.
    ByHand,
    /// Every value is converted by Python code, for nothing says what they are.
    Encoded,
    /// pydantic 1: everything is converted and validated again by Python code.
    Old,
}
