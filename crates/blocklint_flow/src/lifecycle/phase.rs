//! When a root runs in the life of a program: in tests, at start-up or exit, in a command, or while the program serves
//! requests.

use crate::entries::purpose;
use blocklint_core::{Context, Language};
use blocklint_facts::{BodyId, BodyKind, Flow, Form, RegionKind, SiteFlags, SiteKind};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::linker::round::{Keep, Round, RoundPolicy, RoundTable};
use blocklint_link::program::ids::{BodyRef, PathId, SiteRef};
use blocklint_link::syntax::regions::around;
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::{HandoverRow, Phase, Selector, Uses, Via};
use smallvec::SmallVec;

use crate::callers::Callers;
use crate::lifecycle::one_shot_program::{
    follows_started_task, is_driven_by_command, is_one_shot, is_started_as_task, runs_beside_others, runs_on_own_loop,
};
use crate::lifecycle::rust::RustLifecycle;

/// The most calls of one body that are searched.
const MAX_CALL_SITES: usize = 64;

/// How many callers above a body are searched for the time at which it runs.
const MAX_CALLER_DEPTH: u32 = 6;

/// When code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Only in tests.
    Test,
    /// Only before serving, or while stopping.
    StartUp,
    /// Only just before the program exits: `backup().await; process::exit(0)` (Rust).
    Ending,
    /// Once in the life of a program, in one of several tasks.
    Once,
    /// In a command of a command line.
    Command,
    /// On a thread or event loop that runs nothing else: no other code waits for it.
    Apart,
    /// Never: no code of the project's programs runs it (Rust).
    Unused,
    /// In one of many tasks that a command runs at once: the tasks delay each other.
    Crowd,
    /// While the program serves, as a registration states.
    Serving,
    /// The time is not known. A `main` coroutine that a loop drives is unknown, because it usually is the service.
    Unknown,
}

impl When {
    /// Combines the times of two entries into the code. One entry while serving makes it `Serving`; else an unknown
    /// entry makes it `Unknown`, because that entry possibly is one while serving.
    pub(crate) fn combine(self, other: When) -> When {
        match (self, other) {
            // An unused caller does not show when a callee runs.
            (When::Unused, when) | (when, When::Unused) => when,
            (When::Serving, _) | (_, When::Serving) => When::Serving,
            (When::Unknown, _) | (_, When::Unknown) => When::Unknown,
            (When::Test, When::Test) => When::Test,
            (When::Crowd, _) | (_, When::Crowd) => When::Crowd,
            (When::Apart, When::Apart) => When::Apart,
            (When::Ending, When::Ending) => When::Ending,
            (When::Command | When::Apart, When::Command | When::Apart) => When::Command,
            (When::Once, _) | (_, When::Once) => When::Once,
            // Code of tests and of start-up runs at both times, but at neither while serving.
            _ => When::StartUp,
        }
    }

    /// Returns when a callable runs that a row of a library registers for a phase.
    fn from_phase(phase: Option<Phase>) -> When {
        match phase {
            Some(Phase::Startup | Phase::Exit | Phase::Reload) => When::StartUp,
            // A fixture or hook for tests in a package (`shop/testing.py`). Test files are already recognised by their
            // names.
            Some(Phase::Test) => When::StartUp,
            // Any command possibly serves.
            Some(Phase::Command) => When::Unknown,
            Some(Phase::Request | Phase::Message | Phase::Tick | Phase::Task) | None => When::Serving,
        }
    }

    /// Returns when a function of this kind runs that a row registers. A coroutine function that a library calls in a worker gets an
    /// event loop of its own there, with no other task in it: an `async def` view of Flask.
    fn of_registered(row: &HandoverRow, flow: Flow) -> When {
        let when = When::from_phase(row.phase);
        let is_alone = flow == Flow::Coroutine && row.context.fixed() == Some(Context::Worker);
        if is_alone && when == When::Serving { When::Apart } else { when }
    }

    /// True if code that runs at this time delays no request.
    pub fn delays_no_request(self) -> bool {
        matches!(
            self,
            When::Test | When::StartUp | When::Ending | When::Once | When::Command | When::Apart | When::Unused
        )
    }
}

