//! Unused functions (Rust): they delay no request, and their calls do not show when a callee runs.

use blocklint_core::Language;
use blocklint_facts::{BodyFlags, BodyId, BodyKind, ClassKind, FileFacts, Flow, Form, FormId, SiteId, SiteKind};
use blocklint_link::calls::targets::Target;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::syntax::forms::last_name;
use blocklint_link::values::value::{EnvId, Val};

use crate::lifecycle::rust::RustLifecycle;

impl RustLifecycle<'_, '_, '_> {
    /// True if a function is unused, so that its calls show nothing about when a callee runs.
    pub(crate) fn is_unused_caller(&mut self, body: BodyRef) -> bool {
        match self.linker.program.body(body).flow {
            Flow::Sync => self.is_unused(body),
            _ => self.is_unused_in_programs(body),
        }
    }

    /// True if nothing calls a function of a library crate that only the programs of its workspace use. A published
    /// library has functions for other projects, unless a published program of the workspace is built of it.
    pub(crate) fn is_unused_in_programs(&mut self, body: BodyRef) -> bool {
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

    /// True if neither the project nor another project calls a function: it is in a program's crate, or in a library
    /// crate that only the programs of its workspace use.
    pub(crate) fn is_unused_by_all(&mut self, body: BodyRef) -> bool {
        let Some(own) = self.crate_index(body.file) else { return false };
        let is_library = self.linker.program.layout.crates[own].roots.iter().any(|root| root.ends_with("lib.rs"));
        if is_library { self.is_unused_in_programs(body) } else { self.is_unused(body) }
    }

    /// True if no code of the project calls or mentions a function.
    fn is_unused(&mut self, body: BodyRef) -> bool {
        if let Some(&known) = self.unused.get(&body) {
            return known;
        }
        let unused = self.find_unused(body) && !self.may_be_called_by_generated_code(body);
        self.unused.insert(body, unused);
        unused
    }

    /// True if a procedural macro of the project generates items in a crate that is built of a function's crate:
    /// `impl_endpoints! { … }`. The names of the functions that such items call may be in another file
    /// (`endpoints.json`).
    fn may_be_called_by_generated_code(&mut self, body: BodyRef) -> bool {
        let Some(own) = self.crate_index(body.file) else { return false };
        let generated = self.generated.take().unwrap_or_else(|| self.find_crates_with_generated_items());
        let is_reached = generated.iter().any(|&package| self.crates_built_into(package).contains(&own));
        self.generated = Some(generated);
        is_reached
    }

    /// Returns the crates that invoke a procedural macro of the project among their items.
    fn find_crates_with_generated_items(&self) -> Vec<usize> {
        let program = self.linker.program;
        let generates = |site: SiteRef| {
            self.linker.values.members(self.linker.callee(site, EnvId::NONE).value).iter().any(|val| match *val {
                // A macro of `macro_rules!` has the name `name!`.
                Val::Fn { body, .. } => !program.facts(body.file).text(program.body(body).name).ends_with('!'),
                _ => false,
            })
        };
        let mut packages = Vec::new();
        for file in (0..program.files.len() as u32).map(FileId) {
            let facts = program.facts(file);
            if facts.language != Language::Rust || program.is_test(file) {
                continue;
            }
            let among_items = facts.sites.iter().enumerate().filter(|(_, row)| {
                row.kind == SiteKind::Macro
                    && matches!(facts.body(facts.body_of(row.at)).kind, BodyKind::Module | BodyKind::Class)
            });
            if let Some(package) = self.crate_index(file)
                && !packages.contains(&package)
                && among_items.into_iter().any(|(index, _)| generates(file.site_ref(SiteId(index as u32))))
            {
                packages.push(package);
            }
        }
        packages
    }

    fn find_unused(&self, body: BodyRef) -> bool {
        let facts = self.linker.program.facts(body.file);
        let body_facts = self.linker.program.body(body);
        // The effect of an attribute on a method or on its whole `impl` is unknown.
        let may_be_called_through_class = body_facts.class.get().is_some_and(|class| {
            let class = facts.class(class);
            let has_attribute = class.kind == ClassKind::Impl && class.decorators.len > 0;
            class.kind == ClassKind::Interface || class.bases.len > 0 || has_attribute
        });
        body_facts.kind == BodyKind::Function
            && body_facts.decorators.len == 0
            && !may_be_called_through_class
            && !self.is_main(body)
            && self.sites_running(body).is_some_and(|sites| sites.is_empty())
            && (body_facts.flow == Flow::Sync || !self.has_call_of_its_shape(body))
    }

    /// True if some call has the name and the shape of a call of a function, though its call targets do not include the
    /// function. For a method the type of the receiver does not count, because `#[cfg]` defines a type twice and the
    /// types of receivers are guessed.
    fn has_call_of_its_shape(&self, body: BodyRef) -> bool {
        let linker = self.linker;
        let (facts, body_id) = linker.program.facts_and_id(body);
        let Some(name) = linker.program.global(body.file, linker.program.body(body).name) else { return true };
        let is_method = has_receiver(facts, body_id);
        linker.program.sites_named(name).any(|site| {
            let caller_facts = linker.program.facts(site.file);
            let site_facts = linker.program.site(site);
            site_facts.kind == SiteKind::Call
                && caller_facts.language == Language::Rust
                && is_method_callee(caller_facts, site_facts.callee) == is_method
                && (is_method || !self.has_target_body(site) && !self.calls_library(site))
                && !linker.is_for_tests(linker.program.body_of_site(site))
        })
    }

    /// Returns the calls `Type::name(…)` of a function in an `impl Type` that have no body of the project as target.
    pub(crate) fn calls_by_type_name(&self, body: BodyRef) -> impl Iterator<Item = SiteRef> {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let body_facts = linker.program.body(body);
        let class = body_facts.class.get().map_or("", |class| facts.text(facts.body(facts.class(class).body).name));
        let name = linker.program.global(body.file, body_facts.name);
        name.into_iter().flat_map(|name| linker.program.sites_named(name)).filter(move |&site| {
            let caller_facts = linker.program.facts(site.file);
            let is_of_type = match caller_facts.form(linker.program.site(site).callee) {
                Form::Path(base, _) => {
                    matches!(caller_facts.form(base), Form::Name(name) if caller_facts.text(name) == class)
                }
                _ => false,
            };
            is_of_type && !self.has_target_body(site)
        })
    }

    /// True if a call without targets refers to another type than the function's: `Reader::open(path)` is no call of
    /// `Writer::open`.
    pub(crate) fn refers_to_another_type(&self, site: SiteRef, body: BodyRef) -> bool {
        let facts = self.linker.program.facts(body.file);
        let Some(class) = self.linker.program.body(body).class.get() else { return false };
        let class = facts.class(class);
        let own_name = facts.text(facts.body(class.body).name);
        let caller_facts = self.linker.program.facts(site.file);
        let Form::Path(base, _) = caller_facts.form(self.linker.program.site(site).callee) else { return false };
        let Some(named) = last_name(caller_facts, base).map(|name| caller_facts.text(name)) else { return false };
        // A call through an alias of the type has targets, so it does not count here. A type of one letter mostly is a
        // type parameter.
        class.bases.len == 0 && named != own_name && named != "Self" && named.len() > 1
    }

    /// True if a call target is a function of the project.
    fn has_target_body(&self, site: SiteRef) -> bool {
        self.linker.targets(site, EnvId::NONE).list.iter().any(|target| matches!(target, Target::Body { .. }))
    }

    /// True if a call is one of a library function: its path begins with the standard library or a dependency.
    fn calls_library(&self, site: SiteRef) -> bool {
        let linker = self.linker;
        let dependencies = linker.crate_of(site.file).and_then(|package| package.dependencies.as_ref());
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

/// True if a callee is a method of a receiver: `value.load`, `value.load::<T>`.
pub(crate) fn is_method_callee(facts: &FileFacts, callee: FormId) -> bool {
    match facts.form(callee) {
        Form::Attr(..) => true,
        Form::Subscript(base, _) => matches!(facts.form(base), Form::Attr(..)),
        _ => false,
    }
}

/// True if a function is a method with `self`.
pub(crate) fn has_receiver(facts: &FileFacts, body: BodyId) -> bool {
    let body_facts = facts.body(body);
    body_facts.class.is_some() && !body_facts.flags.has(BodyFlags::STATIC)
}
