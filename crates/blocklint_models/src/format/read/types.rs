//! `[[type]]` rows.

use toml::de::DeValue;

use super::super::rows::{Entry, TypeRow};
use super::super::type_expr::TypeExpr;
use super::super::words::{Bound, Role, Source};
use super::Row;
use super::call::scheduler;
use super::reader::{At, Reader, Value};

/// Every key of a `[[type]]`.
pub(super) const KEYS: &[&str] = &[
    "path",
    "version",
    "unchecked",
    "params",
    "bases",
    "fields",
    "element",
    "awaits",
    "enters",
    "through",
    "functional",
    "role",
    "source",
    "tags",
    "scheduler",
    "bound",
];

pub(super) fn read(reader: &mut Reader<'_>, table: &Row<'_, '_>) -> Option<Entry<TypeRow>> {
    let mut row = TypeRow { line: table.line_of_path(reader), ..TypeRow::default() };
    let mut paths = None;
    for (key, value) in table.keys.iter() {
        let at = table.at(key.get_ref());
        match at.key {
            "path" => paths = Some(reader.paths(at, value)),
            "version" => row.version = reader.version(at, value),
            "unchecked" => row.unchecked = reader.string(at, value),
            "params" => row.params = reader.strings(at, value),
            "bases" => row.bases = reader.type_exprs(at, value),
            "fields" => row.fields = fields(reader, at, value),
            "element" => row.element = reader.type_expr(at, value),
            "awaits" => row.awaits = reader.type_expr(at, value),
            "enters" => row.enters = reader.type_expr(at, value),
            "through" => row.through = reader.string(at, value),
            "functional" => row.functional = reader.string(at, value),
            "role" => row.role = reader.word(at, value, Role::WORDS, Role::parse),
            "source" => row.source = reader.word(at, value, Source::WORDS, Source::parse),
            "tags" => row.tags = reader.strings(at, value),
            "bound" => row.bound = reader.word(at, value, Bound::WORDS, Bound::parse),
            "scheduler" => row.scheduler = scheduler(reader, at, value),
            _ => reader.unknown_key(at, key.span().start, KEYS),
        }
    }
    if paths.is_none() {
        table.missing(reader, "path");
    }
    let paths = paths.filter(|paths| !paths.is_empty())?;
    Some(table.entry(reader, KEYS, paths, row))
}

fn fields(reader: &mut Reader<'_>, at: At<'_>, value: &Value<'_>) -> Vec<(String, TypeExpr)> {
    let DeValue::Table(table) = value.get_ref() else {
        reader.error(at, value, "must be a table of field names and their types");
        return Vec::new();
    };
    table.iter().filter_map(|(name, value)| Some((name.get_ref().to_string(), reader.type_expr(at, value)?))).collect()
}
