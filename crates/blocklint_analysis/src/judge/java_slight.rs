//! Java: calls that hold their thread hardly ever, or a thread that serves nobody, as the whole way to them shows: after a failure, for a
//! host that is an address, before anything is served, in a method that is left to nobody.

use std::cell::{Cell, RefCell};

use blocklint_core::Effect;
use blocklint_facts::{AltKind, BodyId, BodyKind, Comparison, FileFacts, Form, FormId, RegionKind, Sym, VarKind};
use rustc_hash::FxHashMap;

use crate::code::forms::field_of;
use crate::code::forms::{last_name, mentions};
use crate::code::regions::around;
use crate::graph::Way;
use crate::idioms;
use crate::judge::java_made::Objects;
use crate::judge::memo::Memo;
use crate::link::Link;
use crate::link::hierarchy::Ancestor;
use crate::link::memo::remembered;
use crate::link::names::java;
use crate::link::targets::Target;
use crate::link::value::EnvId;
use crate::program::ids::{BodyRef, ClassRef, FileId, SiteRef};

/// What was asked of Java's ways: a root is reached by many, which share most of their calls.
#[derive(Default)]
pub(crate) struct Asked {
    /// Roots by whether only calls lead to them that a class replaces.
    replaced: RefCell<FxHashMap<BodyRef, bool>>,
    /// Roots by whether nobody installs what they belong to.
    pub(crate) installed: RefCell<FxHashMap<BodyRef, bool>>,
    /// Calls before which something was told to close, and listened to.
    pub(crate) after_close: RefCell<FxHashMap<SiteRef, bool>>,
    /// By the file of the root, a call, and what it enters, whether another program is meant.
    other_programs: RefCell<FxHashMap<(FileId, SiteRef, BodyRef), bool>>,
    /// By a call and what it enters, what its object says.
    pub(crate) objects: RefCell<FxHashMap<(SiteRef, BodyRef), Objects>>,
    /// Whether what was passed on the way was asked for since this was last reset.
    pub(crate) asked_way: Cell<bool>,
}

/// Literals within literals.
const DEEPEST: usize = 4;

/// Modules of which each has its own implementation of a method.
const PROGRAMS: usize = 3;

impl<'a> Link<'a> {
    /// Whether the last call of a way is for a host that needs no look-up as a rule: the socket's own address, or what a map of
    /// known hosts lacks.
    pub(crate) fn asks_for_known_host(&self, ways: &[Way]) -> bool {
        let Some(last) = ways.last() else { return false };
        let facts = self.program.facts(last.site.file);
        java::looks_up_host(facts.text(facts.site(last.site.site).name))
            && (ways.iter().any(|way| self.stands_where_map_lacks(way.site))
                || self.is_compared_with_address(last.site)
                || self.is_host_of_socket(ways))
    }

    /// Whether a call stands where a test compares a host with a written address: it is one too.
    fn is_compared_with_address(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let gives_address = |form: Form| match form {
            Form::Result(call) => java::gives_address(facts.text(facts.site(call).name)),
            _ => false,
        };
        self.regions_outward(site)
            .into_iter()
            .any(|id| facts.region(id).test.get().is_some_and(|test| mentions(facts, test, 6, &gives_address)))
    }

    /// Whether a way leads to the implementation that one module has of a method, and the module where it begins has one of its own: each of
    /// several programs brings its own.
    pub(crate) fn is_of_another_program(
        &self,
        root: BodyRef,
        ways: &[Way],
        body_of: &dyn Fn(&Way) -> Option<BodyRef>,
    ) -> bool {
        let Some(home) = self.java_module_of(root.file) else { return false };
        ways.iter().any(|way| {
            let Some(taken) = body_of(way).filter(|_| way.shared) else { return false };
            let key = (root.file, way.site, taken);
            remembered(&self.above::<Memo>().java_asked.other_programs, key, || {
                self.is_implemented_at_home(root.file, home, way.site, taken)
            })
        })
    }

