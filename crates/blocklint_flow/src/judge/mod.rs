//! Severity and confidence of findings: the signals that make a finding less bad, less sure or worse, each under its name, and the
//! [`Judge`] that asks them. Not here: which paths are possible (`guards/`), and who runs a body and when (`callers/`, `lifecycle/`).

pub mod after_failure;
pub mod beside;
pub mod candidate;
pub(crate) mod climbing;
pub mod confidence;
pub mod doubts;
pub mod java;
pub(crate) mod kernel_files;
pub mod moments;
pub(crate) mod prepared_process;
pub(crate) mod rare_choice;
pub(crate) mod rust;
pub(crate) mod same_file;
pub mod signal;
pub mod signals;
pub(crate) mod stop_then_join;
pub(crate) mod terminal;
pub(crate) mod unused_python;

use blocklint_core::{Effect, Language, Severity};
use blocklint_link::effect::guard::Guard;
use blocklint_link::effect::label::Label;
use blocklint_link::linker::work::WorkUnit;
use blocklint_link::linker::{LOW_STEPS, Linker};
use blocklint_link::program::ids::{BodyRef, SiteRef};
use smallvec::SmallVec;

use crate::entries::root::{Root, RootKind};
use crate::graph::best_path::Cost;
use crate::graph::marks::AskId;
use crate::guards::Conditions;
use crate::judge::beside::Beside;
use crate::judge::climbing::{Arrival, SiteSignals};
use crate::judge::moments::Moments;
use crate::judge::signal::{Signal, SignalEffect, SignalScope, SignalSet, Stage, Traced};
use crate::judge::signals::SIGNALS;
use crate::judge::signals::is_open;

/// The questions of one stage, by language, in their order.
type Table = [Vec<AskId>; 3];

/// Asks the signals that are not switched off.
pub struct Judge {
    notes_marks: bool,
    tables: [Table; Stage::COUNT],
}

fn nth(language: Language) -> usize {
    match language {
        Language::Python => 0,
        Language::Rust => 1,
        Language::Java => 2,
    }
}

/// Steps that a path as a whole adds.
#[derive(Clone, Copy, Debug)]
pub struct CostDoubt {
    /// The question that found them.
    pub ask: AskId,
    /// Their number.
    pub steps: u32,
    /// True if they are for the path's length in hops.
    pub is_of_length: bool,
}

impl Judge {
    /// Returns a judge that asks all signals but those that are off. It notes the signals that spoke if `is_told`.
    pub fn new(off: SignalSet, is_told: bool) -> Self {
        let mut tables: [Table; Stage::COUNT] = Default::default();
        let signals = SIGNALS.iter().enumerate().filter(|(at, _)| !off.has(*at));
        for (at, signal) in signals {
            for (nth_ask, ask) in signal.asks.iter().enumerate() {
                for &language in ask.languages {
                    let ask_id = AskId { signal: at as u8, nth: nth_ask as u8 };
                    tables[ask.scope.stage() as usize][nth(language)].push(ask_id);
                }
            }
        }
        for asks in tables.iter_mut().flatten() {
            asks.sort_by_key(|ask| ask.ask().is_last);
        }
        Judge { notes_marks: is_told, tables }
    }

