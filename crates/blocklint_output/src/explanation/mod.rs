//! Everything that is known of single lines: `blocklint why PATH:LINE`.

mod json;
mod text;

use blocklint_core::{Confidence, Finding, Place, RuleCode};

pub use json::explanation_json;
pub use text::explanation;

/// One line, with all that is known of it.
#[derive(Clone, Debug)]
pub struct ExplainedLine {
    /// Its first character that is no blank.
    pub place: Place,
    /// Where it stands, in words (``in async function `app.handler` ``).
    pub stands: String,
    /// Remarks about its file or the line as a whole.
    pub remarks: Vec<Remark>,
    /// The findings that stand on the line or name it, the nearest first.
    pub findings: Vec<ExplainedFinding>,
    /// The number of further findings that name it.
    pub more_findings: usize,
    /// The function that it defines, or, where nothing is called, in which it stands.
    pub function: Option<ExplainedFunction>,
    /// Its calls, and what else runs code there.
    pub sites: Vec<ExplainedSite>,
}

/// A sentence, and where a reader sees what it describes.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// The sentence, without a full stop.
    pub says: String,
    /// The place.
    pub place: Option<Place>,
}

impl Remark {
    /// Returns a sentence of no single place.
    pub fn new(says: impl Into<String>) -> Self {
        Remark { says: says.into(), place: None }
    }

    /// Returns a sentence of a place.
    pub fn at(says: impl Into<String>, place: Place) -> Self {
        Remark { says: says.into(), place: Some(place) }
    }
}

/// A finding that stands on a line or names it.
#[derive(Clone, Debug)]
pub struct ExplainedFinding {
    /// The finding itself.
    pub finding: Finding,
    /// The line's part in a finding that stands elsewhere ("its path passes here").
    pub part: Option<&'static str>,
    /// Why `check` does not show it, and what would make it.
    pub hidden: Option<String>,
    /// Doubts that make it less sure, besides signals.
    pub doubts: Vec<Remark>,
}

/// One function as a whole.
#[derive(Clone, Debug)]
pub struct ExplainedFunction {
    /// Its name in words (``async function `app.handler` ``).
    pub name: String,
    /// Its definition.
    pub place: Place,
    /// Why it must not block, or why it may.
    pub duty: Vec<Remark>,
    /// Its uses, those that count before those in tests.
    pub uses: Vec<Remark>,
    /// The number of uses that are not listed.
    pub more_uses: usize,
    /// The calls that it reaches which block.
    pub reaches: Vec<Remark>,
    /// The findings in it, or that come through it.
    pub findings: Vec<Remark>,
}

/// One site of the line, with everything that decided about it.
#[derive(Clone, Debug)]
pub struct ExplainedSite {
    /// Where it stands.
    pub place: Place,
    /// The callee as written (`self.http.get`).
    pub written: String,
    /// Its kind, in a word or two: `call`, `property`, `with`, `import`.
    pub kind: String,
    /// The body it stands in, in words (``async function `handler` ``).
    pub owner: String,
    /// The value of its receiver; `unknown` comes with its reason. `None` where it has none.
    pub receiver: Option<String>,
    /// The arguments that a condition asks for, with what they are.
    pub arguments: Vec<(String, String)>,
    /// Its call targets.
    pub targets: Vec<ExplainedTarget>,
    /// The model rows that describe it, in the order in which they are tried.
    pub rows: Vec<ExplainedRow>,
    /// Its outcomes; never empty.
    pub outcomes: Vec<Outcome>,
}

/// Something a site runs.
#[derive(Clone, Debug)]
pub struct ExplainedTarget {
    /// Its qualified name.
    pub name: String,
    /// How it is run: `call`, `await`, `hand-over to a worker` …
    pub edge: String,
    /// How sure.
    pub confidence: Confidence,
    /// Its definition; `None` outside the project.
    pub place: Option<Place>,
}

/// A row of a model that describes a site.
#[derive(Clone, Debug)]
pub struct ExplainedRow {
    /// Its path.
    pub path: String,
    /// Its text (`network, holds up to 5 s`, `hand-over to a worker`).
    pub says: String,
    /// The model file.
    pub file: String,
    /// Its line in that file, from 1.
    pub line: u32,
    /// Its conditions as written, each with whether it is shown to hold.
    pub conditions: Vec<(String, bool)>,
    /// True if it is the row that decides.
    pub decides: bool,
}

/// The outcome of a site.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It belongs to the finding of this rule at this place.
    Finding(RuleCode, Place),
    /// It belongs to so many further findings, which are not listed.
    Others(usize),
    /// It holds no thread, or what it does ends before it reaches a root.
    Ends(Remark),
}
