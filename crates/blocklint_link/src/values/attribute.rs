//! Attribute access: the value of `a.name` for each kind of member (instance, class, module, library type), as a
//! method, field, property or class attribute. Elements and parts of values are in `element.rs`.

use crate::lang;

use blocklint_core::Language;
use blocklint_facts::{At, BodyKind, ClassKind, VarId};

use crate::classes::hierarchy::Ancestor;
use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, ClassRef, Name, PathId, VarRef};
use crate::values::expr::Scope;
use crate::values::value::{ArgsId, BoundId, EnvId, Val, Why};

/// The maximal number of assignments from other files to one name of a module that are evaluated.
pub(crate) const MAX_MODULE_ASSIGNS: usize = 16;

impl<'a> Linker<'a> {
    /// Returns an attribute of one member of a value.
    pub(crate) fn attr(&self, member: Val, name: Name) -> Typed {
        match member {
            Val::Instance { .. }
            | Val::Class(_)
            | Val::Library { .. }
            | Val::External(_)
            | Val::Module(_)
            | Val::Fn { .. } => {
                self.query_value(&self.tables.values.attrs, (member, name), || self.find_attr(member, name))
            }
            _ => self.find_attr(member, name),
        }
    }

    fn find_attr(&self, member: Val, name: Name) -> Typed {
        match member {
            Val::Unknown(why) => self.unknown(why),
            Val::None => self.unknown(Why::Attribute),
            Val::Module(file) => lang::semantics(self.program.language(file)).module_member(self, file, name),
            Val::Folder(path) => lang::python::names::folder_member(self, &self.library.text(path), name),
            Val::External(path) => {
                let text = self.program.text(name);
                // A field that a model declares is also one of the class: `SQLModel.metadata`.
                if let Some(rows) = self.library.ty(path)
                    && let Some(field) = rows.field(text)
                {
                    return self.type_value(&field.clone(), member, None);
                }
                if let Some(method) = self.method_of_constant(path, text) {
                    return method;
                }
                let member = self.library.member(path, text);
                self.property(member, BoundId::NONE).unwrap_or_else(|| self.known(Val::External(member)))
            }
            Val::Class(class) => self.class_member(class, name, member),
            Val::Instance { class, exact, .. } => {
                let member_value = self.instance_member(class, exact, name, member);
                lang::semantics(self.program.language(class.file)).member_of_instance(self, member, name, member_value)
            }
            Val::Param { .. } => self.map(self.bound_of(member), |bound| self.attr(bound, name)),
            Val::Tuple(args) => {
                match self.program.text(name).parse().ok().and_then(|index| self.values.nth(args, index)) {
                    Some(value) => Typed { value, inferred_steps: 0 },
                    None => self.unknown(Why::Attribute),
                }
            }
            Val::Library { ty, args, .. } => self.library_member(ty, args, name, member),
            Val::Super { class, receiver } => {
                let receiver_val = self.values.single(receiver);
                let start = match receiver_val {
                    Val::Instance { class, .. } | Val::Class(class) => class,
                    _ => class,
                };
                let order = self.mro(start);
                let class_index = order.iter().position(|ancestor| *ancestor == Ancestor::Class(class));
                let next = class_index.map_or(0, |index| index + 1);
                self.find_member_in_order(&order[next.min(order.len())..], name, receiver_val)
                    .unwrap_or_else(|| self.unknown(Why::Attribute))
            }
            Val::Fn { body, .. } => lang::semantics(self.program.language(body.file))
                .member_of_function(self, member, name)
                .unwrap_or_else(|| self.member_added_by_decorator(body, name)),
            Val::Lazy { path, .. } => match lang::semantics(self.library.language(path)).iterator_type(self) {
                Some(iterator) => {
                    let path = self.library.member(iterator, self.program.text(name));
                    self.known(Val::Method { path, receiver: self.values.bound(member) })
                }
                None => match self.type_of_lazy(path) {
                    Some((ty, args)) => self.library_member(ty, args, name, member),
                    None => self.unknown(Why::Attribute),
                },
            },
            Val::Partial { .. } | Val::Method { .. } | Val::Coroutine { .. } | Val::Awaitable(_) | Val::Iter { .. } => {
                self.unknown(Why::Attribute)
            }
        }
    }

