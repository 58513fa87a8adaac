//! Rust: which of several impl blocks a call means, by its receiver and its arguments, and which conversion `into` is,
//! by what is expected of it.

use crate::lang;
use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{ClassKind, Form, FormId, SiteKind};

use crate::classes::hierarchy::Ancestor;
use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, ClassRef, Name, SiteRef};
use crate::program::occurrences::Mention;
use crate::values::expr::Scope;
use crate::values::value::{ArgsId, BoundId, EnvId, Val, ValueId};

/// Types in each other that are compared.
const DEEPEST: u32 = 6;

/// Impl blocks of one trait for one type among which is chosen.
const MOST_BLOCKS: usize = 64;

/// The method that each of the standard library's conversions runs, on the type that is expected of it:
/// <https://doc.rust-lang.org/std/convert/trait.Into.html>, `TryInto` and `str::parse`.
const CONVERSIONS: [(&str, &str); 3] = [("into", "from"), ("try_into", "try_from"), ("parse", "from_str")];

/// Returns the conversion that runs a method of this name.
pub(crate) fn conversion_by(method: &str) -> Option<&'static str> {
    CONVERSIONS.iter().find_map(|(conversion, runs)| (*runs == method).then_some(*conversion))
}

impl Linker<'_> {
    /// Returns what the subject of an impl block of a trait has by its impl block of a trait above: `read` of `impl Read for Disk` beside
    /// `impl Store for Disk`, where `Store: Read`.
    pub(crate) fn beside_impl(&self, block: ClassRef, of: ClassRef, name: Name) -> Vec<BodyRef> {
        if self.program.class(block).kind != blocklint_facts::ClassKind::Impl {
            return Vec::new();
        }
        let Some(subject) = super::names::subject(self, block) else { return Vec::new() };
        let above = self.mro(of);
        let others = self.impls(subject).into_iter().filter(|&other| {
            other != block
                && self.bases(other).iter().any(|base| match *base {
                    Val::Class(base) | Val::Instance { class: base, .. } => {
                        base != of && above.contains(&Ancestor::Class(base))
                    }
                    _ => false,
                })
        });
        others
            .filter_map(|other| self.own_member(other, name))
            .flat_map(|(owner, var)| self.functions_of(owner, var))
            .collect()
    }

    /// Returns a callee; of a method that several impl blocks of one trait bear (`impl From<A> for X`,
    /// `impl From<B> for X`), those that its receiver and its arguments allow.
    pub(crate) fn of_fitting_impls(&self, scope: Scope, site: SiteRef, callee: Typed) -> Typed {
        let members = self.values.members(callee.value);
        let has_others = |body| self.block_of_trait(body).is_some() && self.same_in_other_impls(body).len() > 1;
        let is_shared = |val: &Val| matches!(*val, Val::Fn { body, .. } if has_others(body));
        if !members.iter().any(is_shared) {
            return callee;
        }
        self.of_impls_for(callee, &self.argument_values(scope, site))
    }

    /// Returns the functions of the impl blocks that fit the types of the arguments.
    pub(crate) fn of_impls_for(&self, callee: Typed, given: &[ValueId]) -> Typed {
        let fitting = self.map(callee, |val| match val {
            Val::Fn { body, receiver, env } => {
                let all = self.same_in_other_impls(body);
                let on = receiver.is_some().then(|| self.values.one(self.values.single(receiver)));
                let fits = |body: &&BodyRef| self.is_impl_for(**body, on, given);
                let fitting: Vec<Val> = all.iter().filter(fits).map(|&body| Val::Fn { body, receiver, env }).collect();
                match fitting[..] {
                    [] => self.known(val),
                    _ => Typed { value: self.values.union(&fitting), ..self.known(val) },
                }
            }
            _ => self.known(val),
        });
        if self.values.is_unknown(fitting.value) { callee } else { fitting }
    }

    /// Returns the values of a site's arguments by position.
    fn argument_values(&self, scope: Scope, site: SiteRef) -> Vec<ValueId> {
        self.program.args_of(site).iter().map(|arg| self.as_value(self.eval(scope, arg.value)).value).collect()
    }

    /// Returns the methods of this name in all impl blocks of the same trait for the same type, its own among them.
    fn same_in_other_impls(&self, body: BodyRef) -> Rc<[BodyRef]> {
        let Some((block, base)) = self.block_of_trait(body) else { return Rc::from([body]) };
        let find = || Rc::from(self.find_same_in_impls(body, block, base));
        self.query(&self.tables.rust.same_in_impls, body, || Rc::from([body]), find)
    }

    /// Returns the impl block that a method stands in, and the trait that it is of.
    fn block_of_trait(&self, body: BodyRef) -> Option<(ClassRef, FormId)> {
        let facts = self.program.facts(body.file);
        let class = self.program.body(body).class.get().filter(|_| facts.language == Language::Rust)?;
        let row = facts.class(class);
        match facts.list(row.bases)[..] {
            [base] if row.kind == ClassKind::Impl => Some((body.file.class_ref(class), base)),
            _ => None,
        }
    }

    fn find_same_in_impls(&self, body: BodyRef, block: ClassRef, base: FormId) -> Vec<BodyRef> {
        let name = self.program.global(body.file, self.program.body(body).name);
        let (Some(subject), Some(name)) = (lang::rust::names::subject(self, block), name) else {
            return vec![body];
        };
        let last = |block: ClassRef, base: FormId| {
            let facts = self.program.facts(block.file);
            let head = match facts.form(base) {
                Form::Subscript(head, _) => head,
                _ => base,
            };
            crate::syntax::forms::last_name(facts, head).and_then(|sym| self.program.global(block.file, sym))
        };
        let mut found = vec![body];
        for other in self.impls(subject).into_iter().filter(|other| *other != block).take(MOST_BLOCKS) {
            let facts = self.program.facts(other.file);
            let row = self.program.class(other);
            let [other_base] = facts.list(row.bases)[..] else { continue };
            if last(other, other_base) != last(block, base) {
                continue;
            }
            if let Some(var) = self.program.scope_var(other.file, row.body, name) {
                found.extend(self.functions_of(other, var));
            }
        }
        found
    }

    /// True if a method of an impl block may be meant: no type of its subject or parameters is visibly another.
    fn is_impl_for(&self, body: BodyRef, on: Option<ValueId>, given: &[ValueId]) -> bool {
        let facts = self.program.facts(body.file);
        if let (Some(on), Some(class)) = (on, self.program.body(body).class.get()) {
            let block = body.file.class_ref(class);
            let subject = self.annotation(lang::rust::names::head_scope(self, block), facts.class(class).subject);
            if self.differ(subject.value, on, DEEPEST) {
                return false;
            }
        }
        let scope = self.signature_scope(body);
        let params = self.program.params_of(body).iter().filter(|param| facts.text(param.name) != "self");
        params.zip(given).all(|(param, &given)| {
            param.annotation.is_none() || !self.differ(self.annotation(scope, param.annotation).value, given, DEEPEST)
        })
    }

    /// True if two values are visibly of different types.
    fn differ(&self, pattern: ValueId, given: ValueId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let (patterns, given) = (self.values.members(pattern), self.values.members(given));
        !patterns.is_empty()
            && !given.is_empty()
            && patterns.iter().all(|&pattern| given.iter().all(|&given| self.vals_differ(pattern, given, depth)))
    }

    fn vals_differ(&self, pattern: Val, given: Val, depth: u32) -> bool {
        match (pattern, given) {
            (Val::Instance { class, args, .. }, Val::Instance { class: other, args: others, .. }) => {
                if class == other {
                    return self.lists_differ(args, others, depth);
                }
                !self.is_interface(class) && !self.is_interface(other)
            }
            (Val::Library { ty, args, .. }, Val::Library { ty: other, args: others, .. }) => {
                if ty == other {
                    return self.lists_differ(args, others, depth);
                }
                if let Some(inner) = self.transparent_inner(ty, args) {
                    return self.differ(inner.value, self.values.one(given), depth);
                }
                if let Some(inner) = self.transparent_inner(other, others) {
                    return self.differ(self.values.one(pattern), inner.value, depth);
                }
                !self.library.supertypes(ty).contains(&other) && !self.library.supertypes(other).contains(&ty)
            }
            (Val::Instance { class, .. }, Val::Library { ty, args, .. })
            | (Val::Library { ty, args, .. }, Val::Instance { class, .. }) => match self.transparent_inner(ty, args) {
                Some(inner) => self.values.members(inner.value).iter().all(|&inner| {
                    let instance = if matches!(pattern, Val::Instance { .. }) { pattern } else { given };
                    depth > 0 && self.vals_differ(inner, instance, depth - 1)
                }),
                None => {
                    let is_base = |ancestor: &Ancestor| matches!(*ancestor, Ancestor::Library(of, _) if of == ty);
                    !self.is_interface(class) && !self.mro(class).iter().any(is_base)
                }
            },
            (Val::Tuple(args), Val::Tuple(others)) => self.lists_differ(args, others, depth),
            (Val::Tuple(_), Val::Instance { .. }) | (Val::Instance { .. }, Val::Tuple(_)) => true,
            _ => false,
        }
    }

    fn lists_differ(&self, args: ArgsId, others: ArgsId, depth: u32) -> bool {
        let pairs = self.values.list(args).into_iter().zip(self.values.list(others));
        pairs.into_iter().any(|(arg, other)| self.differ(arg, other, depth))
    }

    fn is_interface(&self, class: ClassRef) -> bool {
        self.program.class(class).kind == ClassKind::Interface
    }

    /// True if an implementation of a trait with arguments may be behind a value of the trait's type: `dyn
    /// Repository<User>` is no `impl Repository<Order>`.
    pub(crate) fn is_of_trait_arguments(&self, class: ClassRef, body: BodyRef, site: SiteRef) -> bool {
        let Some(block) = self.program.body(body).class.get().map(|class| body.file.class_ref(class)) else {
            return true;
        };
        let trait_args = |val: &Val| match *val {
            Val::Instance { class: of, args, .. } if of == class && args != ArgsId::NONE => Some(args),
            _ => None,
        };
        let Some(own) = self.bases(block).iter().find_map(trait_args) else { return true };
        let Some(form) = self.receiver_form(site) else { return true };
        let on = self.eval(self.scope_of(site, EnvId::NONE), form);
        let mut asked: Vec<ArgsId> = Vec::new();
        for val in self.values.members(on.value) {
            self.trait_arguments(val, class, DEEPEST, &mut asked);
        }
        asked.is_empty() || asked.iter().any(|&asked| !self.lists_differ(own, asked, DEEPEST))
    }

    /// The arguments with which a value, or what it points to, names a trait.
    fn trait_arguments(&self, val: Val, class: ClassRef, depth: u32, found: &mut Vec<ArgsId>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let inner = match val {
            Val::Instance { class: of, args, .. } => {
                if of == class && args != ArgsId::NONE {
                    found.push(args);
                }
                return;
            }
            Val::Library { ty, args, .. } => self.transparent_inner(ty, args),
            Val::Param { .. } => Some(self.bound_of(val)),
            _ => None,
        };
        let Some(inner) = inner else { return };
        for val in self.values.members(inner.value) {
            self.trait_arguments(val, class, depth, found);
        }
    }

    /// Returns the function that `value.into()`, `value.try_into()` or `text.parse()` runs: the conversion of the
    /// expected type.
    pub(crate) fn conversion(&self, scope: Scope, site: SiteRef, base: FormId, name: Name) -> Option<Typed> {
        let called = self.program.text(name);
        let (_, runs) = CONVERSIONS.iter().find(|(conversion, _)| *conversion == called)?;
        let runs = self.program.name(runs)?;
        if self.hierarchy.bodies_named(runs) == 0 {
            return None;
        }
        let given = [self.as_value(self.eval(scope, base)).value];
        let bodies = self.conversions_of(self.expected_classes(scope, site), runs, &given);
        let made = |body| Val::Fn { body, receiver: BoundId::NONE, env: EnvId::NONE };
        let found: Vec<Val> = bodies.into_iter().map(made).collect();
        let first = *found.first()?;
        Some(Typed { value: self.values.union(&found), ..self.known(first) })
    }

    /// Returns the conversions of these types, by a method of this name, from the argument's type.
    pub(crate) fn conversions_of(&self, classes: Vec<ClassRef>, runs: Name, given: &[ValueId]) -> Vec<BodyRef> {
        let mut found: Vec<BodyRef> = Vec::new();
        for class in classes {
            let Some((owner, var)) = self.own_member(class, runs) else { continue };
            for body in self.functions_of(owner, var) {
                let all = self.same_in_other_impls(body);
                found.extend(all.iter().filter(|body| self.is_impl_for(**body, None, given)));
            }
        }
        found.dedup();
        found
    }

    /// Returns the project's types that the places to which a call's result goes declare, inside of what holds them.
    pub(crate) fn expected_classes(&self, scope: Scope, site: SiteRef) -> Vec<ClassRef> {
        let facts = self.program.facts(site.file);
        let mut found = Vec::new();
        // `text.parse::<Port>()`
        if let Form::Subscript(_, of) = facts.form(self.program.site(site).callee) {
            let declared = self.annotation(scope, of);
            self.add_classes(declared.value, DEEPEST, &mut found);
            return found;
        }
        for (mention, _) in self.program.uses_of_result(site).iter() {
            if let Mention::Arg(into, arg) = mention
                && facts.site(into).kind == SiteKind::New
            {
                self.add_field_classes(scope, site.file.site_ref(into), arg, &mut found);
            }
            for val in self.declared_types_at(site.file, mention) {
                self.add_classes(self.values.one(val), DEEPEST, &mut found);
            }
        }
        found
    }

    /// The types of a field, by its argument in literals of the struct.
    fn add_field_classes(&self, scope: Scope, literal: SiteRef, arg: u32, found: &mut Vec<ClassRef>) {
        let args = self.program.args_of(literal);
        let Some(given) = args.get(arg as usize).filter(|given| given.name.is_some()) else { return };
        let Some(field) = self.program.global(literal.file, given.name) else { return };
        let meant = self.eval(scope, self.program.site(literal).callee);
        for val in self.values.members(meant.value) {
            let Val::Class(class) = val else { continue };
            let value = self.attr(Val::Instance { class, exact: true, args: ArgsId::NONE }, field);
            self.add_classes(value.value, DEEPEST, found);
        }
    }

    fn add_classes(&self, value: ValueId, depth: u32, found: &mut Vec<ClassRef>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        for val in self.values.members(value) {
            match val {
                Val::Instance { class, .. } if !found.contains(&class) => found.push(class),
                Val::Library { args, .. } => {
                    if let Some(first) = self.values.nth(args, 0) {
                        self.add_classes(first, depth, found);
                    }
                }
                _ => {}
            }
        }
    }
}
