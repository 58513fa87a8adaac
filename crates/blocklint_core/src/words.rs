//! The enums that all crates share: language, context, runtime, effect, severity, confidence, hold, the kind of a fix,
//! the thread affinity of a call. Each variant has one written form.

/// Defines an enum whose variants have one written form each, for models, options and output. The caller's crate needs
/// `serde`.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize)]
        pub enum $name { $($(#[$vmeta])* $variant,)* }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// Every written form, in order.
            pub const WORDS: &'static [&'static str] = &[$($text,)*];

            /// Returns the written form.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// Returns the value with this written form.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some($name::$variant),)* _ => None }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

words! {
    /// A language that blocklint analyses.
    Language {
        /// Python 3, and the part of Python 2 that parses as Python 3.
        Python = "python",
        /// Rust.
        Rust = "rust",
        /// Java.
        Java = "java",
    }
}

words! {
    /// The kind of thread that a body runs on.
    Context {
        /// A thread that drives many tasks: asyncio, trio, a tokio worker, a Reactor or Netty thread.
        EventLoop = "event-loop",
        /// A greenlet of gevent or eventlet, which yields only in calls of patched libraries.
        Greenlet = "greenlet",
        /// A thread that may block: a thread of a pool, or a thread of its own.
        Worker = "worker",
        /// Unknown.
        Unknown = "unknown",
    }
}

words! {
    /// The runtime or framework that drives a thread; it decides advice and edits.
    Runtime {
        /// asyncio and loops compatible with it.
        Asyncio = "asyncio",
        /// anyio, on the event loop of asyncio or trio.
        Anyio = "anyio",
        /// trio.
        Trio = "trio",
        /// Starlette, which wraps anyio.
        Starlette = "starlette",
        /// Twisted's reactor, which is no event loop of asyncio.
        Twisted = "twisted",
        /// SQLAlchemy's greenlet bridge.
        Sqlalchemy = "sqlalchemy",
        /// gevent.
        Gevent = "gevent",
        /// eventlet.
        Eventlet = "eventlet",
        /// tokio.
        Tokio = "tokio",
        /// tokio with one thread.
        TokioCurrentThread = "tokio-current-thread",
        /// async-std.
        AsyncStd = "async-std",
        /// smol.
        Smol = "smol",
        /// compio.
        Compio = "compio",
        /// monoio.
        Monoio = "monoio",
        /// glommio.
        Glommio = "glommio",
        /// Project Reactor.
        Reactor = "reactor",
        /// RxJava.
        Rxjava = "rxjava",
        /// SmallRye Mutiny.
        Mutiny = "mutiny",
        /// Vert.x.
        Vertx = "vertx",
        /// Netty.
        Netty = "netty",
    }
}

words! {
    /// The kind of operation for which a call holds its thread.
    Effect {
        /// A sleep.
        Sleep = "sleep",
        /// A network request.
        Network = "network",
        /// A database call.
        Database = "database",
        /// File system access.
        File = "file",
        /// Running a process to its end.
        Subprocess = "subprocess",
        /// Waiting for a lock, a queue, a thread or a future.
        Wait = "wait",
        /// Running an event loop inside of an event loop.
        NestedLoop = "nested-loop",
        /// Computing.
        Cpu = "cpu",
        /// Waiting for a person.
        Input = "input",
    }
}

words! {
    /// How bad a finding is. Ordered: `note` is the least.
    Severity {
        /// Short or arguable.
        Note = "note",
        /// Bounded but real.
        Warning = "warning",
        /// Can hold the thread without bound, or fails there.
        Error = "error",
    }
}

impl Severity {
    /// Returns the severity one level lower; `note` stays.
    pub fn lowered(self) -> Self {
        match self {
            Severity::Error => Severity::Warning,
            Severity::Warning | Severity::Note => Severity::Note,
        }
    }
}

words! {
    /// How sure a finding is. Ordered: `low` is the least.
    Confidence {
        /// By name only, or over three or more inferred steps.
        Low = "low",
        /// One or two inferred steps.
        Medium = "medium",
        /// Definitions and types show each step.
        High = "high",
    }
}

words! {
    /// The failure of a call on an event loop, in addition to holding the thread.
    Fails {
        /// It raises, throws or panics.
        Raises = "raises",
        /// It can wait for its own thread, and never ends.
        Deadlocks = "deadlocks",
    }
}

words! {
    /// The only kind of fix that is right for a call.
    FixKind {
        /// Its async twin.
        Twin = "twin",
        /// Passing it to a worker thread.
        Offload = "offload",
        /// None; the row's note explains why.
        None = "none",
    }
}

words! {
    /// The thread, loop or task to which a call or a use of a value belongs. No edit may move it to another thread.
    Bound {
        /// The thread in which the value is created or the function is called.
        Thread = "thread",
        /// The thread of the event loop that runs it.
        Loop = "loop",
        /// The task or context that calls it, whose state it changes: a change in another thread is lost to the caller.
        Context = "context",
        /// The task or context that calls it, which it only reads: a thread with a copy of the context may read it too.
        ContextRead = "context-read",
        /// Unknown, because it runs code that is loaded while the program runs.
        Loaded = "loaded",
        /// The thread that enters the `with` block of its result, until it leaves the block: only the whole block can
        /// move.
        Block = "block",
        /// None: any thread may call it, whatever other rows state.
        Nothing = "nothing",
    }
}

/// How long one call can block its thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Hold {
    /// Unknown: the code shows neither a bound nor its absence.
    #[default]
    Unstated,
    /// Briefly: the row has severity `note`.
    Brief,
    /// At most this number of seconds.
    Seconds(f64),
    /// Without bound.
    Unbounded,
}

impl Hold {
    /// Returns a sort key by length: unstated, brief, seconds, unbounded.
    pub fn rank(self) -> (u8, f64) {
        match self {
            Hold::Unstated => (0, 0.0),
            Hold::Brief => (1, 0.0),
            Hold::Seconds(seconds) => (2, seconds),
            Hold::Unbounded => (3, 0.0),
        }
    }

    /// Returns the longer hold.
    pub fn longest(self, other: Hold) -> Hold {
        let ((rank, seconds), (other_rank, other_seconds)) = (self.rank(), other.rank());
        if other_rank > rank || (other_rank == rank && other_seconds > seconds) { other } else { self }
    }
}

impl Runtime {
    /// Returns the functions that run a callable in a worker thread and can be awaited in this runtime (Python), best
    /// first. The flag is true if a function passes keyword arguments to the callable. The caller skips functions of
    /// libraries that the file does not use.
    pub fn thread_functions(runtime: Option<Runtime>) -> &'static [(&'static str, bool)] {
        match runtime {
            Some(Runtime::Trio) => &[("trio.to_thread.run_sync", false)],
            Some(Runtime::Anyio) => &[("anyio.to_thread.run_sync", false)],
            Some(Runtime::Starlette) => &THREAD_FUNCTIONS[..2],
            // Twisted's own reactors run without an event loop of asyncio.
            Some(Runtime::Twisted) => &[("twisted.internet.threads.deferToThread", true)],
            _ => THREAD_FUNCTIONS,
        }
    }
}

