//! When code runs in the life of a program (Rust): code that runs once, and programs that serve no requests.
//!
//! `main` runs once. So do the functions that it calls, except in loops that wait for events and in closures that other
//! code calls. They delay the start or the end of the program, but no request.
//!
//! A program is a command if it reads arguments, and no crate that it is built of listens or loops for ever. Only its
//! user waits for it, however often its loops run.

pub(crate) mod company;
pub(crate) mod concurrent_tasks;
pub(crate) mod dedicated_thread;
pub(crate) mod unused_function;

use blocklint_core::{Language, Span};
use blocklint_facts::{BodyId, BodyKind, ClassKind, Form, Region, RegionId, RegionKind, SiteFlags, SiteId, SiteKind};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::linker::round::{Round, RoundTable};
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::program::occurrences::{Mention, Wrap};
use blocklint_link::program::{is_bootstrap_file, is_terminal_program};
use blocklint_link::syntax::regions::function_around;
use blocklint_link::values::value::{EnvId, Val};
use rustc_hash::FxHashMap;

use crate::callers::Callers;
use crate::entries::purpose::{self, is_endless};
use crate::lifecycle::phase::{KnownPhases, When, time_by_registration};
use crate::lifecycle::rust::unused_function::{has_receiver, is_method_callee};

/// The most calls up from a site to the callers that show when it runs.
const DEPTH: u32 = 24;

/// The most callers of one function that are read.
const MOST_SITES: usize = 128;

/// Finds when functions are called (Rust), and caches the results.
pub(crate) struct RustLifecycle<'s, 'l, 'a> {
    linker: &'l Linker<'a>,
    callers: &'s Callers<'l, 'a>,
    serving: Option<Serving>,
    round: Round,
    entry_times: RoundTable<BodyRef, Option<When>, KnownPhases>,
    /// By function: true if no code calls or mentions it.
    unused: FxHashMap<BodyRef, bool>,
    /// The crates with code that procedural macros of the project generate.
    generated: Option<Vec<usize>>,
    /// By crate: true if all programs that are built of it are commands.
    of_commands: FxHashMap<usize, bool>,
    /// By function: true if it runs only on dedicated threads.
    pub(crate) own_threads: Table<BodyRef, bool, Plain>,
    /// By closure that a thread is started with: true if other work runs on the thread.
    pub(crate) threads_with_company: Table<BodyRef, bool, Plain>,
}

/// The crates that serve.
struct Serving {
    /// By crate of the layout: true if its code listens or loops for ever.
    crates: Vec<bool>,
    /// By crate of the layout: true if its programs are commands.
    commands: FxHashMap<usize, bool>,
}

impl<'s, 'l, 'a> RustLifecycle<'s, 'l, 'a> {
    /// Returns empty tables for one program.
    pub(crate) fn new(linker: &'l Linker<'a>, callers: &'s Callers<'l, 'a>) -> Self {
        RustLifecycle {
            linker,
            callers,
            serving: None,
            round: Round::default(),
            entry_times: RoundTable::default(),
            unused: FxHashMap::default(),
            generated: None,
            of_commands: FxHashMap::default(),
            own_threads: Table::default(),
            threads_with_company: Table::default(),
        }
    }

    /// Returns when a site runs.
    pub(crate) fn time_of_site(&mut self, site: SiteRef) -> When {
        self.time_of_site_at_depth(site, DEPTH).unwrap_or(When::Unknown)
    }

