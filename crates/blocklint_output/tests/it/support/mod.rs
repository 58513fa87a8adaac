//! Example findings for the tests of the renderers.

use std::sync::Arc;

use blocklint_core::{
    Cause, Confidence, Context, Effect, Finding, Group, Hold, Place, RuleCode, Runtime, Severity, Span, Step,
};
use blocklint_output::Sources;
use camino::Utf8Path;

pub(crate) const APP: &str = "from clients import Store
from wrap import retry

store = Store()

@retry
def fetch(key):
    return store.load(key)

async def handler():
    return fetch(\"k\")

async def both():
    fetch(\"a\")
    time.sleep(2)
";

pub(crate) const CLIENTS: &str = "import requests


class Store:
    def __init__(self):
        self.http = requests.Session()

    def load(self, key, wait=5):
        return self.http.get(
            key,
            timeout=wait,
        )
";

/// The files, findings and groups of an example.
pub(crate) struct Example {
    pub(crate) sources: Sources,
    pub(crate) findings: Vec<Finding>,
    pub(crate) groups: Vec<Group>,
}

/// Returns the place of the `nth` occurrence (from 0) of a text in a file.
pub(crate) fn place(file: &str, text: &str, needle: &str, nth: usize) -> Place {
    let (start, occurrence) = text.match_indices(needle).nth(nth).expect("in the text");
    let span = Span::new(start as u32, (start + occurrence.len()) as u32);
    let mut place = Place::unlocated(Arc::from(Utf8Path::new(file)), span);
    place.locate(text);
    place
}

pub(crate) fn step(place: Place, function: &str, call: &str, written: &str) -> Step {
    Step { place, function: function.to_owned(), call: call.to_owned(), written: written.to_owned() }
}

/// Returns an example project: one cause of findings in two functions, one cause with one finding, and a file that was
/// read in part.
pub(crate) fn example() -> Example {
    let (app, clients) = ("/p/app.py", "/p/clients.py");
    let get = place(clients, CLIENTS, "self.http.get(\n            key,\n            timeout=wait,\n        )", 0);
    let load = || step(place(app, APP, "store.load(key)", 0), "app.fetch", "clients.Store.load", "store.load");
    let request = || step(get.clone(), "clients.Store.load", "requests.Session.get", "self.http.get");
    let request_cause = Cause {
        place: get.clone(),
        function: "clients.Store.load".to_owned(),
        call: "requests.Session.get".to_owned(),
        reach: 2,
    };
    let network = |place: Place, function: &str| Finding {
        rule: RuleCode(102),
        severity: Severity::Error,
        confidence: Confidence::High,
        message: format!(
            "blocking network call `requests.Session.get` through `fetch` in async function `{}` can block the event loop for up to 5 s",
            blocklint_core::last_name(function)
        ),
        notes: vec!["until it returns, no other task of this event loop runs".to_owned()],
        help: Some("run it in a thread: `await asyncio.to_thread(fetch, …)`".to_owned()),
        place: place.clone(),
        weight: None,
        effect: Some(Effect::Network),
        context: Some(Context::EventLoop),
        runtime: Some(Runtime::Asyncio),
        function: function.to_owned(),
        hold: Hold::Seconds(5.0),
        trace: vec![step(place, function, "app.fetch", "fetch"), load(), request()],
        causes: vec![request_cause.clone()],
        fix: None,
        unfixed: None,
        fingerprint: "00d1e2f3a4b5c6d7".to_owned(),
        suppression: None,
        reasons: Vec::new(),
        reached_by: Vec::new(),
        aside: None,
        held_by: None,
        confirmed: None,
    };
    let sleep_place = place(app, APP, "time.sleep(2)", 0);
    let sleep_cause =
        Cause { place: sleep_place.clone(), function: "app.both".to_owned(), call: "time.sleep".to_owned(), reach: 1 };
    let sleep = Finding {
        rule: RuleCode(101),
        message: "blocking sleep `time.sleep` in async function `both` can block the event loop for 2 s".to_owned(),
        help: Some("use `await asyncio.sleep(…)`".to_owned()),
        place: sleep_place.clone(),
        effect: Some(Effect::Sleep),
        hold: Hold::Seconds(2.0),
        trace: vec![step(sleep_place.clone(), "app.both", "time.sleep", "time.sleep")],
        causes: vec![sleep_cause.clone()],
        ..network(sleep_place, "app.both")
    };
    let unread = Finding {
        rule: RuleCode(902),
        severity: Severity::Note,
        message: "read only in part: expected `:`".to_owned(),
        notes: Vec::new(),
        help: None,
        place: place("/p/old.py", "print 1\n", "1", 0),
        effect: None,
        context: None,
        runtime: None,
        function: String::new(),
        hold: Hold::Unstated,
        trace: Vec::new(),
        causes: Vec::new(),
        ..sleep.clone()
    };
    let mut sources = Sources::default();
    for (path, text) in [(app, APP), (clients, CLIENTS), ("/p/old.py", "print 1\n")] {
        sources.insert(Arc::from(Utf8Path::new(path)), Arc::from(text));
    }
    let handler = network(place(app, APP, "fetch(\"k\")", 0), "app.handler");
    let both = network(place(app, APP, "fetch(\"a\")", 0), "app.both");
    Example {
        sources,
        findings: vec![handler, both, sleep, unread],
        groups: vec![
            Group { cause: Some(request_cause), findings: vec![0, 1] },
            Group { cause: Some(sleep_cause), findings: vec![2] },
            Group { cause: None, findings: vec![3] },
        ],
    }
}
