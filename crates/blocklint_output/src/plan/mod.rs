//! The plan of changes: plain data that the engine computes, as text and as JSON.

mod json;
mod text;

use std::sync::Arc;

use blocklint_core::{Hold, Place, RuleCode, Severity};
use camino::Utf8Path;

use crate::paths::shown_place;

pub use json::plan_json;
pub use text::plan_text;

/// The changes that free most functions, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The first changes.
    pub steps: Vec<PlanStep>,
    /// How many functions must not block and do.
    pub functions: u32,
    /// How many findings stand in them.
    pub findings: u32,
    /// How many of the functions still do after these steps.
    pub left_functions: u32,
    /// How many findings are left after these steps.
    pub left_findings: u32,
}

/// The kind of change of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanKind {
    /// The line that enters the library.
    Cause,
    /// A function as a whole: it becomes a coroutine, or runs in a thread wherever async code calls it.
    Function,
    /// One call in code that must not block.
    Call,
}

impl PlanKind {
    /// Its name for programs.
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
    /// The place of the change.
    pub kind: PlanKind,
    /// The call, or the name of the function.
    pub place: Place,
    /// The function, or the one that the call stands in.
    pub function: String,
    /// The library's call, or the function that is called; empty of a function as a whole.
    pub call: String,
    /// Of a function as a whole the lines that enter libraries, behind the findings that end.
    pub calls: Vec<PlanCall>,
    /// The functions in which nothing is left after this step.
    pub functions: Vec<String>,
    /// The findings that end: indices into the list of findings.
    pub findings: Vec<u32>,
    /// How long the longest of them can block a thread today.
    pub hold: Hold,
    /// How bad the worst of them is.
    pub severity: Severity,
    /// The advice for the worst of them.
    pub help: Option<String>,
    /// The call that the advice describes, where it is another one than what is changed.
    pub help_at: Option<Place>,
    /// How many of them have an edit of their own.
    pub fixes: u32,
    /// How many other findings the command with those edits mends as well.
    pub fixes_besides: u32,
    /// The rules of findings with edits.
    pub fix_rules: Vec<RuleCode>,
    /// The files of findings with edits.
    pub fix_files: Vec<Arc<Utf8Path>>,
    /// The worst finding of a way through several Python functions that ends: a codemod could mend it in all of them.
    pub codemod: Option<Place>,
    /// The rules of all that end.
    pub rules: Vec<RuleCode>,
    /// The files of all that end.
    pub files: Vec<Arc<Utf8Path>>,
}

/// A line that enters a library.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanCall {
    /// The library's call.
    pub call: String,
    /// The function that it stands in.
    pub function: String,
    /// Where.
    pub place: Place,
}

impl PlanStep {
    /// Returns the advice; of a call elsewhere it says where that is, for its text names the call.
    pub(crate) fn help_from(&self, folder: &Utf8Path) -> Option<String> {
        let help = self.help.as_ref()?;
        Some(match &self.help_at {
            Some(at) => format!("at {}: {help}", shown_place(at, folder)),
            None => help.clone(),
        })
    }

    /// Returns the command with the edits of what ends; none where nothing has one.
    pub(crate) fn fix_command(&self, folder: &Utf8Path) -> Option<String> {
        (self.fixes > 0)
            .then(|| command("blocklint check --fix --unsafe-fixes", &self.fix_rules, &self.fix_files, folder))
    }

    /// Returns the command that shows what the codemod would change. Only running it tells whether it refuses.
    pub(crate) fn codemod_command(&self, folder: &Utf8Path) -> Option<String> {
        self.codemod.as_ref().map(|place| {
            let path = place.path.strip_prefix(folder).unwrap_or(&place.path);
            let at = quoted(&format!("{path}:{}", place.start.row));
            format!("blocklint codemod asyncify --finding {at} --diff")
        })
    }

    /// Returns the command that shows whether it is done.
    pub(crate) fn check_command(&self, folder: &Utf8Path) -> String {
        command("blocklint check", &self.rules, &self.files, folder)
    }
}

/// Returns a command over some rules and files, as it is typed in a folder.
fn command(begin: &str, rules: &[RuleCode], files: &[Arc<Utf8Path>], folder: &Utf8Path) -> String {
    let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
    let files = files.iter().map(|path| quoted(path.strip_prefix(folder).unwrap_or(path).as_str()));
    let files: Vec<String> = files.collect();
    format!("{begin} --select {} {}", rules.join(","), files.join(" "))
}

/// Returns a path as a POSIX shell reads it.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@,".contains(c);
    let path = if path.starts_with('-') { format!("./{path}") } else { path.to_owned() };
    if path.chars().all(is_plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}
