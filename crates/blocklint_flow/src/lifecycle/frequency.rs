//! How often code runs: once in the life of a program, or anew for each request, item or instance. An object that holds
//! threads or connections is cheap where it is made once, and a leak where it is made again.

use blocklint_core::{Context, Effect, Language};
use blocklint_facts::{BodyFlags, BodyKind, ClassKind, Flow, Form};
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
use crate::lifecycle::first_time::{first_time_of, returns_cached_instances};
use crate::lifecycle::loops::{is_looped, is_per_item};
use crate::lifecycle::one_shot_program::runs_beside_others;
use crate::lifecycle::owner::Owner;
use crate::lifecycle::owner::kept;

/// How often something runs or is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frequency {
    /// Only in tests.
    Tested,
    /// Once in the life of a program, or as often as a person asks for it.
    Once,
    /// No code is known that runs or makes it.
    Unseen,
    /// Some code does, and it is not known how often.
    Unknown,
    /// In a loop that goes on as long as something holds, as those do that serve: again and again, but how much there
    /// is stays unknown.
    Looped,
    /// For each element of a collection that this body iterates over.
    PerItem(BodyRef),
    /// Each time a library enters this body, as it does for a request, so many calls away.
    PerEntry(BodyRef, u8),
}

impl Frequency {
    /// Returns the more often; of two entries the nearer one.
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

    /// True if it happens at most once.
    pub fn is_once(self) -> bool {
        self.rank() <= 1
    }

    /// Returns the frequency one call further away. A loop far above iterates over all kinds of things: only that of
    /// the nearest caller is about items.
    fn one_further(self, at: BodyRef) -> Frequency {
        match self {
            Frequency::PerEntry(entry, steps) => Frequency::PerEntry(entry, steps.saturating_add(1)),
            Frequency::PerItem(body) if body != at => Frequency::Unknown,
            other => other,
        }
    }

    /// True if code of the project shows that it happens again and again.
    pub(crate) fn is_repeated(self) -> bool {
        matches!(self, Frequency::PerItem(_) | Frequency::PerEntry(..))
    }
}

/// How a library runs its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Registered {
    /// At start-up or exit.
    Aside,
    /// For each request, message or event.
    Entry,
}

/// Callers and constructions looked at for one body or class.
const MOST_SITES: usize = 64;

/// How many bodies and classes up.
const DEPTH: u32 = 24;

/// How often bodies run and classes are made, remembered.
pub struct TimesOf<'s, 'l, 'a> {
    linker: &'l Linker<'a>,
    callers: &'s Callers<'l, 'a>,
    /// True if what something unknown keeps may be called again and again: a claim that something runs once must be sure of it, a claim
    /// that it runs often must not rest on it.
    kept_may_recur: bool,
    bodies: FxHashMap<BodyRef, Frequency>,
    classes: FxHashMap<ClassRef, Frequency>,
    made: FxHashMap<SiteRef, Frequency>,
    /// Answers that the question at hand has found for sites on the way, so that it looks at each of them once; none while it looks.
    on_the_way: FxHashMap<SiteRef, Option<Frequency>>,
    /// True if the question at hand met a site that it was looking at, or went too deep.
    is_cut: bool,
}

impl<'s, 'l, 'a> TimesOf<'s, 'l, 'a> {
    /// Returns the tables without any answer.
    pub fn new(linker: &'l Linker<'a>, callers: &'s Callers<'l, 'a>) -> Self {
        let (bodies, classes, made, on_the_way) = Default::default();
        TimesOf { linker, callers, kept_may_recur: false, bodies, classes, made, on_the_way, is_cut: false }
    }

    /// Returns the answers for claims that something runs once: a callable that something unknown keeps may be called again and again.
    pub fn sure_of_once(linker: &'l Linker<'a>, callers: &'s Callers<'l, 'a>) -> Self {
        TimesOf { kept_may_recur: true, ..TimesOf::new(linker, callers) }
    }

