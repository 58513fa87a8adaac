//! Hover: the page of the rule in an ignore comment, and the path of the finding at a call.

use std::fmt::Write;

use blocklint_core::{Finding, Span};
use blocklint_rules::{Rule, rule, rule_named};
use camino::Utf8Path;

use crate::protocol::{Contents, Hover, MarkupContent, MarkupKind};
use crate::view::View;

/// The number of entry points that are listed for a call.
const MAX_LISTED: usize = 8;

/// Returns the hover at an offset of an open file.
pub(crate) fn hover_at(view: &View, path: &Utf8Path, offset: u32) -> Option<Hover> {
    rule_page_in_comment(view, path, offset).or_else(|| findings_at_call(view, path, offset))
}

/// Returns the page of the rule under the cursor, if it is in an ignore comment: `# blocklint: ignore[BLT101]`.
fn rule_page_in_comment(view: &View, path: &Utf8Path, offset: u32) -> Option<Hover> {
    let text = &view.documents.get(path)?.text;
    let line = text.line(text.line_of(offset));
    let line_text = text.slice(line);
    let comment = ["blocklint:", "noqa"].iter().find_map(|word| line_text.find(word))?;
    let column = offset.saturating_sub(line.start) as usize;
    if column < comment {
        return None;
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let start = line_text.get(..column)?.rfind(|c| !is_word(c)).map_or(0, |before| before + 1);
    let end = line_text[column..].find(|c| !is_word(c)).map_or(line_text.len(), |length| column + length);
    let rule = rule_named(&line_text[start..end])?;
    let span = Span::new(line.start + start as u32, line.start + end as u32);
    Some(to_hover(rule_page(rule), text.range(span, view.client.encoding)))
}

fn rule_page(rule: &Rule) -> String {
    rule.page.to_owned()
}

/// Returns the findings at the call under the cursor; if there are none, the entry points whose paths have the call.
fn findings_at_call(view: &View, path: &Utf8Path, offset: u32) -> Option<Hover> {
    view.current_text(path)?;
    let holds = |span: Span| span.start <= offset && offset <= span.end;
    let findings_at_span: Vec<&Finding> =
        view.analysis.findings_in(path).filter(|finding| holds(finding.place.span)).collect();
    if let Some(span) =
        findings_at_span.iter().map(|finding| finding.place.span).min_by_key(|span| span.end - span.start)
    {
        let texts: Vec<String> = findings_at_span.iter().map(|finding| describe_path(view, finding)).collect();
        return Some(to_hover(texts.join("\n\n---\n\n"), view.range(path, span)));
    }
    let mut passing: Vec<(&Finding, Span)> = Vec::new();
    for finding in &view.analysis.findings {
        let steps = finding.trace.iter().skip(1).filter(|step| *step.place.path == *path && holds(step.place.span));
        if let Some(step) = steps.min_by_key(|step| step.place.span.end - step.place.span.start) {
            passing.push((finding, step.place.span));
        }
    }
    let span = passing.iter().map(|(_, span)| *span).min_by_key(|span| span.end - span.start)?;
    let mut text = String::from("**blocklint**: this call stalls\n\n");
    for (finding, _) in passing.iter().take(MAX_LISTED) {
        let _ = writeln!(text, "- {} `{}`", link_to(view, &finding.place.path, finding.place.span), finding.function);
    }
    if passing.len() > MAX_LISTED {
        let _ = writeln!(text, "- and {} more", passing.len() - MAX_LISTED);
    }
    Some(to_hover(text, view.range(path, span)))
}

/// Returns the path of a finding and its notes. The message and the help line are in the diagnostic, which editors show
/// together with the hover.
fn describe_path(view: &View, finding: &Finding) -> String {
    let name = rule(finding.rule).map_or("", |rule| rule.name);
    let mut text = format!("**{}** {name}\n\n", finding.rule);
    for (index, step) in finding.trace.iter().enumerate() {
        let end = if index + 1 == finding.trace.len() { ", which blocks" } else { "" };
        let place = link_to(view, &step.place.path, step.place.span);
        let _ = writeln!(text, "{}. {place} `{}` calls `{}`{end}", index + 1, step.function, step.written);
    }
    for note in &finding.notes {
        let _ = write!(text, "\n\nnote: {note}");
    }
    text
}

/// Returns a Markdown link to a line, as in `[views.py:42](file:///…/views.py#L42)`.
fn link_to(view: &View, path: &Utf8Path, span: Span) -> String {
    let line = view.range(path, span).start.line + 1;
    format!("[{}:{line}]({}#L{line})", path.file_name().unwrap_or_default(), view.uri(path).0)
}

fn to_hover(value: String, range: crate::protocol::Range) -> Hover {
    let contents = MarkupContent { kind: MarkupKind::Markdown, value };
    Hover { contents: Contents::MarkupContent(contents), range: Some(range) }
}
