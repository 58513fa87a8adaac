//! The checks of a single row: the roots and spelling of its paths, and keys that need or exclude other keys.

use blocklint_core::{Context, Language, WorkKind};

use super::super::error::{ModelError, Table};
use super::super::path::{is_under, qualified, split_parameters};
use super::super::read::Origin;
use super::super::rows::{CallRow, Entry, File, HandoverContext, HandoverRow, RowEffect};
use super::super::words::{FixKind, Runs};
use super::aliases::Aliases;

/// The keys that describe nothing if a row has no other keys.
const FRAME: &[&str] = &["path", "when", "unless", "version", "unchecked", "property"];
/// The keys that need `effect`.
const NEED_EFFECT: &[&str] = &["kind", "takes", "native", "thread", "severity", "fails", "timeout", "fix"];
/// The keys that contradict `effect = "none"`.
const CONTRADICT_HARMLESS: &[&str] = &[
    "kind", "takes", "native", "thread", "severity", "fails", "timeout", "unit", "default", "lazy", "instead",
    "rewrite", "fix",
];

pub(super) fn check(file: &File, origin: Origin, aliases: &Aliases<'_>, errors: &mut Vec<ModelError>) {
    for entry in &file.calls {
        let mut row = RowCheck { file, table: Table::Call, entry, errors };
        row.check_paths(origin, aliases);
        row.check_call();
        row.check_kind();
    }
    for entry in &file.types {
        let mut row = RowCheck { file, table: Table::Type, entry, errors };
        row.check_paths(origin, aliases);
        row.check_type();
    }
    for entry in &file.handovers {
        let mut row = RowCheck { file, table: Table::Handover, entry, errors };
        row.check_paths(origin, aliases);
        row.check_handover();
    }
}

struct RowCheck<'c, R> {
    file: &'c File,
    table: Table,
    entry: &'c Entry<R>,
    errors: &'c mut Vec<ModelError>,
}

impl<R> RowCheck<'_, R> {
    fn error(&mut self, key: &str, message: impl Into<String>) {
        self.errors.push(self.entry.error(&self.file.info, self.table, key, message));
    }

    fn error_at(&mut self, key: &str, line: u32, message: impl Into<String>) {
        self.errors.push(ModelError { line, ..self.entry.error(&self.file.info, self.table, key, message) });
    }

    fn check_paths(&mut self, origin: Origin, aliases: &Aliases<'_>) {
        let info = &self.file.info;
        for path in &self.entry.paths {
            let (body, parameters) = split_parameters(&path.text);
            let is_under_root = |path: &str| info.roots.iter().any(|root| is_under(path, root, info.language));
            // A library can implement a foreign trait for its own type, or its own trait for a foreign type.
            let is_under_own_roots = match qualified(body) {
                Some((implementor, implemented, _)) => is_under_root(implementor) || is_under_root(implemented),
                None => is_under_root(body),
            };
            if origin != Origin::User && !is_under_own_roots {
                let roots = info.roots.join(", ");
                self.error_at("path", path.line, format!("`{}` is not under this file's roots ({roots})", path.text));
            }
            if let Some(canonical) = aliases.canonical(info.language, body)
                && canonical != body
            {
                let parameters = parameters.map_or(String::new(), |list| format!("({list})"));
                let message = format!("`{}` is an alias; write `{canonical}{parameters}`", path.text);
                self.error_at("path", path.line, message);
            }
        }
        if self.entry.keys.iter().all(|(key, _)| FRAME.contains(&key.as_str())) {
            self.error("path", "the row says nothing about the call");
        }
    }
}

