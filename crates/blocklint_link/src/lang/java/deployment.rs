//! Java: objects that are deployed as a whole (verticles), and their threads. Callables that they register with their
//! own event loop run there too, and so do methods that only they call.

use crate::lang;
use blocklint_core::{Context, Language};
use blocklint_facts::{Form, FormId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::calls::targets::Target;
use crate::classes::hierarchy::Ancestor;
use crate::effect::constant::Constant;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, SiteRef};
use crate::reactive::BodyUse;
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// The number of calls that are followed from a deployment to the deployed object, or from a call to it.
const MOST_CALLS: u32 = 5;

/// Where the classes of a project are deployed.
#[derive(Default)]
pub(crate) struct Deployments {
    /// True for a class if each of its known deployments is on threads that may block.
    on_workers: FxHashMap<ClassRef, bool>,
}

impl<'a> Linker<'a> {
    /// True if a call stands in a class whose instances are deployed where they may block, such as a verticle, or is
    /// made for such a class alone: what it hands to its own machinery runs there too.
    pub fn stands_with_workers(&self, site: SiteRef) -> bool {
        self.program.language(site.file) == Language::Java
            && self.is_with_workers(self.program.body_of_site(site), MOST_CALLS, &mut FxHashSet::default())
    }

    fn is_with_workers(&self, body: BodyRef, depth: u32, seen: &mut FxHashSet<BodyRef>) -> bool {
        let (facts, body_id) = self.program.facts_and_id(body);
        let Some(class) = self.class_around(body) else { return false };
        if self.is_deployable(class) {
            return self.is_deployed_on_workers(class) || self.is_passed_to_workers(class);
        }
        // Only where something is deployed so at all.
        if depth == 0 || !self.deployments().on_workers.values().any(|&on_workers| on_workers) || !seen.insert(body) {
            return false;
        }
        let mut method = body_id;
        while facts.body(method).kind != blocklint_facts::BodyKind::Function {
            let Some(parent) = facts.body(method).parent.get() else { return false };
            method = parent;
        }
        let uses = self.uses_of_body(body.file.body_ref(method));
        let mut uses = uses.iter().filter(|of| !self.program.is_test(of.file())).peekable();
        uses.peek().is_some()
            && uses.all(|of| self.is_with_workers(self.program.body_of_site(of.site()), depth - 1, seen))
    }

    /// True if objects of a class are deployed as a whole: its base is a deployable class, or a call in the project
    /// deploys it.
    pub(crate) fn is_deployable(&self, class: ClassRef) -> bool {
        let says = |ancestor: &Ancestor| match *ancestor {
            Ancestor::Library(ty, _) => {
                lang::java::names::is_deployed(blocklint_core::last_name(&self.library.text(ty)))
            }
            _ => false,
        };
        self.mro(class).iter().any(says) || self.deployments().on_workers.contains_key(&class)
    }

    /// True if every known deployment of a class, or of one that derives from it, is on threads that may block.
    pub(crate) fn is_deployed_on_workers(&self, class: ClassRef) -> bool {
        let known = &self.deployments().on_workers;
        if known.is_empty() {
            return false;
        }
        let mut found = known.iter().filter(|(of, _)| self.is_subclass(**of, class)).map(|(_, &on_workers)| on_workers);
        found.next().is_some_and(|first| first && found.all(|on_workers| on_workers))
    }

    fn deployments(&self) -> &Deployments {
        self.tables.java.deployments.get_or_init(|| {
            let mut found = Deployments::default();
            let Some(name) = self.program.name(lang::java::names::DEPLOY) else { return found };
            for site in self.program.sites_named(name) {
                if self.program.language(site.file) != Language::Java || self.program.is_test(site.file) {
                    continue;
                }
                let targets = self.targets(site, EnvId::NONE);
                if !targets.list.iter().any(|target| matches!(target, Target::Row { .. })) {
                    continue;
                }
                let Some(what) = self.program.args_of(site).first().map(|arg| arg.value) else {
                    continue;
                };
                let handed = self.argument_use(site, 0, EnvId::NONE).handed;
                let on_workers = !handed.is_empty() && handed.iter().all(|&(place, _)| place == Context::Worker);
                let mut classes = Vec::new();
                self.deployed_by(self.scope_of(site, EnvId::NONE), what, MOST_CALLS, &mut classes);
                for class in classes {
                    *found.on_workers.entry(class).or_insert(true) &= on_workers;
                }
            }
            found
        })
    }

    /// The classes of the objects that a form deploys: an object, a class or its name, a callable that makes one, or a parameter
    /// that is given one of these.
    fn deployed_by(&self, scope: Scope, form: FormId, depth: u32, into: &mut Vec<ClassRef>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let facts = self.program.facts(scope.file);
        match facts.form(form) {
            // `X.class`
            Form::Attr(of, name) if facts.text(name) == lang::java::names::CLASS => {
                let typed = self.annotation(scope, of);
                into.extend(self.values.members(typed.value).into_iter().filter_map(class_of));
            }
            // `X.class.getName()`
            Form::Result(call) if lang::java::names::returns_class_name(facts.text(facts.site(call).name)) => {
                if let Some(of) = self.receiver_form(scope.file.site_ref(call)) {
                    self.deployed_by(scope, of, depth, into);
                }
            }
            Form::Callable(body) => {
                let body = scope.file.body_ref(body);
                for exit in self.program.exits_in(body).filter(|exit| exit.value.is_some()) {
                    self.deployed_by(Scope { at: exit.at, ..scope }, exit.value, depth, into);
                }
            }
            Form::Var(var) if matches!(facts.var(var).kind, VarKind::Param(_)) => {
                let declared = self.eval(scope, form);
                let known: Vec<ClassRef> =
                    self.values.members(declared.value).into_iter().filter_map(class_of).collect();
                if !known.is_empty() {
                    into.extend(known);
                    return;
                }
                let VarKind::Param(index) = facts.var(var).kind else { return };
                let body = scope.file.body_ref(facts.var(var).body);
                for of in self.uses_of_body(body).iter() {
                    let BodyUse::Call(site) = *of else { continue };
                    if let Some(given) = self.passed_argument(site, body, index) {
                        self.deployed_by(self.scope_of(site, EnvId::NONE), given, depth, into);
                    }
                }
            }
            _ => {
                let typed = self.eval(scope, form);
                let known: Vec<ClassRef> = self.values.members(typed.value).into_iter().filter_map(class_of).collect();
                if known.is_empty()
                    && let Constant::Str(path) =
                        self.constant_in(self.program.body_of(scope.file, scope.at), form, EnvId::NONE, 4)
                {
                    into.extend(lang::java::names::class_named(self, scope.file, &path));
                }
                into.extend(known);
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
