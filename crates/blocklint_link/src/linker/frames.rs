//! The queries that are running, and the answers that rest on them.
//!
//! Queries that ask for each other form a component. The first of them that is asked is its head, as in the algorithm of Tarjan: the answers of the
//! others are provisional until the head has its own. The head is computed in rounds. In each round, a query that runs already gives its answer of
//! the round before. The rounds end when all these answers are equal to the new ones.

use std::cell::{Cell, RefCell};

/// The most queries that wait for each other.
const DEEPEST: usize = 3000;

/// No running query.
const NONE: u32 = u32::MAX;

/// The time at which a provisional answer was found, and the place of the outermost running query that it rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rests {
    time: u32,
    lowest: u32,
}

/// The state of a provisional answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// The head of its component has its own answer.
    ForEver,
    /// It was found in the round at hand.
    InThisRound,
    /// It was found in a round before.
    AsGuess,
    /// The query that it rested on has ended otherwise.
    NoMore,
}

/// The end of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Another round is needed.
    Again,
    /// The answer rests on no running query.
    Whole,
    /// The answer rests on a running query.
    Rests(Rests),
}

#[derive(Debug)]
struct Running {
    /// The time at which it began.
    begun: u32,
    /// The time at which its round began.
    round: u32,
    /// True if it was met in this round.
    is_met: bool,
}

/// A query that runs.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Its place among the running queries.
    pub(crate) depth: u32,
    outer_lowest: u32,
    outer_changed: bool,
    outer_bounded: bool,
    outer_base: u32,
}

/// The queries that are running.
#[derive(Debug)]
pub(crate) struct Frames {
    running: RefCell<Vec<Running>>,
    now: Cell<u32>,
    /// The outermost running query that the innermost one has met, itself or through others.
    lowest: Cell<u32>,
    /// True if a query that the innermost one has asked, or it itself, gave another answer than the round before.
    changed: Cell<bool>,
    /// The outermost running query that spends steps.
    base: Cell<u32>,
    /// True if a bound was met by a query that the innermost one has asked, or by itself.
    is_bounded: Cell<bool>,
    /// Times within which provisional answers have become whole, in ascending order.
    whole: RefCell<Vec<(u32, u32)>>,
}

impl Default for Frames {
    fn default() -> Self {
        Frames {
            running: RefCell::default(),
            now: Cell::new(0),
            lowest: Cell::new(NONE),
            changed: Cell::new(false),
            base: Cell::new(NONE),
            is_bounded: Cell::new(false),
            whole: RefCell::default(),
        }
    }
}

impl Frames {
    fn tick(&self) -> u32 {
        let now = self.now.get() + 1;
        self.now.set(now);
        now
    }

    /// True if one more query may wait.
    #[inline]
    pub(crate) fn may_nest(&self) -> bool {
        self.running.borrow().len() < DEEPEST
    }

    /// True if the innermost query rests on a running one, as far as it has come.
    #[inline]
    pub(crate) fn rests(&self) -> bool {
        self.lowest.get() != NONE
    }

    /// Notes that the innermost query rests on the running one at a depth.
    #[inline]
    pub(crate) fn meet(&self, depth: u32) {
        self.running.borrow_mut()[depth as usize].is_met = true;
        self.lowest.set(self.lowest.get().min(depth));
    }

    /// Notes that a query could not be asked. The answers up to the question that the budget belongs to are not kept.
    pub(crate) fn meet_bound(&self) {
        if self.base.get() != NONE {
            self.is_bounded.set(true);
            self.lowest.set(self.lowest.get().min(self.base.get()));
        }
    }

    /// Returns the state of a provisional answer, which the innermost query then rests on.
    pub(crate) fn holds(&self, rests: Rests) -> Holds {
        let Rests { time, lowest } = rests;
        let whole = self.whole.borrow();
        let at = whole.partition_point(|(from, _)| *from <= time);
        if at > 0 && whole[at - 1].1 >= time {
            return Holds::ForEver;
        }
        match self.running.borrow().get(lowest as usize) {
            Some(head) if head.round <= time => {
                self.lowest.set(self.lowest.get().min(lowest));
                Holds::InThisRound
            }
            Some(head) if head.begun <= time => Holds::AsGuess,
            _ => Holds::NoMore,
        }
    }

    /// Begins a query. `is_base` is true for the outermost one that spends steps.
    #[inline]
    pub(crate) fn begin(&self, is_base: bool) -> Frame {
        let now = self.tick();
        let mut running = self.running.borrow_mut();
        let depth = running.len() as u32;
        running.push(Running { begun: now, round: now, is_met: false });
        Frame {
            depth,
            outer_lowest: self.lowest.replace(NONE),
            outer_changed: self.changed.replace(false),
            outer_bounded: self.is_bounded.replace(false),
            outer_base: if is_base { self.base.replace(depth) } else { self.base.get() },
        }
    }

    /// True if another query met this one in its round.
    #[inline]
    pub(crate) fn was_met(&self, frame: &Frame) -> bool {
        self.running.borrow()[frame.depth as usize].is_met
    }

    /// Ends a round of the innermost query. `changed` says that others met it and got another answer than it has now.
    #[inline]
    pub(crate) fn end_round(&self, frame: &Frame, changed: bool, is_last: bool) -> Ended {
        let (lowest, depth) = (self.lowest.get(), frame.depth);
        let changed = self.changed.get() || changed;
        let is_bounded = self.is_bounded.get();
        if lowest == depth && changed && !is_bounded && !is_last {
            let now = self.tick();
            let mut running = self.running.borrow_mut();
            let own = &mut running[depth as usize];
            own.round = now;
            own.is_met = false;
            self.lowest.set(NONE);
            self.changed.set(false);
            return Ended::Again;
        }
        let own = self.running.borrow_mut().pop();
        if self.base.get() == depth {
            self.base.set(frame.outer_base);
            self.is_bounded.set(frame.outer_bounded);
        } else {
            self.is_bounded.set(is_bounded || frame.outer_bounded);
        }
        if lowest < depth {
            self.lowest.set(lowest.min(frame.outer_lowest));
            self.changed.set(changed || frame.outer_changed);
            return Ended::Rests(Rests { time: self.tick(), lowest });
        }
        self.lowest.set(frame.outer_lowest);
        self.changed.set(frame.outer_changed);
        if lowest == depth
            && !is_bounded
            && let Some(own) = own
        {
            let mut whole = self.whole.borrow_mut();
            while whole.last().is_some_and(|(from, _)| *from >= own.round) {
                whole.pop();
            }
            whole.push((own.round, self.now.get()));
        }
        Ended::Whole
    }
}
