//! Java: methods that an annotation makes run during calls of a library: `@EventListener` by
//! `publisher.publishEvent(event)`. Of those the ones that take the arguments of the call.

use std::rc::Rc;

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{Form, FormId};
use blocklint_models::Via;

use crate::calls::targets::{Target, TargetKind, Targets};
use crate::linker::Linker;
use crate::program::ids::{BodyRef, Name, PathId, SiteRef};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

impl Linker<'_> {
    /// Adds the methods with an annotation that take the arguments of a call first.
    pub(crate) fn add_listeners(&self, targets: &mut Targets, annotation: PathId, site: SiteRef) {
        let Some(event) = self.program.args_of(site).first().map(|arg| arg.value) else { return };
        let events = self.values.members(self.eval(self.scope_of(site, EnvId::NONE), event).value);
        for &body in self.marked_with(annotation).iter() {
            let taken = self.taken_by_listener(body, annotation);
            let is_heard = events.iter().any(|&event| taken.iter().any(|&taken| self.is_of_type(event, taken)));
            if is_heard && self.may_meet(site.file, body.file) {
                let env = EnvId::NONE;
                // `@Async` hands it over.
                let kind = self
                    .proxy_context(body, site)
                    .map_or(TargetKind::Call, |context| TargetKind::HandOver(context, None));
                self.push(targets, Target::Body { body, env, with_receiver: false, kind });
            }
        }
    }

    /// Returns the names of the library calls during which the library runs a method because of its annotation.
    pub fn names_run_during_annotation(&self, body: BodyRef) -> Vec<Name> {
        let rows = self.decorator_paths(body).into_iter().flat_map(|path| {
            let rows = self.library.handovers(path);
            rows.of_via(Via::Decorator).flat_map(|row| self.last_names(&row.row.during)).collect::<Vec<_>>()
        });
        rows.collect()
    }

    /// Returns the methods of the project with an annotation.
    fn marked_with(&self, annotation: PathId) -> Rc<[BodyRef]> {
        self.query(&self.tables.java.listeners, annotation, Rc::default, || self.find_marked_with(annotation).into())
    }

    fn find_marked_with(&self, annotation: PathId) -> Vec<BodyRef> {
        let text = self.library.text(annotation);
        let last = text.rsplit('.').next().and_then(|last| self.program.name(last));
        let mut found = Vec::new();
        for &(file, _) in last.into_iter().flat_map(|last| self.program.occurrences(last)) {
            let facts = self.program.facts(file);
            if facts.language != Language::Java {
                continue;
            }
            for (at, row) in facts.bodies.iter().enumerate() {
                let body = file.body_ref(blocklint_facts::BodyId(at as u32));
                if !facts.list(row.decorators).is_empty() && self.decorator_paths(body).contains(&annotation) {
                    found.push(body);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the types of a listener's parameters: those that its annotation lists, else that of its parameter.
    fn taken_by_listener(&self, body: BodyRef, annotation: PathId) -> Vec<Val> {
        let facts = self.program.facts(body.file);
        let scope = self.signature_scope(body);
        let made = self.decorators(body).into_iter().find(|&(path, _)| path == annotation).and_then(|(_, made)| made);
        let mut taken = Vec::new();
        for arg in made.into_iter().flat_map(|site| self.program.args_of(site)) {
            match facts.form(arg.value) {
                Form::Display(_, list) => {
                    for &part in facts.list(list) {
                        self.add_named_class(scope, part, &mut taken);
                    }
                }
                _ => self.add_named_class(scope, arg.value, &mut taken),
            }
        }
        if let Some(first) = self.program.params_of(body).first().filter(|_| taken.is_empty()) {
            taken.extend(self.values.members(self.annotation(scope, first.annotation).value));
        }
        taken
    }

    /// `Removed.class`
    fn add_named_class(&self, scope: Scope, form: FormId, taken: &mut Vec<Val>) {
        let facts = self.program.facts(scope.file);
        if let Form::Attr(of, name) = facts.form(form)
            && facts.text(name) == lang::java::names::CLASS
        {
            taken.extend(self.values.members(self.annotation(scope, of).value));
        }
    }

    fn is_of_type(&self, val: Val, wanted: Val) -> bool {
        match (val, wanted) {
            (Val::Instance { class, .. }, Val::Instance { class: of, .. }) => self.is_subclass(class, of),
            (Val::Library { ty, .. }, Val::Library { ty: of, .. }) => self.library.is_subtype(ty, of),
            (Val::Instance { class, .. }, Val::Library { ty: of, .. }) => self.derives_from_library(class, of),
            _ => false,
        }
    }
}