    /// Whether a call from a module enters another module's implementation of a method of which it has its own.
    fn is_implemented_at_home(&self, from: FileId, home: usize, site: SiteRef, taken: BodyRef) -> bool {
        self.java_module_of(taken.file).is_some_and(|module| module != home)
            && self.targets(site, EnvId::NONE).list.iter().any(|target| {
                let Target::Overrides { class, name } = *target else { return false };
                let all = self.overrides(class, name);
                let real = all.iter().filter(|of| !self.program.is_test(of.file) && !self.is_stub(**of));
                let mut modules: Vec<_> = real.map(|of| self.java_module_of(of.file)).collect();
                let count = modules.len();
                modules.sort_unstable();
                modules.dedup();
                // Where what several programs share has one too, each of them brings its own in its place.
                let replaces_shared = || modules.len() >= PROGRAMS && self.is_built_with(from, taken.file);
                all.contains(&taken) && modules.contains(&Some(home)) && (modules.len() == count || replaces_shared())
            })
    }

    /// Whether a call stands where a map has said that it has nothing: `it = known.get(host); if (it == null) { … }`.
    fn stands_where_map_lacks(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let reads_map = |form: FormId| match facts.form(form) {
            Form::Result(call) => facts.text(facts.site(call).name) == java::MAP_READ && facts.args_of(call).len() == 1,
            _ => false,
        };
        self.regions_outward(site).into_iter().any(|id| {
            let region = facts.region(id);
            let Some(Form::Compare(comparison, left, right)) = region.test.get().map(|test| facts.form(test)) else {
                return false;
            };
            let lacks = matches!(
                (region.kind, comparison),
                (RegionKind::Then, Comparison::Eq) | (RegionKind::Else, Comparison::NotEq)
            );
            lacks && facts.form(right) == Form::None && is_or_holds(facts, left, reads_map)
        })
    }

    /// Whether the host that the last call is given is that of an address which a socket has: `server.address().host()`.
    fn is_host_of_socket(&self, ways: &[Way]) -> bool {
        let Some(last) = ways.last() else { return false };
        let facts = self.program.facts(last.site.file);
        let Some(arg) = facts.args_of(last.site.site).into_iter().next() else { return false };
        let (mut file, mut form) = (last.site.file, arg.value);
        for way in ways.iter().rev().skip(1).map(Some).chain([None]) {
            let facts = self.program.facts(file);
            // `address.host()` is asked of what `address` is.
            if let Form::Result(call) = facts.form(form)
                && idioms::java::gives_host(facts.text(facts.site(call).name))
                && let Some(of) = self.receiver_form(SiteRef { file, site: call })
            {
                form = of;
            }
            match facts.form(form) {
                Form::Result(call) => return idioms::java::gives_socket_address(facts.text(facts.site(call).name)),
                Form::Var(var) => {
                    let row = facts.var(var);
                    let VarKind::Param(index) = row.kind else { return false };
                    let (Some(way), body) = (way, BodyRef { file, body: row.body }) else { return false };
                    let Some(passed) = self.passed(way.site, body, index) else { return false };
                    (file, form) = (way.site.file, passed);
                }
                _ => return false,
            }
        }
        false
    }

    /// Whether a call stands on a way that is only taken after a failure, of an effect that then matters to nobody.
    pub(crate) fn runs_after_failure_alone(&self, ways: &[Way], effect: Effect) -> bool {
        matches!(effect, Effect::File | Effect::Network | Effect::Cpu)
            && ways.first().is_some_and(|way| self.stands_after_failure(way.site))
    }

    /// Whether a site stands in an exception's handler, or in the branch of a listener where what it listened for has failed.
    fn stands_after_failure(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        around(facts, facts.site(site.site).at.region).any(|id| {
            let region = facts.region(id);
            match (region.kind, region.test.get()) {
                (RegionKind::Handler, _) => true,
                (RegionKind::Then, Some(test)) => self.says_failed(site.file, test, true),
                (RegionKind::Else, Some(test)) => self.says_failed(site.file, test, false),
                _ => false,
            }
        })
    }

