//! The vocabulary of all other crates: contexts, effects, severities, spans and findings.
//!
//! Nothing in this crate depends on a language, a library or an output format.

mod finding;
mod fingerprint;
mod mistake;
mod reached_by;
mod remedy;
mod rule;
mod span;
mod words;
mod work;

pub use finding::{
    Applicability, Aside, Cause, Confirmed, Edit, Finding, Fix, Group, Reason, Step, Suppression, SuppressionSource,
    UnreadFile, body_name, last_name,
};
pub use fingerprint::fingerprint;
pub use mistake::{CreatedKind, CreatedPer, LargeResponse, Mistake, Serialisation, Starved, Unbounded};
pub use reached_by::{EntryKind, ReachedBy};
pub use remedy::{BoundCall, BoundUse, EditKind, Offload, Piece, Publishers, Refusal, Remedy, WrittenEdit};
pub use rule::{RuleCode, rule_of};
pub use span::{LineStarts, Location, Place, Span};
pub use words::{Bound, Confidence, Context, Effect, Fails, FixKind, Hold, Language, Runtime, Severity, WhereSet};
pub use work::{CallDuration, Weight, Work, WorkKind};
