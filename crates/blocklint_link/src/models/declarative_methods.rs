//! Methods without a body that a library implements at run time: of repositories, declarative clients, mappers.

use crate::lang;
use blocklint_core::{Context, Language};
use blocklint_facts::{At, BodyFlags, BodyId, BodyKind, ClassKind, Form, SiteKind};
use blocklint_models::{HandoverContext, HandoverRow, Role, Runs, Uses, Via};
use rustc_hash::FxHashSet;

use crate::classes::hierarchy::Ancestor;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, PathId, SiteRef};
use crate::program::occurrences::Mention;
use crate::reactive::BodyUse;
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

impl<'a> Linker<'a> {
    /// Returns the path whose rows state what a call of a method without a body does: the method as a member of its
    /// annotation or its interface's, or of a library's interface that its own derives from. A method that returns a
    /// future or publisher has no such path, because its call waits for nothing.
    pub fn implemented_by_library(&self, body: BodyRef) -> Option<PathId> {
        let facts = self.program.facts(body.file);
        let row = self.program.body(body);
        if facts.language != Language::Java || !row.flags.has(BodyFlags::STUB) {
            return None;
        }
        let class = body.file.class_ref(row.class.get()?);
        if self.program.class(class).kind != ClassKind::Interface
            || matches!(self.declared_role(body), Some(Role::Publisher | Role::Future))
        {
            return None;
        }
        let mut annotations = self.decorator_paths(body);
        annotations.extend(self.class_annotations(class));
        let name = facts.text(row.name);
        let annotated = annotations.into_iter().find(|&path| self.library.is_mark(path));
        let found = annotated.map(|path| self.library.member(path, name)).or_else(|| {
            self.mro(class).iter().find_map(|ancestor| {
                let Ancestor::Library(ty, _) = *ancestor else { return None };
                let path = self.library.member(ty, name);
                self.library.calls(path).effect().next().map(|_| path)
            })
        })?;
        // Where the project implements it, the implementation counts, unless the interface is the library's own: then
        // its model states what its users meet, whichever of its implementations that is.
        let is_own = self.modelled_class(class).is_some_and(|ty| found == self.library.member(ty, name));
        (is_own || !self.has_implementations(body)).then_some(found)
    }

    /// True if an annotation (`@Blocking`) of a method, else of its class, states that it runs where it may block. The
    /// caller that serves the method obeys that for every type of result.
    pub fn runs_where_it_may_block(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        let row = self.program.body(body);
        let Some(class) = row.class.get().filter(|_| row.kind == BodyKind::Function) else { return false };
        // A row that asks for arguments needs an annotation that has some:
        // `@ConsumeEvent(value = "a", blocking = true)`.
        let place = |(path, made): (PathId, Option<SiteRef>)| {
            let handovers = self.library.handovers(path);
            let holds = |row: &HandoverRow| match made {
                Some(site) => self.conditions_shown(&row.when, &row.unless, site, EnvId::NONE),
                None => row.when.is_empty(),
            };
            let mut rows = handovers.of_via(Via::Decorator).filter(|found| holds(found.row));
            rows.find_map(|found| match found.row.context {
                HandoverContext::Is(Runs::In(context)) => Some(context),
                _ => None,
            })
        };
        // Beside an annotation that makes it an entry point, the one that names a worker counts.
        let named = |marks: Vec<(PathId, Option<SiteRef>)>| {
            let places: Vec<Context> = marks.into_iter().filter_map(place).collect();
            if places.contains(&Context::Worker) { Some(Context::Worker) } else { places.first().copied() }
        };
        let own = named(self.decorators(body));
        let of_class = || {
            let marks = self.class_annotations(body.file.class_ref(class));
            named(marks.into_iter().map(|path| (path, None)).collect())
        };
        match own {
            Some(Context::Worker) => true,
            // An annotation that only makes it an entry point leaves the thread to its class.
            Some(_)
                if lang::java::names::mark_names(facts, row.decorators).any(lang::java::words::marks_non_blocking) =>
            {
                false
            }
            _ => of_class() == Some(Context::Worker),
        }
    }

