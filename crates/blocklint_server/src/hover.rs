//! Hover: the page of a rule that a comment names, and what a call leads to.

use std::fmt::Write;

use blocklint_core::{Finding, Span};
use blocklint_rules::{Rule, rule, rule_named};
use camino::Utf8Path;

use crate::protocol::{Contents, Hover, MarkupContent, MarkupKind};
use crate::view::View;

/// Callers of a blocking call that are listed.
const LISTED: usize = 8;

/// Returns the text at an offset of a file that the client holds open.
pub(crate) fn at(view: &View, path: &Utf8Path, offset: u32) -> Option<Hover> {
    in_comment(view, path, offset).or_else(|| at_call(view, path, offset))
}

/// Returns the page of the rule that a comment names under the cursor.
fn in_comment(view: &View, path: &Utf8Path, offset: u32) -> Option<Hover> {
    let text = &view.documents.get(path)?.text;
    let line = text.line(text.line_of(offset));
    let written = text.slice(line);
    let comment = ["blocklint:", "noqa"].iter().find_map(|word| written.find(word))?;
    let at = offset.saturating_sub(line.start) as usize;
    if at < comment {
        return None;
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let start = written.get(..at)?.rfind(|c| !is_word(c)).map_or(0, |before| before + 1);
    let end = written[at..].find(|c| !is_word(c)).map_or(written.len(), |length| at + length);
    let rule = rule_named(&written[start..end])?;
    let span = Span::new(line.start + start as u32, line.start + end as u32);
    Some(hover(page(rule), text.range(span, view.client.encoding)))
}

fn page(rule: &Rule) -> String {
    rule.page.to_owned()
}

/// Returns the findings whose call lies under the cursor; else those that come by it.
fn at_call(view: &View, path: &Utf8Path, offset: u32) -> Option<Hover> {
    view.current_text(path)?;
    let holds = |span: Span| span.start <= offset && offset <= span.end;
    let own: Vec<&Finding> = view.analysis.findings_in(path).filter(|finding| holds(finding.place.span)).collect();
    if let Some(span) = own.iter().map(|finding| finding.place.span).min_by_key(|span| span.end - span.start) {
        let told: Vec<String> = own.iter().map(|finding| explained(view, finding)).collect();
        return Some(hover(told.join("\n\n---\n\n"), view.range(path, span)));
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
    for (finding, _) in passing.iter().take(LISTED) {
        let _ = writeln!(text, "- {} `{}`", linked(view, &finding.place.path, finding.place.span), finding.function);
    }
    if passing.len() > LISTED {
        let _ = writeln!(text, "- and {} more", passing.len() - LISTED);
    }
    Some(hover(text, view.range(path, span)))
}

/// Returns the path of a finding, and why it matters; what is wrong and what helps stand in its diagnostic, which
/// editors show beside this.
fn explained(view: &View, finding: &Finding) -> String {
    let name = rule(finding.rule).map_or("", |rule| rule.name);
    let mut text = format!("**{}** {name}\n\n", finding.rule);
    for (at, step) in finding.trace.iter().enumerate() {
        let end = if at + 1 == finding.trace.len() { ", which blocks" } else { "" };
        let place = linked(view, &step.place.path, step.place.span);
        let _ = writeln!(text, "{}. {place} `{}` calls `{}`{end}", at + 1, step.function, step.written);
    }
    for note in &finding.notes {
        let _ = write!(text, "\n\nnote: {note}");
    }
    text
}

/// Returns a link to a place, by file name and line.
fn linked(view: &View, path: &Utf8Path, span: Span) -> String {
    let line = view.range(path, span).start.line + 1;
    format!("[{}:{line}]({}#L{line})", path.file_name().unwrap_or_default(), view.uri(path).0)
}

fn hover(value: String, range: crate::protocol::Range) -> Hover {
    let contents = MarkupContent { kind: MarkupKind::Markdown, value };
    Hover { contents: Contents::MarkupContent(contents), range: Some(range) }
}
