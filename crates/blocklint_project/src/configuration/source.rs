//! Which files hold configuration, and where in them.

use std::ops::Range;

use blocklint_core::UnreadFile;
use camino::{Utf8Path, Utf8PathBuf};
use toml::de::{DeTable, DeValue};

use super::repository;
use super::values::article;
use crate::within::leads_out;
use crate::{Problem, read};

/// Longer files are no configuration that a person writes, in bytes: reading one must not hold a run up.
pub(super) const LONGEST: u64 = 1_000_000;
/// Bytes of another tool's manifest in which a table is looked for.
const LONGEST_MANIFEST: u64 = 16_000_000;

/// A kind of file that may hold configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `.blocklint.toml`, `blocklint.toml`, or a file of any name: all of it is configuration.
    Own,
    /// `pyproject.toml`.
    Python,
    /// `Cargo.toml`.
    Cargo,
}

/// In one folder the first that holds configuration is read.
const NAMES: [&str; 4] = [".blocklint.toml", "blocklint.toml", "pyproject.toml", "Cargo.toml"];

/// Returns the tables of a kind of file; the first that is there is read. The name is what errors call it.
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

/// Where configuration stands in a document.
type Found<'d, 't> = (&'static str, Range<usize>, Result<&'d DeTable<'t>, String>);

pub(super) fn kind(file: &Utf8Path) -> Kind {
    match file.file_name() {
        Some("pyproject.toml") => Kind::Python,
        Some("Cargo.toml") => Kind::Cargo,
        _ => Kind::Own,
    }
}

/// Returns the table of a document that holds configuration: the table's name, the span of its key, and the table, or
/// what stands in its place.
pub(super) fn table<'d, 't>(kind: Kind, document: &'d DeTable<'t>) -> Option<Found<'d, 't>> {
    for (name, path) in tables(kind) {
        let Some((last, above)) = path.split_last() else { return Some((name, 0..0, Ok(document))) };
        let parent = above.iter().try_fold(document, |table, key| table.get(*key)?.get_ref().as_table());
        let Some((key, value)) = parent.and_then(|parent| parent.get_key_value(*last)) else { continue };
        // A crate that only says which models it ships configures nothing.
        if *name == "package.metadata.blocklint"
            && value.get_ref().as_table().is_some_and(|table| table.keys().all(|key| key.get_ref() == "models"))
        {
            continue;
        }
        let value = value.get_ref();
        return Some((name, key.span(), value.as_table().ok_or_else(|| article(value))));
    }
    None
}

/// True if a document that does not parse seems to hold configuration of this tool. Only then its error is reported.
pub(super) fn seems_to_hold(kind: Kind, text: &str) -> bool {
    match kind {
        Kind::Own => true,
        Kind::Python => text.contains("[tool.blocklint"),
        Kind::Cargo => text.contains("[workspace.metadata.blocklint"),
    }
}

/// Returns the text of a file that is read, or why not. `Ok(None)` where it is a manifest too long to be looked at.
pub(super) fn text(file: &Utf8Path, kind: Kind) -> Result<Option<String>, String> {
    let longest = if kind == Kind::Own { LONGEST } else { LONGEST_MANIFEST };
    let bytes = match read(file, longest) {
        Ok(bytes) => bytes,
        Err(UnreadFile::TooLarge { size, .. }) if kind == Kind::Own => return Err(too_long(size)),
        Err(UnreadFile::TooLarge { .. }) => return Ok(None),
        Err(UnreadFile::Unreadable(why)) => return Err(why),
    };
    let length = bytes.len() as u64;
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    if kind != Kind::Own && length > LONGEST {
        return if seems_to_hold(kind, &text) { Err(too_long(length)) } else { Ok(None) };
    }
    Ok(Some(text))
}

fn too_long(length: u64) -> String {
    format!("{} kB of configuration are more than the {} kB that are read", length / 1_000, LONGEST / 1_000)
}

/// Returns the file of a folder that holds configuration. One of this tool's name that shows nothing only marks the
/// folder.
pub(crate) fn in_folder(folder: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut files = NAMES.iter().map(|name| folder.join(name));
    files.find(|file| file.is_file() && (is_foreign(file) || is_own(file) && holds(file) && says_something(file)))
}

/// True if a file is this tool's by its name and a link out of the repository. It is not read, which is told when it is asked for.
fn is_foreign(file: &Utf8Path) -> bool {
    kind(file) == Kind::Own && !is_own(file)
}

/// True if a file may be read: no link leads out of the repository with it.
fn is_own(file: &Utf8Path) -> bool {
    !file.is_symlink() || file.parent().is_some_and(|folder| !leads_out(file, repository(folder)))
}

/// True if a file of this tool's name marks a folder as a project.
pub(crate) fn is_marked(folder: &Utf8Path) -> bool {
    NAMES[..2].iter().any(|name| folder.join(name).is_file()) || in_folder(folder).is_some()
}

/// True if a file, by its name, holds configuration. One that does not parse counts where it seems to, so that its error is
/// told and not passed over.
pub(crate) fn holds(file: &Utf8Path) -> bool {
    let kind = kind(file);
    if kind == Kind::Own {
        return !is_model(file);
    }
    let text = match text(file, kind) {
        Ok(Some(text)) => text,
        Ok(None) => return false,
        // It is told when it is read.
        Err(_) => return kind == Kind::Python && has_word(file),
    };
    if !text.contains("blocklint") {
        return false;
    }
    match DeTable::parse(&text) {
        Ok(document) => table(kind, document.get_ref()).is_some(),
        Err(_) => seems_to_hold(kind, &text),
    }
}

fn has_word(file: &Utf8Path) -> bool {
    crate::within::text(file).is_ok_and(|text| text.contains("[tool.blocklint"))
}

/// A crate may ship its models in a file of this name.
fn is_model(file: &Utf8Path) -> bool {
    let Ok(Some(text)) = text(file, Kind::Own) else { return false };
    let Ok(document) = DeTable::parse(&text) else { return false };
    matches!(document.get_ref().get("schema").map(|value| value.get_ref()), Some(DeValue::Integer(_)))
}

/// True if a file of this tool's name says anything.
pub(crate) fn says_something(file: &Utf8Path) -> bool {
    match kind(file) {
        // A file that cannot be read counts; the error is reported when it is read.
        Kind::Own => match text(file, Kind::Own) {
            Ok(text) => {
                DeTable::parse(&text.unwrap_or_default()).map_or(true, |document| !document.get_ref().is_empty())
            }
            Err(_) => true,
        },
        _ => true,
    }
}

/// Adds a problem for each other file of the folder that holds configuration as well, because its author expects it to
/// hold.
pub(super) fn beside(file: &Utf8Path, problems: &mut Vec<Problem>) {
    let folder = file.parent().unwrap_or(Utf8Path::new(""));
    let decides = file.file_name().unwrap_or_default();
    let others = NAMES.iter().map(|name| folder.join(name)).filter(|other| other != file && other.is_file());
    for other in others.filter(|other| is_own(other) && holds(other) && says_something(other)) {
        problems.push(Problem::new(other.as_std_path(), format!("its configuration is not read: `{decides}` decides")));
    }
}
