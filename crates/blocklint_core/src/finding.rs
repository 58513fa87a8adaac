//! A finding and its parts: rule, severity, trace, cause, fix, suppression. All of it is plain data; renderers show it
//! and compute nothing.

use crate::{Confidence, Context, Effect, Hold, Place, ReachedBy, Refusal, RuleCode, Runtime, Severity, Weight};

/// A violation of a rule at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: RuleCode,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// The mistake, in one sentence without a full stop.
    pub message: String,
    /// The reasons why it matters, and the notes of the model row.
    pub notes: Vec<String>,
    /// The advice to the user.
    pub help: Option<String>,
    /// The place of the finding.
    pub place: Place,
    /// The kind of operation that holds the thread; `None` for findings about the source itself (BLT9xx).
    pub effect: Option<Effect>,
    /// The weight of the blocking call by the kind of its work; `None` if no call holds the thread.
    pub weight: Option<Weight>,
    /// The kind of thread that is held.
    pub context: Option<Context>,
    /// The runtime that drives that thread, if it is known.
    pub runtime: Option<Runtime>,
    /// Qualified name of the body with the finding (`app.service.Store.load`); empty for a whole file.
    pub function: String,
    /// How long one call can block the thread.
    pub hold: Hold,
    /// The steps from this place to the blocking call, this place first. Empty for BLT9xx.
    pub trace: Vec<Step>,
    /// The long call under a lock for which the blocking call waits; `None` unless another function holds such a lock.
    pub held_by: Option<Step>,
    /// The causes of the finding, the cause of the best path first.
    pub causes: Vec<Cause>,
    /// The fix of the finding.
    pub fix: Option<Fix>,
    /// The reason why there is no fix, if the run makes fixes.
    pub unfixed: Option<Refusal>,
    /// 16 hexadecimal digits that stay equal while lines move.
    pub fingerprint: String,
    /// The suppression that hides the finding. Formats like SARIF list suppressed findings too.
    pub suppression: Option<Suppression>,
    /// The signals that changed its severity or its confidence, if the run collects reasons.
    pub reasons: Vec<Reason>,
    /// The kinds of entry points that reach the function with the finding, if the run collects reasons.
    pub reached_by: Vec<ReachedBy>,
    /// Set if the finding is left aside because only tests, examples or a command line reach it.
    pub aside: Option<Aside>,
    /// The observation of the finding at run time, if the run had evidence.
    pub confirmed: Option<Confirmed>,
}

impl Finding {
    /// Returns a finding about the source itself (BLT9xx): of high confidence, without a call and a thread. The caller
    /// sets its help, fingerprint and suppression.
    pub fn of_source(rule: RuleCode, severity: Severity, message: String, place: Place) -> Finding {
        Finding {
            rule,
            severity,
            confidence: Confidence::High,
            message,
            notes: Vec::new(),
            help: None,
            place,
            effect: None,
            weight: None,
            context: None,
            runtime: None,
            function: String::new(),
            hold: Hold::Unstated,
            trace: Vec::new(),
            held_by: None,
            causes: Vec::new(),
            fix: None,
            unfixed: None,
            fingerprint: String::new(),
            suppression: None,
            reasons: Vec::new(),
            reached_by: Vec::new(),
            aside: None,
            confirmed: None,
        }
    }
}

/// The reason why a finding is left aside, and its severity without that reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aside {
    /// The severity that the finding would have otherwise.
    pub severity: Severity,
    /// The clause of the signal that leaves it aside: "it runs in a command of a command line".
    pub because: &'static str,
}

/// The observation of a finding while the program ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Confirmed {
    /// The longest time for which the thread was held, in seconds; `None` if the evidence measures no time.
    pub seconds: Option<f64>,
    /// The number of observations: stalls of a recorder, lines of a log, samples of a profiler.
    pub times: u64,
    /// True if the stack of the call was recorded. Otherwise the evidence only shows that the function held the thread,
    /// by this or another call.
    pub exact: bool,
    /// The tests during which it was observed, each once, in the order of their first observation.
    pub tests: Vec<String>,
}

impl Confirmed {
    /// Returns the observation in words: `confirmed: 1.2 s, 3 times, in tests/test_a.py::test_load`.
    pub fn to_words(&self) -> String {
        let mut text = match (self.exact, self.seconds) {
            (true, Some(seconds)) => format!("confirmed: {}", duration(seconds)),
            (true, None) => "confirmed".to_owned(),
            (false, Some(seconds)) => format!("seen: its function held the thread for {}", duration(seconds)),
            (false, None) => "seen: its function held the thread".to_owned(),
        };
        if self.times > 1 {
            text += &format!(", {} times", self.times);
        }
        match &self.tests[..] {
            [] => {}
            [test] => text += &format!(", in {test}"),
            [first, more @ ..] => text += &format!(", in {first} and {} more", more.len()),
        }
        text
    }
}

/// Returns a time as people write it: `62 ms`, `1.2 s`.
fn duration(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1000.0) } else { format!("{seconds:.1} s") }
}

/// A signal that changed the severity or the confidence of a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The signal's name, in kebab-case.
    pub name: &'static str,
    /// The signal as a clause: "it is made only where it lacks".
    pub says: &'static str,
    /// Its effect on a finding: "note", "less sure".
    pub makes: &'static str,
    /// The place in the source that shows the reason.
    pub place: Option<Place>,
}