    /// Returns when a site runs. `None` if all callers of its function are functions that this query is searching
    /// already: a recursion.
    fn time_of_site_at_depth(&mut self, site: SiteRef, depth: u32) -> Option<When> {
        let inner = self.linker.program.body_of_site(site);
        if self.linker.is_for_tests(inner) {
            return Some(When::Test);
        }
        let function = self.function_around(inner);
        if self.linker.crate_of(site.file).is_some_and(|package| package.is_for_browsers) {
            return Some(When::Apart);
        }
        if self.is_of_window_program(site.file) {
            return Some(When::Apart);
        }
        if self.is_initialiser(site, inner, function) {
            return Some(When::StartUp);
        }
        if self.is_only_task_of_thread(site, inner, function) {
            return Some(When::Apart);
        }
        if self.runs_on_own_thread(site, inner, function) {
            // Tasks that are started on the thread, and futures that are joined, wait for each other.
            let has_others = self.is_task(site, inner, function) || self.is_joined(site, inner, function);
            return Some(if has_others { When::Unknown } else { When::Apart });
        }
        if self.ends_program(site) {
            return Some(When::Ending);
        }
        match self.time_of_entry(function, depth)? {
            When::Apart if self.is_joined(site, inner, function) && !self.is_spawned(site, inner, function) => {
                Some(When::Unknown)
            }
            When::Command | When::Apart if self.is_one_of_many(site, inner, function) => Some(When::Crowd),
            When::Command if self.is_task(site, inner, function) => Some(When::Crowd),
            when @ (When::StartUp | When::Once) => {
                if !self.runs_in_place(inner, function) {
                    return Some(When::Unknown);
                }
                if self.is_repeated(site, inner, function) {
                    let is_terminal = when == When::StartUp && self.waits_for_terminal_on_main(site, inner, function);
                    return Some(if is_terminal { When::Command } else { When::Unknown });
                }
                Some(if self.is_spawned(site, inner, function) { When::Once } else { when })
            }
            when => Some(when),
        }
    }

    /// Returns the function that a body belongs to: a closure or block belongs to its enclosing function.
    fn function_around(&self, body: BodyRef) -> BodyRef {
        let (facts, body_id) = self.linker.program.facts_and_id(body);
        body.file.body_ref(function_around(facts, body_id))
    }

    /// Returns when a function is called.
    fn time_of_entry(&mut self, body: BodyRef, depth: u32) -> Option<When> {
        match self.round.begin(&self.entry_times, &body, || None) {
            Ok(begun) => {
                let when = self.find_time_of_entry(body, depth);
                self.round.end(&self.entry_times, body, begun, when)
            }
            Err(known) => known,
        }
    }

    fn find_time_of_entry(&mut self, body: BodyRef, depth: u32) -> Option<When> {
        let linker = self.linker;
        if linker.is_for_tests(body) {
            return Some(When::Test);
        }
        // In a program that serves, the callers show which of its commands serves. A program that reads no arguments
        // has no commands.
        if linker.program.is_command_line(body.file)
            && !self.serves(body.file)
            && purpose::project_takes_arguments(linker)
        {
            return Some(When::Command);
        }
        if self.is_main(body) {
            // A dedicated thread with a runtime of its own: `thread::spawn(sync)` with `#[tokio::main] async fn
            // sync()`.
            return Some(if self.is_on_own_thread(body) { When::Apart } else { self.time_of_main(body) });
        }
        if is_bootstrap_file(&linker.program.files[body.file.index()].relative) && purpose::project_serves(linker) {
            return Some(When::StartUp);
        }
        if let Some(when) = time_by_registration(linker, body) {
            return Some(when);
        }
        if self.has_runtime_for_blocking(body) {
            return Some(When::Apart);
        }
        let Some(depth) = depth.checked_sub(1) else { return Some(When::Unknown) };
        let sites = self.sites_running(body).unwrap_or_default();
        if sites.is_empty() || sites.len() > MOST_SITES {
            // A trait's method in a file of commands belongs to a command; a function without callers runs for no
            // request.
            if self.is_of_trait(body) && self.is_of_commands(body.file) {
                return Some(When::Command);
            }
            let is_unused = sites.is_empty()
                && self.is_unused_in_programs(body)
                && (purpose::project_serves(linker) || self.is_of_commands(body.file));
            return Some(if is_unused { When::Unused } else { When::Unknown });
        }
        let mut combined: Option<When> = None;
        let mut is_used = false;
        for site in sites {
            let when = self.time_of_site_at_depth(site, depth);
            if when == Some(When::Unknown)
                && self.is_unused_caller(self.function_around(linker.program.body_of_site(site)))
            {
                continue;
            }
            is_used = true;
            combined = match (combined, when) {
                // A call in a test shows nothing about the other callers.
                (Some(When::Test), Some(when)) => Some(when),
                (Some(known), Some(When::Test)) => Some(known),
                (Some(known), Some(when)) => Some(known.combine(when)),
                (known, when) => known.or(when),
            };
            if matches!(combined, Some(When::Serving | When::Unknown)) {
                break;
            }
        }
        match combined {
            // A function that only tests call may have other callers that are not known.
            Some(When::Test) => Some(When::Unknown),
            _ if !is_used => Some(When::Unknown),
            combined => combined,
        }
    }

