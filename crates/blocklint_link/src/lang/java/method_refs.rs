//! Java: references to methods of interfaces and base classes: `.map(source::load)`, `.map(Source::load)`. They mean what a call in their
//! place would mean: also the methods that derived classes put there.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{BodyKind, Form};

use crate::linker::{LOW_STEPS, Linker};
use crate::program::ids::{BodyRef, ClassRef, SiteRef};
use crate::values::value::{ArgsId, BoundId, Val, ValueId};

/// Implementations beyond which a reference shows nothing about one of them.
const MOST: usize = 16;

/// Implementations of which each is likely to be meant.
const FEW: usize = 3;

impl Linker<'_> {
    /// Returns the methods with code that a reference to a method may mean besides that one.
    pub(crate) fn implementations_referred_to(&self, of: BodyRef, receiver: BoundId) -> Vec<BodyRef> {
        let facts = self.program.facts(of.file);
        let row = self.program.body(of);
        if facts.language != Language::Java || row.kind != BodyKind::Function || self.method_kind(of).is_static {
            return Vec::new();
        }
        let Some(own) = row.class.get() else { return Vec::new() };
        let class = match receiver.is_some().then(|| self.values.single(receiver)) {
            None => of.file.class_ref(own),
            Some(Val::Instance { class, exact: false, .. }) => class,
            Some(_) => return Vec::new(),
        };
        let Some(name) = self.program.global(of.file, row.name) else { return Vec::new() };
        let count = self.program.params_of(of).len();
        let all = self.overrides(class, name);
        let fits = |body: &&BodyRef| {
            !self.is_stub(**body) && self.takes_so_many(**body, count) && self.may_meet(of.file, body.file)
        };
        let found: Vec<BodyRef> = all.iter().filter(fits).take(MOST + 1).copied().collect();
        if found.len() > MOST { Vec::new() } else { found }
    }

    /// True if a reference to method `of` may mean the override `body` of a derived class.
    pub fn may_be_referred_to(&self, of: BodyRef, receiver: BoundId, body: BodyRef) -> bool {
        let name = |body: BodyRef| {
            let facts = self.program.facts(body.file);
            let row = self.program.body(body);
            (row.class.is_some(), facts.text(row.name))
        };
        of != body
            && self.program.language(body.file) == Language::Java
            && name(of) == name(body)
            && self.implementations_referred_to(of, receiver).contains(&body)
    }

    /// Returns inferred steps to one of the methods that a reference in an argument may mean; `None` where it runs by a
    /// proxy, elsewhere, or where its arguments are of another class.
    pub fn steps_to_referred(&self, site: SiteRef, arg: u32, value: ValueId, body: BodyRef) -> Option<u8> {
        let facts = self.program.facts(site.file);
        let members = self.values.members(value);
        let direct = members.iter().any(|val| !matches!(*val, Val::Fn { body: of, .. } if of != body));
        let is_reference = || {
            self.program
                .args_of(site)
                .get(arg as usize)
                .is_some_and(|arg| matches!(facts.form(arg.value), Form::Path(..)))
        };
        if facts.language != Language::Java || direct || !is_reference() {
            return Some(0);
        }
        if self.proxy_context(body, site).is_some() {
            return None;
        }
        let mut all = 0;
        for &val in members.iter() {
            let Val::Fn { body: of, receiver, .. } = val else { continue };
            all += usize::from(!self.is_stub(of));
            // `Source::load` gets its receiver first.
            let given = if receiver.is_some() { None } else { self.class_passed_first(site, arg) };
            let fits = |body: BodyRef| given.is_none_or(|given| self.is_method_of_class(body, given));
            if !fits(body) {
                return None;
            }
            all += self.implementations_referred_to(of, receiver).into_iter().filter(|&body| fits(body)).count();
        }
        // Each element is passed to its implementation.
        let on_each = || lang::java::words::goes_through_all(facts.text(self.program.site(site).name));
        let unbound = members.iter().any(|val| matches!(*val, Val::Fn { receiver, .. } if !receiver.is_some()));
        Some(match all {
            0 | 1 => 0,
            _ if unbound && on_each() => 0,
            2..=FEW => 1,
            _ => LOW_STEPS,
        })
    }

    /// Returns the class of what a call's row states that the callable in an argument gets first.
    fn class_passed_first(&self, site: SiteRef, arg: u32) -> Option<ClassRef> {
        let given = self.value_passed_by_row(site, arg, 0)?;
        match self.values.members(given.value)[..] {
            [Val::Instance { class, .. }] => Some(class),
            _ => None,
        }
    }

    /// True if a method is a member of a class, or of one that derives from it, under the method's own name.
    fn is_method_of_class(&self, body: BodyRef, class: ClassRef) -> bool {
        let Some(own) = self.program.body(body).class.get() else { return false };
        let own = body.file.class_ref(own);
        if self.is_subclass(own, class) {
            return true;
        }
        let Some(name) = self.program.global(body.file, self.program.body(body).name) else { return false };
        let object = Val::Instance { class, exact: false, args: ArgsId::NONE };
        let has = self.attr(object, name);
        self.values.members(has.value).iter().any(|val| matches!(*val, Val::Fn { body: of, .. } if of == body))
    }
}
