//! Candidates for findings: labels that reached a root, each with its path. The candidates of one place and rule become
//! one finding.

use blocklint_core::{Aside, Confidence, Hold, RuleCode, Severity};
use blocklint_link::effect::label::{Label, LabelHold};
use blocklint_link::program::ids::{BodyRef, SiteRef};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::entries::root::Root;
use crate::graph::best_path::{Cost, Paths};
use crate::graph::marks::QuestionId;
use crate::graph::{EdgeTarget, FlowEdge};
use crate::judge::confidence::confidence_of;
use crate::judge::signal::SignalEffect;

/// The place of a finding: a call, the index of the argument that it hands over, if any, and the rule.
pub type FindingPlace = (SiteRef, Option<u32>, RuleCode);

/// All candidates by place.
pub type CandidatesByPlace = FxHashMap<FindingPlace, Vec<Candidate>>;

/// One label at a place, with the path through which it came.
pub struct Candidate {
    /// The body that must not block.
    pub root: BodyRef,
    /// The reason why it must not block.
    pub entry_point: Root,
    /// True if the place hands a function over instead of calling it.
    pub handed: bool,
    /// The label, with its severity after all signals.
    pub label: Label,
    /// The first edge of the path.
    pub edge: FlowEdge,
    /// The edges from the root down to the place, if the place is in a lambda or closure that the root runs.
    pub above: SmallVec<[FlowEdge; 1]>,
    /// The cost of the path.
    pub cost: Cost,
    /// The inferred steps that the length of the path adds.
    pub length_steps: u32,
    /// `Some` if a comment suppresses the candidate, with the reason that the comment states, if it states one.
    pub suppression: Option<Option<String>>,
    /// The signals that apply to the whole candidate. Signals about a single site of the path are in the marks of its
    /// edge.
    pub applied: SmallVec<[QuestionId; 1]>,
    /// The severity before a signal with the effect `Aside` lowered it: only tests, examples or a command line reach it.
    pub aside: Option<Aside>,
}

impl Candidate {
    /// Returns the confidence by the inferred steps of the path and the kind of the root, without the length of the
    /// path.
    pub fn confidence(&self) -> Confidence {
        confidence_of(self.cost.steps).min(self.entry_point.confidence())
    }

    /// Returns the confidence with the inferred steps that the length of the path adds.
    pub fn confidence_with_length(&self) -> Confidence {
        confidence_of(self.cost.steps + self.length_steps).min(self.entry_point.confidence())
    }

    /// Returns the time for which the call holds its thread.
    pub fn hold(&self) -> Hold {
        match self.label.hold {
            LabelHold::Fixed(hold) => hold,
            LabelHold::Param { .. } => Hold::Unstated,
        }
    }

    /// Returns the index of the sink at the end of the path.
    pub(crate) fn sink(&self, paths: &Paths) -> Option<u32> {
        match paths.best_path(self.edge).last()?.next {
            EdgeTarget::Sink(sink) => Some(sink),
            EdgeTarget::LabelledBody(_) => None,
        }
    }

    /// True if the call at the place runs a body of the project, not a library function.
    pub(crate) fn is_call(&self) -> bool {
        matches!(self.edge.next, EdgeTarget::LabelledBody(_))
    }

    /// True if severity, confidence and comments let it be reported, without the length of its path.
    pub(crate) fn is_reported(&self, min_confidence: Confidence) -> bool {
        self.suppression.is_none() && self.label.severity > Severity::Note && self.confidence() >= min_confidence
    }

    /// True if severity, confidence and comments let it be reported, with the length of its path.
    pub(crate) fn is_shown(&self, min_confidence: Confidence) -> bool {
        self.is_reported(min_confidence) && self.confidence_with_length() >= min_confidence
    }

    /// Applies a signal to the severity. If `aside_counts`, the run includes findings that only tests, examples or
    /// commands reach, and a signal with the effect `Aside` changes nothing.
    pub fn apply(&mut self, question: QuestionId, aside_counts: bool) {
        let effect = question.effect();
        self.applied.push(question);
        if effect == SignalEffect::Aside {
            if aside_counts {
                return;
            }
            self.aside = Some(Aside { severity: self.label.severity, because: question.signal().says });
        }
        self.label.severity = effect.severity_of(self.label.severity);
    }
}
