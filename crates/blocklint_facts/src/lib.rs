//! The facts of one file ([`FileFacts`]): its bodies, call sites, assignments, values and regions, as a front end
//! extracts them before any other file is known.
//!
//! [`FileFacts`] is a pure function of a file's bytes, its language and [`FACTS_VERSION`]: it contains no path, no
//! module name and no data of models or configuration, and its symbols are file-local. A front end fills it through
//! [`FactsBuilder`]; link and solve read it. Its structure is equal for all languages. The analysis resolves names, the
//! facts do not.
//!
//! The parts:
//!
//! - a [`Body`] is code that runs as one piece; a [`Region`] is a part of a body that runs under one condition;
//! - a [`Site`] is an operation that can run other code; an [`Assign`] binds a value to a target; an [`Exit`] leaves a
//!   body with a value;
//! - a [`Form`] is the syntax of a value in a compact form; a [`Var`] is a variable of one scope.
//!
//! Sites, assignments and exits have an [`At`]: their region and their position in the order of evaluation, by which
//! the analysis finds the assignments before a use.

mod builder;
mod comment;
mod draft;
mod dump;
mod expression;
mod facts;
mod form;
mod forms;
mod hash;
mod ids;
mod names;
mod rows;
mod stored;
mod table;
mod tables;
mod validate;

pub use builder::FactsBuilder;
pub use comment::{Directive, covered_line, find_directives, parse_directive, states_intent};
pub use draft::Draft;
pub use dump::dump;
pub use expression::Expression;
pub use facts::{Args, FileFacts, Symbols};
pub use form::{AltKind, Comparison, DisplayKind, Form};
pub use forms::Forms;
pub use ids::{AssignId, BodyId, ClassId, FormId, ImportId, List, RegionId, SiteId, Sym, VarId};
pub use table::{Row, Rows, Table};
pub use tables::{
    Arg, Assign, AssignKind, At, Body, BodyFlags, BodyKind, Class, ClassKind, Exit, ExitKind, Flow, Import, ImportKind,
    Param, ParamKind, Problem, Region, RegionKind, Site, SiteFlags, SiteKind, Suppression, SuppressionKind, Var,
    VarKind,
};
pub use validate::validate;

/// The version of the facts. It is increased when equal bytes can result in other facts.
pub const FACTS_VERSION: u32 = 8;
