//! Marks of edges: the signals that spoke while labels climbed, noted where they decided. `blocklint why`, JSON and SARIF read them.
//! Plain data: the signals themselves are in `judge/`, and other runs note nothing.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The number of a question of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskId {
    /// The signal's place in the list of signals.
    pub signal: u8,
    /// The question's place among those of the signal.
    pub nth: u8,
}

/// One thing that was decided about a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// A signal spoke, and that counts.
    Spoke(AskId),
    /// A signal spoke of a condition: that counts if no caller decides it.
    IfUndecided(AskId),
    /// No caller decided the condition that is still open.
    Undecided,
}

/// The number of a list of marks in [`MarkLists`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Marks(u16);

/// The lists of marks that edges have, each once: there are few, and many edges.
#[derive(Debug, Default)]
pub struct MarkLists {
    lists: Vec<SmallVec<[Mark; 2]>>,
    numbers: FxHashMap<SmallVec<[Mark; 2]>, Marks>,
}

impl MarkLists {
    /// Returns the marks of a list, in the order in which they were made.
    pub fn of(&self, marks: Marks) -> &[Mark] {
        let at = usize::from(marks.0).checked_sub(1);
        at.and_then(|at| self.lists.get(at)).map_or(&[], SmallVec::as_slice)
    }

    /// Returns the number of a list with one mark more.
    pub(crate) fn with(&mut self, marks: Marks, mark: Mark) -> Marks {
        let mut list = SmallVec::from_slice(self.of(marks));
        list.push(mark);
        if let Some(&known) = self.numbers.get(&list) {
            return known;
        }
        let Ok(number) = u16::try_from(self.lists.len() + 1) else { return marks };
        self.lists.push(list.clone());
        self.numbers.insert(list, Marks(number));
        Marks(number)
    }
}
