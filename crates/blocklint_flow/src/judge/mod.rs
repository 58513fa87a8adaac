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
pub(crate) mod unused_methods;
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
use crate::graph::marks::QuestionId;
use crate::guards::Conditions;
use crate::judge::beside::CandidateComparison;
use crate::judge::climbing::{Arrival, SiteSignals};
use crate::judge::moments::Moments;
use crate::judge::signal::{PathSubject, Signal, SignalEffect, SignalScope, SignalSet, Stage};
use crate::judge::signals::SIGNALS;
use crate::judge::signals::is_open;

/// The questions of one stage for each language, in the order in which they are asked.
type QuestionsByLanguage = [Vec<QuestionId>; 3];

/// Asks the signals that are not switched off.
pub struct Judge {
    records_marks: bool,
    tables: [QuestionsByLanguage; Stage::COUNT],
}

/// Returns the index of a language in [`QuestionsByLanguage`].
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
    pub question: QuestionId,
    /// The number of steps.
    pub steps: u32,
    /// True if they are for the number of hops.
    pub is_of_length: bool,
}

impl Judge {
    /// Returns a judge that asks all signals except those in `off`. If `records_marks`, the search records the signals
    /// that applied.
    pub fn new(off: SignalSet, records_marks: bool) -> Self {
        let mut tables: [QuestionsByLanguage; Stage::COUNT] = Default::default();
        let signals = SIGNALS.iter().enumerate().filter(|(index, _)| !off.has(*index));
        for (index, signal) in signals {
            for (question_index, question) in signal.questions.iter().enumerate() {
                for &language in question.languages {
                    let question_id = QuestionId { signal: index as u8, question_index: question_index as u8 };
                    tables[question.scope.stage() as usize][index_of(language)].push(question_id);
                }
            }
        }
        for questions in tables.iter_mut().flatten() {
            questions.sort_by_key(|id| id.question().is_last);
        }
        Judge { records_marks, tables }
    }

