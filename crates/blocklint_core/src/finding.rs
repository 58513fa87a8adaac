//! A finding and its parts: plain data that every renderer shows and none computes.

use crate::{Confidence, Context, Effect, Hold, Place, ReachedBy, Refusal, RuleCode, Runtime, Severity, Weight};

/// One rule broken at one place.
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
    /// Why it matters; notes of the model row stand here too.
    pub notes: Vec<String>,
    /// The advice to the user.
    pub help: Option<String>,
    /// Where it stands.
    pub place: Place,
    /// How the thread is held; `None` for findings about the source itself (BLT9xx).
    pub effect: Option<Effect>,
    /// The weight of the call at the end by the kind of its work; `None` where no call holds the thread.
    pub weight: Option<Weight>,
    /// The kind of thread that is held.
    pub context: Option<Context>,
    /// The machinery of that thread, where known.
    pub runtime: Option<Runtime>,
    /// Qualified name of the body it stands in (`app.service.Store.load`); empty for a whole file.
    pub function: String,
    /// How long one call can block the thread.
    pub hold: Hold,
    /// The steps from this place to the call that blocks, this place first. Empty for BLT9xx.
    pub trace: Vec<Step>,
    /// Where another holds the lock for which the call at the end waits: the long call under it.
    pub held_by: Option<Step>,
    /// The causes behind it, that of the best path first.
    pub causes: Vec<Cause>,
    /// The edit that mends it.
    pub fix: Option<Fix>,
    /// Why there is none, where edits were asked for.
    pub unfixed: Option<Refusal>,
    /// 16 hexadecimal digits that stay equal while lines move.
    pub fingerprint: String,
    /// Why it is not shown, if it is not. Such findings are for formats that list them (SARIF).
    pub suppression: Option<Suppression>,
    /// The signals that changed its severity or its confidence, if the run was asked for reasons.
    pub reasons: Vec<Reason>,
    /// The kinds of entry points that reach the function it stands in, if the run was asked for reasons.
    pub reached_by: Vec<ReachedBy>,
    /// Its severity if it were not left aside: only tests, examples or a command line reach it.
    pub aside: Option<Aside>,
    /// The observation of the finding at run time, if the run had evidence.
    pub confirmed: Option<Confirmed>,
}

impl Finding {
    /// One about the source itself (BLT9xx): sure, of no call and no thread; its help, fingerprint and suppression are still to
    /// be said.
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

/// Why a finding is left aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aside {
    /// How bad it would be otherwise.
    pub severity: Severity,
    /// The clause of its signal: "it runs in a command of a command line".
    pub because: &'static str,
}

/// The observation of a finding while the program ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Confirmed {
    /// The longest time for which the thread was held, in seconds; `None` where the evidence measures none.
    pub seconds: Option<f64>,
    /// How often it was seen: stalls of a recorder and lines of a log, samples of a profiler.
    pub times: u64,
    /// True if the stack of the call was recorded. Otherwise the evidence only shows that the function held the thread,
    /// by this or another call.
    pub exact: bool,
    /// The tests that showed it, each once, in the order in which they did.
    pub tests: Vec<String>,
}

impl Confirmed {
    /// `confirmed: 1.2 s, 3 times, in tests/test_a.py::test_load`.
    pub fn says(&self) -> String {
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
            [one] => text += &format!(", in {one}"),
            [first, more @ ..] => text += &format!(", in {first} and {} more", more.len()),
        }
        text
    }
}

/// Returns seconds as people write them.
fn duration(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1000.0) } else { format!("{seconds:.1} s") }
}

/// A signal that spoke of a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The signal's name, in kebab-case.
    pub name: &'static str,
    /// The signal as a clause: "it is made only where it lacks".
    pub says: &'static str,
    /// Its effect on a finding: "note", "less sure".
    pub makes: &'static str,
    /// Where a reader sees it.
    pub place: Option<Place>,
}

/// One step of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The site.
    pub place: Place,
    /// Qualified name of the body it stands in.
    pub function: String,
    /// Qualified name of what is called; at the end of a trace the model row's path.
    pub call: String,
    /// The callee as it is written there (`self.http.get`), for the trace in one line.
    pub written: String,
}

