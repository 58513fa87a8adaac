//! The query kernel: how answers are remembered, and how a query ends that comes round to itself.
//!
//! A [`Table`] holds the answers to one kind of question. [`Linker::query`] is the only way to fill it. The [`Policy`]
//! of a table is a type, so that the declaration of a table shows how it treats answers that may be incomplete.

use std::cell::RefCell;
use std::collections::hash_map::Entry as MapEntry;
use std::hash::Hash;
use std::marker::PhantomData;

use rustc_hash::FxHashMap;

use crate::linker::{Linker, Typed};
use crate::values::value::Why;

/// The answers that a table keeps for later questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// All.
    Always,
    /// Those for which no query was cut meanwhile.
    IfWhole,
    /// These, and all answers of a query that no other query asked for: it met every cycle from its own start.
    IfWholeOrOutermost,
    /// Those of a query that no other query asked for.
    IfOutermost,
    /// None: the table only notices queries that come round to themselves.
    Never,
}

impl Keep {
    /// True if an answer is kept, given whether it is whole and whether its query is the outermost.
    #[inline]
    pub(crate) fn keeps(self, is_whole: bool, is_outermost: bool) -> bool {
        match self {
            Keep::Always => true,
            Keep::IfWhole => is_whole,
            Keep::IfWholeOrOutermost => is_whole || is_outermost,
            Keep::IfOutermost => is_outermost,
            Keep::Never => false,
        }
    }
}

/// The end of a query that comes round to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InCycle {
    /// The query returns the value of a cut. Answers that rest on it are not whole.
    IsCut,
    /// The query returns the value of a cut, and the answers that rest on it count as whole.
    GivesCutValue,
    /// It is computed once more: only a query further in ends the cycle. The table does not mark running queries.
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

    /// True unless the answer itself is marked as incomplete.
    fn is_final(_answer: &V) -> bool {
        true
    }
}

/// A query of the recursion over values, calls and classes: it spends a step, and a cycle is a cut.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step;

impl<V> Policy<V> for Step {
    const KEEP: Keep = Keep::IfWholeOrOutermost;
    const IN_CYCLE: InCycle = InCycle::IsCut;
    const SPENDS: bool = true;
}

/// A step whose answer depends on more than its key.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnkeptStep;

impl<V> Policy<V> for UnkeptStep {
    const KEEP: Keep = Keep::Never;
    const IN_CYCLE: InCycle = InCycle::IsCut;
    const SPENDS: bool = true;
}

/// A list of the whole program, kept if nothing in it was cut.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whole;

impl<V> Policy<V> for Whole {
    const KEEP: Keep = Keep::IfWhole;
    const IN_CYCLE: InCycle = InCycle::Recurs;
    const SPENDS: bool = false;
}

/// An answer that is kept, whatever was cut meanwhile.
#[derive(Clone, Copy, Debug, Default)]
pub struct Always;

impl<V> Policy<V> for Always {
    const KEEP: Keep = Keep::Always;
    const IN_CYCLE: InCycle = InCycle::Recurs;
    const SPENDS: bool = false;
}

/// An answer that is kept, and empty while it is being looked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmptyMeanwhile;

impl<V> Policy<V> for EmptyMeanwhile {
    const KEEP: Keep = Keep::Always;
    const IN_CYCLE: InCycle = InCycle::GivesCutValue;
    const SPENDS: bool = false;
}

/// An answer that is not kept, and empty while it is being looked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnkeptEmptyMeanwhile;

impl<V> Policy<V> for UnkeptEmptyMeanwhile {
    const KEEP: Keep = Keep::Never;
    const IN_CYCLE: InCycle = InCycle::GivesCutValue;
    const SPENDS: bool = false;
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

/// The state of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry<V> {
    /// It is being computed.
    Running,
    /// Its answer.
    Known(V),
}

/// The answer to an attempt to begin a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryStart<V> {
    /// The answer is known.
    Known(V),
    /// It is being computed already.
    Running,
    /// It may not begin.
    Refused,
    /// It begins.
    Started,
}

