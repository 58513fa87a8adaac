//! Java: method references to methods of interfaces and base classes: `.map(source::load)`, `.map(Source::load)`. Like
//! a call, a method reference may run the overrides of derived classes.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{BodyKind, Form};

use crate::linker::{LOW_STEPS, Linker};
use crate::program::ids::{BodyRef, ClassRef, SiteRef};
use crate::values::value::{ArgsId, BoundId, Val, ValueId};

/// The number of overrides above which a reference has no known target.
const MOST: usize = 16;

/// The number of overrides up to which each one is a likely target.
const FEW: usize = 3;

impl Linker<'_> {
    /// Returns the overrides with code that a reference to a method may run; none if there are too many.
    pub(crate) fn referenced_overrides(&self, method: BodyRef, receiver: BoundId) -> Vec<BodyRef> {
        let facts = self.program.facts(method.file);
        let body_facts = self.program.body(method);
        if facts.language != Language::Java
            || body_facts.kind != BodyKind::Function
            || self.method_kind(method).is_static
        {
            return Vec::new();
        }
        let Some(method_class) = body_facts.class.get() else { return Vec::new() };
        let class = match receiver.is_some().then(|| self.values.single(receiver)) {
            None => method.file.class_ref(method_class),
            Some(Val::Instance { class, exact: false, .. }) => class,
            Some(_) => return Vec::new(),
        };
        let Some(name) = self.program.global(method.file, body_facts.name) else { return Vec::new() };
        let count = self.program.params_of(method).len();
        let candidates = self.overrides(class, name);
        let is_candidate = |body: &&BodyRef| {
            !self.is_stub(**body)
                && self.takes_argument_count(**body, count)
                && self.may_run_in_one_program(method.file, body.file)
        };
        let overrides: Vec<BodyRef> = candidates.iter().filter(is_candidate).take(MOST + 1).copied().collect();
        if overrides.len() > MOST { Vec::new() } else { overrides }
    }

    /// True if a reference to `method` may run the override `body` of a derived class.
    pub fn may_be_referred_to(&self, method: BodyRef, receiver: BoundId, body: BodyRef) -> bool {
        let name = |body: BodyRef| {
            let facts = self.program.facts(body.file);
            let body_facts = self.program.body(body);
            (body_facts.class.is_some(), facts.text(body_facts.name))
        };
        method != body
            && self.program.language(body.file) == Language::Java
            && name(method) == name(body)
            && self.referenced_overrides(method, receiver).contains(&body)
    }

    /// Returns the number of inferred steps to one of the methods that a reference in an argument may run; `None` if a
    /// proxy runs the method in another context, or if the receiver that the library passes is of another class.
    pub fn inferred_steps_to_reference(&self, site: SiteRef, arg: u32, value: ValueId, body: BodyRef) -> Option<u8> {
        let facts = self.program.facts(site.file);
        let members = self.values.members(value);
        let is_direct = members.iter().any(|val| !matches!(*val, Val::Fn { body: target, .. } if target != body));
        let is_reference = || {
            self.program
                .args_of(site)
                .get(arg as usize)
                .is_some_and(|arg| matches!(facts.form(arg.value), Form::Path(..)))
        };
        if facts.language != Language::Java || is_direct || !is_reference() {
            return Some(0);
        }
        if self.proxy_context(body, site).is_some() {
            return None;
        }
        let mut count = 0;
        for &val in members.iter() {
            let Val::Fn { body: method, receiver, .. } = val else { continue };
            count += usize::from(!self.is_stub(method));
            // The first argument of `Source::load` is its receiver.
            let class = if receiver.is_some() { None } else { self.class_of_first_passed(site, arg) };
            let fits = |body: BodyRef| class.is_none_or(|class| self.is_method_of_class(body, class));
            if !fits(body) {
                return None;
            }
            count += self.referenced_overrides(method, receiver).into_iter().filter(|&body| fits(body)).count();
        }
        // An operator on each element runs every implementation in turn.
        let on_each = || lang::java::words::calls_with_every_element(facts.text(self.program.site(site).name));
        let unbound = members.iter().any(|val| matches!(*val, Val::Fn { receiver, .. } if !receiver.is_some()));
        Some(match count {
            0 | 1 => 0,
            _ if unbound && on_each() => 0,
            2..=FEW => 1,
            _ => LOW_STEPS,
        })
    }

    /// Returns the class of the first argument that a library passes to a callable, by the row of the call.
    fn class_of_first_passed(&self, site: SiteRef, arg: u32) -> Option<ClassRef> {
        let argument = self.value_passed_by_row(site, arg, 0)?;
        match self.values.members(argument.value)[..] {
            [Val::Instance { class, .. }] => Some(class),
            _ => None,
        }
    }

    /// True if a class or a subclass of it defines a method, or if the class inherits it.
    fn is_method_of_class(&self, body: BodyRef, class: ClassRef) -> bool {
        let Some(method_class) = self.program.body(body).class.get() else { return false };
        let method_class = body.file.class_ref(method_class);
        if self.is_subclass(method_class, class) {
            return true;
        }
        let Some(name) = self.program.global(body.file, self.program.body(body).name) else { return false };
        let object = Val::Instance { class, exact: false, args: ArgsId::NONE };
        let members = self.attr(object, name);
        self.values
            .members(members.value)
            .iter()
            .any(|val| matches!(*val, Val::Fn { body: member, .. } if member == body))
    }
}
