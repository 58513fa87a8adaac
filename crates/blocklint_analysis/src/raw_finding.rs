//! A finding of the analysis as data. `blocklint_rules` words it.

use blocklint_core::{
    Aside, Confidence, Context, Effect, Fails, Hold, Mistake, RuleCode, Runtime, Severity, Span, Weight,
};
use blocklint_flow::entries::root::RootKind;
use blocklint_flow::graph::raw_finding::{Doubt, RawStep, Reason};
use blocklint_flow::lifecycle::reached_by::RawEntry;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_mending::{AsyncTwin, RowAdvice};

/// A finding of one rule at one place.
#[derive(Clone, Debug)]
pub struct RawFinding {
    /// The signals that applied, if the run records them.
    pub reasons: Vec<Reason>,
    /// The entry points that reach it by kind, if the run records them.
    pub reached_by: Vec<RawEntry>,
    /// The inferred steps of its path, if the run records them.
    pub doubts: Vec<Doubt>,
    /// The severity before a signal with the effect `Aside` lowered it: only tests, examples or a command line reach it.
    pub aside: Option<Aside>,
    /// The rule.
    pub rule: RuleCode,
    /// The severity.
    pub severity: Severity,
    /// The confidence.
    pub confidence: Confidence,
    /// The mistake.
    pub mistake: Mistake,
    /// The effect of the call that holds the thread; `None` for a mistake of another kind.
    pub effect: Option<Effect>,
    /// The weight of the kind of work of the call at the end of the path; `None` for a mistake of another kind.
    pub weight: Option<Weight>,
    /// The context that must not block, if the rule is about one.
    pub context: Option<Context>,
    /// The runtime of that context, if it is known.
    pub runtime: Option<Runtime>,
    /// The body that must not block, or that contains the mistake.
    pub root: BodyRef,
    /// The reason why it must not block; `None` for a mistake of another kind.
    pub root_kind: Option<RootKind>,
    /// True if the place hands a function over instead of calling it.
    pub handed: bool,
    /// The time for which one call can block the thread.
    pub hold: Hold,
    /// The failure that the call causes in this context, if it does.
    pub fails: Option<Fails>,
    /// The file.
    pub file: FileId,
    /// The text that is reported.
    pub span: Span,
    /// The site at which it is reported.
    pub site: SiteRef,
    /// The steps from the reported place to the row. The first step is the reported place.
    pub trace: Vec<RawStep>,
    /// The indices of its causes, the cause of the trace first.
    pub causes: Vec<u32>,
    /// The causes that other rules report: the rule, and the index of the cause.
    pub also: Vec<(RuleCode, u32)>,
    /// The path of the row at the end of the trace.
    pub call: String,
    /// True if a call of the path is in a loop.
    pub repeats: bool,
    /// The long call during which other code holds the lock that the call waits for.
    pub held_by: Option<RawStep>,
    /// The row's note.
    pub note: Option<String>,
    /// The async twins of the row for the root's runtime.
    pub twins: Vec<AsyncTwin>,
    /// The advice of the row about edits of the call.
    pub row_advice: RowAdvice,
    /// True if the call keeps the GIL, so that a worker thread would not free the loop.
    pub holds_gil: bool,
    /// The qualified name of the callee at the place, for the fingerprint.
    pub callee: String,
    /// The number of equal calls before it in its body, for the fingerprint.
    pub occurrence: u32,
    /// `Some` if a comment suppresses it, with the reason that the comment states, if it states one.
    pub suppressed: Option<Option<String>>,
    /// The names of functions below it in which a comment suppresses another cause of its rule.
    pub partly_suppressed: Vec<String>,
}
