//! Rust: what builders build that a macro derives for a type: `AppBuilder::default().store(store).build()?`,
//! `App::builder().store(store).build()`. They stand in no source, but their names are always made the same way.

use blocklint_core::Language;
use blocklint_facts::{ClassId, Form, FormId, SiteKind};

use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, FileId, SiteRef};
use crate::values::value::{ArgsId, EnvId, Val};

/// Derived traits that write a builder.
const DERIVED: [&str; 2] = ["Builder", "TypedBuilder"];

/// The function of the type itself that begins a builder, and the ending of a builder's own name.
const BEGINS: &str = "builder";
const ENDING: &str = "Builder";

/// Methods that end one.
const ENDS: [&str; 2] = ["build", "try_build"];

/// Steps of one builder.
const MOST_STEPS: usize = 64;

impl Linker<'_> {
    /// Returns the result of a call that ends a derived builder.
    pub(crate) fn built_by_derived(&self, site: SiteRef, env: EnvId) -> Option<Typed> {
        let facts = self.program.facts(site.file);
        let row = self.program.site(site);
        if row.kind != SiteKind::Call || !ENDS.contains(&facts.text(row.name)) {
            return None;
        }
        let (owner, begins) = self.beginning(site.file, row.callee)?;
        if begins {
            let owner = self.eval(self.scope_of(site, env), owner);
            return self.values.members(owner.value).into_iter().find_map(|val| match val {
                Val::Class(class) if self.derives_builder(class) => Some(self.known(instance(class))),
                _ => None,
            });
        }
        let (Form::Name(sym) | Form::Path(_, sym)) = facts.form(owner) else {
            let Form::Var(var) = facts.form(owner) else { return None };
            return self.built_of_name(facts.text(facts.var(var).name));
        };
        self.built_of_name(facts.text(sym))
    }

    /// Returns the form that begins the builder of a called method, and whether that form is the type that is built.
    fn beginning(&self, file: FileId, callee: FormId) -> Option<(FormId, bool)> {
        let facts = self.program.facts(file);
        let mut at = callee;
        for _ in 0..MOST_STEPS {
            at = match facts.form(at) {
                Form::Attr(base, _) | Form::Subscript(base, _) | Form::Try(base) => base,
                Form::Result(site) => facts.site(site).callee,
                Form::Path(owner, name) => return Some((owner, facts.text(name) == BEGINS)),
                Form::Var(var) => facts.only_value_of(var)?.value,
                _ => return None,
            };
        }
        None
    }

    /// Returns the result of a builder of this name: the type that it is named after, or an error.
    fn built_of_name(&self, builder: &str) -> Option<Typed> {
        let name = self.program.name(builder.strip_suffix(ENDING)?)?;
        let mut found = None;
        for &(file, sym) in self.program.occurrences(name) {
            let facts = self.program.facts(file);
            if facts.language != Language::Rust {
                continue;
            }
            for (at, row) in facts.classes.iter().enumerate() {
                let class = file.class_ref(ClassId(at as u32));
                if row.name == sym && self.derives_builder(class) && found.replace(class).is_some() {
                    return None;
                }
            }
        }
        let ty = self.library.path(Language::Rust, "std::result::Result");
        let args = self.values.args(&[self.values.one(instance(found?))]);
        Some(self.known(Val::Library { ty, args, made: None }))
    }

    fn derives_builder(&self, class: ClassRef) -> bool {
        DERIVED.iter().any(|derived| self.derives(class, derived))
    }
}

fn instance(class: ClassRef) -> Val {
    Val::Instance { class, exact: true, args: ArgsId::NONE }
}
