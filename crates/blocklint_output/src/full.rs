//! The format `full` for people: findings with source frames along their traces, grouped under their causes.

use std::borrow::Cow;
use std::io::{self, Write};

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Element, Group as Block, Level, Renderer};
use anstyle::{AnsiColor, Style};
use blocklint_core::{Applicability, Cause, Finding, Fix, Place, Severity};
use blocklint_rules::UNREADABLE_SOURCE;

use crate::blocks::{PageFinding, PageGroups, Sorted, page_blocks, sort_by_form};
use crate::frames::{Frame, frame_element, frames};
use crate::paths::{escape_controls, file_text, place_text};
use crate::summary::count;
use crate::wording::{body_text, reached_from_text, step_label};
use crate::written::Written;
use crate::{RenderInput, TerminalStyle};

/// Writes all findings, in colour and with links if `look` says so.
///
/// # Errors
///
/// Those of the writer.
pub fn write_full(out: &mut dyn Write, input: &RenderInput<'_>, look: TerminalStyle) -> io::Result<()> {
    let renderer = if look.styled { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii);
    let blocks = page_blocks(input);
    let causes = input.groups.iter().filter(|group| group.cause.is_some()).count();
    let (mut position, mut number) = (0, 1);
    let mut remaining = look.max_full_findings.unwrap_or(usize::MAX);
    while let Some(block) = blocks.get(position) {
        if remaining == 0 {
            return write_rest(out, &blocks[position..], input, look);
        }
        // Consecutive blocks with one finding share one heading.
        let alone = blocks[position..].iter().take(remaining).take_while(|block| block.is_alone()).count();
        let together = alone.max(1);
        let heading = match (block, alone) {
            (PageGroups { cause: Some(cause), groups, .. }, 0 | 1) if groups.len() == 1 => {
                heading_of_cause(cause, number, causes, input, look)
            }
            (PageGroups { cause: Some(cause), .. }, 0) => heading_of_function(block, cause, number, causes),
            (PageGroups { cause: Some(_), .. }, _) => format!(
                "{} of {causes}, each reached by one function that must not block",
                numbers_text(number, number + alone - 1)
            ),
            (PageGroups { cause: None, .. }, _) => match block.findings(input).all(|shown| is_unread(shown.finding)) {
                true => "files that were not fully read or analysed".to_owned(),
                false => "findings without a cause elsewhere".to_owned(),
            },
        };
        write_heading(out, &heading, look)?;
        let mut written = Written::default();
        for block in &blocks[position..position + together] {
            number += block.groups.len();
            let Sorted { in_full, same_path, same_function } = sort_by_form(block, input);
            remaining = remaining.saturating_sub(in_full.len());
            for shown in in_full {
                let text = renderer.render(&[make_block(shown, input, look, &mut written)]);
                writeln!(out, "{}\n", add_links(&text, shown.finding, input, look))?;
            }
            write_calls_to_path(out, &same_path, input, look)?;
            write_calls_of_function(out, &same_function, input, look)?;
        }
        position += together;
    }
    Ok(())
}

fn is_unread(finding: &Finding) -> bool {
    finding.rule == UNREADABLE_SOURCE.code
}

fn heading_of_cause(
    cause: &Cause,
    number: usize,
    total: usize,
    input: &RenderInput<'_>,
    look: TerminalStyle,
) -> String {
    let place = look.link(&place_text(&cause.place, input.folder), &cause.place);
    let reach = count(cause.reach as usize, "function");
    let number = if total == 1 { "cause".to_owned() } else { format!("cause {number} of {total}") };
    let call = escape_controls(&cause.call);
    format!("{number}: `{call}` at {place}, reached by {reach} that must not block")
}

/// Returns the heading of a block with several causes of one function.
fn heading_of_function(block: &PageGroups<'_>, cause: &Cause, number: usize, total: usize) -> String {
    let calls = block.groups.len();
    let numbers = numbers_text(number, number + calls - 1);
    let function = escape_controls(&body_text(&cause.function)).into_owned();
    let waits = match block.block {
        Some(block) if !block.is_entry => {
            format!("reached by {} that must not block", count(block.reach as usize, "function"))
        }
        _ => "which must not block".to_owned(),
    };
    format!("{numbers} of {total}: {calls} calls in {function}, {waits}")
}

/// Returns the numbers of at least two causes in words: `causes 2 and 3`, `causes 2 to 5`.
fn numbers_text(first: usize, last: usize) -> String {
    let between = if first + 1 == last { "and" } else { "to" };
    format!("causes {first} {between} {last}")
}

/// Returns a rendered finding with links on the places at the heads of its frames.
fn add_links<'t>(text: &'t str, finding: &Finding, input: &RenderInput<'_>, look: TerminalStyle) -> Cow<'t, str> {
    if !look.links {
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
            Cow::Owned(format!("{}{}", &line[..line.len() - text.len()], look.link(text, place)))
        })
    });
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// Writes a line for each finding whose trace joins a trace that was shown.
fn write_calls_to_path(
    out: &mut dyn Write,
    findings: &[PageFinding<'_>],
    input: &RenderInput<'_>,
    look: TerminalStyle,
) -> io::Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    writeln!(out, "{} lead there as above{}:", count(findings.len(), "more call"), fixes_text(findings))?;
    let most = look.most_listed();
    for shown in findings.iter().take(most) {
        let finding = shown.finding;
        let label = match shown.route() {
            Some(route) => format!("{} (from {route})", step_label(finding, 0)),
            None => step_label(finding, 0),
        };
        write_line(out, finding, &finding.place, &escape_controls(&label), input, look)?;
    }
    write_unlisted(out, findings.len().saturating_sub(most))?;
    writeln!(out)
}

