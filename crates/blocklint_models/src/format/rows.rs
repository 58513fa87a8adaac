//! The parsed content of a model file: the file, its rows and their keys.

use blocklint_core::{Context, Effect, Fails, Language, Runtime, Severity, Takes, Work, WorkKind};
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
    /// The file, as the caller labelled it; of built-in files the path below `rules/models`.
    pub label: String,
    /// Language of the library.
    pub language: Language,
    /// The library's name in the registry and other names of the same code; empty only in user files.
    pub libraries: Vec<String>,
    /// Path prefixes the file may describe; empty only in user files, which may describe anything.
    pub roots: Vec<String>,
    /// The versions it holds for.
    pub version: Option<VersionRange>,
    /// Where the library documents itself.
    pub docs: Option<String>,
    /// Java: how builds name its version by that of something else.
    pub managed: Vec<Managed>,
    /// True if some row states the version since which an edit can call it.
    pub dated: bool,
}

/// Which version of a library comes with versions of something else: a bill of materials, a plugin, a release train.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Managed {
    /// The names that builds use for it: `group:artifact`, or the identifier of a plugin.
    pub by: Vec<String>,
    /// First numbers, or the name, of its versions, and the library's version from there on.
    pub versions: Vec<(String, Version)>,
}

impl Managed {
    /// Returns the library's version that comes with one of what manages it: that of the longest name that it begins
    /// with, else that of the next older number.
    pub fn gives(&self, version: &str) -> Option<&Version> {
        let begins = |with: &str| {
            version.strip_prefix(with).is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
        };
        let named = self.versions.iter().filter(|(with, _)| begins(with)).max_by_key(|(with, _)| with.len());
        let older = || {
            let wanted = Version::parse_loose(version)?;
            let numbered = self.versions.iter().filter_map(|row| Some((Version::parse(&row.0)?, row)));
            numbered.filter(|(own, _)| *own <= wanted).max_by(|a, b| a.0.cmp(&b.0)).map(|(_, row)| row)
        };
        named.or_else(older).map(|(_, version)| version)
    }
}

/// One model file, read.
#[derive(Clone, Debug)]
pub struct File {
    /// Its header.
    pub info: FileInfo,
    /// `[alias]`: another spelling, the path that rows use, and the line.
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
    /// Returns the number of its rows.
    pub fn row_count(&self) -> usize {
        self.calls.len() + self.types.len() + self.handovers.len() + self.switches.len()
    }

    /// Leaves out the rows and aliases that errors stand in.
    pub fn drop_rows(&mut self, errors: &[ModelError]) {
        // A row reaches from its head to the next one, of whichever table.
        let mut heads: Vec<u32> = Vec::new();
        heads.extend(self.calls.iter().map(|entry| entry.line));
        heads.extend(self.types.iter().map(|entry| entry.line));
        heads.extend(self.handovers.iter().map(|entry| entry.line));
        heads.extend(self.switches.iter().map(|entry| entry.line));
        heads.sort_unstable();
        let row_of = |line: u32| heads.partition_point(|head| *head <= line).checked_sub(1).map(|at| heads[at]);
        let of_rows = errors.iter().filter(|error| !matches!(error.table, Table::Top | Table::Alias));
        let broken: Vec<u32> = of_rows.filter_map(|error| row_of(error.line)).collect();
        self.calls.retain(|entry| !broken.contains(&entry.line));
        self.types.retain(|entry| !broken.contains(&entry.line));
        self.handovers.retain(|entry| !broken.contains(&entry.line));
        self.switches.retain(|entry| !broken.contains(&entry.line));
        let aliases: Vec<u32> =
            errors.iter().filter(|error| error.table == Table::Alias).map(|error| error.line).collect();
        self.aliases.retain(|(_, _, line)| !aliases.contains(line));
    }
}

