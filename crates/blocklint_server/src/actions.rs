//! Code actions of findings: quick fixes, `source.fixAll`, ignore comments, and a jump to the call that blocks.

use std::sync::Arc;

use blocklint_core::{Applicability, Finding, Fix, Span};
use blocklint_engine::{applicable_together, attach_fixes_to, on_large_stacks, parse_counts};
use camino::Utf8Path;
use serde_json::{Value, json};

use crate::capabilities::{FIX_ALL, GO_TO};
use crate::diagnostics::diagnostic;
use crate::protocol::{
    CodeAction, CodeActionKind, Command, DocumentEdits, Range, RequestError, TextEdit, WorkspaceEdit, code,
    workspace_edit,
};
use crate::text::Text;
use crate::uri;
use crate::view::View;

/// The command of clients that ask the user for the reason of an ignore comment.
const IGNORE_WITH_REASON: &str = "blocklint.ignoreWithReason";

/// Returns the code actions of the findings that touch `range`; `only` has the kinds that the client wants.
pub(crate) fn code_actions(
    view: &View,
    path: &Utf8Path,
    range: Range,
    only: Option<&[CodeActionKind]>,
) -> Vec<CodeAction> {
    let Some(text) = view.current_text(path) else { return Vec::new() };
    let span = text.span(range, view.client.encoding);
    let touches = |finding: &&Finding| finding.place.span.start <= span.end && span.start <= finding.place.span.end;
    let mut actions = Vec::new();
    if is_wanted(only, "quickfix") {
        let mut findings: Vec<Finding> = view.analysis.findings_in(path).filter(touches).cloned().collect();
        if view.settings.code_action.fix_violation.enable {
            attach_fixes(view, &mut findings);
            actions.extend(findings.iter().filter_map(|finding| quick_fix(view, finding)));
        }
        if view.settings.code_action.disable_rule_comment.enable {
            for finding in &findings {
                actions.extend(ignore_actions(view, text, finding));
            }
        }
        actions.extend(findings.iter().filter_map(|finding| go_to_action(view, finding)));
    }
    // Offered only on request, because a light bulb on every line would be in the way.
    let wants_source_actions = only.is_some_and(|kinds| kinds.iter().any(|kind| kind_name(kind).starts_with("source")));
    if wants_source_actions && view.settings.fix_all && is_wanted(only, FIX_ALL) {
        actions.extend(fix_all_action(view, path));
    }
    actions
}

/// Adds the edit to an action that was offered without one (`codeAction/resolve`).
///
/// # Errors
///
/// If the text has changed since the action was offered.
pub(crate) fn resolve(view: &View, mut action: CodeAction) -> Result<CodeAction, RequestError> {
    let invalid = || RequestError::new(code::INVALID_PARAMS, "no action of this server");
    let data = action.data.clone().ok_or_else(invalid)?;
    let path =
        data["uri"].as_str().and_then(|uri| uri::to_path(&crate::protocol::Uri(uri.to_owned()))).ok_or_else(invalid)?;
    if data["version"] != json!(view.version(&path)) {
        return Err(RequestError::outdated());
    }
    action.edit = Some(fix_all_edit(view, &path).ok_or_else(RequestError::outdated)?);
    Ok(action)
}

/// True if the client wants actions of this kind; a kind covers its sub-kinds, as `source` covers `source.fixAll`.
fn is_wanted(only: Option<&[CodeActionKind]>, kind: &str) -> bool {
    let covers = |requested_kind: &CodeActionKind| {
        let requested_kind = kind_name(requested_kind);
        requested_kind.is_empty()
            || kind == requested_kind
            || kind.strip_prefix(&requested_kind).is_some_and(|rest| rest.starts_with('.'))
    };
    only.is_none_or(|kinds| kinds.iter().any(covers))
}

fn kind_name(kind: &CodeActionKind) -> String {
    kind.clone().into()
}

