//! Declared types: the values of type annotations in code and of type expressions in models.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{At, BodyId, ClassId, ClassKind, DisplayKind, Form, FormId, ImportKind, Sym};
use blocklint_models::TypeExpr;

use crate::classes::hierarchy::Ancestor;
use crate::lang::python::builtins::SpecialForm;
use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, FileId, PathId, SiteRef};
use crate::values::expr::Scope;
use crate::values::value::{ArgsId, EnvId, Val, ValueId, Why};

/// How deep an annotation is searched for the name of a type.
const MAX_NAME_DEPTH: u32 = 6;

/// How deep the nested type arguments and aliases of an annotation are read.
const MAX_TYPE_DEPTH: u32 = 16;

impl<'a> Linker<'a> {
    /// True if an annotation contains a type with this last name, also as an alternative or in `Optional`.
    pub fn names_type(&self, file: FileId, annotation: FormId, sym: Sym) -> bool {
        self.names_type_within(file, annotation, sym, MAX_NAME_DEPTH)
    }

    fn names_type_within(&self, file: FileId, annotation: FormId, sym: Sym, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        if annotation.is_none() {
            return false;
        }
        let facts = self.program.facts(file);
        let inner = |form| self.names_type_within(file, form, sym, depth);
        match facts.form(annotation) {
            Form::Var(var) => facts.var(var).name == sym,
            Form::Name(name) | Form::Attr(_, name) | Form::Path(_, name) => name == sym,
            Form::Subscript(base, index) => inner(base) || inner(index),
            Form::Join(list) | Form::Display(_, list) | Form::Alt(_, list) => {
                facts.list(list).iter().any(|&part| inner(part))
            }
            Form::Bound(form) => inner(form),
            _ => false,
        }
    }

    /// Returns an instance of the type of an annotation; unknown if the annotation is no known type.
    pub fn annotation(&self, scope: Scope, form: FormId) -> Typed {
        match self.program.facts(scope.file).form(form) {
            // The computation is cheaper than the lookup of its answer.
            Form::None | Form::Other => self.annotation_within(scope, form, None, MAX_TYPE_DEPTH),
            _ => self.query_value(&self.tables.values.annotations, (scope.file, form, scope.at.region), || {
                self.annotation_within(scope, form, None, MAX_TYPE_DEPTH)
            }),
        }
    }

    /// Returns an instance of the type of an annotation, where `Self` is the type of the receiver.
    pub(crate) fn annotation_with_self(&self, scope: Scope, form: FormId, receiver: Option<Val>) -> Typed {
        self.annotation_within(scope, form, receiver, MAX_TYPE_DEPTH)
    }

    fn annotation_within(&self, scope: Scope, form: FormId, receiver: Option<Val>, depth: u32) -> Typed {
        let Some(depth) = depth.checked_sub(1) else { return self.unknown(Why::Bound) };
        let facts = self.program.facts(scope.file);
        let read = |form: FormId| self.annotation_within(scope, form, receiver, depth);
        if let Some(own) = self.self_type(scope, form, receiver) {
            return own;
        }
        match facts.form(form) {
            Form::None => self.known(Val::None),
            Form::Join(list) => {
                let parts: Vec<Typed> = facts.list(list).iter().map(|&part| read(part)).collect();
                self.without_unknown(&parts)
            }
            Form::Bound(inner) => read(inner),
            Form::Subscript(base, index) => {
                let base = self.eval(Scope { env: EnvId::NONE, ..scope }, base);
                let arguments = self.type_arguments(scope.file, index);
                self.map(base, |val| match val {
                    Val::External(path) => self.generic_instance(scope, path, &arguments, receiver, depth),
                    Val::Class(class) => {
                        let args: Vec<ValueId> = arguments.iter().map(|&arg| read(arg).value).collect();
                        if let Some(aliased) = self.generic_alias(scope, class, &args) {
                            return aliased;
                        }
                        self.known(Val::Instance { class, exact: false, args: self.values.args(&args) })
                    }
                    Val::Unknown(why) => self.unknown(why),
                    _ => self.unknown(Why::Expression),
                })
            }
            Form::Var(_) | Form::Name(_) | Form::Attr(..) | Form::Path(..) | Form::This | Form::Class(_) => {
                if let Some((file, target)) = self.alias_behind(scope.file, form) {
                    let scope = Scope { file, at: At::default(), env: EnvId::NONE };
                    return self.annotation_within(scope, target, receiver, depth);
                }
                if let Form::Name(sym) = facts.form(form)
                    && let Some(argument) =
                        lang::semantics(facts.language).type_parameter(self, scope, sym, receiver, depth)
                {
                    return argument;
                }
                let named = self.eval(Scope { env: EnvId::NONE, ..scope }, form);
                self.map(named, |val| self.instance_of(scope, val, receiver))
            }
            Form::Display(kind, list) => {
                let parts: Vec<Typed> = facts.list(list).iter().map(|&part| read(part)).collect();
                lang::semantics(facts.language).displayed_type(self, kind, &parts)
            }
            // Trait bounds: `A + B`.
            Form::Alt(_, list) if facts.language == Language::Rust => {
                let parts: Vec<Typed> = facts.list(list).iter().map(|&part| read(part)).collect();
                self.join_bounds(&parts)
            }
            // `NewType("Path", str)`.
            Form::Result(site) => {
                let site_facts = facts.site(site);
                if facts.text(site_facts.name) == "NewType"
                    && let [_, base] = facts.args_of(site)[..]
                {
                    return read(base.value);
                }
                self.unknown(Why::Expression)
            }
            _ => self.unknown(Why::Expression),
        }
    }

