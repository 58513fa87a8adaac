//! Bodies that a greenlet enters from outside of the project while it serves requests or runs beside them. Code that starts or stops the
//! program is not among them.

use blocklint_core::{Confidence, Context};
use blocklint_facts::{BodyKind, Flow};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::models::unit_facts::Units;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::{HandoverContext, HandoverRow, Passes, Runs, Selector, Uses, Via};

use crate::callers::Callers;

/// Methods that end an object's life.
const ENDINGS: &[&str] = &[
    "__del__",
    "__exit__",
    "close",
    "shutdown",
    "stop",
    "terminate",
    "teardown",
    "tearDown",
    "cleanup",
    "dispose",
    "on_exit",
    "main",
    "disconnect",
];

/// Finds the bodies that greenlets enter, and remembers the answers.
pub struct Entries<'e, 'l, 'a> {
    linker: &'l Linker<'a>,
    units: &'e Units,
    callers: &'e Callers<'l, 'a>,
    known: Table<BodyRef, Option<Confidence>, Plain>,
}

impl<'e, 'l, 'a> Entries<'e, 'l, 'a> {
    /// Returns the tables without any answer.
    pub fn new(linker: &'l Linker<'a>, units: &'e Units, callers: &'e Callers<'l, 'a>) -> Self {
        Entries { linker, units, callers, known: Table::default() }
    }

    /// Returns how sure it is that a greenlet enters a body from outside of the project while it serves; none if it does not.
    pub fn of(&self, body: BodyRef) -> Option<Confidence> {
        self.linker.query(&self.known, body, Option::default, || self.find(body))
    }

    fn find(&self, body: BodyRef) -> Option<Confidence> {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let row = linker.program.body(body);
        if linker.program.is_test(body.file) || matches!(row.kind, BodyKind::Module | BodyKind::Class) {
            return None;
        }
        if matches!(row.flow, Flow::Coroutine | Flow::AsyncGenerator) {
            return None;
        }
        let registered = self.registered(body);
        if registered.contains(&Registration::Serves) {
            return Some(Confidence::High);
        }
        if !registered.is_empty() || linker.program.is_command_line(body.file) {
            return None;
        }
        if row.kind != BodyKind::Function || ENDINGS.contains(&facts.text(row.name)) || self.is_hook(body) {
            return None;
        }
        // A constructor runs where the instance is made: at a module's top level, if no other code makes one.
        if row.class.is_some() && matches!(facts.text(row.name), "__init__" | "__new__" | "__post_init__") {
            return None;
        }
        if row.class.is_none() && row.parent.get().is_some_and(|parent| facts.body(parent).kind == BodyKind::Function) {
            // A nested function that only the function around it names: its use is not known.
            return facts.list(row.decorators).is_empty().then_some(Confidence::Low).or(Some(Confidence::Medium));
        }
        let known = self.callers.call_sites(body);
        known.iter().all(|site| linker.program.is_test(site.file)).then_some(Confidence::Medium)
    }

    /// Returns how a body is registered: by decorators, overrides, calls that take it.
    fn registered(&self, body: BodyRef) -> Vec<Registration> {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let row = linker.program.body(body);
        let mut found = Vec::new();
        for (path, made) in linker.decorators(body) {
            let rows = linker.library.handovers(path);
            let holds = |row: &HandoverRow| self.holds(row, body.file, made);
            let first = rows.of_via(Via::Decorator).map(|found| found.row).find(|row| holds(row));
            found.extend(first.and_then(|row| registration(row, self.real_threads(body.file))));
        }
        if let Some(class) = row.class.get() {
            for ancestor in linker.mro(body.file.class_ref(class)).iter() {
                if let Ancestor::Library(ty, _) = *ancestor {
                    let path = linker.library.member(ty, facts.text(row.name));
                    let rows = linker.library.handovers(path);
                    let first =
                        rows.of_via(Via::Override).map(|found| found.row).find(|row| self.holds(row, body.file, None));
                    found.extend(first.and_then(|row| registration(row, self.real_threads(body.file))));
                }
            }
        }
        let literal = matches!(row.kind, BodyKind::Lambda);
        if literal {
            for (mention, _) in linker.program.uses_of_callable(body).iter() {
                if let Mention::Arg(site, arg) = mention {
                    found.extend(self.taken(body, body.file.site_ref(site), arg, true));
                }
            }
        } else {
            for name in linker.body_names(body) {
                for &(file, sym) in linker.program.occurrences(name) {
                    for (mention, _) in linker.program.index_of(file).mentions_named(sym).iter() {
                        if let Mention::Arg(site, arg) = mention {
                            found.extend(self.taken(body, file.site_ref(site), arg, false));
                        }
                    }
                }
            }
        }
        found
    }

