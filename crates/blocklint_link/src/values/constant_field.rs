//! Fields with the same literal value in all objects, because each call of the constructor passes it: `this(false)`,
//! `Reader(deep=False)`.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{BodyId, BodyKind, ClassId, Form, FormId};

use crate::effect::constant::Constant;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, SiteRef, VarRef};
use crate::program::occurrences::{Mention, is_own_receiver};
use crate::values::value::EnvId;

/// The most assignments to a field that is still treated as constant.
const MAX_ASSIGNS: usize = 8;

/// The maximal number of sites that may create an object. If there are more, the field has no known literal.
pub(crate) const MAX_SITES: usize = 256;

/// The maximal number of constructors that pass a parameter to each other.
const DEPTH: u32 = 4;

impl Linker<'_> {
    /// Returns the literal value that a field of the class around a body always has.
    pub fn literal_of_field(&self, file: FileId, body: BodyId, form: FormId) -> Option<Constant> {
        let facts = self.program.facts(file);
        let field = match facts.form(form) {
            Form::Attr(base, sym) if facts.language == Language::Rust => {
                if !is_own_receiver(facts, base) {
                    return None;
                }
                let class = lang::rust::names::subject(self, self.class_around(file.body_ref(body))?)?;
                let (owner, var) = self.own_member(class, self.program.global(file, sym)?)?;
                (owner == class).then_some(owner.file.var_ref(var))?
            }
            _ if facts.language != Language::Java => return None,
            Form::Var(var) if facts.body(facts.var(var).body).kind == BodyKind::Class => file.var_ref(var),
            Form::Attr(base, sym) if facts.form(base) == Form::This => {
                let (owner, var) =
                    self.own_member(self.class_around(file.body_ref(body))?, self.program.global(file, sym)?)?;
                owner.file.var_ref(var)
            }
            _ => return None,
        };
        self.query(&self.tables.values.constant_fields, field, Option::default, || match facts.language {
            Language::Rust => self.literal_of_struct_field(field),
            _ => self.find_literal_of_field(field),
        })
    }

    fn find_literal_of_field(&self, field: VarRef) -> Option<Constant> {
        let facts = self.program.facts(field.file);
        let var_facts = self.program.var(field);
        let class = facts.classes.iter().position(|class| class.body == var_facts.body)?;
        let class = field.file.class_ref(ClassId(class as u32));
        // A dependency-injection container may create objects of an annotated class and set their fields.
        if !facts.list(self.program.class(class).decorators).is_empty() {
            return None;
        }
        let name = self.program.global(field.file, var_facts.name)?;
        let mut literal = None;
        let mut assign_count = 0;
        let own_assigns = self
            .program
            .assigns_of(field)
            .filter(|assignment| assignment.value.is_some())
            .map(|assignment| (field.file, assignment));
        let others = self.assigns_to_member(class, name);
        let others = others.into_iter().map(|(file, assign)| (file, self.program.facts(file).assign(assign)));
        for (file, row) in own_assigns.chain(others) {
            assign_count += 1;
            let body = self.program.body_of(file, row.at);
            if assign_count > MAX_ASSIGNS || self.is_for_tests(body) {
                return None;
            }
            let next = self.constructor_literal(body, row.value, DEPTH)?;
            if *literal.get_or_insert_with(|| next.clone()) != next {
                return None;
            }
        }
        literal
    }

    /// Returns the literal value of a form in a body. For a parameter of a constructor it returns the literal that all
    /// calls of the constructor pass.
    pub fn constructor_literal(&self, body: BodyRef, form: FormId, depth: u32) -> Option<Constant> {
        match self.constant_in(body, form, EnvId::NONE, 2) {
            literal @ (Constant::Bool(_) | Constant::Null) => Some(literal),
            Constant::Param(index) => self.literal_passed_by_callers(body, index, depth.checked_sub(1)?),
            _ => None,
        }
    }

    /// Returns the literal that all calls of a constructor pass to its parameter; calls in tests do not count.
    fn literal_passed_by_callers(&self, constructor: BodyRef, index: u32, depth: u32) -> Option<Constant> {
        let facts = self.program.facts(constructor.file);
        if facts.language == Language::Rust {
            return self.literal_of_all_callers(constructor, index, depth);
        }
        let body_facts = self.program.body(constructor);
        if !lang::words_of(facts.language).is_constructor(facts.text(body_facts.name)) || self.is_for_tests(constructor)
        {
            return None;
        }
        let class = constructor.file.class_ref(body_facts.class.get()?);
        let mut common = None;
        for site in self.sites_constructing(class)? {
            let caller = self.program.body_of_site(site);
            let targets = self.targets(site, EnvId::NONE);
            let Some(with_receiver) = targets.receiver_of(constructor) else { continue };
            if self.is_for_tests(caller) || self.program.is_test(site.file) {
                continue;
            }
            // If a call leaves the parameter out, its default is no evidence: the parameter exists for callers outside
            // of the project.
            let form = self.argument_for_param(site, constructor, index, with_receiver)?;
            let literal = self.constructor_literal(caller, form, depth)?;
            if *common.get_or_insert_with(|| literal.clone()) != literal {
                return None;
            }
        }
        common
    }

    /// Returns the sites that may run a constructor of a class: calls of its name, `this(…)`, and `super(…)` in
    /// subclasses. `None` if not all of them are known.
    fn sites_constructing(&self, class: ClassRef) -> Option<Vec<SiteRef>> {
        let is_python = self.program.language(class.file) == Language::Python;
        let mut names: Vec<Name> = self.class_names(class);
        let mut files = vec![class.file];
        for &derived in self.direct_subclasses(class).iter() {
            files.push(derived.file);
            // A subclass without a constructor of its own runs the one of its base.
            if is_python {
                names.extend(self.class_names(derived));
                if !self.direct_subclasses(derived).is_empty() {
                    return None;
                }
            }
        }
        if is_python && names.iter().any(|&name| self.is_used_as_value(name)) {
            return None;
        }
        let mut sites: Vec<SiteRef> = Vec::new();
        for name in names {
            sites.extend(self.program.sites_named(name).take(MAX_SITES + 1));
        }
        files.sort();
        files.dedup();
        let constructor_name = self.program.name(if is_python { "__init__" } else { "<init>" });
        // `return cls(…)` in a method of the class.
        let cls = self.program.name("cls").filter(|_| is_python);
        for file in files {
            for name in constructor_name.into_iter().chain(cls) {
                let Some(sym) = self.program.local(file, name) else { continue };
                sites.extend(self.program.index_of(file).sites_named(sym).iter().map(|&site| file.site_ref(site)));
            }
        }
        (sites.len() <= MAX_SITES).then_some(sites)
    }

    /// True if code uses a class or function of this name as a value, so that not all of its callers are known.
    pub(crate) fn is_used_as_value(&self, name: Name) -> bool {
        self.program.occurrences(name).iter().any(|&(file, sym)| {
            let facts = self.program.facts(file);
            self.program.index_of(file).mentions_named(sym).iter().any(|(mention, _)| match mention {
                Mention::Arg(site, _) => !lang::python::conventions::asks_for_type(facts.text(facts.site(site).name)),
                _ => true,
            })
        })
    }
}
