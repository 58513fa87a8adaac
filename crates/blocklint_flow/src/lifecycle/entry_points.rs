//! The predecessors of one body in the call graph: its callers, and the kinds of entry point that it is itself (routes,
//! handlers, timers, tasks, start and end of the program, commands, tests).
//! [`ReachedBy`](crate::lifecycle::reached_by::ReachedBy) climbs from predecessor to predecessor.

use blocklint_core::{Context, EntryKind, Language};
use blocklint_facts::{BodyFlags, BodyId, BodyKind, Flow, SiteFlags, SiteKind};
use blocklint_link::calls::targets::Target;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::program::occurrences::{Mention, Mentions};
use blocklint_link::values::value::EnvId;
use blocklint_models::{HandoverContext, HandoverRow, Phase, Runs, Via};
use smallvec::SmallVec;

use crate::callers::Callers;
use crate::entries::purpose;
use crate::lifecycle::one_shot_program::{
    drives_coroutine, is_driven_by_command, is_quiet_coroutine, is_run_as_program, is_started_as_task,
};
use crate::lifecycle::phase::{
    ends_the_program, is_in_fixture, overridden_rows, paths_by_convention, rows_of_argument,
};
use crate::lifecycle::phase_java::{is_made_at_start, runs_argument_once};
use crate::lifecycle::rust::RustLifecycle;
use crate::lifecycle::unused::is_unused;

/// The most callers of one body that are read. A body with more has an unknown entry point, too.
const MOST_CALLERS: usize = 512;

/// How often the result of a call is followed to the call that takes it: `add(partial(wrap(handler)))`.
const MOST_WRAPPERS: u32 = 4;

/// A predecessor of a body: a caller, or the entry point that the body is itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Predecessor {
    /// Another body runs the body.
    Caller(CallingBody),
    /// The body is an entry point.
    Entry(Entry),
}

/// A body that runs another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct CallingBody {
    /// The body that has the call.
    pub(crate) body: BodyRef,
    /// How it runs the callee.
    pub(crate) run_kind: RunKind,
}

/// How a body runs another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum RunKind {
    /// It calls or awaits the callee.
    Call,
    /// It runs an event loop for the callee alone, as a command does: the coroutine neither serves nor starts tasks.
    QuietLoop,
    /// It runs an event loop for the callee, and the loop may serve.
    Loop,
    /// It starts a task that runs the callee.
    Task,
}

/// An entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Entry {
    /// Its kind.
    pub(crate) kind: EntryKind,
    /// Its function. For code at the top level of a file: the function that the top level calls.
    pub(crate) body: BodyRef,
    /// The place that shows that the function is an entry point.
    pub(crate) place: EntryPlace,
    /// True if no code below it serves requests. False for a `main`, which may be the service itself.
    pub(crate) serves_nothing: bool,
}

/// The place that shows that a function is an entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum EntryPlace {
    /// The definition of the function.
    Definition,
    /// The call that registers the function.
    Registration(SiteRef),
    /// The call at the top level of a file that runs the function.
    TopLevel(SiteRef),
}

impl EntryPlace {
    fn from_registration(site: Option<SiteRef>) -> EntryPlace {
        site.map_or(EntryPlace::Definition, EntryPlace::Registration)
    }
}

/// Finds the predecessors of bodies.
pub(crate) struct EntryPoints<'s, 'l, 'a> {
    linker: &'l Linker<'a>,
    callers: &'s Callers<'l, 'a>,
    life: std::cell::RefCell<RustLifecycle<'s, 'l, 'a>>,
}

/// The predecessors of a body that are found so far.
struct Predecessors {
    body: BodyRef,
    list: Vec<Predecessor>,
    /// True if the body may have predecessors that are not in the project's code.
    is_open: bool,
}

impl Predecessors {
    fn add_entry(&mut self, kind: EntryKind, place: EntryPlace, serves_nothing: bool) {
        self.list.push(Predecessor::Entry(Entry { kind, body: self.body, place, serves_nothing }));
    }

    fn add_caller(&mut self, body: BodyRef, run_kind: RunKind) {
        self.list.push(Predecessor::Caller(CallingBody { body, run_kind }));
    }
}

