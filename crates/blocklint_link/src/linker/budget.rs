//! The budget of a question.

use std::cell::Cell;

/// Steps of one question from outside of the linker: lookups of variables, attributes and results.
/// A value that goes round through a field and the methods that fill it takes some hundreds where a class has many relatives.
const FUEL: u32 = 60_000;

/// The steps that are left, and the queries that wait for each other.
#[derive(Debug)]
pub(crate) struct Budget {
    fuel: Cell<u32>,
    /// How many queries are running that spend steps.
    running: Cell<u32>,
    /// True while a list of the whole program is being made, which the question that asks first does not pay for.
    is_global: Cell<bool>,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { fuel: Cell::new(FUEL), running: Cell::new(0), is_global: Cell::new(false) }
    }
}

impl Budget {
    /// Spends a step for a query that begins. False if none is left, which is a cut.
    #[inline]
    pub(crate) fn spend(&self) -> bool {
        self.refuel_outermost();
        let left = self.fuel.get().checked_sub(1);
        self.fuel.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Computes an answer that others wait for.
    #[inline]
    pub(crate) fn nest<T>(&self, compute: impl FnOnce() -> T) -> T {
        self.running.set(self.running.get() + 1);
        let answer = compute();
        self.running.set(self.running.get() - 1);
        answer
    }

    /// True if no query waits for the one that has just ended.
    #[inline]
    pub(crate) fn is_outermost(&self) -> bool {
        self.running.get() == 0
    }

    /// Makes a list of the whole program without spending the budget of the question that asks first. `compute` is given a function that
    /// grants the full budget for one more entry of the list; within another such list it grants nothing.
    pub(crate) fn global<T>(&self, compute: impl FnOnce(&dyn Fn()) -> T) -> T {
        if self.is_global.replace(true) {
            return compute(&|| {});
        }
        let left = self.fuel.get();
        let made = compute(&|| self.fuel.set(FUEL));
        self.fuel.set(left);
        self.is_global.set(false);
        made
    }

    #[inline]
    fn refuel_outermost(&self) {
        if self.is_outermost() {
            self.fuel.set(FUEL);
        }
    }
}

/// A bound of questions of one kind that wait for each other.
#[derive(Debug, Default)]
pub(crate) struct Depth<const MOST: u32>(Cell<u32>);

impl<const MOST: u32> Depth<MOST> {
    /// Computes an answer within those that wait for it; `None` if too many do.
    pub(crate) fn nest<T>(&self, compute: impl FnOnce() -> T) -> Option<T> {
        let outer = self.0.get();
        if outer == MOST {
            return None;
        }
        self.0.set(outer + 1);
        let answer = compute();
        self.0.set(outer);
        Some(answer)
    }
}
