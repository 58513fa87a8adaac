//! Call targets: the bodies, overrides and library rows that a call site runs.

use crate::lang;
use crate::lang::implicit::ImplicitCallSite;
use std::rc::Rc;

use blocklint_core::{Context, Language, Runtime};
use blocklint_facts::{BodyKind, ClassKind, Flow, Form, FormId, RegionId, SiteFlags, SiteKind, VarId};
use blocklint_models::{Argument, HandoverContext, HandoverRow, Runs};
use smallvec::SmallVec;

use crate::classes::hierarchy::Ancestor;
use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, ClassRef, Name, PathId, SiteRef};
use crate::program::occurrences::Mention;
use crate::reactive::Position;
use crate::values::expr::Scope;
use crate::values::value::{BoundId, EnvId, Val};

/// The maximal number of sites of one name that are checked for the values of parameters.
pub(crate) const MAX_SITES: usize = 64;

/// The time and place at which a target runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TargetKind {
    /// The target runs now, on this thread.
    Call,
    /// The target was created earlier, and runs here because the site consumes it: `for row in rows():`.
    Consume,
    /// The site imports a module, and the first import runs it.
    Init,
    /// The call creates the coroutine or generator and does not run it.
    Construct,
    /// The target runs later in this context.
    HandOver(Context, Option<Runtime>),
}

/// One thing that a site runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A body of the project.
    Body {
        /// The body.
        body: BodyRef,
        /// The values of its captured parameters.
        env: EnvId,
        /// True if its first parameter is a receiver that the argument list does not contain.
        with_receiver: bool,
        /// The time and place at which it runs.
        kind: TargetKind,
    },
    /// The overrides of a method in the subclasses of a class, as one target.
    Overrides {
        /// The class.
        class: ClassRef,
        /// The method.
        name: Name,
    },
    /// A library call.
    Row {
        /// The path of the row.
        path: PathId,
        /// The receiver of the call.
        receiver: BoundId,
        /// True if a property is read, not called.
        property: bool,
        /// The call that created the lazy result, if the site consumes a lazy result of the row.
        made: Option<SiteRef>,
    },
}

/// The targets of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    /// The known targets.
    pub list: SmallVec<[Target; 2]>,
    /// The number of inferred steps that led to the targets.
    pub steps: u8,
    /// True if there may be further targets that are unknown.
    pub unknown: bool,
    /// True if the site runs one target of the list; false if it runs all of them (Python).
    pub one_of: bool,
}

impl Targets {
    /// Returns true if a body is a target and has a receiver that the argument list does not contain, false if it is a
    /// target without such a receiver, and `None` if it is no target.
    pub fn receiver_of(&self, body: BodyRef) -> Option<bool> {
        self.list.iter().find_map(|target| match *target {
            Target::Body { body: target, with_receiver, .. } if target == body => Some(with_receiver),
            _ => None,
        })
    }
}

/// The use of one argument by a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgumentUse {
    /// True if the argument is called during the call.
    pub called: bool,
    /// True if the argument is iterated during the call.
    pub consumed: bool,
    /// The contexts in which the argument runs after a handover.
    pub handed: Vec<(Context, Option<Runtime>)>,
    /// True if the result is the argument, or a callable that runs it.
    pub returned: bool,
    /// True if `called` is inferred from the signature of the closure.
    pub assumed: bool,
    /// The context in which a callable result runs the argument; set with `returned`.
    pub wrapped: Option<(Context, Option<Runtime>)>,
    /// True if the argument is the callable of an operator of a reactive chain.
    pub on_chain: bool,
    /// The threads on which the chain runs the argument; set with `on_chain`.
    pub chain: Position,
    /// The runtime of the chain.
    pub chain_runtime: Option<Runtime>,
}

impl<'a> Linker<'a> {
    /// Returns the targets of a site.
    pub fn targets(&self, site: SiteRef, env: EnvId) -> Rc<Targets> {
        let tables = &self.tables.calls;
        self.query(
            &tables.targets,
            (site, env),
            || tables.unknown_targets.clone(),
            || {
                let mut resolved = self.find_targets(site, env);
                // A name of one language is never a name of another one.
                resolved.list.retain(|target| match target {
                    Target::Body { body, .. } => self.program.share_language(site.file, body.file),
                    Target::Overrides { class, .. } => self.program.share_language(site.file, class.file),
                    Target::Row { .. } => true,
                });
                if resolved == *tables.unknown_targets { tables.unknown_targets.clone() } else { Rc::new(resolved) }
            },
        )
    }

