//! Code actions: what mends a finding, what silences it, and the path to the call that blocks.

use std::sync::Arc;

use blocklint_core::{Applicability, Finding, Fix, Span};
use blocklint_engine::{applicable_together, attach_to, on_large_stacks, parse_counts};
use camino::Utf8Path;
use serde_json::{Value, json};

use crate::capabilities::{FIX_ALL, GO_TO};
use crate::diagnostics::diagnostic;
use crate::protocol::{
    CodeAction, CodeActionKind, Command, DocumentEdits, Range, Refused, TextEdit, WorkspaceEdit, code, workspace_edit,
};
use crate::text::Text;
use crate::uri;
use crate::view::View;

/// The command by which a client asks for a reason, where it offers one.
const IGNORE_WITH_REASON: &str = "blocklint.ignoreWithReason";

/// Returns the actions for a part of a file.
pub(crate) fn of_range(view: &View, path: &Utf8Path, range: Range, only: Option<&[CodeActionKind]>) -> Vec<CodeAction> {
    let Some(text) = view.current_text(path) else { return Vec::new() };
    let span = text.span(range, view.client.encoding);
    let touches = |finding: &&Finding| finding.place.span.start <= span.end && span.start <= finding.place.span.end;
    let mut actions = Vec::new();
    if is_wanted(only, "quickfix") {
        let mut findings: Vec<Finding> = view.analysis.findings_in(path).filter(touches).cloned().collect();
        if view.settings.code_action.fix_violation.enable {
            give_fixes(view, &mut findings);
            actions.extend(findings.iter().filter_map(|finding| quick_fix(view, finding)));
        }
        if view.settings.code_action.disable_rule_comment.enable {
            for finding in &findings {
                actions.extend(ignore(view, text, finding));
            }
        }
        actions.extend(findings.iter().filter_map(|finding| go_to(view, finding)));
    }
    // Offered where it is asked for: a light bulb that offers it for each line is in the way.
    let is_asked = only.is_some_and(|kinds| kinds.iter().any(|kind| word(kind).starts_with("source")));
    if is_asked && view.settings.fix_all && is_wanted(only, FIX_ALL) {
        actions.extend(fix_all(view, path));
    }
    actions
}

/// Returns an action with the edit that it was offered without.
///
/// # Errors
///
/// Where the text has changed since.
pub(crate) fn resolved(view: &View, mut action: CodeAction) -> Result<CodeAction, Refused> {
    let wrong = || Refused::new(code::INVALID_PARAMS, "no action of this server");
    let data = action.data.clone().ok_or_else(wrong)?;
    let path =
        data["uri"].as_str().and_then(|uri| uri::to_path(&crate::protocol::Uri(uri.to_owned()))).ok_or_else(wrong)?;
    if data["version"] != json!(view.version(&path)) {
        return Err(Refused::outdated());
    }
    action.edit = Some(all_fixed(view, &path).ok_or_else(Refused::outdated)?);
    Ok(action)
}

/// True if a client that asks only for some kinds asks for this one.
fn is_wanted(only: Option<&[CodeActionKind]>, kind: &str) -> bool {
    let covers = |asked: &CodeActionKind| {
        let asked = word(asked);
        asked.is_empty() || kind == asked || kind.strip_prefix(&asked).is_some_and(|rest| rest.starts_with('.'))
    };
    only.is_none_or(|kinds| kinds.iter().any(covers))
}

fn word(kind: &CodeActionKind) -> String {
    kind.clone().into()
}

fn give_fixes(view: &View, findings: &mut [Finding]) {
    let text_of = |path: &Utf8Path| view.analysis.text(path).map(|text| Arc::clone(text.content()));
    // Without threads there are no fixes.
    let _ = on_large_stacks(|| attach_to(&view.analysis.remedies, findings, &text_of));
}

fn quick_fix(view: &View, finding: &Finding) -> Option<CodeAction> {
    let fix = finding.fix.as_ref()?;
    if fix.applicability == Applicability::Display {
        return None;
    }
    // All files that it changes, or none.
    let edited = |(path, edits): (Arc<Utf8Path>, Vec<(Span, String)>)| {
        let text = view.current_text(&path)?;
        still_parses(&path, text, &edits).then(|| document_edits(view, &path, text, edits))
    };
    let documents = applicable_together(std::iter::once(fix)).into_iter().map(edited);
    let documents: Vec<DocumentEdits> = documents.collect::<Option<_>>()?;
    if documents.is_empty() {
        return None;
    }
    let is_safe = fix.applicability == Applicability::Safe;
    Some(CodeAction {
        title: titled(fix, is_safe),
        kind: Some(CodeActionKind::QuickFix),
        diagnostics: Some(vec![diagnostic(view, finding)]),
        is_preferred: is_safe.then_some(true),
        edit: Some(workspace_edit(documents, view.client.versioned_edits)),
        ..CodeAction::default()
    })
}

