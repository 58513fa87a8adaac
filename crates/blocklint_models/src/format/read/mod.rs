//! From TOML text to a `File`, with every error of the file.

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
use reader::{At, Reader, Value};

/// Where a model file comes from, which decides what it must state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// `rules/models` of blocklint.
    BuiltIn,
    /// A package, which ships it with itself: it must state what a built-in file states.
    Shipped,
    /// The user's configuration: `library`, `docs` and `roots` may be missing, and it may describe anything.
    User,
}

/// Reads one model file. It returns as much of the file as it could read, also beside errors, but nothing without a
/// known `language`. `check_layer` checks the conditions that depend on other files.
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
    // Rows are read without a known language too: their unknown keys are errors all the same.
    for (key, value) in document.iter() {
        match key.get_ref().as_ref() {
            "call" => calls = entries(&mut reader, Table::Call, value, call::read),
            "type" => types = entries(&mut reader, Table::Type, value, types::read),
            "handover" => handovers = entries(&mut reader, Table::Handover, value, handover::read),
            "switch" => switches = entries(&mut reader, Table::Switch, value, switch::read),
            _ => {}
        }
    }
    let dated = calls.iter().any(|of| of.row.since.is_some());
    let file = info.map(|info| File { info: FileInfo { dated, ..info }, aliases, calls, types, handovers, switches });
    (file, reader.finish())
}

/// Returns the tables of `[[name]]`, each read by `read`, which leaves out those without a meaning.
fn entries<T>(
    reader: &mut Reader<'_>,
    table: Table,
    value: &Value<'_>,
    read: impl Fn(&mut Reader<'_>, &Row<'_, '_>) -> Option<T>,
) -> Vec<T> {
    let DeValue::Array(items) = value.get_ref() else {
        let name = table.name();
        reader.error_in(Table::Top, name, value.span().start, format!("must be written `[[{name}]]`, once per row"));
        return Vec::new();
    };
    let mut read_rows = Vec::new();
    for item in items {
        let DeValue::Table(keys) = item.get_ref() else {
            let name = table.name();
            reader.error_in(Table::Top, name, item.span().start, format!("must be written `[[{name}]]`, once per row"));
            continue;
        };
        let row = Row { table, keys, start: item.span().start };
        read_rows.extend(read(reader, &row));
    }
    read_rows
}

/// One `[[...]]` of the document.
struct Row<'d, 't> {
    table: Table,
    keys: &'d DeTable<'t>,
    /// Offset of its head.
    start: usize,
}

impl<'d, 't> Row<'d, 't> {
    fn at<'k>(&self, key: &'k str) -> At<'k> {
        At { table: self.table, key }
    }

    fn missing(&self, reader: &mut Reader<'_>, key: &str) {
        reader.error_in(self.table, key, self.start, format!("missing key `{key}`"));
    }

    /// Returns the row with its paths and lines.
    fn entry<R>(&self, reader: &Reader<'_>, known: &[&str], paths: Vec<Path>, row: R) -> Entry<R> {
        let keys = self.keys.keys().map(|key| (key.get_ref().to_string(), reader.line(key.span().start))).collect();
        let all_known = self.keys.keys().all(|key| known.contains(&key.get_ref().as_ref()));
        Entry { paths, line: reader.line(self.start), keys, all_known, row }
    }

    /// Returns the offset of a key, or of the head if the key is missing.
    fn place_of(&self, name: &str) -> usize {
        let key = self.keys.keys().find(|key| key.get_ref() == name);
        key.map_or(self.start, |key| key.span().start)
    }

    /// Returns the line of the `path` key, by which a row is known.
    fn line_of_path(&self, reader: &Reader<'_>) -> u32 {
        reader.line(self.place_of("path"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A date is of no key's type: each known key reports that, and nothing else about the key.
    #[test]
    fn every_key_is_read_and_its_type_checked() {
        for (table, keys) in
            [("call", call::KEYS), ("type", types::KEYS), ("handover", handover::KEYS), ("switch", switch::KEYS)]
        {
            for key in keys {
                let text = format!("language = \"python\"\n[[{table}]]\n{key} = 1979-05-27\n");
                let (_, errors) = read_file("f", &text, Origin::User);
                let of_key: Vec<_> = errors.iter().filter(|error| error.key == *key && error.line == 3).collect();
                let typed = of_key.iter().filter(|error| error.message.starts_with("must be")).count();
                let unknown = of_key.iter().filter(|error| error.message.starts_with("unknown key")).count();
                assert_eq!((typed, unknown), (1, 0), "[[{table}]] {key}: {errors:?}");
            }
        }
    }

    #[test]
    fn every_key_of_the_header_is_read() {
        for key in header::KEYS {
            let text = format!("{key} = 1979-05-27\n");
            let (_, errors) = read_file("f", &text, Origin::BuiltIn);
            let of_key: Vec<_> = errors.iter().filter(|error| error.key == *key).collect();
            assert!(of_key.len() == 1 && !of_key[0].message.starts_with("unknown"), "{key}: {errors:?}");
        }
    }

    #[test]
    fn no_text_makes_it_panic() {
        let deep = format!("x = {}", "[".repeat(20_000));
        for text in ["\u{feff}schema = 1", "[[call]]\n[[call.path]]", "[[type]]\r\npath = 1\r\n", "=", "[", "\0", &deep]
        {
            let (file, errors) = read_file("f", text, Origin::User);
            assert!(file.is_none() && !errors.is_empty());
        }
    }
}