/// Returns the kind of the entry points that rows of a phase register.
fn entry_kind_of_phase(phase: Phase) -> EntryKind {
    match phase {
        Phase::Request => EntryKind::Request,
        Phase::Message => EntryKind::Message,
        Phase::Tick => EntryKind::Tick,
        Phase::Task => EntryKind::Task,
        Phase::Reload => EntryKind::Reload,
        Phase::Startup => EntryKind::Start,
        Phase::Exit => EntryKind::Stop,
        Phase::Test => EntryKind::Test,
        Phase::Command => EntryKind::Command,
    }
}

impl<'s, 'l, 'a> EntryPoints<'s, 'l, 'a> {
    /// Returns empty tables for one program.
    pub(crate) fn new(linker: &'l Linker<'a>, callers: &'s Callers<'l, 'a>) -> Self {
        EntryPoints { linker, callers, life: RustLifecycle::new(linker, callers).into() }
    }

    /// Returns the predecessors of a body, at least one: [`EntryKind::None`] if the body is unused.
    pub(crate) fn find_predecessors(&self, body: BodyRef) -> Vec<Predecessor> {
        let mut predecessors = Predecessors { body, list: Vec::new(), is_open: false };
        self.collect_predecessors(body, &mut predecessors);
        // A body that only tests call has other callers, too, outside of the project.
        let is_of_test = |predecessor: &Predecessor| match predecessor {
            Predecessor::Caller(caller) => self.linker.is_for_tests(caller.body),
            Predecessor::Entry(_) => false,
        };
        predecessors.is_open |= !predecessors.list.is_empty() && predecessors.list.iter().all(is_of_test);
        if predecessors.is_open {
            predecessors.add_entry(EntryKind::Unknown, EntryPlace::Definition, false);
        }
        if predecessors.list.is_empty() {
            let unused = is_unused(self.linker, &mut self.life.borrow_mut(), body);
            predecessors.add_entry(
                if unused { EntryKind::None } else { EntryKind::Unknown },
                EntryPlace::Definition,
                false,
            );
        }
        predecessors.list.sort_unstable();
        predecessors.list.dedup();
        predecessors.list
    }

    /// Returns the kinds of the entry points that a call registers: the kinds of its arguments.
    pub(crate) fn kinds_of_arguments(&self, site: SiteRef) -> SmallVec<[EntryKind; 2]> {
        let linker = self.linker;
        let callee = linker.callee(site, EnvId::NONE);
        let mut kinds = SmallVec::new();
        for val in linker.values.members(callee.value) {
            for arg in 0..linker.program.args_of(site).iter().count() as u32 {
                let rows = rows_of_argument(linker, val, site, arg);
                kinds
                    .extend(rows.into_iter().find(|row| !row.wraps).and_then(|row| row.phase).map(entry_kind_of_phase));
            }
        }
        kinds
    }

    fn collect_predecessors(&self, body: BodyRef, predecessors: &mut Predecessors) {
        let linker = self.linker;
        let body_facts = linker.program.body(body);
        if linker.is_for_tests(body) || is_in_fixture(linker, body) {
            return predecessors.add_entry(EntryKind::Test, EntryPlace::Definition, true);
        }
        if self.add_registrations(body, predecessors) {
            return;
        }
        if purpose::is_command_file(linker, body.file) {
            return predecessors.add_entry(EntryKind::Command, EntryPlace::Definition, self.is_quiet(body));
        }
        match body_facts.kind {
            BodyKind::Module | BodyKind::Class => return self.add_top_level(body, None, predecessors),
            BodyKind::Initialiser if body_facts.flags.has(BodyFlags::STATIC) => {
                return predecessors.add_entry(EntryKind::Start, EntryPlace::Definition, true);
            }
            BodyKind::Lambda | BodyKind::AsyncBlock | BodyKind::GeneratorExpression => {
                return self.add_uses_of_literal(body, predecessors);
            }
            BodyKind::Initialiser | BodyKind::Function => {}
        }
        if self.is_main(body) {
            let kind = if self.is_of_command(body) { EntryKind::Command } else { EntryKind::Start };
            predecessors.add_entry(kind, EntryPlace::Definition, false);
        }
        if linker.program.language(body.file) == Language::Java && self.runs_at_start_in_java(body) {
            return predecessors.add_entry(EntryKind::Start, EntryPlace::Definition, true);
        }
        self.add_calls(body, predecessors);
        for (site, arg) in linker.sites_passing_body(body) {
            self.add_taker(site, arg, MOST_WRAPPERS, predecessors);
        }
        if predecessors.list.is_empty() && ends_the_program(linker, body) && purpose::project_serves(linker) {
            predecessors.add_entry(EntryKind::Stop, EntryPlace::Definition, true);
        }
    }

