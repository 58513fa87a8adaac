//! The questions of the harness to the engine: findings, fixes, explanations, rendered output.

use blocklint_core::{Finding, RuleCode};
use camino::{Utf8Path, Utf8PathBuf};

use crate::Options;

/// A line of a project's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLine {
    /// The path below the project's root.
    pub path: Utf8PathBuf,
    /// The row, from 1.
    pub row: u32,
}

/// The result of fixing a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixRun {
    /// One line for each finding, with its fix or why it has none, then the difference.
    pub text: String,
    /// Faults: files that do not parse, findings that are new, a second run that changes something.
    pub problems: Vec<String>,
}

/// Analyses a project that lies in a directory.
pub trait HarnessEngine: Sync {
    /// Returns the findings that would be shown with these options, located (`Place::start` is set), with absolute
    /// paths below `root`. Suppressed findings may be among them; the harness passes over them.
    ///
    /// # Errors
    ///
    /// An obstacle to the run: a wrong option, a model file with errors.
    fn check(&self, root: &Utf8Path, options: &Options) -> Result<Vec<Finding>, String>;

    /// Returns the name of a rule; `None` for a code that no rule has.
    fn rule_name(&self, code: RuleCode) -> Option<&str>;

    /// Returns the names of all rules.
    fn rule_names(&self) -> Vec<&str>;

    /// Returns for each line, a file below `root` and a row, the text that `blocklint why` prints of it: the paths of
    /// its findings, or the calls that were followed and the conditions that ended them.
    ///
    /// # Errors
    ///
    /// An obstacle to the run.
    fn explain(&self, root: &Utf8Path, options: &Options, lines: &[CodeLine]) -> Result<Vec<String>, String>;

    /// Applies every fix, unsafe ones too, to the files below `root`, and says what that did.
    ///
    /// # Errors
    ///
    /// An obstacle to the run.
    fn fix(&self, root: &Utf8Path, options: &Options) -> Result<FixRun, String>;

    /// Returns the findings as `--output-format full` prints them, without colour.
    ///
    /// # Errors
    ///
    /// An obstacle to rendering.
    fn render(&self, root: &Utf8Path, findings: &[Finding]) -> Result<String, String>;
}
