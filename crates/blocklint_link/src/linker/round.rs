//! Rounds: memo tables for recursive questions above the linker, such as "which callers reach this body".
//!
//! The outermost question and the questions that it asks recursively are one round. The answer to an inner question may
//! depend on a question that is still open. Such an answer is used until the round ends, so that the round visits each
//! key once and not once for each path to it. Later rounds do not get it. Queries of the linker itself use `query.rs`.

use std::cell::{Cell, RefCell};
use std::hash::Hash;
use std::marker::PhantomData;

use rustc_hash::FxHashMap;

/// The answers that a table keeps for later questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// All.
    Always,
    /// Those that used no answer of an inner question, and the answer to the outermost question.
    IfCompleteOrOutermost,
    /// The answer to the outermost question.
    IfOutermost,
    /// None.
    Never,
}

/// The policy by which a table of rounds treats answers of type `V`.
pub trait RoundPolicy<V> {
    /// The answers that the table keeps.
    const KEEP: Keep;

    /// True unless the answer itself says that it is incomplete.
    fn is_final(_answer: &V) -> bool {
        true
    }
}

/// The policy that keeps all answers.
#[derive(Clone, Copy, Debug)]
pub struct Always;

impl<V> RoundPolicy<V> for Always {
    const KEEP: Keep = Keep::Always;
}

/// The outermost question and the questions that it asks recursively.
#[derive(Debug)]
pub struct Round {
    /// The number of the current round.
    number: Cell<u32>,
    /// The number of open questions.
    depth: Cell<u32>,
    max_depth: u32,
    /// The number of times that an answer to an inner question was used.
    uses: Cell<u32>,
}

impl Default for Round {
    fn default() -> Self {
        Round::with_max_depth(u32::MAX)
    }
}

impl Round {
    /// Returns a round in which at most this many questions are open at a time.
    pub fn with_max_depth(max_depth: u32) -> Self {
        Round { number: Cell::new(0), depth: Cell::new(0), max_depth, uses: Cell::new(0) }
    }

    /// Opens a question; [`Round::end`] closes it with its answer. Returns the answer as an error if it is known, and
    /// the result of `cut` if the question is open already or too many questions are open.
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
            Some(Entry::ThisRound(number, answer)) if *number == self.number.get() => {
                self.uses.set(self.uses.get() + 1);
                return Err(answer.clone());
            }
            Some(Entry::Running) => return Err(cut()),
            Some(Entry::ThisRound(..)) | None => {}
        }
        if self.depth.get() >= self.max_depth {
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

    /// Closes a question with its answer, and returns the answer.
    pub fn end<K, V, P>(&self, table: &RoundTable<K, V, P>, key: K, question: OpenQuestion, answer: V) -> V
    where
        K: Clone + Eq + Hash,
        V: Clone,
        P: RoundPolicy<V>,
    {
        let depth = self.depth.get() - 1;
        self.depth.set(depth);
        let is_outermost = depth == 0;
        let keeps = match P::KEEP {
            Keep::Always => true,
            Keep::IfCompleteOrOutermost => is_outermost || self.uses.get() == question.uses,
            Keep::IfOutermost => is_outermost,
            Keep::Never => false,
        };
        let mut entries = table.entries.borrow_mut();
        if keeps && P::is_final(&answer) {
            entries.insert(key, Entry::Known(answer.clone()));
        } else if is_outermost {
            entries.remove(&key);
        } else {
            entries.insert(key, Entry::ThisRound(self.number.get(), answer.clone()));
        }
        if is_outermost {
            self.number.set(self.number.get().wrapping_add(1));
        }
        answer
    }

    /// Returns the answer to a question of this round: the stored answer, or the result of `compute`. The
    /// answer is the result of `cut` if the question is open already or too many questions are open.
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
            Ok(question) => self.end(table, key, question, compute()),
            Err(answer) => answer,
        }
    }
}

/// The policy that keeps the answer to the outermost question only.
#[derive(Clone, Copy, Debug)]
pub struct First;

impl<V> RoundPolicy<V> for First {
    const KEEP: Keep = Keep::IfOutermost;
}

/// The policy that keeps answers until the round ends.
#[derive(Clone, Copy, Debug)]
pub struct RoundOnly;

impl<V> RoundPolicy<V> for RoundOnly {
    const KEEP: Keep = Keep::Never;
}

/// A question without an answer yet.
#[derive(Debug)]
#[must_use]
pub struct OpenQuestion {
    uses: u32,
}

#[derive(Debug)]
enum Entry<V> {
    /// The question is open.
    Running,
    /// The answer is valid in the round with this number.
    ThisRound(u32, V),
    /// The answer is valid in all rounds.
    Known(V),
}

/// The answers to questions of rounds, by key.
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
