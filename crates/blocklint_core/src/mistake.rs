//! Mistakes at a place, as the analysis hands them to the rules, and the codes of all rules: plain data without references into a program.

use crate::RuleCode;

/// A mistake at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A call holds a thread that must not be held.
    Holds,
    /// The result of a call is handed to another call, which wants the callable.
    CalledInsteadOfHandedOver {
        /// The callee of that call, as written.
        taker: String,
    },
    /// A native call holds the hub of greenlets; the trace begins where one of them enters.
    NativeCallBlocksHub {
        /// The number of bodies that greenlets enter and that reach it.
        entries: u32,
        /// The call at start-up that makes the library cooperative, if there is one.
        adapter: Option<String>,
        /// The runtime's pool of real threads.
        pool: Option<String>,
    },
    /// An import comes before the call that patches what it takes.
    LateMonkeyPatch {
        /// The name that stays as it was (`time.sleep`), or the module that takes some.
        taken: String,
        /// True for a module that takes names itself.
        is_module: bool,
        /// The call that patches.
        patch: String,
    },
    /// A response that may be large is serialised on the event loop.
    LargeResponse(LargeResponse),
    /// A thread's lock is held over an `await`.
    LockHeldAcrossAwait {
        /// The awaited expression, as written.
        awaited: String,
        /// True if the lock lets the thread in again which has it, and with it all tasks of the event loop.
        reentrant: bool,
    },
    /// Threads or connections are made more often than they need to be.
    CreatedRepeatedly {
        /// The kind of thing that is made.
        made: CreatedKind,
        /// The occasion on which it is made again.
        anew: CreatedPer,
        /// The name of the body or class of that occasion.
        of: String,
    },
    /// A connection of a pool is held where others wait for one.
    Starves(Starved),
    /// Work is handed to threads without a bound.
    Offloads {
        /// The things of which there are as many as threads.
        unbounded: Unbounded,
        /// The call by which each piece takes a connection of a pool, if it does.
        takes: Option<String>,
    },
}

/// A reason why others wait for a connection that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Starved {
    /// The task itself may need the thread that waits for a connection: it is held over an `await`.
    OverAwait {
        /// The awaited expression, as written.
        awaited: String,
    },
    /// The holder waits for one more of the same pool.
    Second {
        /// The call that takes the first one, as written.
        first: String,
    },
    /// A job waits for another one of the pool of threads that runs it.
    OwnJob {
        /// The call that hands over the other one, as written.
        handed: String,
    },
}

/// The things of which there are as many as threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unbounded {
    /// Elements of a collection.
    PerItem,
    /// Requests, messages or events that enter the body of this name.
    PerEntry(String),
    /// The work never ends.
    Endless,
}

/// A kind of thing that is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreatedKind {
    /// Threads.
    Threads,
    /// Connections.
    Connections,
}

/// An occasion on which something is made that could be made once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreatedPer {
    /// Each request, message or event for which a library enters a body.
    PerEntry,
    /// Each element of what a body goes through.
    PerItem,
    /// Each instance of a class.
    PerInstance {
        /// True if code of the project makes instances again and again.
        is_shown: bool,
    },
    /// Each call of a body that has no known caller.
    PerCall,
}

/// A response that may be large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargeResponse {
    /// How it is serialised.
    pub serialisation: Serialisation,
    /// The endpoint's name.
    pub endpoint: String,
    /// The call that its items come from, as written.
    pub source: Option<String>,
    /// True if the code of that call is not there, so that its number of items is unknown.
    pub is_unseen: bool,
    /// A bound that is visible and large.
    pub bound: Option<u64>,
    /// Annotated fields of one item; 0 where they are not known.
    pub fields: u32,
    /// Levels of models of one item; 0 where they are not known.
    pub levels: u32,
    /// A sentence about versions of the declared range that do otherwise.
    pub versions: Option<String>,
    /// The response class of the route, as written, if it may be dropped.
    pub class: Option<String>,
    /// The response model that could be declared, as the file writes it.
    pub model: Option<String>,
}

/// How the result of an endpoint becomes the bytes of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serialisation {
    /// One call of compiled code renders the bytes.
    Direct,
    /// Data are made of the models first, then JSON is rendered by the interpreter's own encoder, because the version knows no
    /// other way.
    Rendered,
    /// Data are made of the models first, then JSON is rendered by the interpreter's own encoder, because a response class is named.
    ByClass,
    /// The endpoint makes a response of data itself, which renders JSON of them.
    ByHand,
    /// Every value is converted by Python code, because no annotation shows its type.
    Encoded,
    /// pydantic 1: everything is converted and validated again by Python code.
    Old,
}

/// Every rule, under the name of its page.
impl RuleCode {
    /// A sleep on a thread that must not block.
    pub const BLOCKING_SLEEP: Self = RuleCode(101);
    /// A network request there.
    pub const BLOCKING_NETWORK: Self = RuleCode(102);
    /// A database call there.
    pub const BLOCKING_DATABASE: Self = RuleCode(103);
    /// File access there.
    pub const BLOCKING_FILE: Self = RuleCode(104);
    /// A process that is run to its end there.
    pub const BLOCKING_SUBPROCESS: Self = RuleCode(105);
    /// A wait for another thread there.
    pub const BLOCKING_WAIT: Self = RuleCode(106);
    /// A loop inside of a loop.
    pub const NESTED_EVENT_LOOP: Self = RuleCode(107);
    /// A long calculation there.
    pub const CPU_BOUND: Self = RuleCode(108);
    /// A wait for a person there.
    pub const BLOCKING_INPUT: Self = RuleCode(109);
    /// A large response that is serialised on the event loop.
    pub const LARGE_RESPONSE_ON_LOOP: Self = RuleCode(201);
    /// A native call that holds the hub of greenlets.
    pub const NATIVE_CALL_BLOCKS_HUB: Self = RuleCode(301);
    /// An import before the call that patches what it takes.
    pub const LATE_MONKEY_PATCH: Self = RuleCode(302);
    /// Work that is handed to threads without a bound.
    pub const UNBOUNDED_OFFLOAD: Self = RuleCode(401);
    /// A connection or thread of a pool that waits for another one of it.
    pub const POOL_STARVATION: Self = RuleCode(402);
    /// A call whose result is handed over instead of the callable.
    pub const CALLED_INSTEAD_OF_HANDED_OVER: Self = RuleCode(403);
    /// Threads that are made for each instance or request.
    pub const PER_INSTANCE_SCHEDULER: Self = RuleCode(501);
    /// Connections that are made for each request or item.
    pub const POOL_PER_CALL: Self = RuleCode(502);
    /// A thread's lock that is held over an `await`.
    pub const LOCK_HELD_ACROSS_AWAIT: Self = RuleCode(601);
    /// A comment that silences nothing.
    pub const UNUSED_SUPPRESSION: Self = RuleCode(901);
    /// A file that was not read, or only in part.
    pub const UNREADABLE_SOURCE: Self = RuleCode(902);
    /// A comment that cannot be read.
    pub const INVALID_SUPPRESSION: Self = RuleCode(903);
    /// A comment without a reason.
    pub const UNEXPLAINED_SUPPRESSION: Self = RuleCode(904);
}
