//! The configuration of a project: `blocklint.toml` and tables of manifests, the files that they extend, and
//! `--config`.
//!
//! The files form a chain. Settings of an extended file come first and those of `--config` last; later ones win.

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

use self::overrides::{LABEL, parse_overrides};
use self::reader::{FileSettings, Reader};
use self::source::{configuration_file, configuration_table, file_kind, read_text, report_unread_files, seems_to_hold};
use self::values::MAX_PATTERNS;
use crate::Problem;

pub use keys::{KEYS, Key, unknown as unknown_key};
pub use origins::{OptionValue, Origin};
pub use persona::Persona;
pub use schema::schema;
pub(crate) use source::{has_configuration, has_settings, is_project_folder};

/// The default of `max-file-size`, in bytes. Hand-written files are far smaller, and the syntax tree of a generated
/// file of 50 MB needs gigabytes.
pub const DEFAULT_MAX_FILE_SIZE: u64 = 8_000_000;

/// The default name of the baseline's file, in the project root.
pub const BASELINE_FILE: &str = "blocklint-baseline.json";

/// The greatest number of files that extend one another.
const MAX_CHAIN: usize = 16;

/// The configuration of a project, for every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// The file of the configuration, if there is one.
    pub file: Option<Utf8PathBuf>,
    /// The files that it extends, directly or indirectly, the nearest first.
    pub extended: Vec<Utf8PathBuf>,
    /// The project root, to which patterns are relative.
    pub root: Utf8PathBuf,
    /// Model files, absolute. A folder in the configuration is replaced by all `*.toml` below it, sorted.
    pub models: Vec<Utf8PathBuf>,
    /// The file of the baseline, absolute.
    pub baseline: Option<Utf8PathBuf>,
    /// The greatest size of a source file that is read, in bytes.
    pub max_file_size: u64,
    /// The rule settings of each file, those of extended files first.
    pub rules: Vec<RuleSettings>,
    /// Rules that are not reported in files matching a pattern.
    pub per_file_ignores: Vec<PerFileIgnore>,
    /// Patterns of paths that are not read (`exclude`).
    pub exclude: Vec<String>,
    /// Further patterns of paths that are not read (`extend-exclude`).
    pub extend_exclude: Vec<String>,
    /// Switches of models that are on (`gevent`), or off (`!gevent`) although the code seems to turn them on.
    pub switches: Vec<Setting>,
    /// The severity of kinds of work, by the name of the kind.
    pub severity: BTreeMap<String, Severity>,
    /// The least severity that is reported.
    pub min_severity: Option<Severity>,
    /// The least confidence that is reported.
    pub min_confidence: Option<Confidence>,
    /// The persona, which decides the levels that are not set.
    pub persona: Option<Persona>,
    /// True if suppression comments must have a reason.
    pub require_reason: bool,
    /// The places at which keys are set. A key that is missing here has its default.
    pub origins: Vec<Origin>,
}

/// The rule settings of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleSettings {
    /// The rules that are reported; `None` if the key is absent.
    pub select: Option<Vec<Setting>>,
    /// Rules that are reported in addition.
    pub extend_select: Vec<Setting>,
    /// Rules that are not reported.
    pub ignore: Vec<Setting>,
}

/// A value of a list, with its place for later error messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The value as written.
    pub value: String,
    /// The key of the list.
    pub key: &'static str,
    /// The file and table of the list.
    pub file: Arc<File>,
    /// The line of the value, from 1.
    pub line: u32,
}

/// A file with configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path, absolute; `--config` for keys of the command line.
    pub path: Utf8PathBuf,
    /// The table with the configuration: `tool.blocklint`; empty if the whole file is configuration.
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

/// A mistake in the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationError {
    /// The file, absolute, or `--config`.
    pub file: Utf8PathBuf,
    /// The table of the file; empty if the whole file is configuration, or if it does not parse.
    pub table: &'static str,
    /// The line of the mistake, from 1; 0 if it concerns the whole file.
    pub line: u32,
    /// The key; empty if the file does not parse.
    pub key: String,
    /// The message, with a suggestion if a known word is similar.
    pub message: String,
}

impl ConfigurationError {
    /// Returns a mistake in a setting, found after the configuration was read.
    pub fn of_setting(setting: &Setting, message: String) -> Self {
        let File { path, table } = &*setting.file;
        ConfigurationError { file: path.clone(), table, line: setting.line, key: setting.key.to_owned(), message }
    }

