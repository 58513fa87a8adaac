//! The closed sets of words that only model files use.

use blocklint_core::Context;
use serde::{Deserialize, Serialize};

/// Defines an enum whose variants have one written form each.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$vmeta])* $variant,)* }

        impl $name {
            /// Every written form, in order.
            pub const WORDS: &'static [&'static str] = &[$($text,)*];

            /// The written form.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The value with this written form.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some($name::$variant),)* _ => None }
            }
        }
    };
}

words! {
    /// Python: whether a worker thread frees the loop from a call.
    Thread {
        /// It releases the GIL or can be interrupted.
        Frees = "frees",
        /// One long call under the GIL: a thread does not help.
        HoldsGil = "holds-gil",
    }
}

words! {
    /// To what a call, or whatever is done with a value of a type, belongs: no edit may move it to another thread.
    Bound {
        /// The thread in which it is made or called.
        Thread = "thread",
        /// The thread of the event loop that runs it.
        Loop = "loop",
        /// The task or context that calls it: what is changed there is lost to the caller.
        Context = "context",
        /// The task or context that calls it, which it only asks: a thread that is given a copy may do so too.
        ContextRead = "context-read",
        /// To nobody who can be asked: it runs code that is loaded while the program runs.
        Loaded = "loaded",
        /// The thread that enters the `with` block of what it gives, until that is left: it moves with the whole block.
        Block = "block",
        /// To nothing: any thread may call it, whatever other rows say of it.
        Nothing = "nothing",
    }
}

words! {
    /// The only kind of fix that is right for a call.
    FixKind {
        /// Its async twin.
        Twin = "twin",
        /// Handing it to a thread.
        Offload = "offload",
        /// None; the row's note says why.
        None = "none",
    }
}

words! {
    /// Where the bytes of a result come from.
    Source {
        /// The body or a parameter of a request.
        Request = "request",
        /// A response or a socket.
        Network = "network",
        /// A file.
        File = "file",
    }
}

words! {
    /// What a call tells the code around it.
    Asks {
        /// By its result or by raising: whether an event loop runs in this thread.
        RunningLoop = "running-loop",
        /// By its truth: that this thread keeps something of its own, as threads that work do and a loop's does not.
        Worker = "worker",
        /// The words that a person wrote behind the program's name on a command line.
        Arguments = "arguments",
    }
}

words! {
    /// What a call makes, which rules about resources count.
    Creates {
        /// Threads: an executor, a scheduler, a runtime.
        Threads = "threads",
        /// A client or connection: made anew it costs a handshake.
        Connections = "connections",
        /// A pool of connections, or a client that runs threads of its own: made anew it pools nothing.
        Pool = "pool",
    }
}

words! {
    /// What rules need to know of a type.
    Role {
        /// An in-process lock.
        Lock = "lock",
        /// One that lets the thread in again which has it.
        ReentrantLock = "reentrant-lock",
        /// A guard that must not live over an await.
        Guard = "guard",
        /// A pool of connections.
        Pool = "pool",
        /// A pooled connection.
        Connection = "connection",
        /// Work already started.
        Future = "future",
        /// Work that runs when subscribed to.
        Publisher = "publisher",
    }
}

words! {
    /// How a row meets project code where it is no argument.
    Via {
        /// The definition it decorates or annotates.
        Decorator = "decorator",
        /// Project definitions that override or implement the path.
        Override = "override",
    }
}

words! {
    /// When a registered callable runs, if not while serving.
    Phase {
        /// Before serving.
        Startup = "startup",
        /// While stopping.
        Exit = "exit",
        /// For a test.
        Test = "test",
        /// When a person gives a command, who waits for it: once in a program.
        Command = "command",
    }
}

words! {
    /// Where the arguments of a handed-over callable come from.
    Passes {
        /// The later arguments of the handing call.
        Rest = "rest",
        /// Those in its `args` and `kwargs` parameters.
        Args = "args",
    }
}

words! {
    /// Unit of a timeout written as a number.
    Unit {
        /// Seconds.
        Seconds = "s",
        /// Milliseconds.
        Millis = "ms",
        /// Microseconds.
        Micros = "us",
    }
}

words! {
    /// What a switch turns worker handovers into.
    SwitchContext {
        /// Greenlets, except rows with `native`.
        Greenlet = "greenlet",
    }
}

impl Unit {
    /// How many seconds one such unit is.
    pub fn seconds(self) -> f64 {
        match self {
            Unit::Seconds => 1.0,
            Unit::Millis => 1e-3,
            Unit::Micros => 1e-6,
        }
    }
}

/// Where a callable, a task or a part of a chain runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Runs {
    /// In this context.
    In(Context),
    /// On the thread that makes the call, during it.
    Caller,
    /// Wherever the reactive chain is at this operator.
    Chain,
}

impl Runs {
    /// Every written form.
    pub const WORDS: &'static [&'static str] = &["event-loop", "greenlet", "worker", "unknown", "caller", "chain"];

    /// The value with this written form.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "caller" => Some(Runs::Caller),
            "chain" => Some(Runs::Chain),
            _ => Context::parse(text).map(Runs::In),
        }
    }

    /// The written form.
    pub fn as_str(self) -> &'static str {
        match self {
            Runs::In(context) => context.as_str(),
            Runs::Caller => "caller",
            Runs::Chain => "chain",
        }
    }
}

impl Role {
    /// Whether it is a lock of threads.
    pub fn is_lock(self) -> bool {
        matches!(self, Role::Lock | Role::ReentrantLock)
    }
}
