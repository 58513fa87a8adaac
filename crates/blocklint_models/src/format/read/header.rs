//! The parser of a model file's header (`language`, `library`, `roots`, …) and of its `[alias]` table.

use blocklint_core::Language;
use toml::de::{DeTable, DeValue};

use super::super::error::Table;
use super::super::path::Path;
use super::super::rows::{FileInfo, Managed};
use super::super::version::Version;
use super::reader::{Reader, TableKey, Value};
use super::values::literal;
use super::{Literal, Origin};

pub(super) const KEYS: &[&str] = &[
    "schema", "language", "library", "roots", "version", "docs", "managed", "alias", "call", "type", "handover",
    "switch",
];

/// Parses the header; `None` if the language is unknown.
pub(super) fn read(reader: &mut Reader<'_>, document: &DeTable<'_>, origin: Origin) -> Option<FileInfo> {
    let (mut has_schema, mut libraries, mut roots, mut version, mut docs) = (false, None, None, None, None);
    let mut managed = Vec::new();
    let mut has_language = false;
    for (key, value) in document.iter() {
        let table_key = TableKey { table: Table::Top, key: key.get_ref() };
        match table_key.key {
            "schema" => {
                has_schema = true;
                if literal(value.get_ref()) != Some(Literal::Int(1)) {
                    reader.error(table_key, value, "this blocklint reads schema 1");
                }
            }
            "language" => {
                has_language = true;
                let words: Vec<_> = Language::ALL.iter().map(|language| language.as_str()).collect();
                reader.language = reader.word(table_key, value, &words, Language::parse);
            }
            "library" => libraries = Some(reader.strings(table_key, value)),
            "roots" => roots = Some((reader.strings(table_key, value), value)),
            "version" => version = reader.version(table_key, value),
            "docs" => docs = reader.string(table_key, value),
            "managed" => managed = read_managed(reader, table_key, value),
            known if KEYS.contains(&known) => {}
            _ => reader.unknown_key(table_key, key.span().start, KEYS),
        }
    }
    let is_user = origin == Origin::User;
    let is_java = reader.language == Some(Language::Java);
    for (key, present) in [
        ("schema", has_schema),
        ("language", has_language),
        ("library", libraries.is_some() || is_user),
        ("docs", document.keys().any(|key| key.get_ref() == "docs") || is_user),
    ] {
        if !present {
            reader.error_in(Table::Top, key, 0, format!("missing key `{key}`"));
        }
    }
    if is_java && roots.is_none() && !is_user {
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
    let roots = if is_user { Vec::new() } else { roots };
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

/// Parses `[[managed]]`: bills of materials and plugins, with the library's version for their versions.
fn read_managed(reader: &mut Reader<'_>, table_key: TableKey<'_>, value: &Value<'_>) -> Vec<Managed> {
    const SHAPE: &str = r#"must be written `[[managed]]` with `by = ["group:bom"]` and `versions = { "2.1" = "3.2" }`"#;
    let read = |table: &DeTable<'_>| {
        let value_of =
            |name: &str| table.iter().find(|(key, _)| key.get_ref() == name).map(|(_, value)| value.get_ref());
        let (Some(DeValue::Array(by)), Some(DeValue::Table(versions)), 2) =
            (value_of("by"), value_of("versions"), table.len())
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
        reader.error(table_key, value, SHAPE);
        Vec::new()
    })
}

fn check_roots(reader: &mut Reader<'_>, roots: &[String], value: &Value<'_>, language: Language) {
    for root in roots {
        if Path::parse(root, 0, language).is_none_or(|path| path.rank.is_glob()) {
            let table_key = TableKey { table: Table::Top, key: "roots" };
            reader.error(table_key, value, format!("`{root}` is not a path of {language} without globs"));
        }
    }
}

/// Parses the pairs of `[alias]`, with their lines.
pub(super) fn aliases(reader: &mut Reader<'_>, document: &DeTable<'_>) -> Vec<(String, String, u32)> {
    let Some((_, value)) = document.iter().find(|(key, _)| key.get_ref() == "alias") else { return Vec::new() };
    let DeValue::Table(table) = value.get_ref() else {
        let table_key = TableKey { table: Table::Top, key: "alias" };
        let message = if matches!(value.get_ref(), DeValue::Array(_)) {
            "must be written `[alias]`, once"
        } else {
            "must be a table of strings"
        };
        reader.error(table_key, value, message);
        return Vec::new();
    };
    let mut pairs = Vec::new();
    for (key, value) in table.iter() {
        let spelling = key.get_ref().as_ref();
        let table_key = TableKey { table: Table::Alias, key: spelling };
        let DeValue::String(target) = value.get_ref() else {
            let is_dotted = matches!(value.get_ref(), DeValue::Table(_));
            let hint = if is_dotted { "; put the path in quotes" } else { "" };
            reader.error(table_key, value, format!("must be a path as a string{hint}"));
            continue;
        };
        let Some(language) = reader.language else { continue };
        let mut is_valid = true;
        for side in [spelling, target.as_ref()] {
            if Path::parse(side, 0, language).is_none_or(|path| path.rank.is_glob() || path.rank.has_parameters()) {
                is_valid = false;
                reader.error(table_key, value, format!("`{side}` is not a path of {language} without globs"));
            }
        }
        if is_valid {
            pairs.push((spelling.to_owned(), target.to_string(), reader.line(key.span().start)));
        }
    }
    pairs
}