/// One step of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The site.
    pub place: Place,
    /// Qualified name of the body with the site.
    pub function: String,
    /// Qualified name of the callee; at the end of a trace the model row's path.
    pub call: String,
    /// The callee as the site writes it (`self.http.get`), for the trace in one line.
    pub written: String,
}

impl Step {
    /// Returns the sentence for a call over which another function holds a lock (`Finding::held_by`).
    pub fn lock_holder_words(&self) -> String {
        format!("`{}` holds the lock over `{}`", body_name(&self.function), self.written)
    }
}

/// The project's own line on a path that enters the library.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// The site.
    pub place: Place,
    /// Qualified name of the body with the site.
    pub function: String,
    /// Path of the model row.
    pub call: String,
    /// The number of roots that reach it.
    pub reach: u32,
}

/// Findings that share the cause of their best path. Groups are ordered by the number of roots that reach the cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The cause; `None` for findings without one (BLT9xx).
    pub cause: Option<Cause>,
    /// Indices into the list of findings, ordered by path, offset and rule.
    pub findings: Vec<u32>,
}

/// Edits that mend a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// The action of the edits, in the imperative.
    pub title: String,
    /// The review that the edits need before they are applied.
    pub applicability: Applicability,
    /// The edits; they do not overlap.
    pub edits: Vec<Edit>,
}

/// The review that a fix needs before it is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Applicability {
    /// Shown, never applied.
    Display,
    /// Applied on request (`--unsafe-fixes`), because it changes something that a reviewer should see.
    Unsafe,
    /// Applied without review, because the behaviour of the code stays the same.
    Safe,
}

/// Replaces a span of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The text that is replaced.
    pub place: Place,
    /// The text that replaces it.
    pub content: String,
}

/// The reason why the content of a file is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnreadFile {
    /// The file could not be read; the system's message.
    Unreadable(String),
    /// The file is longer than the limit; both in bytes.
    TooLarge {
        /// Length of the file, as far as it is known.
        size: u64,
        /// The limit.
        limit: u64,
    },
}

/// The suppression of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// The reason given in the comment, if any.
    pub reason: Option<String>,
    /// The comment, key or baseline that suppresses it.
    pub source: SuppressionSource,
}

/// The kind of thing that suppresses a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuppressionSource {
    /// A comment.
    Comment,
    /// `per-file-ignores` of the configuration.
    Configuration,
    /// The baseline: the finding existed when the baseline was written.
    Baseline,
}

impl Finding {
    /// Returns the trace in one line, as documents and tests quote it: the bodies of its steps, then the callee of the
    /// last step as it is written (`handler → load → read_config → open`). A constructor has the name of its class.
    /// Empty without a trace.
    pub fn trace_line(&self) -> String {
        let Some(last) = self.trace.last() else { return String::new() };
        let bodies = self.trace.iter().map(|step| body_name(&step.function));
        bodies.chain([last.written.as_str()]).collect::<Vec<_>>().join(" → ")
    }
}

/// Returns the last part of a qualified name of any language: `load` for `app.Store.load` and for `store::Store::load`.
pub fn last_name(qualified: &str) -> &str {
    let from = qualified.rfind(['.', ':']).map_or(0, |at| at + 1);
    qualified.get(from..).filter(|name| !name.is_empty()).unwrap_or(qualified)
}

/// Returns the short name of a body: the last part of its qualified name, for a constructor the name of its class.
pub fn body_name(qualified: &str) -> &str {
    match last_name(qualified) {
        name @ ("__init__" | "__new__" | "__post_init__" | "<init>") => {
            let class = last_name(qualified[..qualified.len() - name.len()].trim_end_matches(['.', ':']));
            if class.is_empty() { name } else { class }
        }
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use super::{Confirmed, body_name, last_name};

    #[test]
    fn constructors_have_the_name_of_their_class() {
        for (qualified, name) in [
            ("app.Store.__init__", "Store"),
            ("org.acme.Store.<init>", "Store"),
            ("__init__", "__init__"),
            ("app.Store.load", "load"),
            ("app.run.<lambda>", "<lambda>"),
        ] {
            assert_eq!(body_name(qualified), name);
        }
    }

    #[test]
    fn observations_are_written_in_words() {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for (seconds, times, exact, tests, words) in [
            (Some(1.24), 1, true, owned(&["t::a"]), "confirmed: 1.2 s, in t::a"),
            (Some(0.062), 3, true, owned(&["t::a", "t::b"]), "confirmed: 62 ms, 3 times, in t::a and 1 more"),
            (None, 34, true, owned(&[]), "confirmed, 34 times"),
            (Some(2.0), 1, false, owned(&[]), "seen: its function held the thread for 2.0 s"),
        ] {
            assert_eq!(Confirmed { seconds, times, exact, tests }.to_words(), words);
        }
    }

    #[test]
    fn last_names_are_those_of_three_languages() {
        for (qualified, last) in
            [("app.Store.load", "load"), ("store::Store::load", "load"), ("main", "main"), ("", ""), ("a.", "a.")]
        {
            assert_eq!(last_name(qualified), last);
        }
    }
}
