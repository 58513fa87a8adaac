//! Members that derived classes replace: `client = None` above, `client = Client()` below; a method that is left to
//! them, or a method without a declared result that they override.

use blocklint_core::Language;
use blocklint_facts::{AssignKind, Flow};

use crate::classes::hierarchy::Ancestor;
use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, ClassRef, Name};
use crate::values::expr::Scope;
use crate::values::value::{ArgsId, EnvId, UNION_LIMIT, Val, ValueId, Why};

/// Derived classes that are looked at for one member.
const MOST_CLASSES: usize = 256;

impl Linker<'_> {
    /// Returns the value of an attribute of an object whose exact class is not known: the value in its class, and those
    /// in the classes derived from it.
    pub(crate) fn with_subclass_members(&self, class: ClassRef, name: Name, own: Typed) -> Typed {
        if self.program.language(class.file) != Language::Python || self.derived(class).is_empty() {
            return own;
        }
        if own.value == ValueId::NEVER {
            return own;
        }
        let members = self.values.members(own.value);
        // A method's own override is a matter of the call; what is not known above is not made known below.
        let is_empty = members.iter().all(|val| matches!(val, Val::None | Val::Unknown(Why::Attribute)))
            || self.values.is_unknown(own.value) && self.is_left_to_derived(class, name);
        let is_plain = members.iter().all(|val| matches!(val, Val::None | Val::Instance { .. } | Val::Library { .. }));
        let is_class = members.iter().all(|val| matches!(val, Val::None | Val::Class(_) | Val::External(_)));
        if !is_empty && !is_plain && !is_class {
            return own;
        }
        let below = self.below(class, name);
        let fits = |val: &Val| match val {
            Val::Instance { .. } | Val::Library { .. } => is_empty || is_plain,
            Val::Class(_) | Val::External(_) => is_empty || is_class,
            Val::Unknown(_) => false,
            Val::None => true,
            _ => is_empty,
        };
        let kept: Vec<Val> = self.values.members(below.value).iter().copied().filter(fits).collect();
        let kept: Vec<Val> = kept.into_iter().filter(|val| !members.contains(val)).collect();
        if kept.is_empty() {
            return own;
        }
        let known = Typed { value: self.values.union(&kept), inferred_steps: below.inferred_steps };
        if is_empty && self.values.is_unknown(own.value) {
            return self.inferred(known);
        }
        self.inferred(self.join(&[own, known]))
    }

    /// True if a member is a function without code of its own, which derived classes implement.
    fn is_left_to_derived(&self, class: ClassRef, name: Name) -> bool {
        let own = self.mro(class).iter().find_map(|ancestor| match *ancestor {
            Ancestor::Class(of) => self.own_member(of, name),
            _ => None,
        });
        let bodies = own.map_or_else(Vec::new, |(owner, var)| self.functions_of(owner, var));
        !bodies.is_empty() && bodies.iter().any(|&body| self.is_stub(body))
    }

    /// Returns the union of the values that subclasses assign to a member; unknown if none does.
    fn below(&self, class: ClassRef, name: Name) -> Typed {
        self.query_value(&self.tables.values.below, (class, name), || {
            let below = self.descendants(class, MOST_CLASSES);
            let mut parts: Vec<Typed> = Vec::new();
            for next in below.classes {
                if parts.len() > UNION_LIMIT {
                    return self.unknown(Why::Bound);
                }
                if self.is_test_double(self.class_body(next), self.class_body(class)) {
                    continue;
                }
                if let Some((owner, var)) = self.own_member(next, name) {
                    let receiver = Val::Instance { class: next, exact: false, args: ArgsId::NONE };
                    parts.push(self.bound_member(owner, var, receiver));
                }
                let facts = self.program.facts(next.file);
                for assign in self.own_assigns(next, name) {
                    let row = facts.assign(assign);
                    if row.kind != AssignKind::Augmented && (row.value.is_some() || row.annotation.is_some()) {
                        let scope = Scope { file: next.file, at: row.at, env: EnvId::NONE };
                        parts.push(self.assigned(scope, assign));
                    }
                }
            }
            if !below.is_whole {
                return self.unknown(Why::Bound);
            }
            if parts.is_empty() { self.unknown(Why::Attribute) } else { self.join(&parts) }
        })
    }

    /// Returns the result of a method call with the results of overrides, if the method is left to derived classes, or
    /// if they override it and nothing declares its result.
    pub(crate) fn with_override_results(&self, body: BodyRef, receiver: Option<Val>, own: Typed) -> Typed {
        let Some(Val::Instance { exact: false, class: of, .. }) = receiver else { return own };
        let facts = self.program.facts(body.file);
        let row = self.program.body(body);
        let language = facts.language;
        if row.class.is_none() || row.returns.is_some() && !self.values.is_unknown(own.value) {
            return own;
        }
        let is_stub = self.is_stub(body);
        match language {
            Language::Python if is_stub || row.flow == Flow::Sync => {}
            Language::Java | Language::Rust if self.values.is_unknown(own.value) => {}
            _ => return own,
        }
        let Some(name) = self.program.global(body.file, row.name) else { return own };
        if self.program.text(name).starts_with("__") {
            return own;
        }
        let overrides = self.overrides(of, name);
        let overrides: Vec<BodyRef> = overrides.iter().copied().filter(|&of| !self.is_test_double(of, body)).collect();
        if overrides.is_empty() || overrides.len() > UNION_LIMIT {
            return own;
        }
        let mut parts: Vec<Typed> = Vec::new();
        for over in overrides {
            let Some(class) = self.program.body(over).class.get() else { continue };
            let class = over.file.class_ref(class);
            let receiver = Val::Instance { class, exact: false, args: ArgsId::NONE };
            let given = self.called(over, EnvId::NONE, Some(receiver));
            if !self.values.is_unknown(given.value) {
                parts.push(given);
            }
        }
        if parts.is_empty() {
            return own;
        }
        if !is_stub && !self.values.is_unknown(own.value) {
            parts.push(own);
        }
        self.inferred(self.join(&parts))
    }
}
