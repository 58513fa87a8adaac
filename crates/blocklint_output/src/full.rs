//! The format `full` for people: findings with source frames along their traces, grouped under their causes.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::io::{self, Write};

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Element, Group as Block, Level, Renderer};
use anstyle::{AnsiColor, Style};
use blocklint_core::{Applicability, Cause, Context, Finding, Fix, Group, Severity, Step};
use blocklint_rules::UNREADABLE_SOURCE;
use rustc_hash::{FxHashSet, FxHasher};

use crate::frames::{Frame, frame_element, frames};
use crate::paths::{escape_controls, file_text, place_text};
use crate::summary::count;
use crate::wording::step_label;
use crate::{RenderInput, TerminalStyle};

/// A list needs at least this number of findings with a shared trace. Fewer findings are shown in full.
const FEWEST_LISTED: usize = 2;

/// Writes all findings, in colour and with links if `terminal` says so.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_full(out: &mut dyn Write, input: &RenderInput<'_>, terminal: TerminalStyle) -> io::Result<()> {
    let renderer = if terminal.styled { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii);
    let causes = input.groups.iter().filter(|group| group.cause.is_some()).count();
    let mut position = 0;
    let mut remaining = terminal.max_full_findings.unwrap_or(usize::MAX);
    while let Some(group) = input.groups.get(position) {
        if remaining == 0 {
            return write_rest(out, &input.groups[position..], input, terminal);
        }
        // Consecutive groups with one finding share one heading.
        let single_finding_groups =
            input.groups[position..].iter().take(remaining).take_while(|group| is_alone(group)).count();
        let groups_under_heading = single_finding_groups.max(1);
        let heading = match (&group.cause, single_finding_groups) {
            (Some(cause), 0 | 1) => heading_of_cause(cause, position + 1, causes, input, terminal),
            (Some(_), _) => format!(
                "causes {} to {} of {causes}, each reached by one function that must not block",
                position + 1,
                position + single_finding_groups
            ),
            (None, _) => {
                let unread = |index: &u32| input.findings.get(*index as usize).is_some_and(is_unread);
                if group.findings.iter().all(unread) {
                    "files that were not fully read or analysed".to_owned()
                } else {
                    "findings without a cause elsewhere".to_owned()
                }
            }
        };
        write_heading(out, &heading, terminal)?;
        let mut written = WrittenUnderHeading::default();
        for group in &input.groups[position..position + groups_under_heading] {
            let findings = group.findings.iter().filter_map(|index| input.findings.get(*index as usize));
            // Findings whose traces join an earlier trace at their second step are listed, because in full they would
            // push the next cause off the screen.
            let (mut in_full, mut listed): (Vec<&Finding>, Vec<&Finding>) = (Vec::new(), Vec::new());
            let mut traces = WrittenUnderHeading::default();
            for finding in findings {
                let joins_earlier = traces.add_trace(&finding.trace) == 1 && finding.trace.len() > 1;
                let is_listed = joins_earlier && finding.context != Some(Context::Greenlet);
                if is_listed { listed.push(finding) } else { in_full.push(finding) }
            }
            if listed.len() < FEWEST_LISTED {
                in_full = group.findings.iter().filter_map(|index| input.findings.get(*index as usize)).collect();
                listed.clear();
            }
            remaining = remaining.saturating_sub(in_full.len());
            for finding in in_full {
                let text = renderer.render(&[make_block(finding, input, terminal, &mut written)]);
                writeln!(out, "{}\n", add_links(&text, finding, input, terminal))?;
            }
            write_list(out, &listed, input, terminal)?;
        }
        position += groups_under_heading;
    }
    Ok(())
}

fn is_unread(finding: &Finding) -> bool {
    finding.rule == UNREADABLE_SOURCE.code
}

/// True if a group has one finding, which says as much as the heading of its cause would.
fn is_alone(group: &Group) -> bool {
    group.findings.len() == 1 && group.cause.as_ref().is_some_and(|cause| cause.reach <= 1)
}

fn heading_of_cause(
    cause: &Cause,
    number: usize,
    total: usize,
    input: &RenderInput<'_>,
    terminal: TerminalStyle,
) -> String {
    let place = terminal.link(&place_text(&cause.place, input.folder), &cause.place);
    let reach = count(cause.reach as usize, "function");
    let number = if total == 1 { "cause".to_owned() } else { format!("cause {number} of {total}") };
    let call = escape_controls(&cause.call);
    format!("{number}: `{call}` at {place}, reached by {reach} that must not block")
}

