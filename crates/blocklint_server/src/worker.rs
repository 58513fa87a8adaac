//! The thread of one workspace folder: it owns the session, does one job after the other, and analyses when there is
//! none left. It first analyses the files that have changed, because the user waits for these, and after a pause all. A
//! job that arrives meanwhile ends the analysis that it makes stale.

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

/// The pause in typing after which all files are analysed anew.
const PAUSE: Duration = Duration::from_millis(300);

/// The time that a user does not notice.
const SHORT: Duration = Duration::from_millis(60);

/// The jobs of a worker.
#[derive(Debug)]
pub(crate) enum Job {
    /// An editor holds this text of a file, or with `None` the disk has the truth.
    Change(FilePath, Option<Arc<str>>),
    /// Files came or went, or what says something of the project changed; these sources changed on disk.
    Reload(HashSet<FilePath>),
    /// The settings of the folder.
    Settings(Arc<Settings>),
}

/// The messages of a worker.
#[derive(Debug)]
pub(crate) enum Event {
    /// All jobs up to this revision are done, and this holds now.
    Analysed { folder: Utf8PathBuf, revision: u64, analysis: Arc<Analysis> },
    /// Work goes on, and this is what it is.
    Works { folder: Utf8PathBuf, at: String },
    /// Something that the user should know.
    Tells { message: String, is_error: bool },
}

/// A worker as the main loop sees it.
pub(crate) struct Worker {
    jobs: Sender<(u64, Job)>,
    revision: u64,
    running: Arc<Mutex<Arc<AtomicBool>>>,
}

impl Worker {
    /// Starts to analyse a folder.
    pub(crate) fn start(
        folder: &Utf8Path,
        settings: Arc<Settings>,
        buffers: Buffers,
        hooks: Hooks,
        events: Sender<Event>,
    ) -> std::io::Result<Self> {
        let (jobs, queue) = crossbeam_channel::unbounded();
        let running = Arc::new(Mutex::new(Arc::new(AtomicBool::new(false))));
        let mut desk = Desk {
            folder: folder.to_path_buf(),
            settings,
            hooks,
            events,
            queue,
            running: Arc::clone(&running),
            told: HashSet::new(),
            files: Arc::default(),
            texts: HashMap::new(),
            buffers,
            last: None,
            whole: Duration::MAX,
        };
        let builder = std::thread::Builder::new().name("blocklint-analyse".to_owned()).stack_size(STACK_SIZE);
        builder.spawn(move || desk.work())?;
        Ok(Worker { jobs, revision: 0, running })
    }

    /// Returns the revision that holds once all jobs are done.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Gives a job; what is being analysed is stale now.
    pub(crate) fn give(&mut self, job: Job) {
        self.revision += 1;
        // Fails only if the worker's thread is gone, which has been told.
        let _ = self.jobs.send((self.revision, job));
        self.stop();
    }

    fn stop(&self) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).store(true, Ordering::Relaxed);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The worker's side.
struct Desk {
    folder: Utf8PathBuf,
    settings: Arc<Settings>,
    hooks: Hooks,
    events: Sender<Event>,
    queue: Receiver<(u64, Job)>,
    running: Arc<Mutex<Arc<AtomicBool>>>,
    /// Messages that were sent already.
    told: HashSet<String>,
    files: Arc<HashSet<FilePath>>,
    /// Texts of files in which something of a finding lies, until they change.
    texts: HashMap<FilePath, Arc<Text>>,
    /// Texts that editors hold, for as long as there is no session that knows them.
    buffers: Buffers,
    last: Option<Arc<Analysis>>,
    /// How long the last analysis of all files took.
    whole: Duration,
}