    /// Returns the type of a library call's lazy result by its rows: `Files.lines(path)` is a `Stream`.
    fn type_of_lazy(&self, path: PathId) -> Option<(PathId, ArgsId)> {
        let returns = self.library.calls(path).with(|row| row.returns.is_some()).next()?.returns.clone()?;
        match self.values.members(self.type_value(&returns, Val::External(path), None).value)[..] {
            [Val::Library { ty, args, .. }] => Some((ty, args)),
            _ => None,
        }
    }

    /// Returns the attribute that a library's decorator adds to the function that it returns: `task.delay`. The result
    /// type in the decorator's row has that attribute.
    fn member_added_by_decorator(&self, body: BodyRef, name: Name) -> Typed {
        let text = self.program.text(name);
        for (path, _) in self.decorators(body) {
            let rows = self.library.calls(path);
            let Some(row) = rows.with(|row| row.returns.is_some()).next() else { continue };
            let Some(returns) = row.returns.clone() else { continue };
            let result = self.type_value(&returns, Val::External(path), None);
            for val in self.values.members(result.value) {
                let Val::Library { ty, .. } = val else { continue };
                let member = self.library.member(ty, text);
                if !self.library.calls(member).is_empty() {
                    return self.known(Val::Method { path: member, receiver: self.values.bound(val) });
                }
            }
        }
        self.unknown(Why::Attribute)
    }

    /// Returns the member that one segment of a path refers to (`b` in `a::b`), by the rules of a language.
    pub(crate) fn path_member(&self, member: Val, name: Name, language: Language) -> Typed {
        lang::semantics(language).path_member(self, member, name)
    }

    /// Returns a member of a class object.
    fn class_member(&self, class: ClassRef, name: Name, receiver: Val) -> Typed {
        let semantics = lang::semantics(self.program.language(class.file));
        match self.find_member_in_order(&self.mro(class), name, receiver) {
            Some(typed) => semantics.member_of_class(self, class, name, typed),
            None => semantics
                .implied_member_of_class(self, class, name, receiver)
                .unwrap_or_else(|| self.unknown(Why::Attribute)),
        }
    }

    /// Returns a member of an instance: a method or class attribute, else the values assigned to the field.
    fn instance_member(&self, class: ClassRef, exact: bool, name: Name, receiver: Val) -> Typed {
        let order = self.mro(class);
        let declared = self.find_member_in_order(&order, name, receiver);
        if let Some(typed) = declared
            && !self.values.is_unknown(typed.value)
            && !self.is_only_none(typed)
        {
            // Instances may overwrite a class attribute, so the value is the union of both.
            let is_plain =
                self.values.members(typed.value).iter().all(|val| !matches!(val, Val::Fn { .. } | Val::Method { .. }));
            if !is_plain || self.is_declared(&order, name) {
                return typed;
            }
            let field = self.field(class, name);
            if self.values.is_unknown(field.value) { typed } else { self.join(&[typed, field]) }
        } else {
            let field = self.field(class, name);
            if !self.values.is_unknown(field.value) || exact && declared.is_none() {
                return field;
            }
            declared.unwrap_or(field)
        }
    }

    /// True if a value is only `None`.
    pub(crate) fn is_only_none(&self, typed: Typed) -> bool {
        self.values.members(typed.value).iter().all(|val| *val == Val::None)
    }

