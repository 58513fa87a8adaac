//! Bodies entered in a context that must not block.

use blocklint_core::{Confidence, Context, Language, Runtime};
use blocklint_facts::{BodyId, BodyKind, Flow, SuppressionKind};
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::program::ids::BodyRef;
use blocklint_link::program::occurrences::Mention;
use blocklint_link::values::value::EnvId;
use blocklint_models::{HandoverRow, Via};

use crate::callers::java_objects::uses_of_anonymous;
use crate::callers::loop_check::off_the_loop;
use crate::callers::unawaited::is_dropped;
use crate::entries::async_result_methods::answers_later;
use crate::entries::publisher_factory::{assembles, runtime_of_publisher};

/// Why a body is a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RootKind {
    /// `async def`, `async fn`.
    Coroutine,
    /// A model registers it.
    Registered,
    /// A comment promises it.
    Promised,
    /// A literal that is handed to an event loop where it stands.
    Literal,
    /// One of several callables among which a body that must not block chooses.
    Dispatched,
    /// A literal in a chain whose place of subscription is not known.
    Composed,
    /// A function that puts a publisher together, or answers later.
    Assembly,
    /// A literal behind an operator that names a pool for what computes.
    Computing,
}

/// A body that must not block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Root {
    /// Why.
    pub kind: RootKind,
    /// The kind of thread.
    pub context: Context,
    /// Its machinery, where known.
    pub runtime: Option<Runtime>,
}

impl Root {
    /// True if nothing flows out of it to its callers.
    pub fn absorbs(self) -> bool {
        !matches!(self.kind, RootKind::Literal | RootKind::Computing | RootKind::Dispatched | RootKind::Composed)
    }

    /// Returns how sure it is that the body runs there.
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

/// Roots, remembered.
pub struct Roots<'l, 'a> {
    linker: &'l Linker<'a>,
    roots: Table<BodyRef, Option<Root>, Plain>,
    /// By the folder of a Rust package, the runtime that its programs run on, as far as they name it.
    programs: Table<String, Option<Runtime>, Plain>,
}

impl<'l, 'a> Roots<'l, 'a> {
    /// Returns the tables without any answer.
    pub fn new(linker: &'l Linker<'a>) -> Self {
        Roots { linker, roots: Table::default(), programs: Table::default() }
    }

    /// Returns the root that a body is, if it is one.
    pub fn of(&self, body: BodyRef) -> Option<Root> {
        self.linker.query(&self.roots, body, Option::default, || self.find(body))
    }

    fn find(&self, body: BodyRef) -> Option<Root> {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let row = linker.program.body(body);
        let runtime = linker.runtime_of(body.file);
        if linker.is_never_built(body.file) {
            return None;
        }
        if matches!(row.flow, Flow::Coroutine | Flow::AsyncGenerator) {
            if is_dropped(linker, body) {
                return None;
            }
            let started = || linker.runtime_of_spawner(body).filter(|_| row.kind == BodyKind::AsyncBlock);
            let runtime = self.runtime_of_task(body).or_else(started).or(runtime);
            return Some(Root { kind: RootKind::Coroutine, context: Context::EventLoop, runtime });
        }
        if self.is_promised(body) {
            return Some(Root { kind: RootKind::Promised, context: Context::EventLoop, runtime });
        }
        if facts.language == Language::Java && linker.is_marked_blocking(body) {
            return None;
        }
        if let Some(runtime) = linker.registered(body) {
            return Some(Root { kind: RootKind::Registered, context: Context::EventLoop, runtime });
        }
        let uses = linker.program.uses_of_callable(body);
        if matches!(row.kind, BodyKind::Lambda) {
            return self.literal(body, uses.iter().map(|(mention, _)| mention));
        }
        if let Some(root) = self.literal(body, uses_of_anonymous(linker, body).into_iter()) {
            return Some(root);
        }
        if assembles(linker, body) {
            let runtime = runtime.or_else(|| runtime_of_publisher(linker, body));
            return Some(Root { kind: RootKind::Assembly, context: Context::EventLoop, runtime });
        }
        if let Some(runtime) = answers_later(linker, body) {
            return Some(Root { kind: RootKind::Assembly, context: Context::EventLoop, runtime });
        }
        None
    }

