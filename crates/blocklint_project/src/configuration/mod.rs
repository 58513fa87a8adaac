//! `[tool.blocklint]` of the project root's pyproject.toml.

mod keys;
mod values;

use std::fmt;
use std::fs;
use std::ops::Range;

use blocklint_core::{Confidence, Severity};
use camino::{Utf8Path, Utf8PathBuf};
use toml::de::{DeTable, DeValue};

use self::values::{article, file_size};
use crate::Problem;
use crate::problem::reason;

pub use keys::{KEYS, Key};

/// Files longer than this are skipped unless configuration says otherwise, in bytes. A tree of a
/// generated file of 50 MB takes gigabytes, and hand-written files stay far below.
pub const DEFAULT_MAX_FILE_SIZE: u64 = 8_000_000;

/// What the project asks of every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// The file it stands in, if there is one.
    pub file: Option<Utf8PathBuf>,
    /// Model files, absolute; of folders all `*.toml` below, sorted.
    pub models: Vec<Utf8PathBuf>,
    /// The file of the baseline, absolute.
    pub baseline: Option<Utf8PathBuf>,
    /// Length of the longest file that is read, in bytes.
    pub max_file_size: u64,
    /// The rules that are reported; `None` where the key is absent.
    pub select: Option<Vec<Setting>>,
    /// Rules besides those.
    pub extend_select: Vec<Setting>,
    /// Rules that are not reported.
    pub ignore: Vec<Setting>,
    /// Rules that are not reported in some files.
    pub per_file_ignores: Vec<PerFileIgnore>,
    /// Patterns of what is not read.
    pub exclude: Vec<String>,
    /// More of them.
    pub extend_exclude: Vec<String>,
    /// Facts about the project that models ask for: `gevent`, or `!gevent` where the code seems to say so and it is not.
    pub switches: Vec<Setting>,
    /// The least severity that is reported.
    pub min_severity: Option<Severity>,
    /// The least confidence that is reported.
    pub min_confidence: Option<Confidence>,
}

/// A value of a list, with its place, for errors that are found later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The value as written.
    pub value: String,
    /// The key whose list it stands in.
    pub key: String,
    /// Its line, from 1.
    pub line: u32,
}

/// An entry of `per-file-ignores`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerFileIgnore {
    /// The pattern as written.
    pub pattern: String,
    /// The rules.
    pub rules: Vec<Setting>,
}

impl Default for Configuration {
    fn default() -> Self {
        Configuration {
            file: None,
            models: Vec::new(),
            baseline: None,
            max_file_size: DEFAULT_MAX_FILE_SIZE,
            select: None,
            extend_select: Vec::new(),
            ignore: Vec::new(),
            per_file_ignores: Vec::new(),
            exclude: Vec::new(),
            extend_exclude: Vec::new(),
            switches: Vec::new(),
            min_severity: None,
            min_confidence: None,
        }
    }
}

/// One mistake in the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationError {
    /// The file, absolute.
    pub file: Utf8PathBuf,
    /// Its line, from 1.
    pub line: u32,
    /// The key; empty where the file does not parse.
    pub key: String,
    /// What is wrong, with a suggestion where one is near.
    pub message: String,
}

impl ConfigurationError {
    /// The line, with the path relative to `folder` where it lies below.
    pub fn relative_to(&self, folder: &Utf8Path) -> String {
        let file = self.file.strip_prefix(folder).unwrap_or(&self.file);
        let place = format!("{file}:{}", self.line);
        match self.key.as_str() {
            "" => format!("{place}: {}", self.message),
            key => format!("{place}: [tool.blocklint] {key}: {}", self.message),
        }
    }
}

impl fmt::Display for ConfigurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.relative_to(Utf8Path::new("")))
    }
}

impl std::error::Error for ConfigurationError {}

