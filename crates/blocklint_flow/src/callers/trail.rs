//! Trails: follows a callable from its mentions to the calls that run it, through variables, fields, arguments, returns
//! and aliases.

use blocklint_core::{Context, Language};
use blocklint_facts::{BodyKind, Flow, Form, ParamKind, SiteKind, Sym};
use blocklint_link::calls::targets::{Target, TargetKind};
use blocklint_link::lang;
use blocklint_link::linker::LOW_STEPS;
use blocklint_link::linker::work::WorkUnit;
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, Name, PathId, SiteRef};
use blocklint_link::program::occurrences::{Mention, Wrap, is_field_of_receiver};
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::{EnvId, Val, ValueId};
use rustc_hash::FxHashSet;

use crate::callers::java_objects::unnamed_objects_in;
use crate::callers::{Caller, CallerKind, CallerSearch, Callers, Node, add_steps};

/// How deep a value is searched for another one: the elements of its elements, and so on.
const MAX_VALUE_DEPTH: u32 = 8;

/// A callable whose callers are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Subject {
    /// A body.
    Body(Node),
    /// A library callable that is passed around.
    Row(PathId),
}

/// A value to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Trail {
    /// The value under a name, in all files.
    Named(Name),
    /// The value under a name, in one file.
    NamedIn(FileId, Sym),
    /// The result of a call.
    ResultOf(SiteRef, EnvId),
    /// A body that is written where it is used, such as a lambda.
    Literal(BodyRef),
    /// The objects of a class that code uses without the class's name (Java).
    Object(ClassRef),
}

/// The most trails that are followed for one node.
pub(crate) const MOST_TRAILS: usize = 200;

impl Callers<'_, '_> {
    /// Adds the callers that the trails of a subject lead to, and follows the further trails that begin there.
    pub(super) fn follow(&self, subject: Subject, mut trails: Vec<Trail>, search: &mut CallerSearch) {
        let linker = self.linker;
        let mut followed = FxHashSet::default();
        while let Some(trail) = trails.pop() {
            if !followed.insert(trail) || followed.len() > MOST_TRAILS {
                continue;
            }
            match trail {
                Trail::Named(name) if matches!(subject, Subject::Body(_)) => {
                    self.follow_name_of_body(subject, name, &mut trails, search);
                }
                Trail::Named(name) => {
                    for &(file, sym) in linker.program.occurrences(name).iter().filter(|(file, _)| self.counts(*file)) {
                        self.follow_name_in_file(subject, file, sym, &mut trails, search);
                    }
                }
                Trail::NamedIn(file, sym) => self.follow_name_in_file(subject, file, sym, &mut trails, search),
                Trail::ResultOf(site, env) => {
                    for (mention, wrap) in linker.program.uses_of_result(site).iter() {
                        self.follow_mention(subject, site.file, mention, wrap, env, &mut trails, search);
                    }
                }
                Trail::Object(class) => {
                    let objects = unnamed_objects_in(linker, class.file);
                    let (_, class_id) = linker.program.facts_and_id(class);
                    for &site in objects.made.get(&class_id).into_iter().flatten() {
                        trails.push(Trail::ResultOf(class.file.site_ref(site), EnvId::NONE));
                    }
                    for &mention in objects.this_mentions.get(&class_id).into_iter().flatten() {
                        let wrap = Wrap::Direct;
                        self.follow_mention(subject, class.file, mention, wrap, EnvId::NONE, &mut trails, search);
                    }
                }
                Trail::Literal(body) => {
                    for (mention, wrap) in linker.program.uses_of_callable(body).iter() {
                        self.follow_mention(subject, body.file, mention, wrap, EnvId::NONE, &mut trails, search);
                    }
                }
            }
        }
    }