/// The place where a table keeps its entries.
pub trait Store<K, V> {
    /// Begins a query unless it is known or running. `marks` notes that it runs from now on.
    fn begin(&mut self, key: &K, marks: bool, may_start: impl FnOnce() -> bool) -> QueryStart<V>;

    /// Keeps an answer.
    fn keep(&mut self, key: K, answer: V);

    /// Forgets that a query runs.
    fn forget(&mut self, key: &K);
}

/// The entries of a table by their keys.
pub type ByKey<K, V> = FxHashMap<K, Entry<V>>;

impl<K: Clone + Eq + Hash, V: Clone> Store<K, V> for ByKey<K, V> {
    #[inline]
    fn begin(&mut self, key: &K, marks: bool, may_start: impl FnOnce() -> bool) -> QueryStart<V> {
        match self.entry(key.clone()) {
            MapEntry::Occupied(entry) => match entry.get() {
                Entry::Known(answer) => QueryStart::Known(answer.clone()),
                Entry::Running => QueryStart::Running,
            },
            MapEntry::Vacant(_) if !may_start() => QueryStart::Refused,
            MapEntry::Vacant(entry) => {
                if marks {
                    entry.insert(Entry::Running);
                }
                QueryStart::Started
            }
        }
    }

    #[inline]
    fn keep(&mut self, key: K, answer: V) {
        self.insert(key, Entry::Known(answer));
    }

    #[inline]
    fn forget(&mut self, key: &K) {
        self.remove(key);
    }
}

/// The answers to one kind of question, by its key.
#[derive(Debug)]
pub struct Table<K, V, P, S = ByKey<K, V>> {
    store: RefCell<S>,
    policy: PhantomData<(K, V, P)>,
}

impl<K, V, P, S: Default> Default for Table<K, V, P, S> {
    fn default() -> Self {
        Table::of(S::default())
    }
}

impl<K, V, P, S> Table<K, V, P, S> {
    /// Returns a table that keeps its entries in this store.
    pub fn of(store: S) -> Self {
        Table { store: RefCell::new(store), policy: PhantomData }
    }
}

impl Linker<'_> {
    /// Returns the answer for a key: the one that the table keeps, else the result of `compute`. If the query runs
    /// already, or its budget is spent, the answer is the result of `cut`. The policy of the table decides what is
    /// kept.
    #[inline]
    pub fn query<K, V, P, S>(
        &self,
        table: &Table<K, V, P, S>,
        key: K,
        cut: impl FnOnce() -> V,
        compute: impl FnOnce() -> V,
    ) -> V
    where
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
        cut: impl FnOnce(Cut) -> V,
        compute: impl FnOnce() -> V,
    ) -> V
    where
        V: Clone,
        P: Policy<V>,
        S: Store<K, V>,
    {
        let marks = P::IN_CYCLE != InCycle::Recurs;
        let may_start = || !P::SPENDS || self.budget.spend();
        match table.store.borrow_mut().begin(&key, marks, may_start) {
            QueryStart::Known(answer) => return answer,
            QueryStart::Running if P::IN_CYCLE == InCycle::GivesCutValue => return cut(Cut::Cycle),
            QueryStart::Running => return cut(self.budget.meet_cycle()),
            QueryStart::Refused => return cut(Cut::Bound),
            QueryStart::Started => {}
        }
        let before = self.budget.cuts();
        let answer = if P::SPENDS {
            self.check_cancelled();
            self.budget.nest(compute)
        } else {
            compute()
        };
        let keeps = P::KEEP.keeps(self.budget.cuts() == before, self.budget.is_outermost());
        let mut store = table.store.borrow_mut();
        if keeps && P::is_final(&answer) {
            store.keep(key, answer.clone());
        } else if marks {
            store.forget(&key);
        }
        answer
    }

    /// Returns the answer of a query for a value, which is unknown where it was cut.
    #[inline]
    pub(crate) fn query_value<K, P, S>(
        &self,
        table: &Table<K, Typed, P, S>,
        key: K,
        compute: impl FnOnce() -> Typed,
    ) -> Typed
    where
        P: Policy<Typed>,
        S: Store<K, Typed>,
    {
        self.query_or_cut(table, key, |cut| self.unknown(cut.into()), compute)
    }
}
