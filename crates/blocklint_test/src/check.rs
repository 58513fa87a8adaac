//! What the harness asks of the engine.

use blocklint_core::{Finding, RuleCode};
use camino::{Utf8Path, Utf8PathBuf};

use crate::Options;

/// What fixing a project did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mending {
    /// The files that changed, by path: absolute path, text before, text after.
    pub files: Vec<(Utf8PathBuf, String, String)>,
    /// How many findings were mended.
    pub mended: usize,
    /// The fixes that were taken back: absolute path, line, rule and reason.
    pub refused: Vec<(Utf8PathBuf, u32, RuleCode, String)>,
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

    /// Applies all fixes, safe and unsafe, to the findings that would be shown with these options, and writes the files.
    ///
    /// # Errors
    ///
    /// What keeps the run from happening, or a file from being written.
    fn fix(&self, root: &Utf8Path, options: &Options) -> Result<Mending, String>;

    /// The name of a rule; `None` for a code that no rule has.
    fn rule_name(&self, code: RuleCode) -> Option<&str>;

    /// The names of all rules.
    fn rule_names(&self) -> Vec<&str>;

    /// The findings as `--output-format full` prints them, without colour.
    ///
    /// # Errors
    ///
    /// What keeps them from being rendered.
    fn render(&self, root: &Utf8Path, findings: &[Finding]) -> Result<String, String>;
}
