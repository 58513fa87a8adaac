//! The ways into one body: the code that runs it, and the entry points that it is: routes, handlers, timers, tasks, start and end of
//! the program, commands, tests. [`ReachedBy`](crate::lifecycle::reached_by::ReachedBy) climbs over them.

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
use crate::lifecycle::phase::{ends_the_program, is_in_fixture, overridden_rows, paths_by_convention, rows_taking};
use crate::lifecycle::phase_java::{is_made_at_start, runs_once_at};
use crate::lifecycle::rust::Life;
use crate::lifecycle::unused::is_unused;

/// Callers of one body beyond which the rest is not known.
const MOST_CALLERS: usize = 512;

/// How often the result of a call is followed to the call that takes it: `add(partial(wrap(handler)))`.
const MOST_WRAPPERS: u32 = 4;

/// One way into a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum WayIn {
    /// Code of another body runs it.
    Caller(CallingBody),
    /// It is an entry point.
    Entry(Entry),
}

/// A body that runs another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct CallingBody {
    /// The body.
    pub(crate) body: BodyRef,
    /// How it runs the other one.
    pub(crate) by: RunsBy,
}

/// How a body runs another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum RunsBy {
    /// It calls or awaits it.
    Call,
    /// It runs a loop for it, which ends with it and runs nothing else, as a command does.
    QuietLoop,
    /// It runs a loop for it, which may serve.
    Loop,
    /// It starts a task with it.
    Task,
}

/// An entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Entry {
    /// Its kind.
    pub(crate) kind: EntryKind,
    /// Its function; for code at the top level of a file the function that it calls.
    pub(crate) body: BodyRef,
    /// The call that a reader looks at.
    pub(crate) at: At,
    /// True if nothing that serves runs below it: a `main` may be the service itself.
    pub(crate) is_aside: bool,
}

/// The call that makes a function an entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum At {
    /// None: its definition says so.
    Definition,
    /// It registers the function.
    Registration(SiteRef),
    /// It stands at the top level of a file, and runs the function.
    TopLevel(SiteRef),
}

impl At {
    fn registration(site: Option<SiteRef>) -> At {
        site.map_or(At::Definition, At::Registration)
    }
}

/// Finds the ways into bodies.
pub(crate) struct EntryPoints<'s, 'l, 'a> {
    linker: &'l Linker<'a>,
    callers: &'s Callers<'l, 'a>,
    life: std::cell::RefCell<Life<'s, 'l, 'a>>,
}

/// The ways into a body that are found so far.
struct Found {
    body: BodyRef,
    ways: Vec<WayIn>,
    /// True if something may run it that is not seen.
    is_open: bool,
}

impl Found {
    fn entry(&mut self, kind: EntryKind, at: At, is_aside: bool) {
        self.ways.push(WayIn::Entry(Entry { kind, body: self.body, at, is_aside }));
    }

    fn caller(&mut self, body: BodyRef, by: RunsBy) {
        self.ways.push(WayIn::Caller(CallingBody { body, by }));
    }
}

