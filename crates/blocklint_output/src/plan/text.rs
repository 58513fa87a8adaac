//! `blocklint plan` as text for people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use blocklint_core::Hold;

use super::{Plan, PlanCall, PlanKind, PlanStep};
use crate::paths::{escape_controls, place_text};
use crate::summary::count;
use crate::{RenderInput, TerminalStyle};

/// The most names and calls of one step that are written. Of the others only the number is.
const MOST_NAMES: usize = 4;

/// Writes a numbered list of the steps, and the number of functions that they free.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_plan(
    out: &mut dyn Write,
    input: &RenderInput<'_>,
    plan: &Plan,
    terminal: TerminalStyle,
) -> io::Result<()> {
    if plan.findings == 0 {
        return writeln!(out, "No findings: there is nothing to plan.");
    }
    let findings_text =
        format!("{} in {}", count(plan.findings as usize, "finding"), count(plan.functions as usize, "function"));
    let freed_functions = (plan.functions - plan.left_functions) as usize;
    let changes = count(plan.steps.len(), "change");
    let verb = if plan.steps.len() == 1 { "frees" } else { "free" };
    match plan.left_functions {
        0 => writeln!(out, "{findings_text}: {changes} {verb} all of them.")?,
        _ => writeln!(out, "{findings_text}: {changes} {verb} {freed_functions} of the functions.")?,
    }
    for (index, step) in plan.steps.iter().enumerate() {
        writeln!(out)?;
        write_step(out, index + 1, step, input, terminal)?;
    }
    if plan.left_findings > 0 {
        let remaining = count(plan.left_findings as usize, "finding");
        writeln!(out, "\n{remaining} would be left; --steps NUMBER plans further.")?;
    }
    Ok(())
}

fn write_step(
    out: &mut dyn Write,
    number: usize,
    step: &PlanStep,
    input: &RenderInput<'_>,
    terminal: TerminalStyle,
) -> io::Result<()> {
    let bold = terminal.style(Style::new().bold());
    let title = match step.kind {
        PlanKind::Cause => format!("`{}` in `{}`", escape_controls(&step.call), escape_controls(&step.function)),
        PlanKind::Function => format!("the whole function `{}`", escape_controls(&step.function)),
        PlanKind::Call => {
            format!("the call of `{}` in `{}`", escape_controls(&step.call), escape_controls(&step.function))
        }
    };
    let place = terminal.link(&place_text(&step.place, input.folder), &step.place);
    writeln!(out, "{bold}{number}. {title}{bold:#}  {place}")?;
    write_line(out, terminal, "frees", &freed_functions_text(step))?;
    if !step.calls.is_empty() {
        write_line(out, terminal, "blocks", &calls_text(&step.calls, input))?;
    }
    if let Some(hold) = hold_text(step.hold) {
        write_line(out, terminal, "held", &hold)?;
    }
    if let Some(help) = step.help_from(input.folder) {
        write_line(out, terminal, "help", &escape_controls(&help))?;
    }
    if let Some(command) = step.fix_command(input.folder) {
        let besides = match step.fixes_besides {
            0 => String::new(),
            more => format!("  # and {} more", count(more as usize, "finding")),
        };
        write_line(out, terminal, "fix", &format!("{}{besides}", escape_controls(&command)))?;
    }
    if let Some(command) = step.codemod_command(input.folder) {
        write_line(out, terminal, if step.fixes > 0 { "or" } else { "fix" }, &escape_controls(&command))?;
    }
    write_line(out, terminal, "check", &escape_controls(&step.check_command(input.folder)))
}

fn write_line(out: &mut dyn Write, terminal: TerminalStyle, label: &str, text: &str) -> io::Result<()> {
    let style = terminal.style(AnsiColor::Cyan.on_default());
    writeln!(out, "   {style}{label:<6}{style:#} {text}")
}

/// Returns the freed functions in words: `3 functions (4 findings): a.b, a.c and 1 more`.
fn freed_functions_text(step: &PlanStep) -> String {
    let findings = count(step.findings.len(), "finding");
    if step.functions.is_empty() {
        return format!("no function yet, but ends {findings}");
    }
    let names: Vec<String> =
        step.functions.iter().take(MOST_NAMES).map(|name| format!("`{}`", escape_controls(name))).collect();
    let functions = count(step.functions.len(), "function");
    format!("{functions} ({findings}): {}{}", names.join(", "), and_more_text(step.functions.len()))
}

fn calls_text(calls: &[PlanCall], input: &RenderInput<'_>) -> String {
    let call_texts: Vec<String> = calls
        .iter()
        .take(MOST_NAMES)
        .map(|call| format!("`{}` at {}", escape_controls(&call.call), place_text(&call.place, input.folder)))
        .collect();
    format!("{}{}", call_texts.join(", "), and_more_text(calls.len()))
}

/// Returns ` and 3 more` if there are more than [`MOST_NAMES`].
fn and_more_text(total: usize) -> String {
    match total.saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}

fn hold_text(hold: Hold) -> Option<String> {
    match hold {
        Hold::Unstated => None,
        Hold::Brief => Some("for a moment".to_owned()),
        Hold::Seconds(time) if time.is_finite() => Some(format!("up to {time} s")),
        Hold::Seconds(_) | Hold::Unbounded => Some("without bound".to_owned()),
    }
}
