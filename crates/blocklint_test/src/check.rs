//! The trait [`HarnessEngine`], through which the harness calls the engine: findings, fixes, explanations, rendered
//! output.

use blocklint_core::{Finding, RuleCode};
use camino::{Utf8Path, Utf8PathBuf};

use crate::Options;

/// A line of a project's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLine {
    /// The path relative to the project's root.
    pub path: Utf8PathBuf,
    /// The row, from 1.
    pub row: u32,
}

/// The result of fixing a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixRun {
    /// One line for each finding, with its fix or the reason why it has none, then the diff.
    pub text: String,
    /// Faults of the fixes: files that do not parse, new findings, a second run that changes something.
    pub problems: Vec<String>,
}

/// The engine, as the harness uses it. [`crate::engine`] is the real one; the harness's own tests use a fake.
pub trait HarnessEngine: Sync {
    /// Returns the findings that would be shown with these options, located (`Place::start` is set), with absolute
    /// paths below `root`. The harness ignores suppressed findings among them.
    ///
    /// # Errors
    ///
    /// If an option is invalid or a model file has errors.
    fn check(&self, root: &Utf8Path, options: &Options) -> Result<Vec<Finding>, String>;

    /// Returns the name of a rule; `None` for a code that no rule has.
    fn rule_name(&self, code: RuleCode) -> Option<&str>;

    /// Returns the names of all rules.
    fn rule_names(&self) -> Vec<&str>;

    /// Returns for each line the output of `blocklint why`: the paths of its findings, or the followed calls and the
    /// conditions that ended them.
    ///
    /// # Errors
    ///
    /// If the analysis fails.
    fn explain(&self, root: &Utf8Path, options: &Options, lines: &[CodeLine]) -> Result<Vec<String>, String>;

    /// Applies all fixes, unsafe ones included, to the files below `root`, and returns the diff and the faults.
    ///
    /// # Errors
    ///
    /// If the analysis fails.
    fn fix(&self, root: &Utf8Path, options: &Options) -> Result<FixRun, String>;

    /// Returns the findings as `--output-format full` prints them, without colour.
    ///
    /// # Errors
    ///
    /// If the sources cannot be read.
    fn render(&self, root: &Utf8Path, findings: &[Finding]) -> Result<String, String>;
}
