//! Findings as diagnostics.

use std::hash::{DefaultHasher, Hash, Hasher};

use blocklint_core::{Finding, Severity, Span, body_name};
use camino::Utf8Path;
use serde_json::json;

use crate::protocol::{Code, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, MessageText};
use crate::view::View;

/// Returns the diagnostics of a file with their `resultId` of LSP: a hash by which the client sees that they changed.
pub(crate) fn of_file(view: &View, path: &Utf8Path) -> (Vec<Diagnostic>, String) {
    let mut helps: Vec<(Span, &str)> = Vec::new();
    let all = view.analysis.findings_in(path).map(|finding| {
        let mut diagnostic = diagnostic(view, finding);
        // Editors show the findings of a place together, so a help line is shown once for each place.
        if let Some(help) = finding.help.as_deref() {
            if helps.contains(&(finding.place.span, help)) {
                diagnostic.message = MessageText::String(message(view, finding, false));
            }
            helps.push((finding.place.span, help));
        }
        diagnostic
    });
    let all: Vec<Diagnostic> = all.collect();
    let mut hasher = DefaultHasher::new();
    all.hash(&mut hasher);
    (all, format!("{:016x}", hasher.finish()))
}

pub(crate) fn diagnostic(view: &View, finding: &Finding) -> Diagnostic {
    let steps = steps(view, finding);
    Diagnostic {
        range: view.range(&finding.place.path, finding.place.span),
        severity: Some(match finding.severity {
            Severity::Error => DiagnosticSeverity::Error,
            Severity::Warning => DiagnosticSeverity::Warning,
            Severity::Note => DiagnosticSeverity::Information,
        }),
        code: Some(Code::String(finding.rule.to_string())),
        source: Some("blocklint".to_owned()),
        message: MessageText::String(message(view, finding, true)),
        related_information: (view.client.related_information && !steps.is_empty()).then_some(steps),
        data: Some(json!({ "fingerprint": finding.fingerprint })),
        ..Diagnostic::default()
    }
}

/// Returns the text of a diagnostic. It begins with the time for which the thread is held, because editors cut long
/// lines.
fn message(view: &View, finding: &Finding, with_help: bool) -> String {
    let mut message = time_first(&finding.message);
    if finding.trace.len() > 1 {
        message.push_str("\npath: ");
        message.push_str(&finding.trace_line());
    }
    if let Some(help) = finding.help.as_ref().filter(|_| with_help) {
        message.push_str("\nhelp: ");
        message.push_str(help);
    }
    if !view.client.related_information {
        for step in steps(view, finding) {
            let path = crate::uri::to_path(&step.location.uri).unwrap_or_default();
            message.push_str(&format!("\n{}:{}: {}", path, step.location.range.start.line + 1, step.message));
        }
    }
    message
}

/// Returns a message with the time for which a thread is held at its beginning: `up to 5 s: blocking … can block the
/// event loop`.
fn time_first(message: &str) -> String {
    let moved = || {
        let (head, held) = message.rsplit_once(" can block ")?;
        let at = [" for ", " with no time limit"].iter().find_map(|word| held.find(word))?;
        let (thread, time) = held.split_at(at);
        let time = time.trim_start();
        Some(format!("{}: {head} can block {thread}", time.trim_start_matches("for ").trim_start_matches("with ")))
    };
    moved().unwrap_or_else(|| message.to_owned())
}

/// Returns the calls on the path after the finding's own place, and the calls during which a lock is held, each in a
/// sentence.
fn steps(view: &View, finding: &Finding) -> Vec<DiagnosticRelatedInformation> {
    let steps = finding.trace.iter().enumerate().skip(1);
    let calls = steps.map(|(at, step)| {
        let owner = body_name(&step.function);
        let message = match finding.trace.get(at + 1) {
            Some(_) => format!("`{owner}` calls `{}`", step.written),
            None => format!("`{owner}` calls `{}`, which blocks", step.written),
        };
        DiagnosticRelatedInformation { location: view.location(&step.place), message }
    });
    let held = finding
        .held_by
        .iter()
        .map(|step| DiagnosticRelatedInformation { location: view.location(&step.place), message: step.holds_lock() });
    calls.chain(held).collect()
}

#[cfg(test)]
mod tests {
    use super::time_first;

    #[test]
    fn the_time_stands_where_no_editor_cuts_it_off() {
        for (message, first) in [
            (
                "call `x` in `f` can block the event loop for up to 5 s",
                "up to 5 s: call `x` in `f` can block the event loop",
            ),
            ("call `x` can block the event loop for at least 2 s", "at least 2 s: call `x` can block the event loop"),
            (
                "call `x` can block the event loop with no time limit",
                "no time limit: call `x` can block the event loop",
            ),
            ("call `x` can block the event loop briefly", "call `x` can block the event loop briefly"),
            ("the response may be large", "the response may be large"),
        ] {
            assert_eq!(time_first(message), first);
        }
    }
}
