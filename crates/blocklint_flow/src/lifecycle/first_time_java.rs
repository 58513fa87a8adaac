//! Lazy initialisation (Java): code that runs only the first time. `if (client == null) { client = make(); }` of a
//! field that threads share or of an `AtomicReference`, `map.computeIfAbsent(…)`, and `if (!slot.compareAndSet(null,
//! mine)) { return; }`.

use blocklint_core::Language;
use blocklint_facts::{
    AltKind, At, BodyFlags, BodyId, BodyKind, Comparison, ExitKind, FileFacts, Form, FormId, RegionKind, SiteId,
    SiteKind, VarKind,
};
use blocklint_link::calls::targets::Target;
use blocklint_link::lang::java::names::{
    ATOMIC_CLAIM, ATOMIC_READ, ATOMIC_WRITES, EMPTINESS_TESTS, LOCK_ENTRIES, MAP_COMPUTE, MAP_READ, MAP_WRITES,
    is_getter_of, is_settings,
};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::syntax::forms::is_same;
use blocklint_link::values::value::EnvId;
use smallvec::{SmallVec, smallvec};

use crate::lifecycle::first_time::FirstTime;
use crate::lifecycle::owner::Owner;

/// How deep a test is searched for its parts.
const MAX_TEST_DEPTH: u32 = 4;

/// A state that a test checks.
#[derive(Clone, Copy)]
struct TestedState {
    field: FormId,
    kind: StateKind,
}

/// How the tested state is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StateKind {
    /// In a field: `client == null`.
    Field,
    /// In an atomic reference: `client.get() == null`.
    Atomic,
    /// Under a key of a map: `clients.get(host) == null`.
    MapKey,
}

/// Returns the reason why a site runs only the first time, if it does (Java). A field that no other thread shares does
/// not count, because its object may be made again for each request.
pub fn find_first_time_in_java(linker: &Linker<'_>, site: SiteRef) -> Option<FirstTime> {
    let facts = linker.program.facts(site.file);
    if facts.language != Language::Java {
        return None;
    }
    let once = |per_key: bool| Some(FirstTime { keeper: Owner::Program, per_key });
    let here = linker.program.site(site).at;
    let body = facts.body_of(here);
    if claims_slot_before(linker, site.file, body, here) {
        return once(false);
    }
    if fills_map(linker, site.file, body) {
        return once(true);
    }
    let mut current = here.region;
    while let Some(id) = current.get() {
        let region = facts.region(id);
        let states = match region.kind {
            RegionKind::Then => unset_states(linker, site.file, region.test, true, MAX_TEST_DEPTH),
            RegionKind::Else if region.test.is_some() => {
                unset_states(linker, site.file, region.test, false, MAX_TEST_DEPTH)
            }
            _ => SmallVec::new(),
        };
        let is_shared_and_set = |state: &&TestedState| {
            state.kind == StateKind::MapKey && sets_in_callee(linker, site, **state)
                || (state.kind != StateKind::Field
                    || is_shared_in(linker, site.file, body, here)
                    || is_of_settings(linker, site.file, body))
                    && (is_set_after(linker, site.file, body, here, **state) || sets_in_callee(linker, site, **state))
        };
        if let Some(state) = states.iter().find(is_shared_and_set) {
            return once(state.kind == StateKind::MapKey);
        }
        let is_set_by_getter = |state: &TestedState| {
            state.kind == StateKind::Field
                && is_getter_of_field(facts, body, state.field)
                && is_set_after(linker, site.file, body, here, *state)
        };
        if states.iter().any(is_set_by_getter) {
            return once(true);
        }
        current = region.parent;
    }
    None
}

/// True if a lambda makes the value that a map lacks: `contexts.computeIfAbsent(host, key -> load(key))`.
fn fills_map(linker: &Linker<'_>, file: FileId, body: BodyId) -> bool {
    let facts = linker.program.facts(file);
    if facts.body(body).kind != BodyKind::Lambda {
        return false;
    }
    let uses = linker.program.index_of(file).uses_of_callable(body);
    uses.iter().any(|(mention, _)| match mention {
        Mention::Arg(site, _) => {
            facts.text(facts.site(site).name) == MAP_COMPUTE
                && linker.receiver_form(file.site_ref(site)).is_some_and(|map| reads_field(facts, map))
        }
        _ => false,
    })
}

