//! The engine of one run: extracts facts from a project's files, links them to a program, searches for blocking calls,
//! and returns the findings with their messages. The command line, the fixture harness and the language server share
//! it.
//!
//! The engine reads files. It prints nothing and reads no environment variable.

mod analyse;
mod asking;
mod baseline;
mod cached;
mod change;
mod choose;
mod comments;
mod contain;
mod evidence;
mod explain;
mod extraction;
mod fixing;
mod ignoring;
mod missing;
mod models;
mod overview;
mod page;
mod panics;
mod plan;
mod progress;
mod rules;
mod session;
mod sources;
mod templates;
mod timings;
mod units;
mod waiting;
mod words;

pub use analyse::{
    Options, Report, STACK_SIZE, analyse, analyse_with_progress, group_by_cause, on_large_stacks, set_threads,
    time_searches,
};
pub use asking::{ASK_VERSION, ask};
pub use baseline::{Baseline, BaselineError, BaselineKey, BaselineResult, Coverage, Scope};
pub use blocklint_analysis::{Containment, Fault, SIGNALS, SignalEffect, SignalSet, signal_named};
pub use blocklint_cache::{Cache, FOLDER as CACHE_FOLDER, NotACache, clean as clean_cache};
pub use cached::{RunRequest, RunResult, cache_version, run};
pub use change::{Compare, Comparison, StateBefore, run_change, text_before};
pub use choose::{Chosen, Levels, choose, limit_findings};
pub use comments::CommentChecks;
pub use contain::{LeftOut, LeftOutReason, locate_left_out};
pub use evidence::{Evidence, EvidenceCounts};
pub use explain::{AskedLine, ExplainRequest, explain};
pub use extraction::{Extracted, extract};
pub use fixing::{Change, FixRequest, FixResult, RefusedFix, Remedies, Unwritten, attach_fixes, fix, write};
pub use fixing::{EditsOfFile, ParseCounts, TextOf, applicable_together, attach_fixes_to, parse_counts};
pub use fixing::{Faults, Unawaited, find_faults};
pub use ignoring::{IgnoreRequest, IgnoreResult, Unplaced, ignore_findings};
pub use missing::{Missing, find_missing_calls};
pub use models::{load as load_models, load_with_messages as load_models_with_messages};
pub use overview::overview;
pub use page::page;
pub use panics::install_hook;
pub use plan::{FindingPaths, plan};
pub use progress::{Progress, Step};
pub use rules::{RuleArguments, Rules};
pub use session::{BodyPlace, Buffers, Cancelled, Session};
pub use sources::{locate, locate_in, locate_plan};
pub use timings::Timings;

/// The reasons why a run ends without a result, one line each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The reasons.
    pub lines: Vec<String>,
}

impl Failure {
    /// Returns a failure with one reason.
    pub fn new(line: impl std::fmt::Display) -> Self {
        Failure { lines: vec![line.to_string()] }
    }

    /// Returns a failure with several reasons, all of which are reported.
    pub fn all(lines: impl IntoIterator<Item = String>) -> Self {
        Failure { lines: lines.into_iter().collect() }
    }

    /// Returns a failure without reasons, for errors that have been printed.
    pub fn already_reported() -> Self {
        Failure { lines: Vec::new() }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::new(error)
    }
}
