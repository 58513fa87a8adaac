//! Java: annotations of methods that decide on which thread the method runs: `@Blocking` of a resource, `@Async` of a container.
//! Annotations of interfaces are in `class_annotations.rs`.

use blocklint_core::{Context, Language};
use blocklint_facts::{BodyKind, Form};
use blocklint_models::{HandoverContext, HandoverRow, Runs, Via};

use crate::lang;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, PathId, SiteRef};
use crate::values::value::EnvId;

impl Linker<'_> {
    /// True if an annotation of a method, or of its class if the method has none, says that the method runs on a worker
    /// thread (`@Blocking`), whatever the method returns.
    pub fn is_marked_blocking(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        let row = self.program.body(body);
        let Some(class) = row.class.get().filter(|_| row.kind == BodyKind::Function) else { return false };
        // A row that asks for arguments needs an annotation that has some:
        // `@ConsumeEvent(value = "a", blocking = true)`.
        let place = |(path, made): (PathId, Option<SiteRef>)| {
            let handovers = self.library.handovers(path);
            let holds = |row: &HandoverRow| match made {
                Some(site) => self.conditions_hold(&row.when, &row.unless, site, EnvId::NONE),
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
    pub(crate) fn proxy_context(&self, body: BodyRef, site: SiteRef) -> Option<Context> {
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
}
