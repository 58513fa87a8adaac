//! Rust: a project's own functions that hand a closure they are passed to the blocking pool. A caller of such a
//! function hands work over, and a bound belongs there:
//! `fn off(work: impl FnOnce()) { spawn_blocking(move || span.in_scope(work)) }`.

use blocklint_core::Language;
use blocklint_facts::{BodyId, FileFacts, Form, FormId, VarKind};
use blocklint_flow::callers::Callers;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, PathId, SiteRef};
use blocklint_link::syntax::forms::mentions;
use blocklint_link::syntax::regions::function_around;
use blocklint_link::values::value::{EnvId, Val};
use rustc_hash::FxHashSet;

use super::Handed;

/// How deep forms are followed.
const DEPTH: u32 = 8;

/// Hand-overs that are followed, and pointers around a closure: `Box::new(move || …)`.
const MOST: usize = 4_000;
const POINTERS: u32 = 3;

/// A function that hands one of its parameters to a pool.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Wrapper {
    body: BodyRef,
    param: u32,
    path: PathId,
}

/// Returns the calls of functions that hand over, at one of these sites, their arguments. `is_bounded` is true where
/// the function itself bounds how much runs at once.
pub(super) fn handed_through<'a>(
    linker: &Linker<'a>,
    callers: &Callers<'_, 'a>,
    direct: &[Handed],
    is_bounded: impl Fn(SiteRef) -> bool,
) -> Vec<Handed> {
    let mut found: Vec<Handed> = Vec::new();
    let mut open: Vec<Wrapper> = Vec::new();
    let mut seen: FxHashSet<Wrapper> = FxHashSet::default();
    for handed in direct.iter().filter(|handed| linker.program.language(handed.site.file) == Language::Rust) {
        if !is_bounded(handed.site) {
            let given = linker.program.args_of(handed.site);
            open.extend(given.iter().flat_map(|arg| wrappers_at(linker, handed.site, arg.value, handed.path)));
        }
    }
    while let Some(wrapper) = open.pop() {
        if !seen.insert(wrapper) || found.len() > MOST {
            continue;
        }
        let direct = callers.call_sites(wrapper.body);
        for site in direct.iter().copied().chain(callers.sites_by_base(wrapper.body)) {
            let Some(form) = argument_for_wrapper(linker, site, wrapper) else { continue };
            if !is_bounded(site) {
                open.extend(wrappers_at(linker, site, form, wrapper.path));
            }
            let (tasks, calls) = callables(linker, site, form, POINTERS);
            if !tasks.is_empty() || calls.is_some() {
                found.push(Handed { site, path: wrapper.path, tasks, calls });
            }
        }
    }
    found.sort_by_key(|handed| handed.site);
    found.dedup_by_key(|handed| handed.site);
    found
}

/// Returns the argument of a call for a wrapper's parameter; also where the wrapper implements a trait that the call
/// names.
fn argument_for_wrapper(linker: &Linker<'_>, site: SiteRef, wrapper: Wrapper) -> Option<FormId> {
    if let Some(form) = linker.passed_argument(site, wrapper.body, wrapper.param) {
        return Some(form);
    }
    let facts = linker.program.facts(wrapper.body.file);
    let own = linker.program.params_of(wrapper.body).first().is_some_and(|first| facts.text(first.name) == "self");
    let at = (wrapper.param as usize).checked_sub(usize::from(own))?;
    linker.program.args_of(site).get(at).map(|given| given.value)
}

/// Returns the functions around a call, one of whose parameters goes into an argument of it: as it is, or in a closure.
fn wrappers_at(linker: &Linker<'_>, site: SiteRef, form: FormId, path: PathId) -> Vec<Wrapper> {
    let (facts, body_id) = linker.program.facts_and_id(linker.program.body_of_site(site));
    let function = function_around(facts, body_id);
    let mut found = Vec::new();
    for (index, param) in facts.params_of(function).iter().enumerate() {
        let is_param = |form: Form| match form {
            Form::Var(var) => {
                let row = facts.var(var);
                row.body == function && row.kind == VarKind::Param(index as u32)
            }
            _ => false,
        };
        if param.annotation.is_none() {
            continue;
        }
        let goes_in = mentions(facts, form, DEPTH, &is_param) || in_closure(facts, form, &is_param);
        if goes_in
            && linker
                .is_callable_type(linker.annotation(linker.signature_scope(body(site, function)), param.annotation))
        {
            found.push(Wrapper { body: body(site, function), param: index as u32, path });
        }
    }
    found
}

fn body(site: SiteRef, body: BodyId) -> BodyRef {
    site.file.body_ref(body)
}

/// True if a closure in a form calls a wanted form, or passes it on.
fn in_closure(facts: &FileFacts, form: FormId, wanted: &dyn Fn(Form) -> bool) -> bool {
    let literal = |form: Form| match form {
        Form::Callable(of) => facts.sites.iter().enumerate().any(|(at, row)| {
            facts.body_of(row.at) == of
                && (mentions(facts, row.callee, DEPTH, wanted)
                    || facts
                        .args_of(blocklint_facts::SiteId(at as u32))
                        .iter()
                        .any(|argument| mentions(facts, argument.value, DEPTH, wanted)))
        }),
        _ => false,
    };
    mentions(facts, form, DEPTH, &literal)
}

/// Returns the callables that a form is, also behind pointers: bodies, and a library's function.
pub(super) fn callables(
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
    let calls = members.iter().find_map(|val| match *val {
        Val::External(path) | Val::Method { path, .. } => Some(path),
        _ => None,
    });
    if tasks.is_empty()
        && calls.is_none()
        && let facts = linker.program.facts(site.file)
        && let Form::Result(made) = facts.form(form)
        && let [only] = &facts.args_of(made)[..]
    {
        return callables(linker, site, only.value, depth);
    }
    (tasks, calls)
}