    /// Returns the value of a type parameter of a class around the scope: its argument in the receiver's type, else its
    /// bound.
    pub(crate) fn type_parameter(&self, scope: Scope, sym: Sym, receiver: Option<Val>, depth: u32) -> Option<Typed> {
        let facts = self.program.facts(scope.file);
        let mut body = Some(self.body_at(scope));
        while let Some(id) = body {
            let class = facts.classes.iter().position(|class| class.body == id);
            let class = class.map(|index| ClassId(index as u32));
            let params = class.map_or(&[][..], |class| facts.list(facts.class(class).type_params));
            let param = params.iter().enumerate().find_map(|(index, &param)| match facts.form(param) {
                Form::Str(name) if name == sym => Some((index, None)),
                Form::Cast(name, bound) if facts.form(name) == Form::Str(sym) => Some((index, Some(bound))),
                _ => None,
            });
            if let (Some(class), Some((index, bound))) = (class, param) {
                let owner = scope.file.class_ref(class);
                if let Some(value) = receiver.and_then(|val| self.type_argument_at(val, owner, index, 6)) {
                    return Some(Typed { value, inferred_steps: 0 });
                }
                return Some(match bound {
                    Some(bound) => self.annotation_within(scope, bound, None, depth),
                    None => self.unknown(Why::Parameter),
                });
            }
            body = facts.body(id).parent.get();
        }
        None
    }

    /// Returns the n-th type argument of a value as an instance of a base class, through the bases of its own class.
    fn type_argument_at(&self, val: Val, owner: ClassRef, index: usize, depth: u32) -> Option<ValueId> {
        let depth = depth.checked_sub(1)?;
        let Val::Instance { class, args, .. } = val else { return None };
        if class == owner {
            let value = self.values.nth(args, index)?;
            return (!self.values.is_unknown(value)).then_some(value);
        }
        let facts = self.program.facts(class.file);
        let class_facts = self.program.class(class);
        if args == ArgsId::NONE || class_facts.type_params.is_empty() {
            return self.bases(class).iter().find_map(|&base| self.type_argument_at(base, owner, index, depth));
        }
        // `class Middle<R> extends Base<R>` passes its own arguments to its base.
        let at = At { region: facts.body(class_facts.body).region, position: u32::MAX };
        let scope = Scope { file: class.file, at, env: EnvId::NONE };
        facts.list(class_facts.bases).iter().find_map(|&base| {
            let typed = self.annotation_with_self(scope, base, Some(val));
            let bases = self.values.members(typed.value);
            bases.iter().find_map(|&base| self.type_argument_at(base, owner, index, depth))
        })
    }

    /// Returns the type argument for a named parameter of a library's type or of one of its supertypes.
    fn type_argument_named(&self, ty: PathId, args: ArgsId, name: &str) -> Option<ValueId> {
        let types = self.library.supertypes(ty);
        let mut indices = types.iter().map(|&ty| self.library.ty(ty)?.params().iter().position(|param| param == name));
        self.values.nth(args, indices.find_map(|index| index)?)
    }

