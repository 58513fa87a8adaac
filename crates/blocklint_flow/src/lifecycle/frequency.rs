//! How often code runs: once in the life of a program, or again for each request, item or instance. An object that
//! holds threads or connections is cheap if it is made once, and a leak if it is made again.

use blocklint_core::{Context, Effect, Language};
use blocklint_facts::{At, BodyFlags, BodyId, BodyKind, ClassKind, Flow, Form};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, Name, PathId, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::program::path_kind::is_example;
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::{HandoverContext, HandoverRow, Match, Role, Runs, Selector, TypeExpr, Via};
use rustc_hash::FxHashMap;

use crate::callers::Callers;
use crate::entries::purpose::is_command_file;
use crate::lifecycle::first_time::{find_first_time, returns_cached_instances};
use crate::lifecycle::loops::{is_looped, is_per_item};
use crate::lifecycle::one_shot_program::runs_among_tasks;
use crate::lifecycle::owner::{Owner, find_owner};

/// How often code runs, or an object is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frequency {
    /// Only in tests.
    Tested,
    /// Once in the life of a program, or each time a person runs a command.
    Once,
    /// No known code runs the code or makes the object.
    Unseen,
    /// Known code runs it, but it is not known how often.
    Unknown,
    /// In a loop that runs while a condition holds, like the loop of a server: again and again, but the number of
    /// iterations is not known.
    Looped,
    /// For each element of a collection that this body iterates over.
    PerItem(BodyRef),
    /// Each time a library enters this body, for example for a request. The number is the distance from the body, in
    /// calls.
    PerEntry(BodyRef, u8),
}

impl Frequency {
    /// Returns the higher frequency; of two `PerEntry` the nearer one.
    pub(crate) fn max(self, other: Frequency) -> Frequency {
        match (self, other) {
            (Frequency::PerEntry(_, a), Frequency::PerEntry(_, b)) if b < a => other,
            _ if other.rank() > self.rank() => other,
            _ => self,
        }
    }

    fn rank(self) -> u8 {
        match self {
            Frequency::Tested => 0,
            Frequency::Once => 1,
            Frequency::Unseen => 2,
            Frequency::Unknown => 3,
            Frequency::Looped => 4,
            Frequency::PerItem(_) => 5,
            Frequency::PerEntry(..) => 6,
        }
    }

    /// True if the code runs at most once.
    pub fn is_once(self) -> bool {
        self.rank() <= 1
    }

    /// Returns the frequency for the callee of a call in `caller`. `PerItem` holds only for a loop in the caller
    /// itself, because a loop further up may iterate over anything.
    fn one_call_down(self, caller: BodyRef) -> Frequency {
        match self {
            Frequency::PerEntry(entry, steps) => Frequency::PerEntry(entry, steps.saturating_add(1)),
            Frequency::PerItem(body) if body != caller => Frequency::Unknown,
            other => other,
        }
    }

    /// True if code of the project shows that the code runs again and again.
    pub(crate) fn is_repeated(self) -> bool {
        matches!(self, Frequency::PerItem(_) | Frequency::PerEntry(..))
    }
}

/// When a library runs a callable that is registered with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RegisteredRun {
    /// At start-up or exit.
    StartOrExit,
    /// For each request, message or event.
    Entry,
}

/// The most callers of one body, or constructions of one class, that are read.
const MOST_SITES: usize = 64;

/// The most bodies and classes up that are followed.
const DEPTH: u32 = 24;

/// How often bodies run and instances of classes are made, with tables of the results.
pub struct Frequencies<'s, 'l, 'a> {
    linker: &'l Linker<'a>,
    callers: &'s Callers<'l, 'a>,
    /// True if a callable that unknown code stores counts as called again and again. A claim that code runs once must
    /// assume so. A claim that code runs often must not.
    stored_may_recur: bool,
    bodies: FxHashMap<BodyRef, Frequency>,
    classes: FxHashMap<ClassRef, Frequency>,
    made: FxHashMap<SiteRef, Frequency>,
    /// The sites that the running query has begun, each with its result: `None` until the site is finished.
    begun: FxHashMap<SiteRef, Option<Frequency>>,
    /// True if the running query came back to a site that it has not finished, or went too deep.
    is_cut: bool,
}

