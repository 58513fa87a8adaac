//! The main loop: one thread that reads messages, keeps the state and waits for nothing else.

use std::collections::HashMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use crossbeam_channel::{Receiver, Sender, never, select, tick};
use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};

use crate::analysis::FilePath;
use crate::capabilities::{self, Client, DEBUG_INFORMATION, GO_TO};
use crate::folder::Folder;
use crate::information::debug_information;
use crate::pool::{Pool, caught};
use crate::progress::ProgressMessage;
use crate::protocol::{
    DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams, DocumentDiagnosticParams,
    ExecuteCommandParams, Location, PublishDiagnosticsParams, Refused, Uri, WorkspaceDiagnosticParams, code,
    notification, params, request, response, value,
};
use crate::settings::{DiagnosticMode, Run, Settings};
use crate::text::Text;
use crate::view::{Document, Documents, View};
use crate::worker::{Event, Job};
use crate::{Ended, Hooks, answers, diagnostics, uri, watched};

/// How often it is looked whether work takes long.
const TICK: Duration = Duration::from_millis(100);

/// The files of one part of a streamed workspace report.
const PART: usize = 50;

/// The state of a server.
pub(crate) struct Server<'c> {
    connection: &'c Connection,
    hooks: Hooks,
    client: Arc<Client>,
    settings: Arc<Settings>,
    /// True if the client named no folder: each file then brings its own project.
    is_without_folders: bool,
    folders: Vec<Folder>,
    documents: Arc<Documents>,
    events: (Sender<Event>, Receiver<Event>),
    pool: Pool,
    waiting: Vec<Waiting>,
    workspace_waiting: Vec<(RequestId, WorkspaceDiagnosticParams)>,
    /// The requests of this server to the client.
    asked: HashMap<RequestId, Asked>,
    next_id: i32,
    /// The version and the `resultId` (LSP) of the diagnostics that the client has of each file.
    reported: HashMap<FilePath, (Option<i32>, String)>,
    is_shut_down: bool,
}

/// A request that waits for an analysis.
struct Waiting {
    request: Request,
    path: FilePath,
    revision: u64,
}

/// The events of the main loop.
enum Next {
    Message(Message),
    Event(Event),
    /// It is time to look whether work takes long.
    Tick,
    /// The client went away.
    Gone,
}

enum Asked {
    /// The settings of these folders.
    Configuration(Vec<Utf8PathBuf>),
    /// Something whose answer is of no interest.
    Other,
}

impl<'c> Server<'c> {
    /// Waits for `initialize`; nothing where the client goes before.
    pub(crate) fn start(connection: &'c Connection, hooks: Hooks) -> io::Result<Option<Self>> {
        let Ok((id, initialize)) = connection.initialize_start() else { return Ok(None) };
        let client = Client::new(&initialize);
        let options = &initialize["initializationOptions"];
        let (settings, wrong) = match Settings::read(options) {
            Ok(settings) => (settings, None),
            Err(wrong) => (Settings::default(), Some(wrong)),
        };
        let is_whole = settings.diagnostic_mode == DiagnosticMode::Workspace;
        let answer = Response::new_ok(id, capabilities::initialized(&client, is_whole));
        // Fails once the client is gone, which ends the loop.
        let _ = connection.sender.send(answer.into());
        let mut server = Server {
            connection,
            hooks,
            client: Arc::new(client),
            settings: Arc::new(settings),
            is_without_folders: false,
            folders: Vec::new(),
            documents: Arc::default(),
            events: crossbeam_channel::unbounded(),
            pool: Pool::new()?,
            waiting: Vec::new(),
            workspace_waiting: Vec::new(),
            asked: HashMap::new(),
            next_id: 0,
            reported: HashMap::new(),
            is_shut_down: false,
        };
        if let Some(wrong) = wrong {
            server.say(&format!("settings: {wrong}; the defaults hold"), true);
        }
        for folder in folders_of(&initialize) {
            server.open_folder(folder);
        }
        server.is_without_folders = server.folders.is_empty();
        Ok(Some(server))
    }

    pub(crate) fn run(&mut self) -> io::Result<Ended> {
        let ticks = tick(TICK);
        loop {
            match self.next(&ticks) {
                Next::Message(message) => {
                    if let Some(ended) = self.message(message) {
                        return Ok(ended);
                    }
                }
                Next::Event(event) => self.event(event),
                Next::Tick => self.tick(),
                Next::Gone => return Ok(Ended::Abruptly),
            }
        }
    }

