//! Chains of operators: on which thread the callable of an operator runs.
//!
//! A chain is put together first and runs when a subscriber subscribes. The operators that move it may stand anywhere
//! in the chain, so the position of a callable is read in two directions. The operators before it may have switched the
//! thread (`signals`). If none did, it runs on the thread of the subscriber, which the code behind it decides (`ends`).

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
use blocklint_facts::{BodyKind, FormId, SiteId, Sym, VarId};
use blocklint_models::{Argument, CallRows, Role, TypeExpr};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::linker::query::{Plain, Table};
use crate::linker::round::{Always, First, OnlyOnTheWay, Round, RoundTable};
use crate::program::ids::{BodyRef, FileId, PathId, SiteRef, VarRef};
use crate::program::occurrences::Mention;
use crate::values::value::{EnvId, Val, ValueId};

pub use crate::calls::function_uses::BodyUse;
pub(crate) use crate::reactive::upstream::ItemThreads;

/// Methods that one chain is followed through.
const MOST_METHODS: u32 = 8;

/// Where a callable of an operator runs, or the source of a chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// It runs where nothing may block; how sure that is.
    pub root: Option<Confidence>,
    /// True if that place is a pool that the code chose for it, so that computations belong there.
    pub pooled: bool,
    /// The calls that drive the chain: it runs during them.
    pub driven: Vec<SiteRef>,
    /// Those of them that are only known by a method with many implementations. The call may mean another one.
    pub guessed: Vec<SiteRef>,
    /// Functions that return the chain unfinished: their callers decide.
    pub(crate) open: Vec<BodyRef>,
    /// Something on the way moves the source to where it may block, or waits for all of it.
    pub(crate) moved: bool,
}

impl Position {
    /// Returns a place where nothing may block.
    pub(crate) fn root(confidence: Confidence) -> Self {
        Position { root: Some(confidence), ..Position::default() }
    }

    /// Adds another end: any that makes it a root does, as sure as the surest.
    pub(crate) fn merge(&mut self, other: &Position) {
        if other.root.is_some() {
            self.pooled = other.pooled && (self.pooled || self.root.is_none());
        }
        self.root = self.root.max(other.root);
        self.moved |= other.moved;
        for &site in &other.guessed {
            if !self.driven.contains(&site) {
                self.guessed.push(site);
            }
        }
        self.guessed.retain(|site| !other.driven.contains(site) || other.guessed.contains(site));
        for &site in &other.driven {
            if !self.driven.contains(&site) {
                self.driven.push(site);
            }
        }
        for &body in &other.open {
            if !self.open.contains(&body) {
                self.open.push(body);
            }
        }
    }
}

/// Remembered answers about chains.
pub(crate) struct ChainTables {
    /// All questions that follow a chain.
    round: Round,
    signals_of_sites: RoundTable<SiteRef, ItemThreads, First>,
    signals_of_results: RoundTable<BodyRef, ItemThreads, First>,
    signals_of_vars: RoundTable<VarRef, ItemThreads, OnlyOnTheWay>,
    ends_of_sites: RoundTable<SiteRef, Rc<Position>, First>,
    ends_of_vars: RoundTable<VarRef, Rc<Position>, OnlyOnTheWay>,
    ends_of_called: RoundTable<VarRef, Rc<Position>, OnlyOnTheWay>,
    settled: RoundTable<BodyRef, Rc<Position>, Always>,
    pub(crate) uses: Table<BodyRef, Rc<[BodyUse]>, Plain>,
    operators: Table<FileId, Rc<Operators>, Plain>,
}

impl Default for ChainTables {
    fn default() -> Self {
        ChainTables {
            round: Round::to_depth(48),
            signals_of_sites: RoundTable::default(),
            signals_of_results: RoundTable::default(),
            signals_of_vars: RoundTable::default(),
            ends_of_sites: RoundTable::default(),
            ends_of_vars: RoundTable::default(),
            ends_of_called: RoundTable::default(),
            settled: RoundTable::default(),
            uses: Table::default(),
            operators: Table::default(),
        }
    }
}

/// The calls of one file by their receivers.
#[derive(Debug, Default)]
pub(crate) struct Operators {
    of_result: FxHashMap<SiteId, Vec<SiteId>>,
    of_var: FxHashMap<VarId, Vec<SiteId>>,
    /// By the last name of the attribute, with what it is read from.
    of_attr: FxHashMap<Sym, Vec<(SiteId, FormId)>>,
}

impl<'a> Linker<'a> {
    /// True if a body is a lambda that an operator of a chain or future calls with a value: `mono.map(user -> …)` (Java).
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

    /// Returns the position of the n-th argument of an operator. Chains that a function returns are left open.
    pub(crate) fn chain_position(&self, operator: SiteRef) -> Position {
        let signals = self.signals_before(operator);
        if self.continues_future(operator) {
            // The thread that completes a future runs the callables that were added to it: only a known one counts.
            return if signals.has(ItemThreads::LOOP.with(ItemThreads::POOL)) {
                Position::root(Confidence::High)
            } else {
                Position::default()
            };
        }
        self.at_signals(signals, operator)
    }

