//! When a root runs: in tests, at start-up or exit, or while serving.

use crate::entries::purpose;
use blocklint_core::{Context, Language};
use blocklint_facts::{BodyId, BodyKind, Flow, RegionKind, SiteKind};
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
use crate::lifecycle::one_shot_program::{is_driven_alone, is_driven_by_command, is_one_shot, is_started_as_task};
use crate::lifecycle::rust::Life;

/// When code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Only in tests.
    Test,
    /// Only before serving, or while stopping.
    StartUp,
    /// Once in the life of a program, in a task beside others.
    Once,
    /// In a command of a command line.
    Command,
    /// On a thread or loop of its own, or not at all in what serves: nothing else waits for it.
    Apart,
    /// In a command too, in one of many tasks that it runs at once: they hold up each other.
    Crowd,
    /// While serving: a registration states it.
    Serving,
    /// The time is not known: a driven `main` usually is the service.
    Unknown,
}

impl When {
    /// Returns when code runs that is entered at two times: one entry while serving is enough, and an unknown one may
    /// be one.
    pub(crate) fn and(self, other: When) -> When {
        match (self, other) {
            (When::Serving, _) | (_, When::Serving) => When::Serving,
            (When::Unknown, _) | (_, When::Unknown) => When::Unknown,
            (When::Test, When::Test) => When::Test,
            (When::Crowd, _) | (_, When::Crowd) => When::Crowd,
            (When::Apart, When::Apart) => When::Apart,
            (When::Command | When::Apart, When::Command | When::Apart) => When::Command,
            (When::Once, _) | (_, When::Once) => When::Once,
            // Tests and start-up together are neither alone, but none of them serves.
            _ => When::StartUp,
        }
    }

    /// Returns when a registered callable runs, by the row that registers it.
    fn of(phase: Option<Phase>) -> When {
        match phase {
            Some(Phase::Startup | Phase::Exit | Phase::Reload) => When::StartUp,
            // A fixture or hook for tests in a package (`shop/testing.py`). Files of tests are recognised by their names before.
            Some(Phase::Test) => When::StartUp,
            // A command may be the one that serves.
            Some(Phase::Command) => When::Unknown,
            Some(Phase::Request | Phase::Message | Phase::Tick | Phase::Task) | None => When::Serving,
        }
    }

    /// Returns when a function of this kind runs that a row registers. A coroutine function that a library calls in a worker gets an
    /// event loop of its own there, with no other task in it: an `async def` view of Flask.
    fn of_registered(row: &HandoverRow, flow: Flow) -> When {
        let when = When::of(row.phase);
        let is_alone = flow == Flow::Coroutine && row.context.fixed() == Some(Context::Worker);
        if is_alone && when == When::Serving { When::Apart } else { when }
    }

    /// True if code of this time delays no request that is served.
    pub fn is_aside(self) -> bool {
        matches!(self, When::Test | When::StartUp | When::Once | When::Command | When::Apart)
    }
}

/// A cycle shows nothing about when a body runs: its other callers decide. So `None` is not kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownPhases;

impl RoundPolicy<Option<When>> for KnownPhases {
    const KEEP: Keep = Keep::IfWholeOrOutermost;

    fn is_final(answer: &Option<When>) -> bool {
        answer.is_some()
    }
}

/// Phases of bodies, remembered.
pub struct Phases<'s, 'l, 'a> {
    pub(super) linker: &'l Linker<'a>,
    pub(super) callers: &'s Callers<'l, 'a>,
    round: Round,
    phases: RoundTable<BodyRef, Option<When>, KnownPhases>,
    life: Life<'s, 'l, 'a>,
}

/// Returns the entry points that a library finds by their names and places:
/// `homeassistant.components.<integration>.async_setup` is the function `async_setup` of each such module.
pub(crate) fn paths_by_convention(linker: &Linker<'_>, body: BodyRef) -> SmallVec<[PathId; 1]> {
    let facts = linker.program.facts(body.file);
    let row = linker.program.body(body);
    if row.kind != BodyKind::Function || row.class.is_some() {
        return SmallVec::new();
    }
    let models = linker.library.of(facts.language);
    let named = models.named(facts.text(row.name)).flat_map(|named| named.paths(Uses::OVERRIDE));
    let mut by_convention = named.filter(|path| path.path.contains(".<")).peekable();
    if by_convention.peek().is_none() {
        return SmallVec::new();
    }
    // By folders, because the one that holds all such modules need not be a package.
    let file = &linker.program.files[body.file.index()].relative;
    let module = file.rsplit_once('.').map_or(file.as_str(), |(stem, _)| stem.trim_end_matches("/__init__"));
    let fits = |pattern: &str| {
        let Some((place, _)) = pattern.rsplit_once('.') else { return false };
        let mut folders = module.rsplit('/');
        place.rsplit('.').all(|part| folders.next().is_some_and(|own| own == part || part.starts_with('<')))
    };
    by_convention.filter(|path| fits(path.path)).map(|path| linker.library.path(facts.language, path.path)).collect()
}

