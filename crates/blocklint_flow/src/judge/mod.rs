//! Severity and confidence of findings. A [`Signal`] is a named reason why a finding is less bad, less sure or worse
//! than its row says; the [`Judge`] asks the signals at each stage of a run. The possible paths are in `guards/`, the
//! callers of a body in `callers/`, and when it runs in `lifecycle/`.

pub mod after_failure;
pub mod beside;
pub mod candidate;
pub(crate) mod climbing;
pub(crate) mod computing_runtime;
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

/// The questions of one stage for each language, in the order in which they are asked.
type AsksByLanguage = [Vec<AskId>; 3];

/// Asks the signals that are not switched off.
pub struct Judge {
    records_marks: bool,
    tables: [AsksByLanguage; Stage::COUNT],
}

/// Returns the index of a language in [`AsksByLanguage`].
fn index_of(language: Language) -> usize {
    match language {
        Language::Python => 0,
        Language::Rust => 1,
        Language::Java => 2,
    }
}

/// Inferred steps that a signal adds for the cost of a whole path.
#[derive(Clone, Copy, Debug)]
pub struct CostDoubt {
    /// The question that found them.
    pub ask: AskId,
    /// The number of steps.
    pub steps: u32,
    /// True if they are for the number of hops.
    pub is_of_length: bool,
}

impl Judge {
    /// Returns a judge that asks all signals except those in `off`. If `records_marks`, the search records the signals
    /// that applied.
    pub fn new(off: SignalSet, records_marks: bool) -> Self {
        let mut tables: [AsksByLanguage; Stage::COUNT] = Default::default();
        let signals = SIGNALS.iter().enumerate().filter(|(index, _)| !off.has(*index));
        for (index, signal) in signals {
            for (nth_ask, ask) in signal.asks.iter().enumerate() {
                for &language in ask.languages {
                    let ask_id = AskId { signal: index as u8, nth: nth_ask as u8 };
                    tables[ask.scope.stage() as usize][index_of(language)].push(ask_id);
                }
            }
        }
        for asks in tables.iter_mut().flatten() {
            asks.sort_by_key(|ask| ask.ask().is_last);
        }
        Judge { records_marks, tables }
    }

