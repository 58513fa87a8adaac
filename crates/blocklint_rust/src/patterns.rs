//! Destructuring of patterns: each name is bound to the part of the value that it matches, and each pattern has a test.
//!
//! `Some(x)` binds `x` to `Field(v, "Some")`; `Pair(a, b)` binds its names to `Part(Field(v, "Pair"), 0)` and `1`. The
//! path of a pattern is the type: `Msg::Load(x)` is `Field(v as Msg, "Load")`, `db::Config { path }` is
//! `Field(v as db::Config, "path")`.

use blocklint_facts::{AltKind, AssignKind, DisplayKind, Form, FormId, VarKind};
use tree_sitter::Node;

use crate::kinds::{K, all, child, fields, kind, named, parts};
use crate::walker::{Walker, Walking, span};

impl Walker<'_> {
    /// Binds the names of a pattern to the parts of a value.
    pub(crate) fn bind_pattern_parts(&mut self, node: Node<'_>, value: FormId) {
        let _ = self.one_level_deeper(node, |walker| walker.bind_pattern_parts_inner(node, value));
    }

    fn bind_pattern_parts_inner(&mut self, node: Node<'_>, value: FormId) {
        let f = fields();
        match kind(node) {
            K::Identifier | K::ShorthandFieldIdentifier => self.bind_name(node, value, FormId::NONE),
            K::TuplePattern => self.bind_tuple_parts(parts(node).collect(), value),
            K::TupleStructPattern => {
                let Some(path) = child(node, f.type_name) else { return };
                let payload = self.payload_form(path, value);
                let parts: Vec<Node<'_>> = parts(node).filter(|part| *part != path).collect();
                match parts.as_slice() {
                    [one] if kind(*one) != K::RemainingField => self.bind_pattern_parts(*one, payload),
                    _ => self.bind_tuple_parts(parts, payload),
                }
            }
            K::StructPattern => {
                let Some(path) = child(node, f.type_name) else { return };
                let base = match self.enum_of_variant(path) {
                    Some(_) => self.payload_form(path, value),
                    None => {
                        let class = self.type_form(path);
                        self.form(Form::Cast(value, class))
                    }
                };
                for part in named(node).filter(|part| kind(*part) == K::FieldPattern) {
                    let Some(name) = child(part, f.name) else { continue };
                    let field = self.name_symbol(name);
                    let form = self.form(Form::Field(base, field));
                    match child(part, f.pattern) {
                        Some(pattern) => self.bind_pattern_parts(pattern, form),
                        None => self.bind_name(name, form, FormId::NONE),
                    }
                }
            }
            K::SlicePattern => {
                let element = self.form(Form::Element(value));
                for part in named(node) {
                    // `rest @ ..` binds a slice of the same elements.
                    let is_rest = kind(part) == K::Captured && named(part).any(|p| kind(p) == K::RemainingField);
                    self.bind_pattern_parts(part, if is_rest { value } else { element });
                }
            }
            K::Captured => {
                let mut parts = named(node);
                if let Some(name) = parts.next() {
                    self.bind_name(name, value, FormId::NONE);
                }
                for part in parts {
                    self.bind_pattern_parts(part, value);
                }
            }
            K::RefPattern | K::MutPattern | K::ReferencePattern => {
                for part in named(node).filter(|part| kind(*part) != K::MutableSpecifier) {
                    self.bind_pattern_parts(part, value);
                }
            }
            K::OrPattern => {
                // `A | B | C` nests to the left; each alternative binds the same names.
                let mut sides = vec![node];
                while let Some(side) = sides.pop() {
                    if kind(side) == K::OrPattern {
                        let inner: Vec<Node<'_>> = named(side).collect();
                        sides.extend(inner.into_iter().rev());
                    } else {
                        self.bind_pattern_parts(side, value);
                    }
                }
            }
            _ => {}
        }
    }

    /// Binds the parts of a tuple. The index of a part behind `..` is unknown.
    fn bind_tuple_parts(&mut self, parts: Vec<Node<'_>>, value: FormId) {
        let mut is_before_rest = true;
        for (index, part) in parts.into_iter().enumerate() {
            if kind(part) == K::RemainingField {
                is_before_rest = false;
                continue;
            }
            let form = if is_before_rest { self.form(Form::Part(value, index as u32)) } else { self.other() };
            self.bind_pattern_parts(part, form);
        }
    }

    /// Binds one name. A name with a capital letter is a constant or variant and binds no variable.
    pub(crate) fn bind_name(&mut self, node: Node<'_>, value: FormId, annotation: FormId) {
        let name = self.name_symbol(node);
        let text = self.facts.facts().text(name);
        if text.starts_with(char::is_uppercase) || text == "_" || text.is_empty() {
            return;
        }
        // An alternative of `A(x) | B(x)` before has created the variable.
        let var = match self.pattern_var(name) {
            Some(var) => var,
            None => {
                let var = self.new_var(name, VarKind::Inner);
                self.scopes.add_local(name, var);
                var
            }
        };
        let target = self.var_form(var);
        self.bind(target, value, annotation, AssignKind::Plain, span(node));
    }

    /// Returns the variable of this name that an earlier alternative of the same pattern has created.
    fn pattern_var(&self, name: blocklint_facts::Sym) -> Option<blocklint_facts::VarId> {
        let var = self.scopes.local_in_innermost(name)?;
        (var.0 >= self.pattern_start).then_some(var)
    }

    /// Binds a whole pattern; its names are new variables.
    pub(crate) fn bind_pattern(&mut self, node: Node<'_>, value: FormId) {
        let before = std::mem::replace(&mut self.pattern_start, self.walk.facts.facts().vars().len() as u32);
        self.bind_pattern_parts(node, value);
        self.pattern_start = before;
    }

    /// Returns the form of the payload that the path of a pattern selects.
    fn payload_form(&mut self, path: Node<'_>, value: FormId) -> FormId {
        let f = fields();
        let path = match kind(path) {
            K::GenericType | K::GenericTurbofish => child(path, f.type_name).unwrap_or(path),
            _ => path,
        };
        let (base, last) = match kind(path) {
            K::ScopedIdentifier | K::ScopedTypeIdentifier => {
                let Some(last) = child(path, f.name) else { return self.other() };
                let base = match child(path, f.path) {
                    Some(class) if self.is_type_path(class) => {
                        let class = self.type_form(class);
                        self.form(Form::Cast(value, class))
                    }
                    _ => value,
                };
                (base, last)
            }
            _ => (value, path),
        };
        let name = self.name_symbol(last);
        self.form(Form::Field(base, name))
    }

    /// Returns the path of the enum in the path of a variant; `None` if the segment before the last is no type.
    fn enum_of_variant<'t>(&self, path: Node<'t>) -> Option<Node<'t>> {
        let front = child(path, fields().path)?;
        self.is_type_path(front).then_some(front)
    }

    fn is_type_path(&self, path: Node<'_>) -> bool {
        let last = match kind(path) {
            K::ScopedIdentifier | K::ScopedTypeIdentifier => child(path, fields().name).unwrap_or(path),
            _ => path,
        };
        self.text(last).starts_with(char::is_uppercase)
    }

    /// Returns the test of a pattern: for `Some(_)` that the value is not `None`, for a literal that it is equal;
    /// [`FormId::NONE`] for patterns that always match.
    pub(crate) fn pattern_test(&mut self, node: Node<'_>, value: FormId) -> FormId {
        use blocklint_facts::Comparison::{Eq, Is, IsNot};
        let f = fields();
        match kind(node) {
            K::String | K::RawString | K::Char | K::Bool | K::Integer | K::Float | K::NegativeLiteral => {
                let literal = self.literal_form(node);
                self.form(Form::Compare(Eq, value, literal))
            }
            K::Identifier | K::TupleStructPattern => {
                let path = child(node, f.type_name).unwrap_or(node);
                let text = self.text(path);
                let none = self.form(Form::None);
                let test = match &*text {
                    "None" => self.form(Form::Compare(Is, value, none)),
                    "Some" => self.form(Form::Compare(IsNot, value, none)),
                    "Ok" | "Err" => {
                        let name = self.facts.intern("Err");
                        let failure = self.form(Form::Name(name));
                        self.form(Form::Compare(if text == "Ok" { IsNot } else { Is }, value, failure))
                    }
                    _ if kind(node) == K::Identifier && !text.starts_with(char::is_uppercase) => return FormId::NONE,
                    _ => return self.other(),
                };
                // `Some(3)` does not match every value that is not `None`.
                let mut parts = parts(node).filter(|part| *part != path && kind(*part) != K::RemainingField);
                let payload = self.other();
                if parts.any(|part| self.pattern_test(part, payload).is_some()) {
                    return self.and_something_else(test);
                }
                test
            }
            K::StructPattern if child(node, f.type_name).is_some_and(|path| self.enum_of_variant(path).is_none()) => {
                FormId::NONE
            }
            // `_` has no node kind of its own.
            _ if self.text(node) == "_" => FormId::NONE,
            // `match (a, b) { (None, Some(_)) => … }`
            K::TuplePattern => {
                let parts: Vec<Node<'_>> = parts(node).collect();
                let subjects = match value.get().map(|value| self.facts.facts().form(value)) {
                    Some(Form::Display(DisplayKind::Tuple, list)) => self.facts.facts().list(list).to_vec(),
                    _ => Vec::new(),
                };
                if subjects.len() != parts.len() {
                    let part_value = self.other();
                    return match parts.iter().all(|part| self.pattern_test(*part, part_value).is_none()) {
                        true => FormId::NONE,
                        false => self.other(),
                    };
                }
                let tests = parts.into_iter().zip(subjects).map(|(part, subject)| self.pattern_test(part, subject));
                let tests: Vec<FormId> = tests.filter(|test| test.is_some()).collect();
                self.alternatives(AltKind::And, &tests)
            }
            K::RefPattern | K::MutPattern | K::Captured | K::ReferencePattern => {
                let inner = named(node).filter(|part| kind(*part) != K::MutableSpecifier).last();
                inner.map_or(FormId::NONE, |inner| self.pattern_test(inner, value))
            }
            _ => self.other(),
        }
    }

    /// Returns the test that holds if another one holds, and a condition that no form describes.
    pub(crate) fn and_something_else(&mut self, test: FormId) -> FormId {
        let other = self.other();
        match test.is_some() {
            true => self.alternatives(AltKind::And, &[test, other]),
            false => other,
        }
    }

    /// Returns the pattern and the guard of an arm.
    pub(crate) fn split_arm_pattern<'t>(&self, node: Node<'t>) -> (Option<Node<'t>>, Option<Node<'t>>) {
        let guard = child(node, fields().condition);
        let pattern = all(node).next();
        (pattern, guard)
    }
}