    /// Adds the entry points that a library makes of a body by its name, by its decorators or by the method that it
    /// overrides. True if it adds any.
    fn add_registrations(&self, body: BodyRef, predecessors: &mut Predecessors) -> bool {
        let linker = self.linker;
        let mut rows: SmallVec<[(Phase, Option<SiteRef>); 2]> = SmallVec::new();
        for path in paths_by_convention(linker, body) {
            rows.extend(linker.library.handovers(path).iter().filter_map(|handover| Some((handover.row.phase?, None))));
        }
        let registers = |row: &HandoverRow| !row.wraps && row.during.is_empty();
        for (path, made) in linker.decorators(body) {
            let handovers = linker.library.handovers(path);
            let of_path = handovers.rows_of_via(Via::Decorator).map(|matched| matched.row).filter(|row| registers(row));
            let holds = |row: &&HandoverRow| match made {
                Some(site) => linker.conditions_hold(&row.when, &row.unless, site, EnvId::NONE),
                None => row.when.is_empty(),
            };
            // The first row whose conditions hold applies.
            rows.extend(of_path.filter(holds).take(1).filter_map(|row| Some((row.phase?, made))));
        }
        rows.extend(linker.registered_by_class(body).into_iter().filter_map(|row| Some((row.phase?, None))));
        rows.extend(self.phases_of_overridden(body).into_iter().map(|phase| (phase, None)));
        for &(phase, site) in &rows {
            predecessors.add_entry(
                entry_kind_of_phase(phase),
                EntryPlace::from_registration(site),
                self.serves_nothing(phase, body),
            );
        }
        // The project may also call a body that it registers, but it hardly ever calls a handler.
        !rows.is_empty()
    }

    /// Returns the phases in which a library runs a method that overrides one of the library's own.
    fn phases_of_overridden(&self, body: BodyRef) -> SmallVec<[Phase; 1]> {
        let phase = |row: &HandoverRow| match row.context {
            // A thread of its own runs it: `threading.Thread.run`.
            HandoverContext::Is(Runs::In(Context::Worker)) => Some(row.phase.unwrap_or(Phase::Task)),
            _ => row.phase,
        };
        overridden_rows(self.linker, body).into_iter().filter(|row| row.during.is_empty()).filter_map(phase).collect()
    }

    /// Adds the entry point for the top level of a file or class, which runs when the file is imported or run.
    fn add_top_level(&self, body: BodyRef, site: Option<SiteRef>, predecessors: &mut Predecessors) {
        let is_main = site.is_some_and(|site| is_run_as_program(self.linker, site));
        let place = site.map_or(EntryPlace::Definition, EntryPlace::TopLevel);
        let is_command = is_main && self.is_of_command(body);
        predecessors.add_entry(if is_command { EntryKind::Command } else { EntryKind::Start }, place, !is_main);
    }