    /// True if the type of a method shows that it runs on a runtime for blocking work:
    /// `fn runtime_handle(&self) -> Handle { RuntimeType::Blocking.handle() }`.
    fn has_runtime_for_blocking(&self, body: BodyRef) -> bool {
        let linker = self.linker;
        let Some(class) = linker.program.body(body).class.get() else { return false };
        if linker.program.name("Blocking").is_none() {
            return false;
        }
        let class = body.file.class_ref(class);
        let subject = lang::rust::names::subject(linker, class).unwrap_or(class);
        linker.impls(subject).into_iter().any(|block| {
            let (facts, block_id) = linker.program.facts_and_id(block);
            let chooses_blocking = |body: BodyId| {
                facts.sites.iter().any(|site_facts| {
                    facts.body_of(site_facts.at) == body
                        && match facts.form(site_facts.callee) {
                            Form::Attr(base, _) => {
                                matches!(facts.form(base), Form::Path(_, sym) if facts.text(sym) == "Blocking")
                            }
                            _ => false,
                        }
                })
            };
            facts.bodies.iter().enumerate().any(|(index, body_facts)| {
                body_facts.class.get() == Some(block_id)
                    && facts.text(body_facts.name).contains("runtime")
                    && chooses_blocking(BodyId(index as u32))
            })
        })
    }

    /// True if a function is the `main` of a program, or runs on a runtime of its own (`#[tokio::main]`).
    pub(crate) fn is_main(&self, body: BodyRef) -> bool {
        let facts = self.linker.program.facts(body.file);
        let body_facts = self.linker.program.body(body);
        let relative = &self.linker.program.files[body.file.index()].relative;
        if body_facts.kind != BodyKind::Function {
            return false;
        }
        let is_first = facts.text(body_facts.name) == "main"
            && body_facts.parent.get() == Some(BodyId(0))
            && lang::rust::modules::is_crate_root(self.linker, relative);
        // The thread that calls a function with a runtime of its own (`#[tokio::main]`) drives it.
        is_first
            || self.linker.decorator_paths(body).iter().any(|&path| self.linker.library.text(path).ends_with("::main"))
    }

    /// Returns when a program's `main` runs.
    fn time_of_main(&mut self, body: BodyRef) -> When {
        let relative = &self.linker.program.files[body.file.index()].relative;
        if relative == "build.rs" || relative.ends_with("/build.rs") {
            return When::Command;
        }
        match self.crate_index(body.file) {
            Some(package) if self.is_command(package) => When::Command,
            // Start-up is less bad than later code only in a project that serves requests.
            _ if purpose::project_serves(self.linker) => When::StartUp,
            _ => When::Unknown,
        }
    }

    /// True if the program that begins in a body's file is a command of a command line.
    pub(crate) fn begins_command(&mut self, body: BodyRef) -> bool {
        self.time_of_main(body) == When::Command
    }

    fn crate_index(&self, file: FileId) -> Option<usize> {
        let file_crate = self.linker.crate_of(file)?;
        self.linker.program.layout.crates.iter().position(|package| std::ptr::eq(package, file_crate))
    }

    /// True if the programs of a crate are commands: the crate or one of its dependencies in the workspace reads
    /// arguments, and none of them listens or loops for ever.
    fn is_command(&mut self, package: usize) -> bool {
        let crates = &self.linker.program.layout.crates;
        let mut serving = self.serving.take().unwrap_or_else(|| self.find_serving());
        let is_command = match serving.commands.get(&package) {
            Some(&known) => known,
            None => {
                let may_serve = |index: usize| serving.crates[index] || crates[index].dependencies.is_none();
                let parts = self.crates_built_into(package);
                let is_command =
                    !parts.iter().any(|&part| may_serve(part)) && parts.iter().any(|&part| self.takes_arguments(part));
                serving.commands.insert(package, is_command);
                is_command
            }
        };
        self.serving = Some(serving);
        is_command
    }

    /// True if a crate depends on a parser of arguments, or reads them itself: `std::env::args()`.
    fn takes_arguments(&self, package: usize) -> bool {
        purpose::depends_on_parser(self.linker, &self.linker.program.layout.crates[package])
            || purpose::rust_files_taking_arguments(self.linker).any(|file| self.crate_index(file) == Some(package))
    }

