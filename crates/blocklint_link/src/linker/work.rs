//! Units of work: the parts of a run that are left out when they panic or take too long, and the watchdog that ends
//! slow units.

use std::cell::{Cell, OnceCell};
use std::time::{Duration, Instant};

use blocklint_core::RuleCode;
use rustc_hash::FxHashSet;

use crate::linker::Linker;
use crate::program::ids::{BodyRef, SiteRef};

/// A part of a run that can be left out while all other parts are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkUnit {
    /// A function: its calls, the labels that pass through it, and its findings.
    Body(BodyRef),
    /// A rule that looks for its mistakes without a path to a blocking call.
    Rule(RuleCode),
    /// A step that refines the result, by its name.
    Step(&'static str),
}

/// The payload of the panic that ends a unit which took too long.
#[derive(Clone, Copy, Debug)]
pub struct TookTooLong;

/// A failure that tests inject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The end of the qualified name of the function whose unit fails.
    pub function: &'static str,
    /// True if the unit never ends; otherwise it panics.
    pub stalls: bool,
}

/// The treatment of units that fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Containment {
    /// The time after which a function is left out.
    pub patience: Duration,
    /// A failure that a test injects.
    pub fault: Option<Fault>,
}

impl Default for Containment {
    fn default() -> Self {
        Containment { patience: Duration::from_secs(10), fault: None }
    }
}

/// The factor by which a unit that searches the whole program may take longer than a function.
const WHOLE_PROGRAM_FACTOR: u32 = 6;

/// Steps between two checks of the clock, which is a check every few milliseconds.
const STEPS_PER_CLOCK_CHECK: u32 = 1 << 14;

/// The longest time between two checks that counts. A longer time means that the process was suspended.
const MAX_PER_CLOCK_CHECK: Duration = Duration::from_millis(500);

/// The current unit, the units that are left out, and the watchdog.
#[derive(Debug)]
pub struct Work {
    unit: Cell<Option<WorkUnit>>,
    /// Counts units as they begin and end. An equal count at two checks of the clock means that the same unit is
    /// running.
    turn: Cell<u32>,
    left_out: OnceCell<FxHashSet<WorkUnit>>,
    fault: OnceCell<Fault>,
    patience: Cell<Option<Duration>>,
    steps: Cell<u32>,
    /// The turn at the last check of the clock, the time of that check, and the time that the turn had taken by then.
    last_check: Cell<Option<(u32, Instant, Duration)>>,
}

impl Default for Work {
    fn default() -> Self {
        Work {
            unit: Cell::new(None),
            turn: Cell::new(0),
            left_out: OnceCell::new(),
            fault: OnceCell::new(),
            patience: Cell::new(None),
            steps: Cell::new(0),
            last_check: Cell::new(None),
        }
    }
}

impl Work {
    /// Counts a step, and ends the current unit if it has taken too long. The cost is an addition, and a check of the
    /// clock every [`STEPS_PER_CLOCK_CHECK`] steps.
    #[inline]
    pub(crate) fn count_step(&self) {
        let steps = self.steps.get().wrapping_add(1);
        self.steps.set(steps);
        if steps.is_multiple_of(STEPS_PER_CLOCK_CHECK) {
            self.check_clock();
        }
    }

    #[cold]
    /// Panics with [`TookTooLong`] if the current unit has taken longer than its limit.
    fn check_clock(&self) {
        let patience = match (self.patience.get(), self.unit.get()) {
            (None, _) | (_, None) => return,
            (Some(patience), Some(WorkUnit::Body(_))) => patience,
            // These units may search the whole program.
            (Some(patience), Some(WorkUnit::Rule(_) | WorkUnit::Step(_))) => patience * WHOLE_PROGRAM_FACTOR,
        };
        let now = Instant::now();
        let turn = self.turn.get();
        let taken = match self.last_check.get() {
            Some((last, time, taken)) if last == turn => taken + now.duration_since(time).min(MAX_PER_CLOCK_CHECK),
            _ => Duration::ZERO,
        };
        self.last_check.set(Some((turn, now, taken)));
        if taken > patience {
            std::panic::resume_unwind(Box::new(TookTooLong));
        }
    }

