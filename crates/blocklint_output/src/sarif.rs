//! SARIF 2.1.0, which code-scanning services read. The trace is a code flow, causes are related locations.

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

use crate::RenderInput;
use crate::json::confirmed_object;
use crate::paths::{file_uri, percent_encode, place_text, slashes};
use crate::wording::step_label;

/// The name under which services store fingerprints. Its version changes when their computation changes.
const FINGERPRINT: &str = "blocklint/v1";
const ROOT: &str = "%SRCROOT%";
/// The most results of one run that GitHub accepts.
const MOST_RESULTS: usize = 25_000;
/// The most bytes of a zipped log that GitHub accepts.
const MOST_ZIPPED: u64 = 10_000_000;
/// The notification that results were left out.
const LEFT_OUT: &str = "results-left-out";
/// The most related locations of one result that services show.
const MOST_CAUSES: usize = 100;

/// The properties of a run besides its findings.
#[derive(Clone, Copy, Debug)]
pub struct SarifRun<'a> {
    /// The absolute folder of the repository. Paths below it are written relative to it.
    pub root: &'a Utf8Path,
    /// The findings of the chosen rules and levels that are suppressed.
    pub suppressed: &'a [Finding],
    /// True if all paths that the user gave could be read.
    pub complete: bool,
    /// True if the findings were compared with earlier ones, so that the findings of the run are new.
    pub compares: bool,
}

/// Writes one log with one run, and returns the number of results that were left out. Services accept at most 25,000
/// results and 10 MB of a zipped log. If there would be more, the least severe and least sure results are left out, and
/// the log says so.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_sarif(out: &mut dyn Write, input: &RenderInput<'_>, run: &SarifRun<'_>) -> io::Result<usize> {
    let results = input.findings.iter().chain(run.suppressed);
    let count = results.filter(|finding| !is_notification(finding.rule)).count();
    let (text, included) =
        find_fitting_log(count, MOST_RESULTS, MOST_ZIPPED, |max_results| make_log(input, run, max_results))?;
    out.write_all(&text)?;
    writeln!(out)?;
    Ok(count.saturating_sub(included))
}

/// Returns a log with at most `max_results` results.
fn make_log(input: &RenderInput<'_>, run: &SarifRun<'_>, max_results: usize) -> io::Result<Vec<u8>> {
    let writer = Writer { root: run.root, compares: run.compares };
    let mut sorted: Vec<&Finding> = input.findings.iter().chain(run.suppressed).collect();
    sorted.sort_by(|a, b| (&a.place.path, a.place.span, a.rule).cmp(&(&b.place.path, b.place.span, b.rule)));
    let (unread, findings): (Vec<_>, Vec<_>) = sorted.into_iter().partition(|finding| is_notification(finding.rule));
    let left_out = findings.len().saturating_sub(max_results);
    let findings = worst_findings(findings, max_results);
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
                "rules": rules.iter().map(|rule| descriptor(rule, input.url(rule.code))).collect::<Vec<_>>(),
                "notifications": [
                    descriptor(&UNREADABLE_SOURCE, input.url(UNREADABLE_SOURCE.code)),
                    { "id": LEFT_OUT, "name": LEFT_OUT, "shortDescription": { "text": "Results were left out." } },
                ],
            } },
            "invocations": [{
                "executionSuccessful": run.complete,
                "toolExecutionNotifications": notifications,
            }],
            "originalUriBaseIds": { ROOT: { "uri": folder_uri(run.root) } },
            "columnKind": "unicodeCodePoints",
            "results": findings.iter().map(|finding| writer.result(finding, &rules)).collect::<Vec<_>>(),
        }],
    });
    if let Some(repository) = input.pages {
        log["runs"][0]["tool"]["driver"]["informationUri"] = repository.into();
    }
    Ok(serde_json::to_vec_pretty(&log)?)
}

