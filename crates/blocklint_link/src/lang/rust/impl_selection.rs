//! Rust: selection of an impl block: the types of receiver and arguments select one of several impl blocks of a trait
//! (`impl From<A> for X`, `impl From<B> for X`), and the expected type selects the conversion that `into` runs.

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

/// The number of nested types that are compared.
const DEEPEST: u32 = 6;

/// The number of impl blocks of one type that are compared.
const MOST_BLOCKS: usize = 64;

/// Conversions of the standard library and the method of the expected type that each runs:
/// <https://doc.rust-lang.org/std/convert/trait.Into.html>, `TryInto` and `str::parse`.
const CONVERSIONS: [(&str, &str); 3] = [("into", "from"), ("try_into", "try_from"), ("parse", "from_str")];

/// Returns the conversion that runs a method of this name: `into` for `from`.
pub(crate) fn conversion_running(method: &str) -> Option<&'static str> {
    CONVERSIONS.iter().find_map(|(conversion, runs)| (*runs == method).then_some(*conversion))
}

impl Linker<'_> {
    /// Returns the methods in the impl blocks of supertraits for the subject of an impl block: for
    /// `impl Store for Disk`, where `Store: Read`, the method `read` of `impl Read for Disk`.
    pub(crate) fn supertrait_impl_methods(&self, block: ClassRef, of_trait: ClassRef, name: Name) -> Vec<BodyRef> {
        if self.program.class(block).kind != ClassKind::Impl {
            return Vec::new();
        }
        let Some(subject) = super::names::subject(self, block) else { return Vec::new() };
        let supertraits = self.mro(of_trait);
        let others = self.impls(subject).into_iter().filter(|&other| {
            other != block
                && self.bases(other).iter().any(|base| match *base {
                    Val::Class(base) | Val::Instance { class: base, .. } => {
                        base != of_trait && supertraits.contains(&Ancestor::Class(base))
                    }
                    _ => false,
                })
        });
        others
            .filter_map(|other| self.own_member(other, name))
            .flat_map(|(owner, var)| self.functions_of(owner, var))
            .collect()
    }

    /// Returns the callee of a call without the methods of impl blocks that do not fit its receiver and arguments, if
    /// several impl blocks of one trait have the method (`impl From<A> for X`, `impl From<B> for X`).
    pub(crate) fn callee_of_fitting_impls(&self, scope: Scope, site: SiteRef, callee: Typed) -> Typed {
        let members = self.values.members(callee.value);
        let has_others = |body| self.trait_impl_block(body).is_some() && self.same_methods_in_impls(body).len() > 1;
        let is_shared = |val: &Val| matches!(*val, Val::Fn { body, .. } if has_others(body));
        if !members.iter().any(is_shared) {
            return callee;
        }
        self.with_fitting_impls(callee, &self.argument_values(scope, site))
    }

    /// Returns a callee without the functions of impl blocks that do not fit the types of the receiver and the
    /// arguments.
    pub(crate) fn with_fitting_impls(&self, callee: Typed, arguments: &[ValueId]) -> Typed {
        let fitting = self.map(callee, |val| match val {
            Val::Fn { body, receiver, env } => {
                let candidates = self.same_methods_in_impls(body);
                let receiver_value = receiver.is_some().then(|| self.values.one(self.values.single(receiver)));
                let fits = |body: &&BodyRef| self.fits_impl(**body, receiver_value, arguments);
                let fitting: Vec<Val> =
                    candidates.iter().filter(fits).map(|&body| Val::Fn { body, receiver, env }).collect();
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

    /// Returns the methods of this name in all impl blocks of the same trait for the same type, with the method itself.
    fn same_methods_in_impls(&self, body: BodyRef) -> Rc<[BodyRef]> {
        let Some((block, base)) = self.trait_impl_block(body) else { return Rc::from([body]) };
        let find = || Rc::from(self.find_same_methods(body, block, base));
        self.query(&self.tables.rust.same_methods, body, || Rc::from([body]), find)
    }

    /// Returns the impl block that contains a method, and the form of the block's trait.
    fn trait_impl_block(&self, body: BodyRef) -> Option<(ClassRef, FormId)> {
        let facts = self.program.facts(body.file);
        let class = self.program.body(body).class.get().filter(|_| facts.language == Language::Rust)?;
        let class_facts = facts.class(class);
        match facts.list(class_facts.bases)[..] {
            [base] if class_facts.kind == ClassKind::Impl => Some((body.file.class_ref(class), base)),
            _ => None,
        }
    }

    fn find_same_methods(&self, body: BodyRef, block: ClassRef, base: FormId) -> Vec<BodyRef> {
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
        let mut methods = vec![body];
        for other in self.impls(subject).into_iter().filter(|other| *other != block).take(MOST_BLOCKS) {
            let facts = self.program.facts(other.file);
            let class_facts = self.program.class(other);
            let [other_base] = facts.list(class_facts.bases)[..] else { continue };
            if last(other, other_base) != last(block, base) {
                continue;
            }
            if let Some(var) = self.program.scope_var(other.file, class_facts.body, name) {
                methods.extend(self.functions_of(other, var));
            }
        }
        methods
    }

    /// True if a method of an impl block fits a call: its subject and its parameters are not known to be of other
    /// types.
    fn fits_impl(&self, body: BodyRef, receiver: Option<ValueId>, arguments: &[ValueId]) -> bool {
        let facts = self.program.facts(body.file);
        if let (Some(receiver), Some(class)) = (receiver, self.program.body(body).class.get()) {
            let block = body.file.class_ref(class);
            let subject = self.annotation(lang::rust::names::head_scope(self, block), facts.class(class).subject);
            if self.types_differ(subject.value, receiver, DEEPEST) {
                return false;
            }
        }
        let scope = self.signature_scope(body);
        let params = self.program.params_of(body).iter().filter(|param| facts.text(param.name) != "self");
        params.zip(arguments).all(|(param, &argument)| {
            param.annotation.is_none()
                || !self.types_differ(self.annotation(scope, param.annotation).value, argument, DEEPEST)
        })
    }

    /// True if two values are known to be of different types.
    fn types_differ(&self, left: ValueId, right: ValueId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let (lefts, rights) = (self.values.members(left), self.values.members(right));
        !lefts.is_empty()
            && !rights.is_empty()
            && lefts.iter().all(|&left| rights.iter().all(|&right| self.member_types_differ(left, right, depth)))
    }

    fn member_types_differ(&self, left: Val, right: Val, depth: u32) -> bool {
        match (left, right) {
            (Val::Instance { class, args, .. }, Val::Instance { class: other, args: others, .. }) => {
                if class == other {
                    return self.argument_types_differ(args, others, depth);
                }
                !self.is_interface(class) && !self.is_interface(other)
            }
            (Val::Library { ty, args, .. }, Val::Library { ty: other, args: others, .. }) => {
                if ty == other {
                    return self.argument_types_differ(args, others, depth);
                }
                if let Some(inner) = self.transparent_inner(ty, args) {
                    return self.types_differ(inner.value, self.values.one(right), depth);
                }
                if let Some(inner) = self.transparent_inner(other, others) {
                    return self.types_differ(self.values.one(left), inner.value, depth);
                }
                !self.library.supertypes(ty).contains(&other) && !self.library.supertypes(other).contains(&ty)
            }
            (Val::Instance { class, .. }, Val::Library { ty, args, .. })
            | (Val::Library { ty, args, .. }, Val::Instance { class, .. }) => match self.transparent_inner(ty, args) {
                Some(inner) => self.values.members(inner.value).iter().all(|&inner| {
                    let instance = if matches!(left, Val::Instance { .. }) { left } else { right };
                    depth > 0 && self.member_types_differ(inner, instance, depth - 1)
                }),
                None => {
                    let is_base = |ancestor: &Ancestor| matches!(*ancestor, Ancestor::Library(base, _) if base == ty);
                    !self.is_interface(class) && !self.mro(class).iter().any(is_base)
                }
            },
            (Val::Tuple(args), Val::Tuple(others)) => self.argument_types_differ(args, others, depth),
            (Val::Tuple(_), Val::Instance { .. }) | (Val::Instance { .. }, Val::Tuple(_)) => true,
            _ => false,
        }
    }

    fn argument_types_differ(&self, args: ArgsId, others: ArgsId, depth: u32) -> bool {
        let pairs = self.values.list(args).into_iter().zip(self.values.list(others));
        pairs.into_iter().any(|(arg, other)| self.types_differ(arg, other, depth))
    }

    fn is_interface(&self, class: ClassRef) -> bool {
        self.program.class(class).kind == ClassKind::Interface
    }

    /// True if the type arguments of a call's receiver allow an implementation of a generic trait: a receiver of type
    /// `dyn Repository<User>` does not allow a method of `impl Repository<Order>`.
    pub(crate) fn allows_trait_arguments(&self, class: ClassRef, body: BodyRef, site: SiteRef) -> bool {
        let Some(block) = self.program.body(body).class.get().map(|class| body.file.class_ref(class)) else {
            return true;
        };
        let trait_args = |val: &Val| match *val {
            Val::Instance { class: base, args, .. } if base == class && args != ArgsId::NONE => Some(args),
            _ => None,
        };
        let Some(impl_args) = self.bases(block).iter().find_map(trait_args) else { return true };
        let Some(form) = self.receiver_form(site) else { return true };
        let receiver = self.eval(self.scope_of(site, EnvId::NONE), form);
        let mut declared: Vec<ArgsId> = Vec::new();
        for val in self.values.members(receiver.value) {
            self.collect_trait_arguments(val, class, DEEPEST, &mut declared);
        }
        declared.is_empty() || declared.iter().any(|&args| !self.argument_types_differ(impl_args, args, DEEPEST))
    }

    /// Adds the type arguments of a trait in the type of a value, also behind pointers and in bounds.
    fn collect_trait_arguments(&self, val: Val, class: ClassRef, depth: u32, found: &mut Vec<ArgsId>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let inner = match val {
            Val::Instance { class: instance_class, args, .. } => {
                if instance_class == class && args != ArgsId::NONE {
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
            self.collect_trait_arguments(val, class, depth, found);
        }
    }

    /// Returns the function that `value.into()`, `value.try_into()` or `text.parse()` runs: the conversion of the
    /// expected type.
    pub(crate) fn conversion_callee(&self, scope: Scope, site: SiteRef, base: FormId, name: Name) -> Option<Typed> {
        let called = self.program.text(name);
        let (_, runs) = CONVERSIONS.iter().find(|(conversion, _)| *conversion == called)?;
        let runs = self.program.name(runs)?;
        if self.hierarchy.count_bodies_named(runs) == 0 {
            return None;
        }
        let argument = [self.as_value(self.eval(scope, base)).value];
        let bodies = self.conversions_of(self.expected_classes(scope, site), runs, &argument);
        let callable = |body| Val::Fn { body, receiver: BoundId::NONE, env: EnvId::NONE };
        let callables: Vec<Val> = bodies.into_iter().map(callable).collect();
        let first_callable = *callables.first()?;
        Some(Typed { value: self.values.union(&callables), ..self.known(first_callable) })
    }

    /// Returns the methods of this name in these types that convert from the argument's type.
    pub(crate) fn conversions_of(&self, classes: Vec<ClassRef>, runs: Name, arguments: &[ValueId]) -> Vec<BodyRef> {
        let mut conversions: Vec<BodyRef> = Vec::new();
        for class in classes {
            let Some((owner, var)) = self.own_member(class, runs) else { continue };
            for body in self.functions_of(owner, var) {
                let candidates = self.same_methods_in_impls(body);
                conversions.extend(candidates.iter().filter(|body| self.fits_impl(**body, None, arguments)));
            }
        }
        conversions.dedup();
        conversions
    }

    /// Returns the project's types that the uses of a call's result expect, by declared types of variables, parameters
    /// and fields; also types inside of containers.
    pub(crate) fn expected_classes(&self, scope: Scope, site: SiteRef) -> Vec<ClassRef> {
        let facts = self.program.facts(site.file);
        let mut classes = Vec::new();
        // `text.parse::<Port>()`
        if let Form::Subscript(_, ty) = facts.form(self.program.site(site).callee) {
            let declared = self.annotation(scope, ty);
            self.add_classes(declared.value, DEEPEST, &mut classes);
            return classes;
        }
        for (mention, _) in self.program.uses_of_result(site).iter() {
            if let Mention::Arg(into, arg) = mention
                && facts.site(into).kind == SiteKind::New
            {
                self.add_field_classes(scope, site.file.site_ref(into), arg, &mut classes);
            }
            for val in self.declared_types_at(site.file, mention) {
                self.add_classes(self.values.one(val), DEEPEST, &mut classes);
            }
        }
        classes
    }

    /// Adds the classes in the type of a field, by the index of its argument in a struct expression.
    fn add_field_classes(&self, scope: Scope, literal: SiteRef, arg: u32, classes: &mut Vec<ClassRef>) {
        let args = self.program.args_of(literal);
        let Some(argument) = args.get(arg as usize).filter(|argument| argument.name.is_some()) else { return };
        let Some(field) = self.program.global(literal.file, argument.name) else { return };
        let structs = self.eval(scope, self.program.site(literal).callee);
        for val in self.values.members(structs.value) {
            let Val::Class(class) = val else { continue };
            let value = self.attr(Val::Instance { class, exact: true, args: ArgsId::NONE }, field);
            self.add_classes(value.value, DEEPEST, classes);
        }
    }

    fn add_classes(&self, value: ValueId, depth: u32, classes: &mut Vec<ClassRef>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        for val in self.values.members(value) {
            match val {
                Val::Instance { class, .. } if !classes.contains(&class) => classes.push(class),
                Val::Library { args, .. } => {
                    if let Some(first) = self.values.nth(args, 0) {
                        self.add_classes(first, depth, classes);
                    }
                }
                _ => {}
            }
        }
    }
}