    /// Returns the runtime that an attribute sets for a body (`#[tokio::main(flavor = "current_thread")]`), or that of
    /// all programs of its package, if the package exists for them alone (Rust).
    fn runtime_of_task(&self, body: BodyRef) -> Option<Runtime> {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        if facts.language != Language::Rust {
            return None;
        }
        if let Some(runtime) = self.runtime_by_attribute(body).or_else(|| linker.runtime_of_drivers(body)) {
            return Some(runtime);
        }
        // Hardly a project names another flavour, and a test has one of its own.
        linker.program.name("current_thread")?;
        let own = linker.crate_of(body.file)?;
        linker.query(&self.programs, own.folder.clone(), Option::default, || self.runtime_of_programs(&own.roots))
    }

    /// Returns the runtime that an attribute's row states a body has: macros are named with their mark.
    fn runtime_by_attribute(&self, body: BodyRef) -> Option<Runtime> {
        let linker = self.linker;
        linker.decorators(body).into_iter().find_map(|(path, made)| {
            let path = linker.library.path(Language::Rust, &format!("{}!", linker.library.text(path)));
            let holds = |row: &HandoverRow| match made {
                Some(site) => linker.conditions_hold(&row.when, &row.unless, site, EnvId::NONE),
                None => row.when.is_empty(),
            };
            linker.library.handovers(path).of_via(Via::Decorator).map(|found| found.row).find(|row| holds(row))?.runtime
        })
    }

    /// Returns the one runtime of all programs among the roots of a package; none where it has a library, which others
    /// may run.
    fn runtime_of_programs(&self, roots: &[String]) -> Option<Runtime> {
        let program = self.linker.program;
        let name = program.name("main")?;
        let mut found = None;
        for root in roots.iter().filter(|root| root.contains("src/")) {
            if root.ends_with("/lib.rs") {
                return None;
            }
            let file = program.file_at(root)?;
            let main = program.scope_var(file, BodyId(0), name)?;
            let facts = program.facts(file);
            let main = facts.bodies.iter().position(|row| row.var == main)?;
            let runtime = self.runtime_by_attribute(file.body_ref(BodyId(main as u32)))?;
            if found.is_some_and(|found| found != runtime) {
                return None;
            }
            found = Some(runtime);
        }
        found
    }

    /// `# blocklint: nonblocking` on or above the definition's line.
    fn is_promised(&self, body: BodyRef) -> bool {
        let facts = self.linker.program.facts(body.file);
        let row = self.linker.program.body(body);
        facts.suppressions.iter().any(|comment| {
            comment.kind == SuppressionKind::Nonblocking
                && row.kind == BodyKind::Function
                && (comment.line.contains_offset(row.name_span.start) || comment.line.contains_offset(row.span.start))
        })
    }

    /// Returns a lambda, or the method of an anonymous class, that a call hands to an event loop.
    fn literal(&self, body: BodyRef, uses: impl Iterator<Item = Mention>) -> Option<Root> {
        let linker = self.linker;
        for mention in uses {
            let Mention::Arg(site, arg) = mention else { continue };
            let site = body.file.site_ref(site);
            if off_the_loop(linker, site) {
                continue;
            }
            let passing = linker.argument_use(site, arg, EnvId::NONE);
            for &(context, runtime) in &passing.handed {
                if context == Context::EventLoop && !linker.stands_with_workers(site) {
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

/// Returns the machinery whose threads a file uses: a framework that it imports comes before the event loop below.
pub fn threads_of(
    linker: &Linker<'_>,
    file: blocklint_link::program::ids::FileId,
    runtime: Option<Runtime>,
) -> Option<Runtime> {
    let facts = linker.program.facts(file);
    let is_imported = |&&(path, _): &&(&str, bool)| {
        path.split('.').next().is_some_and(|head| blocklint_link::models::entry_registration::imports(facts, head))
    };
    let first = Runtime::thread_functions(runtime).iter().find(is_imported);
    let is_frameworks = first.is_some_and(|first| Runtime::thread_functions(Some(Runtime::Starlette)).contains(first));
    if is_frameworks { Some(Runtime::Starlette) } else { runtime }
}
