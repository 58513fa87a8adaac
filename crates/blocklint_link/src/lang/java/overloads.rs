//! Java: overload resolution: the method, model row or override that a call selects by the number and types of its
//! arguments.

use crate::lang;
use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{At, BodyFlags, BodyKind, Form, FormId, Param, ParamKind};
use blocklint_models::{CallRows, HandoverRows, Selector};

use crate::calls::targets::Target;
use crate::classes::hierarchy::Ancestor;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, Name, PathId, SiteRef};
use crate::values::value::{EnvId, Val, ValueId};

/// The number of inferred steps to a method reference whose overload is unknown.
const STEPS_TO_UNKNOWN_OVERLOAD: u8 = 2;

/// How an argument fits a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The argument is of another type.
    Never,
    /// The argument may be of the parameter's type.
    Open,
    /// The argument is exactly of the parameter's type.
    Exact,
}

/// The separator in a string of type names: those of a type and its supertypes.
const NAME_SEPARATOR: char = '|';

impl<'a> Linker<'a> {
    /// Returns the rows of a path that fit the arguments of a call, because rows may describe one overload only.
    pub fn rows_for_call(&self, path: PathId, site: SiteRef) -> Rc<CallRows<'a>> {
        let rows = self.library.calls(path);
        if self.program.language(site.file) != Language::Java {
            return rows;
        }
        let rows = if is_object_method(&self.library.text(path)) { without_globs(rows) } else { rows };
        if !rows.iter().any(|row| row.path.ends_with(')')) {
            return rows;
        }
        let types: Vec<Option<Rc<str>>> =
            self.program.args_of(site).iter().map(|arg| self.type_names(site, arg.value)).collect();
        let types: Vec<Option<&str>> = types.iter().map(Option::as_deref).collect();
        let mut rows = (*rows).clone();
        rows.fit_parameters(&types, has_type_name);
        Rc::new(rows)
    }

    /// Returns the `[[handover]]` rows of a path that fit the arguments of a site.
    pub(crate) fn handovers_for_call(&self, path: PathId, site: SiteRef) -> Rc<HandoverRows<'a>> {
        let rows = self.library.handovers(path);
        if self.program.language(site.file) != Language::Java || !rows.iter().any(|row| row.path.ends_with(')')) {
            return rows;
        }
        let args = self.program.args_of(site);
        let types: Vec<Option<Rc<str>>> = args.iter().map(|arg| self.type_names(site, arg.value)).collect();
        let types: Vec<Option<&str>> = types.iter().map(Option::as_deref).collect();
        let mut rows = (*rows).clone();
        rows.fit_arguments(&types, has_type_name);
        Rc::new(rows)
    }

    /// Returns the names of an argument's type and its supertypes, joined by `|`; `None` if the type is unknown.
    fn type_names(&self, site: SiteRef, form: FormId) -> Option<Rc<str>> {
        let facts = self.program.facts(site.file);
        let literal = match facts.form(form) {
            Form::Int(_) => Some("int"),
            Form::Float(_) => Some("double"),
            Form::Bool(_) | Form::Not(_) | Form::Compare(..) => Some("boolean"),
            Form::Str(_) => Some("java.lang.String"),
            _ => None,
        };
        if let Some(literal) = literal {
            return Some(Rc::from(literal));
        }
        let typed = self.eval(self.scope_of(site, EnvId::NONE), form);
        let [val] = self.values.members(typed.value)[..] else { return None };
        self.type_names_of(val)
    }

    fn type_names_of(&self, val: Val) -> Option<Rc<str>> {
        self.query(&self.tables.java.type_names, val, Option::default, || self.find_type_names(val).map(Rc::from))
    }

    fn find_type_names(&self, val: Val) -> Option<String> {
        let mut names: Vec<String> = Vec::new();
        match val {
            Val::Library { ty, args, .. } if self.is_array(ty) => {
                let element = self.values.members(self.values.nth(args, 0)?);
                let [element] = element[..] else { return None };
                names.push(format!("{}[]", self.type_name_of(element)?));
                names.push(lang::java::names::ARRAY.to_owned());
            }
            Val::Library { ty, .. } => {
                names.extend(self.library.supertypes(ty).iter().map(|&ty| self.library.text(ty).to_string()));
            }
            Val::Instance { class, .. } => {
                for ancestor in self.mro(class).iter() {
                    match *ancestor {
                        Ancestor::Class(class) => names.push(self.qualified_class(class)),
                        Ancestor::Library(ty, _) => {
                            names.extend(
                                self.library.supertypes(ty).iter().map(|&ty| self.library.text(ty).to_string()),
                            );
                        }
                        Ancestor::Unknown => return None,
                    }
                }
            }
            _ => return None,
        }
        Some(names.join(&NAME_SEPARATOR.to_string()))
    }

    /// Returns the overloads that fit the arguments of a call; all overloads, if none fits.
    pub(crate) fn fitting_overloads(&self, bodies: Vec<BodyRef>, site: SiteRef) -> Vec<BodyRef> {
        let facts = self.program.facts(site.file);
        let count = self.program.args_of(site).len();
        if bodies.len() < 2 {
            return bodies;
        }
        let same_arity: Vec<BodyRef> =
            bodies.iter().copied().filter(|&body| self.takes_argument_count(body, count)).collect();
        if same_arity.len() < 2 {
            return if same_arity.is_empty() { bodies } else { same_arity };
        }
        // A parameter with the same type in all overloads does not select one.
        let differs = |index: usize| {
            let mut declared = same_arity.iter().map(|&body| {
                let params = self.program.params_of(body);
                params.get(index).map(|param| self.annotation(self.signature_scope(body), param.annotation).value)
            });
            let declared_type = declared.next();
            declared.any(|other| Some(other) != declared_type)
        };
        let types: Vec<Option<Rc<str>>> = self
            .program
            .args_of(site)
            .iter()
            .enumerate()
            .map(|(index, arg)| if differs(index) { self.type_names(site, arg.value) } else { None })
            .collect();
        let lambdas: Vec<bool> =
            self.program.args_of(site).iter().map(|arg| is_callable(facts.form(arg.value))).collect();
        let fit: Vec<BodyRef> =
            same_arity.iter().copied().filter(|&body| self.takes_types(body, &types, &lambdas)).collect();
        let fit = if fit.is_empty() { same_arity } else { fit };
        // An overload whose parameters have exactly the types of the arguments wins over one with wider types.
        let exact: Vec<usize> = fit.iter().map(|&body| self.count_exact_arguments(body, &types)).collect();
        let max_exact = exact.iter().copied().max().unwrap_or_default();
        fit.into_iter().zip(exact).filter(|&(_, count)| count == max_exact).map(|(body, _)| body).collect()
    }

    /// True if a call of a base class's method may run this override of a derived class. In Java the arguments of the
    /// call must fit the override.
    pub fn may_run_override(&self, class: ClassRef, name: Name, body: BodyRef, site: SiteRef) -> bool {
        let override_list = self.overrides(class, name);
        let Ok(index) = override_list.binary_search(&body) else { return false };
        match self.program.language(body.file) {
            Language::Java => {}
            Language::Rust => return self.allows_trait_arguments(class, body, site),
            Language::Python => return true,
        }
        let find = || self.fits_override(class, body, site, &override_list[..], index);
        self.query(&self.tables.java.override_targets, (site, body), bool::default, find)
    }

    /// True if a call may run one of several methods that have code.
    pub fn may_run_several(&self, site: SiteRef) -> bool {
        if self.program.language(site.file) != Language::Java {
            return false;
        }
        self.query(&self.tables.java.several_targets, site, bool::default, || {
            let targets = self.targets(site, EnvId::NONE);
            let bodies = targets.list.iter().map(|target| match *target {
                Target::Body { body, .. } => usize::from(!self.is_stub(body)),
                Target::Row { .. } => 1,
                Target::Overrides { class, name } => {
                    let override_list = self.overrides(class, name);
                    let is_meant =
                        |body: BodyRef| !self.is_stub(body) && self.may_run_override(class, name, body, site);
                    override_list.iter().filter(|&&body| is_meant(body)).take(2).count()
                }
            });
            bodies.sum::<usize>() > 1
        })
    }

    /// True if a call may run the override at an index of all overrides.
    fn fits_override(
        &self,
        class: ClassRef,
        body: BodyRef,
        site: SiteRef,
        overrides: &[BodyRef],
        index: usize,
    ) -> bool {
        if !self.may_run_in_one_program(site.file, body.file) || self.proxy_context(body, site).is_some() {
            return false;
        }
        if !self.takes_argument_count(body, self.program.args_of(site).len()) {
            return false;
        }
        if self.is_excluded_by_overridden_caller(site, body) || self.has_other_type_arguments(class, site, body) {
            return false;
        }
        let class_of_override = self.program.body(body).class;
        // The overrides are sorted, so those of one class are neighbours.
        let is_sibling =
            |other: &&BodyRef| other.file == body.file && self.program.body(**other).class == class_of_override;
        let before = overrides[..index].iter().rev().take_while(is_sibling);
        let siblings: Vec<BodyRef> = before.chain(overrides[index..].iter().take_while(is_sibling)).copied().collect();
        self.fitting_overloads(siblings, site).contains(&body)
    }

    /// True if a call's receiver is declared with another type argument than a subclass passes to its base:
    /// `Check<Event> check; check.run(e)` never means a method of `class Other extends Check<Setting>`.
    fn has_other_type_arguments(&self, class: ClassRef, site: SiteRef, body: BodyRef) -> bool {
        let Some(receiver) = self.receiver_form(site) else { return false };
        let typed = self.eval(self.scope_of(site, EnvId::NONE), receiver);
        let [Val::Instance { class: declared, args, .. }] = self.values.members(typed.value)[..] else { return false };
        let Some(wanted) = self.values.nth(args, 0).and_then(|value| self.only_class(value)) else { return false };
        let facts = self.program.facts(body.file);
        let Some(class_of_override) = self.program.body(body).class.get() else { return false };
        let class_facts = facts.class(class_of_override);
        let class_at = At { region: facts.body(class_facts.parent).region, position: u32::MAX };
        let scope = crate::values::expr::Scope { file: body.file, at: class_at, env: EnvId::NONE };
        if declared != class {
            return false;
        }
        facts.list(class_facts.bases).iter().any(|&base| {
            let base = self.annotation(scope, base);
            let [Val::Instance { class: base_class, args, .. }] = self.values.members(base.value)[..] else {
                return false;
            };
            let own_argument = self.values.nth(args, 0).and_then(|value| self.only_class(value));
            base_class == class
                && own_argument.is_some_and(|own_argument| {
                    let derives = |a: ClassRef, b: ClassRef| self.mro(a).contains(&Ancestor::Class(b));
                    !derives(own_argument, wanted) && !derives(wanted, own_argument)
                })
        })
    }

    /// Returns the one class of the project that a value is an instance of.
    fn only_class(&self, value: ValueId) -> Option<ClassRef> {
        match self.values.members(value)[..] {
            [Val::Instance { class, .. }] => Some(class),
            _ => None,
        }
    }

    /// True if a call of an object on itself never runs this override of a derived class, because that class also
    /// overrides the calling method: a default method of an interface that calls another method, and an implementation
    /// that overrides both.
    fn is_excluded_by_overridden_caller(&self, site: SiteRef, body: BodyRef) -> bool {
        let facts = self.program.facts(site.file);
        let on_itself = self.receiver_form(site).is_none_or(|form| matches!(facts.form(form), Form::This));
        if !on_itself {
            return false;
        }
        let mut method = self.program.body_of_site(site);
        while self.program.body(method).kind == BodyKind::Lambda {
            let Some(parent) = self.program.body(method).parent.get() else { return false };
            method = site.file.body_ref(parent);
        }
        let caller = self.program.body(method);
        let (Some(calling_class), Some(name)) = (caller.class.get(), self.program.global(site.file, caller.name))
        else {
            return false;
        };
        let calling_class = site.file.class_ref(calling_class);
        let count = self.program.params_of(method).len();
        let Some(class_of_override) = self.program.body(body).class.get() else { return false };
        let class_of_override = body.file.class_ref(class_of_override);
        if caller.flags.has(BodyFlags::STATIC)
            || caller.kind != BodyKind::Function
            || class_of_override == calling_class
        {
            return false;
        }
        let overrides = self.overrides(calling_class, name);
        let classes = self.mro(class_of_override);
        let between = classes.iter().take_while(|&&ancestor| ancestor != Ancestor::Class(calling_class));
        let mut between = between.filter_map(|ancestor| match *ancestor {
            Ancestor::Class(class) => Some(class),
            _ => None,
        });
        between.any(|class| {
            overrides.iter().any(|override_ref| {
                let body_facts = self.program.body(*override_ref);
                let owner = body_facts.class.get().map(|class| override_ref.file.class_ref(class));
                owner == Some(class) && self.takes_argument_count(*override_ref, count)
            })
        })
    }

    /// Returns the number of arguments whose type is exactly that of the method's parameter.
    fn count_exact_arguments(&self, body: BodyRef, types: &[Option<Rc<str>>]) -> usize {
        let scope = self.signature_scope(body);
        let params = self.program.params_of(body).iter().zip(types);
        let is_exact = |(param, argument): &(&Param, &Option<Rc<str>>)| {
            let Some(argument) = argument.as_deref().and_then(|names| names.split(NAME_SEPARATOR).next()) else {
                return false;
            };
            let declared = self.annotation(scope, param.annotation);
            match self.values.members(declared.value)[..] {
                [declared] => self.type_name_of(declared).is_some_and(|name| *name == *argument),
                _ => false,
            }
        };
        params.filter(is_exact).count()
    }

    /// Returns the number of inferred steps to a method if a method reference in an argument may refer to it; `None` if
    /// the reference refers to another overload. The arguments that the callee passes to the callable select the
    /// overload.
    pub fn steps_to_overload(&self, site: SiteRef, arg: u32, body: BodyRef) -> Option<u8> {
        let facts = self.program.facts(site.file);
        let Some(reference) = self.program.args_of(site).get(arg as usize).map(|arg| arg.value) else { return Some(0) };
        if facts.language != Language::Java || !matches!(facts.form(reference), Form::Path(..)) {
            return Some(0);
        }
        let typed = self.eval(self.scope_of(site, EnvId::NONE), reference);
        let alternatives: Vec<(BodyRef, bool)> = self
            .values
            .members(typed.value)
            .into_iter()
            .filter_map(|val| match val {
                Val::Fn { body, receiver, .. } => Some((body, receiver.is_some())),
                _ => None,
            })
            .collect();
        if alternatives.len() < 2 {
            return Some(0);
        }
        let Some(count) = self.count_library_arguments(site, arg) else { return Some(STEPS_TO_UNKNOWN_OVERLOAD) };
        // The first argument of `T::method` is its receiver.
        let receivers = |body: BodyRef, bound: bool| usize::from(!bound && !self.method_kind(body).is_static);
        let fits_count =
            |body: BodyRef, bound: bool| self.takes_argument_count(body, count.saturating_sub(receivers(body, bound)));
        let fitting: Vec<(BodyRef, bool)> =
            alternatives.iter().copied().filter(|&(body, bound)| fits_count(body, bound)).collect();
        if fitting.len() < 2 {
            return (fitting.is_empty() || fitting.iter().any(|(method, _)| *method == body)).then_some(0);
        }
        let fitness = |method: BodyRef, bound: bool| {
            let skipped = receivers(method, bound);
            (0..count.saturating_sub(skipped))
                .map(|index| self.fits_library_argument(method, index, site, arg, index + skipped))
                .min()
        };
        let ranked: Vec<(BodyRef, Fit)> =
            fitting.into_iter().map(|(method, bound)| (method, fitness(method, bound).unwrap_or(Fit::Open))).collect();
        let best = ranked.iter().map(|(_, fit)| *fit).max()?;
        let mut best_matches = ranked.iter().filter(|(_, fit)| *fit == best);
        let is_one = best_matches.clone().count() == 1;
        best_matches.any(|(method, _)| *method == body).then_some(if is_one { 0 } else { STEPS_TO_UNKNOWN_OVERLOAD })
    }

    /// Returns the fit of an argument that a library passes to a callable and a parameter of a method.
    fn fits_library_argument(&self, body: BodyRef, param: usize, site: SiteRef, arg: u32, index: usize) -> Fit {
        let Some(param) = self.program.params_of(body).get(param) else { return Fit::Open };
        let declared = self.annotation(self.signature_scope(body), param.annotation);
        let Some(argument) = self.value_passed_by_row(site, arg, index as u32) else { return Fit::Open };
        let ([declared], [argument]) =
            (&self.values.members(declared.value)[..], &self.values.members(argument.value)[..])
        else {
            return Fit::Open;
        };
        let (Some(wanted), Some(names)) = (self.type_name_of(*declared), self.type_names_of(*argument)) else {
            return Fit::Open;
        };
        let is_exact = names.split(NAME_SEPARATOR).next() == Some(&*wanted);
        let derives = || {
            self.type_names_of(*declared)
                .is_none_or(|bases| has_type_name(&bases, names.split(NAME_SEPARATOR).next().unwrap_or("")))
        };
        // A project's class that is no subtype of the parameter's type, nor a supertype.
        let is_unrelated =
            || matches!((declared, argument), (Val::Instance { .. }, _) | (_, Val::Instance { .. })) && !derives();
        if is_exact {
            Fit::Exact
        } else if has_type_name(&names, &wanted) {
            Fit::Open
        } else if is_unrelated() || is_value_type(&wanted) {
            Fit::Never
        } else {
            Fit::Open
        }
    }

    /// True if a type is Java's array type.
    pub(crate) fn is_array(&self, ty: PathId) -> bool {
        self.library.language(ty) == Language::Java && *self.library.text(ty) == *lang::java::names::ARRAY
    }

    /// Returns the name of a type.
    fn type_name_of(&self, val: Val) -> Option<Rc<str>> {
        match val {
            Val::Library { ty, args, .. } if self.is_array(ty) => {
                match self.values.nth(args, 0).map(|value| self.values.members(value)).as_deref() {
                    Some(&[element]) => Some(Rc::from(format!("{}[]", self.type_name_of(element)?))),
                    _ => None,
                }
            }
            Val::Library { ty, .. } => Some(self.library.text(ty)),
            Val::Instance { class, .. } => Some(self.class_name(class)),
            _ => None,
        }
    }

    /// Returns the qualified name of a class.
    fn class_name(&self, class: ClassRef) -> Rc<str> {
        let find = || Rc::from(self.qualified_class(class));
        self.query(&self.tables.java.class_names, class, || Rc::from(""), find)
    }

    /// Returns the number of arguments that a library passes to the callable in an argument.
    fn count_library_arguments(&self, site: SiteRef, arg: u32) -> Option<usize> {
        self.targets(site, EnvId::NONE).list.iter().find_map(|target| {
            let Target::Row { path, .. } = *target else { return None };
            let handovers = self.library.handovers(path);
            let row = handovers.iter().find(|row| match &row.selector {
                Selector::Argument(argument) => self.is_argument(site, arg, argument),
                Selector::Via(_) => false,
            })?;
            (!row.gives.is_empty()).then_some(row.gives.len())
        })
    }

    /// True if a method can be called with this number of arguments.
    pub(crate) fn takes_argument_count(&self, body: BodyRef, count: usize) -> bool {
        let params = self.program.params_of(body);
        match params.last() {
            Some(last) if last.kind == ParamKind::VarArgs => count + 1 >= params.len(),
            _ => params.len() == count,
        }
    }

    /// True if no argument is known to be of another type than its parameter.
    fn takes_types(&self, body: BodyRef, types: &[Option<Rc<str>>], lambdas: &[bool]) -> bool {
        let params = self.program.params_of(body);
        let scope = self.signature_scope(body);
        params.iter().zip(types).zip(lambdas).all(|((param, argument), is_lambda)| {
            if param.kind == ParamKind::VarArgs || param.annotation.is_none() {
                return true;
            }
            let declared = self.annotation(scope, param.annotation);
            let [declared] = self.values.members(declared.value)[..] else { return true };
            let Some(wanted) = self.type_name_of(declared) else { return true };
            if *is_lambda {
                return !is_value_type(&wanted);
            }
            match argument {
                Some(argument) => has_type_name(argument, &wanted) || !is_comparable(argument, &wanted),
                None => true,
            }
        })
    }
}

