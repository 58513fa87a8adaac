//! Python: names with a conventional meaning: tests for coroutines, exceptions of lookups, functions that serve, shut
//! down, remove files or start processes.

use crate::syntax::forms;
use blocklint_facts::{AltKind, Comparison, FileFacts, Flow, Form, FormId};

/// True if a function of this name returns true for awaitable values: `iscoroutine`.
pub(crate) fn is_awaitable_test(name: &str) -> bool {
    matches!(name, "iscoroutine" | "isawaitable")
}

/// Returns the kind of function that a function of this name tests for: `inspect.iscoroutinefunction`.
pub(crate) fn tested_kind(name: &str) -> Option<Flow> {
    match name {
        "iscoroutinefunction" | "is_coroutine_function" | "is_async_callable" | "is_async_function" => {
            Some(Flow::Coroutine)
        }
        "isasyncgenfunction" => Some(Flow::AsyncGenerator),
        "isgeneratorfunction" => Some(Flow::Generator),
        _ => None,
    }
}

/// Names by which code finds classes or modules that it does not name itself.
pub const FINDING_CLASSES: &[&str] = &[
    "__subclasses__",
    "__init_subclass__",
    "__import__",
    "import_module",
    "import_string",
    "iter_modules",
    "walk_packages",
    "entry_points",
    "iter_entry_points",
    "getmembers",
    "locate",
    "globals",
    "exec",
    "eval",
    "load_extension",
    "spec_from_file_location",
];

/// The function that reads an attribute whose name is a value.
pub const GETTING_BY_NAME: &str = "getattr";

/// True if an exception of this name shows that a key is missing.
pub fn is_lookup_error(name: &str) -> bool {
    matches!(name, "KeyError" | "LookupError")
}

/// True if a method of this name runs the main work of its object and ends with it.
pub fn is_main_method(name: &str) -> bool {
    matches!(name, "start" | "run" | "serve" | "main" | "run_forever" | "serve_forever")
}

/// True if a method of this name runs at the beginning or end of `async with`.
pub fn is_async_context_method(name: &str) -> bool {
    matches!(name, "__aenter__" | "__aexit__")
}

/// True if a function of this name may be `typing.cast` ([`super::builtins::is_cast`]).
pub(crate) fn may_be_cast(name: &str) -> bool {
    name == "cast"
}

/// True if a function of this name only reads the class of a value.
pub(crate) fn asks_for_type(name: &str) -> bool {
    matches!(name, "isinstance" | "issubclass" | "cast" | "super")
}

/// True if a function of this name returns the number of elements.
pub(crate) fn returns_length(name: &str) -> bool {
    name == "len"
}

/// True if an attribute of this name is the value of an enumeration's member: `Kind.VIDEO.value`.
pub(crate) fn is_enum_value_attribute(name: &str) -> bool {
    name == "value"
}

/// True if a test is true for type checkers only: `TYPE_CHECKING`, `typing.TYPE_CHECKING`.
pub fn is_for_type_checkers(facts: &FileFacts, test: FormId) -> bool {
    let name = match facts.form(test) {
        Form::Attr(_, name) | Form::Name(name) => name,
        Form::Var(var) => facts.var(var).name,
        _ => return false,
    };
    facts.text(name) == "TYPE_CHECKING"
}

/// True if a test is true only if an environment variable is set, or has a certain value: `os.getenv("DEBUG")`,
/// `"DEBUG" in os.environ`, `os.environ.get("MODE") == "test"`.
pub(crate) fn is_environment_test(facts: &FileFacts, test: FormId) -> bool {
    let is_environment = |form: FormId| match facts.form(form) {
        Form::Attr(_, name) => facts.text(name) == "environ",
        Form::Var(var) => facts.text(facts.var(var).name) == "environ",
        _ => false,
    };
    match facts.form(test) {
        Form::Result(call) => {
            let site_facts = facts.site(call);
            let reads_environment = match facts.form(site_facts.callee) {
                Form::Attr(base, name) => {
                    facts.text(name) == "getenv" || facts.text(name) == "get" && is_environment(base)
                }
                Form::Var(var) => facts.text(facts.var(var).name) == "getenv",
                _ => false,
            };
            reads_environment && facts.args_of(call).len() == 1
        }
        Form::Compare(Comparison::In, _, right) => is_environment(right),
        Form::Compare(Comparison::Eq | Comparison::IsNot, left, _) => is_environment_test(facts, left),
        Form::Alt(AltKind::And, list) => facts.list(list).iter().any(|&part| is_environment_test(facts, part)),
        _ => false,
    }
}