    /// True if a class of the lookup order declares a type for the attribute.
    fn is_declared(&self, order: &[Ancestor], name: Name) -> bool {
        order.iter().any(|ancestor| match *ancestor {
            Ancestor::Class(class) => self.own_member(class, name).is_some_and(|(owner, var)| {
                self.program.facts(owner.file).assigns_of(var).any(|assignment| assignment.annotation.is_some())
            }),
            _ => false,
        })
    }

    /// Returns the first member of this name in a lookup order (MRO).
    fn find_member_in_order(&self, order: &[Ancestor], name: Name, receiver: Val) -> Option<Typed> {
        for ancestor in order {
            match *ancestor {
                Ancestor::Class(owner) => {
                    if let Some((owner, var)) = self.own_member(owner, name) {
                        return Some(self.bound_member(owner, var, receiver));
                    }
                }
                Ancestor::Library(ty, args) => {
                    let path = self.library.member(ty, self.program.text(name));
                    if self.library.supertypes(ty).iter().any(|&ty| {
                        let member = self.library.member(ty, self.program.text(name));
                        self.library.is_described(member)
                    }) || self.library.is_type(ty) && !self.library.calls(path).is_empty()
                    {
                        return Some(self.library_member(ty, args, name, receiver));
                    }
                    if let Some(rows) = self.library.ty(ty)
                        && rows.field(self.program.text(name)).is_some()
                    {
                        return Some(self.library_member(ty, args, name, receiver));
                    }
                }
                Ancestor::Unknown => {}
            }
        }
        None
    }

    /// Returns the value of a class's own member, bound to its receiver.
    pub(crate) fn bound_member(&self, owner: ClassRef, var: VarId, receiver: Val) -> Typed {
        let semantics = lang::semantics(self.program.language(owner.file));
        if matches!(receiver, Val::Instance { .. })
            && let Some(described) = semantics.descriptor_value(self, owner, var)
        {
            return described;
        }
        let scope = Scope { file: owner.file, at: At::default(), env: EnvId::NONE };
        let typed = semantics.field_on_receiver(self, owner, var, receiver).unwrap_or_else(|| self.var(scope, var));
        let is_enum = self.program.class(owner).kind == ClassKind::Enum;
        if is_enum && matches!(receiver, Val::Class(_)) && !self.has_function(typed) {
            // A constant of an enum may have an anonymous class of its own (Java).
            if let [Val::Instance { class, .. }] = self.values.members(typed.value)[..]
                && class != owner
                && self.is_subclass(class, owner)
            {
                return typed;
            }
            return self.known(Val::Instance { class: owner, exact: true, args: ArgsId::NONE });
        }
        self.map(typed, |val| match val {
            Val::Fn { body, receiver: BoundId::NONE, env } => {
                let kind = self.method_kind(body);
                let on_instance = !matches!(receiver, Val::Class(_));
                if kind.is_static {
                    return self.known(val);
                }
                if kind.of_class {
                    let class = match receiver {
                        Val::Instance { class, .. } | Val::Class(class) => Val::Class(class),
                        other => other,
                    };
                    return self.known(Val::Fn { body, receiver: self.values.bound(class), env });
                }
                if kind.property && on_instance {
                    return self.returned(body, env, Some(receiver));
                }
                if on_instance && self.is_method(body) {
                    return self.known(Val::Fn { body, receiver: self.values.bound(receiver), env });
                }
                self.known(val)
            }
            other => self.known(other),
        })
    }

    /// True if a member of a value is a function or class of the project.
    pub(crate) fn has_function(&self, typed: Typed) -> bool {
        self.values.members(typed.value).iter().any(|val| matches!(val, Val::Fn { .. } | Val::Class(_)))
    }

    /// True if a function in a class takes its receiver as a parameter.
    pub(crate) fn is_method(&self, body: BodyRef) -> bool {
        let body_facts = self.program.body(body);
        // A closure that a decorator returned counts, because it is called like the method that it replaced.
        body_facts.kind == BodyKind::Function || body_facts.kind == BodyKind::Lambda
    }

