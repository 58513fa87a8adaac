//! Bodies entered in a context that must not block.

use std::cell::RefCell;

use blocklint_core::{Confidence, Context, Language, Runtime};
use blocklint_facts::{BodyId, BodyKind, FileFacts, Flow, Form, SuppressionKind};
use blocklint_models::{Argument, HandoverRow, Role, Runs, Source, Subject, Test, Via};
use rustc_hash::FxHashMap;

use crate::entries::memo::Memo;
use crate::link::Link;
use crate::link::hierarchy::Ancestor;
use crate::link::memo::remembered;
use crate::link::value::{EnvId, Val};
use crate::program::ids::{BodyRef, ClassRef, PathId, SiteRef};
use crate::program::index::Mention;

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
    /// A literal in a chain of which nobody knows where it is subscribed to.
    Composed,
    /// A function that puts a publisher together.
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
    /// Whether nothing flows out of it to its callers.
    pub fn absorbs(self) -> bool {
        !matches!(self.kind, RootKind::Literal | RootKind::Computing | RootKind::Dispatched | RootKind::Composed)
    }

    /// How sure it is that the body runs there.
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
pub(crate) struct Roots<'l, 'a> {
    link: &'l Link<'a>,
    memo: RefCell<FxHashMap<BodyRef, Option<Root>>>,
    /// By the folder of a Rust package, the runtime that its programs run on, as far as they say so.
    programs: RefCell<FxHashMap<String, Option<Runtime>>>,
}

impl<'l, 'a> Roots<'l, 'a> {
    /// Nothing asked yet.
    pub(crate) fn new(link: &'l Link<'a>) -> Self {
        Roots { link, memo: RefCell::default(), programs: RefCell::default() }
    }

    /// The root that a body is, if it is one.
    pub(crate) fn of(&self, body: BodyRef) -> Option<Root> {
        if let Some(known) = self.memo.borrow().get(&body) {
            return *known;
        }
        let root = self.find(body);
        self.memo.borrow_mut().insert(body, root);
        root
    }

    fn find(&self, body: BodyRef) -> Option<Root> {
        let link = self.link;
        let facts = link.program.facts(body.file);
        let row = facts.body(body.body);
        let runtime = link.runtime_of(body.file);
        if matches!(row.flow, Flow::Coroutine | Flow::AsyncGenerator) {
            if link.is_dropped(body) {
                return None;
            }
            let runtime = self.runtime_of_task(body).or(runtime);
            return Some(Root { kind: RootKind::Coroutine, context: Context::EventLoop, runtime });
        }
        if self.is_promised(body) {
            return Some(Root { kind: RootKind::Promised, context: Context::EventLoop, runtime });
        }
        if facts.language == Language::Java && link.runs_where_it_may_block(body) {
            return None;
        }
        if let Some(root) = self.registered(body) {
            return Some(root);
        }
        if matches!(row.kind, BodyKind::Lambda) {
            return self.literal(body);
        }
        if link.assembles(body) {
            let runtime = runtime.or_else(|| link.runtime_of_publisher(body));
            return Some(Root { kind: RootKind::Assembly, context: Context::EventLoop, runtime });
        }
        None
    }

    /// Rust: the runtime that an attribute gives a body (`#[tokio::main(flavor = "current_thread")]`), or that all programs of its
    /// package have which is there for them alone.
    fn runtime_of_task(&self, body: BodyRef) -> Option<Runtime> {
        let link = self.link;
        let facts = link.program.facts(body.file);
        // Hardly a project names another flavour, and a test has one of its own.
        if facts.language != Language::Rust || link.program.name("current_thread").is_none() {
            return None;
        }
        if let Some(runtime) = self.runtime_by_attribute(body) {
            return Some(runtime);
        }
        let own = link.crate_of(body.file)?;
        if let Some(&known) = self.programs.borrow().get(&own.folder) {
            return known;
        }
        let found = self.runtime_of_programs(&own.roots);
        self.programs.borrow_mut().insert(own.folder.clone(), found);
        found
    }

    /// The runtime that an attribute's row says a body has: macros are named with their mark.
    fn runtime_by_attribute(&self, body: BodyRef) -> Option<Runtime> {
        let link = self.link;
        link.decorators(body).into_iter().find_map(|(path, made)| {
            let path = link.library.path(Language::Rust, &format!("{}!", link.library.text(path)));
            let holds = |row: &HandoverRow| match made {
                Some(site) => link.conditions_shown(&row.when, &row.unless, site, EnvId::NONE),
                None => row.when.is_empty(),
            };
            link.library.handovers(path).of_via(Via::Decorator).map(|found| found.row).find(|row| holds(row))?.runtime
        })
    }