/// True if an exception of this name shows that a text is malformed.
pub fn is_malformed_data_error(name: &str) -> bool {
    matches!(name, "JSONDecodeError" | "UnicodeDecodeError" | "TOMLDecodeError" | "YAMLError" | "ValidationError")
}

/// True if an exception of this name can come from malformed data.
pub fn may_be_malformed_data_error(name: &str) -> bool {
    is_malformed_data_error(name)
        || matches!(name, "ValueError" | "KeyError" | "TypeError" | "IndexError" | "AttributeError" | "EOFError")
}

/// The exception and the functions that end a program with an exit code.
pub const PROGRAM_EXITS: &[&str] = &["SystemExit", "exit", "_exit"];

/// True if a method of this name adds its argument to a collection: `tasks.append(load())`.
pub fn adds_to_collection(name: &str) -> bool {
    matches!(name, "append" | "add" | "extend" | "insert")
}

/// True if a call of this name, by convention, starts tasks.
pub fn has_concurrent_name(name: &str) -> bool {
    ["task", "gather", "soon", "nursery", "spawn"].iter().any(|part| name.contains(part))
}

/// True if an annotation states that a function never returns.
pub fn never_returns(facts: &FileFacts, annotation: FormId) -> bool {
    forms::last_name(facts, annotation).is_some_and(|name| matches!(facts.text(name), "NoReturn" | "Never"))
}

/// True if a function of this name, by convention, is the main function of a program.
pub fn may_be_main(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    let first_word = name.split('_').next().unwrap_or(name);
    matches!(first_word, "main" | "run" | "start" | "cli" | "launch" | "execute" | "serve" | "worker")
        || name.ends_with("_main")
}

/// True if a function of this name, by convention, is called only in its own module or class.
pub fn is_private(name: &str) -> bool {
    name.starts_with('_') && !name.ends_with("__")
}

/// True if a method of this name, by convention, ends the program or an object that lives as long as the program.
pub fn ends_the_program(name: &str) -> bool {
    matches!(
        name.trim_start_matches('_').trim_start_matches("async_"),
        "shutdown" | "on_shutdown" | "graceful_shutdown" | "shutdown_gracefully" | "teardown"
    )
}

/// True if a function of this name, by convention, removes files or entries.
pub fn removes(name: &str) -> bool {
    name.trim_start_matches('_').split('_').any(|word| {
        matches!(word, "remove" | "delete" | "unlink" | "rmtree" | "rmdir" | "clean" | "cleanup" | "discard")
    })
}

/// True if a function of this name removes one file or one empty folder.
pub fn removes_one_entry(name: &str) -> bool {
    matches!(name, "unlink" | "remove" | "rmdir")
}

/// True if a function of this name reads or changes the metadata of a file, not its content.
pub fn is_metadata_function(name: &str) -> bool {
    removes_one_entry(name)
        || matches!(name, "exists" | "lexists" | "is_file" | "is_dir" | "is_symlink" | "is_mount" | "isfile" | "isdir")
        || matches!(name, "islink" | "ismount" | "stat" | "lstat" | "access" | "getsize" | "getmtime" | "getatime")
        || matches!(name, "getctime" | "samefile" | "chmod" | "chown" | "utime" | "touch" | "mkdir" | "makedirs")
}

/// True if a function of this name, by convention, starts a process.
pub fn starts_process(name: &str) -> bool {
    matches!(
        name.trim_start_matches('_'),
        "create_subprocess_exec" | "create_subprocess_shell" | "open_process" | "run_process" | "start_process"
    )
}

