//! Downstream of an operator: the subscriber of the chain, and the thread on which it subscribes. Upstream operators
//! are in `upstream.rs`.

use std::rc::Rc;

use blocklint_core::{Confidence, Context, Effect};
use blocklint_facts::{BodyKind, Form, VarId, VarKind};
use blocklint_models::{CallRow, HandoverContext, MoveTo, Moves, Runs, Selector};

use crate::calls::param_summary::ParamUse;
use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, FileId, PathId, SiteRef, VarRef};
use crate::program::occurrences::Mention;
use crate::reactive::{ItemThreads, Position};
use crate::values::expr::Scope;
use crate::values::value::EnvId;

/// The most overrides of one method that are searched.
const MAX_OVERRIDES: usize = 4;

impl<'a> Linker<'a> {
    /// Returns the position at which subscribers subscribe to the chain in a site's result.
    pub(crate) fn downstream_of_site(&self, site: SiteRef) -> Rc<Position> {
        let chains = &self.tables.chains;
        chains.round.query(&chains.downstream_of_sites, site, Rc::default, || {
            let mut position = Position::default();
            let (_, site_id) = self.program.facts_and_id(site);
            for &next in self.operators_of(site.file).of_result.get(&site_id).into_iter().flatten() {
                position.merge(&self.downstream_at_operator(site.file.site_ref(next)));
            }
            for (mention, _) in self.program.uses_of_result(site).iter() {
                position.merge(&self.downstream_of_mention(site.file, mention));
            }
            Rc::new(position)
        })
    }

    /// True if the body of a site waits for the whole chain that the site returns: `repository.find(id).block()`.
    /// Either the body may block, or the wait itself is the mistake to report.
    pub fn is_waited_for_in_body(&self, site: SiteRef) -> bool {
        let downstream = self.downstream_of_site(site);
        let body = self.program.body_of_site(site);
        downstream.root.is_none()
            && downstream.open.is_empty()
            && !downstream.drivers.is_empty()
            && downstream.drivers.iter().all(|&driver| self.program.body_of_site(driver) == body)
    }

    /// Returns the position of the chain that is the receiver of a call.
    fn downstream_at_operator(&self, next: SiteRef) -> Position {
        let targets = self.targets(next, EnvId::NONE);
        let mut found = Position::default();
        if targets.list.is_empty() {
            return Position::root(Confidence::Medium);
        }
        for target in &targets.list {
            let Target::Row { path, .. } = *target else {
                found.merge(&Position::root(Confidence::Medium));
                continue;
            };
            let transformers = self.chain_transformers(next);
            if !transformers.is_empty() {
                found.merge(&self.downstream_of_transform(next, &transformers));
                continue;
            }
            let rows = self.rows_for_call(path, next);
            let holds = |row: &CallRow| self.conditions_hold(&row.when, &row.unless, next, EnvId::NONE);
            let mover = rows.with(|row| row.moves.is_some()).find(|matched| holds(matched.row));
            let mover = mover.and_then(|matched| matched.row.moves.as_ref());
            if let Some(to) = self.moves_source(mover, next) {
                let threads = self.threads_after_move(to, next);
                let mut position = self.position_on_threads(threads, next);
                position.is_moved |= threads.has(ItemThreads::WORKER);
                found.merge(&position);
                continue;
            }
            if rows.effect().any(|row| row.held_effect() == Some(Effect::NestedLoop)) {
                found.merge(&Position { drivers: vec![next], is_moved: true, ..Position::default() });
                continue;
            }
            match self.returns_publisher(path, &rows) {
                Some(true) => found.merge(&self.downstream_of_site(next)),
                Some(false) => found.merge(&Position { drivers: vec![next], ..Position::default() }),
                None => found.merge(&Position::root(Confidence::Medium)),
            }
        }
        found
    }

