//! The explanation of a line besides its calls: the function that contains it, and remarks about its file and comments.

use blocklint_analysis::{Explainer, FileId, LineContext};
use blocklint_core::{Language, Span};
use blocklint_facts::{BodyKind, Form, SuppressionKind};
use blocklint_output::Remark;

use super::sites::{body_text, place, place_of_site};
use crate::fixing::is_generated;

/// The kind of text on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    Blank,
    Comment,
    Code,
}

/// Returns the kind of a line by its first characters.
pub(super) fn line_kind(text: &str, language: Language) -> LineKind {
    let begins = |words: &[&str]| words.iter().any(|word| text.trim_start().starts_with(word));
    match language {
        _ if text.trim().is_empty() => LineKind::Blank,
        Language::Python if begins(&["#"]) => LineKind::Comment,
        Language::Rust | Language::Java if begins(&["//", "/*", "* ", "*/"]) => LineKind::Comment,
        _ => LineKind::Code,
    }
}

/// Returns the location of a line: ``in async function `app.handler` ``.
pub(super) fn location_text(explainer: &Explainer<'_, '_>, context: &LineContext, kind: LineKind) -> String {
    let linker = explainer.linker();
    let program = linker.program;
    let around = || match program.body(context.body).kind {
        BodyKind::Module => format!("outside of any function of {}", body_text(linker, context.body)),
        _ => format!("in {}", body_text(linker, context.body)),
    };
    if let Some(&defined) = context.defines.first() {
        return format!("defines {}", body_text(linker, defined));
    }
    if let Some(class) = context.class {
        return format!("defines class `{}`", linker.qualified_class(class));
    }
    match kind {
        LineKind::Blank => format!("a blank line {}", around()),
        LineKind::Comment => format!("a comment {}", around()),
        LineKind::Code if context.is_import => format!("an import {}", around()),
        LineKind::Code => around(),
    }
}

/// Returns the remarks about a line besides its calls and findings.
pub(super) fn remarks(
    explainer: &Explainer<'_, '_>,
    context: &LineContext,
    is_called: bool,
    has_findings: bool,
) -> Vec<Remark> {
    let linker = explainer.linker();
    let mut remarks = Vec::new();
    if let Some(call) = context.enclosing_call.filter(|_| !is_called) {
        remarks.push(Remark::at(
            format!("continues with the call of `{}`", linker.written_site(call)),
            place_of_site(linker, call),
        ));
    } else if !is_called && !has_findings && context.defines.is_empty() && context.class.is_none() {
        remarks.push(Remark::new("nothing is called on this line"));
    }
    if let Some(nearest) = context.nearest.filter(|_| !is_called && !has_findings && context.enclosing_call.is_none()) {
        let says = format!("the nearest function is {}", body_text(linker, nearest));
        remarks.push(Remark::at(says, place(linker, nearest.file, linker.program.body(nearest).name_span)));
    }
    remarks
}

/// Returns the remarks about a file.
pub(super) fn file_remarks(explainer: &Explainer<'_, '_>, file: FileId, text: &str) -> Vec<Remark> {
    let linker = explainer.linker();
    let mut remarks = Vec::new();
    if linker.is_never_built(file) {
        let says = "the file is not part of the program: no `mod` declares it, so the compiler never sees it";
        remarks.push(Remark::new(says));
    }
    if linker.program.is_test(file) {
        remarks.push(Remark::new("the file has tests: findings that only tests reach are left aside"));
    }
    if is_generated(text) {
        remarks.push(Remark::new("the file is generated, so it gets no fix"));
    }
    remarks
}

/// Returns a remark for each suppression comment on a line: the rules that it suppresses, or that it suppresses
/// nothing.
pub(super) fn comment_remarks(explainer: &Explainer<'_, '_>, file: FileId, line: Span) -> Vec<Remark> {
    let facts = explainer.linker().program.facts(file);
    let used = &explainer.solved().used_comments;
    let rows = facts.suppressions.iter().enumerate().filter(|(_, row)| {
        let is_suppression = matches!(row.kind, SuppressionKind::Ignore | SuppressionKind::Noqa);
        is_suppression && line.start <= row.comment.start && row.comment.start <= line.end
    });
    rows.filter_map(|(index, row)| {
        let mut rules: Vec<String> = used
            .iter()
            .filter(|used_comment| used_comment.file == file && used_comment.comment as usize == index)
            .map(|used_comment| used_comment.rule.to_string())
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
            (false, _) => format!("the comment here suppresses {}", rules.join(", ")),
            // A bare `noqa` is for other tools as well.
            (true, true) if row.kind == SuppressionKind::Noqa => return None,
            (true, true) => "the comment here suppresses nothing".to_owned(),
            (true, false) => format!("the comment here suppresses nothing of {}", named.join(", ")),
        };
        Some(Remark::new(says))
    })
    .collect()
}
