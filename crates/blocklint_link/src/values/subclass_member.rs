//! Members that subclasses define: an attribute that is `None` in the class and set in subclasses, and the results of
//! methods that subclasses implement or override.

use blocklint_core::Language;
use blocklint_facts::{AssignKind, Flow};

use crate::classes::hierarchy::Ancestor;
use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, ClassRef, Name};
use crate::values::expr::Scope;
use crate::values::value::{ArgsId, EnvId, UNION_LIMIT, Val, ValueId, Why};

/// The maximal number of subclasses that are searched for one member.
const MAX_SUBCLASSES: usize = 256;

impl Linker<'_> {
    /// Returns the value of an attribute of an object whose exact class is unknown: the union of the values in its
    /// class and in subclasses.
    pub(crate) fn with_subclass_members(&self, class: ClassRef, name: Name, member_value: Typed) -> Typed {
        if self.program.language(class.file) != Language::Python || self.direct_subclasses(class).is_empty() {
            return member_value;
        }
        if member_value.value == ValueId::NEVER {
            return member_value;
        }
        let members = self.values.members(member_value.value);
        // Overrides of methods are targets of the call, not values of the attribute. A value that is unknown in the
        // class stays unknown.
        let is_empty = members.iter().all(|val| matches!(val, Val::None | Val::Unknown(Why::Attribute)))
            || self.values.is_unknown(member_value.value) && self.is_abstract_member(class, name);
        let is_plain = members.iter().all(|val| matches!(val, Val::None | Val::Instance { .. } | Val::Library { .. }));
        let is_class = members.iter().all(|val| matches!(val, Val::None | Val::Class(_) | Val::External(_)));
        if !is_empty && !is_plain && !is_class {
            return member_value;
        }
        let in_subclasses = self.subclass_values(class, name);
        let fits = |val: &Val| match val {
            Val::Instance { .. } | Val::Library { .. } => is_empty || is_plain,
            Val::Class(_) | Val::External(_) => is_empty || is_class,
            Val::Unknown(_) => false,
            Val::None => true,
            _ => is_empty,
        };
        let fitting: Vec<Val> = self.values.members(in_subclasses.value).iter().copied().filter(fits).collect();
        let added: Vec<Val> = fitting.into_iter().filter(|val| !members.contains(val)).collect();
        if added.is_empty() {
            return member_value;
        }
        let from_subclasses = Typed { value: self.values.union(&added), inferred_steps: in_subclasses.inferred_steps };
        if is_empty && self.values.is_unknown(member_value.value) {
            return self.inferred(from_subclasses);
        }
        self.inferred(self.join(&[member_value, from_subclasses]))
    }

    /// True if a member is a function without code of its own, which subclasses implement.
    fn is_abstract_member(&self, class: ClassRef, name: Name) -> bool {
        let defining_class = self.mro(class).iter().find_map(|ancestor| match *ancestor {
            Ancestor::Class(class) => self.own_member(class, name),
            _ => None,
        });
        let bodies = defining_class.map_or_else(Vec::new, |(owner, var)| self.functions_of(owner, var));
        !bodies.is_empty() && bodies.iter().any(|&body| self.is_stub(body))
    }

    /// Returns the union of the values of a member in subclasses; unknown if no subclass defines it.
    fn subclass_values(&self, class: ClassRef, name: Name) -> Typed {
        self.query_value(&self.tables.values.subclass_members, (class, name), || {
            let descendants = self.descendants(class, MAX_SUBCLASSES);
            let mut parts: Vec<Typed> = Vec::new();
            for next in descendants.classes {
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
                    let assignment = facts.assign(assign);
                    if assignment.kind != AssignKind::Augmented
                        && (assignment.value.is_some() || assignment.annotation.is_some())
                    {
                        let scope = Scope { file: next.file, at: assignment.at, env: EnvId::NONE };
                        parts.push(self.assigned_value(scope, assign));
                    }
                }
            }
            if !descendants.is_complete {
                return self.unknown(Why::Bound);
            }
            if parts.is_empty() { self.unknown(Why::Attribute) } else { self.join(&parts) }
        })
    }

    /// Returns the result of a method call with the results of overrides, if the method is a stub, or if its result
    /// type is not declared.
    pub(crate) fn with_override_results(&self, body: BodyRef, receiver: Option<Val>, body_result: Typed) -> Typed {
        let Some(Val::Instance { exact: false, class: receiver_class, .. }) = receiver else { return body_result };
        let facts = self.program.facts(body.file);
        let body_facts = self.program.body(body);
        let language = facts.language;
        if body_facts.class.is_none() || body_facts.returns.is_some() && !self.values.is_unknown(body_result.value) {
            return body_result;
        }
        let is_stub = self.is_stub(body);
        match language {
            Language::Python if is_stub || body_facts.flow == Flow::Sync => {}
            Language::Java | Language::Rust if self.values.is_unknown(body_result.value) => {}
            _ => return body_result,
        }
        let Some(name) = self.program.global(body.file, body_facts.name) else { return body_result };
        if self.program.text(name).starts_with("__") {
            return body_result;
        }
        let overrides = self.overrides(receiver_class, name);
        let overrides: Vec<BodyRef> =
            overrides.iter().copied().filter(|&method| !self.is_test_double(method, body)).collect();
        if overrides.is_empty() || overrides.len() > UNION_LIMIT {
            return body_result;
        }
        let mut parts: Vec<Typed> = Vec::new();
        for method in overrides {
            let Some(class) = self.program.body(method).class.get() else { continue };
            let class = method.file.class_ref(class);
            let receiver = Val::Instance { class, exact: false, args: ArgsId::NONE };
            let result = self.value_of_call(method, EnvId::NONE, Some(receiver));
            if !self.values.is_unknown(result.value) {
                parts.push(result);
            }
        }
        if parts.is_empty() {
            return body_result;
        }
        if !is_stub && !self.values.is_unknown(body_result.value) {
            parts.push(body_result);
        }
        self.inferred(self.join(&parts))
    }
}
