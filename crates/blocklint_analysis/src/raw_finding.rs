//! A finding of the analysis, before it has words.

use blocklint_core::{
    Aside, Confidence, Context, Effect, Fails, Hold, Mistake, RuleCode, Runtime, Severity, Span, Weight,
};
use blocklint_flow::entries::root::RootKind;
use blocklint_flow::graph::raw_finding::{Doubt, RawStep, Reason};
use blocklint_flow::lifecycle::reached_by::RawEntry;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_mending::{AsyncTwin, RowAdvice};

/// One rule broken at one place.
#[derive(Clone, Debug)]
pub struct RawFinding {
    /// The signals that decided, if the run records them.
    pub reasons: Vec<Reason>,
    /// The entry points that reach it by kind, if the run records them.
    pub reached_by: Vec<RawEntry>,
    /// The inferred steps of its path, if the run records them.
    pub doubts: Vec<Doubt>,
    /// How bad it would be if it were not only for tests, examples or a command line.
    pub aside: Option<Aside>,
    /// The rule.
    pub rule: RuleCode,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// The mistake.
    pub mistake: Mistake,
    /// How the thread is held; `None` where no call holds it.
    pub effect: Option<Effect>,
    /// The weight of the call at the end by the kind of its work; `None` where no call holds the thread.
    pub weight: Option<Weight>,
    /// The kind of thread, where it matters.
    pub context: Option<Context>,
    /// Its machinery, where known.
    pub runtime: Option<Runtime>,
    /// The body that must not block, or in which the mistake is made.
    pub root: BodyRef,
    /// Why it must not; `None` where that does not matter.
    pub root_kind: Option<RootKind>,
    /// True if the place hands a function over instead of calling it.
    pub handed: bool,
    /// How long one call can block the thread.
    pub hold: Hold,
    /// The other harm that the call does.
    pub fails: Option<Fails>,
    /// The file it stands in.
    pub file: FileId,
    /// Its place.
    pub span: Span,
    /// The site it stands at.
    pub site: SiteRef,
    /// The steps from the place to the row; the first is the place.
    pub trace: Vec<RawStep>,
    /// Indices of the causes behind it, that of the trace first.
    pub causes: Vec<u32>,
    /// The causes that break another rule than this one: the rule, and the index of the cause.
    pub also: Vec<(RuleCode, u32)>,
    /// Path of the row at the end of the trace.
    pub call: String,
    /// True if a loop on the path runs it more than once.
    pub repeats: bool,
    /// The long call over which another holds the lock that the call waits for.
    pub held_by: Option<RawStep>,
    /// The row's note.
    pub note: Option<String>,
    /// The async twins of the row for the root's runtime.
    pub twins: Vec<AsyncTwin>,
    /// The advice of the row about edits of the call.
    pub row_advice: RowAdvice,
    /// A worker thread would not free the loop.
    pub holds_gil: bool,
    /// Qualified name of the callee at the place, for the fingerprint.
    pub callee: String,
    /// Which of the equal calls of its body it is, from 0.
    pub occurrence: u32,
    /// Silenced at its own place: the comment's reason.
    pub suppressed: Option<Option<String>>,
    /// The functions behind it in which a comment silences another cause of its rule.
    pub partly_silenced: Vec<String>,
}