    /// Returns how often a site runs: as its body does, unless a loop iterates over a collection there.
    pub fn of_site(&mut self, site: SiteRef) -> Frequency {
        self.site(site, DEPTH)
    }

    /// Returns how often the object that a site makes is made again: as often as the site runs if the object has no
    /// owner, else as often as its owner is made.
    pub fn of_made(&mut self, site: SiteRef) -> Frequency {
        self.made(site, DEPTH)
    }

    fn made(&mut self, site: SiteRef, depth: u32) -> Frequency {
        if let Some(&known) = self.made.get(&site) {
            return known;
        }
        match self.on_the_way.get(&site) {
            Some(Some(known)) => return *known,
            // A function that returns its result itself: its other callers decide.
            Some(None) => {
                self.is_cut = true;
                return Frequency::Unknown;
            }
            None => {}
        }
        let asks_first = self.on_the_way.is_empty();
        if asks_first {
            self.is_cut = false;
        }
        self.on_the_way.insert(site, None);
        let times = self.find_made(site, depth);
        self.on_the_way.insert(site, Some(times));
        if asks_first {
            let on_the_way = std::mem::take(&mut self.on_the_way);
            // Answers about other sites before a cut need not be complete.
            let is_final = |of: &SiteRef| !self.is_cut || *of == site;
            self.made.extend(
                on_the_way.into_iter().filter(|(of, _)| is_final(of)).filter_map(|(of, times)| Some((of, times?))),
            );
        }
        times
    }

    fn find_made(&mut self, site: SiteRef, depth: u32) -> Frequency {
        let Some(depth) = depth.checked_sub(1) else {
            self.is_cut = true;
            return Frequency::Unknown;
        };
        let linker = self.linker;
        let body = linker.program.body_of_site(site);
        if linker.program.is_test(site.file) {
            return Frequency::Tested;
        }
        match kept(linker, site) {
            Owner::ByProgram => Frequency::Once,
            Owner::Elsewhere => match self.site(site, depth) {
                // A cache or a list: the number of its objects is not known.
                times if times.is_repeated() => Frequency::Unknown,
                times => times,
            },
            Owner::ByInstance(class) => {
                let own = self.body(body, depth);
                if own.is_once() { own } else { self.class(class, depth).one_further(body) }
            }
            Owner::ByCaller(body) => {
                let sites = self.callers.call_sites(body);
                let row = linker.program.body(body);
                let is_registered = self.registered(body).is_some();
                if row.kind != BodyKind::Function
                    || sites.is_empty()
                    || linker.method_kind(body).cached
                    || is_registered
                {
                    return self.body(body, depth);
                }
                let mut all = Frequency::Tested;
                for &site in sites.iter().take(MOST_SITES) {
                    all = all.max(self.made(site, depth).one_further(linker.program.body_of_site(site)));
                }
                if all == Frequency::Tested { Frequency::Unseen } else { all }
            }
            Owner::Nowhere => self.site(site, depth),
        }
    }

    fn site(&mut self, site: SiteRef, depth: u32) -> Frequency {
        let body = self.linker.program.body_of_site(site);
        let times = self.body(body, depth);
        // A loop of start-up code iterates over configured things.
        match times {
            Frequency::Unseen | Frequency::Unknown | Frequency::Looped if is_per_item(self.linker, site) => {
                Frequency::PerItem(body)
            }
            Frequency::Unseen | Frequency::Unknown | Frequency::Once if is_looped(self.linker, site) => {
                Frequency::Looped
            }
            Frequency::Once if runs_beside_others(self.linker, site) => Frequency::Unknown,
            _ if self.is_first_time(site, depth) => Frequency::Once,
            _ => times,
        }
    }

    /// True if a site runs once in the life of a program: a state that lives as long keeps it from running again.
    fn is_first_time(&mut self, site: SiteRef, depth: u32) -> bool {
        let found = first_time_of(self.linker, site);
        found.is_some_and(|found| !found.per_key && self.outlives(found.keeper, depth))
    }

