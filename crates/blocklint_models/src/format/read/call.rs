//! The parser of `[[call]]` rows.

use blocklint_core::{CallDuration, Effect, Fails, Severity, WorkKind};
use toml::de::DeValue;

use super::super::rows::{CallRow, Concurrency, Entry, MoveTo, Moves, RowEffect};
use super::super::words::{Asks, Bound, Creates, FixKind, Runs, Source, Thread, Unit, Via};
use super::RowTable;
use super::reader::{Reader, TableKey, Value};
use super::values::argument;

/// Every key of a `[[call]]`.
pub(super) const KEYS: &[&str] = &[
    "path",
    "when",
    "unless",
    "version",
    "unchecked",
    "effect",
    "kind",
    "takes",
    "native",
    "thread",
    "bound",
    "severity",
    "fails",
    "timeout",
    "unit",
    "default",
    "ended-by",
    "lazy",
    "consumes",
    "async",
    "property",
    "returns",
    "state",
    "source",
    "same",
    "adds",
    "asks",
    "serves",
    "via",
    "creates",
    "concurrency",
    "scheduler",
    "moves",
    "feature",
    "since",
    "instead",
    "rewrite",
    "fix",
    "note",
];

pub(super) fn read(reader: &mut Reader<'_>, table: &RowTable<'_, '_>) -> Option<Entry<CallRow>> {
    let mut row = CallRow { line: table.line_of_path(reader), ..CallRow::default() };
    let mut paths = None;
    for (key, value) in table.keys.iter() {
        let table_key = table.table_key(key.get_ref());
        match table_key.key {
            "path" => paths = Some(reader.paths(table_key, value)),
            "when" => row.when = reader.conditions(table_key, value),
            "unless" => row.unless = reader.conditions(table_key, value),
            "version" => row.version = reader.version(table_key, value),
            "unchecked" => row.unchecked = reader.string(table_key, value),
            "effect" => row.effect = effect(reader, table_key, value),
            "kind" => row.kind = reader.word(table_key, value, WorkKind::WORDS, WorkKind::parse),
            "takes" => row.duration = parse_duration(reader, table_key, value),
            "native" => match value.get_ref() {
                DeValue::String(_) => {
                    let words: Vec<_> = Severity::ALL.iter().map(|severity| severity.as_str()).collect();
                    row.native_severity = reader.word(table_key, value, &words, Severity::parse);
                    row.native = true;
                }
                _ => row.native = reader.boolean(table_key, value).unwrap_or(false),
            },
            "thread" => row.thread = reader.word(table_key, value, Thread::WORDS, Thread::parse),
            "bound" => row.bound = reader.word(table_key, value, Bound::WORDS, Bound::parse),
            "severity" => {
                let words: Vec<_> = Severity::ALL.iter().map(|severity| severity.as_str()).collect();
                row.severity = reader.word(table_key, value, &words, Severity::parse);
            }
            "fails" => {
                let words: Vec<_> = Fails::ALL.iter().map(|fails| fails.as_str()).collect();
                row.fails = reader.word(table_key, value, &words, Fails::parse);
            }
            "timeout" => row.timeout = reader.argument(table_key, value),
            "unit" => row.unit = reader.word(table_key, value, Unit::WORDS, Unit::parse),
            "default" => row.default = reader.number(table_key, value),
            "ended-by" => row.ended_by = reader.string(table_key, value),
            "lazy" => row.lazy = reader.boolean(table_key, value).unwrap_or(false),
            "consumes" => row.consumes = reader.argument(table_key, value),
            "async" => row.is_async = reader.boolean(table_key, value),
            "property" => row.property = reader.boolean(table_key, value).unwrap_or(false),
            "returns" => row.returns = reader.type_expr(table_key, value),
            "state" => row.state = reader.string(table_key, value),
            "source" => row.source = reader.word(table_key, value, Source::WORDS, Source::parse),
            "same" => row.same = reader.argument(table_key, value),
            "adds" => row.adds = reader.argument(table_key, value),
            "asks" => row.asks = reader.word(table_key, value, Asks::WORDS, Asks::parse),
            "serves" => row.serves = reader.boolean(table_key, value).unwrap_or(false),
            "via" => {
                row.via = reader
                    .word(table_key, value, &["decorator"], |word| (word == "decorator").then_some(Via::Decorator));
            }
            "creates" => row.creates = reader.word(table_key, value, Creates::WORDS, Creates::parse),
            "concurrency" => row.concurrency = concurrency(reader, table_key, value),
            "scheduler" => row.scheduler = scheduler(reader, table_key, value),
            "moves" => row.moves = moves(reader, table_key, value),
            "feature" => row.feature = reader.string(table_key, value),
            "since" => row.since = reader.since(table_key, value),
            "instead" => row.instead = reader.instead(table_key, value),
            "rewrite" => row.rewrite = reader.rewrite(table_key, value),
            "fix" => row.fix = reader.word(table_key, value, FixKind::WORDS, FixKind::parse),
            "note" => row.note = reader.string(table_key, value),
            _ => reader.unknown_key(table_key, key.span().start, KEYS),
        }
    }
    if paths.is_none() {
        table.report_missing(reader, "path");
    }
    let paths = paths.filter(|paths| !paths.is_empty())?;
    Some(table.entry(reader, KEYS, paths, row))
}

