//! Candidates: labels that reached a root, each with its path. Those of one place and rule become one finding.

use blocklint_core::{Aside, Confidence, Hold, RuleCode, Severity};
use blocklint_link::effect::label::{Label, LabelHold};
use blocklint_link::program::ids::{BodyRef, SiteRef};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::entries::root::Root;
use crate::graph::best_path::{Cost, Paths};
use crate::graph::marks::AskId;
use crate::graph::{EdgeTarget, FlowEdge};
use crate::judge::confidence::confidence_of;
use crate::judge::signal::SignalEffect;

/// A call, or an argument that it hands over, and the rule that reports it.
pub type FindingPlace = (SiteRef, Option<u32>, RuleCode);

/// All candidates by place.
pub type CandidatesByPlace = FxHashMap<FindingPlace, Vec<Candidate>>;

/// One label at a place, with the path that it came by.
pub struct Candidate {
    /// The body that must not block.
    pub root: BodyRef,
    /// Why it must not.
    pub kind: Root,
    /// True if the place hands a function over instead of calling it.
    pub handed: bool,
    /// The label, with the severity that signals left of it.
    pub label: Label,
    /// The first edge of the path.
    pub edge: FlowEdge,
    /// The edges from the root down to the place, where it stands in a literal that the root runs.
    pub above: SmallVec<[FlowEdge; 1]>,
    /// Everything that counts against the path.
    pub cost: Cost,
    /// The inferred steps that the length of the path adds.
    pub length_steps: u32,
    /// The reason of the comment that silences it, if one does.
    pub silenced: Option<Option<String>>,
    /// The signals that apply to the candidate as a whole. Signals of a single site on its path are not here.
    pub applied: SmallVec<[AskId; 1]>,
    /// Its severity if it were not only for tests, examples or a command line.
    pub aside: Option<Aside>,
}

impl Candidate {
    /// Returns its confidence by the steps of its path, however long that is, and by the kind of its root.
    pub fn confidence(&self) -> Confidence {
        confidence_of(self.cost.steps).min(self.kind.confidence())
    }

    /// Returns its confidence with the doubts that the length of its path adds.
    pub fn confidence_with_length(&self) -> Confidence {
        confidence_of(self.cost.steps + self.length_steps).min(self.kind.confidence())
    }

    /// Returns how long it holds its thread.
    pub fn hold(&self) -> Hold {
        match self.label.hold {
            LabelHold::Fixed(hold) => hold,
            LabelHold::Param { .. } => Hold::Unstated,
        }
    }

    /// Returns the number of the sink at the end of its path.
    pub(crate) fn sink(&self, paths: &Paths) -> Option<u32> {
        match paths.follow(self.edge).last()?.next {
            EdgeTarget::Sink(sink) => Some(sink),
            EdgeTarget::LabelledBody(_) => None,
        }
    }

    /// True if its place runs a body of the project, and not a row.
    pub(crate) fn is_call(&self) -> bool {
        matches!(self.edge.next, EdgeTarget::LabelledBody(_))
    }

    /// True if it is shown by default, as far as its own severity and confidence go.
    pub(crate) fn is_reported(&self, min_confidence: Confidence) -> bool {
        self.silenced.is_none() && self.label.severity > Severity::Note && self.confidence() >= min_confidence
    }

    /// True if it is shown by default, also with the doubts that the length of its path adds.
    pub(crate) fn is_shown(&self, min_confidence: Confidence) -> bool {
        self.is_reported(min_confidence) && self.confidence_with_length() >= min_confidence
    }

    /// Changes its severity by the effect of a signal. Candidates that are only for tests, examples or a command line
    /// stay as they are if those count like all others.
    pub fn apply(&mut self, ask: AskId, aside_counts: bool) {
        let effect = ask.makes();
        self.applied.push(ask);
        if effect == SignalEffect::Aside {
            if aside_counts {
                return;
            }
            self.aside = Some(Aside { severity: self.label.severity, because: ask.signal().says });
        }
        self.label.severity = effect.severity_of(self.label.severity);
    }
}
