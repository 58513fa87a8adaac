//! Python: names whose meaning is a convention.

use crate::syntax::forms;
use blocklint_facts::{AltKind, Comparison, FileFacts, Flow, Form, FormId};

/// True if a function of this name tests whether a value can be awaited.
pub(crate) fn asks_for_coroutine(name: &str) -> bool {
    matches!(name, "iscoroutine" | "isawaitable")
}

/// Returns the kind of functions that a function asks for, as `inspect` and its like have them.
pub(crate) fn kind_asked_for(name: &str) -> Option<Flow> {
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
pub fn is_of_lookup(name: &str) -> bool {
    matches!(name, "KeyError" | "LookupError")
}

/// True if a method of this name runs the main work of its object and ends with it.
pub fn runs_object(name: &str) -> bool {
    matches!(name, "start" | "run" | "serve" | "main" | "run_forever" | "serve_forever")
}

/// True if a method of this name enters or leaves an object of `async with`.
pub fn enters_or_leaves(name: &str) -> bool {
    matches!(name, "__aenter__" | "__aexit__")
}

/// True if a function of this name may be [`super::python::is_cast`].
pub(crate) fn casts(name: &str) -> bool {
    name == "cast"
}

/// True if a function only deals with the class of a value.
pub(crate) fn asks_for_type(name: &str) -> bool {
    matches!(name, "isinstance" | "issubclass" | "cast" | "super")
}

/// True if a function counts the elements of a collection or text.
pub(crate) fn counts(name: &str) -> bool {
    name == "len"
}

/// True if an attribute of this name is the value of an enumeration's member.
pub(crate) fn asks_for_value(name: &str) -> bool {
    name == "value"
}

/// True if a test holds for type checkers only: `TYPE_CHECKING`, `typing.TYPE_CHECKING`.
pub fn is_for_type_checkers(facts: &FileFacts, test: FormId) -> bool {
    let name = match facts.form(test) {
        Form::Attr(_, name) | Form::Name(name) => name,
        Form::Var(var) => facts.var(var).name,
        _ => return false,
    };
    facts.text(name) == "TYPE_CHECKING"
}

/// True if a test holds only where the environment has a variable, or one value of it, that it lacks by default.
pub(crate) fn asks_environment(facts: &FileFacts, test: FormId) -> bool {
    let is_environment = |form: FormId| match facts.form(form) {
        Form::Attr(_, name) => facts.text(name) == "environ",
        Form::Var(var) => facts.text(facts.var(var).name) == "environ",
        _ => false,
    };
    match facts.form(test) {
        Form::Result(call) => {
            let row = facts.site(call);
            let reads = match facts.form(row.callee) {
                Form::Attr(base, name) => {
                    facts.text(name) == "getenv" || facts.text(name) == "get" && is_environment(base)
                }
                Form::Var(var) => facts.text(facts.var(var).name) == "getenv",
                _ => false,
            };
            reads && facts.args_of(call).len() == 1
        }
        Form::Compare(Comparison::In, _, right) => is_environment(right),
        Form::Compare(Comparison::Eq | Comparison::IsNot, left, _) => asks_environment(facts, left),
        Form::Alt(AltKind::And, list) => facts.list(list).iter().any(|&part| asks_environment(facts, part)),
        _ => false,
    }
}

/// True if an exception of this name shows that a text is malformed.
pub fn is_of_broken_data(name: &str) -> bool {
    matches!(name, "JSONDecodeError" | "UnicodeDecodeError" | "TOMLDecodeError" | "YAMLError" | "ValidationError")
}

/// True if an exception of this name can come from malformed data.
pub fn may_be_of_broken_data(name: &str) -> bool {
    is_of_broken_data(name)
        || matches!(name, "ValueError" | "KeyError" | "TypeError" | "IndexError" | "AttributeError" | "EOFError")
}

/// The names that end a program with an exit code.
pub const EXITS: &[&str] = &["SystemExit", "exit", "_exit"];

/// True if a call of this name, by convention, starts tasks.
pub fn sounds_concurrent(name: &str) -> bool {
    ["task", "gather", "soon", "nursery", "spawn"].iter().any(|part| name.contains(part))
}

/// True if an annotation states that a function never returns.
pub fn never_returns(facts: &FileFacts, annotation: FormId) -> bool {
    forms::last_name(facts, annotation).is_some_and(|name| matches!(facts.text(name), "NoReturn" | "Never"))
}

/// True if a function of this name, by convention, is the main function of a program.
pub fn may_be_main(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    let first = name.split('_').next().unwrap_or(name);
    matches!(first, "main" | "run" | "start" | "cli" | "launch" | "execute" | "serve" | "worker")
        || name.ends_with("_main")
}

/// True if a function of this name, by convention, is called only in its own module or class.
pub fn is_private(name: &str) -> bool {
    name.starts_with('_') && !name.ends_with("__")
}

/// True if a method of this name, by convention, ends the program or an object that lives as long as it does.
pub fn ends_the_program(name: &str) -> bool {
    matches!(
        name.trim_start_matches('_').trim_start_matches("async_"),
        "shutdown" | "on_shutdown" | "graceful_shutdown" | "shutdown_gracefully" | "teardown"
    )
}

/// True if a function of this name, by convention, removes something.
pub fn removes(name: &str) -> bool {
    name.trim_start_matches('_').split('_').any(|word| {
        matches!(word, "remove" | "delete" | "unlink" | "rmtree" | "rmdir" | "clean" | "cleanup" | "discard")
    })
}

/// True if a function of this name removes one file or one empty folder.
pub fn removes_one(name: &str) -> bool {
    matches!(name, "unlink" | "remove" | "rmdir")
}

/// True if a function of this name reads or changes the metadata of a file, not its content.
pub fn is_of_entry(name: &str) -> bool {
    removes_one(name)
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
pub fn is_of_one_file(name: &str) -> bool {
    is_of_entry(name)
        || reads(name)
        || matches!(name, "open" | "write" | "write_text" | "write_bytes")
        || matches!(name, "mkstemp" | "mkdtemp" | "NamedTemporaryFile" | "TemporaryDirectory")
}

/// True if a method of this name reads a file.
pub fn reads(name: &str) -> bool {
    matches!(name, "read" | "read_text" | "read_bytes")
}

/// True if calls of a function of this name stay short in a loop: a module is imported once, and `close` writes only
/// the rest of a buffer.
pub(crate) fn stays_short(name: &str) -> bool {
    matches!(name, "import_module" | "__import__" | "close")
}

/// True if a class of this name, by convention, is an exception.
pub(crate) fn sounds_like_exception(name: &str) -> bool {
    name.ends_with("Exception") || name.ends_with("Error")
}

/// True if an awaited call of this name, by convention, goes on until it is asked to end.
pub fn serves(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    let first = name.split('_').next().unwrap_or(name);
    matches!(first, "serve" | "listen" | "consume" | "poll" | "watch" | "loop")
        || matches!(name, "run" | "start" | "wait_closed" | "mainloop" | "run_app" | "run_server" | "start_server")
        || ["_forever", "_loop", "_until_stopped", "_polling"].iter().any(|end| name.ends_with(end))
}

/// Returns true if a call of this name can only be one that goes on until it is asked to end, whatever its receiver is.
pub fn serves_for_sure(name: &str) -> bool {
    matches!(
        name,
        "serve" | "serve_forever" | "run_forever" | "start_server" | "start_unix_server" | "run_app" | "run_polling"
    ) || matches!(name, "start_polling" | "infinity_polling" | "run_until_disconnected" | "run_server")
}

/// Names under which a program finds what stands behind its name on a command line.
pub const ARGUMENTS: &[&str] = &["argv"];

/// True if a text names the administrators of a program.
pub fn names_administrators(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["admin", "superuser", "staff"].iter().any(|word| text.contains(word))
}

/// True if a folder or file of this name holds migrations, by convention; Alembic's folder is one.
pub fn holds_migrations(name: &str) -> bool {
    matches!(name, "migration" | "migrations" | "migrate" | "alembic")
}

/// True if a project's own folder of this name holds documentation or benchmarks, by convention: code there serves no
/// users.
pub fn shows_or_measures(name: &str) -> bool {
    let words = matches!(name, "doc" | "docs" | "documentation" | "tutorials");
    words
        || ["bench", "benchmark", "stresstest", "stress_test", "loadtest", "load_test"]
            .iter()
            .any(|of| name.starts_with(of))
}

/// True if a call of the standard library changes a name in a folder and touches no content. Such a call takes about as
/// long as the thread that it would need.
pub fn only_changes_names(path: &str) -> bool {
    let Some((owner, name)) = path.rsplit_once('.') else { return false };
    let of_os = matches!(
        name,
        "remove" | "rename" | "replace" | "mkdir" | "rmdir" | "unlink" | "utime" | "chmod" | "link" | "symlink"
    );
    let of_path = matches!(
        name,
        "unlink" | "rename" | "replace" | "mkdir" | "rmdir" | "touch" | "chmod" | "symlink_to" | "hardlink_to"
    );
    match owner {
        "os" => of_os,
        "pathlib.Path" => of_path,
        _ => false,
    }
}

/// True if a coroutine of this name, by convention, starts its object, once.
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