    /// True if what keeps something lives as long as the program.
    pub(crate) fn lives_on(&mut self, keeper: Owner) -> bool {
        self.outlives(keeper, DEPTH)
    }

    fn outlives(&mut self, keeper: Owner, depth: u32) -> bool {
        match keeper {
            Owner::ByProgram => true,
            Owner::ByInstance(class) => depth.checked_sub(1).is_some_and(|depth| self.class(class, depth).is_once()),
            _ => false,
        }
    }

    fn body(&mut self, body: BodyRef, depth: u32) -> Frequency {
        if let Some(&known) = self.bodies.get(&body) {
            return known;
        }
        // A cycle shows nothing: its other callers decide.
        self.bodies.insert(body, Frequency::Unknown);
        let times = self.find_body(body, depth);
        self.bodies.insert(body, times);
        times
    }

    fn find_body(&mut self, body: BodyRef, depth: u32) -> Frequency {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let row = linker.program.body(body);
        if linker.program.is_test(body.file) || row.flags.has(BodyFlags::TEST) {
            return Frequency::Tested;
        }
        // In Rust a folder shows nothing about a program that serves; of one that does not, nothing is shown.
        if facts.language != Language::Rust && is_command_file(linker, body.file) {
            return Frequency::Once;
        }
        let class = row.class.get().map(|class| body.file.class_ref(class));
        match row.kind {
            BodyKind::Module | BodyKind::Class => return Frequency::Once,
            BodyKind::Initialiser if row.flags.has(BodyFlags::STATIC) => return Frequency::Once,
            BodyKind::Initialiser => return class.map_or(Frequency::Unknown, |class| self.class(class, depth)),
            _ => {}
        }
        if linker.method_kind(body).cached || self.is_main(body) || self.puts_together(body) {
            return Frequency::Once;
        }
        match self.registered(body) {
            Some(Registered::Entry) => return Frequency::PerEntry(body, 0),
            Some(Registered::Aside) => return Frequency::Once,
            None => {}
        }
        let Some(depth) = depth.checked_sub(1) else { return Frequency::Unknown };
        if matches!(row.kind, BodyKind::Lambda | BodyKind::AsyncBlock | BodyKind::GeneratorExpression) {
            let Some(parent) = row.parent.get() else { return Frequency::Unknown };
            let uses = linker.program.uses_of_callable(body);
            // A literal in a loop runs, or is handed over, each time round.
            let around = uses.iter().filter_map(|(mention, _)| match mention {
                Mention::Arg(site, _) | Mention::Operand(site) => Some(body.file.site_ref(site)),
                _ => None,
            });
            let around = around.map(|site| self.site(site, depth)).reduce(Frequency::max);
            let around = around.unwrap_or_else(|| self.body(body.file.body_ref(parent), depth));
            // A callee that keeps a literal may call it again and again.
            if row.kind != BodyKind::Lambda || !self.kept_may_recur {
                return around;
            }
            let mut uses = uses.iter();
            let in_place = uses.all(|(mention, _)| match mention {
                Mention::Arg(site, arg) => self.runs_in_place(body.file.site_ref(site), arg),
                _ => false,
            });
            return if in_place { around } else { around.max(Frequency::Unseen) };
        }
        if let Some(class) = class
            && lang::words_of(facts.language).is_constructor(facts.text(row.name))
        {
            return self.class(class, depth);
        }
        let sites = self.callers.call_sites(body);
        let (run, kept): (Vec<_>, Vec<_>) = linker
            .sites_passing_body(body)
            .into_iter()
            .partition(|&(site, arg)| !self.kept_may_recur || self.runs_in_place(site, arg));
        if sites.is_empty() && run.is_empty() && kept.is_empty() {
            return self.without_callers(body, depth);
        }
        // It is not known how often an unknown callee calls a function that it was given once.
        let may_recur = !kept.is_empty() || self.kept_may_recur && self.is_decorated_unseen(body);
        let mut all = if !may_recur { Frequency::Tested } else { Frequency::Unseen };
        let mut sites: Vec<SiteRef> = sites.iter().copied().chain(run.into_iter().map(|(site, _)| site)).collect();
        sites.sort();
        sites.dedup();
        let in_example = |file: FileId| is_example(&linker.program.files[file.index()].relative);
        for site in sites.into_iter().take(MOST_SITES) {
            // A call in an example shows one use of the program; other programs use it in other ways.
            if self.kept_may_recur && in_example(site.file) && !in_example(body.file) {
                continue;
            }
            all = all.max(self.site(site, depth).one_further(linker.program.body_of_site(site)));
        }
        // A body that only tests call has other callers too, outside of the project.
        if all == Frequency::Tested { Frequency::Unseen } else { all }
    }

