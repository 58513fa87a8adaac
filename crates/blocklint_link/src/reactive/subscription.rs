//! The code behind an operator: the subscriber of the chain, and the thread on which it subscribes.

use std::rc::Rc;

use blocklint_core::{Confidence, Context, Effect};
use blocklint_facts::{BodyKind, Form, VarKind};
use blocklint_models::{CallRow, HandoverContext, MoveTo, Moves, Runs, Selector};

use crate::calls::param_summary::ParamUse;
use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, FileId, PathId, SiteRef, VarRef};
use crate::program::occurrences::Mention;
use crate::reactive::{ItemThreads, Position};
use crate::values::expr::Scope;
use crate::values::value::EnvId;

impl<'a> Linker<'a> {
    /// Returns the position at which the chain of a site's result is subscribed to.
    pub(crate) fn ends_of_site(&self, site: SiteRef) -> Rc<Position> {
        let chains = &self.tables.chains;
        chains.round.query(&chains.ends_of_sites, site, Rc::default, || {
            let mut found = Position::default();
            let (_, site_id) = self.program.facts_and_id(site);
            for &next in self.operators_of(site.file).of_result.get(&site_id).into_iter().flatten() {
                found.merge(&self.ends_at_operator(site.file.site_ref(next)));
            }
            for (mention, _) in self.program.uses_of_result(site).iter() {
                found.merge(&self.ends_of_mention(site.file, mention));
            }
            Rc::new(found)
        })
    }

    /// True if the body of a site itself waits for the whole chain that the site returns:
    /// `repository.find(id).block()`. The body may block there, or the wait is the mistake to report.
    pub fn is_waited_for_there(&self, site: SiteRef) -> bool {
        let ends = self.ends_of_site(site);
        let here = self.program.body_of_site(site);
        ends.root.is_none()
            && ends.open.is_empty()
            && !ends.driven.is_empty()
            && ends.driven.iter().all(|&by| self.program.body_of_site(by) == here)
    }

