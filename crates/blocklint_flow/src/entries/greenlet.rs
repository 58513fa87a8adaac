//! Greenlet entry points (gevent, eventlet): bodies that a library enters in a greenlet while the program serves
//! requests. Code that starts or stops the program is not among them.

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

/// Functions that begin or end the life of an object or a program.
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

/// Finds the bodies that greenlets enter, and caches the results.
pub struct GreenletEntries<'e, 'l, 'a> {
    linker: &'l Linker<'a>,
    units: &'e Units,
    callers: &'e Callers<'l, 'a>,
    known: Table<BodyRef, Option<Confidence>, Plain>,
}

impl<'e, 'l, 'a> GreenletEntries<'e, 'l, 'a> {
    /// Returns empty tables for one program.
    pub fn new(linker: &'l Linker<'a>, units: &'e Units, callers: &'e Callers<'l, 'a>) -> Self {
        GreenletEntries { linker, units, callers, known: Table::default() }
    }

    /// Returns the confidence that a greenlet enters a body while the program serves. `None` if no greenlet does.
    pub fn find_confidence(&self, body: BodyRef) -> Option<Confidence> {
        self.linker.query(&self.known, body, Option::default, || self.search_confidence(body))
    }

    fn search_confidence(&self, body: BodyRef) -> Option<Confidence> {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let row = linker.program.body(body);
        if linker.program.is_test(body.file) || matches!(row.kind, BodyKind::Module | BodyKind::Class) {
            return None;
        }
        if matches!(row.flow, Flow::Coroutine | Flow::AsyncGenerator) {
            return None;
        }
        let registrations = self.find_registrations(body);
        if registrations.contains(&Registration::Serves) {
            return Some(Confidence::High);
        }
        if !registrations.is_empty() || linker.program.is_command_line(body.file) {
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
            // The use of a nested function is not known, because only the enclosing function refers to it.
            return facts.list(row.decorators).is_empty().then_some(Confidence::Low).or(Some(Confidence::Medium));
        }
        let call_sites = self.callers.call_sites(body);
        call_sites.iter().all(|site| linker.program.is_test(site.file)).then_some(Confidence::Medium)
    }

    /// Returns how a body is registered: by decorators, by overrides and by calls that take it.
    fn find_registrations(&self, body: BodyRef) -> Vec<Registration> {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let row = linker.program.body(body);
        let mut registrations = Vec::new();
        for (path, call) in linker.decorators(body) {
            let rows = linker.library.handovers(path);
            let holds = |row: &HandoverRow| self.holds(row, body.file, call);
            let first = rows.rows_of_via(Via::Decorator).map(|found| found.row).find(|row| holds(row));
            registrations.extend(first.and_then(|row| registration_of(row, self.has_real_threads(body.file))));
        }
        if let Some(class) = row.class.get() {
            for ancestor in linker.mro(body.file.class_ref(class)).iter() {
                if let Ancestor::Library(ty, _) = *ancestor {
                    let path = linker.library.member(ty, facts.text(row.name));
                    let rows = linker.library.handovers(path);
                    let first = rows
                        .rows_of_via(Via::Override)
                        .map(|found| found.row)
                        .find(|row| self.holds(row, body.file, None));
                    registrations.extend(first.and_then(|row| registration_of(row, self.has_real_threads(body.file))));
                }
            }
        }
        if matches!(row.kind, BodyKind::Lambda) {
            for (mention, _) in linker.program.uses_of_callable(body).iter() {
                if let Mention::Arg(site, arg) = mention {
                    registrations.extend(self.registrations_by_argument(body, body.file.site_ref(site), arg, true));
                }
            }
        } else {
            for name in linker.body_names(body) {
                for &(file, sym) in linker.program.occurrences(name) {
                    for (mention, _) in linker.program.index_of(file).mentions_named(sym).iter() {
                        if let Mention::Arg(site, arg) = mention {
                            registrations.extend(self.registrations_by_argument(body, file.site_ref(site), arg, false));
                        }
                    }
                }
            }
        }
        registrations
    }

