//! Code of Rust that runs on a thread of its own, with a runtime that is there for nothing else: nothing else waits there.

use crate::entries::purpose;
use blocklint_core::{Context, Runtime};
use blocklint_facts::{Form, SiteId, SiteKind};
use blocklint_link::calls::targets::Target;
use blocklint_link::lang;
use blocklint_link::program::Program;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::values::value::EnvId;

use crate::lifecycle::rust::Life;

/// How many functions below the one of a thread are looked at for whether they serve, and how far down.
const MOST_BODIES: usize = 200;
const DOWN: u32 = 5;

impl Life<'_, '_, '_> {
    /// True if a site runs on a thread of its own, which does nothing but wait for it: `thread::spawn(move ||
    /// runtime.block_on(actor.run()))`.
    pub(crate) fn has_own_thread(&self, site: SiteRef, inner: BodyRef, function: BodyRef) -> bool {
        let program = self.linker.program;
        let facts = program.facts(site.file);
        let driven =
            self.is_given(site, inner, function, |taker, _| facts.text(program.site(taker).name) == "block_on");
        let wrapped = self.around(inner, function).any(|(mention, _)| match mention {
            Mention::Arg(taker, arg) => self.starts_thread_for(site.file.site_ref(taker), arg),
            _ => false,
        });
        wrapped || driven && (self.is_in_thread(inner, function) || self.is_on_own_thread(function))
    }

    /// True if a function of the project drives on a thread of its own what a closure that it is given makes: `fn start(f: F) {
    /// thread::spawn(move || runtime.block_on(f())) }`.
    fn starts_thread_for(&self, site: SiteRef, arg: u32) -> bool {
        let linker = self.linker;
        linker.targets(site, EnvId::NONE).list.iter().any(|target| {
            let Target::Body { body, with_receiver, .. } = *target else { return false };
            let facts = linker.program.facts(body.file);
            let at = arg as usize + usize::from(with_receiver);
            let Some(param) = linker.program.params_of(body).get(at) else { return false };
            facts.sites.iter().enumerate().any(|(of, row)| {
                let calls = row.kind == SiteKind::Call
                    && matches!(facts.form(row.callee), Form::Var(var) if facts.var(var).name == param.name);
                let of = body.file.site_ref(SiteId(of as u32));
                calls && {
                    let inner = linker.program.body_of_site(of);
                    self.function_around(inner) == body && self.has_own_thread(of, inner, body)
                }
            })
        })
    }

    /// True if a function runs on dedicated threads only, and serves no requests there.
    pub(crate) fn is_on_own_thread(&self, body: BodyRef) -> bool {
        let find = || self.starts_threads_only(body) && !self.serves_below(body);
        self.linker.query(&self.own_threads, body, bool::default, find)
    }

    fn starts_threads_only(&self, body: BodyRef) -> bool {
        let linker = self.linker;
        let of_tests = |site: SiteRef| linker.is_for_tests(linker.program.body_of_site(site));
        let given = linker.sites_passing_body(body);
        let mut given = given.into_iter().map(|(site, _)| site).filter(|&site| !of_tests(site)).peekable();
        let calls = self.callers.call_sites(body);
        let mut calls = calls.iter().copied().filter(|&site| !of_tests(site)).peekable();
        let is_run = given.peek().is_some() || calls.peek().is_some();
        is_run
            && given.all(|site| self.spawns_thread(site))
            && calls.all(|site| {
                let inner = linker.program.body_of_site(site);
                self.is_in_thread(inner, self.function_around(inner))
            })
    }

    /// True if a body is, or stands in, a closure that a thread is started with.
    fn is_in_thread(&self, inner: BodyRef, function: BodyRef) -> bool {
        self.around(inner, function).any(|(mention, _)| match mention {
            Mention::Arg(taker, arg) => {
                let taker = inner.file.site_ref(taker);
                self.spawns_thread(taker) || self.hands_to_worker(taker, arg)
            }
            _ => false,
        })
    }

    /// True if a library runs an argument on a thread that may block, and nowhere else: `spawn_blocking`.
    pub(crate) fn hands_to_worker(&self, site: SiteRef, arg: u32) -> bool {
        let passing = self.linker.argument_use(site, arg, EnvId::NONE);
        let is_handed = |(context, _): &(Context, Option<Runtime>)| *context == Context::Worker;
        !passing.handed.is_empty() && passing.handed.iter().all(is_handed)
    }

    fn spawns_thread(&self, site: SiteRef) -> bool {
        let facts = self.linker.program.facts(site.file);
        facts.text(self.linker.program.site(site).name).starts_with("spawn") && self.is_of_std(site)
    }

    /// True if a function, or one that it calls, takes clients; also if there are too many to look at.
    fn serves_below(&self, body: BodyRef) -> bool {
        let linker = self.linker;
        let mut open = vec![(body, DOWN)];
        let mut at = 0;
        while let Some(&(next, depth)) = open.get(at) {
            at += 1;
            if open.len() > MOST_BODIES {
                return true;
            }
            for site in self.sites_in(next) {
                if self.takes_clients(site) {
                    return true;
                }
                let Some(depth) = depth.checked_sub(1) else { continue };
                for target in &linker.targets(site, EnvId::NONE).list {
                    if let Target::Body { body, .. } = *target
                        && !open.iter().any(|&(known, _)| known == body)
                    {
                        open.push((body, depth));
                    }
                }
            }
        }
        false
    }

    fn takes_clients(&self, site: SiteRef) -> bool {
        let linker = self.linker;
        let facts = linker.program.facts(site.file);
        let name = facts.text(linker.program.site(site).name);
        lang::rust::conventions::SERVING.contains(&name) && purpose::is_serving(linker, site, false)
            || lang::rust::conventions::SERVING_AWAITED.contains(&name) && purpose::is_serving(linker, site, true)
            || purpose::calls_what_serves(linker, site)
    }

    /// Returns the calls of a function, those in its closures and blocks too.
    fn sites_in(&self, function: BodyRef) -> impl Iterator<Item = SiteRef> {
        let program: &Program<'_> = self.linker.program;
        let rows = program.facts(function.file).sites.len() as u32;
        (0..rows)
            .map(move |site| function.file.site_ref(SiteId(site)))
            .filter(move |&site| self.function_around(program.body_of_site(site)) == function)
    }

    /// True if a file is of a program with windows that brings an executor of its own: the toolkit has another, and so that runs what the
    /// program's `main` starts, for the one person before it.
    pub(crate) fn is_beside_windows(&self, file: FileId) -> bool {
        // Hardly a program does, so this test is fast.
        self.linker.runtime_of(file) != Some(Runtime::Tokio)
            && self.linker.crate_of(file).and_then(|own| own.dependencies.as_ref()).is_some_and(|all| {
                all.iter().any(|(_, package, _)| lang::rust::conventions::WINDOW_TOOLKITS.contains(&package.as_str()))
            })
    }

    /// True if a site asks the terminal in what `main` awaits in place, on the main thread of a runtime of several: that is the thread of
    /// the terminal's one user, and the runtime's tasks run on others.
    pub(crate) fn is_own_terminal(&self, site: SiteRef, inner: BodyRef, function: BodyRef) -> bool {
        // We do not ask for each `main` if it has only one thread: where a project names `current_thread`, each `main`
        // is taken to have one.
        self.linker.program.name("current_thread").is_none()
            && self.calls_one_of(site, lang::rust::conventions::ASKS_TERMINAL)
            && !self.is_spawned(site, inner, function)
    }
}