    /// Whether something has failed where a test comes out so: `!future.isSuccess()`, `future.cause() != null`, also of a local.
    fn says_failed(&self, file: FileId, test: FormId, holds: bool) -> bool {
        let facts = self.program.facts(file);
        let gives_cause = |form: FormId| match facts.form(form) {
            Form::Result(call) => {
                facts.text(facts.site(call).name) == idioms::java::CAUSE && facts.args_of(call).is_empty()
            }
            _ => false,
        };
        match facts.form(test) {
            Form::Not(inner) => self.says_failed(file, inner, !holds),
            Form::Result(call) if facts.args_of(call).is_empty() => match facts.text(facts.site(call).name) {
                idioms::java::IS_SUCCESS => !holds,
                _ => false,
            },
            Form::Compare(comparison @ (Comparison::Eq | Comparison::NotEq), left, right)
                if facts.form(right) == Form::None =>
            {
                (comparison == Comparison::NotEq) == holds && is_or_holds(facts, left, gives_cause)
            }
            Form::Alt(AltKind::And, list) if holds => {
                facts.list(list).iter().any(|&part| self.says_failed(file, part, true))
            }
            _ => false,
        }
    }

    /// Whether a body listens for a port that a server is bound to, and the site stands where that has failed: nobody is served
    /// by then.
    pub(crate) fn follows_failed_bind(&self, root: BodyRef, ways: &[Way]) -> bool {
        let facts = self.program.facts(root.file);
        let span = facts.body(root.body).span;
        let is_after = |way: &Way| self.stands_after_failure(way.site);
        ways.first().is_some_and(is_after)
            && facts.sites.iter().enumerate().any(|(at, row)| {
                let site = SiteRef { file: root.file, site: blocklint_facts::SiteId(at as u32) };
                facts.text(row.name) == idioms::java::LISTEN
                    && row.span.start <= span.start
                    && span.end <= row.span.end
                    && self.receiver_form(site).is_some_and(|of| match facts.form(of) {
                        Form::Result(call) => facts.text(facts.site(call).name) == idioms::java::BIND,
                        _ => false,
                    })
            })
    }

    /// Whether all that calls a method are methods of its bases, each of which the class replaces without calling it: what they
    /// do is left to other derived classes.
    pub(crate) fn is_called_by_replaced_alone(&self, body: BodyRef) -> bool {
        remembered(&self.above::<Memo>().java_asked.replaced, body, || self.is_meant_by_replaced_alone(body))
    }

