//! Optional parts that an object was made without: `memory = Cache()`, where the constructor `Cache(remote=None)`
//! stores the part in a field, and the class calls it only behind a test (`if self.remote is not None:
//! self.remote.get(key)`).

use blocklint_facts::{BodyId, Comparison, FileFacts, Form, FormId, SiteKind, Sym, VarKind};
use blocklint_link::calls::targets::Target;
use blocklint_link::effect::constant::Constant;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, SiteRef, VarRef};
use blocklint_link::program::occurrences::is_own_receiver;
use blocklint_link::syntax::test_outcomes::each_decided_part;
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::EnvId;
use smallvec::SmallVec;

use crate::callers::{Caller, CallerKind, Callers, are_few};
use crate::lifecycle::phase::calls_with_name_of;

/// How many variables and fields are followed to the constant of an argument.
const MAX_CONSTANT_DEPTH: u32 = 3;

/// The most variables, fields and callers through which an object is followed.
const DEPTH: u32 = 10;

/// The most objects that are collected; with more, the list counts as incomplete.
const MOST_OBJECTS: usize = 8;

/// The place where an object is made, and the variable of that file that stores it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct MadeObject {
    site: SiteRef,
    variable: Option<Sym>,
}

/// The objects that an expression can be. The functions `collect_…` add to them, and return true if the list is
/// complete: false means that the expression may also be an object that was not found.
#[derive(Default)]
struct Objects {
    made: SmallVec<[MadeObject; 4]>,
    /// The parameters whose objects were collected. A method that passes its own parameter on to itself adds nothing.
    params: SmallVec<[(BodyRef, u32); 8]>,
    /// The methods whose receivers were collected. A method that calls itself on `self` adds nothing.
    receivers: SmallVec<[BodyRef; 8]>,
}

/// True if a site of a method runs only if its object has a part, and the receiver of the call was made without that
/// part.
pub(crate) fn needs_missing_part<'a>(
    linker: &Linker<'a>,
    callers: &Callers<'_, 'a>,
    caller: Caller,
    body: BodyRef,
    site: SiteRef,
) -> bool {
    if caller.arg.is_some() || caller.kind != CallerKind::Runs || !caller.with_receiver {
        return false;
    }
    let parts = parts_over(linker, site);
    if parts.is_empty() || linker.program.body_of_site(site) != body {
        return false;
    }
    let Some(class) = linker.class_around(body) else { return false };
    let Some(receiver) = linker.receiver_form(caller.site) else { return false };
    let mut objects = Objects::default();
    collect_objects(linker, callers, linker.scope_of(caller.site, EnvId::NONE), receiver, &mut objects, DEPTH)
        && !objects.made.is_empty()
        && objects.made.iter().all(|&made| parts.iter().any(|&part| is_left_out(linker, made, class, part)))
}

/// Returns the fields of `self` that are set where a site runs, by the branches around it: `if self.remote is not
/// None:`.
pub(crate) fn parts_over(linker: &Linker<'_>, site: SiteRef) -> SmallVec<[Sym; 2]> {
    let facts = linker.program.facts(site.file);
    let mut parts = SmallVec::new();
    for (test, outcome) in linker.tests_around(site) {
        add_parts(facts, test, outcome, &mut parts);
    }
    parts
}

