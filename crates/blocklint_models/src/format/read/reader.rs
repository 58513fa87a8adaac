//! The state of the parser of one file (`Reader`): its language, the errors so far, and the lines of offsets.

use blocklint_core::Language;
use toml::Spanned;
use toml::de::DeValue;

use super::super::error::{ModelError, Table, did_you_mean};
use super::lines::LineEnds;

/// A TOML value with its span.
pub(super) type Value<'t> = Spanned<DeValue<'t>>;

/// A key of a table, for messages about its value.
#[derive(Clone, Copy)]
pub(super) struct TableKey<'k> {
    pub(super) table: Table,
    pub(super) key: &'k str,
}

pub(super) struct Reader<'l> {
    label: &'l str,
    line_ends: LineEnds,
    /// The language of the header; paths and types are not parsed if it is unknown.
    pub(super) language: Option<Language>,
    errors: Vec<ModelError>,
}

impl<'l> Reader<'l> {
    pub(super) fn new(label: &'l str, text: &str) -> Self {
        Reader { label, line_ends: LineEnds::new(text), language: None, errors: Vec::new() }
    }

    pub(super) fn label(&self) -> &str {
        self.label
    }

    /// Returns the line of an offset, from 1.
    pub(super) fn line(&self, offset: usize) -> u32 {
        self.line_ends.line(offset)
    }

    pub(super) fn error_in(&mut self, table: Table, key: &str, offset: usize, message: impl Into<String>) {
        let line = self.line(offset);
        self.errors.push(ModelError {
            file: self.label.to_owned(),
            line,
            table,
            key: key.to_owned(),
            message: message.into(),
        });
    }

    pub(super) fn error(&mut self, table_key: TableKey<'_>, value: &Value<'_>, message: impl Into<String>) {
        self.error_in(table_key.table, table_key.key, value.span().start, message);
    }

    pub(super) fn unknown_key(&mut self, table_key: TableKey<'_>, offset: usize, known: &[&str]) {
        let message = format!("unknown key `{}`{}", table_key.key, did_you_mean(table_key.key, known.iter().copied()));
        self.error_in(table_key.table, table_key.key, offset, message);
    }

    /// Returns all errors, each once, in the order of lines.
    pub(super) fn finish(mut self) -> Vec<ModelError> {
        self.errors.sort();
        self.errors.dedup();
        self.errors
    }
}