impl Step {
    /// Returns the words for a call over which another function holds a lock; it is no step of a path.
    pub fn holds_lock(&self) -> String {
        format!("`{}` holds the lock over `{}`", body_name(&self.function), self.written)
    }
}

/// A place in the project's code that enters a model row.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// The site.
    pub place: Place,
    /// Qualified name of the body it stands in.
    pub function: String,
    /// Path of the model row.
    pub call: String,
    /// How many roots reach it.
    pub reach: u32,
}

/// Findings that share the cause of their best path, in order of how many roots it reaches.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The cause; `None` for findings without one (BLT9xx).
    pub cause: Option<Cause>,
    /// Indices into the list of findings, by path, offset, rule.
    pub findings: Vec<u32>,
}

/// Edits that mend a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// The action of the edits, in the imperative.
    pub title: String,
    /// Tells if the edits may be applied without review.
    pub applicability: Applicability,
    /// The edits; they do not overlap.
    pub edits: Vec<Edit>,
}

/// When a fix may be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Applicability {
    /// Shown, never applied.
    Display,
    /// Applied on request: it changes something a reviewer should see.
    Unsafe,
    /// Keeps what the code does.
    Safe,
}

/// Replaces a span of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The text that is replaced.
    pub place: Place,
    /// By what.
    pub content: String,
}

/// Why a file has no bytes to offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnreadFile {
    /// It could not be read; the system's reason.
    Unreadable(String),
    /// It is longer than the limit; both in bytes.
    TooLarge {
        /// Length of the file, as far as it is known.
        size: u64,
        /// The limit.
        limit: u64,
    },
}

/// How a finding was silenced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// The reason given in the comment, if any.
    pub reason: Option<String>,
    /// By what.
    pub source: SuppressionSource,
}

/// The origin of a suppression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuppressionSource {
    /// A comment.
    Comment,
    /// `per-file-ignores` of the configuration.
    Configuration,
    /// The baseline: it was there when that was made.
    Baseline,
}

impl Finding {
    /// Returns the trace in one line, as documents and tests quote it: the bodies from the one this finding stands in,
    /// then the callee as it is written (`handler → load → read_config → open`); a constructor goes by its class. Empty
    /// without a trace.
    pub fn trace_line(&self) -> String {
        let Some(last) = self.trace.last() else { return String::new() };
        let bodies = self.trace.iter().map(|step| body_name(&step.function));
        bodies.chain([last.written.as_str()]).collect::<Vec<_>>().join(" → ")
    }
}

/// Returns the last name of a qualified name of any language: `load` of `app.Store.load` and `store::Store::load`.
pub fn last_name(qualified: &str) -> &str {
    let from = qualified.rfind(['.', ':']).map_or(0, |at| at + 1);
    qualified.get(from..).filter(|name| !name.is_empty()).unwrap_or(qualified)
}

/// Returns the name people know a body by: the last one of its qualified name, of a constructor that of its class.
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
    fn constructors_go_by_their_class() {
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
    fn what_was_seen_is_said() {
        let tests = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for (seconds, times, exact, of, says) in [
            (Some(1.24), 1, true, tests(&["t::a"]), "confirmed: 1.2 s, in t::a"),
            (Some(0.062), 3, true, tests(&["t::a", "t::b"]), "confirmed: 62 ms, 3 times, in t::a and 1 more"),
            (None, 34, true, tests(&[]), "confirmed, 34 times"),
            (Some(2.0), 1, false, tests(&[]), "seen: its function held the thread for 2.0 s"),
        ] {
            assert_eq!(Confirmed { seconds, times, exact, tests: of }.says(), says);
        }
    }

    #[test]
    fn last_names_of_three_languages() {
        for (qualified, last) in
            [("app.Store.load", "load"), ("store::Store::load", "load"), ("main", "main"), ("", ""), ("a.", "a.")]
        {
            assert_eq!(last_name(qualified), last);
        }
    }
}
