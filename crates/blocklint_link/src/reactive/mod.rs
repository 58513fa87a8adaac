//! Reactive chains (Reactor, RxJava, Mutiny, futures): the thread on which the callable of an operator runs.
//!
//! A chain is assembled first and runs when a subscriber subscribes. Operators that switch the thread may be anywhere
//! in the chain, so the position of a callable is computed in two directions. The operators before it (`upstream.rs`,
//! [`ItemThreads`]) may have switched the thread. If none did, the callable runs on the thread of the subscriber, which
//! the code after it decides (`subscription.rs`, downstream).

pub(crate) mod completed_publisher;
pub(crate) mod emitter;
pub(crate) mod lambda_param;
pub(crate) mod publisher_field;
pub(crate) mod scheduler;
pub(crate) mod subscription;
pub(crate) mod transform;
pub(crate) mod upstream;

use std::rc::Rc;

use blocklint_core::{Confidence, Language};
use blocklint_facts::{BodyKind, FileFacts, FormId, SiteId, Sym, VarId};
use blocklint_models::{Argument, CallRows, Role, TypeExpr};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::linker::query::{Plain, Table};
use crate::linker::round::{Always, First, Round, RoundOnly, RoundTable};
use crate::program::ids::{BodyRef, FileId, PathId, SiteRef, VarRef};
use crate::program::occurrences::Mention;
use crate::values::value::{EnvId, Val, ValueId};

pub use crate::calls::function_uses::BodyUse;
pub(crate) use crate::reactive::upstream::ItemThreads;

/// The maximal number of methods that return one chain to each other.
const MAX_RETURNING_METHODS: u32 = 8;

/// The threads on which the callable of an operator, or the source of a chain, runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The confidence that it runs on a thread that must not block; `None` if it does not.
    pub root: Option<Confidence>,
    /// True if that thread is of a pool that the code chose for computations.
    pub is_on_pool: bool,
    /// The calls that subscribe to the chain and run it on their own thread.
    pub drivers: Vec<SiteRef>,
    /// Those of `drivers` that are uncertain, because they call a method with many implementations.
    pub uncertain_drivers: Vec<SiteRef>,
    /// Functions that return the chain without subscribing; their callers decide the thread.
    pub(crate) open: Vec<BodyRef>,
    /// True if the downstream code moves the source to a thread that may block, or waits for the whole chain.
    pub(crate) is_moved: bool,
}

impl Position {
    /// Returns the position on a thread that must not block.
    pub(crate) fn root(confidence: Confidence) -> Self {
        Position { root: Some(confidence), ..Position::default() }
    }

    /// Adds the position of another subscriber. The result is a root if one of them is, with the highest confidence.
    pub(crate) fn merge(&mut self, other: &Position) {
        if other.root.is_some() {
            self.is_on_pool = other.is_on_pool && (self.is_on_pool || self.root.is_none());
        }
        self.root = self.root.max(other.root);
        self.is_moved |= other.is_moved;
        for &site in &other.uncertain_drivers {
            if !self.drivers.contains(&site) {
                self.uncertain_drivers.push(site);
            }
        }
        self.uncertain_drivers.retain(|site| !other.drivers.contains(site) || other.uncertain_drivers.contains(site));
        for &site in &other.drivers {
            if !self.drivers.contains(&site) {
                self.drivers.push(site);
            }
        }
        for &body in &other.open {
            if !self.open.contains(&body) {
                self.open.push(body);
            }
        }
    }
}

/// The memo tables of queries about chains.
pub(crate) struct ChainTables {
    /// The round of all questions that follow a chain.
    round: Round,
    item_threads_of_sites: RoundTable<SiteRef, ItemThreads, First>,
    item_threads_of_results: RoundTable<BodyRef, ItemThreads, First>,
    item_threads_of_vars: RoundTable<VarRef, ItemThreads, RoundOnly>,
    downstream_of_sites: RoundTable<SiteRef, Rc<Position>, First>,
    downstream_of_vars: RoundTable<VarRef, Rc<Position>, RoundOnly>,
    downstream_of_called_params: RoundTable<VarRef, Rc<Position>, RoundOnly>,
    result_positions: RoundTable<BodyRef, Rc<Position>, Always>,
    pub(crate) uses: Table<BodyRef, Rc<[BodyUse]>, Plain>,
    operators: Table<FileId, Rc<Operators>, Plain>,
}

