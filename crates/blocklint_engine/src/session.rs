//! A project that is analysed again and again while its files change: what an editor needs.
//!
//! The facts of all files are kept; a file that changed is read again, alone. A partial search, which looks only where
//! its findings come from, answers at once. A search over all files follows, and the editor does not wait for it. A
//! session belongs to one thread with a large stack ([`crate::STACK_SIZE`]); its results are awaited on another thread.
//! To cancel a run, set its flag.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use blocklint_analysis::{
    FileId, FileSearch, Flows, Layout, Linker, Names, Outline, Program, ProgramTables, Solved, SolvedProgram,
    SourceFile, Stopped,
};
use blocklint_cache::Cache;
use blocklint_core::{Language, Span};
use blocklint_facts::BodyKind;
use blocklint_models::Models;
use blocklint_project::Project;
use blocklint_rules::Unread;
use camino::Utf8Path;

use crate::analyse::{Report, grouped, layout_of, options_of, source_file, told, unread_finding};
use crate::cached::begun::{SessionStart, begin};
use crate::comments::comments;
use crate::contain::{Contained, contain, unseen_languages};
use crate::extraction::{Extracted, decode, extract, extract_some, extract_text};
use crate::timings::Timings;
use crate::{Failure, Options, on_large_stacks};

/// The texts of files that an editor holds open, by absolute path; they count instead of what the disk has.
pub type Buffers = HashMap<Arc<Utf8Path>, Arc<str>>;

/// The error of a run that was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

/// A function, method, closure or other body, as far as an editor shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyPlace {
    /// Its name, or its first token.
    pub name: Span,
    /// From its first decorator to its end.
    pub span: Span,
    /// True if it is the top level of a file.
    pub is_module: bool,
}

/// A project that is analysed again and again.
pub struct Session {
    project: Project,
    models: Models,
    options: Options,
    /// Those that were read, by path.
    files: Vec<SourceFile>,
    layout: Layout,
    names: Names,
    /// Tables that were built once from all files, while they are valid.
    tables: Option<ProgramTables>,
    /// The flows of the last search of all files; none once files have come or gone since.
    flows: Option<Flows>,
    /// The slots of the files that have changed since, with the hash of what they were.
    changed: BTreeMap<usize, u64>,
    /// Files whose findings were not sent since they changed, or since an editor holds them.
    untold: BTreeSet<usize>,
    /// True if nothing was analysed yet.
    has_told_nothing: bool,
    /// The unreadable part of each file.
    unread: BTreeMap<Arc<Utf8Path>, (Span, Unread)>,
    buffers: Buffers,
    /// The state at the begin of the session, if there is a cache.
    begun: Option<SessionStart>,
    /// The hashes of files as they were read, of those that have been something else since.
    as_read: BTreeMap<usize, u64>,
}

impl Session {
    /// Reads all files of a project.
    ///
    /// With a cache it takes what an earlier session left ([`Session::keep`]).
    ///
    /// # Errors
    /// If the system starts no threads.
    pub fn open(
        project: Project,
        models: Models,
        options: Options,
        buffers: Buffers,
        cache: Option<Cache>,
    ) -> Result<Self, Failure> {
        let layout = layout_of(&project, &models);
        let mut session = Session {
            project,
            models,
            options,
            files: Vec::new(),
            layout,
            names: Names::default(),
            tables: None,
            flows: None,
            changed: BTreeMap::new(),
            untold: BTreeSet::new(),
            has_told_nothing: true,
            unread: BTreeMap::new(),
            buffers,
            begun: None,
            as_read: BTreeMap::new(),
        };
        match cache {
            Some(cache) => session.begin(cache)?,
            None => {
                session.read_all(Vec::new())?;
                session.renumbered();
            }
        }
        Ok(session)
    }

    /// Returns the project.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Returns the text that an editor holds of a file.
    pub fn buffer(&self, path: &Utf8Path) -> Option<&Arc<str>> {
        self.buffers.get(path)
    }