impl RowCheck<'_, CallRow> {
    /// Reports a `kind` that is no kind of the row's effect.
    fn check_kind(&mut self) {
        let Some(effect) = self.entry.row.held_effect() else { return };
        let kinds = WorkKind::of_effect(effect);
        let listed = kinds.iter().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(", ");
        match self.entry.row.kind {
            Some(kind) if kinds.contains(&kind) => {}
            Some(_) if kinds.is_empty() => {
                self.error("kind", format!(r#"effect = "{effect}" is of one kind: leave `kind` out"#));
            }
            Some(kind) => {
                self.error("kind", format!(r#"`{kind}` is no kind of effect = "{effect}", which has {listed}"#));
            }
            None => {}
        }
    }

    fn check_call(&mut self) {
        let (entry, row) = (self.entry, &self.entry.row);
        if !entry.has("effect") && entry.all_known {
            for key in NEED_EFFECT {
                if entry.has(key) {
                    self.error(key, format!("`{key}` needs `effect`"));
                }
            }
        }
        if entry.has("unit") && !entry.has("timeout") && entry.all_known {
            self.error("unit", "`unit` needs `timeout`");
        }
        if entry.has("default") && !entry.has("timeout") && entry.all_known {
            self.error("default", "`default` needs `timeout`");
        }
        if row.effect == Some(RowEffect::Harmless) {
            for key in CONTRADICT_HARMLESS {
                if entry.has(key) {
                    self.error(key, format!(r#"`{key}` contradicts effect = "none""#));
                }
            }
        }
        if entry.has("thread") && self.file.info.language != Language::Python {
            self.error("thread", "only Python has a GIL");
        }
        if entry.has("feature") && self.file.info.language != Language::Rust {
            self.error("feature", "only Rust has features");
        }
        if row.fix == Some(FixKind::None) {
            if !entry.has("note") && entry.all_known {
                self.error("fix", r#"fix = "none" needs `note`: say why"#);
            }
            for key in ["instead", "rewrite"] {
                if entry.has(key) {
                    self.error("fix", format!(r#"fix = "none" contradicts `{key}`"#));
                }
            }
        }
        if row.property && entry.paths.iter().any(|path| path.rank.is_glob()) {
            self.error("property", "a glob matches calls only, no reading of a property");
        }
    }
}

impl RowCheck<'_, super::super::rows::TypeRow> {
    fn check_type(&mut self) {
        let row = &self.entry.row;
        if let Some(through) = &row.through
            && !row.params.contains(through)
        {
            self.error("through", format!("`{through}` is not one of `params`"));
        }
        for path in &self.entry.paths {
            if path.rank.is_glob() || path.rank.has_parameters() {
                self.error_at("path", path.line, format!("`{}` is a pattern: a type has one path", path.text));
            }
        }
    }
}

impl RowCheck<'_, HandoverRow> {
    fn check_handover(&mut self) {
        let (entry, row) = (self.entry, &self.entry.row);
        if entry.has("effect") && !row.wraps && entry.all_known {
            self.error("effect", "`effect` needs `wraps = true`");
        }
        let can_be_offered = matches!(row.context, HandoverContext::Is(Runs::In(Context::Worker) | Runs::Chain));
        if entry.has("offer") && !can_be_offered {
            self.error("offer", "only a handover to a worker, or at a chain, can be offered as a fix");
        }
        if entry.has("process") && self.file.info.language != Language::Python {
            self.error("process", "only Python has a GIL");
        }
        let runs_later = row.context == HandoverContext::Is(Runs::Caller);
        if entry.has("during") && !runs_later && entry.all_known {
            self.error("during", r#"`during` needs context = "caller""#);
        }
    }
}

/// Returns an error for each row without a `kind` whose effect is divided into kinds of work. Built-in rows must state
/// the kind, because it decides the severity.
pub fn check_kinds(files: &[File]) -> Vec<ModelError> {
    let mut errors = Vec::new();
    for file in files {
        for entry in &file.calls {
            let Some(effect) = entry.row.held_effect().filter(|_| entry.row.kind.is_none()) else { continue };
            let kinds = WorkKind::of_effect(effect).iter().map(|kind| format!("`{kind}`")).collect::<Vec<_>>();
            if !kinds.is_empty() {
                let message = format!(r#"effect = "{effect}" needs `kind`: {}"#, kinds.join(", "));
                errors.push(entry.error(&file.info, Table::Call, "effect", message));
            }
        }
    }
    errors
}
