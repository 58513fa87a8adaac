//! The description of a finding (`Subject`) that the analysis passes to the rules, and its sentences: the message says
//! the mistake, the notes say why it matters, the help says what to do.

use blocklint_core::{CallDuration, Fails, Hold, Language, Mistake, RuleCode, Runtime};

use crate::Rule;
use crate::advice::help;

/// The parts of a finding from which its sentences and its remedy are made.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// The violated rule.
    pub rule: &'static Rule,
    /// The mistake.
    pub mistake: &'a Mistake,
    /// The language of the file.
    pub language: Language,
    /// The runtime that drives the thread, if it is known.
    pub runtime: Option<Runtime>,
    /// Path of the model row at the end of the trace (`requests.Session.get`).
    pub call: &'a str,
    /// The callee at the place of the finding, as written (`store.load`).
    pub written: &'a str,
    /// True if the finding is at the library call itself, without a function of the project between them.
    pub is_direct: bool,
    /// The form of the site, which decides how a thread can run it.
    pub site: SiteForm,
    /// The body that must not block.
    pub owner: Owner<'a>,
    /// How long one call can block the thread.
    pub hold: Hold,
    /// The usual time of one call, if it is known.
    pub duration: Option<CallDuration>,
    /// The failure of the call on an event loop, if it fails there.
    pub fails: Option<Fails>,
    /// The async twin for this runtime, if the model has one.
    pub twin: Option<Twin<'a>>,
    /// True if a worker thread would not help, because the call keeps the interpreter's lock.
    pub holds_gil: bool,
    /// True if a loop on the path runs the call more than once, so that `hold` is the time of one iteration.
    pub is_repeated: bool,
    /// The name of the function that holds the lock for which the call waits.
    pub held_by: Option<&'a str>,
    /// A sentence that says how the site runs a method implicitly: "`list()` iterates over `books`".
    pub operation: Option<&'a str>,
    /// The note of the model row.
    pub note: Option<&'a str>,
    /// The number of further causes of the finding, without that of the trace and those in `other_rule_causes`.
    pub more_causes: u32,
    /// Causes of the same site that violate other rules: the rule, and the path of the model row.
    pub other_rule_causes: &'a [(RuleCode, &'a str)],
    /// The reason why the call should not move to a thread without the code around it.
    pub why_not_alone: Option<WhyNotAlone>,
    /// True if the build has an old version of the library, without `Publishers::workers` (Java).
    pub older_workers: bool,
}

/// The reason why a call should not move to a thread without the code around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyNotAlone {
    /// It uses an object that belongs to its thread or to the event loop: a connection, a session.
    ThreadBound,
    /// It returns an object whose use blocks as well: a file, a cursor.
    ResultBlocks,
    /// It creates an object, which would then be used on another thread.
    CreatesObject,
}

/// The body that must not block.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    /// The kind of the body.
    pub kind: OwnerKind,
    /// The name of the body as people write it (`handler`, `Store.load`), or of the body around it if it has none.
    pub name: &'a str,
}

/// The kinds of bodies that must not block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerKind {
    /// `async def`, `async fn`.
    AsyncFunction,
    /// An `async def` that yields.
    AsyncGenerator,
    /// Rust's `async { … }`; the name is that of the function around it.
    AsyncBlock,
    /// A closure or lambda that returns a future; the name is that of the function around it.
    AsyncClosure,
    /// A named function or method that the runtime calls on its thread.
    Callback,
    /// A lambda or closure that the runtime calls on its thread; the name is that of the function around it.
    CallbackLiteral,
    /// A function marked `# blocklint: nonblocking`.
    Marked,
    /// A function that assembles and returns a chain, which then runs on the event loop; the function is no coroutine.
    Assembly,
    /// Any other function, because the mistake does not depend on the thread.
    Plain,
}

impl OwnerKind {
    /// True if the body may contain `await`.
    pub fn is_async(self) -> bool {
        matches!(self, Self::AsyncFunction | Self::AsyncGenerator | Self::AsyncBlock | Self::AsyncClosure)
    }
}

/// The form of a site, which decides how the help moves it to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteForm {
    /// A call.
    Call,
    /// A callable that is passed as an argument.
    HandOver,
    /// Anything else that runs code: a property, an operator, `with`, `for`, an import.
    Implicit,
}

/// The async twin of a call.
#[derive(Clone, Copy, Debug)]
pub struct Twin<'a> {
    /// The path of the twin (`asyncio.sleep`).
    pub path: &'a str,
    /// True if it can replace the callee, because it is a function or a method of the same receiver.
    pub is_local: bool,
}

/// The sentences of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingText {
    /// The mistake, in one sentence without a full stop.
    pub message: String,
    /// The notes: why it matters, and the notes of the model row.
    pub notes: Vec<String>,
    /// The advice to the user.
    pub help: Option<String>,
}

