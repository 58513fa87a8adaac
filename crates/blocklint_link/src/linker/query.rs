//! The query kernel: how answers are remembered, and how a query ends that comes round to itself.
//!
//! A [`Table`] holds the answers to one kind of question. [`Linker::query`] is the only way to fill it. The [`Policy`]
//! of a table is a type, so that the declaration of a table shows how it treats answers that may be incomplete.

use std::cell::RefCell;
use std::hash::Hash;
use std::marker::PhantomData;

use rustc_hash::FxHashMap;

use crate::linker::frames::{Ended, Holds, Rests};
use crate::linker::{Linker, Typed};
use crate::values::value::{ValueId, Why};

/// Rounds after which the last answer counts, because answers that depend on each other may swing for ever.
const MOST_ROUNDS: u32 = 8;

/// The answers that a table keeps for later questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// All that rest on no query that is running, and those of the round at hand for as long as that lasts.
    IfWhole,
    /// None: the table only notices queries that come round to themselves.
    Never,
}

/// The end of a query that comes round to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InCycle {
    /// It gives the answer of the last round, in the first round the value of a cut.
    GivesGuess,
    /// It is computed once more: only a query further in ends the cycle. The table does not mark what runs.
    Recurs,
}

/// The way in which a table treats answers of type `V`.
pub trait Policy<V> {
    /// The answers that it keeps.
    const KEEP: Keep;
    /// The end of a cycle.
    const IN_CYCLE: InCycle;
    /// True if a query spends a step of the [budget](super::budget) and counts as one that others may rest on.
    const SPENDS: bool;

    /// True if two answers are equal. A query in a cycle is computed until its answer is that of the round before.
    fn are_equal(one: &V, other: &V) -> bool;

    /// True unless the answer itself says that it is incomplete.
    fn is_final(_answer: &V) -> bool {
        true
    }
}

/// A query of the recursion over values, calls and classes: it spends a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step;

impl<V: PartialEq> Policy<V> for Step {
    const KEEP: Keep = Keep::IfWhole;
    const IN_CYCLE: InCycle = InCycle::GivesGuess;
    const SPENDS: bool = true;

    fn are_equal(one: &V, other: &V) -> bool {
        one == other
    }
}

/// A step whose answer depends on more than its key.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnkeptStep;

impl<V: PartialEq> Policy<V> for UnkeptStep {
    const KEEP: Keep = Keep::Never;
    const IN_CYCLE: InCycle = InCycle::GivesGuess;
    const SPENDS: bool = true;

    fn are_equal(one: &V, other: &V) -> bool {
        one == other
    }
}

/// An answer that is computed once more where it comes round to itself, because a step further in ends the cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl<V> Policy<V> for Plain {
    const KEEP: Keep = Keep::IfWhole;
    const IN_CYCLE: InCycle = InCycle::Recurs;
    const SPENDS: bool = false;

    /// It is never met.
    fn are_equal(_one: &V, _other: &V) -> bool {
        true
    }
}

/// A list that is empty while it is looked for the first time.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmptyMeanwhile;

impl<V: PartialEq> Policy<V> for EmptyMeanwhile {
    const KEEP: Keep = Keep::IfWhole;
    const IN_CYCLE: InCycle = InCycle::GivesGuess;
    const SPENDS: bool = false;

    fn are_equal(one: &V, other: &V) -> bool {
        one == other
    }
}

/// An answer that is not kept, and empty while it is being looked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnkeptEmptyMeanwhile;

impl<V: PartialEq> Policy<V> for UnkeptEmptyMeanwhile {
    const KEEP: Keep = Keep::Never;
    const IN_CYCLE: InCycle = InCycle::GivesGuess;
    const SPENDS: bool = false;

    fn are_equal(one: &V, other: &V) -> bool {
        one == other
    }
}

/// The reason why a query was not computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It is being computed already.
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

/// The state of a query without a final answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open<V> {
    /// It is being computed.
    Running {
        /// Its place among the running queries.
        depth: u32,
        /// The answer of its last round.
        guess: Option<V>,
    },
    /// Its answer rests on a running query.
    Provisional {
        /// The answer.
        answer: V,
        /// The time at which it was found, and the outermost running query that it rests on.
        rests: Rests,
    },
}

/// The place where a table keeps its final answers.
pub trait Store<K, V> {
    /// Returns the answer for a key.
    fn find(&self, key: &K) -> Option<&V>;

    /// Keeps an answer.
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

/// The answers to one kind of question, by its key.
#[derive(Debug)]
pub struct Table<K, V, P, S = ByKey<K, V>> {
    store: RefCell<S>,
    /// Few at a time.
    open: RefCell<FxHashMap<K, Open<V>>>,
    policy: PhantomData<P>,
}

impl<K, V, P, S: Default> Default for Table<K, V, P, S> {
    fn default() -> Self {
        Table::of(S::default())
    }
}

impl<K, V, P, S> Table<K, V, P, S> {
    /// A table that keeps its answers in this store.
    pub fn of(store: S) -> Self {
        Table { store: RefCell::new(store), open: RefCell::default(), policy: PhantomData }
    }
}

impl Linker<'_> {
    /// Returns the answer for a key: the one that the table keeps, else what `compute` gives. If the query runs already, the answer is that of
    /// its last round, in the first round what `cut` gives; so it is if the budget is spent. The policy of the table decides what is kept.
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

    /// Returns the same as [`Linker::query`], where the reason of a cut is a part of the answer.
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
                    self.frames.meet(*depth);
                    return guess.clone().unwrap_or_else(|| cut(Cut::Cycle));
                }
                Open::Provisional { answer, rests } => match self.frames.holds(*rests) {
                    Holds::ForEver => {
                        table.store.borrow_mut().keep(key, answer.clone());
                        return answer.clone();
                    }
                    Holds::InThisRound => return answer.clone(),
                    Holds::AsGuess => guess = Some(answer.clone()),
                    Holds::NoMore => {}
                },
            }
        }
        if P::SPENDS && !(self.budget.spend() && self.frames.may_nest()) {
            self.frames.meet_bound();
            return cut(Cut::Bound);
        }
        self.run(table, key, guess, cut, compute)
    }

    /// Computes an answer in rounds, until the answers of all queries that rest on it are those of the round before.
    fn run<K, V, P, S>(
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
            let was_met = self.frames.was_met(&frame);
            let changed = was_met && P::KEEP != Keep::Never && {
                match &guess {
                    Some(guess) => !P::are_equal(guess, &answer),
                    None => !P::are_equal(&cut(Cut::Cycle), &answer),
                }
            };
            let ended = self.frames.end_round(&frame, changed, round == MOST_ROUNDS);
            let keeps = P::KEEP != Keep::Never && P::is_final(&answer);
            match ended {
                Ended::Again => {
                    guess = Some(answer);
                    continue;
                }
                Ended::Rests(rests) if keeps => {
                    table.open.borrow_mut().insert(key, Open::Provisional { answer: answer.clone(), rests });
                }
                Ended::Whole | Ended::Rests(_) => {
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

    /// Returns the answer of a query for a value. A value that depends on itself alone is unknown.
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
        if answer.value == ValueId::NEVER && !self.frames.rests() { self.unknown(Why::Cycle) } else { answer }
    }
}
