//! An explanation for people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use blocklint_core::{Place, ReachedBy};
use camino::Utf8Path;

use super::{ExplainedFinding, ExplainedFunction, ExplainedLine, ExplainedSite, Outcome, Remark};
use crate::paths::{harmless, shown_file, shown_place as at};

/// Writes the explanation of each line; in colour if `styled` is true.
///
/// # Errors
///
/// Those of the writer.
pub fn explanation(out: &mut dyn Write, lines: &[ExplainedLine], folder: &Utf8Path, styled: bool) -> io::Result<()> {
    let mut page = Page { out, folder, styles: Styles::new(styled) };
    for (number, line) in lines.iter().enumerate() {
        if number > 0 {
            writeln!(page.out)?;
        }
        page.line(line)?;
    }
    Ok(())
}

struct Styles {
    bold: Style,
    label: Style,
}

impl Styles {
    fn new(styled: bool) -> Self {
        match styled {
            true => Styles { bold: Style::new().bold(), label: Style::new().fg_color(Some(AnsiColor::Cyan.into())) },
            false => Styles { bold: Style::new(), label: Style::new() },
        }
    }
}

struct Page<'a> {
    out: &'a mut dyn Write,
    folder: &'a Utf8Path,
    styles: Styles,
}

impl Page<'_> {
    fn line(&mut self, line: &ExplainedLine) -> io::Result<()> {
        let place = format!("{}:{}", shown_file(&line.place, self.folder), line.place.start.row);
        self.head(&format!("{place} {}", line.stands))?;
        for remark in &line.remarks {
            self.remark("note", remark)?;
        }
        for finding in &line.findings {
            self.finding(finding)?;
        }
        if line.more_findings > 0 {
            self.entry("", &format!("and {} more {}", line.more_findings, findings(line.more_findings)))?;
        }
        if let Some(function) = &line.function {
            self.function(function)?;
        }
        for site in &line.sites {
            writeln!(self.out)?;
            self.site(site)?;
        }
        Ok(())
    }

    fn head(&mut self, text: &str) -> io::Result<()> {
        let bold = self.styles.bold;
        writeln!(self.out, "{bold}{}{bold:#}", harmless(text))
    }

    fn entry(&mut self, label: &str, text: &str) -> io::Result<()> {
        let style = self.styles.label;
        writeln!(self.out, "  {style}{label:<9}{style:#} {}", harmless(text))
    }

    fn remark(&mut self, label: &str, remark: &Remark) -> io::Result<()> {
        let text = format!("{}{}", remark.says, self.behind(remark.place.as_ref()));
        self.entry(label, &text)
    }

    /// Returns a place in parentheses.
    fn behind(&self, place: Option<&Place>) -> String {
        place.map_or_else(String::new, |place| format!(" ({})", at(place, self.folder)))
    }

    fn finding(&mut self, explained: &ExplainedFinding) -> io::Result<()> {
        let finding = &explained.finding;
        self.entry("finding", &format!("{}: {} {}", at(&finding.place, self.folder), finding.rule, finding.message))?;
        let part = explained.part.map_or_else(String::new, |part| format!("; {part}"));
        self.entry("", &format!("{}, confidence {}{part}", finding.severity, finding.confidence))?;
        if finding.trace.len() > 1 {
            self.entry("", &finding.trace_line())?;
        }
        if let Some(step) = &finding.held_by {
            self.entry("", &format!("{}{}", step.lock_holder_words(), self.behind(Some(&step.place))))?;
        }
        if finding.causes.len() > 1 {
            for (number, cause) in finding.causes.iter().enumerate() {
                let label = if number == 0 { "causes" } else { "" };
                self.entry(label, &format!("`{}`{}", cause.call, self.behind(Some(&cause.place))))?;
            }
        }
        if !finding.reached_by.is_empty() {
            let says: Vec<String> = finding.reached_by.iter().map(ReachedBy::to_words).collect();
            self.entry("reached", &format!("by {}", says.join(", ")))?;
        }
        for (number, reason) in finding.reasons.iter().enumerate() {
            let place = reason.place.as_ref().map_or_else(String::new, |place| format!(", {}", at(place, self.folder)));
            let label = if number == 0 { "because" } else { "" };
            self.entry(label, &format!("{}: {} ({}{place})", reason.makes, reason.says, reason.name))?;
        }
        for (number, doubt) in explained.doubts.iter().enumerate() {
            self.remark(if number == 0 { "unsure" } else { "" }, doubt)?;
        }
        if let Some(hidden) = &explained.hidden {
            self.entry("hidden", hidden)?;
        }
        Ok(())
    }

    fn function(&mut self, function: &ExplainedFunction) -> io::Result<()> {
        let head = format!("{}{}", function.name, self.behind(Some(&function.place)));
        self.entry("function", &head)?;
        for duty in &function.duty {
            self.remark("", duty)?;
        }
        for (label, list) in [("used", &function.uses), ("reaches", &function.reaches), ("has", &function.findings)] {
            for (number, remark) in list.iter().enumerate() {
                self.remark(if number == 0 { label } else { "" }, remark)?;
            }
            if label == "used" && function.more_uses > 0 {
                let places = if function.more_uses == 1 { "place" } else { "places" };
                self.entry("", &format!("and at {} more {places}", function.more_uses))?;
            }
        }
        Ok(())
    }

    fn site(&mut self, site: &ExplainedSite) -> io::Result<()> {
        self.head(&format!("{}: {} `{}` in {}", at(&site.place, self.folder), site.kind, site.written, site.owner))?;
        if let Some(receiver) = &site.receiver {
            self.entry("receiver", receiver)?;
        }
        for (name, value) in &site.arguments {
            self.entry("argument", &format!("{name} = {value}"))?;
        }
        for target in &site.targets {
            let place =
                target.place.as_ref().map_or_else(String::new, |place| format!(" at {}", at(place, self.folder)));
            self.entry("target", &format!("{} ({}, {}){place}", target.name, target.edge, target.confidence))?;
        }
        for row in &site.rows {
            let decides = if row.decides { "" } else { "; does not decide" };
            self.entry("model", &format!("{}: {} ({}:{}){decides}", row.path, row.says, row.file, row.line))?;
            for (condition, holds) in &row.conditions {
                self.entry("", &format!("{condition}: {}", if *holds { "shown" } else { "not shown" }))?;
            }
        }
        for (number, outcome) in site.outcomes.iter().enumerate() {
            match outcome {
                Outcome::Finding(rule, place) => {
                    let label = if number == 0 { "belongs" } else { "" };
                    self.entry(label, &format!("to {rule} at {}", at(place, self.folder)))?;
                }
                Outcome::Others(count) => self.entry("", &format!("and to {count} more {}", findings(*count)))?,
                Outcome::Ends(remark) => self.remark("silent", remark)?,
            }
        }
        Ok(())
    }
}

fn findings(count: usize) -> &'static str {
    if count == 1 { "finding" } else { "findings" }
}