    /// Returns a member of a library type.
    fn library_member(&self, ty: PathId, args: ArgsId, name: Name, receiver: Val) -> Typed {
        let text = self.program.text(name);
        let bound = self.values.bound(receiver);
        for &supertype in self.library.supertypes(ty).iter() {
            if let Some(rows) = self.library.ty(supertype)
                && let Some(field) = rows.field(text)
            {
                let field = field.clone();
                return self.type_value(&field, receiver, None);
            }
        }
        let path = self.library.member(ty, text);
        if let Some(typed) = self.property(path, bound) {
            return typed;
        }
        let semantics = lang::semantics(self.library.language(ty));
        let has_no_rows = self.library.calls(path).is_empty() && self.library.handovers(path).is_empty();
        if has_no_rows && let Some(inner) = semantics.alias_target_type(self, ty) {
            return self.library_member(inner, args, name, Val::Library { ty: inner, args, made: None });
        }
        if has_no_rows && let Some(inner) = self.transparent_inner(ty, args) {
            if semantics.is_field_of_wrapper(text) {
                return inner;
            }
            return self.map(inner, |inner| self.attr(inner, name));
        }
        if self.library.calls(path).is_empty()
            && let Some(added) = semantics.member_of_library(self, receiver, name)
        {
            return added;
        }
        if self.library.calls(path).is_empty()
            && self.library.handovers(path).is_empty()
            && let Some(made) = self.unconditional_result(ty, "__getattr__", receiver)
        {
            return made;
        }
        self.known(Val::Method { path, receiver: bound })
    }

    /// Returns the result of a library type's method by a row without conditions: of `__getitem__` for
    /// `client["shop"]`, of `__getattr__` for `client.shop`.
    pub(crate) fn unconditional_result(&self, ty: PathId, method: &str, receiver: Val) -> Option<Typed> {
        let rows = self.library.calls(self.library.member(ty, method));
        let row = rows.with(|row| row.returns.is_some()).find(|row| row.when.is_empty() && row.unless.is_empty())?;
        let returns = row.returns.clone()?;
        Some(self.type_value(&returns, receiver, None))
    }

    /// Returns the value inside a transparent type, whose members are those of its type argument: `Arc<Store>`.
    pub fn transparent_inner(&self, ty: PathId, args: ArgsId) -> Option<Typed> {
        let index = self.library.ty(ty)?.through()?;
        let value = self.values.nth(args, index)?;
        Some(Typed { value, inferred_steps: 0 })
    }

    /// Returns the value of a library type's property; `None` if the path is no property.
    fn property(&self, path: PathId, receiver: BoundId) -> Option<Typed> {
        let rows = self.library.properties(path);
        if rows.is_empty() {
            return None;
        }
        let receiver_val = self.values.single(receiver);
        let returns = rows
            .with(|row| row.returns.is_some())
            .find(|row| row.unless.is_empty() && self.receiver_passes(&row.when, receiver_val))
            .and_then(|row| row.returns.clone());
        Some(match returns {
            Some(returns) => self.type_value(&returns, self.values.single(receiver), None),
            None => self.unknown(Why::Result),
        })
    }

    /// Returns the value of a method's first parameter: an instance of its class, or the class (`cls`). `None` if the
    /// body is no method or is static.
    pub(crate) fn receiver_of(&self, var: VarRef) -> Option<Typed> {
        let facts = self.program.facts(var.file);
        let var_facts = self.program.var(var);
        let body = facts.body(var_facts.body);
        let class = body.class.get()?;
        let class = var.file.class_ref(class);
        let kind = self.method_kind(var.file.body_ref(var_facts.body));
        if facts.text(body.name) == "__new__" || kind.of_class {
            return Some(self.known(Val::Class(class)));
        }
        if kind.is_static {
            return None;
        }
        Some(self.known(Val::Instance { class, exact: false, args: ArgsId::NONE }))
    }
}