    /// Waits for whatever comes next.
    fn next(&self, ticks: &Receiver<Instant>) -> Next {
        let awaits = self.client.progress && self.folders.iter().any(|folder| folder.progress.is_awaited());
        let silence = never();
        let ticks = if awaits { ticks } else { &silence };
        select! {
            recv(self.connection.receiver) -> message => message.map_or(Next::Gone, Next::Message),
            recv(self.events.1) -> event => event.map_or(Next::Gone, Next::Event),
            recv(ticks) -> _ => Next::Tick,
        }
    }

    fn message(&mut self, message: Message) -> Option<Ended> {
        match message {
            Message::Request(request) => {
                let id = request.id.clone();
                let handled = catch_unwind(AssertUnwindSafe(|| self.request(request)));
                if handled.is_err() {
                    let refused = Refused::new(code::INTERNAL_ERROR, "internal error");
                    self.send(response(id, Err(refused)).into());
                }
            }
            Message::Notification(Notification { method, .. }) if method == "exit" => {
                return Some(if self.is_shut_down { Ended::Shutdown } else { Ended::Abruptly });
            }
            Message::Notification(notification) => {
                let method = notification.method.clone();
                match catch_unwind(AssertUnwindSafe(|| self.notified(notification))) {
                    Ok(Ok(())) => {}
                    Ok(Err(refused)) => self.log(&format!("{method}: {}", refused.message)),
                    Err(_) => self.log(&format!("{method}: internal error")),
                }
            }
            Message::Response(answer) => self.answered(answer),
        }
        None
    }

    // ---- requests

    fn request(&mut self, request: Request) {
        if self.is_shut_down {
            let refused = Refused::new(code::INVALID_REQUEST, "the server is shut down");
            return self.send(response(request.id, Err(refused)).into());
        }
        let id = request.id.clone();
        let result = match request.method.as_str() {
            "shutdown" => {
                self.is_shut_down = true;
                for waiting in std::mem::take(&mut self.waiting) {
                    self.send(response(waiting.request.id, Err(Refused::cancelled())).into());
                }
                for (id, _) in std::mem::take(&mut self.workspace_waiting) {
                    self.send(response(id, Err(Refused::cancelled())).into());
                }
                self.folders.clear();
                Ok(Value::Null)
            }
            "textDocument/diagnostic" => return self.wait(request),
            "workspace/diagnostic" => match params(request.params) {
                Ok(asked) => {
                    self.workspace_waiting.push((id, asked));
                    return self.report_workspace();
                }
                Err(refused) => Err(refused),
            },
            "workspace/executeCommand" => self.execute(request.params),
            method if answers::is_known(method) => return self.wait(request),
            other => Err(Refused::new(code::METHOD_NOT_FOUND, format!("no such request: {other}"))),
        };
        self.send(response(id, result).into());
    }

    /// Answers a request about a file once its folder is analysed as it stands.
    fn wait(&mut self, request: Request) {
        let path = answers::subject(&request).and_then(|uri| uri::to_path(&uri));
        let Some(path) = path else {
            // An address of another scheme is a file of which nothing is known.
            return self.answer(request, Arc::from(Utf8Path::new("")));
        };
        let path = Arc::from(path);
        let revision = self.folder(&path).map_or(0, |folder| folder.revision());
        if self.folder(&path).is_none_or(|folder| folder.has(revision)) {
            return self.answer(request, path);
        }
        self.waiting.push(Waiting { request, path, revision });
    }

    /// Answers a request from what is known now.
    fn answer(&mut self, request: Request, path: FilePath) {
        let view = self.view(&path);
        let id = request.id.clone();
        let on_request = self.hooks.on_request;
        if request.method == "textDocument/diagnostic" {
            let answer = caught(|| {
                on_request.into_iter().for_each(|hook| hook(&request.method));
                self.pulled(&view, &path, request.params)
            });
            return self.send(response(id, answer).into());
        }
        self.pool.answer(self.connection.sender.clone(), id, move || {
            on_request.into_iter().for_each(|hook| hook(&request.method));
            answers::answer(&view, &path, request)
        });
    }

