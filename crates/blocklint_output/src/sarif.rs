//! SARIF 2.1.0: what code-scanning services read. The trace is a code flow, causes are related locations.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::io::{self, Write};

use blocklint_core::{
    Applicability, Cause, Edit, Finding, Fix, Location, Place, RuleCode, Severity, SuppressionSource,
};
use blocklint_rules::{RULES, Rule, UNREADABLE_SOURCE};
use camino::Utf8Path;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};

use crate::Shown;
use crate::json::confirmed;
use crate::paths::shown_place;
use crate::paths::{encoded, file_uri, slashes};
use crate::wording::step_label;

/// The name under which services keep fingerprints; the number changes with what goes into them.
const FINGERPRINT: &str = "blocklint/v1";
const ROOT: &str = "%SRCROOT%";
/// GitHub takes no more results of one run.
const MOST_RESULTS: usize = 25_000;
/// GitHub takes no longer logs, zipped, in bytes.
const MOST_ZIPPED: u64 = 10_000_000;
/// The notification that says so.
const LEFT_OUT: &str = "results-left-out";
/// Services show no more related locations of one result.
const MOST_CAUSES: usize = 100;

/// The properties of a run besides its findings.
#[derive(Clone, Copy, Debug)]
pub struct SarifRun<'a> {
    /// The folder of the repository, absolute: paths below it are written relative to it.
    pub root: &'a Utf8Path,
    /// Findings of the chosen rules and levels that are silenced at their own place.
    pub suppressed: &'a [Finding],
    /// True if everything that was named could be looked at.
    pub complete: bool,
    /// True if findings were compared with others that were there before: those of the run are new then.
    pub compares: bool,
}

/// Writes one log with one run. Services take neither more than 25,000 results nor more than 10 MB of a zipped log:
/// where there would be more, the least of them are left out, which the log says. Gives back how many.
///
/// # Errors
///
/// Those of the writer.
pub fn sarif(out: &mut dyn Write, shown: &Shown<'_>, run: &SarifRun<'_>) -> io::Result<usize> {
    let all = shown.findings.iter().chain(run.suppressed);
    let count = all.filter(|finding| !is_notification(finding.rule)).count();
    let (text, kept) = fitting(count, MOST_RESULTS, MOST_ZIPPED, |most| log(shown, run, most))?;
    out.write_all(&text)?;
    writeln!(out)?;
    Ok(count.saturating_sub(kept))
}

/// Returns a log with at most so many results.
fn log(shown: &Shown<'_>, run: &SarifRun<'_>, most: usize) -> io::Result<Vec<u8>> {
    let writer = Writer { root: run.root, compares: run.compares };
    let mut all: Vec<&Finding> = shown.findings.iter().chain(run.suppressed).collect();
    all.sort_by(|a, b| (&a.place.path, a.place.span, a.rule).cmp(&(&b.place.path, b.place.span, b.rule)));
    let (unread, found): (Vec<_>, Vec<_>) = all.into_iter().partition(|finding| is_notification(finding.rule));
    let left_out = found.len().saturating_sub(most);
    let found = worst(found, most);
    let rules: Vec<&Rule> = RULES.iter().copied().filter(|rule| !is_notification(rule.code)).collect();
    let mut notifications: Vec<Value> = unread.iter().map(|finding| writer.notification(finding)).collect();
    notifications.extend((left_out > 0).then(|| {
        let text = format!(
            "{left_out} results were left out, the least severe and least sure ones: services take no more than {MOST_RESULTS} \
             results, or 10 MB of a zipped log."
        );
        json!({ "descriptor": { "id": LEFT_OUT, "index": 1 }, "level": "warning", "message": { "text": text } })
    }));
    let mut log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "blocklint",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|rule| descriptor(rule, shown.url(rule.code))).collect::<Vec<_>>(),
                "notifications": [
                    descriptor(&UNREADABLE_SOURCE, shown.url(UNREADABLE_SOURCE.code)),
                    { "id": LEFT_OUT, "name": LEFT_OUT, "shortDescription": { "text": "Results were left out." } },
                ],
            } },
            "invocations": [{
                "executionSuccessful": run.complete,
                "toolExecutionNotifications": notifications,
            }],
            "originalUriBaseIds": { ROOT: { "uri": folder_uri(run.root) } },
            "columnKind": "unicodeCodePoints",
            "results": found.iter().map(|finding| writer.result(finding, &rules)).collect::<Vec<_>>(),
        }],
    });
    if let Some(repository) = shown.pages {
        log["runs"][0]["tool"]["driver"]["informationUri"] = repository.into();
    }
    Ok(serde_json::to_vec_pretty(&log)?)
}

/// Returns the worst of some findings, in their order: first what is not silenced, then by how bad and how sure it is.
fn worst(found: Vec<&Finding>, most: usize) -> Vec<&Finding> {
    if found.len() <= most {
        return found;
    }
    let mut ranked: Vec<usize> = (0..found.len()).collect();
    ranked.sort_by_key(|&at| {
        let finding = found[at];
        (finding.suppression.is_some(), Reverse(finding.severity), Reverse(finding.confidence))
    });
    ranked.truncate(most);
    ranked.sort_unstable();
    ranked.into_iter().map(|at| found[at]).collect()
}

