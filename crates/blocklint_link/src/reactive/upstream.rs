//! Upstream of an operator: the threads on which the operator receives its items, by the operators before it.

use blocklint_core::Context;
use blocklint_facts::{AltKind, BodyKind, ExitKind, Form, FormId, VarKind};
use blocklint_models::{Argument, CallRow, HandoverContext, MoveTo, Moves, Runs, Selector, TypeExpr};

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, PathId, SiteRef, VarRef};
use crate::program::occurrences::Mention;
use crate::reactive::BodyUse;
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// The most `return` statements of one method that are followed.
const MAX_RETURNS: usize = 16;

/// The most targets of one call that are followed to their publishers.
const MAX_TARGETS: usize = 3;

/// The state of a publisher that wraps one call (`Mono.fromCallable`). The call runs on the subscriber's thread.
pub(crate) const CALLABLE: &str = "callable";

/// A set of the threads on which the items of a publisher may arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ItemThreads(u8);

impl ItemThreads {
    /// No thread.
    pub(crate) const NONE: ItemThreads = ItemThreads(0);
    /// The thread of the subscriber, because no operator switched the thread.
    pub(crate) const SUBSCRIBER: ItemThreads = ItemThreads(1);
    /// A thread that must not block.
    pub(crate) const LOOP: ItemThreads = ItemThreads(2);
    /// A thread that may block.
    pub(crate) const WORKER: ItemThreads = ItemThreads(4);
    /// An unknown thread.
    pub(crate) const UNKNOWN: ItemThreads = ItemThreads(8);
    /// An unknown thread of a publisher that a call creates. Most such publishers run when a subscriber subscribes, so
    /// code that moves the chain moves its source as well.
    pub(crate) const CALLED: ItemThreads = ItemThreads(16);

    /// A thread of a scheduler for computations, which must not block and which an operator selects.
    pub(crate) const POOL: ItemThreads = ItemThreads(32);

    /// True if the set contains any thread of `other`.
    pub(crate) fn has(self, other: ItemThreads) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the union of two sets.
    pub(crate) fn with(self, other: ItemThreads) -> ItemThreads {
        ItemThreads(self.0 | other.0)
    }

    /// Returns the set with the threads of the subscriber in place of [`ItemThreads::SUBSCRIBER`].
    fn with_subscriber_threads(self, threads: ItemThreads) -> ItemThreads {
        if self.has(ItemThreads::SUBSCRIBER) { ItemThreads(self.0 & !1).with(threads) } else { self }
    }
}

impl From<Runs> for ItemThreads {
    fn from(runs: Runs) -> Self {
        match runs {
            Runs::In(Context::EventLoop) => ItemThreads::LOOP,
            Runs::In(Context::Worker) => ItemThreads::WORKER,
            Runs::Caller => ItemThreads::SUBSCRIBER,
            Runs::In(_) | Runs::Chain => ItemThreads::UNKNOWN,
        }
    }
}

impl<'a> Linker<'a> {
    /// Returns the threads on which an operator receives its items: those of its receiver. A source (`Mono.just`), whose
    /// receiver is a class, runs on the subscriber's thread.
    pub(crate) fn item_threads_before(&self, operator: SiteRef) -> ItemThreads {
        let Some(receiver) = self.receiver_form(operator) else { return ItemThreads::SUBSCRIBER };
        let typed = self.eval(self.scope_of(operator, EnvId::NONE), receiver);
        let is_static =
            self.values.members(typed.value).iter().all(|val| matches!(val, Val::External(_) | Val::Class(_)));
        if is_static {
            return ItemThreads::SUBSCRIBER;
        }
        self.item_threads(self.scope_of(operator, EnvId::NONE), receiver)
    }

    /// Returns the threads on which the items of a publisher arrive.
    pub(crate) fn item_threads(&self, scope: Scope, form: FormId) -> ItemThreads {
        let file = scope.file;
        let facts = self.program.facts(file);
        match facts.form(form) {
            Form::Result(site) => self.item_threads_of_site(file.site_ref(site)),
            Form::Var(var) => match facts.var(var).kind {
                VarKind::Param(index) => self.item_threads_of_param(file.var_ref(var), index),
                _ => self.item_threads_of_var(file.var_ref(var)),
            },
            Form::Attr(base, sym) => match self.field_of_attribute(scope, base, sym) {
                Some(var) => self.item_threads_of_var(var),
                None => ItemThreads::UNKNOWN,
            },
            Form::Alt(kind, list) => {
                let test = usize::from(kind == AltKind::Ternary);
                let forms = facts.list(list);
                let branches = &forms[test.min(forms.len())..];
                branches.iter().fold(ItemThreads::NONE, |all, &branch| all.with(self.item_threads(scope, branch)))
            }
            Form::Cast(inner, _) => self.item_threads(scope, inner),
            Form::None => ItemThreads::NONE,
            _ => ItemThreads::UNKNOWN,
        }
    }

