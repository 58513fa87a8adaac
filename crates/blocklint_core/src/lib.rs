//! The vocabulary every other crate speaks: contexts, effects, severities, spans and findings.
//!
//! Nothing here knows a language, a library or an output format.

mod finding;
mod fingerprint;
mod rule;
mod span;
mod words;

pub use finding::{Applicability, Cause, Edit, Finding, Fix, Group, Step, Suppression, SuppressionSource, last_name};
pub use fingerprint::fingerprint;
pub use rule::RuleCode;
pub use span::{LineStarts, Location, Place, Span};
pub use words::{Confidence, Context, Effect, Fails, Hold, Language, Runtime, Severity, WhereSet};