    /// Returns the context in which a container runs a method that another object calls, by an annotation that wraps
    /// it: `@Async` (Java).
    pub(crate) fn proxied_to(&self, body: BodyRef, site: SiteRef) -> Option<Context> {
        let facts = self.program.facts(body.file);
        let marks = self.program.body(body).decorators;
        if facts.language != Language::Java
            || !lang::java::names::mark_names(facts, marks).any(lang::java::names::is_run_by_proxy)
        {
            return None;
        }
        // A call of an object on itself does not pass through the container.
        let of = self.receiver_form(site)?;
        if self.program.facts(site.file).form(of) == Form::This {
            return None;
        }
        self.decorator_paths(body).into_iter().find_map(|path| {
            let handovers = self.library.handovers(path);
            let mut rows = handovers.of_via(Via::Decorator).filter(|found| found.row.wraps);
            rows.find_map(|found| match found.row.context {
                HandoverContext::Is(Runs::In(context)) => Some(context),
                _ => None,
            })
        })
    }

    /// True if every known instance of a class is passed to a call that runs it where it may block, or to another class
    /// of the project, which then calls it itself: `router.get().blockingHandler(new Rates())`.
    pub(crate) fn is_passed_to_workers(&self, class: ClassRef) -> bool {
        let (facts, class_id) = self.program.facts_and_id(class);
        if facts.text(self.program.class(class).name).is_empty() {
            let mut made = facts
                .sites
                .iter()
                .enumerate()
                .filter(|(_, row)| row.kind == SiteKind::New && facts.form(row.callee) == Form::Class(class_id));
            let index = self.program.index_of(class.file);
            return made.next().is_some_and(|(at, _)| {
                let uses = index.uses_of_result(blocklint_facts::SiteId(at as u32));
                let mut uses = uses.iter().peekable();
                uses.peek().is_some() && uses.all(|(mention, _)| self.keeps_off_the_loop(class.file, mention))
            });
        }
        let Some(name) = self.program.global(class.file, self.program.class(class).name) else { return false };
        let mut any = false;
        for &(file, sym) in self.program.occurrences(name) {
            if self.program.is_test(file) {
                continue;
            }
            let index = self.program.index_of(file);
            let made = index.sites_named(sym).iter().filter(|&&site| {
                self.program.facts(file).site(site).kind == SiteKind::New
                    && self.values.members(self.callee(file.site_ref(site), EnvId::NONE).value)[..]
                        == [Val::Class(class)]
            });
            for &site in made {
                any = true;
                // An object that a verticle of workers makes serves on the verticle's threads.
                let around = self.class_around(self.program.body_of_site(file.site_ref(site)));
                if around.is_some_and(|around| {
                    around != class && !self.is_deployable(class) && self.is_deployed_on_workers(around)
                }) {
                    continue;
                }
                let uses = index.uses_of_result(site);
                let mut uses = uses.iter().peekable();
                if uses.peek().is_none() || !uses.all(|(mention, _)| self.keeps_off_the_loop(file, mention)) {
                    return false;
                }
            }
        }
        any
    }