    /// Returns the position of a chain that goes to the place of a mention.
    fn downstream_of_mention(&self, file: FileId, mention: Mention) -> Position {
        let facts = self.program.facts(file);
        match mention {
            Mention::Arg(site, arg) => self.downstream_at_argument(file.site_ref(site), arg),
            Mention::Assign(assign) => match facts.form(facts.assign(assign).target) {
                Form::Var(var) => (*self.downstream_of_var(file.var_ref(var))).clone(),
                Form::Attr(base, sym) => {
                    match self.field_of_attribute(
                        Scope { file, at: facts.assign(assign).at, env: EnvId::NONE },
                        base,
                        sym,
                    ) {
                        Some(var) => (*self.downstream_of_var(var)).clone(),
                        None => Position::root(Confidence::Medium),
                    }
                }
                _ => Position::root(Confidence::Medium),
            },
            Mention::Exit(exit) => {
                let body = facts.body_of(facts.exits.at(exit as usize).at);
                self.downstream_of_exit(file.body_ref(body))
            }
            Mention::Operand(_) | Mention::Default(_) => Position::default(),
        }
    }

    /// Returns the position of a chain in a variable.
    pub(crate) fn downstream_of_var(&self, var: VarRef) -> Rc<Position> {
        let chains = &self.tables.chains;
        chains.round.query(&chains.downstream_of_vars, var, Rc::default, || {
            let (_, var_id) = self.program.facts_and_id(var);
            let mut position = Position::default();
            for &next in self.operators_of(var.file).of_var.get(&var_id).into_iter().flatten() {
                position.merge(&self.downstream_at_operator(var.file.site_ref(next)));
            }
            let name = self.program.var(var).name;
            for &(next, base) in self.operators_of(var.file).of_attr.get(&name).into_iter().flatten() {
                let next = var.file.site_ref(next);
                if self.field_of_attribute(self.scope_of(next, EnvId::NONE), base, name) == Some(var) {
                    position.merge(&self.downstream_at_operator(next));
                }
            }
            let is_moved_if_passed = self.is_moved_if_passed(var);
            for (mention, _) in self.program.index_of(var.file).mentions_named(name).iter() {
                // `if (scheduler != null) return chain.subscribeOn(scheduler); return chain;`
                if is_moved_if_passed && matches!(mention, Mention::Exit(_)) {
                    continue;
                }
                if self.mentions_var(var, mention) || self.mentions_field(var, mention) {
                    position.merge(&self.downstream_of_mention(var.file, mention));
                }
            }
            Rc::new(position)
        })
    }

    /// True if the scheduler that moves the chain in a local variable is a parameter, and each call passes a scheduler.
    /// The function returns the unmoved chain only to calls that pass `null`.
    fn is_moved_if_passed(&self, var: VarRef) -> bool {
        let body = var.file.body_ref(self.program.var(var).body);
        self.mover_param(var).is_some_and(|index| {
            let uses = self.uses_of_body(body);
            let mut calls = uses.iter().filter(|body_use| !self.program.is_test(body_use.file())).peekable();
            calls.peek().is_some() && calls.all(|body_use| self.passes_non_null(body_use.site(), index))
        })
    }

    /// True if a call passes a value other than `null` to a parameter.
    fn passes_non_null(&self, site: SiteRef, index: u32) -> bool {
        let facts = self.program.facts(site.file);
        self.program.args_of(site).get(index as usize).is_some_and(|arg| facts.form(arg.value) != Form::None)
    }

    /// True if a call passes the scheduler by which the called function moves the chain that it returns. Other calls
    /// may pass `null`.
    pub(crate) fn is_moved_by_call(&self, body: BodyRef, site: SiteRef) -> bool {
        let (facts, body_id) = self.program.facts_and_id(body);
        let vars = (0..facts.vars.len()).map(|index| VarId(index as u32));
        let mut locals = vars.filter(|&var| facts.var(var).body == body_id && facts.var(var).kind == VarKind::Inner);
        locals.any(|var| {
            let index = self.mover_param(body.file.var_ref(var));
            index.is_some_and(|index| self.passes_non_null(site, index))
        })
    }

    /// Returns the index of the parameter whose scheduler moves the chain in a local variable.
    fn mover_param(&self, var: VarRef) -> Option<u32> {
        let (facts, var_id) = self.program.facts_and_id(var);
        let operators = || self.operators_of(var.file).of_var.get(&var_id).cloned().unwrap_or_default().into_iter();
        operators().find_map(|next| {
            let next = var.file.site_ref(next);
            let targets = self.targets(next, EnvId::NONE);
            targets.list.iter().find_map(|target| {
                let Target::Row { path, .. } = *target else { return None };
                let rows = self.rows_for_call(path, next);
                let Some(Moves::Source(MoveTo::Scheduler(argument))) =
                    rows.with(|row| row.moves.is_some()).next().and_then(|matched| matched.row.moves.as_ref())
                else {
                    return None;
                };
                match facts.form(self.argument(next, argument)?) {
                    Form::Var(scheduler) => match facts.var(scheduler).kind {
                        VarKind::Param(index) if facts.var(scheduler).body == self.program.var(var).body => Some(index),
                        _ => None,
                    },
                    _ => None,
                }
            })
        })
    }

