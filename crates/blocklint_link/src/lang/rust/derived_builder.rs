//! Rust: results of derived builders: `AppBuilder::default().store(store).build()?`,
//! `App::builder().store(store).build()`. No source file has these builders, but their names follow fixed rules.

use blocklint_core::Language;
use blocklint_facts::{ClassId, Form, FormId, SiteKind};

use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, FileId, SiteRef};
use crate::values::value::{ArgsId, EnvId, Val};

/// Derive macros that generate a builder.
const BUILDER_DERIVES: [&str; 2] = ["Builder", "TypedBuilder"];

/// The function of a type that returns its builder: `App::builder()`.
const BUILDER_FUNCTION: &str = "builder";

/// The suffix of the name of a builder type: `AppBuilder`.
const BUILDER_SUFFIX: &str = "Builder";

/// The last methods of a builder chain.
const BUILD_METHODS: [&str; 2] = ["build", "try_build"];

/// The number of calls of one builder chain that are followed.
const MOST_STEPS: usize = 64;

impl Linker<'_> {
    /// Returns the result of `build()` on a derived builder.
    pub(crate) fn derived_builder_result(&self, site: SiteRef, env: EnvId) -> Option<Typed> {
        let facts = self.program.facts(site.file);
        let site_facts = self.program.site(site);
        if site_facts.kind != SiteKind::Call || !BUILD_METHODS.contains(&facts.text(site_facts.name)) {
            return None;
        }
        let (owner, is_built_type) = self.chain_start(site.file, site_facts.callee)?;
        if is_built_type {
            let owner = self.eval(self.scope_of(site, env), owner);
            return self.values.members(owner.value).into_iter().find_map(|val| match val {
                Val::Class(class) if self.derives_builder(class) => Some(self.known(instance(class))),
                _ => None,
            });
        }
        let (Form::Name(sym) | Form::Path(_, sym)) = facts.form(owner) else {
            let Form::Var(var) = facts.form(owner) else { return None };
            return self.result_of_builder_named(facts.text(facts.var(var).name));
        };
        self.result_of_builder_named(facts.text(sym))
    }

    /// Returns the type at the start of a builder chain, and true if it is the built type (`App::builder()`), not the
    /// builder (`AppBuilder::default()`).
    fn chain_start(&self, file: FileId, callee: FormId) -> Option<(FormId, bool)> {
        let facts = self.program.facts(file);
        let mut form = callee;
        for _ in 0..MOST_STEPS {
            form = match facts.form(form) {
                Form::Attr(base, _) | Form::Subscript(base, _) | Form::Try(base) => base,
                Form::Result(site) => facts.site(site).callee,
                Form::Path(owner, name) => return Some((owner, facts.text(name) == BUILDER_FUNCTION)),
                Form::Var(var) => facts.only_value_of(var)?.value,
                _ => return None,
            };
        }
        None
    }

    /// Returns the result of a builder type of this name: a `Result` of the type that the builder is named after.
    fn result_of_builder_named(&self, builder: &str) -> Option<Typed> {
        let name = self.program.name(builder.strip_suffix(BUILDER_SUFFIX)?)?;
        let mut built_type = None;
        for &(file, sym) in self.program.occurrences(name) {
            let facts = self.program.facts(file);
            if facts.language != Language::Rust {
                continue;
            }
            for (index, class_facts) in facts.classes.iter().enumerate() {
                let class = file.class_ref(ClassId(index as u32));
                if class_facts.name == sym && self.derives_builder(class) && built_type.replace(class).is_some() {
                    return None;
                }
            }
        }
        let ty = self.library.path(Language::Rust, "std::result::Result");
        let args = self.values.args(&[self.values.one(instance(built_type?))]);
        Some(self.known(Val::Library { ty, args, made: None }))
    }

    fn derives_builder(&self, class: ClassRef) -> bool {
        BUILDER_DERIVES.iter().any(|derived| self.derives(class, derived))
    }
}

fn instance(class: ClassRef) -> Val {
    Val::Instance { class, exact: true, args: ArgsId::NONE }
}
