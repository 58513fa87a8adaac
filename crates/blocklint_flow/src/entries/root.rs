//! Roots (entry points): bodies that run on a thread that must not block, such as coroutines and handlers of an event
//! loop.

use blocklint_core::{Confidence, Context, Language, Runtime};
use blocklint_facts::{BodyId, BodyKind, Flow, SuppressionKind};
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::program::ids::{BodyRef, FileId};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::values::value::EnvId;
use blocklint_models::{HandoverRow, Via};

use crate::callers::java_objects::uses_of_anonymous;
use crate::callers::loop_check::runs_off_loop;
use crate::callers::unawaited::is_dropped;
use crate::entries::async_result_methods::runtime_of_async_result;
use crate::entries::publisher_factory::{is_publisher_factory, runtime_of_publisher};

/// Why a body is a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RootKind {
    /// A coroutine: `async def`, `async fn`.
    Coroutine,
    /// A library runs it on an event loop, as a row of a model states.
    Registered,
    /// A comment says that it does not block: `# blocklint: nonblocking`.
    Promised,
    /// A lambda or an object of an anonymous class that a call passes to an event loop: `loop.execute(() -> …)`.
    Literal,
    /// One of several callables from which a body that must not block chooses: `handlers[kind]()`.
    Dispatched,
    /// A lambda in a reactive chain whose place of subscription is not known.
    Composed,
    /// A function that builds and returns a publisher, or that delivers its result later.
    Assembly,
    /// A lambda behind an operator that moves a chain to a pool for computations.
    Computing,
}

/// A body that must not block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Root {
    /// Why it is a root.
    pub kind: RootKind,
    /// The kind of thread on which it runs.
    pub context: Context,
    /// The runtime of that thread, if it is known.
    pub runtime: Option<Runtime>,
}

impl Root {
    /// True if the labels of the root do not go on to its callers.
    pub fn keeps_labels(self) -> bool {
        !matches!(self.kind, RootKind::Literal | RootKind::Computing | RootKind::Dispatched | RootKind::Composed)
    }

    /// Returns the confidence that the body runs on such a thread.
    pub fn confidence(self) -> Confidence {
        match self.kind {
            RootKind::Dispatched | RootKind::Composed | RootKind::Assembly => Confidence::Medium,
            RootKind::Coroutine
            | RootKind::Registered
            | RootKind::Promised
            | RootKind::Literal
            | RootKind::Computing => Confidence::High,
        }
    }
}

/// Finds the roots, and caches them.
pub struct Roots<'l, 'a> {
    linker: &'l Linker<'a>,
    roots: Table<BodyRef, Option<Root>, Plain>,
    /// By folder of a package: the runtime of its programs, if they state one (Rust).
    programs: Table<String, Option<Runtime>, Plain>,
}

impl<'l, 'a> Roots<'l, 'a> {
    /// Returns empty tables for one program.
    pub fn new(linker: &'l Linker<'a>) -> Self {
        Roots { linker, roots: Table::default(), programs: Table::default() }
    }

    /// Returns the entry point of a body; `None` if the body may block.
    pub fn find_root(&self, body: BodyRef) -> Option<Root> {
        self.linker.query(&self.roots, body, Option::default, || self.search_root(body))
    }

    fn search_root(&self, body: BodyRef) -> Option<Root> {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let body_facts = linker.program.body(body);
        let runtime = linker.runtime_of(body.file);
        if linker.is_never_built(body.file) {
            return None;
        }
        if matches!(body_facts.flow, Flow::Coroutine | Flow::AsyncGenerator) {
            if is_dropped(linker, body) {
                return None;
            }
            let runtime_of_spawn =
                || linker.runtime_of_spawner(body).filter(|_| body_facts.kind == BodyKind::AsyncBlock);
            let runtime = self.runtime_of_task(body).or_else(runtime_of_spawn).or(runtime);
            return Some(Root { kind: RootKind::Coroutine, context: Context::EventLoop, runtime });
        }
        if self.is_promised(body) {
            return Some(Root { kind: RootKind::Promised, context: Context::EventLoop, runtime });
        }
        if facts.language == Language::Java && linker.has_blocking_annotation(body) {
            return None;
        }
        if let Some(runtime) = linker.registered(body) {
            return Some(Root { kind: RootKind::Registered, context: Context::EventLoop, runtime });
        }
        let uses = linker.program.uses_of_callable(body);
        if matches!(body_facts.kind, BodyKind::Lambda) {
            return self.root_of_literal(body, uses.iter().map(|(mention, _)| mention));
        }
        if let Some(root) = self.root_of_literal(body, uses_of_anonymous(linker, body).into_iter()) {
            return Some(root);
        }
        if is_publisher_factory(linker, body) {
            let runtime = runtime.or_else(|| runtime_of_publisher(linker, body));
            return Some(Root { kind: RootKind::Assembly, context: Context::EventLoop, runtime });
        }
        if let Some(runtime) = runtime_of_async_result(linker, body) {
            return Some(Root { kind: RootKind::Assembly, context: Context::EventLoop, runtime });
        }
        None
    }

