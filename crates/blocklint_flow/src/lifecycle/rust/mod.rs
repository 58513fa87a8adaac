//! The life of a Rust program: code that runs once, and programs that serve no requests.
//!
//! `main` runs once, and so does what it calls outside of loops that wait and of closures that others call: it delays
//! the start or the end of the program, but no request. A program is a command if it reads arguments and none of the
//! crates it is built of listens or loops for ever: only its user waits for it, however often its loops run.

pub(crate) mod concurrent_tasks;
pub(crate) mod dedicated_thread;
pub(crate) mod unused_function;

use crate::entries::purpose;
use blocklint_link::lang;

use blocklint_core::{Language, Span};
use blocklint_facts::{BodyId, BodyKind, ClassKind, Form, Region, RegionId, RegionKind, SiteFlags, SiteId, SiteKind};
use blocklint_link::classes::hierarchy::Ancestor;
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
use crate::entries::purpose::is_endless;
use crate::lifecycle::phase::{KnownPhases, When, registered};

use crate::lifecycle::rust::unused_function::{has_receiver, is_of_receiver};

/// How many callers up.
const DEPTH: u32 = 24;

/// Callers looked at for one function.
const MOST_SITES: usize = 128;

/// When functions of Rust are entered, remembered.
pub(crate) struct Life<'s, 'l, 'a> {
    linker: &'l Linker<'a>,
    callers: &'s Callers<'l, 'a>,
    serving: Option<Serving>,
    round: Round,
    entered: RoundTable<BodyRef, Option<When>, KnownPhases>,
    /// True if functions are called and named nowhere.
    unused: FxHashMap<BodyRef, bool>,
    /// By crate: whether all programs that are built of it are commands.
    of_commands: FxHashMap<usize, bool>,
    /// True if functions run on threads of their own, each of which is there for nothing else.
    pub(crate) own_threads: Table<BodyRef, bool, Plain>,
}

/// The crates that serve.
struct Serving {
    /// By crate of the layout: whether its code listens or loops for ever.
    crates: Vec<bool>,
    /// True if the programs of a crate are commands.
    commands: FxHashMap<usize, bool>,
}

impl<'s, 'l, 'a> Life<'s, 'l, 'a> {
    /// Returns the tables without any answer.
    pub(crate) fn new(linker: &'l Linker<'a>, callers: &'s Callers<'l, 'a>) -> Self {
        Life {
            linker,
            callers,
            serving: None,
            round: Round::default(),
            entered: RoundTable::default(),
            unused: FxHashMap::default(),
            of_commands: FxHashMap::default(),
            own_threads: Table::default(),
        }
    }

    /// Returns when a site runs.
    pub(crate) fn of_site(&mut self, site: SiteRef) -> When {
        self.site(site, DEPTH).unwrap_or(When::Unknown)
    }

    /// Returns when a site runs; `None` if only functions call its function that are asked for already.
    fn site(&mut self, site: SiteRef, depth: u32) -> Option<When> {
        let inner = self.linker.program.body_of_site(site);
        if self.linker.is_for_tests(inner) {
            return Some(When::Test);
        }
        let function = self.function_around(inner);
        if self.linker.crate_of(site.file).is_some_and(|own| own.is_for_browsers) {
            return Some(When::Apart);
        }
        if self.is_beside_windows(site.file) {
            return Some(When::Apart);
        }
        if self.is_initialiser(site, inner, function) {
            return Some(When::StartUp);
        }
        if self.has_own_thread(site, inner, function) {
            // Tasks that are started there wait for each other.
            return Some(if self.is_task(site, inner, function) { When::Unknown } else { When::Apart });
        }
        if self.ends_program(site) {
            return Some(When::Apart);
        }
        match self.entered(function, depth)? {
            When::Command | When::Apart if self.is_one_of_many(site, inner, function) => Some(When::Crowd),
            When::Command if self.is_task(site, inner, function) => Some(When::Crowd),
            when @ (When::StartUp | When::Once) => {
                if !self.runs_in_place(inner, function) {
                    return Some(When::Unknown);
                }
                if self.is_repeated(site, inner, function) {
                    let is_own = when == When::StartUp && self.is_own_terminal(site, inner, function);
                    return Some(if is_own { When::Command } else { When::Unknown });
                }
                Some(if self.is_spawned(site, inner, function) { When::Once } else { when })
            }
            when => Some(when),
        }
    }

