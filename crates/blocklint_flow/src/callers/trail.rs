//! Follows a callable from where it is named to the calls that run it: through variables, fields, arguments, returns and aliases.

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

use crate::callers::java_objects::objects_in;
use crate::callers::{Caller, CallerKind, Callers, FoundCallers, Node, add_steps};
/// A callable whose callers are sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Subject {
    /// A body.
    Body(Node),
    /// A library callable that is passed around.
    Row(PathId),
}

/// A value to follow: by name, in its own file only, or the result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Trail {
    Named(Name),
    NamedIn(FileId, Sym),
    ResultOf(SiteRef, EnvId),
    Literal(BodyRef),
    /// Java: where an object of a class stands without its name.
    Object(ClassRef),
}

/// The most trails that are followed for one node.
pub(crate) const TRAILS: usize = 200;

impl Callers<'_, '_> {
    pub(super) fn follow(&self, subject: Subject, mut trails: Vec<Trail>, found: &mut FoundCallers) {
        let linker = self.linker;
        let mut seen = FxHashSet::default();
        while let Some(trail) = trails.pop() {
            if !seen.insert(trail) || seen.len() > TRAILS {
                continue;
            }
            match trail {
                Trail::Named(name) if matches!(subject, Subject::Body(_)) => {
                    self.follow_bearer(subject, name, &mut trails, found);
                }
                Trail::Named(name) => {
                    for &(file, sym) in linker.program.occurrences(name).iter().filter(|(file, _)| self.counts(*file)) {
                        self.follow_name(subject, file, sym, &mut trails, found);
                    }
                }
                Trail::NamedIn(file, sym) => self.follow_name(subject, file, sym, &mut trails, found),
                Trail::ResultOf(site, env) => {
                    for (mention, wrap) in linker.program.uses_of_result(site).iter() {
                        self.follow_mention(subject, site.file, mention, wrap, env, &mut trails, found);
                    }
                }
                Trail::Object(class) => {
                    let objects = objects_in(linker, class.file);
                    let (_, class_id) = linker.program.facts_and_id(class);
                    for &site in objects.made.get(&class_id).into_iter().flatten() {
                        trails.push(Trail::ResultOf(class.file.site_ref(site), EnvId::NONE));
                    }
                    for &mention in objects.own.get(&class_id).into_iter().flatten() {
                        let wrap = Wrap::Direct;
                        self.follow_mention(subject, class.file, mention, wrap, EnvId::NONE, &mut trails, found);
                    }
                }
                Trail::Literal(body) => {
                    for (mention, wrap) in linker.program.uses_of_callable(body).iter() {
                        self.follow_mention(subject, body.file, mention, wrap, EnvId::NONE, &mut trails, found);
                    }
                }
            }
        }
    }

    /// Follows the sites and mentions of a name that lead to the body.
    fn follow_bearer(&self, subject: Subject, name: Name, trails: &mut Vec<Trail>, found: &mut FoundCallers) {
        let Subject::Body(node) = subject else { return };
        let linker = self.linker;
        let by_name = if self.near { linker.sites_by_name_in_focus(name) } else { linker.sites_by_name(name) };
        let mut sites: Vec<SiteRef> = by_name.calls.get(&node.body).cloned().unwrap_or_default();
        if let Some(class) = linker.program.body(node.body).class.get() {
            for base in linker.classes_above(node.body.file.class_ref(class)) {
                sites.extend(by_name.by_base.get(&base).into_iter().flatten());
            }
        }
        if linker.hierarchy.bodies_named(name) == 1 {
            sites.extend(&by_name.unknown);
        }
        for site in sites {
            self.call(subject, site, EnvId::NONE, trails, found);
        }
        for &(file, mention, wrap) in by_name.mentions.get(&node.body).into_iter().flatten() {
            self.follow_mention(subject, file, mention, wrap, EnvId::NONE, trails, found);
        }
    }

    fn follow_name(&self, subject: Subject, file: FileId, sym: Sym, trails: &mut Vec<Trail>, found: &mut FoundCallers) {
        let index = self.linker.program.index_of(file);
        for &site in index.sites_named(sym) {
            self.call(subject, file.site_ref(site), EnvId::NONE, trails, found);
        }
        for (mention, wrap) in index.mentions_named(sym).iter() {
            self.follow_mention(subject, file, mention, wrap, EnvId::NONE, trails, found);
        }
    }

