//! Stored callbacks: callables that an object of a library stores and runs during later calls (`during` of
//! `[[handover]]`), such as the loader of a cache, the comparator of a sorted set, the handlers of a parser.

use blocklint_core::Language;
use blocklint_facts::{ExitKind, Form, FormId, VarKind};
use blocklint_models::{Selector, Uses, Via};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::calls::targets::{Target, TargetKind, Targets};
use crate::classes::hierarchy::Ancestor;
use crate::lang::implicit::{Backward, Forward, ImplicitCall, ImplicitCallSite};
use crate::linker::Linker;
use crate::models::library::separator;
use crate::program::ids::{BodyRef, ClassRef, Name, PathId, SiteRef, VarRef};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// The maximal number of calls, variables and results through which an object is followed back.
const MAX_DEPTH: u32 = 6;

/// The maximal number of calls that are collected for one object.
const MAX_CALLS: usize = 32;

/// The rules for stored callbacks, by the last name of the later calls that run them.
#[derive(Default)]
pub(crate) struct StoredCallbacks {
    by_name: FxHashMap<String, Vec<CallbackRule>>,
}

/// A later call of an object, and the stored callback that it runs.
#[derive(Clone, Debug)]
struct CallbackRule {
    /// The path of the later call.
    call: PathId,
    /// The number of its arguments, if its path has a parameter list.
    arguments: Option<usize>,
    runs: StoredCallback,
}

/// The callback that an object stores.
#[derive(Clone, Debug)]
enum StoredCallback {
    /// The override of this type's method in the class of a stored object.
    Override(PathId, String),
    /// The callable in the argument that a row of this earlier call selects.
    ArgumentOf(PathId),
    /// The methods with this annotation.
    Annotated(PathId),
}

impl StoredCallbacks {
    fn new(linker: &Linker<'_>) -> Self {
        let mut callbacks = StoredCallbacks::default();
        let mut visited = FxHashSet::default();
        for &language in Language::ALL {
            let uses = Uses::OVERRIDE.union(Uses::HANDOVER).union(Uses::DECORATOR);
            for name in linker.library.of(language).names(uses) {
                for named in name.paths(uses) {
                    let path = named.path.split('(').next().unwrap_or(named.path);
                    let path = linker.library.path(language, path);
                    if visited.insert(path) {
                        callbacks.add_rules(linker, path);
                    }
                }
            }
        }
        callbacks
    }

    /// Adds the rules of the handover rows of a path.
    fn add_rules(&mut self, linker: &Linker<'_>, path: PathId) {
        for row in linker.library.handovers(path).iter() {
            let runs = match row.selector {
                Selector::Via(Via::Override) => match linker.library.split(path) {
                    Some((owner, method)) => StoredCallback::Override(owner, method),
                    None => continue,
                },
                Selector::Argument(_) => StoredCallback::ArgumentOf(path),
                Selector::Via(Via::Decorator) => StoredCallback::Annotated(path),
            };
            for text in &row.during {
                let (text, list) =
                    text.split_once('(').map_or((text.as_str(), None), |(head, list)| (head, Some(list)));
                let arguments =
                    list.map(|list| list.split(',').filter(|part| !part.trim_matches(')').is_empty()).count());
                let language = linker.library.language(path);
                let call = linker.library.path(language, text);
                let last = text.rsplit(separator(language)).next().unwrap_or(text);
                let rules = self.by_name.entry(last.to_owned()).or_default();
                rules.push(CallbackRule { call, arguments, runs: runs.clone() });
            }
        }
    }
}

/// The implicit call of a stored callback: a later call of a library object runs a method of an object, or a callable,
/// that an earlier call stored.
pub(crate) const OVERRIDES: ImplicitCall = ImplicitCall {
    name: "a library runs a method of an object that it keeps",
    runs: Forward::Targets(|linker, place, targets| {
        if let ImplicitCallSite::LibraryMethod { path, site, .. } = place {
            linker.add_stored_callbacks(targets, path, site);
        }
    }),
    found_by: Backward::NamesOfSites(|linker, body| linker.names_of_override_calls(body)),
};