/// The policy of a table of times: `None`, the result within a recursion, is not stored, because the other callers
/// decide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownPhases;

impl RoundPolicy<Option<When>> for KnownPhases {
    const KEEP: Keep = Keep::IfCompleteOrOutermost;

    fn is_final(answer: &Option<When>) -> bool {
        answer.is_some()
    }
}

/// When bodies run, with a table of the results.
pub struct Phases<'s, 'l, 'a> {
    pub(super) linker: &'l Linker<'a>,
    pub(super) callers: &'s Callers<'l, 'a>,
    round: Round,
    phases: RoundTable<BodyRef, Option<When>, KnownPhases>,
    life: RustLifecycle<'s, 'l, 'a>,
}

/// Returns the paths of a library that match a function by its name and its folder: the pattern
/// `homeassistant.components.<integration>.async_setup` matches the function `async_setup` of each module in the folder
/// `homeassistant/components`.
pub(crate) fn paths_by_convention(linker: &Linker<'_>, body: BodyRef) -> SmallVec<[PathId; 1]> {
    let facts = linker.program.facts(body.file);
    let body_facts = linker.program.body(body);
    if body_facts.kind != BodyKind::Function || body_facts.class.is_some() {
        return SmallVec::new();
    }
    let models = linker.library.of(facts.language);
    let overridable = models.named(facts.text(body_facts.name)).flat_map(|named| named.paths(Uses::OVERRIDE));
    let mut by_convention = overridable.filter(|path| path.path.contains(".<")).peekable();
    if by_convention.peek().is_none() {
        return SmallVec::new();
    }
    // The file's folders are compared, because the outermost folder need not be a package.
    let file = &linker.program.files[body.file.index()].relative;
    let module = file.rsplit_once('.').map_or(file.as_str(), |(stem, _)| stem.trim_end_matches("/__init__"));
    let matches_module = |pattern: &str| {
        let Some((parent, _)) = pattern.rsplit_once('.') else { return false };
        let mut folders = module.rsplit('/');
        parent.rsplit('.').all(|part| folders.next().is_some_and(|folder| folder == part || part.starts_with('<')))
    };
    by_convention
        .filter(|path| matches_module(path.path))
        .map(|path| linker.library.path(facts.language, path.path))
        .collect()
}

impl<'s, 'l, 'a> Phases<'s, 'l, 'a> {
    /// Returns empty tables for one program.
    pub fn new(linker: &'l Linker<'a>, callers: &'s Callers<'l, 'a>) -> Self {
        let life = RustLifecycle::new(linker, callers);
        Phases { linker, callers, round: Round::default(), phases: RoundTable::default(), life }
    }

    /// Returns when a body runs: by its file, else by its registration, else by all of its callers.
    pub fn time_of_body(&mut self, body: BodyRef) -> When {
        self.time_of_body_at_depth(body, MAX_CALLER_DEPTH).unwrap_or(When::Unknown)
    }

    /// Returns when a site of a body runs. The time differs from that of the body where the site is in a loop, a
    /// closure or a task (Rust), or outside of the loop of a service that never returns (Python).
    pub fn time_of_site(&mut self, body: BodyRef, site: SiteRef) -> When {
        match self.linker.program.language(site.file) {
            Language::Rust => self.life.time_of_site(site),
            Language::Python if runs_once_in_endless(self.linker, site) => When::Once,
            Language::Python if !self.linker.is_for_tests(body) && is_before_serving(self.linker, site) => {
                When::StartUp
            }
            Language::Python => match self.time_of_body(body) {
                When::Apart if follows_started_task(self.linker, site) => When::Unknown,
                when => when,
            },
            Language::Java => self.time_of_body(body),
        }
    }

    /// Returns when a body runs. `None` if all its callers are bodies that this query is searching already: a
    /// recursion.
    pub(super) fn time_of_body_at_depth(&mut self, body: BodyRef, depth: u32) -> Option<When> {
        match self.round.begin(&self.phases, &body, || None) {
            Ok(begun) => {
                let when = self.find_time(body, depth);
                self.round.end(&self.phases, body, begun, when)
            }
            Err(known) => known,
        }
    }