    /// True if the threads of a file are threads of the system, because they are not patched.
    fn has_real_threads(&self, file: FileId) -> bool {
        self.units.of(self.linker, file).real_threads
    }

    /// True if the conditions of a handover row hold in a file, for a call of its path if there is one.
    fn holds(&self, row: &HandoverRow, file: FileId, call: Option<SiteRef>) -> bool {
        let unit = self.units.of(self.linker, file);
        let (switches, others): (Vec<_>, Vec<_>) = row
            .when
            .iter()
            .cloned()
            .partition(|condition| matches!(condition.subject, blocklint_models::Subject::Switch(_)));
        switches.iter().all(|condition| unit.shows(condition))
            && match call {
                Some(site) => self.linker.conditions_hold(&others, &row.unless, site, EnvId::NONE),
                None => others.is_empty(),
            }
    }

    /// Returns how a call registers a body that is its argument.
    fn registrations_by_argument(&self, body: BodyRef, site: SiteRef, arg: u32, is_literal: bool) -> Vec<Registration> {
        let linker = self.linker;
        let form = linker.program.args_of(site)[arg as usize].value;
        if !is_literal {
            let typed = linker.eval(linker.scope_of(site, EnvId::NONE), form);
            let is_body = |val: &Val| matches!(*val, Val::Fn { body: function, .. } if function == body);
            if !linker.values.members(typed.value).iter().any(is_body) {
                return Vec::new();
            }
        }
        let mut registrations = Vec::new();
        for val in linker.values.members(linker.callee(site, EnvId::NONE).value) {
            let (Val::External(path) | Val::Method { path, .. }) = val else { continue };
            for row in linker.library.handovers(path).iter() {
                let Selector::Argument(argument) = &row.selector else { continue };
                if linker.is_argument(site, arg, argument) && self.holds(row.row, site.file, Some(site)) {
                    registrations.extend(registration_of(row.row, self.has_real_threads(site.file)));
                }
                // The result of `partial(f, x)` is passed on instead of the body.
                let wraps = row.wraps && row.passes == Some(Passes::Rest);
                if wraps && linker.is_argument(site, arg, argument) {
                    for (mention, _) in linker.program.uses_of_result(site).iter() {
                        if let Mention::Arg(outer, index) = mention {
                            let outer = site.file.site_ref(outer);
                            if outer != site {
                                registrations.extend(self.registrations_by_argument(body, outer, index, true));
                            }
                        }
                    }
                }
            }
        }
        registrations
    }

    /// True if a function is a hook that a server calls by its name when a process begins or ends: `worker_exit` in a
    /// configuration file.
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

/// How a registered callable is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Registration {
    /// In a greenlet, while the program serves.
    Serves,
    /// In a real thread, in another process, at start-up or exit, or at an unknown time.
    Elsewhere,
}

/// Returns how a callable that a handover row registers is run. `None` if the row registers nothing.
fn registration_of(row: &HandoverRow, has_real_threads: bool) -> Option<Registration> {
    if row.wraps {
        return None;
    }
    let runs = match &row.context {
        HandoverContext::Is(runs) => *runs,
        HandoverContext::BySync { sync, .. } => *sync,
        // An executor's threads are greenlets if threads are patched.
        HandoverContext::Of(_) => Runs::In(Context::Worker),
    };
    let is_elsewhere = row.native
        || row.process
        || !row.serves()
        || runs == Runs::In(Context::Unknown)
        || has_real_threads
            && runs == Runs::In(Context::Worker)
            && !matches!(row.selector, Selector::Via(Via::Decorator));
    match runs {
        Runs::Caller | Runs::Chain => None,
        _ if is_elsewhere => Some(Registration::Elsewhere),
        Runs::In(_) => Some(Registration::Serves),
    }
}
