//! Rust: guards of a thread's locks, borrows of cells and references into maps that are alive over `.await`.
//!
//! A guard lives to the end of the block that binds it, unless it is moved before (`drop(guard)`); one that nothing binds
//! lives to the end of its statement, and in the subject of a `match`, `if let`, `while let` or `for` as long as that.

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Language, Mistake, RuleCode, Severity};
use blocklint_facts::{ClassId, FileFacts, Flow, Form, FormId, RegionId, RegionKind, SiteFlags, SiteId, SiteKind};
use blocklint_flow::search::locks::{HeldOverAwait, binding_of, held_over_await, is_in_else, is_moved_away_before};
use blocklint_link::linker::{LOW_STEPS, Linker};
use blocklint_link::program::ids::{ClassRef, FileId, Name, PathId, SiteRef};
use blocklint_link::syntax::forms::mentions;
use blocklint_link::syntax::regions::is_region_in;
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::{EnvId, Val, ValueId};
use blocklint_models::{Role, TypeExpr, Uses};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::rules::mistakes::MistakeSearch;

/// How deep forms and types are followed.
const DEPTH: u32 = 10;

/// The functions and types that can return a guard.
#[derive(Debug, Default)]
struct GuardSources {
    /// Last names of functions and methods that may.
    names: FxHashSet<Name>,
    /// The project's types that hold one.
    holders: FxHashSet<ClassRef>,
}

/// Returns the findings of this rule.
pub(crate) fn findings(search: &mut MistakeSearch<'_, '_, '_, '_>) -> Vec<RawFinding> {
    let (linker, rule) = (search.linker, RuleCode::LOCK_HELD_ACROSS_AWAIT);
    let all = search.attempt(rule, || held_over_await(linker).into_iter().chain(guards_over_await(linker)).collect());
    let finding = |one: HeldOverAwait| {
        let reentrant = linker.library.role(one.ty) == Some(Role::ReentrantLock);
        let mistake = Mistake::LockHeldAcrossAwait { awaited: linker.written_site(one.awaited), reentrant };
        let call = linker.library.text(one.ty).to_string();
        let severity = if is_test_site(linker, one.taken) { Severity::Note } else { Severity::Warning };
        let mut finding = search.finding((rule, mistake), one.taken, call, severity, Confidence::High);
        // `lock.acquire()` takes the lock that stands before the name.
        if linker.program.language(one.taken.file) == Language::Python
            && linker.program.site(one.taken).kind == SiteKind::Call
            && let Some(lock) = linker.receiver_form(one.taken)
            && let Some(first) = finding.trace.first_mut()
        {
            first.written = linker.written(one.taken.file, lock);
        }
        finding
    };
    all.into_iter().map(finding).collect()
}

/// Returns where coroutines hold a guard over `.await`.
fn guards_over_await(linker: &Linker<'_>) -> Vec<HeldOverAwait> {
    let mut found = Vec::new();
    let mut sources = None;
    for file in linker.reported_files() {
        let source = &linker.program.files[file.index()];
        if source.facts.language != Language::Rust {
            continue;
        }
        let awaits = awaits_of(&source.facts);
        if awaits.is_empty() {
            continue;
        }
        let sources = sources.get_or_insert_with(|| guard_sources(linker));
        let index = linker.program.index_of(file);
        let mut candidates: Vec<SiteId> = sources
            .names
            .iter()
            .filter_map(|&name| linker.program.local(file, name))
            .flat_map(|sym| index.sites_named(sym).iter().copied())
            .filter(|&site| awaits.contains_key(&source.facts.body_of(source.facts.site(site).at)))
            .collect();
        candidates.sort_unstable();
        candidates.dedup();
        for site in candidates {
            let row = source.facts.site(site);
            if !matches!(row.kind, SiteKind::Call | SiteKind::New) || row.flags.has(SiteFlags::AWAITED) {
                continue;
            }
            let taken = file.site_ref(site);
            let given = linker.result(taken, EnvId::NONE);
            if given.inferred_steps >= LOW_STEPS {
                continue;
            }
            let Some(ty) = guard_in(linker, given.value, sources, DEPTH) else { continue };
            let body = source.facts.body_of(row.at);
            let awaited = awaits.get(&body).and_then(|awaits| first_await_alive(linker, taken, awaits, sources));
            if let Some(awaited) = awaited {
                found.push(HeldOverAwait { taken, awaited: file.site_ref(awaited), ty });
            }
        }
    }
    found
}