impl<'s, 'l, 'a> Frequencies<'s, 'l, 'a> {
    /// Returns empty tables for one program.
    pub fn new(linker: &'l Linker<'a>, callers: &'s Callers<'l, 'a>) -> Self {
        let (bodies, classes, made, begun) = Default::default();
        Frequencies { linker, callers, stored_may_recur: false, bodies, classes, made, begun, is_cut: false }
    }

    /// Returns tables for claims that code runs once: a callable that unknown code stores counts as called again and
    /// again.
    pub fn sure_of_once(linker: &'l Linker<'a>, callers: &'s Callers<'l, 'a>) -> Self {
        Frequencies { stored_may_recur: true, ..Frequencies::new(linker, callers) }
    }

    /// Returns how often a site runs: as often as its body, unless the site is in a loop or runs only the first time.
    pub fn frequency_of_site(&mut self, site: SiteRef) -> Frequency {
        self.site_frequency(site, DEPTH)
    }

    /// Returns how often the object that a site makes is made again: as often as the site runs if the object has no
    /// owner, else as often as its owner is made.
    pub fn frequency_of_made_object(&mut self, site: SiteRef) -> Frequency {
        self.made_object_frequency(site, DEPTH)
    }

    fn made_object_frequency(&mut self, site: SiteRef, depth: u32) -> Frequency {
        if let Some(&known) = self.made.get(&site) {
            return known;
        }
        match self.begun.get(&site) {
            Some(Some(known)) => return *known,
            // A recursion: the function returns the result of a call of itself. Its other callers decide.
            Some(None) => {
                self.is_cut = true;
                return Frequency::Unknown;
            }
            None => {}
        }
        let is_outermost = self.begun.is_empty();
        if is_outermost {
            self.is_cut = false;
        }
        self.begun.insert(site, None);
        let times = self.find_made_object_frequency(site, depth);
        self.begun.insert(site, Some(times));
        if is_outermost {
            let begun = std::mem::take(&mut self.begun);
            // After a cut, the results for the other sites may be incomplete.
            let is_final = |path_site: &SiteRef| !self.is_cut || *path_site == site;
            let results = begun.into_iter().filter(|(site, _)| is_final(site));
            self.made.extend(results.filter_map(|(site, times)| Some((site, times?))));
        }
        times
    }

    fn find_made_object_frequency(&mut self, site: SiteRef, depth: u32) -> Frequency {
        let Some(depth) = depth.checked_sub(1) else {
            self.is_cut = true;
            return Frequency::Unknown;
        };
        let linker = self.linker;
        let body = linker.program.body_of_site(site);
        if linker.program.is_test(site.file) {
            return Frequency::Tested;
        }
        match find_owner(linker, site) {
            Owner::Program => Frequency::Once,
            Owner::Untracked => match self.site_frequency(site, depth) {
                // A cache or a list: the number of its objects is not known.
                times if times.is_repeated() => Frequency::Unknown,
                times => times,
            },
            Owner::Instance(class) => {
                let frequency_of_body = self.body_frequency(body, depth);
                if frequency_of_body.is_once() {
                    frequency_of_body
                } else {
                    self.class_frequency(class, depth).one_call_down(body)
                }
            }
            Owner::Caller(body) => {
                let sites = self.callers.call_sites(body);
                let body_facts = linker.program.body(body);
                let is_registered = self.find_registration(body).is_some();
                if body_facts.kind != BodyKind::Function
                    || sites.is_empty()
                    || linker.method_kind(body).cached
                    || is_registered
                {
                    return self.body_frequency(body, depth);
                }
                let mut highest = Frequency::Tested;
                for &site in sites.iter().take(MOST_SITES) {
                    highest = highest
                        .max(self.made_object_frequency(site, depth).one_call_down(linker.program.body_of_site(site)));
                }
                if highest == Frequency::Tested { Frequency::Unseen } else { highest }
            }
            Owner::NoOwner => self.site_frequency(site, depth),
        }
    }

