//! Java: which overload a call means, by the number and types of its arguments.

use crate::lang;
use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{BodyFlags, BodyKind, Form, FormId, ParamKind};
use blocklint_models::{CallRows, HandoverRows, Selector};

use crate::calls::targets::Target;
use crate::classes::hierarchy::Ancestor;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, Name, PathId, SiteRef};
use crate::values::value::{EnvId, Val};

/// The inferred steps of a method reference whose overload is unknown.
const OF_UNKNOWN_OVERLOAD: u8 = 2;

/// How an argument fits a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// It is of another type.
    Never,
    /// It may be.
    Open,
    /// It is of just this type.
    Exact,
}

/// Between the names of one type.
const OR: char = '|';

impl<'a> Linker<'a> {
    /// Returns the rows of a call at a site: of overloads those that its arguments fit.
    pub fn rows_at(&self, path: PathId, site: SiteRef) -> Rc<CallRows<'a>> {
        let rows = self.library.calls(path);
        if self.program.language(site.file) != Language::Java {
            return rows;
        }
        let rows = if is_of_object(&self.library.text(path)) { without_globs(rows) } else { rows };
        if !rows.iter().any(|row| row.path.ends_with(')')) {
            return rows;
        }
        let types: Vec<Option<Rc<str>>> =
            self.program.args_of(site).iter().map(|arg| self.type_names(site, arg.value)).collect();
        let types: Vec<Option<&str>> = types.iter().map(Option::as_deref).collect();
        let mut rows = (*rows).clone();
        rows.fit_parameters(&types, is_one_of);
        Rc::new(rows)
    }

    /// Returns the `[[handover]]` rows of a path that fit the arguments of a site.
    pub(crate) fn handovers_at(&self, path: PathId, site: SiteRef) -> Rc<HandoverRows<'a>> {
        let rows = self.library.handovers(path);
        if self.program.language(site.file) != Language::Java || !rows.iter().any(|row| row.path.ends_with(')')) {
            return rows;
        }
        let args = self.program.args_of(site);
        let types: Vec<Option<Rc<str>>> = args.iter().map(|arg| self.type_names(site, arg.value)).collect();
        let types: Vec<Option<&str>> = types.iter().map(Option::as_deref).collect();
        let mut rows = (*rows).clone();
        rows.fit_arguments(&types, is_one_of);
        Rc::new(rows)
    }

    /// Returns the names of an argument's type and of its supertypes, joined; `None` where it is not known.
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
        Some(names.join(&OR.to_string()))
    }

    /// Returns the methods or constructors of one name that a call's arguments fit; all, if none does.
    pub(crate) fn fitting(&self, bodies: Vec<BodyRef>, site: SiteRef) -> Vec<BodyRef> {
        let facts = self.program.facts(site.file);
        let count = self.program.args_of(site).len();
        if bodies.len() < 2 {
            return bodies;
        }
        let of_count: Vec<BodyRef> = bodies.iter().copied().filter(|&body| self.takes_so_many(body, count)).collect();
        if of_count.len() < 2 {
            return if of_count.is_empty() { bodies } else { of_count };
        }
        // A parameter of equal type in all overloads does not distinguish them.
        let differs = |at: usize| {
            let mut declared = of_count.iter().map(|&body| {
                let params = self.program.params_of(body);
                params.get(at).map(|param| self.annotation(self.signature_scope(body), param.annotation).value)
            });
            let first = declared.next();
            declared.any(|other| Some(other) != first)
        };
        let types: Vec<Option<Rc<str>>> = self
            .program
            .args_of(site)
            .iter()
            .enumerate()
            .map(|(at, arg)| if differs(at) { self.type_names(site, arg.value) } else { None })
            .collect();
        let lambdas: Vec<bool> =
            self.program.args_of(site).iter().map(|arg| is_callable(facts.form(arg.value))).collect();
        let fit: Vec<BodyRef> =
            of_count.iter().copied().filter(|&body| self.takes_types(body, &types, &lambdas)).collect();
        let fit = if fit.is_empty() { of_count } else { fit };
        // An overload whose parameters have exactly the types of the arguments wins over one with wider types.
        let exact: Vec<usize> = fit.iter().map(|&body| self.takes_exactly(body, &types)).collect();
        let most = exact.iter().copied().max().unwrap_or_default();
        fit.into_iter().zip(exact).filter(|&(_, many)| many == most).map(|(body, _)| body).collect()
    }

    /// True if a call through a base class may mean this override of a derived one. Of Java's overloads the call means
    /// one that its arguments fit.
    pub fn means_override(&self, class: ClassRef, name: Name, body: BodyRef, site: SiteRef) -> bool {
        let all = self.overrides(class, name);
        let Ok(at) = all.binary_search(&body) else { return false };
        match self.program.language(body.file) {
            Language::Java => {}
            Language::Rust => return self.is_of_trait_arguments(class, body, site),
            Language::Python => return true,
        }
        let find = || self.means_this_override(class, body, site, &all[..], at);
        self.query(&self.tables.java.means_override, (site, body), bool::default, find)
    }

    /// True if a call may mean several methods with code of their own.
    pub fn means_several(&self, site: SiteRef) -> bool {
        if self.program.language(site.file) != Language::Java {
            return false;
        }
        self.query(&self.tables.java.means_several, site, bool::default, || {
            let targets = self.targets(site, EnvId::NONE);
            let bodies = targets.list.iter().map(|target| match *target {
                Target::Body { body, .. } => usize::from(!self.is_stub(body)),
                Target::Row { .. } => 1,
                Target::Overrides { class, name } => {
                    let all = self.overrides(class, name);
                    let is_meant = |of: BodyRef| !self.is_stub(of) && self.means_override(class, name, of, site);
                    all.iter().filter(|&&of| is_meant(of)).take(2).count()
                }
            });
            bodies.sum::<usize>() > 1
        })
    }

    fn means_this_override(&self, class: ClassRef, body: BodyRef, site: SiteRef, all: &[BodyRef], at: usize) -> bool {
        if !self.may_meet(site.file, body.file) || self.proxy_context(body, site).is_some() {
            return false;
        }
        if !self.takes_so_many(body, self.program.args_of(site).len()) {
            return false;
        }
        if self.is_replaced_where(site, body) || self.is_of_other_arguments(class, site, body) {
            return false;
        }
        let own = self.program.body(body).class;
        // In order, those of one class stand side by side.
        let is_sibling = |other: &&BodyRef| other.file == body.file && self.program.body(**other).class == own;
        let before = all[..at].iter().rev().take_while(is_sibling);
        let siblings: Vec<BodyRef> = before.chain(all[at..].iter().take_while(is_sibling)).copied().collect();
        self.fitting(siblings, site).contains(&body)
    }

    /// True if a call's receiver is declared with another type argument than a subclass passes to its base:
    /// `Check<Event> check; check.run(e)` never means a method of `class Other extends Check<Setting>`.
    fn is_of_other_arguments(&self, class: ClassRef, site: SiteRef, body: BodyRef) -> bool {
        let Some(receiver) = self.receiver_form(site) else { return false };
        let typed = self.eval(self.scope_of(site, EnvId::NONE), receiver);
        let [Val::Instance { class: declared, args, .. }] = self.values.members(typed.value)[..] else { return false };
        let Some(wanted) = self.values.nth(args, 0).and_then(|value| self.only_class(value)) else { return false };
        let facts = self.program.facts(body.file);
        let Some(own) = self.program.body(body).class.get() else { return false };
        let row = facts.class(own);
        let at = blocklint_facts::At { region: facts.body(row.parent).region, position: u32::MAX };
        let scope = crate::values::expr::Scope { file: body.file, at, env: EnvId::NONE };
        if declared != class {
            return false;
        }
        facts.list(row.bases).iter().any(|&base| {
            let base = self.annotation(scope, base);
            let [Val::Instance { class: of, args, .. }] = self.values.members(base.value)[..] else { return false };
            let given = self.values.nth(args, 0).and_then(|value| self.only_class(value));
            of == class
                && given.is_some_and(|given| {
                    let derives = |a: ClassRef, b: ClassRef| self.mro(a).contains(&Ancestor::Class(b));
                    !derives(given, wanted) && !derives(wanted, given)
                })
        })
    }

    /// Returns the one class of the project that a value is an instance of.
    fn only_class(&self, value: crate::values::value::ValueId) -> Option<ClassRef> {
        match self.values.members(value)[..] {
            [Val::Instance { class, .. }] => Some(class),
            _ => None,
        }
    }

    /// True if a call of an object on itself never means this override of a derived class, because that class replaces
    /// the calling method too: a default method that calls another one, and an implementation that has both.
    fn is_replaced_where(&self, site: SiteRef, body: BodyRef) -> bool {
        let facts = self.program.facts(site.file);
        let on_itself = self.receiver_form(site).is_none_or(|of| matches!(facts.form(of), Form::This));
        if !on_itself {
            return false;
        }
        let mut at = self.program.body_of_site(site);
        while self.program.body(at).kind == BodyKind::Lambda {
            let Some(parent) = self.program.body(at).parent.get() else { return false };
            at = site.file.body_ref(parent);
        }
        let caller = self.program.body(at);
        let (Some(from), Some(name)) = (caller.class.get(), self.program.global(site.file, caller.name)) else {
            return false;
        };
        let from = site.file.class_ref(from);
        let count = self.program.params_of(at).len();
        let Some(own) = self.program.body(body).class.get() else { return false };
        let own = body.file.class_ref(own);
        if caller.flags.has(BodyFlags::STATIC) || caller.kind != BodyKind::Function || own == from {
            return false;
        }
        let replaced = self.overrides(from, name);
        let classes = self.mro(own);
        let between = classes.iter().take_while(|&&ancestor| ancestor != Ancestor::Class(from));
        let mut between = between.filter_map(|ancestor| match *ancestor {
            Ancestor::Class(class) => Some(class),
            _ => None,
        });
        between.any(|class| {
            replaced.iter().any(|of| {
                let row = self.program.body(*of);
                let owner = row.class.get().map(|own| of.file.class_ref(own));
                owner == Some(class) && self.takes_so_many(*of, count)
            })
        })
    }

    /// Returns the number of arguments whose type is exactly that of the method's parameter.
    fn takes_exactly(&self, body: BodyRef, types: &[Option<Rc<str>>]) -> usize {
        let scope = self.signature_scope(body);
        let params = self.program.params_of(body).iter().zip(types);
        let is_exact = |(param, given): &(&blocklint_facts::Param, &Option<Rc<str>>)| {
            let Some(given) = given.as_deref().and_then(|names| names.split(OR).next()) else { return false };
            let declared = self.annotation(scope, param.annotation);
            match self.values.members(declared.value)[..] {
                [declared] => self.type_name_of(declared).is_some_and(|name| *name == *given),
                _ => false,
            }
        };
        params.filter(is_exact).count()
    }

    /// Returns the number of inferred steps if a method reference in an argument means this one of several methods of
    /// its name: the one that takes the arguments which the callee passes to it. Returns `None` if it means another
    /// one.
    pub fn reference_means(&self, site: SiteRef, arg: u32, body: BodyRef) -> Option<u8> {
        let facts = self.program.facts(site.file);
        let Some(given) = self.program.args_of(site).get(arg as usize).map(|arg| arg.value) else { return Some(0) };
        if facts.language != Language::Java || !matches!(facts.form(given), Form::Path(..)) {
            return Some(0);
        }
        let typed = self.eval(self.scope_of(site, EnvId::NONE), given);
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
        let Some(count) = self.count_library_arguments(site, arg) else { return Some(OF_UNKNOWN_OVERLOAD) };
        // `T::method` gets its receiver first.
        let own = |body: BodyRef, bound: bool| usize::from(!bound && !self.method_kind(body).is_static);
        let takes = |body: BodyRef, bound: bool| self.takes_so_many(body, count.saturating_sub(own(body, bound)));
        let fits: Vec<(BodyRef, bool)> =
            alternatives.iter().copied().filter(|&(body, bound)| takes(body, bound)).collect();
        if fits.len() < 2 {
            return (fits.is_empty() || fits.iter().any(|(of, _)| *of == body)).then_some(0);
        }
        let fitness = |of: BodyRef, bound: bool| {
            let skipped = own(of, bound);
            (0..count.saturating_sub(skipped))
                .map(|at| self.fits_library_argument(of, at, site, arg, at + skipped))
                .min()
        };
        let ranked: Vec<(BodyRef, Fit)> =
            fits.into_iter().map(|(of, bound)| (of, fitness(of, bound).unwrap_or(Fit::Open))).collect();
        let best = ranked.iter().map(|(_, fit)| *fit).max()?;
        let mut meant = ranked.iter().filter(|(_, fit)| *fit == best);
        let is_one = meant.clone().count() == 1;
        meant.any(|(of, _)| *of == body).then_some(if is_one { 0 } else { OF_UNKNOWN_OVERLOAD })
    }

    /// Returns how the argument that a library passes to a callable fits a parameter of a method.
    fn fits_library_argument(&self, body: BodyRef, param: usize, site: SiteRef, arg: u32, at: usize) -> Fit {
        let Some(param) = self.program.params_of(body).get(param) else { return Fit::Open };
        let declared = self.annotation(self.signature_scope(body), param.annotation);
        let Some(given) = self.value_passed_by_row(site, arg, at as u32) else { return Fit::Open };
        let ([declared], [given]) = (&self.values.members(declared.value)[..], &self.values.members(given.value)[..])
        else {
            return Fit::Open;
        };
        let (Some(wanted), Some(names)) = (self.type_name_of(*declared), self.type_names_of(*given)) else {
            return Fit::Open;
        };
        let is_exact = names.split(OR).next() == Some(&*wanted);
        let derives =
            || self.type_names_of(*declared).is_none_or(|of| is_one_of(&of, names.split(OR).next().unwrap_or("")));
        match () {
            () if is_exact => Fit::Exact,
            () if is_one_of(&names, &wanted) => Fit::Open,
            // A project's class that has nothing of it.
            () if matches!((declared, given), (Val::Instance { .. }, _) | (_, Val::Instance { .. })) && !derives() => {
                Fit::Never
            }
            () if is_value_type(&wanted) => Fit::Never,
            () => Fit::Open,
        }
    }

    /// True if a type is that of Java's arrays.
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

    /// Returns the qualified name of a class, remembered.
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

    pub(crate) fn takes_so_many(&self, body: BodyRef, count: usize) -> bool {
        let params = self.program.params_of(body);
        match params.last() {
            Some(last) if last.kind == ParamKind::VarArgs => count + 1 >= params.len(),
            _ => params.len() == count,
        }
    }

    /// True if no argument is visibly of another type than its parameter.
    fn takes_types(&self, body: BodyRef, types: &[Option<Rc<str>>], lambdas: &[bool]) -> bool {
        let params = self.program.params_of(body);
        let scope = self.signature_scope(body);
        params.iter().zip(types).zip(lambdas).all(|((param, given), is_lambda)| {
            if param.kind == ParamKind::VarArgs || param.annotation.is_none() {
                return true;
            }
            let declared = self.annotation(scope, param.annotation);
            let [declared] = self.values.members(declared.value)[..] else { return true };
            let Some(wanted) = self.type_name_of(declared) else { return true };
            if *is_lambda {
                return !is_value_type(&wanted);
            }
            match given {
                Some(given) => is_one_of(given, &wanted) || !is_comparable(given, &wanted),
                None => true,
            }
        })
    }
}

