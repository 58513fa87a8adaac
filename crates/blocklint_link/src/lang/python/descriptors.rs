//! Python: descriptors of libraries (`author = ForeignKey(Author)`): the value that an attribute read returns, and the
//! names of the class attributes that are descriptors. Descriptors of the project are in `calls/implicit.rs`.

use blocklint_core::Language;
use blocklint_facts::{BodyKind, Form, VarId};
use blocklint_models::Uses;
use rustc_hash::FxHashSet;

use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, Name};
use crate::values::value::{EnvId, Val};

impl<'a> Linker<'a> {
    /// Returns the value of an attribute on an instance, if the class assigns a library's descriptor to it and a row
    /// for `__get__` has `returns`: `author = ForeignKey(Author)`.
    pub(crate) fn descriptor_value(&self, owner: ClassRef, var: VarId) -> Option<Typed> {
        let facts = self.program.facts(owner.file);
        let name = self.program.global(owner.file, facts.var(var).name)?;
        if !self.descriptor_attribute_names().contains(&name) {
            return None;
        }
        self.values_in_class(owner, var).into_iter().find_map(|(value, creation)| {
            self.values.members(value).into_iter().find_map(|val| {
                let Val::Library { ty, .. } = val else { return None };
                let rows = self.library.calls(self.library.member(ty, "__get__"));
                let returns = rows.with(|row| row.returns.is_some()).next()?.returns.clone()?;
                let typed = self.type_value(&returns, val, creation.map(|site| (site, EnvId::NONE)));
                (!self.values.is_unknown(typed.value)).then_some(typed)
            })
        })
    }

    /// Returns the names of class attributes of the project that are descriptors of libraries with rows.
    pub fn descriptor_attribute_names(&self) -> &FxHashSet<Name> {
        self.program_tables.described.get_or_init(|| {
            let mut attributes = FxHashSet::default();
            let constructors = self.descriptor_class_names();
            if constructors.is_empty() {
                return attributes;
            }
            for source in self.program.files.iter().filter(|source| source.facts.language == Language::Python) {
                let facts = &source.facts;
                for assignment in facts.assigns.iter() {
                    let (Form::Var(var), Form::Result(site)) =
                        (facts.form(assignment.target), facts.form(assignment.value))
                    else {
                        continue;
                    };
                    let callee_name = facts.text(facts.site(site).name);
                    // A constructor function may be spelled in another case than its class: `relationship()` makes a
                    // `Relationship`.
                    if facts.body(facts.var(var).body).kind == BodyKind::Class
                        && constructors.iter().any(|constructor| constructor.eq_ignore_ascii_case(callee_name))
                    {
                        attributes.extend(self.program.name(facts.text(facts.var(var).name)));
                    }
                }
            }
            attributes
        })
    }

    /// Returns the names of descriptor classes: `ForeignKey`.
    fn descriptor_class_names(&self) -> FxHashSet<&'a str> {
        let paths = self.get_method_paths(Uses::EFFECT.union(Uses::RETURNS));
        paths.filter_map(|path| Some(path.rsplit('.').nth(1)?.trim_matches(['<', '>']))).collect()
    }

    /// Returns the libraries that have a descriptor with a blocking `__get__`.
    pub fn descriptor_libraries(&self) -> Vec<&'a str> {
        self.get_method_paths(Uses::EFFECT).filter_map(|path| path.split('.').next()).collect()
    }

    /// Returns the paths of `__get__` methods that have a row with one of these uses.
    fn get_method_paths(&self, uses: Uses) -> impl Iterator<Item = &'a str> {
        let rows = self.library.of(Language::Python).names(uses).filter(|row| row.name == "__get__");
        rows.flat_map(move |row| row.paths(uses).map(|path| path.path).collect::<Vec<_>>())
    }
}
