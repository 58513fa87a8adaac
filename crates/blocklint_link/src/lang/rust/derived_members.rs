//! Rust: members that macros generate for a type: methods that an enum delegates to the value of its variant, a derived
//! `Deref` of a newtype, derived constructors.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{ClassKind, Form};

use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, Name};
use crate::values::value::{ArgsId, Val, Why};

/// The derive macro that makes a newtype dereference to its field.
const DEREF: &str = "Deref";

impl<'a> Linker<'a> {
    /// True if a type has a derive of this last name.
    pub(crate) fn derives(&self, class: ClassRef, name: &str) -> bool {
        let facts = self.program.facts(class.file);
        facts
            .args
            .slice::<4>(self.program.class(class).keywords.range())
            .iter()
            .any(|derived| matches!(facts.form(derived.value), Form::Str(sym) if facts.text(sym) == name))
    }

    /// Returns the method of an enum that a delegating macro generates (`enum_dispatch`, `delegate`): each variant
    /// holds one value, and all these values have a method of this name.
    pub(crate) fn delegated_to_variants(&self, class: ClassRef, name: Name) -> Option<Typed> {
        let facts = self.program.facts(class.file);
        let class_facts = self.program.class(class);
        if class_facts.kind != ClassKind::Enum {
            return None;
        }
        let scope = lang::rust::names::head_scope(self, class);
        let mut parts = Vec::new();
        for assign in facts.assigns.iter().filter(|assign| facts.body_of(assign.at) == class_facts.body) {
            let payload = match facts.form(assign.annotation) {
                Form::Pairs(_) | Form::Display(..) => return None,
                _ if assign.annotation.is_some() => self.annotation(scope, assign.annotation),
                // A bare variant of `enum_dispatch` holds the type of its name.
                _ => {
                    let Form::Var(variant) = facts.form(assign.target) else { return None };
                    let sym = facts.var(variant).name;
                    let name = self.program.global(class.file, sym);
                    let var = name.and_then(|name| self.program.scope_var(class.file, class_facts.parent, name));
                    let payload_type = var.map_or_else(|| self.free_name(scope, sym), |var| self.var(scope, var));
                    self.map(payload_type, |val| match val {
                        Val::Class(payload) if payload != class => {
                            self.known(Val::Instance { class: payload, exact: true, args: ArgsId::NONE })
                        }
                        _ => self.unknown(Why::Attribute),
                    })
                }
            };
            let method = self.map(payload, |val| self.attr(val, name));
            if !self.has_function(method) {
                return None;
            }
            parts.push(method);
        }
        (!parts.is_empty()).then(|| self.join(&parts))
    }

    /// Returns the target of a derived `Deref`: the type's only field.
    pub(crate) fn derived_deref(&self, class: ClassRef, member: Val) -> Option<Typed> {
        if !self.derives(class, DEREF) {
            return None;
        }
        let facts = self.program.facts(class.file);
        let body = self.program.class(class).body;
        let mut fields = facts.assigns.iter().filter(|assign| facts.body_of(assign.at) == body);
        let (Some(field), None) = (fields.next(), fields.next()) else { return None };
        let Form::Var(field) = facts.form(field.target) else { return None };
        let name = self.program.global(class.file, facts.var(field).name)?;
        Some(self.attr(member, name))
    }

    /// Returns the path of a library function that behaves like a derived constructor: `#[derive(new)]` generates the
    /// function `new`.
    pub(crate) fn derived_constructor(&self, class: ClassRef, name: Name) -> Option<&'static str> {
        let is_rust = self.program.language(class.file) == Language::Rust;
        (is_rust && self.derives(class, self.program.text(name))).then_some("std::default::Default::default")
    }
}