    fn pulled(&mut self, view: &View, path: &FilePath, asked: Value) -> Result<Value, Refused> {
        let asked: DocumentDiagnosticParams = params(asked)?;
        let (items, result_id) = diagnostics::of_file(view, path);
        self.reported.insert(Arc::clone(path), (view.version(path), result_id.clone()));
        Ok(match asked.previous_result_id == Some(result_id.clone()) {
            true => json!({ "kind": "unchanged", "resultId": result_id }),
            false => json!({ "kind": "full", "resultId": result_id, "items": value(items)? }),
        })
    }

    fn execute(&mut self, asked: Value) -> Result<Value, Refused> {
        let asked: ExecuteCommandParams = params(asked)?;
        match asked.command.as_str() {
            GO_TO => {
                let place = asked.arguments.and_then(|all| all.into_iter().next()).unwrap_or_default();
                let Location { uri, range } = params(place)?;
                self.ask(
                    "window/showDocument",
                    json!({ "uri": uri, "selection": range, "takeFocus": true }),
                    Asked::Other,
                );
                Ok(Value::Null)
            }
            DEBUG_INFORMATION => Ok(Value::String(debug_information(&self.client, &self.folders))),
            other => Err(Refused::new(code::INVALID_PARAMS, format!("no such command: {other}"))),
        }
    }

    // ---- notifications

    fn notified(&mut self, Notification { method, params: told }: Notification) -> Result<(), Refused> {
        match method.as_str() {
            "initialized" => {
                let registrations = capabilities::registrations(&self.client);
                if !registrations.is_empty() {
                    self.ask("client/registerCapability", json!({ "registrations": registrations }), Asked::Other);
                }
                self.pull_settings();
            }
            "textDocument/didOpen" => self.opened(params(told)?),
            "textDocument/didChange" => self.changed(params(told)?),
            "textDocument/didSave" => self.saved(&params::<DidSaveTextDocumentParams>(told)?.text_document.uri),
            "textDocument/didClose" => self.closed(&params::<DidCloseTextDocumentParams>(told)?.text_document.uri),
            "workspace/didChangeWatchedFiles" => {
                let changes: DidChangeWatchedFilesParams = params(told)?;
                let documents = Arc::clone(&self.documents);
                for folder in &mut self.folders {
                    for job in watched::jobs(folder, &changes, &documents) {
                        folder.give(job);
                    }
                }
            }
            "workspace/didChangeConfiguration" => {
                if self.client.configuration {
                    self.pull_settings();
                } else if told["settings"].as_object().is_some_and(|settings| !settings.is_empty()) {
                    // Clients without settings of their own send an empty object, which shows nothing.
                    let read = Settings::read(&told["settings"]);
                    self.settings = Arc::new(read.map_err(|wrong| Refused::new(code::INVALID_PARAMS, wrong))?);
                    let settings = Arc::clone(&self.settings);
                    for at in 0..self.folders.len() {
                        self.set(at, Arc::clone(&settings));
                    }
                }
            }
            "workspace/didChangeWorkspaceFolders" => {
                let change = params::<DidChangeWorkspaceFoldersParams>(told)?.event;
                for gone in change.removed.iter().filter_map(|folder| uri::to_path(&folder.uri)) {
                    self.folders.retain(|folder| folder.path != gone);
                }
                for new in change.added.iter().filter_map(|folder| uri::to_path(&folder.uri)) {
                    self.is_without_folders = false;
                    self.open_folder(new);
                }
                self.pull_settings();
                self.publish_all();
            }
            "$/cancelRequest" => self.cancel(&told["id"]),
            _ => {}
        }
        Ok(())
    }

    fn opened(&mut self, DidOpenTextDocumentParams { text_document: of }: DidOpenTextDocumentParams) {
        let Some(path) = uri::to_path(&of.uri) else { return };
        let path: FilePath = Arc::from(path);
        let text = Arc::new(Text::new(Arc::from(of.text)));
        let document = Document { uri: of.uri, version: of.version, text: Arc::clone(&text) };
        Arc::make_mut(&mut self.documents).insert(Arc::clone(&path), document);
        if self.is_without_folders && self.folder(&path).is_none() {
            let parent = path.parent().unwrap_or(&path);
            self.open_folder(blocklint_project::project_root(parent).0);
            return;
        }
        let watches = self.client.registers_watchers;
        let Some(folder) = self.folder_mut(&path) else { return };
        // Sessions that get no message about new files learn of them here.
        if !watches && folder.is_current() && !folder.analysis.files.contains(&path) && path.is_file() {
            folder.give(Job::Reload(Default::default()));
        }
        folder.give(Job::Change(path, Some(Arc::clone(text.content()))));
    }