    fn asks(&self, stage: Stage, language: Language) -> impl Iterator<Item = AskId> + '_ {
        self.tables[stage as usize][nth(language)].iter().copied()
    }

    /// True if the run records which signals decided.
    pub(crate) fn notes_marks(&self) -> bool {
        self.notes_marks
    }

    /// Returns the first question that a label answers with "yes" at a site that it reaches.
    pub(crate) fn at_site(&self, on: &mut Arrival<'_, '_, '_>) -> Option<AskId> {
        let (linker, site) = (on.linker, on.site);
        self.asks(Stage::Site, linker.program.language(site.file)).find(|ask| match ask.ask().scope {
            SignalScope::Site(of, asks) => {
                of(on.label) && on.heard.decides(usize::from(ask.signal), || asks(linker, site))
            }
            SignalScope::Arrival(of, asks) => of(on.label) && asks(on),
            _ => false,
        })
    }

    /// Returns the inferred steps for where a site stands: the most that one signal adds.
    pub(crate) fn steps_at(&self, linker: &Linker<'_>, heard: &mut SiteSignals, site: SiteRef) -> u8 {
        if let Some(known) = heard.steps {
            return known;
        }
        let mut most = 0;
        for ask in self.asks(Stage::Doubt, linker.program.language(site.file)) {
            if let SignalScope::Doubt(asks) = ask.ask().scope {
                let steps = asks(linker, site);
                if steps > 0 {
                    heard.doubts.push(ask);
                }
                most = most.max(steps);
                if most >= LOW_STEPS {
                    break;
                }
            }
        }
        heard.steps = Some(most);
        most
    }

    /// Returns the first question that a label answers with "yes" when it leaves a body for the callers.
    pub(crate) fn leaving(&self, linker: &Linker<'_>, body: BodyRef, label: &Label) -> Option<AskId> {
        self.asks(Stage::Leaving, linker.program.language(body.file)).find(|ask| match ask.ask().scope {
            SignalScope::Leaving(of, asks) => of(label) && asks(linker, body),
            _ => false,
        })
    }

    /// Returns the inferred steps of a label's open condition at a root, with the question that found them.
    pub(crate) fn steps_at_root(
        &self,
        conditions: &Conditions<'_, '_>,
        root: BodyRef,
        kind: Root,
        guard: &Guard,
    ) -> Option<(AskId, u8)> {
        let asks = self.asks(Stage::AtRootDoubt, conditions.linker.program.language(root.file));
        let steps = asks.map(|ask| match ask.ask().scope {
            SignalScope::AtRootDoubt(asks) => (ask, asks(conditions, root, kind, guard)),
            _ => (ask, 0),
        });
        steps.filter(|(_, steps)| *steps > 0).max_by_key(|(_, steps)| *steps)
    }

    /// Returns the first question that a label answers with "yes" when it has reached a root.
    pub(crate) fn at_root(&self, linker: &Linker<'_>, root: BodyRef, label: &Label) -> Option<AskId> {
        let mut asks = self.asks(Stage::AtRoot, linker.program.language(root.file));
        asks.find(|ask| matches!(ask.ask().scope, SignalScope::AtRoot(of) if of(label)))
    }

    /// Returns the inferred steps that a path as a whole adds.
    pub fn of_cost(&self, language: Language, cost: &Cost) -> SmallVec<[CostDoubt; 1]> {
        let asks = self.asks(Stage::Cost, language);
        let doubts = asks.filter_map(|ask| match ask.ask().scope {
            SignalScope::Cost(asks) => Some(CostDoubt { ask, steps: asks(cost), is_of_length: false }),
            SignalScope::Length(asks) => Some(CostDoubt { ask, steps: asks(cost), is_of_length: true }),
            _ => None,
        });
        doubts.filter(|doubt| doubt.steps > 0).collect()
    }

    /// Returns the inferred steps that the whole path of a candidate adds, the most that one signal adds, and the
    /// signals that answer yes.
    pub fn steps_on_path(&self, on: &Traced<'_, '_>) -> (u8, SmallVec<[AskId; 1]>) {
        let (mut most, mut applied) = (0, SmallVec::new());
        for ask in self.asks(Stage::PathDoubt, on.language()) {
            if let SignalScope::PathDoubt(of, asks) = ask.ask().scope
                && of(on.label)
            {
                let steps = asks(on);
                most = most.max(steps);
                if steps > 0 {
                    applied.push(ask);
                }
            }
        }
        (most, applied)
    }

    /// Returns the first question that the path of a candidate answers with "yes".
    pub fn on_path(&self, on: &Traced<'_, '_>, moments: &mut Moments<'_, '_, '_>) -> Option<AskId> {
        let (label, language) = (on.label, on.language());
        // In Java notes stay as they are: nothing below makes one worse.
        if language == Language::Java && label.severity == Severity::Note && label.effect != Effect::NestedLoop {
            return None;
        }
        // A program that is started as an example has its routes served.
        let is_served = on.kind.kind == RootKind::Registered;
        moments.begin_candidate();
        self.asks(Stage::Path, language).find(|&ask| match ask.ask().scope {
            SignalScope::Root(_) => {
                is_open(label)
                    && moments.of_root(self, on.root) == Some(ask)
                    && !(is_served && ask.makes() == SignalEffect::Aside)
            }
            SignalScope::Path(of, asks) => of(label) && asks(on),
            SignalScope::Moment(of, asks) => of(label) && asks(on, moments),
            _ => false,
        })
    }

    /// Returns the first question that leaves a root aside, because it delays no request that is served.
    pub(crate) fn of_root(&self, linker: &Linker<'_>, root: BodyRef) -> Option<AskId> {
        let mut asks = self.asks(Stage::Path, linker.program.language(root.file));
        asks.find(|ask| matches!(ask.ask().scope, SignalScope::Root(asks) if asks(linker, root)))
    }

    /// Returns the first signal that leaves a root aside, because it delays no request that is served.
    pub fn aside_signal(&self, linker: &Linker<'_>, root: BodyRef) -> Option<&'static Signal> {
        self.of_root(linker, root).map(AskId::signal)
    }

    /// Lowers candidates that add little beside others.
    pub fn beside(&self, all: &mut Beside<'_, '_, '_>) {
        let linker = all.linker;
        // The questions themselves have the languages.
        let mut asks: Vec<AskId> = self.tables[Stage::Beside as usize].iter().flatten().copied().collect();
        asks.sort_by_key(|ask| (ask.ask().is_last, *ask));
        asks.dedup();
        for ask in asks {
            if let SignalScope::Beside(lower) = ask.ask().scope
                && let Some(_guard) = linker.enter_unit(WorkUnit::Step(ask.signal().name))
            {
                lower(all, ask);
            }
        }
    }
}