/// A row with what only its file knows: paths (a switch has none) and lines.
#[derive(Clone, Debug)]
pub struct Entry<R> {
    /// Every expanded path.
    pub paths: Vec<Path>,
    /// Line of `[[...]]`, from 1.
    pub line: u32,
    /// Each key that stands in the row, with its line.
    pub keys: Vec<(String, u32)>,
    /// True if the table has all of these keys. If one is unknown, a missing key is not reported as a second error.
    pub all_known: bool,
    /// The content of the row.
    pub row: R,
}

impl<R> Entry<R> {
    /// Returns the line of a key, or of the row's head if the key is missing.
    pub fn line_of(&self, key: &str) -> u32 {
        self.keys.iter().find(|(name, _)| name == key).map_or(self.line, |(_, line)| *line)
    }

    /// True if the key stands in the row.
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
    /// It holds its thread in this way.
    Holds(Effect),
}

/// A `[[call]]` row: the effect and the result of calling a name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallRow {
    /// Line of the row's `path` in its file, from 1.
    pub line: u32,
    /// All must be shown.
    pub when: Vec<Condition>,
    /// None may be shown.
    pub unless: Vec<Condition>,
    /// The versions the row holds for, besides the file's.
    pub version: Option<VersionRange>,
    /// Why it is not verified against the library.
    pub unchecked: Option<String>,
    /// How the call holds its thread.
    pub effect: Option<RowEffect>,
    /// The kind of work within the effect; `None` where the row does not state it.
    pub kind: Option<WorkKind>,
    /// The time for which one call holds its thread, where that of its kind is not meant.
    pub takes: Option<Takes>,
    /// Not made cooperative by gevent or eventlet.
    pub native: bool,
    /// How bad it is on a greenlet, where that is less than its own severity.
    pub native_severity: Option<Severity>,
    /// Python: the effect of a thread on the loop; `None` where the row does not state it.
    pub thread: Option<Thread>,
    /// To what the call belongs, so that it cannot be handed to a thread.
    pub bound: Option<Bound>,
    /// How bad, where the effect's own severity is not meant.
    pub severity: Option<Severity>,
    /// The failure on an event-loop thread that the call causes besides.
    pub fails: Option<Fails>,
    /// The argument that bounds it.
    pub timeout: Option<Argument>,
    /// Unit of `timeout`, where the language's own is not meant.
    pub unit: Option<Unit>,
    /// The bound where `timeout` is not given, in the same unit; none if nothing bounds it.
    pub default: Option<f64>,
    /// The method of its receiver whose call ends the wait; `*` stands for any call that ends it.
    pub ended_by: Option<String>,
    /// It only builds; the effect happens where the result is consumed.
    pub lazy: bool,
    /// The argument it consumes.
    pub consumes: Option<Argument>,
    /// It returns a coroutine, future or task; `None` if the row does not state it.
    pub is_async: Option<bool>,
    /// The row describes reading a property.
    pub property: bool,
    /// The type of the call's result.
    pub returns: Option<TypeExpr>,
    /// The state its result or receiver is put in.
    pub state: Option<String>,
    /// Where the bytes of the result come from.
    pub source: Option<Source>,
    /// The argument whose bytes or text it returns in another form.
    pub same: Option<Argument>,
    /// The argument it puts into its receiver's elements.
    pub adds: Option<Argument>,
    /// The fact about its thread that the call shows to the code around it.
    pub asks: Option<Asks>,
    /// It takes clients, messages or events of others until the program ends, or makes an object that does.
    pub serves: bool,
    /// `Decorator`: the row describes calls of project methods without a body that carry this annotation.
    pub via: Option<Via>,
    /// The resource that the call makes.
    pub creates: Option<Creates>,
    /// The concurrent work it starts or bounds.
    pub concurrency: Option<Concurrency>,
    /// Where tasks of the scheduler or executor it returns run.
    pub scheduler: Option<Runs>,
    /// Where parts of a reactive chain move.
    pub moves: Option<Moves>,
    /// Rust: the feature of its crate that it needs.
    pub feature: Option<String>,
    /// The version of its library since which an edit can call it.
    pub since: Option<Version>,
    /// The async twin.
    pub instead: Option<Instead>,
    /// The edit, where renaming the callee and awaiting is not it.
    pub rewrite: Option<Rewrite>,
    /// The only kind of fix that is right.
    pub fix: Option<FixKind>,
    /// Shown with the finding.
    pub note: Option<String>,
}