impl<'s, 'l, 'a> Phases<'s, 'l, 'a> {
    /// Returns the tables without any answer.
    pub fn new(linker: &'l Linker<'a>, callers: &'s Callers<'l, 'a>) -> Self {
        let life = Life::new(linker, callers);
        Phases { linker, callers, round: Round::default(), phases: RoundTable::default(), life }
    }

    /// Returns when a body runs: by its file, by what registers it, else when everything that calls it does.
    pub fn of(&mut self, body: BodyRef) -> When {
        self.within(body, 6).unwrap_or(When::Unknown)
    }

    /// Returns when a site of a body runs: what follows in the body may be served already.
    pub fn of_site(&mut self, body: BodyRef, site: SiteRef) -> When {
        match self.linker.program.language(site.file) {
            Language::Rust => self.life.of_site(site),
            Language::Python if runs_once_in_endless(self.linker, site) => When::Once,
            Language::Python if !self.linker.is_for_tests(body) && is_before_serving(self.linker, site) => {
                When::StartUp
            }
            _ => self.of(body),
        }
    }

    /// Returns when a body runs; `None` if only bodies call it that are asked for already.
    pub(super) fn within(&mut self, body: BodyRef, depth: u32) -> Option<When> {
        match self.round.begin(&self.phases, &body, || None) {
            Ok(begun) => {
                let when = self.find(body, depth);
                self.round.end(&self.phases, body, begun, when)
            }
            Err(known) => known,
        }
    }

    fn find(&mut self, body: BodyRef, depth: u32) -> Option<When> {
        if self.linker.is_for_tests(body) {
            return Some(When::Test);
        }
        // A test fixture in a package: no request is served while it runs.
        if is_in_fixture(self.linker, body) {
            return Some(When::StartUp);
        }
        if let Some(when) = registered(self.linker, body) {
            return Some(when);
        }
        if purpose::is_command_file(self.linker, body.file) {
            // Tasks of a command hold up each other.
            let is_task = self.callers.call_sites(body).iter().any(|&site| is_started_as_task(self.linker, site));
            return Some(if is_task { When::Crowd } else { When::Command });
        }
        let Some(depth) = depth.checked_sub(1) else { return Some(When::Unknown) };
        if self.linker.program.language(body.file) == Language::Java {
            return self.find_java(body, depth);
        }
        let known = self.callers.call_sites(body);
        let ends = known.is_empty() && ends_the_program(self.linker, body) && purpose::project_serves(self.linker);
        if ends || is_entered_to_run(self.linker, body) {
            return Some(When::StartUp);
        }
        let mut sites: SmallVec<[SiteRef; 8]> =
            if known.is_empty() { sites_by_name(self.linker, body) } else { known.iter().copied().take(65).collect() };
        // Known callers show more than tests, which call everything; but a body with tests has other callers too.
        let is_tested = !sites.is_empty();
        sites.retain(|site| !self.linker.is_for_tests(self.linker.program.body_of_site(*site)));
        if is_tested && sites.is_empty() {
            return Some(When::Unknown);
        }
        // `anyio.run(main)`
        let given = if sites.is_empty() { self.linker.sites_passing_body(body) } else { Default::default() };
        if !given.is_empty()
            && given.iter().all(|&(site, _)| is_one_shot(self.linker, self.linker.program.body_of_site(site)))
        {
            return Some(When::Command);
        }
        if sites.is_empty() || sites.len() > 64 {
            return Some(When::Unknown);
        }
        let mut all: Option<When> = None;
        for site in sites {
            let caller = self.linker.program.body_of_site(site);
            // A call at a module's top level or in a plain function shows nothing about when a coroutine is driven;
            // what a literal makes is driven when it runs.
            let row = self.linker.program.body(caller);
            let is_root =
                matches!(row.flow, Flow::Coroutine | Flow::AsyncGenerator) || row.kind == BodyKind::Lambda && depth > 0;
            let when = if runs_once_in_endless(self.linker, site) {
                Some(When::Once)
            } else if is_before_serving(self.linker, site) {
                Some(When::StartUp)
            } else if is_driven_by_command(self.linker, site) {
                Some(When::Command)
            } else if is_driven_alone(self.linker, site) {
                Some(When::Apart)
            } else if is_root || registered(self.linker, caller).is_some() {
                self.within(caller, depth)
            } else if is_one_shot(self.linker, caller) {
                Some(When::Command)
            } else {
                Some(When::Unknown)
            };
            all = match (all, when) {
                (Some(known), Some(when)) => Some(known.and(when)),
                (known, when) => known.or(when),
            };
        }
        all
    }
}

