//! Java: annotations of a class, or of an interface that it implements, which decide where all its methods run:
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
    /// Returns the rows that register a method by what marks its class, where a framework's own mark makes it an entry,
    /// or by what marks an interface that declares it.
    pub fn registered_by_class(&self, body: BodyRef) -> Vec<&'a HandoverRow> {
        let facts = self.program.facts(body.file);
        let row = self.program.body(body);
        let Some(own) = row.class.get() else { return Vec::new() };
        if facts.language != Language::Java || row.kind != BodyKind::Function || row.flags.has(BodyFlags::STATIC) {
            return Vec::new();
        }
        let own = body.file.class_ref(own);
        let mut found = Vec::new();
        let of_class = self.loop_rows_of(own);
        if !of_class.is_empty()
            && self.decorator_paths(body).iter().any(|&path| !is_of_language(&self.library.text(path)))
        {
            found.extend(of_class);
        }
        let Some(name) = self.program.global(body.file, row.name) else { return found };
        for ancestor in self.mro(own).iter() {
            let Ancestor::Class(class) = *ancestor else { continue };
            let of = self.program.facts(class.file);
            let is_marked = self.program.class(class).kind == ClassKind::Interface
                && class != own
                && !of.list(self.program.class(class).decorators).is_empty();
            if is_marked && self.own_member(class, name).is_some() {
                found.extend(self.loop_rows_of(class));
            }
        }
        found
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

    fn loop_rows_of(&self, class: ClassRef) -> Vec<&'a HandoverRow> {
        let mut found = Vec::new();
        for path in self.class_annotations(class) {
            let rows = self.library.handovers(path);
            found.extend(
                rows.of_via(Via::Decorator).map(|found| found.row).filter(|row| {
                    row.when.is_empty() && row.context == HandoverContext::Is(Runs::In(Context::EventLoop))
                }),
            );
        }
        found
    }
}

/// True if an annotation is part of the language and makes no class an entry point: `@Override`.
fn is_of_language(path: &str) -> bool {
    path.starts_with("java.lang.")
}
