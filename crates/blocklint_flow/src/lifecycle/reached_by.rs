//! The entry points that reach a body over all its callers: requests, messages, timers, tasks, start and end of the program, commands,
//! tests, or none. [`entry_points`](crate::lifecycle::entry_points) tells the ways into one body; this file climbs over them.

use std::collections::VecDeque;
use std::rc::Rc;

use blocklint_core::EntryKind;
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::program::ids::{BodyRef, SiteRef};
use rustc_hash::FxHashSet;

use crate::callers::Callers;
use crate::lifecycle::entry_points::{At, CallingBody, Entry, EntryPoints, RunsBy, WayIn};
use crate::lifecycle::never_loaded::is_never_loaded;
use crate::lifecycle::phase::When;
use crate::lifecycle::route::route_of;
use crate::lifecycle::unused::is_never_named;

/// Bodies above one body beyond which the rest is not known.
const MOST_BODIES: usize = 4_000;

/// One kind of entry points, with the nearest of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawEntry {
    /// The kind.
    pub kind: EntryKind,
    /// The function; for code at the top level of a file the function that it calls.
    pub body: BodyRef,
    /// The call at the top level of a file, which stands for the place.
    pub top_level: Option<SiteRef>,
    /// The method and the path of a route.
    pub route: Option<String>,
}

/// All entry points that reach one body, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Reaching {
    /// For each kind the nearest entry with its distance.
    nearest: Vec<(u32, Entry)>,
    /// True if an entry may serve, though its kind does not say so: a `main`.
    may_serve: bool,
    /// True if an entry may be used by code outside of the project: a public function.
    may_be_used: bool,
}

impl Reaching {
    fn add(&mut self, distance: u32, entry: Entry) {
        self.may_serve |= !entry.is_aside;
        match self.nearest.iter_mut().find(|(_, known)| known.kind == entry.kind) {
            Some(known) => *known = (*known).min((distance, entry)),
            None => self.nearest.push((distance, entry)),
        }
    }
}

/// How a path from an entry point down to a body runs what is below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Through {
    /// A task, which outlives the start of the program that began it.
    task: bool,
    /// A loop that may serve.
    may_serve: bool,
    /// A loop, quiet or not.
    driven: bool,
}

/// The entry points that reach bodies, remembered.
pub struct ReachedBy<'s, 'l, 'a> {
    linker: &'l Linker<'a>,
    points: EntryPoints<'s, 'l, 'a>,
    ways: Table<BodyRef, Rc<[WayIn]>, Plain>,
    reaching: Table<BodyRef, Rc<Reaching>, Plain>,
}

impl<'s, 'l, 'a> ReachedBy<'s, 'l, 'a> {
    /// Returns the answers, of which none was asked yet.
    pub fn new(linker: &'l Linker<'a>, callers: &'s Callers<'l, 'a>) -> Self {
        let points = EntryPoints::new(linker, callers);
        ReachedBy { linker, points, ways: Table::default(), reaching: Table::default() }
    }

    /// Returns the kinds of entry points that reach a body, in the order of [`EntryKind`], each with the nearest entry.
    pub fn of(&self, body: BodyRef) -> Vec<RawEntry> {
        self.raw(self.reaching(body).nearest.clone())
    }

    /// Returns the kinds of entry points that a call in a body makes of the function that it is given.
    pub fn of_handed(&self, body: BodyRef, site: SiteRef) -> Vec<RawEntry> {
        let mut kinds = self.points.kinds_handed(site);
        if kinds.is_empty() {
            kinds.push(EntryKind::Unknown);
        }
        let entry = |kind| (0, Entry { kind, body, at: At::Registration(site), is_aside: false });
        self.raw(kinds.into_iter().map(entry).collect())
    }

