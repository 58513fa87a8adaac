//! A session of the language server: a project that is analysed again and again while its files change.
//!
//! A session keeps the facts of all files and reads a changed file alone again. [`Session::analyse_changed`] searches
//! only the code on which the findings of the changed files depend, so that the editor gets them at once.
//! [`Session::analyse`] searches all files later. A session belongs to one thread with a large stack
//! ([`crate::STACK_SIZE`]); another thread receives the results, and cancels a run by its flag `stop`.

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

use crate::analyse::{
    Report, analysis_options, group_by_cause, merge_findings, project_layout, source_file, unread_finding,
};
use crate::cached::begun::{SessionStart, open_cached_session};
use crate::comments::comment_findings;
use crate::contain::{Contained, contain, unseen_languages};
use crate::extraction::{Extracted, decode, extract, extract_some, extract_text};
use crate::timings::Timings;
use crate::{Failure, Options, on_large_stacks};

/// The texts of files that are open in an editor, by absolute path. They replace the texts on the disk.
pub type Buffers = HashMap<Arc<Utf8Path>, Arc<str>>;

/// The error of a run that was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

/// The place of a function, method or other body, for an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyPlace {
    /// The span of the body's name, or of its first token.
    pub name: Span,
    /// The span from the first decorator to the end.
    pub span: Span,
    /// True if it is the top level of a file.
    pub is_module: bool,
}

/// A project with its facts, and the state that partial searches need.
pub struct Session {
    project: Project,
    models: Models,
    options: Options,
    /// The files that could be read, sorted by path. A *slot* is an index into this list.
    files: Vec<SourceFile>,
    layout: Layout,
    names: Names,
    /// Tables of the whole program; `None` if a change of a file has made them invalid.
    tables: Option<ProgramTables>,
    /// The flows of the last search over all files; `None` if files were added or removed since.
    flows: Option<Flows>,
    /// The slots of the files that have changed since the last search over all files, with the hash of their content
    /// then.
    changed: BTreeMap<usize, u64>,
    /// The slots of files whose findings were not reported since they changed or were opened in an editor.
    unreported: BTreeSet<usize>,
    /// True if there was no search over all files in this session.
    has_reported_nothing: bool,
    /// The part of each file that could not be read, and why.
    unread: BTreeMap<Arc<Utf8Path>, (Span, Unread)>,
    buffers: Buffers,
    /// The state at the start of the session, for storing facts and flows; `None` without a cache.
    session_start: Option<SessionStart>,
    /// The content hashes at the start of the session, of the files that have changed since.
    hashes_at_start: BTreeMap<usize, u64>,
}

