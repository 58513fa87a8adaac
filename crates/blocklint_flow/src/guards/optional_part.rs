//! Parts that an object was made without: `memory = Cache()`, whose class keeps what its constructor is not given as `None`
//! and calls it only behind a test (`if self.remote is not None: self.remote.get(key)`).

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
use crate::lifecycle::phase::sites_by_name;

/// How many variables, fields and callers an object is followed through.
const DEPTH: u32 = 10;

/// Objects beyond which the search does not look for the parts that each was made without.
const MOST_OBJECTS: usize = 8;

/// Where an object is made, and the name it is kept under in that file.
#[derive(Clone, Copy, PartialEq, Eq)]
struct MadeObject {
    site: SiteRef,
    kept: Option<Sym>,
}

/// The objects a form can be, as far as they were found.
#[derive(Default)]
struct Objects {
    made: SmallVec<[MadeObject; 4]>,
    /// The parameters that were asked for: a method that passes on its arguments adds nothing.
    params: SmallVec<[(BodyRef, u32); 8]>,
    /// The methods whose objects were asked for, likewise.
    receivers: SmallVec<[BodyRef; 8]>,
}

/// True if a site of a method asks for a part that the object a caller calls it on was made without.
pub(crate) fn asks_for_left_out<'a>(
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
    let mut found = Objects::default();
    objects(linker, callers, linker.scope_of(caller.site, EnvId::NONE), receiver, &mut found, DEPTH)
        && !found.made.is_empty()
        && found.made.iter().all(|&made| parts.iter().any(|&part| is_left_out(linker, made, class, part)))
}

/// Returns the fields of the own object that are set where a site is reached, by the branches around it.
pub(crate) fn parts_over(linker: &Linker<'_>, site: SiteRef) -> SmallVec<[Sym; 2]> {
    let facts = linker.program.facts(site.file);
    let mut found = SmallVec::new();
    for (test, holds) in linker.tests_over(site) {
        parts_in(facts, test, holds, &mut found);
    }
    found
}

/// Adds the places where the objects are made that a form can be. Returns true if these are all. `None` is no object.
fn objects<'a>(
    linker: &Linker<'a>,
    callers: &Callers<'_, 'a>,
    scope: Scope,
    form: FormId,
    found: &mut Objects,
    depth: u32,
) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(scope.file);
    let body = facts.body_of(scope.at);
    match facts.form(form) {
        Form::None => true,
        Form::Result(site) => is_made(linker, scope.file.site_ref(site), None, found),
        // The object a method is called on is the one its callers call it on.
        Form::Var(var) if is_own_receiver(facts, form) && facts.var(var).body == body => {
            objects_called_on(linker, callers, scope.file.body_ref(body), found, depth)
        }
        Form::Var(var) => {
            let row = facts.var(var);
            if let VarKind::Param(index) = row.kind {
                let is_only_passed = row.body == body && facts.assigns_of(var).all(|row| row.value.is_none());
                return is_only_passed
                    && objects_passed(linker, callers, scope.file.body_ref(body), index, found, depth);
            }
            let Some(only) = facts.only_value_of(var) else { return false };
            match facts.form(only.value) {
                Form::Import(_) => object_of_module(linker, linker.module_var(scope.file, form), found),
                Form::Result(site) if row.body == BodyId(0) || row.body == body => {
                    is_made(linker, scope.file.site_ref(site), Some(row.name), found)
                }
                _ if row.body == body => {
                    objects(linker, callers, Scope { at: only.at, ..scope }, only.value, found, depth)
                }
                _ => false,
            }
        }
        Form::Attr(base, name) if is_own_receiver(facts, base) => {
            let Some(class) = linker.class_around(scope.file.body_ref(body)) else { return false };
            objects_of_field(linker, callers, (scope.file, class), name, found, depth)
        }
        Form::Attr(..) => object_of_module(linker, linker.module_var(scope.file, form), found),
        Form::Subscript(base, key) => {
            let (Form::Attr(own, name), Form::Str(key)) = (facts.form(base), facts.form(key)) else { return false };
            let class = linker.class_around(scope.file.body_ref(body));
            let Some(class) = class.filter(|_| is_own_receiver(facts, own)) else { return false };
            class.file == scope.file && objects_under_key(linker, callers, class, (name, key), found, depth)
        }
        _ => false,
    }
}