impl Desk {
    fn work(&mut self) {
        let mut session = None;
        let mut revision = 0;
        let mut is_stale = true;
        loop {
            let ended = catch_unwind(AssertUnwindSafe(|| {
                if session.is_none() {
                    session = self.open();
                }
                let Some(session) = &mut session else {
                    self.tell_last(revision);
                    return true;
                };
                loop {
                    match self.queue.try_recv() {
                        Ok((at, job)) => {
                            is_stale |= self.does(session, job);
                            revision = at;
                        }
                        Err(TryRecvError::Empty) => break,
                        // The folder is closed.
                        Err(TryRecvError::Disconnected) => return false,
                    }
                }
                match is_stale {
                    // Stopped because a job waits.
                    true => is_stale = self.analyse(session, revision).is_err(),
                    false => self.tell_last(revision),
                }
                true
            }));
            match ended {
                Ok(false) => return,
                Ok(true) if is_stale && session.is_some() => continue,
                Ok(true) => {}
                Err(_) => {
                    self.tell(format!("{}: the analysis failed; please report what stderr says", self.folder), true);
                    // The known results stay, and the next change is another chance.
                    self.tell_last(revision);
                }
            }
            match self.queue.recv() {
                Ok((at, job)) => {
                    revision = at;
                    let done = catch_unwind(AssertUnwindSafe(|| match &mut session {
                        Some(session) => self.does(session, job),
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

    /// Finds and reads the project.
    fn open(&mut self) -> Option<Session> {
        self.works("looking for files");
        let (project, models) = self.discover()?;
        self.works(&format!("reading {} files", project.files.len()));
        self.files = files_of(&project);
        let cache = self.settings.cache.then(|| Cache::of_project(&project.root, cache_version()));
        match Session::open(project, models, self.options(None), self.buffers.clone(), cache) {
            Ok(session) => Some(session),
            Err(failure) => {
                self.tell(failure.lines.join("\n"), true);
                None
            }
        }
    }

    /// Returns the project and its models, as far as its configuration holds; mistakes in it are told.
    fn discover(&mut self) -> Option<(Project, Models)> {
        let paths = [self.folder.clone()];
        let folder = self.folder.clone();
        let ask = |isolated| {
            let request = Request { current: &folder, paths: &paths, isolated };
            discover_with(request, PathOptions::default())
        };
        let project = match ask(false) {
            Ok(project) => project,
            Err(errors) => {
                for error in errors {
                    self.tell(format!("{}; the configuration is left out", error.relative_to(&folder)), true);
                }
                ask(true).ok()?
            }
        };
        for problem in &project.problems {
            self.tell(problem.relative_to(&folder), false);
        }
        let models = match load_models_with_messages(&project, &folder) {
            Ok((models, mistakes)) => {
                mistakes.into_iter().for_each(|mistake| self.tell(mistake, false));
                models
            }
            Err(failure) => {
                failure.lines.into_iter().for_each(|line| self.tell(line, true));
                Models::builtin()
            }
        };
        Some((project, models))
    }

    /// Does a job; true if findings may be different afterwards.
    fn does(&mut self, session: &mut Session, job: Job) -> bool {
        match job {
            Job::Change(path, text) => {
                self.texts.remove(&path);
                session.change(&path, text)
            }
            Job::Settings(settings) => {
                let is_other = settings != self.settings;
                self.settings = settings;
                is_other
            }
            Job::Reload(changed) => {
                self.works("looking for files");
                // A reported problem may be mended or not: it is reported anew.
                self.told.clear();
                self.texts.clear();
                let Some((project, models)) = self.discover() else { return false };
                self.files = files_of(&project);
                session.reload(project, models, &changed).unwrap_or_else(|failure| {
                    self.tell(failure.lines.join("\n"), true);
                    true
                })
            }
        }
    }

    /// Analyses and tells what came of it.
    fn analyse(&mut self, session: &mut Session, revision: u64) -> Result<(), Cancelled> {
        let stop = Arc::new(AtomicBool::new(false));
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&stop);
        // A job from before this flag could not set it.
        if !self.queue.is_empty() {
            return Err(Cancelled);
        }
        if !self.settings.enable {
            self.last = Some(Arc::new(Analysis { files: Arc::clone(&self.files), ..Analysis::default() }));
            self.tell_last(revision);
            return Ok(());
        }
        session.set_options(self.options(Some(session.project())));
        // A run that takes hardly longer is reported as a whole.
        let is_told = if self.whole < SHORT { None } else { self.analyse_changed(session, &stop, revision)? };
        if is_told.is_some() && self.waits(PAUSE) {
            return Err(Cancelled);
        }
        self.works("following calls");
        let started = Instant::now();
        session.analyse(&stop, |session, report| {
            self.whole = started.elapsed();
            let analysis = self.shown(session, report, None);
            self.last = Some(Arc::new(analysis));
            self.tell_last(revision);
        })?;
        if self.queue.is_empty() {
            session.store();
        }
        Ok(())
    }

    /// Tells what the files that have changed say, if that can be told alone.
    fn analyse_changed(
        &mut self,
        session: &mut Session,
        stop: &Arc<AtomicBool>,
        revision: u64,
    ) -> Result<Option<()>, Cancelled> {
        session.analyse_changed(stop, |session, report, files| {
            let analysis = self.shown(session, report, Some(&files));
            self.last = Some(Arc::new(analysis));
            self.tell_last(revision);
        })
    }

    /// Lets some time go by; true as soon as there is a job.
    fn waits(&self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        let mut select = crossbeam_channel::Select::new();
        select.recv(&self.queue);
        // Ready is also what another select may spuriously say: there is only one receiver.
        select.ready_deadline(until).is_ok()
    }

    /// Returns the shown part of a report, with all that answers need. A report of some files only takes the place of
    /// what the last one said of these.
    fn shown(&mut self, session: &Session, report: Report, files: Option<&HashSet<FilePath>>) -> Analysis {
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
            self.tell(format!("{file}`{what}` was left out of the analysis, please report it: {why}"), true);
        }
        let rules = self.rules(session.project());
        rules.suppress_per_file(&mut findings);
        let chosen = choose(findings, groups, &rules.selection, self.levels(Some(session.project())));
        // A notebook's cells are documents of their own, which this server does not open.
        let is_shown = |finding: &Finding| finding.place.path.extension() != Some("ipynb");
        let mut findings: Vec<Finding> = chosen.findings.into_iter().filter(is_shown).collect();
        if let (Some(files), Some(last)) = (files, &self.last) {
            let of_others = last.findings.iter().filter(|finding| !files.contains(&finding.place.path));
            findings.extend(of_others.cloned());
            findings.sort_by(|a, b| a.place.path.cmp(&b.place.path));
            remedies = last.remedies.with_newer(remedies, |path| files.contains(path));
        }
        let mut by_file: HashMap<FilePath, Vec<usize>> = HashMap::new();
        for (at, finding) in findings.iter().enumerate() {
            by_file.entry(FilePath::clone(&finding.place.path)).or_default().push(at);
        }
        let blocking_graph = BlockingGraph::new(&findings, |path, offset| session.body_at(path, offset));
        let texts = self.texts_of(session, &findings, &remedies);
        timings.output += started.elapsed();
        Analysis { files: Arc::clone(&self.files), findings, by_file, texts, remedies, blocking_graph, timings }
    }

    fn texts_of(
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
        // Those of findings that are gone go as well.
        self.texts = texts.clone();
        texts
    }

    fn options(&self, project: Option<&Project>) -> Options {
        let mut options =
            Options { containment: self.hooks.containment, ..Options::new(self.levels(project).confidence) };
        let of_file = project.is_some_and(|project| project.configuration.looks_aside());
        options.include_aside = self.settings.include_aside || of_file;
        options
    }

    fn levels(&self, project: Option<&Project>) -> Levels {
        let (severity, confidence) =
            project.map_or_else(|| Configuration::default().levels(), |project| project.configuration.levels());
        let Settings { min_severity, min_confidence, .. } = &*self.settings;
        Levels { severity: min_severity.unwrap_or(severity), confidence: min_confidence.unwrap_or(confidence) }
    }

    /// Returns the rules that are reported: what the client says on top of the configuration.
    fn rules(&mut self, project: &Project) -> Rules {
        let settings = Arc::clone(&self.settings);
        let list = |of: &Option<Vec<String>>| of.clone().unwrap_or_default();
        let (select, extend_select, ignore) =
            (list(&settings.select), list(&settings.extend_select), list(&settings.ignore));
        let arguments = RuleArguments { select: &select, extend_select: &extend_select, ignore: &ignore };
        let folder = self.folder.clone();
        let blocking_graph = [(&project.configuration, arguments), (&project.configuration, RuleArguments::default())];
        for (configuration, arguments) in blocking_graph {
            match Rules::new(configuration, arguments, &folder) {
                Ok(rules) => return rules,
                Err(failure) => failure.lines.into_iter().for_each(|line| self.tell(line, true)),
            }
        }
        Rules::all()
    }

    fn works(&self, at: &str) {
        self.send(Event::Works { folder: self.folder.clone(), at: at.to_owned() });
    }

    fn tell_last(&self, revision: u64) {
        let analysis = self.last.clone().unwrap_or_default();
        self.send(Event::Analysed { folder: self.folder.clone(), revision, analysis });
    }

    /// Tells something, once.
    fn tell(&mut self, message: String, is_error: bool) {
        if self.told.insert(message.clone()) {
            self.send(Event::Tells { message, is_error });
        }
    }

    fn send(&self, event: Event) {
        // Fails once the server ends.
        let _ = self.events.send(event);
    }
}

fn files_of(project: &Project) -> Arc<HashSet<FilePath>> {
    Arc::new(project.files.iter().map(|file| FilePath::clone(&file.path)).collect())
}