impl Default for ChainTables {
    fn default() -> Self {
        ChainTables {
            round: Round::with_max_depth(48),
            item_threads_of_sites: RoundTable::default(),
            item_threads_of_results: RoundTable::default(),
            item_threads_of_vars: RoundTable::default(),
            downstream_of_sites: RoundTable::default(),
            downstream_of_vars: RoundTable::default(),
            downstream_of_called_params: RoundTable::default(),
            result_positions: RoundTable::default(),
            uses: Table::default(),
            operators: Table::default(),
        }
    }
}

/// The calls of one file, by their receivers.
#[derive(Debug, Default)]
pub(crate) struct Operators {
    of_result: FxHashMap<SiteId, Vec<SiteId>>,
    of_var: FxHashMap<VarId, Vec<SiteId>>,
    /// By the last name of the attribute, each with the form of its object.
    of_attr: FxHashMap<Sym, Vec<(SiteId, FormId)>>,
}

impl<'a> Linker<'a> {
    /// True if a body is a lambda that an operator of a publisher calls with a value: `mono.map(user -> …)` (Java).
    pub fn is_chain_lambda(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        facts.language == Language::Java
            && self.program.body(body).kind == BodyKind::Lambda
            && self.program.uses_of_callable(body).iter().any(|(mention, _)| match mention {
                Mention::Arg(site, _) => {
                    let Some(receiver) = self.receiver_form(body.file.site_ref(site)) else { return false };
                    let typed = self.eval(self.scope_of(body.file.site_ref(site), EnvId::NONE), receiver);
                    self.is_publisher(typed.value)
                }
                _ => false,
            })
    }

    /// Returns the position of the callables of an operator. Chains that a function returns are left open.
    pub(crate) fn chain_position(&self, operator: SiteRef) -> Position {
        let threads = self.item_threads_before(operator);
        if self.continues_future(operator) {
            // The thread that completes a future runs the callables that were added to it. An unknown thread does not
            // count.
            return if threads.has(ItemThreads::LOOP.with(ItemThreads::POOL)) {
                Position::root(Confidence::High)
            } else {
                Position::default()
            };
        }
        self.position_on_threads(threads, operator)
    }

    /// True if the receiver of an operator is a future. The work of a future has begun, so no subscriber moves it.
    pub fn continues_future(&self, operator: SiteRef) -> bool {
        let Some(receiver) = self.receiver_form(operator) else { return false };
        let typed = self.eval(self.scope_of(operator, EnvId::NONE), receiver);
        let mut members = self.values.members(typed.value).into_iter();
        members.any(|val| match val {
            Val::Library { ty, .. } => self.library.role(ty) == Some(Role::Future),
            // A class of the project that is a future.
            Val::Instance { class, .. } => self.mro(class).iter().any(|ancestor| match *ancestor {
                crate::classes::hierarchy::Ancestor::Library(ty, _) => self.library.role(ty) == Some(Role::Future),
                _ => false,
            }),
            _ => false,
        })
    }

    /// Returns the position of an operator's callables if its items arrive on these threads.
    fn position_on_threads(&self, threads: ItemThreads, operator: SiteRef) -> Position {
        let mut position = Position::default();
        if threads.has(ItemThreads::LOOP) {
            position.merge(&Position::root(Confidence::High));
        }
        if threads.has(ItemThreads::POOL) {
            position.merge(&Position { is_on_pool: true, ..Position::root(Confidence::High) });
        }
        if threads.has(ItemThreads::UNKNOWN) {
            position.merge(&Position::root(Confidence::Medium));
        }
        if threads.has(ItemThreads::SUBSCRIBER) {
            position.merge(&self.downstream_of_site(operator));
            // `chain.subscribe(item -> …)` drives the chain itself.
            if self.is_subscribing_operator(operator) {
                position.merge(&Position { drivers: vec![operator], ..Position::default() });
            }
        }
        if threads.has(ItemThreads::CALLED) && position.root.is_none() {
            let downstream = self.downstream_of_site(operator);
            // Downstream code that moves the chain, or waits for the whole chain, also moves or waits for its source.
            let is_known = downstream.is_moved && downstream.root.is_none() && downstream.open.is_empty();
            let in_worker = || self.has_blocking_annotation(self.program.body_of_site(operator));
            if is_known {
                position.merge(&downstream);
            } else if self.is_subscribing_operator(operator) && in_worker() {
                // If a worker subscribes to the chain, no code shows that it continues on another thread.
                position.merge(&Position { drivers: vec![operator], ..Position::default() });
            } else {
                position.merge(&Position::root(Confidence::Medium));
            }
        }
        position
    }

