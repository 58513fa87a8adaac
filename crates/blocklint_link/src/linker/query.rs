//! The query kernel: memo tables, and the results of queries that depend on themselves.
//!
//! A [`Table`] keeps the answers to one kind of query. Only [`Linker::query`] fills it. The [`Policy`] of a table is a
//! type, so that the declaration of a table shows how the table treats answers that may be incomplete. The stack of
//! running queries is in `frames.rs`, the step budget in `budget.rs`.

use std::cell::RefCell;
use std::hash::Hash;
use std::marker::PhantomData;

use rustc_hash::FxHashMap;

use crate::linker::frames::{Dependence, RoundEnd, Validity};
use crate::linker::{Linker, Typed};
use crate::values::value::{ValueId, Why};

/// Rounds after which the last answer is kept, because answers that depend on each other may alternate for ever.
const MAX_ROUNDS: u32 = 8;

/// The answers that a table keeps for later queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// All answers that depend on no running query. An answer that depends on one is kept until the round of that query
    /// ends.
    IfComplete,
    /// None: the table only detects queries that depend on themselves.
    Never,
}

/// The result of a query that depends on itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InCycle {
    /// The query returns its answer of the last round, in the first round the value of a cut.
    ReturnsGuess,
    /// The query is computed once more, because a query further inside ends the cycle. The table does not mark running
    /// queries.
    Recurs,
}

/// The policy by which a table treats answers of type `V`.
pub trait Policy<V> {
    /// The answers that the table keeps.
    const KEEP: Keep;
    /// The result of a query that depends on itself.
    const IN_CYCLE: InCycle;
    /// True if a query spends a step of the [budget](super::budget).
    const SPENDS: bool;

    /// True if two answers are equal. A query in a cycle is computed until its answer is equal to that of the round
    /// before.
    fn are_equal(left: &V, right: &V) -> bool;

    /// True unless the answer itself says that it is incomplete.
    fn is_final(_answer: &V) -> bool {
        true
    }
}

/// The policy of queries about values, calls and classes: each query spends a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step;

impl<V: PartialEq> Policy<V> for Step {
    const KEEP: Keep = Keep::IfComplete;
    const IN_CYCLE: InCycle = InCycle::ReturnsGuess;
    const SPENDS: bool = true;

    fn are_equal(left: &V, right: &V) -> bool {
        left == right
    }
}

/// The policy of queries whose answer depends on more than the key: each query spends a step, and no answer is kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnkeptStep;

impl<V: PartialEq> Policy<V> for UnkeptStep {
    const KEEP: Keep = Keep::Never;
    const IN_CYCLE: InCycle = InCycle::ReturnsGuess;
    const SPENDS: bool = true;

    fn are_equal(left: &V, right: &V) -> bool {
        left == right
    }
}

/// The policy of queries that are computed once more where they depend on themselves, because a query further inside
/// ends the cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl<V> Policy<V> for Plain {
    const KEEP: Keep = Keep::IfComplete;
    const IN_CYCLE: InCycle = InCycle::Recurs;
    const SPENDS: bool = false;

    /// Never called, because no query of this policy has a guess.
    fn are_equal(_left: &V, _right: &V) -> bool {
        true
    }
}

/// The policy of lists that are empty while they are computed for the first time.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmptyMeanwhile;

impl<V: PartialEq> Policy<V> for EmptyMeanwhile {
    const KEEP: Keep = Keep::IfComplete;
    const IN_CYCLE: InCycle = InCycle::ReturnsGuess;
    const SPENDS: bool = false;

    fn are_equal(left: &V, right: &V) -> bool {
        left == right
    }
}

/// The policy of lists that are empty while they are computed, and not kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnkeptEmptyMeanwhile;

impl<V: PartialEq> Policy<V> for UnkeptEmptyMeanwhile {
    const KEEP: Keep = Keep::Never;
    const IN_CYCLE: InCycle = InCycle::ReturnsGuess;
    const SPENDS: bool = false;

    fn are_equal(left: &V, right: &V) -> bool {
        left == right
    }
}

/// The reason why a query was not computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The query is being computed already.
    Cycle,
    /// The budget is spent.
    Bound,
}

impl From<Cut> for Why {
    fn from(cut: Cut) -> Self {
        match cut {
            Cut::Cycle => Why::Cycle,
            Cut::Bound => Why::Bound,
        }
    }
}

/// The state of a query that has no final answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open<V> {
    /// The query is being computed.
    Running {
        /// Its index in the stack of running queries.
        depth: u32,
        /// The answer of its last round.
        guess: Option<V>,
    },
    /// The query has an answer that depends on a running query.
    Provisional {
        /// The answer.
        answer: V,
        /// The running query that the answer depends on.
        dependence: Dependence,
    },
}

/// The storage of the final answers of a table.
pub trait Store<K, V> {
    /// Returns the answer for a key.
    fn find(&self, key: &K) -> Option<&V>;

    /// Stores an answer.
    fn keep(&mut self, key: K, answer: V);
}

/// The answers of a table by their keys.
pub type ByKey<K, V> = FxHashMap<K, V>;

impl<K: Eq + Hash, V> Store<K, V> for ByKey<K, V> {
    #[inline]
    fn find(&self, key: &K) -> Option<&V> {
        self.get(key)
    }

    #[inline]
    fn keep(&mut self, key: K, answer: V) {
        self.insert(key, answer);
    }
}