fn effect(reader: &mut Reader<'_>, table_key: TableKey<'_>, value: &Value<'_>) -> Option<RowEffect> {
    let mut words: Vec<_> = Effect::ALL.iter().map(|effect| effect.as_str()).collect();
    words.push("none");
    reader.word(table_key, value, &words, |word| match word {
        "none" => Some(RowEffect::Harmless),
        _ => Effect::parse(word).map(RowEffect::Holds),
    })
}

fn parse_duration(reader: &mut Reader<'_>, table_key: TableKey<'_>, value: &Value<'_>) -> Option<CallDuration> {
    let text = reader.string(table_key, value)?;
    let duration = CallDuration::parse(&text);
    if duration.is_none() {
        reader.error(table_key, value, format!("must be {}", CallDuration::EXPECTED_FORMS));
    }
    duration
}

fn concurrency(reader: &mut Reader<'_>, table_key: TableKey<'_>, value: &Value<'_>) -> Option<Concurrency> {
    match value.get_ref() {
        DeValue::String(word) if word == "unbounded" => return Some(Concurrency::Unbounded),
        DeValue::String(word) if word == "bounded" => return Some(Concurrency::Bounded),
        _ => {}
    }
    let argument = argument(value.get_ref());
    if argument.is_none() {
        reader.error(table_key, value, r#"must be "unbounded", "bounded" or an argument"#);
    }
    argument.map(Concurrency::Argument)
}

/// Parses a context or `caller`.
pub(super) fn scheduler(reader: &mut Reader<'_>, table_key: TableKey<'_>, value: &Value<'_>) -> Option<Runs> {
    let words: Vec<_> = Runs::WORDS.iter().copied().filter(|word| *word != "chain").collect();
    reader.word(table_key, value, &words, |word| Runs::parse(word).filter(|runs| *runs != Runs::Chain))
}

fn moves(reader: &mut Reader<'_>, table_key: TableKey<'_>, value: &Value<'_>) -> Option<Moves> {
    const FORM: &str = "must be { source = ... } or { rest = ... }, a context or the argument that holds the scheduler";
    let target = |value: &Value<'_>| match value.get_ref() {
        DeValue::String(word) if Runs::parse(word).is_some() => Runs::parse(word).map(MoveTo::Runs),
        other => argument(other).map(MoveTo::Scheduler),
    };
    let parsed = match value.get_ref() {
        DeValue::Table(table) if table.len() == 1 => table.iter().next().and_then(|(key, value)| {
            let target = target(value)?;
            match key.get_ref().as_ref() {
                "source" => Some(Moves::Source(target)),
                "rest" => Some(Moves::Rest(target)),
                _ => None,
            }
        }),
        _ => None,
    };
    if parsed.is_none() {
        reader.error(table_key, value, FORM);
    }
    parsed
}