    fn site_frequency(&mut self, site: SiteRef, depth: u32) -> Frequency {
        let body = self.linker.program.body_of_site(site);
        let times = self.body_frequency(body, depth);
        // A loop of start-up code iterates over configured things.
        match times {
            Frequency::Unseen | Frequency::Unknown | Frequency::Looped if is_per_item(self.linker, site) => {
                Frequency::PerItem(body)
            }
            Frequency::Unseen | Frequency::Unknown | Frequency::Once if is_looped(self.linker, site) => {
                Frequency::Looped
            }
            Frequency::Once if runs_among_tasks(self.linker, site) => Frequency::Unknown,
            _ if self.is_first_time(site, depth) => Frequency::Once,
            _ => times,
        }
    }

    /// True if a site runs once in the life of a program, because a state that lives as long prevents a second run.
    fn is_first_time(&mut self, site: SiteRef, depth: u32) -> bool {
        let first_time = find_first_time(self.linker, site);
        first_time.is_some_and(|reason| !reason.per_key && self.is_program_wide_at_depth(reason.keeper, depth))
    }

    /// True if an owner lives as long as the program, or has one instance in its life.
    pub(crate) fn is_program_wide(&mut self, keeper: Owner) -> bool {
        self.is_program_wide_at_depth(keeper, DEPTH)
    }

    fn is_program_wide_at_depth(&mut self, keeper: Owner, depth: u32) -> bool {
        match keeper {
            Owner::Program => true,
            Owner::Instance(class) => {
                depth.checked_sub(1).is_some_and(|depth| self.class_frequency(class, depth).is_once())
            }
            _ => false,
        }
    }

    fn body_frequency(&mut self, body: BodyRef, depth: u32) -> Frequency {
        if let Some(&known) = self.bodies.get(&body) {
            return known;
        }
        // A recursive call shows nothing. The other callers decide.
        self.bodies.insert(body, Frequency::Unknown);
        let times = self.find_body_frequency(body, depth);
        self.bodies.insert(body, times);
        times
    }