fn attach_fixes(view: &View, findings: &mut [Finding]) {
    let text_of = |path: &Utf8Path| view.analysis.text(path).map(|text| Arc::clone(text.content()));
    // If no thread can be started, the findings keep no fixes.
    let _ = on_large_stacks(|| attach_fixes_to(&view.analysis.remedies, findings, &text_of));
}

fn quick_fix(view: &View, finding: &Finding) -> Option<CodeAction> {
    let fix = finding.fix.as_ref()?;
    if fix.applicability == Applicability::Display {
        return None;
    }
    // A fix is offered only if it can change all of its files.
    let edit_document = |(path, edits): (Arc<Utf8Path>, Vec<(Span, String)>)| {
        let text = view.current_text(&path)?;
        still_parses(&path, text, &edits).then(|| document_edits(view, &path, text, edits))
    };
    let documents = applicable_together(std::iter::once(fix)).into_iter().map(edit_document);
    let documents: Vec<DocumentEdits> = documents.collect::<Option<_>>()?;
    if documents.is_empty() {
        return None;
    }
    let is_safe = fix.applicability == Applicability::Safe;
    Some(CodeAction {
        title: action_title(fix, is_safe),
        kind: Some(CodeActionKind::QuickFix),
        diagnostics: Some(vec![diagnostic(view, finding)]),
        is_preferred: is_safe.then_some(true),
        edit: Some(workspace_edit(documents, view.client.versioned_edits)),
        ..CodeAction::default()
    })
}

fn action_title(fix: &Fix, is_safe: bool) -> String {
    let mut title = fix.title.clone();
    if let Some(first) = title.get(..1) {
        title = first.to_uppercase() + &title[1..];
    }
    if is_safe { title } else { format!("{title} (unsafe: review the changes)") }
}

/// True if the edited text has no more parse problems than the original.
fn still_parses(path: &Utf8Path, text: &Text, edits: &[(Span, String)]) -> bool {
    let problems = |text: &str| parse_counts(path, text).map(|parsed| parsed.problems);
    match (problems(text.content()), problems(&text.with_replacements(edits))) {
        (Some(before), Some(after)) => after <= before,
        _ => false,
    }
}

fn fix_all_action(view: &View, path: &Utf8Path) -> Option<CodeAction> {
    view.analysis.findings_in(path).next()?;
    let mut action = CodeAction {
        title: "Fix all that blocklint can fix safely".to_owned(),
        kind: Some(CodeActionKind::from(FIX_ALL.to_owned())),
        ..CodeAction::default()
    };
    if view.client.resolves_edits {
        action.data = Some(json!({ "uri": view.uri(path), "version": view.version(path) }));
        return Some(action);
    }
    action.edit = Some(fix_all_edit(view, path)?);
    Some(action)
}

/// Returns the edit of all safe fixes of a file that do not overlap.
fn fix_all_edit(view: &View, path: &Utf8Path) -> Option<WorkspaceEdit> {
    let text = view.current_text(path)?;
    let mut findings: Vec<Finding> = view.analysis.findings_in(path).cloned().collect();
    attach_fixes(view, &mut findings);
    let safe = findings.iter().filter_map(|finding| finding.fix.as_ref());
    let safe = safe.filter(|fix| fix.applicability == Applicability::Safe);
    let edits = applicable_together(safe).into_iter().find(|(edited, _)| **edited == *path).map(|(_, edits)| edits);
    let edits = edits.unwrap_or_default();
    let edits = if still_parses(path, text, &edits) { edits } else { Vec::new() };
    Some(single_file_edit(view, path, text, edits))
}

fn single_file_edit(view: &View, path: &Utf8Path, text: &Text, edits: Vec<(Span, String)>) -> WorkspaceEdit {
    workspace_edit(vec![document_edits(view, path, text, edits)], view.client.versioned_edits)
}

fn document_edits(view: &View, path: &Utf8Path, text: &Text, edits: Vec<(Span, String)>) -> DocumentEdits {
    let edits = edits
        .into_iter()
        .map(|(span, new_text)| TextEdit { range: text.range(span, view.client.encoding), new_text })
        .collect();
    (view.uri(path), view.version(path), edits)
}