    /// True if this use of an object means that it is called where it may block, or by a class of the project.
    fn keeps_off_the_loop(&self, file: FileId, mention: Mention) -> bool {
        let facts = self.program.facts(file);
        if let Mention::Assign(assign) = mention
            && let Form::Var(var) = facts.form(facts.assign(assign).target)
            && facts.body(facts.var(var).body).kind != BodyKind::Class
        {
            // One of its uses decides where it runs; the others do not make it run.
            let index = self.program.index_of(file);
            let of_var = index.mentions_named(facts.var(var).name).iter();
            let places: Vec<Context> = of_var
                .filter(|(mention, _)| self.mentions_var(file.var_ref(var), *mention))
                .filter_map(|(mention, _)| match mention {
                    Mention::Arg(site, arg) => Some(self.passing(file.site_ref(site), arg, EnvId::NONE)),
                    _ => None,
                })
                .flat_map(|passing| passing.handed.iter().map(|&(context, _)| context).collect::<Vec<_>>())
                .collect();
            return !places.is_empty() && places.iter().all(|&place| place == Context::Worker);
        }
        // The callers of its maker get the object and pass it on.
        if let Mention::Exit(exit) = mention {
            let maker = self.program.body_of(file, facts.exits.at(exit as usize).at);
            let uses = self.uses_of_body(maker);
            let calls = || uses.iter().filter(|of| !self.program.is_test(of.file()));
            return calls().next().is_some()
                && calls().all(|of| {
                    let BodyUse::Call(site) = *of else { return false };
                    let uses = self.program.uses_of_result(site);
                    let mut uses = uses.iter().peekable();
                    uses.peek().is_some()
                        && uses.all(|(mention, _)| {
                            !matches!(mention, Mention::Exit(_)) && self.keeps_off_the_loop(site.file, mention)
                        })
                });
        }
        let Mention::Arg(taker, arg) = mention else { return false };
        let taker = file.site_ref(taker);
        if self.program.site(taker).kind == SiteKind::New {
            let callee = self.callee(taker, EnvId::NONE);
            if matches!(self.values.members(callee.value)[..], [Val::Class(_)]) {
                return true;
            }
        }
        let passing = self.passing(taker, arg, EnvId::NONE);
        !passing.handed.is_empty() && passing.handed.iter().all(|(context, _)| *context == Context::Worker)
    }

    /// True if a body is a literal of Java that an operator of a chain or of a future calls with the value before it.
    pub fn is_literal_of_chain(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        facts.language == Language::Java
            && self.program.body(body).kind == BodyKind::Lambda
            && self.program.uses_of_callable(body).iter().any(|(mention, _)| match mention {
                Mention::Arg(site, _) => {
                    let Some(receiver) = self.receiver_form(body.file.site_ref(site)) else { return false };
                    let typed = self.eval(self.scope_of(body.file.site_ref(site), EnvId::NONE), receiver);
                    self.is_publisher(typed.value)
                }
                _ => false,
            })
    }

    /// Returns the library paths of a class's annotations.
    pub(crate) fn class_annotations(&self, class: ClassRef) -> Vec<PathId> {
        let facts = self.program.facts(class.file);
        let row = self.program.class(class);
        let region = facts.body(row.parent.get().unwrap_or(BodyId(0))).region;
        let scope = Scope { file: class.file, at: At { region, position: u32::MAX }, env: EnvId::NONE };
        let mut found = Vec::new();
        for &decorator in facts.list(row.decorators) {
            let typed = match facts.form(decorator) {
                Form::Result(site) => self.callee(class.file.site_ref(site), EnvId::NONE),
                _ => self.eval(scope, decorator),
            };
            found.extend(self.values.members(typed.value).into_iter().filter_map(|val| match val {
                Val::External(path) | Val::Library { ty: path, .. } => Some(path),
                _ => None,
            }));
        }
        found
    }

    /// Returns the names of such methods in the project.
    pub fn names_implemented_by_library(&self) -> FxHashSet<Name> {
        let mut found = FxHashSet::default();
        // Only where rows describe whole interfaces or of annotations.
        let models = self.library.of(Language::Java);
        let any = models.mark_names().next().is_some() || models.names(Uses::EFFECT).next().is_some();
        if !any {
            return found;
        }
        for (slot, source) in self.program.files.iter().enumerate() {
            let file = FileId(slot as u32);
            let facts = &source.facts;
            if facts.language != Language::Java {
                continue;
            }
            for (at, body) in facts.bodies.iter().enumerate() {
                let is_stub = body.kind == BodyKind::Function && body.flags.has(BodyFlags::STUB);
                let Some(class) = body.class.get().filter(|_| is_stub) else { continue };
                let class = facts.class(class);
                // An interface without a base or an annotation is implemented by the project only.
                let may_be_implemented = !facts.list(class.bases).is_empty()
                    || !facts.list(class.decorators).is_empty()
                    || !facts.list(body.decorators).is_empty();
                if class.kind != ClassKind::Interface || !may_be_implemented {
                    continue;
                }
                let body_ref = file.body_ref(BodyId(at as u32));
                if self.implemented_by_library(body_ref).is_some() {
                    found.extend(self.program.global(file, body.name));
                }
            }
        }
        found
    }
}