/// Returns the kind of the entry points that rows of a phase register.
fn kind_of(phase: Phase) -> EntryKind {
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
    /// Returns a search that has found nothing yet.
    pub(crate) fn new(linker: &'l Linker<'a>, callers: &'s Callers<'l, 'a>) -> Self {
        EntryPoints { linker, callers, life: Life::new(linker, callers).into() }
    }

    /// Returns the ways into a body; never none.
    pub(crate) fn ways_into(&self, body: BodyRef) -> Vec<WayIn> {
        let mut found = Found { body, ways: Vec::new(), is_open: false };
        self.collect(body, &mut found);
        // A body that only tests call has other callers, too, which are not seen.
        let is_of_test = |way: &WayIn| matches!(way, WayIn::Caller(of) if self.linker.is_for_tests(of.body));
        found.is_open |= !found.ways.is_empty() && found.ways.iter().all(is_of_test);
        if found.is_open {
            found.entry(EntryKind::Unknown, At::Definition, false);
        }
        if found.ways.is_empty() {
            let unused = is_unused(self.linker, &mut self.life.borrow_mut(), body);
            found.entry(if unused { EntryKind::None } else { EntryKind::Unknown }, At::Definition, false);
        }
        found.ways.sort_unstable();
        found.ways.dedup();
        found.ways
    }

    /// Returns the kinds of the entry points that a call makes of its arguments.
    pub(crate) fn kinds_handed(&self, site: SiteRef) -> SmallVec<[EntryKind; 2]> {
        let linker = self.linker;
        let callee = linker.callee(site, EnvId::NONE);
        let mut kinds = SmallVec::new();
        for val in linker.values.members(callee.value) {
            for arg in 0..linker.program.args_of(site).iter().count() as u32 {
                let rows = rows_taking(linker, val, site, arg);
                kinds.extend(rows.into_iter().find(|row| !row.wraps).and_then(|row| row.phase).map(kind_of));
            }
        }
        kinds
    }

    fn collect(&self, body: BodyRef, found: &mut Found) {
        let linker = self.linker;
        let row = linker.program.body(body);
        if linker.is_for_tests(body) || is_in_fixture(linker, body) {
            return found.entry(EntryKind::Test, At::Definition, true);
        }
        if self.add_registrations(body, found) {
            return;
        }
        if purpose::is_command_file(linker, body.file) {
            return found.entry(EntryKind::Command, At::Definition, self.is_quiet(body));
        }
        match row.kind {
            BodyKind::Module | BodyKind::Class => return self.add_top_level(body, None, found),
            BodyKind::Initialiser if row.flags.has(BodyFlags::STATIC) => {
                return found.entry(EntryKind::Start, At::Definition, true);
            }
            BodyKind::Lambda | BodyKind::AsyncBlock | BodyKind::GeneratorExpression => {
                return self.add_uses_of_literal(body, found);
            }
            BodyKind::Initialiser | BodyKind::Function => {}
        }
        if self.is_main(body) {
            let kind = if self.is_of_command(body) { EntryKind::Command } else { EntryKind::Start };
            found.entry(kind, At::Definition, false);
        }
        if linker.program.language(body.file) == Language::Java && self.starts_up_in_java(body) {
            return found.entry(EntryKind::Start, At::Definition, true);
        }
        self.add_calls(body, found);
        for (site, arg) in linker.sites_passing_body(body) {
            self.add_taker(site, arg, MOST_WRAPPERS, found);
        }
        if found.ways.is_empty() && ends_the_program(linker, body) && purpose::project_serves(linker) {
            found.entry(EntryKind::Stop, At::Definition, true);
        }
    }

    /// Adds the entries that a library makes of a body by its name, its decorators or what it overrides. True if there are any.
    fn add_registrations(&self, body: BodyRef, found: &mut Found) -> bool {
        let linker = self.linker;
        let mut rows: SmallVec<[(Phase, Option<SiteRef>); 2]> = SmallVec::new();
        for path in paths_by_convention(linker, body) {
            rows.extend(linker.library.handovers(path).iter().filter_map(|of| Some((of.row.phase?, None))));
        }
        let registers = |row: &HandoverRow| !row.wraps && row.during.is_empty();
        for (path, made) in linker.decorators(body) {
            let handovers = linker.library.handovers(path);
            let of_path = handovers.of_via(Via::Decorator).map(|of| of.row).filter(|row| registers(row));
            let holds = |row: &&HandoverRow| match made {
                Some(site) => linker.conditions_hold(&row.when, &row.unless, site, EnvId::NONE),
                None => row.when.is_empty(),
            };
            // The first row whose conditions hold speaks.
            rows.extend(of_path.filter(holds).take(1).filter_map(|row| Some((row.phase?, made))));
        }
        rows.extend(linker.registered_by_class(body).into_iter().filter_map(|row| Some((row.phase?, None))));
        rows.extend(self.overridden(body).into_iter().map(|phase| (phase, None)));
        for &(phase, site) in &rows {
            found.entry(kind_of(phase), At::registration(site), self.is_aside(phase, body));
        }
        // The project may call what it registers, too, but hardly calls a handler.
        !rows.is_empty()
    }

    /// Returns the phases in which a library runs a method that overrides one of its own.
    fn overridden(&self, body: BodyRef) -> SmallVec<[Phase; 1]> {
        let phase = |row: &HandoverRow| match row.context {
            // A thread of its own runs it: `threading.Thread.run`.
            HandoverContext::Is(Runs::In(Context::Worker)) => Some(row.phase.unwrap_or(Phase::Task)),
            _ => row.phase,
        };
        overridden_rows(self.linker, body).into_iter().filter(|row| row.during.is_empty()).filter_map(phase).collect()
    }

    /// Adds the top level of a file or class, which runs when the file is imported or run.
    fn add_top_level(&self, body: BodyRef, site: Option<SiteRef>, found: &mut Found) {
        let is_main = site.is_some_and(|site| is_run_as_program(self.linker, site));
        let at = site.map_or(At::Definition, At::TopLevel);
        let is_command = is_main && self.is_of_command(body);
        found.entry(if is_command { EntryKind::Command } else { EntryKind::Start }, at, !is_main);
    }

    /// Adds the calls of a function, and those of what it implements or overrides.
    fn add_calls(&self, body: BodyRef, found: &mut Found) {
        let linker = self.linker;
        let mut sites: Vec<SiteRef> = self.callers.call_sites(body).to_vec();
        let row = linker.program.body(body);
        if let (Some(class), Some(name)) = (row.class.get(), linker.program.global(body.file, row.name)) {
            let bearers = linker.sites_by_name(name);
            let may_mean = |site: &SiteRef| {
                linker.targets(*site, EnvId::NONE).list.iter().any(|target| match *target {
                    Target::Overrides { class, name } => linker.means_override(class, name, body, *site),
                    _ => false,
                })
            };
            if !bearers.by_base.is_empty() {
                for base in linker.classes_above(body.file.class_ref(class)) {
                    sites.extend(bearers.by_base.get(&base).into_iter().flatten().filter(|site| may_mean(site)));
                }
            }
            // A method that bears its name alone is mostly meant by a call on an object of which nothing is known.
            let is_rare = linker.hierarchy.bodies_named(name) <= 2;
            let is_special = linker.program.text(name).starts_with("__");
            if is_rare && !is_special {
                let same = |site: &&SiteRef| linker.program.language(site.file) == linker.program.language(body.file);
                sites.extend(bearers.unknown.iter().filter(same));
            } else if sites.is_empty() && !bearers.unknown.is_empty() && !is_special {
                found.is_open = true;
            }
        }
        sites.sort_unstable();
        sites.dedup();
        found.is_open |= sites.len() > MOST_CALLERS;
        for site in sites.into_iter().take(MOST_CALLERS) {
            self.add_site(site, body, found);
        }
    }

    /// Adds a call of a body: the body around it, by the way in which it runs what it makes.
    fn add_site(&self, site: SiteRef, body: BodyRef, found: &mut Found) {
        let linker = self.linker;
        let around = linker.program.body_of_site(site);
        let by = if linker.program.body(body).flow == Flow::Sync { RunsBy::Call } else { self.runs_made(site) };
        self.add_caller(around, site, by, found);
    }

    fn add_caller(&self, around: BodyRef, site: SiteRef, by: RunsBy, found: &mut Found) {
        let linker = self.linker;
        let row = linker.program.body(around);
        if by == RunsBy::Task {
            found.entry(EntryKind::Task, At::Definition, false);
        }
        if !matches!(row.kind, BodyKind::Module | BodyKind::Class) || linker.is_for_tests(around) {
            return found.caller(around, by);
        }
        match by {
            RunsBy::Task => {}
            RunsBy::Call if !purpose::is_command_file(linker, around.file) => {
                self.add_top_level(around, Some(site), found);
            }
            _ => {
                // A loop that the top level of a file runs is the program.
                let is_command = self.is_of_command(around);
                let kind = if is_command { EntryKind::Command } else { EntryKind::Start };
                found.entry(kind, At::TopLevel(site), is_command && by != RunsBy::Loop && self.is_quiet(found.body));
            }
        }
    }

    /// Returns how the coroutine, future or generator that a call makes runs.
    fn runs_made(&self, site: SiteRef) -> RunsBy {
        let linker = self.linker;
        let row = linker.program.site(site);
        if row.flags.has(SiteFlags::AWAITED) {
            return RunsBy::Call;
        }
        match linker.program.language(site.file) {
            Language::Python if drives_coroutine(linker, site) => {
                if is_driven_by_command(linker, site) {
                    RunsBy::QuietLoop
                } else {
                    RunsBy::Loop
                }
            }
            Language::Python if is_started_as_task(linker, site) && !self.is_taker_awaited(site) => RunsBy::Task,
            // A plain function that gives a coroutine away does not show what runs beside it.
            Language::Python if self.is_given_away(site) => RunsBy::Loop,
            Language::Rust => self.runs_futures(site.file, linker.program.uses_of_result(site), MOST_WRAPPERS),
            _ => RunsBy::Call,
        }
    }

    /// True if a plain function gives the coroutine that a call makes to another call. Python.
    fn is_given_away(&self, site: SiteRef) -> bool {
        let program = self.linker.program;
        program.body(program.body_of_site(site)).flow == Flow::Sync
            && program.uses_of_result(site).iter().any(|(mention, _)| matches!(mention, Mention::Arg(..)))
    }

    fn is_taker_awaited(&self, site: SiteRef) -> bool {
        self.linker.program.uses_of_result(site).iter().any(|(mention, _)| match mention {
            Mention::Arg(taker, _) => self.linker.program.site(site.file.site_ref(taker)).flags.has(SiteFlags::AWAITED),
            _ => false,
        })
    }

    /// Returns how calls of Rust run a future with these uses, also behind what wraps it: `tokio::spawn(with_cancel(run()))`.
    fn runs_futures(&self, file: FileId, uses: Mentions<'_>, wrappers: u32) -> RunsBy {
        let program = self.linker.program;
        let facts = program.facts(file);
        let by = |mention: Mention| {
            let Mention::Arg(taker, _) = mention else { return RunsBy::Call };
            match facts.text(facts.site(taker).name) {
                "block_on" => RunsBy::Loop,
                name if name.starts_with("spawn") => RunsBy::Task,
                _ if wrappers == 0 || facts.site(taker).flags.has(SiteFlags::AWAITED) => RunsBy::Call,
                _ => self.runs_futures(file, program.uses_of_result(file.site_ref(taker)), wrappers - 1),
            }
        };
        uses.iter().map(|(mention, _)| by(mention)).max().unwrap_or(RunsBy::Call)
    }

    /// Adds the uses of a lambda, closure, block or generator expression.
    fn add_uses_of_literal(&self, body: BodyRef, found: &mut Found) {
        let linker = self.linker;
        let row = linker.program.body(body);
        let Some(parent) = row.parent.get().map(|parent| body.file.body_ref(parent)) else {
            found.is_open = true;
            return;
        };
        let uses = linker.program.uses_of_callable(body);
        if row.kind != BodyKind::Lambda {
            let by = match linker.program.language(body.file) {
                Language::Rust => self.runs_futures(body.file, uses, MOST_WRAPPERS),
                _ => RunsBy::Call,
            };
            // Any site of a body stands for its place.
            return match linker.program.sites_in(body).next() {
                Some(site) => self.add_caller(parent, site, by, found),
                None => found.caller(parent, by),
            };
        }
        for (mention, _) in uses.iter() {
            match mention {
                Mention::Arg(site, arg) => self.add_taker(body.file.site_ref(site), arg, MOST_WRAPPERS, found),
                Mention::Operand(_) => found.caller(parent, RunsBy::Call),
                _ => {}
            }
        }
        self.add_calls(body, found);
        if found.ways.is_empty() {
            found.is_open = true;
        }
    }

    /// Adds a call that takes a body as an argument.
    fn add_taker(&self, site: SiteRef, arg: u32, wrappers: u32, found: &mut Found) {
        let linker = self.linker;
        let around = linker.program.body_of_site(site);
        let callee = linker.callee(site, EnvId::NONE);
        let mut rows: SmallVec<[&HandoverRow; 2]> = SmallVec::new();
        for val in linker.values.members(callee.value) {
            let holds =
                |row: &&HandoverRow| !row.wraps && linker.conditions_hold(&row.when, &row.unless, site, EnvId::NONE);
            rows.extend(rows_taking(linker, val, site, arg).into_iter().find(holds));
        }
        let phases: SmallVec<[Phase; 2]> = rows.iter().filter_map(|row| row.phase).collect();
        if linker.is_for_tests(around) {
            return found.caller(around, RunsBy::Call);
        }
        if !phases.is_empty() {
            for phase in phases {
                found.entry(kind_of(phase), At::Registration(site), self.is_aside(phase, found.body));
                if phase == Phase::Task {
                    found.caller(around, RunsBy::Task);
                }
            }
            return;
        }
        if rows.iter().any(|row| !row.during.is_empty()) {
            found.is_open = true;
            return;
        }
        let passing = linker.argument_use(site, arg, EnvId::NONE);
        let facts = linker.program.facts(site.file);
        let name = facts.text(linker.program.site(site).name);
        let is_run = passing.called
            || passing.consumed
            || passing.on_chain && runs_once_at(linker, site)
            || facts.language == Language::Rust && lang::rust::conventions::RUNS_IN_PLACE.contains(&name);
        if is_run {
            return self.add_caller(around, site, RunsBy::Call, found);
        }
        if !passing.handed.is_empty() || passing.on_chain {
            // A thread, a chain that goes on emitting, or what a loop is given to run soon, outlives the call that starts it, unless that waits for it.
            let is_awaited = linker.program.site(site).flags.has(SiteFlags::AWAITED);
            let by = if is_awaited { RunsBy::Call } else { RunsBy::Task };
            return self.add_caller(around, site, by, found);
        }
        if passing.returned && wrappers > 0 {
            let mut is_followed = false;
            for (mention, _) in linker.program.uses_of_result(site).iter() {
                match mention {
                    Mention::Arg(next, at) => {
                        is_followed = true;
                        self.add_taker(site.file.site_ref(next), at, wrappers - 1, found);
                    }
                    Mention::Operand(_) => {
                        is_followed = true;
                        self.add_caller(around, site, RunsBy::Call, found);
                    }
                    _ => {}
                }
            }
            if is_followed || linker.program.site(site).kind == SiteKind::Decorate {
                return;
            }
        }
        found.is_open = true;
    }

    /// True if a body is where a program begins.
    fn is_main(&self, body: BodyRef) -> bool {
        let facts = self.linker.program.facts(body.file);
        let row = self.linker.program.body(body);
        match facts.language {
            Language::Rust => self.life.borrow().is_main(body),
            Language::Java => facts.text(row.name) == "main" && row.flags.has(BodyFlags::STATIC),
            Language::Python => {
                row.class.is_none()
                    && row.parent.get() == Some(BodyId(0))
                    && facts.text(row.name) == "main"
                    && self.callers.call_sites(body).is_empty()
            }
        }
    }

    /// True if a program that begins in a body's file is a command.
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

    /// True if nothing that serves runs below a body that is registered for a phase.
    fn is_aside(&self, phase: Phase, body: BodyRef) -> bool {
        if phase == Phase::Command { self.is_quiet(body) } else { !phase.serves() }
    }

    /// True if a command is seen not to serve: it is a plain function of Python, or a coroutine that neither starts tasks nor serves. Of
    /// the commands of Rust and Java, one may be the one that serves.
    fn is_quiet(&self, body: BodyRef) -> bool {
        let linker = self.linker;
        linker.program.language(body.file) == Language::Python
            && (linker.program.body(body).flow == Flow::Sync || is_quiet_coroutine(linker, body))
    }

    /// True if a method of Java runs before the program serves, by its name or as part of the one object of a container.
    fn starts_up_in_java(&self, body: BodyRef) -> bool {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let row = linker.program.body(body);
        if lang::java::names::starts_up(facts.text(row.name)) && purpose::project_serves(linker) {
            return true;
        }
        let makes =
            row.kind == BodyKind::Initialiser || lang::words_of(facts.language).is_constructor(facts.text(row.name));
        makes && row.class.get().is_some_and(|class| is_made_at_start(linker, body.file.class_ref(class)))
    }
}