/// The answers to one kind of query, by key.
#[derive(Debug)]
pub struct Table<K, V, P, S = ByKey<K, V>> {
    store: RefCell<S>,
    /// The queries without a final answer; few at a time.
    open: RefCell<FxHashMap<K, Open<V>>>,
    policy: PhantomData<P>,
}

impl<K, V, P, S: Default> Default for Table<K, V, P, S> {
    fn default() -> Self {
        Table::of(S::default())
    }
}

impl<K, V, P, S> Table<K, V, P, S> {
    /// Returns a table that keeps its final answers in a store.
    pub fn of(store: S) -> Self {
        Table { store: RefCell::new(store), open: RefCell::default(), policy: PhantomData }
    }
}

impl Linker<'_> {
    /// Returns the answer for a key: the stored answer, else the result of `compute`. If the query is
    /// running already, the answer is that of its last round, in the first round the result of `cut`. If the budget is
    /// spent, the answer is the result of `cut` as well. The policy of the table decides which answers are kept.
    #[inline]
    pub fn query<K, V, P, S>(
        &self,
        table: &Table<K, V, P, S>,
        key: K,
        cut: impl Fn() -> V,
        compute: impl FnMut() -> V,
    ) -> V
    where
        K: Clone + Eq + Hash,
        V: Clone,
        P: Policy<V>,
        S: Store<K, V>,
    {
        self.query_or_cut(table, key, |_| cut(), compute)
    }

    /// Returns the answer for a key like [`Linker::query`], and passes the reason of a cut to `cut`.
    #[inline]
    pub fn query_or_cut<K, V, P, S>(
        &self,
        table: &Table<K, V, P, S>,
        key: K,
        cut: impl Fn(Cut) -> V,
        compute: impl FnMut() -> V,
    ) -> V
    where
        K: Clone + Eq + Hash,
        V: Clone,
        P: Policy<V>,
        S: Store<K, V>,
    {
        if let Some(answer) = table.store.borrow().find(&key) {
            return answer.clone();
        }
        let mut guess = None;
        if let Some(open) = table.open.borrow().get(&key) {
            match open {
                Open::Running { depth, guess } => {
                    self.frames.note_use(*depth);
                    return guess.clone().unwrap_or_else(|| cut(Cut::Cycle));
                }
                Open::Provisional { answer, dependence } => match self.frames.validity(*dependence) {
                    Validity::Final => {
                        table.store.borrow_mut().keep(key, answer.clone());
                        return answer.clone();
                    }
                    Validity::ThisRound => return answer.clone(),
                    Validity::Guess => guess = Some(answer.clone()),
                    Validity::Expired => {}
                },
            }
        }
        if P::SPENDS && !(self.budget.spend() && self.frames.may_nest()) {
            self.frames.note_bound();
            return cut(Cut::Bound);
        }
        self.compute_in_rounds(table, key, guess, cut, compute)
    }

    /// Computes an answer in rounds, until the answers of all queries that depend on it are equal to those of the round
    /// before.
    fn compute_in_rounds<K, V, P, S>(
        &self,
        table: &Table<K, V, P, S>,
        key: K,
        mut guess: Option<V>,
        cut: impl Fn(Cut) -> V,
        mut compute: impl FnMut() -> V,
    ) -> V
    where
        K: Clone + Eq + Hash,
        V: Clone,
        P: Policy<V>,
        S: Store<K, V>,
    {
        let marks = P::IN_CYCLE != InCycle::Recurs;
        if P::SPENDS {
            self.check_cancelled();
        }
        let frame = self.frames.begin(P::SPENDS && self.budget.is_outermost());
        for round in 1.. {
            if marks {
                let depth = frame.depth;
                table.open.borrow_mut().insert(key.clone(), Open::Running { depth, guess: guess.clone() });
            }
            let answer = if P::SPENDS { self.budget.nest(&mut compute) } else { compute() };
            let was_used = self.frames.was_used(&frame);
            let changed = was_used && P::KEEP != Keep::Never && {
                match &guess {
                    Some(guess) => !P::are_equal(guess, &answer),
                    None => !P::are_equal(&cut(Cut::Cycle), &answer),
                }
            };
            let ended = self.frames.end_round(&frame, changed, round == MAX_ROUNDS);
            let keeps = P::KEEP != Keep::Never && P::is_final(&answer);
            match ended {
                RoundEnd::Again => {
                    guess = Some(answer);
                    continue;
                }
                RoundEnd::Provisional(dependence) if keeps => {
                    table.open.borrow_mut().insert(key, Open::Provisional { answer: answer.clone(), dependence });
                }
                RoundEnd::Complete | RoundEnd::Provisional(_) => {
                    table.open.borrow_mut().remove(&key);
                    if keeps {
                        table.store.borrow_mut().keep(key, answer.clone());
                    }
                }
            }
            return answer;
        }
        unreachable!("a round ends the query")
    }

    /// Returns the answer of a query for a value. A value that depends only on itself is unknown ([`Why::Cycle`]).
    #[inline]
    pub(crate) fn query_value<K, P, S>(
        &self,
        table: &Table<K, Typed, P, S>,
        key: K,
        compute: impl FnMut() -> Typed,
    ) -> Typed
    where
        K: Clone + Eq + Hash,
        P: Policy<Typed>,
        S: Store<K, Typed>,
    {
        let cut = |cut| match cut {
            Cut::Cycle => Typed::NEVER,
            Cut::Bound => self.unknown(Why::Bound),
        };
        let answer = self.query_or_cut(table, key, cut, compute);
        if answer.value == ValueId::NEVER && !self.frames.is_provisional() { self.unknown(Why::Cycle) } else { answer }
    }
}
