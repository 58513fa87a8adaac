//! The operators before an operator: they decide on which threads it receives its items.

use blocklint_core::Context;
use blocklint_facts::{BodyKind, ExitKind, Form, FormId, VarKind};
use blocklint_models::{Argument, CallRow, HandoverContext, MoveTo, Moves, Runs, Selector, TypeExpr};

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, PathId, SiteRef, VarRef};
use crate::program::occurrences::Mention;
use crate::reactive::BodyUse;
use crate::values::expr::Scope;
use crate::values::value::EnvId;

/// The state of a publisher that wraps one call (`Mono.fromCallable`). The call runs on the thread of the subscriber.
pub(crate) const CALLABLE: &str = "callable";

/// A set of the threads on which the items of a publisher may arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ItemThreads(u8);

impl ItemThreads {
    /// Nowhere that is known of.
    pub(crate) const NONE: ItemThreads = ItemThreads(0);
    /// On the thread of the subscriber: nothing switched.
    pub(crate) const SUBSCRIBER: ItemThreads = ItemThreads(1);
    /// On a thread that must not block.
    pub(crate) const LOOP: ItemThreads = ItemThreads(2);
    /// On a thread that may block.
    pub(crate) const WORKER: ItemThreads = ItemThreads(4);
    /// On a thread that is not known.
    pub(crate) const UNKNOWN: ItemThreads = ItemThreads(8);
    /// On a thread that is not known, but a call makes the publisher anew. Mostly it runs when subscribed to, so code
    /// that moves the chain moves its source too.
    pub(crate) const CALLED: ItemThreads = ItemThreads(16);

    /// On a scheduler that must not block and that an operator names: a pool for what computes.
    pub(crate) const POOL: ItemThreads = ItemThreads(32);

    /// True if any of `other` is among them.
    pub(crate) fn has(self, other: ItemThreads) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn with(self, other: ItemThreads) -> ItemThreads {
        ItemThreads(self.0 | other.0)
    }