    /// True if the code of a file's crate listens or loops for ever. False for a file whose folder shows that it
    /// belongs to a command.
    fn serves(&mut self, file: FileId) -> bool {
        if is_terminal_program(&self.linker.program.files[file.index()].relative) {
            return false;
        }
        let Some(own) = self.crate_index(file) else { return false };
        let serving = self.serving.take().unwrap_or_else(|| self.find_serving());
        let serves = serving.crates[own];
        self.serving = Some(serving);
        serves
    }

    /// True if a method implements a trait, so that a call may reach it through a receiver of unknown type.
    fn is_of_trait(&self, body: BodyRef) -> bool {
        let facts = self.linker.program.facts(body.file);
        self.linker.program.body(body).class.get().is_some_and(|class| facts.class(class).bases.len > 0)
    }

    /// True if programs are built of a file's crate, and all of them are commands.
    fn is_of_commands(&mut self, file: FileId) -> bool {
        let Some(own) = self.crate_index(file) else { return false };
        if let Some(&known) = self.of_commands.get(&own) {
            return known;
        }
        let programs = self.programs_of(own);
        let is_of_commands = !programs.is_empty() && programs.into_iter().all(|program| self.is_command(program));
        self.of_commands.insert(own, is_of_commands);
        is_of_commands
    }

    /// Returns the crates whose programs are built of a crate.
    fn programs_of(&self, crate_index: usize) -> Vec<usize> {
        let crates = &self.linker.program.layout.crates;
        let is_program = |index: usize| {
            crates[index].roots.iter().any(|root| root.ends_with("src/main.rs") || root.contains("src/bin/"))
        };
        (0..crates.len())
            .filter(|&index| is_program(index) && self.crates_built_into(index).contains(&crate_index))
            .collect()
    }

    /// Returns a crate and the crates of the workspace that it depends on, also through other crates; the crate first.
    fn crates_built_into(&self, package: usize) -> Vec<usize> {
        let crates = &self.linker.program.layout.crates;
        let mut queue = vec![package];
        let mut position = 0;
        while let Some(&next) = queue.get(position) {
            position += 1;
            for (_, name, _) in crates[next].dependencies.iter().flatten() {
                if crates[next].aside.binary_search(name).is_ok() {
                    continue;
                }
                if let Some(dependency) = crates.iter().position(|package| package.package == *name)
                    && !queue.contains(&dependency)
                {
                    queue.push(dependency);
                }
            }
        }
        queue
    }

    /// Returns the sites that run a function: its calls, and the calls that run it as an argument. `None` if code that
    /// is not known may run it.
    fn sites_running(&self, body: BodyRef) -> Option<Vec<SiteRef>> {
        let linker = self.linker;
        let (facts, body_id) = linker.program.facts_and_id(body);
        let body_facts = linker.program.body(body);
        let mut sites: Vec<SiteRef> = self.callers.call_sites(body).to_vec();
        for (site, _) in linker.sites_passing_body(body) {
            let caller_facts = linker.program.facts(site.file);
            let taker = caller_facts.text(linker.program.site(site).name);
            if !lang::rust::conventions::CLOSURE_RUNNERS.contains(&taker) {
                return None;
            }
            sites.push(site);
        }
        if let Some(class) = body_facts.class.get() {
            let class = body.file.class_ref(class);
            let name = linker.program.global(body.file, body_facts.name)?;
            let ancestors = linker.mro(class);
            // The callers of a library's trait are unknown.
            if !ancestors.iter().all(|ancestor| matches!(ancestor, Ancestor::Class(_))) {
                return None;
            }
            let is_rare = linker.hierarchy.count_bodies_named(name) <= 2;
            // The calls of a common name are read only for a method of a trait.
            let is_of_trait = linker.program.class(class).kind == ClassKind::Interface || ancestors.len() > 1;
            if is_rare || is_of_trait {
                let bearers = linker.sites_by_name(name);
                for ancestor in ancestors.iter() {
                    if let Ancestor::Class(base) = ancestor {
                        sites.extend(bearers.by_base.get(base).into_iter().flatten());
                    }
                }
                // A call of a rare name on a receiver of unknown type mostly means this method.
                if is_rare {
                    let may_mean_body = |site: &&SiteRef| {
                        linker.program.share_language(site.file, body.file)
                            && !self.refers_to_another_type(**site, body)
                    };
                    sites.extend(bearers.unknown.iter().filter(may_mean_body));
                }
            }
        }
        sites.sort();
        sites.dedup();
        // `value.load()` is no call of a `load` that takes no `self`.
        if body_facts.class.is_some() && !has_receiver(facts, body_id) {
            sites.retain(|site| {
                let caller_facts = linker.program.facts(site.file);
                !is_method_callee(caller_facts, linker.program.site(*site).callee)
            });
            // A macro may define the type. Then only its name is known.
            if sites.is_empty() {
                sites.extend(self.calls_by_type_name(body));
            }
        }
        Some(sites)
    }

