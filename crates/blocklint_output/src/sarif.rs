//! SARIF 2.1.0: what code-scanning services read. The trace is a code flow, causes are related locations.

use std::fmt::Write as _;
use std::io::{self, Write};

use blocklint_core::{
    Applicability, Cause, Edit, Finding, Fix, Location, Place, RuleCode, Severity, SuppressionSource,
};
use blocklint_rules::{RULES, Rule, UNREADABLE_SOURCE};
use camino::Utf8Path;
use serde_json::{Map, Value, json};

use crate::Shown;
use crate::paths::shown_place;
use crate::wording::step_label;

/// The name under which services keep fingerprints; the number changes with what goes into them.
const FINGERPRINT: &str = "blocklint/v1";
const ROOT: &str = "%SRCROOT%";
/// Services show no more related locations of one result.
const MOST_CAUSES: usize = 100;

/// What a run is besides its findings.
#[derive(Clone, Copy, Debug)]
pub struct SarifRun<'a> {
    /// The folder of the repository, absolute: paths below it are written relative to it.
    pub root: &'a Utf8Path,
    /// Findings of the chosen rules and levels that are silenced at their own place.
    pub suppressed: &'a [Finding],
    /// Whether everything that was named could be looked at.
    pub complete: bool,
    /// Whether findings were compared with others that were there before: those of the run are new then.
    pub compares: bool,
}

/// Writes one log with one run.
///
/// # Errors
///
/// Those of the writer.
pub fn sarif(out: &mut dyn Write, shown: &Shown<'_>, run: &SarifRun<'_>) -> io::Result<()> {
    let writer = Writer { root: run.root, compares: run.compares };
    let mut all: Vec<&Finding> = shown.findings.iter().chain(run.suppressed).collect();
    all.sort_by(|a, b| (&a.place.path, a.place.span, a.rule).cmp(&(&b.place.path, b.place.span, b.rule)));
    let (unread, found): (Vec<_>, Vec<_>) = all.into_iter().partition(|finding| is_notification(finding.rule));
    let rules: Vec<&Rule> = RULES.iter().copied().filter(|rule| !is_notification(rule.code)).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "blocklint",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
                "notifications": [descriptor(&UNREADABLE_SOURCE)],
            } },
            "invocations": [{
                "executionSuccessful": run.complete,
                "toolExecutionNotifications": unread.iter().map(|f| writer.notification(f)).collect::<Vec<_>>(),
            }],
            "originalUriBaseIds": { ROOT: { "uri": folder_uri(run.root) } },
            "columnKind": "unicodeCodePoints",
            "results": found.iter().map(|finding| writer.result(finding, &rules)).collect::<Vec<_>>(),
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

/// What is about a file as such and not about its code.
fn is_notification(rule: RuleCode) -> bool {
    rule == UNREADABLE_SOURCE.code
}

fn descriptor(rule: &Rule) -> Value {
    let level = usual_level(rule);
    json!({
        "id": rule.code.to_string(),
        "name": rule.name,
        "shortDescription": { "text": capitalised(rule.summary) },
        "fullDescription": { "text": capitalised(rule.summary) },
        "help": { "text": rule.page, "markdown": rule.page },
        "defaultConfiguration": { "level": level },
        "properties": {
            "tags": ["async", "blocking"],
            "precision": "high",
            "problem.severity": if level == "note" { "recommendation" } else { level },
        },
    })
}

/// The level most findings of a rule have; each result states its own.
fn usual_level(rule: &Rule) -> &'static str {
    use blocklint_core::Effect;
    match rule.effect {
        _ if is_notification(rule.code) => "note",
        Some(Effect::File | Effect::Cpu) => "warning",
        _ => "error",
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn capitalised(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or(String::new(), |first| format!("{}{}.", first.to_uppercase(), rest.as_str()))
}

struct Writer<'a> {
    root: &'a Utf8Path,
    compares: bool,
}

