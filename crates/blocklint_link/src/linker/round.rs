//! Rounds: questions of one kind that follow something to others of their kind, up to the one that was asked first.
//!
//! An answer that is found on the way may rest on one that is still being followed. It is good enough for the question that was asked
//! first, and without it that question would follow the same thing once for each path that leads there. Later questions do not get it.

use std::cell::{Cell, RefCell};
use std::hash::Hash;
use std::marker::PhantomData;

use rustc_hash::FxHashMap;

/// The answers that a table keeps for later questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// All.
    Always,
    /// Those that used no answer that was found on the way, and that of the question that was asked first.
    IfWholeOrOutermost,
    /// That of the question that was asked first.
    IfOutermost,
    /// None.
    Never,
}

/// The way in which a table of rounds treats answers of type `V`.
pub trait RoundPolicy<V> {
    /// The answers that it keeps.
    const KEEP: Keep;

    /// True unless the answer itself says that it is incomplete.
    fn is_final(_answer: &V) -> bool {
        true
    }
}

/// All answers are kept.
#[derive(Clone, Copy, Debug)]
pub struct Always;

impl<V> RoundPolicy<V> for Always {
    const KEEP: Keep = Keep::Always;
}

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
        P: RoundPolicy<V>,
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
        P: RoundPolicy<V>,
    {
        let depth = self.depth.get() - 1;
        self.depth.set(depth);
        let is_first = depth == 0;
        let keeps = match P::KEEP {
            Keep::Always => true,
            Keep::IfWholeOrOutermost => is_first || self.uses.get() == begun.uses,
            Keep::IfOutermost => is_first,
            Keep::Never => false,
        };
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
        P: RoundPolicy<V>,
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

impl<V> RoundPolicy<V> for First {
    const KEEP: Keep = Keep::IfOutermost;
}

/// Answers are good for the question that is asked first, and no longer.
#[derive(Clone, Copy, Debug)]
pub struct OnlyOnTheWay;

impl<V> RoundPolicy<V> for OnlyOnTheWay {
    const KEEP: Keep = Keep::Never;
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
