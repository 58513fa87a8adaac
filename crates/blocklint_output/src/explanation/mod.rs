//! The explanation of single lines (`blocklint why PATH:LINE`), which the engine computes, as text and as JSON.

mod json;
mod text;

use blocklint_core::{Confidence, Finding, Place, RuleCode};

pub use json::write_explanation_json;
pub use text::write_explanation;

/// The explanation of one line.
#[derive(Clone, Debug)]
pub struct ExplainedLine {
    /// The place of the line's first character that is no blank.
    pub place: Place,
    /// The code around the line, in words (``in async function `app.handler` ``).
    pub stands: String,
    /// Remarks about its file or the whole line.
    pub remarks: Vec<Remark>,
    /// The findings that are on the line or refer to it, the nearest first.
    pub findings: Vec<ExplainedFinding>,
    /// The number of further findings that refer to the line.
    pub more_findings: usize,
    /// The function that the line defines, or, if the line has no calls, the function around it.
    pub function: Option<ExplainedFunction>,
    /// The calls on the line, and the other sites that run code.
    pub sites: Vec<ExplainedSite>,
}

/// A sentence, with the place of the code that it describes.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// The sentence, without a full stop.
    pub says: String,
    /// The place of the described code.
    pub place: Option<Place>,
}

impl Remark {
    /// Returns a sentence without a place.
    pub fn new(says: impl Into<String>) -> Self {
        Remark { says: says.into(), place: None }
    }

    /// Returns a sentence about a place.
    pub fn at(says: impl Into<String>, place: Place) -> Self {
        Remark { says: says.into(), place: Some(place) }
    }
}

/// A finding that is on a line or refers to it.
#[derive(Clone, Debug)]
pub struct ExplainedFinding {
    /// The finding itself.
    pub finding: Finding,
    /// The line's part in a finding at another place ("its path passes here").
    pub part: Option<&'static str>,
    /// Why `check` does not show the finding, and the options that show it.
    pub hidden: Option<String>,
    /// Doubts that make the finding less sure, in addition to its signals.
    pub doubts: Vec<Remark>,
}

/// The explanation of one function.
#[derive(Clone, Debug)]
pub struct ExplainedFunction {
    /// Its name in words (``async function `app.handler` ``).
    pub name: String,
    /// Its definition.
    pub place: Place,
    /// Why it must not block, or why it may.
    pub duty: Vec<Remark>,
    /// Its uses; those in tests last.
    pub uses: Vec<Remark>,
    /// The number of uses that are not listed.
    pub more_uses: usize,
    /// The blocking calls that it reaches.
    pub reaches: Vec<Remark>,
    /// The findings in it, and those whose path leads through it.
    pub findings: Vec<Remark>,
}

/// The explanation of one site: its targets, its model rows and its outcome.
#[derive(Clone, Debug)]
pub struct ExplainedSite {
    /// Its place.
    pub place: Place,
    /// The callee as written (`self.http.get`).
    pub written: String,
    /// Its kind, in a word or two: `call`, `property`, `with`, `import`.
    pub kind: String,
    /// The body with the site, in words (``async function `handler` ``).
    pub owner: String,
    /// The value of its receiver, for `unknown` with the reason. `None` if it has no receiver.
    pub receiver: Option<String>,
    /// The arguments that a condition tests, with their values.
    pub arguments: Vec<(String, String)>,
    /// Its call targets.
    pub targets: Vec<ExplainedTarget>,
    /// The model rows that describe it, in the order in which they are tried.
    pub rows: Vec<ExplainedRow>,
    /// Its outcomes; never empty.
    pub outcomes: Vec<Outcome>,
}

/// A call target of a site.
#[derive(Clone, Debug)]
pub struct ExplainedTarget {
    /// Its qualified name.
    pub name: String,
    /// How the site runs it: `call`, `await`, `hand-over to a worker` …
    pub edge: String,
    /// The confidence that the site runs it.
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
    /// Its conditions as written, each with true if the code shows that it holds.
    pub conditions: Vec<(String, bool)>,
    /// True if it is the row that decides.
    pub decides: bool,
}

/// The outcome of a site.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It belongs to the finding of this rule at this place.
    Finding(RuleCode, Place),
    /// It belongs to this number of further findings, which are not listed.
    Others(usize),
    /// It holds no thread, or its labels end before they reach a root.
    Ends(Remark),
}
