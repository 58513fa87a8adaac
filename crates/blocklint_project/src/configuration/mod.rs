//! Configuration: what the files of a project and the command line say of every run.
//!
//! A chain of files, the one that others extend first, and `--config` last. Later ones win.

mod keys;
mod origins;
mod overrides;
mod persona;
mod reader;
mod schema;
mod show;
mod source;
mod values;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::sync::Arc;

use blocklint_core::{Confidence, Severity};
use camino::{Utf8Path, Utf8PathBuf};
use toml::de::DeTable;

use self::overrides::{LABEL, given};
use self::reader::{Part, Reader};
use self::source::{beside, in_folder, kind, seems_to_hold, table, text};
use self::values::MOST_PATTERNS;
use crate::Problem;

pub use keys::{KEYS, Key, unknown as unknown_key};
pub use origins::{OptionValue, Origin};
pub use persona::Persona;
pub use schema::schema;
pub(crate) use source::{holds, is_marked, says_something};

/// Files longer than this are skipped unless configuration states otherwise, in bytes. A tree of a generated file of 50
/// MB takes gigabytes, and hand-written files stay far below.
pub const DEFAULT_MAX_FILE_SIZE: u64 = 8_000_000;

/// The file of the baseline, in the project root, unless configuration states otherwise.
pub const BASELINE_FILE: &str = "blocklint-baseline.json";

/// Files that extend one another; more are a circle, or nothing that a person follows.
const LONGEST_CHAIN: usize = 16;

/// The configuration of a project, for every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// The file it stands in, if there is one.
    pub file: Option<Utf8PathBuf>,
    /// The files that this one extends, one after the other.
    pub extended: Vec<Utf8PathBuf>,
    /// The folder from which patterns count: the project root.
    pub root: Utf8PathBuf,
    /// Model files, absolute; of folders all `*.toml` below, sorted.
    pub models: Vec<Utf8PathBuf>,
    /// The file of the baseline, absolute.
    pub baseline: Option<Utf8PathBuf>,
    /// Length of the longest file that is read, in bytes.
    pub max_file_size: u64,
    /// The settings of each file about rules, those of extended files first.
    pub rules: Vec<RuleSettings>,
    /// Rules that are not reported in some files.
    pub per_file_ignores: Vec<PerFileIgnore>,
    /// Patterns of paths that are not read.
    pub exclude: Vec<String>,
    /// More of them.
    pub extend_exclude: Vec<String>,
    /// Facts about the project that models ask for: `gevent`, or `!gevent` where the code seems to say so and it is not.
    pub switches: Vec<Setting>,
    /// How bad calls of some kinds of work are, by the name of the kind.
    pub severity: BTreeMap<String, Severity>,
    /// The least severity that is reported.
    pub min_severity: Option<Severity>,
    /// The least confidence that is reported.
    pub min_confidence: Option<Confidence>,
    /// How strict runs are, where no level says so.
    pub persona: Option<Persona>,
    /// True if comments that silence something must say why.
    pub require_reason: bool,
    /// Where each key that is not at its default was said, those that others add to first.
    pub origins: Vec<Origin>,
}

/// The settings of one file about rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleSettings {
    /// The rules that are reported; `None` where the key is absent.
    pub select: Option<Vec<Setting>>,
    /// Rules besides those.
    pub extend_select: Vec<Setting>,
    /// Rules that are not reported.
    pub ignore: Vec<Setting>,
}

/// A value of a list, with its place, for errors that are found later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The value as written.
    pub value: String,
    /// The key whose list it stands in.
    pub key: &'static str,
    /// The file it stands in, and the table.
    pub file: Arc<File>,
    /// Its line, from 1.
    pub line: u32,
}

/// A file that holds configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path, absolute; `--config` for keys of the command line.
    pub path: Utf8PathBuf,
    /// The table: `tool.blocklint`; empty where the whole file is configuration.
    pub table: &'static str,
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
            extended: Vec::new(),
            root: Utf8PathBuf::new(),
            models: Vec::new(),
            baseline: None,
            max_file_size: DEFAULT_MAX_FILE_SIZE,
            rules: Vec::new(),
            per_file_ignores: Vec::new(),
            exclude: Vec::new(),
            extend_exclude: Vec::new(),
            switches: Vec::new(),
            severity: BTreeMap::new(),
            min_severity: None,
            min_confidence: None,
            persona: None,
            require_reason: false,
            origins: Vec::new(),
        }
    }
}