/// Returns the names of functions that can return a guard, in models and in the project.
fn guard_sources(linker: &Linker<'_>) -> GuardSources {
    let models = linker.library.of(Language::Rust);
    let mut types: FxHashSet<&str> = FxHashSet::default();
    for name in models.names(Uses::TYPE) {
        let is_guard =
            name.paths(Uses::TYPE).any(|path| is_guard(linker, linker.library.path(Language::Rust, path.path)));
        if is_guard {
            types.insert(name.name);
        }
    }
    let mut sources = GuardSources::default();
    for name in models.names(Uses::RETURNS) {
        let Some(known) = linker.program.name(name.name) else { continue };
        let gives = name.paths(Uses::RETURNS).any(|path| {
            let rows = linker.library.calls(linker.library.path(Language::Rust, path.path));
            rows.with(|row| row.returns.is_some())
                .any(|row| row.row.returns.as_ref().is_some_and(|of| names_guard(linker, of, DEPTH)))
        });
        if gives {
            sources.names.insert(known);
        }
    }
    let guards = types.iter().filter_map(|name| linker.program.name(name)).collect();
    add_declared(linker, &mut sources, &guards);
    let holders: FxHashSet<Name> = sources
        .holders
        .iter()
        .filter_map(|of| linker.program.global(of.file, linker.program.class(*of).name))
        .collect();
    add_declared(linker, &mut sources, &holders);
    sources
}

/// Adds the project's functions and structs that declare a type of one of these names.
fn add_declared(linker: &Linker<'_>, sources: &mut GuardSources, names: &FxHashSet<Name>) {
    if names.is_empty() {
        return;
    }
    for (slot, source) in linker.program.files.iter().enumerate() {
        let (file, facts) = (FileId(slot as u32), &source.facts);
        if facts.language != Language::Rust {
            continue;
        }
        let here: FxHashSet<_> = names.iter().filter_map(|&name| linker.program.local(file, name)).collect();
        if here.is_empty() {
            continue;
        }
        let says = |form: FormId| {
            mentions(facts, form, DEPTH, &|form| match form {
                Form::Name(sym) | Form::Path(_, sym) | Form::Attr(_, sym) => here.contains(&sym),
                Form::Var(var) => here.contains(&facts.var(var).name),
                _ => false,
            })
        };
        for body in &facts.bodies {
            if body.returns.is_some() && says(body.returns) {
                sources.names.extend(linker.program.global(file, body.name));
            }
        }
        for assign in facts.assigns.iter().filter(|assign| assign.value.is_none() && says(assign.annotation)) {
            let owner = facts.body_of(assign.at);
            // Types of other libraries have the names of guards, too.
            let scope = Scope { file, at: assign.at, env: EnvId::NONE };
            if !declares_guard(linker, linker.annotation(scope, assign.annotation).value, sources, DEPTH) {
                continue;
            }
            if let Some(at) = facts.classes.iter().position(|class| class.body == owner) {
                sources.holders.insert(file.class_ref(ClassId(at as u32)));
            }
        }
    }
}

/// True if a declared type is a guard, or has one among what it is made of.
fn declares_guard(linker: &Linker<'_>, value: ValueId, sources: &GuardSources, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    linker.values.members(value).into_iter().any(|val| match val {
        Val::Library { ty, args, .. } => {
            is_guard(linker, ty)
                || (0..4)
                    .map_while(|at| linker.values.nth(args, at))
                    .any(|of| declares_guard(linker, of, sources, depth))
        }
        Val::Instance { class, .. } => sources.holders.contains(&class),
        _ => false,
    })
}

fn is_guard(linker: &Linker<'_>, ty: PathId) -> bool {
    linker.library.role(ty) == Some(Role::Guard)
}

/// True if a type of a model is a guard, or holds one.
fn names_guard(linker: &Linker<'_>, of: &TypeExpr, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match of {
        TypeExpr::Path { path, arguments } => {
            is_guard(linker, linker.library.path(Language::Rust, path))
                || arguments.iter().any(|argument| names_guard(linker, argument, depth))
        }
        TypeExpr::SelfType(parts) | TypeExpr::Union(parts) | TypeExpr::Tuple(parts) => {
            parts.iter().any(|part| names_guard(linker, part, depth))
        }
        _ => false,
    }
}

/// Returns the guard's type, if a value is one or holds one: as it is, as a result that may be an error, in a struct.
fn guard_in(linker: &Linker<'_>, value: ValueId, sources: &GuardSources, depth: u32) -> Option<PathId> {
    let depth = depth.checked_sub(1)?;
    linker.values.members(value).into_iter().find_map(|val| match val {
        Val::Library { ty, .. } if is_guard(linker, ty) => Some(ty),
        Val::Library { ty, args, .. } => {
            let fallible = |of: PathId| blocklint_link::lang::rust::names::is_fallible(&linker.library.text(of));
            let holds = fallible(ty) || linker.library.supertypes(ty).iter().any(|&of| fallible(of));
            let inner = linker.values.nth(args, 0).filter(|_| holds)?;
            guard_in(linker, inner, sources, depth)
        }
        Val::Instance { class, .. } if sources.holders.contains(&class) => {
            Some(linker.library.path(Language::Rust, &linker.qualified_class(class)))
        }
        _ => None,
    })
}