/// Returns a rendered finding with links on the places at the heads of its frames.
fn add_links<'t>(text: &'t str, finding: &Finding, input: &RenderInput<'_>, terminal: TerminalStyle) -> Cow<'t, str> {
    if !terminal.links {
        return Cow::Borrowed(text);
    }
    let places = std::iter::once(&finding.place).chain(finding.trace.iter().map(|step| &step.place));
    let places: Vec<_> = places.map(|place| (place_text(place, input.folder), place)).collect();
    let lines = text.split('\n').map(|line| {
        let is_head = line.contains("--> ") || line.contains("::: ");
        // In colour, an escape sequence ends between the arrow and the place (`m`).
        let ends_with_place = |text: &str| line.strip_suffix(text).is_some_and(|before| before.ends_with([' ', 'm']));
        let at_head = places.iter().filter(|(text, _)| is_head && ends_with_place(text));
        // The text behind the arrow has no escape sequences in any style.
        at_head.max_by_key(|(text, _)| text.len()).map_or(Cow::Borrowed(line), |(text, place)| {
            Cow::Owned(format!("{}{}", &line[..line.len() - text.len()], terminal.link(text, place)))
        })
    });
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// Writes a line for each of these findings, whose traces join a trace that was shown.
fn write_list(
    out: &mut dyn Write,
    findings: &[&Finding],
    input: &RenderInput<'_>,
    terminal: TerminalStyle,
) -> io::Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    let is_fix = |fix: &Fix| fix.applicability > Applicability::Display;
    let fixable = findings.iter().filter(|finding| finding.fix.as_ref().is_some_and(is_fix)).count();
    let fixes = match fixable {
        0 => String::new(),
        _ => format!(", {} with a fix", all_or_number(fixable, findings.len())),
    };
    writeln!(out, "{} lead to this cause in the same way{fixes}:", count(findings.len(), "more call"))?;
    for finding in findings {
        write_line(out, finding, &escape_controls(&step_label(finding, 0)), input, terminal)?;
    }
    writeln!(out)
}

/// Writes a line for each finding of these groups.
fn write_rest(
    out: &mut dyn Write,
    groups: &[Group],
    input: &RenderInput<'_>,
    terminal: TerminalStyle,
) -> io::Result<()> {
    let findings =
        || groups.iter().flat_map(|group| &group.findings).filter_map(|index| input.findings.get(*index as usize));
    writeln!(
        out,
        "{} in one line each (all in full: `blocklint check | less`):",
        count(findings().count(), "more finding")
    )?;
    for finding in findings() {
        write_line(out, finding, &escape_controls(&finding.message), input, terminal)?;
    }
    writeln!(out)
}

/// Writes notes that are true but seldom worth an edit, one line each; nothing if there are none.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_minor_notes(
    out: &mut dyn Write,
    notes: &[Finding],
    input: &RenderInput<'_>,
    terminal: TerminalStyle,
) -> io::Result<()> {
    if notes.is_empty() {
        return Ok(());
    }
    writeln!(out, "Minor, seldom worth an edit ({}):", count(notes.len(), "note"))?;
    for finding in notes {
        write_line(out, finding, &escape_controls(&finding.message), input, terminal)?;
    }
    Ok(())
}

/// Writes one line for a finding: its place, severity and rule, and a text.
fn write_line(
    out: &mut dyn Write,
    finding: &Finding,
    text: &str,
    input: &RenderInput<'_>,
    terminal: TerminalStyle,
) -> io::Result<()> {
    let (word, colour) = match finding.severity {
        Severity::Error => ("error", AnsiColor::BrightRed),
        Severity::Warning => ("warning", AnsiColor::Yellow),
        Severity::Note => ("note", AnsiColor::BrightGreen),
    };
    let style = terminal.style(Style::new().bold().fg_color(Some(colour.into())));
    let place = terminal.link(&place_text(&finding.place, input.folder), &finding.place);
    let rule = &finding.rule;
    writeln!(out, "   {place}: {style}{word}[{rule}]{style:#} {text}")
}

/// Returns `all` if the number is the total, else the number.
fn all_or_number(number: usize, total: usize) -> String {
    if number == total { "all".to_owned() } else { number.to_string() }
}