/// Adds the objects that an expression can be; true if the list is complete. `None` is no object.
fn collect_objects<'a>(
    linker: &Linker<'a>,
    callers: &Callers<'_, 'a>,
    scope: Scope,
    form: FormId,
    objects: &mut Objects,
    depth: u32,
) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(scope.file);
    let body = facts.body_of(scope.at);
    match facts.form(form) {
        Form::None => true,
        Form::Result(site) => add_made_object(linker, scope.file.site_ref(site), None, objects),
        // `self` is the receiver of the callers.
        Form::Var(var) if is_own_receiver(facts, form) && facts.var(var).body == body => {
            collect_objects_called_on(linker, callers, scope.file.body_ref(body), objects, depth)
        }
        Form::Var(var) => {
            let var_facts = facts.var(var);
            if let VarKind::Param(index) = var_facts.kind {
                let is_only_passed =
                    var_facts.body == body && facts.assigns_of(var).all(|assignment| assignment.value.is_none());
                return is_only_passed
                    && collect_passed_objects(linker, callers, scope.file.body_ref(body), index, objects, depth);
            }
            let Some(only) = facts.only_value_of(var) else { return false };
            match facts.form(only.value) {
                Form::Import(_) => collect_object_of_module(linker, linker.module_var(scope.file, form), objects),
                Form::Result(site) if var_facts.body == BodyId(0) || var_facts.body == body => {
                    add_made_object(linker, scope.file.site_ref(site), Some(var_facts.name), objects)
                }
                _ if var_facts.body == body => {
                    collect_objects(linker, callers, Scope { at: only.at, ..scope }, only.value, objects, depth)
                }
                _ => false,
            }
        }
        Form::Attr(base, name) if is_own_receiver(facts, base) => {
            let Some(class) = linker.class_around(scope.file.body_ref(body)) else { return false };
            collect_objects_of_field(linker, callers, (scope.file, class), name, objects, depth)
        }
        Form::Attr(..) => collect_object_of_module(linker, linker.module_var(scope.file, form), objects),
        Form::Subscript(base, key) => {
            let (Form::Attr(receiver, name), Form::Str(key)) = (facts.form(base), facts.form(key)) else {
                return false;
            };
            let class = linker.class_around(scope.file.body_ref(body));
            let Some(class) = class.filter(|_| is_own_receiver(facts, receiver)) else { return false };
            class.file == scope.file && collect_objects_under_key(linker, callers, class, (name, key), objects, depth)
        }
        _ => false,
    }
}

/// Adds the object that a site makes (`Cache()`); true if the site makes one and the objects are not too many.
fn add_made_object(linker: &Linker<'_>, site: SiteRef, variable: Option<Sym>, objects: &mut Objects) -> bool {
    if !matches!(linker.program.site(site).kind, SiteKind::Call | SiteKind::New) {
        return false;
    }
    let object = MadeObject { site, variable };
    if !objects.made.contains(&object) {
        objects.made.push(object);
    }
    objects.made.len() <= MOST_OBJECTS
}

/// Adds the object that a module stores in a variable; true if the variable has one value.
fn collect_object_of_module(linker: &Linker<'_>, variable: Option<VarRef>, objects: &mut Objects) -> bool {
    let Some(var) = variable else { return false };
    let facts = linker.program.facts(var.file);
    let Some(only) = linker.program.only_value_of(var) else { return false };
    match facts.form(only.value) {
        Form::Result(site) => {
            add_made_object(linker, var.file.site_ref(site), Some(linker.program.var(var).name), objects)
        }
        _ => false,
    }
}

/// Adds the objects that callers of a body pass to a parameter; true if the list is complete.
fn collect_passed_objects<'a>(
    linker: &Linker<'a>,
    callers: &Callers<'_, 'a>,
    body: BodyRef,
    index: u32,
    objects: &mut Objects,
    depth: u32,
) -> bool {
    if objects.params.contains(&(body, index)) {
        return true;
    }
    objects.params.push((body, index));
    let call_sites = callers.call_sites(body);
    // A method without known callers is called on objects of unknown type (`plugin.setup(cache)`), so each call of its
    // name may be one of it.
    let is_called_by_name = call_sites.is_empty();
    let by_name = if is_called_by_name { calls_with_name_of(linker, body) } else { SmallVec::new() };
    let sites = if is_called_by_name { &by_name[..] } else { &call_sites[..] };
    let argument_at = |site| {
        if is_called_by_name {
            linker.argument_for_param(site, body, index, true)
        } else {
            linker.passed_argument(site, body, index)
        }
    };
    are_few(sites)
        && sites.iter().all(|&site| match argument_at(site) {
            Some(form) => collect_objects(linker, callers, linker.scope_of(site, EnvId::NONE), form, objects, depth),
            None if linker.has_unpacked_arguments(site) => false,
            None => match linker.default_of(body, index) {
                Some(default) => default == Constant::Null,
                // A call without this required argument calls the method of another class.
                None => is_called_by_name,
            },
        })
}