/// One mistake in the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationError {
    /// The file, absolute, or `--config`.
    pub file: Utf8PathBuf,
    /// The table of the file; empty where the whole file is configuration, or does not parse.
    pub table: &'static str,
    /// Its line, from 1; 0 for the file as a whole.
    pub line: u32,
    /// The key; empty where the file does not parse.
    pub key: String,
    /// The mistake, with a suggestion where a known word is similar.
    pub message: String,
}

impl ConfigurationError {
    /// Returns a mistake of a setting that was found later.
    pub fn of_setting(setting: &Setting, message: String) -> Self {
        let File { path, table } = &*setting.file;
        ConfigurationError { file: path.clone(), table, line: setting.line, key: setting.key.to_owned(), message }
    }

    /// Returns a mistake of the command line.
    fn of_line(message: String) -> Self {
        Self::of_file(Utf8Path::new(LABEL), message)
    }

    /// Returns a file that cannot be read.
    fn of_file(file: &Utf8Path, message: String) -> Self {
        ConfigurationError { file: file.to_path_buf(), table: "", line: 0, key: String::new(), message }
    }

    /// Returns the line, with the path relative to `folder` where it lies below.
    pub fn relative_to(&self, folder: &Utf8Path) -> String {
        let file = self.file.strip_prefix(folder).unwrap_or(&self.file);
        let place = match self.line {
            0 => file.to_string(),
            _ if file == LABEL => file.to_string(),
            line => format!("{file}:{line}"),
        };
        match (self.key.as_str(), self.table) {
            ("", _) => format!("{place}: {}", self.message),
            (key, "") => format!("{place}: {key}: {}", self.message),
            (key, table) => format!("{place}: [{table}] {key}: {}", self.message),
        }
    }
}

impl fmt::Display for ConfigurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.relative_to(Utf8Path::new("")))
    }
}

impl std::error::Error for ConfigurationError {}

/// The options of a run about the configuration to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// True if files are left unread that the command line does not name.
    pub(crate) isolated: bool,
    /// The values of `--config`.
    pub(crate) given: &'a [String],
    /// The folder from which the command line's paths count.
    pub(crate) current: &'a Utf8Path,
}

impl Configuration {
    /// Reads the configuration of a project root; one without is the default.
    pub(crate) fn read(
        root: &Utf8Path,
        asked: Asked<'_>,
        problems: &mut Vec<Problem>,
    ) -> Result<Self, Vec<ConfigurationError>> {
        let given = given(asked.given, asked.current)?;
        if let (true, Some(file)) = (asked.isolated, &given.file) {
            let message = format!("`{file}` is a file, and `--isolated` reads none");
            return Err(vec![ConfigurationError::of_line(message)]);
        }
        // A file that the user names may lie anywhere; a file in a repository may not lead out of it.
        let (top, within) = match given.file {
            Some(file) => (Some(file), None),
            None if asked.isolated => (None, None),
            None => {
                let found = in_folder(root);
                if let Some(file) = &found {
                    beside(file, problems);
                }
                (found, Some(repository(root)))
            }
        };
        let mut parts = Vec::new();
        let mut next = top.map(|file| (file, None));
        while let Some((file, from)) = next.take() {
            let part = read_part(&file, within, from)?;
            if let Some((extended, error)) = &part.extend {
                if parts.iter().any(|known: &Part| known.file.path == *extended) || *extended == file {
                    return Err(vec![error.of("it leads back to a file that extends this one")]);
                }
                if parts.len() + 1 == LONGEST_CHAIN {
                    return Err(vec![error.of(format!("more than {LONGEST_CHAIN} files extend one another"))]);
                }
                next = Some((extended.clone(), Some(error.clone())));
            }
            parts.push(part);
        }
        let mut files = parts.iter().map(|part| part.file.path.clone());
        let file = files.next();
        let extended = files.collect();
        let mut configuration = Configuration { file, extended, root: root.to_path_buf(), ..Self::default() };
        for part in parts.into_iter().rev() {
            configuration.add(part)?;
        }
        for text in &given.keys {
            let file = Arc::new(File { path: Utf8PathBuf::from(LABEL), table: "" });
            configuration.add(parse_table(file, text, &crate::absolute(asked.current, Utf8Path::new("x")), None)?)?;
        }
        let patterns = configuration.exclude.len() + configuration.extend_exclude.len();
        if patterns > MOST_PATTERNS {
            let file = configuration.file.as_deref().unwrap_or(Utf8Path::new(LABEL));
            let message =
                format!("{patterns} patterns of what is not read are more than the {MOST_PATTERNS} that are read");
            return Err(vec![ConfigurationError::of_file(file, message)]);
        }
        Ok(configuration)
    }

