//! Python: request models: the classes that annotate the parameters of a handler (`def save(order: Order)`). The
//! library parses a request into instances of them on the event loop, also if the handler runs in a worker thread, and
//! runs their validators there.

use blocklint_core::Language;
use blocklint_facts::{BodyId, BodyKind, Form, FormId};
use blocklint_models::{HandoverRow, Match, Selector, Uses, Via};
use rustc_hash::FxHashSet;

use crate::calls::targets::Target;
use crate::classes::hierarchy::Ancestor;
use crate::linker::Linker;
use crate::models::unit_facts::calls_of;
use crate::program::ids::{BodyRef, ClassRef, FileId, SiteRef};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// The number of nested dependencies that are followed.
const DEPTH: u32 = 6;

/// The number of nested type arguments in which request models are searched: 2 for `list[list[Order]]`.
const MAX_TYPE_DEPTH: u32 = 3;

impl Linker<'_> {
    /// True if a method's class, or a subclass of it, is a request model.
    pub(crate) fn is_request_model_method(&self, body: BodyRef) -> bool {
        let body_facts = self.program.body(body);
        let Some(method_class) = body_facts.class.get().map(|class| body.file.class_ref(class)) else { return false };
        let inherits = |class: &ClassRef| {
            *class == method_class
                || self.mro(*class).iter().any(|base| matches!(*base, Ancestor::Class(base) if base == method_class))
        };
        self.tables.python.request_models.get_or_init(|| self.find_request_models()).iter().any(inherits)
    }

    /// Returns the classes that annotate parameters of handlers, and those of their fields.
    fn find_request_models(&self) -> FxHashSet<ClassRef> {
        let mut request_classes = FxHashSet::default();
        let mut visited = FxHashSet::default();
        for (slot, source) in self.program.files.iter().enumerate() {
            if source.facts.language != Language::Python {
                continue;
            }
            let file = FileId(slot as u32);
            for (index, body_facts) in source.facts.bodies.iter().enumerate() {
                if body_facts.kind != BodyKind::Function || source.facts.list(body_facts.decorators).is_empty() {
                    continue;
                }
                let body = file.body_ref(BodyId(index as u32));
                let parses =
                    |path| self.library.handovers(path).rows_of_via(Via::Decorator).any(|matched| matched.row.parses);
                if self.decorator_paths(body).into_iter().any(parses) {
                    self.add_request_models(body, &mut request_classes, &mut visited, DEPTH);
                }
            }
        }
        // `app.add_api_route("/", handler)`, `dependencies=[Depends(checked)]`
        for named_rows in self.library.of(Language::Python).names(Uses::HANDOVER) {
            for path in named_rows.paths(Uses::HANDOVER) {
                let rows = self.library.handovers(self.library.path(Language::Python, path.path));
                let takes_handler = |matched: Match<'_, HandoverRow>| {
                    matched.row.parses && matches!(matched.row.selector, Selector::Argument(_))
                };
                if rows.iter().any(takes_handler) {
                    for site in calls_of(self, path.path) {
                        for body in self.functions_passed_to_parse(site) {
                            self.add_request_models(body, &mut request_classes, &mut visited, DEPTH);
                        }
                    }
                }
            }
        }
        request_classes
    }

    /// Adds the request models in the annotations of the parameters of a handler, and of its dependencies.
    fn add_request_models(
        &self,
        body: BodyRef,
        request_classes: &mut FxHashSet<ClassRef>,
        visited: &mut FxHashSet<BodyRef>,
        depth: u32,
    ) {
        let Some(depth) = depth.checked_sub(1) else { return };
        if !visited.insert(body) {
            return;
        }
        let facts = self.program.facts(body.file);
        let scope = self.signature_scope(body);
        for param in self.program.params_of(body) {
            // `page = Depends(paged)`, `page: Annotated[Page, Depends(paged)]`
            let mut declarations = vec![param.default];
            if let Form::Subscript(_, index) = facts.form(param.annotation)
                && let Form::Display(_, list) = facts.form(index)
            {
                declarations.extend(facts.list(list).iter().skip(1));
            }
            let dependencies: Vec<BodyRef> =
                declarations.into_iter().flat_map(|form| self.dependencies(scope, form)).collect();
            // The value of a dependency is the result of a function, not parsed from the request.
            let is_dependency = !dependencies.is_empty();
            for dependency in dependencies {
                self.add_request_models(dependency, request_classes, visited, depth);
            }
            if param.annotation.is_some() && !is_dependency {
                let mut queue = self.models_in(self.annotation(scope, param.annotation), MAX_TYPE_DEPTH);
                while let Some(class) = queue.pop() {
                    if request_classes.insert(class) {
                        queue.extend(
                            self.annotated_fields(class)
                                .into_iter()
                                .flat_map(|(_, typed)| self.models_in(typed, MAX_TYPE_DEPTH)),
                        );
                    }
                }
            }
        }
    }

    /// Returns the dependencies in the default or annotation of a parameter: functions whose parameters the library
    /// also parses from the request (`Depends(paged)`).
    fn dependencies(&self, scope: Scope, declaration: FormId) -> Vec<BodyRef> {
        let Form::Result(site) = self.program.facts(scope.file).form(declaration) else { return Vec::new() };
        self.functions_passed_to_parse(scope.file.site_ref(site))
    }

    /// Returns the functions that a call passes to a library which parses their parameters from requests.
    fn functions_passed_to_parse(&self, site: SiteRef) -> Vec<BodyRef> {
        let scope = self.scope_of(site, EnvId::NONE);
        let mut functions = Vec::new();
        for target in &self.targets(site, EnvId::NONE).list {
            let Target::Row { path, .. } = *target else { continue };
            for handover in self.library.handovers(path).iter().filter(|handover| handover.row.parses) {
                let Selector::Argument(argument) = &handover.row.selector else { continue };
                let Some(form) = self.argument(site, argument) else { continue };
                functions.extend(self.values.members(self.eval(scope, form).value).iter().filter_map(
                    |val| match *val {
                        Val::Fn { body, .. } => Some(body),
                        _ => None,
                    },
                ));
            }
        }
        functions
    }
}