    /// True if each closure around a body runs in the call that takes it: `map_err(|error| …)`, or is called where it
    /// is written.
    fn runs_in_place(&self, inner: BodyRef, function: BodyRef) -> bool {
        let linker = self.linker;
        let (facts, inner_id) = linker.program.facts_and_id(inner);
        let (_, function_id) = linker.program.facts_and_id(function);
        let mut current = inner_id;
        while current != function_id {
            if facts.body(current).kind == BodyKind::Lambda {
                let uses = linker.program.index_of(inner.file).uses_of_callable(current);
                let mut is_used = false;
                for (mention, _) in uses.iter() {
                    is_used = true;
                    let in_place = match mention {
                        Mention::Operand(_) => true,
                        Mention::Arg(site, _) => {
                            let name = facts.text(facts.site(site).name);
                            lang::rust::conventions::CLOSURE_RUNNERS.contains(&name)
                                || self.is_of_std(inner.file.site_ref(site))
                        }
                        _ => false,
                    };
                    if !in_place {
                        return false;
                    }
                }
                if !is_used {
                    return false;
                }
            }
            match facts.body(current).parent.get() {
                Some(parent) => current = parent,
                None => return false,
            }
        }
        true
    }

    /// True if a site initialises a value that is made once: it is, or is in, the closure of `OnceLock::get_or_init`,
    /// `LazyLock::new`.
    fn is_initialiser(&self, site: SiteRef, inner: BodyRef, function: BodyRef) -> bool {
        let (facts, site_id) = self.linker.program.facts_and_id(site);
        let runs_once =
            |site: SiteId| lang::rust::conventions::ONCE_METHODS.contains(&facts.text(facts.site(site).name));
        let makes_lazy = |taker: SiteId| {
            facts.text(facts.site(taker).name) == "new"
                && self.calls_one_of(site.file.site_ref(taker), lang::rust::conventions::LAZY_CONSTRUCTORS)
        };
        runs_once(site_id)
            || self
                .uses_of_enclosing(inner, function)
                .any(|(mention, _)| matches!(mention, Mention::Arg(taker, _) if runs_once(taker) || makes_lazy(taker)))
    }

    /// True if the program exits after a site, in the same block: `backup().await; process::exit(0)`.
    fn ends_program(&self, site: SiteRef) -> bool {
        let facts = self.linker.program.facts(site.file);
        let position = self.linker.program.site(site).at;
        facts.sites.iter().enumerate().any(|(index, site_facts)| {
            site_facts.at.region == position.region
                && site_facts.at.position > position.position
                && facts.text(site_facts.name) == "exit"
                && self.calls_one_of(site.file.site_ref(SiteId(index as u32)), &["std::process::exit"])
        })
    }

    /// Returns the uses of the body and of the closures and blocks around it, up to the function, the innermost first.
    fn uses_of_enclosing(&self, inner: BodyRef, function: BodyRef) -> impl Iterator<Item = (Mention, Wrap)> {
        let program = self.linker.program;
        let (facts, inner_id) = program.facts_and_id(inner);
        let (_, function_id) = program.facts_and_id(function);
        let index = program.index_of(inner.file);
        std::iter::successors(Some(inner_id), move |&body| facts.body(body).parent.get())
            .take_while(move |&body| body != function_id)
            .flat_map(move |body| index.uses_of_callable(body).iter())
    }

