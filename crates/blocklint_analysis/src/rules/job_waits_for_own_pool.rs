//! Jobs that wait for another job of the pool of threads that runs them: if every thread of the pool
//! runs such a job, none is left to run the jobs that they wait for.

use blocklint_core::{Confidence, Effect, Language, Severity, Starved};
use blocklint_facts::{BodyFlags, Form, SiteKind};
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
use crate::rules::pool_starvation::{pool_by, pools_there};

/// Calls followed from a job.
const DEPTH: u32 = 3;

/// A call that hands a job to a pool which the program made.
struct Submitted {
    site: SiteRef,
    pool: Pool,
    jobs: Vec<BodyRef>,
}

/// Returns all such waits of the program, in order.
pub(crate) fn own_jobs(linker: &Linker<'_>, reach: &LibraryReach) -> Vec<PoolHold> {
    let mut found = Vec::new();
    for one in submitted(linker, reach) {
        let row = linker.program.body(linker.program.body_of_site(one.site));
        if linker.program.is_test(one.site.file) || row.flags.has(BodyFlags::TEST) {
            continue;
        }
        for &job in &one.jobs {
            let mut seen = FxHashSet::default();
            if let Some((wait, path, handed)) = waits_for_own(linker, job, &[one.pool], DEPTH, &mut seen) {
                let direct = linker.program.body_of_site(wait) == job;
                found.push(PoolHold {
                    site: wait,
                    path,
                    starved: Starved::OwnJob { handed: linker.written_site(handed) },
                    // A wait with a limit ends at last, so it is no error.
                    severity: if has_limit(linker, wait) { Severity::Warning } else { Severity::Error },
                    confidence: if direct { Confidence::High } else { Confidence::Medium },
                });
            }
        }
    }
    found.sort_by_key(|one| (one.site, std::cmp::Reverse(one.confidence)));
    found.dedup_by_key(|one| one.site);
    found
}