    /// The one runtime of all programs among the roots of a package; none where it has a library, which others may run.
    fn runtime_of_programs(&self, roots: &[String]) -> Option<Runtime> {
        let program = self.link.program;
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
            let runtime = self.runtime_by_attribute(BodyRef { file, body: BodyId(main as u32) })?;
            if found.is_some_and(|found| found != runtime) {
                return None;
            }
            found = Some(runtime);
        }
        found
    }

    /// `# blocklint: nonblocking` on or above the definition's line.
    fn is_promised(&self, body: BodyRef) -> bool {
        let facts = self.link.program.facts(body.file);
        let row = facts.body(body.body);
        facts.suppressions.iter().any(|comment| {
            comment.kind == SuppressionKind::Nonblocking
                && row.kind == BodyKind::Function
                && (comment.line.contains_offset(row.name_span.start) || comment.line.contains_offset(row.span.start))
        })
    }

    /// Rows that register what they decorate, or what overrides them.
    fn registered(&self, body: BodyRef) -> Option<Root> {
        let link = self.link;
        let facts = link.program.facts(body.file);
        let row = facts.body(body.body);
        let mut rows: Vec<&HandoverRow> = Vec::new();
        for (path, made) in link.decorators(body) {
            let found = link.library.handovers(path);
            // The first row whose conditions hold speaks; a decorator that is not called gives no argument.
            let holds = |row: &HandoverRow| match made {
                _ if asks_for_request(row) => link.is_validated_on_loop(body),
                Some(site) => link.conditions_shown(&row.when, &row.unless, site, EnvId::NONE),
                None => row.when.is_empty(),
            };
            rows.extend(found.of_via(Via::Decorator).map(|found| found.row).find(|row| holds(row)));
        }
        if let Some(class) = row.class.get() {
            let class = ClassRef { file: body.file, class };
            let before = rows.len();
            for ancestor in link.mro(class).iter() {
                if let Ancestor::Library(ty, _) = *ancestor {
                    let path = link.library.member(ty, facts.text(row.name));
                    let found = link.library.handovers(path);
                    rows.extend(found.of_via(Via::Override).map(|found| found.row));
                }
            }
            if rows.len() > before
                && facts.language == Language::Java
                && (link.is_given_to_workers(class) || link.is_deployed_on_workers(class))
            {
                rows.truncate(before);
            }
        }
        let is_async = row.flow == Flow::Coroutine
            || facts.language == Language::Java
                && !rows.is_empty()
                && matches!(link.declared_role(body), Some(Role::Publisher | Role::Future));
        for row in rows {
            let runs = match &row.context {
                blocklint_models::HandoverContext::Is(runs) => *runs,
                blocklint_models::HandoverContext::BySync { sync, async_ } => {
                    if is_async && !(facts.language == Language::Java && link.serves_by_servlets(body.file)) {
                        *async_
                    } else {
                        *sync
                    }
                }
                blocklint_models::HandoverContext::Of(_) => continue,
            };
            if runs == Runs::In(Context::EventLoop) {
                let runtime = row.runtime.or_else(|| link.runtime_of(body.file));
                return Some(Root { kind: RootKind::Registered, context: Context::EventLoop, runtime });
            }
        }
        None
    }

    /// A lambda that a call hands to an event loop.
    fn literal(&self, body: BodyRef) -> Option<Root> {
        let link = self.link;
        for (mention, _) in link.program.index_of(body.file).uses_of_callable(body.body).iter() {
            let Mention::Arg(site, arg) = mention else { continue };
            let site = SiteRef { file: body.file, site };
            if link.off_the_loop(site) {
                continue;
            }
            let passing = link.passing(site, arg, EnvId::NONE);
            for &(context, runtime) in &passing.handed {
                if context == Context::EventLoop && !link.stands_with_workers(site) {
                    let runtime = runtime.or_else(|| link.runtime_of(body.file));
                    return Some(Root { kind: RootKind::Literal, context, runtime });
                }
            }
            if passing.on_chain
                && let position = link.settled(&passing.chain)
                && let Some(confidence) = position.root
            {
                let kind = match confidence {
                    Confidence::High if position.pooled => RootKind::Computing,
                    Confidence::High => RootKind::Literal,
                    _ => RootKind::Composed,
                };
                let runtime = passing.chain_runtime.or_else(|| link.runtime_of(body.file));
                return Some(Root { kind, context: Context::EventLoop, runtime });
            }
        }
        if link.program.language(body.file) == Language::Java
            && let Some(runtime) = link.overrides_on_loop(body)
        {
            return Some(Root { kind: RootKind::Literal, context: Context::EventLoop, runtime });
        }
        None
    }
}

impl<'a> Link<'a> {
    /// Whether a model registers a body to run where nothing may block.
    pub(crate) fn enters_loop(&self, body: BodyRef) -> bool {
        Roots::new(self).registered(body).is_some()
    }

    /// The library paths of a body's decorators: called ones by their callee, those read in the project by their name.
    pub(crate) fn decorator_paths(&self, body: BodyRef) -> Vec<PathId> {
        self.decorators(body).into_iter().map(|(path, _)| path).collect()
    }

