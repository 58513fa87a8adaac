//! The parsed content of a model file: the file, its rows and their keys.

use blocklint_core::{CallDuration, Context, Effect, Fails, Language, Runtime, Severity, Work, WorkKind};
use serde::{Deserialize, Serialize};

use super::argument::Argument;
use super::condition::{Condition, Test};
use super::error::{ModelError, Table};
use super::path::Path;
use super::template::Template;
use super::type_expr::TypeExpr;
use super::version::{Version, VersionRange};
use super::words::{
    Asks, Bound, Creates, FixKind, Passes, Phase, Role, Runs, Source, SwitchContext, Thread, Unit, Via,
};

/// The header of one model file, as the compiled table keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileInfo {
    /// The caller's label for the file; for built-in files their path.
    pub label: String,
    /// Language of the library.
    pub language: Language,
    /// The library's name in the registry and other names of the same code; empty only in user files.
    pub libraries: Vec<String>,
    /// The path prefixes that the file may describe; empty only in user files, which may describe any path.
    pub roots: Vec<String>,
    /// The versions of the library that the file describes.
    pub version: Option<VersionRange>,
    /// The address of the library's documentation.
    pub docs: Option<String>,
    /// The bills of materials and plugins whose version decides the library's version (Java).
    pub managed: Vec<Managed>,
    /// True if some row has `since`.
    pub dated: bool,
}

/// The versions of a library that come with the versions of a bill of materials, a plugin or a release train (Java).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Managed {
    /// The names of the bill of materials in builds: `group:artifact`, or the identifier of a plugin.
    pub by: Vec<String>,
    /// Pairs of the first numbers or the name of a version of it, and the library's version from that version on.
    pub versions: Vec<(String, Version)>,
}

impl Managed {
    /// Returns the library's version for a version of the bill of materials: by the longest listed name with which that
    /// version begins, or by the next older number.
    pub fn library_version(&self, version: &str) -> Option<&Version> {
        let begins_with = |prefix: &str| {
            version
                .strip_prefix(prefix)
                .is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
        };
        let by_name =
            self.versions.iter().filter(|(prefix, _)| begins_with(prefix)).max_by_key(|(prefix, _)| prefix.len());
        let by_older_number = || {
            let parsed = Version::parse_loose(version)?;
            let numbered = self.versions.iter().filter_map(|row| Some((Version::parse(&row.0)?, row)));
            numbered.filter(|(number, _)| *number <= parsed).max_by(|a, b| a.0.cmp(&b.0)).map(|(_, row)| row)
        };
        by_name.or_else(by_older_number).map(|(_, version)| version)
    }
}

/// The parsed content of a model file.
#[derive(Clone, Debug)]
pub struct File {
    /// The header.
    pub info: FileInfo,
    /// `[alias]`: the spelling, the path that rows use, and the line.
    pub aliases: Vec<(String, String, u32)>,
    /// `[[call]]` rows, in order.
    pub calls: Vec<Entry<CallRow>>,
    /// `[[type]]` rows, in order.
    pub types: Vec<Entry<TypeRow>>,
    /// `[[handover]]` rows, in order.
    pub handovers: Vec<Entry<HandoverRow>>,
    /// `[[switch]]` rows, in order.
    pub switches: Vec<Entry<Switch>>,
}

impl File {
    /// Returns the number of rows.
    pub fn row_count(&self) -> usize {
        self.calls.len() + self.types.len() + self.handovers.len() + self.switches.len()
    }