    fn find_body_frequency(&mut self, body: BodyRef, depth: u32) -> Frequency {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let body_facts = linker.program.body(body);
        if linker.program.is_test(body.file) || body_facts.flags.has(BodyFlags::TEST) {
            return Frequency::Tested;
        }
        // In Rust the folder of a file does not show that a program serves no requests.
        if facts.language != Language::Rust && is_command_file(linker, body.file) {
            return Frequency::Once;
        }
        let class = body_facts.class.get().map(|class| body.file.class_ref(class));
        match body_facts.kind {
            BodyKind::Module | BodyKind::Class => return Frequency::Once,
            BodyKind::Initialiser if body_facts.flags.has(BodyFlags::STATIC) => return Frequency::Once,
            BodyKind::Initialiser => {
                return class.map_or(Frequency::Unknown, |class| self.class_frequency(class, depth));
            }
            _ => {}
        }
        if linker.method_kind(body).cached || self.is_main(body) || self.registers_own_functions(body) {
            return Frequency::Once;
        }
        match self.find_registration(body) {
            Some(RegisteredRun::Entry) => return Frequency::PerEntry(body, 0),
            Some(RegisteredRun::StartOrExit) => return Frequency::Once,
            None => {}
        }
        let Some(depth) = depth.checked_sub(1) else { return Frequency::Unknown };
        if matches!(body_facts.kind, BodyKind::Lambda | BodyKind::AsyncBlock | BodyKind::GeneratorExpression) {
            let Some(parent) = body_facts.parent.get() else { return Frequency::Unknown };
            let uses = linker.program.uses_of_callable(body);
            // A lambda in a loop runs, or is passed on, in each iteration.
            let takers = uses.iter().filter_map(|(mention, _)| match mention {
                Mention::Arg(site, _) | Mention::Operand(site) => Some(body.file.site_ref(site)),
                _ => None,
            });
            let times = takers.map(|site| self.site_frequency(site, depth)).reduce(Frequency::max);
            let times = times.unwrap_or_else(|| self.body_frequency(body.file.body_ref(parent), depth));
            // A callee that stores a lambda may call it again and again.
            if body_facts.kind != BodyKind::Lambda || !self.stored_may_recur {
                return times;
            }
            let mut uses = uses.iter();
            let runs_once_per_call = uses.all(|(mention, _)| match mention {
                Mention::Arg(site, arg) => self.runs_argument_once(body.file.site_ref(site), arg),
                _ => false,
            });
            return if runs_once_per_call { times } else { times.max(Frequency::Unseen) };
        }
        if let Some(class) = class
            && lang::words_of(facts.language).is_constructor(facts.text(body_facts.name))
        {
            return self.class_frequency(class, depth);
        }
        let sites = self.callers.call_sites(body);
        let (run, stored): (Vec<_>, Vec<_>) = linker
            .sites_passing_body(body)
            .into_iter()
            .partition(|&(site, arg)| !self.stored_may_recur || self.runs_argument_once(site, arg));
        if sites.is_empty() && run.is_empty() && stored.is_empty() {
            return self.frequency_without_callers(body, depth);
        }
        // It is not known how often an unknown callee calls a function that it takes once.
        let may_recur = !stored.is_empty() || self.stored_may_recur && self.has_unknown_decorator(body);
        let mut highest = if !may_recur { Frequency::Tested } else { Frequency::Unseen };
        let mut sites: Vec<SiteRef> = sites.iter().copied().chain(run.into_iter().map(|(site, _)| site)).collect();
        sites.sort();
        sites.dedup();
        let in_example = |file: FileId| is_example(&linker.program.files[file.index()].relative);
        for site in sites.into_iter().take(MOST_SITES) {
            // A call in an example shows only one of the possible uses of the project.
            if self.stored_may_recur && in_example(site.file) && !in_example(body.file) {
                continue;
            }
            highest = highest.max(self.site_frequency(site, depth).one_call_down(linker.program.body_of_site(site)));
        }
        // A body that only tests call has other callers too, outside of the project.
        if highest == Frequency::Tested { Frequency::Unseen } else { highest }
    }

    /// True if a body registers nested functions as entry points: it assembles an application (`def create_app():`), so
    /// it counts as run once, whoever calls it (Python).
    fn registers_own_functions(&self, body: BodyRef) -> bool {
        let facts = self.linker.program.facts(body.file);
        facts.language == Language::Python
            && self.linker.program.body(body).kind == BodyKind::Function
            && self.linker.program.bodies_in(body).any(|inner| {
                self.linker.program.body(inner).kind == BodyKind::Function
                    && self.frequency_by_decorators(inner) == Some(RegisteredRun::Entry)
            })
    }

    /// Returns how often a body runs by its decorators.
    fn frequency_by_decorators(&self, body: BodyRef) -> Option<RegisteredRun> {
        let mut registered: Option<RegisteredRun> = None;
        for path in self.linker.decorator_paths(body) {
            for handover in self.linker.library.handovers(path).rows_of_via(Via::Decorator) {
                registered = registered.max(self.row_frequency(handover));
            }
        }
        registered
    }

    /// True if a body is the `main` function of a program.
    fn is_main(&self, body: BodyRef) -> bool {
        let facts = self.linker.program.facts(body.file);
        let body_facts = self.linker.program.body(body);
        body_facts.kind == BodyKind::Function
            && facts.text(body_facts.name) == "main"
            && (body_facts.class.is_none() || body_facts.flags.has(BodyFlags::STATIC))
    }