    /// Returns the runtime that an attribute sets for a body (`#[tokio::main(flavor = "current_thread")]`), or the
    /// runtime of all programs of its package, if the package has no library (Rust).
    fn runtime_of_task(&self, body: BodyRef) -> Option<Runtime> {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        if facts.language != Language::Rust {
            return None;
        }
        if let Some(runtime) = self.runtime_by_attribute(body).or_else(|| linker.runtime_of_drivers(body)) {
            return Some(runtime);
        }
        // Few projects use another flavour than tokio's default, so the programs are read only if the name occurs.
        linker.program.name("current_thread")?;
        let package = linker.crate_of(body.file)?;
        linker
            .query(&self.programs, package.folder.clone(), Option::default, || self.runtime_of_programs(&package.roots))
    }

    /// Returns the runtime of a body by the row of its attribute. A model writes the path of an attribute macro with
    /// `!`.
    fn runtime_by_attribute(&self, body: BodyRef) -> Option<Runtime> {
        let linker = self.linker;
        linker.decorators(body).into_iter().find_map(|(path, call)| {
            let path = linker.library.path(Language::Rust, &format!("{}!", linker.library.text(path)));
            let holds = |row: &HandoverRow| match call {
                Some(site) => linker.conditions_hold(&row.when, &row.unless, site, EnvId::NONE),
                None => row.when.is_empty(),
            };
            linker
                .library
                .handovers(path)
                .rows_of_via(Via::Decorator)
                .map(|matched| matched.row)
                .find(|row| holds(row))?
                .runtime
        })
    }

    /// Returns the one runtime of all programs among the roots of a package. `None` if the package has a library, which
    /// other programs may run.
    fn runtime_of_programs(&self, roots: &[String]) -> Option<Runtime> {
        let program = self.linker.program;
        let name = program.name("main")?;
        let mut common = None;
        for root in roots.iter().filter(|root| root.contains("src/")) {
            if root.ends_with("/lib.rs") {
                return None;
            }
            let file = program.file_at(root)?;
            let main = program.scope_var(file, BodyId(0), name)?;
            let facts = program.facts(file);
            let main = facts.bodies.iter().position(|body_facts| body_facts.var == main)?;
            let runtime = self.runtime_by_attribute(file.body_ref(BodyId(main as u32)))?;
            if common.is_some_and(|common| common != runtime) {
                return None;
            }
            common = Some(runtime);
        }
        common
    }

    /// True if the comment `# blocklint: nonblocking` is on the line of a function's definition or above it.
    fn is_promised(&self, body: BodyRef) -> bool {
        let facts = self.linker.program.facts(body.file);
        let body_facts = self.linker.program.body(body);
        facts.suppressions.iter().any(|comment| {
            comment.kind == SuppressionKind::Nonblocking
                && body_facts.kind == BodyKind::Function
                && (comment.covered_span.contains_offset(body_facts.name_span.start)
                    || comment.covered_span.contains_offset(body_facts.span.start))
        })
    }

    /// Returns the root that a lambda or the method of an anonymous class is, because a call passes it to an event
    /// loop.
    fn root_of_literal(&self, body: BodyRef, uses: impl Iterator<Item = Mention>) -> Option<Root> {
        let linker = self.linker;
        for mention in uses {
            let Mention::Arg(site, arg) = mention else { continue };
            let site = body.file.site_ref(site);
            if runs_off_loop(linker, site) {
                continue;
            }
            let passing = linker.argument_use(site, arg, EnvId::NONE);
            for &(context, runtime) in &passing.handed {
                if context == Context::EventLoop && !linker.is_on_deployed_worker(site) {
                    let runtime = runtime.or_else(|| linker.runtime_of(body.file));
                    return Some(Root { kind: RootKind::Literal, context, runtime });
                }
            }
            if passing.on_chain
                && let position = linker.resolved_position(&passing.chain)
                && let Some(confidence) = position.root
            {
                let kind = match confidence {
                    Confidence::High if position.is_on_pool => RootKind::Computing,
                    Confidence::High => RootKind::Literal,
                    _ => RootKind::Composed,
                };
                let runtime = passing.chain_runtime.or_else(|| linker.runtime_of(body.file));
                return Some(Root { kind, context: Context::EventLoop, runtime });
            }
        }
        if linker.program.language(body.file) == Language::Java
            && let Some(runtime) = linker.loop_runtime_of_lambda(body)
        {
            return Some(Root { kind: RootKind::Literal, context: Context::EventLoop, runtime });
        }
        None
    }
}

/// Returns the runtime whose functions a file uses to start threads: a framework that the file imports comes before the
/// event loop that the framework runs on.
pub fn threads_of(linker: &Linker<'_>, file: FileId, runtime: Option<Runtime>) -> Option<Runtime> {
    let facts = linker.program.facts(file);
    let is_imported = |&&(path, _): &&(&str, bool)| {
        path.split('.').next().is_some_and(|head| blocklint_link::models::entry_registration::imports(facts, head))
    };
    let imported_function = Runtime::thread_functions(runtime).iter().find(is_imported);
    let is_of_framework =
        imported_function.is_some_and(|first| Runtime::thread_functions(Some(Runtime::Starlette)).contains(first));
    if is_of_framework { Some(Runtime::Starlette) } else { runtime }
}
