//! What blocklint makes of one line: `blocklint why PATH:LINE`.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use blocklint_core::{Confidence, Finding, Place};
use camino::Utf8Path;

use crate::paths::{harmless, shown_place as at};

/// One site of the line, with everything that decided about it.
#[derive(Clone, Debug)]
pub struct ExplainedSite {
    /// Where it stands.
    pub place: Place,
    /// The callee as written (`self.http.get`).
    pub written: String,
    /// What it does, in a word or two: `call`, `property`, `with`, `import`.
    pub kind: String,
    /// The body it stands in, in words (``async function `handler` ``).
    pub owner: String,
    /// What its receiver is; `unknown` comes with its reason. `None` where it has none.
    pub receiver: Option<String>,
    /// The arguments that a condition asks for, with what they are.
    pub arguments: Vec<(String, String)>,
    /// What it runs.
    pub targets: Vec<ExplainedTarget>,
    /// The model rows that speak of it, in the order in which they are tried.
    pub rows: Vec<ExplainedRow>,
    /// What comes of it; never empty.
    pub outcomes: Vec<Outcome>,
}

/// Something a site runs.
#[derive(Clone, Debug)]
pub struct ExplainedTarget {
    /// Its qualified name.
    pub name: String,
    /// How it is run: `call`, `await`, `hand-over to a worker` …
    pub edge: String,
    /// How sure.
    pub confidence: Confidence,
    /// Its definition; `None` outside the project.
    pub place: Option<Place>,
}

/// A row of a model that speaks of a site.
#[derive(Clone, Debug)]
pub struct ExplainedRow {
    /// Its path.
    pub path: String,
    /// What it says (`network, holds up to 5 s`, `hand-over to a worker`).
    pub says: String,
    /// The model file.
    pub file: String,
    /// Its line in that file, from 1.
    pub line: u32,
    /// Its conditions as written, each with whether it is shown to hold.
    pub conditions: Vec<(String, bool)>,
    /// Whether it is the row that decides.
    pub decides: bool,
}

/// What comes of a site.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It belongs to a finding; the flag says whether that is shown at the default levels.
    Finding(Box<Finding>, bool),
    /// It belongs to so many further findings, which are not listed.
    Others(usize),
    /// It holds no thread, or what it does ends before it reaches a root; the reason, and where.
    Ends(String, Option<Place>),
}

/// Writes what was made of each site; in colour where `styled` says so.
///
/// # Errors
///
/// Those of the writer.
pub fn explanation(out: &mut dyn Write, sites: &[ExplainedSite], folder: &Utf8Path, styled: bool) -> io::Result<()> {
    let [bold, dim] = match styled {
        true => [Style::new().bold(), Style::new().fg_color(Some(AnsiColor::Cyan.into()))],
        false => [Style::new(); 2],
    };
    for (number, site) in sites.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        let (written, owner) = (harmless(&site.written), harmless(&site.owner));
        writeln!(out, "{bold}{}: {} `{written}`{bold:#} in {owner}", at(&site.place, folder), site.kind)?;
        let mut line = |what: &str, text: String| writeln!(out, "  {dim}{what:<9}{dim:#} {}", harmless(&text));
        if let Some(receiver) = &site.receiver {
            line("receiver", receiver.clone())?;
        }
        for (name, value) in &site.arguments {
            line("argument", format!("{name} = {value}"))?;
        }
        for target in &site.targets {
            let place = target.place.as_ref().map_or(String::new(), |place| format!(" at {}", at(place, folder)));
            line("target", format!("{} ({}, {}){place}", target.name, target.edge, target.confidence))?;
        }
        for row in &site.rows {
            let decides = if row.decides { "" } else { "; does not decide" };
            line("model", format!("{}: {} ({}:{}){decides}", row.path, row.says, row.file, row.line))?;
            for (condition, holds) in &row.conditions {
                line("", format!("{condition}: {}", if *holds { "shown" } else { "not shown" }))?;
            }
        }
        for outcome in &site.outcomes {
            match outcome {
                Outcome::Finding(finding, shown) => {
                    let (place, code) = (at(&finding.place, folder), finding.rule);
                    line("finding", format!("{place}: {code} {}", finding.message))?;
                    let below = if *shown { "" } else { "; not shown by default" };
                    line("", format!("{}, confidence {}{below}", finding.severity, finding.confidence))?;
                    if finding.trace.len() > 1 {
                        line("", finding.trace_line())?;
                    }
                    for (at_first, reason) in finding.reasons.iter().enumerate() {
                        let place =
                            reason.place.as_ref().map_or_else(String::new, |place| format!(", {}", at(place, folder)));
                        let what = if at_first == 0 { "because" } else { "" };
                        line(what, format!("{}: {} ({}{place})", reason.makes, reason.says, reason.name))?;
                    }
                    if let Some(suppression) = &finding.suppression {
                        let reason = suppression.reason.as_deref().unwrap_or("no reason given");
                        line("", format!("silenced by a comment: {reason}"))?;
                    }
                }
                Outcome::Others(count) => {
                    let findings = if *count == 1 { "finding" } else { "findings" };
                    line("", format!("and {count} more {findings}"))?;
                }
                Outcome::Ends(reason, place) => {
                    let place = place.as_ref().map_or(String::new(), |place| format!(" ({})", at(place, folder)));
                    line("silent", format!("{reason}{place}"))?;
                }
            }
        }
    }
    Ok(())
}
