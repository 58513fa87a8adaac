//! Targets of implicit calls: properties, descriptors, iteration and `with`. The table of implicit calls of each
//! language is in `lang/<language>/implicit_calls.rs`.

use crate::lang;
use blocklint_facts::{Flow, Form, VarId};

use crate::calls::targets::{Target, TargetKind, Targets};
use crate::classes::hierarchy::Ancestor;
use crate::lang::implicit::ImplicitCallSite;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, Name, PathId, SiteRef};
use crate::values::value::{ArgsId, BoundId, EnvId, Val, ValueId};

impl<'a> Linker<'a> {
    /// Adds the method `name` of a value that a site calls implicitly: `__enter__` for `with`.
    pub(crate) fn add_method(&self, targets: &mut Targets, val: Val, name: Name) {
        if !matches!(val, Val::Instance { .. } | Val::Library { .. } | Val::Super { .. }) {
            return;
        }
        let method = self.attr(val, name);
        for member in self.values.members(method.value) {
            match member {
                Val::Fn { body, receiver, env } => {
                    self.add_body(targets, body, env, self.has_implicit_receiver(body, receiver), receiver);
                }
                Val::Method { path, receiver } => {
                    self.push(targets, Target::Row { path, receiver, property: false, made: None });
                }
                _ => {}
            }
        }
    }

    /// Adds the code that reading an attribute runs: the getter of a property or descriptor.
    pub(crate) fn add_property(&self, targets: &mut Targets, val: Val, name: Name) {
        match val {
            Val::Instance { class, exact, .. } => {
                for ancestor in self.mro(class).iter() {
                    match *ancestor {
                        Ancestor::Class(owner) => {
                            let Some((owner, var)) = self.own_member(owner, name) else { continue };
                            for body in self.functions_of(owner, var) {
                                // A setter has the same name, but a second parameter.
                                let is_getter = self.program.params_of(body).len() <= 1;
                                if self.method_kind(body).property && is_getter {
                                    self.push(
                                        targets,
                                        Target::Body {
                                            body,
                                            env: EnvId::NONE,
                                            with_receiver: true,
                                            kind: TargetKind::Call,
                                        },
                                    );
                                }
                            }
                            self.add_descriptor(targets, owner, var, "__get__");
                            if !targets.list.is_empty() && !exact && !self.overrides(class, name).is_empty() {
                                self.push(targets, Target::Overrides { class, name });
                            }
                            return;
                        }
                        Ancestor::Library(ty, _) => {
                            let path = self.library.member(ty, self.program.text(name));
                            if !self.library.properties(path).is_empty() {
                                let receiver = self.values.bound(val);
                                self.push(targets, Target::Row { path, receiver, property: true, made: None });
                                return;
                            }
                        }
                        Ancestor::Unknown => {}
                    }
                }
            }
            Val::Library { ty, args, .. } => {
                let path = self.library.member(ty, self.program.text(name));
                if self.library.properties(path).is_empty() {
                    if let Some(inner) = self.transparent_inner(ty, args) {
                        for inner in self.values.members(inner.value) {
                            self.add_property(targets, inner, name);
                        }
                    }
                    return;
                }
                let receiver = self.values.bound(val);
                self.push(targets, Target::Row { path, receiver, property: true, made: None });
            }
            _ => {}
        }
    }

    /// Adds the code that setting an attribute runs: the setter of a property or descriptor.
    pub(crate) fn add_setter(&self, targets: &mut Targets, val: Val, name: Name) {
        let Val::Instance { class, .. } = val else { return };
        for ancestor in self.mro(class).iter() {
            let Ancestor::Class(owner) = *ancestor else { continue };
            let Some((owner, var)) = self.own_member(owner, name) else { continue };
            for body in self.functions_of(owner, var) {
                let facts = self.program.facts(body.file);
                let is_setter = facts.list(self.program.body(body).decorators).iter().any(
                    |&decorator| matches!(facts.form(decorator), Form::Attr(_, sym) if facts.text(sym) == "setter"),
                );
                if is_setter && self.program.body(body).flow == Flow::Sync {
                    let target = Target::Body { body, env: EnvId::NONE, with_receiver: true, kind: TargetKind::Call };
                    self.push(targets, target);
                }
            }
            self.add_descriptor(targets, owner, var, "__set__");
            return;
        }
    }