    /// Returns the questions of a stage, in the order in which they are asked.
    fn asks(&self, stage: Stage, language: Language) -> impl Iterator<Item = AskId> + '_ {
        self.tables[stage as usize][index_of(language)].iter().copied()
    }

    /// True if the search records the signals that applied.
    pub(crate) fn records_marks(&self) -> bool {
        self.records_marks
    }

    /// Returns the first question with the answer "yes" about a label at a site that it reaches.
    pub(crate) fn ask_at_site(&self, subject: &mut Arrival<'_, '_, '_>) -> Option<AskId> {
        let (linker, site) = (subject.linker, subject.site);
        self.asks(Stage::Site, linker.program.language(site.file)).find(|ask| match ask.ask().scope {
            SignalScope::Site(applies_to, asks) => {
                applies_to(subject.label) && subject.signals.answer_of(usize::from(ask.signal), || asks(linker, site))
            }
            SignalScope::Arrival(applies_to, asks) => applies_to(subject.label) && asks(subject),
            _ => false,
        })
    }

    /// Returns the inferred steps that signals add because of the code around a site: the most that one signal adds.
    pub(crate) fn steps_at(&self, linker: &Linker<'_>, signals: &mut SiteSignals, site: SiteRef) -> u8 {
        if let Some(steps) = signals.steps {
            return steps;
        }
        let mut most = 0;
        for ask in self.asks(Stage::Doubt, linker.program.language(site.file)) {
            if let SignalScope::Doubt(asks) = ask.ask().scope {
                let steps = asks(linker, site);
                if steps > 0 {
                    signals.doubts.push(ask);
                }
                most = most.max(steps);
                if most >= LOW_STEPS {
                    break;
                }
            }
        }
        signals.steps = Some(most);
        most
    }

    /// Returns the first question with the answer "yes" about a label that leaves a body for the callers.
    pub(crate) fn ask_at_leaving(&self, linker: &Linker<'_>, body: BodyRef, label: &Label) -> Option<AskId> {
        self.asks(Stage::Leaving, linker.program.language(body.file)).find(|ask| match ask.ask().scope {
            SignalScope::Leaving(applies_to, asks) => applies_to(label) && asks(linker, body),
            _ => false,
        })
    }

    /// Returns the inferred steps that a signal adds for a label's open condition at a root, with its question.
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

    /// Returns the first question with the answer "yes" about a label that has reached a root.
    pub(crate) fn ask_at_root(&self, linker: &Linker<'_>, root: BodyRef, label: &Label) -> Option<AskId> {
        let mut asks = self.asks(Stage::AtRoot, linker.program.language(root.file));
        asks.find(|ask| matches!(ask.ask().scope, SignalScope::AtRoot(applies_to) if applies_to(label)))
    }

    /// Returns the inferred steps that signals add for the cost of a path.
    pub fn doubts_of_cost(&self, language: Language, cost: &Cost) -> SmallVec<[CostDoubt; 1]> {
        let asks = self.asks(Stage::Cost, language);
        let doubts = asks.filter_map(|ask| match ask.ask().scope {
            SignalScope::Cost(asks) => Some(CostDoubt { ask, steps: asks(cost), is_of_length: false }),
            SignalScope::Length(asks) => Some(CostDoubt { ask, steps: asks(cost), is_of_length: true }),
            _ => None,
        });
        doubts.filter(|doubt| doubt.steps > 0).collect()
    }

    /// Returns the inferred steps that signals add for the path of a candidate (the most that one signal adds), and the
    /// questions with the answer "yes".
    pub fn steps_on_path(&self, subject: &Traced<'_, '_>) -> (u8, SmallVec<[AskId; 1]>) {
        let (mut most, mut applied) = (0, SmallVec::new());
        for ask in self.asks(Stage::PathDoubt, subject.language()) {
            if let SignalScope::PathDoubt(applies_to, asks) = ask.ask().scope
                && applies_to(subject.label)
            {
                let steps = asks(subject);
                most = most.max(steps);
                if steps > 0 {
                    applied.push(ask);
                }
            }
        }
        (most, applied)
    }

    /// Returns the first question with the answer "yes" about the path of a candidate.
    pub fn ask_on_path(&self, subject: &Traced<'_, '_>, moments: &mut Moments<'_, '_, '_>) -> Option<AskId> {
        let (label, language) = (subject.label, subject.language());
        // Notes of Java stay as they are, because no signal of this stage raises them.
        if language == Language::Java && label.severity == Severity::Note && label.effect != Effect::NestedLoop {
            return None;
        }
        // Routes are served even if the program is an example.
        let is_served = subject.kind.kind == RootKind::Registered;
        moments.begin_candidate();
        self.asks(Stage::Path, language).find(|&ask| match ask.ask().scope {
            SignalScope::Root(_) => {
                is_open(label)
                    && moments.aside_question(self, subject.root) == Some(ask)
                    && !(is_served && ask.effect() == SignalEffect::Aside)
            }
            SignalScope::Path(applies_to, asks) => applies_to(label) && asks(subject),
            SignalScope::Moment(applies_to, asks) => applies_to(label) && asks(subject, moments),
            _ => false,
        })
    }

    /// Returns the first question with the answer "yes" about a root that delays no served request.
    pub(crate) fn aside_question(&self, linker: &Linker<'_>, root: BodyRef) -> Option<AskId> {
        let mut asks = self.asks(Stage::Path, linker.program.language(root.file));
        asks.find(|ask| matches!(ask.ask().scope, SignalScope::Root(asks) if asks(linker, root)))
    }

    /// Returns the first signal that applies to a root because it delays no served request.
    pub fn aside_signal(&self, linker: &Linker<'_>, root: BodyRef) -> Option<&'static Signal> {
        self.aside_question(linker, root).map(AskId::signal)
    }

    /// Lowers candidates that add little to other candidates.
    pub fn lower_beside_others(&self, all: &mut Beside<'_, '_, '_>) {
        let linker = all.linker;
        // The questions check languages themselves, so each is asked once.
        let mut asks: Vec<AskId> = self.tables[Stage::Beside as usize].iter().flatten().copied().collect();
        asks.sort_by_key(|ask| (ask.ask().is_last, *ask));
        asks.dedup();
        for ask in asks {
            if let SignalScope::Beside(lower) = ask.ask().scope
                && let Some(_work) = linker.enter_unit(WorkUnit::Step(ask.signal().name))
            {
                lower(all, ask);
            }
        }
    }
}