    /// Adds what wins over all that is there.
    fn add(&mut self, part: Part) -> Result<(), Vec<ConfigurationError>> {
        if part.persona.is_some() {
            // It stands for both levels: those of other files hold no more.
            self.persona = part.persona;
            (self.min_severity, self.min_confidence) = (None, None);
        }
        for (key, line) in &part.named {
            self.comes_from(key, &part.file, *line);
        }
        let Part { models, max_file_size, rules, per_file_ignores, exclude, extend_exclude, switches, .. } = part;
        self.models = models.unwrap_or(std::mem::take(&mut self.models));
        self.max_file_size = max_file_size.unwrap_or(self.max_file_size);
        self.rules.push(rules);
        self.per_file_ignores.retain(|known| per_file_ignores.iter().all(|new| new.pattern != known.pattern));
        self.per_file_ignores.extend(per_file_ignores);
        self.exclude = exclude.unwrap_or(std::mem::take(&mut self.exclude));
        self.extend_exclude.extend(extend_exclude);
        self.switches = switches.unwrap_or(std::mem::take(&mut self.switches));
        self.severity.extend(part.severity);
        self.min_severity = part.min_severity.or(self.min_severity);
        self.min_confidence = part.min_confidence.or(self.min_confidence);
        self.require_reason = part.require_reason.unwrap_or(self.require_reason);
        if let Some((path, at)) = part.baseline {
            let Some(file) = inside(&self.root, &path) else {
                return Err(vec![at.of(format!("`{path}` is no file inside the project"))]);
            };
            self.baseline = Some(file);
        }
        Ok(())
    }
}

impl Configuration {
    /// Returns the least severity and confidence that are reported.
    pub fn levels(&self) -> (Severity, Confidence) {
        let (severity, confidence) = self.persona.unwrap_or_default().levels();
        (self.min_severity.unwrap_or(severity), self.min_confidence.unwrap_or(confidence))
    }

    /// True if what only tests, examples and command lines reach is reported.
    pub fn looks_aside(&self) -> bool {
        self.persona.is_some_and(Persona::looks_aside)
    }
}

/// Returns the folder that holds the repository around a project, else the project itself.
pub(crate) fn repository(root: &Utf8Path) -> &Utf8Path {
    root.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(root)
}

/// Returns the file at a path from a folder, where it lies below it, whatever links lead there: what a repository says
/// must not lead a command to write elsewhere.
fn inside(folder: &Utf8Path, path: &Utf8Path) -> Option<Utf8PathBuf> {
    let file = crate::absolute(folder, path);
    let is_inside = file != folder && file.starts_with(folder);
    // It need not exist yet.
    let existing = file.ancestors().find(|path| path.exists());
    (is_inside && existing.is_some_and(|path| outside(path, Some(folder)).is_none())).then_some(file)
}

/// Reads one file. `from` is the place that names it.
fn read_part(
    file: &Utf8Path,
    within: Option<&Utf8Path>,
    from: Option<ConfigurationErrorAt>,
) -> Result<Part, Vec<ConfigurationError>> {
    let failed = |message: String| match &from {
        Some(from) => vec![from.of(message)],
        None => vec![ConfigurationError::of_file(file, message)],
    };
    if let Some(outside) = outside(file, within) {
        return Err(failed(outside));
    }
    let kind = kind(file);
    let named = if from.is_some() { format!("`{file}`: ") } else { String::new() };
    let text = text(file, kind).map_err(|why| failed(format!("{named}not read: {why}")))?.unwrap_or_default();
    let mut label = File { path: file.to_path_buf(), table: "" };
    let document = match DeTable::parse(&text) {
        Ok(document) => document,
        // Another tool's manifest that is broken is not this tool's business.
        Err(_) if !seems_to_hold(kind, &text) => return Ok(Part::new(Arc::new(label))),
        Err(error) => {
            let mut reader = Reader::new(Arc::new(label), &text, file, within);
            reader.error(&error.span().unwrap_or(0..0), "", format!("not TOML: {}", error.message()));
            return Err(reader.errors());
        }
    };
    let Some((name, span, table)) = table(kind, document.get_ref()) else {
        return Ok(Part::new(Arc::new(label)));
    };
    label.table = name;
    let mut reader = Reader::new(Arc::new(label), &text, file, within);
    match table {
        Ok(table) => reader.read(table),
        Err(other) => {
            reader.error(&span, "", format!("`{name}` is a table, not {other}"));
            Err(reader.errors())
        }
    }
}

