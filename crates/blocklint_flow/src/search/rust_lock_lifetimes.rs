//! Lifetimes of `MutexGuard` and `RwLock` guards (Rust). A lock is held to the end of the block that binds its guard,
//! unless the guard is moved before (`drop(guard)`). A guard that no variable binds holds the lock to the end of the
//! statement. In this file "guard" means such a value, not the condition of `effect/guard.rs`.

use blocklint_core::{Context, Language};
use blocklint_facts::{Assign, BodyKind, FileFacts, Form, FormId, RegionId, RegionKind, SiteFlags, SiteId, SiteKind};
use blocklint_link::lang::rust::names::is_fallible;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::syntax::forms::mentions;
use blocklint_link::syntax::regions::{around, is_region_in};
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::{EnvId, Val, ValueId};
use blocklint_models::Role;

use crate::callers::Callers;
use crate::search::locks::{LockPlace, lock_place_within, lock_type};

/// The most variables that are followed from an expression to its lock.
const MAX_LOCK_DEPTH: u32 = 6;

/// The depth to which forms and types are followed.
const DEPTH: u32 = 8;

/// Methods that wait for a lock and return its guard.
const LOCKING_METHODS: [&str; 6] = ["lock", "read", "write", "lock_arc", "read_arc", "write_arc"];

/// Methods that return the same lock, or a pointer to it.
const POINTER_METHODS: [&str; 6] = ["clone", "as_ref", "get", "unwrap", "expect", "deref"];

/// Returns the locks that are held at a site, each with the call that took it.
pub(crate) fn locks_held_at(linker: &Linker<'_>, site: SiteRef) -> Vec<(SiteRef, LockPlace)> {
    let (facts, site_id) = linker.program.facts_and_id(site);
    let position = linker.program.site(site).at.position;
    let may_take = |taken: &SiteRef| {
        let site_facts = linker.program.site(*taken);
        *taken != site && site_facts.at.position <= position && LOCKING_METHODS.contains(&facts.text(site_facts.name))
    };
    let takers = linker.program.sites_in(linker.program.body_of_site(site)).filter(may_take);
    let alive = takers.filter(|&taken| is_guard_alive(linker, taken, site_id));
    alive.filter_map(|taken| Some((taken, taken_lock(linker, taken)?))).collect()
}

/// Returns the lock that a call waits for and takes: `self.index` for `self.index.lock()`.
pub(crate) fn taken_lock(linker: &Linker<'_>, site: SiteRef) -> Option<LockPlace> {
    let facts = linker.program.facts(site.file);
    let site_facts = linker.program.site(site);
    let Form::Attr(lock, _) = facts.form(site_facts.callee) else { return None };
    if site_facts.kind != SiteKind::Call || site_facts.flags.has(SiteFlags::AWAITED) || !site_facts.args.is_empty() {
        return None;
    }
    let scope = Scope { file: site.file, at: site_facts.at, env: EnvId::NONE };
    lock_type(linker, scope, lock)?;
    may_be_guard(linker, linker.result(site, EnvId::NONE).value, DEPTH)
        .then(|| lock_place_within(linker, scope, lock, MAX_LOCK_DEPTH))
        .flatten()
}

/// Returns all calls in Rust code that wait for a lock and take it.
pub(crate) fn find_all_takers(linker: &Linker<'_>) -> Vec<(LockPlace, SiteRef)> {
    let mut takers = Vec::new();
    for name in LOCKING_METHODS {
        let Some(name) = linker.program.name(name) else { continue };
        for site in linker.program.sites_named(name) {
            if linker.program.language(site.file) == Language::Rust
                && let Some(lock) = linker.attempt_site(site, || taken_lock(linker, site)).flatten()
            {
                takers.push((lock, site));
            }
        }
    }
    takers.sort();
    takers
}

/// Returns the form of the lock that a call returns a pointer to: `self.index` for `self.index.clone()` and
/// `Arc::clone(&self.index)`.
pub(crate) fn pointee_form(facts: &FileFacts, creation: SiteId) -> Option<FormId> {
    let site_facts = facts.site(creation);
    if !POINTER_METHODS.contains(&facts.text(site_facts.name)) {
        return None;
    }
    match (facts.form(site_facts.callee), &facts.args_of(creation)[..]) {
        (Form::Attr(base, _), []) => Some(base),
        (_, [only]) => Some(only.value),
        _ => None,
    }
}

/// True if a site runs repeatedly while a lock is held: it is in a loop that does not take the lock in each round.
pub(crate) fn is_repeated(linker: &Linker<'_>, site: SiteRef, taken: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    around(facts, linker.program.site(site).at.region).any(|region| {
        facts.region(region).kind == RegionKind::Loop
            && !(site.file == taken.file && is_region_in(facts, linker.program.site(taken).at.region, region))
    })
}

/// True if the guard that one call returns is alive at another site of the body.
fn is_guard_alive(linker: &Linker<'_>, taken: SiteRef, site: SiteId) -> bool {
    let (facts, taken_id) = linker.program.facts_and_id(taken);
    let site_facts = facts.site(site);
    match binding_of_guard(linker, taken, DEPTH, |value| may_be_guard(linker, value, DEPTH)) {
        Some(bound) => {
            let variable = facts.form(bound.target);
            site_facts.at.position > bound.at.position
                && is_region_in(facts, site_facts.at.region, bound.at.region)
                && !is_moved_before(facts, variable, bound.at.position, site)
        }
        // The guard is a temporary of the same statement: `self.index.lock().unwrap().load()`.
        None => {
            let holds = |form: FormId| mentions(facts, form, DEPTH, &|form| form == Form::Result(taken_id));
            is_in_scrutinee_scope(linker, taken, site_facts.at.region)
                || holds(site_facts.callee)
                || facts.args_of(site).iter().any(|argument| holds(argument.value))
        }
    }
}

