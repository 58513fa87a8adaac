//! Targets of a site: bodies and library rows.

use crate::lang;
use crate::lang::implicit::ImplicitCallSite;
use std::rc::Rc;

use blocklint_core::{Context, Language, Runtime};
use blocklint_facts::{BodyKind, Flow, Form, FormId, RegionId, SiteFlags, SiteKind, VarId};
use blocklint_models::{Argument, HandoverContext, HandoverRow, Runs};
use smallvec::SmallVec;

use crate::classes::hierarchy::Ancestor;
use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, ClassRef, Name, PathId, SiteRef};
use crate::program::occurrences::Mention;
use crate::reactive::Position;
use crate::values::expr::Scope;
use crate::values::value::{BoundId, EnvId, Val};

/// So many sites of a name are looked at to type parameters.
pub(crate) const MOST_SITES: usize = 64;

/// How a target runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TargetKind {
    /// Now, on this thread.
    Call,
    /// It was made earlier and runs where it is consumed here.
    Consume,
    /// The first import runs a module.
    Init,
    /// It is only made.
    Construct,
    /// It will run in this context.
    HandOver(Context, Option<Runtime>),
}

/// One thing a site runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A body of the project.
    Body {
        /// The body.
        body: BodyRef,
        /// The values of its captured parameters.
        env: EnvId,
        /// True if its first parameter is a receiver that the call does not list.
        with_receiver: bool,
        /// How it runs.
        kind: TargetKind,
    },
    /// The methods of this name in classes derived from the class, one shared set.
    Overrides {
        /// The class.
        class: ClassRef,
        /// The method.
        name: Name,
    },
    /// A library call.
    Row {
        /// The path called.
        path: PathId,
        /// The receiver of the call.
        receiver: BoundId,
        /// A property is read, not called.
        property: bool,
        /// Its lazy result is consumed here; it was made at this site.
        made: Option<SiteRef>,
    },
}

/// The targets of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    /// The alternatives.
    pub list: SmallVec<[Target; 2]>,
    /// Inferred steps that led to them.
    pub steps: u8,
    /// True if a further alternative is not known.
    pub unknown: bool,
    /// Python: true if one or another of the list is meant; else all of it runs.
    pub one_of: bool,
}

impl Targets {
    /// Returns true if a body is among the targets of a call and has a receiver that the call does not list, false if
    /// it is among them without one, and `None` if it is no target.
    pub fn receiver_of(&self, body: BodyRef) -> Option<bool> {
        self.list.iter().find_map(|target| match *target {
            Target::Body { body: of, with_receiver, .. } if of == body => Some(with_receiver),
            _ => None,
        })
    }
}

/// The uses of one argument by a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passing {
    /// It is called during the call.
    pub called: bool,
    /// It is iterated during the call.
    pub consumed: bool,
    /// It will run in these contexts.
    pub handed: Vec<(Context, Option<Runtime>)>,
    /// The result is it, or a callable that runs it.
    pub returned: bool,
    /// That it is called is inferred from how the closure is written.
    pub assumed: bool,
    /// The context in which a callable result runs it; with `returned`.
    pub wrapped: Option<(Context, Option<Runtime>)>,
    /// It is an operator's callable.
    pub on_chain: bool,
    /// Where the chain runs it; with `on_chain`.
    pub chain: Position,
    /// The machinery of the chain.
    pub chain_runtime: Option<Runtime>,
}

impl<'a> Linker<'a> {
    /// Returns the targets of a site, remembered.
    pub fn targets(&self, site: SiteRef, env: EnvId) -> Rc<Targets> {
        let tables = &self.tables.calls;
        self.query(
            &tables.targets,
            (site, env),
            || tables.no_targets.clone(),
            || {
                let found = self.find_targets(site, env);
                if found == *tables.no_targets { tables.no_targets.clone() } else { Rc::new(found) }
            },
        )
    }

