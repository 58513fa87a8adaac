//! Java: annotations of a class, or of an interface that it implements, that decide the thread of all its methods:
//! `@NonBlocking` on a resource, `@ProxyGen` on the interface of a service.

use blocklint_core::{Context, Language};
use blocklint_facts::{At, BodyFlags, BodyId, BodyKind, ClassKind, Form};
use blocklint_models::{HandoverContext, HandoverRow, Runs, Via};

use crate::classes::hierarchy::Ancestor;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, PathId};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

impl<'a> Linker<'a> {
    /// Returns the rows that register a method as an entry point by an annotation of its class, if the method has an
    /// annotation of a framework too, or by an annotation of an interface that declares the method.
    pub fn registered_by_class(&self, body: BodyRef) -> Vec<&'a HandoverRow> {
        let facts = self.program.facts(body.file);
        let body_facts = self.program.body(body);
        let Some(own_class) = body_facts.class.get() else { return Vec::new() };
        if facts.language != Language::Java
            || body_facts.kind != BodyKind::Function
            || body_facts.flags.has(BodyFlags::STATIC)
        {
            return Vec::new();
        }
        let own_class = body.file.class_ref(own_class);
        let mut rows = Vec::new();
        let class_rows = self.event_loop_rows(own_class);
        if !class_rows.is_empty()
            && self.decorator_paths(body).iter().any(|&path| !is_language_annotation(&self.library.text(path)))
        {
            rows.extend(class_rows);
        }
        let Some(name) = self.program.global(body.file, body_facts.name) else { return rows };
        for ancestor in self.mro(own_class).iter() {
            let Ancestor::Class(class) = *ancestor else { continue };
            let class_facts = self.program.facts(class.file);
            let is_marked = self.program.class(class).kind == ClassKind::Interface
                && class != own_class
                && !class_facts.list(self.program.class(class).decorators).is_empty();
            if is_marked && self.own_member(class, name).is_some() {
                rows.extend(self.event_loop_rows(class));
            }
        }
        rows
    }

    /// Returns the paths of the annotations of a class.
    pub(crate) fn class_annotations(&self, class: ClassRef) -> Vec<PathId> {
        let facts = self.program.facts(class.file);
        let class_facts = self.program.class(class);
        let region = facts.body(class_facts.parent.get().unwrap_or(BodyId(0))).region;
        let scope = Scope { file: class.file, at: At { region, position: u32::MAX }, env: EnvId::NONE };
        let mut paths = Vec::new();
        for &decorator in facts.list(class_facts.decorators) {
            let typed = match facts.form(decorator) {
                Form::Result(site) => self.callee(class.file.site_ref(site), EnvId::NONE),
                _ => self.eval(scope, decorator),
            };
            paths.extend(self.values.members(typed.value).into_iter().filter_map(|val| match val {
                Val::External(path) | Val::Library { ty: path, .. } => Some(path),
                _ => None,
            }));
        }
        paths
    }

    /// Returns the rows of a class's annotations that make methods run on an event loop.
    fn event_loop_rows(&self, class: ClassRef) -> Vec<&'a HandoverRow> {
        let mut loop_rows = Vec::new();
        for path in self.class_annotations(class) {
            let rows = self.library.handovers(path);
            loop_rows.extend(
                rows.rows_of_via(Via::Decorator).map(|matched| matched.row).filter(|row| {
                    row.when.is_empty() && row.context == HandoverContext::Is(Runs::In(Context::EventLoop))
                }),
            );
        }
        loop_rows
    }
}

/// True if an annotation is part of the language, so that it makes no method an entry point: `@Override`.
fn is_language_annotation(path: &str) -> bool {
    path.starts_with("java.lang.")
}