    /// True if an operator stands on a future. The work of a future has begun, so no subscriber moves it.
    pub fn continues_future(&self, operator: SiteRef) -> bool {
        let Some(receiver) = self.receiver_form(operator) else { return false };
        let typed = self.eval(self.scope_of(operator, EnvId::NONE), receiver);
        let mut members = self.values.members(typed.value).into_iter();
        members.any(|val| match val {
            Val::Library { ty, .. } => self.library.role(ty) == Some(Role::Future),
            // A future of the project's own.
            Val::Instance { class, .. } => self.mro(class).iter().any(|ancestor| match *ancestor {
                crate::classes::hierarchy::Ancestor::Library(ty, _) => self.library.role(ty) == Some(Role::Future),
                _ => false,
            }),
            _ => false,
        })
    }

    /// Returns the position of what runs at these signals of an operator.
    fn at_signals(&self, signals: ItemThreads, operator: SiteRef) -> Position {
        let mut position = Position::default();
        if signals.has(ItemThreads::LOOP) {
            position.merge(&Position::root(Confidence::High));
        }
        if signals.has(ItemThreads::POOL) {
            position.merge(&Position { pooled: true, ..Position::root(Confidence::High) });
        }
        if signals.has(ItemThreads::UNKNOWN) {
            position.merge(&Position::root(Confidence::Medium));
        }
        if signals.has(ItemThreads::SUBSCRIBER) {
            position.merge(&self.ends_of_site(operator));
            // `chain.subscribe(item -> …)`: that very call drives the chain.
            if self.ends_chain(operator) {
                position.merge(&Position { driven: vec![operator], ..Position::default() });
            }
        }
        if signals.has(ItemThreads::CALLED) && position.root.is_none() {
            let ends = self.ends_of_site(operator);
            // The code that moves the chain, or waits for all of it, does so for its source too, as far as it is known.
            let is_known = ends.moved && ends.root.is_none() && ends.open.is_empty();
            let in_worker = || self.has_blocking_annotation(self.program.body_of_site(operator));
            match is_known {
                true => position.merge(&ends),
                // If a worker subscribes to the chain, nothing shows that it goes on elsewhere.
                false if self.ends_chain(operator) && in_worker() => {
                    position.merge(&Position { driven: vec![operator], ..Position::default() });
                }
                false => position.merge(&Position::root(Confidence::Medium)),
            }
        }
        position
    }

    /// Returns the position with open chains followed to the callers of the functions that return them.
    pub fn resolved_position(&self, position: &Position) -> Position {
        let mut found = Position { open: Vec::new(), ..position.clone() };
        for &body in &position.open {
            found.merge(&self.settled_result(body));
        }
        found
    }

    /// Returns where the chain that a function returns runs.
    pub(crate) fn settled_result(&self, body: BodyRef) -> Rc<Position> {
        let chains = &self.tables.chains;
        chains.round.query(&chains.settled, body, Rc::default, || Rc::new(self.find_settled(body)))
    }

    fn find_settled(&self, body: BodyRef) -> Position {
        // The caller that serves the method subscribes where the method's annotation sends it.
        if self.has_blocking_annotation(body) {
            return Position { moved: true, ..Position::default() };
        }
        if self.registered(body).is_some() {
            return Position::root(Confidence::High);
        }
        // Some machinery composes it: a library's interface, a framework, callers outside of the project.
        let mut found = Position::default();
        let mut in_tests = Position::default();
        let mut any = false;
        let mut queue = vec![(body, 0, false)];
        let mut seen = FxHashSet::from_iter([body]);
        while let Some((next, depth, is_guess)) = queue.pop() {
            if depth > 0 && self.registered(next).is_some() {
                found.merge(&Position::root(Confidence::High));
                any = true;
                continue;
            }
            let uses = self.uses_of_body(next);
            if uses.is_empty() {
                let alone = Position::root(Confidence::Medium);
                if self.program.is_test(next.file) {
                    in_tests.merge(&alone)
                } else {
                    found.merge(&alone)
                };
                any |= !self.program.is_test(next.file);
            }
            for of in uses.iter() {
                let end = match *of {
                    BodyUse::Call(site) if self.is_moved_by_call(next, site) => {
                        Position { moved: true, ..Position::default() }
                    }
                    BodyUse::Call(site) => (*self.ends_of_site(site)).clone(),
                    BodyUse::Passed(site, arg) => self.ends_of_inner(site, arg),
                };
                let is_test = self.program.is_test(of.file());
                any |= !is_test;
                let into = if is_test { &mut in_tests } else { &mut found };
                let is_guess = is_guess || self.is_one_of_many(of.site());
                let guessed = if is_guess { end.driven.clone() } else { end.guessed.clone() };
                into.merge(&Position { open: Vec::new(), guessed, ..end.clone() });
                for &open in &end.open {
                    if depth + 1 >= MOST_METHODS {
                        into.merge(&Position::root(Confidence::Medium));
                    } else if seen.insert(open) {
                        queue.push((open, depth + 1, is_guess));
                    }
                }
            }
        }
        // Ends in tests count only if there are no others.
        if any { found } else { in_tests }
    }