    /// Returns the position of a chain on which a call is made.
    fn ends_at_operator(&self, next: SiteRef) -> Position {
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
            let applied = self.applied_to_chain(next);
            if !applied.is_empty() {
                found.merge(&self.ends_of_applied(next, &applied));
                continue;
            }
            let rows = self.rows_for_call(path, next);
            let holds = |row: &CallRow| self.conditions_shown(&row.when, &row.unless, next, EnvId::NONE);
            let mover = rows.with(|row| row.moves.is_some()).find(|row| holds(row.row));
            let mover = mover.and_then(|row| row.row.moves.as_ref());
            if let Some(to) = self.moves_source(mover, next) {
                let to = self.moved(to, next);
                let mut end = self.at_signals(to, next);
                end.moved |= to.has(ItemThreads::WORKER);
                found.merge(&end);
                continue;
            }
            if rows.effect().any(|row| row.held() == Some(Effect::NestedLoop)) {
                found.merge(&Position { driven: vec![next], moved: true, ..Position::default() });
                continue;
            }
            match self.returns_publisher(path, &rows) {
                Some(true) => found.merge(&self.ends_of_site(next)),
                Some(false) => found.merge(&Position { driven: vec![next], ..Position::default() }),
                None => found.merge(&Position::root(Confidence::Medium)),
            }
        }
        found
    }

    /// Returns the position of a chain that is mentioned at a place.
    fn ends_of_mention(&self, file: FileId, mention: Mention) -> Position {
        let facts = self.program.facts(file);
        match mention {
            Mention::Arg(site, arg) => self.ends_at_argument(file.site_ref(site), arg),
            Mention::Assign(assign) => match facts.form(facts.assign(assign).target) {
                Form::Var(var) => (*self.ends_of_var(file.var_ref(var))).clone(),
                Form::Attr(base, sym) => {
                    match self.field_behind(Scope { file, at: facts.assign(assign).at, env: EnvId::NONE }, base, sym) {
                        Some(var) => (*self.ends_of_var(var)).clone(),
                        None => Position::root(Confidence::Medium),
                    }
                }
                _ => Position::root(Confidence::Medium),
            },
            Mention::Exit(exit) => {
                let body = facts.body_of(facts.exits.at(exit as usize).at);
                self.ends_of_exit(file.body_ref(body))
            }
            Mention::Operand(_) | Mention::Default(_) => Position::default(),
        }
    }

    /// Returns the position of a chain in a variable.
    pub(crate) fn ends_of_var(&self, var: VarRef) -> Rc<Position> {
        let chains = &self.tables.chains;
        chains.round.query(&chains.ends_of_vars, var, Rc::default, || {
            let (_, var_id) = self.program.facts_and_id(var);
            let mut found = Position::default();
            for &next in self.operators_of(var.file).of_var.get(&var_id).into_iter().flatten() {
                found.merge(&self.ends_at_operator(var.file.site_ref(next)));
            }
            let name = self.program.var(var).name;
            for &(next, base) in self.operators_of(var.file).of_attr.get(&name).into_iter().flatten() {
                let next = var.file.site_ref(next);
                if self.field_behind(self.scope_of(next, EnvId::NONE), base, name) == Some(var) {
                    found.merge(&self.ends_at_operator(next));
                }
            }
            let moved_if_given = self.is_moved_if_passed(var);
            for (mention, _) in self.program.index_of(var.file).mentions_named(name).iter() {
                // `if (scheduler != null) return chain.subscribeOn(scheduler); return chain;`
                if moved_if_given && matches!(mention, Mention::Exit(_)) {
                    continue;
                }
                if self.mentions_var(var, mention) || self.mentions_field(var, mention) {
                    found.merge(&self.ends_of_mention(var.file, mention));
                }
            }
            Rc::new(found)
        })
    }

    /// True if a parameter holds the scheduler that moves the chain in a local, and each call passes one. Only calls
    /// that pass none get a chain that is not moved.
    fn is_moved_if_passed(&self, var: VarRef) -> bool {
        let body = var.file.body_ref(self.program.var(var).body);
        self.mover_param(var).is_some_and(|index| {
            let uses = self.uses_of_body(body);
            let mut calls = uses.iter().filter(|of| !self.program.is_test(of.file())).peekable();
            calls.peek().is_some() && calls.all(|of| self.passes_non_null(of.site(), index))
        })
    }

    /// True if a call passes a value other than `null` to a parameter.
    fn passes_non_null(&self, site: SiteRef, index: u32) -> bool {
        let facts = self.program.facts(site.file);
        self.program.args_of(site).get(index as usize).is_some_and(|arg| facts.form(arg.value) != Form::None)
    }

    /// True if a call of a function moves the chain that the function returns, by a scheduler for which other calls
    /// pass `null`.
    pub(crate) fn is_moved_by_call(&self, body: BodyRef, site: SiteRef) -> bool {
        let (facts, body_id) = self.program.facts_and_id(body);
        let locals = (0..facts.vars.len()).map(|at| blocklint_facts::VarId(at as u32));
        let mut own = locals.filter(|&var| facts.var(var).body == body_id && facts.var(var).kind == VarKind::Inner);
        own.any(|var| {
            let index = self.mover_param(body.file.var_ref(var));
            index.is_some_and(|index| self.passes_non_null(site, index))
        })
    }

    /// Returns the parameter that moves a chain in a local, where it is given.
    fn mover_param(&self, var: VarRef) -> Option<u32> {
        let (facts, var_id) = self.program.facts_and_id(var);
        let movers = || self.operators_of(var.file).of_var.get(&var_id).cloned().unwrap_or_default().into_iter();
        movers().find_map(|next| {
            let next = var.file.site_ref(next);
            let targets = self.targets(next, EnvId::NONE);
            targets.list.iter().find_map(|target| {
                let Target::Row { path, .. } = *target else { return None };
                let rows = self.rows_for_call(path, next);
                let Some(Moves::Source(MoveTo::Scheduler(argument))) =
                    rows.with(|row| row.moves.is_some()).next().and_then(|row| row.row.moves.as_ref())
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

    /// True if a mention reads this field of an object: `this.chain`.
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
        sym == self.program.var(var).name && self.field_behind(scope, base, sym) == Some(var)
    }

    /// Returns the position of a chain that is the n-th argument of a call.
    fn ends_at_argument(&self, site: SiteRef, arg: u32) -> Position {
        let targets = self.targets(site, EnvId::NONE);
        if targets.list.is_empty() {
            return Position::root(Confidence::Medium);
        }
        let mut found = Position::default();
        for target in &targets.list {
            match *target {
                Target::Row { path, .. } => {
                    let rows = self.rows_for_call(path, site);
                    found.merge(&match self.returns_publisher(path, &rows) {
                        // `vertx.executeBlocking(uni)`
                        _ if self.hands_to_worker(path, site, arg) => Position { moved: true, ..Position::default() },
                        Some(true) => self.at_signals(self.signals_before(site), site),
                        _ if rows.is_empty() || self.library.text(path).starts_with("java.") => {
                            Position::root(Confidence::Medium)
                        }
                        _ => Position::root(Confidence::High),
                    });
                }
                Target::Body { body, with_receiver, .. } => {
                    found.merge(&self.ends_of_param(site, arg, body, with_receiver));
                }
                Target::Overrides { class, name } => {
                    for &body in self.overrides(class, name).iter().take(4) {
                        found.merge(&self.ends_of_param(site, arg, body, false));
                    }
                }
            }
        }
        found
    }

    /// True if a library's call runs its argument on a worker thread, which may block.
    fn hands_to_worker(&self, path: PathId, site: SiteRef, arg: u32) -> bool {
        self.handovers_for_call(path, site).iter().any(|row| {
            let takes = matches!(&row.selector, Selector::Argument(argument) if self.is_argument(site, arg, argument));
            takes && row.context == HandoverContext::Is(Runs::In(Context::Worker))
        })
    }

    /// Returns the position of a chain that is passed to a function of the project.
    fn ends_of_param(&self, site: SiteRef, arg: u32, body: BodyRef, with_receiver: bool) -> Position {
        let Some(index) = self.param_for(site, arg, body, with_receiver) else {
            return Position::root(Confidence::Medium);
        };
        let Some(param) = self.program.params_of(body).get(index as usize) else { return Position::default() };
        if self.is_stub(body) {
            // Its implementations decide, if there are any.
            return if self.has_implementations(body) {
                Position::default()
            } else {
                Position::root(Confidence::Medium)
            };
        }
        let mut found = (*self.ends_of_var(body.file.var_ref(param.var))).clone();
        // The function drives the chain that it is given. This call therefore drives the chain that it passes.
        if !found.driven.is_empty() {
            found.driven = vec![site];
        }
        // A chain that the function returns goes where this call's result goes.
        if let Some(at) = found.open.iter().position(|&open| open == body) {
            found.open.swap_remove(at);
            found.merge(&self.ends_of_site(site));
        }
        found
    }

    /// Returns the position of a chain that a body returns.
    fn ends_of_exit(&self, body: BodyRef) -> Position {
        if self.program.body(body).kind != BodyKind::Lambda {
            return Position { open: vec![body], ..Position::default() };
        }
        let mut found = Position::default();
        for (mention, _) in self.program.uses_of_callable(body).iter() {
            found.merge(&match mention {
                Mention::Arg(site, arg) => self.ends_of_inner(body.file.site_ref(site), arg),
                _ if self.overrides_on_loop(body).is_some() => Position::root(Confidence::High),
                // The caller that applies it decides where it goes on.
                _ => Position { open: vec![body], ..Position::default() },
            });
        }
        found
    }

    /// Returns the position of a chain that the callable in the n-th argument of a call returns.
    pub(crate) fn ends_of_inner(&self, site: SiteRef, arg: u32) -> Position {
        let targets = self.targets(site, EnvId::NONE);
        if targets.list.is_empty() {
            return Position::root(Confidence::Medium);
        }
        let mut found = Position::default();
        for target in &targets.list {
            match *target {
                Target::Row { path, .. } => {
                    let handovers = self.library.handovers(path);
                    let row = handovers.iter().find(|row| match &row.selector {
                        Selector::Argument(argument) => self.is_argument(site, arg, argument),
                        Selector::Via(_) => false,
                    });
                    let runs =
                        row.filter(|row| row.during.is_empty()).map(|row| self.handover_context(row.row, site, true));
                    found.merge(&match runs {
                        Some(Runs::Chain) => self.at_signals(self.signals_before(site), site),
                        Some(Runs::Caller) => (*self.ends_of_site(site)).clone(),
                        Some(Runs::In(blocklint_core::Context::EventLoop)) => Position::root(Confidence::High),
                        _ => Position::root(Confidence::Medium),
                    });
                }
                Target::Body { body, with_receiver, .. } => {
                    found.merge(&self.ends_of_called_param(site, arg, body, with_receiver));
                }
                Target::Overrides { class, name } => {
                    for &body in self.overrides(class, name).iter().take(4) {
                        found.merge(&self.ends_of_called_param(site, arg, body, false));
                    }
                }
            }
        }
        found
    }

    /// Returns the position of a chain that a callable returns if a function of the project takes that callable.
    fn ends_of_called_param(&self, site: SiteRef, arg: u32, body: BodyRef, with_receiver: bool) -> Position {
        let unknown = Position::root(Confidence::Medium);
        let Some(index) = self.param_for(site, arg, body, with_receiver) else { return unknown };
        let Some(param) = self.program.params_of(body).get(index as usize) else { return unknown };
        if self.is_stub(body) {
            return if self.has_implementations(body) { Position::default() } else { unknown };
        }
        let var = body.file.var_ref(param.var);
        let chains = &self.tables.chains;
        let found = chains.round.query(&chains.ends_of_called, var, Rc::default, || {
            let uses = self.uses_in(body.file);
            let mut found = Position::default();
            for &(_, of) in uses.of_param.get(&param.var).into_iter().flatten() {
                found.merge(&match of {
                    ParamUse::Call(at) => (*self.ends_of_site(body.file.site_ref(at))).clone(),
                    ParamUse::Arg(at, index) => self.ends_of_inner(body.file.site_ref(at), index),
                    ParamUse::Consume(_) => Position::default(),
                    ParamUse::Return(_) | ParamUse::Store(_) => Position::root(Confidence::Medium),
                });
            }
            Rc::new(found)
        });
        let mut found = (*found).clone();
        if let Some(at) = found.open.iter().position(|&open| open == body) {
            found.open.swap_remove(at);
            found.merge(&self.ends_of_site(site));
        }
        found
    }

    /// True if an operator's callable is known to run on no thread that must not block, by the operators before it and
    /// by the code behind it.
    pub fn is_moved_away(&self, operator: SiteRef) -> bool {
        let signals = self.signals_before(operator);
        !signals.has(ItemThreads::LOOP.with(ItemThreads::POOL)) && !signals.has(ItemThreads::UNKNOWN) && {
            let position = self.resolved_position(&self.chain_position(operator));
            position.root.is_none() && position.driven.is_empty()
        }
    }
}