    /// Returns an array of an element; unknown if the element is unknown (Java).
    pub(crate) fn array_of(&self, element: Typed) -> Typed {
        if self.values.is_unknown(element.value) {
            return element;
        }
        let ty = self.library.path(Language::Java, lang::java::names::ARRAY);
        let args = self.values.args(&[element.value]);
        Typed { value: self.values.one(Val::Library { ty, args, made: None }), inferred_steps: element.inferred_steps }
    }

    /// Returns an instance of the tuple type `(A, B)` or the slice type `[T]` (Rust).
    pub(crate) fn rust_display(&self, kind: DisplayKind, parts: &[Typed]) -> Typed {
        let values: Vec<ValueId> = parts.iter().map(|part| part.value).collect();
        let args = self.values.args(&values);
        if kind == DisplayKind::Tuple {
            return self.known(Val::Tuple(args));
        }
        match lang::words_of(Language::Rust).literal_type(lang::words::Literal::List) {
            Some(list) => {
                let ty = self.library.path(Language::Rust, list);
                self.known(Val::Library { ty, args, made: None })
            }
            None => self.unknown(Why::Expression),
        }
    }

    /// Returns an instance of a class, or of the type behind a type alias.
    pub(crate) fn instance_of_class(&self, scope: Scope, class: ClassRef) -> Typed {
        self.instance_of(scope, Val::Class(class), None)
    }

    /// Returns an instance of the type that a name refers to.
    fn instance_of(&self, scope: Scope, val: Val, receiver: Option<Val>) -> Typed {
        match val {
            Val::Class(class) => {
                let facts = self.program.facts(class.file);
                let class_facts = self.program.class(class);
                if class_facts.kind == ClassKind::Alias {
                    let owner = match facts.language {
                        Language::Rust => class_facts.body,
                        Language::Python | Language::Java => class_facts.parent.get().unwrap_or(BodyId(0)),
                    };
                    let region = facts.body(owner).region;
                    let scope = Scope { file: class.file, at: At { region, position: u32::MAX }, env: EnvId::NONE };
                    let find = || self.annotation_with_self(scope, class_facts.subject, receiver);
                    return self.query_value(&self.tables.values.aliases, class, find);
                }
                self.known(Val::Instance { class, exact: false, args: ArgsId::NONE })
            }
            Val::External(path) => {
                let text = self.library.text(path);
                match lang::python::builtins::special_form(&text)
                    .filter(|_| self.library.language(path) == Language::Python)
                {
                    Some(SpecialForm::SelfType) => match receiver {
                        Some(Val::Instance { .. } | Val::Library { .. }) => {
                            self.known(receiver.unwrap_or(Val::Unknown(Why::Expression)))
                        }
                        _ => match self.class_around(scope.file.body_ref(self.body_at(scope))) {
                            Some(class) => self.known(Val::Instance { class, exact: false, args: ArgsId::NONE }),
                            None => self.unknown(Why::Expression),
                        },
                    },
                    Some(_) => self.unknown(Why::Expression),
                    None => {
                        let ty = lang::python::builtins::generic_alias(&text)
                            .map_or(path, |alias| self.library.path(Language::Python, alias));
                        self.known(Val::Library { ty, args: ArgsId::NONE, made: None })
                    }
                }
            }
            Val::Library { .. } | Val::Instance { .. } | Val::Param { .. }
                if self.program.language(scope.file) != Language::Python =>
            {
                self.known(val)
            }
            Val::Unknown(why) => self.unknown(why),
            _ => self.unknown(Why::Expression),
        }
    }

    /// Returns the innermost body around a scope.
    pub(crate) fn body_at(&self, scope: Scope) -> BodyId {
        let facts = self.program.facts(scope.file);
        facts.regions.get(scope.at.region.index()).map_or(BodyId(0), |region| region.body)
    }

