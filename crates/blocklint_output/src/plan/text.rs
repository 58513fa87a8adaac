//! A plan for people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use blocklint_core::Hold;

use super::{Plan, PlanCall, PlanKind, PlanStep};
use crate::paths::{harmless, shown_place};
use crate::summary::count;
use crate::{Look, Shown};

/// Names and calls of one step beyond which only their number is told.
const MOST_NAMES: usize = 4;

/// Returns a numbered list of the steps, and what they come to.
///
/// # Errors
///
/// Those of the writer.
pub fn plan_text(out: &mut dyn Write, shown: &Shown<'_>, plan: &Plan, look: Look) -> io::Result<()> {
    if plan.findings == 0 {
        return writeln!(out, "No findings: there is nothing to plan.");
    }
    let all = format!("{} in {}", count(plan.findings as usize, "finding"), count(plan.functions as usize, "function"));
    let freed = (plan.functions - plan.left_functions) as usize;
    let changes = count(plan.steps.len(), "change");
    let free = if plan.steps.len() == 1 { "frees" } else { "free" };
    match plan.left_functions {
        0 => writeln!(out, "{all}: {changes} {free} all of them.")?,
        _ => writeln!(out, "{all}: {changes} {free} {freed} of the functions.")?,
    }
    for (at, step) in plan.steps.iter().enumerate() {
        writeln!(out)?;
        write_step(out, at + 1, step, shown, look)?;
    }
    if plan.left_findings > 0 {
        let left = count(plan.left_findings as usize, "finding");
        writeln!(out, "\n{left} would be left; --steps NUMBER plans further.")?;
    }
    Ok(())
}

fn write_step(out: &mut dyn Write, at: usize, step: &PlanStep, shown: &Shown<'_>, look: Look) -> io::Result<()> {
    let bold = look.style(Style::new().bold());
    let title = match step.kind {
        PlanKind::Cause => format!("`{}` in `{}`", harmless(&step.call), harmless(&step.function)),
        PlanKind::Function => format!("all that `{}` does", harmless(&step.function)),
        PlanKind::Call => format!("the call of `{}` in `{}`", harmless(&step.call), harmless(&step.function)),
    };
    let place = look.link(&shown_place(&step.place, shown.folder), &step.place);
    writeln!(out, "{bold}{at}. {title}{bold:#}  {place}")?;
    line(out, look, "frees", &frees(step))?;
    if !step.calls.is_empty() {
        line(out, look, "blocks", &calls(&step.calls, shown))?;
    }
    if let Some(held) = held(step.hold) {
        line(out, look, "held", &held)?;
    }
    if let Some(help) = step.help_from(shown.folder) {
        line(out, look, "help", &harmless(&help))?;
    }
    if let Some(command) = step.fix_command(shown.folder) {
        let besides = match step.fixes_besides {
            0 => String::new(),
            more => format!("  # and {} more", count(more as usize, "finding")),
        };
        line(out, look, "fix", &format!("{}{besides}", harmless(&command)))?;
    }
    if let Some(command) = step.codemod_command(shown.folder) {
        line(out, look, if step.fixes > 0 { "or" } else { "fix" }, &harmless(&command))?;
    }
    line(out, look, "check", &harmless(&step.check_command(shown.folder)))
}

fn line(out: &mut dyn Write, look: Look, label: &str, text: &str) -> io::Result<()> {
    let style = look.style(AnsiColor::Cyan.on_default());
    writeln!(out, "   {style}{label:<6}{style:#} {text}")
}

/// `3 functions (4 findings): a.b, a.c and 1 more`.
fn frees(step: &PlanStep) -> String {
    let findings = count(step.findings.len(), "finding");
    if step.functions.is_empty() {
        return format!("no function yet, but ends {findings}");
    }
    let names: Vec<String> =
        step.functions.iter().take(MOST_NAMES).map(|name| format!("`{}`", harmless(name))).collect();
    let functions = count(step.functions.len(), "function");
    format!("{functions} ({findings}): {}{}", names.join(", "), and_more(step.functions.len()))
}

fn calls(calls: &[PlanCall], shown: &Shown<'_>) -> String {
    let told: Vec<String> = calls
        .iter()
        .take(MOST_NAMES)
        .map(|of| format!("`{}` at {}", harmless(&of.call), shown_place(&of.place, shown.folder)))
        .collect();
    format!("{}{}", told.join(", "), and_more(calls.len()))
}

fn and_more(all: usize) -> String {
    match all.saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}

fn held(hold: Hold) -> Option<String> {
    match hold {
        Hold::Unstated => None,
        Hold::Brief => Some("for a moment".to_owned()),
        Hold::Seconds(time) if time.is_finite() => Some(format!("up to {time} s")),
        Hold::Seconds(_) | Hold::Unbounded => Some("without bound".to_owned()),
    }
}
