//! Functions that models register to run where nothing may block, by what decorates them or what they override; and the
//! runtime of code that no row describes further.

use crate::lang;
use blocklint_core::{Context, Language, Runtime};
use blocklint_facts::{FileFacts, Flow, Form};
use blocklint_models::{Argument, HandoverRow, Role, Runs, Source, Subject, Test, Via};

use crate::classes::hierarchy::Ancestor;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, PathId, SiteRef};
use crate::values::value::{EnvId, Val};

/// The number of calls of one coroutine up to which their drivers are searched.
pub(crate) const MOST_DRIVERS: usize = 8;

impl Linker<'_> {
    /// Returns rows that register the functions that they decorate, or their overrides.
    pub fn registered(&self, body: BodyRef) -> Option<Option<Runtime>> {
        let facts = self.program.facts(body.file);
        let row = self.program.body(body);
        let semantics = lang::semantics(facts.language);
        let mut rows: Vec<&HandoverRow> = Vec::new();
        for (path, made) in self.decorators(body) {
            if !semantics.is_registration(self, path, body) {
                continue;
            }
            let found = self.library.handovers(path);
            // The first row whose conditions hold counts; a decorator that is not called passes no argument.
            let holds = |row: &HandoverRow| match made {
                _ if asks_for_request(row) => self.is_request_model_method(body),
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
            if rows.len() > before && semantics.runs_on_workers(self, class) {
                rows.truncate(before);
            }
        }
        let is_async = row.flow == Flow::Coroutine || !rows.is_empty() && semantics.returns_async_result(self, body);
        for row in rows {
            let runs = match &row.context {
                blocklint_models::HandoverContext::Is(runs) => *runs,
                blocklint_models::HandoverContext::BySync { sync, async_ } => {
                    if is_async && semantics.runs_async_on_loop(self, body.file) { *async_ } else { *sync }
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

    /// Returns the library paths of a body's decorators: called ones by their callee, those read in the project by
    /// their name.
    pub fn decorator_paths(&self, body: BodyRef) -> Vec<PathId> {
        self.decorators(body).into_iter().map(|(path, _)| path).collect()
    }

    /// Returns the library paths of a body's decorators, each with the call that makes it where there is one.
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

    /// Returns the role of a function's declared result type, as rules need it.
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

/// True if a row holds for methods of an object that a library makes of a request.
fn asks_for_request(row: &HandoverRow) -> bool {
    row.when.iter().any(|condition| {
        condition.subject == Subject::Argument(Argument::Receiver)
            && matches!(&condition.tests[..], [Test::From(sources)] if sources.contains(&Source::Request))
    })
}

/// True if a Python file imports a name of a package or the package itself.
pub fn imports(facts: &FileFacts, package: &str) -> bool {
    facts.language == Language::Python
        && facts
            .imports
            .iter()
            .any(|import| import.level == 0 && facts.text(import.module).split('.').next() == Some(package))
}
