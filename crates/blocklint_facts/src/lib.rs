//! The facts of one file, before any other file is known.
//!
//! [`FileFacts`] is a pure function of a file's bytes, its language and [`FACTS_VERSION`]: it holds no path, no
//! module name, nothing taken from models or configuration, and its symbols are file-local. A front end fills it
//! through [`FactsBuilder`]; link and solve read it. The contract is about bodies, sites, values and regions and is
//! the same for every language; how names are looked up is the analysis' business.
//!
//! The parts:
//!
//! - a [`Body`] is code that runs as one piece; a [`Region`] is a part of a body that runs under one condition;
//! - a [`Site`] is an operation that can run other code; an [`Assign`] binds a value to a target; an [`Exit`] leaves a
//!   body with a value;
//! - a [`Form`] is the small form in which every value is recorded; a [`Var`] is a variable of one scope.
//!
//! Sites, assignments and exits carry [`At`]: their region and their position in the order of evaluation, so that a
//! use can be matched with the assignments before it.

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
pub use comment::{Directive, directive, directive_places, is_meant, lines_of};
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

/// Raised whenever the same bytes may lead to other facts.
pub const FACTS_VERSION: u32 = 8;
