//! What the harness asks of the engine.

use blocklint_core::{Finding, RuleCode};
use camino::Utf8Path;

use crate::Options;

/// What fixing a project did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixRun {
    /// One line for each finding, with its fix or why it has none, then the difference.
    pub text: String,
    /// What must not happen: files that do not parse, findings that are new, a second run that changes something.
    pub problems: Vec<String>,
}

/// Analyses a project that lies in a directory.
pub trait Check: Sync {
    /// The findings that would be shown with these options, located (`Place::start` is set), with
    /// absolute paths below `root`. Suppressed findings may be among them; the harness passes over them.
    ///
    /// # Errors
    ///
    /// What keeps the run from happening at all: a wrong option, a model file with errors.
    fn check(&self, root: &Utf8Path, options: &Options) -> Result<Vec<Finding>, String>;

    /// The name of a rule; `None` for a code that no rule has.
    fn rule_name(&self, code: RuleCode) -> Option<&str>;

    /// The names of all rules.
    fn rule_names(&self) -> Vec<&str>;

    /// Applies every fix, unsafe ones too, to the files below `root`, and says what that did.
    ///
    /// # Errors
    ///
    /// What keeps the run from happening at all.
    fn fix(&self, root: &Utf8Path, options: &Options) -> Result<FixRun, String>;

    /// The findings as `--output-format full` prints them, without colour.
    ///
    /// # Errors
    ///
    /// What keeps them from being rendered.
    fn render(&self, root: &Utf8Path, findings: &[Finding]) -> Result<String, String>;
}
