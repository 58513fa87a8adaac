//! Rust: methods of traits: extension traits of libraries that a file imports, traits of the project for library types,
//! and functions that return futures.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{ClassKind, Flow, Form, FormId, ImportKind};
use blocklint_models::{Argument, Condition, Subject, Test, Uses};

use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, PathId, SiteRef};
use crate::values::value::{Val, ValueId};

/// How deep the nested type arguments of a return type are searched for a future.
const MAX_TYPE_DEPTH: u32 = 6;

/// The usual names of associated functions that make a value of their type.
const MAKERS: &[&str] = &["new", "open", "create", "connect", "builder", "default", "bind", "with_capacity"];

/// The last segments of the paths of futures and streams.
const FUTURES: &[&str] =
    &["Future", "Stream", "TryFuture", "TryStream", "BoxFuture", "BoxStream", "LocalBoxFuture", "LocalBoxStream"];

impl<'a> Linker<'a> {
    /// Returns the method of a library's trait that the file imports, if the type itself has no row for this name:
    /// `use a::Commands; connection.get(key)`.
    pub(crate) fn or_imported_trait_method(&self, site: SiteRef, method: Val, name: Name) -> Val {
        let Val::Method { path, receiver } = method else { return method };
        if !self.library.calls(path).is_empty() || !self.library.handovers(path).is_empty() {
            return method;
        }
        self.imported_trait_method(site, name).map_or(method, |path| Val::Method { path, receiver })
    }

    /// Returns the method of this name of a library's trait that the file of a site imports, if models describe the
    /// method.
    pub(crate) fn imported_trait_method(&self, site: SiteRef, name: Name) -> Option<PathId> {
        let find = || self.find_trait_method(site.file, name);
        let method = self.query(&self.tables.rust.trait_methods, (site.file, name), Option::default, find)?;
        // A plain iterator has methods of the same names as a parallel one.
        let is_of_parallel = self.library.text(method).contains("ParallelIterator::");
        (!is_of_parallel || self.is_parallel_iterator_chain(site.file, self.program.site(site).callee))
            .then_some(method)
    }

    /// Returns a member of a value. If the member is unknown, because a macro may declare it, returns the method of an
    /// imported trait whose rows test the type of an argument.
    pub(crate) fn attr_or_trait_method(&self, site: SiteRef, member: Val, name: Name) -> Typed {
        let attr = self.attr(member, name);
        let is_known = |val: &Val| match *val {
            Val::Unknown(_) => false,
            Val::External(path) => self.is_modelled(path),
            _ => true,
        };
        if self.values.members(attr.value).iter().any(is_known) {
            return attr;
        }
        match self.trait_method_by_argument(site, name) {
            Some(path) => self.known(Val::Method { path, receiver: self.values.bound(member) }),
            None => attr,
        }
    }

    /// True if models describe the library of a path.
    fn is_modelled(&self, path: PathId) -> bool {
        let text = self.library.text(path);
        text.split("::").next().is_some_and(|root| self.library.knows_root(Language::Rust, root))
    }

    /// Returns the method of an imported trait for a receiver of unknown type, if all its rows test the type of an
    /// argument. Without such a test, every method of the name would match.
    fn trait_method_by_argument(&self, site: SiteRef, name: Name) -> Option<PathId> {
        let path = self.imported_trait_method(site, name)?;
        let tests_argument = |condition: &Condition| {
            matches!(&condition.subject, Subject::Argument(argument) if *argument != Argument::Receiver)
                && condition.tests.iter().any(|test| matches!(test, Test::Type(_)))
        };
        let rows = self.library.calls(path);
        let all_test_argument =
            !rows.is_empty() && rows.with(|_| true).all(|matched| matched.row.when.iter().any(tests_argument));
        all_test_argument.then_some(path)
    }

    /// Returns the method of this name of a library's trait that a file imports by name, or by a prelude
    /// (`use library::prelude::*`).
    fn find_trait_method(&self, file: FileId, name: Name) -> Option<PathId> {
        let facts = self.program.facts(file);
        let method = self.program.text(name);
        facts.imports.iter().find_map(|row| {
            let text = facts.text(row.module).trim_start_matches("::");
            let head = text.split("::").next()?;
            if !self.library.knows_root(Language::Rust, head) {
                return None;
            }
            match row.kind {
                ImportKind::Module => {
                    let imported = self.library.path(Language::Rust, text);
                    let trait_method = self.library.member(imported, method);
                    (!self.library.calls(trait_method).is_empty() && self.may_be_trait(imported))
                        .then_some(trait_method)
                }
                // A prelude re-exports traits of the modules in the same parent.
                ImportKind::Star => {
                    let parent = text.strip_suffix("prelude")?;
                    self.library.of(Language::Rust).named(method).find_map(|named| {
                        let paths = named.paths(Uses::EFFECT.union(Uses::RETURNS));
                        let mut traits = paths.filter(|path| path.path.starts_with(parent)).filter_map(|path| {
                            let (owner, _) = path.path.rsplit_once("::")?;
                            let is_trait = self.may_be_trait(self.library.path(Language::Rust, owner));
                            is_trait.then(|| self.library.path(Language::Rust, path.path))
                        });
                        traits.next()
                    })
                }
                _ => None,
            }
        })
    }

