//! `[[handover]]` rows.

use blocklint_core::{Effect, Runtime};
use toml::de::{DeTable, DeValue};

use super::super::rows::{CallRow, Entry, HandoverContext, HandoverRow, RowEffect, Selector};
use super::super::words::{Passes, Phase, Runs, Via};
use super::Row;
use super::reader::{At, Reader, Value};
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

pub(super) fn read(reader: &mut Reader<'_>, table: &Row<'_, '_>) -> Option<Entry<HandoverRow>> {
    // Selector and context are required; what stands here until they are read is never returned.
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
        let at = table.at(key.get_ref());
        match at.key {
            "path" => paths = Some(reader.paths(at, value)),
            "when" => row.when = reader.conditions(at, value),
            "unless" => row.unless = reader.conditions(at, value),
            "version" => row.version = reader.version(at, value),
            "unchecked" => row.unchecked = reader.string(at, value),
            "argument" => argument = Some(reader.argument(at, value)),
            "via" => via = Some((reader.word(at, value, Via::WORDS, Via::parse), value.span().start)),
            "context" => context = Some(self::context(reader, at, value)),
            "runtime" => row.runtime = reader.word(at, value, &runtime_words(), Runtime::parse),
            "phase" => row.phase = reader.word(at, value, Phase::WORDS, Phase::parse),
            "wraps" => row.wraps = reader.boolean(at, value).unwrap_or(false),
            "effect" => {
                let words: Vec<_> = Effect::ALL.iter().map(|effect| effect.as_str()).collect();
                effect = reader.word(at, value, &words, Effect::parse);
            }
            "passes" => row.passes = reader.word(at, value, Passes::WORDS, Passes::parse),
            "gives" => row.gives = reader.type_exprs(at, value),
            "native" => row.native = reader.boolean(at, value).unwrap_or(false),
            "process" => row.process = reader.boolean(at, value).unwrap_or(false),
            "bounded" => row.bounded = reader.boolean(at, value).unwrap_or(false),
            "offer" => row.offer = reader.runtimes(at, value),
            "during" => row.during = reader.path_texts(at, value),
            "parses" => row.parses = reader.boolean(at, value).unwrap_or(false),
            "rewrite" => row.rewrite = reader.template(at, value),
            "note" => row.note = reader.string(at, value),
            _ => reader.unknown_key(at, key.span().start, KEYS),
        }
    }
    for (key, missing) in [("path", paths.is_none()), ("context", context.is_none())] {
        if missing {
            table.missing(reader, key);
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
    row.called = effect.map(|effect| Box::new(called(&row, effect)));
    let paths = paths.filter(|paths| !paths.is_empty())?;
    Some(table.entry(reader, KEYS, paths, row))
}

/// Returns the row for calling the result of a row with `wraps`.
fn called(row: &HandoverRow, effect: Effect) -> CallRow {
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

fn context(reader: &mut Reader<'_>, at: At<'_>, value: &Value<'_>) -> Option<HandoverContext> {
    let DeValue::Table(table) = value.get_ref() else {
        return reader.word(at, value, Runs::WORDS, Runs::parse).map(HandoverContext::Is);
    };
    let get = |table: &DeTable<'_>, name: &str| table.keys().any(|key| key.get_ref() == name);
    match table.len() {
        1 if get(table, "of") => {
            let (_, of) = table.iter().next()?;
            reader.argument(at, of).map(HandoverContext::Of)
        }
        2 if get(table, "sync") && get(table, "async") => {
            let (mut sync, mut async_) = (None, None);
            for (key, value) in table.iter() {
                let runs = reader.word(at, value, Runs::WORDS, Runs::parse);
                if key.get_ref() == "sync" { sync = runs } else { async_ = runs }
            }
            Some(HandoverContext::BySync { sync: sync?, async_: async_? })
        }
        _ => {
            reader.error(at, value, "must be a context, { sync = ..., async = ... } or { of = argument }");
            None
        }
    }
}