    fn find_time(&mut self, body: BodyRef, depth: u32) -> Option<When> {
        if self.linker.is_for_tests(body) {
            return Some(When::Test);
        }
        // A test fixture in a package: no request is served while it runs.
        if is_in_fixture(self.linker, body) {
            return Some(When::StartUp);
        }
        if let Some(when) = time_by_registration(self.linker, body) {
            return Some(when);
        }
        if purpose::is_command_file(self.linker, body.file) {
            // The tasks of a command delay each other.
            let is_task = self.callers.call_sites(body).iter().any(|&site| is_started_as_task(self.linker, site));
            return Some(if is_task { When::Crowd } else { When::Command });
        }
        let Some(depth) = depth.checked_sub(1) else { return Some(When::Unknown) };
        if self.linker.program.language(body.file) == Language::Java {
            return self.find_time_java(body, depth);
        }
        let call_sites = self.callers.call_sites(body);
        let ends = call_sites.is_empty() && ends_the_program(self.linker, body) && purpose::project_serves(self.linker);
        if ends || is_entered_to_run(self.linker, body) {
            return Some(When::StartUp);
        }
        let mut sites: SmallVec<[SiteRef; 8]> = if call_sites.is_empty() {
            calls_with_name_of(self.linker, body)
        } else {
            call_sites.iter().copied().take(65).collect()
        };
        // Calls in tests show nothing about the time, because tests call everything. But a body that only tests call
        // has other callers, too.
        let is_tested = !sites.is_empty();
        sites.retain(|site| !self.linker.is_for_tests(self.linker.program.body_of_site(*site)));
        if is_tested && sites.is_empty() {
            return Some(When::Unknown);
        }
        // `anyio.run(main)`
        let takers = if sites.is_empty() { self.linker.sites_passing_body(body) } else { Default::default() };
        if !takers.is_empty()
            && takers.iter().all(|&(site, _)| is_one_shot(self.linker, self.linker.program.body_of_site(site)))
        {
            return Some(When::Command);
        }
        if sites.is_empty() || sites.len() > MAX_CALL_SITES {
            return Some(When::Unknown);
        }
        let mut combined: Option<When> = None;
        for site in sites {
            let caller = self.linker.program.body_of_site(site);
            // A call at a module's top level or in a plain function does not show when the coroutine is driven. A
            // coroutine that a lambda makes is driven when the lambda runs.
            let body_facts = self.linker.program.body(caller);
            let is_root = matches!(body_facts.flow, Flow::Coroutine | Flow::AsyncGenerator)
                || body_facts.kind == BodyKind::Lambda && depth > 0;
            let when = if runs_once_in_endless(self.linker, site) {
                Some(When::Once)
            } else if is_before_serving(self.linker, site) {
                Some(When::StartUp)
            } else if is_driven_by_command(self.linker, site) {
                Some(When::Command)
            } else if runs_on_own_loop(self.linker, site) {
                Some(When::Apart)
            } else if is_root || time_by_registration(self.linker, caller).is_some() {
                self.time_of_body_at_depth(caller, depth)
            } else if is_one_shot(self.linker, caller) {
                Some(When::Command)
            } else {
                Some(When::Unknown)
            };
            // The tasks of one loop wait for each other.
            let when = match when {
                Some(When::Apart) if runs_beside_others(self.linker, site) => Some(When::Unknown),
                when => when,
            };
            combined = match (combined, when) {
                (Some(known), Some(when)) => Some(known.combine(when)),
                (known, when) => known.or(when),
            };
        }
        match combined {
            Some(When::Apart) if is_looked_up_by_name(self.linker, body) => Some(When::Unknown),
            combined => combined,
        }
    }
}