    /// Returns the threads of the publisher in a variable.
    fn item_threads_of_var(&self, var: VarRef) -> ItemThreads {
        let chains = &self.tables.chains;
        chains.round.query(
            &chains.item_threads_of_vars,
            var,
            || ItemThreads::NONE,
            || {
                let assigned = self.values_assigned_to(var);
                if assigned.is_empty() {
                    return ItemThreads::UNKNOWN;
                }
                assigned.into_iter().fold(ItemThreads::NONE, |all, (at, value)| {
                    // The value of `flux = flux.map(f)` may depend on the variable itself.
                    all.with(self.item_threads(Scope { file: var.file, at, env: EnvId::NONE }, value))
                })
            },
        )
    }

    /// Returns the threads of the publisher that a call returns.
    fn item_threads_of_site(&self, site: SiteRef) -> ItemThreads {
        let chains = &self.tables.chains;
        chains.round.query(
            &chains.item_threads_of_sites,
            site,
            || ItemThreads::NONE,
            || {
                let targets = self.targets(site, EnvId::NONE);
                let mut threads = if targets.list.is_empty() { ItemThreads::CALLED } else { ItemThreads::NONE };
                for target in &targets.list {
                    threads = threads.with(match *target {
                        Target::Row { path, .. } => self.item_threads_after(site, path),
                        Target::Body { body, .. } => self.item_threads_of_result(body),
                        Target::Overrides { class, name } => {
                            let bodies = self.overrides(class, name);
                            if bodies.len() > MAX_TARGETS {
                                ItemThreads::CALLED
                            } else {
                                bodies
                                    .iter()
                                    .fold(ItemThreads::NONE, |all, &body| all.with(self.item_threads_of_result(body)))
                            }
                        }
                    });
                }
                // A stub adds no threads if its implementations are known.
                threads
            },
        )
    }

    /// Returns the threads of the publisher that a function returns.
    pub(crate) fn item_threads_of_result(&self, body: BodyRef) -> ItemThreads {
        let chains = &self.tables.chains;
        chains.round.query(
            &chains.item_threads_of_results,
            body,
            || ItemThreads::NONE,
            || {
                let (facts, body_id) = self.program.facts_and_id(body);
                let exits = facts
                    .exits
                    .iter()
                    .filter(|exit| exit.kind == ExitKind::Return && facts.body_of(exit.at) == body_id)
                    .filter(|exit| exit.value.is_some());
                let mut threads = ItemThreads::NONE;
                let mut has_exit = false;
                for exit in exits.take(MAX_RETURNS) {
                    has_exit = true;
                    let scope = Scope { file: body.file, at: exit.at, env: EnvId::NONE };
                    threads = threads.with(self.item_threads(scope, exit.value));
                }
                if has_exit || self.is_stub(body) && self.has_implementations(body) {
                    threads
                } else {
                    ItemThreads::CALLED
                }
            },
        )
    }

    /// Returns the threads of the publisher in a parameter: the chain that an operator passes to a lambda during
    /// assembly, or the publishers that known callers pass.
    fn item_threads_of_param(&self, var: VarRef, index: u32) -> ItemThreads {
        /// The maximal number of callers that are evaluated.
        const MAX_CALLERS: usize = 8;
        let body = var.file.body_ref(self.program.var(var).body);
        let chains = &self.tables.chains;
        chains.round.query(
            &chains.item_threads_of_vars,
            var,
            || ItemThreads::NONE,
            || {
                if self.program.body(body).kind == BodyKind::Lambda {
                    let uses = self.program.uses_of_callable(body);
                    let assigned = uses.iter().find_map(|(mention, _)| match mention {
                        Mention::Arg(site, arg) => Some((body.file.site_ref(site), arg)),
                        _ => None,
                    });
                    let Some((site, arg)) = assigned else { return ItemThreads::UNKNOWN };
                    return if self.is_assembled_by(site, arg) {
                        self.item_threads_before(site)
                    } else {
                        ItemThreads::UNKNOWN
                    };
                }
                let uses = self.uses_of_body(body);
                let calls = || uses.iter().filter(|body_use| !self.program.is_test(body_use.file()));
                let call_count = calls().count();
                if call_count == 0 || call_count > MAX_CALLERS {
                    return ItemThreads::UNKNOWN;
                }
                calls().fold(ItemThreads::NONE, |all, body_use| {
                    all.with(match *body_use {
                        BodyUse::Call(site) => {
                            let args = self.program.args_of(site);
                            match args.get(index as usize) {
                                Some(arg) => self.item_threads(self.scope_of(site, EnvId::NONE), arg.value),
                                None => ItemThreads::UNKNOWN,
                            }
                        }
                        BodyUse::Passed(site, arg) if self.is_assembled_by(site, arg) => self.item_threads_before(site),
                        BodyUse::Passed(..) => ItemThreads::UNKNOWN,
                    })
                })
            },
        )
    }

