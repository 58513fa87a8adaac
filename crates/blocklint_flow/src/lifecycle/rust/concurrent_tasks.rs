//! Tasks that a command runs concurrently, so that they delay each other (Rust): `buffer_unordered`, `JoinSet::spawn`.

use blocklint_facts::Form;
use blocklint_link::calls::targets::Target;
use blocklint_link::program::ids::{BodyRef, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::values::value::EnvId;
use blocklint_models::Concurrency;

use crate::lifecycle::rust::RustLifecycle;

/// The most calls between the call that makes a task and the call that runs it: `iter.map(fetch).buffer_unordered(8)`.
const DEPTH: u32 = 4;

impl RustLifecycle<'_, '_, '_> {
    /// True if the future that a site makes, or a closure around the site, is run concurrently with others of its kind:
    /// `for_each_concurrent`, `JoinSet::spawn` in a loop.
    pub(crate) fn is_one_of_many(&self, site: SiteRef, inner: BodyRef, function: BodyRef) -> bool {
        self.is_passed_to(site, inner, function, |taker, _| self.runs_many(taker, DEPTH))
    }

    /// True if the future that a site makes, or an async block around the site, is passed to a runtime as a task.
    pub(crate) fn is_task(&self, site: SiteRef, inner: BodyRef, function: BodyRef) -> bool {
        self.is_passed_to(site, inner, function, |taker, arg| {
            let starts = self.linker.targets(taker, EnvId::NONE).list.iter().any(|target| {
                let Target::Row { path, .. } = *target else { return false };
                let rows = self.linker.library.calls(path);
                rows.with(|row| row.concurrency == Some(Concurrency::Unbounded)).next().is_some()
            });
            starts && !self.passes_to_worker(taker, arg)
        })
    }

    /// True if a call runs many futures concurrently, or its result is passed to a call that does.
    fn runs_many(&self, taker: SiteRef, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let program = self.linker.program;
        let (facts, taker_id) = program.facts_and_id(taker);
        let is_concurrent = self.linker.targets(taker, EnvId::NONE).list.iter().any(|target| {
            let Target::Row { path, .. } = *target else { return false };
            let rows = self.linker.library.calls(path);
            rows.with(|row| row.concurrency.is_some()).any(|matched| match matched.row.concurrency {
                Some(Concurrency::Argument(_)) => true,
                Some(Concurrency::Unbounded) => {
                    facts.is_in_loop(program.site(taker).at.region)
                        || !facts.text(program.site(taker).name).starts_with("spawn")
                }
                Some(Concurrency::Bounded) | None => false,
            })
        });
        is_concurrent || {
            let passed = program.uses_of_result(taker);
            let passed = passed.iter().filter_map(|(mention, _)| match mention {
                Mention::Arg(next, _) => Some(taker.file.site_ref(next)),
                _ => None,
            });
            let is_called = |next: &SiteRef| match facts.form(program.site(*next).callee) {
                Form::Attr(base, _) => facts.form(base) == Form::Result(taker_id),
                _ => false,
            };
            let body = program.body_of_site(taker);
            let called = program.sites_in(body).filter(is_called);
            passed.chain(called).any(|next| self.runs_many(next, depth))
        }
    }
}