/// True if a region is in the `match`, `if let` or `while let` whose scrutinee contains the call that takes the lock.
/// The temporary guard lives to the end of that expression, except in the `else` of an `if let` from edition 2024 on.
fn is_in_scrutinee_scope(linker: &Linker<'_>, taken: SiteRef, region: RegionId) -> bool {
    let (facts, taken_id) = linker.program.facts_and_id(taken);
    let around = linker.program.site(taken).at.region;
    let scrutinee = facts.region(around);
    if scrutinee.kind != RegionKind::Block
        || scrutinee.test.is_none()
        || !mentions(facts, scrutinee.test, DEPTH, &|form| form == Form::Result(taken_id))
    {
        return false;
    }
    let ends_early = linker.crate_of(taken.file).is_some_and(|package| package.edition >= 2024);
    is_region_in(facts, region, around) && !(ends_early && is_in_else(facts, region, around))
}

/// True if a region is in an `else` branch whose parent is `outer`.
pub fn is_in_else(facts: &FileFacts, region: RegionId, outer: RegionId) -> bool {
    let mut ancestor = region;
    while let Some(id) = ancestor.get() {
        let region = facts.region(id);
        if region.parent == outer {
            return region.kind == RegionKind::Else;
        }
        ancestor = region.parent;
    }
    false
}

/// Returns the assignment that binds the guard of a call to a variable of the same body. Forms are followed to `depth`.
pub fn binding_of_guard(
    linker: &Linker<'_>,
    taken: SiteRef,
    depth: u32,
    is_guard: impl Fn(ValueId) -> bool,
) -> Option<Assign> {
    let (facts, taken_id) = linker.program.facts_and_id(taken);
    let took = linker.program.site(taken);
    let body = facts.body_of(took.at);
    facts.assigns.iter().find(|assign| {
        assign.at.position >= took.at.position
            && assign.value.is_some()
            && facts.body_of(assign.at) == body
            && matches!(facts.form(assign.target), Form::Var(_))
            && mentions(facts, assign.value, depth, &|form| form == Form::Result(taken_id))
            && {
                let scope = Scope { file: taken.file, at: assign.at, env: EnvId::NONE };
                is_guard(linker.eval(scope, assign.value).value)
            }
    })
}

/// True if a variable is moved between its binding and a site: `drop(guard)`.
pub fn is_moved_before(facts: &FileFacts, variable: Form, bound: u32, site: SiteId) -> bool {
    let site_at = facts.site(site).at;
    let body = facts.body_of(site_at);
    facts.sites.iter().enumerate().any(|(index, site_facts)| {
        site_facts.at.position > bound
            && site_facts.at.position < site_at.position
            && !site_facts.args.is_empty()
            && facts.body_of(site_facts.at) == body
            && is_region_in(facts, site_at.region, site_facts.at.region)
            && facts.args_of(SiteId(index as u32)).iter().any(|argument| facts.form(argument.value) == variable)
    })
}

/// True if a value is a guard, or a `Result` or `Option` of one.
fn may_be_guard(linker: &Linker<'_>, value: ValueId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    linker.values.members(value).into_iter().any(|val| match val {
        Val::Library { ty, .. } if linker.library.role(ty) == Some(Role::Guard) => true,
        Val::Library { ty, args, .. } => {
            let is_fallible_type = |ty| is_fallible(&linker.library.text(ty));
            (is_fallible_type(ty) || linker.library.supertypes(ty).iter().any(|&base| is_fallible_type(base)))
                && linker.values.nth(args, 0).is_some_and(|inner| may_be_guard(linker, inner, depth))
        }
        _ => false,
    })
}

/// True if a worker thread runs a body: a call hands the body over to a thread, or a body that a worker thread runs
/// calls it.
pub(crate) fn runs_on_worker<'a>(callers: &Callers<'_, 'a>, linker: &Linker<'a>, body: BodyRef, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let is_handed = |site: SiteRef, arg: u32| {
        let passing = linker.argument_use(site, arg, EnvId::NONE);
        passing.handed.iter().any(|(context, _)| *context != Context::EventLoop)
    };
    let body_facts = linker.program.body(body);
    if body_facts.kind == BodyKind::Lambda {
        let uses = linker.program.uses_of_callable(body);
        let handed = uses.iter().any(|(mention, _)| match mention {
            Mention::Arg(site, arg) => is_handed(body.file.site_ref(site), arg),
            _ => false,
        });
        let around = body_facts.parent.get().map(|body_around| body.file.body_ref(body_around));
        return handed || around.is_some_and(|around| runs_on_worker(callers, linker, around, depth));
    }
    linker.sites_passing_body(body).into_iter().any(|(site, arg)| is_handed(site, arg))
        || callers
            .call_sites(body)
            .iter()
            .any(|&site| runs_on_worker(callers, linker, linker.program.body_of_site(site), depth))
}
