//! Calls of callable library objects: `nlp(text)`, `stub.SayHello(request)`, `Predict("a -> b")(a=1)`. The sites of
//! such calls have the names of variables and fields, not the name of a row, so the search starts at the calls that
//! make the objects.

use blocklint_core::Language;
use blocklint_facts::{AssignKind, At, Form, FormId, SiteId, SiteKind};
use blocklint_link::imports::library_reach::LibraryReach;
use blocklint_link::program::ids::{FileId, Name, SiteRef};
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::Uses;
use rustc_hash::FxHashSet;

use crate::search::Search;

/// The method that runs when an object is called.
const CALL: &str = "__call__";

impl<'l, 'a> Search<'l, 'a> {
    /// Returns the calls whose callee may be a callable library object: all calls in files that import the library, and
    /// calls elsewhere under a name to which one of these files assigns such an object.
    pub(crate) fn calls_of_callable_objects(&self, language: Language, reach: &LibraryReach) -> Vec<SiteRef> {
        let program = self.linker.program;
        let mut call_sites = Vec::new();
        let mut object_names: Vec<Name> = Vec::new();
        let factories = self.factories_of_callable_objects(language);
        for file in self.files_with_callable_objects(language, reach) {
            let facts = program.facts(file);
            for (site, site_facts) in facts.sites.iter().enumerate() {
                if site_facts.kind == SiteKind::Call
                    && let Ok(site) = u32::try_from(site)
                {
                    call_sites.push(file.site_ref(SiteId(site)));
                }
            }
            for assign in &facts.assigns {
                let value = match facts.form(assign.value) {
                    Form::Await(inner) => facts.form(inner),
                    form => form,
                };
                let callee_name = match value {
                    Form::Result(site) => program.global(file, facts.site(site).name),
                    _ => None,
                };
                let is_factory = callee_name.is_some_and(|name| factories.contains(&name));
                if assign.kind != AssignKind::Plain
                    || !is_factory
                    || !self.is_callable_object(file, assign.at, assign.value)
                {
                    continue;
                }
                let name = match facts.form(assign.target) {
                    Form::Var(var) => facts.var(var).name,
                    Form::Attr(_, name) => name,
                    _ => continue,
                };
                object_names.extend(program.global(file, name));
            }
        }
        object_names.sort();
        object_names.dedup();
        for name in object_names {
            let named_sites = program.sites_named(name);
            call_sites.extend(named_sites.filter(|site| {
                let facts = program.facts(site.file);
                facts.language == language && program.site(*site).kind == SiteKind::Call
            }));
        }
        call_sites
    }

    /// Returns the names of calls that return values of the libraries that have callable objects.
    fn factories_of_callable_objects(&self, language: Language) -> FxHashSet<Name> {
        let models = self.linker.library.of(language);
        let separator = blocklint_link::models::library::separator(language);
        let blocking_uses = Uses::EFFECT.union(Uses::LAZY);
        let call_dunder_rows = models.names(blocking_uses).filter(|row| row.name == CALL);
        let mut library_roots: FxHashSet<String> = FxHashSet::default();
        for row in call_dunder_rows {
            library_roots.extend(
                row.paths(blocking_uses).filter_map(|path| path.path.split(separator).next().map(str::to_owned)),
            );
        }
        let result_uses = Uses::RETURNS.union(Uses::TYPE);
        let mut factory_names = FxHashSet::default();
        for row in models.names(result_uses) {
            let Some(name) = self.linker.program.name(row.name) else { continue };
            if row
                .paths(result_uses)
                .any(|path| path.path.split(separator).next().is_some_and(|root| library_roots.contains(root)))
            {
                factory_names.extend(self.linker.with_aliases(name));
            }
        }
        factory_names
    }

    /// Returns the files that import a library with callable objects.
    fn files_with_callable_objects(&self, language: Language, reach: &LibraryReach) -> Vec<FileId> {
        let program = self.linker.program;
        let models = self.linker.library.of(language);
        let separator = blocklint_link::models::library::separator(language);
        let blocking_uses = Uses::EFFECT.union(Uses::LAZY);
        let mut library_roots: Vec<&str> = Vec::new();
        for row in models.names(blocking_uses).filter(|row| row.name == CALL) {
            library_roots.extend(row.paths(blocking_uses).filter_map(|path| path.path.split(separator).next()));
        }
        if library_roots.is_empty() {
            return Vec::new();
        }
        let libraries = reach.roots(library_roots.into_iter());
        let imports = |file: FileId| program.language(file) == language && reach.imports_one(file, &libraries);
        (0..program.files.len() as u32).map(FileId).filter(|&file| imports(file)).collect()
    }

    /// True if the value of an assignment is an object of a library type that blocks when it is called.
    fn is_callable_object(&self, file: FileId, at: At, value: FormId) -> bool {
        let linker = self.linker;
        if !matches!(linker.program.facts(file).form(value), Form::Result(_) | Form::Await(_)) {
            return false;
        }
        let typed = linker.eval(Scope { file, at, env: EnvId::NONE }, value);
        linker.values.members(typed.value).into_iter().any(|val| match val {
            Val::Library { ty, .. } => {
                let path = linker.library.member(ty, CALL);
                linker.library.calls(path).effect().any(|row| row.held_effect().is_some())
            }
            _ => false,
        })
    }
}
