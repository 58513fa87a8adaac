//! Converts findings to LSP diagnostics: message, severity, and the path as related information.

use std::hash::{DefaultHasher, Hash, Hasher};

use blocklint_core::{Finding, Severity, Span, body_name};
use camino::Utf8Path;
use serde_json::json;

use crate::protocol::{Code, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, MessageText};
use crate::view::View;

/// Returns the diagnostics of a file with their LSP `resultId`, a hash that shows the client if they changed.
pub(crate) fn diagnostics_of_file(view: &View, path: &Utf8Path) -> (Vec<Diagnostic>, String) {
    let mut shown_helps: Vec<(Span, &str)> = Vec::new();
    let diagnostics = view.analysis.findings_in(path).map(|finding| {
        let mut diagnostic = diagnostic(view, finding);
        // Editors show the findings of a place together, so a help line that findings of a place share is shown once.
        if let Some(help) = finding.help.as_deref() {
            if shown_helps.contains(&(finding.place.span, help)) {
                diagnostic.message = MessageText::String(message(view, finding, false));
            }
            shown_helps.push((finding.place.span, help));
        }
        diagnostic
    });
    let diagnostics: Vec<Diagnostic> = diagnostics.collect();
    let mut hasher = DefaultHasher::new();
    diagnostics.hash(&mut hasher);
    (diagnostics, format!("{:016x}", hasher.finish()))
}

pub(crate) fn diagnostic(view: &View, finding: &Finding) -> Diagnostic {
    let related_steps = related_steps(view, finding);
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
        related_information: (view.client.related_information && !related_steps.is_empty()).then_some(related_steps),
        data: Some(json!({ "fingerprint": finding.fingerprint })),
        ..Diagnostic::default()
    }
}

/// Returns the text of a diagnostic. It begins with the hold, as in `up to 5 s: …`, because editors cut long lines.
fn message(view: &View, finding: &Finding, with_help: bool) -> String {
    let mut message = move_hold_first(&finding.message);
    if finding.trace.len() > 1 {
        message.push_str("\npath: ");
        message.push_str(&finding.trace_line());
    }
    if let Some(help) = finding.help.as_ref().filter(|_| with_help) {
        message.push_str("\nhelp: ");
        message.push_str(help);
    }
    if !view.client.related_information {
        for step in related_steps(view, finding) {
            let path = crate::uri::to_path(&step.location.uri).unwrap_or_default();
            message.push_str(&format!("\n{}:{}: {}", path, step.location.range.start.line + 1, step.message));
        }
    }
    message
}

/// Returns the message with the hold moved to its beginning: `up to 5 s: call … can block the event loop`.
fn move_hold_first(message: &str) -> String {
    let moved = || {
        let (head, tail) = message.rsplit_once(" can block ")?;
        let split = [" for ", " with no time limit"].iter().find_map(|word| tail.find(word))?;
        let (thread, time) = tail.split_at(split);
        let time = time.trim_start();
        Some(format!("{}: {head} can block {thread}", time.trim_start_matches("for ").trim_start_matches("with ")))
    };
    moved().unwrap_or_else(|| message.to_owned())
}

/// Returns the calls on the path after the place of the finding, then the calls during which a lock is held.
fn related_steps(view: &View, finding: &Finding) -> Vec<DiagnosticRelatedInformation> {
    let related_steps = finding.trace.iter().enumerate().skip(1);
    let calls = related_steps.map(|(index, step)| {
        let owner = body_name(&step.function);
        let message = match finding.trace.get(index + 1) {
            Some(_) => format!("`{owner}` calls `{}`", step.written),
            None => format!("`{owner}` calls `{}`, which blocks", step.written),
        };
        DiagnosticRelatedInformation { location: view.location(&step.place), message }
    });
    let held = finding.held_by.iter().map(|step| DiagnosticRelatedInformation {
        location: view.location(&step.place),
        message: step.lock_holder_words(),
    });
    calls.chain(held).collect()
}

#[cfg(test)]
mod tests {
    use super::move_hold_first;

    #[test]
    fn holds_are_at_the_beginning_of_the_message() {
        for (message, expected) in [
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
            assert_eq!(move_hold_first(message), expected);
        }
    }
}