impl Configuration {
    /// Reads the configuration of a project root; one without is the default.
    pub(crate) fn read(root: &Utf8Path, problems: &mut Vec<Problem>) -> Result<Self, Vec<ConfigurationError>> {
        let own = root.join("blocklint.toml");
        if fs::read_to_string(&own).is_ok_and(|text| !text.trim().is_empty()) {
            let message = "not read: configuration stands under `[tool.blocklint]` in pyproject.toml";
            problems.push(Problem::new(own.as_std_path(), message));
        }
        let file = root.join("pyproject.toml");
        if !file.is_file() {
            return Ok(Self::default());
        }
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) => {
                problems.push(Problem::new(file.as_std_path(), format!("not read: {}", reason(&error))));
                return Ok(Self::default());
            }
        };
        Self::parse(&file, &text)
    }

    fn parse(file: &Utf8Path, text: &str) -> Result<Self, Vec<ConfigurationError>> {
        let mut reader = Reader { file, text, errors: Vec::new() };
        let document = match DeTable::parse(text) {
            Ok(document) => document,
            // Another tool's pyproject.toml that is broken is not this tool's business.
            Err(_) if !text.contains("[tool.blocklint") => return Ok(Self::default()),
            Err(error) => {
                reader.error(&error.span().unwrap_or(0..0), "", format!("not TOML: {}", error.message()));
                return Err(reader.errors);
            }
        };
        let tool = document.get_ref().get("tool").and_then(|tool| tool.get_ref().as_table());
        let Some((name, value)) = tool.and_then(|tool| tool.get_key_value("blocklint")) else {
            return Ok(Self::default());
        };
        let mut configuration = Configuration { file: Some(file.to_path_buf()), ..Self::default() };
        match value.get_ref() {
            DeValue::Table(table) => reader.table(table, &mut configuration),
            other => reader.error(&name.span(), "", format!("`tool.blocklint` is a table, not {}", article(other))),
        }
        if reader.errors.is_empty() { Ok(configuration) } else { Err(reader.errors) }
    }
}

/// Collects every mistake of one file.
struct Reader<'a> {
    file: &'a Utf8Path,
    text: &'a str,
    errors: Vec<ConfigurationError>,
}

