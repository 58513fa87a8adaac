//! The entry points that reach a body through all its callers: requests, messages, timers, tasks, start and end of the
//! program, commands, tests, or none. [`entry_points`](crate::lifecycle::entry_points) finds the predecessors of one
//! body; this file climbs over them.

use std::collections::VecDeque;
use std::rc::Rc;

use blocklint_core::EntryKind;
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::program::ids::{BodyRef, SiteRef};
use rustc_hash::FxHashSet;

use crate::callers::Callers;
use crate::lifecycle::entry_points::{CallingBody, Entry, EntryPlace, EntryPoints, Predecessor, RunKind};
use crate::lifecycle::never_loaded::is_never_loaded;
use crate::lifecycle::phase::When;
use crate::lifecycle::route::find_route;
use crate::lifecycle::unused::is_never_named;

/// The most callers above one body that are visited. A body with more has an unknown entry point, too.
const MOST_BODIES: usize = 4_000;

/// One kind of entry point that reaches a body, with the nearest entry point of that kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawEntry {
    /// The kind.
    pub kind: EntryKind,
    /// The function of the entry point. For code at the top level of a file: the function that the top level calls.
    pub body: BodyRef,
    /// The call at the top level of a file, where the entry point is that top level.
    pub top_level: Option<SiteRef>,
    /// The HTTP method and the path of a route.
    pub route: Option<String>,
}

/// All entry points that reach one body, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Reaching {
    /// For each kind the nearest entry with its distance.
    nearest: Vec<(u32, Entry)>,
    /// True if an entry point may serve requests, though its kind does not say so: a `main`.
    may_serve: bool,
    /// True if an entry may be used by code outside of the project: a public function.
    may_be_used: bool,
}

impl Reaching {
    fn add(&mut self, distance: u32, entry: Entry) {
        self.may_serve |= !entry.serves_nothing;
        match self.nearest.iter_mut().find(|(_, known)| known.kind == entry.kind) {
            Some(known) => *known = (*known).min((distance, entry)),
            None => self.nearest.push((distance, entry)),
        }
    }
}

/// The kinds of run on a path from an entry point down to a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct RunsOnPath {
    /// True if a caller on the path starts a task, which outlives the start of the program that began it.
    has_task: bool,
    /// True if a caller on the path runs an event loop that may serve.
    may_serve: bool,
    /// True if a caller on the path runs an event loop, quiet or not.
    has_loop: bool,
}

/// The entry points that reach bodies, remembered.
pub struct ReachedBy<'s, 'l, 'a> {
    linker: &'l Linker<'a>,
    points: EntryPoints<'s, 'l, 'a>,
    predecessors: Table<BodyRef, Rc<[Predecessor]>, Plain>,
    reaching: Table<BodyRef, Rc<Reaching>, Plain>,
}

impl<'s, 'l, 'a> ReachedBy<'s, 'l, 'a> {
    /// Returns empty tables for one program.
    pub fn new(linker: &'l Linker<'a>, callers: &'s Callers<'l, 'a>) -> Self {
        let points = EntryPoints::new(linker, callers);
        ReachedBy { linker, points, predecessors: Table::default(), reaching: Table::default() }
    }

    /// Returns the kinds of entry points that reach a body, in the order of [`EntryKind`], each with the nearest entry.
    pub fn entries_of(&self, body: BodyRef) -> Vec<RawEntry> {
        self.to_raw(self.find_reaching(body).nearest.clone())
    }

    /// Returns the kinds of entry point that a call in a body registers its argument as.
    pub fn entries_of_registration(&self, body: BodyRef, site: SiteRef) -> Vec<RawEntry> {
        let mut kinds = self.points.kinds_of_arguments(site);
        if kinds.is_empty() {
            kinds.push(EntryKind::Unknown);
        }
        let entry = |kind| (0, Entry { kind, body, place: EntryPlace::Registration(site), serves_nothing: false });
        self.to_raw(kinds.into_iter().map(entry).collect())
    }

    fn to_raw(&self, mut nearest: Vec<(u32, Entry)>) -> Vec<RawEntry> {
        nearest.sort_unstable_by_key(|(_, entry)| entry.kind);
        let raw = |(_, entry): (u32, Entry)| RawEntry {
            kind: entry.kind,
            body: entry.body,
            top_level: match entry.place {
                EntryPlace::TopLevel(site) => Some(site),
                EntryPlace::Definition | EntryPlace::Registration(_) => None,
            },
            route: (entry.kind == EntryKind::Request).then(|| find_route(self.linker, &entry)).flatten(),
        };
        nearest.into_iter().map(raw).collect()
    }