/// Returns the `max_findings` worst findings, in their old order. Findings that are not suppressed are chosen first,
/// then the more severe ones, then the surer ones.
fn worst_findings(findings: Vec<&Finding>, max_findings: usize) -> Vec<&Finding> {
    if findings.len() <= max_findings {
        return findings;
    }
    let mut ranked: Vec<usize> = (0..findings.len()).collect();
    ranked.sort_by_key(|&index| {
        let finding = findings[index];
        (finding.suppression.is_some(), Reverse(finding.severity), Reverse(finding.confidence))
    });
    ranked.truncate(max_findings);
    ranked.sort_unstable();
    ranked.into_iter().map(|index| findings[index]).collect()
}

/// Returns a log with at most `max_results` results that has at most `max_zipped` bytes when zipped, and the number of
/// its results. `make_log` makes a log with at most this number of results.
fn find_fitting_log(
    count: usize,
    max_results: usize,
    max_zipped: u64,
    make_log: impl Fn(usize) -> io::Result<Vec<u8>>,
) -> io::Result<(Vec<u8>, usize)> {
    let mut max_results = count.min(max_results);
    loop {
        let text = make_log(max_results)?;
        // A text that is short enough without compression need not be zipped.
        if text.len() as u64 <= max_zipped || max_results == 0 {
            return Ok((text, max_results));
        }
        let size = zipped_size(&text)?;
        if size <= max_zipped {
            return Ok((text, max_results));
        }
        // The results have similar sizes, so the part that fits is about the quotient of the sizes. 5 % less, because
        // the sizes differ.
        let fits = (max_results as u128 * u128::from(max_zipped) * 19 / (u128::from(size) * 20)) as usize;
        max_results = fits.min(max_results - 1);
    }
}

fn zipped_size(text: &[u8]) -> io::Result<u64> {
    let mut encoder = GzEncoder::new(Counter(0), Compression::default());
    encoder.write_all(text)?;
    Ok(encoder.finish()?.0)
}

/// A writer that counts the bytes written to it.
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

/// True if a rule is about a file, not about its code.
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

