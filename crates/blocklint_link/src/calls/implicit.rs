//! What runs without parentheses: properties, descriptors, iteration, `with`, and functions that call a method of what they get.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{BodyKind, Flow, Form, SiteKind, VarId};
use blocklint_models::Uses;
use rustc_hash::FxHashSet;

use crate::calls::targets::{Target, TargetKind, Targets};
use crate::classes::hierarchy::Ancestor;
use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, ClassRef, Name, PathId, SiteRef};
use crate::values::value::{ArgsId, BoundId, EnvId, Val, ValueId, Why};

impl<'a> Linker<'a> {
    /// Adds a method called implicitly on a member.
    pub(crate) fn add_method(&self, targets: &mut Targets, val: Val, name: Name) {
        if !matches!(val, Val::Instance { .. } | Val::Library { .. } | Val::Super { .. }) {
            return;
        }
        let method = self.attr(val, name);
        for member in self.values.members(method.value) {
            match member {
                Val::Fn { body, receiver, env } => {
                    self.add_body(targets, body, env, self.takes(body, receiver), receiver);
                }
                Val::Method { path, receiver } => {
                    self.push(targets, Target::Row { path, receiver, property: false, made: None });
                }
                _ => {}
            }
        }
    }

    /// Adds what reading an attribute runs: the getter of a property.
    pub(crate) fn add_property(&self, targets: &mut Targets, val: Val, name: Name) {
        match val {
            Val::Instance { class, exact, .. } => {
                for ancestor in self.mro(class).iter() {
                    match *ancestor {
                        Ancestor::Class(owner) => {
                            let Some((owner, var)) = self.own_member(owner, name) else { continue };
                            for body in self.functions_of(owner, var) {
                                // A setter bears the same name; its parameters tell it apart.
                                let is_getter = self.program.params_of(body).len() <= 1;
                                if self.method_kind(body).property && is_getter {
                                    self.push(
                                        targets,
                                        Target::Body {
                                            body,
                                            env: EnvId::NONE,
                                            with_receiver: true,
                                            edge: TargetKind::Call,
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

    /// Adds what setting an attribute runs: the setter of a property, or of a descriptor.
    pub(crate) fn add_setter(&self, targets: &mut Targets, val: Val, name: Name) {
        let Val::Instance { class, .. } = val else { return };
        for ancestor in self.mro(class).iter() {
            let Ancestor::Class(owner) = *ancestor else { continue };
            let Some((owner, var)) = self.own_member(owner, name) else { continue };
            for body in self.functions_of(owner, var) {
                let facts = self.program.facts(body.file);
                let sets = facts.list(self.program.body(body).decorators).iter().any(
                    |&decorator| matches!(facts.form(decorator), Form::Attr(_, sym) if facts.text(sym) == "setter"),
                );
                if sets && self.program.body(body).flow == Flow::Sync {
                    let target = Target::Body { body, env: EnvId::NONE, with_receiver: true, edge: TargetKind::Call };
                    self.push(targets, target);
                }
            }
            self.add_descriptor(targets, owner, var, "__set__");
            return;
        }
    }

    /// Adds the method of an object that a class holds under a name, where reading or setting the name runs it.
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

    /// What the body of a class assigns to one of its names, each with the call that makes it.
    fn values_in_class(&self, owner: ClassRef, var: VarId) -> Vec<(ValueId, Option<SiteRef>)> {
        let facts = self.program.facts(owner.file);
        let body = self.program.class(owner).body;
        let rows = facts.assigns_of(var).filter(|row| facts.body_of(row.at) == body && row.value.is_some());
        rows.map(|row| {
            let scope = crate::values::expr::Scope { file: owner.file, at: row.at, env: EnvId::NONE };
            let made = match facts.form(row.value) {
                Form::Result(site) => Some(owner.file.site_ref(site)),
                _ => None,
            };
            (self.eval(scope, row.value).value, made)
        })
        .collect()
    }

    /// Python: what reading a name of a class on an instance gives, where a library's descriptor stands under it and a row says so:
    /// `author = ForeignKey(Author)`.
    pub(crate) fn described(&self, owner: ClassRef, var: VarId) -> Option<Typed> {
        let facts = self.program.facts(owner.file);
        let name = self.program.global(owner.file, facts.var(var).name)?;
        if facts.language != Language::Python || !self.names_of_descriptors().contains(&name) {
            return None;
        }
        self.values_in_class(owner, var).into_iter().find_map(|(value, made)| {
            self.values.members(value).into_iter().find_map(|val| {
                let Val::Library { ty, .. } = val else { return None };
                let rows = self.library.calls(self.library.member(ty, "__get__"));
                let returns = rows.with(|row| row.returns.is_some()).next()?.returns.clone()?;
                let typed = self.type_value(&returns, val, made.map(|site| (site, EnvId::NONE)));
                (!self.values.is_unknown(typed.value)).then_some(typed)
            })
        })
    }

    /// Python: the names under which classes of the project hold descriptors of libraries that a row speaks of.
    pub fn names_of_descriptors(&self) -> &FxHashSet<Name> {
        self.program_tables.described.get_or_init(|| {
            let mut found = FxHashSet::default();
            let makers = self.makers_of_descriptors();
            if makers.is_empty() {
                return found;
            }
            for source in self.program.files.iter().filter(|source| source.facts.language == Language::Python) {
                let facts = &source.facts;
                for row in facts.assigns.iter() {
                    let (Form::Var(var), Form::Result(site)) = (facts.form(row.target), facts.form(row.value)) else {
                        continue;
                    };
                    let named = facts.text(facts.site(site).name);
                    // What makes it need not be spelt as what it makes: `relationship()` gives a `Relationship`.
                    if facts.body(facts.var(var).body).kind == BodyKind::Class
                        && makers.iter().any(|maker| maker.eq_ignore_ascii_case(named))
                    {
                        found.extend(self.program.name(facts.text(facts.var(var).name)));
                    }
                }
            }
            found
        })
    }

    /// The last names of the descriptors.
    fn makers_of_descriptors(&self) -> FxHashSet<&'a str> {
        let paths = self.descriptors(Uses::EFFECT.union(Uses::RETURNS));
        paths.filter_map(|path| Some(path.rsplit('.').nth(1)?.trim_matches(['<', '>']))).collect()
    }

    /// The libraries of the descriptors that do more than give something.
    pub fn roots_of_descriptors(&self) -> Vec<&'a str> {
        self.descriptors(Uses::EFFECT).filter_map(|path| path.split('.').next()).collect()
    }

    /// The paths by which rows of these uses speak of what reading a descriptor does.
    fn descriptors(&self, uses: Uses) -> impl Iterator<Item = &'a str> {
        let rows = self.library.of(Language::Python).names(uses).filter(|row| row.name == "__get__");
        rows.flat_map(move |row| row.paths(uses).map(|path| path.path).collect::<Vec<_>>())
    }

    /// Adds what iterating over a member runs.
    pub(crate) fn add_iteration(&self, targets: &mut Targets, val: Val, is_async: bool) {
        match val {
            Val::Iter { body, env } => {
                let is_async_body = self.program.body(body).flow == Flow::AsyncGenerator;
                let edge = if is_async_body { TargetKind::Construct } else { TargetKind::Consume };
                self.push(targets, Target::Body { body, env, with_receiver: false, edge });
            }
            Val::Lazy { path, .. } if is_async && self.library.language(path) == Language::Python => {}
            Val::Lazy { path, .. } if self.library.language(path) == Language::Python => {
                self.add_python_iteration(targets, val);
            }
            Val::Lazy { made, path, .. } => {
                self.push(targets, Target::Row { path, receiver: BoundId::NONE, property: false, made: Some(made) });
            }
            _ if is_async => {}
            Val::Instance { class, .. } if self.program.language(class.file) == Language::Java => {
                self.add_gone_through(targets, val);
            }
            Val::Instance { class, .. } if self.program.language(class.file) == Language::Python => {
                self.add_python_iteration(targets, val);
            }
            Val::Library { ty, .. } if self.library.language(ty) == Language::Python => {
                self.add_python_iteration(targets, val);
            }
            Val::Instance { .. } | Val::Library { .. } => {
                let is_rust = matches!(val, Val::Library { ty, .. } if self.library.language(ty) == Language::Rust);
                let methods: &[&str] = if is_rust { &["next", "into_iter"] } else { &["iterator", "next"] };
                for &method in methods {
                    if let Some(name) = self.program.name(method) {
                        let before = targets.list.len();
                        self.add_method(targets, val, name);
                        // A library's own iteration counts once.
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
            _ => {}
        }
    }

    /// Java: adds what going through an object of the project runs: its `iterator`, and what that gives for each element.
    pub(crate) fn add_gone_through(&self, targets: &mut Targets, val: Val) {
        let Some(name) = self.program.name(lang::java::names::GONE_THROUGH_BY) else { return };
        self.add_method(targets, val, name);
        let methods = self.attr(val, name);
        let given = self.map(methods, |method| match method {
            Val::Fn { body, env, receiver } => {
                let owner = receiver.is_some().then(|| self.values.single(receiver));
                self.with_override_results(body, owner, self.called(body, env, owner))
            }
            _ => self.unknown(Why::Result),
        });
        self.add_steps_of_iterator(targets, given);
    }

    /// Java: the same where an inherited method goes through the object itself: `pages.forEach(show)`.
    pub(crate) fn add_for_each(&self, targets: &mut Targets, receiver: BoundId, site: SiteRef) {
        let facts = self.program.facts(site.file);
        let called = facts.text(self.program.site(site).name);
        if facts.language != Language::Java
            || !receiver.is_some()
            || !lang::java::names::GOES_THROUGH_ITSELF.contains(&called)
        {
            return;
        }
        let own = self.values.single(receiver);
        if matches!(own, Val::Instance { .. }) {
            self.add_gone_through(targets, own);
            self.add_steps_of_iterator(targets, self.known(own));
        }
    }

    /// Java: adds what a loop calls of iterators for each element.
    pub(crate) fn add_steps_of_iterator(&self, targets: &mut Targets, iterators: Typed) {
        for iterator in self.values.members(iterators.value) {
            if !matches!(iterator, Val::Instance { .. }) {
                continue;
            }
            targets.steps = targets.steps.max(iterators.inferred_steps);
            for name in lang::java::names::STEPS_OF_ITERATOR.iter().filter_map(|step| self.program.name(step)) {
                self.add_method(targets, iterator, name);
            }
        }
    }

    /// Whether of what a site runs one or another is meant. Java: what goes through an object runs its `iterator` and the steps of
    /// what that gives, each of them.
    pub fn are_alternatives(&self, site: SiteRef, targets: &Targets) -> bool {
        let facts = self.program.facts(site.file);
        let row = self.program.site(site);
        if facts.language == Language::Python {
            return targets.one_of;
        }
        let goes_through = facts.language == Language::Java
            && (row.kind == SiteKind::Iterate
                || lang::java::names::GOES_THROUGH_ITSELF.contains(&facts.text(row.name)));
        if !goes_through {
            return targets.list.len() > 1;
        }
        let mut seen = FxHashSet::default();
        targets.list.iter().any(|target| match *target {
            Target::Body { body, .. } => {
                let of = self.program.facts(body.file);
                !seen.insert(of.text(self.program.body(body).name))
            }
            Target::Overrides { .. } => true,
            Target::Row { .. } => false,
        })
    }

    /// True if of the rows that a site enters one or another is meant.
    pub fn is_one_of_targets(&self, site: SiteRef, targets: &Targets) -> bool {
        match self.program.language(site.file) {
            Language::Python => targets.one_of,
            Language::Rust | Language::Java => targets.list.len() > 1,
        }
    }

    /// Java: the names of the calls during which a method of an iterator runs without being named: loops, and what goes through
    /// itself.
    pub fn names_gone_through(&self, body: BodyRef) -> Vec<Name> {
        let facts = self.program.facts(body.file);
        let row = self.program.body(body);
        let name = facts.text(row.name);
        let is_step =
            lang::java::names::STEPS_OF_ITERATOR.contains(&name) || name == lang::java::names::GONE_THROUGH_BY;
        if facts.language != Language::Java || !is_step || row.class.is_none() {
            return Vec::new();
        }
        let by = [lang::java::names::GONE_THROUGH_BY]
            .into_iter()
            .chain(lang::java::names::GOES_THROUGH_ITSELF.iter().copied());
        by.filter_map(|name| self.program.name(name)).collect()
    }

    /// Whether iterating over a library's type enters a row that holds the thread.
    pub fn iterates_by_row(&self, ty: PathId) -> bool {
        self.query(&self.tables.calls.iterated, ty, bool::default, || {
            let mut targets = Targets::default();
            self.add_iteration(&mut targets, Val::Library { ty, args: ArgsId::NONE, made: None }, false);
            let holds = targets.list.iter().any(|target| match *target {
                Target::Row { path, .. } => self.library.calls(path).effect().any(|row| row.held().is_some()),
                _ => true,
            });
            // What a transparent type holds is iterated in its place.
            holds || self.library.ty(ty).is_some_and(|rows| rows.through().is_some())
        })
    }

    /// Adds what entering or leaving a `with` item runs.
    pub(crate) fn add_with(&self, targets: &mut Targets, val: Val, name: Name, entering: bool) {
        match val {
            Val::Iter { body, env } => {
                let flow = self.program.body(body).flow;
                // Nothing else makes a generator one that is entered: a decorator, or `contextmanager(f)`.
                if entering && flow == Flow::Generator {
                    self.push(targets, Target::Body { body, env, with_receiver: false, edge: TargetKind::Consume });
                }
            }
            _ => self.add_method(targets, val, name),
        }
    }
}