/// True if a body lies in a function that a test framework calls for tests (`@pytest.fixture`), in whatever file.
pub(crate) fn is_in_fixture(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    let mut at = linker.program.body(body).parent;
    while let Some(id) = at.get() {
        let around = body.file.body_ref(id);
        let prepares = |path| linker.library.handovers(path).iter().any(|row| row.phase == Some(Phase::Test));
        if linker.decorator_paths(around).into_iter().any(prepares) {
            return true;
        }
        at = facts.body(id).parent;
    }
    false
}

/// Returns when a body runs by its registration: a decorator or a call that takes it.
pub(crate) fn registered(linker: &Linker<'_>, body: BodyRef) -> Option<When> {
    let mut found = None;
    let flow = linker.program.body(body).flow;
    for path in paths_by_convention(linker, body) {
        for row in linker.library.handovers(path).iter() {
            found = Some(When::of_registered(&row, flow));
        }
    }
    for path in linker.decorator_paths(body) {
        for row in linker.library.handovers(path).iter() {
            // A function that runs during calls runs when those calls do.
            let is_called = !row.during.is_empty();
            if matches!(row.selector, Selector::Via(_)) && !row.wraps && !is_called && row.phase != Some(Phase::Command)
            {
                found = Some(When::of_registered(&row, flow));
            }
        }
    }
    found = match linker.program.language(body.file) {
        Language::Java => found.or_else(|| overrides_when(linker, body)),
        // The callers of a method also show that it runs while serving; only the overridden method shows that it runs
        // at start-up, or in a loop of its own.
        Language::Python => {
            found.or_else(|| overrides_when(linker, body).filter(|when| matches!(when, When::StartUp | When::Apart)))
        }
        Language::Rust => found,
    };
    if found.is_some() {
        return found;
    }
    for (site, arg) in linker.sites_passing_body(body) {
        for val in linker.values.members(linker.callee(site, EnvId::NONE).value) {
            if let Val::Fn { body: wrapper, .. } = val
                && found.is_none()
                && linker.program.language(body.file) == Language::Python
            {
                found = registered_within(linker, wrapper);
            }
            for row in rows_taking(linker, val, site, arg).into_iter().filter(|row| !row.wraps) {
                found = Some(match found {
                    Some(When::Serving) => When::Serving,
                    _ => When::of_registered(row, flow),
                });
            }
        }
    }
    found
}

/// Returns start-up if a function that is given a body registers another in its stead which runs then:
/// `def when_running(callback): … reactor.callWhenRunning(wrapped)`, where `wrapped` calls it.
fn registered_within(linker: &Linker<'_>, wrapper: BodyRef) -> Option<When> {
    let (facts, wrapper_id) = linker.program.facts_and_id(wrapper);
    let mut nested = (0..facts.bodies.len() as u32).map(BodyId).filter(|&id| {
        let row = facts.body(id);
        row.kind == BodyKind::Function && row.parent.get() == Some(wrapper_id)
    });
    let starts_up = |body: BodyId| {
        linker.sites_passing_body(wrapper.file.body_ref(body)).into_iter().any(|(site, arg)| {
            let callees = linker.values.members(linker.callee(site, EnvId::NONE).value);
            let mut rows = callees.iter().flat_map(|&val| rows_taking(linker, val, site, arg));
            rows.any(|row| row.phase == Some(Phase::Startup))
        })
    };
    nested.any(starts_up).then_some(When::StartUp)
}

/// True if a body enters or leaves an object that enters itself to run (`async with self:` in its `start`): what it is
/// there for begins behind the one and ends before the other (Python).
fn is_entered_to_run(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    let row = linker.program.body(body);
    if facts.language != Language::Python || !lang::python::conventions::enters_or_leaves(facts.text(row.name)) {
        return false;
    }
    let Some(class) = row.class.get() else { return false };
    facts.sites.iter().any(|site| {
        let method = facts.body(facts.body_of(site.at));
        site.kind == SiteKind::Enter
            && method.class.get() == Some(class)
            && lang::python::conventions::runs_object(facts.text(method.name))
            && blocklint_link::program::occurrences::is_own_receiver(facts, site.callee)
    })
}

