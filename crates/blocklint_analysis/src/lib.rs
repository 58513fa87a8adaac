//! Link and solve: names to definitions, receivers to types, calls to targets, and from there the calls that hold a
//! thread which must not be held, with the best path to each.
//!
//! Knows facts and models; knows no syntax, no library by name and no words.
//!
//! The folders are layers, each of which names only those below it (`tests/it/layers.rs`): `rules`, `findings`, `explain`; below them
//! lie `blocklint_flow` and `blocklint_link`.

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

pub use blocklint_flow::callers::unawaited::unawaited;
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
    CrateLayout, Dependency, Layout, ModuleLayout, Names, Program, SilencingComment, SourceFile, UnitLayout,
};
pub use blocklint_link::values::value::{ArgsId, Val, ValueId, Why};
pub use explain::missing::{MissingCall, missing};
pub use explain::{
    Above, BodyExplanation, BodyUse, ConditionResult, Constant, End, Explainer, Explanation, GivenArgument,
    LineContext, PassedOn, PlaceRole, Reached, RowMatch, RowTried, RunTarget, Tried,
};
use findings::SolvedGraph;
pub use findings::must_not_block::count_what_must_not_block;
pub use raw_finding::RawFinding;

/// The options of the analysis, besides the files and models.
#[derive(Clone, Copy)]
pub struct Options {
    /// The severity of a finding is that of its labels which are at least this sure.
    pub min_confidence: Confidence,
    /// Signals that are switched off, to measure what they do.
    pub without: SignalSet,
    /// True if code that is only for tests, examples or a command line counts like all other code.
    pub include_aside: bool,
    /// True if findings list the signals that changed them, which costs time.
    pub account: bool,
    /// True if all paths of findings are kept, not only the best one of each, which costs memory.
    pub all_paths: bool,
    /// For tests: the seed of a random order in which the targets of every call are asked for before the search.
    pub ask_first: Option<u64>,
}

/// The result of a run: findings by path, offset and rule, and the causes behind them.
#[derive(Debug)]
pub struct Solved {
    /// The findings, at every level.
    pub findings: Vec<RawFinding>,
    /// The causes.
    pub causes: Vec<RawCause>,
    /// The comments that silenced something.
    pub used: Vec<UsedComment>,
    /// All paths of the findings, if the run was asked for them.
    pub net: Option<PathNetwork>,
    /// True if code that is only for tests, examples or a command line was included: edits are made there too.
    pub with_aside: bool,
}

/// The result of a search over a whole program, and the facts that a later search over a few of its files needs.
#[derive(Debug)]
pub struct Whole {
    /// The findings and causes.
    pub solved: Solved,
    /// The flows of the whole program.
    pub flows: Flows,
}

/// Returns the linker of a loaded program. Nothing is resolved before it is asked for.
pub fn new_linker<'a>(program: &'a Program<'a>, models: &'a Models) -> Linker<'a> {
    Linker::new(program, Library::new(models))
}

/// Returns the linker of a loaded program, with tables that were read before and still hold.
pub fn linker_with_tables<'a>(program: &'a Program<'a>, models: &'a Models, tables: ProgramTables) -> Linker<'a> {
    Linker::with_tables(program, Library::new(models), tables)
}

/// Finds what blocks, and whom.
pub fn solve(linker: &Linker<'_>, options: Options) -> Solved {
    searched(linker, options, |search| search, |_, _| ()).0
}

/// Finds the calls that block, as [`solve`] does, and keeps the flows that [`solve_some`] asks for later.
pub fn solve_whole(linker: &Linker<'_>, options: Options) -> Whole {
    let (solved, flows) = searched(linker, options, |search| search, Flows::of);
    Whole { solved, flows }
}

/// Finds the calls that block in a few files, and the code that they block. It follows only the paths that begin in
/// these files now, or that an earlier search over all files found. It answers for more files than it is asked about:
/// [`Linker::reported_files`] lists them. Facts that need all files (how many functions wait for a cause, comments about
/// it elsewhere) are only as complete as these files.
pub fn solve_some(linker: &Linker<'_>, options: Options, flows: &Flows, wanted: FileSearch<'_>) -> Solved {
    let mut solved = searched(linker, options, |search| search.within(flows, wanted), |_, _| ()).0;
    solved.findings.retain(|finding| linker.is_reported(finding.file));
    solved.used.retain(|comment| linker.is_reported(comment.file));
    solved
}

fn searched<'a, T>(
    linker: &Linker<'a>,
    options: Options,
    begin: impl for<'l> FnOnce(Search<'l, 'a>) -> Search<'l, 'a>,
    read_off: impl FnOnce(&Linker<'_>, &Graph<'_>) -> T,
) -> (Solved, T) {
    let suppressions = Suppressions::new(linker.program);
    let judge = Judge::new(options.without, options.account);
    let mut search = begin(Search::new(linker, &suppressions, &judge));
    if let Some(seed) = options.ask_first {
        search = search.asking_first(seed);
    }
    let graph = search.run();
    let mut net = options.all_paths.then(PathNetwork::default);
    let read = SolvedGraph::new(linker, &suppressions, &judge, &graph, options);
    let (findings, causes) = findings::findings(&read, net.as_mut());
    let flows = read_off(linker, &graph);
    (Solved { findings, causes, used: suppressions.used(), net, with_aside: options.include_aside }, flows)
}
