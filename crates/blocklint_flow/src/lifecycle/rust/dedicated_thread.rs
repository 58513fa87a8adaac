//! Code that runs on a dedicated thread with a runtime of its own (Rust): no other code waits for that thread.

use crate::entries::purpose;
use blocklint_core::{Context, Runtime};
use blocklint_facts::{Form, SiteId, SiteKind};
use blocklint_link::calls::targets::Target;
use blocklint_link::lang;
use blocklint_link::program::Program;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::values::value::EnvId;

use crate::lifecycle::rust::RustLifecycle;

impl RustLifecycle<'_, '_, '_> {
    /// True if a site runs on a dedicated thread, which only waits for the site's future:
    /// `thread::spawn(move || runtime.block_on(actor.run()))`.
    pub(crate) fn runs_on_own_thread(&self, site: SiteRef, inner: BodyRef, function: BodyRef) -> bool {
        let is_blocked_on = || self.is_passed_to(site, inner, function, |taker, _| self.blocks_on(taker));
        let has_starter = self.uses_of_enclosing(inner, function).any(|(mention, _)| match mention {
            Mention::Arg(taker, arg) => self.starts_thread_for(site.file.site_ref(taker), arg),
            _ => false,
        });
        let takes_clients = || self.is_found_below(vec![site], &|site| self.accepts_clients(site));
        let is_on_own_thread = || match self.thread_closure(inner, function) {
            Some(closure) => !self.has_company(closure),
            None => self.is_on_own_thread(function),
        };
        has_starter && !takes_clients() || is_blocked_on() && is_on_own_thread()
    }

    /// True if a function of the project runs the future of its closure argument on a dedicated thread:
    /// `fn start(f: F) { thread::spawn(move || runtime.block_on(f())) }`.
    fn starts_thread_for(&self, site: SiteRef, arg: u32) -> bool {
        let linker = self.linker;
        linker.targets(site, EnvId::NONE).list.iter().any(|target| {
            let Target::Body { body, with_receiver, .. } = *target else { return false };
            let facts = linker.program.facts(body.file);
            let index = arg as usize + usize::from(with_receiver);
            let Some(param) = linker.program.params_of(body).get(index) else { return false };
            facts.sites.iter().enumerate().any(|(call, site_facts)| {
                let calls_param = site_facts.kind == SiteKind::Call
                    && matches!(facts.form(site_facts.callee), Form::Var(var) if facts.var(var).name == param.name);
                let call = body.file.site_ref(SiteId(call as u32));
                calls_param && {
                    let inner = linker.program.body_of_site(call);
                    self.function_around(inner) == body && self.runs_on_own_thread(call, inner, body)
                }
            })
        })
    }

    /// True if a function runs only on dedicated threads, and serves no requests there.
    pub(crate) fn is_on_own_thread(&self, body: BodyRef) -> bool {
        let find = || self.is_run_by_threads_only(body) && !self.serves_below(body);
        self.linker.query(&self.own_threads, body, bool::default, find)
    }

    /// True if all non-test code that runs a function does so on a thread that it spawns.
    fn is_run_by_threads_only(&self, body: BodyRef) -> bool {
        let linker = self.linker;
        let is_in_test = |site: SiteRef| linker.is_for_tests(linker.program.body_of_site(site));
        let takers = linker.sites_passing_body(body);
        let mut takers = takers.into_iter().map(|(site, _)| site).filter(|&site| !is_in_test(site)).peekable();
        let calls = self.callers.call_sites(body);
        let mut calls = calls.iter().copied().filter(|&site| !is_in_test(site)).peekable();
        let is_run = takers.peek().is_some() || calls.peek().is_some();
        is_run
            && takers.all(|site| self.spawns_thread(site))
            && calls.all(|site| {
                let inner = linker.program.body_of_site(site);
                self.is_in_thread_closure(inner, self.function_around(inner))
            })
    }

    /// True if a body is, or is in, a closure that a thread is started with.
    fn is_in_thread_closure(&self, inner: BodyRef, function: BodyRef) -> bool {
        self.thread_closure(inner, function).is_some()
    }

    /// Returns the closure that a thread is started with: the body itself, or one around it in the function.
    pub(crate) fn thread_closure(&self, inner: BodyRef, function: BodyRef) -> Option<BodyRef> {
        let (facts, inner_id) = self.linker.program.facts_and_id(inner);
        let (_, function_id) = self.linker.program.facts_and_id(function);
        let index = self.linker.program.index_of(inner.file);
        std::iter::successors(Some(inner_id), |&body| facts.body(body).parent.get())
            .take_while(|&body| body != function_id)
            .find(|&body| {
                index.uses_of_callable(body).iter().any(|(mention, _)| match mention {
                    Mention::Arg(taker, arg) => {
                        let taker = inner.file.site_ref(taker);
                        self.spawns_thread(taker) || self.passes_to_worker(taker, arg)
                    }
                    _ => false,
                })
            })
            .map(|body| inner.file.body_ref(body))
    }

    /// True if a library runs an argument only on threads that may block: `spawn_blocking`.
    pub(crate) fn passes_to_worker(&self, site: SiteRef, arg: u32) -> bool {
        let passing = self.linker.argument_use(site, arg, EnvId::NONE);
        let is_worker = |(context, _): &(Context, Option<Runtime>)| *context == Context::Worker;
        !passing.handed.is_empty() && passing.handed.iter().all(is_worker)
    }

    /// True if a call spawns a thread of the standard library: `thread::spawn`, `thread::Builder::spawn`.
    fn spawns_thread(&self, site: SiteRef) -> bool {
        let facts = self.linker.program.facts(site.file);
        facts.text(self.linker.program.site(site).name).starts_with("spawn") && self.is_of_std(site)
    }

    /// True if a call serves clients, by its name or its call targets: `axum::serve(…)`, `listener.accept().await`.
    pub(crate) fn accepts_clients(&self, site: SiteRef) -> bool {
        let linker = self.linker;
        let facts = linker.program.facts(site.file);
        let name = facts.text(linker.program.site(site).name);
        lang::rust::conventions::SERVING_CALLS.contains(&name) && purpose::is_serving(linker, site, false)
            || lang::rust::conventions::AWAITED_SERVING_CALLS.contains(&name) && purpose::is_serving(linker, site, true)
            || purpose::calls_serving_row(linker, site)
    }

    /// Returns the sites of a function, its closures and async blocks included.
    pub(crate) fn sites_in(&self, function: BodyRef) -> impl Iterator<Item = SiteRef> {
        let program: &Program<'_> = self.linker.program;
        let rows = program.facts(function.file).sites.len() as u32;
        (0..rows)
            .map(move |site| function.file.site_ref(SiteId(site)))
            .filter(move |&site| self.function_around(program.body_of_site(site)) == function)
    }

    /// True if a file is of a program with windows whose executor is not tokio's. The window toolkit has an event loop
    /// of its own, so the executor runs only the work of the one person who uses the program.
    pub(crate) fn is_of_window_program(&self, file: FileId) -> bool {
        // Few programs use another runtime than tokio, so this comparison ends the check for most files.
        self.linker.runtime_of(file) != Some(Runtime::Tokio)
            && self.linker.crate_of(file).and_then(|package| package.dependencies.as_ref()).is_some_and(
                |dependencies| {
                    dependencies
                        .iter()
                        .any(|(_, package, _)| lang::rust::conventions::WINDOW_TOOLKITS.contains(&package.as_str()))
                },
            )
    }

    /// True if a site waits for input of the terminal in a future that `main` awaits itself, in a runtime of several
    /// threads: `crossterm::event::read()`. Only the one user of the terminal waits for that thread, because the
    /// runtime's tasks run on other threads.
    pub(crate) fn waits_for_terminal_on_main(&self, site: SiteRef, inner: BodyRef, function: BodyRef) -> bool {
        // The runtime of each `main` is not read. If a project has the name `current_thread` anywhere, each `main` is
        // treated as if its runtime had only one thread.
        self.linker.program.name("current_thread").is_none()
            && self.calls_one_of(site, lang::rust::conventions::TERMINAL_INPUT)
            && !self.is_spawned(site, inner, function)
    }
}
