//! The enums whose written forms are values of model files: `source = "request"`, `role = "lock"`, `phase = "startup"`.

use blocklint_core::Context;

pub use blocklint_core::{Bound, FixKind};
use serde::{Deserialize, Serialize};

blocklint_core::words! {
    /// The effect that a worker thread with the call has on the event loop (`thread`, Python).
    Thread {
        /// The thread frees the event loop, because the call releases the GIL or can be interrupted.
        Frees = "frees",
        /// The thread does not help, because the call holds the GIL for long.
        HoldsGil = "holds-gil",
    }
}

blocklint_core::words! {
    /// The origin of the bytes of a result (`source`).
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
    /// The fact about its thread or program that a call shows to the code around it (`asks`).
    Asks {
        /// The result or an exception shows if an event loop runs in this thread.
        RunningLoop = "running-loop",
        /// A true result shows that this is a worker thread, because it has a value of its own that the event loop's
        /// thread does not have.
        Worker = "worker",
        /// The result is the arguments of the program's command line.
        Arguments = "arguments",
    }
}

blocklint_core::words! {
    /// The resource that a call creates (`creates`).
    Creates {
        /// Threads: an executor, a scheduler, a runtime.
        Threads = "threads",
        /// A client or connection, whose creation costs a handshake.
        Connections = "connections",
        /// A pool of connections, or a client with its own threads, which has no benefit if it is created for each
        /// call.
        Pool = "pool",
    }
}

blocklint_core::words! {
    /// The role of a type in rules (`role`).
    Role {
        /// A lock inside of the process.
        Lock = "lock",
        /// A lock that its holder may acquire again.
        ReentrantLock = "reentrant-lock",
        /// A guard that must not be alive over an `await`.
        Guard = "guard",
        /// A pool of connections.
        Pool = "pool",
        /// A pooled connection.
        Connection = "connection",
        /// The result of work that is already started.
        Future = "future",
        /// Work that starts at its subscription.
        Publisher = "publisher",
    }
}

blocklint_core::words! {
    /// The relation between a row's path and project code that is no argument (`via`).
    Via {
        /// Definitions that the path decorates or annotates.
        Decorator = "decorator",
        /// Definitions that override or implement the path.
        Override = "override",
    }
}

blocklint_core::words! {
    /// The phase of the program in which a registered callable runs (`phase`).
    Phase {
        /// For a request, a remote call, or a connection of a client.
        Request = "request",
        /// For a message, an event or a signal, from outside or from a user.
        Message = "message",
        /// For a timer, an interval or a schedule.
        Tick = "tick",
        /// As a task that runs concurrently with other tasks.
        Task = "task",
        /// For a reload of the configuration.
        Reload = "reload",
        /// Before the program serves.
        Startup = "startup",
        /// While the program stops.
        Exit = "exit",
        /// For a test.
        Test = "test",
        /// For a command that a person runs and waits for, once in a program.
        Command = "command",
    }
}

blocklint_core::words! {
    /// The source of the arguments of a callable that is passed to a library (`passes`).
    Passes {
        /// The arguments behind the callable.
        Rest = "rest",
        /// The arguments in the parameters `args` and `kwargs` of the call.
        Args = "args",
    }
}

blocklint_core::words! {
    /// The unit of a timeout that is a number (`unit`).
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
    /// The context that replaces `worker` in handovers if a switch is on.
    SwitchContext {
        /// Greenlets, except rows with `native`.
        Greenlet = "greenlet",
    }
}

impl Phase {
    /// True if the program serves during this phase.
    pub fn serves(self) -> bool {
        match self {
            Phase::Request | Phase::Message | Phase::Tick | Phase::Task => true,
            Phase::Reload | Phase::Startup | Phase::Exit | Phase::Test | Phase::Command => false,
        }
    }
}

impl Unit {
    /// Returns the number of seconds in the unit.
    pub fn seconds(self) -> f64 {
        match self {
            Unit::Seconds => 1.0,
            Unit::Millis => 1e-3,
            Unit::Micros => 1e-6,
        }
    }
}

/// The context in which a callable, a task or a part of a chain runs (`context`, `scheduler`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Runs {
    /// In this context.
    In(Context),
    /// On the thread of the call, during the call.
    Caller,
    /// On the thread on which the reactive chain runs at this operator.
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
