//! `blocklint plan`: the few changes that end most findings, in order.

use blocklint_engine::{RunResult, locate_in, locate_plan, overview, plan};
use blocklint_output::{Page, RenderInput, TerminalStyle, write_plan, write_plan_json};

use super::check::{ensure_something_read, prepare, run_request};
use super::{baseline, cache, change, ignore_closed_pipe, left_out};
use crate::arguments::{OutputFormat, Plan};
use crate::messages::Failure;
use crate::output_file::Output;
use crate::progress::Bar;
use crate::{CLEAN, FAILED, console};

pub(crate) fn plan_command(arguments: &Plan) -> Result<u8, Failure> {
    let check = &*arguments.check;
    let is_json = match check.output_format {
        OutputFormat::Full => false,
        OutputFormat::Json => true,
        _ => return Err(Failure::new("a plan is written in the formats `full` and `json`")),
    };
    if check.fix || check.diff || check.add_ignore.is_some() || check.run.watch || check.statistics.is_some() {
        return Err(Failure::new("a plan changes nothing, so options for fixes and counts do not apply"));
    }
    let prepared = prepare(check)?;
    let (project, current) = (&prepared.project, prepared.current.as_path());
    let baseline = baseline::read(check, project, current)?;
    let cache = cache::open(check, project, current);
    let bar = Bar::new();
    let mut request = run_request(check, &prepared, cache.as_ref(), &bar)?;
    request.options.all_paths = true;
    let (ran, before) = change::run_with_comparison(check, request)?;
    drop(bar);
    ensure_something_read(project, &ran)?;
    cache::warn_if_unkept(check, &ran);
    left_out::report(project, &ran.left_out, current);
    let RunResult { mut chosen, texts, all_paths, left_out, .. } = ran;
    if let Some(baseline) = &baseline {
        baseline::hide_baselined(check, baseline, &mut chosen, &prepared);
    }
    if let Some(before) = &before {
        before.compare(&mut chosen, project);
    }
    // The overview sorts causes by how much it is worth to fix them.
    let overview_of_causes = overview(&mut chosen, &project.base);
    let all_paths = all_paths.unwrap_or_default();
    let mut planned = plan(&chosen, &all_paths, &overview_of_causes, arguments.steps as usize);
    let mut sources = locate_in(project, &mut chosen, texts);
    locate_plan(project, &mut planned, &mut sources);
    let shown = RenderInput {
        page: Page::PLAIN,
        findings: &chosen.findings,
        groups: &chosen.groups,
        sources: &sources,
        folder: current,
        pages: blocklint_rules::repository(),
    };
    let mut out = Output::new(check.output_file.as_deref()).map_err(|error| Failure::new(error.to_string()))?;
    let to_stdout = check.output_file.is_none();
    let terminal = TerminalStyle {
        styled: to_stdout && console::stdout_is_styled(),
        links: to_stdout && console::stdout_has_links(),
        max_full_findings: None,
    };
    let written = if is_json {
        write_plan_json(&mut out, &shown, &planned)
    } else {
        write_plan(&mut out, &shown, &planned, terminal)
    };
    ignore_closed_pipe(written.and_then(|()| out.finish()))?;
    let is_done = project.missing.is_empty() && (left_out.is_empty() || !check.strict);
    Ok(if is_done { CLEAN } else { FAILED })
}