impl Subject<'_> {
    /// Returns the sentences of the finding.
    pub fn words(&self) -> FindingText {
        let mistake_text = self.rule.mistake_words.and_then(|mistake| (mistake.words)(self));
        let FindingText { message, mut notes, help } = mistake_text.unwrap_or_else(|| self.words_of_blocking_call());
        notes.extend(self.operation.map(str::to_owned));
        notes.extend(self.held_by.map(|holder| format!("it may wait while `{holder}` holds the lock")));
        notes.extend(self.note.map(str::to_owned));
        notes.extend(self.other_rules_note());
        match self.more_causes {
            0 => {}
            1 => notes.push("and 1 more cause behind this call".to_owned()),
            more => notes.push(format!("and {more} more causes behind this call")),
        }
        FindingText { message, notes, help }
    }

    /// Returns the sentences of a finding of a rule that reports an effect.
    fn words_of_blocking_call(&self) -> FindingText {
        let through = if self.is_direct { String::new() } else { format!(" through `{}`", one_line(self.written)) };
        let (noun, call, owner, harm) = (self.rule.noun, self.call, self.owner.words(), self.harm());
        FindingText {
            message: format!("{noun} `{call}`{through} in {owner} {harm}"),
            notes: vec![self.why().to_owned()],
            help: help(self),
        }
    }

    /// Returns the note that says what a held thread delays.
    pub(crate) fn why(&self) -> &'static str {
        delayed_work(self.language, self.runtime)
    }

    /// Returns the note on causes of this site that other rules report: at most three calls, and the number of the
    /// rest.
    fn other_rules_note(&self) -> Option<String> {
        const MAX_CALLS: usize = 3;
        let shown = self.other_rule_causes.iter().take(MAX_CALLS).map(|(rule, call)| format!("`{call}` ({rule})"));
        let mut parts: Vec<String> = shown.collect();
        match self.other_rule_causes.len().saturating_sub(MAX_CALLS) {
            0 => {}
            1 => parts.push("1 more call".to_owned()),
            more => parts.push(format!("{more} more calls")),
        }
        let last = parts.pop()?;
        Some(if parts.is_empty() {
            format!("the same call also blocks in {last}")
        } else {
            format!("the same call also blocks in {} and {last}", parts.join(", "))
        })
    }

    /// Returns the end of the message: `can block the event loop for up to 5 s`.
    pub(crate) fn harm(&self) -> String {
        let thread = thread_name(self.language, self.runtime);
        match (self.fails, self.language) {
            (Some(Fails::Raises), Language::Rust) => return format!("panics on {thread}"),
            (Some(Fails::Raises), Language::Java) => return format!("throws on {thread}"),
            (Some(Fails::Raises), Language::Python) => return format!("raises on {thread}"),
            (Some(Fails::Deadlocks), _) => return format!("can deadlock {thread}"),
            (None, _) => {}
        }
        let is_exact = self.rule.effect == Some(blocklint_core::Effect::Sleep);
        if let (Hold::Unstated | Hold::Brief, Some(duration)) = (self.hold, self.duration) {
            return format!("can block {thread} for about {duration}");
        }
        match self.hold {
            Hold::Unstated => format!("can block {thread}"),
            Hold::Brief => format!("can block {thread} briefly"),
            Hold::Seconds(time) if !time.is_finite() => format!("can block {thread} with no time limit"),
            Hold::Seconds(time) if is_exact && self.is_repeated => {
                format!("can block {thread} for at least {}", format_seconds(time))
            }
            Hold::Seconds(time) if is_exact => format!("can block {thread} for {}", format_seconds(time)),
            Hold::Seconds(time) if self.is_repeated => {
                format!("can block {thread} for up to {} at a time", format_seconds(time))
            }
            Hold::Seconds(time) => format!("can block {thread} for up to {}", format_seconds(time)),
            Hold::Unbounded => format!("can block {thread} with no time limit"),
        }
    }
}

impl Owner<'_> {
    /// Returns the body in words: ``async function `handler` ``.
    pub(crate) fn words(&self) -> String {
        let name = self.name;
        match self.kind {
            OwnerKind::AsyncFunction => format!("async function `{name}`"),
            OwnerKind::AsyncGenerator => format!("async generator `{name}`"),
            OwnerKind::AsyncBlock => format!("an async block of `{name}`"),
            OwnerKind::AsyncClosure => format!("an async closure of `{name}`"),
            OwnerKind::Callback => format!("callback `{name}`"),
            OwnerKind::CallbackLiteral => format!("a callback of `{name}`"),
            OwnerKind::Marked => format!("nonblocking function `{name}`"),
            OwnerKind::Assembly | OwnerKind::Plain => format!("function `{name}`"),
        }
    }
}