    /// Returns a position in which open chains are followed to the callers of the functions that return them.
    pub fn resolved_position(&self, position: &Position) -> Position {
        let mut resolved = Position { open: Vec::new(), ..position.clone() };
        for &body in &position.open {
            resolved.merge(&self.result_position(body));
        }
        resolved
    }

    /// Returns the position of the chain that a function returns, by all of its callers.
    pub(crate) fn result_position(&self, body: BodyRef) -> Rc<Position> {
        let chains = &self.tables.chains;
        chains.round.query(&chains.result_positions, body, Rc::default, || Rc::new(self.find_result_position(body)))
    }

    fn find_result_position(&self, body: BodyRef) -> Position {
        // A framework subscribes to the result on the thread that the method's annotation selects (`@Blocking`).
        if self.has_blocking_annotation(body) {
            return Position { is_moved: true, ..Position::default() };
        }
        if self.registered(body).is_some() {
            return Position::root(Confidence::High);
        }
        // A function without known uses is called by a framework or by callers outside of the project.
        let mut outside_tests = Position::default();
        let mut in_tests = Position::default();
        let mut has_use_outside_tests = false;
        let mut queue = vec![(body, 0, false)];
        let mut visited = FxHashSet::from_iter([body]);
        while let Some((next, depth, is_guess)) = queue.pop() {
            if depth > 0 && self.registered(next).is_some() {
                outside_tests.merge(&Position::root(Confidence::High));
                has_use_outside_tests = true;
                continue;
            }
            let uses = self.uses_of_body(next);
            if uses.is_empty() {
                let unknown = Position::root(Confidence::Medium);
                if self.program.is_test(next.file) {
                    in_tests.merge(&unknown)
                } else {
                    outside_tests.merge(&unknown)
                };
                has_use_outside_tests |= !self.program.is_test(next.file);
            }
            for body_use in uses.iter() {
                let downstream = match *body_use {
                    BodyUse::Call(site) if self.is_moved_by_call(next, site) => {
                        Position { is_moved: true, ..Position::default() }
                    }
                    BodyUse::Call(site) => (*self.downstream_of_site(site)).clone(),
                    BodyUse::Passed(site, arg) => self.downstream_of_inner_chain(site, arg),
                };
                let is_test = self.program.is_test(body_use.file());
                has_use_outside_tests |= !is_test;
                let position = if is_test { &mut in_tests } else { &mut outside_tests };
                let is_guess = is_guess || self.is_one_of_many(body_use.site());
                let uncertain_drivers =
                    if is_guess { downstream.drivers.clone() } else { downstream.uncertain_drivers.clone() };
                position.merge(&Position { open: Vec::new(), uncertain_drivers, ..downstream.clone() });
                for &open in &downstream.open {
                    if depth + 1 >= MAX_RETURNING_METHODS {
                        position.merge(&Position::root(Confidence::Medium));
                    } else if visited.insert(open) {
                        queue.push((open, depth + 1, is_guess));
                    }
                }
            }
        }
        // Uses in tests count only if there are no others.
        if has_use_outside_tests { outside_tests } else { in_tests }
    }

    /// True if a value is a publisher, which runs when a subscriber subscribes to it.
    pub fn is_publisher(&self, value: ValueId) -> bool {
        self.values.members(value).iter().any(|val| self.is_publisher_member(*val))
    }

    fn is_publisher_member(&self, val: Val) -> bool {
        match val {
            Val::Library { ty, .. } => self.library.role(ty) == Some(Role::Publisher),
            Val::Instance { class, .. } => self.mro(class).iter().any(|ancestor| match *ancestor {
                crate::classes::hierarchy::Ancestor::Library(ty, _) => self.library.role(ty) == Some(Role::Publisher),
                _ => false,
            }),
            _ => false,
        }
    }

    /// Returns true if a library's call returns a publisher, by its rows; `None` if no row declares its result.
    fn returns_publisher(&self, path: PathId, rows: &CallRows<'a>) -> Option<bool> {
        let matched = rows.with(|row| row.returns.is_some()).next()?;
        let owner = || self.library.split(path).map(|(owner, _)| owner);
        let of_publisher = || owner().is_some_and(|owner| self.library.role(owner) == Some(Role::Publisher));
        Some(match matched.row.returns.as_ref()? {
            TypeExpr::Path { path: ty, .. } => {
                let ty = self.library.path(self.library.language(path), ty);
                self.library.role(ty) == Some(Role::Publisher)
            }
            TypeExpr::SelfType(_) => of_publisher(),
            // The result of an inner chain, or the publisher that is an argument.
            TypeExpr::Result(_) | TypeExpr::Argument(_) | TypeExpr::Element(_) => of_publisher(),
            _ => false,
        })
    }

