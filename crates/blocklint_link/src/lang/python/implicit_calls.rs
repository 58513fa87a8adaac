//! Python: implicit calls of special methods. Operations and builtin functions call methods of their operands
//! (`__len__`, `__bool__`, `__format__`, `__iter__`), a call of an object runs `__call__`, an attribute read runs the
//! `__get__` of a descriptor. Both directions are here: the methods that a site runs, and the names of the sites that
//! run a method. The tables of methods are in `lang/python/protocols.rs`; model rows with `consumes` add the functions
//! that iterate over an argument.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{Flow, Form, FormId, SiteKind};
use blocklint_models::{Argument, Uses};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::calls::targets::{Target, TargetKind, Targets};
use crate::classes::hierarchy::Ancestor;
use crate::lang::implicit::{Backward, Forward, ImplicitCall, ImplicitCallSite};
use crate::lang::python::protocols::{ITER, ITERATION, Operand, OperandCall, Protocol};
use crate::linker::{Linker, Typed};
use crate::models::stored_callbacks;
use crate::program::ids::{BodyRef, ClassRef, Name, PathId, SiteRef};
use crate::values::value::{BoundId, EnvId, Val};

/// The calls that made the lazy values which one iteration consumes: `map(f, filter(g, items))`.
type LazyCalls = SmallVec<[SiteRef; 4]>;

/// The number of nested lazy calls that are followed.
const MOST_LAZY_CALLS: usize = 8;

/// The implicit calls of Python.
pub(crate) const IMPLICIT_CALLS: &[ImplicitCall] = &[
    ImplicitCall {
        name: "an operation, a function or a loop calls a method of its operand",
        runs: Forward::Targets(|linker, place, targets| match place {
            ImplicitCallSite::Operation { site, env } => linker.add_operation(targets, site, env),
            ImplicitCallSite::Arguments { site, env } => linker.add_function_protocols(targets, site, env),
            ImplicitCallSite::Iteration { val, is_async: false } => linker.add_python_iteration(targets, val),
            _ => {}
        }),
        found_by: Backward::NamesOfCalls(|linker, body| linker.names_run_by_protocol(body)),
    },
    ImplicitCall {
        name: "an object is called, or read as a descriptor",
        runs: Forward::Callee,
        found_by: Backward::Instances(|linker, body| {
            RUN_BY_INSTANCE.contains(&linker.program.facts(body.file).text(linker.program.body(body).name))
        }),
    },
    stored_callbacks::OVERRIDES,
];

/// Methods that run where an instance is called, or read or set as an attribute.
const RUN_BY_INSTANCE: &[&str] = &["__call__", "__get__", "__set__"];