    fn find_targets(&self, site: SiteRef, env: EnvId) -> Targets {
        let facts = self.program.facts(site.file);
        let row = self.program.site(site);
        let mut targets = Targets::default();
        match row.kind {
            SiteKind::Call | SiteKind::New | SiteKind::Macro => {
                let callee = self.without_none(self.callee(site, env));
                let semantics = lang::semantics(facts.language);
                let callee = semantics.callees_that_fit_use(self, callee, site, env);
                self.add_members(&mut targets, callee, |linker, targets, val| {
                    if semantics.can_take_arguments(linker, val, site) {
                        linker.add_callee(targets, val, site);
                    }
                });
                targets.one_of = targets.list.len() > 1;
                self.add_implicit(&mut targets, facts.language, ImplicitCallSite::Arguments { site, env });
            }
            SiteKind::Decorate => {
                let callee = self.eval(self.scope_of(site, env), row.callee);
                self.add_members(&mut targets, callee, |linker, targets, val| linker.add_callee(targets, val, site));
            }
            SiteKind::Read => {
                let operand = self.without_none(self.eval(self.scope_of(site, env), row.callee));
                if let Some(name) = self.program.global(site.file, row.name) {
                    self.add_members(&mut targets, operand, |linker, targets, val| {
                        linker.add_property(targets, val, name);
                    });
                }
            }
            SiteKind::Iterate => {
                let operand = self.without_none(self.eval(self.scope_of(site, env), row.callee));
                let is_async = row.flags.has(SiteFlags::ASYNC);
                self.add_members(&mut targets, operand, |linker, targets, val| match val {
                    // `for (Path file : (Iterable<Path>) files::iterator)`
                    Val::Fn { .. } | Val::Method { .. } if facts.language == Language::Java => {
                        linker.add_callee(targets, val, site);
                    }
                    _ => linker.add_iteration(targets, val, is_async),
                });
            }
            SiteKind::Enter | SiteKind::Leave => {
                let operand = self.without_none(self.eval(self.scope_of(site, env), row.callee));
                if let Some(name) = self.program.global(site.file, row.name) {
                    let entering = row.kind == SiteKind::Enter;
                    self.add_members(&mut targets, operand, |linker, targets, val| {
                        linker.add_with(targets, val, name, entering);
                    });
                }
            }
            SiteKind::Operator
            | SiteKind::Subscript
            | SiteKind::Drop
            | SiteKind::Test
            | SiteKind::Compare
            | SiteKind::Format => {
                self.add_implicit(&mut targets, facts.language, ImplicitCallSite::Operation { site, env });
            }
            SiteKind::Write => {
                let operand = self.without_none(self.eval(self.scope_of(site, env), row.callee));
                if let Some(name) = self.program.global(site.file, row.name) {
                    self.add_members(&mut targets, operand, |linker, targets, val| {
                        linker.add_setter(targets, val, name)
                    });
                }
            }
            SiteKind::Import | SiteKind::Await => {}
        }
        if matches!(row.kind, SiteKind::Read | SiteKind::Write | SiteKind::Decorate | SiteKind::Enter | SiteKind::Leave)
        {
            targets.one_of = targets.list.len() > 1;
        }
        targets
    }

    pub(crate) fn add_members(
        &self,
        targets: &mut Targets,
        typed: Typed,
        mut add: impl FnMut(&Self, &mut Targets, Val),
    ) {
        targets.steps = targets.steps.max(typed.inferred_steps);
        for val in self.values.members(typed.value) {
            if matches!(val, Val::Unknown(_)) {
                targets.unknown = true;
            } else {
                add(self, targets, val);
            }
        }
    }

    pub(crate) fn push(&self, targets: &mut Targets, target: Target) {
        if !targets.list.contains(&target) {
            targets.list.push(target);
        }
    }