/// Takes up an object where a site makes one.
fn is_made(linker: &Linker<'_>, site: SiteRef, kept: Option<Sym>, found: &mut Objects) -> bool {
    if !matches!(linker.program.site(site).kind, SiteKind::Call | SiteKind::New) {
        return false;
    }
    let made = MadeObject { site, kept };
    if !found.made.contains(&made) {
        found.made.push(made);
    }
    found.made.len() <= MOST_OBJECTS
}

/// Returns the one object that a module stores in a variable.
fn object_of_module(linker: &Linker<'_>, kept: Option<VarRef>, found: &mut Objects) -> bool {
    let Some(var) = kept else { return false };
    let facts = linker.program.facts(var.file);
    let Some(only) = linker.program.only_value_of(var) else { return false };
    match facts.form(only.value) {
        Form::Result(site) => is_made(linker, var.file.site_ref(site), Some(linker.program.var(var).name), found),
        _ => false,
    }
}

/// Returns the objects that all callers of a body pass to a parameter.
fn objects_passed<'a>(
    linker: &Linker<'a>,
    callers: &Callers<'_, 'a>,
    body: BodyRef,
    index: u32,
    found: &mut Objects,
    depth: u32,
) -> bool {
    if found.params.contains(&(body, index)) {
        return true;
    }
    found.params.push((body, index));
    let known = callers.call_sites(body);
    // A call of a hook on an unknown object calls all hooks of that name.
    let is_hook = known.is_empty();
    let by_name = if is_hook { sites_by_name(linker, body) } else { SmallVec::new() };
    let sites = if is_hook { &by_name[..] } else { &known[..] };
    let passed = |site| match is_hook {
        true => linker.argument_for_param(site, body, index, true),
        false => linker.passed(site, body, index),
    };
    are_few(sites)
        && sites.iter().all(|&site| match passed(site) {
            Some(form) => objects(linker, callers, linker.scope_of(site, EnvId::NONE), form, found, depth),
            None if linker.unpacks(site) => false,
            None => match linker.default_of(body, index) {
                Some(default) => default == Constant::Null,
                // A call that lacks what this hook demands is one of another class's hook.
                None => is_hook,
            },
        })
}

/// Returns the objects on which all callers of a method call it.
fn objects_called_on<'a>(
    linker: &Linker<'a>,
    callers: &Callers<'_, 'a>,
    body: BodyRef,
    found: &mut Objects,
    depth: u32,
) -> bool {
    if found.receivers.contains(&body) {
        return true;
    }
    found.receivers.push(body);
    callers.few_call_sites(body).is_some_and(|sites| {
        sites.iter().all(|&site| {
            let receiver = linker.receiver_form(site);
            receiver
                .is_some_and(|form| objects(linker, callers, linker.scope_of(site, EnvId::NONE), form, found, depth))
        })
    })
}

/// Returns the objects that any code assigns to a field of a class, its bases or its subclasses.
fn objects_of_field<'a>(
    linker: &Linker<'a>,
    callers: &Callers<'_, 'a>,
    (file, class): (FileId, ClassRef),
    field: Sym,
    found: &mut Objects,
    depth: u32,
) -> bool {
    let Some(name) = linker.program.global(file, field) else { return false };
    let mut assigned = false;
    let all = linker.assigns_to_member(class, name).into_iter().all(|(file, assign)| {
        let row = linker.program.facts(file).assign(assign);
        if row.value.is_none() {
            return true;
        }
        assigned = true;
        let scope = Scope { file, at: row.at, env: EnvId::NONE };
        match linker.program.facts(file).form(row.value) {
            Form::Result(site) => is_made(linker, file.site_ref(site), linker.program.local(file, name), found),
            _ => objects(linker, callers, scope, row.value, found, depth),
        }
    });
    assigned && all
}

/// Returns the objects that a class stores under a key of a dictionary in a field: `self.parts["cache"] = cache`.
fn objects_under_key<'a>(
    linker: &Linker<'a>,
    callers: &Callers<'_, 'a>,
    class: ClassRef,
    (field, key): (Sym, Sym),
    found: &mut Objects,
    depth: u32,
) -> bool {
    let file = class.file;
    let facts = linker.program.facts(file);
    let setter = linker.program.name("__setitem__").and_then(|name| linker.program.local(file, name));
    let Some(setter) = setter else { return false };
    let mut put = false;
    let all = linker.program.index_of(file).sites_named(setter).iter().all(|&site| {
        let row = facts.site(site);
        let is_of_field = matches!(facts.form(row.callee), Form::Attr(base, name)
                if name == field && is_own_receiver(facts, base));
        if !is_of_field || linker.class_around(linker.program.body_of(file, row.at)) != Some(class) {
            return true;
        }
        match *facts.args_of(site) {
            [at, value] => match facts.form(at.value) {
                Form::Str(other) if other != key => true,
                Form::Str(_) => {
                    put = true;
                    let scope = linker.scope_of(file.site_ref(site), EnvId::NONE);
                    objects(linker, callers, scope, value.value, found, depth)
                }
                _ => false,
            },
            _ => false,
        }
    });
    put && all
}

