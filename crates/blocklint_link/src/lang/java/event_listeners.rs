//! Java: event listeners: methods that run during a call of a library because of their annotation. A call of
//! `publisher.publishEvent(event)` runs the methods with `@EventListener` whose parameter has the type of the event.

use std::rc::Rc;

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{BodyId, Form, FormId};
use blocklint_models::Via;

use crate::calls::targets::{Target, TargetKind, Targets};
use crate::linker::Linker;
use crate::program::ids::{BodyRef, Name, PathId, SiteRef};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

impl Linker<'_> {
    /// Adds the methods with an annotation whose event type fits the first argument of a call.
    pub(crate) fn add_event_listeners(&self, targets: &mut Targets, annotation: PathId, site: SiteRef) {
        let Some(event) = self.program.args_of(site).first().map(|arg| arg.value) else { return };
        let events = self.values.members(self.eval(self.scope_of(site, EnvId::NONE), event).value);
        for &body in self.methods_annotated_with(annotation).iter() {
            let event_types = self.listener_event_types(body, annotation);
            let is_heard = events.iter().any(|&event| event_types.iter().any(|&ty| self.is_of_type(event, ty)));
            if is_heard && self.may_run_in_one_program(site.file, body.file) {
                let env = EnvId::NONE;
                // `@Async` makes the listener run on another thread.
                let kind = self
                    .proxy_context(body, site)
                    .map_or(TargetKind::Call, |context| TargetKind::HandOver(context, None));
                self.push(targets, Target::Body { body, env, with_receiver: false, kind });
            }
        }
    }

    /// Returns the names of the library calls that run a method because of its annotation: `publishEvent`.
    pub fn names_run_during_annotation(&self, body: BodyRef) -> Vec<Name> {
        let rows = self.decorator_paths(body).into_iter().flat_map(|path| {
            let rows = self.library.handovers(path);
            rows.rows_of_via(Via::Decorator)
                .flat_map(|matched| self.last_names(&matched.row.during))
                .collect::<Vec<_>>()
        });
        rows.collect()
    }

    /// Returns the methods of the project with an annotation.
    fn methods_annotated_with(&self, annotation: PathId) -> Rc<[BodyRef]> {
        self.query(&self.tables.java.listeners, annotation, Rc::default, || {
            self.find_methods_annotated_with(annotation).into()
        })
    }

    fn find_methods_annotated_with(&self, annotation: PathId) -> Vec<BodyRef> {
        let text = self.library.text(annotation);
        let last = text.rsplit('.').next().and_then(|last| self.program.name(last));
        let mut methods = Vec::new();
        for &(file, _) in last.into_iter().flat_map(|last| self.program.occurrences(last)) {
            let facts = self.program.facts(file);
            if facts.language != Language::Java {
                continue;
            }
            for (index, body_facts) in facts.bodies.iter().enumerate() {
                let body = file.body_ref(BodyId(index as u32));
                if !facts.list(body_facts.decorators).is_empty() && self.decorator_paths(body).contains(&annotation) {
                    methods.push(body);
                }
            }
        }
        methods.sort_unstable();
        methods.dedup();
        methods
    }

    /// Returns the event types of a listener: the classes that its annotation lists, else the type of its first
    /// parameter.
    fn listener_event_types(&self, body: BodyRef, annotation: PathId) -> Vec<Val> {
        let facts = self.program.facts(body.file);
        let scope = self.signature_scope(body);
        let annotation_site =
            self.decorators(body).into_iter().find(|&(path, _)| path == annotation).and_then(|(_, site)| site);
        let mut types = Vec::new();
        for arg in annotation_site.into_iter().flat_map(|site| self.program.args_of(site)) {
            match facts.form(arg.value) {
                Form::Display(_, list) => {
                    for &part in facts.list(list) {
                        self.add_named_class(scope, part, &mut types);
                    }
                }
                _ => self.add_named_class(scope, arg.value, &mut types),
            }
        }
        if let Some(first) = self.program.params_of(body).first().filter(|_| types.is_empty()) {
            types.extend(self.values.members(self.annotation(scope, first.annotation).value));
        }
        types
    }

    /// Adds the type of a class literal: `Removed.class`.
    fn add_named_class(&self, scope: Scope, form: FormId, types: &mut Vec<Val>) {
        let facts = self.program.facts(scope.file);
        if let Form::Attr(class, name) = facts.form(form)
            && facts.text(name) == lang::java::names::CLASS_LITERAL
        {
            types.extend(self.values.members(self.annotation(scope, class).value));
        }
    }

    /// True if a value is of a type, or of a subtype of it.
    fn is_of_type(&self, val: Val, wanted: Val) -> bool {
        match (val, wanted) {
            (Val::Instance { class, .. }, Val::Instance { class: base, .. }) => self.is_subclass(class, base),
            (Val::Library { ty, .. }, Val::Library { ty: base, .. }) => self.library.is_subtype(ty, base),
            (Val::Instance { class, .. }, Val::Library { ty: base, .. }) => self.derives_from_library(class, base),
            _ => false,
        }
    }
}
