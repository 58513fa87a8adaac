//! Java: calls that are made for few of those that come by, or hardly ever: by a setting, for what is there, for what is not kept yet.

use blocklint_facts::{AltKind, AssignKind, BodyFlags, BodyId, BodyKind, Comparison, Form, FormId, RegionKind, Sym};

use rustc_hash::FxHashMap;

use crate::code::regions::{around, is_beside};
use crate::idioms;
use crate::judge::memo::Memo;
use crate::link::Link;
use crate::link::completed::is_same;
use crate::link::names::{self, java};
use crate::program::ids::{BodyRef, FileId, SiteRef};

/// What is remembered of calls.
#[derive(Default)]
pub(crate) struct Rare {
    /// The calls of a file that fail on an event loop's thread: their bodies and where they stand.
    demands: FxHashMap<FileId, Vec<(BodyId, u32)>>,
}

impl<'a> Link<'a> {
    /// Whether a call looks up a host that is known to be a written address.
    pub(crate) fn is_given_host_address(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        java::looks_up_host(facts.text(facts.site(site.site).name))
            && (self.demands_address(site) || self.is_given_address(site))
    }

    /// Whether a branch around a call, or around the literal that it stands in, asks for something.
    pub(crate) fn is_asked_around(&self, site: SiteRef, asks: impl Fn(&Self, FormId) -> bool) -> bool {
        let facts = self.program.facts(site.file);
        self.regions_outward(site).into_iter().any(|id| {
            let region = facts.region(id);
            region.kind == RegionKind::Then && region.test.is_some() && asks(self, region.test)
        })
    }

    /// Whether a call is what is done where there is no executor to do it:
    /// `if (executor != null) { executor.execute(task); } else { task.run(); }`.
    pub(crate) fn runs_where_no_executor_is(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        around(facts, facts.site(site.site).at.region).any(|id| {
            let region = facts.region(id);
            let asks_for_nothing = match (region.kind, region.test.get().map(|test| facts.form(test))) {
                (RegionKind::Else, Some(Form::Compare(Comparison::NotEq, left, right)))
                | (RegionKind::Then, Some(Form::Compare(Comparison::Eq, left, right))) => {
                    facts.form(left) == Form::None || facts.form(right) == Form::None
                }
                _ => false,
            };
            asks_for_nothing
                && facts.sites.iter().any(|other| {
                    [java::EXECUTE, java::SUBMIT].iter().any(|verb| facts.text(other.name).starts_with(verb))
                        && is_beside(facts, id, other.at.region)
                })
        })
    }

    /// Whether a call stands behind a flag that only tests set, or nobody.
    pub(crate) fn asks_for_flag_of_tests(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        around(facts, facts.site(site.site).at.region).any(|id| {
            let region = facts.region(id);
            let holds = match region.kind {
                RegionKind::Then | RegionKind::Loop => true,
                RegionKind::Else => false,
                _ => return false,
            };
            let flag = region.test.get().and_then(|test| self.flag_asked(site.file, test, holds));
            flag.is_some_and(|flag| self.is_flag_of_tests(site.file, flag))
        })
    }

    /// The field that is known to be true where a test comes out so.
    fn flag_asked(&self, file: FileId, test: FormId, holds: bool) -> Option<Sym> {
        let facts = self.program.facts(file);
        match facts.form(test) {
            Form::Not(inner) => self.flag_asked(file, inner, !holds),
            Form::Var(var) if holds && facts.body(facts.var(var).body).kind == BodyKind::Class => {
                Some(facts.var(var).name)
            }
            Form::Attr(base, name) if holds && facts.form(base) == Form::This => Some(name),
            _ => None,
        }
    }

    /// Whether all that sets a field stands in methods that tests alone call.
    fn is_flag_of_tests(&self, file: FileId, flag: Sym) -> bool {
        let facts = self.program.facts(file);
        let mut any = false;
        // A method may have the name of a field.
        for row in facts.assigns.iter().filter(|row| row.kind != AssignKind::Definition) {
            let is_it = match facts.form(row.target) {
                Form::Var(var) => {
                    facts.var(var).name == flag && facts.body(facts.var(var).body).kind == BodyKind::Class
                }
                Form::Attr(base, name) => name == flag && facts.form(base) == Form::This,
                _ => false,
            };
            let sets =
                row.value.get().is_some_and(|value| !matches!(facts.form(value), Form::Bool(false) | Form::None));
            if !is_it || !sets {
                continue;
            }
            any = true;
            if !self.is_called_by_tests(BodyRef { file, body: facts.body_of(row.at) }) {
                return false;
            }
        }
        any
    }

