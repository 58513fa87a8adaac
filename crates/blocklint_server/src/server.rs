//! The main loop of the server: one thread that handles LSP messages and events of workers, and never waits for an
//! analysis.

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
use crate::pool::{Pool, catch_panic};
use crate::progress::ProgressMessage;
use crate::protocol::{
    DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams, DocumentDiagnosticParams,
    ExecuteCommandParams, Location, PublishDiagnosticsParams, RequestError, Uri, WorkspaceDiagnosticParams, code,
    notification, parse_params, request, response, to_value,
};
use crate::settings::{DiagnosticMode, Run, Settings};
use crate::text::Text;
use crate::view::{Document, Documents, View};
use crate::worker::{Event, Job};
use crate::{Ended, Hooks, answers, diagnostics, uri, watched};

/// The interval at which progress of long work is checked.
const TICK: Duration = Duration::from_millis(100);

/// The number of files in one part of a streamed workspace report.
const FILES_PER_PART: usize = 50;

/// The state of a server.
pub(crate) struct Server<'c> {
    connection: &'c Connection,
    hooks: Hooks,
    client: Arc<Client>,
    settings: Arc<Settings>,
    /// True if the client opened no workspace folder; the project of each opened file then becomes a folder.
    is_without_folders: bool,
    folders: Vec<Folder>,
    documents: Arc<Documents>,
    events: (Sender<Event>, Receiver<Event>),
    pool: Pool,
    waiting: Vec<Waiting>,
    workspace_waiting: Vec<(RequestId, WorkspaceDiagnosticParams)>,
    /// The requests to the client that wait for a response.
    sent_requests: HashMap<RequestId, SentRequest>,
    next_id: i32,
    /// The version and the LSP `resultId` of the diagnostics that the client has for each file.
    reported: HashMap<FilePath, (Option<i32>, String)>,
    is_shut_down: bool,
}

/// A request that waits for an analysis.
struct Waiting {
    request: Request,
    path: FilePath,
    revision: u64,
}

/// The input that the main loop handles next.
enum Input {
    Message(Message),
    Event(Event),
    /// Time to check if work takes long.
    Tick,
    /// The client closed the connection.
    Gone,
}

/// A request to the client, by the use of its response.
enum SentRequest {
    /// The settings of these folders.
    Configuration(Vec<Utf8PathBuf>),
    /// A request whose response is ignored.
    Other,
}