    /// True if an operator passes its chain to the callable in an argument while the chain is assembled: `transform`,
    /// `as`.
    fn is_assembled_by(&self, site: SiteRef, arg: u32) -> bool {
        if !self.is_operator(site) {
            return false;
        }
        self.targets(site, EnvId::NONE).list.iter().any(|target| {
            let Target::Row { path, .. } = *target else { return false };
            self.library.handovers(path).iter().any(|handover| {
                matches!(&handover.row.selector, Selector::Argument(argument) if self.is_argument(site, arg, argument))
                    && (matches!(handover.row.context, HandoverContext::Is(Runs::Caller))
                        || matches!(handover.row.gives.first(), Some(TypeExpr::SelfType(_))))
            })
        })
    }

    /// Returns the threads of the items after a library's operator, by the threads before it.
    fn item_threads_after(&self, site: SiteRef, path: PathId) -> ItemThreads {
        let transformers = self.chain_transformers(site);
        if !transformers.is_empty() {
            return self.item_threads_after_transform(&transformers);
        }
        let before = self.item_threads_before(site);
        let rows = self.rows_for_call(path, site);
        let holds = |row: &CallRow| self.conditions_hold(&row.when, &row.unless, site, EnvId::NONE);
        let mover = rows.with(|row| row.moves.is_some()).find(|matched| holds(matched.row));
        let moves = mover.and_then(|matched| matched.row.moves.as_ref());
        if let Some(to) = self.moves_source(moves, site) {
            return before.with_subscriber_threads(self.threads_after_move(to, site));
        }
        match moves {
            Some(Moves::Rest(to)) => {
                let threads = self.threads_after_move(to, site);
                if threads == ItemThreads::UNKNOWN && self.completes_sink_directly(site) {
                    return ItemThreads::SUBSCRIBER;
                }
                return threads.with_subscriber_threads(before);
            }
            Some(Moves::Source(_)) | None => {}
        }
        let Some(returns) = rows.with(|row| row.returns.is_some()).find(|matched| holds(matched.row)) else {
            return if self.library.is_described(path) && self.is_operator(site) {
                before
            } else {
                ItemThreads::CALLED
            };
        };
        let Some(returns) = returns.row.returns.as_ref() else { return ItemThreads::CALLED };
        // The items after `flatMap` come from its inner chains.
        if let Some((argument, is_called)) = inner_publisher_argument(returns) {
            return match self.item_threads_of_argument(site, argument, is_called) {
                Some(inner) => inner.with_subscriber_threads(before),
                None => ItemThreads::CALLED,
            };
        }
        let rows = &rows;
        if self.returns_publisher(path, rows) == Some(false) {
            return if self.continues_future(site) { before } else { ItemThreads::CALLED };
        }
        let mut items = ItemThreads::NONE;
        let mut others = ItemThreads::NONE;
        let takes_publishers =
            matches!(returns, TypeExpr::SelfType(arguments) if arguments.is_empty()) || !self.is_operator(site);
        if takes_publishers {
            for arg in &self.program.args_of(site) {
                let typed = self.eval(self.scope_of(site, EnvId::NONE), arg.value);
                if self.is_publisher(typed.value) {
                    others = others.with(self.item_threads(self.scope_of(site, EnvId::NONE), arg.value));
                } else {
                    for body in self.callables_in_argument(site, arg.value) {
                        let assigned = self.returned(body, EnvId::NONE, None);
                        if self.is_publisher(assigned.value) {
                            others = others.with(self.item_threads_of_result(body));
                        }
                    }
                }
            }
        }
        let is_source = !self.is_operator(site);
        if !is_source || others == ItemThreads::NONE {
            items = items.with(before);
        }
        items.with(others.with_subscriber_threads(before))
    }