    /// The library paths of a body's decorators, each with the call that makes it where there is one.
    pub(crate) fn decorators(&self, body: BodyRef) -> Vec<(PathId, Option<SiteRef>)> {
        let facts = self.program.facts(body.file);
        let row = facts.body(body.body);
        let scope = self.signature_scope(body);
        let mut paths = Vec::new();
        for &decorator in facts.list(row.decorators) {
            let (typed, made) = match facts.form(decorator) {
                Form::Result(site) => {
                    let site = SiteRef { file: body.file, site };
                    (self.callee(site, EnvId::NONE), Some(site))
                }
                _ => (self.eval(scope, decorator), None),
            };
            for val in self.values.members(typed.value) {
                match val {
                    Val::External(path) | Val::Method { path, .. } => paths.push((path, made)),
                    Val::Fn { body: of, .. } => {
                        let name = self.qualified_name(of);
                        paths.push((self.library.path(facts.language, &name), made));
                    }
                    Val::Class(class) => {
                        let name = self.qualified_class(class);
                        paths.push((self.library.path(facts.language, &name), made));
                    }
                    _ => {}
                }
            }
        }
        paths
    }

    /// The runtime of code that no row says more about: of the libraries its file imports, else of its language.
    pub(crate) fn runtime_of(&self, file: crate::program::ids::FileId) -> Option<Runtime> {
        remembered(&self.above::<Memo>().runtimes, file, || self.find_runtime_of(file))
    }

    fn find_runtime_of(&self, file: crate::program::ids::FileId) -> Option<Runtime> {
        let facts = self.program.facts(file);
        match facts.language {
            Language::Python => Some(if imports(facts, "trio") {
                Runtime::Trio
            } else if imports(facts, "anyio") {
                Runtime::Anyio
            } else if imports(facts, Runtime::Twisted.as_str()) || !imports(facts, "asyncio") && self.is_on_twisted() {
                Runtime::Twisted
            } else {
                Runtime::Asyncio
            }),
            Language::Rust => Some(self.runtime_of_crate(file).unwrap_or(Runtime::Tokio)),
            Language::Java => None,
        }
    }

    /// Rust: the runtime that the manifest of a file's crate asks for, where it does not ask for tokio, or for what is built
    /// upon it.
    fn runtime_of_crate(&self, file: crate::program::ids::FileId) -> Option<Runtime> {
        let others = [("async_std", Runtime::AsyncStd), ("smol", Runtime::Smol)];
        // Hardly a project names one.
        let mut named = others.into_iter().filter(|(name, _)| self.program.name(name).is_some()).peekable();
        named.peek()?;
        let all = self.crate_of(file)?.dependencies.as_ref()?;
        let has_tokio = all.iter().any(|(_, package, _)| {
            let is_of_workspace = || self.program.layout.crates.iter().any(|own| own.package == *package);
            package.starts_with("tokio")
                || crate::link::names::rust::ON_TOKIO.contains(&package.as_str())
                || is_of_workspace()
        });
        if has_tokio {
            None
        } else {
            named.find(|(name, _)| all.iter().any(|(code, ..)| code == name)).map(|(_, own)| own)
        }
    }

    /// The machinery whose threads a file uses: a framework that it imports comes before the event loop below.
    pub(crate) fn threads_of(&self, file: crate::program::ids::FileId, runtime: Option<Runtime>) -> Option<Runtime> {
        let facts = self.program.facts(file);
        let is_imported = |&&(path, _): &&(&str, bool)| path.split('.').next().is_some_and(|head| imports(facts, head));
        let first = Runtime::thread_functions(runtime).iter().find(is_imported);
        let is_frameworks =
            first.is_some_and(|first| Runtime::thread_functions(Some(Runtime::Starlette)).contains(first));
        if is_frameworks { Some(Runtime::Starlette) } else { runtime }
    }

    /// Whether a file that imports no runtime runs on Twisted's reactor: more files of the project import it than asyncio.
    fn is_on_twisted(&self) -> bool {
        *self.above::<Memo>().on_twisted.get_or_init(|| {
            let count = |wanted: &str| self.program.files.iter().filter(|file| imports(&file.facts, wanted)).count();
            let twisted = count(Runtime::Twisted.as_str());
            twisted > 0 && twisted > count("asyncio")
        })
    }
}

/// Whether a row holds for methods of what a library makes of a request.
fn asks_for_request(row: &HandoverRow) -> bool {
    row.when.iter().any(|condition| {
        condition.subject == Subject::Argument(Argument::Receiver)
            && matches!(&condition.tests[..], [Test::From(sources)] if sources.contains(&Source::Request))
    })
}

/// Whether a Python file imports something of a package.
fn imports(facts: &FileFacts, package: &str) -> bool {
    facts.language == Language::Python
        && facts
            .imports
            .iter()
            .any(|import| import.level == 0 && facts.text(import.module).split('.').next() == Some(package))
}