    fn find_targets(&self, site: SiteRef, env: EnvId) -> Targets {
        let facts = self.program.facts(site.file);
        let site_facts = self.program.site(site);
        let mut targets = Targets::default();
        match site_facts.kind {
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
                self.add_implicit_targets(&mut targets, facts.language, ImplicitCallSite::Arguments { site, env });
            }
            SiteKind::Decorate => {
                let callee = self.eval(self.scope_of(site, env), site_facts.callee);
                self.add_members(&mut targets, callee, |linker, targets, val| linker.add_callee(targets, val, site));
            }
            SiteKind::Read => {
                let operand = self.without_none(self.eval(self.scope_of(site, env), site_facts.callee));
                if let Some(name) = self.program.global(site.file, site_facts.name) {
                    self.add_members(&mut targets, operand, |linker, targets, val| {
                        linker.add_property(targets, val, name);
                    });
                }
            }
            SiteKind::Iterate => {
                let operand = self.without_none(self.eval(self.scope_of(site, env), site_facts.callee));
                let is_async = site_facts.flags.has(SiteFlags::ASYNC);
                self.add_members(&mut targets, operand, |linker, targets, val| match val {
                    // `for (Path file : (Iterable<Path>) files::iterator)`
                    Val::Fn { .. } | Val::Method { .. } if facts.language == Language::Java => {
                        linker.add_callee(targets, val, site);
                    }
                    _ => linker.add_iteration(targets, val, is_async),
                });
            }
            SiteKind::Enter | SiteKind::Leave => {
                let operand = self.without_none(self.eval(self.scope_of(site, env), site_facts.callee));
                if let Some(name) = self.program.global(site.file, site_facts.name) {
                    let entering = site_facts.kind == SiteKind::Enter;
                    self.add_members(&mut targets, operand, |linker, targets, val| {
                        linker.add_context_manager(targets, val, name, entering);
                    });
                }
            }
            SiteKind::Operator
            | SiteKind::Subscript
            | SiteKind::Drop
            | SiteKind::Test
            | SiteKind::Compare
            | SiteKind::Format => {
                self.add_implicit_targets(&mut targets, facts.language, ImplicitCallSite::Operation { site, env });
            }
            SiteKind::Write => {
                let operand = self.without_none(self.eval(self.scope_of(site, env), site_facts.callee));
                if let Some(name) = self.program.global(site.file, site_facts.name) {
                    self.add_members(&mut targets, operand, |linker, targets, val| {
                        linker.add_setter(targets, val, name)
                    });
                }
            }
            SiteKind::Import | SiteKind::Await => {}
        }
        if matches!(
            site_facts.kind,
            SiteKind::Read | SiteKind::Write | SiteKind::Decorate | SiteKind::Enter | SiteKind::Leave
        ) {
            targets.one_of = targets.list.len() > 1;
        }
        targets
    }

    /// Adds the targets of each known member of a value.
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

    /// Adds a target unless it is in the list already.
    pub(crate) fn push(&self, targets: &mut Targets, target: Target) {
        if !targets.list.contains(&target) {
            targets.list.push(target);
        }
    }

    /// Adds the code that calling a member runs.
    pub(crate) fn add_callee(&self, targets: &mut Targets, val: Val, site: SiteRef) {
        match val {
            Val::Fn { body, receiver, env: captured } => {
                let with_receiver = self.has_implicit_receiver(body, receiver);
                if let Some(context) = self.proxy_context(body, site) {
                    let kind = TargetKind::HandOver(context, None);
                    self.push(targets, Target::Body { body, env: captured, with_receiver, kind });
                    return;
                }
                self.add_body(targets, body, captured, with_receiver, receiver);
                if receiver.is_some() {
                    self.add_constructor_callables(targets, body, site);
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
                                    for body in self.fitting_overloads(self.functions_of(owner, var), site) {
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
                // `reader.lines().next()` consumes the lazy result of `lines`.
                if let Val::Lazy { made, path: lazy, .. } = self.values.single(receiver)
                    && self.library.calls(path).with(|row| row.consumes == Some(Argument::Receiver)).next().is_some()
                {
                    let lazy = Target::Row { path: lazy, receiver: BoundId::NONE, property: false, made: Some(made) };
                    self.push(targets, lazy);
                }
                self.push(targets, Target::Row { path, receiver, property: false, made: None });
                let place = ImplicitCallSite::LibraryMethod { path, receiver, site };
                self.add_implicit_targets(targets, self.program.language(site.file), place);
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
                                with_receiver: self.has_implicit_receiver(body, receiver),
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
            // A library's method needs no name in the project's files, unlike the one of an instance.
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

    /// Returns the context in which a callable that a row with `wraps` returns runs the wrapped callable; `None` if
    /// that is the caller's thread.
    pub(crate) fn wrapped_context(&self, made: SiteRef) -> Option<(Context, Option<Runtime>)> {
        let callee = self.callee(made, EnvId::NONE);
        for val in self.values.members(callee.value) {
            let (Val::External(path) | Val::Method { path, .. }) = val else { continue };
            if let Some(matched) = self.library.handovers(path).iter().find(|row| row.wraps) {
                return match self.handover_context(matched.row, made, false) {
                    Runs::In(context) => Some((context, matched.runtime)),
                    Runs::Caller | Runs::Chain => None,
                };
            }
        }
        None
    }

    /// Returns the context in which the callable of a handover row runs.
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

    /// Adds a body, or the row that describes it, and the overrides that may run in its place.
    pub(crate) fn add_body(
        &self,
        targets: &mut Targets,
        body: BodyRef,
        env: EnvId,
        with_receiver: bool,
        receiver: BoundId,
    ) {
        let facts = self.program.facts(body.file);
        if let Some(path) = self.user_row_path(body) {
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
        // A path to the method of a trait or interface may run any implementation: `Store::load(&it)`.
        if !receiver.is_some()
            && lang::semantics(facts.language).runs_any_implementation(self, body)
            && let Some(class) = self.program.body(body).class.get()
            && facts.class(class).kind == ClassKind::Interface
            && let Some(name) = self.program.global(body.file, self.program.body(body).name)
        {
            let class = body.file.class_ref(class);
            if !self.overrides(class, name).is_empty() {
                self.push(targets, Target::Overrides { class, name });
            }
        }
        // A receiver of a base class may be an instance of any subclass.
        if receiver.is_some()
            && let Val::Instance { class, exact: false, .. } = self.values.single(receiver)
            && let Some(name) = self.program.global(body.file, self.program.body(body).name)
            && self.program.body(body).class.is_some()
            && !self.overrides(class, name).is_empty()
        {
            self.push(targets, Target::Overrides { class, name });
        }
    }

    /// Returns the path of a project function that a row of the user's models describes instead of its body.
    fn user_row_path(&self, body: BodyRef) -> Option<PathId> {
        if !self.library.has_user_rows() {
            return None;
        }
        let facts = self.program.facts(body.file);
        let path = self.library.path(facts.language, &self.qualified_name(body));
        self.library.has_user_row(path).then_some(path)
    }

    /// True if a call passes its receiver as a parameter that the argument list does not contain. Java's `this` is no
    /// such parameter.
    pub(crate) fn has_implicit_receiver(&self, body: BodyRef, receiver: BoundId) -> bool {
        receiver.is_some() && lang::words_of(self.program.language(body.file)).passes_receiver
    }

    /// True if one of the targets returns a coroutine or future.
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

    /// True if the result of a site is awaited, or if the code raises an exception unless it is a coroutine:
    /// `if iscoroutine(result): … else: raise Unexpected()`.
    pub fn expects_coroutine(&self, site: SiteRef) -> bool {
        let (facts, site_id) = self.program.facts_and_id(site);
        let site_facts = self.program.site(site);
        if site_facts.flags.has(SiteFlags::AWAITED) {
            return true;
        }
        let has_result =
            |var: VarId| facts.only_value_of(var).is_some_and(|only| facts.form(only.value) == Form::Result(site_id));
        let tests_coroutine = |test: FormId| {
            let Form::Result(call) = facts.form(test) else { return false };
            let [tested] = facts.args_of(call)[..] else { return false };
            lang::python::conventions::is_awaitable_test(facts.text(facts.site(call).name))
                && matches!(facts.form(tested.value), Form::Var(var) if has_result(var))
        };
        // The branch in which the result is no coroutine.
        let is_other_branch = |region: RegionId| match self.test_of(site.file, region) {
            Some((test, holds)) => match facts.form(test) {
                Form::Not(inner) => holds && tests_coroutine(inner),
                _ => !holds && tests_coroutine(test),
            },
            None => false,
        };
        let is_assigned = |(mention, _)| matches!(mention, Mention::Assign(_));
        facts.language == Language::Python
            && self.program.uses_of_result(site).iter().any(is_assigned)
            && self.program.sites_in(self.program.body_of_site(site)).any(|call| {
                self.is_raised_exception(call) && self.program.site(call).at.region.get().is_some_and(is_other_branch)
            })
    }

    /// True if a plain function returns no value, or only values that are known not to be awaitable (Python).
    fn returns_no_awaitable(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        let body_facts = self.program.body(body);
        if facts.language != Language::Python
            || body_facts.kind != BodyKind::Function
            || body_facts.flow != Flow::Sync
            || !facts.list(body_facts.decorators).is_empty()
        {
            return false;
        }
        let await_name = self.program.name("__await__");
        self.program.exits_in(body).filter(|exit| exit.value.is_some()).all(|exit| {
            let scope = Scope { file: body.file, at: exit.at, env: EnvId::NONE };
            let members = self.values.members(self.eval(scope, exit.value).value);
            let is_plain = |val: &Val| match *val {
                Val::Instance { class, .. } => self.mro(class).iter().all(|ancestor| match *ancestor {
                    Ancestor::Class(class) => await_name.is_none_or(|name| self.own_member(class, name).is_none()),
                    Ancestor::Library(..) | Ancestor::Unknown => false,
                }),
                Val::Library { ty, .. } => self.library.text(ty).starts_with("builtins."),
                Val::None => true,
                _ => false,
            };
            !members.is_empty() && members.iter().all(is_plain)
        })
    }

    /// True if the result of a site is awaited and a target returns no awaitable, so that the site does not run this
    /// target.
    pub fn cannot_be_awaited_here(&self, site: SiteRef, body: BodyRef, targets: &Targets) -> bool {
        if !self.expects_coroutine(site) {
            return false;
        }
        if targets.list.len() < 2 || !self.has_async_target(targets) {
            return self.returns_no_awaitable(body);
        }
        // A function returns closures for both kinds of calls, and the site runs the asynchronous one.
        let outer = self.program.body(body).parent;
        let is_sibling = |target: &Target| match *target {
            Target::Body { body: other, .. } => {
                let facts = self.program.facts(other.file);
                let body_facts = self.program.body(other);
                let around =
                    body_facts.parent.get().is_some_and(|parent| facts.body(parent).kind == BodyKind::Function);
                other.file == body.file && body_facts.parent == outer && around && body_facts.flow == Flow::Coroutine
            }
            _ => false,
        };
        if targets.list.iter().any(is_sibling) {
            return true;
        }
        let result = self.returned(body, EnvId::NONE, None);
        !self.values.members(result.value).iter().any(|val| matches!(val, Val::Coroutine { .. } | Val::Awaitable(_)))
    }

    /// True if a call creates an exception, by its name, and its result is only raised: `raise NotFound()` (Python).
    pub fn is_raised_exception(&self, call: SiteRef) -> bool {
        let facts = self.program.facts(call.file);
        lang::python::conventions::has_exception_name(facts.text(self.program.site(call).name))
            && self.program.uses_of_result(call).is_empty()
    }
}

/// The most implementations of a method for which each one is likely to be called.
const MAX_LIKELY_IMPLEMENTATIONS: usize = 4;

impl Linker<'_> {
    /// True if a call runs one of many implementations.
    pub(crate) fn is_one_of_many(&self, site: SiteRef) -> bool {
        let targets = self.targets(site, EnvId::NONE);
        let implementations = |target: &Target| match *target {
            Target::Overrides { class, name } => {
                let override_list = self.overrides(class, name);
                override_list.iter().filter(|of| !self.program.is_test(of.file) && !self.is_stub(**of)).count()
            }
            Target::Body { .. } | Target::Row { .. } => 0,
        };
        targets.list.iter().map(implementations).sum::<usize>() > MAX_LIKELY_IMPLEMENTATIONS
    }
}
