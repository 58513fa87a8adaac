//! The parser of `[[type]]` rows.

use toml::de::DeValue;

use super::super::rows::{Entry, TypeRow};
use super::super::type_expr::TypeExpr;
use super::super::words::{Bound, Role, Source};
use super::RowTable;
use super::call::scheduler;
use super::reader::{Reader, TableKey, Value};

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

pub(super) fn read(reader: &mut Reader<'_>, table: &RowTable<'_, '_>) -> Option<Entry<TypeRow>> {
    let mut row = TypeRow { line: table.line_of_path(reader), ..TypeRow::default() };
    let mut paths = None;
    for (key, value) in table.keys.iter() {
        let table_key = table.table_key(key.get_ref());
        match table_key.key {
            "path" => paths = Some(reader.paths(table_key, value)),
            "version" => row.version = reader.version(table_key, value),
            "unchecked" => row.unchecked = reader.string(table_key, value),
            "params" => row.params = reader.strings(table_key, value),
            "bases" => row.bases = reader.type_exprs(table_key, value),
            "fields" => row.fields = fields(reader, table_key, value),
            "element" => row.element = reader.type_expr(table_key, value),
            "awaits" => row.awaits = reader.type_expr(table_key, value),
            "enters" => row.enters = reader.type_expr(table_key, value),
            "through" => row.through = reader.string(table_key, value),
            "functional" => row.functional = reader.string(table_key, value),
            "role" => row.role = reader.word(table_key, value, Role::WORDS, Role::parse),
            "source" => row.source = reader.word(table_key, value, Source::WORDS, Source::parse),
            "tags" => row.tags = reader.strings(table_key, value),
            "bound" => row.bound = reader.word(table_key, value, Bound::WORDS, Bound::parse),
            "scheduler" => row.scheduler = scheduler(reader, table_key, value),
            _ => reader.unknown_key(table_key, key.span().start, KEYS),
        }
    }
    if paths.is_none() {
        table.report_missing(reader, "path");
    }
    let paths = paths.filter(|paths| !paths.is_empty())?;
    Some(table.entry(reader, KEYS, paths, row))
}

fn fields(reader: &mut Reader<'_>, table_key: TableKey<'_>, value: &Value<'_>) -> Vec<(String, TypeExpr)> {
    let DeValue::Table(table) = value.get_ref() else {
        reader.error(table_key, value, "must be a table of field names and their types");
        return Vec::new();
    };
    table
        .iter()
        .filter_map(|(name, value)| Some((name.get_ref().to_string(), reader.type_expr(table_key, value)?)))
        .collect()
}
