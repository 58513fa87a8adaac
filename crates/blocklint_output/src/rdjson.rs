//! reviewdog's diagnostic format (`rdjson`), from which reviewdog writes comments on any code host that it supports.

use std::io::{self, Write};

use blocklint_core::{Cause, Finding, Fix, Location, Place, Severity};
use serde_json::{Map, Value, json};

use crate::RenderInput;
use crate::paths::portable;

/// Writes all findings as one `DiagnosticResult`.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_rdjson(out: &mut dyn Write, input: &RenderInput<'_>) -> io::Result<()> {
    let worst = input.findings.iter().map(|finding| finding.severity).max();
    let mut result = json!({ "source": { "name": "blocklint" } });
    if let Some(worst) = worst {
        result["severity"] = severity(worst).into();
    }
    result["diagnostics"] = input.findings.iter().map(|finding| diagnostic(finding, input)).collect();
    serde_json::to_writer_pretty(&mut *out, &result)?;
    writeln!(out)
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "ERROR",
        Severity::Warning => "WARNING",
        Severity::Note => "INFO",
    }
}

fn diagnostic(finding: &Finding, input: &RenderInput<'_>) -> Value {
    let mut message = finding.message.clone();
    if finding.trace.len() > 1 {
        message = format!("{message}\npath: {}", finding.trace_line());
    }
    if let Some(help) = &finding.help {
        message = format!("{message}\nhelp: {help}");
    }
    let mut object = Map::new();
    object.insert("message".to_owned(), message.into());
    object.insert("location".to_owned(), location(&finding.place, input));
    object.insert("severity".to_owned(), severity(finding.severity).into());
    let mut code = json!({ "value": finding.rule.to_string() });
    if let Some(url) = input.url(finding.rule) {
        code["url"] = url.into();
    }
    object.insert("code".to_owned(), code);
    let is_elsewhere =
        |cause: &&Cause| cause.place.span != finding.place.span || cause.place.path != finding.place.path;
    let related = finding.causes.iter().take(1).filter(is_elsewhere).map(|cause| {
        json!({ "message": format!("`{}` blocks here", cause.call), "location": location(&cause.place, input) })
    });
    let related: Vec<Value> = related.collect();
    if !related.is_empty() {
        object.insert("related_locations".to_owned(), related.into());
    }
    if let Some(suggestion) = finding.fix.as_ref().and_then(|fix| suggestion(fix, finding, input)) {
        object.insert("suggestions".to_owned(), json!([suggestion]));
    }
    Value::Object(object)
}

/// Returns a fix as a suggestion, if it has one edit, in the finding's file. Suggestions are applied one by one, so a
/// fix with several edits (a call and the import that it needs) could break the code.
fn suggestion(fix: &Fix, finding: &Finding, input: &RenderInput<'_>) -> Option<Value> {
    match &*fix.edits {
        [edit] if edit.place.path == finding.place.path && edit.place.cell.is_none() => {
            Some(json!({ "range": range(&edit.place, input), "text": edit.content }))
        }
        _ => None,
    }
}

fn location(place: &Place, input: &RenderInput<'_>) -> Value {
    let path = portable(&place.path, input.folder);
    match place.cell {
        // Rows in a cell are no lines of the notebook's file.
        Some(_) => json!({ "path": path }),
        None => json!({ "path": path, "range": range(place, input) }),
    }
}

fn range(place: &Place, input: &RenderInput<'_>) -> Value {
    let position = |location: Location, offset: u32| {
        // The format counts columns in bytes.
        let column = input.sources.byte_column(&place.path, offset).unwrap_or(location.column);
        json!({ "line": location.row.max(1), "column": column.max(1) })
    };
    json!({ "start": position(place.start, place.span.start), "end": position(place.end, place.span.end) })
}
