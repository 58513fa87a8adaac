//! Rule `lock-held-across-await`: thread locks that a coroutine holds over an `await`. This file finds Rust's guards
//! (`MutexGuard`), borrows of cells and references into maps that are alive over `.await`; `search/locks.rs` of
//! `blocklint_flow` finds the locks of Python. A guard lives to the end of the block that binds it, unless it is moved
//! before (`drop(guard)`). A guard that no variable binds lives to the end of its statement, or if it is in the
//! scrutinee of a `match`, `if let`, `while let` or `for`, to the end of that expression.

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Language, Mistake, RuleCode, Severity};
use blocklint_facts::{
    BodyId, ClassId, FileFacts, Flow, Form, FormId, RegionId, RegionKind, SiteFlags, SiteId, SiteKind,
};
use blocklint_flow::search::locks::{
    HeldOverAwait, binding_of_guard, find_locks_held_over_await, is_in_else, is_moved_before,
};
use blocklint_link::linker::{LOW_STEPS, Linker};
use blocklint_link::program::ids::{ClassRef, FileId, Name, PathId, SiteRef};
use blocklint_link::syntax::forms::mentions;
use blocklint_link::syntax::regions::is_region_in;
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::{EnvId, Val, ValueId};
use blocklint_models::{Role, TypeExpr, Uses};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::rules::mistakes::MistakeSearch;

/// The depth to which forms and types are followed.
const DEPTH: u32 = 10;

/// The functions and types that can return a guard.
#[derive(Debug, Default)]
struct GuardSources {
    /// The last names of functions and methods that can return a guard.
    names: FxHashSet<Name>,
    /// The project's types that contain a guard.
    holders: FxHashSet<ClassRef>,
}

/// Returns the findings of this rule.
pub(crate) fn findings(search: &mut MistakeSearch<'_, '_, '_, '_>) -> Vec<RawFinding> {
    let (linker, rule) = (search.linker, RuleCode::LOCK_HELD_ACROSS_AWAIT);
    let held_locks = search.attempt(rule, || {
        find_locks_held_over_await(linker).into_iter().chain(find_guards_held_over_await(linker)).collect()
    });
    let finding = |held: HeldOverAwait| {
        let reentrant = linker.library.role(held.ty) == Some(Role::ReentrantLock);
        let mistake = Mistake::LockHeldAcrossAwait { awaited: linker.written_site(held.awaited), reentrant };
        let call = linker.library.text(held.ty).to_string();
        let severity = if is_site_in_test(linker, held.taken) { Severity::Note } else { Severity::Warning };
        let mut finding = search.finding((rule, mistake), held.taken, call, severity, Confidence::High);
        // The trace shows the lock (`self.lock`), not the call `self.lock.acquire()`.
        if linker.program.language(held.taken.file) == Language::Python
            && linker.program.site(held.taken).kind == SiteKind::Call
            && let Some(lock) = linker.receiver_form(held.taken)
            && let Some(first) = finding.trace.first_mut()
        {
            first.written = linker.written(held.taken.file, lock);
        }
        finding
    };
    held_locks.into_iter().map(finding).collect()
}

/// Returns the guards that coroutines hold over `.await` (Rust).
fn find_guards_held_over_await(linker: &Linker<'_>) -> Vec<HeldOverAwait> {
    let mut held_guards = Vec::new();
    let mut sources = None;
    for file in linker.reported_files() {
        let source = &linker.program.files[file.index()];
        if source.facts.language != Language::Rust {
            continue;
        }
        let awaits = awaits_by_coroutine(&source.facts);
        if awaits.is_empty() {
            continue;
        }
        let sources = sources.get_or_insert_with(|| collect_guard_sources(linker));
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
            let site_facts = source.facts.site(site);
            if !matches!(site_facts.kind, SiteKind::Call | SiteKind::New) || site_facts.flags.has(SiteFlags::AWAITED) {
                continue;
            }
            let taken = file.site_ref(site);
            let result = linker.result(taken, EnvId::NONE);
            if result.inferred_steps >= LOW_STEPS {
                continue;
            }
            let Some(ty) = guard_in(linker, result.value, sources, DEPTH) else { continue };
            let body = source.facts.body_of(site_facts.at);
            let awaited = awaits.get(&body).and_then(|awaits| first_await_while_alive(linker, taken, awaits, sources));
            if let Some(awaited) = awaited {
                held_guards.push(HeldOverAwait { taken, awaited: file.site_ref(awaited), ty });
            }
        }
    }
    held_guards
}

