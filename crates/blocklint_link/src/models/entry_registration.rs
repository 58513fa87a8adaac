//! Registered entry points: functions that a library runs on a thread that must not block, because of a decorator or an
//! overridden method.

use crate::lang;
use blocklint_core::{Context, Language, Runtime};
use blocklint_facts::{FileFacts, Flow, Form};
use blocklint_models::{Argument, HandoverContext, HandoverRow, Role, Runs, Source, Subject, Test, Via};

use crate::classes::hierarchy::Ancestor;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, PathId, SiteRef};
use crate::values::value::{EnvId, Val};

/// The maximal number of calls of one coroutine whose drivers are searched.
pub(crate) const MAX_DRIVERS: usize = 8;

impl Linker<'_> {
    /// Returns the runtime on whose event loop a library runs a body, because a row registers the functions that it
    /// decorates or the overrides of its method. `None` if no row registers the body.
    pub fn registered(&self, body: BodyRef) -> Option<Option<Runtime>> {
        let facts = self.program.facts(body.file);
        let body_facts = self.program.body(body);
        let semantics = lang::semantics(facts.language);
        let mut rows: Vec<&HandoverRow> = Vec::new();
        for (path, call) in self.decorators(body) {
            if !semantics.is_registration(self, path, body) {
                continue;
            }
            let handovers = self.library.handovers(path);
            // The first row whose conditions hold decides. A decorator that is not called has no arguments.
            let holds = |row: &HandoverRow| match call {
                _ if requires_request_receiver(row) => self.is_request_model_method(body),
                Some(site) => self.conditions_hold(&row.when, &row.unless, site, EnvId::NONE),
                None => row.when.is_empty(),
            };
            rows.extend(handovers.rows_of_via(Via::Decorator).map(|handover| handover.row).find(|row| holds(row)));
        }
        rows.extend(self.registered_by_class(body));
        if let Some(class) = body_facts.class.get() {
            let class = body.file.class_ref(class);
            let before = rows.len();
            for ancestor in self.mro(class).iter() {
                if let Ancestor::Library(ty, _) = *ancestor {
                    let path = self.library.member(ty, facts.text(body_facts.name));
                    let handovers = self.library.handovers(path);
                    rows.extend(handovers.rows_of_via(Via::Override).map(|handover| handover.row));
                }
            }
            if rows.len() > before && semantics.runs_on_workers(self, class) {
                rows.truncate(before);
            }
        }
        let is_async =
            body_facts.flow == Flow::Coroutine || !rows.is_empty() && semantics.returns_async_result(self, body);
        for row in rows {
            let runs = match &row.context {
                HandoverContext::Is(runs) => *runs,
                HandoverContext::BySync { sync, async_ } => {
                    if is_async && semantics.runs_async_on_loop(self, body.file) { *async_ } else { *sync }
                }
                HandoverContext::Of(_) => continue,
            };
            if runs == Runs::In(Context::EventLoop) {
                let runtime = row.runtime.or_else(|| self.runtime_of(body.file));
                return Some(runtime);
            }
        }
        None
    }

    /// Returns the library paths of a body's decorators. A decorator of the project has its qualified name as the path.
    pub fn decorator_paths(&self, body: BodyRef) -> Vec<PathId> {
        self.decorators(body).into_iter().map(|(path, _)| path).collect()
    }

    /// Returns the library paths of a body's decorators, each with the call that creates it: `@app.get("/")`.
    pub fn decorators(&self, body: BodyRef) -> Vec<(PathId, Option<SiteRef>)> {
        let facts = self.program.facts(body.file);
        let body_facts = self.program.body(body);
        let scope = self.signature_scope(body);
        let mut paths = Vec::new();
        for &decorator in facts.list(body_facts.decorators) {
            let (typed, call) = match facts.form(decorator) {
                Form::Result(site) => {
                    let site = body.file.site_ref(site);
                    (self.callee(site, EnvId::NONE), Some(site))
                }
                _ => (self.eval(scope, decorator), None),
            };
            for val in self.values.members(typed.value) {
                match val {
                    Val::External(path) | Val::Method { path, .. } => paths.push((path, call)),
                    Val::Fn { body: function, .. } => {
                        let name = self.qualified_name(function);
                        paths.push((self.library.path(facts.language, &name), call));
                    }
                    Val::Class(class) => {
                        let name = self.qualified_class(class);
                        paths.push((self.library.path(facts.language, &name), call));
                    }
                    _ => {}
                }
            }
        }
        paths
    }

    /// Returns the role of a function's declared result type: a publisher, a lock, a future.
    pub fn declared_role(&self, body: BodyRef) -> Option<Role> {
        let body_facts = self.program.body(body);
        if body_facts.returns.is_none() {
            return None;
        }
        let declared = self.annotation(self.signature_scope(body), body_facts.returns);
        self.values.members(declared.value).into_iter().find_map(|val| match val {
            Val::Library { ty, .. } => self.library.role(ty),
            Val::Instance { class, .. } => self.mro(class).iter().find_map(|ancestor| match *ancestor {
                Ancestor::Library(ty, _) => self.library.role(ty),
                _ => None,
            }),
            _ => None,
        })
    }
}

/// True if a row applies to methods of an object that a library creates from a request.
fn requires_request_receiver(row: &HandoverRow) -> bool {
    row.when.iter().any(|condition| {
        condition.subject == Subject::Argument(Argument::Receiver)
            && matches!(&condition.tests[..], [Test::From(sources)] if sources.contains(&Source::Request))
    })
}

/// True if a Python file imports a package, a module of it or a name from it.
pub fn imports(facts: &FileFacts, package: &str) -> bool {
    facts.language == Language::Python
        && facts
            .imports
            .iter()
            .any(|import| import.level == 0 && facts.text(import.module).split('.').next() == Some(package))
}
