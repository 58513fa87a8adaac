//! Members that macros write for a type: what an enum hands to the value that its variant holds, what a newtype dereferences
//! to, getters and constructors.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{ClassKind, Form};

use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, Name};
use crate::values::value::{ArgsId, Val, Why};

/// The trait whose `#[derive(…)]` adds the methods of the field (`std::ops::Deref`, which only macros derive).
const DEREF: &str = "Deref";

impl<'a> Linker<'a> {
    /// True if a type derives a trait of this last name.
    pub(crate) fn derives(&self, class: ClassRef, name: &str) -> bool {
        let facts = self.program.facts(class.file);
        facts
            .args
            .slice::<4>(self.program.class(class).keywords.range())
            .iter()
            .any(|derived| matches!(facts.form(derived.value), Form::Str(sym) if facts.text(sym) == name))
    }

    /// Returns the method of an enum that only a delegating macro can have written (`enum_dispatch`, `delegate`): each
    /// variant holds one value, and all of them have a method of this name.
    pub(crate) fn handed_to_variants(&self, class: ClassRef, name: Name) -> Option<Typed> {
        let facts = self.program.facts(class.file);
        let row = self.program.class(class);
        if row.kind != ClassKind::Enum {
            return None;
        }
        let scope = lang::rust::names::head_scope(self, class);
        let mut parts = Vec::new();
        for assign in facts.assigns.iter().filter(|assign| facts.body_of(assign.at) == row.body) {
            let held = match facts.form(assign.annotation) {
                Form::Pairs(_) | Form::Display(..) => return None,
                _ if assign.annotation.is_some() => self.annotation(scope, assign.annotation),
                // A bare variant of `enum_dispatch` holds the type of its name.
                _ => {
                    let Form::Var(variant) = facts.form(assign.target) else { return None };
                    let sym = facts.var(variant).name;
                    let beside = self.program.global(class.file, sym);
                    let beside = beside.and_then(|name| self.program.scope_var(class.file, row.parent, name));
                    let named = beside.map_or_else(|| self.free_name(scope, sym), |var| self.var(scope, var));
                    self.map(named, |val| match val {
                        Val::Class(of) if of != class => {
                            self.known(Val::Instance { class: of, exact: true, args: ArgsId::NONE })
                        }
                        _ => self.unknown(Why::Attribute),
                    })
                }
            };
            let method = self.map(held, |val| self.attr(val, name));
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

    /// Returns the library function that behaves like a derived constructor: `#[derive(new)]` writes the function
    /// `new`.
    pub(crate) fn derived_constructor(&self, class: ClassRef, name: Name) -> Option<&'static str> {
        let is_rust = self.program.language(class.file) == Language::Rust;
        (is_rust && self.derives(class, self.program.text(name))).then_some("std::default::Default::default")
    }
}
