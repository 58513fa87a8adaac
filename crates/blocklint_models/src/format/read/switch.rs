//! The parser of `[[switch]]` rows.

use toml::de::{DeTable, DeValue};

use super::super::rows::{Entry, Setting, Switch};
use super::super::words::SwitchContext;
use super::RowTable;
use super::reader::{Reader, TableKey, Value};

/// Every key of a `[[switch]]`.
pub(super) const KEYS: &[&str] = &[
    "name", "call", "import", "library", "version", "without", "setting", "context", "green", "patches", "copies",
    "note",
];

pub(super) fn read(reader: &mut Reader<'_>, table: &RowTable<'_, '_>) -> Option<Entry<Switch>> {
    let mut switch = Switch { line: reader.line(table.start), ..Switch::default() };
    let mut name = None;
    for (key, value) in table.keys.iter() {
        let table_key = table.table_key(key.get_ref());
        match table_key.key {
            "name" => name = Some(reader.string(table_key, value)),
            "call" => switch.call = reader.path_texts(table_key, value),
            "import" => switch.import = reader.path_texts(table_key, value),
            "library" => switch.library = reader.string(table_key, value),
            "version" => switch.version = reader.version(table_key, value),
            "without" => switch.without = reader.string(table_key, value),
            "setting" => switch.setting = settings(reader, table_key, value),
            "context" => switch.context = reader.word(table_key, value, SwitchContext::WORDS, SwitchContext::parse),
            "green" => switch.green = reader.strings(table_key, value),
            "patches" => switch.patches = reader.path_texts(table_key, value),
            "copies" => switch.copies = reader.path_texts(table_key, value),
            "note" => switch.note = reader.string(table_key, value),
            _ => reader.unknown_key(table_key, key.span().start, KEYS),
        }
    }
    let has = |name: &str| table.keys.keys().any(|key| key.get_ref() == name);
    if name.is_none() {
        table.report_missing(reader, "name");
    }
    if !["call", "import", "library", "setting"].iter().any(|key| has(key)) {
        let message = "nothing turns it on: give `call`, `import`, `library` or `setting`";
        reader.error_in(table.table, "name", table.offset_of("name"), message);
    }
    for key in ["version", "without"] {
        if has(key) && !has("library") {
            reader.error_in(table.table, key, table.offset_of(key), format!("`{key}` needs `library`"));
        }
    }
    switch.name = name??;
    Some(table.entry(reader, KEYS, Vec::new(), switch))
}

fn settings(reader: &mut Reader<'_>, table_key: TableKey<'_>, value: &Value<'_>) -> Vec<Setting> {
    const FORM: &str = "must be a list of { file, key, equals } or { command, option, equals }";
    let DeValue::Array(items) = value.get_ref() else {
        reader.error(table_key, value, FORM);
        return Vec::new();
    };
    let mut settings = Vec::new();
    for item in items {
        let DeValue::Table(table) = item.get_ref() else {
            reader.error(table_key, item, FORM);
            continue;
        };
        let keys: Vec<&str> = table.keys().map(|key| key.get_ref().as_ref()).collect();
        // The keys of a parsed TOML table are sorted.
        match keys.as_slice() {
            ["equals", "file", "key"] => settings.extend(file_setting(reader, table_key, table)),
            ["command", "equals", "option"] => settings.extend(command_setting(reader, table_key, table)),
            _ => reader.error(table_key, item, FORM),
        }
    }
    settings
}

fn file_setting(reader: &mut Reader<'_>, table_key: TableKey<'_>, table: &DeTable<'_>) -> Option<Setting> {
    let (mut file, mut name, mut equals) = (None, None, Vec::new());
    for (key, value) in table.iter() {
        match key.get_ref().as_ref() {
            "file" => file = reader.string(table_key, value),
            "key" => name = reader.string(table_key, value),
            _ => equals = reader.strings(table_key, value),
        }
    }
    Some(Setting::File { file: file?, key: name?, equals })
}

fn command_setting(reader: &mut Reader<'_>, table_key: TableKey<'_>, table: &DeTable<'_>) -> Option<Setting> {
    let (mut command, mut option, mut equals) = (None, Vec::new(), Vec::new());
    for (key, value) in table.iter() {
        match key.get_ref().as_ref() {
            "command" => command = reader.string(table_key, value),
            "option" => option = reader.strings(table_key, value),
            _ => equals = reader.strings(table_key, value),
        }
    }
    Some(Setting::Command { command: command?, option, equals })
}