    fn begin(&self, unit: Option<WorkUnit>) {
        self.turn.set(self.turn.get().wrapping_add(1));
        self.unit.set(unit);
    }
}

/// A guard: its unit is the current one until the guard is dropped; then the unit around it is current again.
#[derive(Debug)]
#[must_use]
pub struct UnitGuard<'w> {
    work: &'w Work,
    outer: Option<WorkUnit>,
}

impl Drop for UnitGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        // After a panic the unit stays the one that failed.
        if !std::thread::panicking() {
            self.work.begin(self.outer);
        }
    }
}

impl Linker<'_> {
    /// Makes a unit the current one until the guard is dropped; `None` if the unit is left out. Units may be nested.
    /// After a panic, [`Linker::unit`] returns the innermost unit that was current.
    #[inline]
    pub fn enter_unit(&self, unit: WorkUnit) -> Option<UnitGuard<'_>> {
        if self.is_left_out(unit) {
            return None;
        }
        let guard = UnitGuard { work: &self.work, outer: self.work.unit.get() };
        self.work.begin(Some(unit));
        if let Some(fault) = self.work.fault.get() {
            self.run_injected_fault(unit, *fault);
        }
        Some(guard)
    }

    /// Returns the result of `work`, which is a part of a unit; `None` if the unit is left out.
    #[inline]
    pub fn attempt<T>(&self, unit: WorkUnit, work: impl FnOnce() -> T) -> Option<T> {
        let _guard = self.enter_unit(unit)?;
        Some(work())
    }

    /// Makes the function around a site the current unit until the guard is dropped; `None` if it is left out.
    #[inline]
    pub fn enter_unit_of_site(&self, site: SiteRef) -> Option<UnitGuard<'_>> {
        self.enter_unit(WorkUnit::Body(self.program.body_of_site(site)))
    }

    /// Returns the result of `work`, which is a part of the function around a site; `None` if that is left out.
    #[inline]
    pub fn attempt_site<T>(&self, site: SiteRef, work: impl FnOnce() -> T) -> Option<T> {
        self.attempt(WorkUnit::Body(self.program.body_of_site(site)), work)
    }

    /// True if a unit is left out of this run.
    #[inline]
    pub fn is_left_out(&self, unit: WorkUnit) -> bool {
        self.work.left_out.get().is_some_and(|left_out| left_out.contains(&unit))
    }

    /// Returns the current unit; after a panic, the unit that panicked.
    pub fn unit(&self) -> Option<WorkUnit> {
        self.work.unit.get()
    }

    /// Leaves units out of this run. Call it before the run begins; only the first call has an effect.
    pub fn leave_out(&self, units: FxHashSet<WorkUnit>) {
        let _ = self.work.left_out.set(units);
    }

    /// Starts the watchdog, which ends each unit that takes longer than this, by a panic that carries [`TookTooLong`]
    /// and calls no panic hook.
    pub fn watch_units(&self, patience: Duration) {
        self.work.patience.set(Some(patience));
    }

    /// Makes the units of a function fail, for tests. Only the first call has an effect.
    pub fn inject_fault(&self, fault: Fault) {
        let _ = self.work.fault.set(fault);
    }

    #[cold]
    /// Panics or stalls if the unit is of the function for which a test injected a fault.
    fn run_injected_fault(&self, unit: WorkUnit, fault: Fault) {
        let WorkUnit::Body(body) = unit else { return };
        let name = self.qualified_name(body);
        let is_target =
            name.strip_suffix(fault.function).is_some_and(|rest| rest.is_empty() || rest.ends_with(['.', ':']));
        if !is_target {
            return;
        }
        assert!(fault.stalls, "a fault that a test asked for");
        loop {
            self.check_cancelled();
        }
    }
}