/// True if a function of this name handles one file. Functions for a tree of files, or for a copy of any size, are left
/// out.
pub fn is_single_file_function(name: &str) -> bool {
    is_metadata_function(name)
        || reads(name)
        || matches!(name, "open" | "write" | "write_text" | "write_bytes")
        || matches!(name, "mkstemp" | "mkdtemp" | "NamedTemporaryFile" | "TemporaryDirectory")
}

/// True if a method of this name reads a file.
pub fn reads(name: &str) -> bool {
    matches!(name, "read" | "read_text" | "read_bytes")
}

/// True if calls of a function of this name are short even in a loop: a module is imported once, and `close` writes
/// only the rest of a buffer.
pub(crate) fn stays_short(name: &str) -> bool {
    matches!(name, "import_module" | "__import__" | "close")
}

/// True if a class of this name, by convention, is an exception.
pub(crate) fn has_exception_name(name: &str) -> bool {
    name.ends_with("Exception") || name.ends_with("Error")
}

/// True if an awaited call of this name, by convention, runs until it is stopped: `await server.serve()`.
pub fn serves(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    let first_word = name.split('_').next().unwrap_or(name);
    matches!(first_word, "serve" | "listen" | "consume" | "poll" | "watch" | "loop")
        || matches!(name, "run" | "start" | "wait_closed" | "mainloop" | "run_app" | "run_server" | "start_server")
        || ["_forever", "_loop", "_until_stopped", "_polling"].iter().any(|end| name.ends_with(end))
}

/// True if a call of this name runs until it is stopped, on any receiver: `serve_forever`.
pub fn always_serves(name: &str) -> bool {
    matches!(
        name,
        "serve" | "serve_forever" | "run_forever" | "start_server" | "start_unix_server" | "run_app" | "run_polling"
    ) || matches!(name, "start_polling" | "infinity_polling" | "run_until_disconnected" | "run_server")
}

/// The name of the list of a program's command-line arguments.
pub const COMMAND_LINE_ARGUMENTS: &[&str] = &["argv"];

/// True if a text mentions administrators: `/admin/users`, `is_superuser`.
pub fn mentions_administrators(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["admin", "superuser", "staff"].iter().any(|word| text.contains(word))
}

/// True if a folder or file of this name, by convention, contains database migrations.
pub fn holds_migrations(name: &str) -> bool {
    matches!(name, "migration" | "migrations" | "migrate" | "alembic")
}

/// True if a folder of this name, by convention, contains documentation or benchmarks, whose code is not part of the
/// program.
pub fn is_documentation_or_benchmarks(name: &str) -> bool {
    let is_documentation = matches!(name, "doc" | "docs" | "documentation" | "tutorials");
    is_documentation
        || ["bench", "benchmark", "stresstest", "stress_test", "loadtest", "load_test"]
            .iter()
            .any(|start| name.starts_with(start))
}

/// True if a function of the standard library changes an entry of a folder and reads or writes no content. Such a call
/// takes about as long as the start of a thread.
pub fn changes_only_entries(path: &str) -> bool {
    let Some((owner, name)) = path.rsplit_once('.') else { return false };
    let is_os_function = matches!(
        name,
        "remove" | "rename" | "replace" | "mkdir" | "rmdir" | "unlink" | "utime" | "chmod" | "link" | "symlink"
    );
    let is_path_method = matches!(
        name,
        "unlink" | "rename" | "replace" | "mkdir" | "rmdir" | "touch" | "chmod" | "symlink_to" | "hardlink_to"
    );
    match owner {
        "os" => is_os_function,
        "pathlib.Path" => is_path_method,
        _ => false,
    }
}

/// True if a coroutine of this name, by convention, starts its object and runs once.
pub fn starts_up(name: &str) -> bool {
    matches!(
        name.trim_start_matches('_'),
        "boot"
            | "bootstrap"
            | "do_run"
            | "init"
            | "initialize"
            | "initialise"
            | "launch"
            | "lifespan"
            | "main"
            | "on_ready"
            | "on_start"
            | "on_startup"
            | "setup"
            | "setup_hook"
            | "start"
            | "start_up"
            | "startup"
    )
}
