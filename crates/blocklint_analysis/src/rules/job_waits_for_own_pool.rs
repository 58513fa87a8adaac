//! Rule `pool-starvation`, part two: a job waits for another job of the thread pool that runs it. If every thread of
//! the pool runs such a job, no thread is left for the jobs that they wait for.

use blocklint_core::{Confidence, Context, Effect, Language, Severity, Starved};
use blocklint_facts::{BodyFlags, Form, SiteId, SiteKind};
use blocklint_link::calls::targets::{Target, TargetKind};
use blocklint_link::imports::library_reach::LibraryReach;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, PathId, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::{Argument, HandoverContext, HandoverRow, RowEffect, Runs, Selector, Uses};
use rustc_hash::FxHashSet;

use crate::rules::created_repeatedly::variable_storing;
use crate::rules::pool_starvation::{Pool, PoolHold};
use crate::rules::pool_starvation::{pool_of_form, pools_in_callee};

/// The most calls that are followed from a job.
const DEPTH: u32 = 3;

/// A call that submits jobs to a pool of the program.
struct Submission {
    site: SiteRef,
    pool: Pool,
    jobs: Vec<BodyRef>,
}

/// Returns all waits of jobs for jobs of their own pool, in order.
pub(crate) fn find_own_job_waits(linker: &Linker<'_>, reach: &LibraryReach) -> Vec<PoolHold> {
    let mut waits = Vec::new();
    for submission in find_submissions(linker, reach) {
        let body_facts = linker.program.body(linker.program.body_of_site(submission.site));
        if linker.program.is_test(submission.site.file) || body_facts.flags.has(BodyFlags::TEST) {
            continue;
        }
        for &job in &submission.jobs {
            let mut visited = FxHashSet::default();
            if let Some((wait, path, handed)) =
                find_wait_for_own_pool(linker, job, &[submission.pool], DEPTH, &mut visited)
            {
                let is_direct = linker.program.body_of_site(wait) == job;
                waits.push(PoolHold {
                    site: wait,
                    path,
                    starved: Starved::OwnJob { other_job: linker.written_site(handed) },
                    // A wait with a limit ends, so it is only a warning.
                    severity: if has_time_limit(linker, wait) { Severity::Warning } else { Severity::Error },
                    confidence: if is_direct { Confidence::High } else { Confidence::Medium },
                });
            }
        }
    }
    waits.sort_by_key(|hold| (hold.site, std::cmp::Reverse(hold.confidence)));
    waits.dedup_by_key(|hold| hold.site);
    waits
}

/// Returns the calls that submit jobs to pools of the program.
fn find_submissions<'a>(linker: &Linker<'a>, reach: &LibraryReach) -> Vec<Submission> {
    let mut sites: Vec<SiteRef> = Vec::new();
    for language in [Language::Python, Language::Java] {
        let models = linker.library.of(language);
        let method = |path: &'a str| path.split('(').next().unwrap_or(path);
        let takes_job = |path: &&'a str| {
            models.handovers(method(path)).iter().any(|matched| pool_argument_of(matched.row).is_some())
        };
        let wanted = |paths: Vec<&'a str>| if paths.iter().any(takes_job) { paths } else { Vec::new() };
        sites.extend(linker.sites_of_rows(reach, language, Uses::HANDOVER, &[SiteKind::Call], wanted));
    }
    sites.sort();
    sites.dedup();
    sites.retain(|&site| linker.is_site_in_focus(site));
    sites.into_iter().filter_map(|site| submission_at(linker, site)).collect()
}

/// Returns the jobs that a site submits, and their pool.
fn submission_at(linker: &Linker<'_>, site: SiteRef) -> Option<Submission> {
    linker.targets(site, EnvId::NONE).list.iter().find_map(|target| {
        let Target::Row { path, .. } = *target else { return None };
        let rows = linker.library.handovers(path);
        // Each overload of Java has its own row, and only one of them has all its arguments at this call.
        let (matched, form) = rows.iter().find_map(|matched| {
            if !linker.conditions_hold(&matched.row.when, &matched.row.unless, site, EnvId::NONE) {
                return None;
            }
            let form = match pool_argument_of(matched.row)? {
                Some(argument) => linker.argument(site, argument)?,
                None => linker.receiver_form(site)?,
            };
            Some((matched, form))
        })?;
        let pool = pool_of_form(linker, linker.scope_of(site, EnvId::NONE), form)?;
        if is_growing_pool(linker, site, pool) {
            return None;
        }
        let Selector::Argument(argument) = &matched.row.selector else { return None };
        let typed = linker.eval(linker.scope_of(site, EnvId::NONE), linker.argument(site, argument)?);
        let jobs = linker.values.members(typed.value).into_iter().filter_map(|val| match val {
            Val::Fn { body, .. } => Some(body),
            _ => None,
        });
        Some(Submission { site, pool, jobs: jobs.collect() })
    })
}

