//! The plan of changes (`blocklint plan`), which the engine computes, as text and as JSON.

mod json;
mod text;

use std::sync::Arc;

use blocklint_core::{Hold, Place, RuleCode, Severity};
use camino::Utf8Path;

use crate::paths::place_text;

pub use json::write_plan_json;
pub use text::write_plan;

/// The changes that free the most functions, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The first changes.
    pub steps: Vec<PlanStep>,
    /// The number of functions with findings.
    pub functions: u32,
    /// The number of findings.
    pub findings: u32,
    /// The number of functions that still have findings after these steps.
    pub left_functions: u32,
    /// The number of findings that remain after these steps.
    pub left_findings: u32,
}

/// The kind of change of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanKind {
    /// The line that enters the library.
    Cause,
    /// A whole function: it becomes a coroutine, or async code runs it in a thread.
    Function,
    /// One call in code that must not block.
    Call,
}

impl PlanKind {
    /// Returns its name for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            PlanKind::Cause => "cause",
            PlanKind::Function => "function",
            PlanKind::Call => "call",
        }
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanStep {
    /// The kind of change.
    pub kind: PlanKind,
    /// The place of the call, or of the name of the function.
    pub place: Place,
    /// The changed function, or the function with the call.
    pub function: String,
    /// The library's call, or the called function. Empty for a whole function.
    pub call: String,
    /// The calls of libraries in a whole function that cause the findings that end.
    pub calls: Vec<PlanCall>,
    /// The functions that have no findings after this step.
    pub functions: Vec<String>,
    /// The findings that end: indices into the list of findings.
    pub findings: Vec<u32>,
    /// The longest hold of the findings that end.
    pub hold: Hold,
    /// The severity of the worst finding that ends.
    pub severity: Severity,
    /// The advice for the worst finding that ends.
    pub help: Option<String>,
    /// The call that the advice describes, if it is not the call that is changed.
    pub help_at: Option<Place>,
    /// The number of findings that end and have a fix.
    pub fixes: u32,
    /// The number of other findings that the command with those fixes mends, too.
    pub fixes_besides: u32,
    /// The rules of the findings with fixes.
    pub fix_rules: Vec<RuleCode>,
    /// The files of the findings with fixes.
    pub fix_files: Vec<Arc<Utf8Path>>,
    /// The worst finding that ends and has a path through several Python functions. A codemod could change all of them.
    pub codemod: Option<Place>,
    /// The rules of all findings that end.
    pub rules: Vec<RuleCode>,
    /// The files of all findings that end.
    pub files: Vec<Arc<Utf8Path>>,
}

/// A call of a library.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanCall {
    /// The library's call.
    pub call: String,
    /// The function with the call.
    pub function: String,
    /// The place of the call.
    pub place: Place,
}

impl PlanStep {
    /// Returns the advice, with the place of the call that it describes if that is another call.
    pub(crate) fn help_from(&self, folder: &Utf8Path) -> Option<String> {
        let help = self.help.as_ref()?;
        Some(match &self.help_at {
            Some(place) => format!("at {}: {help}", place_text(place, folder)),
            None => help.clone(),
        })
    }

    /// Returns the command that applies the fixes of the findings that end. `None` if they have no fixes.
    pub(crate) fn fix_command(&self, folder: &Utf8Path) -> Option<String> {
        (self.fixes > 0)
            .then(|| command_text("blocklint check --fix --unsafe-fixes", &self.fix_rules, &self.fix_files, folder))
    }

    /// Returns the command that shows the changes of the codemod. It is not known before the codemod runs if it
    /// refuses.
    pub(crate) fn codemod_command(&self, folder: &Utf8Path) -> Option<String> {
        self.codemod.as_ref().map(|place| {
            let path = place.path.strip_prefix(folder).unwrap_or(&place.path);
            let finding = quote_for_shell(&format!("{path}:{}", place.start.row));
            format!("blocklint codemod asyncify --finding {finding} --diff")
        })
    }

    /// Returns the command that shows if the step is done.
    pub(crate) fn check_command(&self, folder: &Utf8Path) -> String {
        command_text("blocklint check", &self.rules, &self.files, folder)
    }
}

/// Returns a command for some rules and files, for a shell in a folder.
fn command_text(begin: &str, rules: &[RuleCode], files: &[Arc<Utf8Path>], folder: &Utf8Path) -> String {
    let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
    let files = files.iter().map(|path| quote_for_shell(path.strip_prefix(folder).unwrap_or(path).as_str()));
    let files: Vec<String> = files.collect();
    format!("{begin} --select {} {}", rules.join(","), files.join(" "))
}

/// Returns a path, quoted for a POSIX shell if it must be.
fn quote_for_shell(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@,".contains(c);
    let path = if path.starts_with('-') { format!("./{path}") } else { path.to_owned() };
    if path.chars().all(is_plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}
