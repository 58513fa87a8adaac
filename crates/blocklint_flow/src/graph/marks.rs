//! Marks of edges: the signals that applied to a label on its way to the callers. `blocklint why`, JSON and SARIF
//! output read them, and other runs record none. The signals themselves are in `judge/`.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Identifies one question of one signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId {
    /// The index of the signal in `SIGNALS`.
    pub signal: u8,
    /// The index of the question among those of the signal.
    pub question_index: u8,
}

/// One decision about a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// A signal answered "yes".
    Applied(QuestionId),
    /// A signal answered "yes" about a condition. It applies only if no caller decides the condition.
    IfUndecided(QuestionId),
    /// No caller decided the open condition.
    Undecided,
}

/// Identifies a list of marks in [`MarkLists`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Marks(u16);

/// The lists of marks of all edges. Each list is stored once, because many edges share few lists.
#[derive(Debug, Default)]
pub struct MarkLists {
    lists: Vec<SmallVec<[Mark; 2]>>,
    numbers: FxHashMap<SmallVec<[Mark; 2]>, Marks>,
}

impl MarkLists {
    /// Returns the marks of a list, in the order in which they were made.
    pub fn marks(&self, marks: Marks) -> &[Mark] {
        let index = usize::from(marks.0).checked_sub(1);
        index.and_then(|index| self.lists.get(index)).map_or(&[], SmallVec::as_slice)
    }

    /// Returns the list with one mark appended. Returns the old list if the table is full.
    pub(crate) fn append(&mut self, marks: Marks, mark: Mark) -> Marks {
        let mut marks_and_new = SmallVec::from_slice(self.marks(marks));
        marks_and_new.push(mark);
        if let Some(&known) = self.numbers.get(&marks_and_new) {
            return known;
        }
        let Ok(number) = u16::try_from(self.lists.len() + 1) else { return marks };
        self.lists.push(marks_and_new.clone());
        self.numbers.insert(marks_and_new, Marks(number));
        Marks(number)
    }
}