    /// Adds the calls of a function, and the calls of the methods that it implements or overrides.
    fn add_calls(&self, body: BodyRef, predecessors: &mut Predecessors) {
        let linker = self.linker;
        let mut sites: Vec<SiteRef> = self.callers.call_sites(body).to_vec();
        let body_facts = linker.program.body(body);
        if let (Some(class), Some(name)) = (body_facts.class.get(), linker.program.global(body.file, body_facts.name)) {
            let bearers = linker.sites_by_name(name);
            let may_mean = |site: &SiteRef| {
                linker.targets(*site, EnvId::NONE).list.iter().any(|target| match *target {
                    Target::Overrides { class, name } => linker.may_run_override(class, name, body, *site),
                    _ => false,
                })
            };
            if !bearers.by_base.is_empty() {
                for base in linker.classes_above(body.file.class_ref(class)) {
                    sites.extend(bearers.by_base.get(&base).into_iter().flatten().filter(|site| may_mean(site)));
                }
            }
            // A call on a receiver of unknown type mostly means the one method that has the name.
            let is_rare = linker.hierarchy.count_bodies_named(name) <= 2;
            let is_special = linker.program.text(name).starts_with("__");
            if is_rare && !is_special {
                let is_same_language =
                    |site: &&SiteRef| linker.program.language(site.file) == linker.program.language(body.file);
                sites.extend(bearers.unknown.iter().filter(is_same_language));
            } else if sites.is_empty() && !bearers.unknown.is_empty() && !is_special {
                predecessors.is_open = true;
            }
        }
        sites.sort_unstable();
        sites.dedup();
        predecessors.is_open |= sites.len() > MOST_CALLERS;
        for site in sites.into_iter().take(MOST_CALLERS) {
            self.add_site(site, body, predecessors);
        }
    }

    /// Adds the caller that has a call of the body, with how the caller runs the call's result.
    fn add_site(&self, site: SiteRef, body: BodyRef, predecessors: &mut Predecessors) {
        let linker = self.linker;
        let around = linker.program.body_of_site(site);
        let run_kind =
            if linker.program.body(body).flow == Flow::Sync { RunKind::Call } else { self.run_kind_of_result(site) };
        self.add_caller_or_top_level(around, site, run_kind, predecessors);
    }

    /// Adds a caller. If the caller is the top level of a file: adds the entry point that the top level is.
    fn add_caller_or_top_level(
        &self,
        around: BodyRef,
        site: SiteRef,
        run_kind: RunKind,
        predecessors: &mut Predecessors,
    ) {
        let linker = self.linker;
        let body_facts = linker.program.body(around);
        if run_kind == RunKind::Task {
            predecessors.add_entry(EntryKind::Task, EntryPlace::Definition, false);
        }
        if !matches!(body_facts.kind, BodyKind::Module | BodyKind::Class) || linker.is_for_tests(around) {
            return predecessors.add_caller(around, run_kind);
        }
        match run_kind {
            RunKind::Task => {}
            RunKind::Call if !purpose::is_command_file(linker, around.file) => {
                self.add_top_level(around, Some(site), predecessors);
            }
            _ => {
                // The event loop that the top level of a file runs is the program.
                let is_command = self.is_of_command(around);
                let kind = if is_command { EntryKind::Command } else { EntryKind::Start };
                predecessors.add_entry(
                    kind,
                    EntryPlace::TopLevel(site),
                    is_command && run_kind != RunKind::Loop && self.is_quiet(predecessors.body),
                );
            }
        }
    }

    /// Returns how the coroutine, future or generator that a call returns is run.
    fn run_kind_of_result(&self, site: SiteRef) -> RunKind {
        let linker = self.linker;
        let site_facts = linker.program.site(site);
        if site_facts.flags.has(SiteFlags::AWAITED) {
            return RunKind::Call;
        }
        match linker.program.language(site.file) {
            Language::Python if drives_coroutine(linker, site) => {
                if is_driven_by_command(linker, site) {
                    RunKind::QuietLoop
                } else {
                    RunKind::Loop
                }
            }
            Language::Python if is_started_as_task(linker, site) && !self.is_taker_awaited(site) => RunKind::Task,
            // A plain function that passes a coroutine on does not show which other tasks run on the loop.
            Language::Python if self.is_passed_by_plain_function(site) => RunKind::Loop,
            Language::Rust => self.run_kind_of_future(site.file, linker.program.uses_of_result(site), MOST_WRAPPERS),
            _ => RunKind::Call,
        }
    }

    /// True if a plain function passes the coroutine that a call returns to another call (Python).
    fn is_passed_by_plain_function(&self, site: SiteRef) -> bool {
        let program = self.linker.program;
        program.body(program.body_of_site(site)).flow == Flow::Sync
            && program.uses_of_result(site).iter().any(|(mention, _)| matches!(mention, Mention::Arg(..)))
    }

