//! The analysis of a project: extraction, link, solve, and the findings grouped by their causes. Also the options of a
//! run, its thread pool, and the layout of the project for the linker.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use blocklint_analysis::{
    Containment, CrateLayout, Layout, Linker, ModuleLayout, Names, Program, SignalSet, Solved, SourceFile,
};
use blocklint_core::{Confidence, Finding, Group, Language, Place, RuleCode, Severity, Span, fingerprint};
use blocklint_facts::FileFacts;
use blocklint_models::{Models, Version};
use blocklint_project::{CrateRootKind, Project, RustDependency};
use blocklint_rules::{UNREADABLE_SOURCE, Unread};
use camino::Utf8Path;
use rayon::ThreadPoolBuilder;

use crate::Failure;
use crate::comments::named::resolve_suppressions;
use crate::comments::{CommentChecks, CommentEdit, comment_findings, unread_languages};
use crate::contain::{Contained, LeftOut, contain, unseen_languages};
use crate::extraction::{Extracted, extract_all};
use crate::fixing::Remedies;
use crate::plan::FindingPaths;
use crate::progress::{Progress, Silent, Step};
use crate::timings::Timings;
use crate::units::unit_layouts;
use crate::words::findings_with_remedies;

/// The stack of each worker thread in bytes. It is large because dropping or walking a deep syntax tree recurses; only
/// pages that are touched use memory.
pub const STACK_SIZE: usize = 256 << 20;

/// The number of worker threads; 0 lets rayon choose.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Sets the number of worker threads of this process; 0 lets rayon choose. The result is equal for any number.
pub fn set_threads(threads: usize) {
    THREADS.store(threads, Ordering::Relaxed);
}

/// The options of a run besides the project.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The least confidence of the labels that decide a finding's severity.
    pub min_confidence: Confidence,
    /// Signals that are switched off, so that their effect can be measured.
    pub without: SignalSet,
    /// True if findings list the signals that apply to them, which costs time.
    pub records_reasons: bool,
    /// True if code that only tests, examples or a command line reach is reported like other code.
    pub include_aside: bool,
    /// True if functions that must not block are counted even if there are findings.
    pub counts_what_must_not_block: bool,
    /// The checks of comments that suppress rules.
    pub comments: CommentChecks,
    /// True if all paths of findings are kept, as a plan needs them; this costs memory.
    pub all_paths: bool,
    /// For tests: the seed of a random order in which the targets of every call are queried before the search.
    pub ask_first: Option<u64>,
    /// True if the process ends after this run. Its program is then not freed, because the user would wait for that.
    pub ends_process: bool,
    /// How functions whose analysis fails are treated.
    pub containment: Containment,
}

impl Options {
    /// Returns the default options: all signals are on, and findings do not list them.
    pub fn new(min_confidence: Confidence) -> Self {
        Options {
            min_confidence,
            without: SignalSet::default(),
            records_reasons: false,
            include_aside: false,
            counts_what_must_not_block: false,
            comments: CommentChecks::default(),
            all_paths: false,
            ask_first: None,
            containment: Containment::default(),
            ends_process: false,
        }
    }

    /// Frees a value of the run, or leaks it if the process ends after the run.
    pub(crate) fn free_or_leak<T>(&self, value: T) {
        if self.ends_process {
            std::mem::forget(value);
        }
    }
}

/// The result of one run, before rules and levels are applied.
#[derive(Debug)]
pub struct Report {
    /// Findings in the reported files, sorted by path, offset and rule. Their places have no rows and columns yet.
    pub findings: Vec<Finding>,
    /// The findings under their causes, the worst causes first ([`group_by_cause`]).
    pub groups: Vec<Group>,
    /// The number of files that could be opened.
    pub read: usize,
    /// The remedies of the findings.
    pub remedies: Remedies,
    /// The number of functions that must not block. Present if [`Options::counts_what_must_not_block`] is set or if
    /// there is no finding.
    pub must_not_block: Option<usize>,
    /// All paths of the findings, if [`Options::all_paths`] is set.
    pub all_paths: Option<FindingPaths>,
    /// The parts that the analysis left out because it failed there.
    pub left_out: Vec<LeftOut>,
    /// The time that each part of the run took.
    pub timings: Timings,
}

/// Runs the work in a pool of threads with large stacks ([`STACK_SIZE`]), because syntax trees may be deep.
///
/// # Errors
/// If the system starts no threads.
pub fn on_large_stacks<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    let threads = ThreadPoolBuilder::new().thread_name(|index| format!("blocklint-{index}")).stack_size(STACK_SIZE);
    let threads = threads.num_threads(THREADS.load(Ordering::Relaxed));
    let done = threads.build_scoped(rayon::ThreadBuilder::run, |pool| pool.install(work));
    done.map_err(|error| Failure::new(format!("no threads: {error}")))
}