/// Returns the rows of a library's callable about an argument of a site that calls it.
pub(crate) fn rows_taking<'a>(
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
    rows.iter().map(|of| of.row).filter(|row| takes(row)).collect()
}

/// True if a method, by its name, ends the program or what lives as long as it does (Python).
pub(crate) fn ends_the_program(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    let row = linker.program.body(body);
    facts.language == Language::Python
        && row.class.is_some()
        && lang::python::conventions::ends_the_program(facts.text(row.name))
}

/// True if a call stands in no loop of a coroutine that never returns, `async def start() -> NoReturn`: a service's own
/// task (Python).
fn runs_once_in_endless(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site);
    let body = facts.body_of(row.at);
    let of = facts.body(body);
    facts.language == Language::Python
        && of.flow == Flow::Coroutine
        && lang::python::conventions::never_returns(facts, of.returns)
        && linker.awaited_in(site.file.body_ref(body)).next().is_some()
        && around(facts, row.at.region).all(|id| facts.region(id).kind != RegionKind::Loop)
}

/// True if a call stands in front of the call by which the same body begins to serve: `await set_up()`, `await server.serve()`
/// (Python).
pub(crate) fn is_before_serving(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site);
    if facts.language != Language::Python
        || around(facts, row.at.region).any(|id| facts.region(id).kind == RegionKind::Loop)
    {
        return false;
    }
    let body = linker.program.body_of_site(site);
    // A task that was begun before may serve already, and so may a server that the call itself starts.
    let mut first = None;
    for of in linker.program.sites_in(body) {
        let other = linker.program.site(of);
        if other.kind == SiteKind::Call
            && first.is_none_or(|known| other.at.position < known)
            && is_serving_call(linker, of)
        {
            first = Some(other.at.position);
        }
    }
    first.is_some_and(|first| row.at.position < first && !holds_position(linker, site, first))
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
    let by_name = lang::python::conventions::serves_for_sure(facts.text(linker.program.site(site).name));
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
        .any(|path| linker.library.handovers(path).of_via(Via::Decorator).any(|of| is_on_thread(of.row)));
    by_decorator
        || overridden_rows(linker, body).into_iter().any(is_on_thread)
        || linker.sites_passing_body(body).into_iter().any(|(site, arg)| {
            let callees = linker.values.members(linker.callee(site, EnvId::NONE).value);
            callees.iter().flat_map(|&val| rows_taking(linker, val, site, arg)).any(is_on_thread)
        })
}

/// Returns the calls of any method under the name of a body whose callers are not known (a protocol's, one of a
/// table's): more than can mean it, so what holds for all of them holds for it.
pub(crate) fn sites_by_name(linker: &Linker<'_>, body: BodyRef) -> SmallVec<[SiteRef; 8]> {
    let program = linker.program;
    let facts = program.facts(body.file);
    let row = program.body(body);
    if row.class.is_none() || facts.text(row.name).starts_with("__") {
        return SmallVec::new();
    }
    let Some(name) = program.global(body.file, row.name) else { return SmallVec::new() };
    let called = program.sites_named(name).filter(|site| program.site(*site).kind == SiteKind::Call);
    called.take(65).collect()
}

/// Returns when a method runs by the method of a library that it overrides.
fn overrides_when(linker: &Linker<'_>, body: BodyRef) -> Option<When> {
    let mut found = None;
    for row in overridden_rows(linker, body) {
        let when = When::of_registered(row, linker.program.body(body).flow);
        found = if found == Some(When::Serving) { found } else { Some(when) };
    }
    found
}

/// Returns the rows of libraries about the methods that a method overrides, but those that wrap it.
pub(crate) fn overridden_rows<'a>(linker: &Linker<'a>, body: BodyRef) -> SmallVec<[&'a HandoverRow; 2]> {
    let facts = linker.program.facts(body.file);
    let row = linker.program.body(body);
    let mut found = SmallVec::new();
    let Some(class) = row.class.get().filter(|_| row.kind == BodyKind::Function) else { return found };
    for ancestor in linker.mro(body.file.class_ref(class)).iter() {
        let Ancestor::Library(ty, _) = *ancestor else { continue };
        for &ty in linker.library.supertypes(ty).iter() {
            let path = linker.library.member(ty, facts.text(row.name));
            found
                .extend(linker.library.handovers(path).of_via(Via::Override).map(|of| of.row).filter(|row| !row.wraps));
        }
    }
    found
}