/// True if code looks a method up by its name, so that its calls are not all known: `getattr(self, "run_async", None)`
/// (Python).
fn is_looked_up_by_name(linker: &Linker<'_>, body: BodyRef) -> bool {
    let program = linker.program;
    let row = program.body(body);
    if row.class.is_none() || program.language(body.file) != Language::Python {
        return false;
    }
    let Some(name) = program.global(body.file, row.name) else { return false };
    program.occurrences(name).iter().any(|&(file, sym)| {
        let facts = program.facts(file);
        !program.is_test(file)
            && linker
                .sites_with_names(file, &["getattr"])
                .any(|site| facts.args_of(site).get(1).is_some_and(|arg| facts.form(arg.value) == Form::Str(sym)))
    })
}

/// True if a body is nested in a function that a test framework calls for tests (`@pytest.fixture`), in any file.
pub(crate) fn is_in_fixture(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    let mut parent = linker.program.body(body).parent;
    while let Some(id) = parent.get() {
        let around = body.file.body_ref(id);
        let prepares = |path| linker.library.handovers(path).iter().any(|row| row.phase == Some(Phase::Test));
        if linker.decorator_paths(around).into_iter().any(prepares) {
            return true;
        }
        parent = facts.body(id).parent;
    }
    false
}

/// Returns when a body runs by its registration: its name, a decorator, a method that it overrides, or a call that
/// takes it.
pub(crate) fn time_by_registration(linker: &Linker<'_>, body: BodyRef) -> Option<When> {
    let mut time = None;
    let flow = linker.program.body(body).flow;
    for path in paths_by_convention(linker, body) {
        for row in linker.library.handovers(path).iter() {
            time = Some(When::of_registered(&row, flow));
        }
    }
    for path in linker.decorator_paths(body) {
        for row in linker.library.handovers(path).iter() {
            // A row with `during` runs the function while certain calls run, so at the time of those calls.
            let is_called = !row.during.is_empty();
            if matches!(row.selector, Selector::Via(_)) && !row.wraps && !is_called && row.phase != Some(Phase::Command)
            {
                time = Some(When::of_registered(&row, flow));
            }
        }
    }
    time = match linker.program.language(body.file) {
        Language::Java => time.or_else(|| time_by_override(linker, body)),
        // The callers of a method show that it runs while serving. Only the overridden method can show that it runs at
        // start-up, or in a loop of its own.
        Language::Python => {
            time.or_else(|| time_by_override(linker, body).filter(|when| matches!(when, When::StartUp | When::Apart)))
        }
        Language::Rust => time,
    };
    if time.is_some() {
        return time;
    }
    for (site, arg) in linker.sites_passing_body(body) {
        for val in linker.values.members(linker.callee(site, EnvId::NONE).value) {
            if let Val::Fn { body: wrapper, .. } = val
                && time.is_none()
                && linker.program.language(body.file) == Language::Python
            {
                time = time_by_nested_registration(linker, wrapper);
            }
            for row in rows_of_argument(linker, val, site, arg).into_iter().filter(|row| !row.wraps) {
                time = Some(match time {
                    Some(When::Serving) => When::Serving,
                    _ => When::of_registered(row, flow),
                });
            }
        }
    }
    time
}

/// Returns `StartUp` if a function that takes a callback registers a nested function for the start, which calls the
/// callback: `def when_running(callback): … reactor.callWhenRunning(wrapped)`.
fn time_by_nested_registration(linker: &Linker<'_>, wrapper: BodyRef) -> Option<When> {
    let (facts, wrapper_id) = linker.program.facts_and_id(wrapper);
    let mut nested = (0..facts.bodies.len() as u32).map(BodyId).filter(|&id| {
        let body_facts = facts.body(id);
        body_facts.kind == BodyKind::Function && body_facts.parent.get() == Some(wrapper_id)
    });
    let starts_up = |body: BodyId| {
        linker.sites_passing_body(wrapper.file.body_ref(body)).into_iter().any(|(site, arg)| {
            let callees = linker.values.members(linker.callee(site, EnvId::NONE).value);
            let mut rows = callees.iter().flat_map(|&val| rows_of_argument(linker, val, site, arg));
            rows.any(|row| row.phase == Some(Phase::Startup))
        })
    };
    nested.any(starts_up).then_some(When::StartUp)
}

