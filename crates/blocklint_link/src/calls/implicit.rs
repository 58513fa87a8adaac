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
    /// Adds the method of a member that a site calls implicitly.
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
        let own = self.program.name(method).filter(|&name| self.hierarchy.bodies_named(name) > 0);
        for (value, _) in self.values_in_class(owner, var) {
            for val in self.values.members(value) {
                match val {
                    Val::Instance { .. } => {
                        if let Some(method) = own {
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
        let rows = facts.assigns_of(var).filter(|row| facts.body_of(row.at) == body && row.value.is_some());
        rows.map(|row| {
            let scope = crate::values::expr::Scope { file: owner.file, at: row.at, env: EnvId::NONE };
            let creation = match facts.form(row.value) {
                Form::Result(site) => Some(owner.file.site_ref(site)),
                _ => None,
            };
            (self.eval(scope, row.value).value, creation)
        })
        .collect()
    }

    /// Adds the code that iteration over a member runs.
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

    /// Adds the row of a lazy result over which the site iterates. `made` is the call that created the result.
    pub(crate) fn add_lazy(&self, targets: &mut Targets, path: PathId, made: SiteRef) {
        self.push(targets, Target::Row { path, receiver: BoundId::NONE, property: false, made: Some(made) });
    }

    /// Adds the methods that a loop over a member calls. Of the rows of a library only the first is added, because one
    /// row describes the whole iteration.
    pub(crate) fn add_iteration_methods(&self, targets: &mut Targets, val: Val, methods: &[&str]) {
        for &method in methods {
            if let Some(name) = self.program.name(method) {
                let before = targets.list.len();
                self.add_method(targets, val, name);
                // One row describes the whole iteration of a library's type.
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

    /// True if a site runs one of its targets, not all of them.
    pub fn are_alternatives(&self, site: SiteRef, targets: &Targets) -> bool {
        lang::semantics(self.program.language(site.file)).are_alternatives(self, site, targets)
    }

    /// True if a site runs one of the rows among its targets, not all of them.
    pub fn runs_one_row(&self, site: SiteRef, targets: &Targets) -> bool {
        lang::semantics(self.program.language(site.file)).runs_one_target(targets)
    }

    /// True if a method is one that a loop calls on the iterated object: `__iter__`, `__next__`.
    pub fn is_iteration_method(&self, body: BodyRef) -> bool {
        lang::semantics(self.program.language(body.file)).is_iteration_method(self, body)
    }

    /// True if iteration over a library's type runs a row that holds the thread, or if the type is transparent.
    pub fn iteration_holds_thread(&self, ty: PathId) -> bool {
        self.query(&self.tables.calls.iteration_holds_thread, ty, bool::default, || {
            let mut targets = Targets::default();
            self.add_iteration(&mut targets, Val::Library { ty, args: ArgsId::NONE, made: None }, false);
            let holds = targets.list.iter().any(|target| match *target {
                Target::Row { path, .. } => self.library.calls(path).effect().any(|row| row.held_effect().is_some()),
                _ => true,
            });
            // Iteration over a transparent type iterates over the value inside it.
            holds || self.library.ty(ty).is_some_and(|rows| rows.through().is_some())
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