    /// True if a body registers functions of its own as entries: it puts an application together, which is done once
    /// for any caller (Python).
    fn puts_together(&self, body: BodyRef) -> bool {
        let facts = self.linker.program.facts(body.file);
        facts.language == Language::Python
            && self.linker.program.body(body).kind == BodyKind::Function
            && self.linker.program.bodies_in(body).any(|inner| {
                self.linker.program.body(inner).kind == BodyKind::Function
                    && self.frequency_by_decorators(inner) == Some(Registered::Entry)
            })
    }

    /// Returns how often a body runs by its decorators.
    fn frequency_by_decorators(&self, body: BodyRef) -> Option<Registered> {
        let mut found: Option<Registered> = None;
        for path in self.linker.decorator_paths(body) {
            for of in self.linker.library.handovers(path).of_via(Via::Decorator) {
                found = found.max(self.row_frequency(of));
            }
        }
        found
    }

    /// True if a body is where a program begins.
    fn is_main(&self, body: BodyRef) -> bool {
        let facts = self.linker.program.facts(body.file);
        let row = self.linker.program.body(body);
        row.kind == BodyKind::Function
            && facts.text(row.name) == "main"
            && (row.class.is_none() || row.flags.has(BodyFlags::STATIC))
    }

    /// Returns how often a body without known callers runs.
    fn without_callers(&mut self, body: BodyRef, depth: u32) -> Frequency {
        let facts = self.linker.program.facts(body.file);
        let row = self.linker.program.body(body);
        // A function inside of another one is made again with each run of it.
        match row.parent.get() {
            Some(parent) if matches!(facts.body(parent).kind, BodyKind::Function | BodyKind::Lambda) => {
                self.body(body.file.body_ref(parent), depth)
            }
            _ => Frequency::Unseen,
        }
    }

    /// True if a call runs its arguments while it lasts, or in a thread or task of its own: once for each call.
    fn runs_in_place(&self, site: SiteRef, arg: u32) -> bool {
        let linker = self.linker;
        let passing = linker.argument_use(site, arg, EnvId::NONE);
        let on_loop = passing.handed.iter().any(|(context, _)| *context == Context::EventLoop);
        let starts = || {
            linker.values.members(linker.callee(site, EnvId::NONE).value).iter().any(|&val| match val {
                Val::External(path) | Val::Method { path, .. } => {
                    let rows = linker.library.calls(path);
                    rows.iter().any(|row| row.row.concurrency.is_some() || row.held() == Some(Effect::NestedLoop))
                }
                _ => false,
            })
        };
        passing.called || !passing.handed.is_empty() && (!on_loop || starts())
    }