    /// Returns an instance of a generic library type with its type arguments.
    fn generic_instance(
        &self,
        scope: Scope,
        path: PathId,
        arguments: &[FormId],
        receiver: Option<Val>,
        depth: u32,
    ) -> Typed {
        let read = |form: FormId| self.annotation_within(scope, form, receiver, depth);
        let text = self.library.text(path);
        let first_argument = || arguments.first().map_or_else(|| self.unknown(Why::Expression), |&form| read(form));
        if self.library.language(path) == Language::Python {
            match lang::python::builtins::special_form(&text) {
                Some(SpecialForm::Optional) => return self.join(&[first_argument(), self.known(Val::None)]),
                Some(SpecialForm::Union) => {
                    let parts: Vec<Typed> = arguments.iter().map(|&form| read(form)).collect();
                    return self.without_unknown(&parts);
                }
                Some(SpecialForm::Annotated) => {
                    let declared = first_argument();
                    if !self.values.is_unknown(declared.value) {
                        return declared;
                    }
                    // `Annotated[Any, Depends(f)]`: the metadata contains the passed value.
                    let parts: Vec<Typed> = arguments.iter().skip(1).map(|&form| self.eval(scope, form)).collect();
                    return self.join(&parts);
                }
                Some(SpecialForm::Wrapper) => return first_argument(),
                Some(SpecialForm::TypeOf) => {
                    return self.map(first_argument(), |val| match val {
                        Val::Instance { class, .. } => self.known(Val::Class(class)),
                        Val::Library { ty, .. } => self.known(Val::External(ty)),
                        _ => self.unknown(Why::Expression),
                    });
                }
                Some(SpecialForm::SelfType | SpecialForm::Nothing) if &*text == "builtins.type" => {
                    return self.map(first_argument(), |val| match val {
                        Val::Instance { class, .. } => self.known(Val::Class(class)),
                        Val::Library { ty, .. } => self.known(Val::External(ty)),
                        _ => self.unknown(Why::Expression),
                    });
                }
                Some(SpecialForm::SelfType | SpecialForm::Nothing) => return self.unknown(Why::Expression),
                None => {}
            }
            if let Some(position) = lang::python::builtins::awaitable_argument(&text) {
                let value = arguments.get(position).map_or_else(|| self.unknown(Why::Expression), |&form| read(form));
                return self.known(Val::Awaitable(value.value));
            }
        }
        let mut args: Vec<ValueId> = Vec::new();
        for &form in arguments.iter().take(8) {
            let facts = self.program.facts(scope.file);
            // `Iterator<Item = Store>`: at the index of this name in the model's parameters, else after the others.
            let (index, form) = match facts.form(form) {
                Form::Pairs(list) if facts.language == Language::Rust => match facts.list(list)[..] {
                    [key, value] => {
                        let params = self.library.ty(path).map_or(&[][..], |rows| rows.params());
                        let index = match facts.form(key) {
                            Form::Str(name) => params.iter().position(|param| param == facts.text(name)),
                            _ => None,
                        };
                        (index, value)
                    }
                    _ => (None, form),
                },
                _ => (None, form),
            };
            let value = read(form).value;
            match index {
                Some(index) if index >= args.len() => {
                    args.resize(index, self.unknown(Why::Expression).value);
                    args.push(value);
                }
                Some(index) => args[index] = value,
                None => args.push(value),
            }
        }
        if matches!(&*text, "typing.Tuple" | "builtins.tuple") {
            let facts = self.program.facts(scope.file);
            if !arguments.iter().any(|&form| facts.form(form) == Form::Ellipsis) {
                return self.known(Val::Tuple(self.values.args(&args)));
            }
        }
        let ty = lang::python::builtins::generic_alias(&text)
            .filter(|_| self.library.language(path) == Language::Python)
            .map_or(path, |alias| self.library.path(Language::Python, alias));
        self.known(Val::Library { ty, args: self.values.args(&args), made: None })
    }

    /// Returns the type arguments of a subscripted type: `A`, `B` of `Map[A, B]`.
    fn type_arguments(&self, file: FileId, index: FormId) -> Vec<FormId> {
        let facts = self.program.facts(file);
        match facts.form(index) {
            Form::Display(DisplayKind::Tuple, list) => facts.list(list).to_vec(),
            _ => vec![index],
        }
    }

    /// Returns the union of the known types; unknown only if all of them are.
    fn without_unknown(&self, parts: &[Typed]) -> Typed {
        let known: Vec<Typed> = parts.iter().copied().filter(|part| !self.values.is_unknown(part.value)).collect();
        if known.is_empty() { self.unknown(Why::Expression) } else { self.join(&known) }
    }