    /// True if a mention reads this field: `this.chain`.
    fn mentions_field(&self, var: VarRef, mention: Mention) -> bool {
        let facts = self.program.facts(var.file);
        let (at, form) = match mention {
            Mention::Arg(site, arg) => (facts.site(site).at, facts.args_of(site)[arg as usize].value),
            Mention::Assign(assign) => (facts.assign(assign).at, facts.assign(assign).value),
            Mention::Exit(exit) => (facts.exits.at(exit as usize).at, facts.exits.at(exit as usize).value),
            Mention::Operand(_) | Mention::Default(_) => return false,
        };
        let Form::Attr(base, sym) = facts.form(form) else { return false };
        let scope = Scope { file: var.file, at, env: EnvId::NONE };
        sym == self.program.var(var).name && self.field_of_attribute(scope, base, sym) == Some(var)
    }

    /// Returns the position of a chain that is the n-th argument of a call.
    fn downstream_at_argument(&self, site: SiteRef, arg: u32) -> Position {
        let targets = self.targets(site, EnvId::NONE);
        if targets.list.is_empty() {
            return Position::root(Confidence::Medium);
        }
        let mut position = Position::default();
        for target in &targets.list {
            match *target {
                Target::Row { path, .. } => {
                    let rows = self.rows_for_call(path, site);
                    position.merge(&match self.returns_publisher(path, &rows) {
                        // `vertx.executeBlocking(uni)`
                        _ if self.runs_argument_on_worker(path, site, arg) => {
                            Position { is_moved: true, ..Position::default() }
                        }
                        Some(true) => self.position_on_threads(self.item_threads_before(site), site),
                        _ if rows.is_empty() || self.library.text(path).starts_with("java.") => {
                            Position::root(Confidence::Medium)
                        }
                        _ => Position::root(Confidence::High),
                    });
                }
                Target::Body { body, with_receiver, .. } => {
                    position.merge(&self.downstream_of_param(site, arg, body, with_receiver));
                }
                Target::Overrides { class, name } => {
                    for &body in self.overrides(class, name).iter().take(MAX_OVERRIDES) {
                        position.merge(&self.downstream_of_param(site, arg, body, false));
                    }
                }
            }
        }
        position
    }

    /// True if a library's call runs its n-th argument on a worker thread, which may block.
    fn runs_argument_on_worker(&self, path: PathId, site: SiteRef, arg: u32) -> bool {
        self.handovers_for_call(path, site).iter().any(|row| {
            let is_selected =
                matches!(&row.selector, Selector::Argument(argument) if self.is_argument(site, arg, argument));
            is_selected && row.context == HandoverContext::Is(Runs::In(Context::Worker))
        })
    }

    /// Returns the position of a chain that is passed to a function of the project.
    fn downstream_of_param(&self, site: SiteRef, arg: u32, body: BodyRef, with_receiver: bool) -> Position {
        let Some(index) = self.param_for(site, arg, body, with_receiver) else {
            return Position::root(Confidence::Medium);
        };
        let Some(param) = self.program.params_of(body).get(index as usize) else { return Position::default() };
        if self.is_stub(body) {
            // The implementations are targets as well, if there are any.
            return if self.has_implementations(body) {
                Position::default()
            } else {
                Position::root(Confidence::Medium)
            };
        }
        let mut position = (*self.downstream_of_var(body.file.var_ref(param.var))).clone();
        // The function drives the chain in its parameter, so this call drives the chain that it passes.
        if !position.drivers.is_empty() {
            position.drivers = vec![site];
        }
        // The uses of this call's result continue a chain that the function returns.
        if let Some(index) = position.open.iter().position(|&open| open == body) {
            position.open.swap_remove(index);
            position.merge(&self.downstream_of_site(site));
        }
        position
    }