impl Session {
    /// Reads all files of a project. With a cache, it reuses the facts and flows that an earlier session stored
    /// ([`Session::store`]).
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
        let layout = project_layout(&project, &models);
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
            unreported: BTreeSet::new(),
            has_reported_nothing: true,
            unread: BTreeMap::new(),
            buffers,
            session_start: None,
            hashes_at_start: BTreeMap::new(),
        };
        match cache {
            Some(cache) => session.read_all_with_cache(cache)?,
            None => {
                session.read_all(Vec::new())?;
                session.rebuild_names();
            }
        }
        Ok(session)
    }

    /// Returns the project.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Returns the text of a file that is open in an editor.
    pub fn buffer(&self, path: &Utf8Path) -> Option<&Arc<str>> {
        self.buffers.get(path)
    }

    /// Changes the options of runs.
    pub fn set_options(&mut self, options: Options) {
        self.options = options;
    }

    /// True if the file belongs to the project.
    pub fn has_file(&self, path: &Utf8Path) -> bool {
        self.project.file_index(path).is_some()
    }

    /// Replaces the text of a file: by the editor's `text`, or by the text on the disk if `text` is `None`. Returns
    /// true if findings may change; false if the content is equal or if the file is outside of the project.
    pub fn change(&mut self, path: &Arc<Utf8Path>, text: Option<Arc<str>>) -> bool {
        match text {
            Some(text) => self.buffers.insert(Arc::clone(path), text),
            None => self.buffers.remove(path),
        };
        let Some(index) = self.project.file_index(path) else { return false };
        let file = &self.project.files[index];
        let extracted = self.extract(file);
        let slot = self.files.binary_search_by(|file| (*file.path).cmp(path));
        let same_unread = self.unread.get(path) == extracted.unread.as_ref();
        if let (Ok(slot), Some(facts)) = (slot, &extracted.facts)
            && same_unread
            && self.files[slot].facts.content_hash == facts.content_hash
        {
            // The cache may have brought flows before the first search.
            let is_unreported = self.has_reported_nothing && self.flows.is_some();
            if is_unreported {
                self.unreported.insert(slot);
            }
            return is_unreported;
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
                let new_hash = file.facts.content_hash;
                let old_hash = *self.changed.entry(slot).or_insert(self.files[slot].facts.content_hash);
                if new_hash == old_hash {
                    self.changed.remove(&slot);
                }
                self.hashes_at_start.entry(slot).or_insert(self.files[slot].facts.content_hash);
                self.files[slot] = file;
                self.unreported.insert(slot);
                return true;
            }
            (Ok(slot), None) => drop(self.files.remove(slot)),
            (Err(slot), Some(file)) => self.files.insert(slot, file),
            (Err(_), None) => return !same_unread,
        }
        self.rebuild_names();
        true
    }

    /// Replaces the project after files were added or removed, or after its settings have changed. Reads new files and
    /// those in `changed`; keeps the facts of all other files. Returns true if findings may change.
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
        // The old content of a model file is not known, so any model file may have changed.
        let has_models = |project: &Project| !project.configuration.models.is_empty() || !project.shipped.is_empty();
        let same_models = !has_models(&project) && !has_models(&self.project);
        (self.project, self.models) = (project, models);
        let layout = project_layout(&self.project, &self.models);
        let same_layout = format!("{layout:?}") == format!("{:?}", self.layout);
        self.layout = layout;
        let known = std::mem::take(&mut self.files);
        self.read_all(if same_configuration { known } else { Vec::new() })?;
        self.rebuild_names();
        let mut may_change = !(same_configuration && same_files && same_models && same_layout);
        for path in changed {
            may_change |= self.change(path, self.buffers.get(path).cloned());
        }
        Ok(may_change)
    }

    /// Analyses all files and passes the report to `hand_over`. The call comes before the memory of the run is freed,
    /// because that takes time.
    ///
    /// # Errors
    ///
    /// `Cancelled` soon after `stop` is set; `hand_over` is not called then.
    pub fn analyse<T>(
        &mut self,
        stop: &Arc<AtomicBool>,
        hand_over: impl FnOnce(&Self, Report) -> T,
    ) -> Result<T, Cancelled> {
        // The numbers of names depend on the order of the changes, and some answers depend on the order of the numbers.
        // New numbers make the result equal to that of a new session.
        if self.names.has_replaced_files() {
            self.names = Names::new(&self.files);
            self.tables = None;
        }
        let mut flows = None;
        let mut solve = |linker: &Linker<'_>, options| {
            let SolvedProgram { solved, flows: new_flows } = blocklint_analysis::solve_whole(linker, options);
            flows = Some(new_flows);
            solved
        };
        let mut tables = self.tables.take();
        let done = self.run(stop, &mut tables, &mut solve, |_| true, hand_over);
        self.tables = tables;
        let done = done?;
        self.flows = flows;
        self.changed.clear();
        self.unreported.clear();
        self.has_reported_nothing = false;
        Ok(done)
    }

    /// Analyses the files that have changed since their findings were last reported; the files that these call, if they
    /// have changed since the last search over all files; and the files open in an editor that they affect. The report
    /// has the findings of these files alone, and `hand_over` gets their paths. Results that need all files, such as
    /// the number of functions that wait for a cause, come with the next [`Session::analyse`]. Returns `None` if that
    /// must come first, or if nothing has changed.
    ///
    /// # Errors
    ///
    /// `Cancelled` soon after `stop` is set; `hand_over` is not called then.
    pub fn analyse_changed<T>(
        &mut self,
        stop: &Arc<AtomicBool>,
        hand_over: impl FnOnce(&Self, Report, HashSet<Arc<Utf8Path>>) -> T,
    ) -> Result<Option<T>, Cancelled> {
        let Some(flows) = self.flows.as_ref().filter(|_| !self.unreported.is_empty()) else { return Ok(None) };
        let id = |slot: &usize| FileId(*slot as u32);
        let files: Vec<FileId> = self.unreported.iter().map(id).collect();
        let changed = self.changed.keys().map(id).collect();
        let open: Vec<FileId> = self.buffers.keys().filter_map(|path| Some(id(&self.slot(path)?))).collect();
        let searched = RefCell::new(HashSet::new());
        let mut solve = |linker: &Linker<'_>, options| {
            let search = FileSearch { files: &files, changed: &changed, open: &open };
            let solved = blocklint_analysis::solve_files(linker, options, flows, search);
            searched.borrow_mut().extend(linker.reported_files().map(FileId::index));
            solved
        };
        let hand_over = |session: &Self, report| {
            let paths = searched.borrow().iter().map(|&slot| Arc::clone(&session.files[slot].path)).collect();
            hand_over(session, report, paths)
        };
        let mut tables = self.tables.clone();
        let done = self.run(stop, &mut tables, &mut solve, |slot| searched.borrow().contains(&slot), hand_over);
        self.tables = tables;
        let done = done?;
        self.unreported.clear();
        Ok(Some(done))
    }

    /// Runs a search and passes its report to `hand_over`. Findings about unreadable files and about comments are those
    /// of the slots that `is_searched` accepts.
    fn run<T>(
        &self,
        stop: &Arc<AtomicBool>,
        tables: &mut Option<ProgramTables>,
        solve: &mut dyn FnMut(&Linker<'_>, blocklint_analysis::Options) -> Solved,
        is_searched: impl Fn(usize) -> bool,
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
                let solved = solve(linker, analysis_options(self.options));
                let took = started.elapsed();
                let unread = self.unread_findings(&is_searched);
                let unseen = unseen_languages(&self.unread_languages(), left_out);
                let remarks = comment_findings(&self.files, &solved, self.options.comments, &unseen, &is_searched);
                let trace_in_paths = self.project.trace_in_paths;
                let (findings, remedies) = merge_findings(linker, &solved, trace_in_paths, remarks, left_out, unread);
                (findings, remedies, took)
            });
            // The linker lives until the end of this function, so that its memory is freed after the report is passed
            // on.
            let Contained { done: (findings, remedies, took), linker: _linker, left_out } = contained;
            timings.solve = took;
            let groups = group_by_cause(&findings);
            timings.output = started.elapsed() - took;
            let read = self.files.len();
            let (must_not_block, all_paths) = (None, None);
            hand_over(self, Report { findings, groups, read, remedies, must_not_block, all_paths, left_out, timings })
        };
        // A cancelled run leaves the session as it was, because all that it changed is local to it.
        catch_unwind(AssertUnwindSafe(run))
            .map_err(|panic| if panic.is::<Stopped>() { Cancelled } else { resume_unwind(panic) })
    }

    /// Builds the names anew and drops everything that is stored by slot. Called after files were added or removed,
    /// because slots then refer to other files.
    fn rebuild_names(&mut self) {
        self.names = Names::new(&self.files);
        self.tables = None;
        self.flows = None;
        self.changed.clear();
        self.unreported.clear();
        self.session_start = None;
        self.hashes_at_start.clear();
    }

    /// Returns the text of a file to which the spans of its facts refer: the editor's text, else the text on the disk.
    pub fn text(&self, path: &Utf8Path) -> Option<Arc<str>> {
        if let Some(text) = self.buffers.get(path) {
            return Some(Arc::clone(text));
        }
        let file = &self.project.files[self.project.file_index(path)?];
        let bytes = blocklint_project::read(path, self.project.configuration.max_file_size).ok()?;
        Some(decode(file, bytes).0)
    }

    /// Returns the innermost named body around an offset, or the top level of the file if there is none.
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

    /// Returns the languages with unreadable files. The suppression comments in such files are unknown.
    fn unread_languages(&self) -> Vec<Language> {
        let unread =
            self.unread.keys().filter_map(|path| Some(self.project.files[self.project.file_index(path)?].language));
        unread.collect()
    }

    fn unread_findings(&self, is_searched: &impl Fn(usize) -> bool) -> Vec<blocklint_core::Finding> {
        let findings = self.unread.iter().filter_map(|(path, unread)| {
            if !is_searched(self.slot(path).unwrap_or(usize::MAX)) {
                return None;
            }
            let file = &self.project.files[self.project.file_index(path)?];
            file.reported.then(|| unread_finding(file, unread))
        });
        findings.collect()
    }

    /// Stores facts and flows for the next session; called when no request waits. Does nothing without a cache; stops
    /// storing if the cache cannot be written.
    pub fn store(&mut self) {
        let Some(session_start) = &mut self.session_start else { return };
        let is_other = |slot: &usize| self.files[*slot].facts.content_hash != self.hashes_at_start[slot];
        let others: HashSet<&Utf8Path> =
            self.hashes_at_start.keys().filter(|slot| is_other(slot)).map(|slot| &*self.files[*slot].path).collect();
        let flows = self.flows.as_ref().filter(|_| others.is_empty() && self.changed.is_empty());
        if session_start.store(&self.project, &self.files, |path| others.contains(path), flows).is_err() {
            self.session_start = None;
        }
    }

    /// Reads all files; facts of unchanged files come out of the cache.
    fn read_all_with_cache(&mut self, cache: Cache) -> Result<(), Failure> {
        let (extracted, flows, session_start) = open_cached_session(&self.project, &self.layout, self.options, cache)?;
        self.set_files(HashMap::new(), extracted);
        self.rebuild_names();
        self.flows = flows.filter(|flows| flows.is_valid_for(&self.files));
        self.session_start = Some(session_start);
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

    /// Reads all files except those whose facts are known.
    fn read_all(&mut self, known: Vec<SourceFile>) -> Result<(), Failure> {
        let known: HashMap<Arc<Utf8Path>, SourceFile> =
            known.into_iter().map(|file| (Arc::clone(&file.path), file)).collect();
        let unknown_files: Vec<_> = self.project.files.iter().filter(|file| !known.contains_key(&file.path)).collect();
        let extracted = on_large_stacks(|| extract_some(&unknown_files, |file| self.extract(file)))?;
        self.set_files(known, extracted);
        Ok(())
    }

    /// Sets the files of the session: those in `known`, and for all others the `extracted` facts, in the project's
    /// order.
    fn set_files(&mut self, mut known: HashMap<Arc<Utf8Path>, SourceFile>, extracted: Vec<Extracted>) {
        let mut unread: BTreeMap<Arc<Utf8Path>, (Span, Unread)> = BTreeMap::new();
        let mut read: HashMap<Arc<Utf8Path>, SourceFile> = HashMap::new();
        let read_files = self.project.files.iter().filter(|file| !known.contains_key(&file.path));
        for (file, extracted) in read_files.zip(extracted) {
            if let Some(reason) = &extracted.unread {
                unread.insert(Arc::clone(&file.path), reason.clone());
            }
            if let Some(source) = source_file(file, extracted) {
                read.insert(Arc::clone(&file.path), source);
            }
        }
        for (path, reason) in &self.unread {
            if known.contains_key(path) {
                unread.insert(Arc::clone(path), reason.clone());
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

        fn analyse(&mut self) -> Vec<String> {
            let never = Arc::new(AtomicBool::new(false));
            let found = self.session.analyse(&never, |_, report| report.findings).expect("it is not cancelled");
            found.iter().map(|finding| finding.trace_line()).collect()
        }

        /// Returns the findings of a partial search, and the names of the files that it covers.
        fn analyse_changed(&mut self) -> Option<(Vec<String>, Vec<String>)> {
            let never = Arc::new(AtomicBool::new(false));
            let result = self.session.analyse_changed(&never, |_, report, files| (report.findings, files));
            result.expect("it is not cancelled").map(|(findings, files)| {
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
    fn findings_of_a_changed_file_are_reported_at_once() {
        let mut shop = Shop::new();
        let (work, app) = (shop.path("work.py"), shop.path("app.py"));
        let whole = "handler → pause → time.sleep";
        assert_eq!(shop.analyse_changed(), None, "nothing is known yet");
        assert_eq!(shop.analyse(), [whole]);
        assert_eq!(shop.analyse_changed(), None, "nothing has changed");
        // The path leads through a file that has not changed.
        shop.session.change(&app, Some(Arc::from(format!("{APP}    work.pause()\n"))));
        assert_eq!(shop.analyse_changed(), Some((vec![whole.to_owned(), whole.to_owned()], vec!["app.py".to_owned()])));
        assert_eq!(shop.analyse_changed(), None, "it was reported");
        // A file open in an editor is reported anew if its findings may have changed.
        shop.session.change(&work, Some(Arc::from("def pause():\n    pass\n")));
        let both = vec!["app.py".to_owned(), "work.py".to_owned()];
        assert_eq!(shop.analyse_changed(), Some((Vec::new(), both.clone())));
        shop.session.change(&work, Some(Arc::from(HELPER)));
        assert_eq!(shop.analyse_changed(), Some((vec![whole.to_owned(), whole.to_owned()], both)));
        assert_eq!(shop.analyse().len(), 2, "all files say the same");
    }

    #[test]
    fn the_next_session_reports_an_open_file_before_the_full_search() {
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
        assert_eq!(shop.analyse(), [] as [&str; 0]);
        shop.session.store();
        shop.session = open(&shop.folder, Buffers::new());
        assert!(!shop.session.change(&app, Some(Arc::from(APP))), "no flows were stored, because a file had changed");
        assert_eq!(shop.analyse_changed(), None);
        assert_eq!(shop.analyse(), [whole]);
        shop.session.store();
        shop.session = open(&shop.folder, Buffers::new());
        assert!(shop.session.change(&app, Some(Arc::from(APP))), "nothing was reported yet");
        assert_eq!(shop.analyse_changed(), Some((vec![whole.to_owned()], vec!["app.py".to_owned()])));
        // The editor's text differs from the disk from the start.
        let text = format!("{APP}    work.pause()\n");
        shop.session = open(&shop.folder, Buffers::from_iter([(Arc::clone(&app), Arc::from(text))]));
        assert_eq!(shop.analyse_changed(), Some((vec![whole.to_owned(), whole.to_owned()], vec!["app.py".to_owned()])));
        // Stored facts of a file that has changed since are not used.
        fs::write(shop.folder.path().join("work.py"), "def pause():\n    pass\n").expect("written");
        shop.session = open(&shop.folder, Buffers::new());
        assert!(!shop.session.change(&app, Some(Arc::from(APP))));
        assert_eq!((shop.analyse_changed(), shop.analyse()), (None, Vec::new()));
    }

    #[test]
    fn a_partial_search_knows_new_names_and_definitions() {
        let mut shop = Shop::new();
        assert_eq!(shop.analyse().len(), 1);
        let app = shop.path("app.py");
        let text = "import subprocess as tools\n\n\nclass Shelf:\n    def fill(self):\n        tools.run([])\n\n\nasync def serve(shelf: Shelf):\n    shelf.fill()\n";
        shop.session.change(&app, Some(Arc::from(text)));
        let partial = shop.analyse_changed().expect("it has changed").0;
        assert_eq!(partial, ["serve → fill → tools.run"]);
        assert_eq!(shop.analyse(), partial);
    }

    #[test]
    fn a_buffer_replaces_the_file_until_it_is_closed() {
        let mut shop = Shop::new();
        let (work, whole) = (shop.path("work.py"), ["handler → pause → time.sleep"]);
        assert_eq!(shop.analyse(), whole);
        assert!(!shop.session.change(&work, Some(Arc::from(HELPER))), "it holds what the disk has");
        assert!(shop.session.change(&work, Some(Arc::from("def pause():\n    pass\n"))));
        assert_eq!(shop.analyse(), [] as [&str; 0]);
        assert!(shop.session.change(&work, None));
        assert_eq!(shop.analyse(), whole);
        assert!(!shop.session.change(&shop.path("other.py"), Some(Arc::from(APP))), "none of the project's");
    }

    #[test]
    fn reload_notices_added_removed_and_changed_files() {
        let mut shop = Shop::new();
        assert!(!shop.reload(&[]), "nothing happened");
        assert!(!shop.reload(&["work.py"]), "it was written as it was");
        fs::remove_file(shop.folder.path().join("work.py")).expect("removed");
        assert!(shop.reload(&[]));
        assert_eq!(shop.analyse(), [] as [&str; 0]);
        fs::write(shop.folder.path().join("work.py"), HELPER).expect("written");
        assert!(shop.reload(&[]));
        assert_eq!(shop.analyse().len(), 1);
        fs::write(shop.folder.path().join("app.py"), "").expect("written");
        assert!(shop.reload(&["app.py"]));
        assert_eq!(shop.analyse(), [] as [&str; 0]);
    }

    #[test]
    fn an_unreadable_file_is_analysed_once_it_is_readable() {
        let mut shop = Shop::new();
        let app = shop.path("app.py");
        fs::remove_file(&*app).expect("removed");
        assert!(shop.session.change(&app, None), "its facts are gone");
        assert_eq!(shop.analyse(), [""], "BLT902");
        assert!(!shop.session.change(&app, None));
        assert!(shop.session.change(&app, Some(Arc::from(APP))));
        assert_eq!(shop.analyse().len(), 1);
    }

    #[test]
    fn a_cancelled_run_reports_nothing_and_the_next_one_everything() {
        let mut shop = Shop::new();
        let stopped = Arc::new(AtomicBool::new(true));
        let cancelled = shop.session.analyse(&stopped, |_, _| unreachable!("it is stopped"));
        assert_eq!(cancelled, Err::<(), _>(Cancelled));
        assert_eq!(shop.analyse().len(), 1);
    }

    #[test]
    fn body_at_returns_the_named_body_or_the_top_level() {
        let shop = Shop::new();
        let at = |offset: usize| shop.session.body_at(&shop.path("work.py"), offset as u32).expect("a body");
        let body = at(HELPER.find("sleep").expect("there"));
        assert_eq!(&HELPER[body.name.start as usize..body.name.end as usize], "pause");
        assert!(!body.is_module && at(0).is_module);
    }
}
