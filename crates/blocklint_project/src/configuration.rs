//! `[tool.blocklint]` of the project root's pyproject.toml.

use std::fmt;
use std::fs;
use std::ops::Range;

use camino::{Utf8Path, Utf8PathBuf};
use toml::de::{DeTable, DeValue};

use crate::Problem;
use crate::problem::reason;

/// Files longer than this are skipped unless configuration says otherwise, in bytes. A tree of a
/// generated file of 50 MB takes gigabytes, and hand-written files stay far below.
pub const DEFAULT_MAX_FILE_SIZE: u64 = 8_000_000;

/// Offsets in a file are 32 bits wide.
const LARGEST_FILE_SIZE: u64 = u32::MAX as u64;

const KEYS: [&str; 2] = ["models", "max-file-size"];

/// What the project asks of every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// The file it stands in, if there is one.
    pub file: Option<Utf8PathBuf>,
    /// Model files, absolute; of folders all `*.toml` below, sorted.
    pub models: Vec<Utf8PathBuf>,
    /// Length of the longest file that is read, in bytes.
    pub max_file_size: u64,
}

impl Default for Configuration {
    fn default() -> Self {
        Configuration { file: None, models: Vec::new(), max_file_size: DEFAULT_MAX_FILE_SIZE }
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
        let before = self.text.as_bytes().get(..span.start).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() as u32 + 1;
        let (file, key, message) = (self.file.to_path_buf(), key.to_owned(), message.into());
        self.errors.push(ConfigurationError { file, line, key, message });
    }

    fn table(&mut self, table: &DeTable<'_>, configuration: &mut Configuration) {
        let mut entries = table.iter().collect::<Vec<_>>();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let (name, span) = (key.get_ref().as_ref(), value.span());
            match name {
                "models" => configuration.models = self.models(value.get_ref(), &span),
                "max-file-size" => match file_size(value.get_ref()) {
                    Ok(size) => configuration.max_file_size = size,
                    Err(message) => self.error(&span, name, message),
                },
                _ => {
                    let near =
                        KEYS.iter().min_by_key(|known| strsim::damerau_levenshtein(&name.replace('_', "-"), known));
                    let near = near.filter(|known| strsim::damerau_levenshtein(&name.replace('_', "-"), known) <= 3);
                    let suggestion = match near {
                        Some(known) => format!("did you mean `{known}`?"),
                        None => format!("known are {}", KEYS.map(|key| format!("`{key}`")).join(" and ")),
                    };
                    self.error(&key.span(), name, format!("unknown key `{name}`; {suggestion}"));
                }
            }
        }
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

/// Bytes as a number, or as a number with a unit (`"8MB"`, `"512 KiB"`).
fn file_size(value: &DeValue<'_>) -> Result<u64, String> {
    let size = match value {
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).ok().and_then(|n| n.try_into().ok())
        }
        DeValue::String(text) => sized(text),
        other => return Err(format!("expected bytes (`8000000`) or a size (`\"8MB\"`), found {}", article(other))),
    };
    match size {
        Some(size) if (1..=LARGEST_FILE_SIZE).contains(&size) => Ok(size),
        Some(_) => Err(format!("expected between 1 and {LARGEST_FILE_SIZE} bytes")),
        None => Err("expected bytes (`8000000`) or a size (`\"8MB\"`)".to_owned()),
    }
}

fn sized(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return None,
    };
    number.replace('_', "").parse::<u64>().ok()?.checked_mul(unit)
}

fn article(value: &DeValue<'_>) -> String {
    let kind = value.type_str();
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {kind}")
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
        let error =
            parse("[project]\nname = 'x'\n[tool.blocklint]\nmodls = []\nmax_file_size = 1\nselect = ['BLT1']\n");
        let expected = "pyproject.toml:4: [tool.blocklint] modls: unknown key `modls`; did you mean `models`?
pyproject.toml:5: [tool.blocklint] max_file_size: unknown key `max_file_size`; did you mean `max-file-size`?
pyproject.toml:6: [tool.blocklint] select: unknown key `select`; known are `models` and `max-file-size`";
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
    fn a_broken_file_is_told_only_if_it_configures_blocklint() {
        assert_eq!(parse("[tool.other\n"), Ok(Configuration::default()));
        assert!(parse("[tool.blocklint]\nmodels = [\n").expect_err("broken").starts_with("pyproject.toml:"));
    }
}
