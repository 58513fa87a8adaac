//! The vocabulary every other crate speaks: contexts, effects, severities, spans and findings.
//!
//! Nothing here knows a language, a library or an output format.

mod finding;
mod fingerprint;
mod remedy;
mod rule;
mod span;
mod words;

pub use finding::{
    Applicability, Aside, Cause, Confirmed, Edit, Finding, Fix, Group, Reason, Step, Suppression, SuppressionSource,
    body_name, last_name,
};
pub use fingerprint::fingerprint;
pub use remedy::{Mended, Offload, Piece, Publishers, Refusal, Remedy, Way};
pub use rule::RuleCode;
pub use span::{LineStarts, Location, Place, Span};
pub use words::{Confidence, Context, Effect, Fails, Hold, Language, Runtime, Severity, WhereSet};
