//! Who runs a body: the calls by its names, the calls it is an argument of, the loops that consume what it makes.

pub(crate) mod argument_edges;
pub(crate) mod container_calls;
pub(crate) mod java_objects;
pub mod loop_check;
pub mod unawaited;

use std::cell::RefCell;
use std::rc::Rc;

use blocklint_core::{Context, Language, Runtime};
use blocklint_facts::{BodyKind, Flow, Form, ParamKind, SiteKind, Sym};
use blocklint_link::calls::targets::{Target, TargetKind};
use blocklint_link::linker::query::{EmptyMeanwhile, Table};
use blocklint_link::linker::work::Unit;
use blocklint_link::linker::{LOW_STEPS, Linker};
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, Name, PathId, SiteRef};
use blocklint_link::program::occurrences::{Mention, Wrap, is_field_of_receiver};
use blocklint_link::values::value::{EnvId, Val, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::callers::container_calls::Dispatch;
use crate::callers::java_objects::objects_in;

/// A body under a binding of what it captured; without one it stands for all its callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    /// The body.
    pub body: BodyRef,
    /// The binding.
    pub env: EnvId,
}

impl Node {
    /// The body for all its callers.
    pub fn plain(body: BodyRef) -> Self {
        Node { body, env: EnvId::NONE }
    }
}

/// One way in which a node is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    /// The site.
    pub site: SiteRef,
    /// The binding of the site's own body.
    pub env: EnvId,
    /// The argument by which it is passed; none if it is the callee.
    pub arg: Option<u32>,
    /// How it runs.
    pub kind: CallerKind,
    /// Whether the callee's first parameter is a receiver that the site does not list.
    pub with_receiver: bool,
    /// Inferred steps of the edge, unions apart.
    pub steps: u8,
    /// Alternatives of the edge that are not one: the site's targets, or the overrides of a method.
    pub shared: bool,
}

impl Caller {
    /// A site that runs its callee, as far as definitions tell.
    pub(crate) fn plain(site: SiteRef, env: EnvId, with_receiver: bool) -> Self {
        Caller { site, env, arg: None, kind: CallerKind::Runs, with_receiver, steps: 0, shared: false }
    }
}

/// How a caller runs a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallerKind {
    /// Now, on its own thread.
    Runs,
    /// What it made earlier is consumed here.
    Consumes,
    /// It hands a named function to an event loop.
    HandsToLoop(Option<Runtime>),
}

/// Whose callers are sought.
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

/// Callers by node, remembered.
pub struct Callers<'l, 'a> {
    pub(crate) linker: &'l Linker<'a>,
    pub(crate) dispatch: Dispatch,
    /// Whether only callers in the files that are looked at count.
    near: bool,
    callers: Table<Node, Rc<[Caller]>, EmptyMeanwhile>,
    sites: Table<BodyRef, Rc<[SiteRef]>, EmptyMeanwhile>,
    /// Where bound closures are made.
    creators: RefCell<FxHashMap<Node, Vec<SiteRef>>>,
}

/// The argument of a caller that drives what was handed over elsewhere: none that the site lists.
const NOT_AT_THE_SITE: u32 = u32::MAX;

/// Callers beyond which nobody asks what holds for all of them.
const MOST_ASKED: usize = 16;

/// Trails followed for one node.
pub(crate) const TRAILS: usize = 200;

impl<'l, 'a> Callers<'l, 'a> {
    /// Nothing asked yet.
    pub fn new(linker: &'l Linker<'a>) -> Self {
        Callers {
            linker,
            dispatch: Dispatch::default(),
            near: false,
            callers: Table::default(),
            sites: Table::default(),
            creators: RefCell::default(),
        }
    }

    /// Those in the files that a run looks at; with a run that looks at all, all of them.
    pub(crate) fn near(linker: &'l Linker<'a>) -> Self {
        Callers { near: true, ..Callers::new(linker) }
    }

    /// Whether callers in a file count.
    fn counts(&self, file: FileId) -> bool {
        !self.near || self.linker.is_in_focus(file)
    }

