//! The closed sets of words that only model files use.

use blocklint_core::Context;

pub use blocklint_core::{Bound, FixKind};
use serde::{Deserialize, Serialize};

blocklint_core::words! {
    /// Python: the effect of a worker thread on the loop that a call would block.
    Thread {
        /// It releases the GIL or can be interrupted.
        Frees = "frees",
        /// One long call under the GIL: a thread does not help.
        HoldsGil = "holds-gil",
    }
}

blocklint_core::words! {
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

blocklint_core::words! {
    /// A fact about its thread that a call shows to the code around it.
    Asks {
        /// By its result or by raising: whether an event loop runs in this thread.
        RunningLoop = "running-loop",
        /// By its truth: that this thread keeps something of its own, as threads that work do and a loop's does not.
        Worker = "worker",
        /// The words that a person wrote behind the program's name on a command line.
        Arguments = "arguments",
    }
}

blocklint_core::words! {
    /// A resource that a call makes and that rules count.
    Creates {
        /// Threads: an executor, a scheduler, a runtime.
        Threads = "threads",
        /// A client or connection: made again it costs a handshake.
        Connections = "connections",
        /// A pool of connections, or a client that runs threads of its own: made again it pools nothing.
        Pool = "pool",
    }
}

blocklint_core::words! {
    /// The role of a type in rules.
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

blocklint_core::words! {
    /// How a row meets project code where it is no argument.
    Via {
        /// The definition it decorates or annotates.
        Decorator = "decorator",
        /// Project definitions that override or implement the path.
        Override = "override",
    }
}

blocklint_core::words! {
    /// When a registered callable runs.
    Phase {
        /// For a request, a call from afar, or a connection of a client.
        Request = "request",
        /// For a message, an event or a signal, from outside or from a user.
        Message = "message",
        /// When a timer, an interval or a schedule says so.
        Tick = "tick",
        /// Beside others, once it is started.
        Task = "task",
        /// When configuration is read again.
        Reload = "reload",
        /// Before serving.
        Startup = "startup",
        /// While stopping.
        Exit = "exit",
        /// For a test.
        Test = "test",
        /// When a person runs a command and waits for it: once in a program.
        Command = "command",
    }
}

blocklint_core::words! {
    /// Where the arguments of a handed-over callable come from.
    Passes {
        /// The later arguments of the handing call.
        Rest = "rest",
        /// Those in its `args` and `kwargs` parameters.
        Args = "args",
    }
}

blocklint_core::words! {
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

blocklint_core::words! {
    /// The context that handovers to workers get by a switch.
    SwitchContext {
        /// Greenlets, except rows with `native`.
        Greenlet = "greenlet",
    }
}

impl Phase {
    /// True if it is a time while serving.
    pub fn serves(self) -> bool {
        match self {
            Phase::Request | Phase::Message | Phase::Tick | Phase::Task => true,
            Phase::Reload | Phase::Startup | Phase::Exit | Phase::Test | Phase::Command => false,
        }
    }
}

impl Unit {
    /// Returns the number of seconds in one such unit.
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

    /// Returns the value with this written form.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "caller" => Some(Runs::Caller),
            "chain" => Some(Runs::Chain),
            _ => Context::parse(text).map(Runs::In),
        }
    }

    /// Returns the written form.
    pub fn as_str(self) -> &'static str {
        match self {
            Runs::In(context) => context.as_str(),
            Runs::Caller => "caller",
            Runs::Chain => "chain",
        }
    }
}

impl Role {
    /// True if it is a lock of threads.
    pub fn is_lock(self) -> bool {
        matches!(self, Role::Lock | Role::ReentrantLock)
    }
}