    /// Returns how often a body without known callers runs.
    fn frequency_without_callers(&mut self, body: BodyRef, depth: u32) -> Frequency {
        let facts = self.linker.program.facts(body.file);
        let body_facts = self.linker.program.body(body);
        // A function inside of another one is made again with each run of it.
        match body_facts.parent.get() {
            Some(parent) if matches!(facts.body(parent).kind, BodyKind::Function | BodyKind::Lambda) => {
                self.body_frequency(body.file.body_ref(parent), depth)
            }
            _ => Frequency::Unseen,
        }
    }

    /// True if a call runs an argument once: during the call, or in a thread or task that it starts for the argument.
    fn runs_argument_once(&self, site: SiteRef, arg: u32) -> bool {
        let linker = self.linker;
        let passing = linker.argument_use(site, arg, EnvId::NONE);
        let on_loop = passing.handed.iter().any(|(context, _)| *context == Context::EventLoop);
        let starts_task = || {
            linker.values.members(linker.callee(site, EnvId::NONE).value).iter().any(|&val| match val {
                Val::External(path) | Val::Method { path, .. } => {
                    let rows = linker.library.calls(path);
                    rows.iter().any(|matched| {
                        matched.row.concurrency.is_some() || matched.held_effect() == Some(Effect::NestedLoop)
                    })
                }
                _ => false,
            })
        };
        passing.called || !passing.handed.is_empty() && (!on_loop || starts_task())
    }

    /// True if a body has a decorator that is not of a library, so that unknown code may call the body (Python).
    fn has_unknown_decorator(&self, body: BodyRef) -> bool {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let scope = linker.signature_scope(body);
        facts.language == Language::Python
            && facts.list(linker.program.body(body).decorators).iter().any(|&decorator| {
                let typed = match facts.form(decorator) {
                    Form::Result(site) => linker.callee(body.file.site_ref(site), EnvId::NONE),
                    _ => linker.eval(scope, decorator),
                };
                let members = linker.values.members(typed.value);
                let is_of_library = |val: &Val| matches!(val, Val::External(_) | Val::Method { .. });
                members.is_empty() || !members.iter().all(is_of_library)
            })
    }

    /// Returns how often a body runs by its registration: a decorator, a method that it overrides, or a call that takes
    /// it.
    fn find_registration(&self, body: BodyRef) -> Option<RegisteredRun> {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let body_facts = linker.program.body(body);
        let mut registered = self.frequency_by_decorators(body);
        if let Some(class) = body_facts.class.get() {
            for ancestor in linker.mro(body.file.class_ref(class)).iter() {
                let Ancestor::Library(ty, _) = *ancestor else { continue };
                // A thread runs the method that overrides `Thread.run` once.
                if self.is_thread(ty) {
                    continue;
                }
                let path = linker.library.member(ty, facts.text(body_facts.name));
                for handover in linker.library.handovers(path).rows_of_via(Via::Override) {
                    registered = registered.max(self.row_frequency(handover));
                }
            }
        }
        if registered.is_some() {
            return registered;
        }
        let takers = match body_facts.kind {
            BodyKind::Lambda => linker
                .program
                .uses_of_callable(body)
                .iter()
                .filter_map(|(mention, _)| match mention {
                    Mention::Arg(site, arg) => Some((body.file.site_ref(site), arg)),
                    _ => None,
                })
                .collect(),
            BodyKind::Function => linker.sites_passing_body(body),
            _ => Vec::new(),
        };
        // In Rust, the row of a router cannot say what its handlers take from a request, but the parameters of a
        // handler show that it is one. An `async fn` without parameters that is passed as a function is a handler, too,
        // because a task that runs once is passed as a future.
        let is_like_handler = body_facts.params.len > 0 || body_facts.flow == Flow::Coroutine;
        let serves = facts.language == Language::Rust && body_facts.kind == BodyKind::Function && is_like_handler;
        self.frequency_by_takers(&takers)
            .or_else(|| (serves && self.runs_on_loop(&takers)).then_some(RegisteredRun::Entry))
    }

