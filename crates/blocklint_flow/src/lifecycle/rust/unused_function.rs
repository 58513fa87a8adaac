//! Functions of Rust without callers: they delay no request, and their calls do not show when a callee runs.

use blocklint_core::Language;
use blocklint_facts::{BodyFlags, BodyId, BodyKind, ClassKind, FileFacts, Flow, Form, FormId, SiteKind};
use blocklint_link::calls::targets::Target;
use blocklint_link::program::ids::{BodyRef, SiteRef};
use blocklint_link::syntax::forms::last_name;
use blocklint_link::values::value::{EnvId, Val};

use crate::lifecycle::rust::Life;

impl Life<'_, '_, '_> {
    /// True if a function without callers shows nothing by its calls.
    pub(crate) fn is_without_callers(&mut self, body: BodyRef) -> bool {
        match self.linker.program.body(body).flow {
            Flow::Sync => self.is_unused(body),
            _ => self.is_left_over(body),
        }
    }

    /// True if nothing calls a function of a workspace that is there for its programs. A library that others may get has functions for
    /// them, as long as no program that is published with it is built of it.
    pub(crate) fn is_left_over(&mut self, body: BodyRef) -> bool {
        let Some(own) = self.crate_index(body.file) else { return false };
        let crates = &self.linker.program.layout.crates;
        let relative = &self.linker.program.files[body.file.index()].relative;
        // The compiler reports unused functions of a program, but not those of a library.
        let is_library = crates[own].roots.first().is_some_and(|root| root.ends_with("lib.rs"))
            && !crates[own].roots.iter().any(|root| root == relative && !root.ends_with("lib.rs"));
        if !is_library || crates[own].dependencies.is_none() {
            return false;
        }
        let published = crates[own].is_published;
        let serves_programs =
            self.programs_of(own).into_iter().any(|program| !published || crates[program].is_published);
        serves_programs && self.is_unused(body)
    }

    /// True if nothing calls a function, and nothing outside of the project does: it is of a program, or of a workspace that is there
    /// for its programs.
    pub(crate) fn is_of_no_use(&mut self, body: BodyRef) -> bool {
        let Some(own) = self.crate_index(body.file) else { return false };
        let is_library = self.linker.program.layout.crates[own].roots.iter().any(|root| root.ends_with("lib.rs"));
        if is_library { self.is_left_over(body) } else { self.is_unused(body) }
    }

    /// True if a function is called and named nowhere, so that it shows nothing about what it calls.
    fn is_unused(&mut self, body: BodyRef) -> bool {
        if let Some(&known) = self.unused.get(&body) {
            return known;
        }
        let unused = self.find_unused(body);
        self.unused.insert(body, unused);
        unused
    }

    fn find_unused(&self, body: BodyRef) -> bool {
        let facts = self.linker.program.facts(body.file);
        let row = self.linker.program.body(body);
        // The effect of an attribute on a method or on its whole `impl` is unknown.
        let of_others = row.class.get().is_some_and(|class| {
            let class = facts.class(class);
            let of_block = class.kind == ClassKind::Impl && class.decorators.len > 0;
            class.kind == ClassKind::Interface || class.bases.len > 0 || of_block
        });
        row.kind == BodyKind::Function
            && row.decorators.len == 0
            && !of_others
            && !self.is_main(body)
            && self.entering(body).is_some_and(|sites| sites.is_empty())
            && (row.flow == Flow::Sync || !self.may_be_called_unseen(body))
    }

    /// True if a call is there that may be of a function, as far as its name and shape show: one of a method whatever
    /// its receiver is, for types are twins by `#[cfg]` and receivers are guessed.
    fn may_be_called_unseen(&self, body: BodyRef) -> bool {
        let linker = self.linker;
        let (facts, body_id) = linker.program.facts_and_id(body);
        let Some(name) = linker.program.global(body.file, linker.program.body(body).name) else { return true };
        let by_receiver = has_receiver(facts, body_id);
        linker.program.sites_named(name).any(|site| {
            let here = linker.program.facts(site.file);
            let row = linker.program.site(site);
            row.kind == SiteKind::Call
                && here.language == Language::Rust
                && is_of_receiver(here, row.callee) == by_receiver
                && (by_receiver || !self.leads_to_body(site) && !self.leads_to_library(site))
                && !linker.is_for_tests(linker.program.body_of_site(site))
        })
    }

    /// Returns the calls `Type::name(…)` that lead to nothing of the project, of a function in an `impl Type`.
    pub(crate) fn calls_by_type_name(&self, body: BodyRef) -> impl Iterator<Item = SiteRef> {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let row = linker.program.body(body);
        let class = row.class.get().map_or("", |class| facts.text(facts.body(facts.class(class).body).name));
        let name = linker.program.global(body.file, row.name);
        name.into_iter().flat_map(|name| linker.program.sites_named(name)).filter(move |&site| {
            let here = linker.program.facts(site.file);
            let of_type = match here.form(linker.program.site(site).callee) {
                Form::Path(base, _) => matches!(here.form(base), Form::Name(of) if here.text(of) == class),
                _ => false,
            };
            of_type && !self.leads_to_body(site)
        })
    }

    /// True if a call that leads nowhere names another type than a function's: `Reader::open(path)` is none of `Writer`.
    pub(crate) fn names_another_type(&self, site: SiteRef, body: BodyRef) -> bool {
        let facts = self.linker.program.facts(body.file);
        let Some(class) = self.linker.program.body(body).class.get() else { return false };
        let class = facts.class(class);
        let own = facts.text(facts.body(class.body).name);
        let here = self.linker.program.facts(site.file);
        let Form::Path(base, _) = here.form(self.linker.program.site(site).callee) else { return false };
        let Some(named) = last_name(here, base).map(|name| here.text(name)) else { return false };
        // A type's other names lead to it; a parameter that stands for a type has one letter, mostly.
        class.bases.len == 0 && named != own && named != "Self" && named.len() > 1
    }

    /// True if a call is one of a function of the project.
    fn leads_to_body(&self, site: SiteRef) -> bool {
        self.linker.targets(site, EnvId::NONE).list.iter().any(|target| matches!(target, Target::Body { .. }))
    }

    /// True if a call is one of a library's function: of a path that begins with the standard library or a dependency.
    fn leads_to_library(&self, site: SiteRef) -> bool {
        let linker = self.linker;
        let dependencies = linker.crate_of(site.file).and_then(|own| own.dependencies.as_ref());
        let is_library = |name: &str| {
            matches!(name, "std" | "core" | "alloc")
                || dependencies.is_some_and(|all| all.iter().any(|(code, _, _)| code == name))
        };
        let called = linker.callee(site, EnvId::NONE).value;
        linker.values.members(called).iter().any(|val| match val {
            Val::External(path) => linker.library.text(*path).split("::").next().is_some_and(is_library),
            _ => false,
        })
    }
}

/// True if what is called is a method of a value: `value.load`, `value.load::<T>`.
pub(crate) fn is_of_receiver(facts: &FileFacts, callee: FormId) -> bool {
    match facts.form(callee) {
        Form::Attr(..) => true,
        Form::Subscript(base, _) => matches!(facts.form(base), Form::Attr(..)),
        _ => false,
    }
}

/// True if a function is a method with `self`.
pub(crate) fn has_receiver(facts: &FileFacts, body: BodyId) -> bool {
    let row = facts.body(body);
    row.class.is_some() && !row.flags.has(BodyFlags::STATIC)
}