impl Writer<'_> {
    fn result(&self, finding: &Finding, rules: &[&Rule]) -> Value {
        let mut result = Map::new();
        let mut set = |key: &str, value: Value| result.insert(key.to_owned(), value);
        set("ruleId", finding.rule.to_string().into());
        if let Some(index) = rules.iter().position(|rule| rule.code == finding.rule) {
            set("ruleIndex", index.into());
        }
        set("level", level(finding.severity).into());
        let causes = &finding.causes[..finding.causes.len().min(MOST_CAUSES)];
        set("message", json!({ "text": self.message(finding, causes) }));
        let mut location = self.location(&finding.place, None);
        if !finding.function.is_empty() {
            let function = json!([{ "fullyQualifiedName": finding.function, "kind": "function" }]);
            location.insert("logicalLocations".to_owned(), function);
        }
        set("locations", json!([location]));
        set("partialFingerprints", json!({ FINGERPRINT: finding.fingerprint }));
        if !finding.trace.is_empty() && finding.effect.is_some() {
            set("codeFlows", json!([{ "threadFlows": [{ "locations": self.flow(finding) }] }]));
        }
        if !causes.is_empty() {
            let related = causes.iter().zip(1u32..).map(|(cause, id)| self.related(cause, id));
            set("relatedLocations", related.collect());
        }
        // Places in a cell are no places in the notebook's file.
        let applies = |fix: &&Fix| !fix.edits.is_empty() && fix.edits.iter().all(|edit| edit.place.cell.is_none());
        if let Some(fix) = finding.fix.as_ref().filter(applies) {
            set("fixes", json!([self.fix(fix)]));
        }
        let source = finding.suppression.as_ref().map(|suppression| suppression.source);
        match source {
            Some(SuppressionSource::Baseline) => set("baselineState", "unchanged".into()),
            // What a comment silences was compared with nothing.
            Some(_) => None,
            None => self.compares.then(|| set("baselineState", "new".into())).flatten(),
        };
        if let Some(suppression) = &finding.suppression {
            let mut object = Map::new();
            let kind = match suppression.source {
                SuppressionSource::Comment => "inSource",
                SuppressionSource::Configuration | SuppressionSource::Baseline => "external",
            };
            object.insert("kind".to_owned(), kind.into());
            if let Some(reason) = &suppression.reason {
                object.insert("justification".to_owned(), reason.as_str().into());
            }
            set("suppressions", json!([object]));
        }
        let mut properties = json!({ "confidence": finding.confidence.as_str(), "causes": finding.causes.len() });
        if !finding.reasons.is_empty() {
            properties["signals"] = finding.reasons.iter().map(|reason| reason.name).collect();
        }
        set("properties", properties);
        Value::Object(result)
    }

    /// What is wrong, why and what to do; brackets make links to the related locations.
    fn message(&self, finding: &Finding, causes: &[Cause]) -> String {
        let mut text = format!("{}.", plain(&finding.message));
        for note in &finding.notes {
            let _ = write!(text, "\nNote: {}.", plain(note));
        }
        if let Some(help) = &finding.help {
            let _ = write!(text, "\nHelp: {}.", plain(help));
        }
        // A call that blocks in place is its own cause.
        let elsewhere = finding.trace.len() > 1 || causes.len() > 1;
        for (cause, id) in causes.iter().zip(1u32..).take(if elsewhere { 10 } else { 0 }) {
            let at = shown_place(&cause.place, self.root);
            let _ = write!(text, "\nCause: [{}]({id}) at {}.", plain(&cause.call), plain(&at));
        }
        text
    }

    fn flow(&self, finding: &Finding) -> Vec<Value> {
        let steps = finding.trace.iter().enumerate().map(|(at, step)| {
            let mut location = self.location(&step.place, Some(step_label(finding, at)));
            let function = json!([{ "fullyQualifiedName": step.function, "kind": "function" }]);
            location.insert("logicalLocations".to_owned(), function);
            let ends = at == 0 || at + 1 == finding.trace.len();
            json!({
                "location": location,
                "executionOrder": at + 1,
                "nestingLevel": at,
                "importance": if ends { "essential" } else { "important" },
            })
        });
        steps.collect()
    }

    fn related(&self, cause: &Cause, id: u32) -> Value {
        let mut location = self.location(&cause.place, Some(format!("`{}` blocks here", cause.call)));
        location.insert("id".to_owned(), id.into());
        Value::Object(location)
    }

    fn notification(&self, finding: &Finding) -> Value {
        json!({
            "descriptor": { "id": finding.rule.to_string(), "index": 0 },
            "level": level(finding.severity),
            "message": { "text": finding.message },
            "locations": [self.location(&finding.place, None)],
        })
    }

    fn fix(&self, fix: &Fix) -> Value {
        // Edits of one file together, files in their order.
        let mut changes: Vec<(&Utf8Path, Vec<Value>)> = Vec::new();
        for edit in &fix.edits {
            let path: &Utf8Path = &edit.place.path;
            match changes.iter_mut().find(|(of, _)| *of == path) {
                Some((_, replacements)) => replacements.push(replacement(edit)),
                None => changes.push((path, vec![replacement(edit)])),
            }
        }
        let changes = changes.into_iter().map(
            |(path, replacements)| json!({ "artifactLocation": self.artifact(path), "replacements": replacements }),
        );
        let how = match fix.applicability {
            Applicability::Safe => "",
            Applicability::Unsafe => " (unsafe: changes what the code does)",
            Applicability::Display => " (a suggestion)",
        };
        json!({
            "description": { "text": format!("{}{how}", fix.title) },
            "artifactChanges": changes.collect::<Vec<_>>(),
        })
    }

    fn location(&self, place: &Place, message: Option<String>) -> Map<String, Value> {
        let mut location = Map::new();
        let physical = json!({ "artifactLocation": self.artifact(&place.path), "region": region(place) });
        location.insert("physicalLocation".to_owned(), physical);
        if let Some(message) = message {
            location.insert("message".to_owned(), json!({ "text": message }));
        }
        location
    }

    fn artifact(&self, path: &Utf8Path) -> Value {
        match path.strip_prefix(self.root) {
            Ok(inside) => json!({ "uri": encoded(&slashes(inside)), "uriBaseId": ROOT }),
            Err(_) => json!({ "uri": absolute_uri(path) }),
        }
    }
}

