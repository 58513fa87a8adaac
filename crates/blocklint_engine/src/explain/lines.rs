//! Where a line stands, in sentences.

use blocklint_analysis::{Explainer, FileId, LineContext};
use blocklint_core::{Language, Span};
use blocklint_facts::{BodyKind, Form, SuppressionKind};
use blocklint_output::Remark;

use super::sites::{body, place, place_of};
use crate::fixing::is_generated;

/// The kind of text that a line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    Blank,
    Comment,
    Code,
}

/// Returns what a line is by its first characters.
pub(super) fn kind_of(text: &str, language: Language) -> LineKind {
    let begins = |words: &[&str]| words.iter().any(|word| text.trim_start().starts_with(word));
    match language {
        _ if text.trim().is_empty() => LineKind::Blank,
        Language::Python if begins(&["#"]) => LineKind::Comment,
        Language::Rust | Language::Java if begins(&["//", "/*", "* ", "*/"]) => LineKind::Comment,
        _ => LineKind::Code,
    }
}

/// Returns where a line stands: ``in async function `app.handler` ``.
pub(super) fn stands(explainer: &Explainer<'_, '_>, standing: &LineContext, kind: LineKind) -> String {
    let linker = explainer.linker();
    let program = linker.program;
    let around = || match program.body(standing.body).kind {
        BodyKind::Module => format!("outside of any function of {}", body(linker, standing.body)),
        _ => format!("in {}", body(linker, standing.body)),
    };
    if let Some(&defined) = standing.defines.first() {
        return format!("defines {}", body(linker, defined));
    }
    if let Some(class) = standing.class {
        return format!("defines class `{}`", linker.qualified_class(class));
    }
    match kind {
        LineKind::Blank => format!("a blank line {}", around()),
        LineKind::Comment => format!("a comment {}", around()),
        LineKind::Code if standing.is_import => format!("an import {}", around()),
        LineKind::Code => around(),
    }
}

/// Returns what is to be said of a line besides its calls and findings.
pub(super) fn remarks(
    explainer: &Explainer<'_, '_>,
    standing: &LineContext,
    is_called: bool,
    has_findings: bool,
) -> Vec<Remark> {
    let linker = explainer.linker();
    let mut found = Vec::new();
    if let Some(call) = standing.enclosing_call.filter(|_| !is_called) {
        found.push(Remark::at(
            format!("goes on with the call of `{}`", linker.written_site(call)),
            place_of(linker, call),
        ));
    } else if !is_called && !has_findings && standing.defines.is_empty() && standing.class.is_none() {
        found.push(Remark::new("nothing is called on this line"));
    }
    if let Some(nearest) = standing.nearest.filter(|_| !is_called && !has_findings && standing.enclosing_call.is_none())
    {
        let says = format!("the nearest function is {}", body(linker, nearest));
        found.push(Remark::at(says, place(linker, nearest.file, linker.program.body(nearest).name_span)));
    }
    found
}

/// Returns what is to be said of a file as a whole.
pub(super) fn of_file(explainer: &Explainer<'_, '_>, file: FileId, text: &str) -> Vec<Remark> {
    let linker = explainer.linker();
    let mut found = Vec::new();
    if linker.is_never_built(file) {
        let says = "the file is not part of the program: no `mod` declares it, so the compiler never sees it";
        found.push(Remark::new(says));
    }
    if linker.program.is_test(file) {
        found.push(Remark::new("the file holds tests: what only they reach is left aside"));
    }
    if is_generated(text) {
        found.push(Remark::new("the file says that a program wrote it: no fix is made there"));
    }
    found
}

/// Returns what the comments of a line that silence rules do.
pub(super) fn of_comments(explainer: &Explainer<'_, '_>, file: FileId, line: Span) -> Vec<Remark> {
    let facts = explainer.linker().program.facts(file);
    let used = &explainer.solved().used_comments;
    let rows = facts.suppressions.iter().enumerate().filter(|(_, row)| {
        let is_meant = matches!(row.kind, SuppressionKind::Ignore | SuppressionKind::Noqa);
        is_meant && line.start <= row.comment.start && row.comment.start <= line.end
    });
    rows.filter_map(|(at, row)| {
        let mut rules: Vec<String> = used
            .iter()
            .filter(|one| one.file == file && one.comment as usize == at)
            .map(|one| one.rule.to_string())
            .collect();
        rules.sort_unstable();
        rules.dedup();
        let named: Vec<&str> = facts
            .list(row.rules)
            .iter()
            .filter_map(|&word| match facts.form(word) {
                Form::Str(sym) => Some(facts.text(sym)),
                _ => None,
            })
            .collect();
        let says = match (rules.is_empty(), named.is_empty()) {
            (false, _) => format!("the comment here silences {}", rules.join(", ")),
            // A bare `noqa` is for other tools as well.
            (true, true) if row.kind == SuppressionKind::Noqa => return None,
            (true, true) => "the comment here silences nothing".to_owned(),
            (true, false) => format!("the comment here silences nothing of {}", named.join(", ")),
        };
        Some(Remark::new(says))
    })
    .collect()
}