    fn changed(&mut self, change: DidChangeTextDocumentParams) {
        let Some(path) = uri::to_path(&change.text_document.text_document_identifier.uri) else { return };
        let path: FilePath = Arc::from(path);
        let encoding = self.client.encoding;
        let Some(document) = Arc::make_mut(&mut self.documents).get_mut(&path) else { return };
        document.version = change.text_document.version;
        document.text = Arc::new(document.text.changed(change.content_changes, encoding));
        let text = Arc::clone(document.text.content());
        // A request about the old text has no answer any more; its diagnostics are wanted as of the new one.
        let (outdated, waiting): (Vec<Waiting>, Vec<Waiting>) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|of| of.path == path && of.request.method != "textDocument/diagnostic");
        self.waiting = waiting;
        for waiting in outdated {
            self.send(response(waiting.request.id, Err(Refused::outdated())).into());
        }
        let Some(folder) = self.folder_mut(&path) else { return };
        if folder.settings.run == Run::OnType {
            folder.give(Job::Change(Arc::clone(&path), Some(text)));
            let revision = folder.revision();
            for waiting in self.waiting.iter_mut().filter(|waiting| waiting.path == path) {
                waiting.revision = revision;
            }
        }
    }

    fn saved(&mut self, uri: &Uri) {
        let Some(path) = uri::to_path(uri) else { return };
        let text = self.documents.get(&*path).map(|document| Arc::clone(document.text.content()));
        let Some(folder) = self.folder_mut(&path) else { return };
        if folder.settings.run == Run::OnSave {
            folder.give(Job::Change(Arc::from(path), text));
        }
    }

    fn closed(&mut self, uri: &Uri) {
        let Some(path) = uri::to_path(uri) else { return };
        Arc::make_mut(&mut self.documents).remove(&*path);
        let path: FilePath = Arc::from(path);
        self.reported.remove(&path);
        let is_whole = self.folder(&path).is_some_and(|of| of.settings.diagnostic_mode == DiagnosticMode::Workspace);
        if !self.client.pulls_diagnostics && !is_whole {
            self.publish(PublishDiagnosticsParams { uri: uri.clone(), version: None, diagnostics: Vec::new() });
        }
        if let Some(folder) = self.folder_mut(&path) {
            folder.give(Job::Change(path, None));
        }
    }

    fn cancel(&mut self, id: &Value) {
        let Ok(id) = serde_json::from_value::<RequestId>(id.clone()) else { return };
        let before = self.waiting.len() + self.workspace_waiting.len();
        self.waiting.retain(|waiting| waiting.request.id != id);
        self.workspace_waiting.retain(|(waiting, _)| *waiting != id);
        if self.waiting.len() + self.workspace_waiting.len() < before {
            self.send(response(id, Err(Refused::cancelled())).into());
        }
    }

    // ---- settings and folders

    fn open_folder(&mut self, path: Utf8PathBuf) {
        if self.folders.iter().any(|folder| folder.path == path) {
            return;
        }
        match Folder::open(path.clone(), Arc::clone(&self.settings), &self.documents, self.hooks, self.events.0.clone())
        {
            Ok(folder) => self.folders.push(folder),
            Err(error) => self.say(&format!("{path}: {error}"), true),
        }
    }

    fn pull_settings(&mut self) {
        if !self.client.configuration || self.folders.is_empty() {
            return;
        }
        let folders: Vec<Utf8PathBuf> = self.folders.iter().map(|folder| folder.path.clone()).collect();
        let items: Vec<Value> = folders
            .iter()
            .map(|folder| json!({ "scopeUri": uri::from_path(folder), "section": "blocklint" }))
            .collect();
        self.ask("workspace/configuration", json!({ "items": items }), Asked::Configuration(folders));
    }

    fn answered(&mut self, answer: Response) {
        let Some(Asked::Configuration(folders)) = self.asked.remove(&answer.id) else { return };
        let Ok(Value::Array(all)) = answer.response_result else { return };
        for (path, told) in folders.iter().zip(all) {
            let Some(at) = self.folders.iter().position(|folder| folder.path == *path) else { continue };
            // A client that has no settings of this section keeps those that it began with.
            if told.is_null() {
                continue;
            }
            match Settings::read(&told) {
                Ok(settings) => self.set(at, Arc::new(settings)),
                Err(wrong) => self.say(&format!("settings: {wrong}; the old ones hold"), true),
            }
        }
    }

    fn set(&mut self, at: usize, settings: Arc<Settings>) {
        let folder = &mut self.folders[at];
        if folder.settings == settings {
            return;
        }
        let lenses = folder.settings.code_lens != settings.code_lens;
        folder.settings = Arc::clone(&settings);
        folder.give(Job::Settings(settings));
        if lenses && self.client.refreshes_lenses {
            self.ask("workspace/codeLens/refresh", Value::Null, Asked::Other);
        }
    }

    /// Returns the innermost folder around a path.
    fn folder(&self, path: &Utf8Path) -> Option<&Folder> {
        self.folders.iter().filter(|folder| folder.holds(path)).max_by_key(|folder| folder.path.as_str().len())
    }

    fn folder_mut(&mut self, path: &Utf8Path) -> Option<&mut Folder> {
        let holding = self.folders.iter_mut().filter(|folder| folder.holds(path));
        holding.max_by_key(|folder| folder.path.as_str().len())
    }

    // ---- events

    fn event(&mut self, event: Event) {
        match event {
            Event::Works { folder, at } => {
                let folder = self.folders.iter_mut().find(|known| known.path == folder);
                let sends = folder.map(|folder| folder.progress.works(at, Instant::now()));
                self.send_progress(sends.unwrap_or_default());
            }
            Event::Tells { message, is_error } => self.say(&message, is_error),
            Event::Analysed { folder, revision, analysis } => {
                let Some(folder) = self.folders.iter_mut().find(|known| known.path == folder) else { return };
                folder.analysed(revision, analysis);
                let lenses = folder.settings.code_lens;
                let is_current = folder.is_current();
                let sends = if is_current { folder.progress.ends() } else { Vec::new() };
                self.send_progress(sends);
                self.answer_waiting();
                if !is_current {
                    return;
                }
                self.publish_all();
                self.report_workspace();
                if lenses && self.client.refreshes_lenses {
                    self.ask("workspace/codeLens/refresh", Value::Null, Asked::Other);
                }
            }
        }
    }

    fn answer_waiting(&mut self) {
        let (ready, waiting): (Vec<Waiting>, Vec<Waiting>) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|waiting| self.folder(&waiting.path).is_none_or(|folder| folder.has(waiting.revision)));
        self.waiting = waiting;
        for Waiting { request, path, .. } in ready {
            self.answer(request, path);
        }
    }

    /// Tells the client of diagnostics that differ from what it knows: of files that it holds open, and where the whole
    /// workspace is reported, of all others.
    fn publish_all(&mut self) {
        let mut paths: Vec<FilePath> = self.documents.keys().cloned().collect();
        if !self.client.pulls_diagnostics {
            let whole = |folder: &&Folder| folder.settings.diagnostic_mode == DiagnosticMode::Workspace;
            for folder in self.folders.iter().filter(whole) {
                paths.extend(folder.analysis.by_file.keys().cloned());
            }
            paths.extend(self.reported.keys().cloned());
        }
        paths.sort();
        paths.dedup();
        let mut is_stale = false;
        for path in paths {
            let view = self.view(&path);
            let (diagnostics, result_id) = diagnostics::of_file(&view, &path);
            let now = (view.version(&path), result_id);
            let known = self.reported.get(&path);
            if self.client.pulls_diagnostics {
                is_stale |= known.is_some_and(|known| known.1 != now.1);
            } else if known != Some(&now) && !(known.is_none() && diagnostics.is_empty() && now.0.is_none()) {
                self.publish(PublishDiagnosticsParams { uri: view.uri(&path), version: now.0, diagnostics });
                self.reported.insert(path, now);
            }
        }
        if is_stale && self.client.refreshes_diagnostics {
            self.ask("workspace/diagnostic/refresh", Value::Null, Asked::Other);
        }
    }

    /// Answers the waiting requests for diagnostics of the whole workspace, if there are new diagnostics for them.
    fn report_workspace(&mut self) {
        if self.workspace_waiting.is_empty() || !self.folders.iter().all(Folder::is_current) {
            return;
        }
        for (id, asked) in std::mem::take(&mut self.workspace_waiting) {
            let known: HashMap<&Uri, &str> =
                asked.previous_result_ids.iter().map(|known| (&known.uri, known.value.as_str())).collect();
            let mut items = Vec::new();
            let mut listed: Vec<Uri> = Vec::new();
            for folder in &self.folders {
                if folder.settings.diagnostic_mode != DiagnosticMode::Workspace {
                    continue;
                }
                let mut paths: Vec<&FilePath> = folder.analysis.by_file.keys().collect();
                paths.sort();
                for path in paths {
                    let view = self.view(path);
                    let uri = view.uri(path);
                    let (diagnostics, result_id) = diagnostics::of_file(&view, path);
                    listed.push(uri.clone());
                    if known.get(&uri) != Some(&result_id.as_str()) {
                        items.push(json!({
                            "kind": "full", "uri": uri, "version": view.version(path),
                            "resultId": result_id, "items": diagnostics,
                        }));
                    }
                }
            }
            // Files that had diagnostics and have none any more.
            let (_, none) = diagnostics::of_file(&self.view(Utf8Path::new("")), Utf8Path::new(""));
            for (uri, value) in known {
                if !listed.contains(uri) && value != none {
                    items.push(json!({ "kind": "full", "uri": uri, "version": null, "resultId": none, "items": [] }));
                }
            }
            if items.is_empty() {
                // The client asks again as soon as it is answered: it waits until there is something new.
                self.workspace_waiting.push((id, asked));
                continue;
            }
            let token = asked.partial_result_params.partial_result_token;
            if let Some(token) = token {
                for part in items.chunks(PART) {
                    self.send(notification("$/progress", json!({ "token": token, "value": { "items": part } })).into());
                }
                items.clear();
            }
            self.send(response(id, Ok(json!({ "items": items }))).into());
        }
    }

    fn tick(&mut self) {
        for at in 0..self.folders.len() {
            let number = self.next_id;
            let sends = self.folders[at].progress.tick(Instant::now(), number);
            self.send_progress(sends);
        }
    }

    fn send_progress(&mut self, sends: Vec<ProgressMessage>) {
        for send in sends {
            match send {
                ProgressMessage::Create(params) => self.ask("window/workDoneProgress/create", params, Asked::Other),
                ProgressMessage::Progress(params) => self.send(notification("$/progress", params).into()),
            }
        }
    }

    // ---- sending

    fn view(&self, path: &Utf8Path) -> View {
        let folder = self.folder(path);
        View {
            client: Arc::clone(&self.client),
            settings: folder.map_or_else(|| Arc::clone(&self.settings), |folder| Arc::clone(&folder.settings)),
            analysis: folder.map_or_else(Arc::default, |folder| Arc::clone(&folder.analysis)),
            documents: Arc::clone(&self.documents),
        }
    }

    fn publish(&self, diagnostics: PublishDiagnosticsParams) {
        if let Ok(params) = value(diagnostics) {
            self.send(notification("textDocument/publishDiagnostics", params).into());
        }
    }

    fn ask(&mut self, method: &str, params: Value, asked: Asked) {
        self.next_id += 1;
        self.asked.insert(RequestId::from(self.next_id), asked);
        self.send(request(self.next_id, method, params).into());
    }

    /// Tells the user something: an error in their face, the rest in the log.
    fn say(&self, message: &str, is_error: bool) {
        if !is_error {
            return self.log(message);
        }
        let params = json!({ "type": 1, "message": format!("blocklint: {message}") });
        self.send(notification("window/showMessage", params).into());
    }

    fn log(&self, message: &str) {
        self.send(notification("window/logMessage", json!({ "type": 2, "message": message })).into());
    }

    fn send(&self, message: Message) {
        // Fails once the client is gone, which ends the loop.
        let _ = self.connection.sender.send(message);
    }
}

/// Returns the folders that a client works in.
fn folders_of(initialize: &Value) -> Vec<Utf8PathBuf> {
    let path = |uri: &Value| uri.as_str().and_then(|uri| uri::to_path(&Uri(uri.to_owned())));
    if let Some(folders) = initialize["workspaceFolders"].as_array().filter(|folders| !folders.is_empty()) {
        return folders.iter().filter_map(|folder| path(&folder["uri"])).collect();
    }
    let root = path(&initialize["rootUri"]).or_else(|| initialize["rootPath"].as_str().map(Utf8PathBuf::from));
    root.filter(|root| root.is_absolute()).into_iter().collect()
}