    /// Follows the calls and mentions of a name that may refer to the body.
    fn follow_name_of_body(&self, subject: Subject, name: Name, trails: &mut Vec<Trail>, search: &mut CallerSearch) {
        let Subject::Body(node) = subject else { return };
        let linker = self.linker;
        let by_name = if self.is_focused { linker.sites_by_name_in_focus(name) } else { linker.sites_by_name(name) };
        let mut sites: Vec<SiteRef> = by_name.calls.get(&node.body).cloned().unwrap_or_default();
        if let Some(class) = linker.program.body(node.body).class.get() {
            for base in linker.classes_above(node.body.file.class_ref(class)) {
                sites.extend(by_name.by_base.get(&base).into_iter().flatten());
            }
        }
        if linker.hierarchy.count_bodies_named(name) == 1 {
            let may_call = |site: &&SiteRef| linker.program.share_language(site.file, node.body.file);
            sites.extend(by_name.unknown.iter().filter(may_call));
        }
        for site in sites {
            self.add_call(subject, site, EnvId::NONE, trails, search);
        }
        for &(file, mention, wrap) in by_name.mentions.get(&node.body).into_iter().flatten() {
            self.follow_mention(subject, file, mention, wrap, EnvId::NONE, trails, search);
        }
    }

    /// Follows the calls and mentions of a name in one file.
    fn follow_name_in_file(
        &self,
        subject: Subject,
        file: FileId,
        sym: Sym,
        trails: &mut Vec<Trail>,
        search: &mut CallerSearch,
    ) {
        let index = self.linker.program.index_of(file);
        for &site in index.sites_named(sym) {
            self.add_call(subject, file.site_ref(site), EnvId::NONE, trails, search);
        }
        for (mention, wrap) in index.mentions_named(sym).iter() {
            self.follow_mention(subject, file, mention, wrap, EnvId::NONE, trails, search);
        }
    }

    /// Adds the callers and trails of a site that may call the subject. Does nothing for a site that was checked
    /// before.
    pub(super) fn add_call(
        &self,
        subject: Subject,
        site: SiteRef,
        env: EnvId,
        trails: &mut Vec<Trail>,
        search: &mut CallerSearch,
    ) {
        if search.visited.insert((site, env)) {
            self.linker.attempt_site(site, || self.add_targets_at(subject, site, env, trails, search));
        }
    }

    /// Adds a caller, or a trail, for each call target of a site that is the subject.
    fn add_targets_at(
        &self,
        subject: Subject,
        site: SiteRef,
        env: EnvId,
        trails: &mut Vec<Trail>,
        search: &mut CallerSearch,
    ) {
        let linker = self.linker;
        let targets = linker.targets(site, env);
        let node = match subject {
            Subject::Body(node) => node,
            Subject::Row(path) => {
                if targets
                    .list
                    .iter()
                    .any(|target| matches!(*target, Target::Row { path: target, .. } if target == path))
                {
                    search.callers.push(Caller {
                        site,
                        env,
                        arg: None,
                        kind: CallerKind::Runs,
                        with_receiver: false,
                        steps: targets.steps,
                        shared: targets.list.len() > 1,
                    });
                }
                return;
            }
        };
        if targets.list.is_empty() && targets.unknown && node.env == EnvId::NONE {
            self.add_call_by_name(node, site, env, search);
            return;
        }
        for target in &targets.list {
            match *target {
                Target::Body { body, env: own, with_receiver, kind } if body == node.body => {
                    if node.env != EnvId::NONE && own != node.env {
                        continue;
                    }
                    if kind == TargetKind::Call && linker.cannot_be_awaited_here(site, body, &targets) {
                        continue;
                    }
                    match kind {
                        TargetKind::Call | TargetKind::Consume | TargetKind::Init => search.callers.push(Caller {
                            site,
                            env,
                            arg: None,
                            kind: if kind == TargetKind::Consume { CallerKind::Consumes } else { CallerKind::Runs },
                            with_receiver,
                            steps: targets.steps.saturating_add(self.unknown_step(site, targets.unknown)),
                            shared: linker.bodies_are_alternatives(site, &targets),
                        }),
                        TargetKind::Construct => {
                            if linker.program.body(body).flow == Flow::Generator {
                                trails.push(Trail::ResultOf(site, env));
                            }
                        }
                        TargetKind::HandOver(Context::EventLoop, runtime) => search.callers.push(Caller {
                            site,
                            env,
                            arg: None,
                            kind: CallerKind::PassesToLoop(runtime),
                            with_receiver,
                            steps: targets.steps,
                            shared: targets.list.len() > 1,
                        }),
                        TargetKind::HandOver(..) => {}
                    }
                }
                Target::Overrides { class, name }
                    if node.env == EnvId::NONE && linker.may_run_override(class, name, node.body, site) =>
                {
                    let flow = linker.program.body(node.body).flow;
                    if flow == Flow::Generator {
                        trails.push(Trail::ResultOf(site, env));
                        continue;
                    }
                    if flow != Flow::Sync || linker.cannot_be_awaited_here(site, node.body, &targets) {
                        continue;
                    }
                    search.callers.push(Caller {
                        site,
                        env,
                        arg: None,
                        kind: CallerKind::Runs,
                        with_receiver: self.lists_receiver(node),
                        steps: targets.steps,
                        shared: true,
                    });
                }
                _ => {}
            }
        }
    }

