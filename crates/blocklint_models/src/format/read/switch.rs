//! `[[switch]]` rows.

use toml::de::{DeTable, DeValue};

use super::super::rows::{Entry, Setting, Switch};
use super::super::words::SwitchContext;
use super::Row;
use super::reader::{At, Reader, Value};

/// Every key of a `[[switch]]`.
pub(super) const KEYS: &[&str] = &[
    "name", "call", "import", "library", "version", "without", "setting", "context", "green", "patches", "copies",
    "note",
];

pub(super) fn read(reader: &mut Reader<'_>, table: &Row<'_, '_>) -> Option<Entry<Switch>> {
    let mut switch = Switch { line: reader.line(table.start), ..Switch::default() };
    let mut name = None;
    for (key, value) in table.keys.iter() {
        let at = table.at(key.get_ref());
        match at.key {
            "name" => name = Some(reader.string(at, value)),
            "call" => switch.call = reader.path_texts(at, value),
            "import" => switch.import = reader.path_texts(at, value),
            "library" => switch.library = reader.string(at, value),
            "version" => switch.version = reader.version(at, value),
            "without" => switch.without = reader.string(at, value),
            "setting" => switch.setting = settings(reader, at, value),
            "context" => switch.context = reader.word(at, value, SwitchContext::WORDS, SwitchContext::parse),
            "green" => switch.green = reader.strings(at, value),
            "patches" => switch.patches = reader.path_texts(at, value),
            "copies" => switch.copies = reader.path_texts(at, value),
            "note" => switch.note = reader.string(at, value),
            _ => reader.unknown_key(at, key.span().start, KEYS),
        }
    }
    let has = |name: &str| table.keys.keys().any(|key| key.get_ref() == name);
    if name.is_none() {
        table.missing(reader, "name");
    }
    if !["call", "import", "library", "setting"].iter().any(|key| has(key)) {
        let message = "nothing turns it on: give `call`, `import`, `library` or `setting`";
        reader.error_in(table.table, "name", table.place_of("name"), message);
    }
    for key in ["version", "without"] {
        if has(key) && !has("library") {
            reader.error_in(table.table, key, table.place_of(key), format!("`{key}` needs `library`"));
        }
    }
    switch.name = name??;
    Some(table.entry(reader, KEYS, Vec::new(), switch))
}

fn settings(reader: &mut Reader<'_>, at: At<'_>, value: &Value<'_>) -> Vec<Setting> {
    const FORM: &str = "must be a list of { file, key, equals } or { command, option, equals }";
    let DeValue::Array(items) = value.get_ref() else {
        reader.error(at, value, FORM);
        return Vec::new();
    };
    let mut settings = Vec::new();
    for item in items {
        let DeValue::Table(table) = item.get_ref() else {
            reader.error(at, item, FORM);
            continue;
        };
        let keys: Vec<&str> = table.keys().map(|key| key.get_ref().as_ref()).collect();
        // A TOML table is sorted by key here.
        match keys.as_slice() {
            ["equals", "file", "key"] => settings.extend(file_setting(reader, at, table)),
            ["command", "equals", "option"] => settings.extend(command_setting(reader, at, table)),
            _ => reader.error(at, item, FORM),
        }
    }
    settings
}

fn file_setting(reader: &mut Reader<'_>, at: At<'_>, table: &DeTable<'_>) -> Option<Setting> {
    let (mut file, mut name, mut equals) = (None, None, Vec::new());
    for (key, value) in table.iter() {
        match key.get_ref().as_ref() {
            "file" => file = reader.string(at, value),
            "key" => name = reader.string(at, value),
            _ => equals = reader.strings(at, value),
        }
    }
    Some(Setting::File { file: file?, key: name?, equals })
}

fn command_setting(reader: &mut Reader<'_>, at: At<'_>, table: &DeTable<'_>) -> Option<Setting> {
    let (mut command, mut option, mut equals) = (None, Vec::new(), Vec::new());
    for (key, value) in table.iter() {
        match key.get_ref().as_ref() {
            "command" => command = reader.string(at, value),
            "option" => option = reader.strings(at, value),
            _ => equals = reader.strings(at, value),
        }
    }
    Some(Setting::Command { command: command?, option, equals })
}