/// Writes how many lines of a list a terminal does not show.
fn write_unlisted(out: &mut dyn Write, unlisted: usize) -> io::Result<()> {
    match unlisted {
        0 => Ok(()),
        number => writeln!(out, "   … and {number} more (all of them: `blocklint check | less`)"),
    }
}

/// Writes a line for each finding that ends at another call of the function of the block.
fn write_calls_of_function(
    out: &mut dyn Write,
    findings: &[PageFinding<'_>],
    input: &RenderInput<'_>,
    look: TerminalStyle,
) -> io::Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    writeln!(out, "{} in this function block, too{}:", count(findings.len(), "more call"), fixes_text(findings))?;
    let most = look.most_listed();
    for PageFinding { finding, .. } in findings.iter().take(most) {
        let Some(last) = finding.trace.last() else { continue };
        let text = match finding.effect {
            Some(_) => format!("`{}`", last.call),
            // A finding without an effect does not say that the call blocks.
            None => finding.message.clone(),
        };
        write_line(out, finding, &last.place, &escape_controls(&text), input, look)?;
    }
    write_unlisted(out, findings.len().saturating_sub(most))?;
    writeln!(out)
}

/// Returns how many of the findings in a list have a fix, as the end of a heading.
fn fixes_text(findings: &[PageFinding<'_>]) -> String {
    let is_fix = |fix: &Fix| fix.applicability > Applicability::Display;
    match findings.iter().filter(|shown| shown.finding.fix.as_ref().is_some_and(is_fix)).count() {
        0 => String::new(),
        fixable => format!(", {} with a fix", all_or_number(fixable, findings.len())),
    }
}

/// Writes a line for each finding of these blocks.
fn write_rest(
    out: &mut dyn Write,
    blocks: &[PageGroups<'_>],
    input: &RenderInput<'_>,
    look: TerminalStyle,
) -> io::Result<()> {
    let findings = || blocks.iter().flat_map(|block| block.findings(input));
    writeln!(
        out,
        "{} in one line each (all in full: `blocklint check | less`):",
        count(findings().count(), "more finding")
    )?;
    for PageFinding { finding, .. } in findings() {
        write_line(out, finding, &finding.place, &escape_controls(&finding.message), input, look)?;
    }
    writeln!(out)
}

/// Writes notes that are true but seldom worth an edit, one line each; nothing if there are none.
///
/// # Errors
///
/// Those of the writer.
pub fn write_minor_notes(
    out: &mut dyn Write,
    notes: &[Finding],
    input: &RenderInput<'_>,
    look: TerminalStyle,
) -> io::Result<()> {
    if notes.is_empty() {
        return Ok(());
    }
    writeln!(out, "Minor, seldom worth an edit ({}):", count(notes.len(), "note"))?;
    for finding in notes {
        write_line(out, finding, &finding.place, &escape_controls(&finding.message), input, look)?;
    }
    Ok(())
}

/// Writes one line for a finding: a place, its severity and rule, and a text.
fn write_line(
    out: &mut dyn Write,
    finding: &Finding,
    place: &Place,
    text: &str,
    input: &RenderInput<'_>,
    look: TerminalStyle,
) -> io::Result<()> {
    let (word, colour) = match finding.severity {
        Severity::Error => ("error", AnsiColor::BrightRed),
        Severity::Warning => ("warning", AnsiColor::Yellow),
        Severity::Note => ("note", AnsiColor::BrightGreen),
    };
    let style = look.style(Style::new().bold().fg_color(Some(colour.into())));
    let place = look.link(&place_text(place, input.folder), place);
    let rule = &finding.rule;
    writeln!(out, "   {place}: {style}{word}[{rule}]{style:#} {text}")
}

/// Returns `all` if the number is the total, else the number.
fn all_or_number(number: usize, total: usize) -> String {
    if number == total { "all".to_owned() } else { number.to_string() }
}

fn write_heading(out: &mut dyn Write, heading: &str, look: TerminalStyle) -> io::Result<()> {
    let style = look.style(Style::new().bold().fg_color(Some(AnsiColor::Cyan.into())));
    writeln!(out, "{style}{heading}{style:#}\n")
}

/// Returns the block of one finding: its message, frames, notes and help, without those that were written before.
fn make_block<'a>(
    shown: PageFinding<'a>,
    input: &RenderInput<'a>,
    look: TerminalStyle,
    written: &mut Written<'a>,
) -> Block<'a> {
    let finding = shown.finding;
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(finding.message.as_str()).id(finding.rule.to_string());
    let title = match input.url(finding.rule).filter(|_| look.links) {
        Some(url) => title.id_url(url),
        None => title,
    };
    let mut elements: Vec<Element<'a>> = Vec::new();
    let steps = written.add_trace(&finding.trace);
    for frame in frames(finding, steps) {
        elements.push(match frame {
            Frame::Place { place, label, primary } => frame_element(place, label, primary, input),
            Frame::Gap(steps) => Level::NOTE.no_name().message(format!("… {} …", count(steps, "more step"))).into(),
        });
    }
    if finding.trace.len() > 1 && steps.own == finding.trace.len() {
        elements.push(Level::NOTE.with_name("path").message(finding.trace_line()).into());
    }
    if let Some(text) = shown.from.and_then(|from| reached_from_text(finding, from)) {
        elements.push(Level::NOTE.message(escape_controls(&text).into_owned()).into());
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
