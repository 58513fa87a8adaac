//! The parser of `[[handover]]` rows.

use blocklint_core::{Effect, Runtime};
use toml::de::{DeTable, DeValue};

use super::super::rows::{CallRow, Entry, HandoverContext, HandoverRow, RowEffect, Selector};
use super::super::words::{Passes, Phase, Runs, Via};
use super::RowTable;
use super::reader::{Reader, TableKey, Value};
use super::values::runtime_words;

/// Every key of a `[[handover]]`.
pub(super) const KEYS: &[&str] = &[
    "path",
    "when",
    "unless",
    "version",
    "unchecked",
    "argument",
    "via",
    "context",
    "runtime",
    "phase",
    "wraps",
    "effect",
    "passes",
    "gives",
    "native",
    "process",
    "bounded",
    "offer",
    "during",
    "parses",
    "rewrite",
    "note",
];

pub(super) fn read(reader: &mut Reader<'_>, table: &RowTable<'_, '_>) -> Option<Entry<HandoverRow>> {
    // Selector and context are required; a row with these placeholders is never returned.
    let mut row = HandoverRow {
        line: table.line_of_path(reader),
        when: Vec::new(),
        unless: Vec::new(),
        version: None,
        unchecked: None,
        selector: Selector::Via(Via::Decorator),
        context: HandoverContext::Is(Runs::Caller),
        runtime: None,
        phase: None,
        wraps: false,
        called: None,
        passes: None,
        gives: Vec::new(),
        native: false,
        process: false,
        bounded: false,
        offer: Vec::new(),
        during: Vec::new(),
        parses: false,
        rewrite: None,
        note: None,
    };
    let (mut paths, mut argument, mut via, mut context) = (None, None, None, None);
    let mut effect = None;
    for (key, value) in table.keys.iter() {
        let table_key = table.table_key(key.get_ref());
        match table_key.key {
            "path" => paths = Some(reader.paths(table_key, value)),
            "when" => row.when = reader.conditions(table_key, value),
            "unless" => row.unless = reader.conditions(table_key, value),
            "version" => row.version = reader.version(table_key, value),
            "unchecked" => row.unchecked = reader.string(table_key, value),
            "argument" => argument = Some(reader.argument(table_key, value)),
            "via" => via = Some((reader.word(table_key, value, Via::WORDS, Via::parse), value.span().start)),
            "context" => context = Some(self::context(reader, table_key, value)),
            "runtime" => row.runtime = reader.word(table_key, value, &runtime_words(), Runtime::parse),
            "phase" => row.phase = reader.word(table_key, value, Phase::WORDS, Phase::parse),
            "wraps" => row.wraps = reader.boolean(table_key, value).unwrap_or(false),
            "effect" => {
                let words: Vec<_> = Effect::ALL.iter().map(|effect| effect.as_str()).collect();
                effect = reader.word(table_key, value, &words, Effect::parse);
            }
            "passes" => row.passes = reader.word(table_key, value, Passes::WORDS, Passes::parse),
            "gives" => row.gives = reader.type_exprs(table_key, value),
            "native" => row.native = reader.boolean(table_key, value).unwrap_or(false),
            "process" => row.process = reader.boolean(table_key, value).unwrap_or(false),
            "bounded" => row.bounded = reader.boolean(table_key, value).unwrap_or(false),
            "offer" => row.offer = reader.runtimes(table_key, value),
            "during" => row.during = reader.path_texts(table_key, value),
            "parses" => row.parses = reader.boolean(table_key, value).unwrap_or(false),
            "rewrite" => row.rewrite = reader.template(table_key, value),
            "note" => row.note = reader.string(table_key, value),
            _ => reader.unknown_key(table_key, key.span().start, KEYS),
        }
    }
    for (key, missing) in [("path", paths.is_none()), ("context", context.is_none())] {
        if missing {
            table.report_missing(reader, key);
        }
    }
    row.selector = match (argument, via) {
        (Some(argument), None) => Selector::Argument(argument?),
        (None, Some((via, _))) => Selector::Via(via?),
        (Some(_), Some((_, offset))) => {
            reader.error_in(table.table, "via", offset, "contradicts `argument`: give exactly one of the two");
            return None;
        }
        (None, None) => {
            reader.error_in(table.table, "argument", table.start, "missing key: give `argument` or `via`");
            return None;
        }
    };
    row.context = context??;
    row.called = effect.map(|effect| Box::new(call_row_of_result(&row, effect)));
    let paths = paths.filter(|paths| !paths.is_empty())?;
    Some(table.entry(reader, KEYS, paths, row))
}

/// Returns the `[[call]]` row for calling the result of a row with `wraps`.
fn call_row_of_result(row: &HandoverRow, effect: Effect) -> CallRow {
    CallRow {
        line: row.line,
        when: row.when.clone(),
        unless: row.unless.clone(),
        version: row.version.clone(),
        unchecked: row.unchecked.clone(),
        effect: Some(RowEffect::Holds(effect)),
        note: row.note.clone(),
        ..CallRow::default()
    }
}

fn context(reader: &mut Reader<'_>, table_key: TableKey<'_>, value: &Value<'_>) -> Option<HandoverContext> {
    let DeValue::Table(table) = value.get_ref() else {
        return reader.word(table_key, value, Runs::WORDS, Runs::parse).map(HandoverContext::Is);
    };
    let has = |table: &DeTable<'_>, name: &str| table.keys().any(|key| key.get_ref() == name);
    match table.len() {
        1 if has(table, "of") => {
            let (_, argument) = table.iter().next()?;
            reader.argument(table_key, argument).map(HandoverContext::Of)
        }
        2 if has(table, "sync") && has(table, "async") => {
            let (mut sync, mut async_) = (None, None);
            for (key, value) in table.iter() {
                let runs = reader.word(table_key, value, Runs::WORDS, Runs::parse);
                if key.get_ref() == "sync" { sync = runs } else { async_ = runs }
            }
            Some(HandoverContext::BySync { sync: sync?, async_: async_? })
        }
        _ => {
            reader.error(table_key, value, "must be a context, { sync = ..., async = ... } or { of = argument }");
            None
        }
    }
}
