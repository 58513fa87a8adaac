//! Python: methods that code calls without naming them. Operations and builtin functions call methods of their operands (`__len__`,
//! `__bool__`, `__format__`, `__iter__`), objects are called and read as descriptors. Both directions are here: the methods that a site
//! runs, and the names of the sites that run a method. The tables of methods are in `lang/python/protocols.rs`; rows with `consumes` add
//! the functions that iterate over an argument.

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

/// Calls that made lazy values which one iteration consumes.
type LazyCalls = SmallVec<[SiteRef; 4]>;

/// The number of nested lazy calls that are followed.
const MOST_LAZY_CALLS: usize = 8;

/// The implicit calls of Python.
pub(crate) const IMPLICIT_CALLS: &[ImplicitCall] = &[
    ImplicitCall {
        name: "an operation, a function or a loop calls a method of its operand",
        runs: Forward::Targets(|linker, place, targets| match place {
            ImplicitCallSite::Operation { site, env } => linker.add_operation(targets, site, env),
            ImplicitCallSite::Arguments { site, env } => linker.add_functions_protocols(targets, site, env),
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
    /// Adds the code that an operation runs on its operands: `x in y`, `if x:`, `x == y`, `x[i]`.
    pub(crate) fn add_operation(&self, targets: &mut Targets, site: SiteRef, env: EnvId) {
        let facts = self.program.facts(site.file);
        let row = self.program.site(site);
        let scope = self.scope_of(site, env);
        let name = facts.text(row.name);
        let mut is_listed = false;
        for protocol in lang::python::protocols::of_operation(name) {
            is_listed = true;
            if row.kind.only_asks() && !self.has_method_of(protocol) {
                continue;
            }
            let operand = match protocol.operand {
                Operand::Own => row.callee,
                // The right operand is asked where the left one has no answer.
                Operand::Other if targets.list.is_empty() => match self.program.args_of(site)[..] {
                    [other] => other.value,
                    _ => continue,
                },
                _ => continue,
            };
            let operand = self.without_none(self.eval(scope, operand));
            self.add_each(targets, operand, |linker, targets, val| linker.add_first_step(targets, val, protocol.steps));
        }
        if !is_listed && let Some(name) = self.program.global(site.file, row.name) {
            let operand = self.without_none(self.eval(scope, row.callee));
            self.add_each(targets, operand, |linker, targets, val| linker.add_method_once(targets, val, name));
        }
    }

    /// Adds the code that a call runs on its arguments by protocols of the functions among its targets: `len(x)`,
    /// `list(x)`.
    pub(crate) fn add_functions_protocols(&self, targets: &mut Targets, site: SiteRef, env: EnvId) {
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
            for protocol in lang::python::protocols::of_function(&text) {
                is_listed = true;
                for argument in self.arguments_asked(site, protocol.operand) {
                    let value = self.eval(self.scope_of(site, env), argument);
                    // A later iteration consumes a library's object as a whole.
                    let is_later = |val: &Val| &*text == ITER && !matches!(val, Val::Instance { .. });
                    self.add_asked(targets, value, protocol.steps, |val| !is_later(val));
                }
            }
            if !is_listed {
                for argument in self.arguments_consumed(path, site, env) {
                    let value = self.eval(self.scope_of(site, env), argument);
                    self.add_asked(targets, value, &[OperandCall::Iteration], |_| true);
                }
            }
        }
    }

    /// True if calling a path runs methods of its arguments by a protocol.
    pub fn asks_its_arguments(&self, path: PathId) -> bool {
        lang::python::protocols::of_function(&self.library.text(path)).next().is_some()
            || self.library.calls(path).with(|row| row.consumes.is_some()).next().is_some()
    }

    /// Returns the arguments of a call that a protocol asks.
    fn arguments_asked(&self, site: SiteRef, operand: Operand) -> SmallVec<[FormId; 2]> {
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

    /// Returns the arguments of a call that are iterated during it, by the rows of its path.
    fn arguments_consumed(&self, path: PathId, site: SiteRef, env: EnvId) -> SmallVec<[FormId; 2]> {
        let facts = self.program.facts(site.file);
        let mut found = SmallVec::new();
        for row in self.library.calls(path).with(|row| row.consumes.is_some()) {
            let Some(argument) = row.consumes.as_ref().filter(|argument| **argument != Argument::Receiver) else {
                continue;
            };
            if !self.conditions_hold(&row.when, &row.unless, site, env) {
                continue;
            }
            for (at, arg) in self.program.args_of(site).iter().enumerate() {
                let is_unpacked = matches!(facts.form(arg.value), Form::Star(_) | Form::StarStar(_));
                if !is_unpacked && self.is_argument(site, at as u32, argument) && !found.contains(&arg.value) {
                    found.push(arg.value);
                }
            }
        }
        found
    }

    /// Adds the code that runs when an argument is asked for. Generators and lazy results of calls are followed to
    /// where they are consumed (`calls/argument_use.rs`), so they are left out here. An argument that is not known
    /// shows nothing about the call.
    fn add_asked(&self, targets: &mut Targets, value: Typed, steps: &[OperandCall], is_wanted: impl Fn(&Val) -> bool) {
        let mut running = 0;
        for val in self.values.members(value.value) {
            let is_followed = match val {
                Val::Instance { .. } | Val::Library { .. } | Val::Super { .. } => true,
                Val::Lazy { path, .. } => !self.is_held_back(path),
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

    /// Adds the first of some steps that a member has.
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
            // A library's type may have the method without a row: what is tried next is not known to run.
            if targets.list.len() > before || matches!(val, Val::Library { .. }) {
                return;
            }
        }
    }

    /// Adds the code that each member of a value runs; more than one that runs something are alternatives.
    fn add_each(&self, targets: &mut Targets, value: Typed, mut add: impl FnMut(&Self, &mut Targets, Val)) {
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

    /// Adds a method of a member by its name, also where the project does not spell it.
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

    /// Adds a method called implicitly; its overrides are alternatives. Rows that show nothing are left out.
    fn add_method_once(&self, targets: &mut Targets, val: Val, name: Name) {
        let before = targets.list.len();
        self.add_method(targets, val, name);
        let mut at = before;
        while at < targets.list.len() {
            match targets.list[at] {
                Target::Row { path, .. } if self.library.calls(path).is_empty() => {
                    targets.list.remove(at);
                }
                _ => at += 1,
            }
        }
        targets.one_of |= targets.list.len() > before + 1;
    }

    fn add_row(&self, targets: &mut Targets, val: Val, path: PathId) {
        if !self.library.calls(path).is_empty() {
            let receiver = self.values.bound(val);
            self.push(targets, Target::Row { path, receiver, property: false, made: None });
        }
    }

    /// True if a class of the project or a row has a method that the protocol may run.
    fn has_method_of(&self, protocol: &Protocol) -> bool {
        protocol.steps.iter().any(|step| match *step {
            OperandCall::Method(method) => {
                self.program.name(method).is_some_and(|name| self.hierarchy.bodies_named(name) > 0)
                    || self.library.name_uses(Language::Python, method).intersects(Uses::EFFECT)
            }
            OperandCall::Iteration => true,
        })
    }

    /// Adds the code that iterating over an object runs: `__iter__`, then `__next__` of the result of that, or
    /// `__getitem__`.
    pub(crate) fn add_python_iteration(&self, targets: &mut Targets, val: Val) {
        let mut made = LazyCalls::new();
        self.add_iteration_through(targets, val, &mut made);
    }

    fn add_iteration_through(&self, targets: &mut Targets, val: Val, made: &mut LazyCalls) {
        match val {
            Val::Instance { .. } => self.add_iteration_of_instance(targets, val, made, false),
            Val::Library { .. } => self.add_iteration_of_library(targets, val),
            Val::Lazy { made: call, path, .. } => {
                if self.is_held_back(path) {
                    let row = Target::Row { path, receiver: BoundId::NONE, property: false, made: Some(call) };
                    self.push(targets, row);
                }
                self.add_sources(targets, call, made);
            }
            _ => {}
        }
    }

    /// True if the lazy result of a path has the effect of its call, and does not only iterate over its arguments.
    fn is_held_back(&self, path: PathId) -> bool {
        self.library.calls(path).effect().any(|row| row.lazy && row.held().is_some())
    }

    /// Adds the code that iterating over a lazy result runs of the arguments of its call:
    /// `for title in map(title_of, books)`.
    fn add_sources(&self, targets: &mut Targets, call: SiteRef, made: &mut LazyCalls) {
        if made.len() >= MOST_LAZY_CALLS || made.contains(&call) {
            return;
        }
        made.push(call);
        let is_begun = self.is_call_of(call, ITER);
        for source in self.sources(call, EnvId::NONE) {
            match source {
                Val::Instance { .. } => self.add_iteration_of_instance(targets, source, made, is_begun),
                _ => self.add_iteration_through(targets, source, made),
            }
        }
    }

    /// True if a site calls the function of a path.
    fn is_call_of(&self, site: SiteRef, path: &str) -> bool {
        let callee = self.callee(site, EnvId::NONE);
        self.values.members(callee.value).iter().any(|val| match *val {
            Val::External(of) => *self.library.text(of) == *path,
            _ => false,
        })
    }

    /// Returns the objects among the arguments of a call that its lazy result iterates over.
    pub(crate) fn sources(&self, call: SiteRef, env: EnvId) -> SmallVec<[Val; 4]> {
        let facts = self.program.facts(call.file);
        let scope = self.scope_of(call, env);
        let mut found = SmallVec::new();
        for argument in self.arguments_asked(call, Operand::Positional) {
            if matches!(facts.form(argument), Form::Callable(_) | Form::Str(_) | Form::None | Form::Int(_)) {
                continue;
            }
            for val in self.values.members(self.eval(scope, argument).value) {
                let runs = match val {
                    Val::Instance { class, .. } => ITERATION.iter().any(|method| self.defines(class, method)),
                    Val::Library { ty, .. } => self.iteration_holds_thread(ty),
                    Val::Lazy { path, .. } => !self.is_held_back(path),
                    _ => false,
                };
                if runs && !found.contains(&val) {
                    found.push(val);
                }
            }
        }
        found
    }

    /// Adds the code that iterating over an object of a project's class runs; where the iteration has begun, what comes
    /// after `__iter__`.
    fn add_iteration_of_instance(&self, targets: &mut Targets, val: Val, made: &mut LazyCalls, is_begun: bool) {
        let before = targets.list.len();
        if let Some(name) = self.program.name("__iter__") {
            let mut of_iter = Targets::default();
            self.add_method_once(&mut of_iter, val, name);
            let is_found = !of_iter.list.is_empty();
            if !is_begun {
                targets.one_of |= of_iter.one_of;
                for target in of_iter.list {
                    self.push(targets, target);
                }
            }
            if is_found {
                self.add_iterator_steps(targets, val, name, made);
            }
        }
        if targets.list.len() == before {
            self.add_method_named(targets, val, "__next__");
        }
        if targets.list.len() == before {
            let mut of_items = Targets::default();
            self.add_method_named(&mut of_items, val, "__getitem__");
            of_items.list.retain(|target| !matches!(target, Target::Row { .. }));
            for target in of_items.list {
                self.push(targets, target);
            }
        }
        // An `__iter__` that is a generator runs here.
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
            let given = self.value_of_call(body, env, Some(val));
            for iterator in self.values.members(given.value) {
                match iterator {
                    // An unknown iterator may be the object itself, which is usual for a class with a `__next__`.
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

    /// Adds what iterating over a library's object enters: its own iteration counts once.
    fn add_iteration_of_library(&self, targets: &mut Targets, val: Val) {
        for method in ["__iter__", "__next__"] {
            let before = targets.list.len();
            self.add_method_named(targets, val, method);
            if targets.list.len() > before {
                return;
            }
        }
    }

    /// True if a class of the project, or one that it derives from, defines a method.
    fn defines(&self, class: ClassRef, method: &str) -> bool {
        let Some(name) = self.program.name(method).filter(|&name| self.hierarchy.bodies_named(name) > 0) else {
            return false;
        };
        self.mro(class).iter().any(|ancestor| match *ancestor {
            Ancestor::Class(of) => self.own_member(of, name).is_some(),
            Ancestor::Library(..) | Ancestor::Unknown => false,
        })
    }

    /// Returns the names, other than its own, of sites that may run a method of a class by a protocol.
    pub fn names_run_by_protocol(&self, body: BodyRef) -> Vec<Name> {
        let facts = self.program.facts(body.file);
        let row = self.program.body(body);
        let method = facts.text(row.name);
        let Some(class) = row.class.get() else { return Vec::new() };
        if facts.language != Language::Python || !method.starts_with("__") {
            return Vec::new();
        }
        let class = body.file.class_ref(class);
        let has = |step: OperandCall| match step {
            OperandCall::Method(of) => self.defines(class, of),
            OperandCall::Iteration => self.defines(class, ITERATION[0]),
        };
        let mut found = self.names_by_protocol(method, |earlier| !earlier.iter().any(|&step| has(step)));
        let is_by_index = method == "__getitem__" && self.defines(class, ITERATION[0]);
        if ITERATION.contains(&method) && !is_by_index {
            found.extend(self.names_of_iteration().iter().copied());
        }
        found.sort();
        found.dedup();
        found
    }

    /// Returns the names of sites that may enter the row of a method of a library's type.
    pub fn names_entering_method(&self, method: &str) -> Vec<Name> {
        let mut found = self.names_by_protocol(method, <[OperandCall]>::is_empty);
        if method == "__iter__" || method == "__next__" {
            found.extend(self.names_of_iteration().iter().copied());
        }
        found
    }

    /// Returns the names of the operations and functions that may run a method where the steps before it are passed.
    fn names_by_protocol(&self, method: &str, passes: impl Fn(&[OperandCall]) -> bool) -> Vec<Name> {
        let runs = |protocol: &&Protocol| {
            protocol.steps.iter().position(|step| step.may_run(method)).is_some_and(|at| passes(&protocol.steps[..at]))
        };
        lang::python::protocols::all().filter(runs).filter_map(|protocol| self.program.name(protocol.name())).collect()
    }

    /// Returns the names of sites that iterate: loops, and calls of functions whose rows state `consumes`.
    pub fn names_of_iteration(&self) -> &FxHashSet<Name> {
        self.tables.calls.iterating.get_or_init(|| {
            let rows = self.library.of(Language::Python).names(Uses::CONSUMES);
            let functions = rows.filter_map(|row| self.program.name(row.name));
            let mut found: FxHashSet<Name> = functions.flat_map(|name| self.with_aliases(name)).collect();
            found.extend(self.program.name(ITERATION[0]));
            found.extend(self.program.name("next"));
            found
        })
    }

    /// True if calls of this name run a method by a protocol, or iterate and the method is one of an iteration.
    pub(crate) fn is_run_by_protocol(&self, call: SiteRef, method: &str) -> bool {
        let facts = self.program.facts(call.file);
        let name = self.program.site(call).name;
        let by_function = lang::python::protocols::all()
            .filter(|protocol| protocol.name() == facts.text(name))
            .any(|protocol| protocol.steps.iter().any(|step| step.may_run(method)));
        by_function
            || ITERATION.contains(&method)
                && self.program.global(call.file, name).is_some_and(|name| self.names_of_iteration().contains(&name))
    }

    /// True if a site runs a method that it does not name with arguments that are not the method's: `list(store)`.
    pub(crate) fn lists_other_arguments(&self, site: SiteRef, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        let method = facts.text(self.program.body(body).name);
        let here = self.program.facts(site.file);
        let row = self.program.site(site);
        facts.language == Language::Python
            && row.kind == SiteKind::Call
            && self.program.body(body).class.is_some()
            && here.text(row.name) != method
            && lang::python::protocols::all().any(|protocol| protocol.steps.iter().any(|step| step.may_run(method)))
    }
}
