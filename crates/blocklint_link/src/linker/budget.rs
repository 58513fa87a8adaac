//! The budget of a query: the number of nested lookups after which the linker stops and the value is unknown.

use std::cell::Cell;

/// Steps of one query from outside of the linker: lookups of variables, attributes and results.
/// A field whose value comes from methods that read the same field takes some hundreds of steps where its class has
/// many bases and subclasses.
const FUEL: u32 = 60_000;

/// The steps that are left, and the queries that wait for each other.
#[derive(Debug)]
pub(crate) struct Budget {
    fuel: Cell<u32>,
    /// The number of running queries that spend steps.
    running: Cell<u32>,
    /// True while a list of the whole program is built. The query that needs the list first does not pay for it.
    is_global: Cell<bool>,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { fuel: Cell::new(FUEL), running: Cell::new(0), is_global: Cell::new(false) }
    }
}

impl Budget {
    /// Spends a step for a query that begins. False if no step is left, which is a cut.
    #[inline]
    pub(crate) fn spend(&self) -> bool {
        self.refuel_outermost();
        let remaining = self.fuel.get().checked_sub(1);
        self.fuel.set(remaining.unwrap_or(0));
        remaining.is_some()
    }

    /// Computes an answer while the queries that need it wait.
    #[inline]
    pub(crate) fn nest<T>(&self, compute: impl FnOnce() -> T) -> T {
        self.running.set(self.running.get() + 1);
        let answer = compute();
        self.running.set(self.running.get() - 1);
        answer
    }

    /// True if no query waits for the query that has just ended.
    #[inline]
    pub(crate) fn is_outermost(&self) -> bool {
        self.running.get() == 0
    }

    /// Builds a list of the whole program without spending the budget of the query that needs it first. `compute` gets
    /// a function that restores the full budget for the next entry of the list. The function does nothing if another
    /// list of the whole program is already being built.
    pub(crate) fn global<T>(&self, compute: impl FnOnce(&dyn Fn()) -> T) -> T {
        if self.is_global.replace(true) {
            return compute(&|| {});
        }
        let outer_fuel = self.fuel.get();
        let names = compute(&|| self.fuel.set(FUEL));
        self.fuel.set(outer_fuel);
        self.is_global.set(false);
        names
    }

    #[inline]
    fn refuel_outermost(&self) {
        if self.is_outermost() {
            self.fuel.set(FUEL);
        }
    }
}

/// A recursion limit: at most `MOST` calls of [`Depth::nest`] may be nested.
#[derive(Debug, Default)]
pub(crate) struct Depth<const MOST: u32>(Cell<u32>);

impl<const MOST: u32> Depth<MOST> {
    /// Returns the result of `compute`; `None` if the recursion limit is reached.
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