/// Returns the log of as many results as a service takes: at most `most`, and `zipped` bytes once it is zipped. Gives
/// back for how many it was asked.
fn fitting(
    count: usize,
    most: usize,
    zipped: u64,
    log: impl Fn(usize) -> io::Result<Vec<u8>>,
) -> io::Result<(Vec<u8>, usize)> {
    let mut most = count.min(most);
    loop {
        let text = log(most)?;
        // A text that is short enough is left as it is.
        if text.len() as u64 <= zipped || most == 0 {
            return Ok((text, most));
        }
        let size = zipped_size(&text)?;
        if size <= zipped {
            return Ok((text, most));
        }
        // Results are alike, so that as large a part fits; a little less, for they are not equal.
        let fits = (most as u128 * u128::from(zipped) * 19 / (u128::from(size) * 20)) as usize;
        most = fits.min(most - 1);
    }
}

fn zipped_size(text: &[u8]) -> io::Result<u64> {
    let mut encoder = GzEncoder::new(Counter(0), Compression::default());
    encoder.write_all(text)?;
    Ok(encoder.finish()?.0)
}

/// Counts what is written to it.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Rules about a file as such and not about its code.
fn is_notification(rule: RuleCode) -> bool {
    rule == UNREADABLE_SOURCE.code
}

fn descriptor(rule: &Rule, url: Option<String>) -> Value {
    let level = usual_level(rule);
    let mut descriptor = json!({
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
    });
    if let Some(url) = url {
        descriptor["helpUri"] = url.into();
    }
    descriptor
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
        let related = causes.iter().zip(1u32..).map(|(cause, id)| self.related(cause, id));
        let holder = finding.held_by.iter().map(|held| {
            let mut location = self.location(&held.place, Some(held.lock_holder_words()));
            location.insert("id".to_owned(), (causes.len() + 1).into());
            Value::Object(location)
        });
        let related: Vec<Value> = related.chain(holder).collect();
        if !related.is_empty() {
            set("relatedLocations", related.into());
        }
        // Places in a cell are no places in the notebook's file.
        let applies = |fix: &&Fix| !fix.edits.is_empty() && fix.edits.iter().all(|edit| edit.place.cell.is_none());
        if let Some(fix) = finding.fix.as_ref().filter(applies) {
            set("fixes", json!([self.fix(fix)]));
        }
        let source = finding.suppression.as_ref().map(|suppression| suppression.source);
        match source {
            Some(SuppressionSource::Baseline) => set("baselineState", "unchanged".into()),
            // A suppressed finding was compared with nothing.
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
        if let Some(seen) = finding.confirmed.as_ref().map(confirmed).and_then(|of| serde_json::to_value(of).ok()) {
            properties["confirmed"] = seen;
        }
        set("properties", properties);
        Value::Object(result)
    }

    /// Returns the message, the notes and the help; brackets make links to the related locations.
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
            Err(_) => json!({ "uri": file_uri(path) }),
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

/// Returns the URI of a folder, with its separator at the end.
fn folder_uri(folder: &Utf8Path) -> String {
    let uri = file_uri(folder);
    if uri.ends_with('/') { uri } else { format!("{uri}/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(encoded("a b/é#?.py"), "a%20b/%C3%A9%23%3F.py");
        assert_eq!(folder_uri(Utf8Path::new("/p/x")), "file:///p/x/");
        assert_eq!(file_uri(Utf8Path::new("C:\\p\\a.py")), "file:///C:/p/a.py");
    }

    /// Numbers that do not zip, so many bytes for each result.
    fn noise(results: usize, bytes: usize) -> Vec<u8> {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        (0..results * bytes).map(|_| next()).collect()
    }

    #[test]
    fn a_log_that_is_too_long_is_made_anew_with_less() {
        let asked = std::cell::RefCell::new(Vec::new());
        let log = |most: usize| {
            asked.borrow_mut().push(most);
            Ok(noise(most, 100))
        };
        let (text, kept) = fitting(300, 1_000, 50_000, log).expect("written");
        assert_eq!(kept, 300, "as many as there are fit");
        assert_eq!(text.len(), 30_000);
        let (_, kept) = fitting(5_000, 1_000, 1_000_000, log).expect("written");
        assert_eq!(kept, 1_000, "no more than a service takes");
        asked.borrow_mut().clear();
        let (text, kept) = fitting(1_000, 1_000, 50_000, log).expect("written");
        assert!((400..500).contains(&kept) && zipped_size(&text).expect("counted") <= 50_000, "{kept}");
        assert!(asked.borrow().len() <= 3, "{asked:?}");
        assert_eq!(fitting(10, 10, 0, log).expect("written").1, 0, "even a log without results may be too long");
    }

    #[test]
    fn what_zips_well_stays_whole() {
        let (text, kept) = fitting(1_000, 1_000, 50_000, |most| Ok(vec![b'a'; most * 1_000])).expect("written");
        assert_eq!((text.len(), kept), (1_000_000, 1_000));
    }

    #[test]
    fn brackets_of_code_are_no_links() {
        assert_eq!(plain("x[0].get"), "x\\[0\\].get");
    }
}
