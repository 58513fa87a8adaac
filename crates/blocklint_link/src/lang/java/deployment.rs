//! Java: deployment of verticles, which decides the threads of their methods
//! (`deployVerticle(new Reader(), onWorkers)`). Callables that a verticle passes to its own event loop, and methods
//! that only the verticle calls, run on its threads.

use crate::lang;
use blocklint_core::{Context, Language};
use blocklint_facts::{BodyKind, Form, FormId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::calls::targets::Target;
use crate::classes::hierarchy::Ancestor;
use crate::effect::constant::Constant;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, SiteRef};
use crate::reactive::BodyUse;
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// How many variables and fields are followed to the constant of a setting.
const MAX_CONSTANT_DEPTH: u32 = 4;

/// The number of calls that are followed from a deployment to the deployed object, or from a function to its callers.
const MOST_CALLS: u32 = 5;

/// The threads on which the classes of a project are deployed.
#[derive(Default)]
pub(crate) struct Deployments {
    /// True for a class if all its known deployments are on worker threads.
    on_workers: FxHashMap<ClassRef, bool>,
}

impl<'a> Linker<'a> {
    /// True if a call is in a class whose instances are deployed on worker threads (a verticle), or in a function that
    /// only such classes call. Callables that this call passes to the verticle's event loop run on worker threads, too.
    pub fn is_on_deployed_worker(&self, site: SiteRef) -> bool {
        self.program.language(site.file) == Language::Java
            && self.is_called_only_on_workers(self.program.body_of_site(site), MOST_CALLS, &mut FxHashSet::default())
    }

    /// True if a body is in a class that is deployed on worker threads, or if all its callers are.
    fn is_called_only_on_workers(&self, body: BodyRef, depth: u32, visited: &mut FxHashSet<BodyRef>) -> bool {
        let (facts, body_id) = self.program.facts_and_id(body);
        let Some(class) = self.class_around(body) else { return false };
        if self.is_deployable(class) {
            return self.is_deployed_on_workers(class) || self.is_passed_to_workers(class);
        }
        // The callers matter only if the project deploys something on worker threads.
        if depth == 0 || !self.deployments().on_workers.values().any(|&on_workers| on_workers) || !visited.insert(body)
        {
            return false;
        }
        let mut method = body_id;
        while facts.body(method).kind != BodyKind::Function {
            let Some(parent) = facts.body(method).parent.get() else { return false };
            method = parent;
        }
        let uses = self.uses_of_body(body.file.body_ref(method));
        let mut uses = uses.iter().filter(|body_use| !self.program.is_test(body_use.file())).peekable();
        uses.peek().is_some()
            && uses.all(|body_use| {
                self.is_called_only_on_workers(self.program.body_of_site(body_use.site()), depth - 1, visited)
            })
    }

    /// True if objects of a class are deployed: its base is a deployable class of a library, or a call in the project
    /// deploys it.
    pub(crate) fn is_deployable(&self, class: ClassRef) -> bool {
        let is_deployable_base = |ancestor: &Ancestor| match *ancestor {
            Ancestor::Library(ty, _) => {
                lang::java::names::is_deployable_class(blocklint_core::last_name(&self.library.text(ty)))
            }
            _ => false,
        };
        self.mro(class).iter().any(is_deployable_base) || self.deployments().on_workers.contains_key(&class)
    }

    /// True if all known deployments of a class and of its subclasses are on worker threads.
    pub(crate) fn is_deployed_on_workers(&self, class: ClassRef) -> bool {
        let deployed = &self.deployments().on_workers;
        if deployed.is_empty() {
            return false;
        }
        let mut on_workers_of_subclasses = deployed
            .iter()
            .filter(|(derived, _)| self.is_subclass(**derived, class))
            .map(|(_, &on_workers)| on_workers);
        on_workers_of_subclasses
            .next()
            .is_some_and(|first| first && on_workers_of_subclasses.all(|on_workers| on_workers))
    }