    /// True if the call that takes the result of a call is awaited: `await asyncio.create_task(load())`.
    fn is_taker_awaited(&self, site: SiteRef) -> bool {
        self.linker.program.uses_of_result(site).iter().any(|(mention, _)| match mention {
            Mention::Arg(taker, _) => self.linker.program.site(site.file.site_ref(taker)).flags.has(SiteFlags::AWAITED),
            _ => false,
        })
    }

    /// Returns how a future with these uses is run, through the calls that wrap it: `tokio::spawn(with_cancel(run()))`
    /// (Rust).
    fn run_kind_of_future(&self, file: FileId, uses: Mentions<'_>, wrappers: u32) -> RunKind {
        let program = self.linker.program;
        let facts = program.facts(file);
        let run_kind_at = |mention: Mention| {
            let Mention::Arg(taker, _) = mention else { return RunKind::Call };
            match facts.text(facts.site(taker).name) {
                "block_on" => RunKind::Loop,
                name if name.starts_with("spawn") => RunKind::Task,
                _ if wrappers == 0 || facts.site(taker).flags.has(SiteFlags::AWAITED) => RunKind::Call,
                _ => self.run_kind_of_future(file, program.uses_of_result(file.site_ref(taker)), wrappers - 1),
            }
        };
        uses.iter().map(|(mention, _)| run_kind_at(mention)).max().unwrap_or(RunKind::Call)
    }

    /// Adds the uses of a lambda, closure, async block or generator expression.
    fn add_uses_of_literal(&self, body: BodyRef, predecessors: &mut Predecessors) {
        let linker = self.linker;
        let body_facts = linker.program.body(body);
        let Some(parent) = body_facts.parent.get().map(|parent| body.file.body_ref(parent)) else {
            predecessors.is_open = true;
            return;
        };
        let uses = linker.program.uses_of_callable(body);
        if body_facts.kind != BodyKind::Lambda {
            let run_kind = match linker.program.language(body.file) {
                Language::Rust => self.run_kind_of_future(body.file, uses, MOST_WRAPPERS),
                _ => RunKind::Call,
            };
            // Any site of the body shows where the body is.
            return match linker.program.sites_in(body).next() {
                Some(site) => self.add_caller_or_top_level(parent, site, run_kind, predecessors),
                None => predecessors.add_caller(parent, run_kind),
            };
        }
        for (mention, _) in uses.iter() {
            match mention {
                Mention::Arg(site, arg) => self.add_taker(body.file.site_ref(site), arg, MOST_WRAPPERS, predecessors),
                Mention::Operand(_) => predecessors.add_caller(parent, RunKind::Call),
                _ => {}
            }
        }
        self.add_calls(body, predecessors);
        if predecessors.list.is_empty() {
            predecessors.is_open = true;
        }
    }