/// Adds the receivers of all calls of a method; true if the list is complete.
fn collect_objects_called_on<'a>(
    linker: &Linker<'a>,
    callers: &Callers<'_, 'a>,
    body: BodyRef,
    objects: &mut Objects,
    depth: u32,
) -> bool {
    if objects.receivers.contains(&body) {
        return true;
    }
    objects.receivers.push(body);
    callers.few_call_sites(body).is_some_and(|sites| {
        sites.iter().all(|&site| {
            let receiver = linker.receiver_form(site);
            receiver.is_some_and(|form| {
                collect_objects(linker, callers, linker.scope_of(site, EnvId::NONE), form, objects, depth)
            })
        })
    })
}

/// Adds the objects that any code assigns to a field of a class, its bases or its subclasses; true if the list is
/// complete.
fn collect_objects_of_field<'a>(
    linker: &Linker<'a>,
    callers: &Callers<'_, 'a>,
    (file, class): (FileId, ClassRef),
    field: Sym,
    objects: &mut Objects,
    depth: u32,
) -> bool {
    let Some(name) = linker.program.global(file, field) else { return false };
    let mut is_assigned = false;
    let is_complete = linker.assigns_to_member(class, name).into_iter().all(|(file, assign)| {
        let assignment = linker.program.facts(file).assign(assign);
        if assignment.value.is_none() {
            return true;
        }
        is_assigned = true;
        let scope = Scope { file, at: assignment.at, env: EnvId::NONE };
        match linker.program.facts(file).form(assignment.value) {
            Form::Result(site) => {
                add_made_object(linker, file.site_ref(site), linker.program.local(file, name), objects)
            }
            _ => collect_objects(linker, callers, scope, assignment.value, objects, depth),
        }
    });
    is_assigned && is_complete
}

/// Adds the objects that a class stores under a key of a dictionary in a field (`self.parts["cache"] = cache`); true if
/// the list is complete.
fn collect_objects_under_key<'a>(
    linker: &Linker<'a>,
    callers: &Callers<'_, 'a>,
    class: ClassRef,
    (field, key): (Sym, Sym),
    objects: &mut Objects,
    depth: u32,
) -> bool {
    let file = class.file;
    let facts = linker.program.facts(file);
    let setter = linker.program.name("__setitem__").and_then(|name| linker.program.local(file, name));
    let Some(setter) = setter else { return false };
    let mut has_stored = false;
    let is_complete = linker.program.index_of(file).sites_named(setter).iter().all(|&site| {
        let site_facts = facts.site(site);
        let is_of_field = matches!(facts.form(site_facts.callee), Form::Attr(base, name)
                if name == field && is_own_receiver(facts, base));
        if !is_of_field || linker.class_around(linker.program.body_of(file, site_facts.at)) != Some(class) {
            return true;
        }
        match *facts.args_of(site) {
            [index, value] => match facts.form(index.value) {
                Form::Str(other) if other != key => true,
                Form::Str(_) => {
                    has_stored = true;
                    let scope = linker.scope_of(file.site_ref(site), EnvId::NONE);
                    collect_objects(linker, callers, scope, value.value, objects, depth)
                }
                _ => false,
            },
            _ => false,
        }
    });
    has_stored && is_complete
}

