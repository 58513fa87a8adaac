//! Rust: struct fields that always hold the same `bool`, because all struct expressions have it:
//! `Self { dry_run: false }`, or `Self { dry_run }` in a `new(dry_run: bool)` that is always called with `false`.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{ClassId, ClassKind, FileFacts, Form, FormId, SiteId, SiteKind};

use crate::effect::constant::Constant;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, SiteRef, VarRef};
use crate::program::occurrences::is_own_receiver;
use crate::values::constant_field::MAX_SITES;
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// The number of functions that a parameter is followed through, from callee to caller.
const DEPTH: u32 = 4;

impl Linker<'_> {
    /// Returns the `bool` that a struct's field always holds; `None` if a macro, a derived trait or a reference may
    /// assign another one.
    pub(crate) fn literal_of_struct_field(&self, field: VarRef) -> Option<Constant> {
        let facts = self.program.facts(field.file);
        let var_facts = self.program.var(field);
        let class = facts.classes.iter().position(|class| class.body == var_facts.body)?;
        let class = field.file.class_ref(ClassId(class as u32));
        let definition = self.program.class(class);
        let name = self.program.global(field.file, var_facts.name)?;
        if definition.kind != ClassKind::Class || !facts.list(definition.decorators).is_empty() {
            return None;
        }
        let mut literal_of_all = None;
        let mut check_literal = |literal: Constant| {
            let is_bool = matches!(literal, Constant::Bool(_));
            (is_bool && *literal_of_all.get_or_insert_with(|| literal.clone()) == literal).then_some(())
        };
        for derived in facts.args.slice::<4>(definition.keywords.range()) {
            let Form::Str(derived) = facts.form(derived.value) else { return None };
            match facts.text(derived) {
                lang::rust::conventions::DERIVED_OF_DEFAULTS => check_literal(Constant::Bool(false))?,
                name if lang::rust::conventions::DERIVED_FROM_OTHERS.contains(&name) => {}
                _ => return None,
            }
        }
        for site in self.struct_expressions(class)? {
            let constructor = self.program.body_of_site(site);
            if self.is_for_tests(constructor) || self.program.is_test(site.file) {
                continue;
            }
            let sym = self.program.local(site.file, name);
            let args = self.program.args_of(site);
            match args.iter().find(|arg| arg.name.is_some() && Some(arg.name) == sym) {
                Some(field) => check_literal(self.constructor_literal(constructor, field.value, DEPTH)?)?,
                // `..rest`: another value of the struct, whose struct expression is checked, too.
                None if args.iter().any(|arg| arg.name.is_none()) => {}
                None => return None,
            }
        }
        for &(file, sym) in self.program.occurrences(name) {
            for &(assign, own) in self.program.index_of(file).attr_assigns(sym) {
                let facts = self.program.facts(file);
                let assignment = facts.assign(assign);
                let Form::Attr(base, _) = facts.form(assignment.target) else { continue };
                let setter = self.program.body_of(file, assignment.at);
                if self.is_for_tests(setter)
                    || !self.may_be_instance_of(class, Scope { file, at: assignment.at, env: EnvId::NONE }, base, own)
                {
                    continue;
                }
                check_literal(self.constructor_literal(setter, assignment.value, DEPTH)?)?;
            }
            if self
                .is_passed_to_call(file, |facts, form| matches!(facts.form(form), Form::Attr(_, attr) if attr == sym))
            {
                return None;
            }
        }
        literal_of_all
    }

    /// Returns the struct expressions of a struct, by one of its names or as `Self`; `None` if there are too many.
    pub(crate) fn struct_expressions(&self, class: ClassRef) -> Option<Vec<SiteRef>> {
        let mut names: Vec<Name> = self.class_names(class);
        names.extend(self.program.name(lang::rust::conventions::SELF_TYPE));
        let mut expressions = Vec::new();
        for name in names {
            for site in self.program.sites_named(name) {
                let facts = self.program.facts(site.file);
                let site_facts = self.program.site(site);
                if facts.language != Language::Rust || site_facts.kind != SiteKind::New {
                    continue;
                }
                let scope = Scope { file: site.file, at: site_facts.at, env: EnvId::NONE };
                let struct_value = self.annotation(scope, site_facts.callee).value;
                let is_struct = |val: &Val| match *val {
                    Val::Class(candidate) | Val::Instance { class: candidate, .. } => {
                        lang::rust::names::subject(self, candidate) == Some(class)
                    }
                    Val::Unknown(_) => true,
                    _ => false,
                };
                if self.values.members(struct_value).iter().any(is_struct) {
                    expressions.push(site);
                }
            }
        }
        (expressions.len() <= MAX_SITES).then_some(expressions)
    }

    /// True if a value may be an instance of a struct. An unknown value may be one only in files that name the struct.
    fn may_be_instance_of(&self, class: ClassRef, scope: Scope, value: FormId, is_own: bool) -> bool {
        let facts = self.program.facts(scope.file);
        if is_own || is_own_receiver(facts, value) {
            let enclosing = self.class_around(self.program.body_of(scope.file, scope.at));
            return enclosing
                .and_then(|enclosing| lang::rust::names::subject(self, enclosing))
                .is_none_or(|candidate| candidate == class);
        }
        let is_named = || self.class_names(class).iter().any(|&name| self.program.local(scope.file, name).is_some());
        self.values.members(self.eval(scope, value).value).iter().any(|val| match *val {
            Val::Class(candidate) | Val::Instance { class: candidate, .. } => {
                lang::rust::names::subject(self, candidate) == Some(class)
            }
            Val::Unknown(_) => is_named(),
            _ => false,
        })
    }

    /// True if a file passes a value that `is_meant` accepts to a call, which may assign it. Facts do not distinguish
    /// `&mut` from a copy.
    fn is_passed_to_call(&self, file: FileId, is_meant: impl Fn(&FileFacts, FormId) -> bool) -> bool {
        let facts = self.program.facts(file);
        facts.language == Language::Rust
            && facts.sites.iter().enumerate().any(|(index, site)| {
                matches!(site.kind, SiteKind::Call)
                    && facts.args_of(SiteId(index as u32)).iter().any(|arg| is_meant(facts, arg.value))
            })
    }

    /// Returns the literal that all calls of a function pass to a parameter; `None` if the function may also be called
    /// through a trait or a value.
    pub(crate) fn literal_of_all_callers(&self, function: BodyRef, index: u32, depth: u32) -> Option<Constant> {
        let facts = self.program.facts(function.file);
        let body_facts = self.program.body(function);
        let name = self.program.global(function.file, body_facts.name)?;
        let is_of_trait = body_facts.class.get().is_some_and(|class| !facts.class(class).bases.is_empty());
        if is_of_trait || self.is_for_tests(function) || self.is_used_as_value(name) {
            return None;
        }
        let mut literal_of_all = None;
        for (count, site) in
            self.with_aliases(name).into_iter().flat_map(|name| self.program.sites_named(name)).enumerate()
        {
            let caller = self.program.body_of_site(site);
            let targets = self.targets(site, EnvId::NONE);
            if count > MAX_SITES {
                return None;
            }
            let Some(with_receiver) = targets.receiver_of(function) else { continue };
            if self.is_for_tests(caller) || self.program.is_test(site.file) {
                continue;
            }
            let form = self.argument_for_param(site, function, index, with_receiver)?;
            let literal = self.constructor_literal(caller, form, depth)?;
            if *literal_of_all.get_or_insert_with(|| literal.clone()) != literal {
                return None;
            }
        }
        literal_of_all
    }
}