fn replacement(edit: &Edit) -> Value {
    json!({ "deletedRegion": region(&edit.place), "insertedContent": { "text": edit.content } })
}

/// Lines and columns from 1; of a place in a notebook within its cell, which stands beside them.
fn region(place: &Place) -> Value {
    let at = |location: Location| (location.row.max(1), location.column.max(1));
    let ((row, column), (end_row, end_column)) = (at(place.start), at(place.end));
    let mut region = json!({ "startLine": row, "startColumn": column, "endLine": end_row, "endColumn": end_column });
    if let Some(cell) = place.cell {
        region["properties"] = json!({ "cell": cell });
    }
    region
}

/// Text in which brackets are no link.
fn plain(text: &str) -> String {
    text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

fn slashes(path: &Utf8Path) -> String {
    path.as_str().replace('\\', "/")
}

/// The URI of a folder, with its separator at the end.
fn folder_uri(folder: &Utf8Path) -> String {
    let uri = absolute_uri(folder);
    if uri.ends_with('/') { uri } else { format!("{uri}/") }
}

fn absolute_uri(path: &Utf8Path) -> String {
    let path = slashes(path);
    // `C:/x` needs one separator more than `/x`.
    let separator = if path.starts_with('/') { "" } else { "/" };
    format!("file://{separator}{}", encoded(&path).replacen("%3A", ":", 1))
}

/// A path as a URI spells it: everything but unreserved characters and separators is encoded.
fn encoded(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(encoded("a b/é#?.py"), "a%20b/%C3%A9%23%3F.py");
        assert_eq!(folder_uri(Utf8Path::new("/p/x")), "file:///p/x/");
        assert_eq!(absolute_uri(Utf8Path::new("C:\\p\\a.py")), "file:///C:/p/a.py");
    }

    #[test]
    fn brackets_of_code_are_no_links() {
        assert_eq!(plain("x[0].get"), "x\\[0\\].get");
    }
}