    fn real_threads(&self, file: FileId) -> bool {
        self.units.of(self.linker, file).real_threads
    }

    fn holds(&self, row: &HandoverRow, file: FileId, made: Option<SiteRef>) -> bool {
        let unit = self.units.of(self.linker, file);
        let (switches, others): (Vec<_>, Vec<_>) = row
            .when
            .iter()
            .cloned()
            .partition(|condition| matches!(condition.subject, blocklint_models::Subject::Switch(_)));
        switches.iter().all(|condition| unit.shows(condition))
            && match made {
                Some(site) => self.linker.conditions_hold(&others, &row.unless, site, EnvId::NONE),
                None => others.is_empty(),
            }
    }

    /// Returns how a call runs a body that is its argument.
    fn taken(&self, body: BodyRef, site: SiteRef, arg: u32, is_literal: bool) -> Vec<Registration> {
        let linker = self.linker;
        let form = linker.program.args_of(site)[arg as usize].value;
        if !is_literal {
            let typed = linker.eval(linker.scope_of(site, EnvId::NONE), form);
            let is_body = |val: &Val| matches!(*val, Val::Fn { body: of, .. } if of == body);
            if !linker.values.members(typed.value).iter().any(is_body) {
                return Vec::new();
            }
        }
        let mut found = Vec::new();
        for val in linker.values.members(linker.callee(site, EnvId::NONE).value) {
            let (Val::External(path) | Val::Method { path, .. }) = val else { continue };
            for row in linker.library.handovers(path).iter() {
                let Selector::Argument(argument) = &row.selector else { continue };
                if linker.is_argument(site, arg, argument) && self.holds(row.row, site.file, Some(site)) {
                    found.extend(registration(row.row, self.real_threads(site.file)));
                }
                // `partial(f, x)` is handed over in its place.
                let wraps = row.wraps && row.passes == Some(Passes::Rest);
                if wraps && linker.is_argument(site, arg, argument) {
                    for (mention, _) in linker.program.uses_of_result(site).iter() {
                        if let Mention::Arg(outer, at) = mention {
                            let outer = site.file.site_ref(outer);
                            if outer != site {
                                found.extend(self.taken(body, outer, at, true));
                            }
                        }
                    }
                }
            }
        }
        found
    }

    /// True if a function is one that a server calls by its name when a process begins or ends (`worker_exit` of a configuration file).
    fn is_hook(&self, body: BodyRef) -> bool {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let row = linker.program.body(body);
        let name = facts.text(row.name);
        let file = &linker.program.files[body.file.index()].relative;
        let file = file.rsplit('/').next().unwrap_or(file);
        let models = linker.library.of(blocklint_core::Language::Python);
        row.class.is_none()
            && models.named(name).any(|named| named.paths(Uses::OVERRIDE).any(|path| path.path.contains(".<hooks>.")))
            && models.switches().any(|(switch, _)| {
                switch.setting.iter().any(|setting| match setting {
                    blocklint_models::Setting::File { file: pattern, .. } => {
                        blocklint_models::segment_matches(pattern, file)
                    }
                    blocklint_models::Setting::Command { .. } => false,
                })
            })
    }
}

/// The way in which a registered callable is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Registration {
    /// It runs in a greenlet while others are served.
    Serves,
    /// It runs in a real thread, in another process, at start-up or exit, or at an unknown time.
    Elsewhere,
}

fn registration(row: &HandoverRow, real_threads: bool) -> Option<Registration> {
    if row.wraps {
        return None;
    }
    let runs = match &row.context {
        HandoverContext::Is(runs) => *runs,
        HandoverContext::BySync { sync, .. } => *sync,
        // An executor's threads are greenlets where threads are patched.
        HandoverContext::Of(_) => Runs::In(Context::Worker),
    };
    let elsewhere = row.native
        || row.process
        || !row.serves()
        || runs == Runs::In(Context::Unknown)
        || real_threads && runs == Runs::In(Context::Worker) && !matches!(row.selector, Selector::Via(Via::Decorator));
    match runs {
        Runs::Caller | Runs::Chain => None,
        _ if elsewhere => Some(Registration::Elsewhere),
        Runs::In(_) => Some(Registration::Serves),
    }
}