/// True if a body is the `__aenter__` or `__aexit__` of an object whose own `start` or `run` enters the object
/// (`async with self:`). The object's work begins after `__aenter__` and ends before `__aexit__` (Python).
fn is_entered_to_run(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    let body_facts = linker.program.body(body);
    if facts.language != Language::Python
        || !lang::python::conventions::is_async_context_method(facts.text(body_facts.name))
    {
        return false;
    }
    let Some(class) = body_facts.class.get() else { return false };
    facts.sites.iter().any(|site| {
        let method = facts.body(facts.body_of(site.at));
        site.kind == SiteKind::Enter
            && method.class.get() == Some(class)
            && lang::python::conventions::is_main_method(facts.text(method.name))
            && blocklint_link::program::occurrences::is_own_receiver(facts, site.callee)
    })
}

/// Returns the handover rows of a library callable for one argument of a call of it.
pub(crate) fn rows_of_argument<'a>(
    linker: &Linker<'a>,
    callee: Val,
    site: SiteRef,
    arg: u32,
) -> SmallVec<[&'a HandoverRow; 2]> {
    let (Val::External(path) | Val::Method { path, .. }) = callee else { return SmallVec::new() };
    let rows = linker.library.handovers(path);
    let takes = |row: &HandoverRow| match &row.selector {
        Selector::Argument(argument) => linker.is_argument(site, arg, argument),
        _ => false,
    };
    rows.iter().map(|matched| matched.row).filter(|row| takes(row)).collect()
}

/// True if the name of a method says that it ends the program or an object that lives as long as the program:
/// `shutdown`, `teardown` (Python).
pub(crate) fn ends_the_program(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    let body_facts = linker.program.body(body);
    facts.language == Language::Python
        && body_facts.class.is_some()
        && lang::python::conventions::ends_the_program(facts.text(body_facts.name))
}

/// True if a call is outside of the loops of a coroutine that never returns, the task of a service itself:
/// `async def start() -> NoReturn:` (Python).
fn runs_once_in_endless(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let site_facts = linker.program.site(site);
    let body = facts.body_of(site_facts.at);
    let function = facts.body(body);
    facts.language == Language::Python
        && function.flow == Flow::Coroutine
        && lang::python::conventions::never_returns(facts, function.returns)
        && linker.awaited_sites_in(site.file.body_ref(body)).next().is_some()
        && around(facts, site_facts.at.region).all(|id| facts.region(id).kind != RegionKind::Loop)
}

/// True if a call stands in front of the call by which the same body begins to serve: `await set_up()`, `await server.serve()`
/// (Python).
pub(crate) fn is_before_serving(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let call = linker.program.site(site);
    if facts.language != Language::Python
        || around(facts, call.at.region).any(|id| facts.region(id).kind == RegionKind::Loop)
    {
        return false;
    }
    let body = linker.program.body_of_site(site);
    // A coroutine awaits the call that serves, or starts a task with its result. Any other call of such a name blocks the loop itself.
    let must_be_driven = linker.program.body(body).flow == Flow::Coroutine;
    let is_driven = |flags: SiteFlags| flags.has(SiteFlags::AWAITED) || !flags.has(SiteFlags::DISCARDED);
    // A task that was begun before may serve already, and so may a server that the call itself starts.
    let mut first_serving = None;
    for other_site in linker.program.sites_in(body) {
        let other_call = linker.program.site(other_site);
        if other_call.kind == SiteKind::Call
            && (is_driven(other_call.flags) || !must_be_driven)
            && first_serving.is_none_or(|known| other_call.at.position < known)
            && is_serving_call(linker, other_site)
        {
            first_serving = Some(other_call.at.position);
        }
    }
    first_serving.is_some_and(|first| call.at.position < first && !holds_position(linker, site, first))
}