    /// Every way in which a node is entered.
    pub fn of(&self, node: Node) -> Rc<[Caller]> {
        self.linker.query(&self.callers, node, Rc::default, || {
            let mut found = Found::default();
            self.collect(node, &mut found);
            found.callers.sort_by_key(|caller| (caller.site, caller.arg, caller.env));
            found.callers.dedup();
            Rc::from(found.callers)
        })
    }

    /// The callers of a node by which a container holds it and nothing else.
    pub(crate) fn through_containers(&self, node: Node) -> Vec<Caller> {
        let (mut found, mut trails) = (Found::default(), Vec::new());
        for &site in self.dispatch.only(node.body) {
            self.call(Subject::Body(node), site, EnvId::NONE, &mut trails, &mut found);
        }
        found.callers
    }

    fn collect(&self, node: Node, found: &mut Found) {
        let mut trails = Vec::new();
        if node.env != EnvId::NONE {
            if let Some(creators) = self.creators.borrow().get(&node) {
                trails.extend(creators.iter().map(|&site| Trail::ResultOf(site, EnvId::NONE)));
            }
        } else {
            self.start(node.body, &mut trails);
        }
        if node.env == EnvId::NONE {
            trails.push(Trail::Literal(node.body));
            for &site in self.dispatch.only(node.body) {
                self.call(Subject::Body(node), site, EnvId::NONE, &mut trails, found);
            }
        }
        self.follow(Subject::Body(node), trails, found);
    }

    /// The names under which a body is first known.
    fn start(&self, body: BodyRef, trails: &mut Vec<Trail>) {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let row = linker.program.body(body);
        let local =
            row.class.is_none() && row.parent.get().is_some_and(|parent| facts.body(parent).kind != BodyKind::Module);
        if local && row.var.is_some() {
            trails.push(Trail::NamedIn(body.file, row.name));
        } else {
            trails.extend(linker.body_names(body).into_iter().map(Trail::Named));
            trails.extend(linker.names_of_implicit_sites(body).into_iter().map(Trail::Named));
        }
        if let Some(class) = row.class.get()
            && linker.is_run_by_instance(body)
        {
            self.start_instances(body.file.class_ref(class), trails);
        }
    }