    /// True if one of the calls that take a callable runs it on an event loop while the program serves.
    fn runs_on_loop(&self, takers: &[(SiteRef, u32)]) -> bool {
        let linker = self.linker;
        takers.iter().any(|&(site, arg)| {
            linker.values.members(linker.callee(site, EnvId::NONE).value).iter().any(|&val| {
                let (Val::External(path) | Val::Method { path, .. }) = val else { return false };
                linker.library.handovers(path).iter().any(|handover| {
                    matches!(handover.row.context, HandoverContext::Is(Runs::In(Context::EventLoop)))
                        && !handover.row.wraps
                        && handover.row.serves()
                        && matches!(&handover.row.selector, Selector::Argument(argument) if linker.is_argument(site, arg, argument))
                })
            })
        })
    }

    /// Returns how often a callable runs by the calls that take it.
    fn frequency_by_takers(&self, takers: &[(SiteRef, u32)]) -> Option<RegisteredRun> {
        let linker = self.linker;
        let mut registered = None;
        for &(site, arg) in takers {
            for val in linker.values.members(linker.callee(site, EnvId::NONE).value) {
                let (Val::External(path) | Val::Method { path, .. }) = val else { continue };
                for handover in linker.library.handovers(path).iter() {
                    let Selector::Argument(argument) = &handover.row.selector else { continue };
                    if linker.is_argument(site, arg, argument) {
                        registered = registered.max(self.row_frequency(handover));
                    }
                }
            }
        }
        registered
    }

    /// Returns how often a callable runs by one handover row. A row for an argument describes an entry point in two
    /// cases: the library chooses the thread by the callable's kind, or it passes an object of its own to the callable
    /// (a request). Other rows for arguments run them once.
    fn row_frequency(&self, handover: Match<'_, HandoverRow>) -> Option<RegisteredRun> {
        if handover.row.wraps {
            return None;
        }
        if !handover.row.serves() {
            return Some(RegisteredRun::StartOrExit);
        }
        let is_entry = match (&handover.row.selector, &handover.row.context) {
            (_, HandoverContext::BySync { .. }) => true,
            (Selector::Via(_), HandoverContext::Is(Runs::In(_))) => true,
            (Selector::Argument(_), HandoverContext::Is(Runs::In(Context::EventLoop))) => {
                handover.row.gives.iter().any(|argument| !self.is_future(argument))
            }
            _ => false,
        };
        is_entry.then_some(RegisteredRun::Entry)
    }

    /// True if a type is a future of a library, or no path of a library.
    fn is_future(&self, ty: &TypeExpr) -> bool {
        let TypeExpr::Path { path, .. } = ty else { return true };
        let path = Language::ALL.iter().map(|&language| self.linker.library.path(language, path));
        path.into_iter().any(|path| self.linker.library.role(path) == Some(Role::Future))
    }

    /// True if a library's type is a thread: its constructor takes the function that it runs.
    fn is_thread(&self, ty: PathId) -> bool {
        !self.linker.library.handovers(ty).is_empty()
    }

    fn class_frequency(&mut self, class: ClassRef, depth: u32) -> Frequency {
        if let Some(&known) = self.classes.get(&class) {
            return known;
        }
        self.classes.insert(class, Frequency::Unknown);
        let times = self.find_class_frequency(class, depth);
        self.classes.insert(class, times);
        times
    }