    fn is_meant_by_replaced_alone(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        let Some(at) = function_around(facts, body.body) else { return false };
        let row = facts.body(at);
        let Some(class) = row.class.get().filter(|_| row.kind == BodyKind::Function) else { return false };
        let own = ClassRef { file: body.file, class };
        let method = BodyRef { body: at, ..body };
        if self.mro(own).len() < 2 || !self.derived(own).is_empty() || !self.uses_of_body(method).is_empty() {
            return false;
        }
        let mut any = false;
        for name in self.body_names(method) {
            for &(file, sym) in self.program.occurrences(name) {
                for &site in self.program.index_of(file).sites_named(sym) {
                    let site = SiteRef { file, site };
                    let may_mean_it = self.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
                        Target::Overrides { class, name } => self.overrides(class, name).contains(&method),
                        _ => false,
                    });
                    if may_mean_it && !self.is_replaced_in(own, self.program.body_of_site(site)) {
                        return false;
                    }
                    any |= may_mean_it;
                }
            }
        }
        any
    }

    /// Whether a class, or a base of it that is nearer, replaces a method of one of its bases and never calls that.
    fn is_replaced_in(&self, own: ClassRef, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        let row = facts.body(body.body);
        let Some(of) = row.class.get().map(|class| ClassRef { file: body.file, class }) else { return false };
        let (name, params) = (facts.text(row.name), row.params.len);
        for ancestor in self.mro(own).iter() {
            let Ancestor::Class(class) = *ancestor else { return false };
            if class == of {
                return false;
            }
            let other = self.program.facts(class.file);
            let replaces = other.bodies.iter().enumerate().find(|(_, row)| {
                row.kind == BodyKind::Function
                    && row.class.get() == Some(class.class)
                    && other.text(row.name) == name
                    && row.params.len == params
            });
            let Some((at, _)) = replaces else { continue };
            let calls_it = other.sites.iter().any(|site| {
                let on_base = match other.form(site.callee) {
                    Form::Attr(base, _) => {
                        matches!(other.form(base), Form::Name(sym) if other.text(sym) == idioms::java::SUPER)
                    }
                    _ => false,
                };
                on_base && other.text(site.name) == name && other.body_of(site.at).index() == at
            });
            return !calls_it;
        }
        false
    }

    /// Whether all that a field is ever given was put in a state by the call that made it.
    pub(crate) fn is_field_in_state(&self, file: FileId, form: FormId, state: &str) -> bool {
        let facts = self.program.facts(file);
        let Some(field) = field_of(facts, form) else { return false };
        let mut given = values_given(facts, field).filter(|&value| facts.form(value) != Form::None).peekable();
        given.peek().is_some()
            && given.all(|value| match facts.form(value) {
                Form::Result(site) => self.call_sets_state(SiteRef { file, site }, state),
                _ => false,
            })
    }

    /// Whether a test asks if a field has what it is only given on a condition: `slots = most > 0 ? new Semaphore(most) : null;`.
    pub(crate) fn asks_for_conditional_part(&self, file: FileId, test: FormId) -> bool {
        let facts = self.program.facts(file);
        let Form::Compare(Comparison::NotEq, left, right) = facts.form(test) else { return false };
        let Some(field) = field_of(facts, left).filter(|_| facts.form(right) == Form::None) else { return false };
        let is_conditional = |value: FormId| match facts.form(value) {
            Form::Alt(AltKind::Ternary, list) => {
                facts.list(list).iter().skip(1).any(|&part| facts.form(part) == Form::None)
            }
            Form::None => true,
            _ => false,
        };
        values_given(facts, field).all(is_conditional)
            && values_given(facts, field).any(|value| facts.form(value) != Form::None)
    }

    /// Whether the object of a static getter says by its class that it holds settings: `BrokerConfig.getInstance()`.
    pub(crate) fn class_of_settings(&self, site: SiteRef) -> Option<&'a str> {
        let facts = self.program.facts(site.file);
        if !idioms::java::gives_the_one(facts.text(facts.site(site.site).name)) {
            return None;
        }
        let of = self.receiver_form(site)?;
        let name = match facts.form(of) {
            Form::Import(import) => facts.import(import).name,
            _ => last_name(facts, of)?,
        };
        Some(facts.text(name))
    }

    /// Whether a body, or the one whose literal it is, runs where its annotations say that it may block.
    pub(crate) fn is_made_where_it_may_block(&self, body: BodyRef) -> bool {
        let around = function_around(self.program.facts(body.file), body.body);
        around.is_some_and(|function| self.runs_where_it_may_block(BodyRef { body: function, ..body }))
    }
}

/// The body itself, or the one whose literal it is.
pub(crate) fn function_around(facts: &FileFacts, body: BodyId) -> Option<BodyId> {
    let mut at = body;
    for _ in 0..DEEPEST {
        let row = facts.body(at);
        if row.kind != BodyKind::Lambda {
            return Some(at);
        }
        at = row.parent.get()?;
    }
    None
}

/// What is assigned to a field of the object itself, wherever the file does.
fn values_given(facts: &FileFacts, field: Sym) -> impl Iterator<Item = FormId> {
    let rows = facts.assigns.iter().filter(|row| row.target.is_some());
    rows.filter(move |row| field_of(facts, row.target) == Some(field)).filter_map(|row| row.value.get())
}

/// Whether a form is wanted, or what a local that it is was given.
fn is_or_holds(facts: &FileFacts, form: FormId, wanted: impl Fn(FormId) -> bool) -> bool {
    match facts.form(form) {
        Form::Var(var) => facts.assigns_of(var).any(|assign| wanted(assign.value)),
        _ => wanted(form),
    }
}