    /// Returns a mistake in a value of `--config`.
    fn of_command_line(message: String) -> Self {
        Self::of_file(Utf8Path::new(LABEL), message)
    }

    /// Returns a mistake that concerns a whole file.
    fn of_file(file: &Utf8Path, message: String) -> Self {
        ConfigurationError { file: file.to_path_buf(), table: "", line: 0, key: String::new(), message }
    }

    /// Returns the message with its place. The path is relative to `folder` if the file is below it.
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

/// The options that decide which configuration is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadRequest<'a> {
    /// True if only `--config` is read (`--isolated`).
    pub(crate) isolated: bool,
    /// The values of `--config`.
    pub(crate) overrides: &'a [String],
    /// The folder to which paths of the command line are relative.
    pub(crate) current: &'a Utf8Path,
}

impl Configuration {
    /// Reads the configuration of a project root; returns the default if it has none.
    pub(crate) fn read(
        root: &Utf8Path,
        request: ReadRequest<'_>,
        problems: &mut Vec<Problem>,
    ) -> Result<Self, Vec<ConfigurationError>> {
        let overrides = parse_overrides(request.overrides, request.current)?;
        if let (true, Some(file)) = (request.isolated, &overrides.file) {
            let message = format!("`{file}` is a file, and `--isolated` reads none");
            return Err(vec![ConfigurationError::of_command_line(message)]);
        }
        // A file of `--config` may be anywhere; paths in a repository's file may not lead out of the repository.
        let (top, within) = match overrides.file {
            Some(file) => (Some(file), None),
            None if request.isolated => (None, None),
            None => {
                let file = configuration_file(root);
                if let Some(file) = &file {
                    report_unread_files(file, problems);
                }
                (file, Some(repository(root)))
            }
        };
        let mut parts = Vec::new();
        let mut next = top.map(|file| (file, None));
        while let Some((file, from)) = next.take() {
            let part = read_part(&file, within, from)?;
            if let Some((extended, place)) = &part.extend {
                if parts.iter().any(|known: &FileSettings| known.file.path == *extended) || *extended == file {
                    return Err(vec![place.error("it leads back to a file that extends this one")]);
                }
                if parts.len() + 1 == MAX_CHAIN {
                    return Err(vec![place.error(format!("more than {MAX_CHAIN} files extend one another"))]);
                }
                next = Some((extended.clone(), Some(place.clone())));
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
        for text in &overrides.keys {
            let file = Arc::new(File { path: Utf8PathBuf::from(LABEL), table: "" });
            configuration.add(parse_table(file, text, &crate::absolute(request.current, Utf8Path::new("x")), None)?)?;
        }
        let patterns = configuration.exclude.len() + configuration.extend_exclude.len();
        if patterns > MAX_PATTERNS {
            let file = configuration.file.as_deref().unwrap_or(Utf8Path::new(LABEL));
            let message =
                format!("{patterns} patterns of excluded files are more than the {MAX_PATTERNS} that are read");
            return Err(vec![ConfigurationError::of_file(file, message)]);
        }
        Ok(configuration)
    }

    /// Adds the settings of a file, which win over those that were added before.
    fn add(&mut self, part: FileSettings) -> Result<(), Vec<ConfigurationError>> {
        if part.persona.is_some() {
            // A persona sets both levels, so it replaces the levels of earlier files.
            self.persona = part.persona;
            (self.min_severity, self.min_confidence) = (None, None);
        }
        for (key, line) in &part.keys {
            self.add_origin(key, &part.file, *line);
        }
        let FileSettings { models, max_file_size, rules, per_file_ignores, exclude, extend_exclude, switches, .. } =
            part;
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
        if let Some((path, place)) = part.baseline {
            let Some(file) = file_inside(&self.root, &path) else {
                return Err(vec![place.error(format!("`{path}` is no file inside the project"))]);
            };
            self.baseline = Some(file);
        }
        Ok(())
    }
}

impl Configuration {
    /// Returns the least severity and confidence of reported findings.
    pub fn levels(&self) -> (Severity, Confidence) {
        let (severity, confidence) = self.persona.unwrap_or_default().levels();
        (self.min_severity.unwrap_or(severity), self.min_confidence.unwrap_or(confidence))
    }

    /// True if findings that only tests, examples and command lines reach are reported too.
    pub fn looks_aside(&self) -> bool {
        self.persona.is_some_and(Persona::looks_aside)
    }
}

/// Returns the root of the git repository that contains a project, or the project root if there is none.
pub(crate) fn repository(root: &Utf8Path) -> &Utf8Path {
    root.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(root)
}

/// Returns the absolute path of a file, if it is below a folder even when symbolic links are followed. Otherwise a path
/// in a repository's configuration could make a command write elsewhere.
fn file_inside(folder: &Utf8Path, path: &Utf8Path) -> Option<Utf8PathBuf> {
    let file = crate::absolute(folder, path);
    let is_inside = file != folder && file.starts_with(folder);
    // The file need not exist yet, so its nearest existing folder is checked.
    let existing = file.ancestors().find(|path| path.exists());
    (is_inside && existing.is_some_and(|path| error_if_outside(path, Some(folder)).is_none())).then_some(file)
}

/// Reads one file. `from` is the place of the `extend` that names it.
fn read_part(
    file: &Utf8Path,
    within: Option<&Utf8Path>,
    from: Option<SettingPlace>,
) -> Result<FileSettings, Vec<ConfigurationError>> {
    let errors = |message: String| match &from {
        Some(from) => vec![from.error(message)],
        None => vec![ConfigurationError::of_file(file, message)],
    };
    if let Some(message) = error_if_outside(file, within) {
        return Err(errors(message));
    }
    let kind = file_kind(file);
    let prefix = if from.is_some() { format!("`{file}`: ") } else { String::new() };
    let text = read_text(file, kind).map_err(|why| errors(format!("{prefix}not read: {why}")))?.unwrap_or_default();
    let mut label = File { path: file.to_path_buf(), table: "" };
    let document = match DeTable::parse(&text) {
        Ok(document) => document,
        // A broken manifest without our table is left to the tool that it belongs to.
        Err(_) if !seems_to_hold(kind, &text) => return Ok(FileSettings::new(Arc::new(label))),
        Err(error) => {
            let mut reader = Reader::new(Arc::new(label), &text, file, within);
            reader.error(&error.span().unwrap_or(0..0), "", format!("not TOML: {}", error.message()));
            return Err(reader.errors());
        }
    };
    let Some((name, span, table)) = configuration_table(kind, document.get_ref()) else {
        return Ok(FileSettings::new(Arc::new(label)));
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

/// Reads a text that has only configuration; paths are relative to the folder of `base_file`.
fn parse_table(
    file: Arc<File>,
    text: &str,
    base_file: &Utf8Path,
    within: Option<&Utf8Path>,
) -> Result<FileSettings, Vec<ConfigurationError>> {
    let mut reader = Reader::new(file, text, base_file, within);
    match DeTable::parse(text) {
        Ok(document) => reader.read(document.get_ref()),
        Err(error) => {
            reader.error(&error.span().unwrap_or(0..0), "", format!("not TOML: {}", error.message()));
            Err(reader.errors())
        }
    }
}

/// Returns the error message if a file is outside of a folder, with symbolic links followed.
fn error_if_outside(file: &Utf8Path, within: Option<&Utf8Path>) -> Option<String> {
    let within = within?;
    let real = |path: &Utf8Path| fs::canonicalize(path).ok();
    let (real_file, real_folder) = (real(file)?, real(within)?);
    (!real_file.starts_with(real_folder)).then(|| {
        format!(
            "`{file}` is outside of `{within}`, to which configuration is limited; pass the file that refers to it \
                 by `--config FILE`"
        )
    })
}

/// The place of a setting that names a file, for errors about this file.
#[derive(Clone, Debug)]
pub(super) struct SettingPlace {
    file: Arc<File>,
    line: u32,
    key: &'static str,
}

impl SettingPlace {
    fn error(&self, message: impl Into<String>) -> ConfigurationError {
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
        let request = ReadRequest { isolated: false, overrides: &[], current: &root };
        let parsed = Configuration::read(&root, request, &mut Vec::new());
        parsed.map_err(|errors| errors.iter().map(|error| error.relative_to(&root)).collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn max_file_size_is_bytes_or_has_a_unit() {
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
    fn a_broken_file_is_an_error_only_if_it_configures_blocklint() {
        assert_eq!(parse("[tool.other\n").map(|read| read.file), Ok(None));
        assert!(parse("[tool.blocklint]\nmodels = [\n").expect_err("broken").starts_with("pyproject.toml:"));
    }
}