    /// Removes the rows and aliases that have errors.
    pub fn drop_rows(&mut self, errors: &[ModelError]) {
        // A row ends at the next `[[...]]` of any table.
        let mut row_lines: Vec<u32> = Vec::new();
        row_lines.extend(self.calls.iter().map(|entry| entry.line));
        row_lines.extend(self.types.iter().map(|entry| entry.line));
        row_lines.extend(self.handovers.iter().map(|entry| entry.line));
        row_lines.extend(self.switches.iter().map(|entry| entry.line));
        row_lines.sort_unstable();
        let line_of_row = |line: u32| {
            row_lines.partition_point(|row_line| *row_line <= line).checked_sub(1).map(|index| row_lines[index])
        };
        let row_errors = errors.iter().filter(|error| !matches!(error.table, Table::Top | Table::Alias));
        let broken_rows: Vec<u32> = row_errors.filter_map(|error| line_of_row(error.line)).collect();
        self.calls.retain(|entry| !broken_rows.contains(&entry.line));
        self.types.retain(|entry| !broken_rows.contains(&entry.line));
        self.handovers.retain(|entry| !broken_rows.contains(&entry.line));
        self.switches.retain(|entry| !broken_rows.contains(&entry.line));
        let broken_aliases: Vec<u32> =
            errors.iter().filter(|error| error.table == Table::Alias).map(|error| error.line).collect();
        self.aliases.retain(|(_, _, line)| !broken_aliases.contains(line));
    }
}

/// A row with its paths (a switch has none) and the lines of its keys.
#[derive(Clone, Debug)]
pub struct Entry<R> {
    /// Every expanded path.
    pub paths: Vec<Path>,
    /// Line of `[[...]]`, from 1.
    pub line: u32,
    /// Each key of the row, with its line.
    pub keys: Vec<(String, u32)>,
    /// True if all keys are known. If a key is unknown, a missing key is not reported as a second error.
    pub all_known: bool,
    /// The content of the row.
    pub row: R,
}

impl<R> Entry<R> {
    /// Returns the line of a key, or of the row's head if the key is missing.
    pub fn line_of(&self, key: &str) -> u32 {
        self.keys.iter().find(|(name, _)| name == key).map_or(self.line, |(_, line)| *line)
    }

    /// True if the row has the key.
    pub fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|(name, _)| name == key)
    }

    pub(super) fn error(&self, file: &FileInfo, table: Table, key: &str, message: impl Into<String>) -> ModelError {
        ModelError {
            file: file.label.clone(),
            line: self.line_of(key),
            table,
            key: key.to_owned(),
            message: message.into(),
        }
    }
}

/// The value of `effect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RowEffect {
    /// `none`: harmless.
    Harmless,
    /// The call holds its thread for an operation of this kind.
    Holds(Effect),
}