    /// True if an operator of a publisher subscribes to it, because the operator's result is no publisher.
    fn is_subscribing_operator(&self, operator: SiteRef) -> bool {
        self.targets(operator, EnvId::NONE).list.iter().any(|target| match *target {
            Target::Row { path, .. } => {
                let owner = self.library.split(path).map(|(owner, _)| owner);
                owner.is_some_and(|owner| self.library.role(owner) == Some(Role::Publisher))
                    && self.returns_publisher(path, &self.rows_for_call(path, operator)) == Some(false)
            }
            _ => false,
        })
    }

    /// True if a call is a factory of a library that creates a chain: `Mono.just(x)`.
    pub fn makes_chain(&self, site: SiteRef) -> bool {
        let targets = self.targets(site, EnvId::NONE);
        !targets.list.is_empty()
            && targets.list.iter().all(|target| match *target {
                Target::Row { path, receiver, .. } => {
                    let owner = self.library.split(path).map(|(owner, _)| owner);
                    !receiver.is_some()
                        && owner.is_some_and(|owner| self.library.role(owner) == Some(Role::Publisher))
                        && self.returns_publisher(path, &self.rows_for_call(path, site)) == Some(true)
                }
                _ => false,
            })
    }

    /// Returns the calls of a file, by their receivers.
    pub(crate) fn operators_of(&self, file: FileId) -> Rc<Operators> {
        self.query(&self.tables.chains.operators, file, Rc::default, || {
            let facts = self.program.facts(file);
            let mut operators = Operators::default();
            for index in 0..facts.sites.len() {
                let site = SiteId(index as u32);
                let Some(receiver) = self.receiver_form(file.site_ref(site)) else { continue };
                operators.add(facts, receiver, site, 8);
            }
            Rc::new(operators)
        })
    }

    /// Returns the bodies of the callable in an argument of a call.
    fn callables_in_argument(&self, site: SiteRef, form: FormId) -> Vec<BodyRef> {
        let typed = self.eval(self.scope_of(site, EnvId::NONE), form);
        let bodies = self.values.members(typed.value).into_iter().flat_map(|val| match val {
            Val::Fn { body, receiver, .. } => {
                // `flatMap(service::load)` on an interface runs an implementation. If there are many, none counts.
                let mut bodies = self.referenced_overrides(body, receiver);
                if !self.is_stub(body) || bodies.is_empty() {
                    bodies.insert(0, body);
                }
                if bodies.len() > MAX_REFERRED_IMPLEMENTATIONS { Vec::new() } else { bodies }
            }
            _ => Vec::new(),
        });
        bodies.collect()
    }

    /// Returns the argument of a call that a row refers to.
    fn argument_form(&self, site: SiteRef, argument: &Argument) -> Option<FormId> {
        self.argument(site, argument)
    }
}

/// The maximal number of implementations of a method reference that are followed.
const MAX_REFERRED_IMPLEMENTATIONS: usize = 3;

impl Operators {
    /// Returns the calls whose receiver is the result of a call.
    pub(crate) fn on_result(&self, site: SiteId) -> impl Iterator<Item = SiteId> {
        self.of_result.get(&site).into_iter().flatten().copied()
    }

    /// Returns the calls whose receiver is a variable.
    pub(crate) fn on_var(&self, var: VarId) -> impl Iterator<Item = SiteId> {
        self.of_var.get(&var).into_iter().flatten().copied()
    }

    /// Returns the calls whose receiver is an attribute of this name, each with the form of the attribute's object.
    pub(crate) fn on_attr(&self, name: Sym) -> impl Iterator<Item = (SiteId, FormId)> {
        self.of_attr.get(&name).into_iter().flatten().copied()
    }

    /// Adds a call under the results, variables and attributes in the form of its receiver.
    fn add(&mut self, facts: &FileFacts, form: FormId, site: SiteId, depth: u32) {
        use blocklint_facts::Form;
        let Some(depth) = depth.checked_sub(1) else { return };
        match facts.form(form) {
            Form::Result(call) => self.of_result.entry(call).or_default().push(site),
            Form::Var(var) => self.of_var.entry(var).or_default().push(site),
            Form::Attr(base, sym) => self.of_attr.entry(sym).or_default().push((site, base)),
            Form::Cast(inner, _) => self.add(facts, inner, site, depth),
            Form::Alt(_, list) => {
                for &part in facts.list(list) {
                    self.add(facts, part, site, depth);
                }
            }
            _ => {}
        }
    }
}