/// Analyses the project.
///
/// # Errors
///
/// Fails if the system starts no threads. A file that cannot be read is a finding (BLT902), not an error.
pub fn analyse(project: &Project, models: &Models, options: Options) -> Result<Report, Failure> {
    analyse_with_progress(project, models, options, &Silent)
}

/// Analyses the project as [`analyse`] does and reports the progress.
///
/// # Errors
/// If the system starts no threads.
pub fn analyse_with_progress(
    project: &Project,
    models: &Models,
    options: Options,
    progress: &dyn Progress,
) -> Result<Report, Failure> {
    let mut timings = Timings::default();
    // Extraction has its own pool: when its threads end, they free their syntax trees.
    let (extracted, parse, facts) = on_large_stacks(|| extract_all(project, progress))?;
    (timings.parse, timings.facts, timings.extracted) = (parse, facts, extracted.len());
    on_large_stacks(|| {
        let unread = unread_findings(project, &extracted);
        let unread_languages = unread_languages(project, &extracted);
        let read = count_opened(&extracted);
        let started = Instant::now();
        let files = source_files(project, extracted);
        let layout = project_layout(project, models);
        timings.link = started.elapsed();
        let unsolved = Unsolved { project, unread, unread_languages, read, timings, progress };
        let report = analyse_files(&files, &layout, models, options, unsolved);
        options.free_or_leak(files);
        report
    })
}

/// The input of [`analyse_files`] that extraction produced, besides the facts.
pub(crate) struct Unsolved<'p> {
    pub(crate) project: &'p Project,
    /// Findings for files that could not be read.
    pub(crate) unread: Vec<Finding>,
    /// The languages with at least one file that could not be read.
    pub(crate) unread_languages: Vec<Language>,
    /// The number of files that could be opened.
    pub(crate) read: usize,
    pub(crate) timings: Timings,
    /// The receiver of progress reports.
    pub(crate) progress: &'p dyn Progress,
}

/// Returns the number of files that could be opened.
pub(crate) fn count_opened(extracted: &[Extracted]) -> usize {
    extracted.iter().filter(|file| file.was_opened()).count()
}

/// Links and solves these files. Must run in a pool of threads with large stacks.
pub(crate) fn analyse_files(
    files: &[SourceFile],
    layout: &Layout,
    models: &Models,
    options: Options,
    unsolved: Unsolved<'_>,
) -> Report {
    let Unsolved { project, unread: findings, unread_languages, read, mut timings, progress } = unsolved;
    progress.begin(Step::Resolve, 0);
    let started = Instant::now();
    let names = Names::new(files);
    let program = Program::new(files, layout, &names);
    timings.link += started.elapsed();
    timings.analyses += 1;
    let started = Instant::now();
    let new_linker = || blocklint_analysis::new_linker(&program, models);
    let contained = contain(&program, options, new_linker, |linker, left_out| {
        let solved = blocklint_analysis::solve(linker, analysis_options(options));
        let solve = started.elapsed();
        let unseen = unseen_languages(&unread_languages, left_out);
        let remarks = comment_findings(files, &solved, options.comments, &unseen, |_| true);
        let (merged, remedies) =
            merge_findings(linker, &solved, project.trace_in_paths, remarks, left_out, findings.clone());
        let counts = options.counts_what_must_not_block || solved.findings.is_empty();
        let must_not_block = counts.then(|| blocklint_analysis::count_entry_points(linker));
        (merged, remedies, FindingPaths::new(linker, &solved), must_not_block, solve)
    });
    let Contained { done: (findings, remedies, all_paths, must_not_block, solve), linker, left_out } = contained;
    timings.solve = solve;
    let groups = group_by_cause(&findings);
    timings.output = started.elapsed() - solve;
    options.free_or_leak(linker);
    options.free_or_leak(program);
    Report { findings, groups, read, remedies, must_not_block, all_paths, left_out, timings }
}