impl<'c> Server<'c> {
    /// Waits for `initialize` and answers it; `None` if the client closes the connection before.
    pub(crate) fn start(connection: &'c Connection, hooks: Hooks) -> io::Result<Option<Self>> {
        let Ok((id, initialize)) = connection.initialize_start() else { return Ok(None) };
        let client = Client::new(&initialize);
        let options = &initialize["initializationOptions"];
        let (settings, mistake) = match Settings::read(options) {
            Ok(settings) => (settings, None),
            Err(mistake) => (Settings::default(), Some(mistake)),
        };
        let reports_workspace = settings.diagnostic_mode == DiagnosticMode::Workspace;
        let response = Response::new_ok(id, capabilities::initialize_result(&client, reports_workspace));
        // Fails once the client is gone, which ends the loop.
        let _ = connection.sender.send(response.into());
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
            sent_requests: HashMap::new(),
            next_id: 0,
            reported: HashMap::new(),
            is_shut_down: false,
        };
        if let Some(mistake) = mistake {
            server.show_message(&format!("settings: {mistake}; the defaults hold"), true);
        }
        for folder in workspace_folders(&initialize) {
            server.open_folder(folder);
        }
        server.is_without_folders = server.folders.is_empty();
        Ok(Some(server))
    }

    pub(crate) fn run(&mut self) -> io::Result<Ended> {
        let ticks = tick(TICK);
        loop {
            match self.receive(&ticks) {
                Input::Message(message) => {
                    if let Some(ended) = self.handle_message(message) {
                        return Ok(ended);
                    }
                }
                Input::Event(event) => self.handle_event(event),
                Input::Tick => self.show_long_work(),
                Input::Gone => return Ok(Ended::Abruptly),
            }
        }
    }

    /// Waits for a message, an event of a worker, or a tick if progress is pending.
    fn receive(&self, ticks: &Receiver<Instant>) -> Input {
        let is_pending = self.client.progress && self.folders.iter().any(|folder| folder.progress.is_pending());
        let silence = never();
        let ticks = if is_pending { ticks } else { &silence };
        select! {
            recv(self.connection.receiver) -> message => message.map_or(Input::Gone, Input::Message),
            recv(self.events.1) -> event => event.map_or(Input::Gone, Input::Event),
            recv(ticks) -> _ => Input::Tick,
        }
    }

    fn handle_message(&mut self, message: Message) -> Option<Ended> {
        match message {
            Message::Request(request) => {
                let id = request.id.clone();
                let handled = catch_unwind(AssertUnwindSafe(|| self.handle_request(request)));
                if handled.is_err() {
                    let refused = RequestError::new(code::INTERNAL_ERROR, "internal error");
                    self.send(response(id, Err(refused)).into());
                }
            }
            Message::Notification(Notification { method, .. }) if method == "exit" => {
                return Some(if self.is_shut_down { Ended::Shutdown } else { Ended::Abruptly });
            }
            Message::Notification(notification) => {
                let method = notification.method.clone();
                match catch_unwind(AssertUnwindSafe(|| self.handle_notification(notification))) {
                    Ok(Ok(())) => {}
                    Ok(Err(refused)) => self.log_message(&format!("{method}: {}", refused.message)),
                    Err(_) => self.log_message(&format!("{method}: internal error")),
                }
            }
            Message::Response(answer) => self.handle_response(answer),
        }
        None
    }

    // ---- requests

    fn handle_request(&mut self, request: Request) {
        if self.is_shut_down {
            let refused = RequestError::new(code::INVALID_REQUEST, "the server is shut down");
            return self.send(response(request.id, Err(refused)).into());
        }
        let id = request.id.clone();
        let result = match request.method.as_str() {
            "shutdown" => {
                self.is_shut_down = true;
                for waiting in std::mem::take(&mut self.waiting) {
                    self.send(response(waiting.request.id, Err(RequestError::cancelled())).into());
                }
                for (id, _) in std::mem::take(&mut self.workspace_waiting) {
                    self.send(response(id, Err(RequestError::cancelled())).into());
                }
                self.folders.clear();
                Ok(Value::Null)
            }
            "textDocument/diagnostic" => return self.answer_when_analysed(request),
            "workspace/diagnostic" => match parse_params(request.params) {
                Ok(asked) => {
                    self.workspace_waiting.push((id, asked));
                    return self.report_workspace();
                }
                Err(refused) => Err(refused),
            },
            "workspace/executeCommand" => self.execute_command(request.params),
            method if answers::is_file_request(method) => return self.answer_when_analysed(request),
            method => Err(RequestError::new(code::METHOD_NOT_FOUND, format!("no such request: {method}"))),
        };
        self.send(response(id, result).into());
    }

    /// Answers a request about a file, once the analysis of its folder is current.
    fn answer_when_analysed(&mut self, request: Request) {
        let path = answers::request_uri(&request).and_then(|uri| uri::to_path(&uri));
        let Some(path) = path else {
            // A URI of another scheme is no file on disk, so its answer is empty.
            return self.answer(request, Arc::from(Utf8Path::new("")));
        };
        let path = Arc::from(path);
        let revision = self.folder_of(&path).map_or(0, |folder| folder.revision());
        if self.folder_of(&path).is_none_or(|folder| folder.has_analysed(revision)) {
            return self.answer(request, path);
        }
        self.waiting.push(Waiting { request, path, revision });
    }

    /// Answers a request from the last analysis.
    fn answer(&mut self, request: Request, path: FilePath) {
        let view = self.view(&path);
        let id = request.id.clone();
        let on_request = self.hooks.on_request;
        if request.method == "textDocument/diagnostic" {
            let answer = catch_panic(|| {
                on_request.into_iter().for_each(|hook| hook(&request.method));
                self.pull_diagnostics(&view, &path, request.params)
            });
            return self.send(response(id, answer).into());
        }
        self.pool.answer(self.connection.sender.clone(), id, move || {
            on_request.into_iter().for_each(|hook| hook(&request.method));
            answers::answer(&view, &path, request)
        });
    }

    fn pull_diagnostics(&mut self, view: &View, path: &FilePath, request_params: Value) -> Result<Value, RequestError> {
        let request_params: DocumentDiagnosticParams = parse_params(request_params)?;
        let (items, result_id) = diagnostics::diagnostics_of_file(view, path);
        self.reported.insert(Arc::clone(path), (view.version(path), result_id.clone()));
        Ok(if request_params.previous_result_id == Some(result_id.clone()) {
            json!({ "kind": "unchanged", "resultId": result_id })
        } else {
            json!({ "kind": "full", "resultId": result_id, "items": to_value(items)? })
        })
    }

    fn execute_command(&mut self, request_params: Value) -> Result<Value, RequestError> {
        let request_params: ExecuteCommandParams = parse_params(request_params)?;
        match request_params.command.as_str() {
            GO_TO => {
                let place = request_params.arguments.and_then(|all| all.into_iter().next()).unwrap_or_default();
                let Location { uri, range } = parse_params(place)?;
                self.send_request(
                    "window/showDocument",
                    json!({ "uri": uri, "selection": range, "takeFocus": true }),
                    SentRequest::Other,
                );
                Ok(Value::Null)
            }
            DEBUG_INFORMATION => Ok(Value::String(debug_information(&self.client, &self.folders))),
            command => Err(RequestError::new(code::INVALID_PARAMS, format!("no such command: {command}"))),
        }
    }

    // ---- notifications

    fn handle_notification(&mut self, Notification { method, params }: Notification) -> Result<(), RequestError> {
        match method.as_str() {
            "initialized" => {
                let registrations = capabilities::registrations(&self.client);
                if !registrations.is_empty() {
                    self.send_request(
                        "client/registerCapability",
                        json!({ "registrations": registrations }),
                        SentRequest::Other,
                    );
                }
                self.request_settings();
            }
            "textDocument/didOpen" => self.document_opened(parse_params(params)?),
            "textDocument/didChange" => self.document_changed(parse_params(params)?),
            "textDocument/didSave" => {
                self.document_saved(&parse_params::<DidSaveTextDocumentParams>(params)?.text_document.uri)
            }
            "textDocument/didClose" => {
                self.document_closed(&parse_params::<DidCloseTextDocumentParams>(params)?.text_document.uri)
            }
            "workspace/didChangeWatchedFiles" => {
                let changes: DidChangeWatchedFilesParams = parse_params(params)?;
                let documents = Arc::clone(&self.documents);
                for folder in &mut self.folders {
                    for job in watched::jobs_for_changes(folder, &changes, &documents) {
                        folder.send_job(job);
                    }
                }
            }
            "workspace/didChangeConfiguration" => {
                if self.client.configuration {
                    self.request_settings();
                } else if params["settings"].as_object().is_some_and(|settings| !settings.is_empty()) {
                    // Clients without settings send an empty object, which changes nothing.
                    let settings = Settings::read(&params["settings"]);
                    self.settings =
                        Arc::new(settings.map_err(|mistake| RequestError::new(code::INVALID_PARAMS, mistake))?);
                    let settings = Arc::clone(&self.settings);
                    for index in 0..self.folders.len() {
                        self.set_settings(index, Arc::clone(&settings));
                    }
                }
            }
            "workspace/didChangeWorkspaceFolders" => {
                let change = parse_params::<DidChangeWorkspaceFoldersParams>(params)?.event;
                for removed in change.removed.iter().filter_map(|folder| uri::to_path(&folder.uri)) {
                    self.folders.retain(|folder| folder.path != removed);
                }
                for added in change.added.iter().filter_map(|folder| uri::to_path(&folder.uri)) {
                    self.is_without_folders = false;
                    self.open_folder(added);
                }
                self.request_settings();
                self.publish_all();
            }
            "$/cancelRequest" => self.cancel_request(&params["id"]),
            _ => {}
        }
        Ok(())
    }

    fn document_opened(&mut self, DidOpenTextDocumentParams { text_document: opened }: DidOpenTextDocumentParams) {
        let Some(path) = uri::to_path(&opened.uri) else { return };
        let path: FilePath = Arc::from(path);
        let text = Arc::new(Text::new(Arc::from(opened.text)));
        let document = Document { uri: opened.uri, version: opened.version, text: Arc::clone(&text) };
        Arc::make_mut(&mut self.documents).insert(Arc::clone(&path), document);
        if self.is_without_folders && self.folder_of(&path).is_none() {
            let parent = path.parent().unwrap_or(&path);
            self.open_folder(blocklint_project::project_root(parent).0);
            return;
        }
        let watches = self.client.registers_watchers;
        let Some(folder) = self.folder_of_mut(&path) else { return };
        // A client that does not watch files messages no message about a new file, so the folder is reloaded.
        if !watches && folder.is_current() && !folder.analysis.files.contains(&path) && path.is_file() {
            folder.send_job(Job::Reload(Default::default()));
        }
        folder.send_job(Job::Change(path, Some(Arc::clone(text.content()))));
    }

    fn document_changed(&mut self, change: DidChangeTextDocumentParams) {
        let Some(path) = uri::to_path(&change.text_document.text_document_identifier.uri) else { return };
        let path: FilePath = Arc::from(path);
        let encoding = self.client.encoding;
        let Some(document) = Arc::make_mut(&mut self.documents).get_mut(&path) else { return };
        document.version = change.text_document.version;
        document.text = Arc::new(document.text.with_changes(change.content_changes, encoding));
        let text = Arc::clone(document.text.content());
        // Requests about the old text fail as outdated; requests for diagnostics wait for the new text.
        let (outdated, waiting): (Vec<Waiting>, Vec<Waiting>) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|request| request.path == path && request.request.method != "textDocument/diagnostic");
        self.waiting = waiting;
        for waiting in outdated {
            self.send(response(waiting.request.id, Err(RequestError::outdated())).into());
        }
        let Some(folder) = self.folder_of_mut(&path) else { return };
        if folder.settings.run == Run::OnType {
            folder.send_job(Job::Change(Arc::clone(&path), Some(text)));
            let revision = folder.revision();
            for waiting in self.waiting.iter_mut().filter(|waiting| waiting.path == path) {
                waiting.revision = revision;
            }
        }
    }

    fn document_saved(&mut self, uri: &Uri) {
        let Some(path) = uri::to_path(uri) else { return };
        let text = self.documents.get(&*path).map(|document| Arc::clone(document.text.content()));
        let Some(folder) = self.folder_of_mut(&path) else { return };
        if folder.settings.run == Run::OnSave {
            folder.send_job(Job::Change(Arc::from(path), text));
        }
    }

    fn document_closed(&mut self, uri: &Uri) {
        let Some(path) = uri::to_path(uri) else { return };
        Arc::make_mut(&mut self.documents).remove(&*path);
        let path: FilePath = Arc::from(path);
        self.reported.remove(&path);
        let reports_workspace =
            self.folder_of(&path).is_some_and(|folder| folder.settings.diagnostic_mode == DiagnosticMode::Workspace);
        if !self.client.pulls_diagnostics && !reports_workspace {
            self.publish(PublishDiagnosticsParams { uri: uri.clone(), version: None, diagnostics: Vec::new() });
        }
        if let Some(folder) = self.folder_of_mut(&path) {
            folder.send_job(Job::Change(path, None));
        }
    }

    fn cancel_request(&mut self, id: &Value) {
        let Ok(id) = serde_json::from_value::<RequestId>(id.clone()) else { return };
        let before = self.waiting.len() + self.workspace_waiting.len();
        self.waiting.retain(|waiting| waiting.request.id != id);
        self.workspace_waiting.retain(|(waiting, _)| *waiting != id);
        if self.waiting.len() + self.workspace_waiting.len() < before {
            self.send(response(id, Err(RequestError::cancelled())).into());
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
            Err(error) => self.show_message(&format!("{path}: {error}"), true),
        }
    }

    fn request_settings(&mut self) {
        if !self.client.configuration || self.folders.is_empty() {
            return;
        }
        let folders: Vec<Utf8PathBuf> = self.folders.iter().map(|folder| folder.path.clone()).collect();
        let items: Vec<Value> = folders
            .iter()
            .map(|folder| json!({ "scopeUri": uri::from_path(folder), "section": "blocklint" }))
            .collect();
        self.send_request("workspace/configuration", json!({ "items": items }), SentRequest::Configuration(folders));
    }

    fn handle_response(&mut self, response: Response) {
        let Some(SentRequest::Configuration(folders)) = self.sent_requests.remove(&response.id) else { return };
        let Ok(Value::Array(all)) = response.response_result else { return };
        for (path, settings) in folders.iter().zip(all) {
            let Some(index) = self.folders.iter().position(|folder| folder.path == *path) else { continue };
            // `null` means that the client has no settings in this section, so the initial ones stay.
            if settings.is_null() {
                continue;
            }
            match Settings::read(&settings) {
                Ok(settings) => self.set_settings(index, Arc::new(settings)),
                Err(mistake) => self.show_message(&format!("settings: {mistake}; the old ones hold"), true),
            }
        }
    }

    fn set_settings(&mut self, index: usize, settings: Arc<Settings>) {
        let folder = &mut self.folders[index];
        if folder.settings == settings {
            return;
        }
        let changes_lenses = folder.settings.code_lens != settings.code_lens;
        folder.settings = Arc::clone(&settings);
        folder.send_job(Job::Settings(settings));
        if changes_lenses && self.client.refreshes_lenses {
            self.send_request("workspace/codeLens/refresh", Value::Null, SentRequest::Other);
        }
    }

    /// Returns the innermost folder around a path.
    fn folder_of(&self, path: &Utf8Path) -> Option<&Folder> {
        self.folders.iter().filter(|folder| folder.contains(path)).max_by_key(|folder| folder.path.as_str().len())
    }

    fn folder_of_mut(&mut self, path: &Utf8Path) -> Option<&mut Folder> {
        let holding = self.folders.iter_mut().filter(|folder| folder.contains(path));
        holding.max_by_key(|folder| folder.path.as_str().len())
    }

    // ---- events

    fn handle_event(&mut self, event: Event) {
        match event {
            Event::Step { folder, step } => {
                let folder = self.folders.iter_mut().find(|known| known.path == folder);
                let messages = folder.map(|folder| folder.progress.set_step(step, Instant::now()));
                self.send_progress(messages.unwrap_or_default());
            }
            Event::Message { message, is_error } => self.show_message(&message, is_error),
            Event::Analysed { folder, revision, analysis } => {
                let Some(folder) = self.folders.iter_mut().find(|known| known.path == folder) else { return };
                folder.set_analysis(revision, analysis);
                let changes_lenses = folder.settings.code_lens;
                let is_current = folder.is_current();
                let messages = if is_current { folder.progress.end() } else { Vec::new() };
                self.send_progress(messages);
                self.answer_waiting();
                if !is_current {
                    return;
                }
                self.publish_all();
                self.report_workspace();
                if changes_lenses && self.client.refreshes_lenses {
                    self.send_request("workspace/codeLens/refresh", Value::Null, SentRequest::Other);
                }
            }
        }
    }

    fn answer_waiting(&mut self) {
        let (ready, waiting): (Vec<Waiting>, Vec<Waiting>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|waiting| {
                self.folder_of(&waiting.path).is_none_or(|folder| folder.has_analysed(waiting.revision))
            });
        self.waiting = waiting;
        for Waiting { request, path, .. } in ready {
            self.answer(request, path);
        }
    }

    /// Publishes the diagnostics that differ from those that the client has: of open files, and with
    /// `diagnosticMode: "workspace"` of all files. A client that pulls diagnostics gets a request to pull them again.
    fn publish_all(&mut self) {
        let mut paths: Vec<FilePath> = self.documents.keys().cloned().collect();
        if !self.client.pulls_diagnostics {
            let reports_workspace = |folder: &&Folder| folder.settings.diagnostic_mode == DiagnosticMode::Workspace;
            for folder in self.folders.iter().filter(reports_workspace) {
                paths.extend(folder.analysis.by_file.keys().cloned());
            }
            paths.extend(self.reported.keys().cloned());
        }
        paths.sort();
        paths.dedup();
        let mut is_stale = false;
        for path in paths {
            let view = self.view(&path);
            let (diagnostics, result_id) = diagnostics::diagnostics_of_file(&view, &path);
            let current = (view.version(&path), result_id);
            let published = self.reported.get(&path);
            if self.client.pulls_diagnostics {
                is_stale |= published.is_some_and(|published| published.1 != current.1);
            } else if published != Some(&current)
                && !(published.is_none() && diagnostics.is_empty() && current.0.is_none())
            {
                self.publish(PublishDiagnosticsParams { uri: view.uri(&path), version: current.0, diagnostics });
                self.reported.insert(path, current);
            }
        }
        if is_stale && self.client.refreshes_diagnostics {
            self.send_request("workspace/diagnostic/refresh", Value::Null, SentRequest::Other);
        }
    }

    /// Answers the waiting `workspace/diagnostic` requests whose client does not have the current diagnostics.
    fn report_workspace(&mut self) {
        if self.workspace_waiting.is_empty() || !self.folders.iter().all(Folder::is_current) {
            return;
        }
        for (id, request_params) in std::mem::take(&mut self.workspace_waiting) {
            let previous_results: HashMap<&Uri, &str> = request_params
                .previous_result_ids
                .iter()
                .map(|previous_results| (&previous_results.uri, previous_results.value.as_str()))
                .collect();
            let mut items = Vec::new();
            let mut reported_uris: Vec<Uri> = Vec::new();
            for folder in &self.folders {
                if folder.settings.diagnostic_mode != DiagnosticMode::Workspace {
                    continue;
                }
                let mut paths: Vec<&FilePath> = folder.analysis.by_file.keys().collect();
                paths.sort();
                for path in paths {
                    let view = self.view(path);
                    let uri = view.uri(path);
                    let (diagnostics, result_id) = diagnostics::diagnostics_of_file(&view, path);
                    reported_uris.push(uri.clone());
                    if previous_results.get(&uri) != Some(&result_id.as_str()) {
                        items.push(json!({
                            "kind": "full", "uri": uri, "version": view.version(path),
                            "resultId": result_id, "items": diagnostics,
                        }));
                    }
                }
            }
            // Files that had diagnostics and have none now.
            let (_, empty_result_id) =
                diagnostics::diagnostics_of_file(&self.view(Utf8Path::new("")), Utf8Path::new(""));
            for (uri, value) in previous_results {
                if !reported_uris.contains(uri) && value != empty_result_id {
                    items.push(json!({ "kind": "full", "uri": uri, "version": null, "resultId": empty_result_id, "items": [] }));
                }
            }
            if items.is_empty() {
                // The client would repeat the request at once, so the answer waits until there is something new.
                self.workspace_waiting.push((id, request_params));
                continue;
            }
            let token = request_params.partial_result_params.partial_result_token;
            if let Some(token) = token {
                for part in items.chunks(FILES_PER_PART) {
                    self.send(notification("$/progress", json!({ "token": token, "value": { "items": part } })).into());
                }
                items.clear();
            }
            self.send(response(id, Ok(json!({ "items": items }))).into());
        }
    }

    fn show_long_work(&mut self) {
        for index in 0..self.folders.len() {
            let number = self.next_id;
            let messages = self.folders[index].progress.show_if_long(Instant::now(), number);
            self.send_progress(messages);
        }
    }

    fn send_progress(&mut self, messages: Vec<ProgressMessage>) {
        for message in messages {
            match message {
                ProgressMessage::Create(params) => {
                    self.send_request("window/workDoneProgress/create", params, SentRequest::Other)
                }
                ProgressMessage::Progress(params) => self.send(notification("$/progress", params).into()),
            }
        }
    }

    // ---- sending

    fn view(&self, path: &Utf8Path) -> View {
        let folder = self.folder_of(path);
        View {
            client: Arc::clone(&self.client),
            settings: folder.map_or_else(|| Arc::clone(&self.settings), |folder| Arc::clone(&folder.settings)),
            analysis: folder.map_or_else(Arc::default, |folder| Arc::clone(&folder.analysis)),
            documents: Arc::clone(&self.documents),
        }
    }

    fn publish(&self, diagnostics: PublishDiagnosticsParams) {
        if let Ok(params) = to_value(diagnostics) {
            self.send(notification("textDocument/publishDiagnostics", params).into());
        }
    }

    fn send_request(&mut self, method: &str, params: Value, sent: SentRequest) {
        self.next_id += 1;
        self.sent_requests.insert(RequestId::from(self.next_id), sent);
        self.send(request(self.next_id, method, params).into());
    }

    /// Shows a message to the user: errors as a notification of the editor, others in its log.
    fn show_message(&self, message: &str, is_error: bool) {
        if !is_error {
            return self.log_message(message);
        }
        let params = json!({ "type": 1, "message": format!("blocklint: {message}") });
        self.send(notification("window/showMessage", params).into());
    }

    fn log_message(&self, message: &str) {
        self.send(notification("window/logMessage", json!({ "type": 2, "message": message })).into());
    }

    fn send(&self, message: Message) {
        // Fails once the client is gone, which ends the loop.
        let _ = self.connection.sender.send(message);
    }
}

/// Returns the workspace folders of the client.
fn workspace_folders(initialize: &Value) -> Vec<Utf8PathBuf> {
    let path = |uri: &Value| uri.as_str().and_then(|uri| uri::to_path(&Uri(uri.to_owned())));
    if let Some(folders) = initialize["workspaceFolders"].as_array().filter(|folders| !folders.is_empty()) {
        return folders.iter().filter_map(|folder| path(&folder["uri"])).collect();
    }
    let root = path(&initialize["rootUri"]).or_else(|| initialize["rootPath"].as_str().map(Utf8PathBuf::from));
    root.filter(|root| root.is_absolute()).into_iter().collect()
}
