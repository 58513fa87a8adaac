//! Functions of the project that hand a closure parameter over to the blocking pool (Rust). A call of such a function
//! hands work over, and the bound belongs at the call:
//! `fn off(work: impl FnOnce()) { spawn_blocking(move || span.in_scope(work)) }`.

use blocklint_core::Language;
use blocklint_facts::{FileFacts, Form, FormId, SiteId, VarKind};
use blocklint_flow::callers::Callers;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, PathId, SiteRef};
use blocklint_link::syntax::forms::mentions;
use blocklint_link::syntax::regions::function_around;
use blocklint_link::values::value::{EnvId, Val};
use rustc_hash::FxHashSet;

use super::Handover;

/// The depth to which forms are followed.
const DEPTH: u32 = 8;

/// The most handovers that are followed.
const MOST: usize = 4_000;

/// The most pointers around a closure that are followed, plus one: `Box::new(move || …)`.
const POINTERS: u32 = 3;

/// A function that hands one of its parameters over to a pool.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Wrapper {
    body: BodyRef,
    param: u32,
    path: PathId,
}

/// Returns the calls of wrapper functions whose handovers are among `direct`, also through several wrappers.
/// `is_bounded` is true for a handover whose function bounds concurrency itself.
pub(super) fn find_wrapper_handovers<'a>(
    linker: &Linker<'a>,
    callers: &Callers<'_, 'a>,
    direct: &[Handover],
    is_bounded: impl Fn(SiteRef) -> bool,
) -> Vec<Handover> {
    let mut handovers: Vec<Handover> = Vec::new();
    let mut open: Vec<Wrapper> = Vec::new();
    let mut visited: FxHashSet<Wrapper> = FxHashSet::default();
    let is_rust = |handover: &&Handover| linker.program.language(handover.site.file) == Language::Rust;
    for handover in direct.iter().filter(is_rust) {
        if !is_bounded(handover.site) {
            let args = linker.program.args_of(handover.site);
            open.extend(args.iter().flat_map(|arg| wrappers_around(linker, handover.site, arg.value, handover.path)));
        }
    }
    while let Some(wrapper) = open.pop() {
        if !visited.insert(wrapper) || handovers.len() > MOST {
            continue;
        }
        let calls = callers.call_sites(wrapper.body);
        for site in calls.iter().copied().chain(callers.call_sites_through_base(wrapper.body)) {
            let Some(form) = argument_for_wrapper(linker, site, wrapper) else { continue };
            if !is_bounded(site) {
                open.extend(wrappers_around(linker, site, form, wrapper.path));
            }
            let (tasks, library_function) = callables_of(linker, site, form, POINTERS);
            if !tasks.is_empty() || library_function.is_some() {
                handovers.push(Handover { site, path: wrapper.path, tasks, library_function });
            }
        }
    }
    handovers.sort_by_key(|handover| handover.site);
    handovers.dedup_by_key(|handover| handover.site);
    handovers
}

/// Returns the argument of a call for a wrapper's parameter, also if the call runs the wrapper through a trait.
fn argument_for_wrapper(linker: &Linker<'_>, site: SiteRef, wrapper: Wrapper) -> Option<FormId> {
    if let Some(form) = linker.passed_argument(site, wrapper.body, wrapper.param) {
        return Some(form);
    }
    let facts = linker.program.facts(wrapper.body.file);
    let has_self = linker.program.params_of(wrapper.body).first().is_some_and(|first| facts.text(first.name) == "self");
    let index = (wrapper.param as usize).checked_sub(usize::from(has_self))?;
    linker.program.args_of(site).get(index).map(|arg| arg.value)
}

/// Returns the function around a call as a wrapper for each of its callable parameters that an argument of the call
/// contains, directly or in a closure.
fn wrappers_around(linker: &Linker<'_>, site: SiteRef, form: FormId, path: PathId) -> Vec<Wrapper> {
    let (facts, body_id) = linker.program.facts_and_id(linker.program.body_of_site(site));
    let function = function_around(facts, body_id);
    let mut wrappers = Vec::new();
    for (index, param) in facts.params_of(function).iter().enumerate() {
        let is_param = |form: Form| match form {
            Form::Var(var) => {
                let var_facts = facts.var(var);
                var_facts.body == function && var_facts.kind == VarKind::Param(index as u32)
            }
            _ => false,
        };
        if param.annotation.is_none() {
            continue;
        }
        let contains_param = mentions(facts, form, DEPTH, &is_param) || is_used_in_closure(facts, form, &is_param);
        let body = site.file.body_ref(function);
        if contains_param && linker.is_callable_type(linker.annotation(linker.signature_scope(body), param.annotation))
        {
            wrappers.push(Wrapper { body, param: index as u32, path });
        }
    }
    wrappers
}

/// True if a closure in a form calls a wanted form, or passes it on.
fn is_used_in_closure(facts: &FileFacts, form: FormId, is_wanted: &dyn Fn(Form) -> bool) -> bool {
    let is_closure_with_use = |form: Form| match form {
        Form::Callable(closure) => facts.sites.iter().enumerate().any(|(index, site_facts)| {
            facts.body_of(site_facts.at) == closure
                && (mentions(facts, site_facts.callee, DEPTH, is_wanted)
                    || facts
                        .args_of(SiteId(index as u32))
                        .iter()
                        .any(|argument| mentions(facts, argument.value, DEPTH, is_wanted)))
        }),
        _ => false,
    };
    mentions(facts, form, DEPTH, &is_closure_with_use)
}

/// Returns the callables that are values of a form, also behind pointers: bodies of the project, and a library
/// function.
pub(super) fn callables_of(
    linker: &Linker<'_>,
    site: SiteRef,
    form: FormId,
    depth: u32,
) -> (Vec<BodyRef>, Option<PathId>) {
    let Some(depth) = depth.checked_sub(1) else { return (Vec::new(), None) };
    let typed = linker.eval(linker.scope_of(site, EnvId::NONE), form);
    let members = linker.values.members(typed.value);
    let tasks: Vec<BodyRef> = members
        .iter()
        .filter_map(|val| match *val {
            Val::Fn { body, .. } => Some(body),
            _ => None,
        })
        .collect();
    let library_function = members.iter().find_map(|val| match *val {
        Val::External(path) | Val::Method { path, .. } => Some(path),
        _ => None,
    });
    if tasks.is_empty()
        && library_function.is_none()
        && let facts = linker.program.facts(site.file)
        && let Form::Result(made) = facts.form(form)
        && let [only] = &facts.args_of(made)[..]
    {
        return callables_of(linker, site, only.value, depth);
    }
    (tasks, library_function)
}
