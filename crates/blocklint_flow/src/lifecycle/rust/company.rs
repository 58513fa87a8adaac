//! Other work on the thread that drives a future (Rust): clients, tasks of a runtime of one thread, futures that are
//! joined. It waits while the future blocks. [`dedicated_thread`](super::dedicated_thread) finds the threads.

use blocklint_core::Runtime;
use blocklint_facts::{BodyId, SiteId, SiteKind};
use blocklint_link::calls::targets::Target;
use blocklint_link::lang;
use blocklint_link::program::ids::{BodyRef, SiteRef};
use blocklint_link::values::value::EnvId;
use blocklint_models::Concurrency;

use crate::lifecycle::rust::RustLifecycle;

/// The most functions below a thread's function that are searched for other work.
const MOST_BODIES: usize = 200;

/// The most calls down from a thread's function to other work.
const MOST_CALLS_DOWN: u32 = 5;

impl RustLifecycle<'_, '_, '_> {
    /// True if a future is polled in turn with others, which wait while it blocks: `join!(left(), right())`, `join_all`.
    pub(crate) fn is_joined(&self, site: SiteRef, inner: BodyRef, function: BodyRef) -> bool {
        let program = self.linker.program;
        let joins = |taker: SiteRef| {
            let row = program.site(taker);
            row.kind == SiteKind::Macro
                && lang::rust::conventions::JOINING_MACROS.contains(&program.facts(taker.file).text(row.name))
                && program.args_of(taker).len() > 1
        };
        self.is_passed_to(site, inner, function, |taker, _| joins(taker)) || self.is_one_of_many(site, inner, function)
    }

    /// True if the closure of a thread, or a function below it, takes clients, or starts tasks on the closure's own
    /// thread.
    pub(crate) fn has_company(&self, closure: BodyRef) -> bool {
        let find = || {
            let has_one_thread = self.sites_within(closure).any(|site| self.drives_on_one_thread(site));
            let is_company = |site| self.accepts_clients(site) || self.starts_task(site, has_one_thread);
            self.is_found_below(self.sites_within(closure).collect(), &is_company)
        };
        self.linker.query(&self.threads_with_company, closure, bool::default, find)
    }

    /// True if a site makes the only task of a thread: `local.spawn_local(actor.run())` in the closure of the thread,
    /// which then drives the set of tasks.
    pub(crate) fn is_only_task_of_thread(&self, site: SiteRef, inner: BodyRef, function: BodyRef) -> bool {
        let program = self.linker.program;
        let Some(closure) = self.thread_closure(inner, function) else { return false };
        self.is_passed_to(site, inner, function, |taker, _| {
            let row = program.site(taker);
            let is_other =
                |other: SiteRef| other != taker && (self.accepts_clients(other) || self.starts_task(other, true));
            self.starts_task(taker, false)
                && !program.facts(taker.file).is_in_loop(row.at.region)
                && self.sites_within(closure).any(|site| self.blocks_on(site))
                && !self.is_found_below(self.sites_within(closure).collect(), &is_other)
        })
    }

    /// True if a call starts a task that runs on the thread which drives the runtime, because the runtime
    /// `has_one_thread` or the task may not leave its thread: `spawn_local`.
    fn starts_task(&self, site: SiteRef, has_one_thread: bool) -> bool {
        let linker = self.linker;
        if !linker.program.facts(site.file).text(linker.program.site(site).name).starts_with("spawn") {
            return false;
        }
        let stays_on_thread = self.runs_on_one_thread(site, 0);
        let starts = || {
            linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
                Target::Row { path, .. } => {
                    let rows = linker.library.calls(path);
                    rows.with(|row| row.concurrency == Some(Concurrency::Unbounded)).next().is_some()
                }
                _ => false,
            })
        };
        stays_on_thread || has_one_thread && starts() && !self.passes_to_worker(site, 0)
    }

    /// True if a call runs a future on the current thread, until the future ends: `runtime.block_on(future)`.
    pub(crate) fn blocks_on(&self, site: SiteRef) -> bool {
        self.linker.program.facts(site.file).text(self.linker.program.site(site).name) == "block_on"
    }

    /// True if a call drives a runtime whose tasks all run on the current thread.
    fn drives_on_one_thread(&self, site: SiteRef) -> bool {
        self.blocks_on(site) && [0, 1].into_iter().any(|arg| self.runs_on_one_thread(site, arg))
    }

    fn runs_on_one_thread(&self, site: SiteRef, arg: u32) -> bool {
        if self.linker.program.args_of(site).len() <= arg as usize {
            return false;
        }
        let passing = self.linker.argument_use(site, arg, EnvId::NONE);
        passing.handed.iter().any(|(_, runtime)| *runtime == Some(Runtime::TokioCurrentThread))
    }

    /// Returns the sites of a closure, including those of the closures and async blocks in it.
    fn sites_within(&self, closure: BodyRef) -> impl Iterator<Item = SiteRef> {
        let (facts, closure_id) = self.linker.program.facts_and_id(closure);
        let is_within = move |site: SiteId| {
            let mut body = Some(facts.body_of(facts.site(site).at));
            while let Some(current) = body {
                if current == closure_id {
                    return true;
                }
                body = facts.body(current).parent.get().filter(|&parent| parent != BodyId(0));
            }
            false
        };
        (0..facts.sites.len() as u32)
            .map(SiteId)
            .filter(move |&site| is_within(site))
            .map(move |site| closure.file.site_ref(site))
    }

    /// True if a function, or a function below it, accepts clients. Also true if there are too many functions to read.
    pub(crate) fn serves_below(&self, body: BodyRef) -> bool {
        self.is_found_below(self.sites_in(body).collect(), &|site| self.accepts_clients(site))
    }

    /// True if one of these sites, or a site in a function below them, is wanted. Also true if there are too many
    /// functions to read.
    pub(crate) fn is_found_below(&self, sites: Vec<SiteRef>, is_wanted: &dyn Fn(SiteRef) -> bool) -> bool {
        let linker = self.linker;
        let mut seen: Vec<BodyRef> = Vec::new();
        let mut queue = vec![(sites, MOST_CALLS_DOWN)];
        while let Some((sites, depth)) = queue.pop() {
            for site in sites {
                if is_wanted(site) {
                    return true;
                }
                let Some(depth) = depth.checked_sub(1) else { continue };
                for target in &linker.targets(site, EnvId::NONE).list {
                    if let Target::Body { body, .. } = *target
                        && !seen.contains(&body)
                    {
                        if seen.len() == MOST_BODIES {
                            return true;
                        }
                        seen.push(body);
                        queue.push((self.sites_in(body).collect(), depth));
                    }
                }
            }
        }
        false
    }
}
