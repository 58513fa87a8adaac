//! Functions that models register to run where nothing may block, by what decorates them or what they override; and the runtime of
//! code that no row says more about.

use crate::lang;
use blocklint_core::{Context, Language, Runtime};
use blocklint_facts::{BodyKind, FileFacts, Flow, Form};
use blocklint_models::{Argument, HandoverRow, Role, Runs, Selector, Source, Subject, Test, Via};

use crate::calls::targets::Target;
use crate::classes::hierarchy::Ancestor;
use crate::linker::Linker;
use crate::linker::layer_memo::remembered;
use crate::models::row_match::ConditionResult;
use crate::program::ids::{BodyRef, FileId, PathId, SiteRef};
use crate::program::occurrences::Mention;
use crate::values::value::{EnvId, Val};

/// Calls of one coroutine beyond which nobody asks who drives it.
const MOST_DRIVERS: usize = 8;

impl Linker<'_> {
    /// Rows that register what they decorate, or what overrides them.
    pub fn registered(&self, body: BodyRef) -> Option<Option<Runtime>> {
        let facts = self.program.facts(body.file);
        let row = self.program.body(body);
        let mut rows: Vec<&HandoverRow> = Vec::new();
        for (path, made) in self.decorators(body) {
            if facts.language == Language::Java
                && lang::java::names::is_of_many_servers(&self.library.text(path))
                && !self.serves_on_loops(body.file)
            {
                continue;
            }
            let found = self.library.handovers(path);
            // The first row whose conditions hold speaks; a decorator that is not called gives no argument.
            let holds = |row: &HandoverRow| match made {
                _ if asks_for_request(row) => self.is_validated_on_loop(body),
                Some(site) => self.conditions_shown(&row.when, &row.unless, site, EnvId::NONE),
                None => row.when.is_empty(),
            };
            rows.extend(found.of_via(Via::Decorator).map(|found| found.row).find(|row| holds(row)));
        }
        rows.extend(self.registered_by_class(body));
        if let Some(class) = row.class.get() {
            let class = body.file.class_ref(class);
            let before = rows.len();
            for ancestor in self.mro(class).iter() {
                if let Ancestor::Library(ty, _) = *ancestor {
                    let path = self.library.member(ty, facts.text(row.name));
                    let found = self.library.handovers(path);
                    rows.extend(found.of_via(Via::Override).map(|found| found.row));
                }
            }
            if rows.len() > before
                && facts.language == Language::Java
                && (self.is_given_to_workers(class) || self.is_deployed_on_workers(class))
            {
                rows.truncate(before);
            }
        }
        let is_async = row.flow == Flow::Coroutine
            || facts.language == Language::Java
                && !rows.is_empty()
                && matches!(self.declared_role(body), Some(Role::Publisher | Role::Future));
        for row in rows {
            let runs = match &row.context {
                blocklint_models::HandoverContext::Is(runs) => *runs,
                blocklint_models::HandoverContext::BySync { sync, async_ } => {
                    if is_async && !(facts.language == Language::Java && self.serves_by_servlets(body.file)) {
                        *async_
                    } else {
                        *sync
                    }
                }
                blocklint_models::HandoverContext::Of(_) => continue,
            };
            if runs == Runs::In(Context::EventLoop) {
                let runtime = row.runtime.or_else(|| self.runtime_of(body.file));
                return Some(runtime);
            }
        }
        None
    }

    /// The library paths of a body's decorators: called ones by their callee, those read in the project by their name.
    pub fn decorator_paths(&self, body: BodyRef) -> Vec<PathId> {
        self.decorators(body).into_iter().map(|(path, _)| path).collect()
    }

    /// The library paths of a body's decorators, each with the call that makes it where there is one.
    pub fn decorators(&self, body: BodyRef) -> Vec<(PathId, Option<SiteRef>)> {
        let facts = self.program.facts(body.file);
        let row = self.program.body(body);
        let scope = self.signature_scope(body);
        let mut paths = Vec::new();
        for &decorator in facts.list(row.decorators) {
            let (typed, made) = match facts.form(decorator) {
                Form::Result(site) => {
                    let site = body.file.site_ref(site);
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
    pub fn runtime_of(&self, file: FileId) -> Option<Runtime> {
        remembered(&self.runtimes, file, || self.find_runtime_of(file))
    }

    fn find_runtime_of(&self, file: FileId) -> Option<Runtime> {
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
    fn runtime_of_crate(&self, file: FileId) -> Option<Runtime> {
        let others = OTHER_THAN_TOKIO.map(|runtime| (crate_of_runtime(runtime), runtime));
        // Hardly a project names one.
        let mut named = others.into_iter().filter(|(name, _)| self.program.name(name).is_some()).peekable();
        named.peek()?;
        let all = self.crate_of(file)?.dependencies.as_ref()?;
        let has_tokio = all.iter().any(|(_, package, _)| {
            let is_of_workspace = || self.program.layout.crates.iter().any(|own| own.package == *package);
            package.starts_with("tokio")
                || crate::lang::rust::names::ON_TOKIO.contains(&package.as_str())
                || is_of_workspace()
        });
        if has_tokio {
            None
        } else {
            named.find(|(name, _)| all.iter().any(|(code, ..)| code == name)).map(|(_, own)| own)
        }
    }

    /// Rust: the runtime of a task, by the library whose function starts it: a crate may have several.
    pub fn runtime_starting(&self, block: BodyRef) -> Option<Runtime> {
        if !OTHER_THAN_TOKIO.iter().any(|&runtime| self.program.name(crate_of_runtime(runtime)).is_some()) {
            return None;
        }
        let uses = self.program.uses_of_callable(block);
        uses.iter().find_map(|(mention, _)| {
            let Mention::Arg(site, _) = mention else { return None };
            let targets = self.targets(block.file.site_ref(site), EnvId::NONE);
            targets.list.iter().find_map(|target| {
                let Target::Row { path, .. } = *target else { return None };
                let text = self.library.text(path);
                let library = text.split("::").next()?;
                OTHER_THAN_TOKIO.into_iter().find(|&runtime| crate_of_runtime(runtime) == library)
            })
        })
    }

    /// Rust: the runtime that all who drive a coroutine or an async block give it, where rows of what they call name one
    /// (`LocalSet::spawn_local`, `block_on` of a runtime of one thread).
    pub fn runtime_driving(&self, body: BodyRef) -> Option<Runtime> {
        // Hardly a project has another than the runtime of several threads.
        if !lang::rust::conventions::ONE_THREAD.iter().any(|name| self.program.name(name).is_some()) {
            return None;
        }
        let of_block = self.program.body(body).kind == BodyKind::AsyncBlock;
        let uses: Vec<(FileId, Mention)> = if of_block {
            let uses = self.program.uses_of_callable(body);
            uses.iter().map(|(mention, _)| (body.file, mention)).collect()
        } else {
            let calls = self.sites_calling(body);
            if calls.len() > MOST_DRIVERS {
                return None;
            }
            let uses = calls.iter().flat_map(|site| {
                let uses = self.program.uses_of_result(*site);
                uses.iter().map(|(mention, _)| (site.file, mention)).collect::<Vec<_>>()
            });
            uses.collect()
        };
        let mut found = None;
        for (file, mention) in uses {
            let Mention::Arg(site, arg) = mention else { return None };
            let runtime = self.runtime_of_driver(file.site_ref(site), arg)?;
            if *found.get_or_insert(runtime) != runtime {
                return None;
            }
        }
        found
    }

    /// The runtime on which a call runs the future in an argument, where a row names it.
    fn runtime_of_driver(&self, site: SiteRef, arg: u32) -> Option<Runtime> {
        self.targets(site, EnvId::NONE).list.iter().find_map(|target| {
            let Target::Row { path, receiver, .. } = *target else { return None };
            let rows = self.handovers_at(path, site);
            rows.iter().find_map(|row| {
                let Selector::Argument(argument) = &row.selector else { return None };
                let is_meant = self.is_argument(site, arg, argument)
                    && row
                        .when
                        .iter()
                        .all(|when| self.shown(when, site, receiver, EnvId::NONE) == ConditionResult::Yes);
                row.runtime.filter(|_| is_meant)
            })
        })
    }

    /// Whether a file that imports no runtime runs on Twisted's reactor: more files of the project import it than asyncio.
    fn is_on_twisted(&self) -> bool {
        *self.on_twisted.get_or_init(|| {
            let count = |wanted: &str| self.program.files.iter().filter(|file| imports(&file.facts, wanted)).count();
            let twisted = count(Runtime::Twisted.as_str());
            twisted > 0 && twisted > count("asyncio")
        })
    }

    /// What rules need to know of a function's declared result.
    pub fn declared_role(&self, body: BodyRef) -> Option<Role> {
        let row = self.program.body(body);
        if row.returns.is_none() {
            return None;
        }
        let declared = self.annotation(self.signature_scope(body), row.returns);
        self.values.members(declared.value).into_iter().find_map(|val| match val {
            Val::Library { ty, .. } => self.library.role(ty),
            Val::Instance { class, .. } => self.mro(class).iter().find_map(|ancestor| match *ancestor {
                crate::classes::hierarchy::Ancestor::Library(ty, _) => self.library.role(ty),
                _ => None,
            }),
            _ => None,
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
pub fn imports(facts: &FileFacts, package: &str) -> bool {
    facts.language == Language::Python
        && facts
            .imports
            .iter()
            .any(|import| import.level == 0 && facts.text(import.module).split('.').next() == Some(package))
}

/// Runtimes of Rust that a crate may have in tokio's place.
const OTHER_THAN_TOKIO: [Runtime; 5] =
    [Runtime::AsyncStd, Runtime::Smol, Runtime::Compio, Runtime::Monoio, Runtime::Glommio];

/// The name of a runtime's crate in code.
fn crate_of_runtime(runtime: Runtime) -> &'static str {
    match runtime {
        Runtime::AsyncStd => "async_std",
        runtime => runtime.as_str(),
    }
}