    /// True if a value is a publisher, which runs when it is subscribed to.
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

    /// Returns true if a library's call returns a publisher, as its rows state; `None` if no row declares its result.
    fn returns_publisher(&self, path: PathId, rows: &CallRows<'a>) -> Option<bool> {
        let row = rows.with(|row| row.returns.is_some()).next()?;
        let owner = || self.library.split(path).map(|(owner, _)| owner);
        let of_publisher = || owner().is_some_and(|owner| self.library.role(owner) == Some(Role::Publisher));
        Some(match row.row.returns.as_ref()? {
            TypeExpr::Path { path: ty, .. } => {
                let ty = self.library.path(self.library.language(path), ty);
                self.library.role(ty) == Some(Role::Publisher)
            }
            TypeExpr::SelfType(_) => of_publisher(),
            // The result of an inner chain, or the publisher in an argument.
            TypeExpr::Result(_) | TypeExpr::Argument(_) | TypeExpr::Element(_) => of_publisher(),
            _ => false,
        })
    }

    /// True if an operator of a publisher subscribes, because its result is no publisher.
    fn ends_chain(&self, operator: SiteRef) -> bool {
        self.targets(operator, EnvId::NONE).list.iter().any(|target| match *target {
            Target::Row { path, .. } => {
                let owner = self.library.split(path).map(|(owner, _)| owner);
                owner.is_some_and(|owner| self.library.role(owner) == Some(Role::Publisher))
                    && self.returns_publisher(path, &self.rows_for_call(path, operator)) == Some(false)
            }
            _ => false,
        })
    }

    /// True if a call is a factory of a library that makes a chain of a value.
    pub fn makes_chain(&self, site: SiteRef) -> bool {
        let targets = self.targets(site, EnvId::NONE);
        !targets.list.is_empty()
            && targets.list.iter().all(|target| match *target {
                crate::calls::targets::Target::Row { path, receiver, .. } => {
                    let owner = self.library.split(path).map(|(owner, _)| owner);
                    !receiver.is_some()
                        && owner.is_some_and(|owner| self.library.role(owner) == Some(Role::Publisher))
                        && self.returns_publisher(path, &self.rows_for_call(path, site)) == Some(true)
                }
                _ => false,
            })
    }

    /// Returns the calls of a file by their receivers.
    pub(crate) fn operators_of(&self, file: FileId) -> Rc<Operators> {
        self.query(&self.tables.chains.operators, file, Rc::default, || {
            let facts = self.program.facts(file);
            let mut found = Operators::default();
            for at in 0..facts.sites.len() {
                let site = SiteId(at as u32);
                let Some(receiver) = self.receiver_form(file.site_ref(site)) else { continue };
                found.add(facts, receiver, site, 8);
            }
            Rc::new(found)
        })
    }

    /// Returns the callable in an argument of a call: the bodies that it may be.
    fn callables(&self, site: SiteRef, form: FormId) -> Vec<BodyRef> {
        let typed = self.eval(self.scope_of(site, EnvId::NONE), form);
        let bodies = self.values.members(typed.value).into_iter().flat_map(|val| match val {
            Val::Fn { body, receiver, .. } => {
                // `flatMap(service::load)` of an interface: its implementation; if there are many, none counts.
                let mut found = self.referenced_overrides(body, receiver);
                if !self.is_stub(body) || found.is_empty() {
                    found.insert(0, body);
                }
                if found.len() > MOST_REFERRED { Vec::new() } else { found }
            }
            _ => Vec::new(),
        });
        bodies.collect()
    }

    /// Returns the form in an argument of a call that a row names.
    fn argument_form(&self, site: SiteRef, argument: &Argument) -> Option<FormId> {
        self.argument(site, argument)
    }
}

/// The number of implementations of which each decides where a chain continues.
const MOST_REFERRED: usize = 3;

impl Operators {
    /// Returns the calls on the result of a call.
    pub(crate) fn on_result(&self, site: SiteId) -> impl Iterator<Item = SiteId> {
        self.of_result.get(&site).into_iter().flatten().copied()
    }

    /// Returns the calls on a variable.
    pub(crate) fn on_var(&self, var: VarId) -> impl Iterator<Item = SiteId> {
        self.of_var.get(&var).into_iter().flatten().copied()
    }

    /// Returns the calls on an attribute of this name, with what it is read from.
    pub(crate) fn on_attr(&self, name: Sym) -> impl Iterator<Item = (SiteId, FormId)> {
        self.of_attr.get(&name).into_iter().flatten().copied()
    }

    fn add(&mut self, facts: &blocklint_facts::FileFacts, form: FormId, site: SiteId, depth: u32) {
        use blocklint_facts::Form;
        let Some(depth) = depth.checked_sub(1) else { return };
        match facts.form(form) {
            Form::Result(of) => self.of_result.entry(of).or_default().push(site),
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
