//! Reads and writes the file of a baseline. It is JSON with one sorted line for each entry, so that diffs and merges
//! are small.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::{fs, io};

use blocklint_core::UnreadFile;
use blocklint_core::{Confidence, RuleCode, Severity};
use blocklint_project::read;
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use super::{Baseline, BaselineKey, Coverage};
use crate::choose::Levels;

/// The version of the format. Files of another version are refused.
const VERSION: u32 = 1;

/// The reason why a baseline cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineError {
    /// The file.
    pub path: Utf8PathBuf,
    /// The line of the mistake, from 1, if it is known.
    pub line: Option<usize>,
    /// The mistake.
    pub message: String,
}

impl BaselineError {
    /// Returns the message with its file and line. The path is relative to `folder` if the file is below it.
    pub fn relative_to(&self, folder: &Utf8Path) -> String {
        let path = self.path.strip_prefix(folder).unwrap_or(&self.path);
        match self.line {
            Some(line) => format!("{path}:{line}: {}", self.message),
            None => format!("{path}: {}", self.message),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Document {
    #[serde(rename = "version")]
    _version: u32,
    min_severity: String,
    min_confidence: String,
    #[serde(default)]
    include_aside: bool,
    findings: BTreeMap<String, Vec<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    rule: String,
    function: String,
    cause: String,
    count: u32,
}

/// The greatest size of a file in bytes. A million findings need less.
const MAX_SIZE: u64 = 256_000_000;

/// The version of a document of any version, which is read first so that the error can name it.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl Baseline {
    /// Reads a baseline; `Ok(None)` if there is no such file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is no baseline of this version.
    pub fn read(path: &Utf8Path) -> Result<Option<Self>, BaselineError> {
        let unread = |message: String| BaselineError { path: path.to_owned(), line: None, message };
        if fs::metadata(path).is_err_and(|why| why.kind() == io::ErrorKind::NotFound) {
            return Ok(None);
        }
        let bytes = read(path, MAX_SIZE).map_err(|why| match why {
            UnreadFile::Unreadable(why) => unread(format!("the baseline cannot be read: {why}")),
            UnreadFile::TooLarge { size, .. } => unread(format!("{size} bytes are no baseline")),
        })?;
        Self::parse(path, &String::from_utf8_lossy(&bytes)).map(Some)
    }

    /// Parses the text of a baseline; `path` is for error messages.
    ///
    /// # Errors
    ///
    /// If the text is no baseline of this version.
    pub fn parse(path: &Utf8Path, text: &str) -> Result<Self, BaselineError> {
        let error = |line: Option<usize>, message: String| BaselineError { path: path.to_owned(), line, message };
        if let Ok(Versioned { version }) = serde_json::from_str(text)
            && version != VERSION
        {
            let message = format!("a baseline of version {version}; this blocklint reads version {VERSION}");
            return Err(error(None, message));
        }
        let document: Document = serde_json::from_str(text).map_err(|why| {
            // An unresolved merge is the usual reason.
            let conflict = text.lines().any(|line| line.starts_with("<<<<<<<"));
            let hint = if conflict { "; it has conflict markers: keep the lines of both sides" } else { "" };
            error(Some(why.line()), format!("not a baseline: {}{hint}", message_without_place(&why)))
        })?;
        let mut entries = BTreeMap::new();
        for (file, file_entries) in document.findings {
            for Entry { rule, function, cause, count } in file_entries {
                let Some(rule) = RuleCode::parse(&rule) else {
                    return Err(error(None, format!("not a baseline: `{rule}` is no rule")));
                };
                if count > 0 {
                    *entries.entry(BaselineKey { file: file.clone(), rule, function, cause }).or_default() += count;
                }
            }
        }
        let levels = Severity::parse(&document.min_severity).zip(Confidence::parse(&document.min_confidence));
        let levels = levels.ok_or_else(|| {
            error(None, "not a baseline: `min-severity` or `min-confidence` is not a known level".to_owned())
        })?;
        let (severity, confidence) = levels;
        let coverage = Coverage { levels: Levels { severity, confidence }, aside: document.include_aside };
        Ok(Baseline { coverage, entries })
    }

    /// Returns the text of the file.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{{\n  \"version\": {VERSION},\n  \"min-severity\": \"{}\",\n  \"min-confidence\": \"{}\",\n{}  \"findings\": {{",
            self.coverage.levels.severity,
            self.coverage.levels.confidence,
            if self.coverage.aside { "  \"include-aside\": true,\n" } else { "" }
        );
        let mut file: Option<&str> = None;
        for (key, count) in &self.entries {
            if file == Some(&key.file) {
                text.push(',');
            } else {
                let end = if file.is_some() { "\n    ]," } else { "" };
                let _ = write!(text, "{end}\n    {}: [", json_string(&key.file));
                file = Some(&key.file);
            }
            let (function, cause) = (json_string(&key.function), json_string(&key.cause));
            let rule = key.rule;
            let _ = write!(
                text,
                "\n      {{ \"rule\": \"{rule}\", \"function\": {function}, \"cause\": {cause}, \"count\": {count} }}"
            );
        }
        text.push_str(if file.is_some() { "\n    ]\n  }\n}\n" } else { "}\n}\n" });
        text
    }
}

fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns the message without its line and column, because [`BaselineError`] has the line already.
fn message_without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(file: &str, rule: u16, function: &str) -> BaselineKey {
        let (file, function) = (file.to_owned(), function.to_owned());
        BaselineKey { file, rule: RuleCode(rule), function, cause: "time.sleep".to_owned() }
    }

    fn baseline() -> Baseline {
        let entries =
            [(key("b.py", 101, "b.f"), 2), (key("a\"é.py", 102, "a.<lambda>"), 1), (key("b.py", 101, "b.e"), 1)];
        let levels = Levels { severity: Severity::Note, confidence: Confidence::Low };
        Baseline { coverage: Coverage { levels, aside: true }, entries: entries.into() }
    }

    #[test]
    fn a_written_baseline_reads_equal_and_has_a_line_for_each_entry() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = Utf8Path::from_path(folder.path()).expect("UTF-8").join("b.json");
        assert_eq!(Baseline::read(&path), Ok(None));
        let empty = Baseline { entries: BTreeMap::new(), ..baseline() };
        for written_baseline in [baseline(), empty] {
            fs::write(&path, written_baseline.text()).expect("written");
            assert_eq!(Baseline::read(&path), Ok(Some(written_baseline)));
        }
        let text = baseline().text();
        assert_eq!(text.lines().filter(|line| line.contains("\"rule\"")).count(), 3, "{text}");
        assert!(text.find("b.e") < text.find("b.f"), "{text}");
    }

    #[test]
    fn errors_name_the_file_and_the_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = Utf8Path::from_path(folder.path()).expect("UTF-8").join("b.json");
        let error_of = |text: &str| {
            fs::write(&path, text).expect("written");
            Baseline::read(&path).expect_err("no baseline").relative_to(path.parent().expect("a folder"))
        };
        assert_eq!(error_of("{\"version\": 7}"), "b.json: a baseline of version 7; this blocklint reads version 1");
        assert!(error_of("{\n").starts_with("b.json:2: not a baseline: EOF"), "{}", error_of("{\n"));
        let conflict = baseline().text().replace("    \"b.py\"", "<<<<<<< main\n    \"b.py\"");
        assert!(error_of(&conflict).ends_with("keep the lines of both sides"), "{}", error_of(&conflict));
        assert!(error_of(&baseline().text().replace("BLT101", "E501")).ends_with("`E501` is no rule"));
    }
}