impl Linker<'_> {
    /// Adds the methods that an operation runs on its operands: `x in y`, `if x:`, `x == y`, `x[i]`.
    pub(crate) fn add_operation(&self, targets: &mut Targets, site: SiteRef, env: EnvId) {
        let facts = self.program.facts(site.file);
        let site_facts = self.program.site(site);
        let scope = self.scope_of(site, env);
        let name = facts.text(site_facts.name);
        let mut is_listed = false;
        for protocol in lang::python::protocols::operation_protocols(name) {
            is_listed = true;
            if site_facts.kind.keeps_no_operand() && !self.has_protocol_method(protocol) {
                continue;
            }
            let operand = match protocol.operand {
                Operand::Own => site_facts.callee,
                // The method of the right operand runs if the left operand has none.
                Operand::Other if targets.list.is_empty() => match self.program.args_of(site)[..] {
                    [right] => right.value,
                    _ => continue,
                },
                _ => continue,
            };
            let operand = self.without_none(self.eval(scope, operand));
            self.add_targets_of_each(targets, operand, |linker, targets, val| {
                linker.add_first_step(targets, val, protocol.steps)
            });
        }
        if !is_listed && let Some(name) = self.program.global(site.file, site_facts.name) {
            let operand = self.without_none(self.eval(scope, site_facts.callee));
            self.add_targets_of_each(targets, operand, |linker, targets, val| {
                linker.add_method_once(targets, val, name)
            });
        }
    }

    /// Adds the methods that a call runs on its arguments by the protocols of the functions it calls: `len(x)`,
    /// `list(x)`.
    pub(crate) fn add_function_protocols(&self, targets: &mut Targets, site: SiteRef, env: EnvId) {
        let called: SmallVec<[PathId; 2]> = targets
            .list
            .iter()
            .filter_map(|target| match *target {
                Target::Row { path, property: false, made: None, .. } => Some(path),
                _ => None,
            })
            .collect();
        for path in called {
            let text = self.library.text(path);
            let mut is_listed = false;
            for protocol in lang::python::protocols::function_protocols(&text) {
                is_listed = true;
                for argument in self.protocol_arguments(site, protocol.operand) {
                    let value = self.eval(self.scope_of(site, env), argument);
                    // `iter(x)` on a library's object runs nothing: a later iteration consumes the object.
                    let is_later = |val: &Val| &*text == ITER && !matches!(val, Val::Instance { .. });
                    self.add_protocol_targets(targets, value, protocol.steps, |val| !is_later(val));
                }
            }
            if !is_listed {
                for argument in self.consumed_arguments(path, site, env) {
                    let value = self.eval(self.scope_of(site, env), argument);
                    self.add_protocol_targets(targets, value, &[OperandCall::Iteration], |_| true);
                }
            }
        }
    }

    /// True if a call of a function's path runs methods of its arguments by a protocol: `len(x)`.
    pub fn runs_argument_methods(&self, path: PathId) -> bool {
        lang::python::protocols::function_protocols(&self.library.text(path)).next().is_some()
            || self.library.calls(path).with(|row| row.consumes.is_some()).next().is_some()
    }

    /// Returns the arguments of a call whose methods a protocol runs.
    fn protocol_arguments(&self, site: SiteRef, operand: Operand) -> SmallVec<[FormId; 2]> {
        let facts = self.program.facts(site.file);
        let args = self.program.args_of(site);
        let is_plain = |form: FormId| !matches!(facts.form(form), Form::Star(_) | Form::StarStar(_));
        let positional = args.iter().filter(|arg| arg.name.is_none());
        match operand {
            Operand::First => positional.take(1).map(|arg| arg.value).filter(|&form| is_plain(form)).collect(),
            Operand::Positional => positional.map(|arg| arg.value).filter(|&form| is_plain(form)).collect(),
            Operand::Each => args.iter().map(|arg| arg.value).filter(|&form| is_plain(form)).collect(),
            Operand::Own | Operand::Other => SmallVec::new(),
        }
    }

    /// Returns the arguments that a call iterates over, by the `consumes` of its rows.
    fn consumed_arguments(&self, path: PathId, site: SiteRef, env: EnvId) -> SmallVec<[FormId; 2]> {
        let facts = self.program.facts(site.file);
        let mut consumed = SmallVec::new();
        for row in self.library.calls(path).with(|row| row.consumes.is_some()) {
            let Some(argument) = row.consumes.as_ref().filter(|argument| **argument != Argument::Receiver) else {
                continue;
            };
            if !self.conditions_hold(&row.when, &row.unless, site, env) {
                continue;
            }
            for (index, arg) in self.program.args_of(site).iter().enumerate() {
                let is_unpacked = matches!(facts.form(arg.value), Form::Star(_) | Form::StarStar(_));
                if !is_unpacked && self.is_argument(site, index as u32, argument) && !consumed.contains(&arg.value) {
                    consumed.push(arg.value);
                }
            }
        }
        consumed
    }

    /// Adds the methods that a protocol runs on an argument. Generators and lazy results are left out, because
    /// `calls/argument_use.rs` follows them to the place that consumes them. An argument of unknown type adds no
    /// unknown target.
    fn add_protocol_targets(
        &self,
        targets: &mut Targets,
        value: Typed,
        steps: &[OperandCall],
        is_wanted: impl Fn(&Val) -> bool,
    ) {
        let mut running = 0;
        for val in self.values.members(value.value) {
            let is_followed = match val {
                Val::Instance { .. } | Val::Library { .. } | Val::Super { .. } => true,
                Val::Lazy { path, .. } => !self.has_lazy_effect(path),
                _ => false,
            };
            let before = targets.list.len();
            if is_followed && is_wanted(&val) {
                self.add_first_step(targets, val, steps);
            }
            running += u32::from(targets.list.len() > before);
        }
        if running > 0 {
            targets.steps = targets.steps.max(value.inferred_steps);
            targets.one_of |= running > 1;
        }
    }

    /// Adds the first of the steps of a protocol that a value has.
    fn add_first_step(&self, targets: &mut Targets, val: Val, steps: &[OperandCall]) {
        let before = targets.list.len();
        for step in steps {
            match *step {
                // `next(map(title, books))` iterates over the arguments of the lazy result.
                OperandCall::Method("__next__") if matches!(val, Val::Lazy { .. }) => {
                    self.add_iteration(targets, val, false)
                }
                OperandCall::Method(method) => self.add_method_named(targets, val, method),
                OperandCall::Iteration => self.add_iteration(targets, val, false),
            }
            // A library's type may have this method without a row, so later steps may not run.
            if targets.list.len() > before || matches!(val, Val::Library { .. }) {
                return;
            }
        }
    }

    /// Adds the targets of each possible value; if several possible values have targets, the targets are alternatives.
    fn add_targets_of_each(&self, targets: &mut Targets, value: Typed, mut add: impl FnMut(&Self, &mut Targets, Val)) {
        targets.steps = targets.steps.max(value.inferred_steps);
        let mut running = 0;
        for val in self.values.members(value.value) {
            if matches!(val, Val::Unknown(_)) {
                targets.unknown = true;
                continue;
            }
            let before = targets.list.len();
            add(self, targets, val);
            running += u32::from(targets.list.len() > before);
        }
        targets.one_of |= running > 1;
    }

    /// Adds a method of a value by its name, also if the name occurs nowhere in the project.
    fn add_method_named(&self, targets: &mut Targets, val: Val, method: &str) {
        match self.program.name(method) {
            Some(name) => self.add_method_once(targets, val, name),
            None => {
                if let Val::Library { ty, .. } = val {
                    self.add_row(targets, val, self.library.member(ty, method));
                }
            }
        }
    }

    /// Adds a method that is called implicitly; its overrides are alternatives. Paths without rows are left out.
    fn add_method_once(&self, targets: &mut Targets, val: Val, name: Name) {
        let before = targets.list.len();
        self.add_method(targets, val, name);
        let mut index = before;
        while index < targets.list.len() {
            match targets.list[index] {
                Target::Row { path, .. } if self.library.calls(path).is_empty() => {
                    targets.list.remove(index);
                }
                _ => index += 1,
            }
        }
        targets.one_of |= targets.list.len() > before + 1;
    }

    /// Adds the path of a library's method if it has rows.
    fn add_row(&self, targets: &mut Targets, val: Val, path: PathId) {
        if !self.library.calls(path).is_empty() {
            let receiver = self.values.bound(val);
            self.push(targets, Target::Row { path, receiver, property: false, made: None });
        }
    }

    /// True if a class of the project or a model row has a method that the protocol may run.
    fn has_protocol_method(&self, protocol: &Protocol) -> bool {
        protocol.steps.iter().any(|step| match *step {
            OperandCall::Method(method) => {
                self.program.name(method).is_some_and(|name| self.hierarchy.count_bodies_named(name) > 0)
                    || self.library.name_uses(Language::Python, method).intersects(Uses::EFFECT)
            }
            OperandCall::Iteration => true,
        })
    }

    /// Adds the methods that an iteration over a value runs: `__iter__`, then `__next__` of its result, or
    /// `__getitem__`.
    pub(crate) fn add_python_iteration(&self, targets: &mut Targets, val: Val) {
        let mut lazy_calls = LazyCalls::new();
        self.add_iteration_through(targets, val, &mut lazy_calls);
    }

    /// Adds the methods that an iteration over a value runs, where the calls in `made` are followed already.
    fn add_iteration_through(&self, targets: &mut Targets, val: Val, made: &mut LazyCalls) {
        match val {
            Val::Instance { .. } => self.add_iteration_of_instance(targets, val, made, false),
            Val::Library { .. } => self.add_iteration_of_library(targets, val),
            Val::Lazy { made: call, path, .. } => {
                if self.has_lazy_effect(path) {
                    let row = Target::Row { path, receiver: BoundId::NONE, property: false, made: Some(call) };
                    self.push(targets, row);
                }
                self.add_iterated_arguments(targets, call, made);
            }
            _ => {}
        }
    }

    /// True if the effect of a function's rows happens when its lazy result is consumed (`lazy` in the model).
    fn has_lazy_effect(&self, path: PathId) -> bool {
        self.library.calls(path).effect().any(|row| row.lazy && row.held_effect().is_some())
    }

    /// Adds the methods that an iteration over a lazy result runs on the arguments of its call:
    /// `for title in map(title_of, books)`.
    fn add_iterated_arguments(&self, targets: &mut Targets, call: SiteRef, made: &mut LazyCalls) {
        if made.len() >= MOST_LAZY_CALLS || made.contains(&call) {
            return;
        }
        made.push(call);
        let is_begun = self.calls_function(call, ITER);
        for source in self.iterated_arguments(call, EnvId::NONE) {
            match source {
                Val::Instance { .. } => self.add_iteration_of_instance(targets, source, made, is_begun),
                _ => self.add_iteration_through(targets, source, made),
            }
        }
    }

    /// True if a site calls the function of this path.
    fn calls_function(&self, site: SiteRef, path: &str) -> bool {
        let callee = self.callee(site, EnvId::NONE);
        self.values.members(callee.value).iter().any(|val| match *val {
            Val::External(callee) => *self.library.text(callee) == *path,
            _ => false,
        })
    }

    /// Returns the values among the arguments of a call that its lazy result iterates over.
    pub(crate) fn iterated_arguments(&self, call: SiteRef, env: EnvId) -> SmallVec<[Val; 4]> {
        let facts = self.program.facts(call.file);
        let scope = self.scope_of(call, env);
        let mut sources = SmallVec::new();
        for argument in self.protocol_arguments(call, Operand::Positional) {
            if matches!(facts.form(argument), Form::Callable(_) | Form::Str(_) | Form::None | Form::Int(_)) {
                continue;
            }
            for val in self.values.members(self.eval(scope, argument).value) {
                let runs_code = match val {
                    Val::Instance { class, .. } => ITERATION.iter().any(|method| self.defines_method(class, method)),
                    Val::Library { ty, .. } => self.iteration_holds_thread(ty),
                    Val::Lazy { path, .. } => !self.has_lazy_effect(path),
                    _ => false,
                };
                if runs_code && !sources.contains(&val) {
                    sources.push(val);
                }
            }
        }
        sources
    }

    /// Adds the methods that an iteration over an instance of a project's class runs, without `__iter__` if the
    /// iteration has begun.
    fn add_iteration_of_instance(&self, targets: &mut Targets, val: Val, made: &mut LazyCalls, is_begun: bool) {
        let before = targets.list.len();
        if let Some(name) = self.program.name("__iter__") {
            let mut iter_targets = Targets::default();
            self.add_method_once(&mut iter_targets, val, name);
            let has_iter = !iter_targets.list.is_empty();
            if !is_begun {
                targets.one_of |= iter_targets.one_of;
                for target in iter_targets.list {
                    self.push(targets, target);
                }
            }
            if has_iter {
                self.add_iterator_steps(targets, val, name, made);
            }
        }
        if targets.list.len() == before {
            self.add_method_named(targets, val, "__next__");
        }
        if targets.list.len() == before {
            let mut item_targets = Targets::default();
            self.add_method_named(&mut item_targets, val, "__getitem__");
            item_targets.list.retain(|target| !matches!(target, Target::Row { .. }));
            for target in item_targets.list {
                self.push(targets, target);
            }
        }
        // An `__iter__` that is a generator function runs during the loop.
        for target in &mut targets.list[before..] {
            if let Target::Body { body, kind, .. } = target
                && *kind == TargetKind::Construct
                && self.program.body(*body).flow == Flow::Generator
            {
                *kind = TargetKind::Consume;
            }
        }
    }

    /// Adds the methods that a loop calls on the iterator that `__iter__` of an object returns.
    fn add_iterator_steps(&self, targets: &mut Targets, val: Val, iter: Name, made: &mut LazyCalls) {
        let methods = self.attr(val, iter);
        for method in self.values.members(methods.value) {
            let Val::Fn { body, env, .. } = method else { continue };
            if self.program.body(body).flow != Flow::Sync {
                continue;
            }
            let iterators = self.value_of_call(body, env, Some(val));
            for iterator in self.values.members(iterators.value) {
                match iterator {
                    // An unknown iterator may be the object itself: a class with `__next__` usually returns `self`.
                    Val::Unknown(_) => self.add_method_named(targets, val, "__next__"),
                    Val::Instance { .. } => self.add_method_named(targets, iterator, "__next__"),
                    Val::Library { ty, .. } => self.add_row(targets, iterator, self.library.member(ty, "__next__")),
                    Val::Iter { body, env } => {
                        self.push(targets, Target::Body { body, env, with_receiver: false, kind: TargetKind::Consume });
                    }
                    Val::Lazy { .. } => self.add_iteration_through(targets, iterator, made),
                    _ => {}
                }
            }
        }
    }

    /// Adds the row of `__iter__` of a library's type, or of `__next__` if `__iter__` has none.
    fn add_iteration_of_library(&self, targets: &mut Targets, val: Val) {
        for method in ["__iter__", "__next__"] {
            let before = targets.list.len();
            self.add_method_named(targets, val, method);
            if targets.list.len() > before {
                return;
            }
        }
    }

    /// True if a class of the project, or a base class of it, defines a method.
    fn defines_method(&self, class: ClassRef, method: &str) -> bool {
        let Some(name) = self.program.name(method).filter(|&name| self.hierarchy.count_bodies_named(name) > 0) else {
            return false;
        };
        self.mro(class).iter().any(|ancestor| match *ancestor {
            Ancestor::Class(class) => self.own_member(class, name).is_some(),
            Ancestor::Library(..) | Ancestor::Unknown => false,
        })
    }

    /// Returns the names, other than its own, of sites that may run a method of a class by a protocol.
    pub fn names_run_by_protocol(&self, body: BodyRef) -> Vec<Name> {
        let facts = self.program.facts(body.file);
        let body_facts = self.program.body(body);
        let method = facts.text(body_facts.name);
        let Some(class) = body_facts.class.get() else { return Vec::new() };
        if facts.language != Language::Python || !method.starts_with("__") {
            return Vec::new();
        }
        let class = body.file.class_ref(class);
        let has_step = |step: OperandCall| match step {
            OperandCall::Method(method) => self.defines_method(class, method),
            OperandCall::Iteration => self.defines_method(class, ITERATION[0]),
        };
        let mut names = self.names_of_protocols(method, |earlier| !earlier.iter().any(|&step| has_step(step)));
        let is_hidden_by_iter = method == "__getitem__" && self.defines_method(class, ITERATION[0]);
        if ITERATION.contains(&method) && !is_hidden_by_iter {
            names.extend(self.names_of_iteration().iter().copied());
        }
        names.sort();
        names.dedup();
        names
    }

    /// Returns the names of sites that may run a library's method with rows by a protocol.
    pub fn names_running_library_method(&self, method: &str) -> Vec<Name> {
        let mut names = self.names_of_protocols(method, <[OperandCall]>::is_empty);
        if method == "__iter__" || method == "__next__" {
            names.extend(self.names_of_iteration().iter().copied());
        }
        names
    }

    /// Returns the names of the operations and functions that may run a method. `may_fall_through` returns true if a
    /// value may lack the steps that come before the method.
    fn names_of_protocols(&self, method: &str, may_fall_through: impl Fn(&[OperandCall]) -> bool) -> Vec<Name> {
        let runs = |protocol: &&Protocol| {
            protocol
                .steps
                .iter()
                .position(|step| step.may_run(method))
                .is_some_and(|index| may_fall_through(&protocol.steps[..index]))
        };
        lang::python::protocols::all_protocols()
            .filter(runs)
            .filter_map(|protocol| self.program.name(protocol.site_name()))
            .collect()
    }

    /// Returns the names of sites that iterate: loops, and calls of functions whose rows have `consumes`.
    pub fn names_of_iteration(&self) -> &FxHashSet<Name> {
        self.tables.calls.iterating.get_or_init(|| {
            let rows = self.library.of(Language::Python).names(Uses::CONSUMES);
            let functions = rows.filter_map(|row| self.program.name(row.name));
            let mut names: FxHashSet<Name> = functions.flat_map(|name| self.with_aliases(name)).collect();
            names.extend(self.program.name(ITERATION[0]));
            names.extend(self.program.name("next"));
            names
        })
    }

    /// True if a call, by its name, may run a method by a protocol or by an iteration.
    pub(crate) fn is_run_by_protocol(&self, call: SiteRef, method: &str) -> bool {
        let facts = self.program.facts(call.file);
        let name = self.program.site(call).name;
        let by_function = lang::python::protocols::all_protocols()
            .filter(|protocol| protocol.site_name() == facts.text(name))
            .any(|protocol| protocol.steps.iter().any(|step| step.may_run(method)));
        by_function
            || ITERATION.contains(&method)
                && self.program.global(call.file, name).is_some_and(|name| self.names_of_iteration().contains(&name))
    }

    /// True if a call may run a method of another name by a protocol, so that the arguments of the call are not those
    /// of the method: `list(store)`.
    pub(crate) fn passes_other_arguments(&self, site: SiteRef, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        let method = facts.text(self.program.body(body).name);
        let site_facts = self.program.facts(site.file);
        let row = self.program.site(site);
        facts.language == Language::Python
            && row.kind == SiteKind::Call
            && self.program.body(body).class.is_some()
            && site_facts.text(row.name) != method
            && lang::python::protocols::all_protocols()
                .any(|protocol| protocol.steps.iter().any(|step| step.may_run(method)))
    }
}