    /// Returns the file and right side of the alias that a name refers to: `Alias = Optional[Store]` (Python).
    fn alias_behind(&self, file: FileId, form: FormId) -> Option<(FileId, FormId)> {
        if self.program.language(file) != Language::Python {
            return None;
        }
        let Form::Var(local) = self.program.facts(file).form(form) else { return None };
        let mut var = file.var_ref(local);
        for _ in 0..8 {
            let facts = self.program.facts(var.file);
            let row = self.program.assigns_of(var).next()?;
            let Form::Import(import) = facts.form(row.value) else {
                return lang::python::names::alias_target(self, var).map(|target| (var.file, target));
            };
            let import = facts.import(import);
            if import.kind != ImportKind::Name {
                return None;
            }
            let Val::Module(other) = lang::python::names::module_named(self, var.file, &import) else { return None };
            let name = self.program.global(var.file, import.name)?;
            var = other.var_ref(self.program.scope_var(other, BodyId(0), name)?);
        }
        None
    }

    /// Returns the value of a model's type expression. `receiver` and `call` are the call whose result it describes.
    pub(crate) fn type_value(&self, expr: &TypeExpr, receiver: Val, call: Option<(SiteRef, EnvId)>) -> Typed {
        match expr {
            TypeExpr::Path { path, arguments } => {
                let language = self.language_of(receiver, call);
                if language == Language::Python
                    && let Some(index) = lang::python::builtins::awaitable_argument(path)
                {
                    let value = arguments
                        .get(index)
                        .map_or_else(|| self.unknown(Why::Result), |arg| self.type_value(arg, receiver, call));
                    return self.known(Val::Awaitable(value.value));
                }
                let ty = self.library.path(language, path);
                let args: Vec<ValueId> =
                    arguments.iter().map(|arg| self.type_value(arg, receiver, call).value).collect();
                let made = call.map(|(site, _)| site).filter(|_| self.library.makes_state(ty));
                self.known(Val::Library { ty, args: self.values.args(&args), made })
            }
            TypeExpr::SelfType(arguments) => {
                let args: Vec<ValueId> =
                    arguments.iter().map(|arg| self.type_value(arg, receiver, call).value).collect();
                self.known(match receiver {
                    Val::Library { ty, args: own, made } => {
                        let args = if args.is_empty() { own } else { self.values.args(&args) };
                        Val::Library { ty, args, made }
                    }
                    Val::External(ty) => Val::Library { ty, args: self.values.args(&args), made: None },
                    Val::Class(class) => Val::Instance { class, exact: true, args: ArgsId::NONE },
                    other => other,
                })
            }
            TypeExpr::Parameter(name) => match receiver {
                Val::Library { ty, args, .. } => match self.type_argument_named(ty, args, name) {
                    Some(value) => Typed { value, inferred_steps: 0 },
                    None => self.unknown(Why::Result),
                },
                // `interface Users extends ReactiveCrudRepository<User, Long>`
                Val::Instance { class, .. } if self.program.language(class.file) == Language::Java => {
                    let argument = self.mro(class).iter().find_map(|ancestor| match *ancestor {
                        Ancestor::Library(ty, args) => self.type_argument_named(ty, args, name),
                        _ => None,
                    });
                    argument.map_or_else(|| self.unknown(Why::Result), |value| Typed { value, inferred_steps: 0 })
                }
                // A lazy stream has one type parameter, its element.
                Val::Lazy { element, .. } => Typed { value: element, inferred_steps: 0 },
                _ => self.unknown(Why::Result),
            },
            TypeExpr::Literal(_) => self.unknown(Why::Expression),
            TypeExpr::Argument(argument) => match call {
                Some((site, env)) => match self.argument(site, argument) {
                    Some(form) => {
                        let value = self.eval(self.scope_of(site, env), form);
                        self.as_value(value)
                    }
                    None => self.unknown(Why::Result),
                },
                None => self.unknown(Why::Result),
            },
            TypeExpr::Result(inner) => {
                let inner_value = self.type_value(inner, receiver, call);
                self.map(inner_value, |val| self.result_of_callable(val, false))
            }
            TypeExpr::Yield(inner) => {
                let inner_value = self.type_value(inner, receiver, call);
                self.map(inner_value, |val| self.result_of_callable(val, true))
            }
            TypeExpr::Element(inner) => {
                let inner_value = self.type_value(inner, receiver, call);
                self.map(inner_value, |val| self.element(val))
            }
            TypeExpr::Instance(inner) => {
                let literal = self.class_literal(inner, call);
                let exact = literal.is_none();
                let inner_value = literal.unwrap_or_else(|| self.type_value(inner, receiver, call));
                self.map(inner_value, |val| match val {
                    Val::Class(class) => self.known(Val::Instance { class, exact, args: ArgsId::NONE }),
                    // The value of a declared type is an instance already.
                    Val::Instance { .. } | Val::Library { .. } if !exact => self.known(val),
                    Val::External(ty) => self.known(Val::Library { ty, args: ArgsId::NONE, made: None }),
                    _ => self.unknown(Why::Result),
                })
            }
            TypeExpr::Union(parts) => {
                let parts: Vec<Typed> = parts.iter().map(|part| self.type_value(part, receiver, call)).collect();
                self.join(&parts)
            }
            TypeExpr::Tuple(parts) => {
                let parts: Vec<ValueId> =
                    parts.iter().map(|part| self.type_value(part, receiver, call).value).collect();
                self.known(Val::Tuple(self.values.args(&parts)))
            }
            TypeExpr::Array(inner) => self.array_of(self.type_value(inner, receiver, call)),
            TypeExpr::None => self.known(Val::None),
        }
    }