/// True if a path ends in a method that every object has.
fn is_of_object(path: &str) -> bool {
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

/// True if one of the names of a type equals another, which may be written by its simple name.
fn is_one_of(given: &str, wanted: &str) -> bool {
    fn simple(name: &str) -> &str {
        name.rsplit('.').next().unwrap_or(name)
    }
    given.split(OR).any(|name| {
        name == wanted
            || (!wanted.contains('.') || !name.contains('.')) && simple(name) == simple(wanted)
            || widens(name, wanted)
    })
}

/// True if a type fits another one by primitive conversion or boxing, or because every object is an `Object`.
fn widens(given: &str, wanted: &str) -> bool {
    let wanted = wanted.rsplit('.').next().unwrap_or(wanted);
    let given = given.rsplit('.').next().unwrap_or(given);
    match wanted {
        "Object" => true,
        "int" | "Integer" => matches!(given, "int" | "short" | "byte" | "char" | "Integer"),
        "long" | "Long" => matches!(given, "int" | "short" | "byte" | "char" | "Integer" | "long" | "Long"),
        "double" | "Double" | "float" | "Float" => {
            matches!(
                given,
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
        "boolean" | "Boolean" => matches!(given, "boolean" | "Boolean"),
        "CharSequence" | "Comparable" | "Serializable" => given == "String",
        _ => false,
    }
}

/// True if two types are known well enough to exclude that one is the other.
fn is_comparable(given: &str, wanted: &str) -> bool {
    is_value_type(wanted) || given.split(OR).all(is_value_type)
}

/// True if a type has no subclasses.
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
