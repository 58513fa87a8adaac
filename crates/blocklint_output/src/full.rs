//! Findings for people: source frames along the trace, grouped under their causes.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::io::{self, Write};

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Element, Group as Block, Level, Renderer};
use anstyle::{AnsiColor, Style};
use blocklint_core::{Applicability, Cause, Context, Finding, Fix, Group, Severity, Step};
use blocklint_rules::UNREADABLE_SOURCE;
use rustc_hash::{FxHashSet, FxHasher};

use crate::frames::{Frame, element, frames};
use crate::paths::{harmless, shown_place};
use crate::summary::count;
use crate::wording::step_label;
use crate::{Look, Shown};

/// So many findings that lead where an earlier one of their cause does are lines of a list; fewer are shown as it is.
const FEWEST_LISTED: usize = 2;

/// Writes all findings; in colour and with links where the terminal can.
///
/// # Errors
///
/// Those of the writer.
pub fn full(out: &mut dyn Write, shown: &Shown<'_>, look: Look) -> io::Result<()> {
    let renderer = if look.styled { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii);
    let causes = shown.groups.iter().filter(|group| group.cause.is_some()).count();
    let mut at = 0;
    let mut left = look.most_blocks.unwrap_or(usize::MAX);
    while let Some(group) = shown.groups.get(at) {
        if left == 0 {
            return write_rest(out, &shown.groups[at..], shown, look);
        }
        // Causes with nothing but themselves to tell share one heading.
        let alone = shown.groups[at..].iter().take(left).take_while(|group| is_alone(group)).count();
        let together = alone.max(1);
        let heading = match (&group.cause, alone) {
            (Some(cause), 0 | 1) => heading(cause, at + 1, causes, shown, look),
            (Some(_), _) => format!(
                "causes {} to {} of {causes}, each reached by one function that must not block",
                at + 1,
                at + alone
            ),
            (None, _) => {
                let unread = |index: &u32| shown.findings.get(*index as usize).is_some_and(is_unread);
                match group.findings.iter().all(unread) {
                    true => "what was not read or analysed as a whole".to_owned(),
                    false => "findings without a cause elsewhere".to_owned(),
                }
            }
        };
        write_heading(out, &heading, look)?;
        let mut said = Said::default();
        for group in &shown.groups[at..at + together] {
            let findings = group.findings.iter().filter_map(|index| shown.findings.get(*index as usize));
            // The first tells all; of those that only lead there too, one after the other would hide what comes next.
            let (mut told, mut same): (Vec<&Finding>, Vec<&Finding>) = (Vec::new(), Vec::new());
            let mut ways = Said::default();
            for finding in findings {
                let leads_there = ways.own_steps(&finding.trace) == 1 && finding.trace.len() > 1;
                let is_listed = leads_there && finding.context != Some(Context::Greenlet);
                if is_listed { same.push(finding) } else { told.push(finding) }
            }
            if same.len() < FEWEST_LISTED {
                told = group.findings.iter().filter_map(|index| shown.findings.get(*index as usize)).collect();
                same.clear();
            }
            left = left.saturating_sub(told.len());
            for finding in told {
                let text = renderer.render(&[block(finding, shown, look, &mut said)]);
                writeln!(out, "{}\n", linked(&text, finding, shown, look))?;
            }
            write_list(out, &same, shown, look)?;
        }
        at += together;
    }
    Ok(())
}

fn is_unread(finding: &Finding) -> bool {
    finding.rule == UNREADABLE_SOURCE.code
}

/// True if the group's heading would say no more than its only finding.
fn is_alone(group: &Group) -> bool {
    group.findings.len() == 1 && group.cause.as_ref().is_some_and(|cause| cause.reach <= 1)
}

fn heading(cause: &Cause, number: usize, of: usize, shown: &Shown<'_>, look: Look) -> String {
    let at = look.link(&shown_place(&cause.place, shown.folder), &cause.place);
    let reach = count(cause.reach as usize, "function");
    let number = if of == 1 { "cause".to_owned() } else { format!("cause {number} of {of}") };
    let call = harmless(&cause.call);
    format!("{number}: `{call}` at {at}, reached by {reach} that must not block")
}