fn write_heading(out: &mut dyn Write, heading: &str, terminal: TerminalStyle) -> io::Result<()> {
    let style = terminal.style(Style::new().bold().fg_color(Some(AnsiColor::Cyan.into())));
    writeln!(out, "{style}{heading}{style:#}\n")
}

/// The texts and traces that were written under a heading and are not repeated.
#[derive(Default)]
struct WrittenUnderHeading<'a> {
    /// For each step of the traces that were written, a hash of the steps from there to the end.
    trace_ends: FxHashSet<u64>,
    /// Notes and help.
    texts: FxHashSet<&'a str>,
}

impl<'a> WrittenUnderHeading<'a> {
    /// Adds a trace, and returns the number of its steps before it joins an earlier trace; all steps if it joins none.
    fn add_trace(&mut self, trace: &'a [Step]) -> usize {
        let mut hash = 0;
        let mut ends: Vec<u64> = Vec::with_capacity(trace.len());
        for step in trace.iter().rev() {
            let mut hasher = FxHasher::default();
            (hash, &*step.place.path, step.place.span, &step.call).hash(&mut hasher);
            hash = hasher.finish();
            ends.push(hash);
        }
        ends.reverse();
        // A finding's own place is always shown.
        let steps_before_join =
            (1..trace.len()).find(|&index| self.trace_ends.contains(&ends[index])).unwrap_or(trace.len());
        self.trace_ends.extend(ends);
        steps_before_join
    }
}

/// Returns the block of one finding: its message, frames, notes and help, without those that were written before.
fn make_block<'a>(
    finding: &'a Finding,
    input: &RenderInput<'a>,
    terminal: TerminalStyle,
    written: &mut WrittenUnderHeading<'a>,
) -> Block<'a> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(finding.message.as_str()).id(finding.rule.to_string());
    let title = match input.url(finding.rule).filter(|_| terminal.links) {
        Some(url) => title.id_url(url),
        None => title,
    };
    let mut elements: Vec<Element<'a>> = Vec::new();
    let steps_before_join = written.add_trace(&finding.trace);
    for frame in frames(finding, steps_before_join) {
        elements.push(match frame {
            Frame::Place { place, label, primary } => frame_element(place, label, primary, input),
            Frame::Gap(steps) => Level::NOTE.no_name().message(format!("… {} …", count(steps, "more step"))).into(),
        });
    }
    if finding.trace.len() > 1 && steps_before_join == finding.trace.len() {
        elements.push(Level::NOTE.with_name("path").message(finding.trace_line()).into());
    }
    if let Some(confirmed) = &finding.confirmed {
        elements.push(Level::NOTE.message(escape_controls(&confirmed.to_words()).into_owned()).into());
    }
    let mut new_texts = |texts: &'a [String]| -> Vec<&'a str> {
        texts.iter().map(String::as_str).filter(|text| written.texts.insert(text)).collect()
    };
    let (notes, help) = (new_texts(&finding.notes), new_texts(finding.help.as_slice()));
    let repeated: Vec<&str> =
        [("note", notes.len() < finding.notes.len()), ("help", help.len() < finding.help.as_slice().len())]
            .into_iter()
            .filter_map(|(name, is_repeated)| is_repeated.then_some(name))
            .collect();
    elements.extend(notes.into_iter().map(|note| Level::NOTE.message(note).into()));
    if !repeated.is_empty() {
        elements.push(Level::NOTE.with_name(repeated.join(", ")).message("as above").into());
    }
    elements.extend(help.into_iter().map(|help| Level::HELP.message(help).into()));
    if let Some(fix) = &finding.fix {
        let (name, how) = match fix.applicability {
            Applicability::Safe => ("fix", " (`--fix`)"),
            Applicability::Unsafe => ("fix", " (`--fix --unsafe-fixes`)"),
            Applicability::Display => ("suggestion", " (to apply by hand)"),
        };
        elements.push(Level::HELP.with_name(name).message(format!("{}{how}", fix.title)).into());
    }
    // A refusal without a place is not shown, because the help says what to do instead.
    if let Some((refusal, place)) =
        finding.unfixed.as_ref().and_then(|refusal| Some((refusal, refusal.place.as_ref()?)))
    {
        let line = format!("{}:{}", file_text(place, input.folder), place.start.row);
        elements.push(Level::HELP.with_name("no fix").message(format!("{refusal} ({line})")).into());
    }
    title.elements(elements)
}