    fn raw(&self, mut nearest: Vec<(u32, Entry)>) -> Vec<RawEntry> {
        nearest.sort_unstable_by_key(|(_, entry)| entry.kind);
        let raw = |(_, entry): (u32, Entry)| RawEntry {
            kind: entry.kind,
            body: entry.body,
            top_level: match entry.at {
                At::TopLevel(site) => Some(site),
                At::Definition | At::Registration(_) => None,
            },
            route: (entry.kind == EntryKind::Request).then(|| route_of(self.linker, &entry)).flatten(),
        };
        nearest.into_iter().map(raw).collect()
    }

    /// Returns when a body runs if entry points of the start, the end, a reload, commands and tests are all that reach it.
    pub(crate) fn aside(&self, body: BodyRef) -> Option<When> {
        let reaching = self.reaching(body);
        if reaching.may_serve {
            return None;
        }
        let kinds = || reaching.nearest.iter().map(|(_, entry)| entry.kind).filter(|&kind| kind != EntryKind::Test);
        // A body that only tests call has other callers, too, outside of the project.
        kinds().next()?;
        if kinds().all(|kind| kind == EntryKind::Command) {
            return Some(When::Command);
        }
        let is_aside =
            |kind| matches!(kind, EntryKind::Start | EntryKind::Stop | EntryKind::Reload | EntryKind::Command);
        kinds().all(is_aside).then_some(When::StartUp)
    }

    /// True if all callers of a body begin at private functions that the project names nowhere, or in modules that it does not load
    /// (Python).
    pub(crate) fn is_never_reached(&self, body: BodyRef) -> bool {
        let reaching = self.reaching(body);
        !reaching.may_be_used && !reaching.nearest.is_empty()
    }

    fn reaching(&self, body: BodyRef) -> Rc<Reaching> {
        self.linker.query(&self.reaching, body, Rc::default, || Rc::new(self.climb(body)))
    }

    fn ways_into(&self, body: BodyRef) -> Rc<[WayIn]> {
        self.linker.query(&self.ways, body, || Rc::from([]), || self.points.ways_into(body).into())
    }

    /// Goes up over all callers, the nearest first, to where no caller is left.
    fn climb(&self, body: BodyRef) -> Reaching {
        let mut found = Reaching::default();
        let mut open = VecDeque::from([(body, Through::default(), 0)]);
        let mut seen = FxHashSet::from_iter([(body, Through::default())]);
        while let Some((at, through, distance)) = open.pop_front() {
            for &way in self.ways_into(at).iter() {
                match way {
                    WayIn::Entry(entry) => self.add(&mut found, distance, entry, through),
                    WayIn::Caller(CallingBody { body: caller, by }) => {
                        let through = Through {
                            task: through.task || by == RunsBy::Task,
                            may_serve: through.may_serve || by == RunsBy::Loop,
                            driven: through.driven || matches!(by, RunsBy::Loop | RunsBy::QuietLoop),
                        };
                        if seen.len() < MOST_BODIES && seen.insert((caller, through)) {
                            open.push_back((caller, through, distance + 1));
                        }
                    }
                }
            }
        }
        if seen.len() >= MOST_BODIES {
            let entry = Entry { kind: EntryKind::Unknown, body, at: At::Definition, is_aside: false };
            found.may_be_used = true;
            found.add(u32::MAX, entry);
        }
        if found.nearest.is_empty() {
            // Bodies that only call each other.
            found.may_be_used = true;
            found.add(0, Entry { kind: EntryKind::None, body, at: At::Definition, is_aside: false });
        }
        found
    }

    fn add(&self, found: &mut Reaching, distance: u32, mut entry: Entry, through: Through) {
        // A task that is begun at start runs beside what is served.
        if through.task && matches!(entry.kind, EntryKind::Start | EntryKind::Stop) {
            return;
        }
        let may_serve = through.may_serve || through.task || through.driven && entry.kind == EntryKind::Start;
        entry.is_aside &= !may_serve;
        let is_unused = || is_never_named(self.linker, entry.body) || is_never_loaded(self.linker, entry.body.file);
        found.may_be_used |= entry.kind != EntryKind::None || !is_unused();
        found.add(distance, entry);
    }
}
