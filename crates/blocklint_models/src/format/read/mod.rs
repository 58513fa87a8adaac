//! The parser of model files: it turns TOML text into a [`File`], and collects every error of the file.

mod call;
mod condition;
mod handover;
mod header;
mod lines;
mod reader;
mod switch;
mod types;
mod values;

use toml::de::{DeTable, DeValue};

use super::condition::Literal;
use super::error::{ModelError, Table};
use super::path::Path;
use super::rows::{Entry, File, FileInfo};
use reader::{Reader, TableKey, Value};

/// The origin of a model file, which decides the keys that it must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A file of `rules/models`.
    BuiltIn,
    /// A file that a package ships; it must have the keys of a built-in file.
    Shipped,
    /// A file of the user: `library`, `docs` and `roots` may be missing, and it may describe any path.
    User,
}

/// Parses one model file. Returns the rows without errors together with the errors of the others, but no file if its
/// `language` is unknown. `check_layer` checks the rules that depend on other files.
pub fn read_file(label: &str, text: &str, origin: Origin) -> (Option<File>, Vec<ModelError>) {
    let mut reader = Reader::new(label, text);
    let (document, problems) = DeTable::parse_recoverable(text);
    let document = document.get_ref();
    for problem in &problems {
        let start = problem.span().map_or(0, |span| span.start);
        reader.error_in(Table::Top, "toml", start, problem.message().trim().replace('\n', ", "));
    }
    let info = header::read(&mut reader, document, origin);
    let aliases = header::aliases(&mut reader, document);
    let (mut calls, mut types, mut handovers, mut switches) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // Rows are parsed even if the language is unknown, because their unknown keys are errors too.
    for (key, value) in document.iter() {
        match key.get_ref().as_ref() {
            "call" => calls = entries(&mut reader, Table::Call, value, call::read),
            "type" => types = entries(&mut reader, Table::Type, value, types::read),
            "handover" => handovers = entries(&mut reader, Table::Handover, value, handover::read),
            "switch" => switches = entries(&mut reader, Table::Switch, value, switch::read),
            _ => {}
        }
    }
    let dated = calls.iter().any(|entry| entry.row.since.is_some());
    let file = info.map(|info| File { info: FileInfo { dated, ..info }, aliases, calls, types, handovers, switches });
    (file, reader.finish())
}

/// Returns the rows of `[[name]]`; `read` parses one of them and returns `None` for a row that is not usable.
fn entries<T>(
    reader: &mut Reader<'_>,
    table: Table,
    value: &Value<'_>,
    read: impl Fn(&mut Reader<'_>, &RowTable<'_, '_>) -> Option<T>,
) -> Vec<T> {
    let DeValue::Array(items) = value.get_ref() else {
        let name = table.name();
        reader.error_in(Table::Top, name, value.span().start, format!("must be written `[[{name}]]`, once per row"));
        return Vec::new();
    };
    let mut rows = Vec::new();
    for item in items {
        let DeValue::Table(keys) = item.get_ref() else {
            let name = table.name();
            reader.error_in(Table::Top, name, item.span().start, format!("must be written `[[{name}]]`, once per row"));
            continue;
        };
        let row = RowTable { table, keys, start: item.span().start };
        rows.extend(read(reader, &row));
    }
    rows
}

/// A table `[[...]]` of the document.
struct RowTable<'d, 't> {
    table: Table,
    keys: &'d DeTable<'t>,
    /// Offset of `[[...]]`.
    start: usize,
}

impl<'d, 't> RowTable<'d, 't> {
    fn table_key<'k>(&self, key: &'k str) -> TableKey<'k> {
        TableKey { table: self.table, key }
    }

    fn report_missing(&self, reader: &mut Reader<'_>, key: &str) {
        reader.error_in(self.table, key, self.start, format!("missing key `{key}`"));
    }

    /// Returns the parsed row with its paths and the lines of its keys.
    fn entry<R>(&self, reader: &Reader<'_>, known: &[&str], paths: Vec<Path>, row: R) -> Entry<R> {
        let keys = self.keys.keys().map(|key| (key.get_ref().to_string(), reader.line(key.span().start))).collect();
        let all_known = self.keys.keys().all(|key| known.contains(&key.get_ref().as_ref()));
        Entry { paths, line: reader.line(self.start), keys, all_known, row }
    }

    /// Returns the offset of a key, or of `[[...]]` if the key is missing.
    fn offset_of(&self, name: &str) -> usize {
        let key = self.keys.keys().find(|key| key.get_ref() == name);
        key.map_or(self.start, |key| key.span().start)
    }

    /// Returns the line of the `path` key, by which users refer to a row.
    fn line_of_path(&self, reader: &Reader<'_>) -> u32 {
        reader.line(self.offset_of("path"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No key has the type of a date, so each key reports a type error and no other error.
    #[test]
    fn every_key_is_parsed_and_its_type_is_checked() {
        for (table, keys) in
            [("call", call::KEYS), ("type", types::KEYS), ("handover", handover::KEYS), ("switch", switch::KEYS)]
        {
            for key in keys {
                let text = format!("language = \"python\"\n[[{table}]]\n{key} = 1979-05-27\n");
                let (_, errors) = read_file("f", &text, Origin::User);
                let key_errors: Vec<_> = errors.iter().filter(|error| error.key == *key && error.line == 3).collect();
                let typed = key_errors.iter().filter(|error| error.message.starts_with("must be")).count();
                let unknown = key_errors.iter().filter(|error| error.message.starts_with("unknown key")).count();
                assert_eq!((typed, unknown), (1, 0), "[[{table}]] {key}: {errors:?}");
            }
        }
    }

    #[test]
    fn every_key_of_the_header_is_parsed() {
        for key in header::KEYS {
            let text = format!("{key} = 1979-05-27\n");
            let (_, errors) = read_file("f", &text, Origin::BuiltIn);
            let key_errors: Vec<_> = errors.iter().filter(|error| error.key == *key).collect();
            assert!(key_errors.len() == 1 && !key_errors[0].message.starts_with("unknown"), "{key}: {errors:?}");
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic() {
        let deep = format!("x = {}", "[".repeat(20_000));
        for text in ["\u{feff}schema = 1", "[[call]]\n[[call.path]]", "[[type]]\r\npath = 1\r\n", "=", "[", "\0", &deep]
        {
            let (file, errors) = read_file("f", text, Origin::User);
            assert!(file.is_none() && !errors.is_empty());
        }
    }
}