    /// Adds the code that calling a member runs.
    pub(crate) fn add_callee(&self, targets: &mut Targets, val: Val, site: SiteRef) {
        match val {
            Val::Fn { body, receiver, env: captured } => {
                let with_receiver = self.takes(body, receiver);
                if let Some(context) = self.proxy_context(body, site) {
                    let kind = TargetKind::HandOver(context, None);
                    self.push(targets, Target::Body { body, env: captured, with_receiver, kind });
                    return;
                }
                self.add_body(targets, body, captured, with_receiver, receiver);
                if receiver.is_some() {
                    self.add_kept(targets, body, site);
                }
            }
            Val::Class(class) => {
                let mut library = None;
                for method in ["__init__", "__new__", "__post_init__", "<init>"] {
                    let Some(name) = self.program.name(method) else { continue };
                    for ancestor in self.mro(class).iter() {
                        match *ancestor {
                            Ancestor::Class(owner) => {
                                if let Some((owner, var)) = self.own_member(owner, name) {
                                    for body in self.fitting(self.functions_of(owner, var), site) {
                                        self.push(
                                            targets,
                                            Target::Body {
                                                body,
                                                env: EnvId::NONE,
                                                with_receiver: self.program.language(site.file) == Language::Python,
                                                kind: TargetKind::Call,
                                            },
                                        );
                                    }
                                    break;
                                }
                            }
                            Ancestor::Library(ty, _) if method == "__init__" => {
                                library.get_or_insert(ty);
                            }
                            _ => {}
                        }
                    }
                }
                if targets.list.is_empty()
                    && let Some(ty) = library
                {
                    self.push(targets, Target::Row { path: ty, receiver: BoundId::NONE, property: false, made: None });
                }
            }
            Val::External(path) => {
                self.push(targets, Target::Row { path, receiver: BoundId::NONE, property: false, made: None });
            }
            Val::Method { path, receiver } => {
                // `reader.lines().next()` runs what the lazy value holds back.
                if let Val::Lazy { made, path: lazy, .. } = self.values.single(receiver)
                    && self.library.calls(path).with(|row| row.consumes == Some(Argument::Receiver)).next().is_some()
                {
                    let lazy = Target::Row { path: lazy, receiver: BoundId::NONE, property: false, made: Some(made) };
                    self.push(targets, lazy);
                }
                self.push(targets, Target::Row { path, receiver, property: false, made: None });
                let place = ImplicitCallSite::LibraryMethod { path, receiver, site };
                self.add_implicit(targets, self.program.language(site.file), place);
            }
            Val::Partial { inner, made, .. } => match self.wrapped_context(made) {
                None => self.add_callee(targets, self.values.single(inner), site),
                Some((context, runtime)) => {
                    if let Val::Fn { body, env: captured, receiver } = self.values.single(inner) {
                        self.push(
                            targets,
                            Target::Body {
                                body,
                                env: captured,
                                with_receiver: self.takes(body, receiver),
                                kind: TargetKind::HandOver(context, runtime),
                            },
                        );
                    }
                }
            },
            Val::Instance { .. } => {
                if let Some(name) = self.program.name("__call__") {
                    self.add_method(targets, val, name);
                }
            }
            // The project need not spell the method's name.
            Val::Library { ty, args, .. } => {
                let path = self.library.member(ty, "__call__");
                if !self.library.calls(path).is_empty() {
                    let receiver = self.values.bound(val);
                    self.push(targets, Target::Row { path, receiver, property: false, made: None });
                } else if let Some(inner) = self.transparent_inner(ty, args) {
                    for inner in self.values.members(inner.value) {
                        self.add_callee(targets, inner, site);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the context in which a callable made by a row with `wraps` runs the wrapped callable; `None` on the
    /// caller's thread.
    pub(crate) fn wrapped_context(&self, made: SiteRef) -> Option<(Context, Option<Runtime>)> {
        let callee = self.callee(made, EnvId::NONE);
        for val in self.values.members(callee.value) {
            let (Val::External(path) | Val::Method { path, .. }) = val else { continue };
            if let Some(row) = self.library.handovers(path).iter().find(|row| row.wraps) {
                return match self.handover_context(row.row, made, false) {
                    Runs::In(context) => Some((context, row.runtime)),
                    Runs::Caller | Runs::Chain => None,
                };
            }
        }
        None
    }

    /// Returns the context in which a row's callable runs.
    pub fn handover_context(&self, row: &HandoverRow, site: SiteRef, is_async: bool) -> Runs {
        match &row.context {
            HandoverContext::Is(runs) => *runs,
            HandoverContext::BySync { sync, async_ } => {
                if is_async {
                    *async_
                } else {
                    *sync
                }
            }
            HandoverContext::Of(argument) => self.scheduler_in(site, argument),
        }
    }

    /// Returns the context in which the scheduler or executor in an argument runs its tasks; a worker if it is absent
    /// or unknown.
    fn scheduler_in(&self, site: SiteRef, argument: &Argument) -> Runs {
        let worker = Runs::In(Context::Worker);
        let Some(form) = self.argument(site, argument) else { return worker };
        self.scheduler_of(self.scope_of(site, EnvId::NONE), form).unwrap_or(worker)
    }

    pub(crate) fn add_body(
        &self,
        targets: &mut Targets,
        body: BodyRef,
        env: EnvId,
        with_receiver: bool,
        receiver: BoundId,
    ) {
        let facts = self.program.facts(body.file);
        if let Some(path) = self.described_by_user(body) {
            self.push(targets, Target::Row { path, receiver, property: false, made: None });
            return;
        }
        if let Some(path) = self.implemented_by_library(body) {
            self.push(targets, Target::Row { path, receiver, property: false, made: None });
            return;
        }
        let kind = match self.program.body(body).flow {
            Flow::Sync => TargetKind::Call,
            Flow::Coroutine | Flow::Generator | Flow::AsyncGenerator => TargetKind::Construct,
        };
        self.push(targets, Target::Body { body, env, with_receiver, kind });
        // The method of a trait or interface by its path: of whatever implements it.
        if !receiver.is_some()
            && lang::semantics(facts.language).runs_any_implementation(self, body)
            && let Some(class) = self.program.body(body).class.get()
            && facts.class(class).kind == blocklint_facts::ClassKind::Interface
            && let Some(name) = self.program.global(body.file, self.program.body(body).name)
        {
            let class = body.file.class_ref(class);
            if !self.overrides(class, name).is_empty() {
                self.push(targets, Target::Overrides { class, name });
            }
        }
        // A receiver whose class is only a base may be any class that derives from it.
        if receiver.is_some()
            && let Val::Instance { class, exact: false, .. } = self.values.single(receiver)
            && let Some(name) = self.program.global(body.file, self.program.body(body).name)
            && self.program.body(body).class.is_some()
            && !self.overrides(class, name).is_empty()
        {
            self.push(targets, Target::Overrides { class, name });
        }
    }

    /// Returns the path of a project function that a row of the user's configuration describes instead of its body.
    fn described_by_user(&self, body: BodyRef) -> Option<PathId> {
        if !self.library.has_user_rows() {
            return None;
        }
        let facts = self.program.facts(body.file);
        let path = self.library.path(facts.language, &self.qualified_name(body));
        self.library.has_user_row(path).then_some(path)
    }

    /// True if a call on a receiver passes it as a parameter that the arguments do not list. Java's `this` is no such
    /// parameter.
    pub(crate) fn takes(&self, body: BodyRef, receiver: BoundId) -> bool {
        receiver.is_some() && lang::words_of(self.program.language(body.file)).passes_receiver
    }

    /// True if one of the alternatives returns a coroutine or future.
    pub fn has_async_target(&self, targets: &Targets) -> bool {
        targets.list.iter().any(|target| match *target {
            Target::Body { body, .. } => self.program.body(body).flow == Flow::Coroutine,
            Target::Row { path, .. } => self
                .library
                .calls(path)
                .with(|row| row.is_async.is_some())
                .next()
                .is_some_and(|row| row.is_async == Some(true)),
            Target::Overrides { class, name } => {
                self.overrides(class, name).iter().any(|body| self.program.body(*body).flow == Flow::Coroutine)
            }
        })
    }

    /// True if the value of a site is awaited, or if the code makes sure that it is a coroutine: `if iscoroutine(it): …
    /// else: raise Unexpected()`.
    pub fn means_coroutine(&self, site: SiteRef) -> bool {
        let (facts, site_id) = self.program.facts_and_id(site);
        let row = self.program.site(site);
        if row.flags.has(SiteFlags::AWAITED) {
            return true;
        }
        let is_kept =
            |var: VarId| facts.only_value_of(var).is_some_and(|only| facts.form(only.value) == Form::Result(site_id));
        let asks = |test: FormId| {
            let Form::Result(call) = facts.form(test) else { return false };
            let [asked] = facts.args_of(call)[..] else { return false };
            lang::python::conventions::asks_for_coroutine(facts.text(facts.site(call).name))
                && matches!(facts.form(asked.value), Form::Var(var) if is_kept(var))
        };
        // The arm in which it is none.
        let is_other = |region: RegionId| match self.test_of(site.file, region) {
            Some((test, holds)) => match facts.form(test) {
                Form::Not(inner) => holds && asks(inner),
                _ => !holds && asks(test),
            },
            None => false,
        };
        let is_assigned = |(mention, _)| matches!(mention, Mention::Assign(_));
        facts.language == Language::Python
            && self.program.uses_of_result(site).iter().any(is_assigned)
            && self
                .program
                .sites_in(self.program.body_of_site(site))
                .any(|of| self.is_raised(of) && self.program.site(of).at.region.get().is_some_and(is_other))
    }

    /// True if every value that a plain function returns is known not to be awaitable, or if it returns none (Python).
    fn returns_no_awaitable(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        let row = self.program.body(body);
        if facts.language != Language::Python
            || row.kind != BodyKind::Function
            || row.flow != Flow::Sync
            || !facts.list(row.decorators).is_empty()
        {
            return false;
        }
        let await_name = self.program.name("__await__");
        self.program.exits_in(body).filter(|exit| exit.value.is_some()).all(|exit| {
            let scope = Scope { file: body.file, at: exit.at, env: EnvId::NONE };
            let members = self.values.members(self.eval(scope, exit.value).value);
            let is_plain = |val: &Val| match *val {
                Val::Instance { class, .. } => self.mro(class).iter().all(|ancestor| match *ancestor {
                    Ancestor::Class(of) => await_name.is_none_or(|name| self.own_member(of, name).is_none()),
                    Ancestor::Library(..) | Ancestor::Unknown => false,
                }),
                Val::Library { ty, .. } => self.library.text(ty).starts_with("builtins."),
                Val::None => true,
                _ => false,
            };
            !members.is_empty() && members.iter().all(is_plain)
        })
    }

    /// True if the value of a site is awaited, but this body returns no awaitable: another alternative returns it, or
    /// the body, as far as it is known, returns none.
    pub fn cannot_be_awaited_here(&self, site: SiteRef, body: BodyRef, targets: &Targets) -> bool {
        if !self.means_coroutine(site) {
            return false;
        }
        if targets.list.len() < 2 || !self.has_async_target(targets) {
            return self.returns_no_awaitable(body);
        }
        // Of the closures that one function returns for both kinds of calls, the asynchronous one is meant.
        let family = self.program.body(body).parent;
        let is_sibling = |target: &Target| match *target {
            Target::Body { body: other, .. } => {
                let facts = self.program.facts(other.file);
                let row = self.program.body(other);
                let around = row.parent.get().is_some_and(|parent| facts.body(parent).kind == BodyKind::Function);
                other.file == body.file && row.parent == family && around && row.flow == Flow::Coroutine
            }
            _ => false,
        };
        if targets.list.iter().any(is_sibling) {
            return true;
        }
        let given = self.returned(body, EnvId::NONE, None);
        !self.values.members(given.value).iter().any(|val| matches!(val, Val::Coroutine { .. } | Val::Awaitable(_)))
    }

    /// True if a call makes an exception, by its name, and the code does not use its result: it is raised (Python).
    pub fn is_raised(&self, call: SiteRef) -> bool {
        let facts = self.program.facts(call.file);
        lang::python::conventions::sounds_like_exception(facts.text(self.program.site(call).name))
            && self.program.uses_of_result(call).is_empty()
    }
}

/// Implementations of a method of which each is likely to be called.
const MOST_ALTERNATIVES: usize = 4;

impl Linker<'_> {
    /// True if a call may run one of many implementations.
    pub(crate) fn is_one_of_many(&self, site: SiteRef) -> bool {
        let targets = self.targets(site, EnvId::NONE);
        let implementations = |target: &Target| match *target {
            Target::Overrides { class, name } => {
                let all = self.overrides(class, name);
                all.iter().filter(|of| !self.program.is_test(of.file) && !self.is_stub(**of)).count()
            }
            Target::Body { .. } | Target::Row { .. } => 0,
        };
        targets.list.iter().map(implementations).sum::<usize>() > MOST_ALTERNATIVES
    }
}