/// Returns the level that most findings of a rule have. Each result states its own level.
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
        let holder = finding.held_by.iter().map(|holder| {
            let mut location = self.location(&holder.place, Some(holder.lock_holder_words()));
            location.insert("id".to_owned(), (causes.len() + 1).into());
            Value::Object(location)
        });
        let related: Vec<Value> = related.chain(holder).collect();
        if !related.is_empty() {
            set("relatedLocations", related.into());
        }
        // Rows in a cell are no rows of the notebook's file.
        let is_applicable =
            |fix: &&Fix| !fix.edits.is_empty() && fix.edits.iter().all(|edit| edit.place.cell.is_none());
        if let Some(fix) = finding.fix.as_ref().filter(is_applicable) {
            set("fixes", json!([self.fix(fix)]));
        }
        let source = finding.suppression.as_ref().map(|suppression| suppression.source);
        match source {
            Some(SuppressionSource::Baseline) => set("baselineState", "unchanged".into()),
            // A suppressed finding was not compared.
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
        let evidence = finding.confirmed.as_ref().map(confirmed_object);
        if let Some(evidence) = evidence.and_then(|evidence| serde_json::to_value(evidence).ok()) {
            properties["confirmed"] = evidence;
        }
        set("properties", properties);
        Value::Object(result)
    }

    /// Returns the message, the notes and the help of a finding. Brackets make links to the related locations.
    fn message(&self, finding: &Finding, causes: &[Cause]) -> String {
        let mut text = format!("{}.", escape_brackets(&finding.message));
        for note in &finding.notes {
            let _ = write!(text, "\nNote: {}.", escape_brackets(note));
        }
        if let Some(help) = &finding.help {
            let _ = write!(text, "\nHelp: {}.", escape_brackets(help));
        }
        // A call that blocks in place is its own cause.
        let has_causes_elsewhere = finding.trace.len() > 1 || causes.len() > 1;
        for (cause, id) in causes.iter().zip(1u32..).take(if has_causes_elsewhere { 10 } else { 0 }) {
            let place = place_text(&cause.place, self.root);
            let _ = write!(text, "\nCause: [{}]({id}) at {}.", escape_brackets(&cause.call), escape_brackets(&place));
        }
        text
    }

    fn flow(&self, finding: &Finding) -> Vec<Value> {
        let steps = finding.trace.iter().enumerate().map(|(index, step)| {
            let mut location = self.location(&step.place, Some(step_label(finding, index)));
            let function = json!([{ "fullyQualifiedName": step.function, "kind": "function" }]);
            location.insert("logicalLocations".to_owned(), function);
            let is_end = index == 0 || index + 1 == finding.trace.len();
            json!({
                "location": location,
                "executionOrder": index + 1,
                "nestingLevel": index,
                "importance": if is_end { "essential" } else { "important" },
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
        // The edits of one file are together, the files in their order.
        let mut changes: Vec<(&Utf8Path, Vec<Value>)> = Vec::new();
        for edit in &fix.edits {
            let path: &Utf8Path = &edit.place.path;
            match changes.iter_mut().find(|(changed, _)| *changed == path) {
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
            Ok(inside) => json!({ "uri": percent_encode(&slashes(inside)), "uriBaseId": ROOT }),
            Err(_) => json!({ "uri": file_uri(path) }),
        }
    }
}

fn replacement(edit: &Edit) -> Value {
    json!({ "deletedRegion": region(&edit.place), "insertedContent": { "text": edit.content } })
}

/// Returns the region of a place: lines and columns from 1. In a notebook they count in the cell, whose number is a
/// property.
fn region(place: &Place) -> Value {
    let position = |location: Location| (location.row.max(1), location.column.max(1));
    let ((row, column), (end_row, end_column)) = (position(place.start), position(place.end));
    let mut region = json!({ "startLine": row, "startColumn": column, "endLine": end_row, "endColumn": end_column });
    if let Some(cell) = place.cell {
        region["properties"] = json!({ "cell": cell });
    }
    region
}

/// Returns a text with its brackets escaped, so that they make no link.
fn escape_brackets(text: &str) -> String {
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
        assert_eq!(percent_encode("a b/é#?.py"), "a%20b/%C3%A9%23%3F.py");
        assert_eq!(folder_uri(Utf8Path::new("/p/x")), "file:///p/x/");
        assert_eq!(file_uri(Utf8Path::new("C:\\p\\a.py")), "file:///C:/p/a.py");
    }

    /// Returns random bytes, which compression does not make shorter: `bytes` for each result.
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
    fn a_log_that_is_too_long_is_made_again_with_fewer_results() {
        let attempts = std::cell::RefCell::new(Vec::new());
        let log = |most: usize| {
            attempts.borrow_mut().push(most);
            Ok(noise(most, 100))
        };
        let (text, kept) = find_fitting_log(300, 1_000, 50_000, log).expect("written");
        assert_eq!(kept, 300, "as many as there are fit");
        assert_eq!(text.len(), 30_000);
        let (_, kept) = find_fitting_log(5_000, 1_000, 1_000_000, log).expect("written");
        assert_eq!(kept, 1_000, "no more than a service takes");
        attempts.borrow_mut().clear();
        let (text, kept) = find_fitting_log(1_000, 1_000, 50_000, log).expect("written");
        assert!((400..500).contains(&kept) && zipped_size(&text).expect("counted") <= 50_000, "{kept}");
        assert!(attempts.borrow().len() <= 3, "{attempts:?}");
        assert_eq!(
            find_fitting_log(10, 10, 0, log).expect("written").1,
            0,
            "even a log without results may be too long"
        );
    }

    #[test]
    fn a_log_that_compresses_well_has_all_results() {
        let (text, kept) =
            find_fitting_log(1_000, 1_000, 50_000, |most| Ok(vec![b'a'; most * 1_000])).expect("written");
        assert_eq!((text.len(), kept), (1_000_000, 1_000));
    }

    #[test]
    fn brackets_of_code_are_no_links() {
        assert_eq!(escape_brackets("x[0].get"), "x\\[0\\].get");
    }
}