/// A `[[call]]` row: the effect and the result of calling a name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallRow {
    /// Line of the row's `path` in its file, from 1.
    pub line: u32,
    /// Conditions that must all be proven for the row to hold.
    pub when: Vec<Condition>,
    /// Conditions of which none may be proven for the row to hold.
    pub unless: Vec<Condition>,
    /// The versions for which the row holds, within those of the file.
    pub version: Option<VersionRange>,
    /// The reason why the row is not verified against the library.
    pub unchecked: Option<String>,
    /// The kind of operation for which the call holds its thread.
    pub effect: Option<RowEffect>,
    /// The kind of work within the effect; `None` if the row does not state it.
    pub kind: Option<WorkKind>,
    /// The time for which one call holds its thread; `None` means the time of its kind of work.
    pub duration: Option<CallDuration>,
    /// True if neither gevent nor eventlet makes the call cooperative.
    pub native: bool,
    /// The severity on a greenlet, if it is less than `severity`.
    pub native_severity: Option<Severity>,
    /// The effect that a worker thread with the call has on the event loop (Python); `None` if the row does not state
    /// it.
    pub thread: Option<Thread>,
    /// The thread, loop or task to which the call belongs, so that it cannot move to another thread.
    pub bound: Option<Bound>,
    /// The severity; `None` means that of the kind of work.
    pub severity: Option<Severity>,
    /// The failure of the call on an event loop, in addition to its effect.
    pub fails: Option<Fails>,
    /// The argument that limits the time of the call.
    pub timeout: Option<Argument>,
    /// The unit of `timeout`; `None` means that of the language.
    pub unit: Option<Unit>,
    /// The time limit of a call without the argument `timeout`, in the same unit; `None` if it has no limit.
    pub default: Option<f64>,
    /// The method of the receiver whose call ends the wait; `*` means any call that ends it.
    pub ended_by: Option<String>,
    /// True if the call only builds a lazy result; the code that consumes the result has the effect.
    pub lazy: bool,
    /// The argument with a lazy value that the call consumes.
    pub consumes: Option<Argument>,
    /// True if the call returns a coroutine, future or task; `None` if the row does not state it.
    pub is_async: Option<bool>,
    /// True if the row describes reading a property.
    pub property: bool,
    /// The type of the call's result.
    pub returns: Option<TypeExpr>,
    /// The state that the result or receiver has after the call.
    pub state: Option<String>,
    /// The origin of the bytes of the result.
    pub source: Option<Source>,
    /// The argument whose bytes or text the call returns in another form.
    pub same: Option<Argument>,
    /// The argument that the call adds to the elements of its receiver.
    pub adds: Option<Argument>,
    /// The fact about its thread that the call shows to the code around it.
    pub asks: Option<Asks>,
    /// True if the call serves clients, messages or events until the program ends, or creates an object that does.
    pub serves: bool,
    /// `Decorator` if the row describes calls of project methods without a body that have this annotation.
    pub via: Option<Via>,
    /// The resource that the call creates.
    pub creates: Option<Creates>,
    /// The concurrency of the work that the call starts, or the bound that it sets.
    pub concurrency: Option<Concurrency>,
    /// The context of the tasks of the scheduler or executor that the call returns.
    pub scheduler: Option<Runs>,
    /// The part of a reactive chain that the call moves to another thread, and that thread.
    pub moves: Option<Moves>,
    /// The feature of its crate that the call needs (Rust).
    pub feature: Option<String>,
    /// The version of the library from which on an edit can call it.
    pub since: Option<Version>,
    /// The async twin.
    pub instead: Option<Instead>,
    /// The edit, if renaming the callee and awaiting the call is not right.
    pub rewrite: Option<Rewrite>,
    /// The only kind of fix that is right.
    pub fix: Option<FixKind>,
    /// A remark that is shown with the finding.
    pub note: Option<String>,
}

impl CallRow {
    /// True if the row decides `effect` and the keys that belong to it, because it has `effect` or `lazy`.
    pub fn has_effect_group(&self) -> bool {
        self.effect.is_some() || self.lazy
    }

    /// Returns the effect of the row; `None` if it is harmless or unstated.
    pub fn held_effect(&self) -> Option<Effect> {
        match self.effect {
            Some(RowEffect::Holds(effect)) => Some(effect),
            Some(RowEffect::Harmless) | None => None,
        }
    }

    /// Returns the work of the call; `None` if it is harmless or has no stated effect.
    pub fn work(&self) -> Option<Work> {
        self.held_effect().map(|effect| Work { effect, kind: self.kind })
    }

    /// True if the row applies only to a stream whose source is unknown (`unseen = true`).
    pub fn requires_unseen_source(&self) -> bool {
        self.when.iter().any(|condition| condition.tests.contains(&Test::Unseen))
    }

    /// True if the row has conditions.
    pub fn is_conditional(&self) -> bool {
        !self.when.is_empty() || !self.unless.is_empty()
    }
}

/// The value of `concurrency`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Concurrency {
    /// All work runs at once, without a bound.
    Unbounded,
    /// Work is bounded while the result of the call is held, like a permit.
    Bounded,
    /// As many pieces of work run at once as this argument says.
    Argument(Argument),
}

/// The value of `moves`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Moves {
    /// The operators before this one, up to the source, move.
    Source(MoveTo),
    /// The operators after this one move.
    Rest(MoveTo),
}

/// The destination of a part of a chain that moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MoveTo {
    /// A context.
    Runs(Runs),
    /// The scheduler in this argument.
    Scheduler(Argument),
}

/// The async twins of a call, as written: `expand_twin` replaces `*`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Instead {
    /// For every runtime, in order of preference.
    Any(Vec<String>),
    /// Per runtime, in order of preference.
    ByRuntime(Vec<(Runtime, Vec<String>)>),
}