/// Returns the states that are unset, `null` or false, if a test evaluates to `holds`.
fn unset_states(
    linker: &Linker<'_>,
    file: FileId,
    test: FormId,
    holds: bool,
    depth: u32,
) -> SmallVec<[TestedState; 2]> {
    let Some(depth) = depth.checked_sub(1) else { return SmallVec::new() };
    let facts = linker.program.facts(file);
    match facts.form(test) {
        Form::Not(inner) => unset_states(linker, file, inner, !holds, depth),
        Form::Compare(comparison @ (Comparison::Eq | Comparison::NotEq), left, right) => {
            let is_unset = (comparison == Comparison::Eq) == holds;
            match (facts.form(left), facts.form(right)) {
                (_, Form::None) if is_unset => states_read(linker, file, left, true),
                (Form::None, _) if is_unset => states_read(linker, file, right, true),
                _ => SmallVec::new(),
            }
        }
        // `client == null || client.isExpired()`: the stored object itself decides when it is made again.
        Form::Alt(AltKind::Or, list) if holds => {
            let [first, rest @ ..] = facts.list(list) else { return SmallVec::new() };
            let states = unset_states(linker, file, *first, true, depth);
            let is_asked = |test: &FormId, state: &TestedState| match facts.form(*test) {
                Form::Result(call) => {
                    let receiver = linker.receiver_form(file.site_ref(call));
                    receiver.is_some_and(|receiver| is_same(facts, receiver, state.field))
                }
                _ => false,
            };
            let is_only_subject =
                |state: &TestedState| state.kind == StateKind::Field && rest.iter().all(|test| is_asked(test, state));
            states.into_iter().filter(is_only_subject).collect()
        }
        // Any other `a || b` shows nothing: `client == null || expired` refreshes again and again.
        Form::Alt(AltKind::And, list) if holds => {
            facts.list(list).iter().flat_map(|&part| unset_states(linker, file, part, true, depth)).collect()
        }
        Form::Alt(AltKind::Or, list) if !holds => {
            facts.list(list).iter().flat_map(|&part| unset_states(linker, file, part, false, depth)).collect()
        }
        // `Strings.isNullOrEmpty(name)`
        Form::Result(call) if holds && EMPTINESS_TESTS.contains(&facts.text(facts.site(call).name)) => {
            let args = facts.args_of(call);
            args.iter().flat_map(|arg| states_read(linker, file, arg.value, true)).collect()
        }
        Form::Var(_) | Form::Attr(..) | Form::Name(_) | Form::Result(_) if !holds => {
            states_read(linker, file, test, true)
        }
        _ => SmallVec::new(),
    }
}

/// Returns the states that an expression reads; with `follow_locals` also through a local variable.
fn states_read(linker: &Linker<'_>, file: FileId, form: FormId, follow_locals: bool) -> SmallVec<[TestedState; 2]> {
    let facts = linker.program.facts(file);
    match facts.form(form) {
        Form::Var(var) if facts.var(var).kind != VarKind::Inner => {
            smallvec![TestedState { field: form, kind: StateKind::Field }]
        }
        Form::Var(var) if follow_locals => {
            facts.assigns_of(var).flat_map(|assign| states_read(linker, file, assign.value, false)).collect()
        }
        Form::Attr(base, _) if matches!(facts.form(base), Form::This) => {
            smallvec![TestedState { field: form, kind: StateKind::Field }]
        }
        Form::Name(_) => smallvec![TestedState { field: form, kind: StateKind::Field }],
        Form::Result(call) if facts.text(facts.site(call).name) == ATOMIC_READ && facts.args_of(call).is_empty() => {
            let receiver = linker.receiver_form(file.site_ref(call));
            receiver.into_iter().map(|field| TestedState { field, kind: StateKind::Atomic }).collect()
        }
        Form::Result(call) if facts.text(facts.site(call).name) == MAP_READ && facts.args_of(call).len() == 1 => {
            let map = linker.receiver_form(file.site_ref(call)).filter(|&map| reads_field(facts, map));
            map.into_iter().map(|field| TestedState { field, kind: StateKind::MapKey }).collect()
        }
        Form::Result(site) => maps_read_by_getter(linker, file.site_ref(site)),
        _ => SmallVec::new(),
    }
}

/// True if a body sets a state at or after a site: it assigns the field, or writes the reference or the map.
fn is_set_after(linker: &Linker<'_>, file: FileId, body: BodyId, here: At, state: TestedState) -> bool {
    let facts = linker.program.facts(file);
    if state.kind != StateKind::Field {
        let writes = if state.kind == StateKind::MapKey { MAP_WRITES } else { ATOMIC_WRITES };
        let mut sites = facts.sites.iter().enumerate();
        return sites.any(|(index, row)| {
            row.kind == SiteKind::Call
                && row.at.position > here.position
                && writes.contains(&facts.text(row.name))
                && facts.body_of(row.at) == body
                && linker
                    .receiver_form(file.site_ref(SiteId(index as u32)))
                    .is_some_and(|receiver| is_same(facts, receiver, state.field))
        });
    }
    facts.assigns.iter().any(|assignment| {
        assignment.at.position >= here.position
            && !matches!(
                assignment.value.get().map(|value| facts.form(value)),
                None | Some(Form::None | Form::Bool(false))
            )
            && facts.body_of(assignment.at) == body
            && is_same_field(facts, assignment.target, state.field)
    })
}