    /// True if a decorator that is not of a library may hand a body to other code (Python).
    fn is_decorated_unseen(&self, body: BodyRef) -> bool {
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

    /// Returns how often a body runs by its registration: a decorator, a method that it overrides, or a call that takes it.
    fn registered(&self, body: BodyRef) -> Option<Registered> {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let row = linker.program.body(body);
        let mut found = self.frequency_by_decorators(body);
        if let Some(class) = row.class.get() {
            for ancestor in linker.mro(body.file.class_ref(class)).iter() {
                let Ancestor::Library(ty, _) = *ancestor else { continue };
                // A thread runs what overrides its method once.
                if self.is_thread(ty) {
                    continue;
                }
                let path = linker.library.member(ty, facts.text(row.name));
                for of in linker.library.handovers(path).of_via(Via::Override) {
                    found = found.max(self.row_frequency(of));
                }
            }
        }
        if found.is_some() {
            return found;
        }
        let given = match row.kind {
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
        // A handler of Rust shows by its parameters what it takes from a request, and the row cannot; one that is
        // `async` and wants nothing is given as a function all the same, where a task that runs once is given as a
        // future.
        let is_reported = row.params.len > 0 || row.flow == Flow::Coroutine;
        let serves = facts.language == Language::Rust && row.kind == BodyKind::Function && is_reported;
        self.frequency_by_takers(&given).or_else(|| (serves && self.runs_on_loop(&given)).then_some(Registered::Entry))
    }

    /// True if calls that take something run it on an event loop.
    fn runs_on_loop(&self, given: &[(SiteRef, u32)]) -> bool {
        let linker = self.linker;
        given.iter().any(|&(site, arg)| {
            linker.values.members(linker.callee(site, EnvId::NONE).value).iter().any(|&val| {
                let (Val::External(path) | Val::Method { path, .. }) = val else { return false };
                linker.library.handovers(path).iter().any(|of| {
                    matches!(of.row.context, HandoverContext::Is(Runs::In(Context::EventLoop)))
                        && !of.row.wraps
                        && of.row.serves()
                        && matches!(&of.row.selector, Selector::Argument(argument) if linker.is_argument(site, arg, argument))
                })
            })
        })
    }

    /// Returns how often a callable runs by the calls that take it.
    fn frequency_by_takers(&self, given: &[(SiteRef, u32)]) -> Option<Registered> {
        let linker = self.linker;
        let mut found = None;
        for &(site, arg) in given {
            for val in linker.values.members(linker.callee(site, EnvId::NONE).value) {
                let (Val::External(path) | Val::Method { path, .. }) = val else { continue };
                for of in linker.library.handovers(path).iter() {
                    let Selector::Argument(argument) = &of.row.selector else { continue };
                    if linker.is_argument(site, arg, argument) {
                        found = found.max(self.row_frequency(of));
                    }
                }
            }
        }
        found
    }

    /// Returns the frequency by one row. A row for an argument describes an entry point where the library decides by
    /// the callable's kind where it runs, or calls it with something of its own: a request. Other takers run their
    /// arguments once.
    fn row_frequency(&self, of: Match<'_, HandoverRow>) -> Option<Registered> {
        if of.row.wraps {
            return None;
        }
        if !of.row.serves() {
            return Some(Registered::Aside);
        }
        let is_entry = match (&of.row.selector, &of.row.context) {
            (_, HandoverContext::BySync { .. }) => true,
            (Selector::Via(_), HandoverContext::Is(Runs::In(_))) => true,
            (Selector::Argument(_), HandoverContext::Is(Runs::In(Context::EventLoop))) => {
                of.row.gives.iter().any(|given| !self.is_future(given))
            }
            _ => false,
        };
        is_entry.then_some(Registered::Entry)
    }

    fn is_future(&self, given: &TypeExpr) -> bool {
        let TypeExpr::Path { path, .. } = given else { return true };
        let path = Language::ALL.iter().map(|&language| self.linker.library.path(language, path));
        path.into_iter().any(|path| self.linker.library.role(path) == Some(Role::Future))
    }

    /// True if a library's type is a thread: it takes its task where it is made.
    fn is_thread(&self, ty: PathId) -> bool {
        !self.linker.library.handovers(ty).is_empty()
    }

    fn class(&mut self, class: ClassRef, depth: u32) -> Frequency {
        if let Some(&known) = self.classes.get(&class) {
            return known;
        }
        self.classes.insert(class, Frequency::Unknown);
        let times = self.find_class(class, depth);
        self.classes.insert(class, times);
        times
    }

    fn find_class(&mut self, class: ClassRef, depth: u32) -> Frequency {
        let linker = self.linker;
        if linker.program.is_test(class.file) {
            return Frequency::Tested;
        }
        if linker.program.class(class).kind == ClassKind::Enum {
            return Frequency::Once;
        }
        if self.is_single(class) || returns_cached_instances(linker, class) {
            return Frequency::Once;
        }
        let classes = linker.with_descendants(class, MOST_SITES, usize::MAX);
        let mut names: Vec<Name> =
            classes.iter().take(MOST_SITES).flat_map(|&class| linker.class_names(class)).collect();
        names.sort();
        names.dedup();
        let given: Vec<(SiteRef, u32)> =
            classes.iter().flat_map(|&of| linker.sites_passing_class(&names, of)).collect();
        if self.frequency_by_takers(&given) == Some(Registered::Entry) {
            return match self.constructor(class) {
                Some(body) => Frequency::PerEntry(body, 0),
                None => Frequency::Unknown,
            };
        }
        let Some(depth) = depth.checked_sub(1) else { return Frequency::Unknown };
        let mut all = Frequency::Tested;
        // Of a class that a container makes one of there is one, also where it stands for the base.
        if classes[1..].iter().any(|&derived| self.is_single(derived)) {
            all = Frequency::Once;
        }
        // A constructor that calls that of its base makes no further instance, and its callee is no class.
        let makers = names.iter().map(|&name| linker.constructor_calls_named(name));
        let sites = makers.flat_map(|makers| {
            let mut sites: Vec<SiteRef> = classes.iter().filter_map(|of| makers.get(of)).flatten().copied().collect();
            sites.sort();
            sites.dedup();
            sites
        });
        for site in sites.take(MOST_SITES) {
            all = all.max(match self.made(site, depth) {
                // A site without a known caller is there to make instances, so the frequency is unknown.
                Frequency::Unseen => Frequency::Unknown,
                times => times,
            });
        }
        if all == Frequency::Tested { Frequency::Unseen } else { all }
    }

    /// True if an annotation states that a container makes one instance of a class.
    fn is_single(&self, class: ClassRef) -> bool {
        let facts = self.linker.program.facts(class.file);
        // A container's scope that the project made has no row.
        if facts.language == Language::Java
            && lang::java::names::mark_names(facts, self.linker.program.class(class).decorators)
                .any(lang::java::names::is_of_one_object)
        {
            return true;
        }
        let mut said: Option<Registered> = None;
        for path in class_decorators(self.linker, class) {
            for of in self.linker.library.handovers(path).of_via(Via::Decorator) {
                said = said.max(self.row_frequency(of));
            }
        }
        said == Some(Registered::Aside)
    }

    /// Returns the constructor of a class, if it has one of its own.
    fn constructor(&self, class: ClassRef) -> Option<BodyRef> {
        let (facts, class_id) = self.linker.program.facts_and_id(class);
        facts.bodies.iter().enumerate().find_map(|(at, row)| {
            let is_one = row.class == class_id
                && lang::words_of(facts.language).is_constructor(facts.text(row.name))
                && row.kind == BodyKind::Function;
            is_one.then_some(class.file.body_ref(blocklint_facts::BodyId(at as u32)))
        })
    }
}

/// Returns the library paths of a class's decorators or annotations.
pub(crate) fn class_decorators(linker: &Linker<'_>, class: ClassRef) -> Vec<PathId> {
    let facts = linker.program.facts(class.file);
    let row = linker.program.class(class);
    let region = facts.body(row.parent).region;
    let at = blocklint_facts::At { region, position: u32::MAX };
    let scope = blocklint_link::values::expr::Scope { file: class.file, at, env: EnvId::NONE };
    let mut paths = Vec::new();
    for &decorator in facts.list(row.decorators) {
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