    /// Adds a call that takes the body as an argument.
    fn add_taker(&self, site: SiteRef, arg: u32, wrappers: u32, predecessors: &mut Predecessors) {
        let linker = self.linker;
        let around = linker.program.body_of_site(site);
        let callee = linker.callee(site, EnvId::NONE);
        let mut rows: SmallVec<[&HandoverRow; 2]> = SmallVec::new();
        for val in linker.values.members(callee.value) {
            let holds =
                |row: &&HandoverRow| !row.wraps && linker.conditions_hold(&row.when, &row.unless, site, EnvId::NONE);
            rows.extend(rows_of_argument(linker, val, site, arg).into_iter().find(holds));
        }
        let phases: SmallVec<[Phase; 2]> = rows.iter().filter_map(|row| row.phase).collect();
        if linker.is_for_tests(around) {
            return predecessors.add_caller(around, RunKind::Call);
        }
        if !phases.is_empty() {
            for phase in phases {
                predecessors.add_entry(
                    entry_kind_of_phase(phase),
                    EntryPlace::Registration(site),
                    self.serves_nothing(phase, predecessors.body),
                );
                if phase == Phase::Task {
                    predecessors.add_caller(around, RunKind::Task);
                }
            }
            return;
        }
        if rows.iter().any(|row| !row.during.is_empty()) {
            predecessors.is_open = true;
            return;
        }
        let passing = linker.argument_use(site, arg, EnvId::NONE);
        let facts = linker.program.facts(site.file);
        let name = facts.text(linker.program.site(site).name);
        let is_run = passing.called
            || passing.consumed
            || passing.on_chain && runs_argument_once(linker, site)
            || facts.language == Language::Rust && lang::rust::conventions::CLOSURE_RUNNERS.contains(&name);
        if is_run {
            return self.add_caller_or_top_level(around, site, RunKind::Call, predecessors);
        }
        if !passing.handed.is_empty() || passing.on_chain {
            // A thread, a chain that goes on emitting, and a callback that an event loop runs later outlive the call
            // that starts them, unless the call is awaited.
            let is_awaited = linker.program.site(site).flags.has(SiteFlags::AWAITED);
            let run_kind = if is_awaited { RunKind::Call } else { RunKind::Task };
            return self.add_caller_or_top_level(around, site, run_kind, predecessors);
        }
        if passing.returned && wrappers > 0 {
            let mut is_followed = false;
            for (mention, _) in linker.program.uses_of_result(site).iter() {
                match mention {
                    Mention::Arg(next, index) => {
                        is_followed = true;
                        self.add_taker(site.file.site_ref(next), index, wrappers - 1, predecessors);
                    }
                    Mention::Operand(_) => {
                        is_followed = true;
                        self.add_caller_or_top_level(around, site, RunKind::Call, predecessors);
                    }
                    _ => {}
                }
            }
            if is_followed || linker.program.site(site).kind == SiteKind::Decorate {
                return;
            }
        }
        predecessors.is_open = true;
    }

    /// True if a body is the `main` function of a program.
    fn is_main(&self, body: BodyRef) -> bool {
        let facts = self.linker.program.facts(body.file);
        let body_facts = self.linker.program.body(body);
        match facts.language {
            Language::Rust => self.life.borrow().is_main(body),
            Language::Java => facts.text(body_facts.name) == "main" && body_facts.flags.has(BodyFlags::STATIC),
            Language::Python => {
                body_facts.class.is_none()
                    && body_facts.parent.get() == Some(BodyId(0))
                    && facts.text(body_facts.name) == "main"
                    && self.callers.call_sites(body).is_empty()
            }
        }
    }

    /// True if the program that begins in a body's file is a command of a command line.
    fn is_of_command(&self, body: BodyRef) -> bool {
        let linker = self.linker;
        match linker.program.language(body.file) {
            Language::Rust => self.life.borrow_mut().begins_command(body),
            _ => {
                purpose::is_command_file(linker, body.file)
                    || purpose::takes_arguments(linker, body.file) && !purpose::project_serves(linker)
            }
        }
    }

    /// True if no code below a body that is registered for a phase serves requests.
    fn serves_nothing(&self, phase: Phase, body: BodyRef) -> bool {
        if phase == Phase::Command { self.is_quiet(body) } else { !phase.serves() }
    }

    /// True if a command cannot serve requests: it is a plain function, or a coroutine that neither starts tasks nor
    /// serves (Python). False in Rust and Java, because any command possibly serves.
    fn is_quiet(&self, body: BodyRef) -> bool {
        let linker = self.linker;
        linker.program.language(body.file) == Language::Python
            && (linker.program.body(body).flow == Flow::Sync || is_quiet_coroutine(linker, body))
    }

    /// True if a method runs before the program serves: its name says so, or a container makes the one instance of its
    /// class at the start (Java).
    fn runs_at_start_in_java(&self, body: BodyRef) -> bool {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let body_facts = linker.program.body(body);
        if lang::java::names::starts_up(facts.text(body_facts.name)) && purpose::project_serves(linker) {
            return true;
        }
        let is_construction = body_facts.kind == BodyKind::Initialiser
            || lang::words_of(facts.language).is_constructor(facts.text(body_facts.name));
        is_construction
            && body_facts.class.get().is_some_and(|class| is_made_at_start(linker, body.file.class_ref(class)))
    }
}
