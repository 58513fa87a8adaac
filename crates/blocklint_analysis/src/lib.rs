//! The analysis of a whole program: [`new_linker`] returns the linker, which resolves names, receivers and call
//! targets; [`solve`] searches for blocking calls on threads that must not block, and returns findings with the best
//! path to each. The crate knows facts and models. It knows no syntax, no library by name and no wording of messages.
//! The folders are layers, and each layer imports only from the layers before it (`tests/it/layers.rs`): `rules`,
//! `findings`, `explain`. The crates `blocklint_link` and `blocklint_flow` are below them.

mod explain;
mod findings;
mod raw_finding;
mod rules;

use blocklint_core::Confidence;
use blocklint_flow::graph::Graph;
use blocklint_flow::judge::Judge;
use blocklint_flow::search::Search;
use blocklint_flow::search::suppressions::Suppressions;
use blocklint_link::models::library::Library;
use blocklint_models::Models;

pub use blocklint_flow::callers::unawaited::find_unawaited;
pub use blocklint_flow::entries::root::{Root, RootKind};
pub use blocklint_flow::graph::all_paths::{ChangePoint, PathNetwork, PathNetworkNode};
pub use blocklint_flow::graph::raw_finding::{Choice, Doubt, RawCause, RawStep, Reason};
pub use blocklint_flow::judge::signal::{Signal, SignalEffect, SignalSet, signal_named};
pub use blocklint_flow::judge::signals::SIGNALS;
pub use blocklint_flow::lifecycle::reached_by::RawEntry;
pub use blocklint_flow::search::incremental::{FileSearch, Flows};
pub use blocklint_flow::search::suppressions::UsedComment;
pub use blocklint_link::calls::targets::TargetKind;
pub use blocklint_link::effect::label::LabelHold;
pub use blocklint_link::linker::program_tables::{Outline, ProgramTables};
pub use blocklint_link::linker::work::{Containment, Fault, TookTooLong, WorkUnit};
pub use blocklint_link::linker::{Linker, Stopped};
pub use blocklint_link::models::availability::PathAvailability;
pub use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, Name, PathId, SiteRef};
pub use blocklint_link::program::occurrences::{FileIndex, Scratch};
pub use blocklint_link::program::{
    CrateLayout, Dependency, Layout, ModuleLayout, Names, Program, ResolvedSuppression, SourceFile, UnitLayout,
};
pub use blocklint_link::values::value::{ArgsId, Val, ValueId, Why};
pub use explain::missing::{MissingCall, find_missing_calls};
pub use explain::{
    ArgumentValue, BlockingPath, BodyExplanation, BodyUse, ConditionResult, Constant, EndReason, Explainer,
    Explanation, LineContext, PassedCallable, PlaceRole, RowMatch, RunTarget, StopReason, TestedCondition, TestedRow,
};
use findings::SolvedGraph;
pub use findings::must_not_block::count_entry_points;
pub use raw_finding::RawFinding;

/// The options of the analysis.
#[derive(Clone, Copy)]
pub struct Options {
    /// Labels with less confidence do not raise the severity of a finding.
    pub min_confidence: Confidence,
    /// Signals that are switched off, to measure their effect.
    pub without: SignalSet,
    /// True if findings that only tests, examples or a command line reach are treated like all others.
    pub include_aside: bool,
    /// True if findings list the signals and doubts behind their severity and confidence, which costs time.
    pub records_reasons: bool,
    /// True if the result has all paths of findings, not only the best one of each, which costs memory.
    pub all_paths: bool,
    /// For tests: the seed of a random order in which all call targets are computed before the search.
    pub ask_first: Option<u64>,
}

/// The result of a run: findings, sorted by path, offset and rule, and their causes.
#[derive(Debug)]
pub struct Solved {
    /// The findings of every severity and confidence.
    pub findings: Vec<RawFinding>,
    /// The causes.
    pub causes: Vec<RawCause>,
    /// The comments that suppressed a finding or a label.
    pub used_comments: Vec<UsedComment>,
    /// All paths of the findings, if [`Options::all_paths`] is set.
    pub path_network: Option<PathNetwork>,
    /// The value of [`Options::include_aside`]: edits are also made in code that only tests, examples or a command line
    /// reach.
    pub with_aside: bool,
}

/// The result of a search over a whole program, with the label flows that a later [`solve_files`] needs.
#[derive(Debug)]
pub struct SolvedProgram {
    /// The findings and causes.
    pub solved: Solved,
    /// The label flows of the whole program.
    pub flows: Flows,
}

/// Returns the linker of a loaded program, which resolves everything on demand.
pub fn new_linker<'a>(program: &'a Program<'a>, models: &'a Models) -> Linker<'a> {
    Linker::new(program, Library::new(models))
}

/// Returns the linker of a loaded program with tables from an earlier run that are still valid.
pub fn new_linker_with_tables<'a>(program: &'a Program<'a>, models: &'a Models, tables: ProgramTables) -> Linker<'a> {
    Linker::with_tables(program, Library::new(models), tables)
}

/// Finds all blocking calls on threads that must not block, and the mistakes that other rules report.
pub fn solve(linker: &Linker<'_>, options: Options) -> Solved {
    run_search(linker, options, |search| search, |_, _| ()).0
}

/// Returns the findings as [`solve`] does, with the label flows that [`solve_files`] needs.
pub fn solve_whole(linker: &Linker<'_>, options: Options) -> SolvedProgram {
    let (solved, flows) = run_search(linker, options, |search| search, Flows::from_graph);
    SolvedProgram { solved, flows }
}

/// Returns the findings of a few files after a change. The search follows only the paths that begin in these files now,
/// or that an earlier search over all files found. The result may contain more files than were wanted:
/// [`Linker::reported_files`] lists them. Results that need all files are incomplete, such as the number of functions
/// that wait for a cause.
pub fn solve_files(linker: &Linker<'_>, options: Options, flows: &Flows, wanted: FileSearch<'_>) -> Solved {
    let mut solved = run_search(linker, options, |search| search.restrict_to(flows, wanted), |_, _| ()).0;
    solved.findings.retain(|finding| linker.is_reported(finding.file));
    solved.used_comments.retain(|comment| linker.is_reported(comment.file));
    solved
}

/// Runs the search that `begin` prepares, makes findings of its graph, and returns them with the result of
/// `read_graph`.
fn run_search<'a, T>(
    linker: &Linker<'a>,
    options: Options,
    begin: impl for<'l> FnOnce(Search<'l, 'a>) -> Search<'l, 'a>,
    read_graph: impl FnOnce(&Linker<'_>, &Graph<'_>) -> T,
) -> (Solved, T) {
    let suppressions = Suppressions::new(linker.program);
    let judge = Judge::new(options.without, options.records_reasons);
    let mut search = begin(Search::new(linker, &suppressions, &judge));
    if let Some(seed) = options.ask_first {
        search = search.with_shuffled_queries(seed);
    }
    let graph = search.run();
    let mut path_network = options.all_paths.then(PathNetwork::default);
    let solved_graph = SolvedGraph::new(linker, &suppressions, &judge, &graph, options);
    let (findings, causes) = findings::findings(&solved_graph, path_network.as_mut());
    let flows = read_graph(linker, &graph);
    (
        Solved {
            findings,
            causes,
            used_comments: suppressions.used(),
            path_network,
            with_aside: options.include_aside,
        },
        flows,
    )
}
