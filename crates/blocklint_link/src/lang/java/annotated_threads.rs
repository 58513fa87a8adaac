//! Java: annotations that decide the thread of a method: `@Blocking` of a resource, `@Async` of a container's object.
//! Annotations of interfaces are in `class_annotations.rs`.

use blocklint_core::{Context, Language};
use blocklint_facts::{BodyKind, Form};
use blocklint_models::{HandoverContext, HandoverRow, Runs, Via};

use crate::lang;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, PathId, SiteRef};
use crate::values::value::EnvId;

impl Linker<'_> {
    /// True if an annotation of a method, or of its class if the method has none, makes the method run on a worker
    /// thread (`@Blocking`), also if the method returns a future or publisher.
    pub fn has_blocking_annotation(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        let body_facts = self.program.body(body);
        let Some(class) = body_facts.class.get().filter(|_| body_facts.kind == BodyKind::Function) else {
            return false;
        };
        // A row with conditions on arguments needs an annotation with arguments:
        // `@ConsumeEvent(value = "a", blocking = true)`.
        let annotation_context = |(path, site): (PathId, Option<SiteRef>)| {
            let handovers = self.library.handovers(path);
            let meets_conditions = |row: &HandoverRow| match site {
                Some(site) => self.conditions_hold(&row.when, &row.unless, site, EnvId::NONE),
                None => row.when.is_empty(),
            };
            let mut rows = handovers.rows_of_via(Via::Decorator).filter(|matched| meets_conditions(matched.row));
            rows.find_map(|matched| match matched.row.context {
                HandoverContext::Is(Runs::In(context)) => Some(context),
                _ => None,
            })
        };
        // Of several annotations, an annotation for a worker wins over one that makes the method an entry point.
        let decided_context = |marks: Vec<(PathId, Option<SiteRef>)>| {
            let contexts: Vec<Context> = marks.into_iter().filter_map(annotation_context).collect();
            if contexts.contains(&Context::Worker) { Some(Context::Worker) } else { contexts.first().copied() }
        };
        let method_context = decided_context(self.decorators(body));
        let class_context = || {
            let marks = self.class_annotations(body.file.class_ref(class));
            decided_context(marks.into_iter().map(|path| (path, None)).collect())
        };
        match method_context {
            Some(Context::Worker) => true,
            // `@NonBlocking` decides; an annotation that only makes the method an entry point leaves the thread to the
            // class.
            Some(_)
                if lang::java::names::annotation_names(facts, body_facts.decorators)
                    .any(lang::java::words::marks_non_blocking) =>
            {
                false
            }
            _ => class_context() == Some(Context::Worker),
        }
    }

    /// Returns the context in which a container's proxy runs a method that another object calls, by an annotation of
    /// the method: `@Async`.
    pub(crate) fn proxy_context(&self, body: BodyRef, site: SiteRef) -> Option<Context> {
        let facts = self.program.facts(body.file);
        let marks = self.program.body(body).decorators;
        if facts.language != Language::Java
            || !lang::java::names::annotation_names(facts, marks).any(lang::java::names::is_proxy_annotation)
        {
            return None;
        }
        // A call of an object on itself does not go through the proxy.
        let receiver = self.receiver_form(site)?;
        if self.program.facts(site.file).form(receiver) == Form::This {
            return None;
        }
        self.decorator_paths(body).into_iter().find_map(|path| {
            let handovers = self.library.handovers(path);
            let mut rows = handovers.rows_of_via(Via::Decorator).filter(|matched| matched.row.wraps);
            rows.find_map(|matched| match matched.row.context {
                HandoverContext::Is(Runs::In(context)) => Some(context),
                _ => None,
            })
        })
    }
}