    /// Returns an instance of the class of an argument `X.class` (Java).
    fn class_literal(&self, expr: &TypeExpr, call: Option<(SiteRef, EnvId)>) -> Option<Typed> {
        let (TypeExpr::Argument(argument), Some((site, env))) = (expr, call) else { return None };
        let facts = self.program.facts(site.file);
        match facts.form(self.argument(site, argument)?) {
            Form::Attr(class, name)
                if facts.language == Language::Java && facts.text(name) == lang::java::names::CLASS_LITERAL =>
            {
                Some(self.annotation(self.scope_of(site, env), class))
            }
            _ => None,
        }
    }

    /// Returns the language of a receiver or call.
    fn language_of(&self, receiver: Val, call: Option<(SiteRef, EnvId)>) -> Language {
        match (receiver, call) {
            (Val::Library { ty, .. }, _) => self.library.language(ty),
            (Val::External(path) | Val::Method { path, .. }, _) => self.library.language(path),
            (_, Some((site, _))) => self.program.language(site.file),
            (Val::Instance { class, .. } | Val::Class(class), None) => self.program.language(class.file),
            _ => Language::Python,
        }
    }

    /// Returns the result of a call of a value after awaiting it. With `yields`, it returns the elements of a generator
    /// function.
    pub(crate) fn result_of_callable(&self, val: Val, yields: bool) -> Typed {
        match val {
            Val::Fn { body, env, receiver } => {
                let receiver = Some(self.values.single(receiver));
                let result = self.value_of_call(body, env, receiver);
                self.map(result, |result| match result {
                    Val::Coroutine { .. } | Val::Awaitable(_) => self.awaited(result),
                    Val::Iter { body, env } if yields => self.yielded(body, env),
                    other => self.known(other),
                })
            }
            // The coroutine exists already: `create_task(f())`.
            Val::Coroutine { .. } | Val::Awaitable(_) => self.awaited(val),
            Val::Class(class) => self.known(Val::Instance { class, exact: true, args: ArgsId::NONE }),
            Val::External(ty) if self.library.is_type(ty) => {
                self.known(Val::Library { ty, args: ArgsId::NONE, made: None })
            }
            Val::Instance { .. } => {
                let Some(name) = self.program.name("__call__") else { return self.unknown(Why::Result) };
                let call = self.attr(val, name);
                self.map(call, |call| match call {
                    Val::Fn { .. } => self.result_of_callable(call, yields),
                    _ => self.unknown(Why::Result),
                })
            }
            Val::Library { ty, .. } => {
                self.unconditional_result(ty, "__call__", val).unwrap_or_else(|| self.unknown(Why::Result))
            }
            _ => self.unknown(Why::Result),
        }
    }
}