fn titled(fix: &Fix, is_safe: bool) -> String {
    let mut title = fix.title.clone();
    if let Some(first) = title.get(..1) {
        title = first.to_uppercase() + &title[1..];
    }
    if is_safe { title } else { format!("{title} (unsafe: look at what it changes)") }
}

/// True if the front end understands as much of the text after the edits as before.
fn still_parses(path: &Utf8Path, text: &Text, edits: &[(Span, String)]) -> bool {
    let problems = |text: &str| parse_counts(path, text).map(|seen| seen.problems);
    match (problems(text.content()), problems(&text.spliced(edits))) {
        (Some(before), Some(after)) => after <= before,
        _ => false,
    }
}

fn fix_all(view: &View, path: &Utf8Path) -> Option<CodeAction> {
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
    action.edit = Some(all_fixed(view, path)?);
    Some(action)
}

/// Returns the edits of all safe fixes of a file that go together.
fn all_fixed(view: &View, path: &Utf8Path) -> Option<WorkspaceEdit> {
    let text = view.current_text(path)?;
    let mut findings: Vec<Finding> = view.analysis.findings_in(path).cloned().collect();
    give_fixes(view, &mut findings);
    let safe = findings.iter().filter_map(|finding| finding.fix.as_ref());
    let safe = safe.filter(|fix| fix.applicability == Applicability::Safe);
    let edits = applicable_together(safe).into_iter().find(|(of, _)| **of == *path).map(|(_, edits)| edits);
    let edits = edits.unwrap_or_default();
    let edits = if still_parses(path, text, &edits) { edits } else { Vec::new() };
    Some(edit_of(view, path, text, edits))
}

fn edit_of(view: &View, path: &Utf8Path, text: &Text, edits: Vec<(Span, String)>) -> WorkspaceEdit {
    workspace_edit(vec![document_edits(view, path, text, edits)], view.client.versioned_edits)
}

fn document_edits(view: &View, path: &Utf8Path, text: &Text, edits: Vec<(Span, String)>) -> DocumentEdits {
    let edits = edits
        .into_iter()
        .map(|(span, new_text)| TextEdit { range: text.range(span, view.client.encoding), new_text })
        .collect();
    (view.uri(path), view.version(path), edits)
}

/// Returns a comment that silences the rule, and where the client asks for one, a reason in it.
fn ignore(view: &View, text: &Text, finding: &Finding) -> Vec<CodeAction> {
    let path = &*finding.place.path;
    let Some(edits) = ignoring(path, text, finding) else { return Vec::new() };
    let rule = finding.rule;
    let edit = edit_of(view, path, text, edits.clone());
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
            .map(|(span, text_of)| json!({ "range": text.range(*span, view.client.encoding), "newText": text_of }))
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

/// Returns the edit that silences a finding: one more rule in the comment that its line has, else a comment at its end,
/// else one above, where the end of the line lies inside of a string.
fn ignoring(path: &Utf8Path, text: &Text, finding: &Finding) -> Option<Vec<(Span, String)>> {
    let marker = if path.extension() == Some("py") { "#" } else { "//" };
    let line = text.line(text.line_of(finding.place.span.start));
    let written = text.slice(line);
    let rule = finding.rule;
    if let Some(at) = written.find("blocklint: ignore[")
        && let Some(length) = written[at..].find(']')
    {
        let end = line.start + (at + length) as u32;
        return Some(vec![(Span::new(end, end), format!(", {rule}"))]);
    }
    let behind = (Span::new(line.end, line.end), format!("  {marker} blocklint: ignore[{rule}]"));
    let indent: String = written.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
    let ending = if text.content().contains("\r\n") { "\r\n" } else { "\n" };
    let above = format!("{indent}{marker} blocklint: ignore[{rule}]{ending}");
    let above = (Span::new(line.start, line.start), above);
    let before = parse_counts(path, text.content())?;
    [behind, above].into_iter().map(|edit| vec![edit]).find(|edits| {
        parse_counts(path, &text.spliced(edits))
            .is_some_and(|after| after.suppressions > before.suppressions && after.problems <= before.problems)
    })
}

/// Returns the path to the call that blocks, if that is another call.
fn go_to(view: &View, finding: &Finding) -> Option<CodeAction> {
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
