//! A test client that is connected to a server in memory.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use blocklint_server::{Connection, Ended, Hooks, serve};
use lsp_server::{Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The time limit of an answer: longer than any analysis of these tests takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A helper that blocks and a coroutine that calls it.
pub(crate) const HELPER: &str = "import time\n\n\ndef pause():\n    time.sleep(1)\n";
pub(crate) const APP: &str = "import work\n\n\nasync def handler():\n    work.pause()\n";

/// A client with its server.
pub(crate) struct Client {
    pub(crate) folder: TempDir,
    connection: Option<Connection>,
    server: Option<JoinHandle<Ended>>,
    next_id: i32,
    /// The capabilities in the result of `initialize`.
    pub(crate) capabilities: Value,
    /// Notifications that no test has taken yet.
    pub(crate) notified: VecDeque<Notification>,
    /// Requests of the server, which are answered immediately.
    pub(crate) asked: Vec<Request>,
    answers: BTreeMap<RequestId, Response>,
    /// The answer to `workspace/configuration`.
    pub(crate) settings: Value,
}

/// The parameters with which a client initialises the server.
pub(crate) struct Start {
    pub(crate) capabilities: Value,
    pub(crate) options: Value,
    /// The workspace folders, relative to the temporary folder; empty for a client without folders.
    pub(crate) folders: Vec<&'static str>,
    pub(crate) hooks: Hooks,
}

impl Start {
    pub(crate) fn pushing() -> Self {
        Start {
            capabilities: json!({
                "textDocument": { "publishDiagnostics": { "relatedInformation": true } },
                "workspace": { "workspaceEdit": { "documentChanges": true } },
                "window": { "showDocument": { "support": true } },
            }),
            options: json!({}),
            folders: vec![""],
            hooks: Hooks::default(),
        }
    }

    pub(crate) fn pulling() -> Self {
        let mut start = Start::pushing();
        start.capabilities["textDocument"]["diagnostic"] = json!({ "relatedInformation": true });
        start.capabilities["workspace"]["diagnostics"] = json!({ "refreshSupport": true });
        start
    }
}

impl Client {
    /// Creates a folder with these files, and initialises a server in it.
    pub(crate) fn new(files: &[(&str, &str)], start: Start) -> Self {
        let folder = TempDir::new().expect("a folder");
        let root = folder.path().canonicalize().expect("it exists");
        fs::create_dir(root.join(".git")).expect("created");
        for (path, text) in files {
            write(&root.join(path), text);
        }
        let (ours, theirs) = Connection::memory();
        let hooks = start.hooks;
        let server = std::thread::spawn(move || serve(&theirs, hooks).expect("threads"));
        let mut client = Client {
            folder,
            connection: Some(ours),
            server: Some(server),
            next_id: 0,
            capabilities: Value::Null,
            notified: VecDeque::new(),
            asked: Vec::new(),
            answers: BTreeMap::new(),
            settings: Value::Null,
        };
        let folders: Vec<Value> =
            start.folders.iter().map(|name| json!({ "uri": client.uri(name), "name": name })).collect();
        let initialized = client.request(
            "initialize",
            json!({
                "processId": null, "rootUri": null, "workspaceFolders": folders,
                "capabilities": start.capabilities, "initializationOptions": start.options,
            }),
        );
        client.capabilities = initialized["capabilities"].clone();
        client.notify("initialized", json!({}));
        client
    }

    pub(crate) fn uri(&self, path: &str) -> String {
        let root = self.folder.path().canonicalize().expect("it exists");
        let full = if path.is_empty() { root } else { root.join(path) };
        format!("file://{}", full.display())
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        write(&self.folder.path().join(path), text);
    }

    fn connection(&self) -> &Connection {
        self.connection.as_ref().expect("connected")
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        let notification = Notification { method: method.to_owned(), params };
        self.connection().sender.send(notification.into()).expect("the server listens");
    }

    /// Sends a request and does not wait for its answer.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> RequestId {
        self.next_id += 1;
        let id = RequestId::from(self.next_id);
        let request = Request { id: id.clone(), method: method.to_owned(), params };
        self.connection().sender.send(request.into()).expect("the server listens");
        id
    }

    /// Sends a request and returns its result.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.answer(&id);
        answer.response_result.unwrap_or_else(|error| panic!("{method}: {error:?}"))
    }

    /// Waits until a request fails, and returns the code and the message.
    pub(crate) fn refusal(&mut self, id: &RequestId) -> (i32, String) {
        let error = self.answer(id).response_result.expect_err("it is refused");
        (error.code, error.message)
    }

    /// Waits for the answer to a request.
    pub(crate) fn answer(&mut self, id: &RequestId) -> Response {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(answer) = self.answers.remove(id) {
                return answer;
            }
            assert!(self.receive(deadline), "no answer to {id}");
        }
    }

    /// True if a request was answered within this time.
    pub(crate) fn is_answered(&mut self, id: &RequestId, within: Duration) -> bool {
        let deadline = Instant::now() + within;
        while !self.answers.contains_key(id) && self.receive(deadline) {}
        self.answers.contains_key(id)
    }

    /// Waits for a notification of this method for which the check is true.
    pub(crate) fn await_notified(&mut self, method: &str, check: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let found = self.notified.iter().position(|of| of.method == method && check(&of.params));
            if let Some(at) = found {
                return self.notified.remove(at).expect("it is there").params;
            }
            assert!(self.receive(deadline), "no such {method}; seen: {:#?}", self.notified);
        }
    }

    /// Waits for a request of the server with this method.
    pub(crate) fn await_asked(&mut self, method: &str) -> Request {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.asked.iter().position(|of| of.method == method) {
                return self.asked.remove(at);
            }
            assert!(self.receive(deadline), "the server did not ask for {method}");
        }
    }

    /// Receives one message; returns false after the deadline.
    fn receive(&mut self, deadline: Instant) -> bool {
        let Ok(message) = self.connection().receiver.recv_deadline(deadline) else { return false };
        match message {
            Message::Response(answer) => drop(self.answers.insert(answer.id.clone(), answer)),
            Message::Notification(notification) => self.notified.push_back(notification),
            Message::Request(request) => {
                let result = match request.method.as_str() {
                    "workspace/configuration" => {
                        let items = request.params["items"].as_array().map_or(0, Vec::len);
                        json!(vec![self.settings.clone(); items])
                    }
                    "window/showDocument" => json!({ "success": true }),
                    _ => Value::Null,
                };
                let answer = Response::new_ok(request.id.clone(), result);
                self.connection().sender.send(answer.into()).expect("the server listens");
                self.asked.push(request);
            }
        }
        true
    }

    pub(crate) fn open(&mut self, path: &str, text: &str) {
        let language = match path.rsplit('.').next() {
            Some("rs") => "rust",
            Some("java") => "java",
            _ => "python",
        };
        let uri = self.uri(path);
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces the whole text.
    pub(crate) fn change(&mut self, path: &str, version: i32, text: &str) {
        let document = json!({ "uri": self.uri(path), "version": version });
        let changes = json!([{ "text": text }]);
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    /// Waits for diagnostics that the server pushes for this version of a file.
    pub(crate) fn pushed(&mut self, path: &str, version: Option<i32>) -> Vec<Value> {
        let uri = self.uri(path);
        let params = self.await_notified("textDocument/publishDiagnostics", |params| {
            params["uri"] == json!(uri) && (version.is_none() || params["version"] == json!(version))
        });
        params["diagnostics"].as_array().expect("a list").clone()
    }

    /// Pulls the diagnostics of a file.
    pub(crate) fn pulled(&mut self, path: &str) -> Vec<Value> {
        let uri = self.uri(path);
        let report = self.request("textDocument/diagnostic", json!({ "textDocument": { "uri": uri } }));
        assert_eq!(report["kind"], "full");
        report["items"].as_array().expect("a list").clone()
    }

    /// Returns the code actions for a range.
    pub(crate) fn actions(&mut self, path: &str, range: &Value, only: Option<&[&str]>) -> Vec<Value> {
        let mut context = json!({ "diagnostics": [] });
        if let Some(only) = only {
            context["only"] = json!(only);
        }
        let params = json!({ "textDocument": { "uri": self.uri(path) }, "range": range, "context": context });
        self.request("textDocument/codeAction", params).as_array().expect("a list").clone()
    }

    /// Shuts the server down and returns how it ended.
    pub(crate) fn end(mut self) -> Ended {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        self.join()
    }

    /// Closes the connection and returns how the server ended.
    pub(crate) fn join(&mut self) -> Ended {
        self.connection = None;
        self.server.take().expect("it runs").join().expect("the server does not panic")
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("below the folder")).expect("created");
    fs::write(path, text).expect("written");
}

/// Returns a range on one line.
pub(crate) fn range(line: u32, from: u32, to: u32) -> Value {
    json!({ "start": { "line": line, "character": from }, "end": { "line": line, "character": to } })
}

/// Returns a text after the edits of an action, each of which is on one line or is an insertion.
pub(crate) fn applied(text: &str, edit: &Value) -> String {
    let edits = edit["documentChanges"][0]["edits"].as_array().expect("edits");
    let offset = |position: &Value| {
        let line = position["line"].as_u64().expect("a line") as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        // The texts of these tests are ASCII, so characters are bytes.
        start + position["character"].as_u64().expect("a character") as usize
    };
    let mut new = text.to_owned();
    for edit in edits.iter().rev() {
        let (from, to) = (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]));
        new.replace_range(from..to, edit["newText"].as_str().expect("text"));
    }
    new
}
