//! The state of reading one file: where errors go and how offsets become lines.

use blocklint_core::Language;
use toml::Spanned;
use toml::de::DeValue;

use super::super::error::{ModelError, Table, near};
use super::lines::Lines;

/// A TOML value with its place.
pub(super) type Value<'t> = Spanned<DeValue<'t>>;

/// The key being read.
#[derive(Clone, Copy)]
pub(super) struct At<'k> {
    pub(super) table: Table,
    pub(super) key: &'k str,
}

pub(super) struct Reader<'l> {
    label: &'l str,
    lines: Lines,
    /// Known once the header is read; without it paths and types are not looked into.
    pub(super) language: Option<Language>,
    errors: Vec<ModelError>,
}

impl<'l> Reader<'l> {
    pub(super) fn new(label: &'l str, text: &str) -> Self {
        Reader { label, lines: Lines::of(text), language: None, errors: Vec::new() }
    }

    pub(super) fn label(&self) -> &str {
        self.label
    }

    /// Returns the line of an offset, from 1.
    pub(super) fn line(&self, offset: usize) -> u32 {
        self.lines.line(offset)
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

    pub(super) fn error(&mut self, at: At<'_>, value: &Value<'_>, message: impl Into<String>) {
        self.error_in(at.table, at.key, value.span().start, message);
    }

    pub(super) fn unknown_key(&mut self, at: At<'_>, offset: usize, known: &[&str]) {
        let message = format!("unknown key `{}`{}", at.key, near(at.key, known.iter().copied()));
        self.error_in(at.table, at.key, offset, message);
    }

    /// Returns all errors, in the order of lines, each once.
    pub(super) fn finish(mut self) -> Vec<ModelError> {
        self.errors.sort();
        self.errors.dedup();
        self.errors
    }
}