/// True if an object was made without a part (`Cache(remote=None)`), and no code assigns the part later.
fn is_left_out(linker: &Linker<'_>, object: MadeObject, class: ClassRef, part: Sym) -> bool {
    let Some(index) = constructor_param_of_field(linker, class, part) else { return false };
    let targets = linker.targets(object.site, EnvId::NONE);
    let constructor = targets.list.iter().find_map(|target| match *target {
        Target::Body { body, with_receiver, .. } if is_constructor_of(linker, class, body) => {
            Some((body, with_receiver))
        }
        _ => None,
    });
    let Some((body, with_receiver)) = constructor else { return false };
    let is_none = match linker.argument_for_param(object.site, body, index, with_receiver) {
        Some(form) => linker.constant(object.site, form, EnvId::NONE, MAX_CONSTANT_DEPTH) == Constant::Null,
        None => !linker.has_unpacked_arguments(object.site) && linker.default_of(body, index) == Some(Constant::Null),
    };
    is_none && !may_be_assigned_later(linker, object, class.file, part)
}

/// True if a body is the constructor that a class itself defines.
fn is_constructor_of(linker: &Linker<'_>, class: ClassRef, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    linker.program.body(body).class.get().map(|defining_class| body.file.class_ref(defining_class)) == Some(class)
        && lang::words_of(facts.language).is_constructor(facts.text(linker.program.body(body).name))
}

/// Returns the constructor's parameter that the class assigns to a field, if it assigns nothing else to that field:
/// `self.remote = remote`.
fn constructor_param_of_field(linker: &Linker<'_>, class: ClassRef, field: Sym) -> Option<u32> {
    let facts = linker.program.facts(class.file);
    let mut param = None;
    for &(assign, is_own) in linker.program.index_of(class.file).attr_assigns(field) {
        let assignment = facts.assign(assign);
        let body = linker.program.body_of(class.file, assignment.at);
        if !is_own || assignment.value.is_none() || linker.class_around(body) != Some(class) {
            continue;
        }
        let Form::Var(var) = facts.form(assignment.value) else { return None };
        let var = facts.var(var);
        let VarKind::Param(index) = var.kind else { return None };
        if param.is_some() || class.file.body_ref(var.body) != body || !is_constructor_of(linker, class, body) {
            return None;
        }
        param = Some(index);
    }
    param
}

/// True if any code assigns the field of an object with the same name (`memory.remote = connect()`), or the field has
/// no known name.
fn may_be_assigned_later(linker: &Linker<'_>, object: MadeObject, declared: FileId, field: Sym) -> bool {
    let Some(field) = linker.program.global(declared, field) else { return true };
    let name = object.variable.and_then(|variable| linker.program.global(object.site.file, variable));
    linker.program.occurrences(field).iter().any(|&(file, sym)| {
        let facts = linker.program.facts(file);
        linker.program.index_of(file).attr_assigns(sym).iter().any(|&(assign, is_own)| {
            let Form::Attr(base, _) = facts.form(facts.assign(assign).target) else { return false };
            let last = match facts.form(base) {
                Form::Var(var) => facts.var(var).name,
                Form::Attr(_, name) | Form::Name(name) => name,
                _ => return !is_own,
            };
            !is_own && name.is_some() && linker.program.global(file, last) == name
        })
    })
}

/// Adds the fields of `self` that are set if the result of a test is `outcome`.
fn add_parts(facts: &FileFacts, test: FormId, outcome: bool, parts: &mut SmallVec<[Sym; 2]>) {
    each_decided_part(facts, test, outcome, &mut |part, outcome| match facts.form(part) {
        Form::Attr(base, name) if outcome && is_own_receiver(facts, base) => parts.push(name),
        Form::Compare(comparison, left, right) if facts.form(right) == Form::None => {
            let is_set = match comparison {
                Comparison::Is | Comparison::Eq => !outcome,
                Comparison::IsNot | Comparison::NotEq => outcome,
                _ => false,
            };
            if is_set {
                add_parts(facts, left, true, parts);
            }
        }
        _ => {}
    });
}