/// Returns all findings of a run, sorted, and their remedies: `findings` about unreadable files, and those about parts
/// that were left out, about the code, and about suppression comments.
pub(crate) fn merge_findings(
    linker: &Linker<'_>,
    solved: &Solved,
    trace_in_paths: bool,
    remarks: Vec<(Finding, Option<CommentEdit>)>,
    left_out: &[LeftOut],
    mut findings: Vec<Finding>,
) -> (Vec<Finding>, Remedies) {
    let mut remedies = Remedies::default();
    findings.extend(left_out.iter().filter_map(LeftOut::finding));
    for (finding, remedy) in findings_with_remedies(linker, solved, trace_in_paths) {
        remedies.insert(&finding, remedy);
        findings.push(finding);
    }
    for (finding, edit) in remarks {
        remedies.insert_comment_edit(&finding, edit);
        findings.push(finding);
    }
    sort_findings(&mut findings);
    (findings, remedies)
}

/// Sorts findings by path, offset and rule.
pub(crate) fn sort_findings(findings: &mut [Finding]) {
    findings.sort_by(|a, b| (&*a.place.path, a.place.span, a.rule).cmp(&(&*b.place.path, b.place.span, b.rule)));
}

/// Returns the part of the options that link and solve use.
pub(crate) fn analysis_options(options: Options) -> blocklint_analysis::Options {
    let Options {
        min_confidence,
        without,
        records_reasons,
        include_aside,
        comments: _,
        all_paths,
        ask_first,
        ends_process: _,
        counts_what_must_not_block: _,
        containment: _,
    } = options;
    blocklint_analysis::Options { min_confidence, without, records_reasons, include_aside, all_paths, ask_first }
}

/// Returns the files that could be read, and the layout of the project, as input of the linker.
pub(crate) fn source_files_and_layout(
    project: &Project,
    models: &Models,
    extracted: Vec<Extracted>,
) -> (Vec<SourceFile>, Layout) {
    (source_files(project, extracted), project_layout(project, models))
}

/// Returns the files that could be read, as input of the linker.
pub(crate) fn source_files(project: &Project, extracted: Vec<Extracted>) -> Vec<SourceFile> {
    project.files.iter().zip(extracted).filter_map(|(file, extracted)| source_file(file, extracted)).collect()
}

/// Returns a file as input of the linker; `None` if it could not be read.
pub(crate) fn source_file(file: &blocklint_project::SourceFile, extracted: Extracted) -> Option<SourceFile> {
    let facts = extracted.facts?;
    Some(SourceFile {
        path: Arc::clone(&file.path),
        relative: file.relative.as_str().replace('\\', "/"),
        resolved_suppressions: resolve_suppressions(&facts),
        facts,
        index: extracted.index.map(OnceLock::from).unwrap_or_default(),
        reported: file.reported,
    })
}

/// Replaces the facts of a file and everything that is derived from them. Returns the old facts.
pub(crate) fn replace_facts(file: &mut SourceFile, facts: FileFacts) -> FileFacts {
    file.resolved_suppressions = resolve_suppressions(&facts);
    file.index = OnceLock::new();
    std::mem::replace(&mut file.facts, facts)
}

/// Returns the layout of a project: import roots, crates, Java modules, and units with their dependencies and switches.
/// Reads manifests and launch files, but no source code.
pub(crate) fn project_layout(project: &Project, models: &Models) -> Layout {
    let relative_to_base = |folder: &Utf8Path| {
        folder.strip_prefix(&project.base).map_or_else(|_| folder.to_string(), |inside| inside.to_string())
    };
    let crates = project
        .crates
        .iter()
        .map(|package| {
            let mut roots: Vec<_> = package.roots.iter().collect();
            roots.sort_by_key(|root| root.kind != CrateRootKind::Library);
            CrateLayout {
                folder: relative_to_base(&package.folder),
                package: package.package.clone(),
                renamed: package.renamed.clone(),
                dependencies: package.dependencies.as_ref().map(|modules| {
                    let to_layout = |dependency: &RustDependency| {
                        (dependency.name.clone(), dependency.package.clone(), dependency.features.clone())
                    };
                    modules.iter().map(to_layout).collect()
                }),
                oldest: package
                    .dependencies
                    .iter()
                    .flatten()
                    .filter_map(|dependency| {
                        Some((dependency.name.clone(), Version::parse_loose(dependency.oldest.as_deref()?)?))
                    })
                    .collect(),
                aside: package.aside.clone(),
                is_for_browsers: package.is_for_browsers,
                is_published: package.is_published,
                edition: package.edition,
                name: package.library.clone(),
                roots: roots.iter().map(|root| relative_to_base(&root.path)).collect(),
            }
        })
        .collect();
    let import_roots = project.import_roots.iter().map(|root| relative_to_base(root)).collect();
    let is_java = project.files.iter().any(|file| file.language == Language::Java);
    let modules = if is_java { blocklint_project::read_modules(&project.units) } else { Vec::new() };
    let modules = modules
        .into_iter()
        .map(|dependency| ModuleLayout {
            folder: relative_to_base(&dependency.folder).replace('\\', "/"),
            needs: dependency.needs,
            artifacts: dependency.artifacts,
            is_open: dependency.is_open,
        })
        .collect();
    Layout { import_roots, crates, modules, units: unit_layouts(project, models) }
}