    /// Changes the options of runs.
    pub fn set_options(&mut self, options: Options) {
        self.options = options;
    }

    /// True if the file is one of the project's.
    pub fn holds(&self, path: &Utf8Path) -> bool {
        self.project.file_index(path).is_some()
    }

    /// Takes the new text of a file: an editor holds this text, or with `None` the text on the disk counts. Returns
    /// true if findings may change; false for a file with equal content, or for one outside the project.
    pub fn change(&mut self, path: &Arc<Utf8Path>, text: Option<Arc<str>>) -> bool {
        match text {
            Some(text) => self.buffers.insert(Arc::clone(path), text),
            None => self.buffers.remove(path),
        };
        let Some(at) = self.project.file_index(path) else { return false };
        let file = &self.project.files[at];
        let extracted = self.extract(file);
        let slot = self.files.binary_search_by(|file| (*file.path).cmp(path));
        let same_unread = self.unread.get(path) == extracted.unread.as_ref();
        if let (Ok(slot), Some(facts)) = (slot, &extracted.facts)
            && same_unread
            && self.files[slot].facts.content_hash == facts.content_hash
        {
            // Flows may be known before the first analysis.
            let is_untold = self.has_told_nothing && self.flows.is_some();
            if is_untold {
                self.untold.insert(slot);
            }
            return is_untold;
        }
        match &extracted.unread {
            Some(unread) => self.unread.insert(Arc::clone(path), unread.clone()),
            None => self.unread.remove(path),
        };
        match (slot, source_file(file, extracted)) {
            (Ok(slot), Some(file)) => {
                self.names.replace(FileId(slot as u32), &file.facts);
                if Outline::of(&self.files[slot].facts) != Outline::of(&file.facts) {
                    self.tables = None;
                }
                let is = file.facts.content_hash;
                let was = *self.changed.entry(slot).or_insert(self.files[slot].facts.content_hash);
                if is == was {
                    self.changed.remove(&slot);
                }
                self.as_read.entry(slot).or_insert(self.files[slot].facts.content_hash);
                self.files[slot] = file;
                self.untold.insert(slot);
                return true;
            }
            (Ok(slot), None) => drop(self.files.remove(slot)),
            (Err(slot), Some(file)) => self.files.insert(slot, file),
            (Err(_), None) => return !same_unread,
        }
        self.renumbered();
        true
    }

    /// Takes the project after files have come or gone, or after its settings have changed. Reads new files and
    /// `changed`; keeps the facts of all other files. Returns true if findings may change.
    ///
    /// # Errors
    /// If the system starts no threads.
    pub fn reload(
        &mut self,
        project: Project,
        models: Models,
        changed: &HashSet<Arc<Utf8Path>>,
    ) -> Result<bool, Failure> {
        let same_configuration = project.configuration == self.project.configuration;
        let same_files = project.files.iter().map(|file| (&file.path, file.reported)).eq(self.files_of_project());
        // The content of a model file cannot be compared.
        let has_models = |of: &Project| !of.configuration.models.is_empty() || !of.shipped.is_empty();
        let same_models = !has_models(&project) && !has_models(&self.project);
        (self.project, self.models) = (project, models);
        let layout = layout_of(&self.project, &self.models);
        let same_layout = format!("{layout:?}") == format!("{:?}", self.layout);
        self.layout = layout;
        let known = std::mem::take(&mut self.files);
        self.read_all(if same_configuration { known } else { Vec::new() })?;
        self.renumbered();
        let mut is_other = !(same_configuration && same_files && same_models && same_layout);
        for path in changed {
            is_other |= self.change(path, self.buffers.get(path).cloned());
        }
        Ok(is_other)
    }