    /// Returns the position of a chain that a body returns.
    fn downstream_of_exit(&self, body: BodyRef) -> Position {
        if self.program.body(body).kind != BodyKind::Lambda {
            return Position { open: vec![body], ..Position::default() };
        }
        let mut position = Position::default();
        for (mention, _) in self.program.uses_of_callable(body).iter() {
            position.merge(&match mention {
                Mention::Arg(site, arg) => self.downstream_of_inner_chain(body.file.site_ref(site), arg),
                _ if self.loop_runtime_of_lambda(body).is_some() => Position::root(Confidence::High),
                // The code that calls the lambda decides.
                _ => Position { open: vec![body], ..Position::default() },
            });
        }
        position
    }

    /// Returns the position of a chain that the callable in the n-th argument of a call returns.
    pub(crate) fn downstream_of_inner_chain(&self, site: SiteRef, arg: u32) -> Position {
        let targets = self.targets(site, EnvId::NONE);
        if targets.list.is_empty() {
            return Position::root(Confidence::Medium);
        }
        let mut position = Position::default();
        for target in &targets.list {
            match *target {
                Target::Row { path, .. } => {
                    let handovers = self.library.handovers(path);
                    let row = handovers.iter().find(|row| match &row.selector {
                        Selector::Argument(argument) => self.is_argument(site, arg, argument),
                        Selector::Via(_) => false,
                    });
                    let runs = row
                        .filter(|row| row.during.is_empty())
                        .map(|matched| self.handover_context(matched.row, site, true));
                    position.merge(&match runs {
                        Some(Runs::Chain) => self.position_on_threads(self.item_threads_before(site), site),
                        Some(Runs::Caller) => (*self.downstream_of_site(site)).clone(),
                        Some(Runs::In(Context::EventLoop)) => Position::root(Confidence::High),
                        _ => Position::root(Confidence::Medium),
                    });
                }
                Target::Body { body, with_receiver, .. } => {
                    position.merge(&self.downstream_of_called_param(site, arg, body, with_receiver));
                }
                Target::Overrides { class, name } => {
                    for &body in self.overrides(class, name).iter().take(MAX_OVERRIDES) {
                        position.merge(&self.downstream_of_called_param(site, arg, body, false));
                    }
                }
            }
        }
        position
    }

    /// Returns the position of a chain that a callable returns, if the callable is passed to a function of the project.
    fn downstream_of_called_param(&self, site: SiteRef, arg: u32, body: BodyRef, with_receiver: bool) -> Position {
        let unknown = Position::root(Confidence::Medium);
        let Some(index) = self.param_for(site, arg, body, with_receiver) else { return unknown };
        let Some(param) = self.program.params_of(body).get(index as usize) else { return unknown };
        if self.is_stub(body) {
            return if self.has_implementations(body) { Position::default() } else { unknown };
        }
        let var = body.file.var_ref(param.var);
        let chains = &self.tables.chains;
        let position = chains.round.query(&chains.downstream_of_called_params, var, Rc::default, || {
            let uses = self.param_uses_in(body.file);
            let mut position = Position::default();
            for &(_, param_use) in uses.of_param.get(&param.var).into_iter().flatten() {
                position.merge(&match param_use {
                    ParamUse::Call(call) => (*self.downstream_of_site(body.file.site_ref(call))).clone(),
                    ParamUse::Arg(call, index) => self.downstream_of_inner_chain(body.file.site_ref(call), index),
                    ParamUse::Consume(_) => Position::default(),
                    ParamUse::Return(_) | ParamUse::Store(_) => Position::root(Confidence::Medium),
                });
            }
            Rc::new(position)
        });
        let mut position = (*position).clone();
        if let Some(index) = position.open.iter().position(|&open| open == body) {
            position.open.swap_remove(index);
            position.merge(&self.downstream_of_site(site));
        }
        position
    }

    /// True if an operator's callable is known to run only on threads that may block, by its upstream operators and
    /// downstream code.
    pub fn is_moved_away(&self, operator: SiteRef) -> bool {
        let threads = self.item_threads_before(operator);
        !threads.has(ItemThreads::LOOP.with(ItemThreads::POOL)) && !threads.has(ItemThreads::UNKNOWN) && {
            let position = self.resolved_position(&self.chain_position(operator));
            position.root.is_none() && position.drivers.is_empty()
        }
    }
}