/// Returns the usual name of the thread that is held: `the event loop`, `a tokio worker thread`.
fn thread_name(language: Language, runtime: Option<Runtime>) -> &'static str {
    match runtime {
        Some(Runtime::Tokio | Runtime::TokioCurrentThread) => "a tokio worker thread",
        Some(Runtime::AsyncStd) => "an async-std executor thread",
        Some(Runtime::Smol) => "a smol executor thread",
        Some(Runtime::Compio) => "a compio runtime's thread",
        Some(Runtime::Monoio) => "a monoio runtime's thread",
        Some(Runtime::Glommio) => "a glommio executor's thread",
        Some(Runtime::Reactor) => "a Reactor thread",
        Some(Runtime::Rxjava) => "an RxJava computation thread",
        Some(Runtime::Mutiny) => "a Mutiny event-loop thread",
        Some(Runtime::Vertx) => "a Vert.x event loop",
        Some(Runtime::Netty) => "a Netty event loop",
        Some(Runtime::Gevent) => "the gevent hub",
        Some(Runtime::Eventlet) => "the eventlet hub",
        Some(Runtime::Twisted) => "Twisted's reactor",
        Some(Runtime::Asyncio | Runtime::Anyio | Runtime::Trio | Runtime::Starlette | Runtime::Sqlalchemy) => {
            "the event loop"
        }
        None => match language {
            Language::Python => "the event loop",
            Language::Rust => "an async executor thread",
            Language::Java => "an event-loop thread",
        },
    }
}

/// Returns the sentence on the work that waits while the thread is held.
fn delayed_work(language: Language, runtime: Option<Runtime>) -> &'static str {
    match runtime {
        Some(Runtime::Tokio | Runtime::AsyncStd | Runtime::Smol) => {
            "until it returns, this thread runs no other task, and tasks queued on it wait"
        }
        Some(Runtime::TokioCurrentThread | Runtime::Compio | Runtime::Monoio | Runtime::Glommio) => {
            "until it returns, no other task runs: this runtime has one thread"
        }
        Some(Runtime::Netty | Runtime::Vertx) => "until it returns, no connection of this event loop is served",
        Some(Runtime::Reactor | Runtime::Rxjava | Runtime::Mutiny) => {
            "until it returns, no other pipeline on this thread makes progress"
        }
        Some(Runtime::Gevent | Runtime::Eventlet) => "until it returns, no other greenlet of this process runs",
        Some(Runtime::Asyncio | Runtime::Anyio | Runtime::Trio | Runtime::Starlette | Runtime::Sqlalchemy) => {
            "until it returns, no other task of this event loop runs"
        }
        Some(Runtime::Twisted) => "until it returns, nothing else of this reactor runs",
        None => match language {
            Language::Python => "until it returns, no other task of this event loop runs",
            Language::Rust => "until it returns, this thread runs no other task, and tasks queued on it wait",
            Language::Java => "until it returns, nothing else on this thread makes progress",
        },
    }
}

/// Returns a time as people write it: `50 ms`, `30 s`, `10 min`.
fn format_seconds(time: f64) -> String {
    let is_multiple_of = |unit: f64| time >= unit && time % unit == 0.0;
    match time {
        _ if time < 0.1 => format!("{} ms", rounded(time * 1000.0)),
        _ if time < 600.0 => format!("{} s", rounded(time)),
        _ if is_multiple_of(3600.0) => format!("{} h", time / 3600.0),
        _ if is_multiple_of(60.0) => format!("{} min", time / 60.0),
        _ => format!("{} s", rounded(time)),
    }
}

/// Returns the number with at most three digits behind the point.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

/// Returns source text for a message: one line, single blanks, at most 60 characters; the beginning of longer text is
/// replaced by `…`.
pub(crate) fn one_line(written: &str) -> String {
    const LONGEST: usize = 60;
    let line = written.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    // The end of a callee is more specific than its beginning: `….execute`.
    let tail = line.chars().rev().take(LONGEST - 1).collect::<Vec<_>>();
    format!("…{}", tail.into_iter().rev().collect::<String>())
}

#[cfg(test)]
mod tests {
    use blocklint_core::Effect;
    use insta::assert_snapshot;

    use super::*;
    use crate::rule;