/// Reads the keys of a text that is nothing but configuration; paths count from the folder of `beside`.
fn parse_table(
    file: Arc<File>,
    text: &str,
    beside: &Utf8Path,
    within: Option<&Utf8Path>,
) -> Result<Part, Vec<ConfigurationError>> {
    let mut reader = Reader::new(file, text, beside, within);
    match DeTable::parse(text) {
        Ok(document) => reader.read(document.get_ref()),
        Err(error) => {
            reader.error(&error.span().unwrap_or(0..0), "", format!("not TOML: {}", error.message()));
            Err(reader.errors())
        }
    }
}

/// Returns the problem of a file that really lies outside of a folder, after all links are followed.
fn outside(file: &Utf8Path, within: Option<&Utf8Path>) -> Option<String> {
    let within = within?;
    let real = |path: &Utf8Path| fs::canonicalize(path).ok();
    let (real_file, real_folder) = (real(file)?, real(within)?);
    (!real_file.starts_with(real_folder)).then(|| {
        format!("`{file}` lies outside of `{within}`, from where configuration is read; name the file that asks for it: `--config FILE`")
    })
}

/// A place in a file that names another one.
#[derive(Clone, Debug)]
pub(super) struct ConfigurationErrorAt {
    file: Arc<File>,
    line: u32,
    key: &'static str,
}

impl ConfigurationErrorAt {
    fn of(&self, message: impl Into<String>) -> ConfigurationError {
        let File { path, table } = &*self.file;
        let (line, key) = (self.line, self.key.to_owned());
        ConfigurationError { file: path.clone(), table, line, key, message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Configuration, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Utf8PathBuf::from_path_buf(fs::canonicalize(folder.path()).expect("it exists")).expect("UTF-8");
        fs::write(root.join("pyproject.toml"), text).expect("written");
        let asked = Asked { isolated: false, given: &[], current: &root };
        let parsed = Configuration::read(&root, asked, &mut Vec::new());
        parsed.map_err(|errors| errors.iter().map(|error| error.relative_to(&root)).collect::<Vec<_>>().join("\n"))
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
pyproject.toml:7: [tool.blocklint] colour: unknown key `colour`; known are `extend`, `select`, `extend-select`, `ignore`, \
`per-file-ignores`, `exclude`, `extend-exclude`, `min-severity`, `min-confidence`, `persona`, `severity`, `models`, `switches`, `require-reason`, `baseline` and `max-file-size`";
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
        let values = |settings: &[Setting]| -> Vec<(String, &str, u32)> {
            settings.iter().map(|one| (one.value.clone(), one.key, one.line)).collect()
        };
        let value = |value: &str, key: &'static str, line| (value.to_owned(), key, line);
        let [rules] = read.rules.as_slice() else { panic!("one file: {:?}", read.rules) };
        assert_eq!(rules.select.as_deref().map(values), Some(vec![value("BLT1", "select", 2)]));
        assert_eq!(values(&rules.extend_select), [value("x", "extend-select", 3)]);
        assert_eq!(values(&rules.ignore), [value("a", "ignore", 5), value("b", "ignore", 6)]);
        assert_eq!((read.exclude, read.extend_exclude), (vec!["gen".to_owned()], vec!["*.py".to_owned()]));
        assert_eq!((read.min_severity, read.min_confidence), (Some(Severity::Note), Some(Confidence::High)));
        let [ignored] = read.per_file_ignores.as_slice() else { panic!("one: {:?}", read.per_file_ignores) };
        assert_eq!(
            (&*ignored.pattern, values(&ignored.rules)),
            ("tests/**", vec![value("ALL", "per-file-ignores", 12)])
        );
        assert!(read.file.is_some() && read.extended.is_empty());
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
        assert_eq!(parse("[tool.other\n").map(|read| read.file), Ok(None));
        assert!(parse("[tool.blocklint]\nmodels = [\n").expect_err("broken").starts_with("pyproject.toml:"));
    }
}