impl CallRow {
    /// True if the row decides the keys that travel together: it has `effect` or `lazy`.
    pub fn has_effect_group(&self) -> bool {
        self.effect.is_some() || self.lazy
    }

    /// Returns its effect, if it is not harmless.
    pub fn held(&self) -> Option<Effect> {
        match self.effect {
            Some(RowEffect::Holds(effect)) => Some(effect),
            Some(RowEffect::Harmless) | None => None,
        }
    }

    /// The work of the call; none if it is harmless or not known to hold its thread.
    pub fn work(&self) -> Option<Work> {
        self.held().map(|effect| Work { effect, kind: self.kind })
    }

    /// True if the row holds only for a stream whose source is unknown (`unseen`).
    pub fn rests_on_unseen(&self) -> bool {
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
    /// As much as is handed to it.
    Unbounded,
    /// Holding its result bounds the work.
    Bounded,
    /// This argument at once.
    Argument(Argument),
}

/// The value of `moves`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Moves {
    /// The operators before, up to the source.
    Source(MoveTo),
    /// The operators after.
    Rest(MoveTo),
}

/// Where a part of a chain moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MoveTo {
    /// To this place.
    Runs(Runs),
    /// To the scheduler in this argument.
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
                let named = |runtime: Option<Runtime>| table.iter().find(|(of, _)| Some(*of) == runtime);
                let found = named(runtime).or_else(|| named(runtime.map(Runtime::awaited_from)));
                found.map_or(&[], |(_, twins)| twins.as_slice())
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
                let named = |runtime: Option<Runtime>| table.iter().find(|(of, _)| Some(*of) == runtime);
                let found = named(runtime).or_else(|| named(runtime.map(Runtime::awaited_from)));
                found.map(|(_, template)| template)
            }
        }
    }
}

/// A `[[type]]` row: what values of a type are like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TypeRow {
    /// Line of the row's `path` in its file, from 1.
    pub line: u32,
    /// The versions the row holds for, besides the file's.
    pub version: Option<VersionRange>,
    /// Why it is not verified against the library.
    pub unchecked: Option<String>,
    /// Its type parameters, in order.
    pub params: Vec<String>,
    /// Types it derives from or implements.
    pub bases: Vec<TypeExpr>,
    /// Attributes and fields.
    pub fields: Vec<(String, TypeExpr)>,
    /// The type of an element by iteration or index.
    pub element: Option<TypeExpr>,
    /// The type of the result of awaiting it.
    pub awaits: Option<TypeExpr>,
    /// The type of the value that `with ... as` gives; the type itself where missing.
    pub enters: Option<TypeExpr>,
    /// The one of `params` as which it behaves.
    pub through: Option<String>,
    /// Java: the one abstract method of a functional interface.
    pub functional: Option<String>,
    /// The role of the type in rules.
    pub role: Option<Role>,
    /// Where the bytes of its values come from, where the code does not show what made one.
    pub source: Option<Source>,
    /// Free names for `type = "#tag"`.
    pub tags: Vec<String>,
    /// For executors: the context of its tasks, unless the call that made it decides.
    pub scheduler: Option<Runs>,
    /// To what its values belong: they are used in the thread, loop or task that made them.
    pub bound: Option<Bound>,
}