/// True if the arguments or the receiver of a call hold the call at a position: `asyncio.run(server.serve())`.
fn holds_position(linker: &Linker<'_>, site: SiteRef, position: u32) -> bool {
    let row = linker.program.site(site);
    linker.program.sites_in(linker.program.body_of_site(site)).any(|of| {
        let inner = linker.program.site(of);
        inner.at.position == position && row.span.start <= inner.span.start && inner.span.end <= row.span.end
    })
}

/// True if a call serves others from then on, by its row or, where it is a library's, by its name.
fn is_serving_call(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let by_name = lang::python::conventions::always_serves(facts.text(linker.program.site(site).name));
    let callee = linker.callee(site, EnvId::NONE);
    linker.values.members(callee.value).iter().any(|val| match *val {
        Val::External(path) | Val::Method { path, .. } => {
            by_name || linker.library.calls(path).iter().any(|row| row.serves)
        }
        Val::Unknown(_) => by_name,
        _ => false,
    })
}

/// True if a library enters a plain function on a thread of its own, of which each serves one request at a time: a view of a
/// synchronous server (Python).
pub fn is_entered_on_own_thread(linker: &Linker<'_>, body: BodyRef) -> bool {
    let row = linker.program.body(body);
    if linker.program.language(body.file) != Language::Python || row.flow != Flow::Sync {
        return false;
    }
    let is_on_thread =
        |row: &HandoverRow| row.context.fixed() == Some(Context::Worker) && matches!(row.phase, Some(Phase::Request));
    let by_decorator = linker
        .decorator_paths(body)
        .into_iter()
        .any(|path| linker.library.handovers(path).rows_of_via(Via::Decorator).any(|of| is_on_thread(of.row)));
    by_decorator
        || overridden_rows(linker, body).into_iter().any(is_on_thread)
        || linker.sites_passing_body(body).into_iter().any(|(site, arg)| {
            let callees = linker.values.members(linker.callee(site, EnvId::NONE).value);
            callees.iter().flat_map(|&val| rows_of_argument(linker, val, site, arg)).any(is_on_thread)
        })
}

/// Returns all calls of methods with the name of a method whose callers are not known (a method of a protocol, a method
/// in a table). Only some of the calls mean the method, so a property that holds for all of them holds for the method's
/// calls.
pub(crate) fn calls_with_name_of(linker: &Linker<'_>, body: BodyRef) -> SmallVec<[SiteRef; 8]> {
    let program = linker.program;
    let facts = program.facts(body.file);
    let body_facts = program.body(body);
    if body_facts.class.is_none() || facts.text(body_facts.name).starts_with("__") {
        return SmallVec::new();
    }
    let Some(name) = program.global(body.file, body_facts.name) else { return SmallVec::new() };
    let called = program.sites_named(name).filter(|site| program.site(*site).kind == SiteKind::Call);
    called.take(65).collect()
}

/// Returns when a method runs, by the method of a library that it overrides.
fn time_by_override(linker: &Linker<'_>, body: BodyRef) -> Option<When> {
    let mut time = None;
    for row in overridden_rows(linker, body) {
        let when = When::of_registered(row, linker.program.body(body).flow);
        time = if time == Some(When::Serving) { time } else { Some(when) };
    }
    time
}

/// Returns the handover rows of the library methods that a method overrides, without the rows that wrap it.
pub(crate) fn overridden_rows<'a>(linker: &Linker<'a>, body: BodyRef) -> SmallVec<[&'a HandoverRow; 2]> {
    let facts = linker.program.facts(body.file);
    let body_facts = linker.program.body(body);
    let mut rows = SmallVec::new();
    let Some(class) = body_facts.class.get().filter(|_| body_facts.kind == BodyKind::Function) else { return rows };
    for ancestor in linker.mro(body.file.class_ref(class)).iter() {
        let Ancestor::Library(ty, _) = *ancestor else { continue };
        for &ty in linker.library.supertypes(ty).iter() {
            let path = linker.library.member(ty, facts.text(body_facts.name));
            rows.extend(
                linker
                    .library
                    .handovers(path)
                    .rows_of_via(Via::Override)
                    .map(|matched| matched.row)
                    .filter(|row| !row.wraps),
            );
        }
    }
    rows
}