    /// Returns the questions of a stage, in the order in which they are asked.
    fn questions(&self, stage: Stage, language: Language) -> impl Iterator<Item = QuestionId> + '_ {
        self.tables[stage as usize][index_of(language)].iter().copied()
    }

    /// True if the search records the signals that applied.
    pub(crate) fn records_marks(&self) -> bool {
        self.records_marks
    }

    /// Returns the first question with the answer "yes" about a label at a site that it reaches.
    pub(crate) fn question_at_site(&self, subject: &mut Arrival<'_, '_, '_>) -> Option<QuestionId> {
        let (linker, site) = (subject.linker, subject.site);
        self.questions(Stage::Site, linker.program.language(site.file)).find(|id| match id.question().scope {
            SignalScope::Site(applies_to, predicate) => {
                applies_to(subject.label)
                    && subject.signals.answer_of(usize::from(id.signal), || predicate(linker, site))
            }
            SignalScope::Arrival(applies_to, predicate) => applies_to(subject.label) && predicate(subject),
            _ => false,
        })
    }

    /// Returns the inferred steps that signals add because of the code around a site: the most that one signal adds.
    pub(crate) fn steps_at(&self, linker: &Linker<'_>, signals: &mut SiteSignals, site: SiteRef) -> u8 {
        if let Some(steps) = signals.steps {
            return steps;
        }
        let mut max_steps = 0;
        for id in self.questions(Stage::Doubt, linker.program.language(site.file)) {
            if let SignalScope::Doubt(count_steps) = id.question().scope {
                let steps = count_steps(linker, site);
                if steps > 0 {
                    signals.doubts.push(id);
                }
                max_steps = max_steps.max(steps);
                if max_steps >= LOW_STEPS {
                    break;
                }
            }
        }
        signals.steps = Some(max_steps);
        max_steps
    }

    /// Returns the first question with the answer "yes" about a label that leaves a body for the callers.
    pub(crate) fn question_at_leaving(&self, linker: &Linker<'_>, body: BodyRef, label: &Label) -> Option<QuestionId> {
        self.questions(Stage::Leaving, linker.program.language(body.file)).find(|id| match id.question().scope {
            SignalScope::Leaving(applies_to, predicate) => applies_to(label) && predicate(linker, body),
            _ => false,
        })
    }

    /// Returns the inferred steps that a signal adds for a label's open condition at a root, with its question.
    pub(crate) fn steps_at_root(
        &self,
        conditions: &Conditions<'_, '_>,
        root: BodyRef,
        entry_point: Root,
        guard: &Guard,
    ) -> Option<(QuestionId, u8)> {
        let questions = self.questions(Stage::AtRootDoubt, conditions.linker.program.language(root.file));
        let steps = questions.map(|id| match id.question().scope {
            SignalScope::AtRootDoubt(count_steps) => (id, count_steps(conditions, root, entry_point, guard)),
            _ => (id, 0),
        });
        steps.filter(|(_, steps)| *steps > 0).max_by_key(|(_, steps)| *steps)
    }

    /// Returns the first question with the answer "yes" about a label that has reached a root.
    pub(crate) fn question_at_root(&self, linker: &Linker<'_>, root: BodyRef, label: &Label) -> Option<QuestionId> {
        let mut questions = self.questions(Stage::AtRoot, linker.program.language(root.file));
        questions.find(|id| matches!(id.question().scope, SignalScope::AtRoot(applies_to) if applies_to(label)))
    }

    /// Returns the inferred steps that signals add for the cost of a path.
    pub fn doubts_of_cost(&self, language: Language, cost: &Cost) -> SmallVec<[CostDoubt; 1]> {
        let questions = self.questions(Stage::Cost, language);
        let doubts = questions.filter_map(|id| match id.question().scope {
            SignalScope::Cost(count_steps) => {
                Some(CostDoubt { question: id, steps: count_steps(cost), is_of_length: false })
            }
            SignalScope::Length(count_steps) => {
                Some(CostDoubt { question: id, steps: count_steps(cost), is_of_length: true })
            }
            _ => None,
        });
        doubts.filter(|doubt| doubt.steps > 0).collect()
    }

    /// Returns the inferred steps that signals add for the path of a candidate (the most that one signal adds), and the
    /// questions with the answer "yes".
    pub fn steps_on_path(&self, subject: &PathSubject<'_, '_>) -> (u8, SmallVec<[QuestionId; 1]>) {
        let (mut max_steps, mut applied) = (0, SmallVec::new());
        for id in self.questions(Stage::PathDoubt, subject.language()) {
            if let SignalScope::PathDoubt(applies_to, count_steps) = id.question().scope
                && applies_to(subject.label)
            {
                let steps = count_steps(subject);
                max_steps = max_steps.max(steps);
                if steps > 0 {
                    applied.push(id);
                }
            }
        }
        (max_steps, applied)
    }

    /// Returns the first question with the answer "yes" about the path of a candidate.
    pub fn question_on_path(
        &self,
        subject: &PathSubject<'_, '_>,
        moments: &mut Moments<'_, '_, '_>,
    ) -> Option<QuestionId> {
        let (label, language) = (subject.label, subject.language());
        // Notes of Java stay as they are, because no signal of this stage raises them.
        if language == Language::Java && label.severity == Severity::Note && label.effect != Effect::NestedLoop {
            return None;
        }
        // Routes are served even if the program is an example.
        let is_served = subject.entry_point.kind == RootKind::Registered;
        moments.begin_candidate();
        self.questions(Stage::Path, language).find(|&id| match id.question().scope {
            SignalScope::Root(_) => {
                is_open(label)
                    && moments.aside_question(self, subject.root) == Some(id)
                    && !(is_served && id.effect() == SignalEffect::Aside)
            }
            SignalScope::Path(applies_to, predicate) => applies_to(label) && predicate(subject),
            SignalScope::Moment(applies_to, predicate) => applies_to(label) && predicate(subject, moments),
            _ => false,
        })
    }

    /// Returns the first question with the answer "yes" about a root that delays no served request.
    pub(crate) fn aside_question(&self, linker: &Linker<'_>, root: BodyRef) -> Option<QuestionId> {
        let mut questions = self.questions(Stage::Path, linker.program.language(root.file));
        questions.find(|id| matches!(id.question().scope, SignalScope::Root(predicate) if predicate(linker, root)))
    }

    /// Returns the first signal that applies to a root because it delays no served request.
    pub fn aside_signal(&self, linker: &Linker<'_>, root: BodyRef) -> Option<&'static Signal> {
        self.aside_question(linker, root).map(QuestionId::signal)
    }

    /// Lowers candidates that add little to other candidates.
    pub fn lower_beside_others(&self, comparison: &mut CandidateComparison<'_, '_, '_>) {
        let linker = comparison.linker;
        // The questions check languages themselves, so each is asked once.
        let mut questions: Vec<QuestionId> = self.tables[Stage::Beside as usize].iter().flatten().copied().collect();
        questions.sort_by_key(|id| (id.question().is_last, *id));
        questions.dedup();
        for id in questions {
            if let SignalScope::Beside(lower) = id.question().scope
                && let Some(_work) = linker.enter_unit(WorkUnit::Step(id.signal().name))
            {
                lower(comparison, id);
            }
        }
    }
}