impl Reader<'_> {
    fn error(&mut self, span: &Range<usize>, key: &str, message: impl Into<String>) {
        let line = self.line(span.start);
        let (file, key, message) = (self.file.to_path_buf(), key.to_owned(), message.into());
        self.errors.push(ConfigurationError { file, line, key, message });
    }

    /// The line of an offset, from 1.
    fn line(&self, offset: usize) -> u32 {
        let before = self.text.as_bytes().get(..offset).unwrap_or_default();
        before.iter().filter(|byte| **byte == b'\n').count() as u32 + 1
    }

    fn table(&mut self, table: &DeTable<'_>, configuration: &mut Configuration) {
        let mut entries = table.iter().collect::<Vec<_>>();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let (name, span) = (key.get_ref().as_ref(), value.span());
            match name {
                "models" => configuration.models = self.models(value.get_ref(), &span),
                "baseline" => configuration.baseline = self.baseline(value.get_ref(), &span),
                "max-file-size" => match file_size(value.get_ref()) {
                    Ok(size) => configuration.max_file_size = size,
                    Err(message) => self.error(&span, name, message),
                },
                "select" => configuration.select = Some(self.rules(name, value.get_ref(), &span)),
                "extend-select" => configuration.extend_select = self.rules(name, value.get_ref(), &span),
                "ignore" => configuration.ignore = self.rules(name, value.get_ref(), &span),
                "per-file-ignores" => {
                    configuration.per_file_ignores = self.per_file_ignores(name, value.get_ref(), &span);
                }
                "exclude" => configuration.exclude = self.patterns(name, value.get_ref(), &span),
                "extend-exclude" => configuration.extend_exclude = self.patterns(name, value.get_ref(), &span),
                "switches" => configuration.switches = self.rules(name, value.get_ref(), &span),
                "min-severity" => configuration.min_severity = self.severity(name, value.get_ref(), &span),
                "min-confidence" => configuration.min_confidence = self.confidence(name, value.get_ref(), &span),
                _ => self.error(&key.span(), name, keys::unknown(name)),
            }
        }
    }

    /// A file inside the project: what a repository says must not lead a command to write elsewhere.
    fn baseline(&mut self, value: &DeValue<'_>, span: &Range<usize>) -> Option<Utf8PathBuf> {
        let DeValue::String(path) = value else {
            self.error(span, "baseline", format!("expected a path, found {}", article(value)));
            return None;
        };
        let folder = self.file.parent()?;
        let file = crate::root::absolute(folder, Utf8Path::new(path.as_ref()));
        if file == folder || !file.starts_with(folder) {
            self.error(span, "baseline", format!("`{path}` is no file inside the project"));
            return None;
        }
        Some(file)
    }

    fn models(&mut self, value: &DeValue<'_>, span: &Range<usize>) -> Vec<Utf8PathBuf> {
        let mut files = Vec::new();
        match value {
            DeValue::String(path) => self.model(path, span, &mut files),
            DeValue::Array(paths) => {
                for path in paths.iter() {
                    match path.get_ref() {
                        DeValue::String(text) => self.model(text, &path.span(), &mut files),
                        other => {
                            self.error(&path.span(), "models", format!("expected a path, found {}", article(other)))
                        }
                    }
                }
            }
            other => {
                let message = format!("expected a path or a list of paths, found {}", article(other));
                self.error(span, "models", message);
            }
        }
        files
    }

    fn model(&mut self, path: &str, span: &Range<usize>, files: &mut Vec<Utf8PathBuf>) {
        let folder = self.file.parent().unwrap_or(Utf8Path::new(""));
        let full = crate::absolute(folder, Utf8Path::new(path));
        if full.is_file() {
            files.push(full);
            return;
        }
        let before = files.len();
        if let Err(error) = toml_files(&full, files) {
            self.error(span, "models", format!("`{path}`: {}", reason(&error)));
        } else if files.len() == before {
            self.error(span, "models", format!("`{path}`: no `*.toml` file lies in this folder"));
        }
    }
}