/// True if an object was made without a part, and no code assigns one later under its name.
fn is_left_out(linker: &Linker<'_>, made: MadeObject, class: ClassRef, part: Sym) -> bool {
    let Some(index) = constructor_param(linker, class, part) else { return false };
    let targets = linker.targets(made.site, EnvId::NONE);
    let constructor = targets.list.iter().find_map(|target| match *target {
        Target::Body { body, with_receiver, .. } if is_constructor_of(linker, class, body) => {
            Some((body, with_receiver))
        }
        _ => None,
    });
    let Some((body, with_receiver)) = constructor else { return false };
    let is_none = match linker.argument_for_param(made.site, body, index, with_receiver) {
        Some(form) => linker.constant(made.site, form, EnvId::NONE, 3) == Constant::Null,
        None => !linker.unpacks(made.site) && linker.default_of(body, index) == Some(Constant::Null),
    };
    is_none && !is_assigned_later(linker, made, class.file, part)
}

fn is_constructor_of(linker: &Linker<'_>, class: ClassRef, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    linker.program.body(body).class.get().map(|own| body.file.class_ref(own)) == Some(class)
        && lang::words_of(facts.language).is_constructor(facts.text(linker.program.body(body).name))
}

/// Returns the constructor's parameter that is all a field of a class ever is.
fn constructor_param(linker: &Linker<'_>, class: ClassRef, field: Sym) -> Option<u32> {
    let facts = linker.program.facts(class.file);
    let mut found = None;
    for &(assign, own) in linker.program.index_of(class.file).attr_assigns(field) {
        let row = facts.assign(assign);
        let body = linker.program.body_of(class.file, row.at);
        if !own || row.value.is_none() || linker.class_around(body) != Some(class) {
            continue;
        }
        let Form::Var(var) = facts.form(row.value) else { return None };
        let var = facts.var(var);
        let VarKind::Param(index) = var.kind else { return None };
        if found.is_some() || class.file.body_ref(var.body) != body || !is_constructor_of(linker, class, body) {
            return None;
        }
        found = Some(index);
    }
    found
}

/// True if code assigns the field of an object of that name: `memory.remote = connect()`.
fn is_assigned_later(linker: &Linker<'_>, made: MadeObject, declared: FileId, field: Sym) -> bool {
    let Some(field) = linker.program.global(declared, field) else { return true };
    let name = made.kept.and_then(|kept| linker.program.global(made.site.file, kept));
    linker.program.occurrences(field).iter().any(|&(file, sym)| {
        let facts = linker.program.facts(file);
        linker.program.index_of(file).attr_assigns(sym).iter().any(|&(assign, own)| {
            let Form::Attr(base, _) = facts.form(facts.assign(assign).target) else { return false };
            let last = match facts.form(base) {
                Form::Var(var) => facts.var(var).name,
                Form::Attr(_, name) | Form::Name(name) => name,
                _ => return !own,
            };
            !own && name.is_some() && linker.program.global(file, last) == name
        })
    })
}

/// Adds the fields of the own object that are set if a test comes out as `holds`.
fn parts_in(facts: &FileFacts, test: FormId, holds: bool, found: &mut SmallVec<[Sym; 2]>) {
    each_decided_part(facts, test, holds, &mut |part, holds| match facts.form(part) {
        Form::Attr(base, name) if holds && is_own_receiver(facts, base) => found.push(name),
        Form::Compare(comparison, left, right) if facts.form(right) == Form::None => {
            let is_there = match comparison {
                Comparison::Is | Comparison::Eq => !holds,
                Comparison::IsNot | Comparison::NotEq => holds,
                _ => false,
            };
            if is_there {
                parts_in(facts, left, true, found);
            }
        }
        _ => {}
    });
}