    /// True if a site runs in a task of its own: the future that it makes, or a block around it, is passed to a call
    /// that spawns a task.
    fn is_spawned(&self, site: SiteRef, inner: BodyRef, function: BodyRef) -> bool {
        let facts = self.linker.program.facts(site.file);
        self.is_passed_to(site, inner, function, |taker, _| {
            facts.text(self.linker.program.site(taker).name).starts_with("spawn")
        })
    }

    /// True if the object that a site makes, or a closure or block around the site, is an argument of a call for which
    /// `takes` holds. `takes` gets the call and the index of the argument.
    fn is_passed_to(
        &self,
        site: SiteRef,
        inner: BodyRef,
        function: BodyRef,
        takes: impl Fn(SiteRef, u32) -> bool,
    ) -> bool {
        let uses_of_result = self.linker.program.uses_of_result(site);
        let mut mentions = uses_of_result.iter().chain(self.uses_of_enclosing(inner, function));
        mentions.any(|(mention, _)| match mention {
            Mention::Arg(taker, arg) => takes(site.file.site_ref(taker), arg),
            _ => false,
        })
    }

    /// True if a call is one of a function of the standard library.
    fn is_of_std(&self, site: SiteRef) -> bool {
        let linker = self.linker;
        linker.values.members(linker.callee(site, EnvId::NONE).value).iter().any(|&val| match val {
            Val::External(path) | Val::Method { path, .. } => {
                let text = linker.library.text(path);
                text.starts_with("std::") || text.starts_with("core::")
            }
            _ => false,
        })
    }

    /// True if a site is in a loop that runs as long as there are events, like the loop of a server:
    /// `while let Some(event) = events.recv().await`. False in a loop over a collection, because the start of a program
    /// iterates over configured items.
    fn is_repeated(&self, site: SiteRef, inner: BodyRef, function: BodyRef) -> bool {
        let (facts, inner_id) = self.linker.program.facts_and_id(inner);
        let (_, function_id) = self.linker.program.facts_and_id(function);
        let mut bodies = vec![inner_id];
        while let Some(&last) = bodies.last()
            && last != function_id
            && let Some(parent) = facts.body(last).parent.get()
        {
            bodies.push(parent);
        }
        let span = self.linker.program.site(site).span;
        let contains = |region: &Region, span: Span| region.span.start <= span.start && span.end <= region.span.end;
        let waits_for_events = |index: usize, region: &Region| {
            let callee = match facts.form(region.test) {
                Form::Result(call) => Some(facts.text(facts.site(call).name)),
                _ => None,
            };
            if facts
                .sites
                .iter()
                .any(|site_facts| site_facts.kind == SiteKind::Iterate && site_facts.callee == region.test)
            {
                return callee.is_some_and(|name| lang::rust::conventions::ENDLESS_ITERATORS.contains(&name));
            }
            is_endless(facts, RegionId(index as u32))
                || callee.is_some_and(|name| name == "recv")
                || facts.sites.iter().any(|site_facts| {
                    let waits = site_facts.flags.has(SiteFlags::AWAITED) || site_facts.kind == SiteKind::Macro;
                    waits
                        && facts.body_of(site_facts.at) == region.body
                        && contains(region, site_facts.span)
                        && lang::rust::conventions::EVENT_WAITS.contains(&facts.text(site_facts.name))
                })
        };
        facts.regions.iter().enumerate().any(|(index, region)| {
            region.kind == RegionKind::Loop
                && bodies.contains(&region.body)
                && contains(&region, span)
                && waits_for_events(index, &region)
        })
    }

    fn find_serving(&self) -> Serving {
        let program = self.linker.program;
        let mut serving = Serving { crates: vec![false; program.layout.crates.len()], commands: FxHashMap::default() };
        for file in (0..program.files.len() as u32).map(FileId) {
            if program.language(file) == Language::Rust
                && purpose::serves(self.linker, file)
                && let Some(index) = self.crate_index(file)
            {
                serving.crates[index] = true;
            }
        }
        serving
    }

    /// True if a call is one of a library function with one of these paths.
    fn calls_one_of(&self, site: SiteRef, paths: &[&str]) -> bool {
        let linker = self.linker;
        linker.values.members(linker.callee(site, EnvId::NONE).value).iter().any(|&val| match val {
            Val::External(path) | Val::Method { path, .. } => paths.contains(&&*linker.library.text(path)),
            _ => false,
        })
    }
}