/// A `[[handover]]` row: where a callable given to the library runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HandoverRow {
    /// Line of the row's `path` in its file, from 1.
    pub line: u32,
    /// All must be shown.
    pub when: Vec<Condition>,
    /// None may be shown.
    pub unless: Vec<Condition>,
    /// The versions the row holds for, besides the file's.
    pub version: Option<VersionRange>,
    /// Why it is not verified against the library.
    pub unchecked: Option<String>,
    /// Which callable is handed over.
    pub selector: Selector,
    /// Where it runs.
    pub context: HandoverContext,
    /// The runtime of that context; the file's where missing.
    pub runtime: Option<Runtime>,
    /// When it runs, where the library tells.
    pub phase: Option<Phase>,
    /// Not run now: the result is a callable that runs it so.
    pub wraps: bool,
    /// With `wraps`: what calling the result does besides, where the conditions of this row hold: its `effect`.
    pub called: Option<Box<CallRow>>,
    /// Where its arguments come from.
    pub passes: Option<Passes>,
    /// The types of the arguments that the library passes to it.
    pub gives: Vec<TypeExpr>,
    /// A real thread also where gevent is patched.
    pub native: bool,
    /// Python: a process.
    pub process: bool,
    /// The pool runs about one task per core and queues the rest.
    pub bounded: bool,
    /// Runtimes in which a fix may use this one.
    pub offer: Vec<Runtime>,
    /// The later calls that run it: of an argument on the result of this call, or on the object that it was called on;
    /// of an override on an object that was given one of its class; of a decorator those that are given what the
    /// function takes first.
    pub during: Vec<String>,
    /// Before it runs, values of its annotated parameters are made of a request, on the event loop.
    pub parses: bool,
    /// The edit, where it is not `await path(callable, args...)`.
    pub rewrite: Option<Template>,
    /// A remark.
    pub note: Option<String>,
}

impl HandoverRow {
    /// True if the callable runs while serving, or if nothing tells when.
    pub fn serves(&self) -> bool {
        self.phase.is_none_or(Phase::serves)
    }
}

/// Which callable a handover describes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Selector {
    /// The one in this argument of a call.
    Argument(Argument),
    /// The definition that the path decorates or annotates, or that overrides it.
    Via(Via),
}

/// Where a handed-over callable runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HandoverContext {
    /// Always there.
    Is(Runs),
    /// By the callable's kind.
    BySync {
        /// A plain function.
        sync: Runs,
        /// `async def`, `async fn`, or in Java a return type with role `future` or `publisher`.
        async_: Runs,
    },
    /// Where the scheduler or executor in this argument runs things.
    Of(Argument),
}

impl HandoverContext {
    /// Returns the context where it is one and the same for every call; `None` for `caller`, `chain` and what depends
    /// on the callable or an argument.
    pub fn fixed(&self) -> Option<Context> {
        match self {
            HandoverContext::Is(Runs::In(context)) => Some(*context),
            _ => None,
        }
    }
}

/// A `[[switch]]` row: a fact about a unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Switch {
    /// Line of the row's head in its file, from 1.
    pub line: u32,
    /// Index of its file in the layer's files; set when a layer is compiled.
    pub file: u32,
    /// Its name, unique in a language.
    pub name: String,
    /// Paths called anywhere in the unit.
    pub call: Vec<String>,
    /// Modules imported anywhere in the unit.
    pub import: Vec<String>,
    /// A dependency of the unit.
    pub library: Option<String>,
    /// The range of that dependency.
    pub version: Option<VersionRange>,
    /// Not together with this dependency.
    pub without: Option<String>,
    /// The settings that files and commands of the unit have.
    pub setting: Vec<Setting>,
    /// The context that handovers to workers get.
    pub context: Option<SwitchContext>,
    /// Libraries whose `native` rows count as not native.
    pub green: Vec<String>,
    /// The names that the call replaces in their modules. Code that took one of them from its module before keeps the
    /// old object.
    pub patches: Vec<String>,
    /// Modules that take such names when they are imported, or must not be imported before the call for another reason.
    pub copies: Vec<String>,
    /// A remark.
    pub note: Option<String>,
}

/// A setting that turns a switch on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Setting {
    /// A key of a configuration file.
    File {
        /// File name.
        file: String,
        /// Key.
        key: String,
        /// Values that count.
        equals: Vec<String>,
    },
    /// An option of a command line, wherever the unit starts that command.
    Command {
        /// Name of the command.
        command: String,
        /// Spellings of the option.
        option: Vec<String>,
        /// Values that count.
        equals: Vec<String>,
    },
}