impl Runtime {
    /// Returns the names of the publishers of this runtime's chains (Java).
    pub fn publishers(runtime: Option<Runtime>) -> Option<crate::Publishers> {
        match runtime {
            Some(Runtime::Reactor) => Some(crate::Publishers {
                one: "reactor.core.publisher.Mono",
                many: "reactor.core.publisher.Flux",
                schedulers: "reactor.core.scheduler.Schedulers",
                workers: "boundedElastic()",
                older_workers: "elastic()",
                scheduler: "reactor.core.scheduler.Scheduler",
                cap: "DEFAULT_BOUNDED_ELASTIC_SIZE",
                queue: "DEFAULT_BOUNDED_ELASTIC_QUEUESIZE",
                starts: &["subscribe", "schedule", "schedulePeriodically"],
                subscription: "reactor.core.Disposable",
                subscriptions: "reactor.core.Disposables",
            }),
            _ => None,
        }
    }

    /// Returns the runtime whose functions can be awaited in this runtime: `Tokio` for `TokioCurrentThread`, else the
    /// runtime itself.
    pub fn awaited_from(self) -> Runtime {
        match self {
            Runtime::TokioCurrentThread => Runtime::Tokio,
            runtime => runtime,
        }
    }

    /// Returns the function that runs a closure in a pool of threads that may block (Rust). The flag is true if
    /// awaiting it yields a `Result` that reports the closure's panic.
    pub fn blocking_pool(runtime: Option<Runtime>) -> (&'static str, bool) {
        match runtime {
            Some(Runtime::AsyncStd) => ("async_std::task::spawn_blocking", false),
            Some(Runtime::Smol) => ("smol::unblock", false),
            Some(Runtime::Compio) => ("compio::runtime::spawn_blocking", true),
            Some(Runtime::Monoio) => ("monoio::spawn_blocking", true),
            Some(Runtime::Glommio) => ("glommio::executor().spawn_blocking", false),
            _ => ("tokio::task::spawn_blocking", true),
        }
    }
}

