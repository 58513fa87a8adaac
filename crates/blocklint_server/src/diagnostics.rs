//! Findings as diagnostics.

use std::hash::{DefaultHasher, Hash, Hasher};

use blocklint_core::{Finding, Severity, body_name};
use camino::Utf8Path;
use serde_json::json;

use crate::protocol::{Code, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Words};
use crate::view::View;

/// The diagnostics of a file, and a word that is another one where they are.
pub(crate) fn of_file(view: &View, path: &Utf8Path) -> (Vec<Diagnostic>, String) {
    let all: Vec<Diagnostic> = view.analysis.findings_in(path).map(|finding| diagnostic(view, finding)).collect();
    let mut hasher = DefaultHasher::new();
    all.hash(&mut hasher);
    (all, format!("{:016x}", hasher.finish()))
}

pub(crate) fn diagnostic(view: &View, finding: &Finding) -> Diagnostic {
    let mut message = finding.message.clone();
    if finding.trace.len() > 1 {
        message.push_str("\npath: ");
        message.push_str(&finding.trace_line());
    }
    if let Some(help) = &finding.help {
        message.push_str("\nhelp: ");
        message.push_str(help);
    }
    let steps = steps(view, finding);
    if !view.client.related_information {
        for step in &steps {
            let path = crate::uri::to_path(&step.location.uri).unwrap_or_default();
            message.push_str(&format!("\n{}:{}: {}", path, step.location.range.start.line + 1, step.message));
        }
    }
    Diagnostic {
        range: view.range(&finding.place.path, finding.place.span),
        severity: Some(match finding.severity {
            Severity::Error => DiagnosticSeverity::Error,
            Severity::Warning => DiagnosticSeverity::Warning,
            Severity::Note => DiagnosticSeverity::Information,
        }),
        code: Some(Code::String(finding.rule.to_string())),
        source: Some("blocklint".to_owned()),
        message: Words::String(message),
        related_information: (view.client.related_information && !steps.is_empty()).then_some(steps),
        data: Some(json!({ "fingerprint": finding.fingerprint })),
        ..Diagnostic::default()
    }
}

/// The steps behind the finding's own place, each in a sentence.
fn steps(view: &View, finding: &Finding) -> Vec<DiagnosticRelatedInformation> {
    let steps = finding.trace.iter().enumerate().skip(1);
    let told = steps.map(|(at, step)| {
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
    told.chain(held).collect()
}