/// All `*.toml` below a folder, in order of their paths. Links to folders are not followed.
fn toml_files(folder: &Utf8Path, files: &mut Vec<Utf8PathBuf>) -> std::io::Result<()> {
    let mut entries = folder.read_dir_utf8()?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by(|a, b| a.file_name().cmp(b.file_name()));
    for entry in entries {
        if entry.file_type()?.is_dir() {
            toml_files(entry.path(), files)?;
        } else if entry.path().extension() == Some("toml") {
            files.push(entry.path().to_path_buf());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Configuration, String> {
        let parsed = Configuration::parse(Utf8Path::new("/p/pyproject.toml"), text);
        parsed.map_err(|errors| {
            errors.iter().map(|error| error.relative_to(Utf8Path::new("/p"))).collect::<Vec<_>>().join("\n")
        })
    }

    #[test]
    fn sizes_in_bytes_and_units() {
        let size = |value: &str| parse(&format!("[tool.blocklint]\nmax-file-size = {value}")).map(|c| c.max_file_size);
        assert_eq!(size("100"), Ok(100));
        assert_eq!(size("0x10"), Ok(16));
        assert_eq!(size("\"2 MB\""), Ok(2_000_000));
        assert_eq!(size("\"1KiB\""), Ok(1024));
        for wrong in ["0", "-1", "\"8 XB\"", "\"MB\"", "\"5GB\"", "true", "1.5", "\"99999999999999999999\""] {
            let error = size(wrong).expect_err(wrong);
            assert!(error.starts_with("pyproject.toml:2: [tool.blocklint] max-file-size: expected"), "{error}");
        }
    }

    #[test]
    fn every_unknown_key_is_an_error_at_its_place() {
        let error = parse(
            "[project]\nname = 'x'\n[tool.blocklint]\nmodls = []\nmax_file_size = 1\nextend-ignore = []\ncolour = 1\n",
        );
        let expected = "pyproject.toml:4: [tool.blocklint] modls: unknown key `modls`; did you mean `models`?
pyproject.toml:5: [tool.blocklint] max_file_size: unknown key `max_file_size`; did you mean `max-file-size`?
pyproject.toml:6: [tool.blocklint] extend-ignore: unknown key `extend-ignore`; did you mean `ignore`?
pyproject.toml:7: [tool.blocklint] colour: unknown key `colour`; known are `select`, `extend-select`, `ignore`, \
`per-file-ignores`, `exclude`, `extend-exclude`, `min-severity`, `min-confidence`, `models`, `switches` and `max-file-size`";
        assert_eq!(error, Err(expected.to_owned()));
    }

    #[test]
    fn wrong_types_and_missing_models_are_errors() {
        let error = parse("[tool.blocklint]\nmodels = [1, \"nowhere\"]\n").expect_err("wrong");
        assert_eq!(
            error,
            "pyproject.toml:2: [tool.blocklint] models: expected a path, found an integer\n\
             pyproject.toml:2: [tool.blocklint] models: `nowhere`: No such file or directory"
        );
        assert!(parse("tool.blocklint = 1\n").expect_err("wrong").contains("is a table, not an integer"));
    }

    #[test]
    fn every_key_is_read() {
        let read = parse(
            "[tool.blocklint]\nselect = ['BLT1']\nextend-select = ['x']\nignore = [\n  'a',\n  'b']\nexclude = ['gen']\n\
             extend-exclude = ['*.py']\nmin-severity = 'note'\nmin-confidence = 'high'\n\
             [tool.blocklint.per-file-ignores]\n'tests/**' = ['ALL']\n",
        )
        .expect("all of it is right");
        let setting = |value: &str, key: &str, line| Setting { value: value.to_owned(), key: key.to_owned(), line };
        assert_eq!(read.select, Some(vec![setting("BLT1", "select", 2)]));
        assert_eq!(read.extend_select, [setting("x", "extend-select", 3)]);
        assert_eq!(read.ignore, [setting("a", "ignore", 5), setting("b", "ignore", 6)]);
        assert_eq!((read.exclude, read.extend_exclude), (vec!["gen".to_owned()], vec!["*.py".to_owned()]));
        assert_eq!((read.min_severity, read.min_confidence), (Some(Severity::Note), Some(Confidence::High)));
        let rules = vec![setting("ALL", "per-file-ignores", 12)];
        assert_eq!(read.per_file_ignores, [PerFileIgnore { pattern: "tests/**".to_owned(), rules }]);
    }

    #[test]
    fn wrong_values_are_errors_at_their_place() {
        let error = parse(
            "[tool.blocklint]\nselect = 'BLT1'\nignore = ['a', 3]\nexclude = ['a/{b']\nmin-severity = 'errror'\n\
             min-confidence = 1\nper-file-ignores = []\n",
        )
        .expect_err("all of it is wrong");
        let expected = "pyproject.toml:2: [tool.blocklint] select: expected a list of rules, found a string
pyproject.toml:3: [tool.blocklint] ignore: expected a rule, found an integer
pyproject.toml:4: [tool.blocklint] exclude: `a/{b` is no pattern: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)
pyproject.toml:5: [tool.blocklint] min-severity: `\"errror\"` is none of `\"note\"`, `\"warning\"`, `\"error\"`; did you mean `\"error\"`?
pyproject.toml:6: [tool.blocklint] min-confidence: expected one of `\"low\"`, `\"medium\"`, `\"high\"`, found an integer
pyproject.toml:7: [tool.blocklint] per-file-ignores: expected a table from patterns to lists of rules, found an array";
        assert_eq!(error, expected);
    }

    #[test]
    fn a_broken_file_is_told_only_if_it_configures_blocklint() {
        assert_eq!(parse("[tool.other\n"), Ok(Configuration::default()));
        assert!(parse("[tool.blocklint]\nmodels = [\n").expect_err("broken").starts_with("pyproject.toml:"));
    }
}