/// True if a callee of a site in the same file sets a state.
fn sets_in_callee(linker: &Linker<'_>, site: SiteRef, state: TestedState) -> bool {
    let targets = linker.targets(site, EnvId::NONE);
    targets.list.iter().any(|target| match *target {
        Target::Body { body, .. } if body.file == site.file => {
            let start = At { position: 0, ..linker.program.site(site).at };
            let (_, body_id) = linker.program.facts_and_id(body);
            is_set_after(linker, body.file, body_id, start, state)
        }
        _ => false,
    })
}

/// Returns the maps from which a callee in the same file returns a value: `Client find(String host) { return
/// clients.get(host); }`.
fn maps_read_by_getter(linker: &Linker<'_>, site: SiteRef) -> SmallVec<[TestedState; 2]> {
    let facts = linker.program.facts(site.file);
    let targets = linker.targets(site, EnvId::NONE);
    let bodies = targets.list.iter().filter_map(|target| match *target {
        Target::Body { body, .. } if body.file == site.file => Some(body),
        _ => None,
    });
    let mut maps = SmallVec::new();
    for body in bodies {
        let exits = facts.exits.iter().filter(|exit| exit.kind == ExitKind::Return && exit.value.is_some());
        for exit in exits.filter(|exit| linker.program.body_of(site.file, exit.at) == body) {
            let Form::Result(call) = facts.form(exit.value) else { continue };
            if facts.text(facts.site(call).name) != MAP_READ || facts.args_of(call).len() != 1 {
                continue;
            }
            let map = linker.receiver_form(site.file.site_ref(call)).filter(|&map| reads_field(facts, map));
            maps.extend(map.map(|field| TestedState { field, kind: StateKind::MapKey }));
        }
    }
    maps
}

/// True if other threads run the code, too: the body is static, or it has taken a lock before.
fn is_shared_in(linker: &Linker<'_>, file: FileId, body: BodyId, here: At) -> bool {
    let facts = linker.program.facts(file);
    facts.body(body).flags.has(BodyFlags::STATIC)
        || facts.sites.iter().any(|site_facts| {
            site_facts.at.position < here.position
                && LOCK_ENTRIES.contains(&facts.text(site_facts.name))
                && facts.body_of(site_facts.at) == body
        })
}

/// True if a body is a method of a settings class, which has one object for all requests.
fn is_of_settings(linker: &Linker<'_>, file: FileId, body: BodyId) -> bool {
    let facts = linker.program.facts(file);
    let class = facts.body(body).class.get();
    class.is_some_and(|class| is_settings(facts.text(facts.class(class).name)))
}

/// True if a body claims an empty slot before a site: `slot.compareAndSet(null, mine)`.
fn claims_slot_before(linker: &Linker<'_>, file: FileId, body: BodyId, here: At) -> bool {
    let index = linker.program.index_of(file);
    let sym = linker.program.name(ATOMIC_CLAIM).and_then(|name| linker.program.local(file, name));
    let facts = linker.program.facts(file);
    sym.into_iter().flat_map(|sym| index.sites_named(sym)).any(|&claim| {
        let site_facts = facts.site(claim);
        let expects_empty = facts
            .args_of(claim)
            .iter()
            .next()
            .is_some_and(|arg| matches!(facts.form(arg.value), Form::None | Form::Bool(false)));
        expects_empty && site_facts.at.position < here.position && facts.body_of(site_facts.at) == body
    })
}

/// True if an expression reads a field, whose content outlives the call of the method.
fn reads_field(facts: &FileFacts, form: FormId) -> bool {
    match facts.form(form) {
        Form::Var(var) => facts.body(facts.var(var).body).kind == BodyKind::Class,
        Form::Attr(base, _) => matches!(facts.form(base), Form::This),
        Form::Name(_) => true,
        _ => false,
    }
}

/// True if a method is named after a field and returns its value: `template()`, `getTemplate()`.
fn is_getter_of_field(facts: &FileFacts, body: BodyId, field: FormId) -> bool {
    let name = match facts.form(field) {
        Form::Var(var) => facts.text(facts.var(var).name),
        Form::Attr(_, name) | Form::Name(name) => facts.text(name),
        _ => return false,
    };
    let method = facts.text(facts.body(body).name);
    let mut exits = facts.exits.iter().filter(|exit| exit.kind == ExitKind::Return && exit.value.is_some());
    (method == name || is_getter_of(method, name))
        && exits.any(|exit| facts.body_of(exit.at) == body && is_same_field(facts, exit.value, field))
}

/// True if an expression refers to a field, in any of the ways to write it: `client`, `this.client`.
fn is_same_field(facts: &FileFacts, target: FormId, field: FormId) -> bool {
    let name = |form: FormId| match facts.form(form) {
        Form::Var(var) if facts.var(var).kind != VarKind::Inner => Some(facts.var(var).name),
        Form::Attr(base, name) if matches!(facts.form(base), Form::This) => Some(name),
        Form::Name(name) => Some(name),
        _ => None,
    };
    name(target).is_some() && name(target) == name(field)
}
