//! Greenlet entry points (gevent, eventlet): bodies that a library runs in a greenlet while the program serves
//! requests. Code that starts or stops the program is not among them.

use blocklint_core::{Confidence, Context, Language};
use blocklint_facts::{BodyKind, Flow};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::models::unit_facts::Units;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::{HandoverContext, HandoverRow, Passes, Runs, Selector, Setting, Subject, Uses, Via};

use crate::callers::Callers;

/// Functions that begin or end the life of an object or a program.
const LIFECYCLE_FUNCTIONS: &[&str] = &[
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

/// Finds the bodies that greenlets run, and caches the results.
pub struct GreenletEntries<'e, 'l, 'a> {
    linker: &'l Linker<'a>,
    units: &'e Units,
    callers: &'e Callers<'l, 'a>,
    confidence_by_body: Table<BodyRef, Option<Confidence>, Plain>,
}

impl<'e, 'l, 'a> GreenletEntries<'e, 'l, 'a> {
    /// Returns empty tables for one program.
    pub fn new(linker: &'l Linker<'a>, units: &'e Units, callers: &'e Callers<'l, 'a>) -> Self {
        GreenletEntries { linker, units, callers, confidence_by_body: Table::default() }
    }

    /// Returns the confidence that a greenlet runs a body while the program serves; `None` if no greenlet runs it.
    pub fn find_confidence(&self, body: BodyRef) -> Option<Confidence> {
        self.linker.query(&self.confidence_by_body, body, Option::default, || self.search_confidence(body))
    }

    fn search_confidence(&self, body: BodyRef) -> Option<Confidence> {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let body_facts = linker.program.body(body);
        if linker.program.is_test(body.file) || matches!(body_facts.kind, BodyKind::Module | BodyKind::Class) {
            return None;
        }
        if matches!(body_facts.flow, Flow::Coroutine | Flow::AsyncGenerator) {
            return None;
        }
        let registrations = self.find_registrations(body);
        if registrations.contains(&Registration::Serves) {
            return Some(Confidence::High);
        }
        if !registrations.is_empty() || linker.program.is_command_line(body.file) {
            return None;
        }
        if body_facts.kind != BodyKind::Function
            || LIFECYCLE_FUNCTIONS.contains(&facts.text(body_facts.name))
            || self.is_hook(body)
        {
            return None;
        }
        // A constructor runs where the instance is made: at a module's top level, if no other code makes one.
        if body_facts.class.is_some() && matches!(facts.text(body_facts.name), "__init__" | "__new__" | "__post_init__")
        {
            return None;
        }
        if body_facts.class.is_none()
            && body_facts.parent.get().is_some_and(|parent| facts.body(parent).kind == BodyKind::Function)
        {
            // The use of a nested function is not known, because only the enclosing function refers to it.
            let has_decorators = !facts.list(body_facts.decorators).is_empty();
            return Some(if has_decorators { Confidence::Medium } else { Confidence::Low });
        }
        let call_sites = self.callers.call_sites(body);
        call_sites.iter().all(|site| linker.program.is_test(site.file)).then_some(Confidence::Medium)
    }

    /// Returns the registrations of a body: by decorators, by overrides and by calls that get it as an argument.
    fn find_registrations(&self, body: BodyRef) -> Vec<Registration> {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let body_facts = linker.program.body(body);
        let mut registrations = Vec::new();
        for (path, call) in linker.decorators(body) {
            let rows = linker.library.handovers(path);
            let row_applies = |row: &HandoverRow| self.row_applies(row, body.file, call);
            let matching_row = rows.rows_of_via(Via::Decorator).map(|matched| matched.row).find(|row| row_applies(row));
            registrations.extend(matching_row.and_then(|row| registration_of(row, self.has_real_threads(body.file))));
        }
        if let Some(class) = body_facts.class.get() {
            for ancestor in linker.mro(body.file.class_ref(class)).iter() {
                if let Ancestor::Library(ty, _) = *ancestor {
                    let path = linker.library.member(ty, facts.text(body_facts.name));
                    let rows = linker.library.handovers(path);
                    let matching_row = rows
                        .rows_of_via(Via::Override)
                        .map(|matched| matched.row)
                        .find(|row| self.row_applies(row, body.file, None));
                    registrations
                        .extend(matching_row.and_then(|row| registration_of(row, self.has_real_threads(body.file))));
                }
            }
        }
        if matches!(body_facts.kind, BodyKind::Lambda) {
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
    fn row_applies(&self, row: &HandoverRow, file: FileId, call: Option<SiteRef>) -> bool {
        let unit = self.units.of(self.linker, file);
        let (switches, others): (Vec<_>, Vec<_>) =
            row.when.iter().cloned().partition(|condition| matches!(condition.subject, Subject::Switch(_)));
        switches.iter().all(|condition| unit.shows(condition))
            && match call {
                Some(site) => self.linker.conditions_hold(&others, &row.unless, site, EnvId::NONE),
                None => others.is_empty(),
            }
    }

    /// Returns the registrations of a body by a call that gets it as an argument.
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
            for matched in linker.library.handovers(path).iter() {
                let Selector::Argument(argument) = &matched.selector else { continue };
                if linker.is_argument(site, arg, argument) && self.row_applies(matched.row, site.file, Some(site)) {
                    registrations.extend(registration_of(matched.row, self.has_real_threads(site.file)));
                }
                // The result of `partial(f, x)` is passed on instead of the body.
                let wraps = matched.wraps && matched.passes == Some(Passes::Rest);
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
        let body_facts = linker.program.body(body);
        let name = facts.text(body_facts.name);
        let file = &linker.program.files[body.file.index()].relative;
        let file = file.rsplit('/').next().unwrap_or(file);
        let models = linker.library.of(Language::Python);
        body_facts.class.is_none()
            && models.named(name).any(|named| named.paths(Uses::OVERRIDE).any(|path| path.path.contains(".<hooks>.")))
            && models.switches().any(|(switch, _)| {
                switch.setting.iter().any(|setting| match setting {
                    Setting::File { file: pattern, .. } => blocklint_models::segment_matches(pattern, file),
                    Setting::Command { .. } => false,
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
