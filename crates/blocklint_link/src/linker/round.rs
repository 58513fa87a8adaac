//! Rounds: questions of one kind that follow something to others of their kind, up to the one that was asked first.
//!
//! An answer that is found on the way may rest on one that is still being followed. It is good enough for the question that was asked
//! first, and without it that question would follow the same thing once for each path that leads there. Later questions do not get it.

use std::cell::{Cell, RefCell};
use std::hash::Hash;
use std::marker::PhantomData;

use rustc_hash::FxHashMap;

use crate::linker::query::{InCycle, Keep, Policy};

/// The question that was asked first, and those that it waits for.
#[derive(Debug)]
pub struct Round {
    /// The number of the question that was asked first.
    number: Cell<u32>,
    depth: Cell<u32>,
    deepest: u32,
    /// How often answers that were found on the way were used.
    uses: Cell<u32>,
}

impl Default for Round {
    fn default() -> Self {
        Round::to_depth(u32::MAX)
    }
}

impl Round {
    /// Returns a round in which at most this many questions wait for each other.
    pub fn to_depth(deepest: u32) -> Self {
        Round { number: Cell::new(0), depth: Cell::new(0), deepest, uses: Cell::new(0) }
    }

    /// Begins a question; then [`Round::end`] takes its answer. Returns the answer if it is known, and the result of
    /// `cut` if the question is being asked already or too many wait.
    pub fn begin<K, V, P>(
        &self,
        table: &RoundTable<K, V, P>,
        key: &K,
        cut: impl FnOnce() -> V,
    ) -> Result<OpenQuestion, V>
    where
        K: Clone + Eq + Hash,
        V: Clone,
        P: Policy<V>,
    {
        let mut entries = table.entries.borrow_mut();
        match entries.get(key) {
            Some(Entry::Known(answer)) => return Err(answer.clone()),
            Some(Entry::OnTheWay(number, answer)) if *number == self.number.get() => {
                self.uses.set(self.uses.get() + 1);
                return Err(answer.clone());
            }
            Some(Entry::Running) => return Err(cut()),
            Some(Entry::OnTheWay(..)) | None => {}
        }
        if self.depth.get() >= self.deepest {
            let answer = cut();
            if P::KEEP == Keep::Always {
                entries.insert(key.clone(), Entry::Known(answer.clone()));
            }
            return Err(answer);
        }
        entries.insert(key.clone(), Entry::Running);
        self.depth.set(self.depth.get() + 1);
        Ok(OpenQuestion { uses: self.uses.get() })
    }

    /// Ends a question with its answer, which it returns.
    pub fn end<K, V, P>(&self, table: &RoundTable<K, V, P>, key: K, begun: OpenQuestion, answer: V) -> V
    where
        K: Clone + Eq + Hash,
        V: Clone,
        P: Policy<V>,
    {
        let depth = self.depth.get() - 1;
        self.depth.set(depth);
        let is_first = depth == 0;
        let keeps = P::KEEP.keeps(self.uses.get() == begun.uses, is_first);
        let mut entries = table.entries.borrow_mut();
        if keeps && P::is_final(&answer) {
            entries.insert(key, Entry::Known(answer.clone()));
        } else if is_first {
            entries.remove(&key);
        } else {
            entries.insert(key, Entry::OnTheWay(self.number.get(), answer.clone()));
        }
        if is_first {
            self.number.set(self.number.get().wrapping_add(1));
        }
        answer
    }

    /// Returns the answer to a question of this round: the one that the table keeps, or the result of `compute`. The
    /// answer is the result of `cut` if the question is being asked already, or if too many wait.
    pub fn query<K, V, P>(
        &self,
        table: &RoundTable<K, V, P>,
        key: K,
        cut: impl FnOnce() -> V,
        compute: impl FnOnce() -> V,
    ) -> V
    where
        K: Clone + Eq + Hash,
        V: Clone,
        P: Policy<V>,
    {
        match self.begin(table, &key, cut) {
            Ok(begun) => self.end(table, key, begun, compute()),
            Err(answer) => answer,
        }
    }
}

/// The answer to the question that is asked first, and only that, is kept.
#[derive(Clone, Copy, Debug)]
pub struct First;

impl<V> Policy<V> for First {
    const KEEP: Keep = Keep::IfOutermost;
    const IN_CYCLE: InCycle = InCycle::GivesCutValue;
    const SPENDS: bool = false;
}

/// Answers are good for the question that is asked first, and no longer.
#[derive(Clone, Copy, Debug)]
pub struct OnlyOnTheWay;

impl<V> Policy<V> for OnlyOnTheWay {
    const KEEP: Keep = Keep::Never;
    const IN_CYCLE: InCycle = InCycle::GivesCutValue;
    const SPENDS: bool = false;
}

/// A question that has begun.
#[derive(Debug)]
#[must_use]
pub struct OpenQuestion {
    uses: u32,
}

#[derive(Debug)]
enum Entry<V> {
    /// It is being asked.
    Running,
    /// The answer for the question with this number.
    OnTheWay(u32, V),
    /// The answer for all.
    Known(V),
}

/// The answers to questions of a round, by their keys.
#[derive(Debug)]
pub struct RoundTable<K, V, P> {
    entries: RefCell<FxHashMap<K, Entry<V>>>,
    policy: PhantomData<P>,
}

impl<K, V, P> Default for RoundTable<K, V, P> {
    fn default() -> Self {
        RoundTable { entries: RefCell::default(), policy: PhantomData }
    }
}