    fn find_class_frequency(&mut self, class: ClassRef, depth: u32) -> Frequency {
        let linker = self.linker;
        if linker.program.is_test(class.file) {
            return Frequency::Tested;
        }
        if linker.program.class(class).kind == ClassKind::Enum {
            return Frequency::Once;
        }
        if self.has_one_instance(class) || returns_cached_instances(linker, class) {
            return Frequency::Once;
        }
        let classes = linker.with_descendants(class, MOST_SITES, usize::MAX);
        let mut names: Vec<Name> =
            classes.iter().take(MOST_SITES).flat_map(|&class| linker.class_names(class)).collect();
        names.sort();
        names.dedup();
        let takers: Vec<(SiteRef, u32)> =
            classes.iter().flat_map(|&class| linker.sites_passing_class(&names, class)).collect();
        if self.frequency_by_takers(&takers) == Some(RegisteredRun::Entry) {
            return match self.own_constructor(class) {
                Some(body) => Frequency::PerEntry(body, 0),
                None => Frequency::Unknown,
            };
        }
        let Some(depth) = depth.checked_sub(1) else { return Frequency::Unknown };
        let mut highest = Frequency::Tested;
        // If a container makes one instance of a subclass, code that uses the base gets that instance.
        if classes[1..].iter().any(|&derived| self.has_one_instance(derived)) {
            highest = Frequency::Once;
        }
        // A constructor that calls the constructor of its base makes no second instance. Such calls are not among the
        // makers, because their callee is no class.
        let makers = names.iter().map(|&name| linker.constructor_calls_named(name));
        let sites = makers.flat_map(|makers| {
            let mut sites: Vec<SiteRef> =
                classes.iter().filter_map(|class| makers.get(class)).flatten().copied().collect();
            sites.sort();
            sites.dedup();
            sites
        });
        for site in sites.take(MOST_SITES) {
            highest = highest.max(match self.made_object_frequency(site, depth) {
                // A site without known callers makes instances, but it is not known how often.
                Frequency::Unseen => Frequency::Unknown,
                times => times,
            });
        }
        if highest == Frequency::Tested { Frequency::Unseen } else { highest }
    }

    /// True if an annotation states that a container makes one instance of a class.
    fn has_one_instance(&self, class: ClassRef) -> bool {
        let facts = self.linker.program.facts(class.file);
        // An annotation that the project defines has no row, so it is recognised by its name.
        if facts.language == Language::Java
            && lang::java::names::annotation_names(facts, self.linker.program.class(class).decorators)
                .any(lang::java::names::is_singleton_annotation)
        {
            return true;
        }
        let mut registered: Option<RegisteredRun> = None;
        for path in class_decorator_paths(self.linker, class) {
            for handover in self.linker.library.handovers(path).rows_of_via(Via::Decorator) {
                registered = registered.max(self.row_frequency(handover));
            }
        }
        registered == Some(RegisteredRun::StartOrExit)
    }

    /// Returns the constructor of a class, if the class itself defines one.
    fn own_constructor(&self, class: ClassRef) -> Option<BodyRef> {
        let (facts, class_id) = self.linker.program.facts_and_id(class);
        facts.bodies.iter().enumerate().find_map(|(index, body_facts)| {
            let is_constructor = body_facts.class == class_id
                && lang::words_of(facts.language).is_constructor(facts.text(body_facts.name))
                && body_facts.kind == BodyKind::Function;
            is_constructor.then_some(class.file.body_ref(BodyId(index as u32)))
        })
    }
}

/// Returns the library paths of a class's decorators or annotations.
pub(crate) fn class_decorator_paths(linker: &Linker<'_>, class: ClassRef) -> Vec<PathId> {
    let facts = linker.program.facts(class.file);
    let class_facts = linker.program.class(class);
    let region = facts.body(class_facts.parent).region;
    let at = At { region, position: u32::MAX };
    let scope = blocklint_link::values::expr::Scope { file: class.file, at, env: EnvId::NONE };
    let mut paths = Vec::new();
    for &decorator in facts.list(class_facts.decorators) {
        let typed = match facts.form(decorator) {
            Form::Result(site) => linker.callee(class.file.site_ref(site), EnvId::NONE),
            _ => linker.eval(scope, decorator),
        };
        for val in linker.values.members(typed.value) {
            if let Val::External(path) | Val::Method { path, .. } = val {
                paths.push(path);
            }
        }
    }
    paths
}