    /// Adds a method (`__get__`, `__set__`) of the descriptors that a class assigns to one of its names.
    fn add_descriptor(&self, targets: &mut Targets, owner: ClassRef, var: VarId, method: &str) {
        let method_name = self.program.name(method).filter(|&name| self.hierarchy.count_bodies_named(name) > 0);
        for (value, _) in self.values_in_class(owner, var) {
            for val in self.values.members(value) {
                match val {
                    Val::Instance { .. } => {
                        if let Some(method) = method_name {
                            self.add_method(targets, val, method);
                        }
                    }
                    Val::Library { ty, .. } => {
                        let path = self.library.member(ty, method);
                        if !self.library.calls(path).is_empty() {
                            let receiver = self.values.bound(val);
                            self.push(targets, Target::Row { path, receiver, property: false, made: None });
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Returns the values that the body of a class assigns to one of its names, each with the call that creates it.
    pub(crate) fn values_in_class(&self, owner: ClassRef, var: VarId) -> Vec<(ValueId, Option<SiteRef>)> {
        let facts = self.program.facts(owner.file);
        let body = self.program.class(owner).body;
        let assignments = facts
            .assigns_of(var)
            .filter(|assignment| facts.body_of(assignment.at) == body && assignment.value.is_some());
        assignments
            .map(|assignment| {
                let scope = crate::values::expr::Scope { file: owner.file, at: assignment.at, env: EnvId::NONE };
                let creation = match facts.form(assignment.value) {
                    Form::Result(site) => Some(owner.file.site_ref(site)),
                    _ => None,
                };
                (self.eval(scope, assignment.value).value, creation)
            })
            .collect()
    }

    /// Adds the code that iteration over a value runs.
    pub(crate) fn add_iteration(&self, targets: &mut Targets, val: Val, is_async: bool) {
        let language = match val {
            Val::Iter { body, env } => {
                let is_async_body = self.program.body(body).flow == Flow::AsyncGenerator;
                let kind = if is_async_body { TargetKind::Construct } else { TargetKind::Consume };
                return self.push(targets, Target::Body { body, env, with_receiver: false, kind });
            }
            Val::Lazy { path, .. } => self.library.language(path),
            Val::Instance { class, .. } => self.program.language(class.file),
            Val::Library { ty, .. } => self.library.language(ty),
            _ => return,
        };
        self.add_implicit_targets(targets, language, ImplicitCallSite::Iteration { val, is_async });
    }

    /// Adds the row of a lazy result over which the site iterates. `lazy_call` is the call that created the result.
    pub(crate) fn add_lazy(&self, targets: &mut Targets, path: PathId, lazy_call: SiteRef) {
        self.push(targets, Target::Row { path, receiver: BoundId::NONE, property: false, made: Some(lazy_call) });
    }

    /// Adds the methods that a loop over a value calls. Only the first row of a library is added, because one row
    /// describes the whole iteration.
    pub(crate) fn add_iteration_methods(&self, targets: &mut Targets, val: Val, methods: &[&str]) {
        for &method in methods {
            if let Some(name) = self.program.name(method) {
                let before = targets.list.len();
                self.add_method(targets, val, name);
                if before < targets.list.len() && matches!(targets.list[before], Target::Row { .. }) {
                    let Target::Row { path, .. } = targets.list[before] else { continue };
                    if self.library.calls(path).is_empty() {
                        targets.list.truncate(before);
                    } else {
                        break;
                    }
                }
            } else if let Val::Library { ty, .. } = val {
                let path = self.library.member(ty, method);
                if !self.library.calls(path).is_empty() {
                    let receiver = self.values.bound(val);
                    self.push(targets, Target::Row { path, receiver, property: false, made: None });
                    break;
                }
            }
        }
    }

    /// True if a site runs only one of the bodies among its targets, not all of them.
    pub fn bodies_are_alternatives(&self, site: SiteRef, targets: &Targets) -> bool {
        lang::semantics(self.program.language(site.file)).bodies_are_alternatives(self, site, targets)
    }

    /// True if a site runs only one of the rows among its targets, not all of them.
    pub fn rows_are_alternatives(&self, site: SiteRef, targets: &Targets) -> bool {
        lang::semantics(self.program.language(site.file)).rows_are_alternatives(targets)
    }

    /// True if a loop over an object calls this method: `__iter__`, `__next__`.
    pub fn is_iteration_method(&self, body: BodyRef) -> bool {
        lang::semantics(self.program.language(body.file)).is_iteration_method(self, body)
    }

    /// True if iteration over a library's type may hold the thread: it runs a blocking row, or the type is transparent,
    /// so that iteration runs the methods of the value inside it.
    pub fn iteration_holds_thread(&self, ty: PathId) -> bool {
        self.query(&self.tables.calls.iteration_holds_thread, ty, bool::default, || {
            let mut targets = Targets::default();
            self.add_iteration(&mut targets, Val::Library { ty, args: ArgsId::NONE, made: None }, false);
            let runs_blocking_row = targets.list.iter().any(|target| match *target {
                Target::Row { path, .. } => self.library.calls(path).effect().any(|row| row.held_effect().is_some()),
                _ => true,
            });
            // The value inside a transparent type is not known here, so its iteration possibly blocks.
            runs_blocking_row || self.library.ty(ty).is_some_and(|rows| rows.through().is_some())
        })
    }

    /// Adds the code that entering or leaving a context manager runs.
    pub(crate) fn add_context_manager(&self, targets: &mut Targets, val: Val, name: Name, is_enter: bool) {
        match val {
            Val::Iter { body, env } => {
                let flow = self.program.body(body).flow;
                // A generator is a context manager only because of `@contextmanager` or `contextmanager(f)`.
                if is_enter && flow == Flow::Generator {
                    self.push(targets, Target::Body { body, env, with_receiver: false, kind: TargetKind::Consume });
                }
            }
            _ => self.add_method(targets, val, name),
        }
    }
}