    /// True if a path possibly refers to a trait: it begins with an uppercase letter, and no row describes a constructor.
    /// The traits of the standard library are known, so that `Receiver` of `use std::sync::mpsc::Receiver` is none.
    fn may_be_trait(&self, path: PathId) -> bool {
        let text = self.library.text(path);
        if matches!(text.split("::").next(), Some("std" | "core" | "alloc")) {
            return lang::rust::words::is_std_trait(&text);
        }
        let is_base = || self.library.ty(path).is_none_or(|rows| rows.role().is_none() && rows.through().is_none());
        let is_constructor = |name: &&str| !self.library.calls(self.library.member(path, name)).is_empty();
        is_spelled_like_a_type(&text) && is_base() && !MAKERS.iter().any(is_constructor)
    }

    /// Returns a method that a trait of the project adds to a library's type, or to every type.
    pub(crate) fn project_trait_method(&self, receiver: Val, name: Name) -> Option<Typed> {
        if self.hierarchy.count_bodies_named(name) == 0 {
            return None;
        }
        let value = self.values.one(receiver);
        if let Val::Library { ty, .. } = receiver {
            for &ty in self.library.supertypes(ty).iter() {
                let text = self.library.text(ty);
                let Some(last) = text.rsplit("::").next().and_then(|last| self.program.name(last)) else { continue };
                for &block in self.hierarchy.impls_named(last) {
                    if self.has_library_subject(block, ty)
                        && let Some(method) = self.method_of_block(block, name, receiver)
                    {
                        return Some(method);
                    }
                }
            }
        }
        self.hierarchy.blankets().iter().find_map(|&block| {
            self.meets_bound(block, value).then(|| self.method_of_block(block, name, receiver)).flatten()
        })
    }

    /// True if the subject of an impl block is this library type.
    fn has_library_subject(&self, block: ClassRef, ty: PathId) -> bool {
        let subject = self.annotation(lang::rust::names::head_scope(self, block), self.program.class(block).subject);
        self.values
            .members(subject.value)
            .iter()
            .any(|val| matches!(*val, Val::Library { ty: subject, .. } if subject == ty))
    }

    /// True if a value may meet the bound of a blanket impl (`impl<T: Store> Load for T`). Bounds of libraries always
    /// count as met.
    fn meets_bound(&self, block: ClassRef, value: ValueId) -> bool {
        let bound = self.bound_of(Val::Param { class: block, index: 0 });
        self.values.members(bound.value).iter().all(|bound| match *bound {
            Val::Instance { class: wanted, .. } => self.values.members(value).iter().any(|val| match *val {
                Val::Instance { class, .. } => self.is_subclass(class, wanted),
                _ => false,
            }),
            _ => true,
        })
    }

    /// Returns the method of an impl block, or the provided method of its trait.
    fn method_of_block(&self, block: ClassRef, name: Name, receiver: Val) -> Option<Typed> {
        let class_facts = self.program.class(block);
        if class_facts.kind != ClassKind::Impl || class_facts.bases.is_empty() {
            return None;
        }
        let bases = self.bases(block);
        let owners = std::iter::once(block).chain(bases.iter().filter_map(|base| match *base {
            Val::Instance { class, .. } | Val::Class(class) => Some(class),
            _ => None,
        }));
        for owner in owners {
            let body = self.program.class(owner).body;
            if let Some(var) = self.program.scope_var(owner.file, body, name) {
                return Some(self.bound_member(owner, var, receiver));
            }
        }
        None
    }

    /// True if a function without `async` returns a future or stream, by its declared result, also inside of `Box`,
    /// `Pin`, `Result` and `Option`.
    pub fn returns_future(&self, body: BodyRef) -> bool {
        let body_facts = self.program.body(body);
        if body_facts.returns.is_none() || body_facts.flow != Flow::Sync {
            return false;
        }
        let declared = self.annotation(self.signature_scope(body), body_facts.returns);
        self.is_future(declared.value, MAX_TYPE_DEPTH)
    }

    fn is_future(&self, value: ValueId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        self.values.members(value).into_iter().any(|val| match val {
            Val::Library { ty, args, .. } => {
                let text = self.library.text(ty);
                if text.rsplit("::").next().is_some_and(|last| FUTURES.contains(&last)) {
                    return true;
                }
                let is_wrapper = lang::rust::names::is_fallible(&text)
                    || self
                        .library
                        .supertypes(ty)
                        .iter()
                        .any(|&base| lang::rust::names::is_fallible(&self.library.text(base)));
                let inner = self.transparent_inner(ty, args).map(|inner| inner.value);
                inner
                    .or_else(|| self.values.nth(args, 0).filter(|_| is_wrapper))
                    .is_some_and(|inner| self.is_future(inner, depth))
            }
            Val::Awaitable(_) => true,
            _ => false,
        })
    }

    /// Returns the associated type `M::Connection` in a declared result, for a receiver that determines `M`.
    pub(crate) fn associated_type(&self, body: BodyRef, form: FormId, receiver: Val) -> Option<Typed> {
        let facts = self.program.facts(body.file);
        let Form::Path(base, sym) = facts.form(form) else { return None };
        let class = self.program.body(body).class.get()?;
        let name = self.program.global(body.file, sym)?;
        let param = self.eval(self.signature_scope(body), base);
        let argument = self.substitute(param, &self.bindings(body.file.class_ref(class), receiver));
        if argument.value == param.value {
            return None;
        }
        let member = self.map(argument, |val| lang::rust::names::path_member(self, val, name));
        let projected = self.map(member, |val| match val {
            Val::Class(class) => self.instance_of_class(self.signature_scope(body), class),
            other => self.known(other),
        });
        (!self.values.is_unknown(projected.value)).then_some(projected)
    }
}

/// True if the last segment of a path begins with an uppercase letter, like a type or trait.
fn is_spelled_like_a_type(path: &str) -> bool {
    path.rsplit("::").next().is_some_and(|last| last.starts_with(char::is_uppercase))
}
