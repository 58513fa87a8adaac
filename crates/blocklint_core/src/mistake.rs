//! Mistakes at a place, as the analysis passes them to the rules, and the codes of all rules. A mistake is plain data
//! without references into a program.

use crate::RuleCode;

/// A mistake at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A call holds a thread that must not block (BLT1xx).
    BlockingCall,
    /// The result of a call is passed to another call, which expects the callable: `run_in_executor(None, load())`.
    CalledInsteadOfHandedOver {
        /// The callee that expects the callable, as written.
        taker: String,
    },
    /// A native call holds the hub of greenlets; the trace begins at the entry point of a greenlet.
    NativeCallBlocksHub {
        /// The number of entry points of greenlets that reach the call.
        entries: u32,
        /// The call at start-up that makes the library cooperative, if the library has one.
        adapter: Option<String>,
        /// The runtime's pool of real threads, if it has one.
        pool: Option<String>,
    },
    /// An import precedes the call that patches the imported name.
    LateMonkeyPatch {
        /// The imported name that stays unpatched (`time.sleep`), or the module that imports such names.
        imported: String,
        /// True if `imported` is a module.
        is_module: bool,
        /// The call that patches, as written.
        patch: String,
    },
    /// A response that may be large is serialised on the event loop.
    LargeResponse(LargeResponse),
    /// A thread's lock is held over an `await`.
    LockHeldAcrossAwait {
        /// The awaited expression, as written.
        awaited: String,
        /// True if a thread that holds the lock may acquire it again. All tasks of an event loop share one thread, so
        /// each of them may.
        reentrant: bool,
    },
    /// Threads or connections are created more often than necessary.
    CreatedRepeatedly {
        /// The kind of resource that is created.
        made: CreatedKind,
        /// The occasion on which it is created again.
        occasion: CreatedPer,
        /// The name of the body or class of that occasion.
        owner: String,
    },
    /// A connection or thread of a pool is held while other holders wait for one.
    PoolStarvation(Starved),
    /// Work is passed to threads without a bound on their number.
    UnboundedOffload {
        /// The quantity that the number of threads grows with.
        unbounded: Unbounded,
        /// The call by which each thread takes a connection of a pool, as written; `None` if it takes none.
        connection_call: Option<String>,
    },
}

/// The reason why the pool of a held connection or thread can starve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Starved {
    /// The connection is held over an `await`, and its task may need the thread that waits for a connection.
    OverAwait {
        /// The awaited expression, as written.
        awaited: String,
    },
    /// The holder waits for a second connection of the same pool.
    SecondConnection {
        /// The call that takes the first connection, as written.
        first: String,
    },
    /// A job waits for another job of the thread pool that runs it.
    OwnJob {
        /// The call that submits the other job, as written.
        other_job: String,
    },
}

/// The quantity that the number of threads grows with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unbounded {
    /// The number of elements of a collection.
    PerItem,
    /// The number of requests, messages or events that enter the body with this name.
    PerEntry(String),
    /// The number of calls so far, because the work of each thread never ends.
    Endless,
}

/// A kind of resource that is created again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreatedKind {
    /// Threads.
    Threads,
    /// Connections.
    Connections,
}

/// An occasion on which a resource is created that could be created once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreatedPer {
    /// Each request, message or event for which a library enters a body.
    PerEntry,
    /// Each element of a collection over which a body loops.
    PerItem,
    /// Each instance of a class.
    PerInstance {
        /// True if code of the project shows that instances are created repeatedly.
        is_shown: bool,
    },
    /// Each call of a body that has no known caller.
    PerCall,
}