impl Instead {
    /// Returns the twins for one runtime, in order of preference.
    pub fn for_runtime(&self, runtime: Option<Runtime>) -> &[String] {
        match self {
            Instead::Any(twins) => twins,
            Instead::ByRuntime(table) => {
                let entry = |runtime: Option<Runtime>| table.iter().find(|(key, _)| Some(*key) == runtime);
                let entry = entry(runtime).or_else(|| entry(runtime.map(Runtime::awaited_from)));
                entry.map_or(&[], |(_, twins)| twins.as_slice())
            }
        }
    }

    /// Returns every twin.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        let (any, table) = match self {
            Instead::Any(twins) => (twins.as_slice(), [].as_slice()),
            Instead::ByRuntime(table) => ([].as_slice(), table.as_slice()),
        };
        any.iter().chain(table.iter().flat_map(|(_, twins)| twins)).map(String::as_str)
    }
}

/// The edit of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rewrite {
    /// For every runtime.
    Any(Template),
    /// Per runtime.
    ByRuntime(Vec<(Runtime, Template)>),
}

impl Rewrite {
    /// Returns the template for one runtime.
    pub fn for_runtime(&self, runtime: Option<Runtime>) -> Option<&Template> {
        match self {
            Rewrite::Any(template) => Some(template),
            Rewrite::ByRuntime(table) => {
                let entry = |runtime: Option<Runtime>| table.iter().find(|(key, _)| Some(*key) == runtime);
                let entry = entry(runtime).or_else(|| entry(runtime.map(Runtime::awaited_from)));
                entry.map(|(_, template)| template)
            }
        }
    }
}

/// A `[[type]]` row: the bases, fields, elements and other properties of a type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TypeRow {
    /// Line of the row's `path` in its file, from 1.
    pub line: u32,
    /// The versions for which the row holds, within those of the file.
    pub version: Option<VersionRange>,
    /// The reason why the row is not verified against the library.
    pub unchecked: Option<String>,
    /// The type parameters, in order.
    pub params: Vec<String>,
    /// The types that the type derives from or implements.
    pub bases: Vec<TypeExpr>,
    /// The attributes and fields, with their types.
    pub fields: Vec<(String, TypeExpr)>,
    /// The type of an element by iteration or index.
    pub element: Option<TypeExpr>,
    /// The type of the result of awaiting a value.
    pub awaits: Option<TypeExpr>,
    /// The type of the value that `with ... as` binds; `None` means the type itself.
    pub enters: Option<TypeExpr>,
    /// The type parameter whose members the type has as well, like the parameter of a smart pointer.
    pub through: Option<String>,
    /// The only abstract method of a functional interface (Java).
    pub functional: Option<String>,
    /// The role of the type in rules.
    pub role: Option<Role>,
    /// The origin of the bytes of its values, if the code does not show the call that created a value.
    pub source: Option<Source>,
    /// The tags of the type, for `type = "#tag"` in conditions.
    pub tags: Vec<String>,
    /// The context of an executor's tasks, unless the call that created the executor decides it.
    pub scheduler: Option<Runs>,
    /// The thread, loop or task to which its values belong: they may be used only where they were created.
    pub bound: Option<Bound>,
}

