//! Calls of callable library objects: `nlp(text)`, `stub.SayHello(request)`, `Predict("a -> b")(a=1)`. The sites of
//! such calls have the names of variables and fields, not the name of a row, so the search starts at the calls that
//! make the objects.

use blocklint_core::Language;
use blocklint_facts::{AssignKind, Form, SiteKind};
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
        let mut calls = Vec::new();
        let mut names: Vec<Name> = Vec::new();
        let makers = self.makers_of_callable_objects(language);
        for file in self.files_with_callable_objects(language, reach) {
            let facts = program.facts(file);
            for (site, row) in facts.sites.iter().enumerate() {
                if row.kind == SiteKind::Call
                    && let Ok(site) = u32::try_from(site)
                {
                    calls.push(file.site_ref(blocklint_facts::SiteId(site)));
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
                let is_maker = callee_name.is_some_and(|name| makers.contains(&name));
                if assign.kind != AssignKind::Plain
                    || !is_maker
                    || !self.is_callable_object(file, assign.at, assign.value)
                {
                    continue;
                }
                let name = match facts.form(assign.target) {
                    Form::Var(var) => facts.var(var).name,
                    Form::Attr(_, name) => name,
                    _ => continue,
                };
                names.extend(program.global(file, name));
            }
        }
        names.sort();
        names.dedup();
        for name in names {
            let named_sites = program.sites_named(name);
            calls.extend(named_sites.filter(|site| {
                let facts = program.facts(site.file);
                facts.language == language && program.site(*site).kind == SiteKind::Call
            }));
        }
        calls
    }

    /// Returns the names of calls that return values of the libraries that have callable objects.
    fn makers_of_callable_objects(&self, language: Language) -> FxHashSet<Name> {
        let models = self.linker.library.of(language);
        let separator = blocklint_link::models::library::separator(language);
        let wanted = Uses::EFFECT.union(Uses::LAZY);
        let of_calls = models.names(wanted).filter(|row| row.name == CALL);
        let mut heads: FxHashSet<String> = FxHashSet::default();
        for row in of_calls {
            heads.extend(row.paths(wanted).filter_map(|path| path.path.split(separator).next().map(str::to_owned)));
        }
        let making = Uses::RETURNS.union(Uses::TYPE);
        let mut maker_names = FxHashSet::default();
        for row in models.names(making) {
            let Some(name) = self.linker.program.name(row.name) else { continue };
            if row.paths(making).any(|path| path.path.split(separator).next().is_some_and(|head| heads.contains(head)))
            {
                maker_names.extend(self.linker.with_aliases(name));
            }
        }
        maker_names
    }

    /// Returns the files that import a library with callable objects.
    fn files_with_callable_objects(&self, language: Language, reach: &LibraryReach) -> Vec<FileId> {
        let program = self.linker.program;
        let models = self.linker.library.of(language);
        let separator = blocklint_link::models::library::separator(language);
        let wanted = Uses::EFFECT.union(Uses::LAZY);
        let mut heads: Vec<&str> = Vec::new();
        for row in models.names(wanted).filter(|row| row.name == CALL) {
            heads.extend(row.paths(wanted).filter_map(|path| path.path.split(separator).next()));
        }
        if heads.is_empty() {
            return Vec::new();
        }
        let roots = reach.roots(heads.into_iter());
        let imports = |file: FileId| program.language(file) == language && reach.imports_one(file, &roots);
        (0..program.files.len() as u32).map(FileId).filter(|&file| imports(file)).collect()
    }

    /// True if the value of an assignment is an object of a library type that blocks when it is called.
    fn is_callable_object(&self, file: FileId, at: blocklint_facts::At, value: blocklint_facts::FormId) -> bool {
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