/// Groups findings by the cause of their best path. Causes of the worst findings come first; among equally bad causes,
/// those that more roots wait for. Then come findings without a cause, and last the unreadable files.
pub fn group_by_cause(findings: &[Finding]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut causeless = Vec::new();
    let mut group_of_cause: HashMap<(Arc<Utf8Path>, Span, String), usize> = HashMap::new();
    for (index, finding) in (0u32..).zip(findings) {
        let Some(cause) = finding.causes.first() else {
            causeless.push(index);
            continue;
        };
        let key = (Arc::clone(&cause.place.path), cause.place.span, cause.call.clone());
        let group = *group_of_cause.entry(key).or_insert_with(|| {
            groups.push(Group { cause: Some(cause.clone()), findings: Vec::new() });
            groups.len() - 1
        });
        groups[group].findings.push(index);
    }
    let worst = |group: &Group| {
        let shown = group
            .findings
            .iter()
            .map(|index| &findings[*index as usize])
            .filter(|finding| finding.suppression.is_none());
        shown.map(|finding| finding.severity).max()
    };
    // The sort is stable, so causes of equal severity and reach keep the order of their first findings.
    groups.sort_by_cached_key(|group| {
        std::cmp::Reverse((worst(group), group.cause.as_ref().map_or(0, |cause| cause.reach)))
    });
    // Findings about code come before findings about files.
    let (files, code): (Vec<u32>, Vec<u32>) =
        causeless.into_iter().partition(|index| findings[*index as usize].rule == UNREADABLE_SOURCE.code);
    groups.extend(
        [code, files].into_iter().filter(|part| !part.is_empty()).map(|findings| Group { cause: None, findings }),
    );
    groups
}

/// Returns a finding BLT902 for each reported file that could not be read or analysed.
pub(crate) fn unread_findings(project: &Project, extracted: &[Extracted]) -> Vec<Finding> {
    let files = project.files.iter().zip(extracted).filter(|(file, _)| file.reported);
    files.filter_map(|(file, extracted)| extracted.unread.as_ref().map(|unread| unread_finding(file, unread))).collect()
}

pub(crate) fn unread_finding(file: &blocklint_project::SourceFile, (span, unread): &(Span, Unread)) -> Finding {
    let rule: RuleCode = UNREADABLE_SOURCE.code;
    Finding {
        help: unread.help(),
        fingerprint: fingerprint(rule, file.relative.as_str(), "", "", 0),
        ..Finding::of_source(rule, Severity::Note, unread.message(), Place::unlocated(Arc::clone(&file.path), *span))
    }
}

/// Returns the time of the first search, and of a second one that uses the linker's answers to the first. An editor
/// waits for the second.
///
/// # Errors
/// If the system starts no threads.
pub fn time_searches(project: &Project, models: &Models, options: Options) -> Result<(Duration, Duration), Failure> {
    let (times, _) = with_linker(project, models, options, |linker| {
        let timed = || {
            let started = Instant::now();
            let solved = blocklint_analysis::solve(linker, analysis_options(options));
            (started.elapsed(), solved.findings.len())
        };
        let (first, second) = (timed(), timed());
        debug_assert_eq!(first.1, second.1, "the same search finds the same");
        (first.0, second.0)
    })?;
    Ok(times)
}

/// Links a project and calls `ask` with the linker. If a part of the analysis panics, `ask` is called again with a new
/// linker that leaves this part out ([`contain`]).
pub(crate) fn with_linker<T>(
    project: &Project,
    models: &Models,
    options: Options,
    mut ask: impl FnMut(&Linker<'_>) -> T + Send,
) -> Result<(T, Vec<LeftOut>), Failure>
where
    T: Send,
{
    on_large_stacks(|| {
        let (extracted, _, _) = extract_all(project, &Silent);
        let (files, layout) = source_files_and_layout(project, models, extracted);
        let names = Names::new(&files);
        let program = Program::new(&files, &layout, &names);
        let new_linker = || blocklint_analysis::new_linker(&program, models);
        let contained = contain(&program, options, new_linker, |linker, _| ask(linker));
        (contained.done, contained.left_out)
    })
}
