//! Instances that libraries make of requests before a handler runs; the annotations of the handler's parameters name
//! their classes. The library makes them on the event loop, also for handlers that run in a worker, and runs the
//! validators of those classes.

use blocklint_core::Language;
use blocklint_facts::{BodyKind, Form};
use blocklint_models::{HandoverRow, Match, Selector, Uses, Via};
use rustc_hash::FxHashSet;

use crate::calls::targets::Target;
use crate::classes::hierarchy::Ancestor;
use crate::linker::Linker;
use crate::models::unit_facts::calls_of;
use crate::program::ids::{BodyRef, ClassRef, FileId, SiteRef};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// Dependencies of dependencies are followed so far.
const DEPTH: u32 = 6;

impl Linker<'_> {
    /// True if a method belongs to a class whose instances are made of requests.
    pub(crate) fn is_validated_on_loop(&self, body: BodyRef) -> bool {
        let row = self.program.body(body);
        let Some(own) = row.class.get().map(|class| body.file.class_ref(class)) else { return false };
        let inherits = |class: &ClassRef| {
            *class == own || self.mro(*class).iter().any(|of| matches!(*of, Ancestor::Class(of) if of == own))
        };
        self.tables.python.parsed.get_or_init(|| self.parsed_classes()).iter().any(inherits)
    }

    /// Returns the classes that parameters of handlers are annotated with, and those that their fields hold.
    fn parsed_classes(&self) -> FxHashSet<ClassRef> {
        let mut found = FxHashSet::default();
        let mut seen = FxHashSet::default();
        for (slot, source) in self.program.files.iter().enumerate() {
            if source.facts.language != Language::Python {
                continue;
            }
            let file = FileId(slot as u32);
            for (at, row) in source.facts.bodies.iter().enumerate() {
                if row.kind != BodyKind::Function || source.facts.list(row.decorators).is_empty() {
                    continue;
                }
                let body = file.body_ref(blocklint_facts::BodyId(at as u32));
                let parses = |path| self.library.handovers(path).of_via(Via::Decorator).any(|of| of.row.parses);
                if self.decorator_paths(body).into_iter().any(parses) {
                    self.add_parsed(body, &mut found, &mut seen, DEPTH);
                }
            }
        }
        // `app.add_api_route("/", handler)`, `dependencies=[Depends(checked)]`
        for name in self.library.of(Language::Python).names(Uses::HANDOVER) {
            for path in name.paths(Uses::HANDOVER) {
                let rows = self.library.handovers(self.library.path(Language::Python, path.path));
                let takes =
                    |of: Match<'_, HandoverRow>| of.row.parses && matches!(of.row.selector, Selector::Argument(_));
                if rows.iter().any(takes) {
                    for site in calls_of(self, path.path) {
                        for body in self.handed_to_parse(site) {
                            self.add_parsed(body, &mut found, &mut seen, DEPTH);
                        }
                    }
                }
            }
        }
        found
    }

    /// Adds the annotations of the parameters of a handler or a dependency.
    fn add_parsed(&self, body: BodyRef, found: &mut FxHashSet<ClassRef>, seen: &mut FxHashSet<BodyRef>, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        if !seen.insert(body) {
            return;
        }
        let facts = self.program.facts(body.file);
        let scope = self.signature_scope(body);
        for param in self.program.params_of(body) {
            // `page = Depends(paged)`, `page: Annotated[Page, Depends(paged)]`
            let mut told = vec![param.default];
            if let Form::Subscript(_, index) = facts.form(param.annotation)
                && let Form::Display(_, list) = facts.form(index)
            {
                told.extend(facts.list(list).iter().skip(1));
            }
            let given: Vec<BodyRef> = told.into_iter().flat_map(|form| self.dependencies(scope, form)).collect();
            // The result of a dependency is not made of the request, independent of its type.
            let is_given = !given.is_empty();
            for dependency in given {
                self.add_parsed(dependency, found, seen, depth);
            }
            if param.annotation.is_some() && !is_given {
                let mut left = self.models_in(self.annotation(scope, param.annotation), 3);
                while let Some(class) = left.pop() {
                    if found.insert(class) {
                        left.extend(
                            self.annotated_fields(class).into_iter().flat_map(|(_, typed)| self.models_in(typed, 3)),
                        );
                    }
                }
            }
        }
    }

    /// Returns the functions that the declaration of a parameter hands to a library, which makes their parameters of
    /// the request too.
    fn dependencies(&self, scope: Scope, said: blocklint_facts::FormId) -> Vec<BodyRef> {
        let Form::Result(site) = self.program.facts(scope.file).form(said) else { return Vec::new() };
        self.handed_to_parse(scope.file.site_ref(site))
    }

    /// Returns the functions that a call hands to a library that makes their parameters of a request.
    fn handed_to_parse(&self, site: SiteRef) -> Vec<BodyRef> {
        let scope = self.scope_of(site, EnvId::NONE);
        let mut found = Vec::new();
        for target in &self.targets(site, EnvId::NONE).list {
            let Target::Row { path, .. } = *target else { continue };
            for of in self.library.handovers(path).iter().filter(|of| of.row.parses) {
                let Selector::Argument(argument) = &of.row.selector else { continue };
                let Some(form) = self.argument(site, argument) else { continue };
                found.extend(self.values.members(self.eval(scope, form).value).iter().filter_map(|val| match *val {
                    Val::Fn { body, .. } => Some(body),
                    _ => None,
                }));
            }
        }
        found
    }
}