/// A response that may be large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargeResponse {
    /// How the response is serialised.
    pub serialisation: Serialisation,
    /// The endpoint's name.
    pub endpoint: String,
    /// The call that returns the items, as written.
    pub source: Option<String>,
    /// True if the body of that call is not part of the program, so that the number of items is unknown.
    pub is_source_unknown: bool,
    /// The bound of the number of items, if the code shows one and it is large.
    pub bound: Option<u64>,
    /// The number of annotated fields of one item; 0 if they are unknown.
    pub fields: u32,
    /// The depth of nested models in one item; 0 if it is unknown.
    pub nesting_depth: u32,
    /// Notes that some library versions allowed by the project serialise differently.
    pub versions: Option<String>,
    /// The response class of the route, as written, if the fix may remove it.
    pub class: Option<String>,
    /// The response model that could be declared, as the file writes it.
    pub model: Option<String>,
}

/// How the result of an endpoint becomes the bytes of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serialisation {
    /// One call of compiled code renders the bytes.
    Direct,
    /// The models are dumped to data, and the interpreter's own encoder renders JSON, because the installed FastAPI has
    /// no compiled encoder.
    Rendered,
    /// The models are dumped to data, and the interpreter's own encoder renders JSON, because the route declares a
    /// response class.
    ByClass,
    /// The endpoint builds the response object from data itself, and that object renders JSON.
    ByHand,
    /// Python code converts every value, because no annotation shows its type.
    Encoded,
    /// pydantic 1: Python code converts and validates every value again.
    Pydantic1,
}

/// The codes of all rules. Each constant is named like the rule's page.
impl RuleCode {
    /// A sleep on a thread that must not block.
    pub const BLOCKING_SLEEP: Self = RuleCode(101);
    /// A network request on a thread that must not block.
    pub const BLOCKING_NETWORK: Self = RuleCode(102);
    /// A database call on a thread that must not block.
    pub const BLOCKING_DATABASE: Self = RuleCode(103);
    /// File access on a thread that must not block.
    pub const BLOCKING_FILE: Self = RuleCode(104);
    /// A process that is run to its end on a thread that must not block.
    pub const BLOCKING_SUBPROCESS: Self = RuleCode(105);
    /// A wait for another thread on a thread that must not block.
    pub const BLOCKING_WAIT: Self = RuleCode(106);
    /// An event loop that is run inside of an event loop.
    pub const NESTED_EVENT_LOOP: Self = RuleCode(107);
    /// A long calculation on a thread that must not block.
    pub const CPU_BOUND: Self = RuleCode(108);
    /// A wait for a person on a thread that must not block.
    pub const BLOCKING_INPUT: Self = RuleCode(109);
    /// A large response that is serialised on the event loop.
    pub const LARGE_RESPONSE_ON_LOOP: Self = RuleCode(201);
    /// A native call that holds the hub of greenlets.
    pub const NATIVE_CALL_BLOCKS_HUB: Self = RuleCode(301);
    /// An import that precedes the call that patches the imported name.
    pub const LATE_MONKEY_PATCH: Self = RuleCode(302);
    /// Work that is passed to threads without a bound.
    pub const UNBOUNDED_OFFLOAD: Self = RuleCode(401);
    /// A holder of a connection or thread of a pool that waits for another one of the same pool.
    pub const POOL_STARVATION: Self = RuleCode(402);
    /// A call whose result is passed on instead of the callable.
    pub const CALLED_INSTEAD_OF_HANDED_OVER: Self = RuleCode(403);
    /// Threads that are created for each instance or request.
    pub const PER_INSTANCE_SCHEDULER: Self = RuleCode(501);
    /// Connections that are created for each request or item.
    pub const POOL_PER_CALL: Self = RuleCode(502);
    /// A thread's lock that is held over an `await`.
    pub const LOCK_HELD_ACROSS_AWAIT: Self = RuleCode(601);
    /// A suppression comment that suppresses no finding.
    pub const UNUSED_SUPPRESSION: Self = RuleCode(901);
    /// A file that was not analysed, or only in part.
    pub const UNREADABLE_SOURCE: Self = RuleCode(902);
    /// A suppression comment that cannot be parsed.
    pub const INVALID_SUPPRESSION: Self = RuleCode(903);
    /// A suppression comment without a reason.
    pub const UNEXPLAINED_SUPPRESSION: Self = RuleCode(904);
}
