//! Rust: generics: type parameters of types and impl blocks, their inference by unification; also `Deref`, tuple
//! structs and enum variants.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{AssignKind, At, BodyId, ClassKind, Form, FormId, Sym, VarId};
use smallvec::SmallVec;

use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, SiteRef};
use crate::values::expr::Scope;
use crate::values::value::{ArgsId, EnvId, Val, ValueId, Why};

/// The values of type parameters.
pub(crate) type Bindings = SmallVec<[(Val, ValueId); 4]>;

/// The number of nested types that are followed.
const DEEPEST: u32 = 6;

impl<'a> Linker<'a> {
    /// Returns the type parameter of this name of the impl block, trait or type that encloses a body.
    pub(crate) fn type_param(&self, file: FileId, body: BodyId, sym: Sym) -> Option<Val> {
        let class = lang::rust::names::enclosing_class(self, file, body)?;
        let facts = self.program.facts(file);
        let class_facts = self.program.class(class);
        let index = facts.list(class_facts.type_params).iter().position(|&param| {
            let name = match facts.form(param) {
                Form::Cast(name, _) => facts.form(name),
                name => name,
            };
            name == Form::Str(sym)
        })?;
        Some(Val::Param { class, index: index as u32 })
    }

    /// Returns the type parameters of a type as arguments of the type: `T` of `Store<T>`.
    pub(crate) fn own_params(&self, class: ClassRef) -> ArgsId {
        let facts = self.program.facts(class.file);
        if facts.language != Language::Rust {
            return ArgsId::NONE;
        }
        let count = facts.list(self.program.class(class).type_params).len();
        let params: Vec<ValueId> =
            (0..count).map(|index| self.values.one(Val::Param { class, index: index as u32 })).collect();
        self.values.args(&params)
    }

    /// Returns the type that the bounds of a type parameter declare.
    pub(crate) fn bound_of(&self, param: Val) -> Typed {
        let Val::Param { class, index } = param else { return self.unknown(Why::Expression) };
        let facts = self.program.facts(class.file);
        match facts.list(self.program.class(class).type_params).get(index as usize).map(|&form| facts.form(form)) {
            Some(Form::Cast(_, bound)) => {
                let typed = self.annotation(lang::rust::names::head_scope(self, class), bound);
                // A bound that contains the parameter itself gives no type.
                if self.values.members(typed.value).contains(&param) { self.unknown(Why::Cycle) } else { typed }
            }
            _ => self.unknown(Why::Expression),
        }
    }

    /// True if a value mentions a type parameter.
    pub(crate) fn has_param(&self, value: ValueId) -> bool {
        self.has_param_within(value, DEEPEST)
    }

    fn has_param_within(&self, value: ValueId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        self.values.members(value).iter().any(|val| match *val {
            Val::Param { .. } => true,
            Val::Library { args, .. } | Val::Instance { args, .. } | Val::Tuple(args) if args != ArgsId::NONE => {
                self.values.list(args).iter().any(|&arg| self.has_param_within(arg, depth))
            }
            Val::Awaitable(inner) => self.has_param_within(inner, depth),
            _ => false,
        })
    }

    /// Returns a value with its type parameters replaced.
    pub(crate) fn substitute(&self, typed: Typed, bindings: &Bindings) -> Typed {
        if bindings.is_empty() || !self.has_param(typed.value) {
            return typed;
        }
        Typed { value: self.substitute_within(typed.value, bindings, DEEPEST), ..typed }
    }

    fn substitute_within(&self, value: ValueId, bindings: &Bindings, depth: u32) -> ValueId {
        let Some(depth) = depth.checked_sub(1) else { return value };
        let list = |args: ArgsId| {
            let replaced: Vec<ValueId> =
                self.values.list(args).iter().map(|&arg| self.substitute_within(arg, bindings, depth)).collect();
            self.values.args(&replaced)
        };
        let parts: Vec<ValueId> = self
            .values
            .members(value)
            .iter()
            .map(|val| match *val {
                Val::Param { .. } => match bindings.iter().find(|(param, _)| param == val) {
                    Some((_, bound)) => *bound,
                    None => self.values.one(*val),
                },
                Val::Library { ty, args, made } => self.values.one(Val::Library { ty, args: list(args), made }),
                Val::Instance { class, exact, args } => {
                    self.values.one(Val::Instance { class, exact, args: list(args) })
                }
                Val::Tuple(args) => self.values.one(Val::Tuple(list(args))),
                Val::Awaitable(inner) => {
                    self.values.one(Val::Awaitable(self.substitute_within(inner, bindings, depth)))
                }
                other => self.values.one(other),
            })
            .collect();
        self.values.join(&parts)
    }