/// Returns the names of functions that can return a guard, in models and in the project.
fn collect_guard_sources(linker: &Linker<'_>) -> GuardSources {
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
        let returns_guard = name.paths(Uses::RETURNS).any(|path| {
            let rows = linker.library.calls(linker.library.path(Language::Rust, path.path));
            rows.with(|row| row.returns.is_some())
                .any(|matched| matched.row.returns.as_ref().is_some_and(|ty| contains_guard(linker, ty, DEPTH)))
        });
        if returns_guard {
            sources.names.insert(known);
        }
    }
    let guards = types.iter().filter_map(|name| linker.program.name(name)).collect();
    add_declared(linker, &mut sources, &guards);
    let holders: FxHashSet<Name> = sources
        .holders
        .iter()
        .filter_map(|class| linker.program.global(class.file, linker.program.class(*class).name))
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
        let mentions_name = |form: FormId| {
            mentions(facts, form, DEPTH, &|form| match form {
                Form::Name(sym) | Form::Path(_, sym) | Form::Attr(_, sym) => here.contains(&sym),
                Form::Var(var) => here.contains(&facts.var(var).name),
                _ => false,
            })
        };
        for body in &facts.bodies {
            if body.returns.is_some() && mentions_name(body.returns) {
                sources.names.extend(linker.program.global(file, body.name));
            }
        }
        for assign in facts.assigns.iter().filter(|assign| assign.value.is_none() && mentions_name(assign.annotation)) {
            let owner = facts.body_of(assign.at);
            // The annotation is resolved, because types of other libraries may have the same names.
            let scope = Scope { file, at: assign.at, env: EnvId::NONE };
            if !declares_guard(linker, linker.annotation(scope, assign.annotation).value, sources, DEPTH) {
                continue;
            }
            if let Some(index) = facts.classes.iter().position(|class| class.body == owner) {
                sources.holders.insert(file.class_ref(ClassId(index as u32)));
            }
        }
    }
}

/// True if a declared type is a guard, or contains a guard as a type argument or field.
fn declares_guard(linker: &Linker<'_>, value: ValueId, sources: &GuardSources, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    linker.values.members(value).into_iter().any(|val| match val {
        Val::Library { ty, args, .. } => {
            is_guard(linker, ty)
                || (0..4)
                    .map_while(|index| linker.values.nth(args, index))
                    .any(|argument| declares_guard(linker, argument, sources, depth))
        }
        Val::Instance { class, .. } => sources.holders.contains(&class),
        _ => false,
    })
}

/// True if a type has the role of a guard in its model.
fn is_guard(linker: &Linker<'_>, ty: PathId) -> bool {
    linker.library.role(ty) == Some(Role::Guard)
}

/// True if a type of a model is a guard, or contains one.
fn contains_guard(linker: &Linker<'_>, ty: &TypeExpr, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match ty {
        TypeExpr::Path { path, arguments } => {
            is_guard(linker, linker.library.path(Language::Rust, path))
                || arguments.iter().any(|argument| contains_guard(linker, argument, depth))
        }
        TypeExpr::SelfType(parts) | TypeExpr::Union(parts) | TypeExpr::Tuple(parts) => {
            parts.iter().any(|part| contains_guard(linker, part, depth))
        }
        _ => false,
    }
}

/// Returns the type of the guard in a value: the guard itself, a `Result` or `Option` of it, or a struct that contains
/// it.
fn guard_in(linker: &Linker<'_>, value: ValueId, sources: &GuardSources, depth: u32) -> Option<PathId> {
    let depth = depth.checked_sub(1)?;
    linker.values.members(value).into_iter().find_map(|val| match val {
        Val::Library { ty, .. } if is_guard(linker, ty) => Some(ty),
        Val::Library { ty, args, .. } => {
            let is_fallible = |path: PathId| blocklint_link::lang::rust::names::is_fallible(&linker.library.text(path));
            let is_wrapper = is_fallible(ty) || linker.library.supertypes(ty).iter().any(|&base| is_fallible(base));
            let inner = linker.values.nth(args, 0).filter(|_| is_wrapper)?;
            guard_in(linker, inner, sources, depth)
        }
        Val::Instance { class, .. } if sources.holders.contains(&class) => {
            Some(linker.library.path(Language::Rust, &linker.qualified_class(class)))
        }
        _ => None,
    })
}

