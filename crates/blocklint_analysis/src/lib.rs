//! Link and solve: names to definitions, receivers to types, calls to targets, and from there the calls that hold a
//! thread which must not be held, with the best path to each.
//!
//! Knows facts and models; knows no syntax, no library by name and no words.

mod alternatives;
mod annotation;
mod assembly;
mod at_site;
mod available;
mod branches;
mod by_name;
mod call;
mod called_before;
mod called_instances;
mod callers;
mod chains;
mod completed;
mod constants;
mod containers;
mod contents;
mod cuts;
mod dead;
mod decide;
mod declarative;
mod delegation;
mod deployed;
mod dispatch;
mod entries;
mod enum_members;
mod eval;
mod explain;
mod failures;
mod filled;
mod finding;
mod first_time;
mod given;
mod guards;
mod handed_results;
mod hierarchy;
mod hub;
mod ids;
mod implicit;
mod java_addresses;
mod java_first_time;
mod java_installed;
mod java_kinds;
mod java_made;
mod java_modules;
mod java_options;
mod java_rare;
mod java_roots;
mod java_servlets;
mod java_shows;
mod java_slight;
mod kept;
mod keyword_arguments;
mod label;
mod late_patch;
mod lazy;
mod leaf_names;
mod leaves;
mod left_out;
mod left_over;
mod library;
mod link;
mod locks;
mod loop_bound;
mod loop_tests;
mod made_anew;
mod made_at_import;
mod members;
mod memo;
pub mod mentions;
mod method_kinds;
mod missing;
mod misuses;
mod named_rows;
mod names;
mod not_asked;
mod offloads;
mod one_shot;
mod origins;
mod outer_guards;
mod overloads;
mod own_locks;
mod own_state;
mod passing;
mod patched;
mod paths;
mod platforms;
mod pool_holds;
mod presence;
mod program;
mod pseudo_files;
mod qualified;
mod rarely;
mod reach;
mod reaching;
mod receivers;
mod regions;
mod request_bodies;
mod response;
mod roots;
mod rows;
mod rust_conditions;
mod rust_life;
mod rust_rare;
mod scopes;
mod search;
mod solve;
mod state_by_param;
mod summary;
mod targets;
mod terminals;
mod times;
mod told_parts;
mod told_to_end;
mod type_tests;
mod unawaited;
mod undone;
mod units;
mod value;
mod wrapped;
mod written;

use blocklint_core::Confidence;
use blocklint_models::Models;

pub use available::Available;
pub use cuts::{Misuse, RuleNames};
pub use explain::{
    Above, Constant, End, Explainer, Explanation, GivenArgument, PassedOn, RowMatch, RowTried, RunTarget, Shown, Tried,
};
pub use finding::{Anew, Mending, RawCause, RawFinding, RawStep, Starved, Unbounded, What};
pub use ids::{BodyRef, ClassRef, FileId, Name, PathId, SiteRef};
pub use label::LabelHold;
pub use link::Link;
pub use missing::{MissingCall, missing};
pub use program::{CrateLayout, Dependency, Layout, ModuleLayout, Program, SourceFile, UnitLayout};
pub use response::Serialisation;
pub use roots::{Root, RootKind};
pub use targets::Edge;
pub use value::{ArgsId, Val, ValueId, Why};

use crate::cuts::Cuts;
use crate::library::Library;
use crate::search::Search;

/// What the analysis is told besides the files and models.
#[derive(Clone, Copy)]
pub struct Options {
    /// The severity of a finding is that of its labels which are at least this sure.
    pub min_confidence: Confidence,
    /// Which rule reports what, for comments that name rules.
    pub rules: RuleNames,
}

/// What a run found: findings by path, offset and rule, and the causes behind them.
#[derive(Debug)]
pub struct Solved {
    /// The findings, at every level.
    pub findings: Vec<RawFinding>,
    /// The causes.
    pub causes: Vec<RawCause>,
}

/// Links a loaded program: nothing is resolved before it is asked for.
pub fn link<'a>(program: &'a Program<'a>, models: &'a Models) -> Link<'a> {
    Link::new(program, Library::new(models))
}

/// Finds what blocks, and whom.
pub fn solve(link: &Link<'_>, options: Options) -> Solved {
    let cuts = Cuts::new(link.program, options.rules);
    let graph = Search::new(link, &cuts).run();
    let (findings, causes) = solve::findings(link, &cuts, &graph, options.min_confidence);
    Solved { findings, causes }
}