    /// Analyses the files as they stand, and hands over the report: before the memory of the run is freed, because that
    /// takes time.
    ///
    /// # Errors
    ///
    /// `Cancelled` soon after `stop` is set; then nothing is handed over.
    pub fn analyse<T>(
        &mut self,
        stop: &Arc<AtomicBool>,
        hand_over: impl FnOnce(&Self, Report) -> T,
    ) -> Result<T, Cancelled> {
        // Numbers that names have by their history would let answers differ, where it matters who is asked first, from
        // those of a session that is opened again.
        if self.names.has_replaced_files() {
            self.names = Names::new(&self.files);
            self.tables = None;
        }
        let mut flows = None;
        let mut solve = |linker: &Linker<'_>, options| {
            let SolvedProgram { solved, flows: found } = blocklint_analysis::solve_whole(linker, options);
            flows = Some(found);
            solved
        };
        let mut tables = self.tables.take();
        let done = self.run(stop, &mut tables, &mut solve, |_| true, hand_over);
        self.tables = tables;
        let done = done?;
        self.flows = flows;
        self.changed.clear();
        self.untold.clear();
        self.has_told_nothing = false;
        Ok(done)
    }

    /// Analyses the files that have changed since their findings were reported last. Adds files that these lead to if
    /// they have changed since the last analysis of all, and files open in an editor that they affect. The report holds
    /// the findings of these files alone, with their paths. Facts that need all files, above all the number of
    /// functions that wait for a cause, come with the next analysis of all. Returns none if that must come first, or if
    /// nothing has changed.
    ///
    /// # Errors
    ///
    /// `Cancelled` soon after `stop` is set; then nothing is handed over.
    pub fn analyse_changed<T>(
        &mut self,
        stop: &Arc<AtomicBool>,
        hand_over: impl FnOnce(&Self, Report, HashSet<Arc<Utf8Path>>) -> T,
    ) -> Result<Option<T>, Cancelled> {
        let Some(flows) = self.flows.as_ref().filter(|_| !self.untold.is_empty()) else { return Ok(None) };
        let id = |slot: &usize| FileId(*slot as u32);
        let files: Vec<FileId> = self.untold.iter().map(id).collect();
        let changed = self.changed.keys().map(id).collect();
        let open: Vec<FileId> = self.buffers.keys().filter_map(|path| Some(id(&self.slot(path)?))).collect();
        let answered = RefCell::new(HashSet::new());
        let mut solve = |linker: &Linker<'_>, options| {
            let wanted = FileSearch { files: &files, changed: &changed, open: &open };
            let solved = blocklint_analysis::solve_files(linker, options, flows, wanted);
            answered.borrow_mut().extend(linker.reported_files().map(FileId::index));
            solved
        };
        let hand_over = |session: &Self, report| {
            let paths = answered.borrow().iter().map(|&slot| Arc::clone(&session.files[slot].path)).collect();
            hand_over(session, report, paths)
        };
        let mut tables = self.tables.clone();
        let done = self.run(stop, &mut tables, &mut solve, |slot| answered.borrow().contains(&slot), hand_over);
        self.tables = tables;
        let done = done?;
        self.untold.clear();
        Ok(Some(done))
    }

    fn run<T>(
        &self,
        stop: &Arc<AtomicBool>,
        tables: &mut Option<ProgramTables>,
        solve: &mut dyn FnMut(&Linker<'_>, blocklint_analysis::Options) -> Solved,
        is_meant: impl Fn(usize) -> bool,
        hand_over: impl FnOnce(&Self, Report) -> T,
    ) -> Result<T, Cancelled> {
        let run = || {
            let mut timings = Timings::default();
            let started = Instant::now();
            let program = Program::new(&self.files, &self.layout, &self.names);
            let tables = tables.get_or_insert_with(|| ProgramTables::new(&program)).clone();
            let new_linker = || {
                let linker = blocklint_analysis::new_linker_with_tables(&program, &self.models, tables.clone());
                linker.stop_when(Arc::clone(stop));
                linker
            };
            timings.link = started.elapsed();
            let started = Instant::now();
            let contained = contain(&program, self.options, new_linker, |linker, left_out| {
                let solved = solve(linker, options_of(self.options));
                let took = started.elapsed();
                let mut findings = self.unread_findings(&is_meant);
                let unseen = unseen_languages(&self.unread_languages(), left_out);
                let remarks = comments(&self.files, &solved, self.options.comments, &unseen, &is_meant);
                let remedies = told(linker, &solved, self.project.trace_in_paths, remarks, left_out, &mut findings);
                (findings, remedies, took)
            });
            // Answers come before the linker's memory is freed.
            let Contained { done: (findings, remedies, took), linker: _linker, left_out } = contained;
            timings.solve = took;
            let groups = grouped(&findings);
            timings.output = started.elapsed() - took;
            let read = self.files.len();
            let (must_not_block, all_paths) = (None, None);
            hand_over(self, Report { findings, groups, read, remedies, must_not_block, all_paths, left_out, timings })
        };
        // Half-done work of a stopped run is dropped with it; the session itself is not touched.
        catch_unwind(AssertUnwindSafe(run)).map_err(|panic| match panic.is::<Stopped>() {
            true => Cancelled,
            false => resume_unwind(panic),
        })
    }

    /// Files have come or gone, so that slots mean other files.
    fn renumbered(&mut self) {
        self.names = Names::new(&self.files);
        self.tables = None;
        self.flows = None;
        self.changed.clear();
        self.untold.clear();
        self.begun = None;
        self.as_read.clear();
    }

    /// Returns the text of a file, as its facts' spans count it: what the editor holds, else what the disk has now.
    pub fn text(&self, path: &Utf8Path) -> Option<Arc<str>> {
        if let Some(text) = self.buffers.get(path) {
            return Some(Arc::clone(text));
        }
        let file = &self.project.files[self.project.file_index(path)?];
        let bytes = blocklint_project::read(path, self.project.configuration.max_file_size).ok()?;
        Some(decode(file, bytes).0)
    }

    /// Returns the innermost body with a name around an offset; the top level where there is none.
    pub fn body_at(&self, path: &Utf8Path, offset: u32) -> Option<BodyPlace> {
        let facts = &self.files[self.slot(path)?].facts;
        let named = |kind| matches!(kind, BodyKind::Function | BodyKind::Module);
        let around = facts
            .bodies
            .iter()
            .filter(|body| named(body.kind) && (body.kind == BodyKind::Module || body.span.contains_offset(offset)));
        let inner = around.min_by_key(|body| (body.kind == BodyKind::Module, body.span.end - body.span.start))?;
        Some(BodyPlace { name: inner.name_span, span: inner.span, is_module: inner.kind == BodyKind::Module })
    }

    /// Returns the languages of files that could not be read as a whole: what their comments silence is not known.
    fn unread_languages(&self) -> Vec<Language> {
        let unread =
            self.unread.keys().filter_map(|path| Some(self.project.files[self.project.file_index(path)?].language));
        unread.collect()
    }

    fn unread_findings(&self, is_meant: &impl Fn(usize) -> bool) -> Vec<blocklint_core::Finding> {
        let found = self.unread.iter().filter_map(|(path, unread)| {
            if !is_meant(self.slot(path).unwrap_or(usize::MAX)) {
                return None;
            }
            let file = &self.project.files[self.project.file_index(path)?];
            file.reported.then(|| unread_finding(file, unread))
        });
        found.collect()
    }

    /// Stores facts and flows for the next session; called when no request waits. Nothing is kept without a cache, nor
    /// where it cannot be written.
    pub fn keep(&mut self) {
        let Some(begun) = &mut self.begun else { return };
        let is_other = |slot: &usize| self.files[*slot].facts.content_hash != self.as_read[slot];
        let others: HashSet<&Utf8Path> =
            self.as_read.keys().filter(|slot| is_other(slot)).map(|slot| &*self.files[*slot].path).collect();
        let flows = self.flows.as_ref().filter(|_| others.is_empty() && self.changed.is_empty());
        if begun.keep(&self.project, &self.files, |path| others.contains(path), flows).is_err() {
            self.begun = None;
        }
    }

    /// Reads all files, those that did not change as a cache has them.
    fn begin(&mut self, cache: Cache) -> Result<(), Failure> {
        let (extracted, flows, begun) = begin(&self.project, &self.layout, self.options, cache)?;
        self.take(HashMap::new(), extracted);
        self.renumbered();
        self.flows = flows.filter(|flows| flows.is_valid_for(&self.files));
        self.begun = Some(begun);
        for (path, text) in self.buffers.clone() {
            self.change(&path, Some(text));
        }
        Ok(())
    }

    fn files_of_project(&self) -> impl Iterator<Item = (&Arc<Utf8Path>, bool)> {
        self.project.files.iter().map(|file| (&file.path, file.reported))
    }

    /// Returns the slot of a file that was read.
    fn slot(&self, path: &Utf8Path) -> Option<usize> {
        self.files.binary_search_by(|file| (*file.path).cmp(path)).ok()
    }

    fn extract(&self, file: &blocklint_project::SourceFile) -> Extracted {
        let limit = self.project.configuration.max_file_size;
        match self.buffers.get(&file.path) {
            Some(text) => extract_text(file, text, limit),
            None => extract(file, limit),
        }
    }

    /// Reads all files but those whose facts are known.
    fn read_all(&mut self, known: Vec<SourceFile>) -> Result<(), Failure> {
        let known: HashMap<Arc<Utf8Path>, SourceFile> =
            known.into_iter().map(|file| (Arc::clone(&file.path), file)).collect();
        let wanted: Vec<_> = self.project.files.iter().filter(|file| !known.contains_key(&file.path)).collect();
        let extracted = on_large_stacks(|| extract_some(&wanted, |file| self.extract(file)))?;
        self.take(known, extracted);
        Ok(())
    }

    /// Takes the files whose facts are known, and of the others, in the order of the project, what was read.
    fn take(&mut self, mut known: HashMap<Arc<Utf8Path>, SourceFile>, extracted: Vec<Extracted>) {
        let mut unread: BTreeMap<Arc<Utf8Path>, (Span, Unread)> = BTreeMap::new();
        let mut read: HashMap<Arc<Utf8Path>, SourceFile> = HashMap::new();
        let wanted = self.project.files.iter().filter(|file| !known.contains_key(&file.path));
        for (file, extracted) in wanted.zip(extracted) {
            if let Some(found) = &extracted.unread {
                unread.insert(Arc::clone(&file.path), found.clone());
            }
            if let Some(source) = source_file(file, extracted) {
                read.insert(Arc::clone(&file.path), source);
            }
        }
        for (path, found) in &self.unread {
            if known.contains_key(path) {
                unread.insert(Arc::clone(path), found.clone());
            }
        }
        let files = self.project.files.iter().filter_map(|file| {
            let mut source = known.remove(&file.path).or_else(|| read.remove(&file.path))?;
            source.relative = file.relative.as_str().replace('\\', "/");
            source.reported = file.reported;
            Some(source)
        });
        self.files = files.collect();
        self.unread = unread;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use blocklint_core::Confidence;
    use blocklint_project::{Request, discover};
    use tempfile::TempDir;

    use super::*;

    const HELPER: &str = "import time\n\n\ndef pause():\n    time.sleep(1)\n";
    const APP: &str = "import work\n\n\nasync def handler():\n    work.pause()\n";

    struct Shop {
        folder: TempDir,
        session: Session,
    }

    fn project(folder: &Utf8Path) -> Project {
        discover(Request { current: folder, paths: &[], isolated: false }).expect("it has no configuration")
    }

    impl Shop {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            fs::write(folder.path().join("work.py"), HELPER).expect("written");
            fs::write(folder.path().join("app.py"), APP).expect("written");
            let project = project(Utf8Path::from_path(folder.path()).expect("UTF-8"));
            let options = Options::new(Confidence::Medium);
            let session = Session::open(project, Models::builtin(), options, Buffers::new(), None).expect("threads");
            Shop { folder, session }
        }

        fn path(&self, name: &str) -> Arc<Utf8Path> {
            Arc::from(Utf8Path::from_path(&self.folder.path().join(name)).expect("UTF-8"))
        }

        fn found(&mut self) -> Vec<String> {
            let never = Arc::new(AtomicBool::new(false));
            let found = self.session.analyse(&never, |_, report| report.findings).expect("it is not cancelled");
            found.iter().map(|finding| finding.trace_line()).collect()
        }

        /// Returns the findings that are reported at once, and the files that they are all of.
        fn told(&mut self) -> Option<(Vec<String>, Vec<String>)> {
            let never = Arc::new(AtomicBool::new(false));
            let told = self.session.analyse_changed(&never, |_, report, files| (report.findings, files));
            told.expect("it is not cancelled").map(|(findings, files)| {
                let mut files: Vec<String> =
                    files.iter().filter_map(|path| path.file_name()).map(str::to_owned).collect();
                files.sort();
                (findings.iter().map(|finding| finding.trace_line()).collect(), files)
            })
        }

        fn reload(&mut self, changed: &[&str]) -> bool {
            let project = project(Utf8Path::from_path(self.folder.path()).expect("UTF-8"));
            let changed = changed.iter().map(|name| self.path(name)).collect();
            self.session.reload(project, Models::builtin(), &changed).expect("threads")
        }
    }

    #[test]
    fn what_a_changed_file_says_is_told_at_once() {
        let mut shop = Shop::new();
        let (work, app) = (shop.path("work.py"), shop.path("app.py"));
        let whole = "handler → pause → time.sleep";
        assert_eq!(shop.told(), None, "nothing is known yet");
        assert_eq!(shop.found(), [whole]);
        assert_eq!(shop.told(), None, "nothing has changed");
        // The path leads through a file that has not.
        shop.session.change(&app, Some(Arc::from(format!("{APP}    work.pause()\n"))));
        assert_eq!(shop.told(), Some((vec![whole.to_owned(), whole.to_owned()], vec!["app.py".to_owned()])));
        assert_eq!(shop.told(), None, "it was told");
        // A file open in an editor is reported anew if its findings may have changed.
        shop.session.change(&work, Some(Arc::from("def pause():\n    pass\n")));
        let both = vec!["app.py".to_owned(), "work.py".to_owned()];
        assert_eq!(shop.told(), Some((Vec::new(), both.clone())));
        shop.session.change(&work, Some(Arc::from(HELPER)));
        assert_eq!(shop.told(), Some((vec![whole.to_owned(), whole.to_owned()], both)));
        assert_eq!(shop.found().len(), 2, "all files say the same");
    }

    #[test]
    fn the_next_session_tells_of_an_open_file_before_all_are_analysed() {
        let whole = "handler → pause → time.sleep";
        let mut shop = Shop::new();
        let app = shop.path("app.py");
        let open = |folder: &TempDir, buffers| {
            let project = project(Utf8Path::from_path(folder.path()).expect("UTF-8"));
            let cache = Cache::of_project(&project.root, "test");
            let options = Options::new(Confidence::Medium);
            Session::open(project, Models::builtin(), options, buffers, Some(cache)).expect("threads")
        };
        shop.session = open(&shop.folder, Buffers::new());
        assert!(shop.session.change(&app, Some(Arc::from("import work\n"))));
        assert_eq!(shop.found(), [] as [&str; 0]);
        shop.session.keep();
        shop.session = open(&shop.folder, Buffers::new());
        assert!(!shop.session.change(&app, Some(Arc::from(APP))), "what flowed was not kept: a file was another");
        assert_eq!(shop.told(), None);
        assert_eq!(shop.found(), [whole]);
        shop.session.keep();
        shop.session = open(&shop.folder, Buffers::new());
        assert!(shop.session.change(&app, Some(Arc::from(APP))), "it was told nothing yet");
        assert_eq!(shop.told(), Some((vec![whole.to_owned()], vec!["app.py".to_owned()])));
        // An editor holds something else as soon as it begins.
        let text = format!("{APP}    work.pause()\n");
        shop.session = open(&shop.folder, Buffers::from_iter([(Arc::clone(&app), Arc::from(text))]));
        assert_eq!(shop.told(), Some((vec![whole.to_owned(), whole.to_owned()], vec!["app.py".to_owned()])));
        // Nothing of a file that has changed meanwhile is believed.
        fs::write(shop.folder.path().join("work.py"), "def pause():\n    pass\n").expect("written");
        shop.session = open(&shop.folder, Buffers::new());
        assert!(!shop.session.change(&app, Some(Arc::from(APP))));
        assert_eq!((shop.told(), shop.found()), (None, Vec::new()));
    }

    #[test]
    fn what_is_told_at_once_knows_new_names_and_definitions() {
        let mut shop = Shop::new();
        assert_eq!(shop.found().len(), 1);
        let app = shop.path("app.py");
        let text = "import subprocess as tools\n\n\nclass Shelf:\n    def fill(self):\n        tools.run([])\n\n\nasync def serve(shelf: Shelf):\n    shelf.fill()\n";
        shop.session.change(&app, Some(Arc::from(text)));
        let told = shop.told().expect("it has changed").0;
        assert_eq!(told, ["serve → fill → tools.run"]);
        assert_eq!(shop.found(), told);
    }

    #[test]
    fn a_buffer_counts_until_it_is_closed() {
        let mut shop = Shop::new();
        let (work, whole) = (shop.path("work.py"), ["handler → pause → time.sleep"]);
        assert_eq!(shop.found(), whole);
        assert!(!shop.session.change(&work, Some(Arc::from(HELPER))), "it holds what the disk has");
        assert!(shop.session.change(&work, Some(Arc::from("def pause():\n    pass\n"))));
        assert_eq!(shop.found(), [] as [&str; 0]);
        assert!(shop.session.change(&work, None));
        assert_eq!(shop.found(), whole);
        assert!(!shop.session.change(&shop.path("other.py"), Some(Arc::from(APP))), "none of the project's");
    }

    #[test]
    fn files_that_come_go_and_change_are_seen_by_a_reload() {
        let mut shop = Shop::new();
        assert!(!shop.reload(&[]), "nothing happened");
        assert!(!shop.reload(&["work.py"]), "it was written as it was");
        fs::remove_file(shop.folder.path().join("work.py")).expect("removed");
        assert!(shop.reload(&[]));
        assert_eq!(shop.found(), [] as [&str; 0]);
        fs::write(shop.folder.path().join("work.py"), HELPER).expect("written");
        assert!(shop.reload(&[]));
        assert_eq!(shop.found().len(), 1);
        fs::write(shop.folder.path().join("app.py"), "").expect("written");
        assert!(shop.reload(&["app.py"]));
        assert_eq!(shop.found(), [] as [&str; 0]);
    }

    #[test]
    fn a_file_that_cannot_be_read_comes_back() {
        let mut shop = Shop::new();
        let app = shop.path("app.py");
        fs::remove_file(&*app).expect("removed");
        assert!(shop.session.change(&app, None), "its facts are gone");
        assert_eq!(shop.found(), [""], "BLT902");
        assert!(!shop.session.change(&app, None));
        assert!(shop.session.change(&app, Some(Arc::from(APP))));
        assert_eq!(shop.found().len(), 1);
    }

    #[test]
    fn a_run_that_is_stopped_gives_nothing_and_the_next_one_all() {
        let mut shop = Shop::new();
        let stopped = Arc::new(AtomicBool::new(true));
        let cancelled = shop.session.analyse(&stopped, |_, _| unreachable!("it is stopped"));
        assert_eq!(cancelled, Err::<(), _>(Cancelled));
        assert_eq!(shop.found().len(), 1);
    }

    #[test]
    fn the_body_around_an_offset() {
        let shop = Shop::new();
        let at = |offset: usize| shop.session.body_at(&shop.path("work.py"), offset as u32).expect("a body");
        let body = at(HELPER.find("sleep").expect("there"));
        assert_eq!(&HELPER[body.name.start as usize..body.name.end as usize], "pause");
        assert!(!body.is_module && at(0).is_module);
    }
}
