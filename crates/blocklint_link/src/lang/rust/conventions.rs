//! Rust: names with a conventional meaning: calls of servers, endless iterators, methods that run a closure in place,
//! window toolkits.

/// Methods and functions of libraries that serve, or accept the next client. Methods of these names count for any
/// receiver, because builders make servers of unknown types. A wrong match only adds findings.
pub const SERVING_CALLS: &[&str] = &[
    "serve",
    "serve_with_shutdown",
    "serve_with_incoming",
    "serve_with_incoming_shutdown",
    "serve_with_graceful_shutdown",
    "serve_connection",
    "serve_connection_with_upgrades",
    "serve_https",
    "bind_with_graceful_shutdown",
    "try_bind_with_graceful_shutdown",
    "incoming",
    "run_forever",
    "register_listener",
    "recv_from",
];

/// Methods that serve only if they are awaited, because other methods have these names, too.
pub const AWAITED_SERVING_CALLS: &[&str] = &["accept", "launch", "accept_stream", "accept_bi"];

/// Macros that poll several futures in turn on one thread, until all of them end.
pub const JOINING_MACROS: &[&str] = &["join", "try_join"];

/// True if a name says that a runtime, a pool or a thread is there for calculations: `cpu_pool`, `compute-worker`.
pub fn names_calculation(name: &str) -> bool {
    ["cpu", "comput", "calc"].iter().any(|part| name.contains(part))
}

/// Derived traits of the standard library that make no value, or only a copy of another value.
pub const DERIVED_FROM_OTHERS: &[&str] = &["Clone", "Copy", "Debug", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];

/// The derived trait that makes a value from the defaults of its fields: a `bool` is then `false`.
pub const DERIVED_OF_DEFAULTS: &str = "Default";

/// The name of the type of an impl block inside the block.
pub const SELF_TYPE: &str = "Self";

/// Methods that run a closure during the call and at most once, on any receiver.
pub const CLOSURE_RUNNERS: &[&str] = &[
    "map_err",
    "ok_or_else",
    "or_else",
    "unwrap_or_else",
    "inspect_err",
    "with_context",
    "get_or_init",
    "get_or_try_init",
    "get_or_insert_with",
    "call_once",
    "block_on",
    "block_in_place",
    "in_scope",
    "spawn",
    "spawn_blocking",
    "spawn_local",
    "scope",
];

/// Methods that return an iterator without an end.
pub const ENDLESS_ITERATORS: &[&str] = &["incoming", "forever", "recv", "iter_forever", "repeat", "cycle"];

/// Methods whose closure runs only in the first call.
pub const ONCE_METHODS: &[&str] = &["get_or_init", "get_or_try_init", "call_once", "call_once_force"];

/// Functions whose closure runs once, at the first use of the result.
pub const LAZY_CONSTRUCTORS: &[&str] = &[
    "std::sync::LazyLock::new",
    "std::cell::LazyCell::new",
    "once_cell::sync::Lazy::new",
    "once_cell::unsync::Lazy::new",
    "async_once_cell::Lazy::new",
];

/// Methods that wait for the next event. A loop around such a call runs as long as events come.
pub const EVENT_WAITS: &[&str] = &[
    "recv",
    "recv_many",
    "recv_async",
    "next",
    "try_next",
    "accept",
    "tick",
    "changed",
    "notified",
    "select",
    "select_next_some",
    "sleep",
    "sleep_until",
    "delay_for",
    "recv_from",
    "readable",
    "poll_next",
    "wait_for",
    "poll",
    "read",
];

/// Functions that wait for input of a terminal's user.
pub const TERMINAL_INPUT: &[&str] = &["crossterm::event::poll", "crossterm::event::read"];

/// Crates for programs with windows.
pub const WINDOW_TOOLKITS: &[&str] =
    &["tauri", "eframe", "iced", "gtk", "gtk4", "slint", "fltk", "druid", "winit", "relm4", "dioxus-desktop"];

/// True if a type is a builder by its name, so that its methods return the builder (Rust API guidelines, C-BUILDER:
/// <https://rust-lang.github.io/api-guidelines/type-safety.html#c-builder>).
pub fn is_builder(path: &str) -> bool {
    let last = path.rsplit("::").next().unwrap_or(path);
    last.ends_with("Builder") || last == "OpenOptions"
}

/// Names that a program must use to run tasks on a single-threaded runtime of its own.
pub const SINGLE_THREAD_RUNTIME_NAMES: &[&str] = &["new_current_thread", "spawn_local", "LocalSet"];

/// True if an attribute macro of a trait or an impl block rewrites its methods and calls none of them.
pub fn only_rewrites(attribute: &str) -> bool {
    matches!(attribute, "async_trait" | "automock" | "trait_variant")
}