/// Returns the text with a link for each place that heads a frame.
fn linked<'t>(text: &'t str, finding: &Finding, shown: &Shown<'_>, look: Look) -> Cow<'t, str> {
    if !look.links {
        return Cow::Borrowed(text);
    }
    let places = std::iter::once(&finding.place).chain(finding.trace.iter().map(|step| &step.place));
    let places: Vec<_> = places.map(|place| (shown_place(place, shown.folder), place)).collect();
    let lines = text.split('\n').map(|line| {
        let is_head = line.contains("--> ") || line.contains("::: ");
        // In colours, an escape sequence ends between the arrow and the place.
        let heads = |at: &str| line.strip_suffix(at).is_some_and(|before| before.ends_with([' ', 'm']));
        let named = places.iter().filter(|(at, _)| is_head && heads(at)).max_by_key(|(at, _)| at.len());
        // Text behind the arrow is plain in every style.
        named.map_or(Cow::Borrowed(line), |(at, place)| {
            Cow::Owned(format!("{}{}", &line[..line.len() - at.len()], look.link(at, place)))
        })
    });
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// One line for each finding whose way goes on as one that was shown.
fn write_list(out: &mut dyn Write, same: &[&Finding], shown: &Shown<'_>, look: Look) -> io::Result<()> {
    if same.is_empty() {
        return Ok(());
    }
    let is_fix = |fix: &Fix| fix.applicability > Applicability::Display;
    let fixable = same.iter().filter(|finding| finding.fix.as_ref().is_some_and(is_fix)).count();
    let fixes = if fixable > 0 { format!(", {} with a fix", count_of(fixable, same.len())) } else { String::new() };
    writeln!(out, "{} lead there as above{fixes}:", count(same.len(), "more call"))?;
    for finding in same {
        write_line(out, finding, &harmless(&step_label(finding, 0)), shown, look)?;
    }
    writeln!(out)
}

/// Writes a line for each finding of these groups.
fn write_rest(out: &mut dyn Write, groups: &[Group], shown: &Shown<'_>, look: Look) -> io::Result<()> {
    let all = || groups.iter().flat_map(|group| &group.findings).filter_map(|at| shown.findings.get(*at as usize));
    writeln!(
        out,
        "{} in one line each (all in full: `blocklint check | less`):",
        count(all().count(), "more finding")
    )?;
    for finding in all() {
        write_line(out, finding, &harmless(&finding.message), shown, look)?;
    }
    writeln!(out)
}

/// Writes notes that are true and seldom worth an edit, one line each; nothing where there are none.
///
/// # Errors
///
/// Those of the writer.
pub fn minor(out: &mut dyn Write, notes: &[Finding], shown: &Shown<'_>, look: Look) -> io::Result<()> {
    if notes.is_empty() {
        return Ok(());
    }
    writeln!(out, "Minor, seldom worth an edit ({}):", count(notes.len(), "note"))?;
    for finding in notes {
        write_line(out, finding, &harmless(&finding.message), shown, look)?;
    }
    Ok(())
}

/// Writes one line of a finding: its place, severity and rule, and a text.
fn write_line(out: &mut dyn Write, finding: &Finding, text: &str, shown: &Shown<'_>, look: Look) -> io::Result<()> {
    let (word, colour) = match finding.severity {
        Severity::Error => ("error", AnsiColor::BrightRed),
        Severity::Warning => ("warning", AnsiColor::Yellow),
        Severity::Note => ("note", AnsiColor::BrightGreen),
    };
    let style = look.style(Style::new().bold().fg_color(Some(colour.into())));
    let at = look.link(&shown_place(&finding.place, shown.folder), &finding.place);
    let rule = &finding.rule;
    writeln!(out, "   {at}: {style}{word}[{rule}]{style:#} {text}")
}

/// `all` of them, or how many.
fn count_of(some: usize, of: usize) -> String {
    if some == of { "all".to_owned() } else { some.to_string() }
}

fn write_heading(out: &mut dyn Write, heading: &str, look: Look) -> io::Result<()> {
    let style = look.style(Style::new().bold().fg_color(Some(AnsiColor::Cyan.into())));
    writeln!(out, "{style}{heading}{style:#}\n")
}

/// Text that was printed under a heading and is not repeated.
#[derive(Default)]
struct Said<'a> {
    /// The ends of the traces that were shown.
    ways: FxHashSet<u64>,
    /// Notes and help.
    words: FxHashSet<&'a str>,
}

impl<'a> Said<'a> {
    /// Returns how many steps of the trace lead to where an earlier one goes on the same way; all where none does.
    fn own_steps(&mut self, trace: &'a [Step]) -> usize {
        let mut way = 0;
        let mut ends: Vec<u64> = Vec::with_capacity(trace.len());
        for step in trace.iter().rev() {
            let mut hasher = FxHasher::default();
            (way, &*step.place.path, step.place.span, &step.call).hash(&mut hasher);
            way = hasher.finish();
            ends.push(way);
        }
        ends.reverse();
        // A finding's own place is always shown.
        let own = (1..trace.len()).find(|&at| self.ways.contains(&ends[at])).unwrap_or(trace.len());
        self.ways.extend(ends);
        own
    }
}

/// Writes the message, the place, the notes and the help of one finding, as far as they were not printed before.
fn block<'a>(finding: &'a Finding, shown: &Shown<'a>, look: Look, said: &mut Said<'a>) -> Block<'a> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(finding.message.as_str()).id(finding.rule.to_string());
    let title = match shown.url(finding.rule).filter(|_| look.links) {
        Some(url) => title.id_url(url),
        None => title,
    };
    let mut elements: Vec<Element<'a>> = Vec::new();
    let own = said.own_steps(&finding.trace);
    for frame in frames(finding, own) {
        elements.push(match frame {
            Frame::Place { place, label, primary } => element(place, label, primary, shown),
            Frame::Gap(steps) => Level::NOTE.no_name().message(format!("… {} …", count(steps, "more step"))).into(),
        });
    }
    if finding.trace.len() > 1 && own == finding.trace.len() {
        elements.push(Level::NOTE.with_name("path").message(finding.trace_line()).into());
    }
    if let Some(confirmed) = &finding.confirmed {
        elements.push(Level::NOTE.message(harmless(&confirmed.to_words()).into_owned()).into());
    }
    let mut new_texts = |texts: &'a [String]| -> Vec<&'a str> {
        texts.iter().map(String::as_str).filter(|text| said.words.insert(text)).collect()
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
    // A remark about another place is no news at the finding's own place, and what has no edit by its kind has help.
    if let Some((refusal, place)) =
        finding.unfixed.as_ref().and_then(|refusal| Some((refusal, refusal.place.as_ref()?)))
    {
        let at = format!("{}:{}", crate::paths::shown_file(place, shown.folder), place.start.row);
        elements.push(Level::HELP.with_name("no fix").message(format!("{refusal} ({at})")).into());
    }
    title.elements(elements)
}
