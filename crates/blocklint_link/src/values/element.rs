//! Parts of a value: elements of iteration, parts of tuples and patterns, and the results of `await`, `?` and `a[i]`.

use crate::classes::hierarchy::Ancestor;
use crate::lang;
use crate::linker::{Linker, Typed};
use crate::program::ids::{Name, PathId};
use crate::values::expr::Scope;
use crate::values::value::{Val, Why};
use blocklint_facts::{Form, FormId};

impl Linker<'_> {
    /// Returns the element that iteration over one member of a value yields.
    pub(crate) fn element(&self, member: Val) -> Typed {
        match member {
            Val::Iter { body, env } => self.yielded(body, env),
            Val::Lazy { element, .. } => Typed { value: element, inferred_steps: 0 },
            Val::Tuple(args) => {
                let parts: Vec<Typed> =
                    self.values.list(args).iter().map(|&value| Typed { value, inferred_steps: 0 }).collect();
                self.join(&parts)
            }
            Val::Param { .. } => self.map(self.bound_of(member), |bound| self.element(bound)),
            Val::Library { ty, args, .. } => {
                for &supertype in self.library.supertypes(ty).iter() {
                    if let Some(element) = self.library.ty(supertype).and_then(|rows| rows.element().cloned()) {
                        return self.type_value(&element, member, None);
                    }
                }
                if let Some(inner) = self.transparent_inner(ty, args) {
                    return self.map(inner, |inner| self.element(inner));
                }
                match self.values.nth(args, 0) {
                    Some(value) => Typed { value, inferred_steps: 0 },
                    None => self.unknown(Why::Result),
                }
            }
            Val::Instance { class, .. } => {
                let semantics = lang::semantics(self.program.language(class.file));
                if let Some(element) = semantics.element_of_instance(self, member) {
                    return element;
                }
                for method in ["__iter__", "__getitem__", "iterator"] {
                    let Some(name) = self.program.name(method) else { continue };
                    let typed = self.attr(member, name);
                    if self.has_function(typed) {
                        let result = self.map(typed, |val| match val {
                            Val::Fn { body, env, .. } => self.value_of_call(body, env, Some(member)),
                            _ => self.unknown(Why::Result),
                        });
                        return if method == "__getitem__" {
                            result
                        } else {
                            self.map(result, |val| match val {
                                Val::Instance { class: own, .. } if own == class => self.next_of(member),
                                other => self.element(other),
                            })
                        };
                    }
                }
                for ancestor in self.mro(class).iter() {
                    if let Ancestor::Library(ty, args) = *ancestor {
                        return self.element(Val::Library { ty, args, made: None });
                    }
                }
                self.unknown(Why::Result)
            }
            Val::Unknown(why) => self.unknown(why),
            _ => self.unknown(Why::Expression),
        }
    }

    /// Returns the result of an iterator's `__next__` (Python).
    fn next_of(&self, member: Val) -> Typed {
        let Some(name) = self.program.name("__next__") else { return self.unknown(Why::Result) };
        let typed = self.attr(member, name);
        self.map(typed, |val| match val {
            Val::Fn { body, env, .. } => self.value_of_call(body, env, Some(member)),
            _ => self.unknown(Why::Result),
        })
    }

    /// Returns the n-th part of one member in an unpacking assignment: `first, second = pair`.
    pub(crate) fn tuple_part(&self, member: Val, index: u32) -> Typed {
        match member {
            Val::Tuple(args) => match self.values.nth(args, index as usize) {
                Some(value) => Typed { value, inferred_steps: 0 },
                None => self.unknown(Why::Expression),
            },
            Val::Instance { class, .. } => lang::semantics(self.program.language(class.file))
                .pattern_field(self, member, index)
                .unwrap_or_else(|| self.element(member)),
            Val::Library { ty, args, .. } if self.library.ty(ty).is_some_and(|rows| rows.through().is_some()) => {
                match self.transparent_inner(ty, args) {
                    Some(inner) => self.map(inner, |inner| self.tuple_part(inner, index)),
                    None => self.unknown(Why::Result),
                }
            }
            other => self.element(other),
        }
    }

    /// Returns a field of one member, or the payload of an enum variant, that a pattern binds: `Some(value)` (Rust).
    pub(crate) fn payload(&self, member: Val, name: Name) -> Typed {
        match self.program.text(name) {
            "Some" | "Ok" | "Err" => match member {
                Val::Library { ty, args, .. } if self.transparent_inner(ty, args).is_some() => {
                    match self.transparent_inner(ty, args) {
                        Some(inner) => self.map(inner, |inner| self.payload(inner, name)),
                        None => self.unknown(Why::Result),
                    }
                }
                Val::Library { args, .. } => {
                    let index = usize::from(self.program.text(name) == "Err");
                    match self.values.nth(args, index) {
                        Some(value) => Typed { value, inferred_steps: 0 },
                        None => self.unknown(Why::Result),
                    }
                }
                other => self.known(other),
            },
            _ => {
                if let Some(payload) = self.tuple_struct_payload(member, name) {
                    return payload;
                }
                // A pattern with the names of a variant's fields reads the fields next.
                if let Val::Instance { class, .. } = member
                    && self.has_named_fields(class, name)
                {
                    return self.known(member);
                }
                let attribute = self.attr(member, name);
                match member {
                    Val::Instance { class, .. } if self.values.is_unknown(attribute.value) => {
                        match self.variant_field(class, name) {
                            Some(field) => self.substitute(field, &self.bindings(class, member)),
                            None => attribute,
                        }
                    }
                    _ => attribute,
                }
            }
        }
    }

    /// Returns the value of `expr?` for one member: the success case of a `Result` or `Option` (Rust).
    pub(crate) fn success_value(&self, member: Val) -> Typed {
        match member {
            Val::Library { ty, args, .. } => {
                // An alias of a library counts too: `RedisResult<T>`.
                let is_fallible = |path: &PathId| lang::rust::names::is_fallible(&self.library.text(*path));
                let wraps = is_fallible(&ty) || self.library.supertypes(ty).iter().any(is_fallible);
                match self.values.nth(args, 0).filter(|_| wraps) {
                    Some(value) => Typed { value, inferred_steps: 0 },
                    None => self.known(member),
                }
            }
            other => self.known(other),
        }
    }

    /// Returns the result of `await` for one member.
    pub(crate) fn awaited(&self, member: Val) -> Typed {
        match member {
            Val::Coroutine { body, env } => self.returned(body, env, None),
            Val::Awaitable(value) => Typed { value, inferred_steps: 0 },
            Val::Library { ty, args, .. } => {
                for &supertype in self.library.supertypes(ty).iter() {
                    if let Some(awaits) = self.library.ty(supertype).and_then(|rows| rows.awaits().cloned()) {
                        return self.type_value(&awaits, member, None);
                    }
                }
                if let Some(inner) = self.transparent_inner(ty, args) {
                    return self.map(inner, |inner| self.awaited(inner));
                }
                self.unknown(Why::Result)
            }
            Val::Unknown(why) => self.unknown(why),
            _ => self.unknown(Why::Result),
        }
    }

    /// Returns the value of `a[i]` for one member: a generic class itself, else an element.
    pub(crate) fn subscript(&self, scope: Scope, member: Val, index: FormId) -> Typed {
        match member {
            Val::Class(_) | Val::External(_) => {
                // `Store[int]` is the class. Its type argument matters only in annotations.
                self.known(member)
            }
            // `f::<T>` (Rust).
            Val::Fn { .. } | Val::Method { .. } | Val::Partial { .. } => self.known(member),
            Val::Tuple(args) => {
                if let Form::Int(index) = self.program.facts(scope.file).form(index)
                    && let Ok(index) = usize::try_from(index)
                    && let Some(value) = self.values.nth(args, index)
                {
                    return Typed { value, inferred_steps: 0 };
                }
                self.element(member)
            }
            Val::Library { ty, args, .. } => {
                let language = self.program.language(scope.file);
                let is_dict = lang::words_of(language)
                    .literal_type(lang::words::Literal::Dict)
                    .is_some_and(|dict| self.library.is_subtype(ty, self.library.path(language, dict)));
                if let Some(inner) = self.transparent_inner(ty, args) {
                    return self.map(inner, |inner| self.subscript(scope, inner, index));
                }
                match self.values.nth(args, 1).filter(|_| is_dict) {
                    Some(value) => Typed { value, inferred_steps: 0 },
                    None => {
                        let method = lang::semantics(language).words().subscript_method;
                        self.unconditional_result(ty, method, member).unwrap_or_else(|| self.element(member))
                    }
                }
            }
            Val::Instance { .. } => {
                if let Some(name) = self.program.name("__getitem__") {
                    let typed = self.attr(member, name);
                    if self.has_function(typed) {
                        return self.map(typed, |val| match val {
                            Val::Fn { body, env, .. } => self.value_of_call(body, env, Some(member)),
                            _ => self.unknown(Why::Result),
                        });
                    }
                }
                self.element(member)
            }
            other => self.element(other),
        }
    }
}