    /// Adds a call of a method on an unknown receiver, if this body is the only one in the project with the name.
    fn add_call_by_name(&self, node: Node, site: SiteRef, env: EnvId, search: &mut CallerSearch) {
        let linker = self.linker;
        let facts = linker.program.facts(site.file);
        let site_facts = linker.program.site(site);
        let is_method = site_facts.kind == SiteKind::Call && matches!(facts.form(site_facts.callee), Form::Attr(..));
        let body = linker.program.body(node.body);
        if !is_method || body.class.is_none() || body.flow != Flow::Sync || !self.takes_receiver(node) {
            return;
        }
        let Some(name) = linker.program.global(site.file, site_facts.name) else { return };
        // The site may have the name of another function, which runs the body. Then it is no call of this method.
        let has_own_name = linker.program.facts(node.body.file).text(body.name) == facts.text(site_facts.name);
        if !has_own_name
            || linker.hierarchy.count_bodies_named(name) != 1
            || linker.program.text(name).starts_with("__")
        {
            return;
        }
        search.callers.push(Caller {
            site,
            env,
            arg: None,
            kind: CallerKind::Runs,
            with_receiver: self.lists_receiver(node),
            steps: LOW_STEPS,
            shared: false,
        });
    }

    /// True if a function of a class can be called on an object of the class. In Rust only a function with `self` can.
    fn takes_receiver(&self, method: Node) -> bool {
        let facts = self.linker.program.facts(method.body.file);
        facts.language != Language::Rust
            || self.linker.program.params_of(method.body).first().is_some_and(|param| param.kind == ParamKind::Receiver)
    }

    /// True if a method has its receiver among its parameters: `self` (Python, Rust).
    fn lists_receiver(&self, method: Node) -> bool {
        self.linker.program.language(method.body.file) != Language::Java
    }

    /// Returns one step for a site with known and unknown targets; none if the receiver is a field of the
    /// object's own class.
    fn unknown_step(&self, site: SiteRef, unknown: bool) -> u8 {
        if !unknown {
            return 0;
        }
        let facts = self.linker.program.facts(site.file);
        let is_own_field = self.linker.receiver_form(site).is_some_and(|form| is_field_of_receiver(facts, form));
        u8::from(!is_own_field)
    }

    /// True if a value is the subject, or contains it.
    pub(super) fn value_contains(&self, subject: Subject, value: ValueId) -> bool {
        self.linker.values.members(value).iter().any(|val| self.member_contains(subject, *val, MAX_VALUE_DEPTH))
    }

    fn member_contains(&self, subject: Subject, val: Val, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let node = match subject {
            Subject::Body(node) => node,
            Subject::Row(path) => {
                return match val {
                    Val::External(callee) | Val::Method { path: callee, .. } => callee == path,
                    Val::Partial { inner, .. } => {
                        self.member_contains(subject, self.linker.values.single(inner), depth)
                    }
                    _ => false,
                };
            }
        };
        match val {
            Val::Fn { body, env, receiver } => {
                (body == node.body || self.linker.may_be_referred_to(body, receiver, node.body))
                    && (node.env == EnvId::NONE || env == node.env)
            }
            Val::Iter { body, env } | Val::Coroutine { body, env } => {
                body == node.body && (node.env == EnvId::NONE || env == node.env)
            }
            Val::Partial { inner, .. } => self.member_contains(subject, self.linker.values.single(inner), depth),
            Val::Library { ty, args, .. } if self.linker.library.language(ty) == Language::Rust => {
                // Also the content of an option: `Some(Arc::new(work))`.
                let inner = self.linker.transparent_inner(ty, args).map(|inner| inner.value);
                inner.or_else(|| self.linker.values.list(args).last().copied()).is_some_and(|inner| {
                    let members = self.linker.values.members(inner);
                    members.iter().any(|val| self.member_contains(subject, *val, depth))
                })
            }
            Val::Class(class) => {
                let facts = self.linker.program.facts(node.body.file);
                let body_facts = self.linker.program.body(node.body);
                body_facts.class.get().is_some_and(|owner| {
                    matches!(facts.text(body_facts.name), "__init__" | "__new__" | "__post_init__")
                        && self.linker.is_subclass(class, node.body.file.class_ref(owner))
                })
            }
            Val::Instance { .. } => self.linker.runs_as_callable(val, node.body),
            _ => false,
        }
    }

