//! Java's idioms for what runs the first time alone: `if (it == null) { it = make(); }` of a field that threads share, the
//! same with an `AtomicReference`, and `if (!slot.compareAndSet(null, mine)) { return; }`.

use blocklint_core::Language;
use blocklint_facts::{
    AltKind, At, BodyFlags, BodyId, BodyKind, Comparison, ExitKind, FileFacts, Form, FormId, RegionKind, SiteKind,
    VarKind,
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

/// The subject of a test: a field, an atomic reference by its `get()`, or a map by a key.
#[derive(Clone, Copy)]
struct TestedState {
    field: FormId,
    by: By,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Field,
    Atomic,
    Key,
}

/// True if a site of Java runs the first time alone. A field that only its own object's thread knows does not count:
/// the object may be made again for each request.
pub fn runs_first_time(linker: &Linker<'_>, site: SiteRef) -> Option<FirstTime> {
    let facts = linker.program.facts(site.file);
    if facts.language != Language::Java {
        return None;
    }
    let once = |per_key: bool| Some(FirstTime { keeper: Owner::ByProgram, per_key });
    let here = linker.program.site(site).at;
    let body = facts.body_of(here);
    if claimed_before(linker, site.file, body, here) {
        return once(false);
    }
    if fills_a_map(linker, site.file, body) {
        return once(true);
    }
    let mut at = here.region;
    while let Some(id) = at.get() {
        let region = facts.region(id);
        let asked = match region.kind {
            RegionKind::Then => asked_unset(linker, site.file, region.test, true, 4),
            RegionKind::Else if region.test.is_some() => asked_unset(linker, site.file, region.test, false, 4),
            _ => SmallVec::new(),
        };
        let is_kept = |asked: &&TestedState| {
            asked.by == By::Key && fills_by_helper(linker, site, **asked)
                || (asked.by != By::Field
                    || is_shared_in(linker, site.file, body, here)
                    || is_of_settings(linker, site.file, body))
                    && (is_set_after(linker, site.file, body, here, **asked) || fills_by_helper(linker, site, **asked))
        };
        if let Some(asked) = asked.iter().find(is_kept) {
            return once(asked.by == By::Key);
        }
        let is_read_by = |asked: &TestedState| {
            asked.by == By::Field
                && is_getter_of_field(facts, body, asked.field)
                && is_set_after(linker, site.file, body, here, *asked)
        };
        if asked.iter().any(is_read_by) {
            return once(true);
        }
        at = region.parent;
    }
    None
}

/// True if a literal makes what a map lacks: `contexts.computeIfAbsent(host, key -> load(key))`.
fn fills_a_map(linker: &Linker<'_>, file: FileId, body: BodyId) -> bool {
    let facts = linker.program.facts(file);
    if facts.body(body).kind != BodyKind::Lambda {
        return false;
    }
    let uses = linker.program.index_of(file).uses_of_callable(body);
    uses.iter().any(|(mention, _)| match mention {
        Mention::Arg(site, _) => {
            facts.text(facts.site(site).name) == MAP_COMPUTE
                && linker.receiver_form(file.site_ref(site)).is_some_and(|of| is_kept_by_class(facts, of))
        }
        _ => false,
    })
}

/// Returns the states that are unset, `null` or false where a test has an answer.
fn asked_unset(linker: &Linker<'_>, file: FileId, test: FormId, holds: bool, depth: u32) -> SmallVec<[TestedState; 2]> {
    let Some(depth) = depth.checked_sub(1) else { return SmallVec::new() };
    let facts = linker.program.facts(file);
    match facts.form(test) {
        Form::Not(inner) => asked_unset(linker, file, inner, !holds, depth),
        Form::Compare(comparison @ (Comparison::Eq | Comparison::NotEq), left, right) => {
            let is_unset = (comparison == Comparison::Eq) == holds;
            match (facts.form(left), facts.form(right)) {
                (_, Form::None) if is_unset => asked_fields(linker, file, left, true),
                (Form::None, _) if is_unset => asked_fields(linker, file, right, true),
                _ => SmallVec::new(),
            }
        }
        // `it == null || it.isExpired()`: the kept object itself decides when it is made again.
        Form::Alt(AltKind::Or, list) if holds => {
            let [first, rest @ ..] = facts.list(list) else { return SmallVec::new() };
            let asked = asked_unset(linker, file, *first, true, depth);
            let asks_it = |test: &FormId, it: &TestedState| match facts.form(*test) {
                Form::Result(call) => {
                    let of = linker.receiver_form(file.site_ref(call));
                    of.is_some_and(|of| is_same(facts, of, it.field))
                }
                _ => false,
            };
            asked.into_iter().filter(|it| it.by == By::Field && rest.iter().all(|test| asks_it(test, it))).collect()
        }
        // Not of any other `a || b`: `it == null || expired` refreshes again and again.
        Form::Alt(AltKind::And, list) if holds => {
            facts.list(list).iter().flat_map(|&part| asked_unset(linker, file, part, true, depth)).collect()
        }
        Form::Alt(AltKind::Or, list) if !holds => {
            facts.list(list).iter().flat_map(|&part| asked_unset(linker, file, part, false, depth)).collect()
        }
        // `Strings.isNullOrEmpty(it)`
        Form::Result(call) if holds && EMPTINESS_TESTS.contains(&facts.text(facts.site(call).name)) => {
            let args = facts.args_of(call);
            args.iter().flat_map(|arg| asked_fields(linker, file, arg.value, true)).collect()
        }
        Form::Var(_) | Form::Attr(..) | Form::Name(_) | Form::Result(_) if !holds => {
            asked_fields(linker, file, test, true)
        }
        _ => SmallVec::new(),
    }
}

/// Returns the fields that a form reads, also through a local.
fn asked_fields(linker: &Linker<'_>, file: FileId, form: FormId, locals: bool) -> SmallVec<[TestedState; 2]> {
    let facts = linker.program.facts(file);
    match facts.form(form) {
        Form::Var(var) if facts.var(var).kind != VarKind::Inner => {
            smallvec![TestedState { field: form, by: By::Field }]
        }
        Form::Var(var) if locals => {
            facts.assigns_of(var).flat_map(|assign| asked_fields(linker, file, assign.value, false)).collect()
        }
        Form::Attr(base, _) if matches!(facts.form(base), Form::This) => {
            smallvec![TestedState { field: form, by: By::Field }]
        }
        Form::Name(_) => smallvec![TestedState { field: form, by: By::Field }],
        Form::Result(call) if facts.text(facts.site(call).name) == ATOMIC_READ && facts.args_of(call).is_empty() => {
            let of = linker.receiver_form(file.site_ref(call));
            of.into_iter().map(|field| TestedState { field, by: By::Atomic }).collect()
        }
        Form::Result(call) if facts.text(facts.site(call).name) == MAP_READ && facts.args_of(call).len() == 1 => {
            let of = linker.receiver_form(file.site_ref(call)).filter(|&of| is_kept_by_class(facts, of));
            of.into_iter().map(|field| TestedState { field, by: By::Key }).collect()
        }
        Form::Result(site) => asked_by_helper(linker, file.site_ref(site)),
        _ => SmallVec::new(),
    }
}

/// True if the same body sets a field where a site's value may be known.
fn is_set_after(linker: &Linker<'_>, file: FileId, body: BodyId, here: At, asked: TestedState) -> bool {
    let facts = linker.program.facts(file);
    if asked.by != By::Field {
        let writes = if asked.by == By::Key { MAP_WRITES } else { ATOMIC_WRITES };
        let mut sites = facts.sites.iter().enumerate();
        return sites.any(|(at, row)| {
            row.kind == SiteKind::Call
                && row.at.position > here.position
                && writes.contains(&facts.text(row.name))
                && facts.body_of(row.at) == body
                && linker
                    .receiver_form(file.site_ref(blocklint_facts::SiteId(at as u32)))
                    .is_some_and(|of| is_same(facts, of, asked.field))
        });
    }
    facts.assigns.iter().any(|row| {
        row.at.position >= here.position
            && !matches!(row.value.get().map(|value| facts.form(value)), None | Some(Form::None | Form::Bool(false)))
            && facts.body_of(row.at) == body
            && is_field(facts, row.target, asked.field)
    })
}

/// True if what a site calls of its own class sets what was asked for.
fn fills_by_helper(linker: &Linker<'_>, site: SiteRef, asked: TestedState) -> bool {
    let targets = linker.targets(site, EnvId::NONE);
    targets.list.iter().any(|target| match *target {
        Target::Body { body, .. } if body.file == site.file => {
            let start = At { position: 0, ..linker.program.site(site).at };
            let (_, body_id) = linker.program.facts_and_id(body);
            is_set_after(linker, body.file, body_id, start, asked)
        }
        _ => false,
    })
}

/// Returns the maps that a method of the same class reads for its value.
fn asked_by_helper(linker: &Linker<'_>, site: SiteRef) -> SmallVec<[TestedState; 2]> {
    let facts = linker.program.facts(site.file);
    let targets = linker.targets(site, EnvId::NONE);
    let bodies = targets.list.iter().filter_map(|target| match *target {
        Target::Body { body, .. } if body.file == site.file => Some(body),
        _ => None,
    });
    let mut found = SmallVec::new();
    for body in bodies {
        let exits = facts.exits.iter().filter(|exit| exit.kind == ExitKind::Return && exit.value.is_some());
        for exit in exits.filter(|exit| linker.program.body_of(site.file, exit.at) == body) {
            let Form::Result(call) = facts.form(exit.value) else { continue };
            if facts.text(facts.site(call).name) != MAP_READ || facts.args_of(call).len() != 1 {
                continue;
            }
            let of = linker.receiver_form(site.file.site_ref(call));
            found.extend(of.filter(|&of| is_kept_by_class(facts, of)).map(|field| TestedState { field, by: By::Key }));
        }
    }
    found
}

/// True if other threads come here too: the body is static, or a lock is held.
fn is_shared_in(linker: &Linker<'_>, file: FileId, body: BodyId, here: At) -> bool {
    let facts = linker.program.facts(file);
    facts.body(body).flags.has(BodyFlags::STATIC)
        || facts.sites.iter().any(|row| {
            row.at.position < here.position
                && LOCK_ENTRIES.contains(&facts.text(row.name))
                && facts.body_of(row.at) == body
        })
}

/// True if a body is a method of the program's settings, of which there is one object for all requests.
fn is_of_settings(linker: &Linker<'_>, file: FileId, body: BodyId) -> bool {
    let facts = linker.program.facts(file);
    let class = facts.body(body).class.get();
    class.is_some_and(|class| is_settings(facts.text(facts.class(class).name)))
}

/// True if the body has claimed an empty slot before: `slot.compareAndSet(null, mine)`.
fn claimed_before(linker: &Linker<'_>, file: FileId, body: BodyId, here: At) -> bool {
    let index = linker.program.index_of(file);
    let sym = linker.program.name(ATOMIC_CLAIM).and_then(|name| linker.program.local(file, name));
    let facts = linker.program.facts(file);
    sym.into_iter().flat_map(|sym| index.sites_named(sym)).any(|&claim| {
        let row = facts.site(claim);
        let empty = facts
            .args_of(claim)
            .iter()
            .next()
            .is_some_and(|arg| matches!(facts.form(arg.value), Form::None | Form::Bool(false)));
        empty && row.at.position < here.position && facts.body_of(row.at) == body
    })
}

/// True if a form reads a field: its content is there when the method is done.
fn is_kept_by_class(facts: &FileFacts, form: FormId) -> bool {
    match facts.form(form) {
        Form::Var(var) => facts.body(facts.var(var).body).kind == BodyKind::Class,
        Form::Attr(base, _) => matches!(facts.form(base), Form::This),
        Form::Name(_) => true,
        _ => false,
    }
}

/// True if a method returns what a field holds, under the field's name: `template()`, `getTemplate()`.
fn is_getter_of_field(facts: &FileFacts, body: BodyId, field: FormId) -> bool {
    let name = match facts.form(field) {
        Form::Var(var) => facts.text(facts.var(var).name),
        Form::Attr(_, name) | Form::Name(name) => facts.text(name),
        _ => return false,
    };
    let method = facts.text(facts.body(body).name);
    let mut exits = facts.exits.iter().filter(|exit| exit.kind == ExitKind::Return && exit.value.is_some());
    (method == name || is_getter_of(method, name))
        && exits.any(|exit| facts.body_of(exit.at) == body && is_field(facts, exit.value, field))
}

/// True if an assignment's target is a field, however the two are written.
fn is_field(facts: &FileFacts, target: FormId, field: FormId) -> bool {
    let name = |form: FormId| match facts.form(form) {
        Form::Var(var) if facts.var(var).kind != VarKind::Inner => Some(facts.var(var).name),
        Form::Attr(base, name) if matches!(facts.form(base), Form::This) => Some(name),
        Form::Name(name) => Some(name),
        _ => None,
    };
    name(target).is_some() && name(target) == name(field)
}
