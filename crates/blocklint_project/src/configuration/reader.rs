//! Reads one table of configuration key by key, and collects every mistake in it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use blocklint_core::{Confidence, Severity};
use camino::{Utf8Path, Utf8PathBuf};
use toml::de::{DeTable, DeValue};

use super::values::{MAX_SIZE_IN_REPOSITORY, file_size, with_article};
use super::{
    ConfigurationError, File, PerFileIgnore, Persona, RuleSettings, Setting, SettingPlace, error_if_outside, keys,
};
use crate::problem::error_text;

/// The greatest number of mistakes that are reported for one file.
const MAX_ERRORS: usize = 50;

/// The settings of one file.
pub(super) struct FileSettings {
    pub(super) file: Arc<File>,
    /// The keys that are set, with their lines.
    pub(super) keys: Vec<(&'static str, u32)>,
    /// The absolute path of the file that it extends, and the place of this setting.
    pub(super) extend: Option<(Utf8PathBuf, SettingPlace)>,
    pub(super) models: Option<Vec<Utf8PathBuf>>,
    /// The path of the baseline as it is written, relative to the project root, and the place of this setting.
    pub(super) baseline: Option<(Utf8PathBuf, SettingPlace)>,
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

impl FileSettings {
    /// Returns a file without settings.
    pub(super) fn new(file: Arc<File>) -> Self {
        FileSettings {
            file,
            keys: Vec::new(),
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

/// The reader of one file, with the mistakes that it has found.
pub(super) struct Reader<'a> {
    pub(super) file: Arc<File>,
    /// The offset at which each line of the text begins.
    line_starts: Vec<usize>,
    /// The file to whose folder paths are relative.
    base_file: &'a Utf8Path,
    /// The folder that no path may lead out of; `None` if there is no such limit.
    limit_folder: Option<&'a Utf8Path>,
    errors: Vec<ConfigurationError>,
    /// The number of mistakes beyond [`MAX_ERRORS`].
    unreported: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        file: Arc<File>,
        text: &str,
        base_file: &'a Utf8Path,
        limit_folder: Option<&'a Utf8Path>,
    ) -> Self {
        let line_starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(offset, _)| offset + 1);
        let line_starts = std::iter::once(0).chain(line_starts).collect();
        Reader { file, line_starts, base_file, limit_folder, errors: Vec::new(), unreported: 0 }
    }

    pub(super) fn error(&mut self, span: &Range<usize>, key: &str, message: impl Into<String>) {
        if self.errors.len() == MAX_ERRORS {
            self.unreported += 1;
            return;
        }
        let line = self.line(span.start);
        let File { path, table } = &*self.file;
        let (file, table, key, message) = (path.clone(), *table, key.to_owned(), message.into());
        self.errors.push(ConfigurationError { file, table, line, key, message });
    }

    /// Returns the mistakes; after the first [`MAX_ERRORS`], the number of further ones.
    pub(super) fn errors(self) -> Vec<ConfigurationError> {
        let mut errors = self.errors;
        if self.unreported > 0 {
            errors.push(ConfigurationError::of_file(&self.file.path, format!("and {} more mistakes", self.unreported)));
        }
        errors
    }

    /// Returns the line of an offset, from 1.
    pub(super) fn line(&self, offset: usize) -> u32 {
        self.line_starts.partition_point(|start| *start <= offset) as u32
    }

    /// Reads all keys of a table.
    pub(super) fn read(mut self, table: &DeTable<'_>) -> Result<FileSettings, Vec<ConfigurationError>> {
        let mut part = FileSettings::new(Arc::clone(&self.file));
        let mut entries = table.iter().collect::<Vec<_>>();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let (name, span) = (key.get_ref().as_ref(), value.span());
            let Some(name) = keys::KEYS.iter().map(|known| known.name).find(|known| *known == name) else {
                self.error(&key.span(), name, keys::unknown(name));
                continue;
            };
            part.keys.push((name, self.line(key.span().start)));
            self.read_key(name, value.get_ref(), &span, &mut part);
        }
        if self.errors.is_empty() { Ok(part) } else { Err(self.errors()) }
    }

    fn read_key(&mut self, name: &'static str, value: &DeValue<'_>, span: &Range<usize>, part: &mut FileSettings) {
        match name {
            "extend" => part.extend = self.read_extend(name, value, span),
            "models" => part.models = Some(self.read_models(value, span)),
            "baseline" => part.baseline = self.read_baseline(name, value, span),
            "max-file-size" => match file_size(value) {
                Ok(size) if self.limit_folder.is_some() && size > MAX_SIZE_IN_REPOSITORY => self.error(
                    span,
                    name,
                    format!(
                        "more than {MAX_SIZE_IN_REPOSITORY} bytes are read only from a file of the command line: \
                         `--config FILE`"
                    ),
                ),
                Ok(size) => part.max_file_size = Some(size),
                Err(message) => self.error(span, name, message),
            },
            "select" => part.rules.select = Some(self.rule_names(name, value, span)),
            "extend-select" => part.rules.extend_select = self.rule_names(name, value, span),
            "ignore" => part.rules.ignore = self.rule_names(name, value, span),
            "per-file-ignores" => part.per_file_ignores = self.per_file_ignores(name, value, span),
            "exclude" => part.exclude = Some(self.patterns(name, value, span)),
            "extend-exclude" => part.extend_exclude = self.patterns(name, value, span),
            "switches" => part.switches = Some(self.rule_names(name, value, span)),
            "severity" => part.severity = self.severities(name, value, span),
            "min-severity" => part.min_severity = self.severity(name, value, span),
            "min-confidence" => part.min_confidence = self.confidence(name, value, span),
            "persona" => part.persona = self.persona(name, value, span),
            "require-reason" => part.require_reason = Some(self.flag(name, value, span)),
            // A test ensures that every key is read.
            _ => {}
        }
    }

    fn read_extend(
        &mut self,
        key: &'static str,
        value: &DeValue<'_>,
        span: &Range<usize>,
    ) -> Option<(Utf8PathBuf, SettingPlace)> {
        let Some(path) = value.as_str() else {
            self.error(span, key, format!("expected a path, found {}", with_article(value)));
            return None;
        };
        let folder = self.base_file.parent().unwrap_or(Utf8Path::new(""));
        let full = crate::absolute(folder, Utf8Path::new(path));
        if self.file.path.as_str() == super::LABEL {
            self.error(span, key, "extending a file from the command line is `--config FILE`");
        } else if !full.is_file() {
            self.error(span, key, format!("`{path}`: no such file"));
        }
        let place = SettingPlace { file: Arc::clone(&self.file), line: self.line(span.start), key };
        Some((full, place))
    }

    fn read_baseline(
        &mut self,
        key: &'static str,
        value: &DeValue<'_>,
        span: &Range<usize>,
    ) -> Option<(Utf8PathBuf, SettingPlace)> {
        let Some(path) = value.as_str() else {
            self.error(span, key, format!("expected a path, found {}", with_article(value)));
            return None;
        };
        let place = SettingPlace { file: Arc::clone(&self.file), line: self.line(span.start), key };
        Some((Utf8PathBuf::from(path), place))
    }

    fn read_models(&mut self, value: &DeValue<'_>, span: &Range<usize>) -> Vec<Utf8PathBuf> {
        let mut files = Vec::new();
        match value {
            DeValue::String(path) => self.add_model_files(path, span, &mut files),
            DeValue::Array(paths) => {
                for path in paths.iter() {
                    match path.get_ref() {
                        DeValue::String(text) => self.add_model_files(text, &path.span(), &mut files),
                        other => self.error(
                            &path.span(),
                            "models",
                            format!("expected a path, found {}", with_article(other)),
                        ),
                    }
                }
            }
            other => {
                let message = format!("expected a path or a list of paths, found {}", with_article(other));
                self.error(span, "models", message);
            }
        }
        files
    }

    fn add_model_files(&mut self, path: &str, span: &Range<usize>, files: &mut Vec<Utf8PathBuf>) {
        let folder = self.base_file.parent().unwrap_or(Utf8Path::new(""));
        let full = crate::absolute(folder, Utf8Path::new(path));
        let count_before = files.len();
        if full.is_file() {
            files.push(full);
            self.check_inside(span, &files[count_before..]);
            return;
        }
        // A folder outside of the repository is not even listed.
        if let Some(message) = error_if_outside(&full, self.limit_folder) {
            self.error(span, "models", message);
            return;
        }
        if let Err(error) = add_toml_files(&full, files) {
            self.error(span, "models", format!("`{path}`: {}", error_text(&error)));
        } else if files.len() == count_before {
            self.error(span, "models", format!("`{path}`: no `*.toml` file is in this folder"));
        }
        self.check_inside(span, &files[count_before..]);
    }

    fn check_inside(&mut self, span: &Range<usize>, files: &[Utf8PathBuf]) {
        for message in files.iter().filter_map(|file| error_if_outside(file, self.limit_folder)).collect::<Vec<_>>() {
            self.error(span, "models", message);
        }
    }
}

/// Adds all `*.toml` below a folder, sorted by path. Symbolic links to folders are not followed.
fn add_toml_files(folder: &Utf8Path, files: &mut Vec<Utf8PathBuf>) -> std::io::Result<()> {
    let mut entries = folder.read_dir_utf8()?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by(|a, b| a.file_name().cmp(b.file_name()));
    for entry in entries {
        if entry.file_type()?.is_dir() {
            add_toml_files(entry.path(), files)?;
        } else if entry.path().extension() == Some("toml") {
            files.push(entry.path().to_path_buf());
        }
    }
    Ok(())
}