    /// Whether a method is visible for tests alone, or called by nobody but such and tests.
    fn is_called_by_tests(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        let row = facts.body(body.body);
        if row.kind != BodyKind::Function || names::is_constructor(facts.language, facts.text(row.name)) {
            return false;
        }
        self.is_visible_for_tests(body)
            || !row.flags.has(BodyFlags::OVERRIDES)
                && self.uses_of_body(body).iter().all(|of| {
                    self.program.is_test(of.file()) || self.is_visible_for_tests(self.program.body_of_site(of.site()))
                })
    }

    /// Whether a call reads one of a program's settings, which are kept: `CONFIG.getTimeout()`.
    pub(crate) fn reads_setting(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let Some(of) = self.receiver_form(site) else { return false };
        let holder = match facts.form(of) {
            Form::Var(var) => facts.text(facts.var(var).name),
            Form::Attr(_, name) | Form::Name(name) => facts.text(name),
            _ => return false,
        };
        java::holds_settings(holder) && java::is_getter(facts.text(facts.site(site.site).name))
    }

    /// Whether a call before, in the same body, fails on an event loop's thread.
    pub(crate) fn demands_worker(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let here = facts.site(site.site).at;
        let body = facts.body_of(here);
        let mut memo = self.above::<Memo>().java_rare.borrow_mut();
        let demands = memo.demands.entry(site.file).or_insert_with(|| {
            let all = facts.sites.iter().filter(|row| java::demands_worker(facts.text(row.name)));
            all.map(|row| (facts.body_of(row.at), row.at.position)).collect()
        });
        demands.iter().any(|&(of, position)| of == body && position < here.position)
    }

    /// Whether a call before, in the same body, fails for a host that is no written address.
    pub(crate) fn demands_address(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let here = facts.site(site.site).at;
        let body = facts.body_of(here);
        facts.sites.iter().any(|other| {
            other.at.position < here.position
                && facts.body_of(other.at) == body
                && java::demands_address(facts.text(other.name))
        })
    }

    /// Whether a call stands where a program's settings ask for it.
    pub(crate) fn is_switched_on(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let mut at = facts.site(site.site).at.region;
        while let Some(id) = at.get() {
            let region = facts.region(id);
            if region.kind == RegionKind::Then && region.test.is_some() && self.asks_for_setting(site.file, region.test)
            {
                return true;
            }
            at = region.parent;
        }
        false
    }

    /// Whether the host is what a socket is bound or connected to, or an address by its name.
    pub(crate) fn is_given_address(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        facts.args_of(site.site).iter().any(|arg| match facts.form(arg.value) {
            Form::Result(call) => java::gives_address(facts.text(facts.site(call).name)),
            Form::Var(var) => idioms::java::is_address(facts.text(facts.var(var).name)),
            _ => false,
        })
    }

    /// Whether a test asks a program's settings if something is wanted: `if (config.isDnsEnabled())`.
    pub(crate) fn asks_for_setting(&self, file: FileId, test: FormId) -> bool {
        let facts = self.program.facts(file);
        match facts.form(test) {
            Form::Alt(AltKind::And, list) => facts.list(list).iter().any(|&part| self.asks_for_setting(file, part)),
            Form::Result(call) => {
                let row = facts.site(call);
                if idioms::java::asks_for_details(facts.text(row.name))
                    || idioms::java::asks_for_mode(facts.text(row.name))
                {
                    return true;
                }
                if !facts.args_of(call).is_empty() || !java::asks_if_wanted(facts.text(row.name)) {
                    return false;
                }
                let Some(of) = self.receiver_form(SiteRef { file, site: call }) else { return false };
                let holder = match facts.form(of) {
                    Form::Var(var) => facts.text(facts.var(var).name),
                    Form::Attr(_, name) | Form::Name(name) => facts.text(name),
                    Form::Result(from)
                        if self
                            .class_of_settings(SiteRef { file, site: from })
                            .is_some_and(idioms::java::keeps_settings) =>
                    {
                        return true;
                    }
                    Form::Result(from) => facts.text(facts.site(from).name),
                    _ => return false,
                };
                java::holds_settings(holder)
            }
            _ => false,
        }
    }

    /// Whether a test asks if what a call stands on has been made: `if (client.isInitialized()) client.get().close();`.
    pub(crate) fn asks_if_made(&self, site: SiteRef, test: FormId) -> bool {
        let facts = self.program.facts(site.file);
        let Form::Result(call) = facts.form(test) else { return false };
        if !java::asks_if_made(facts.text(facts.site(call).name)) {
            return false;
        }
        let Some(asked) = self.receiver_form(SiteRef { site: call, ..site }) else { return false };
        let mut at = site;
        for _ in 0..4 {
            let Some(receiver) = self.receiver_form(at) else { return false };
            if is_same(facts, receiver, asked) {
                return true;
            }
            let Form::Result(before) = facts.form(receiver) else { return false };
            at = SiteRef { site: before, ..site };
        }
        false
    }
}