    /// Looks at a site that may call the node.
    pub(super) fn call(
        &self,
        subject: Subject,
        site: SiteRef,
        env: EnvId,
        trails: &mut Vec<Trail>,
        found: &mut FoundCallers,
    ) {
        if found.looked.insert((site, env)) {
            self.linker.attempt_site(site, || self.called_at(subject, site, env, trails, found));
        }
    }

    fn called_at(
        &self,
        subject: Subject,
        site: SiteRef,
        env: EnvId,
        trails: &mut Vec<Trail>,
        found: &mut FoundCallers,
    ) {
        let linker = self.linker;
        let targets = linker.targets(site, env);
        let node = match subject {
            Subject::Body(node) => node,
            Subject::Row(path) => {
                if targets.list.iter().any(|target| matches!(*target, Target::Row { path: of, .. } if of == path)) {
                    found.callers.push(Caller {
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
            self.call_by_name(node, site, env, found);
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
                        TargetKind::Call | TargetKind::Consume | TargetKind::Init => found.callers.push(Caller {
                            site,
                            env,
                            arg: None,
                            kind: if kind == TargetKind::Consume { CallerKind::Consumes } else { CallerKind::Runs },
                            with_receiver,
                            steps: targets.steps.saturating_add(self.unknown_step(site, targets.unknown)),
                            shared: linker.are_alternatives(site, &targets),
                        }),
                        TargetKind::Construct => {
                            if linker.program.body(body).flow == Flow::Generator {
                                trails.push(Trail::ResultOf(site, env));
                            }
                        }
                        TargetKind::HandOver(Context::EventLoop, runtime) => found.callers.push(Caller {
                            site,
                            env,
                            arg: None,
                            kind: CallerKind::HandsToLoop(runtime),
                            with_receiver,
                            steps: targets.steps,
                            shared: targets.list.len() > 1,
                        }),
                        TargetKind::HandOver(..) => {}
                    }
                }
                Target::Overrides { class, name }
                    if node.env == EnvId::NONE && linker.means_override(class, name, node.body, site) =>
                {
                    let flow = linker.program.body(node.body).flow;
                    if flow == Flow::Generator {
                        trails.push(Trail::ResultOf(site, env));
                        continue;
                    }
                    if flow != Flow::Sync || linker.cannot_be_awaited_here(site, node.body, &targets) {
                        continue;
                    }
                    found.callers.push(Caller {
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

    /// Adds a call of a method on an unknown receiver, if only this body of the whole project bears the name.
    fn call_by_name(&self, node: Node, site: SiteRef, env: EnvId, found: &mut FoundCallers) {
        let linker = self.linker;
        let facts = linker.program.facts(site.file);
        let row = linker.program.site(site);
        let is_method = row.kind == SiteKind::Call && matches!(facts.form(row.callee), Form::Attr(..));
        let body = linker.program.body(node.body);
        if !is_method || body.class.is_none() || body.flow != Flow::Sync || !self.takes_receiver(node) {
            return;
        }
        let Some(name) = linker.program.global(site.file, row.name) else { return };
        // Under the name of a function that runs it, it is no method of that name.
        let is_its_own = linker.program.facts(node.body.file).text(body.name) == facts.text(row.name);
        if !is_its_own || linker.hierarchy.bodies_named(name) != 1 || linker.program.text(name).starts_with("__") {
            return;
        }
        found.callers.push(Caller {
            site,
            env,
            arg: None,
            kind: CallerKind::Runs,
            with_receiver: self.lists_receiver(node),
            steps: LOW_STEPS,
            shared: false,
        });
    }

    /// True if a function of a class can be called on an object of it: in Rust it must ask for one.
    fn takes_receiver(&self, method: Node) -> bool {
        let facts = self.linker.program.facts(method.body.file);
        facts.language != Language::Rust
            || self.linker.program.params_of(method.body).first().is_some_and(|param| param.kind == ParamKind::Receiver)
    }

    /// True if a method lists its receiver among its parameters.
    fn lists_receiver(&self, method: Node) -> bool {
        self.linker.program.language(method.body.file) != Language::Java
    }

    /// Returns the step for an unknown member beside the known one: none if the receiver's own class assigned it.
    fn unknown_step(&self, site: SiteRef, unknown: bool) -> u8 {
        if !unknown {
            return 0;
        }
        let facts = self.linker.program.facts(site.file);
        let own = self.linker.receiver_form(site).is_some_and(|form| is_field_of_receiver(facts, form));
        u8::from(!own)
    }

    /// True if a value holds the subject.
    pub(super) fn value_contains(&self, subject: Subject, value: ValueId) -> bool {
        self.linker.values.members(value).iter().any(|val| self.member_holds(subject, *val, 8))
    }

    fn member_holds(&self, subject: Subject, val: Val, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let node = match subject {
            Subject::Body(node) => node,
            Subject::Row(path) => {
                return match val {
                    Val::External(of) | Val::Method { path: of, .. } => of == path,
                    Val::Partial { inner, .. } => self.member_holds(subject, self.linker.values.single(inner), depth),
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
            Val::Partial { inner, .. } => self.member_holds(subject, self.linker.values.single(inner), depth),
            Val::Library { ty, args, .. } if self.linker.library.language(ty) == Language::Rust => {
                // Also what an option holds: `Some(Arc::new(work))`.
                let inner = self.linker.transparent_inner(ty, args).map(|inner| inner.value);
                inner.or_else(|| self.linker.values.list(args).last().copied()).is_some_and(|inner| {
                    let members = self.linker.values.members(inner);
                    members.iter().any(|val| self.member_holds(subject, *val, depth))
                })
            }
            Val::Class(class) => {
                let facts = self.linker.program.facts(node.body.file);
                let row = self.linker.program.body(node.body);
                row.class.get().is_some_and(|own| {
                    matches!(facts.text(row.name), "__init__" | "__new__" | "__post_init__")
                        && self.linker.is_subclass(class, node.body.file.class_ref(own))
                })
            }
            Val::Instance { .. } => self.linker.runs_as_callable(val, node.body),
            _ => false,
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn follow_mention(
        &self,
        subject: Subject,
        file: FileId,
        mention: Mention,
        wrap: Wrap,
        env: EnvId,
        trails: &mut Vec<Trail>,
        found: &mut FoundCallers,
    ) {
        // A callable in a container is dispatch; a container of iterators is consumed who knows where.
        if wrap != Wrap::Element {
            let within = WorkUnit::Body(self.linker.body_of_mention(file, mention));
            self.linker.attempt(within, || self.mentioned_at(subject, file, mention, env, trails, found));
        }
    }

    fn mentioned_at(
        &self,
        subject: Subject,
        file: FileId,
        mention: Mention,
        env: EnvId,
        trails: &mut Vec<Trail>,
        found: &mut FoundCallers,
    ) {
        let linker = self.linker;
        let facts = linker.program.facts(file);
        // A caller of the interface that its place expects may call it.
        if let Subject::Body(node) = subject
            && linker.program.body(node.body).flow == Flow::Sync
        {
            trails.extend(linker.interface_method_names(file, mention).into_iter().map(Trail::Named));
        }
        match mention {
            Mention::Arg(site, arg) => {
                let site = file.site_ref(site);
                let typed = linker.argument_callable(site, arg, env);
                let means = match subject {
                    Subject::Body(node) => linker.reference_means(site, arg, node.body),
                    Subject::Row(_) => Some(0),
                };
                if let Some(steps) = means
                    && self.value_contains(subject, typed.value)
                    && let Some(referred) = match subject {
                        Subject::Body(node) => linker.steps_to_referred(site, arg, typed.value, node.body),
                        Subject::Row(_) => Some(0),
                    }
                {
                    let steps = add_steps(typed.inferred_steps, steps.max(referred));
                    self.argument(subject, site, arg, env, steps, trails, found);
                }
            }
            Mention::Assign(assign) => {
                let row = facts.assign(assign);
                let scope = Scope { file, at: row.at, env };
                if !self.value_contains(subject, linker.assigned_value(scope, assign).value) {
                    return;
                }
                match facts.form(row.target) {
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
                    // The loop that asks for the iterator also consumes it.
                    if returns_iterator {
                        self.call(subject, site, EnvId::NONE, trails, found);
                    }
                    trails.push(Trail::ResultOf(site, EnvId::NONE));
                }
            }
            Mention::Operand(site) => self.call(subject, file.site_ref(site), env, trails, found),
            Mention::Default(param) => self.default(subject, file, param, found),
        }
    }
}
