//! One table of configuration, key by key, with every mistake in it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use blocklint_core::{Confidence, Severity};
use camino::{Utf8Path, Utf8PathBuf};
use toml::de::{DeTable, DeValue};

use super::values::{LARGEST_FOUND, article, file_size};
use super::{
    ConfigurationError, ConfigurationErrorAt, File, PerFileIgnore, Persona, RuleSettings, Setting, keys, outside,
};
use crate::problem::reason;

/// Mistakes that are told; a file with more is none that a person wrote.
const MOST_ERRORS: usize = 50;

/// The content of one file.
pub(super) struct Part {
    pub(super) file: Arc<File>,
    /// The keys that it names, and their lines.
    pub(super) named: Vec<(&'static str, u32)>,
    /// The file it extends, absolute, and where it says so.
    pub(super) extend: Option<(Utf8PathBuf, ConfigurationErrorAt)>,
    pub(super) models: Option<Vec<Utf8PathBuf>>,
    /// The baseline as it is written, from the project root, and where that stands.
    pub(super) baseline: Option<(Utf8PathBuf, ConfigurationErrorAt)>,
    pub(super) max_file_size: Option<u64>,
    pub(super) rules: RuleSettings,
    pub(super) per_file_ignores: Vec<PerFileIgnore>,
    pub(super) exclude: Option<Vec<String>>,
    pub(super) extend_exclude: Vec<String>,
    pub(super) switches: Option<Vec<Setting>>,
    pub(super) severity: BTreeMap<String, Severity>,
    pub(super) min_severity: Option<Severity>,
    pub(super) min_confidence: Option<Confidence>,
    pub(super) persona: Option<Persona>,
    pub(super) require_reason: Option<bool>,
}

impl Part {
    /// Returns a file that shows nothing.
    pub(super) fn new(file: Arc<File>) -> Self {
        Part {
            file,
            named: Vec::new(),
            extend: None,
            models: None,
            baseline: None,
            max_file_size: None,
            rules: RuleSettings::default(),
            per_file_ignores: Vec::new(),
            exclude: None,
            extend_exclude: Vec::new(),
            switches: None,
            severity: BTreeMap::new(),
            min_severity: None,
            min_confidence: None,
            persona: None,
            require_reason: None,
        }
    }
}

/// Collects every mistake of one file.
pub(super) struct Reader<'a> {
    pub(super) file: Arc<File>,
    /// Where each line of the text begins.
    lines: Vec<usize>,
    /// The file beside which relative paths lie.
    beside: &'a Utf8Path,
    /// The folder out of which no path may lead.
    within: Option<&'a Utf8Path>,
    errors: Vec<ConfigurationError>,
    /// Mistakes that are not told.
    more: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: Arc<File>, text: &str, beside: &'a Utf8Path, within: Option<&'a Utf8Path>) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(ends).collect();
        Reader { file, lines, beside, within, errors: Vec::new(), more: 0 }
    }

    pub(super) fn error(&mut self, span: &Range<usize>, key: &str, message: impl Into<String>) {
        if self.errors.len() == MOST_ERRORS {
            self.more += 1;
            return;
        }
        let line = self.line(span.start);
        let File { path, table } = &*self.file;
        let (file, table, key, message) = (path.clone(), *table, key.to_owned(), message.into());
        self.errors.push(ConfigurationError { file, table, line, key, message });
    }

    /// Returns every mistake; of many, the first ones and their number.
    pub(super) fn errors(self) -> Vec<ConfigurationError> {
        let mut errors = self.errors;
        if self.more > 0 {
            errors.push(ConfigurationError::of_file(&self.file.path, format!("and {} more mistakes", self.more)));
        }
        errors
    }

    /// Returns the line of an offset, from 1.
    pub(super) fn line(&self, offset: usize) -> u32 {
        self.lines.partition_point(|start| *start <= offset) as u32
    }

    /// Reads all keys.
    pub(super) fn read(mut self, table: &DeTable<'_>) -> Result<Part, Vec<ConfigurationError>> {
        let mut part = Part::new(Arc::clone(&self.file));
        let mut entries = table.iter().collect::<Vec<_>>();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let (name, span) = (key.get_ref().as_ref(), value.span());
            let Some(name) = keys::KEYS.iter().map(|known| known.name).find(|known| *known == name) else {
                self.error(&key.span(), name, keys::unknown(name));
                continue;
            };
            part.named.push((name, self.line(key.span().start)));
            self.key(name, value.get_ref(), &span, &mut part);
        }
        if self.errors.is_empty() { Ok(part) } else { Err(self.errors()) }
    }

    fn key(&mut self, name: &'static str, value: &DeValue<'_>, span: &Range<usize>, part: &mut Part) {
        match name {
            "extend" => part.extend = self.extend(name, value, span),
            "models" => part.models = Some(self.models(value, span)),
            "baseline" => part.baseline = self.baseline(name, value, span),
            "max-file-size" => match file_size(value) {
                Ok(size) if self.within.is_some() && size > LARGEST_FOUND => self.error(
                    span,
                    name,
                    format!(
                        "more than {LARGEST_FOUND} bytes are read only where the command line says so: `--config FILE`"
                    ),
                ),
                Ok(size) => part.max_file_size = Some(size),
                Err(message) => self.error(span, name, message),
            },
            "select" => part.rules.select = Some(self.rules(name, value, span)),
            "extend-select" => part.rules.extend_select = self.rules(name, value, span),
            "ignore" => part.rules.ignore = self.rules(name, value, span),
            "per-file-ignores" => part.per_file_ignores = self.per_file_ignores(name, value, span),
            "exclude" => part.exclude = Some(self.patterns(name, value, span)),
            "extend-exclude" => part.extend_exclude = self.patterns(name, value, span),
            "switches" => part.switches = Some(self.rules(name, value, span)),
            "severity" => part.severity = self.severities(name, value, span),
            "min-severity" => part.min_severity = self.severity(name, value, span),
            "min-confidence" => part.min_confidence = self.confidence(name, value, span),
            "persona" => part.persona = self.persona(name, value, span),
            "require-reason" => part.require_reason = Some(self.flag(name, value, span)),
            // That every key is read is a test.
            _ => {}
        }
    }

    fn extend(
        &mut self,
        key: &'static str,
        value: &DeValue<'_>,
        span: &Range<usize>,
    ) -> Option<(Utf8PathBuf, ConfigurationErrorAt)> {
        let Some(path) = value.as_str() else {
            self.error(span, key, format!("expected a path, found {}", article(value)));
            return None;
        };
        let folder = self.beside.parent().unwrap_or(Utf8Path::new(""));
        let full = crate::absolute(folder, Utf8Path::new(path));
        if self.file.path.as_str() == super::LABEL {
            self.error(span, key, "extending a file from the command line is `--config FILE`");
        } else if !full.is_file() {
            self.error(span, key, format!("`{path}`: no such file"));
        }
        let at = ConfigurationErrorAt { file: Arc::clone(&self.file), line: self.line(span.start), key };
        Some((full, at))
    }

    fn baseline(
        &mut self,
        key: &'static str,
        value: &DeValue<'_>,
        span: &Range<usize>,
    ) -> Option<(Utf8PathBuf, ConfigurationErrorAt)> {
        let Some(path) = value.as_str() else {
            self.error(span, key, format!("expected a path, found {}", article(value)));
            return None;
        };
        let at = ConfigurationErrorAt { file: Arc::clone(&self.file), line: self.line(span.start), key };
        Some((Utf8PathBuf::from(path), at))
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
        let folder = self.beside.parent().unwrap_or(Utf8Path::new(""));
        let full = crate::absolute(folder, Utf8Path::new(path));
        let before = files.len();
        if full.is_file() {
            files.push(full);
            self.stays_inside(span, &files[before..]);
            return;
        }
        // A folder outside is not even listed.
        if let Some(message) = outside(&full, self.within) {
            self.error(span, "models", message);
            return;
        }
        if let Err(error) = toml_files(&full, files) {
            self.error(span, "models", format!("`{path}`: {}", reason(&error)));
        } else if files.len() == before {
            self.error(span, "models", format!("`{path}`: no `*.toml` file lies in this folder"));
        }
        self.stays_inside(span, &files[before..]);
    }

    fn stays_inside(&mut self, span: &Range<usize>, files: &[Utf8PathBuf]) {
        for message in files.iter().filter_map(|file| outside(file, self.within)).collect::<Vec<_>>() {
            self.error(span, "models", message);
        }
    }
}

/// Returns all `*.toml` below a folder, in order of their paths. Links to folders are not followed.
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
