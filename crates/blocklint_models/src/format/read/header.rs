//! The top of a file and its `[alias]` table.

use blocklint_core::Language;
use toml::de::{DeTable, DeValue};

use super::super::error::Table;
use super::super::path::Path;
use super::super::rows::{FileInfo, Managed};
use super::super::version::Version;
use super::reader::{At, Reader, Value};
use super::values::literal;
use super::{Literal, Origin};

pub(super) const KEYS: &[&str] = &[
    "schema", "language", "library", "roots", "version", "docs", "managed", "alias", "call", "type", "handover",
    "switch",
];

/// Returns the header; `None` without a known language.
pub(super) fn read(reader: &mut Reader<'_>, document: &DeTable<'_>, origin: Origin) -> Option<FileInfo> {
    let (mut schema, mut libraries, mut roots, mut version, mut docs) = (false, None, None, None, None);
    let mut managed = Vec::new();
    let mut stated = false;
    for (key, value) in document.iter() {
        let at = At { table: Table::Top, key: key.get_ref() };
        match at.key {
            "schema" => {
                schema = true;
                if literal(value.get_ref()) != Some(Literal::Int(1)) {
                    reader.error(at, value, "this blocklint reads schema 1");
                }
            }
            "language" => {
                stated = true;
                let words: Vec<_> = Language::ALL.iter().map(|language| language.as_str()).collect();
                reader.language = reader.word(at, value, &words, Language::parse);
            }
            "library" => libraries = Some(reader.strings(at, value)),
            "roots" => roots = Some((reader.strings(at, value), value)),
            "version" => version = reader.version(at, value),
            "docs" => docs = reader.string(at, value),
            "managed" => managed = read_managed(reader, at, value),
            known if KEYS.contains(&known) => {}
            _ => reader.unknown_key(at, key.span().start, KEYS),
        }
    }
    let user = origin == Origin::User;
    let java = reader.language == Some(Language::Java);
    for (key, present) in [
        ("schema", schema),
        ("language", stated),
        ("library", libraries.is_some() || user),
        ("docs", document.keys().any(|key| key.get_ref() == "docs") || user),
    ] {
        if !present {
            reader.error_in(Table::Top, key, 0, format!("missing key `{key}`"));
        }
    }
    if java && roots.is_none() && !user {
        reader.error_in(Table::Top, "roots", 0, "missing key `roots`: in Java a library's name does not give it");
    }
    let language = reader.language?;
    let roots = match roots {
        Some((roots, value)) => {
            check_roots(reader, &roots, value, language);
            roots
        }
        None => libraries.iter().flatten().map(|library| library.replace('-', "_")).collect(),
    };
    let roots = if user { Vec::new() } else { roots };
    let libraries = libraries.unwrap_or_default();
    Some(FileInfo {
        label: reader.label().to_owned(),
        language,
        libraries,
        roots,
        version,
        docs,
        managed,
        dated: false,
    })
}

/// `[[managed]]`: what builds name, and which versions of it bring which of the library.
fn read_managed(reader: &mut Reader<'_>, at: At<'_>, value: &Value<'_>) -> Vec<Managed> {
    const SHAPE: &str = r#"must be written `[[managed]]` with `by = ["group:bom"]` and `versions = { "2.1" = "3.2" }`"#;
    let read = |table: &DeTable<'_>| {
        let of = |name: &str| table.iter().find(|(key, _)| key.get_ref() == name).map(|(_, value)| value.get_ref());
        let (Some(DeValue::Array(by)), Some(DeValue::Table(versions)), 2) = (of("by"), of("versions"), table.len())
        else {
            return None;
        };
        let by: Option<Vec<String>> = by.iter().map(|name| name.get_ref().as_str().map(str::to_owned)).collect();
        let version = |value: &Value<'_>| value.get_ref().as_str().and_then(Version::parse);
        let versions = versions.iter().map(|(key, value)| Some((key.get_ref().to_string(), version(value)?)));
        Some(Managed { by: by?, versions: versions.collect::<Option<_>>()? })
    };
    let tables: Option<Vec<Managed>> = match value.get_ref() {
        DeValue::Array(items) => items.iter().map(|item| item.get_ref().as_table().and_then(read)).collect(),
        _ => None,
    };
    tables.unwrap_or_else(|| {
        reader.error(at, value, SHAPE);
        Vec::new()
    })
}

fn check_roots(reader: &mut Reader<'_>, roots: &[String], value: &Value<'_>, language: Language) {
    for root in roots {
        if Path::parse(root, 0, language).is_none_or(|path| path.rank.is_glob()) {
            let at = At { table: Table::Top, key: "roots" };
            reader.error(at, value, format!("`{root}` is not a path of {language} without globs"));
        }
    }
}

/// Returns the pairs of `[alias]` with their lines.
pub(super) fn aliases(reader: &mut Reader<'_>, document: &DeTable<'_>) -> Vec<(String, String, u32)> {
    let Some((_, value)) = document.iter().find(|(key, _)| key.get_ref() == "alias") else { return Vec::new() };
    let DeValue::Table(table) = value.get_ref() else {
        let at = At { table: Table::Top, key: "alias" };
        let message = if matches!(value.get_ref(), DeValue::Array(_)) {
            "must be written `[alias]`, once"
        } else {
            "must be a table of strings"
        };
        reader.error(at, value, message);
        return Vec::new();
    };
    let mut pairs = Vec::new();
    for (key, value) in table.iter() {
        let spelling = key.get_ref().as_ref();
        let at = At { table: Table::Alias, key: spelling };
        let DeValue::String(target) = value.get_ref() else {
            let dotted = matches!(value.get_ref(), DeValue::Table(_));
            let hint = if dotted { "; put the path in quotes" } else { "" };
            reader.error(at, value, format!("must be a path as a string{hint}"));
            continue;
        };
        let Some(language) = reader.language else { continue };
        let mut sound = true;
        for side in [spelling, target.as_ref()] {
            if Path::parse(side, 0, language).is_none_or(|path| path.rank.is_glob() || path.rank.has_parameters()) {
                sound = false;
                reader.error(at, value, format!("`{side}` is not a path of {language} without globs"));
            }
        }
        if sound {
            pairs.push((spelling.to_owned(), target.to_string(), reader.line(key.span().start)));
        }
    }
    pairs
}
