//! The closed sets of words: language, context, runtime, effect, severity, confidence, hold, the kind of a fix, the bond to a thread.

/// Defines an enum whose variants have one written form each, used in models, options and output. The caller's crate needs `serde`.
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
    /// A language blocklint reads.
    Language {
        /// Python 3, and what of Python 2 parses.
        Python = "python",
        /// Rust.
        Rust = "rust",
        /// Java.
        Java = "java",
    }
}

words! {
    /// The kind of thread a body runs on.
    Context {
        /// A thread that drives many tasks: asyncio, trio, a tokio worker, a Reactor or Netty thread.
        EventLoop = "event-loop",
        /// A greenlet of gevent or eventlet, which yields only where the library was patched.
        Greenlet = "greenlet",
        /// A thread that may block: a pool, an own thread.
        Worker = "worker",
        /// Not known.
        Unknown = "unknown",
    }
}

words! {
    /// The machinery a context belongs to; it decides advice and edits.
    Runtime {
        /// asyncio and loops compatible with it.
        Asyncio = "asyncio",
        /// anyio, on whichever loop.
        Anyio = "anyio",
        /// trio.
        Trio = "trio",
        /// Starlette, which wraps anyio.
        Starlette = "starlette",
        /// Twisted's reactor, which asyncio knows nothing of.
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
    /// A way to hold a thread.
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
        /// Running a loop inside a loop.
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
        /// Definitions and types lead all the way.
        High = "high",
    }
}

words! {
    /// The failure of a call that runs on an event loop, besides that it holds the thread.
    Fails {
        /// It raises, throws or panics.
        Raises = "raises",
        /// It can wait for itself.
        Deadlocks = "deadlocks",
    }
}

words! {
    /// The only kind of fix that is right for a call.
    FixKind {
        /// Its async twin.
        Twin = "twin",
        /// Handing it to a thread.
        Offload = "offload",
        /// None; the row's note explains why.
        None = "none",
    }
}

words! {
    /// The thread, loop or task to which a call, or a use of a value, belongs: no edit may move it to another thread.
    Bound {
        /// The thread in which it is made or called.
        Thread = "thread",
        /// The thread of the event loop that runs it.
        Loop = "loop",
        /// The task or context that calls it: what is changed there is lost to the caller.
        Context = "context",
        /// The task or context that calls it, which it only asks: a thread that is given a copy may do so too.
        ContextRead = "context-read",
        /// Unknown: it runs code that is loaded while the program runs.
        Loaded = "loaded",
        /// The thread that enters the `with` block of its result, until that is left: it moves with the whole block.
        Block = "block",
        /// None: any thread may call it, whatever other rows state of it.
        Nothing = "nothing",
    }
}

/// How long one call can block its thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Hold {
    /// The code shows neither.
    #[default]
    Unstated,
    /// Shortly: a row of severity `note`.
    Brief,
    /// At most so many seconds.
    Seconds(f64),
    /// Without bound.
    Unbounded,
}

impl Hold {
    /// Rank by length: nothing known, brief, seconds, unbounded.
    pub fn rank(self) -> (u8, f64) {
        match self {
            Hold::Unstated => (0, 0.0),
            Hold::Brief => (1, 0.0),
            Hold::Seconds(seconds) => (2, seconds),
            Hold::Unbounded => (3, 0.0),
        }
    }

    /// Returns the longer of the two.
    pub fn longest(self, other: Hold) -> Hold {
        let ((a, x), (b, y)) = (self.rank(), other.rank());
        if b > a || (b == a && y > x) { other } else { self }
    }
}

impl Runtime {
    /// Returns the functions that hand a call to a worker thread and can be awaited there, best first, with whether
    /// they pass keyword arguments on to the callable. One of a library that the file does not use is not taken.
    pub fn thread_functions(runtime: Option<Runtime>) -> &'static [(&'static str, bool)] {
        match runtime {
            Some(Runtime::Trio) => &[("trio.to_thread.run_sync", false)],
            Some(Runtime::Anyio) => &[("anyio.to_thread.run_sync", false)],
            Some(Runtime::Starlette) => &THREAD_FUNCTIONS[..2],
            // Under its own reactors no loop of asyncio runs.
            Some(Runtime::Twisted) => &[("twisted.internet.threads.deferToThread", true)],
            _ => THREAD_FUNCTIONS,
        }
    }
}

impl Runtime {
    /// Returns the publishers that a chain of this machinery is made of (Java).
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

    /// Returns the runtime whose functions are awaited in this one, where it is a kind of another.
    pub fn awaited_from(self) -> Runtime {
        match self {
            Runtime::TokioCurrentThread => Runtime::Tokio,
            other => other,
        }
    }

    /// Returns the function that runs a closure in a pool of threads that may block, and whether what is awaited then
    /// is a `Result` that reports the closure's panic (Rust).
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

/// The contexts and runtimes in which an effect holds: a bit per context, decided at the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WhereSet(u32);

impl WhereSet {
    /// Nowhere.
    pub const EMPTY: WhereSet = WhereSet(0);
    const EVENT_LOOP_RUNTIMES: u32 = 0xf_ffff;
    const GREENLET: u32 = 1 << 20;

    /// On every event-loop thread, whatever its runtime.
    pub const EVENT_LOOP: WhereSet = WhereSet(Self::EVENT_LOOP_RUNTIMES);

    /// On event-loop threads and greenlets.
    pub const ALL: WhereSet = WhereSet(Self::EVENT_LOOP_RUNTIMES | Self::GREENLET);

    /// Only on event-loop threads of this runtime.
    pub fn of_runtime(runtime: Runtime) -> Self {
        WhereSet(1 << runtime as u32)
    }

    /// Only in this context; workers and unknown threads may block, so they are the empty set.
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

    /// True if the set holds a root of this context and runtime. An event-loop root of unknown runtime is held only by
    /// a set that holds every runtime.
    pub fn holds(self, context: Context, runtime: Option<Runtime>) -> bool {
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
    fn every_word_reads_back() {
        for effect in Effect::ALL {
            assert_eq!(Effect::parse(effect.as_str()), Some(*effect));
        }
        for runtime in Runtime::ALL {
            assert_eq!(Runtime::parse(runtime.as_str()), Some(*runtime));
            assert!((*runtime as u32) < 20, "WhereSet has twenty bits for runtimes");
        }
    }

    #[test]
    fn a_cut_for_one_context_leaves_the_other() {
        let left = WhereSet::ALL.without(WhereSet::EVENT_LOOP);
        assert!(!left.holds(Context::EventLoop, Some(Runtime::Asyncio)));
        assert!(left.holds(Context::Greenlet, None));
    }

    #[test]
    fn longest_hold_wins() {
        assert_eq!(Hold::Seconds(2.0).longest(Hold::Seconds(5.0)), Hold::Seconds(5.0));
        assert_eq!(Hold::Unbounded.longest(Hold::Seconds(5.0)), Hold::Unbounded);
        assert_eq!(Hold::Unstated.longest(Hold::Brief), Hold::Brief);
    }
}