/// True if the call that makes a pool shows that the pool starts a thread for each waiting task
/// (`newCachedThreadPool()`).
fn is_growing_pool(linker: &Linker<'_>, site: SiteRef, pool: Pool) -> bool {
    let name = match pool {
        Pool::Local(file, var) => {
            let facts = linker.program.facts(file);
            facts.text(facts.var(var).name).to_owned()
        }
        Pool::Stored(held) => linker.program.text(held.name()).to_owned(),
    };
    let facts = linker.program.facts(site.file);
    facts.sites.iter().enumerate().any(|(index, site_facts)| {
        let maker = site.file.site_ref(SiteId(index as u32));
        matches!(site_facts.kind, SiteKind::Call | SiteKind::New)
            && lang::words::makes_unbounded_pool(facts.text(site_facts.name))
            && variable_storing(linker, maker).is_some_and(|sym| facts.text(sym) == name)
    })
}

/// Returns the first wait of a job for another job that it submits to one of these pools: the wait, the path of its
/// row, and the submission.
fn find_wait_for_own_pool(
    linker: &Linker<'_>,
    job: BodyRef,
    pools: &[Pool],
    depth: u32,
    visited: &mut FxHashSet<BodyRef>,
) -> Option<(SiteRef, PathId, SiteRef)> {
    let depth = depth.checked_sub(1)?;
    if !visited.insert(job) {
        return None;
    }
    let (facts, job_id) = linker.program.facts_and_id(job);
    for (index, site_facts) in facts.sites.iter().enumerate() {
        if facts.body_of(site_facts.at) != job_id || site_facts.kind != SiteKind::Call {
            continue;
        }
        let site = job.file.site_ref(SiteId(index as u32));
        if let Some(inner) = submission_at(linker, site)
            && pools.contains(&inner.pool)
            && let Some((wait, path)) = wait_for_result(linker, site)
        {
            return Some((wait, path, site));
        }
        for target in &linker.targets(site, EnvId::NONE).list {
            let Target::Body { body, kind: TargetKind::Call, with_receiver, .. } = *target else { continue };
            let known_pools = pools_in_callee(linker, site, pools, body, with_receiver);
            if !known_pools.is_empty()
                && let Some(wait) = find_wait_for_own_pool(linker, body, &known_pools, depth, visited)
            {
                return Some(wait);
            }
        }
    }
    None
}

/// Returns the call that waits for the result of a site in the same body, with the path of its row.
fn wait_for_result(linker: &Linker<'_>, site: SiteRef) -> Option<(SiteRef, PathId)> {
    if let Some(path) = waiting_row_at(linker, site) {
        // The call itself waits, or its lazy result waits when it is iterated.
        let is_used = linker.program.uses_of_result(site).iter().next().is_some();
        let (facts, site_id) = linker.program.facts_and_id(site);
        let is_iterated = facts.sites.iter().any(|site_facts| {
            site_facts.kind == SiteKind::Iterate && facts.form(site_facts.callee) == Form::Result(site_id)
        });
        return (is_used || is_iterated).then_some((site, path));
    }
    let (facts, site_id) = linker.program.facts_and_id(site);
    let body = linker.program.body_of_site(site);
    let uses = linker.program.uses_of_result(site);
    let variable = uses.iter().find_map(|(mention, _)| match mention {
        Mention::Assign(assign) => match facts.form(facts.assign(assign).target) {
            Form::Var(var) => Some(var),
            _ => None,
        },
        _ => None,
    });
    facts.sites.iter().enumerate().find_map(|(index, site_facts)| {
        let Form::Attr(base, _) = facts.form(site_facts.callee) else { return None };
        let is_result = match facts.form(base) {
            Form::Result(call) => call == site_id,
            Form::Var(var) => Some(var) == variable,
            _ => false,
        };
        let wait = site.file.site_ref(SiteId(index as u32));
        if site_facts.kind != SiteKind::Call || !is_result || linker.program.body_of_site(wait) != body {
            return None;
        }
        waiting_row_at(linker, wait).map(|path| (wait, path))
    })
}

/// Returns the path of the row by which a site waits.
fn waiting_row_at(linker: &Linker<'_>, site: SiteRef) -> Option<PathId> {
    linker.targets(site, EnvId::NONE).list.iter().find_map(|target| match *target {
        Target::Row { path, .. } => linker
            .library
            .calls(path)
            .iter()
            .any(|matched| matched.row.effect == Some(RowEffect::Holds(Effect::Wait)))
            .then_some(path),
        _ => None,
    })
}

/// True if a wait gets a time limit as an argument.
fn has_time_limit(linker: &Linker<'_>, wait: SiteRef) -> bool {
    let facts = linker.program.facts(wait.file);
    let is_limit = |form| !matches!(facts.form(form), Form::None);
    // A call that also submits the job (`map`) has other arguments too.
    let only_waits = submission_at(linker, wait).is_none();
    linker
        .program
        .args_of(wait)
        .iter()
        .any(|arg| (only_waits || facts.text(arg.name) == "timeout") && is_limit(arg.value))
}

/// Returns `Some` if a row submits a job to a pool: the argument that is the pool, or `None` in it if the receiver is
/// the pool.
fn pool_argument_of(row: &HandoverRow) -> Option<Option<&Argument>> {
    if row.process || row.wraps || row.passes.is_none() && matches!(row.context, HandoverContext::Is(_)) {
        return None;
    }
    match &row.context {
        HandoverContext::Of(Argument::Receiver) => Some(None),
        HandoverContext::Of(argument) => Some(Some(argument)),
        HandoverContext::Is(Runs::In(context)) if *context == Context::Worker => Some(None),
        _ => None,
    }
}
