//! The files that can have configuration (`blocklint.toml`, `pyproject.toml`, `Cargo.toml`), and the tables in them.

use std::ops::Range;

use blocklint_core::UnreadFile;
use camino::{Utf8Path, Utf8PathBuf};
use toml::de::{DeTable, DeValue};

use super::repository;
use super::values::with_article;
use crate::within::leads_out;
use crate::{Problem, read};

/// The greatest size of a configuration file, in bytes, so that reading it takes no noticeable time.
pub(super) const MAX_SIZE: u64 = 1_000_000;
/// The greatest size of another tool's manifest that is searched for our table, in bytes.
const MAX_MANIFEST_SIZE: u64 = 16_000_000;

/// A kind of file that may have configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A file with nothing but configuration: `.blocklint.toml`, `blocklint.toml`, or any file of `--config` or
    /// `extend`.
    Own,
    /// `pyproject.toml`.
    Python,
    /// `Cargo.toml`.
    Cargo,
}

/// The names of configuration files. The first one in a folder that has configuration is read.
const NAMES: [&str; 4] = [".blocklint.toml", "blocklint.toml", "pyproject.toml", "Cargo.toml"];

/// Returns the tables of a kind of file, each with its name in error messages and its keys. The first that exists is
/// read.
fn tables(kind: Kind) -> &'static [(&'static str, &'static [&'static str])] {
    match kind {
        Kind::Own => &[("", &[])],
        Kind::Python => &[("tool.blocklint", &["tool", "blocklint"])],
        Kind::Cargo => &[
            ("workspace.metadata.blocklint", &["workspace", "metadata", "blocklint"]),
            ("package.metadata.blocklint", &["package", "metadata", "blocklint"]),
        ],
    }
}

