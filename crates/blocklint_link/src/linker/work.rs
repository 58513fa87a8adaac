//! Units of a run: the parts that can be left out when one of them panics or takes too long, and the watchdog that notices the latter.

use std::cell::{Cell, OnceCell};
use std::time::{Duration, Instant};

use blocklint_core::RuleCode;
use rustc_hash::FxHashSet;

use crate::linker::Linker;
use crate::program::ids::{BodyRef, SiteRef};

/// A part of a run that can be left out while all others are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkUnit {
    /// A function: its calls, the labels that go through it, and its findings.
    Body(BodyRef),
    /// A rule that looks for its mistakes without a path to a blocking call.
    Rule(RuleCode),
    /// A step that refines the result, by its name.
    Step(&'static str),
}

/// The payload of the panic that ends a unit which took too long.
#[derive(Clone, Copy, Debug)]
pub struct TookTooLong;

/// A failure that tests ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The end of the qualified name of the function whose unit fails.
    pub function: &'static str,
    /// True if the unit never ends; otherwise it panics.
    pub stalls: bool,
}

/// The way in which a run treats units that fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Containment {
    /// How long one function may take before it is left out.
    pub patience: Duration,
    /// A failure that a test asks for.
    pub fault: Option<Fault>,
}

impl Default for Containment {
    fn default() -> Self {
        Containment { patience: Duration::from_secs(10), fault: None }
    }
}

/// How many times longer a unit may take that may go through the whole program.
const FOR_WHOLE_PROGRAM: u32 = 6;

/// Steps between two looks at the clock: a look every few milliseconds.
const STEPS_PER_LOOK: u32 = 1 << 14;

/// The most that counts of the time between two looks. A process that was stopped meanwhile made no steps.
const MOST_PER_LOOK: Duration = Duration::from_millis(500);

/// The unit at hand, the units that are left out, and the watchdog.
#[derive(Debug)]
pub struct Work {
    unit: Cell<Option<WorkUnit>>,
    /// Counts units as they begin and end: equal numbers at two looks mean that one of them goes on.
    turn: Cell<u32>,
    left_out: OnceCell<FxHashSet<WorkUnit>>,
    fault: OnceCell<Fault>,
    patience: Cell<Option<Duration>>,
    steps: Cell<u32>,
    /// The turn at the last look at the clock, when that was, and how long the turn had taken by then.
    last_look: Cell<Option<(u32, Instant, Duration)>>,
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
            last_look: Cell::new(None),
        }
    }
}

impl Work {
    /// Counts a step, and ends the unit at hand if it has taken too long. Costs an addition, and a look at the clock now and then.
    #[inline]
    pub(crate) fn step(&self) {
        let steps = self.steps.get().wrapping_add(1);
        self.steps.set(steps);
        if steps.is_multiple_of(STEPS_PER_LOOK) {
            self.look();
        }
    }

    #[cold]
    fn look(&self) {
        let patience = match (self.patience.get(), self.unit.get()) {
            (None, _) | (_, None) => return,
            (Some(patience), Some(WorkUnit::Body(_))) => patience,
            // It may go through the whole program.
            (Some(patience), Some(WorkUnit::Rule(_) | WorkUnit::Step(_))) => patience * FOR_WHOLE_PROGRAM,
        };
        let now = Instant::now();
        let turn = self.turn.get();
        let taken = match self.last_look.get() {
            Some((last, at, taken)) if last == turn => taken + now.duration_since(at).min(MOST_PER_LOOK),
            _ => Duration::ZERO,
        };
        self.last_look.set(Some((turn, now, taken)));
        if taken > patience {
            std::panic::resume_unwind(Box::new(TookTooLong));
        }
    }

    fn begin(&self, unit: Option<WorkUnit>) {
        self.turn.set(self.turn.get().wrapping_add(1));
        self.unit.set(unit);
    }
}

/// A unit is at hand as long as this lives; then the one around it is again.
#[derive(Debug)]
#[must_use]
pub struct AtHand<'w> {
    work: &'w Work,
    outer: Option<WorkUnit>,
}

impl Drop for AtHand<'_> {
    #[inline]
    fn drop(&mut self) {
        // After a panic the unit stays the one that failed.
        if !std::thread::panicking() {
            self.work.begin(self.outer);
        }
    }
}

impl Linker<'_> {
    /// Takes up a unit, unless that is left out. A unit may be taken up within another one, which then goes on. After a panic
    /// [`Linker::unit`] returns the innermost unit that was at hand.
    #[inline]
    pub fn take_up(&self, unit: WorkUnit) -> Option<AtHand<'_>> {
        if self.is_left_out(unit) {
            return None;
        }
        let at_hand = AtHand { work: &self.work, outer: self.work.unit.get() };
        self.work.begin(Some(unit));
        if let Some(fault) = self.work.fault.get() {
            self.fail_as_asked(unit, *fault);
        }
        Some(at_hand)
    }

    /// Does the work of a unit, unless that is left out.
    #[inline]
    pub fn attempt<T>(&self, unit: WorkUnit, work: impl FnOnce() -> T) -> Option<T> {
        let _at_hand = self.take_up(unit)?;
        Some(work())
    }

    /// Takes up the function that a site stands in, unless that is left out.
    #[inline]
    pub fn take_up_site(&self, site: SiteRef) -> Option<AtHand<'_>> {
        self.take_up(WorkUnit::Body(self.program.body_of_site(site)))
    }

    /// Does the work for a site as a part of the function that it stands in.
    #[inline]
    pub fn attempt_site<T>(&self, site: SiteRef, work: impl FnOnce() -> T) -> Option<T> {
        self.attempt(WorkUnit::Body(self.program.body_of_site(site)), work)
    }

    /// True if a unit is left out of this run.
    #[inline]
    pub fn is_left_out(&self, unit: WorkUnit) -> bool {
        self.work.left_out.get().is_some_and(|left_out| left_out.contains(&unit))
    }

    /// Returns the unit at hand; after a panic, the one that it ended.
    pub fn unit(&self) -> Option<WorkUnit> {
        self.work.unit.get()
    }

    /// Leaves units out of this run. Counts once, before the run begins.
    pub fn leave_out(&self, units: FxHashSet<WorkUnit>) {
        let _ = self.work.left_out.set(units);
    }

    /// Ends a unit that takes longer than this, by a panic that carries [`TookTooLong`] and calls no hook. Without this no unit takes too
    /// long.
    pub fn watch_units(&self, patience: Duration) {
        self.work.patience.set(Some(patience));
    }

    /// Lets the units of a function fail, for tests. Counts once.
    pub fn inject(&self, fault: Fault) {
        let _ = self.work.fault.set(fault);
    }

    #[cold]
    fn fail_as_asked(&self, unit: WorkUnit, fault: Fault) {
        let WorkUnit::Body(body) = unit else { return };
        let name = self.qualified_name(body);
        let is_meant =
            name.strip_suffix(fault.function).is_some_and(|rest| rest.is_empty() || rest.ends_with(['.', ':']));
        if !is_meant {
            return;
        }
        assert!(fault.stalls, "a fault that a test asked for");
        loop {
            self.check_cancelled();
        }
    }
}