    /// True if the receiver of a call is a publisher or another object of a library, and not a class.
    fn is_operator(&self, site: SiteRef) -> bool {
        let Some(receiver) = self.receiver_form(site) else { return false };
        let typed = self.eval(self.scope_of(site, EnvId::NONE), receiver);
        self.is_publisher(typed.value)
            || self.values.members(typed.value).iter().any(|val| matches!(val, Val::Library { .. }))
    }

    /// Returns the threads of the publisher in an argument. If `is_called`, the argument is a callable that returns the
    /// publisher.
    fn item_threads_of_argument(&self, site: SiteRef, argument: &Argument, is_called: bool) -> Option<ItemThreads> {
        let form = self.argument_form(site, argument)?;
        if !is_called {
            let scope = self.scope_of(site, EnvId::NONE);
            let typed = self.eval(scope, form);
            if self.is_publisher(typed.value) {
                return Some(self.item_threads(scope, form));
            }
            // `fromIterable` iterates over its argument on the subscriber's thread.
            return (!self.values.is_unknown(typed.value)).then_some(ItemThreads::SUBSCRIBER);
        }
        let bodies = self.callables_in_argument(site, form);
        if bodies.is_empty() {
            return None;
        }
        Some(bodies.iter().fold(ItemThreads::NONE, |all, &body| all.with(self.item_threads_of_result(body))))
    }

    /// Returns the scheduler to which an operator moves the source before it: an operator like `subscribeOn`, or an
    /// operator like `publishOn` directly after a publisher that wraps a callable, because the two are fused.
    pub(crate) fn moves_source<'m>(&self, moves: Option<&'m Moves>, site: SiteRef) -> Option<&'m MoveTo> {
        match moves? {
            Moves::Source(to) => Some(to),
            Moves::Rest(to @ MoveTo::Scheduler(_)) => {
                let facts = self.program.facts(site.file);
                let Form::Result(source) = facts.form(self.receiver_form(site)?) else { return None };
                let source = site.file.site_ref(source);
                let targets = self.targets(source, EnvId::NONE);
                let is_callable = |target: &Target| match *target {
                    Target::Row { path, .. } => {
                        let rows = self.rows_for_call(path, source);
                        rows.with(|row| row.state.is_some()).any(|row| row.state.as_deref() == Some(CALLABLE))
                    }
                    _ => false,
                };
                targets.list.iter().any(is_callable).then_some(to)
            }
            Moves::Rest(MoveTo::Runs(_)) => None,
        }
    }

    /// Returns the threads to which a row moves a part of a chain.
    pub(crate) fn threads_after_move(&self, to: &MoveTo, site: SiteRef) -> ItemThreads {
        match to {
            MoveTo::Runs(runs) => (*runs).into(),
            // An unknown scheduler is mostly one for blocking work.
            MoveTo::Scheduler(argument) => match self.argument_form(site, argument) {
                Some(form) => match self.scheduler_of(self.scope_of(site, EnvId::NONE), form) {
                    Some(Runs::In(Context::EventLoop)) => ItemThreads::POOL,
                    runs => runs.map_or(ItemThreads::WORKER, ItemThreads::from),
                },
                None => ItemThreads::WORKER,
            },
        }
    }
}

/// Returns the argument whose publisher's items an operator emits; true if the argument is a callable that returns the
/// publisher.
fn inner_publisher_argument(returns: &TypeExpr) -> Option<(&Argument, bool)> {
    fn innermost(expr: &TypeExpr, called: bool) -> Option<(&Argument, bool)> {
        match expr {
            TypeExpr::Result(inner) | TypeExpr::Yield(inner) => innermost(inner, true),
            TypeExpr::Element(inner) => innermost(inner, called),
            TypeExpr::Argument(argument) => Some((argument, called)),
            _ => None,
        }
    }
    match returns {
        TypeExpr::Path { arguments, .. } | TypeExpr::SelfType(arguments) => {
            arguments.iter().find_map(|argument| match argument {
                TypeExpr::Element(inner) => innermost(inner, false),
                _ => None,
            })
        }
        other => innermost(other, false),
    }
}