    /// Returns the known deployments of the project, outside of tests.
    fn deployments(&self) -> &Deployments {
        self.tables.java.deployments.get_or_init(|| {
            let mut deployments = Deployments::default();
            let Some(name) = self.program.name(lang::java::names::DEPLOY_METHOD) else { return deployments };
            for site in self.program.sites_named(name) {
                if self.program.language(site.file) != Language::Java || self.program.is_test(site.file) {
                    continue;
                }
                let targets = self.targets(site, EnvId::NONE);
                if !targets.list.iter().any(|target| matches!(target, Target::Row { .. })) {
                    continue;
                }
                let Some(deployed) = self.program.args_of(site).first().map(|arg| arg.value) else {
                    continue;
                };
                let handed = self.argument_use(site, 0, EnvId::NONE).handed;
                let on_workers = !handed.is_empty() && handed.iter().all(|&(context, _)| context == Context::Worker);
                let mut classes = Vec::new();
                self.collect_deployed_classes(self.scope_of(site, EnvId::NONE), deployed, MOST_CALLS, &mut classes);
                for class in classes {
                    *deployments.on_workers.entry(class).or_insert(true) &= on_workers;
                }
            }
            deployments
        })
    }

    /// Adds the classes of the objects that a form deploys: an object, a class or its name, a callable that returns an
    /// object, or a parameter with arguments of these kinds.
    fn collect_deployed_classes(&self, scope: Scope, form: FormId, depth: u32, classes: &mut Vec<ClassRef>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let facts = self.program.facts(scope.file);
        match facts.form(form) {
            // `X.class`
            Form::Attr(class, name) if facts.text(name) == lang::java::names::CLASS_LITERAL => {
                let typed = self.annotation(scope, class);
                classes.extend(self.values.members(typed.value).into_iter().filter_map(class_of));
            }
            // `X.class.getName()`
            Form::Result(call) if lang::java::names::returns_class_name(facts.text(facts.site(call).name)) => {
                if let Some(class) = self.receiver_form(scope.file.site_ref(call)) {
                    self.collect_deployed_classes(scope, class, depth, classes);
                }
            }
            Form::Callable(body) => {
                let body = scope.file.body_ref(body);
                for exit in self.program.exits_in(body).filter(|exit| exit.value.is_some()) {
                    self.collect_deployed_classes(Scope { at: exit.at, ..scope }, exit.value, depth, classes);
                }
            }
            Form::Var(var) if matches!(facts.var(var).kind, VarKind::Param(_)) => {
                let declared = self.eval(scope, form);
                let known: Vec<ClassRef> =
                    self.values.members(declared.value).into_iter().filter_map(class_of).collect();
                if !known.is_empty() {
                    classes.extend(known);
                    return;
                }
                let VarKind::Param(index) = facts.var(var).kind else { return };
                let body = scope.file.body_ref(facts.var(var).body);
                for body_use in self.uses_of_body(body).iter() {
                    let BodyUse::Call(site) = *body_use else { continue };
                    if let Some(argument) = self.passed_argument(site, body, index) {
                        self.collect_deployed_classes(self.scope_of(site, EnvId::NONE), argument, depth, classes);
                    }
                }
            }
            _ => {
                let typed = self.eval(scope, form);
                let known: Vec<ClassRef> = self.values.members(typed.value).into_iter().filter_map(class_of).collect();
                if known.is_empty()
                    && let Constant::Str(path) = self.constant_in(
                        self.program.body_of(scope.file, scope.at),
                        form,
                        EnvId::NONE,
                        MAX_CONSTANT_DEPTH,
                    )
                {
                    classes.extend(lang::java::names::class_named(self, scope.file, &path));
                }
                classes.extend(known);
            }
        }
    }
}

fn class_of(val: Val) -> Option<ClassRef> {
    match val {
        Val::Instance { class, .. } | Val::Class(class) => Some(class),
        _ => None,
    }
}
