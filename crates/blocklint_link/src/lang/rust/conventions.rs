//! Rust: calls by which a program serves, iterators that do not end, and calls that run a closure where it stands.

/// Methods and functions of libraries that serve, or take the next client. Methods of these names whose receiver is not known
/// count too: servers are put together by builders, and a program taken for one that serves is only reported more.
pub const SERVING: &[&str] = &[
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

/// Those whose name means other things elsewhere: they count where they are awaited.
pub const SERVING_AWAITED: &[&str] = &["accept", "launch", "accept_stream", "accept_bi"];

/// Derived traits of the standard library that make a value only as a copy of another one, or make none.
pub const DERIVED_FROM_OTHERS: &[&str] = &["Clone", "Copy", "Debug", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];

/// The derived trait that makes a value of the defaults of its fields: of a `bool` that is `false`.
pub const DERIVED_OF_DEFAULTS: &str = "Default";

/// How a type names itself in its own blocks.
pub const OWN_TYPE: &str = "Self";

/// Methods that run a closure at once and at most once, whatever their receiver is.
pub const RUNS_IN_PLACE: &[&str] = &[
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

/// Methods that make an iterator which goes on as long as the program.
pub const ENDLESS_ITERATORS: &[&str] = &["incoming", "forever", "recv", "iter_forever", "repeat", "cycle"];

/// Methods whose closure runs once, however often they are called.
pub const RUNS_ONCE: &[&str] = &["get_or_init", "get_or_try_init", "call_once", "call_once_force"];

/// Functions whose closure runs once, at the first use of their results.
pub const MAKES_ONCE: &[&str] = &[
    "std::sync::LazyLock::new",
    "std::cell::LazyCell::new",
    "once_cell::sync::Lazy::new",
    "once_cell::unsync::Lazy::new",
    "async_once_cell::Lazy::new",
];

/// Methods that wait for the next event: a loop around one of them goes on as long as there are some.
pub const WAITS_FOR_NEXT: &[&str] = &[
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

/// Functions that wait for what the user of a terminal does.
pub const ASKS_TERMINAL: &[&str] = &["crossterm::event::poll", "crossterm::event::read"];

/// Packages for programs with windows.
pub const WINDOW_TOOLKITS: &[&str] =
    &["tauri", "eframe", "iced", "gtk", "gtk4", "slint", "fltk", "druid", "winit", "relm4", "dioxus-desktop"];

/// True if a type is a builder by its name; its methods return it (Rust API guidelines, C-BUILDER:
/// <https://rust-lang.github.io/api-guidelines/type-safety.html#c-builder>).
pub fn is_builder(path: &str) -> bool {
    let last = path.rsplit("::").next().unwrap_or(path);
    last.ends_with("Builder") || last == "OpenOptions"
}

/// Names without which no program runs tasks on a runtime of one thread that it makes itself.
pub const ONE_THREAD: &[&str] = &["new_current_thread", "spawn_local", "LocalSet"];