/// Returns the actions that write an ignore comment; also one with a reason, if the client can ask for it.
fn ignore_actions(view: &View, text: &Text, finding: &Finding) -> Vec<CodeAction> {
    let path = &*finding.place.path;
    let Some(edits) = ignore_edits(path, text, finding) else { return Vec::new() };
    let rule = finding.rule;
    let edit = single_file_edit(view, path, text, edits.clone());
    let mut actions = vec![CodeAction {
        title: format!("Ignore {rule} for this line"),
        kind: Some(CodeActionKind::QuickFix),
        diagnostics: Some(vec![diagnostic(view, finding)]),
        is_preferred: Some(false),
        edit: Some(edit),
        ..CodeAction::default()
    }];
    if view.client.commands.iter().any(|command| command == IGNORE_WITH_REASON) {
        let edits: Vec<Value> = edits
            .iter()
            .map(|(span, new_text)| json!({ "range": text.range(*span, view.client.encoding), "newText": new_text }))
            .collect();
        let arguments = vec![json!({
            "uri": view.uri(path), "version": view.version(path), "edits": edits, "rule": rule.to_string(),
        })];
        actions.push(CodeAction {
            title: format!("Ignore {rule} for this line, with a reason…"),
            kind: Some(CodeActionKind::QuickFix),
            diagnostics: Some(vec![diagnostic(view, finding)]),
            command: Some(command("Ignore with a reason", IGNORE_WITH_REASON, arguments)),
            ..CodeAction::default()
        });
    }
    actions
}

/// Returns the edit that ignores a finding: it adds the rule to the ignore comment of the line, else a comment at the
/// end of the line. If the end of the line is inside a string, the comment is on a new line above.
fn ignore_edits(path: &Utf8Path, text: &Text, finding: &Finding) -> Option<Vec<(Span, String)>> {
    let marker = if path.extension() == Some("py") { "#" } else { "//" };
    let line = text.line(text.line_of(finding.place.span.start));
    let line_text = text.slice(line);
    let rule = finding.rule;
    if let Some(start) = line_text.find("blocklint: ignore[")
        && let Some(length) = line_text[start..].find(']')
    {
        let end = line.start + (start + length) as u32;
        return Some(vec![(Span::new(end, end), format!(", {rule}"))]);
    }
    let at_end = (Span::new(line.end, line.end), format!("  {marker} blocklint: ignore[{rule}]"));
    let indent: String = line_text.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
    let ending = if text.content().contains("\r\n") { "\r\n" } else { "\n" };
    let above = format!("{indent}{marker} blocklint: ignore[{rule}]{ending}");
    let above = (Span::new(line.start, line.start), above);
    let before = parse_counts(path, text.content())?;
    [at_end, above].into_iter().map(|edit| vec![edit]).find(|edits| {
        parse_counts(path, &text.with_replacements(edits))
            .is_some_and(|after| after.suppressions > before.suppressions && after.problems <= before.problems)
    })
}

/// Returns the action that jumps to the blocking call, if the path of the finding has more than one call.
fn go_to_action(view: &View, finding: &Finding) -> Option<CodeAction> {
    let last = finding.trace.last().filter(|_| finding.trace.len() > 1)?;
    let location = view.location(&last.place);
    if !view.client.shows_documents {
        return None;
    }
    Some(CodeAction {
        title: format!("Go to the blocking call `{}`", last.written),
        kind: Some(CodeActionKind::QuickFix),
        diagnostics: Some(vec![diagnostic(view, finding)]),
        command: Some(command("Go to the blocking call", GO_TO, vec![json!(location)])),
        ..CodeAction::default()
    })
}

fn command(title: &str, command: &str, arguments: Vec<Value>) -> Command {
    Command { title: title.to_owned(), tooltip: None, command: command.to_owned(), arguments: Some(arguments) }
}