    /// Adds bindings of the type parameters in a pattern, by a value that the pattern matches: `T` is `User` for
    /// `Vec<T>` and `Vec<User>`.
    pub(crate) fn unify(&self, pattern: ValueId, value: ValueId, bindings: &mut Bindings) {
        self.unify_within(pattern, value, bindings, DEEPEST);
    }

    fn unify_within(&self, pattern: ValueId, value: ValueId, bindings: &mut Bindings, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        if self.values.is_unknown(value) {
            return;
        }
        for val in self.values.members(pattern) {
            match val {
                Val::Param { .. } => {
                    let param = self.values.one(val);
                    if param != value && !bindings.iter().any(|(bound, _)| *bound == val) {
                        bindings.push((val, value));
                    }
                }
                Val::Library { ty, args, .. } => {
                    for other in self.values.members(value) {
                        match other {
                            Val::Library { ty: same, args: other, .. } if same == ty => {
                                self.unify_lists(args, other, bindings, depth);
                            }
                            // A library's alias of the type: `rusqlite::Result<T>`.
                            Val::Library { ty: derived, args: other, .. }
                                if self.library.supertypes(derived).contains(&ty) =>
                            {
                                self.unify_lists(args, other, bindings, depth);
                            }
                            // The pattern may have a pointer (`&T`, `Box<T>`) that the value lacks.
                            _ => {
                                if let Some(inner) = self.transparent_inner(ty, args) {
                                    self.unify_within(inner.value, self.values.one(other), bindings, depth);
                                }
                            }
                        }
                    }
                }
                Val::Instance { class, args, .. } => {
                    for other in self.values.members(value) {
                        if let Val::Instance { class: same, args: other, .. } = other
                            && same == class
                        {
                            self.unify_lists(args, other, bindings, depth);
                        }
                    }
                }
                Val::Tuple(args) => {
                    for other in self.values.members(value) {
                        if let Val::Tuple(other) = other {
                            self.unify_lists(args, other, bindings, depth);
                        }
                    }
                }
                Val::Awaitable(inner) => {
                    for other in self.values.members(value) {
                        if let Val::Awaitable(other) = other {
                            self.unify_within(inner, other, bindings, depth);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn unify_lists(&self, patterns: ArgsId, values: ArgsId, bindings: &mut Bindings, depth: u32) {
        for (pattern, values) in self.values.list(patterns).into_iter().zip(self.values.list(values)) {
            self.unify_within(pattern, values, bindings, depth);
        }
    }

    /// Returns the method of a type that also has a field of this name.
    pub(crate) fn method_of_field_name(&self, class: ClassRef, name: Name, receiver: Val) -> Option<Typed> {
        let class_facts = self.program.class(class);
        if class_facts.kind == ClassKind::Interface {
            return None;
        }
        self.program.scope_var(class.file, class_facts.body, name)?;
        self.impls(class).into_iter().find_map(|block| {
            let body = self.program.class(block).body;
            let var = self.program.scope_var(block.file, body, name)?;
            Some(self.bound_member(block, var, receiver))
        })
    }

    /// Returns the method of a type that also has a field of this name, also behind pointers, because a call never
    /// means a field.
    pub(crate) fn method_through_pointers(&self, member: Val, name: Name, depth: u32) -> Option<Typed> {
        let depth = depth.checked_sub(1)?;
        let inner = match member {
            Val::Instance { class, .. } => match self.method_of_field_name(class, name, member) {
                Some(method) => return Some(method),
                None => self.deref_target(member)?,
            },
            Val::Library { ty, args, .. }
                if self.library.calls(self.library.member(ty, self.program.text(name))).is_empty() =>
            {
                self.transparent_inner(ty, args)?
            }
            _ => return None,
        };
        match self.values.members(inner.value)[..] {
            [inner] => self.method_through_pointers(inner, name, depth),
            _ => None,
        }
    }

    /// Returns the types of the type parameters of a type, or of one of its impl blocks, on a receiver.
    pub(crate) fn bindings(&self, owner: ClassRef, receiver: Val) -> Bindings {
        let mut bindings = Bindings::new();
        let (Val::Instance { args, .. } | Val::Library { args, .. }) = receiver else { return bindings };
        if args == ArgsId::NONE {
            return bindings;
        }
        let pattern = lang::rust::names::receiver(self, owner);
        self.unify(pattern.value, self.values.one(receiver), &mut bindings);
        bindings
    }

    /// Returns the declared result of a call with its type parameters inferred from the arguments.
    pub(crate) fn inferred_from_arguments(
        &self,
        result: Typed,
        body: BodyRef,
        site: SiteRef,
        env: EnvId,
        with_receiver: bool,
    ) -> Typed {
        if !self.has_param(result.value) {
            return result;
        }
        let scope = self.signature_scope(body);
        let mut bindings = Bindings::new();
        for (index, param) in self.program.params_of(body).iter().enumerate() {
            if param.annotation.is_none() {
                continue;
            }
            let declared = self.annotation(scope, param.annotation);
            if !self.has_param(declared.value) {
                continue;
            }
            let Some(form) = self.argument_for_param(site, body, index as u32, with_receiver) else { continue };
            let argument = self.eval(self.scope_of(site, env), form);
            let argument = self.as_value(argument);
            self.unify(declared.value, argument.value, &mut bindings);
        }
        self.substitute(result, &bindings)
    }

    /// Returns the instance that `T { a: x }` or `T(x)` makes, with its type parameters inferred from the fields.
    pub(crate) fn constructor_result(&self, class: ClassRef, site: SiteRef, env: EnvId) -> Typed {
        let args = self.own_params(class);
        let instance = self.known(Val::Instance { class, exact: true, args });
        if args == ArgsId::NONE {
            return instance;
        }
        let mut bindings = Bindings::new();
        for (index, arg) in self.program.args_of(site).iter().enumerate() {
            let name = match arg.name.get() {
                Some(name) => self.program.global(site.file, name),
                None => self.program.name(&index.to_string()),
            };
            let Some(name) = name else { continue };
            let declared = match self.values.members(instance.value)[..] {
                [val] => self.attr(val, name),
                _ => continue,
            };
            if self.has_param(declared.value) {
                let field = self.eval(self.scope_of(site, env), arg.value);
                let field = self.as_value(field);
                self.unify(declared.value, field.value, &mut bindings);
            }
        }
        self.substitute(instance, &bindings)
    }

    /// Returns the type that a generic alias (`type Result<T> = std::result::Result<T, Error>`) stands for with these
    /// arguments.
    pub(crate) fn generic_alias(&self, scope: Scope, class: ClassRef, args: &[ValueId]) -> Option<Typed> {
        let facts = self.program.facts(class.file);
        if facts.language != Language::Rust || self.program.class(class).kind != ClassKind::Alias {
            return None;
        }
        let mut bindings = Bindings::new();
        for (index, &arg) in args.iter().enumerate() {
            bindings.push((Val::Param { class, index: index as u32 }, arg));
        }
        Some(self.substitute(self.instance_of_class(scope, class), &bindings))
    }

    /// Returns a value with the names of unit structs (`struct Store;`) replaced by their only instance.
    pub(crate) fn as_value(&self, typed: Typed) -> Typed {
        let is_unit = |val: &Val| match *val {
            Val::Class(class) => {
                let facts = self.program.facts(class.file);
                let class_facts = self.program.class(class);
                facts.language == Language::Rust
                    && class_facts.kind == ClassKind::Class
                    && !facts.assigns.iter().any(|assign| facts.body_of(assign.at) == class_facts.body)
            }
            _ => false,
        };
        let members = self.values.members(typed.value);
        if !members.iter().any(is_unit) {
            return typed;
        }
        self.map(typed, |val| match val {
            Val::Class(class) if is_unit(&val) => {
                self.known(Val::Instance { class, exact: true, args: self.own_params(class) })
            }
            other => self.known(other),
        })
    }

    /// Returns the target of the `Deref` of a type of the project, written or derived.
    pub(crate) fn deref_target(&self, member: Val) -> Option<Typed> {
        let Val::Instance { class, .. } = member else { return None };
        let written = self.program.name("deref").and_then(|name| self.own_member(class, name));
        let Some((owner, var)) = written else { return self.derived_deref(class, member) };
        let body = *self.functions_of(owner, var).first()?;
        let target = self.returned(body, EnvId::NONE, Some(member));
        let is_itself = self.values.members(target.value).iter().any(|val| match *val {
            Val::Instance { class: target, .. } => target == class,
            _ => false,
        });
        (!is_itself && !self.values.is_unknown(target.value)).then_some(target)
    }

    /// Returns the value of an enum's variant by its name: an instance of the enum, or an associated item of that name.
    pub(crate) fn variant(&self, class: ClassRef, var: VarId) -> Typed {
        let facts = self.program.facts(class.file);
        let is_item = facts.assigns_of(var).any(|assignment| assignment.kind == AssignKind::Definition);
        if is_item {
            return self.var(Scope { file: class.file, at: At::default(), env: EnvId::NONE }, var);
        }
        self.known(Val::Instance { class, exact: true, args: self.own_params(class) })
    }

    /// True if an enum has a variant of this name with named fields: `Event::Moved { x, y }`.
    pub(crate) fn has_named_fields(&self, class: ClassRef, name: Name) -> bool {
        let facts = self.program.facts(class.file);
        facts.language == Language::Rust
            && self.program.class(class).kind == ClassKind::Enum
            && self.own_member(class, name).is_some_and(|(owner, var)| {
                owner == class
                    && facts
                        .assigns_of(var)
                        .any(|assignment| matches!(facts.form(assignment.annotation), Form::Pairs(_)))
            })
    }

    /// Returns the types of a named field in all variants of an enum.
    pub(crate) fn variant_field(&self, class: ClassRef, name: Name) -> Option<Typed> {
        let facts = self.program.facts(class.file);
        let class_facts = self.program.class(class);
        if class_facts.kind != ClassKind::Enum {
            return None;
        }
        let sym = self.program.local(class.file, name)?;
        let scope = lang::rust::names::head_scope(self, class);
        let mut parts = Vec::new();
        for assign in facts.assigns.iter().filter(|assign| facts.body_of(assign.at) == class_facts.body) {
            let Form::Pairs(list) = facts.form(assign.annotation) else { continue };
            for pair in facts.list(list).chunks(2) {
                if let [key, ty] = *pair
                    && facts.form(key) == Form::Str(sym)
                {
                    parts.push(self.annotation(scope, ty));
                }
            }
        }
        (!parts.is_empty()).then(|| self.join(&parts))
    }

    /// Returns the value in a tuple struct's pattern: the only field, or for several fields the value itself, whose
    /// parts are looked up next.
    pub(crate) fn tuple_struct_payload(&self, member: Val, name: Name) -> Option<Typed> {
        // `State(pool): State<PgPool>`: the pattern of a library's newtype.
        if let Val::Library { ty, args, .. } = member
            && self.library.language(ty) == Language::Rust
            && self.library.text(ty).rsplit("::").next() == Some(self.program.text(name))
        {
            return self.transparent_inner(ty, args);
        }
        let Val::Instance { class, .. } = member else { return None };
        let facts = self.program.facts(class.file);
        let class_facts = self.program.class(class);
        let text = self.program.text(name);
        if facts.language != Language::Rust || class_facts.kind == ClassKind::Enum {
            return None;
        }
        if facts.text(class_facts.name) != text && text != "Self" {
            return None;
        }
        let first_field = self.program.name("0")?;
        let several = self.program.name("1").is_some_and(|second| self.own_member(class, second).is_some());
        if several { Some(self.known(member)) } else { Some(self.attr(member, first_field)) }
    }

    /// Returns the type of several bounds (`T: Store + Send`): the traits of the project, if there are any, because
    /// only these have bodies.
    pub(crate) fn join_bounds(&self, parts: &[Typed]) -> Typed {
        let project_bounds: Vec<Typed> = parts
            .iter()
            .copied()
            .filter(|part| self.values.members(part.value).iter().any(|val| matches!(val, Val::Instance { .. })))
            .collect();
        let known_bounds: Vec<Typed> =
            parts.iter().copied().filter(|part| !self.values.is_unknown(part.value)).collect();
        match (project_bounds.as_slice(), known_bounds.as_slice()) {
            ([], []) => self.unknown(Why::Expression),
            ([], known_bounds) => self.join(known_bounds),
            (project_bounds, _) => self.join(project_bounds),
        }
    }

    /// Returns the type of `Self` in an annotation.
    pub(crate) fn self_type(&self, scope: Scope, form: FormId, receiver: Option<Val>) -> Option<Typed> {
        let facts = self.program.facts(scope.file);
        if facts.language != Language::Rust {
            return None;
        }
        let Form::Name(sym) = facts.form(form) else { return None };
        if facts.text(sym) != "Self" {
            return None;
        }
        if let Some(receiver @ (Val::Instance { .. } | Val::Library { .. })) = receiver {
            return Some(self.known(receiver));
        }
        let body = facts.regions.get(scope.at.region.index()).map_or(BodyId(0), |region| region.body);
        let class = lang::rust::names::enclosing_class(self, scope.file, body)?;
        Some(match receiver {
            // A trait's method that is called by the path of an implementing type: `Disk::load()`.
            Some(Val::Class(implementor)) => {
                self.known(Val::Instance { class: implementor, exact: false, args: self.own_params(implementor) })
            }
            _ => lang::rust::names::receiver(self, class),
        })
    }
}
