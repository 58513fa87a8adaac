//! The worker thread of a workspace folder: it owns the session, does queued jobs, and analyses when the queue is
//! empty. It first analyses the changed files, because the user waits for their findings, and all files after a pause.
//! A job that arrives during an analysis cancels it.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use blocklint_core::Finding;
use blocklint_engine::{
    Buffers, Cache, Cancelled, LeftOut, Levels, Options, Remedies, Report, RuleArguments, Rules, STACK_SIZE, Session,
    cache_version, choose, load_models_with_messages,
};
use blocklint_models::Models;
use blocklint_project::{Configuration, PathOptions, Project, Request, discover_with};
use camino::{Utf8Path, Utf8PathBuf};
use crossbeam_channel::{Receiver, Sender, TryRecvError};

use crate::Hooks;
use crate::analysis::{Analysis, FilePath};
use crate::blocking_graph::BlockingGraph;
use crate::settings::Settings;
use crate::text::Text;

/// The pause in typing after which all files are analysed.
const PAUSE: Duration = Duration::from_millis(300);

/// The time that a user does not notice. If an analysis of all files is faster, changed files are not analysed first.
const UNNOTICED: Duration = Duration::from_millis(60);

/// The jobs of a worker.
#[derive(Debug)]
pub(crate) enum Job {
    /// The text of a file in an editor; `None` if the file on disk counts.
    Change(FilePath, Option<Arc<str>>),
    /// Files were created or deleted, or the configuration, a manifest or a model changed; with the sources that
    /// changed on disk.
    Reload(HashSet<FilePath>),
    /// The settings of the folder.
    Settings(Arc<Settings>),
}

/// The messages of a worker.
#[derive(Debug)]
pub(crate) enum Event {
    /// All jobs up to this revision are done, with this result.
    Analysed { folder: Utf8PathBuf, revision: u64, analysis: Arc<Analysis> },
    /// A step of work begins, as `reading 12 files`.
    Step { folder: Utf8PathBuf, step: String },
    /// A message for the user.
    Message { message: String, is_error: bool },
}

/// The handle of a worker for the main loop.
pub(crate) struct Worker {
    jobs: Sender<(u64, Job)>,
    revision: u64,
    running: Arc<Mutex<Arc<AtomicBool>>>,
}

impl Worker {
    /// Starts the worker of a folder.
    pub(crate) fn start(
        folder: &Utf8Path,
        settings: Arc<Settings>,
        buffers: Buffers,
        hooks: Hooks,
        events: Sender<Event>,
    ) -> std::io::Result<Self> {
        let (jobs, queue) = crossbeam_channel::unbounded();
        let running = Arc::new(Mutex::new(Arc::new(AtomicBool::new(false))));
        let mut thread = WorkerThread {
            folder: folder.to_path_buf(),
            settings,
            hooks,
            events,
            queue,
            running: Arc::clone(&running),
            sent_messages: HashSet::new(),
            files: Arc::default(),
            texts: HashMap::new(),
            buffers,
            last: None,
            full_analysis_time: Duration::MAX,
        };
        let builder = std::thread::Builder::new().name("blocklint-analyse".to_owned()).stack_size(STACK_SIZE);
        builder.spawn(move || thread.run())?;
        Ok(Worker { jobs, revision: 0, running })
    }

    /// Returns the revision of the last job.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Queues a job, and cancels the running analysis, which the job makes stale.
    pub(crate) fn send_job(&mut self, job: Job) {
        self.revision += 1;
        // Fails only if the worker's thread has ended, which has been reported.
        let _ = self.jobs.send((self.revision, job));
        self.cancel();
    }

    fn cancel(&self) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).store(true, Ordering::Relaxed);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// The state of the worker thread.