/// Returns the first await while the guard that a call returns is alive.
fn first_await_while_alive(
    linker: &Linker<'_>,
    taken: SiteRef,
    awaits: &[SiteId],
    sources: &GuardSources,
) -> Option<SiteId> {
    let (facts, taken_id) = linker.program.facts_and_id(taken);
    let site_facts = linker.program.site(taken);
    let contains_guard = |form: FormId| mentions(facts, form, DEPTH, &|form| form == Form::Result(taken_id));
    let is_later = |site: &&SiteId| facts.site(**site).at.position > site_facts.at.position;
    if is_dropped_in_closure(linker, taken) {
        return None;
    }
    // In `*lock()` and `take(&mut *lock())` the guard ends with the statement, although a variable stores the value.
    let is_dereferenced = facts.sites.iter().any(|site| {
        site.kind == SiteKind::Operator && facts.text(site.name) == "*" && is_result_of(facts, site.callee, taken_id)
    });
    // The variable that binds the guard.
    let is_guard = |value: ValueId| guard_in(linker, value, sources, DEPTH).is_some();
    let bound = if is_dereferenced { None } else { binding_of_guard(linker, taken, DEPTH, is_guard) };
    if let Some(bound) = bound {
        let Form::Var(var) = facts.form(bound.target) else { return None };
        return awaits.iter().copied().find(|&site| {
            let at = facts.site(site).at;
            at.position > bound.at.position
                && is_region_in(facts, at.region, bound.at.region)
                // In the `else` of an `if let` there is no guard.
                && !is_in_else_of_scrutinee(facts, at.region, bound.at.region)
                && !is_moved_before(facts, Form::Var(var), bound.at.position, site)
        });
    }
    // The guard is a temporary in the scrutinee of a `match`, `if let` or loop.
    let region = facts.region(site_facts.at.region);
    if region.kind == RegionKind::Block && region.test.is_some() && contains_guard(region.test) {
        // From edition 2024 on it is dropped before the `else` of its `if let`.
        let ends_early = linker.crate_of(taken.file).is_some_and(|own| own.edition >= 2024);
        return awaits.iter().filter(is_later).copied().find(|&site| {
            let at = facts.site(site).at;
            is_region_in(facts, at.region, site_facts.at.region)
                && !(ends_early && is_in_else(facts, at.region, site_facts.at.region))
        });
    }
    // The guard is a temporary in the awaited expression.
    awaits.iter().filter(is_later).copied().find(|&site| {
        let awaited = facts.site(site);
        contains_guard(awaited.callee) || facts.args_of(site).iter().any(|argument| contains_guard(argument.value))
    })
}

/// True if a method of `Option` or `Result` moves a guard into a closure, which drops it: `lock.try_lock().map(…)`.
fn is_dropped_in_closure(linker: &Linker<'_>, taken: SiteRef) -> bool {
    let (facts, taken_id) = linker.program.facts_and_id(taken);
    facts.sites.iter().any(|site| match facts.form(site.callee) {
        Form::Attr(base, _) => CONSUMING.contains(&facts.text(site.name)) && is_result_of(facts, base, taken_id),
        _ => false,
    })
}

/// True if a site is in test code.
fn is_site_in_test(linker: &Linker<'_>, site: SiteRef) -> bool {
    let body = linker.program.body_of_site(site);
    linker.is_for_tests(body)
}

/// Returns the awaits of each coroutine of a file, in order.
fn awaits_by_coroutine(facts: &FileFacts) -> FxHashMap<BodyId, Vec<SiteId>> {
    let mut awaits: FxHashMap<_, Vec<SiteId>> = FxHashMap::default();
    for (index, site_facts) in facts.sites.iter().enumerate() {
        if !site_facts.flags.has(SiteFlags::AWAITED) {
            continue;
        }
        let body = facts.body_of(site_facts.at);
        if matches!(facts.body(body).flow, Flow::Coroutine | Flow::AsyncGenerator) {
            awaits.entry(body).or_default().push(SiteId(index as u32));
        }
    }
    for sites in awaits.values_mut() {
        sites.sort_by_key(|&site| facts.site(site).at.position);
    }
    awaits
}

/// Methods that move the content of an `Option` or `Result` into a closure.
const CONSUMING: &[&str] =
    &["map", "and_then", "map_or", "map_or_else", "is_some_and", "is_ok_and", "is_none_or", "then", "filter_map"];

/// True if a form is the result of a site, as it is or unwrapped (`?`, `.unwrap()`).
fn is_result_of(facts: &FileFacts, form: FormId, site: SiteId) -> bool {
    let mut current = form;
    for _ in 0..8 {
        current = match facts.form(current) {
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

/// True if a region is in the `else` of the `if let` that binds a guard.
fn is_in_else_of_scrutinee(facts: &FileFacts, region: RegionId, bound: RegionId) -> bool {
    let scrutinee = facts.region(bound);
    scrutinee.kind == RegionKind::Block && scrutinee.test.is_some() && is_in_else(facts, region, bound)
}