impl Linker<'_> {
    /// Returns the rules for stored callbacks, by the last name of the later calls.
    fn stored_callbacks(&self) -> &StoredCallbacks {
        self.tables.models.stored_callbacks.get_or_init(|| StoredCallbacks::new(self))
    }

    /// Returns the rules for a call of a library's method.
    fn rules_for_call(&self, path: PathId, site: SiteRef) -> Vec<&CallbackRule> {
        let table = &self.stored_callbacks().by_name;
        let text = self.library.text(path);
        let name = text.rsplit(separator(self.library.language(path))).next().unwrap_or(&text);
        let Some(rules) = table.get(name) else { return Vec::new() };
        let Some((owner, _)) = self.library.split(path) else { return Vec::new() };
        let count = self.program.args_of(site).len();
        let types = self.library.supertypes(owner);
        let matches = |rule: &&CallbackRule| {
            rule.arguments.is_none_or(|arguments| arguments == count)
                && self.library.split(rule.call).is_some_and(|(owner, _)| types.contains(&owner))
        };
        rules.iter().filter(matches).collect()
    }

    /// Adds the methods with an annotation that a library's call runs.
    pub(crate) fn add_listeners_during(&self, targets: &mut Targets, path: PathId, site: SiteRef) {
        for rule in self.rules_for_call(path, site) {
            if let StoredCallback::Annotated(annotation) = rule.runs {
                self.add_event_listeners(targets, annotation, site);
            }
        }
    }

    /// Adds the stored callbacks that a call of an object runs.
    pub(crate) fn add_stored_callbacks(&self, targets: &mut Targets, path: PathId, site: SiteRef) {
        let rules = self.rules_for_call(path, site);
        if rules.is_empty() {
            return;
        }
        let Some(receiver) = self.receiver_form(site) else { return };
        let mut calls = Vec::new();
        self.collect_calls_on_object(self.scope_of(site, EnvId::NONE), receiver, MAX_DEPTH, &mut calls);
        for rule in rules {
            for &call in calls.iter().filter(|&&call| call != site) {
                match &rule.runs {
                    StoredCallback::Override(owner, method) => self.add_overrides_passed(targets, call, *owner, method),
                    StoredCallback::ArgumentOf(maker) => self.add_callable_passed(targets, call, *maker, site),
                    StoredCallback::Annotated(_) => {}
                }
            }
        }
    }

    /// Collects the calls that created or configured the object in a form: the call whose result it is, calls on the
    /// same variable, and the calls that created their arguments.
    pub(crate) fn collect_calls_on_object(&self, scope: Scope, form: FormId, depth: u32, found: &mut Vec<SiteRef>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let file = scope.file;
        let facts = self.program.facts(file);
        match facts.form(form) {
            Form::Result(site) => self.collect_call(file.site_ref(site), depth, found),
            Form::Cast(inner, _) => self.collect_calls_on_object(scope, inner, depth, found),
            Form::Var(var) if !matches!(facts.var(var).kind, VarKind::Param(_)) => {
                self.collect_calls_on_var(file.var_ref(var), depth, found);
            }
            Form::Attr(base, sym) => {
                if let Some(var) = self.field_of_attribute(scope, base, sym) {
                    self.collect_calls_on_var(var, depth, found);
                }
            }
            _ => {}
        }
    }

    /// Collects a call that creates or configures an object, and the calls on its receiver and arguments.
    fn collect_call(&self, call: SiteRef, depth: u32, found: &mut Vec<SiteRef>) {
        if found.len() >= MAX_CALLS || found.contains(&call) {
            return;
        }
        found.push(call);
        let scope = self.scope_of(call, EnvId::NONE);
        if let Some(receiver) = self.receiver_form(call) {
            self.collect_calls_on_object(scope, receiver, depth, found);
        }
        // An argument may carry callbacks: a registered module, a builder inside another builder.
        for arg in &self.program.args_of(call) {
            self.collect_calls_on_object(scope, arg.value, depth, found);
        }
        // A method of the project may create the object.
        for target in &self.targets(call, EnvId::NONE).list {
            let Target::Body { body, .. } = *target else { continue };
            let (facts, body_id) = self.program.facts_and_id(body);
            let exits = facts.exits.iter().filter(|exit| {
                exit.kind == ExitKind::Return && facts.body_of(exit.at) == body_id && exit.value.is_some()
            });
            for exit in exits {
                let scope = Scope { file: body.file, at: exit.at, env: EnvId::NONE };
                self.collect_calls_on_object(scope, exit.value, depth, found);
            }
        }
    }

    /// Collects the calls that create or configure the object in a variable or field.
    fn collect_calls_on_var(&self, var: VarRef, depth: u32, found: &mut Vec<SiteRef>) {
        for (at, value) in self.values_assigned_to(var) {
            self.collect_calls_on_object(Scope { file: var.file, at, env: EnvId::NONE }, value, depth, found);
        }
        // `reader.setContentHandler(handler)`
        let (facts, var_id) = self.program.facts_and_id(var);
        let operators = self.operators_of(var.file);
        let name = self.program.var(var).name;
        let on_field = operators.on_attr(name).filter(|&(call, base)| {
            let scope = self.scope_of(var.file.site_ref(call), EnvId::NONE);
            self.field_of_attribute(scope, base, name) == Some(var)
        });
        for site in operators.on_var(var_id).chain(on_field.map(|(call, _)| call)) {
            let call = var.file.site_ref(site);
            let has_arguments = !facts.args_of(site).is_empty();
            if has_arguments && found.len() < MAX_CALLS && !found.contains(&call) {
                found.push(call);
                for arg in &self.program.facts(var.file).args_of(site) {
                    self.collect_calls_on_object(self.scope_of(call, EnvId::NONE), arg.value, depth.min(1), found);
                }
            }
        }
    }

    /// Adds the methods of objects among a call's arguments that override a method of a library's type.
    fn add_overrides_passed(&self, targets: &mut Targets, call: SiteRef, owner: PathId, method: &str) {
        let Some(name) = self.program.name(method) else { return };
        for arg in &self.program.args_of(call) {
            let typed = self.eval(self.scope_of(call, EnvId::NONE), arg.value);
            for val in self.values.members(typed.value) {
                let Val::Instance { class, .. } = val else { continue };
                if !self.derives_from_library(class, owner) {
                    continue;
                }
                for member in self.values.members(self.attr(val, name).value) {
                    if let Val::Fn { body, env, .. } = member {
                        targets.steps = targets.steps.max(typed.inferred_steps);
                        self.push(targets, Target::Body { body, env, with_receiver: false, kind: TargetKind::Call });
                    }
                }
            }
        }
    }

    /// Adds the callable in the argument that a call's row selects.
    fn add_callable_passed(&self, targets: &mut Targets, call: SiteRef, maker: PathId, site: SiteRef) {
        let is_maker = |target: &Target| matches!(*target, Target::Row { path, .. } if self.is_method_of(path, maker));
        if !self.targets(call, EnvId::NONE).list.iter().any(is_maker) {
            return;
        }
        for matched in self.handovers_for_call(maker, call).iter().filter(|row| !row.during.is_empty()) {
            let Selector::Argument(argument) = &matched.row.selector else { continue };
            let Some(form) = self.argument(call, argument) else { continue };
            self.add_callables_in(targets, call, form, site);
        }
    }

    /// Adds the callables in an argument of an earlier call as targets of a later call.
    pub(crate) fn add_callables_in(&self, targets: &mut Targets, call: SiteRef, form: FormId, site: SiteRef) {
        let typed = self.eval(self.scope_of(call, EnvId::NONE), form);
        for val in self.values.members(typed.value) {
            match val {
                Val::Fn { .. } | Val::Partial { .. } | Val::Method { .. } => self.add_callee(targets, val, site),
                Val::Instance { .. } => {
                    for body in self.callables_of(val) {
                        let env = EnvId::NONE;
                        self.push(targets, Target::Body { body, env, with_receiver: false, kind: TargetKind::Call });
                    }
                }
                _ => continue,
            }
            targets.steps = targets.steps.max(typed.inferred_steps);
        }
    }

    /// True if a path is a method or an override of it in a subtype.
    fn is_method_of(&self, path: PathId, method: PathId) -> bool {
        if path == method {
            return true;
        }
        match (self.library.split(path), self.library.split(method)) {
            (Some((owner, name)), Some((base, base_name))) => {
                name == base_name && self.library.supertypes(owner).contains(&base)
            }
            _ => false,
        }
    }

    /// True if a class derives from a library's type.
    pub(crate) fn derives_from_library(&self, class: ClassRef, ty: PathId) -> bool {
        self.mro(class).iter().any(|ancestor| match *ancestor {
            Ancestor::Library(base, _) => self.library.is_subtype(base, ty),
            _ => false,
        })
    }

    /// Returns the names of the later calls that run the callable in an argument of a call.
    pub(crate) fn names_of_callback_calls(&self, site: SiteRef, arg: u32) -> Vec<Name> {
        let mut names = Vec::new();
        for target in &self.targets(site, EnvId::NONE).list {
            let path = match *target {
                Target::Row { path, .. } => path,
                Target::Body { body, with_receiver, .. } => {
                    let index = self.param_for(site, arg, body, with_receiver);
                    names.extend(
                        index.map(|index| self.names_running_constructor_callable(body, index)).unwrap_or_default(),
                    );
                    continue;
                }
                Target::Overrides { .. } => continue,
            };
            for matched in self.handovers_for_call(path, site).iter().filter(|row| !row.during.is_empty()) {
                if matches!(&matched.row.selector, Selector::Argument(argument) if self.is_argument(site, arg, argument))
                {
                    names.extend(self.last_names(&matched.row.during));
                }
            }
        }
        names
    }

    /// Returns the names of the later calls that run a method that overrides a library's method.
    pub fn names_of_override_calls(&self, body: BodyRef) -> Vec<Name> {
        let facts = self.program.facts(body.file);
        let body_facts = self.program.body(body);
        let Some(class) = body_facts.class.get() else { return Vec::new() };
        let class = body.file.class_ref(class);
        let mut names = Vec::new();
        for ancestor in self.mro(class).iter() {
            let Ancestor::Library(ty, _) = *ancestor else { continue };
            let rows = self.library.handovers(self.library.member(ty, facts.text(body_facts.name)));
            for matched in rows.rows_of_via(Via::Override) {
                names.extend(self.last_names(&matched.row.during));
            }
        }
        names
    }

    /// Returns the last names of paths that occur in the program.
    pub(crate) fn last_names(&self, paths: &[String]) -> Vec<Name> {
        let last = |path: &String| {
            let head = path.split('(').next().unwrap_or(path);
            self.program.name(head.rsplit(['.', ':']).next().unwrap_or(head))
        };
        paths.iter().filter_map(last).collect()
    }
}