    fn subject(effect: Effect, call: &'static str) -> Subject<'static> {
        Subject {
            rule: rule(effect.rule()).expect("a rule"),
            mistake: &Mistake::BlockingCall,
            language: Language::Python,
            runtime: Some(Runtime::Asyncio),
            call,
            written: "store.load",
            is_direct: false,
            site: SiteForm::Call,
            owner: Owner { kind: OwnerKind::AsyncFunction, name: "handler" },
            hold: Hold::Unstated,
            duration: None,
            fails: None,
            twin: None,
            holds_gil: false,
            is_repeated: false,
            held_by: None,
            operation: None,
            note: None,
            more_causes: 0,
            other_rule_causes: &[],
            why_not_alone: None,
            older_workers: false,
        }
    }

    fn all(subject: &Subject<'_>) -> String {
        let words = subject.words();
        let mut lines = vec![words.message];
        lines.extend(words.notes.iter().map(|note| format!("note: {note}")));
        lines.extend(words.help.map(|help| format!("help: {help}")));
        lines.join("\n")
    }

    #[test]
    fn a_call_behind_a_helper_is_reported_with_its_cause() {
        let finding =
            Subject { hold: Hold::Seconds(5.0), more_causes: 2, ..subject(Effect::Network, "requests.Session.get") };
        assert_snapshot!(all(&finding), @r"
        blocking network call `requests.Session.get` through `store.load` in async function `handler` can block the event loop for up to 5 s
        note: until it returns, no other task of this event loop runs
        note: and 2 more causes behind this call
        help: run it in a thread: `await asyncio.to_thread(store.load, …)`
        ");
    }

    #[test]
    fn a_direct_call_with_a_twin_is_helped_by_the_twin() {
        let finding = Subject {
            is_direct: true,
            written: "time.sleep",
            hold: Hold::Seconds(1.0),
            duration: None,
            twin: Some(Twin { path: "asyncio.sleep", is_local: true }),
            ..subject(Effect::Sleep, "time.sleep")
        };
        assert_snapshot!(all(&finding), @r"
        blocking sleep `time.sleep` in async function `handler` can block the event loop for 1 s
        note: until it returns, no other task of this event loop runs
        help: use `await asyncio.sleep(…)`
        ");
    }

    #[test]
    fn help_in_a_callback_awaits_nothing() {
        let finding = Subject {
            is_direct: true,
            written: "lock.acquire",
            owner: Owner { kind: OwnerKind::CallbackLiteral, name: "setup" },
            hold: Hold::Unbounded,
            duration: None,
            ..subject(Effect::Wait, "threading.Lock.acquire")
        };
        assert_snapshot!(all(&finding), @r"
        blocking wait `threading.Lock.acquire` in a callback of `setup` can block the event loop with no time limit
        note: until it returns, no other task of this event loop runs
        help: run it in a thread: `asyncio.get_running_loop().run_in_executor(None, lock.acquire, …)`
        ");
    }

    #[test]
    fn tokio_and_netty_have_messages_of_their_own() {
        let tokio = Subject {
            language: Language::Rust,
            runtime: Some(Runtime::Tokio),
            is_direct: true,
            written: "blocking_recv",
            fails: Some(Fails::Raises),
            owner: Owner { kind: OwnerKind::AsyncBlock, name: "main" },
            ..subject(Effect::Wait, "tokio::sync::oneshot::Receiver::blocking_recv")
        };
        assert_snapshot!(all(&tokio), @r"
        blocking wait `tokio::sync::oneshot::Receiver::blocking_recv` in an async block of `main` panics on a tokio worker thread
        note: until it returns, this thread runs no other task, and tasks queued on it wait
        help: run it on the blocking pool: `tokio::task::spawn_blocking(move || …).await`
        ");
        let netty = Subject {
            language: Language::Java,
            runtime: Some(Runtime::Netty),
            owner: Owner { kind: OwnerKind::Callback, name: "EchoHandler.channelRead" },
            hold: Hold::Seconds(0.05),
            duration: None,
            written: "pause",
            ..subject(Effect::Sleep, "java.lang.Thread.sleep")
        };
        assert_snapshot!(all(&netty), @r"
        blocking sleep `java.lang.Thread.sleep` through `pause` in callback `EchoHandler.channelRead` can block a Netty event loop for 50 ms
        note: until it returns, no connection of this event loop is served
        help: run it on a separate executor: `executor.execute(() -> …)`
        ");
    }

    #[test]
    fn times_are_short_and_exact() {
        for (time, words) in [
            (0.001, "1 ms"),
            (0.5, "0.5 s"),
            (30.0, "30 s"),
            (599.0, "599 s"),
            (600.0, "10 min"),
            (3600.0, "1 h"),
            (3601.0, "3601 s"),
        ] {
            assert_eq!(format_seconds(time), words);
        }
    }

    #[test]
    fn a_callee_over_many_lines_becomes_one_line() {
        assert_eq!(one_line("self\n    .client\n    .get"), "self .client .get");
        assert_eq!(one_line(&"ab".repeat(100)).chars().count(), 60);
    }
}