/// True if a path ends in a method that every object has.
fn is_object_method(path: &str) -> bool {
    let name = path.rsplit('.').next().unwrap_or(path);
    matches!(name, "toString" | "hashCode" | "equals" | "getClass" | "notify" | "notifyAll" | "wait")
}

/// Returns the rows without globs if the method is one that every object has, because a row for all methods of a type
/// does not mean it.
fn without_globs<'m>(rows: Rc<CallRows<'m>>) -> Rc<CallRows<'m>> {
    if !rows.iter().any(|row| row.path.contains('*')) {
        return rows;
    }
    let mut rows = (*rows).clone();
    rows.retain(|row| !row.path.contains('*'));
    Rc::new(rows)
}

/// True if one of the names of a type equals a name, qualified or simple, or converts to it.
fn has_type_name(names: &str, wanted: &str) -> bool {
    fn simple(name: &str) -> &str {
        name.rsplit('.').next().unwrap_or(name)
    }
    names.split(NAME_SEPARATOR).any(|name| {
        name == wanted
            || (!wanted.contains('.') || !name.contains('.')) && simple(name) == simple(wanted)
            || converts_to(name, wanted)
    })
}

/// True if a type fits another one by primitive conversion or boxing, or because every object is an `Object`.
fn converts_to(source: &str, wanted: &str) -> bool {
    let wanted = wanted.rsplit('.').next().unwrap_or(wanted);
    let source = source.rsplit('.').next().unwrap_or(source);
    match wanted {
        "Object" => true,
        "int" | "Integer" => matches!(source, "int" | "short" | "byte" | "char" | "Integer"),
        "long" | "Long" => matches!(source, "int" | "short" | "byte" | "char" | "Integer" | "long" | "Long"),
        "double" | "Double" | "float" | "Float" => {
            matches!(
                source,
                "int"
                    | "short"
                    | "byte"
                    | "char"
                    | "long"
                    | "float"
                    | "double"
                    | "Integer"
                    | "Long"
                    | "Double"
                    | "Float"
            )
        }
        "boolean" | "Boolean" => matches!(source, "boolean" | "Boolean"),
        "CharSequence" | "Comparable" | "Serializable" => source == "String",
        _ => false,
    }
}

/// True if one of two types has no subclasses, so that different names exclude each other.
fn is_comparable(names: &str, wanted: &str) -> bool {
    is_value_type(wanted) || names.split(NAME_SEPARATOR).all(is_value_type)
}

/// True if a type has no subclasses: primitive types, boxes, strings, arrays and some final classes.
fn is_value_type(name: &str) -> bool {
    name.ends_with("[]")
        || matches!(
            name.rsplit('.').next().unwrap_or(name),
            "int"
                | "long"
                | "short"
                | "byte"
                | "char"
                | "boolean"
                | "double"
                | "float"
                | "String"
                | "Integer"
                | "Long"
                | "Boolean"
                | "Double"
                | "Duration"
                | "TimeUnit"
                | "Class"
                | "UUID"
                | "URI"
        )
}

fn is_callable(form: Form) -> bool {
    matches!(form, Form::Callable(_) | Form::Path(..))
}