    /// What runs a method without naming it is the instance: where instances of a class are made, or declared.
    fn start_instances(&self, class: ClassRef, trails: &mut Vec<Trail>) {
        let linker = self.linker;
        let classes = linker.with_descendants(class, 64, usize::MAX);
        let mut names: Vec<Name> = classes.iter().flat_map(|&class| linker.class_names(class)).collect();
        names.sort();
        names.dedup();
        if linker.program.language(class.file) == Language::Java {
            trails.extend(classes.iter().map(|&class| Trail::Object(class)));
        }
        for name in names {
            for &(file, sym) in linker.program.occurrences(name).iter().filter(|(file, _)| self.counts(*file)) {
                let facts = linker.program.facts(file);
                for &site in linker.program.index_of(file).sites_named(sym) {
                    if matches!(facts.site(site).kind, SiteKind::Call | SiteKind::New) {
                        trails.push(Trail::ResultOf(file.site_ref(site), EnvId::NONE));
                    }
                }
                for param in facts.params.iter().filter(|param| linker.names_type(file, param.annotation, sym)) {
                    trails.push(Trail::NamedIn(file, param.name));
                }
                for row in facts.assigns.iter().filter(|row| linker.names_type(file, row.annotation, sym)) {
                    match facts.form(row.target) {
                        Form::Attr(_, field) => trails.extend(linker.program.global(file, field).map(Trail::Named)),
                        Form::Var(var) => {
                            let name = facts.var(var).name;
                            trails.push(Trail::NamedIn(file, name));
                            trails.extend(linker.program.global(file, name).map(Trail::Named));
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    fn follow(&self, subject: Subject, mut trails: Vec<Trail>, found: &mut Found) {
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

    /// The sites and mentions of a name that lead to the body.
    fn follow_bearer(&self, subject: Subject, name: Name, trails: &mut Vec<Trail>, found: &mut Found) {
        let Subject::Body(node) = subject else { return };
        let linker = self.linker;
        let by_name = if self.near { linker.bearers_near(name) } else { linker.bearers(name) };
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

    fn follow_name(&self, subject: Subject, file: FileId, sym: Sym, trails: &mut Vec<Trail>, found: &mut Found) {
        let index = self.linker.program.index_of(file);
        for &site in index.sites_named(sym) {
            self.call(subject, file.site_ref(site), EnvId::NONE, trails, found);
        }
        for (mention, wrap) in index.mentions_named(sym).iter() {
            self.follow_mention(subject, file, mention, wrap, EnvId::NONE, trails, found);
        }
    }

    /// A site that may call the node.
    fn call(&self, subject: Subject, site: SiteRef, env: EnvId, trails: &mut Vec<Trail>, found: &mut Found) {
        if found.looked.insert((site, env)) {
            self.linker.attempt_site(site, || self.called_at(subject, site, env, trails, found));
        }
    }

    fn called_at(&self, subject: Subject, site: SiteRef, env: EnvId, trails: &mut Vec<Trail>, found: &mut Found) {
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
                Target::Body { body, env: own, with_receiver, edge } if body == node.body => {
                    if node.env != EnvId::NONE && own != node.env {
                        continue;
                    }
                    if edge == TargetKind::Call && linker.cannot_be_awaited_here(site, body, &targets) {
                        continue;
                    }
                    match edge {
                        TargetKind::Call | TargetKind::Consume | TargetKind::Init => found.callers.push(Caller {
                            site,
                            env,
                            arg: None,
                            kind: if edge == TargetKind::Consume { CallerKind::Consumes } else { CallerKind::Runs },
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

    /// A method of a receiver that is not known, whose name only this body bears in the whole project.
    fn call_by_name(&self, node: Node, site: SiteRef, env: EnvId, found: &mut Found) {
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

    /// Whether a function of a class can be called on an object of it: in Rust it must ask for one.
    fn takes_receiver(&self, method: Node) -> bool {
        let facts = self.linker.program.facts(method.body.file);
        facts.language != Language::Rust
            || self.linker.program.params_of(method.body).first().is_some_and(|param| param.kind == ParamKind::Receiver)
    }

    /// Whether a method lists its receiver among its parameters.
    fn lists_receiver(&self, method: Node) -> bool {
        self.linker.program.language(method.body.file) != Language::Java
    }

    /// An Unknown member beside the known one is a step, unless the receiver's own class assigned it.
    fn unknown_step(&self, site: SiteRef, unknown: bool) -> u8 {
        if !unknown {
            return 0;
        }
        let facts = self.linker.program.facts(site.file);
        let own = self.linker.receiver_form(site).is_some_and(|form| is_field_of_receiver(facts, form));
        u8::from(!own)
    }

    /// Whether a value holds the subject.
    fn value_contains(&self, subject: Subject, value: ValueId) -> bool {
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
    fn follow_mention(
        &self,
        subject: Subject,
        file: FileId,
        mention: Mention,
        wrap: Wrap,
        env: EnvId,
        trails: &mut Vec<Trail>,
        found: &mut Found,
    ) {
        // A callable in a container is dispatch; a container of iterators is consumed who knows where.
        if wrap != Wrap::Element {
            let within = Unit::Body(self.linker.body_of_mention(file, mention));
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
        found: &mut Found,
    ) {
        let linker = self.linker;
        let facts = linker.program.facts(file);
        // Whoever calls the interface that its place asks for may call it.
        if let Subject::Body(node) = subject
            && linker.program.body(node.body).flow == Flow::Sync
        {
            trails.extend(linker.called_through(file, mention).into_iter().map(Trail::Named));
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
                let scope = blocklint_link::values::expr::Scope { file, at: row.at, env };
                if !self.value_contains(subject, linker.assigned(scope, assign).value) {
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
                let scope = blocklint_link::values::expr::Scope { file, at: row.at, env };
                if !self.value_contains(subject, linker.eval(scope, row.value).value) {
                    return;
                }
                let gives_iterator = facts.language == Language::Python
                    && blocklint_link::lang::python::protocols::gives_iterator(facts.text(facts.body(body).name));
                for &site in self.call_sites(file.body_ref(body)).iter() {
                    // The loop that asks for the iterator also goes through it.
                    if gives_iterator {
                        self.call(subject, site, EnvId::NONE, trails, found);
                    }
                    trails.push(Trail::ResultOf(site, EnvId::NONE));
                }
            }
            Mention::Operand(site) => self.call(subject, file.site_ref(site), env, trails, found),
            Mention::Default(param) => self.default(subject, file, param, found),
        }
    }

    /// Every site that calls a body, by whatever name, verified.
    pub fn call_sites(&self, body: BodyRef) -> Rc<[SiteRef]> {
        self.linker.query(&self.sites, body, Rc::default, || self.find_call_sites(body).into())
    }

    fn find_call_sites(&self, body: BodyRef) -> Vec<SiteRef> {
        let node = Node::plain(body);
        let mut trails = Vec::new();
        self.start(body, &mut trails);
        let mut found = Found::default();
        self.follow(Subject::Body(node), trails, &mut found);
        let mut sites: Vec<SiteRef> = found
            .looked
            .iter()
            .filter(|(site, env)| self.linker.targets(*site, *env).receiver_of(body).is_some())
            .map(|(site, _)| *site)
            .collect();
        sites.sort();
        sites.dedup();
        sites
    }

    /// The same where there are any, and so few that what holds for all of them can be asked.
    pub(crate) fn few_call_sites(&self, body: BodyRef) -> Option<Rc<[SiteRef]>> {
        Some(self.call_sites(body)).filter(|sites| are_few(sites))
    }

    /// The calls of a trait's or base's method that may mean this implementation of it.
    pub fn sites_by_base(&self, body: BodyRef) -> Vec<SiteRef> {
        let mut trails = Vec::new();
        self.start(body, &mut trails);
        let mut found = Found::default();
        self.follow(Subject::Body(Node::plain(body)), trails, &mut found);
        let may_mean = |site: SiteRef, env: EnvId| {
            self.linker.targets(site, env).list.iter().any(|target| match *target {
                Target::Overrides { class, name } => self.linker.means_override(class, name, body, site),
                _ => false,
            })
        };
        let mut sites: Vec<SiteRef> =
            found.looked.iter().filter(|(site, env)| may_mean(*site, *env)).map(|(site, _)| *site).collect();
        sites.sort();
        sites.dedup();
        sites
    }

    /// Who calls a library callable under another name, or as an argument; `seeds` are where it is mentioned.
    pub(crate) fn of_row(&self, path: PathId, seeds: &[(FileId, Mention, Wrap)]) -> Vec<Caller> {
        let mut found = Found::default();
        let mut trails = Vec::new();
        let subject = Subject::Row(path);
        for &(file, mention, wrap) in seeds {
            self.follow_mention(subject, file, mention, wrap, EnvId::NONE, &mut trails, &mut found);
        }
        self.follow(subject, trails, &mut found);
        found.callers.sort_by_key(|caller| (caller.site, caller.arg, caller.env));
        found.callers.dedup();
        found.callers
    }
}

/// Whether there are any sites, and so few that what holds for all of them can be asked.
pub(crate) fn are_few(sites: &[SiteRef]) -> bool {
    (1..=MOST_ASKED).contains(&sites.len())
}

/// What is being collected for one node.
#[derive(Default)]
pub(crate) struct Found {
    callers: Vec<Caller>,
    looked: FxHashSet<(SiteRef, EnvId)>,
    passed: FxHashSet<(SiteRef, u32, EnvId)>,
}

/// Adds steps, at most to `low`.
pub(crate) fn add_steps(a: u8, b: u8) -> u8 {
    a.saturating_add(b).min(LOW_STEPS)
}
