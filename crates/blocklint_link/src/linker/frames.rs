//! The stack of running queries, and fixpoint iteration over queries that depend on each other.
//!
//! Queries that depend on each other form a strongly connected component. As in Tarjan's algorithm, the query of the
//! component that began first is its head, and the answers of the others are provisional until the head has its final
//! answer. The head is computed in rounds. In each round, a query that is running already returns its answer of the
//! round before. The rounds end when all these answers are equal to the new ones.

use std::cell::{Cell, RefCell};

/// The maximal number of running queries.
const MAX_DEPTH: usize = 3000;

/// No running query.
const NONE: u32 = u32::MAX;

/// The dependence of a provisional answer on a running query: the time at which the answer was computed, and the depth
/// of the outermost running query that it depends on (Tarjan's low-link).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependence {
    time: u32,
    lowlink: u32,
}

/// The state of a provisional answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Validity {
    /// The head of its component has a final answer, so this answer is final as well.
    Final,
    /// The answer was computed in the current round of the head.
    ThisRound,
    /// The answer was computed in an earlier round of the head; it is the guess of the next computation.
    Guess,
    /// The running query that the answer depended on has ended without making it final.
    Expired,
}

/// The end of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoundEnd {
    /// Another round is needed.
    Again,
    /// The answer depends on no running query.
    Complete,
    /// The answer depends on a running query.
    Provisional(Dependence),
}

/// The state of a running query.
#[derive(Debug)]
struct Running {
    /// The time at which the query began.
    started: u32,
    /// The time at which its current round began.
    round: u32,
    /// True if another query used its answer of the round before in the current round.
    is_used: bool,
}

/// The stack frame of a running query, with the state of the query around it, which is restored when the query ends.
#[derive(Debug)]
pub(crate) struct Frame {
    /// The index of the query in the stack.
    pub(crate) depth: u32,
    outer_lowlink: u32,
    outer_changed: bool,
    outer_bounded: bool,
    outer_base: u32,
}

/// The stack of running queries.
#[derive(Debug)]
pub(crate) struct Frames {
    running: RefCell<Vec<Running>>,
    now: Cell<u32>,
    /// The outermost running query that the innermost one depends on, itself or through others (Tarjan's low-link).
    lowlink: Cell<u32>,
    /// True if the innermost query, or one that it has computed, returned another answer than in the round before.
    changed: Cell<bool>,
    /// The outermost running query that spends steps.
    base: Cell<u32>,
    /// True if the innermost query, or one that it has computed, was cut because of a bound.
    is_bounded: Cell<bool>,
    /// Periods whose provisional answers have become final, as first and last time, in ascending order.
    complete: RefCell<Vec<(u32, u32)>>,
}

impl Default for Frames {
    fn default() -> Self {
        Frames {
            running: RefCell::default(),
            now: Cell::new(0),
            lowlink: Cell::new(NONE),
            changed: Cell::new(false),
            base: Cell::new(NONE),
            is_bounded: Cell::new(false),
            complete: RefCell::default(),
        }
    }
}

impl Frames {
    fn tick(&self) -> u32 {
        let now = self.now.get() + 1;
        self.now.set(now);
        now
    }

    /// True if one more query may begin.
    #[inline]
    pub(crate) fn may_nest(&self) -> bool {
        self.running.borrow().len() < MAX_DEPTH
    }

    /// True if the innermost query has used the provisional answer of a running one so far.
    #[inline]
    pub(crate) fn is_provisional(&self) -> bool {
        self.lowlink.get() != NONE
    }

    /// Records that the innermost query depends on the running one at a depth.
    #[inline]
    pub(crate) fn note_use(&self, depth: u32) {
        self.running.borrow_mut()[depth as usize].is_used = true;
        self.lowlink.set(self.lowlink.get().min(depth));
    }

    /// Records that a query was cut because of a bound. No answer is kept, from the innermost query to the one that the
    /// budget belongs to.
    pub(crate) fn note_bound(&self) {
        if self.base.get() != NONE {
            self.is_bounded.set(true);
            self.lowlink.set(self.lowlink.get().min(self.base.get()));
        }
    }

    /// Returns the validity of a provisional answer. Records that the innermost query depends on it if it is of the
    /// current round.
    pub(crate) fn validity(&self, dependence: Dependence) -> Validity {
        let Dependence { time, lowlink } = dependence;
        let complete = self.complete.borrow();
        let started_before = complete.partition_point(|(from, _)| *from <= time);
        if started_before > 0 && complete[started_before - 1].1 >= time {
            return Validity::Final;
        }
        match self.running.borrow().get(lowlink as usize) {
            Some(head) if head.round <= time => {
                self.lowlink.set(self.lowlink.get().min(lowlink));
                Validity::ThisRound
            }
            Some(head) if head.started <= time => Validity::Guess,
            _ => Validity::Expired,
        }
    }

    /// Begins a query. `is_base` is true for the outermost query that spends steps.
    #[inline]
    pub(crate) fn begin(&self, is_base: bool) -> Frame {
        let now = self.tick();
        let mut running = self.running.borrow_mut();
        let depth = running.len() as u32;
        running.push(Running { started: now, round: now, is_used: false });
        Frame {
            depth,
            outer_lowlink: self.lowlink.replace(NONE),
            outer_changed: self.changed.replace(false),
            outer_bounded: self.is_bounded.replace(false),
            outer_base: if is_base { self.base.replace(depth) } else { self.base.get() },
        }
    }

    /// True if another query used the provisional answer of this one in its current round.
    #[inline]
    pub(crate) fn was_used(&self, frame: &Frame) -> bool {
        self.running.borrow()[frame.depth as usize].is_used
    }

    /// Ends a round of the innermost query. `changed` says that others used its provisional answer and that its new
    /// answer differs from it.
    #[inline]
    pub(crate) fn end_round(&self, frame: &Frame, changed: bool, is_last: bool) -> RoundEnd {
        let (lowlink, depth) = (self.lowlink.get(), frame.depth);
        let changed = self.changed.get() || changed;
        let is_bounded = self.is_bounded.get();
        if lowlink == depth && changed && !is_bounded && !is_last {
            let now = self.tick();
            let mut running = self.running.borrow_mut();
            let frame = &mut running[depth as usize];
            frame.round = now;
            frame.is_used = false;
            self.lowlink.set(NONE);
            self.changed.set(false);
            return RoundEnd::Again;
        }
        let ended_frame = self.running.borrow_mut().pop();
        if self.base.get() == depth {
            self.base.set(frame.outer_base);
            self.is_bounded.set(frame.outer_bounded);
        } else {
            self.is_bounded.set(is_bounded || frame.outer_bounded);
        }
        if lowlink < depth {
            self.lowlink.set(lowlink.min(frame.outer_lowlink));
            self.changed.set(changed || frame.outer_changed);
            return RoundEnd::Provisional(Dependence { time: self.tick(), lowlink });
        }
        self.lowlink.set(frame.outer_lowlink);
        self.changed.set(frame.outer_changed);
        if lowlink == depth
            && !is_bounded
            && let Some(own) = ended_frame
        {
            let mut complete = self.complete.borrow_mut();
            while complete.last().is_some_and(|(from, _)| *from >= own.round) {
                complete.pop();
            }
            complete.push((own.round, self.now.get()));
        }
        RoundEnd::Complete
    }
}
