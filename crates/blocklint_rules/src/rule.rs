//! What a rule is.

use blocklint_core::{Effect, RuleCode};

/// A kind of mistake, the same in every language in which it can be made.
#[derive(Debug)]
pub struct Rule {
    /// Its code.
    pub code: RuleCode,
    /// Its name in kebab case; it names the mistake, so that it reads well after "allow".
    pub name: &'static str,
    /// What it reports, in one line without a full stop.
    pub summary: &'static str,
    /// Its page, Markdown.
    pub page: &'static str,
    /// The effect it reports; `None` for rules that report no effect (BLT9xx).
    pub effect: Option<Effect>,
    /// What the call is in a message: `blocking network call`.
    pub noun: &'static str,
}