struct WorkerThread {
    folder: Utf8PathBuf,
    settings: Arc<Settings>,
    hooks: Hooks,
    events: Sender<Event>,
    queue: Receiver<(u64, Job)>,
    running: Arc<Mutex<Arc<AtomicBool>>>,
    /// Messages that were sent already.
    sent_messages: HashSet<String>,
    files: Arc<HashSet<FilePath>>,
    /// Texts of the files that findings involve, until they change.
    texts: HashMap<FilePath, Arc<Text>>,
    /// Texts of open editors, until there is a session that stores them.
    buffers: Buffers,
    last: Option<Arc<Analysis>>,
    /// The time of the last analysis of all files.
    full_analysis_time: Duration,
}

impl WorkerThread {
    fn run(&mut self) {
        let mut session = None;
        let mut revision = 0;
        let mut is_stale = true;
        loop {
            let ended = catch_unwind(AssertUnwindSafe(|| {
                if session.is_none() {
                    session = self.open();
                }
                let Some(session) = &mut session else {
                    self.report_last(revision);
                    return true;
                };
                loop {
                    match self.queue.try_recv() {
                        Ok((job_revision, job)) => {
                            is_stale |= self.handle_job(session, job);
                            revision = job_revision;
                        }
                        Err(TryRecvError::Empty) => break,
                        // The folder is closed.
                        Err(TryRecvError::Disconnected) => return false,
                    }
                }
                match is_stale {
                    // An error means that a job cancelled the analysis.
                    true => is_stale = self.analyse(session, revision).is_err(),
                    false => self.report_last(revision),
                }
                true
            }));
            match ended {
                Ok(false) => return,
                Ok(true) if is_stale && session.is_some() => continue,
                Ok(true) => {}
                Err(_) => {
                    self.report_message(
                        format!("{}: the analysis failed; please report what stderr says", self.folder),
                        true,
                    );
                    // The last results stay, and the next job tries again.
                    self.report_last(revision);
                }
            }
            match self.queue.recv() {
                Ok((job_revision, job)) => {
                    revision = job_revision;
                    let done = catch_unwind(AssertUnwindSafe(|| match &mut session {
                        Some(session) => self.handle_job(session, job),
                        None => {
                            if let Job::Change(path, Some(text)) = job {
                                self.buffers.insert(path, text);
                            }
                            true
                        }
                    }));
                    is_stale |= done.unwrap_or(true);
                }
                Err(_) => return,
            }
        }
    }

    /// Opens a session: discovers the project and reads its files.
    fn open(&mut self) -> Option<Session> {
        self.report_step("looking for files");
        let (project, models) = self.discover()?;
        self.report_step(&format!("reading {} files", project.files.len()));
        self.files = project_files(&project);
        let cache = self.settings.cache.then(|| Cache::of_project(&project.root, cache_version()));
        match Session::open(project, models, self.options(None), self.buffers.clone(), cache) {
            Ok(session) => Some(session),
            Err(failure) => {
                self.report_message(failure.lines.join("\n"), true);
                None
            }
        }
    }

    /// Discovers the project and loads its models; reports mistakes, and ignores a configuration that has some.
    fn discover(&mut self) -> Option<(Project, Models)> {
        let paths = [self.folder.clone()];
        let folder = self.folder.clone();
        let discover = |isolated| {
            let request = Request { current: &folder, paths: &paths, isolated };
            discover_with(request, PathOptions::default())
        };
        let project = match discover(false) {
            Ok(project) => project,
            Err(errors) => {
                for error in errors {
                    self.report_message(format!("{}; the configuration is left out", error.relative_to(&folder)), true);
                }
                discover(true).ok()?
            }
        };
        for problem in &project.problems {
            self.report_message(problem.relative_to(&folder), false);
        }
        let models = match load_models_with_messages(&project, &folder) {
            Ok((models, mistakes)) => {
                mistakes.into_iter().for_each(|mistake| self.report_message(mistake, false));
                models
            }
            Err(failure) => {
                failure.lines.into_iter().for_each(|line| self.report_message(line, true));
                Models::builtin()
            }
        };
        Some((project, models))
    }