    /// Returns the function that a body stands in: closures and blocks belong to it.
    fn function_around(&self, body: BodyRef) -> BodyRef {
        let (facts, body_id) = self.linker.program.facts_and_id(body);
        body.file.body_ref(function_around(facts, body_id))
    }

    /// Returns when a function is entered.
    fn entered(&mut self, body: BodyRef, depth: u32) -> Option<When> {
        match self.round.begin(&self.entered, &body, || None) {
            Ok(begun) => {
                let when = self.find(body, depth);
                self.round.end(&self.entered, body, begun, when)
            }
            Err(known) => known,
        }
    }

    fn find(&mut self, body: BodyRef, depth: u32) -> Option<When> {
        let linker = self.linker;
        if linker.is_for_tests(body) {
            return Some(When::Test);
        }
        // In a program that serves, callers show which of its commands does; without arguments to read there are no
        // commands.
        if linker.program.is_command_line(body.file)
            && !self.serves(body.file)
            && purpose::project_takes_arguments(linker)
        {
            return Some(When::Command);
        }
        if self.is_main(body) {
            // A runtime of its own on a thread of its own: `thread::spawn(sync)` with `#[tokio::main] async fn sync()`.
            return Some(if self.is_on_own_thread(body) { When::Apart } else { self.main(body) });
        }
        if is_bootstrap_file(&linker.program.files[body.file.index()].relative) && purpose::project_serves(linker) {
            return Some(When::StartUp);
        }
        if let Some(when) = registered(linker, body) {
            return Some(when);
        }
        if self.has_runtime_for_blocking(body) {
            return Some(When::Apart);
        }
        let Some(depth) = depth.checked_sub(1) else { return Some(When::Unknown) };
        let sites = self.entering(body).unwrap_or_default();
        if sites.is_empty() || sites.len() > MOST_SITES {
            // A trait's method in a file of commands belongs to a command; a function without callers runs for no
            // request.
            if self.is_of_trait(body) && self.is_of_commands(body.file) {
                return Some(When::Command);
            }
            let is_left_over = sites.is_empty()
                && self.is_left_over(body)
                && (purpose::project_serves(linker) || self.is_of_commands(body.file));
            return Some(if is_left_over { When::Apart } else { When::Unknown });
        }
        let mut all: Option<When> = None;
        let mut is_used = false;
        for site in sites {
            let when = self.site(site, depth);
            if when == Some(When::Unknown)
                && self.is_without_callers(self.function_around(linker.program.body_of_site(site)))
            {
                continue;
            }
            is_used = true;
            all = match (all, when) {
                // A test of it shows nothing about its other callers.
                (Some(When::Test), Some(when)) => Some(when),
                (Some(known), Some(When::Test)) => Some(known),
                (Some(known), Some(when)) => Some(known.and(when)),
                (known, when) => known.or(when),
            };
            if matches!(all, Some(When::Serving | When::Unknown)) {
                break;
            }
        }
        match all {
            // A test does not show either that it has no other callers.
            Some(When::Test) => Some(When::Unknown),
            _ if !is_used => Some(When::Unknown),
            all => all,
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
        let own = lang::rust::names::subject(linker, class).unwrap_or(class);
        linker.impls(own).into_iter().any(|block| {
            let (facts, block_id) = linker.program.facts_and_id(block);
            let chooses = |at: BodyId| {
                facts.sites.iter().any(|row| {
                    facts.body_of(row.at) == at
                        && match facts.form(row.callee) {
                            Form::Attr(base, _) => {
                                matches!(facts.form(base), Form::Path(_, sym) if facts.text(sym) == "Blocking")
                            }
                            _ => false,
                        }
                })
            };
            facts.bodies.iter().enumerate().any(|(at, row)| {
                row.class.get() == Some(block_id)
                    && facts.text(row.name).contains("runtime")
                    && chooses(BodyId(at as u32))
            })
        })
    }

    /// True if a function is where a program begins.
    pub(crate) fn is_main(&self, body: BodyRef) -> bool {
        let facts = self.linker.program.facts(body.file);
        let row = self.linker.program.body(body);
        let relative = &self.linker.program.files[body.file.index()].relative;
        if row.kind != BodyKind::Function {
            return false;
        }
        let is_first = facts.text(row.name) == "main"
            && row.parent.get() == Some(BodyId(0))
            && lang::rust::modules::is_crate_root(self.linker, relative);
        // A function with a runtime of its own to run on (`#[tokio::main]`) is driven by the thread that calls it.
        is_first
            || self.linker.decorator_paths(body).iter().any(|&path| self.linker.library.text(path).ends_with("::main"))
    }

    /// Returns when a program's `main` runs.
    fn main(&mut self, body: BodyRef) -> When {
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

    /// True if a program that begins in a body's file is a command.
    pub(crate) fn begins_command(&mut self, body: BodyRef) -> bool {
        self.main(body) == When::Command
    }

    fn crate_index(&self, file: FileId) -> Option<usize> {
        let own = self.linker.crate_of(file)?;
        self.linker.program.layout.crates.iter().position(|package| std::ptr::eq(package, own))
    }

    /// True if the programs of a crate are commands: it or what it depends on reads arguments, and none of them listens or loops for
    /// ever.
    fn is_command(&mut self, package: usize) -> bool {
        let crates = &self.linker.program.layout.crates;
        let mut serving = self.serving.take().unwrap_or_else(|| self.find_serving());
        let is_command = match serving.commands.get(&package) {
            Some(&known) => known,
            None => {
                let serves = |at: usize| serving.crates[at] || crates[at].dependencies.is_none();
                let built_of = self.built_of(package);
                let found =
                    !built_of.iter().any(|&at| serves(at)) && built_of.iter().any(|&at| self.takes_arguments(at));
                serving.commands.insert(package, found);
                found
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

    /// True if a file's folders do not show that it is a command's: the code of its own crate listens or loops for
    /// ever.
    fn serves(&mut self, file: FileId) -> bool {
        if is_terminal_program(&self.linker.program.files[file.index()].relative) {
            return false;
        }
        let Some(own) = self.crate_index(file) else { return false };
        let serving = self.serving.take().unwrap_or_else(|| self.find_serving());
        let found = serving.crates[own];
        self.serving = Some(serving);
        found
    }

    /// True if a method is one of a trait, which may be called where its type is not seen.
    fn is_of_trait(&self, body: BodyRef) -> bool {
        let facts = self.linker.program.facts(body.file);
        self.linker.program.body(body).class.get().is_some_and(|class| facts.class(class).bases.len > 0)
    }

    /// True if all programs that are built of a file's crate are commands, and there is one.
    fn is_of_commands(&mut self, file: FileId) -> bool {
        let Some(own) = self.crate_index(file) else { return false };
        if let Some(&known) = self.of_commands.get(&own) {
            return known;
        }
        let programs = self.programs_of(own);
        let found = !programs.is_empty() && programs.into_iter().all(|program| self.is_command(program));
        self.of_commands.insert(own, found);
        found
    }

    /// Returns the crates with programs that are built of a crate.
    fn programs_of(&self, own: usize) -> Vec<usize> {
        let crates = &self.linker.program.layout.crates;
        let is_program =
            |at: usize| crates[at].roots.iter().any(|root| root.ends_with("src/main.rs") || root.contains("src/bin/"));
        (0..crates.len()).filter(|&at| is_program(at) && self.built_of(at).contains(&own)).collect()
    }

    /// Returns the crates of the workspace that a crate is built of, itself first.
    fn built_of(&self, package: usize) -> Vec<usize> {
        let crates = &self.linker.program.layout.crates;
        let mut open = vec![package];
        let mut at = 0;
        while let Some(&next) = open.get(at) {
            at += 1;
            for (_, name, _) in crates[next].dependencies.iter().flatten() {
                if crates[next].aside.binary_search(name).is_ok() {
                    continue;
                }
                if let Some(found) = crates.iter().position(|package| package.package == *name)
                    && !open.contains(&found)
                {
                    open.push(found);
                }
            }
        }
        open
    }

    /// Returns the sites that run a function: calls, and calls that take it. None where it may be run unseen.
    fn entering(&self, body: BodyRef) -> Option<Vec<SiteRef>> {
        let linker = self.linker;
        let (facts, body_id) = linker.program.facts_and_id(body);
        let row = linker.program.body(body);
        let mut sites: Vec<SiteRef> = self.callers.call_sites(body).to_vec();
        for (site, _) in linker.sites_passing_body(body) {
            let here = linker.program.facts(site.file);
            let taker = here.text(linker.program.site(site).name);
            if !lang::rust::conventions::RUNS_IN_PLACE.contains(&taker) {
                return None;
            }
            sites.push(site);
        }
        if let Some(class) = row.class.get() {
            let class = body.file.class_ref(class);
            let name = linker.program.global(body.file, row.name)?;
            let ancestors = linker.mro(class);
            // The callers of a library's trait are unknown.
            if !ancestors.iter().all(|ancestor| matches!(ancestor, Ancestor::Class(_))) {
                return None;
            }
            let is_rare = linker.hierarchy.bodies_named(name) <= 2;
            // All functions of a common name are looked at for a trait's method only.
            let is_of_trait = linker.program.class(class).kind == ClassKind::Interface || ancestors.len() > 1;
            if is_rare || is_of_trait {
                let bearers = linker.sites_by_name(name);
                for ancestor in ancestors.iter() {
                    if let Ancestor::Class(base) = ancestor {
                        sites.extend(bearers.by_base.get(base).into_iter().flatten());
                    }
                }
                // A rare name on a receiver that is not known mostly means this method.
                if is_rare {
                    let may_be = |site: &&SiteRef| !self.names_another_type(**site, body);
                    sites.extend(bearers.unknown.iter().filter(may_be));
                }
            }
        }
        sites.sort();
        sites.dedup();
        // `value.load()` is no call of a `load` that takes no `self`.
        if row.class.is_some() && !has_receiver(facts, body_id) {
            sites.retain(|site| {
                let here = linker.program.facts(site.file);
                !is_of_receiver(here, linker.program.site(*site).callee)
            });
            // The type may come from a macro, which leaves its name.
            if sites.is_empty() {
                sites.extend(self.calls_by_type_name(body));
            }
        }
        Some(sites)
    }

    /// True if the closures around a body run once, where they stand.
    fn runs_in_place(&self, inner: BodyRef, function: BodyRef) -> bool {
        let linker = self.linker;
        let (facts, inner_id) = linker.program.facts_and_id(inner);
        let (_, function_id) = linker.program.facts_and_id(function);
        let mut at = inner_id;
        while at != function_id {
            if facts.body(at).kind == BodyKind::Lambda {
                let uses = linker.program.index_of(inner.file).uses_of_callable(at);
                let mut any = false;
                for (mention, _) in uses.iter() {
                    any = true;
                    let in_place = match mention {
                        Mention::Operand(_) => true,
                        Mention::Arg(site, _) => {
                            let name = facts.text(facts.site(site).name);
                            lang::rust::conventions::RUNS_IN_PLACE.contains(&name)
                                || self.is_of_std(inner.file.site_ref(site))
                        }
                        _ => false,
                    };
                    if !in_place {
                        return false;
                    }
                }
                if !any {
                    return false;
                }
            }
            match facts.body(at).parent.get() {
                Some(parent) => at = parent,
                None => return false,
            }
        }
        true
    }

    /// True if a site runs where a value is made that is made once (`OnceLock::get_or_init`).
    fn is_initialiser(&self, site: SiteRef, inner: BodyRef, function: BodyRef) -> bool {
        let (facts, site_id) = self.linker.program.facts_and_id(site);
        let once = |site: SiteId| lang::rust::conventions::RUNS_ONCE.contains(&facts.text(facts.site(site).name));
        let lazy = |taker: SiteId| {
            facts.text(facts.site(taker).name) == "new"
                && self.calls_one_of(site.file.site_ref(taker), lang::rust::conventions::MAKES_ONCE)
        };
        once(site_id)
            || self
                .around(inner, function)
                .any(|(mention, _)| matches!(mention, Mention::Arg(taker, _) if once(taker) || lazy(taker)))
    }

    /// True if the program ends with the statements that a site stands among: `backup().await; process::exit(0)`.
    fn ends_program(&self, site: SiteRef) -> bool {
        let facts = self.linker.program.facts(site.file);
        let at = self.linker.program.site(site).at;
        facts.sites.iter().enumerate().any(|(of, row)| {
            row.at.region == at.region
                && row.at.position > at.position
                && facts.text(row.name) == "exit"
                && self.calls_one_of(site.file.site_ref(SiteId(of as u32)), &["std::process::exit"])
        })
    }

    /// Returns the uses of the closures and blocks around a body, the innermost first.
    fn around(&self, inner: BodyRef, function: BodyRef) -> impl Iterator<Item = (Mention, Wrap)> {
        let program = self.linker.program;
        let (facts, inner_id) = program.facts_and_id(inner);
        let (_, function_id) = program.facts_and_id(function);
        let index = program.index_of(inner.file);
        std::iter::successors(Some(inner_id), move |&at| facts.body(at).parent.get())
            .take_while(move |&at| at != function_id)
            .flat_map(move |at| index.uses_of_callable(at).iter())
    }

    /// True if a site runs in a task of its own: the object that it makes, or a block around it, is handed to be run
    /// beside others.
    fn is_spawned(&self, site: SiteRef, inner: BodyRef, function: BodyRef) -> bool {
        let facts = self.linker.program.facts(site.file);
        self.is_given(site, inner, function, |taker, _| {
            facts.text(self.linker.program.site(taker).name).starts_with("spawn")
        })
    }

    /// True if the object that a site makes, or a closure or block around it, is an argument of such a call.
    fn is_given(&self, site: SiteRef, inner: BodyRef, function: BodyRef, takes: impl Fn(SiteRef, u32) -> bool) -> bool {
        let of_result = self.linker.program.uses_of_result(site);
        let mut mentions = of_result.iter().chain(self.around(inner, function));
        mentions.any(|(mention, _)| match mention {
            Mention::Arg(taker, arg) => takes(site.file.site_ref(taker), arg),
            _ => false,
        })
    }

    /// True if a call is one of the standard library's.
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

    /// True if a site stands in a loop that goes on as long as there is something to do, as those do that serve. One
    /// over a collection iterates over configured things.
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
        let holds = |region: &Region, span: Span| region.span.start <= span.start && span.end <= region.span.end;
        let goes_on = |at: usize, region: &Region| {
            let made = match facts.form(region.test) {
                Form::Result(made) => Some(facts.text(facts.site(made).name)),
                _ => None,
            };
            if facts.sites.iter().any(|row| row.kind == SiteKind::Iterate && row.callee == region.test) {
                return made.is_some_and(|name| lang::rust::conventions::ENDLESS_ITERATORS.contains(&name));
            }
            is_endless(facts, RegionId(at as u32))
                || made.is_some_and(|name| name == "recv")
                || facts.sites.iter().any(|row| {
                    let waits = row.flags.has(SiteFlags::AWAITED) || row.kind == SiteKind::Macro;
                    waits
                        && facts.body_of(row.at) == region.body
                        && holds(region, row.span)
                        && lang::rust::conventions::WAITS_FOR_NEXT.contains(&facts.text(row.name))
                })
        };
        facts.regions.iter().enumerate().any(|(at, region)| {
            region.kind == RegionKind::Loop
                && bodies.contains(&region.body)
                && holds(&region, span)
                && goes_on(at, &region)
        })
    }

    fn find_serving(&self) -> Serving {
        let program = self.linker.program;
        let mut found = Serving { crates: vec![false; program.layout.crates.len()], commands: FxHashMap::default() };
        for file in (0..program.files.len() as u32).map(FileId) {
            if program.language(file) == Language::Rust
                && purpose::serves(self.linker, file)
                && let Some(at) = self.crate_index(file)
            {
                found.crates[at] = true;
            }
        }
        found
    }

    /// True if a call is of one of these functions of libraries.
    fn calls_one_of(&self, site: SiteRef, paths: &[&str]) -> bool {
        let linker = self.linker;
        linker.values.members(linker.callee(site, EnvId::NONE).value).iter().any(|&val| match val {
            Val::External(found) | Val::Method { path: found, .. } => paths.contains(&&*linker.library.text(found)),
            _ => false,
        })
    }
}