const THREAD_FUNCTIONS: &[(&str, bool)] = &[
    ("fastapi.concurrency.run_in_threadpool", true),
    ("starlette.concurrency.run_in_threadpool", true),
    ("asyncio.to_thread", true),
];

/// A set of contexts and runtimes in which an effect blocks. [`WhereSet::contains`] tests a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WhereSet(u32);

impl WhereSet {
    /// The empty set.
    pub const EMPTY: WhereSet = WhereSet(0);
    const EVENT_LOOP_RUNTIMES: u32 = 0xf_ffff;
    const GREENLET: u32 = 1 << 20;

    /// Every event-loop thread, whatever its runtime.
    pub const EVENT_LOOP: WhereSet = WhereSet(Self::EVENT_LOOP_RUNTIMES);

    /// Event-loop threads and greenlets.
    pub const ALL: WhereSet = WhereSet(Self::EVENT_LOOP_RUNTIMES | Self::GREENLET);

    /// Returns the set of the event-loop threads of this runtime.
    pub fn of_runtime(runtime: Runtime) -> Self {
        WhereSet(1 << runtime as u32)
    }

    /// Returns the set of this context; empty for workers and unknown threads, because they may block.
    pub fn of_context(context: Context) -> Self {
        match context {
            Context::EventLoop => Self::EVENT_LOOP,
            Context::Greenlet => WhereSet(Self::GREENLET),
            Context::Worker | Context::Unknown => Self::EMPTY,
        }
    }

    /// Returns the union of two sets.
    pub fn union(self, other: Self) -> Self {
        WhereSet(self.0 | other.0)
    }

    /// Returns the intersection of two sets.
    pub fn intersect(self, other: Self) -> Self {
        WhereSet(self.0 & other.0)
    }

    /// Returns the members of this set that are not in the other.
    pub fn without(self, other: Self) -> Self {
        WhereSet(self.0 & !other.0)
    }

    /// True if the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// True if the set contains a root of this context and runtime. A root on an event loop of unknown runtime is only
    /// in a set that contains every runtime.
    pub fn contains(self, context: Context, runtime: Option<Runtime>) -> bool {
        match (context, runtime) {
            (Context::EventLoop, Some(runtime)) => self.0 & (1 << runtime as u32) != 0,
            (Context::EventLoop, None) => self.0 & Self::EVENT_LOOP_RUNTIMES == Self::EVENT_LOOP_RUNTIMES,
            (Context::Greenlet, _) => self.0 & Self::GREENLET != 0,
            (Context::Worker | Context::Unknown, _) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_written_form_is_parsed() {
        for effect in Effect::ALL {
            assert_eq!(Effect::parse(effect.as_str()), Some(*effect));
        }
        for runtime in Runtime::ALL {
            assert_eq!(Runtime::parse(runtime.as_str()), Some(*runtime));
            assert!((*runtime as u32) < 20, "WhereSet has twenty bits for runtimes");
        }
    }

    #[test]
    fn removing_one_context_keeps_the_other() {
        let greenlets = WhereSet::ALL.without(WhereSet::EVENT_LOOP);
        assert!(!greenlets.contains(Context::EventLoop, Some(Runtime::Asyncio)));
        assert!(greenlets.contains(Context::Greenlet, None));
    }

    #[test]
    fn longest_hold_wins() {
        assert_eq!(Hold::Seconds(2.0).longest(Hold::Seconds(5.0)), Hold::Seconds(5.0));
        assert_eq!(Hold::Unbounded.longest(Hold::Seconds(5.0)), Hold::Unbounded);
        assert_eq!(Hold::Unstated.longest(Hold::Brief), Hold::Brief);
    }
}