/// Returns the first site awaited while the result of a site is alive.
fn first_await_alive(linker: &Linker<'_>, taken: SiteRef, awaits: &[SiteId], sources: &GuardSources) -> Option<SiteId> {
    let (facts, taken_id) = linker.program.facts_and_id(taken);
    let row = linker.program.site(taken);
    let holds = |form: FormId| mentions(facts, form, DEPTH, &|form| form == Form::Result(taken_id));
    let behind = |site: &&SiteId| facts.site(**site).at.position > row.at.position;
    if is_consumed(linker, taken) {
        return None;
    }
    // `*lock()` and `take(&mut *lock())` keep what is behind the guard, which ends with the statement.
    let is_read = facts
        .sites
        .iter()
        .any(|of| of.kind == SiteKind::Operator && facts.text(of.name) == "*" && is_same(facts, of.callee, taken_id));
    // The variable that binds the guard.
    let is_guard = |value: ValueId| guard_in(linker, value, sources, DEPTH).is_some();
    let bound = if is_read { None } else { binding_of(linker, taken, DEPTH, is_guard) };
    if let Some(bound) = bound {
        let Form::Var(var) = facts.form(bound.target) else { return None };
        return awaits.iter().copied().find(|&site| {
            let at = facts.site(site).at;
            at.position > bound.at.position
                && is_region_in(facts, at.region, bound.at.region)
                // Where an `if let` found nothing there is no guard.
                && !is_in_else_of_subject(facts, at.region, bound.at.region)
                && !is_moved_away_before(facts, Form::Var(var), bound.at.position, site)
        });
    }
    // The subject of a `match` and the like.
    let region = facts.region(row.at.region);
    if region.kind == RegionKind::Block && region.test.is_some() && holds(region.test) {
        // From edition 2024 on it ends before the `else` of its `if let`.
        let ends_early = linker.crate_of(taken.file).is_some_and(|own| own.edition >= 2024);
        return awaits.iter().filter(behind).copied().find(|&site| {
            let at = facts.site(site).at;
            is_region_in(facts, at.region, row.at.region)
                && !(ends_early && is_in_else(facts, at.region, row.at.region))
        });
    }
    // A part of what is awaited.
    awaits.iter().filter(behind).copied().find(|&site| {
        let awaited = facts.site(site);
        holds(awaited.callee) || facts.args_of(site).iter().any(|argument| holds(argument.value))
    })
}

/// True if a method of `Option` or `Result` takes a guard and hands it to a closure, which drops it.
fn is_consumed(linker: &Linker<'_>, taken: SiteRef) -> bool {
    let (facts, taken_id) = linker.program.facts_and_id(taken);
    facts.sites.iter().any(|of| match facts.form(of.callee) {
        Form::Attr(base, _) => CONSUMING.contains(&facts.text(of.name)) && is_same(facts, base, taken_id),
        _ => false,
    })
}

/// True if a guard's place is built for tests only.
fn is_test_site(linker: &Linker<'_>, site: SiteRef) -> bool {
    let body = linker.program.body_of_site(site);
    linker.is_for_tests(body)
}

/// Returns the awaited sites of each coroutine of a file, in order.
fn awaits_of(facts: &FileFacts) -> FxHashMap<blocklint_facts::BodyId, Vec<SiteId>> {
    let mut found: FxHashMap<_, Vec<SiteId>> = FxHashMap::default();
    for (at, row) in facts.sites.iter().enumerate() {
        if !row.flags.has(SiteFlags::AWAITED) {
            continue;
        }
        let body = facts.body_of(row.at);
        if matches!(facts.body(body).flow, Flow::Coroutine | Flow::AsyncGenerator) {
            found.entry(body).or_default().push(SiteId(at as u32));
        }
    }
    for sites in found.values_mut() {
        sites.sort_by_key(|&site| facts.site(site).at.position);
    }
    found
}

/// Methods that move what an `Option` or `Result` holds into a closure.
const CONSUMING: &[&str] =
    &["map", "and_then", "map_or", "map_or_else", "is_some_and", "is_ok_and", "is_none_or", "then", "filter_map"];

/// True if a form is the result of a site, as it is or got out of a result that may be an error.
fn is_same(facts: &FileFacts, form: FormId, site: SiteId) -> bool {
    let mut at = form;
    for _ in 0..8 {
        at = match facts.form(at) {
            Form::Result(made) if made == site => return true,
            Form::Result(made) => match (facts.form(facts.site(made).callee), facts.text(facts.site(made).name)) {
                (Form::Attr(base, _), "unwrap" | "expect" | "ok" | "unwrap_or_else" | "unwrap_or_default") => base,
                _ => return false,
            },
            Form::Try(inner) => inner,
            _ => return false,
        };
    }
    false
}

/// True if a region lies in the `else` of a branch that stands directly in another one.
fn is_in_else_of_subject(facts: &FileFacts, region: RegionId, bound: RegionId) -> bool {
    let of = facts.region(bound);
    of.kind == RegionKind::Block && of.test.is_some() && is_in_else(facts, region, bound)
}
