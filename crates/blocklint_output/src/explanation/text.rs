//! `blocklint why` as text for people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use blocklint_core::{Place, ReachedBy};
use camino::Utf8Path;

use super::{ExplainedFinding, ExplainedFunction, ExplainedLine, ExplainedSite, Outcome, Remark};
use crate::paths::{escape_controls, file_text, place_text};

/// Writes the explanation of each line; in colour if `styled` is true.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_explanation(
    out: &mut dyn Write,
    lines: &[ExplainedLine],
    folder: &Utf8Path,
    styled: bool,
) -> io::Result<()> {
    let mut page = Page { out, folder, styles: Styles::new(styled) };
    for (number, line) in lines.iter().enumerate() {
        if number > 0 {
            writeln!(page.out)?;
        }
        page.write_line(line)?;
    }
    Ok(())
}

struct Styles {
    bold: Style,
    label: Style,
}

impl Styles {
    fn new(styled: bool) -> Self {
        if styled {
            Styles { bold: Style::new().bold(), label: Style::new().fg_color(Some(AnsiColor::Cyan.into())) }
        } else {
            Styles { bold: Style::new(), label: Style::new() }
        }
    }
}

struct Page<'a> {
    out: &'a mut dyn Write,
    folder: &'a Utf8Path,
    styles: Styles,
}

impl Page<'_> {
    fn write_line(&mut self, line: &ExplainedLine) -> io::Result<()> {
        let place = format!("{}:{}", file_text(&line.place, self.folder), line.place.start.row);
        self.write_head(&format!("{place} {}", line.stands))?;
        for remark in &line.remarks {
            self.write_remark("note", remark)?;
        }
        for finding in &line.findings {
            self.write_finding(finding)?;
        }
        if line.more_findings > 0 {
            self.write_entry("", &format!("and {} more {}", line.more_findings, finding_word(line.more_findings)))?;
        }
        if let Some(function) = &line.function {
            self.write_function(function)?;
        }
        for site in &line.sites {
            writeln!(self.out)?;
            self.write_site(site)?;
        }
        Ok(())
    }

    fn write_head(&mut self, text: &str) -> io::Result<()> {
        let bold = self.styles.bold;
        writeln!(self.out, "{bold}{}{bold:#}", escape_controls(text))
    }

    /// Writes a label and a text.
    fn write_entry(&mut self, label: &str, text: &str) -> io::Result<()> {
        let style = self.styles.label;
        writeln!(self.out, "  {style}{label:<9}{style:#} {}", escape_controls(text))
    }

    fn write_remark(&mut self, label: &str, remark: &Remark) -> io::Result<()> {
        let text = format!("{}{}", remark.says, self.in_parentheses(remark.place.as_ref()));
        self.write_entry(label, &text)
    }

    /// Returns ` (app.py:3:5)`, or nothing without a place.
    fn in_parentheses(&self, place: Option<&Place>) -> String {
        place.map_or_else(String::new, |place| format!(" ({})", place_text(place, self.folder)))
    }

    fn write_finding(&mut self, explained: &ExplainedFinding) -> io::Result<()> {
        let finding = &explained.finding;
        self.write_entry(
            "finding",
            &format!("{}: {} {}", place_text(&finding.place, self.folder), finding.rule, finding.message),
        )?;
        let part = explained.part.map_or_else(String::new, |part| format!("; {part}"));
        self.write_entry("", &format!("{}, confidence {}{part}", finding.severity, finding.confidence))?;
        if finding.trace.len() > 1 {
            self.write_entry("", &finding.trace_line())?;
        }
        if let Some(step) = &finding.held_by {
            self.write_entry("", &format!("{}{}", step.lock_holder_words(), self.in_parentheses(Some(&step.place))))?;
        }
        if finding.causes.len() > 1 {
            for (number, cause) in finding.causes.iter().enumerate() {
                let label = if number == 0 { "causes" } else { "" };
                self.write_entry(label, &format!("`{}`{}", cause.call, self.in_parentheses(Some(&cause.place))))?;
            }
        }
        if !finding.reached_by.is_empty() {
            let entries: Vec<String> = finding.reached_by.iter().map(ReachedBy::to_words).collect();
            self.write_entry("reached", &format!("by {}", entries.join(", ")))?;
        }
        for (number, reason) in finding.reasons.iter().enumerate() {
            let place =
                reason.place.as_ref().map_or_else(String::new, |place| format!(", {}", place_text(place, self.folder)));
            let label = if number == 0 { "because" } else { "" };
            self.write_entry(label, &format!("{}: {} ({}{place})", reason.makes, reason.says, reason.name))?;
        }
        for (number, doubt) in explained.doubts.iter().enumerate() {
            self.write_remark(if number == 0 { "unsure" } else { "" }, doubt)?;
        }
        if let Some(hidden) = &explained.hidden {
            self.write_entry("hidden", hidden)?;
        }
        Ok(())
    }

    fn write_function(&mut self, function: &ExplainedFunction) -> io::Result<()> {
        let head = format!("{}{}", function.name, self.in_parentheses(Some(&function.place)));
        self.write_entry("function", &head)?;
        for duty in &function.duty {
            self.write_remark("", duty)?;
        }
        for (label, remarks) in [("used", &function.uses), ("reaches", &function.reaches), ("has", &function.findings)]
        {
            for (number, remark) in remarks.iter().enumerate() {
                self.write_remark(if number == 0 { label } else { "" }, remark)?;
            }
            if label == "used" && function.more_uses > 0 {
                let places = if function.more_uses == 1 { "place" } else { "places" };
                self.write_entry("", &format!("and at {} more {places}", function.more_uses))?;
            }
        }
        Ok(())
    }

    fn write_site(&mut self, site: &ExplainedSite) -> io::Result<()> {
        self.write_head(&format!(
            "{}: {} `{}` in {}",
            place_text(&site.place, self.folder),
            site.kind,
            site.written,
            site.owner
        ))?;
        if let Some(receiver) = &site.receiver {
            self.write_entry("receiver", receiver)?;
        }
        for (name, value) in &site.arguments {
            self.write_entry("argument", &format!("{name} = {value}"))?;
        }
        for target in &site.targets {
            let place = target
                .place
                .as_ref()
                .map_or_else(String::new, |place| format!(" at {}", place_text(place, self.folder)));
            self.write_entry("target", &format!("{} ({}, {}){place}", target.name, target.edge, target.confidence))?;
        }
        for row in &site.rows {
            let decides = if row.decides { "" } else { "; does not decide" };
            self.write_entry("model", &format!("{}: {} ({}:{}){decides}", row.path, row.says, row.file, row.line))?;
            for (condition, holds) in &row.conditions {
                self.write_entry("", &format!("{condition}: {}", if *holds { "shown" } else { "not shown" }))?;
            }
        }
        for (number, outcome) in site.outcomes.iter().enumerate() {
            match outcome {
                Outcome::Finding(rule, place) => {
                    let label = if number == 0 { "belongs" } else { "" };
                    self.write_entry(label, &format!("to {rule} at {}", place_text(place, self.folder)))?;
                }
                Outcome::Others(count) => {
                    self.write_entry("", &format!("and to {count} more {}", finding_word(*count)))?
                }
                Outcome::Ends(remark) => self.write_remark("silent", remark)?,
            }
        }
        Ok(())
    }
}

fn finding_word(count: usize) -> &'static str {
    if count == 1 { "finding" } else { "findings" }
}