    /// Returns when a body runs if no entry point that reaches it serves requests: only the start, the end, a reload,
    /// commands and tests do.
    pub(crate) fn time_outside_serving(&self, body: BodyRef) -> Option<When> {
        let reaching = self.find_reaching(body);
        if reaching.may_serve {
            return None;
        }
        let kinds = || reaching.nearest.iter().map(|(_, entry)| entry.kind).filter(|&kind| kind != EntryKind::Test);
        // A body that only tests call has other callers, too, outside of the project.
        kinds().next()?;
        if kinds().all(|kind| kind == EntryKind::Command) {
            return Some(When::Command);
        }
        let serves_nothing =
            |kind| matches!(kind, EntryKind::Start | EntryKind::Stop | EntryKind::Reload | EntryKind::Command);
        kinds().all(serves_nothing).then_some(When::StartUp)
    }

    /// True if all callers of a body begin at private functions that the project names nowhere, or in modules that it does not load
    /// (Python).
    pub(crate) fn is_never_reached(&self, body: BodyRef) -> bool {
        let reaching = self.find_reaching(body);
        !reaching.may_be_used && !reaching.nearest.is_empty()
    }

    fn find_reaching(&self, body: BodyRef) -> Rc<Reaching> {
        self.linker.query(&self.reaching, body, Rc::default, || Rc::new(self.collect_reaching(body)))
    }

    fn predecessors_of(&self, body: BodyRef) -> Rc<[Predecessor]> {
        self.linker.query(&self.predecessors, body, || Rc::from([]), || self.points.find_predecessors(body).into())
    }

    /// Collects the entry points above a body: visits all callers, the nearest first, up to bodies without callers.
    fn collect_reaching(&self, body: BodyRef) -> Reaching {
        let mut reaching = Reaching::default();
        let mut queue = VecDeque::from([(body, RunsOnPath::default(), 0)]);
        let mut visited = FxHashSet::from_iter([(body, RunsOnPath::default())]);
        while let Some((callee, runs, distance)) = queue.pop_front() {
            for &predecessor in self.predecessors_of(callee).iter() {
                match predecessor {
                    Predecessor::Entry(entry) => self.add_entry(&mut reaching, distance, entry, runs),
                    Predecessor::Caller(CallingBody { body: caller, run_kind }) => {
                        let runs = RunsOnPath {
                            has_task: runs.has_task || run_kind == RunKind::Task,
                            may_serve: runs.may_serve || run_kind == RunKind::Loop,
                            has_loop: runs.has_loop || matches!(run_kind, RunKind::Loop | RunKind::QuietLoop),
                        };
                        if visited.len() < MOST_BODIES && visited.insert((caller, runs)) {
                            queue.push_back((caller, runs, distance + 1));
                        }
                    }
                }
            }
        }
        if visited.len() >= MOST_BODIES {
            let entry = Entry { kind: EntryKind::Unknown, body, place: EntryPlace::Definition, serves_nothing: false };
            reaching.may_be_used = true;
            reaching.add(u32::MAX, entry);
        }
        if reaching.nearest.is_empty() {
            // The bodies only call each other.
            reaching.may_be_used = true;
            reaching
                .add(0, Entry { kind: EntryKind::None, body, place: EntryPlace::Definition, serves_nothing: false });
        }
        reaching
    }

    fn add_entry(&self, reaching: &mut Reaching, distance: u32, mut entry: Entry, runs: RunsOnPath) {
        // A task that is begun at the start runs while the program serves.
        if runs.has_task && matches!(entry.kind, EntryKind::Start | EntryKind::Stop) {
            return;
        }
        let may_serve = runs.may_serve || runs.has_task || runs.has_loop && entry.kind == EntryKind::Start;
        entry.serves_nothing &= !may_serve;
        let is_unused = || is_never_named(self.linker, entry.body) || is_never_loaded(self.linker, entry.body.file);
        reaching.may_be_used |= entry.kind != EntryKind::None || !is_unused();
        reaching.add(distance, entry);
    }
}