    /// Returns the set with `place` instead of the subscriber's own thread.
    fn subscribed_at(self, place: ItemThreads) -> ItemThreads {
        if self.has(ItemThreads::SUBSCRIBER) { ItemThreads(self.0 & !1).with(place) } else { self }
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
    /// Returns the threads on which an operator receives its items: those of the publisher it is called on; a source
    /// runs on its subscriber's.
    pub(crate) fn signals_before(&self, operator: SiteRef) -> ItemThreads {
        let Some(receiver) = self.receiver_form(operator) else { return ItemThreads::SUBSCRIBER };
        let typed = self.eval(self.scope_of(operator, EnvId::NONE), receiver);
        let is_static = self
            .values
            .members(typed.value)
            .iter()
            .all(|val| matches!(val, crate::values::value::Val::External(_) | crate::values::value::Val::Class(_)));
        if is_static {
            return ItemThreads::SUBSCRIBER;
        }
        self.signals(self.scope_of(operator, EnvId::NONE), receiver)
    }

    /// Returns the threads on which the items of a publisher arrive.
    pub(crate) fn signals(&self, scope: Scope, form: FormId) -> ItemThreads {
        let file = scope.file;
        let facts = self.program.facts(file);
        match facts.form(form) {
            Form::Result(site) => self.signals_of_site(file.site_ref(site)),
            Form::Var(var) => match facts.var(var).kind {
                VarKind::Param(index) => self.signals_of_param(file.var_ref(var), index),
                _ => self.signals_of_var(file.var_ref(var)),
            },
            Form::Attr(base, sym) => match self.field_behind(scope, base, sym) {
                Some(var) => self.signals_of_var(var),
                None => ItemThreads::UNKNOWN,
            },
            Form::Alt(kind, list) => {
                let test = usize::from(kind == blocklint_facts::AltKind::Ternary);
                let ends = facts.list(list);
                let ends = &ends[test.min(ends.len())..];
                ends.iter().fold(ItemThreads::NONE, |all, &end| all.with(self.signals(scope, end)))
            }
            Form::Cast(inner, _) => self.signals(scope, inner),
            Form::None => ItemThreads::NONE,
            _ => ItemThreads::UNKNOWN,
        }
    }

    fn signals_of_var(&self, var: VarRef) -> ItemThreads {
        let chains = &self.tables.chains;
        chains.round.query(
            &chains.signals_of_vars,
            var,
            || ItemThreads::NONE,
            || {
                let given = self.values_assigned_to(var);
                if given.is_empty() {
                    return ItemThreads::UNKNOWN;
                }
                given.into_iter().fold(ItemThreads::NONE, |all, (at, value)| {
                    // `flux = flux.map(f)` builds on what the variable was.
                    all.with(self.signals(Scope { file: var.file, at, env: EnvId::NONE }, value))
                })
            },
        )
    }

    fn signals_of_site(&self, site: SiteRef) -> ItemThreads {
        let chains = &self.tables.chains;
        chains.round.query(
            &chains.signals_of_sites,
            site,
            || ItemThreads::NONE,
            || {
                let targets = self.targets(site, EnvId::NONE);
                let mut found = if targets.list.is_empty() { ItemThreads::CALLED } else { ItemThreads::NONE };
                for target in &targets.list {
                    found = found.with(match *target {
                        Target::Row { path, .. } => self.signals_behind(site, path),
                        Target::Body { body, .. } => self.signals_of_result(body),
                        Target::Overrides { class, name } => {
                            let bodies = self.overrides(class, name);
                            if bodies.len() > 3 {
                                ItemThreads::CALLED
                            } else {
                                bodies
                                    .iter()
                                    .fold(ItemThreads::NONE, |all, &body| all.with(self.signals_of_result(body)))
                            }
                        }
                    });
                }
                // A method without a body of its own shows nothing where implementations are known.
                found
            },
        )
    }

    /// Returns where the publisher that a function returns emits.
    pub(crate) fn signals_of_result(&self, body: BodyRef) -> ItemThreads {
        let chains = &self.tables.chains;
        chains.round.query(
            &chains.signals_of_results,
            body,
            || ItemThreads::NONE,
            || {
                let (facts, body_id) = self.program.facts_and_id(body);
                let exits = facts
                    .exits
                    .iter()
                    .filter(|exit| exit.kind == ExitKind::Return && facts.body_of(exit.at) == body_id)
                    .filter(|exit| exit.value.is_some());
                let mut found = ItemThreads::NONE;
                let mut any = false;
                for exit in exits.take(16) {
                    any = true;
                    let scope = Scope { file: body.file, at: exit.at, env: EnvId::NONE };
                    found = found.with(self.signals(scope, exit.value));
                }
                if any || self.is_stub(body) && self.has_implementations(body) { found } else { ItemThreads::CALLED }
            },
        )
    }

    /// Returns where the publisher in a parameter emits: that of the chain which a literal is passed to be put together
    /// further, or those that known callers pass.
    fn signals_of_param(&self, var: VarRef, index: u32) -> ItemThreads {
        /// Callers that are asked.
        const MOST: usize = 8;
        let body = var.file.body_ref(self.program.var(var).body);
        let chains = &self.tables.chains;
        chains.round.query(
            &chains.signals_of_vars,
            var,
            || ItemThreads::NONE,
            || {
                if self.program.body(body).kind == BodyKind::Lambda {
                    let uses = self.program.uses_of_callable(body);
                    let given = uses.iter().find_map(|(mention, _)| match mention {
                        Mention::Arg(site, arg) => Some((body.file.site_ref(site), arg)),
                        _ => None,
                    });
                    let Some((site, arg)) = given else { return ItemThreads::UNKNOWN };
                    return if self.is_put_together_by(site, arg) {
                        self.signals_before(site)
                    } else {
                        ItemThreads::UNKNOWN
                    };
                }
                let uses = self.uses_of_body(body);
                let calls = || uses.iter().filter(|of| !self.program.is_test(of.file()));
                let known = calls().count();
                if known == 0 || known > MOST {
                    return ItemThreads::UNKNOWN;
                }
                calls().fold(ItemThreads::NONE, |all, of| {
                    all.with(match *of {
                        BodyUse::Call(site) => {
                            let args = self.program.args_of(site);
                            match args.get(index as usize) {
                                Some(arg) => self.signals(self.scope_of(site, EnvId::NONE), arg.value),
                                None => ItemThreads::UNKNOWN,
                            }
                        }
                        BodyUse::Passed(site, arg) if self.is_put_together_by(site, arg) => self.signals_before(site),
                        BodyUse::Passed(..) => ItemThreads::UNKNOWN,
                    })
                })
            },
        )
    }

    /// True if an operator passes its chain to the callable in an argument while the chain is put together:
    /// `transform`, `as`.
    fn is_put_together_by(&self, site: SiteRef, arg: u32) -> bool {
        if !self.is_operator(site) {
            return false;
        }
        self.targets(site, EnvId::NONE).list.iter().any(|target| {
            let Target::Row { path, .. } = *target else { return false };
            self.library.handovers(path).iter().any(|of| {
                matches!(&of.row.selector, Selector::Argument(argument) if self.is_argument(site, arg, argument))
                    && (matches!(of.row.context, HandoverContext::Is(Runs::Caller))
                        || matches!(of.row.gives.first(), Some(TypeExpr::SelfType(_))))
            })
        })
    }

    /// Returns the signals behind a library's operator, by the signals before it.
    fn signals_behind(&self, site: SiteRef, path: PathId) -> ItemThreads {
        let applied = self.applied_to_chain(site);
        if !applied.is_empty() {
            return self.signals_of_applied(&applied);
        }
        let before = self.signals_before(site);
        let rows = self.rows_for_call(path, site);
        let holds = |row: &CallRow| self.conditions_shown(&row.when, &row.unless, site, EnvId::NONE);
        let mover = rows.with(|row| row.moves.is_some()).find(|row| holds(row.row));
        let moves = mover.and_then(|row| row.row.moves.as_ref());
        if let Some(to) = self.moves_source(moves, site) {
            return before.subscribed_at(self.moved(to, site));
        }
        match moves {
            Some(Moves::Rest(to)) => {
                let to = self.moved(to, site);
                if to == ItemThreads::UNKNOWN && self.ends_sink_itself(site) {
                    return ItemThreads::SUBSCRIBER;
                }
                return to.subscribed_at(before);
            }
            Some(Moves::Source(_)) | None => {}
        }
        let Some(returns) = rows.with(|row| row.returns.is_some()).find(|row| holds(row.row)) else {
            return if self.library.is_described(path) && self.is_operator(site) {
                before
            } else {
                ItemThreads::CALLED
            };
        };
        let Some(returns) = returns.row.returns.as_ref() else { return ItemThreads::CALLED };
        // The elements of `flatMap` come from its inner chains.
        if let Some((argument, called)) = inner_of(returns) {
            return match self.signals_of_argument(site, argument, called) {
                Some(inner) => inner.subscribed_at(before),
                None => ItemThreads::CALLED,
            };
        }
        let rows = &rows;
        if self.returns_publisher(path, rows) == Some(false) {
            return if self.continues_future(site) { before } else { ItemThreads::CALLED };
        }
        let mut found = ItemThreads::NONE;
        let mut others = ItemThreads::NONE;
        let plain = matches!(returns, TypeExpr::SelfType(arguments) if arguments.is_empty()) || !self.is_operator(site);
        if plain {
            for arg in &self.program.args_of(site) {
                let typed = self.eval(self.scope_of(site, EnvId::NONE), arg.value);
                if self.is_publisher(typed.value) {
                    others = others.with(self.signals(self.scope_of(site, EnvId::NONE), arg.value));
                } else {
                    for body in self.callables(site, arg.value) {
                        let given = self.returned(body, EnvId::NONE, None);
                        if self.is_publisher(given.value) {
                            others = others.with(self.signals_of_result(body));
                        }
                    }
                }
            }
        }
        let is_source = !self.is_operator(site);
        if !is_source || others == ItemThreads::NONE {
            found = found.with(before);
        }
        found.with(others.subscribed_at(before))
    }

    /// True if a call stands on a publisher or another object of a library, not on a class.
    fn is_operator(&self, site: SiteRef) -> bool {
        let Some(receiver) = self.receiver_form(site) else { return false };
        let typed = self.eval(self.scope_of(site, EnvId::NONE), receiver);
        self.is_publisher(typed.value)
            || self
                .values
                .members(typed.value)
                .iter()
                .any(|val| matches!(val, crate::values::value::Val::Library { .. }))
    }

    /// Returns the signals of the publisher in an argument, or of what the callable there returns.
    fn signals_of_argument(&self, site: SiteRef, argument: &Argument, called: bool) -> Option<ItemThreads> {
        let form = self.argument_form(site, argument)?;
        if !called {
            let scope = self.scope_of(site, EnvId::NONE);
            let typed = self.eval(scope, form);
            if self.is_publisher(typed.value) {
                return Some(self.signals(scope, form));
            }
            // `fromIterable`: what is iterated at once.
            return (!self.values.is_unknown(typed.value)).then_some(ItemThreads::SUBSCRIBER);
        }
        let bodies = self.callables(site, form);
        if bodies.is_empty() {
            return None;
        }
        Some(bodies.iter().fold(ItemThreads::NONE, |all, &body| all.with(self.signals_of_result(body))))
    }

    /// Returns where an operator moves the source before it: it says so, or it moves the rest and stands directly on a
    /// callable, with which it is fused.
    pub(crate) fn moves_source<'m>(&self, moves: Option<&'m Moves>, site: SiteRef) -> Option<&'m MoveTo> {
        match moves? {
            Moves::Source(to) => Some(to),
            Moves::Rest(to @ MoveTo::Scheduler(_)) => {
                let facts = self.program.facts(site.file);
                let Form::Result(before) = facts.form(self.receiver_form(site)?) else { return None };
                let before = site.file.site_ref(before);
                let targets = self.targets(before, EnvId::NONE);
                let is_callable = |target: &Target| match *target {
                    Target::Row { path, .. } => {
                        let rows = self.rows_for_call(path, before);
                        rows.with(|row| row.state.is_some()).any(|row| row.state.as_deref() == Some(CALLABLE))
                    }
                    _ => false,
                };
                targets.list.iter().any(is_callable).then_some(to)
            }
            Moves::Rest(MoveTo::Runs(_)) => None,
        }
    }

    /// Returns where a row moves a part of a chain.
    pub(crate) fn moved(&self, to: &MoveTo, site: SiteRef) -> ItemThreads {
        match to {
            MoveTo::Runs(runs) => (*runs).into(),
            // Code that passes an unknown scheduler around mostly does so to move work away.
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

/// Returns the argument whose publisher an operator passes on, and whether the publisher is the result of calling the
/// argument.
fn inner_of(returns: &TypeExpr) -> Option<(&Argument, bool)> {
    fn innermost(expr: &TypeExpr, called: bool) -> Option<(&Argument, bool)> {
        match expr {
            TypeExpr::Result(inner) | TypeExpr::Yield(inner) => innermost(inner, true),
            TypeExpr::Element(inner) => innermost(inner, called),
            TypeExpr::Argument(argument) => Some((argument, called)),
            _ => None,
        }
    }
    match returns {
        TypeExpr::Path { arguments, .. } | TypeExpr::SelfType(arguments) => arguments.iter().find_map(|of| match of {
            TypeExpr::Element(inner) => innermost(inner, false),
            _ => None,
        }),
        other => innermost(other, false),
    }
}