/// A `[[handover]]` row: the context in which the library runs a callable that it receives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HandoverRow {
    /// Line of the row's `path` in its file, from 1.
    pub line: u32,
    /// Conditions that must all be proven for the row to hold.
    pub when: Vec<Condition>,
    /// Conditions of which none may be proven for the row to hold.
    pub unless: Vec<Condition>,
    /// The versions for which the row holds, within those of the file.
    pub version: Option<VersionRange>,
    /// The reason why the row is not verified against the library.
    pub unchecked: Option<String>,
    /// The callable: an argument of the call, a decorated definition, or an override.
    pub selector: Selector,
    /// The context in which the callable runs.
    pub context: HandoverContext,
    /// The runtime of that context; `None` means that of the file.
    pub runtime: Option<Runtime>,
    /// The phase of the program in which it runs; `None` if it is unknown.
    pub phase: Option<Phase>,
    /// True if the call does not run the callable, but returns a callable that runs it in this context.
    pub wraps: bool,
    /// The effect of calling the result of a row with `wraps`, in addition to that of the callable.
    pub called: Option<Box<CallRow>>,
    /// The source of its arguments.
    pub passes: Option<Passes>,
    /// The types of the arguments that the library passes to the callable.
    pub gives: Vec<TypeExpr>,
    /// True if it runs in a real thread, even if gevent has patched threads.
    pub native: bool,
    /// True if it runs in a process (Python).
    pub process: bool,
    /// True if the pool runs about one task per core and queues the rest.
    pub bounded: bool,
    /// The runtimes in which a fix may use this handover.
    pub offer: Vec<Runtime>,
    /// The later calls that run the callable. An argument is run by calls on the result of this call or on its
    /// receiver; an override by calls on an object that has received an instance of the override's class; a decorated
    /// function by calls that receive a value of the type of its first parameter.
    pub during: Vec<String>,
    /// True if the library first parses a request into values of the callable's annotated parameters, on the event
    /// loop.
    pub parses: bool,
    /// The edit, if it is not `await path(callable, args...)`.
    pub rewrite: Option<Template>,
    /// A remark.
    pub note: Option<String>,
}

impl HandoverRow {
    /// True if the callable runs while the program serves, or if its phase is unknown.
    pub fn serves(&self) -> bool {
        self.phase.is_none_or(Phase::serves)
    }
}

/// The callable that a handover describes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Selector {
    /// The callable in this argument of the call.
    Argument(Argument),
    /// The definition that the path decorates or annotates, or that overrides it.
    Via(Via),
}

/// The context in which a callable runs that is passed to a library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HandoverContext {
    /// Always in this context.
    Is(Runs),
    /// In a context that depends on the callable.
    BySync {
        /// The context of a plain function.
        sync: Runs,
        /// The context of an `async def`, an `async fn`, or a function whose return type has the role `future` or
        /// `publisher` (Java).
        async_: Runs,
    },
    /// In the context of the scheduler or executor in this argument.
    Of(Argument),
}

impl HandoverContext {
    /// Returns the context if every call has the same; `None` for `caller`, `chain` and contexts that depend on the
    /// callable or an argument.
    pub fn fixed(&self) -> Option<Context> {
        match self {
            HandoverContext::Is(Runs::In(context)) => Some(*context),
            _ => None,
        }
    }
}

/// A `[[switch]]` row: a fact about a unit of the project that changes what other rows mean.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Switch {
    /// Line of the row's head in its file, from 1.
    pub line: u32,
    /// Index of its file in the layer's files; set when a layer is compiled.
    pub file: u32,
    /// The name, unique in a language.
    pub name: String,
    /// The paths whose call anywhere in the unit turns the switch on.
    pub call: Vec<String>,
    /// The modules whose import anywhere in the unit turns the switch on.
    pub import: Vec<String>,
    /// The dependency of the unit that turns the switch on.
    pub library: Option<String>,
    /// The versions of that dependency.
    pub version: Option<VersionRange>,
    /// The dependency that keeps the switch off.
    pub without: Option<String>,
    /// The settings of files and commands of the unit that turn the switch on.
    pub setting: Vec<Setting>,
    /// The context that replaces `worker` in handovers.
    pub context: Option<SwitchContext>,
    /// The libraries whose `native` rows are treated as cooperative.
    pub green: Vec<String>,
    /// The names that the call replaces in their modules. Code that imported such a name earlier keeps the old object.
    pub patches: Vec<String>,
    /// The modules that copy such names when they are imported, or must not be imported before the call for another
    /// reason.
    pub copies: Vec<String>,
    /// A remark.
    pub note: Option<String>,
}

/// A setting that turns a switch on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Setting {
    /// A key of a configuration file.
    File {
        /// The name of the file.
        file: String,
        /// The key in the file.
        key: String,
        /// The values that turn the switch on.
        equals: Vec<String>,
    },
    /// An option on a command line of the unit.
    Command {
        /// The name of the command.
        command: String,
        /// The spellings of the option.
        option: Vec<String>,
        /// The values that turn the switch on.
        equals: Vec<String>,
    },
}