fn submitted<'a>(linker: &Linker<'a>, reach: &LibraryReach) -> Vec<Submitted> {
    let mut sites: Vec<SiteRef> = Vec::new();
    for language in [Language::Python, Language::Java] {
        let models = linker.library.of(language);
        let method = |path: &'a str| path.split('(').next().unwrap_or(path);
        let takes = |path: &&'a str| models.handovers(method(path)).iter().any(|row| executor_of(row.row).is_some());
        let wanted = |paths: Vec<&'a str>| if paths.iter().any(takes) { paths } else { Vec::new() };
        sites.extend(linker.sites_of_rows(reach, language, Uses::HANDOVER, &[SiteKind::Call], wanted));
    }
    sites.sort();
    sites.dedup();
    sites.retain(|&site| linker.is_site_in_focus(site));
    sites.into_iter().filter_map(|site| submitted_at(linker, site)).collect()
}

/// Returns the pool that a site hands work to, with the work.
fn submitted_at(linker: &Linker<'_>, site: SiteRef) -> Option<Submitted> {
    linker.targets(site, EnvId::NONE).list.iter().find_map(|target| {
        let Target::Row { path, .. } = *target else { return None };
        let rows = linker.library.handovers(path);
        // Of Java's overloads each has a row, and only one has all its arguments here.
        let (row, form) = rows.iter().find_map(|row| {
            if !linker.conditions_hold(&row.row.when, &row.row.unless, site, EnvId::NONE) {
                return None;
            }
            let form = match executor_of(row.row)? {
                Some(argument) => linker.argument(site, argument)?,
                None => linker.receiver_form(site)?,
            };
            Some((row, form))
        })?;
        let pool = pool_by(linker, linker.scope_of(site, EnvId::NONE), form)?;
        if grows(linker, site, pool) {
            return None;
        }
        let Selector::Argument(argument) = &row.row.selector else { return None };
        let typed = linker.eval(linker.scope_of(site, EnvId::NONE), linker.argument(site, argument)?);
        let jobs = linker.values.members(typed.value).into_iter().filter_map(|val| match val {
            Val::Fn { body, .. } => Some(body),
            _ => None,
        });
        Some(Submitted { site, pool, jobs: jobs.collect() })
    })
}

/// True if a pool makes a new thread for each task that waits, by the call that makes the pool.
fn grows(linker: &Linker<'_>, site: SiteRef, pool: Pool) -> bool {
    let name = match pool {
        Pool::Local(file, var) => {
            let facts = linker.program.facts(file);
            facts.text(facts.var(var).name).to_owned()
        }
        Pool::Held(held) => linker.program.text(held.name()).to_owned(),
    };
    let facts = linker.program.facts(site.file);
    facts.sites.iter().enumerate().any(|(at, row)| {
        let of = site.file.site_ref(blocklint_facts::SiteId(at as u32));
        matches!(row.kind, SiteKind::Call | SiteKind::New)
            && lang::words::makes_growing_pool(facts.text(row.name))
            && variable_storing(linker, of).is_some_and(|sym| facts.text(sym) == name)
    })
}

/// Returns the places at which a job waits for another one that it hands to a pool, with the wait and the handover.
fn waits_for_own(
    linker: &Linker<'_>,
    job: BodyRef,
    pools: &[Pool],
    depth: u32,
    seen: &mut FxHashSet<BodyRef>,
) -> Option<(SiteRef, PathId, SiteRef)> {
    let depth = depth.checked_sub(1)?;
    if !seen.insert(job) {
        return None;
    }
    let (facts, job_id) = linker.program.facts_and_id(job);
    for (at, row) in facts.sites.iter().enumerate() {
        if facts.body_of(row.at) != job_id || row.kind != SiteKind::Call {
            continue;
        }
        let site = job.file.site_ref(blocklint_facts::SiteId(at as u32));
        if let Some(inner) = submitted_at(linker, site)
            && pools.contains(&inner.pool)
            && let Some((wait, path)) = waited_for(linker, site)
        {
            return Some((wait, path, site));
        }
        for target in &linker.targets(site, EnvId::NONE).list {
            let Target::Body { body, kind: TargetKind::Call, with_receiver, .. } = *target else { continue };
            let there = pools_there(linker, site, pools, body, with_receiver);
            if !there.is_empty()
                && let Some(found) = waits_for_own(linker, body, &there, depth, seen)
            {
                return Some(found);
            }
        }
    }
    None
}

/// Returns the call that waits, in the same body, for the result of a site.
fn waited_for(linker: &Linker<'_>, site: SiteRef) -> Option<(SiteRef, PathId)> {
    if let Some(path) = waits_at(linker, site) {
        // A lazy result of a pool waits when it is iterated.
        let is_used = linker.program.uses_of_result(site).iter().next().is_some();
        let (facts, site_id) = linker.program.facts_and_id(site);
        let is_gone_through = facts
            .sites
            .iter()
            .any(|row| row.kind == SiteKind::Iterate && facts.form(row.callee) == Form::Result(site_id));
        return (is_used || is_gone_through).then_some((site, path));
    }
    let (facts, site_id) = linker.program.facts_and_id(site);
    let body = linker.program.body_of_site(site);
    let uses = linker.program.uses_of_result(site);
    let held = uses.iter().find_map(|(mention, _)| match mention {
        Mention::Assign(assign) => match facts.form(facts.assign(assign).target) {
            Form::Var(var) => Some(var),
            _ => None,
        },
        _ => None,
    });
    facts.sites.iter().enumerate().find_map(|(at, row)| {
        let Form::Attr(base, _) = facts.form(row.callee) else { return None };
        let is_it = match facts.form(base) {
            Form::Result(of) => of == site_id,
            Form::Var(var) => Some(var) == held,
            _ => false,
        };
        let of = site.file.site_ref(blocklint_facts::SiteId(at as u32));
        if row.kind != SiteKind::Call || !is_it || linker.program.body_of_site(of) != body {
            return None;
        }
        waits_at(linker, of).map(|path| (of, path))
    })
}

/// Returns the row by which a site waits.
fn waits_at(linker: &Linker<'_>, site: SiteRef) -> Option<PathId> {
    linker.targets(site, EnvId::NONE).list.iter().find_map(|target| match *target {
        Target::Row { path, .. } => linker
            .library
            .calls(path)
            .iter()
            .any(|row| row.row.effect == Some(RowEffect::Holds(Effect::Wait)))
            .then_some(path),
        _ => None,
    })
}

/// True if a wait is given how long it may take.
fn has_limit(linker: &Linker<'_>, wait: SiteRef) -> bool {
    let facts = linker.program.facts(wait.file);
    let is_limit = |form| !matches!(facts.form(form), Form::None);
    // `map` takes the code that it runs first.
    let own = submitted_at(linker, wait).is_none();
    linker.program.args_of(wait).iter().any(|arg| (own || facts.text(arg.name) == "timeout") && is_limit(arg.value))
}

/// Returns the argument that is the pool to which a row hands a job; none within where it is the receiver.
fn executor_of(row: &HandoverRow) -> Option<Option<&Argument>> {
    if row.process || row.wraps || row.passes.is_none() && matches!(row.context, HandoverContext::Is(_)) {
        return None;
    }
    match &row.context {
        HandoverContext::Of(Argument::Receiver) => Some(None),
        HandoverContext::Of(argument) => Some(Some(argument)),
        HandoverContext::Is(Runs::In(context)) if *context == blocklint_core::Context::Worker => Some(None),
        _ => None,
    }
}