/// The table with configuration: its name, the span of its key, and the table, or the type of the value in its place.
type FoundTable<'d, 't> = (&'static str, Range<usize>, Result<&'d DeTable<'t>, String>);

pub(super) fn file_kind(file: &Utf8Path) -> Kind {
    match file.file_name() {
        Some("pyproject.toml") => Kind::Python,
        Some("Cargo.toml") => Kind::Cargo,
        _ => Kind::Own,
    }
}

/// Returns the table of a document that has configuration.
pub(super) fn configuration_table<'d, 't>(kind: Kind, document: &'d DeTable<'t>) -> Option<FoundTable<'d, 't>> {
    for (name, path) in tables(kind) {
        let Some((last, above)) = path.split_last() else { return Some((name, 0..0, Ok(document))) };
        let parent = above.iter().try_fold(document, |table, key| table.get(*key)?.get_ref().as_table());
        let Some((key, value)) = parent.and_then(|parent| parent.get_key_value(*last)) else { continue };
        // A crate that only lists the models that it ships has no configuration.
        if *name == "package.metadata.blocklint"
            && value.get_ref().as_table().is_some_and(|table| table.keys().all(|key| key.get_ref() == "models"))
        {
            continue;
        }
        let value = value.get_ref();
        return Some((name, key.span(), value.as_table().ok_or_else(|| with_article(value))));
    }
    None
}

/// True if a document that does not parse seems to have our table. Only then its syntax error is reported.
pub(super) fn seems_to_hold(kind: Kind, text: &str) -> bool {
    match kind {
        Kind::Own => true,
        Kind::Python => text.contains("[tool.blocklint"),
        Kind::Cargo => text.contains("[workspace.metadata.blocklint"),
    }
}

/// Returns the text of a file, or the reason why it cannot be read. Returns `Ok(None)` for a manifest that is too long
/// to be searched.
pub(super) fn read_text(file: &Utf8Path, kind: Kind) -> Result<Option<String>, String> {
    let max_size = if kind == Kind::Own { MAX_SIZE } else { MAX_MANIFEST_SIZE };
    let bytes = match read(file, max_size) {
        Ok(bytes) => bytes,
        Err(UnreadFile::TooLarge { size, .. }) if kind == Kind::Own => return Err(too_long(size)),
        Err(UnreadFile::TooLarge { .. }) => return Ok(None),
        Err(UnreadFile::Unreadable(why)) => return Err(why),
    };
    let length = bytes.len() as u64;
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    if kind != Kind::Own && length > MAX_SIZE {
        return if seems_to_hold(kind, &text) { Err(too_long(length)) } else { Ok(None) };
    }
    Ok(Some(text))
}

fn too_long(length: u64) -> String {
    format!("{} kB of configuration are more than the {} kB that are read", length / 1_000, MAX_SIZE / 1_000)
}

/// Returns the configuration file of a folder. An empty `blocklint.toml` is none, because it only marks the project
/// root.
pub(crate) fn configuration_file(folder: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut files = NAMES.iter().map(|name| folder.join(name));
    files.find(|file| {
        file.is_file() && (is_foreign(file) || is_own(file) && has_configuration(file) && has_settings(file))
    })
}

/// True if a `blocklint.toml` is a symbolic link out of the repository. It is not read, which is an error later.
fn is_foreign(file: &Utf8Path) -> bool {
    file_kind(file) == Kind::Own && !is_own(file)
}

/// True if a file may be read: it is no symbolic link out of the repository.
fn is_own(file: &Utf8Path) -> bool {
    !file.is_symlink() || file.parent().is_some_and(|folder| !leads_out(file, repository(folder)))
}

/// True if a folder is marked as a project: by a `blocklint.toml`, even an empty one, or by configuration in a
/// manifest.
pub(crate) fn is_project_folder(folder: &Utf8Path) -> bool {
    NAMES[..2].iter().any(|name| folder.join(name).is_file()) || configuration_file(folder).is_some()
}

/// True if a file has configuration. A file that does not parse counts if it seems to have our table, so that its error
/// is reported.
pub(crate) fn has_configuration(file: &Utf8Path) -> bool {
    let kind = file_kind(file);
    if kind == Kind::Own {
        return !is_model(file);
    }
    let text = match read_text(file, kind) {
        Ok(Some(text)) => text,
        Ok(None) => return false,
        // The error is reported when the file is read.
        Err(_) => return kind == Kind::Python && has_word(file),
    };
    if !text.contains("blocklint") {
        return false;
    }
    match DeTable::parse(&text) {
        Ok(document) => configuration_table(kind, document.get_ref()).is_some(),
        Err(_) => seems_to_hold(kind, &text),
    }
}

fn has_word(file: &Utf8Path) -> bool {
    crate::within::read_text(file).is_ok_and(|text| text.contains("[tool.blocklint"))
}

/// True if a `blocklint.toml` is a model file that a crate ships.
fn is_model(file: &Utf8Path) -> bool {
    let Ok(Some(text)) = read_text(file, Kind::Own) else { return false };
    let Ok(document) = DeTable::parse(&text) else { return false };
    matches!(document.get_ref().get("schema").map(|value| value.get_ref()), Some(DeValue::Integer(_)))
}

/// True unless a file is an empty `blocklint.toml`.
pub(crate) fn has_settings(file: &Utf8Path) -> bool {
    match file_kind(file) {
        // A file that cannot be read counts; the error is reported when it is read.
        Kind::Own => match read_text(file, Kind::Own) {
            Ok(text) => {
                DeTable::parse(&text.unwrap_or_default()).map_or(true, |document| !document.get_ref().is_empty())
            }
            Err(_) => true,
        },
        _ => true,
    }
}

/// Adds a problem for each other file of the folder that has configuration, because its author expects it to be read.
pub(super) fn report_unread_files(file: &Utf8Path, problems: &mut Vec<Problem>) {
    let folder = file.parent().unwrap_or(Utf8Path::new(""));
    let chosen = file.file_name().unwrap_or_default();
    let candidates = NAMES.iter().map(|name| folder.join(name)).filter(|path| path != file && path.is_file());
    for path in candidates.filter(|path| is_own(path) && has_configuration(path) && has_settings(path)) {
        problems.push(Problem::new(path.as_std_path(), format!("its configuration is not read: `{chosen}` decides")));
    }
}