    /// Adds the callers and trails at a mention that may refer to the subject.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn follow_mention(
        &self,
        subject: Subject,
        file: FileId,
        mention: Mention,
        wrap: Wrap,
        env: EnvId,
        trails: &mut Vec<Trail>,
        search: &mut CallerSearch,
    ) {
        // `container_calls` finds the calls of a callable in a container. It is not known where the iterators of a
        // container are consumed.
        if wrap != Wrap::Element {
            let unit = WorkUnit::Body(self.linker.body_of_mention(file, mention));
            self.linker.attempt(unit, || self.add_uses_at_mention(subject, file, mention, env, trails, search));
        }
    }

    fn add_uses_at_mention(
        &self,
        subject: Subject,
        file: FileId,
        mention: Mention,
        env: EnvId,
        trails: &mut Vec<Trail>,
        search: &mut CallerSearch,
    ) {
        let linker = self.linker;
        let facts = linker.program.facts(file);
        // A functional interface is expected at the mention: calls of the interface's method may run the subject.
        if let Subject::Body(node) = subject
            && linker.program.body(node.body).flow == Flow::Sync
        {
            trails.extend(linker.interface_method_names(file, mention).into_iter().map(Trail::Named));
        }
        match mention {
            Mention::Arg(site, arg) => {
                let site = file.site_ref(site);
                let typed = linker.argument_callable(site, arg, env);
                let reference_steps = match subject {
                    Subject::Body(node) => linker.steps_to_overload(site, arg, node.body),
                    Subject::Row(_) => Some(0),
                };
                if let Some(steps) = reference_steps
                    && self.value_contains(subject, typed.value)
                    && let Some(referred) = match subject {
                        Subject::Body(node) => linker.inferred_steps_to_reference(site, arg, typed.value, node.body),
                        Subject::Row(_) => Some(0),
                    }
                {
                    let steps = add_steps(typed.inferred_steps, steps.max(referred));
                    self.add_callers_by_argument(subject, site, arg, env, steps, trails, search);
                }
            }
            Mention::Assign(assign) => {
                let assignment = facts.assign(assign);
                let scope = Scope { file, at: assignment.at, env };
                if !self.value_contains(subject, linker.assigned_value(scope, assign).value) {
                    return;
                }
                match facts.form(assignment.target) {
                    Form::Var(var) => {
                        let var = facts.var(var);
                        let owner = facts.body(var.body);
                        if matches!(owner.kind, BodyKind::Module | BodyKind::Class) {
                            if let Some(name) = linker.program.global(file, var.name) {
                                trails.extend(linker.with_aliases(name).into_iter().map(Trail::Named));
                            }
                        } else {
                            trails.push(Trail::NamedIn(file, var.name));
                        }
                    }
                    Form::Attr(_, sym) => {
                        if let Some(name) = linker.program.global(file, sym) {
                            trails.push(Trail::Named(name));
                        }
                    }
                    _ => {}
                }
            }
            Mention::Exit(exit) => {
                let row = facts.exits.at(exit as usize);
                let body = facts.body_of(row.at);
                let scope = Scope { file, at: row.at, env };
                if !self.value_contains(subject, linker.eval(scope, row.value).value) {
                    return;
                }
                let returns_iterator = facts.language == Language::Python
                    && lang::python::protocols::returns_iterator(facts.text(facts.body(body).name));
                for &site in self.call_sites(file.body_ref(body)).iter() {
                    // The loop that calls `__iter__` also consumes the iterator that it returns.
                    if returns_iterator {
                        self.add_call(subject, site, EnvId::NONE, trails, search);
                    }
                    trails.push(Trail::ResultOf(site, EnvId::NONE));
                }
            }
            Mention::Operand(site) => self.add_call(subject, file.site_ref(site), env, trails, search),
            Mention::Default(param) => self.add_callers_by_default(subject, file, param, search),
        }
    }
}