    /// Does a job; returns true if it can change findings.
    fn handle_job(&mut self, session: &mut Session, job: Job) -> bool {
        match job {
            Job::Change(path, text) => {
                self.texts.remove(&path);
                session.change(&path, text)
            }
            Job::Settings(settings) => {
                let has_changed = settings != self.settings;
                self.settings = settings;
                has_changed
            }
            Job::Reload(changed) => {
                self.report_step("looking for files");
                // Messages are sent again if their problem is still there.
                self.sent_messages.clear();
                self.texts.clear();
                let Some((project, models)) = self.discover() else { return false };
                self.files = project_files(&project);
                session.reload(project, models, &changed).unwrap_or_else(|failure| {
                    self.report_message(failure.lines.join("\n"), true);
                    true
                })
            }
        }
    }

    /// Analyses the changed files, then all files, and reports the results.
    fn analyse(&mut self, session: &mut Session, revision: u64) -> Result<(), Cancelled> {
        let cancel = Arc::new(AtomicBool::new(false));
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&cancel);
        // A job that was queued before the new flag was in place has set the old flag.
        if !self.queue.is_empty() {
            return Err(Cancelled);
        }
        if !self.settings.enable {
            self.last = Some(Arc::new(Analysis { files: Arc::clone(&self.files), ..Analysis::default() }));
            self.report_last(revision);
            return Ok(());
        }
        session.set_options(self.options(Some(session.project())));
        // If the analysis of all files is fast, it alone is reported.
        let early_report =
            if self.full_analysis_time < UNNOTICED { None } else { self.analyse_changed(session, &cancel, revision)? };
        if early_report.is_some() && self.wait_for_job(PAUSE) {
            return Err(Cancelled);
        }
        self.report_step("following calls");
        let started = Instant::now();
        session.analyse(&cancel, |session, report| {
            self.full_analysis_time = started.elapsed();
            let analysis = self.select_findings(session, report, None);
            self.last = Some(Arc::new(analysis));
            self.report_last(revision);
        })?;
        if self.queue.is_empty() {
            session.store();
        }
        Ok(())
    }

    /// Analyses the changed files and reports their findings; `None` if they cannot be analysed without the others.
    fn analyse_changed(
        &mut self,
        session: &mut Session,
        cancel: &Arc<AtomicBool>,
        revision: u64,
    ) -> Result<Option<()>, Cancelled> {
        session.analyse_changed(cancel, |session, report, files| {
            let analysis = self.select_findings(session, report, Some(&files));
            self.last = Some(Arc::new(analysis));
            self.report_last(revision);
        })
    }

    /// Waits for a job; returns false if none arrives during `pause`.
    fn wait_for_job(&self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        let mut select = crossbeam_channel::Select::new();
        select.recv(&self.queue);
        // No other receiver can take the job, so a ready queue has one.
        select.ready_deadline(until).is_ok()
    }

    /// Selects the findings that are shown, and adds all data that answers need. If `files` are given, the report
    /// replaces only the findings of these files.
    fn select_findings(&mut self, session: &Session, report: Report, files: Option<&HashSet<FilePath>>) -> Analysis {
        let started = Instant::now();
        let Report {
            mut findings,
            groups,
            mut remedies,
            mut timings,
            left_out,
            read: _,
            must_not_block: _,
            all_paths: _,
        } = report;
        for left_out in left_out {
            let LeftOut { name: what, why, place, .. } = left_out;
            let file = place.map_or_else(String::new, |place| format!("{}: ", place.path));
            self.report_message(format!("{file}`{what}` was left out of the analysis, please report it: {why}"), true);
        }
        let rules = self.rules(session.project());
        rules.suppress_per_file(&mut findings);
        let chosen = choose(findings, groups, &rules.selection, self.levels(Some(session.project())));
        // The cells of a notebook are separate documents in LSP, which this server does not support.
        let is_shown = |finding: &Finding| finding.place.path.extension() != Some("ipynb");
        let mut findings: Vec<Finding> = chosen.findings.into_iter().filter(is_shown).collect();
        if let (Some(files), Some(last)) = (files, &self.last) {
            let findings_elsewhere = last.findings.iter().filter(|finding| !files.contains(&finding.place.path));
            findings.extend(findings_elsewhere.cloned());
            findings.sort_by(|a, b| a.place.path.cmp(&b.place.path));
            remedies = last.remedies.with_newer(remedies, |path| files.contains(path));
        }
        let mut by_file: HashMap<FilePath, Vec<usize>> = HashMap::new();
        for (index, finding) in findings.iter().enumerate() {
            by_file.entry(FilePath::clone(&finding.place.path)).or_default().push(index);
        }
        let blocking_graph = BlockingGraph::new(&findings, |path, offset| session.body_at(path, offset));
        let texts = self.collect_texts(session, &findings, &remedies);
        timings.output += started.elapsed();
        Analysis { files: Arc::clone(&self.files), findings, by_file, texts, remedies, blocking_graph, timings }
    }

    fn collect_texts(
        &mut self,
        session: &Session,
        findings: &[Finding],
        remedies: &Remedies,
    ) -> HashMap<FilePath, Arc<Text>> {
        let mut texts = HashMap::new();
        let places = findings.iter().flat_map(|finding| {
            let steps = finding.trace.iter().map(|step| &step.place);
            std::iter::once(&finding.place).chain(steps).chain(finding.causes.iter().map(|cause| &cause.place))
        });
        for path in places.map(|place| &place.path).chain(remedies.files_that_decide(findings)) {
            if texts.contains_key(path) {
                continue;
            }
            let known = self.texts.get(path).cloned();
            let Some(text) = known.or_else(|| session.text(path).map(|text| Arc::new(Text::new(text)))) else {
                continue;
            };
            texts.insert(FilePath::clone(path), text);
        }
        // Texts that no finding involves any more are dropped.
        self.texts = texts.clone();
        texts
    }

    fn options(&self, project: Option<&Project>) -> Options {
        let mut options =
            Options { containment: self.hooks.containment, ..Options::new(self.levels(project).confidence) };
        let is_configured = project.is_some_and(|project| project.configuration.looks_aside());
        options.include_aside = self.settings.include_aside || is_configured;
        options
    }

    fn levels(&self, project: Option<&Project>) -> Levels {
        let (severity, confidence) =
            project.map_or_else(|| Configuration::default().levels(), |project| project.configuration.levels());
        let Settings { min_severity, min_confidence, .. } = &*self.settings;
        Levels { severity: min_severity.unwrap_or(severity), confidence: min_confidence.unwrap_or(confidence) }
    }

    /// Returns the selected rules: the settings of the client override the configuration. Invalid settings are reported
    /// and ignored.
    fn rules(&mut self, project: &Project) -> Rules {
        let settings = Arc::clone(&self.settings);
        let list = |rules: &Option<Vec<String>>| rules.clone().unwrap_or_default();
        let (select, extend_select, ignore) =
            (list(&settings.select), list(&settings.extend_select), list(&settings.ignore));
        let arguments = RuleArguments { select: &select, extend_select: &extend_select, ignore: &ignore };
        let folder = self.folder.clone();
        let attempts = [(&project.configuration, arguments), (&project.configuration, RuleArguments::default())];
        for (configuration, arguments) in attempts {
            match Rules::new(configuration, arguments, &folder) {
                Ok(rules) => return rules,
                Err(failure) => failure.lines.into_iter().for_each(|line| self.report_message(line, true)),
            }
        }
        Rules::all()
    }

    fn report_step(&self, step: &str) {
        self.send(Event::Step { folder: self.folder.clone(), step: step.to_owned() });
    }

    fn report_last(&self, revision: u64) {
        let analysis = self.last.clone().unwrap_or_default();
        self.send(Event::Analysed { folder: self.folder.clone(), revision, analysis });
    }

    /// Sends a message to the user, unless it was sent already.
    fn report_message(&mut self, message: String, is_error: bool) {
        if self.sent_messages.insert(message.clone()) {
            self.send(Event::Message { message, is_error });
        }
    }

    fn send(&self, event: Event) {
        // Fails once the server ends.
        let _ = self.events.send(event);
    }
}

fn project_files(project: &Project) -> Arc<HashSet<FilePath>> {
    Arc::new(project.files.iter().map(|file| FilePath::clone(&file.path)).collect())
}
