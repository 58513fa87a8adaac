//! Rule `pool-starvation`: a connection of a pool is held while other code waits for one. There are two cases in this
//! file: a coroutine takes a connection with a blocking call and holds it over an `await`, and a function takes a
//! second connection of the same pool while it holds the first. `job_waits_for_own_pool.rs` finds jobs that wait for
//! their own thread pool.

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Language, Mistake, RuleCode, Severity, Starved};
use blocklint_facts::{
    At, BodyFlags, BodyId, BodyKind, FileFacts, Flow, Form, FormId, RegionId, RegionKind, SiteFlags, SiteId, SiteKind,
    VarId,
};
use blocklint_flow::search::locks::{LockPlace, lock_place};
use blocklint_link::calls::targets::{Target, TargetKind};
use blocklint_link::imports::library_reach::LibraryReach;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, FileId, PathId, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::EnvId;
use blocklint_models::{Role, TypeExpr, Uses};
use rustc_hash::FxHashSet;

use crate::rules::job_waits_for_own_pool::find_own_job_waits;
use crate::rules::mistakes::MistakeSearch;

/// How deep an expression is searched for a result or variable.
const MAX_FORM_DEPTH: u32 = 6;

/// Returns the findings of this rule, without those about unbounded offloads (`unbounded_offload.rs`).
pub(crate) fn findings(search: &mut MistakeSearch<'_, '_, '_, '_>) -> Vec<RawFinding> {
    let (linker, rule, reach) = (search.linker, RuleCode::POOL_STARVATION, search.reach);
    let starvations = search.attempt(rule, || {
        find_pool_holds(linker, reach).into_iter().chain(find_own_job_waits(linker, reach)).collect()
    });
    let finding = |hold: PoolHold| {
        let call = linker.library.text(hold.path).to_string();
        search.finding((rule, Mistake::PoolStarvation(hold.starved)), hold.site, call, hold.severity, hold.confidence)
    };
    starvations.into_iter().map(finding).collect()
}

/// A connection, or a thread of a pool, that is held while other code waits for one.
#[derive(Clone, Debug)]
pub(crate) struct PoolHold {
    /// The call that takes it, or the second call that takes one.
    pub(crate) site: SiteRef,
    /// The path of the call that takes it.
    pub(crate) path: PathId,
    /// The reason why other code waits.
    pub(crate) starved: Starved,
    pub(crate) severity: Severity,
    pub(crate) confidence: Confidence,
}

/// A call that takes a connection from a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TakenConnection {
    /// The call.
    pub(crate) site: SiteRef,
    /// The path of its row.
    pub(crate) path: PathId,
    /// True if the call holds its thread until a connection is free.
    pub(crate) blocks: bool,
}

/// The part of a body in which a connection is alive: a region, from one position to another.
#[derive(Clone, Copy, Debug)]
struct LiveRange {
    region: RegionId,
    from: u32,
    to: u32,
}

/// The most calls that are followed from a body that holds a connection.
const DEPTH: u32 = 3;

/// Returns all connections of the program that are held while other code waits for one, in order.
pub(crate) fn find_pool_holds(linker: &Linker<'_>, reach: &LibraryReach) -> Vec<PoolHold> {
    let connections = find_taken_connections(linker, reach);
    let takers: FxHashSet<SiteRef> = connections.iter().map(|taken| taken.site).collect();
    let mut holds = Vec::new();
    for taken in connections {
        let body = linker.program.body_of_site(taken.site);
        let body_facts = linker.program.body(body);
        if linker.program.is_test(taken.site.file) || body_facts.flags.has(BodyFlags::TEST) {
            continue;
        }
        let is_async = matches!(body_facts.flow, Flow::Coroutine | Flow::AsyncGenerator);
        let ranges = live_ranges(linker, taken.site);
        let second = ranges.iter().find_map(|range| find_second_connection(linker, taken.site, *range, &takers));
        if let Some(second) = second {
            holds.push(PoolHold {
                site: second.site,
                path: second.path,
                starved: Starved::SecondConnection { first: linker.written_site(taken.site) },
                severity: Severity::Error,
                confidence: if second.is_direct { Confidence::High } else { Confidence::Medium },
            });
        }
        if taken.blocks
            && is_async
            && let Some(awaited) = ranges.iter().find_map(|range| first_await_in(linker, body, taken.site, *range))
        {
            holds.push(PoolHold {
                site: taken.site,
                path: taken.path,
                starved: Starved::OverAwait { awaited: linker.written_site(awaited) },
                severity: Severity::Error,
                confidence: Confidence::High,
            });
        }
    }
    holds.sort_by_key(|hold| hold.site);
    holds.dedup_by_key(|hold| hold.site);
    holds
}

/// Returns the calls that take a connection from a pool, in order.
pub(crate) fn find_taken_connections<'a>(linker: &Linker<'a>, reach: &LibraryReach) -> Vec<TakenConnection> {
    let mut sites: Vec<SiteRef> = Vec::new();
    for &language in Language::ALL {
        let of_pool = |path: &&str| {
            let id = linker.library.path(language, path);
            linker.library.split(id).is_some_and(|(ty, _)| linker.library.role(ty) == Some(Role::Pool))
        };
        let wanted = |paths: Vec<&'a str>| paths.into_iter().filter(of_pool).collect();
        sites.extend(linker.sites_of_rows(reach, language, Uses::RETURNS, &[SiteKind::Call], wanted));
    }
    sites.retain(|&site| linker.is_site_in_focus(site));
    sites.sort();
    sites.into_iter().filter_map(|site| connection_taken_at(linker, site)).collect()
}

/// True if a site enters or leaves the result of a call as a context manager.
pub(crate) fn enters_result_of(linker: &Linker<'_>, site: SiteRef, call: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let site_facts = linker.program.site(site);
    matches!(site_facts.kind, SiteKind::Enter | SiteKind::Leave)
        && matches!(facts.form(site_facts.callee), Form::Result(entered) if site.file.site_ref(entered) == call)
}

/// Returns the connection that a site takes from a pool.
pub(crate) fn connection_taken_at(linker: &Linker<'_>, site: SiteRef) -> Option<TakenConnection> {
    linker.targets(site, EnvId::NONE).list.iter().find_map(|target| {
        let Target::Row { path, .. } = *target else { return None };
        let (ty, _) = linker.library.split(path)?;
        if linker.library.role(ty) != Some(Role::Pool) {
            return None;
        }
        let language = linker.library.language(path);
        let calls = linker.library.calls(path);
        calls.with(|row| row.returns.is_some()).find_map(|matched| {
            let returned = matched.row.returns.as_ref()?;
            if contains_connection(linker, language, returned) {
                let blocks = calls.effect().any(|matched| matched.row.held_effect().is_some());
                let waits = calls.iter().any(|matched| matched.row.is_async == Some(true));
                return (blocks || waits).then_some(TakenConnection { site, path, blocks });
            }
            // The call returns a lease, and the connection is taken when the lease is entered or awaited.
            let lease = linker.library.path(language, returned.path()?);
            let rows = linker.library.ty(lease)?;
            let is_connection = |ty: Option<&TypeExpr>| ty.is_some_and(|ty| contains_connection(linker, language, ty));
            if !is_connection(rows.enters()) && !is_connection(rows.awaits()) {
                return None;
            }
            let enter = linker.library.path(language, &format!("{}.__enter__", returned.path()?));
            let blocks = linker.library.calls(enter).effect().any(|matched| matched.row.held_effect().is_some());
            Some(TakenConnection { site, path, blocks })
        })
    })
}

/// True if a type of a model is a connection, or contains one.
fn contains_connection(linker: &Linker<'_>, language: Language, ty: &TypeExpr) -> bool {
    match ty {
        TypeExpr::Path { path, arguments } => {
            linker.library.role(linker.library.path(language, path)) == Some(Role::Connection)
                || arguments.iter().any(|part| contains_connection(linker, language, part))
        }
        TypeExpr::Union(parts) | TypeExpr::Tuple(parts) => {
            parts.iter().any(|part| contains_connection(linker, language, part))
        }
        _ => false,
    }
}

/// Returns the ranges of its body in which the connection that a site takes is alive.
fn live_ranges(linker: &Linker<'_>, site: SiteRef) -> Vec<LiveRange> {
    let facts = linker.program.facts(site.file);
    let taken_at = linker.program.site(site).at;
    let body = facts.body_of(taken_at);
    let mut ranges = Vec::new();
    for (id, region) in facts.regions.iter().enumerate() {
        if region.body == body
            && region.kind == RegionKind::With
            && is_result_of(linker, site.file, region.test, site, MAX_FORM_DEPTH)
        {
            let region = RegionId(id as u32);
            ranges.push(LiveRange { region, from: taken_at.position, to: u32::MAX });
        }
    }
    for assign in facts.assigns.iter() {
        let Form::Var(var) = facts.form(assign.target) else { continue };
        if facts.body_of(assign.at) != body
            || facts.var(var).body != body
            || !is_result_of(linker, site.file, assign.value, site, MAX_FORM_DEPTH)
            || !is_connection(linker, Scope { file: site.file, at: assign.at, env: EnvId::NONE }, assign.value)
        {
            continue;
        }
        let to = end_of_life(linker, site.file, var, assign.at);
        ranges.push(LiveRange { region: assign.at.region, from: assign.at.position, to });
    }
    ranges
}

/// True if a value is a connection of a pool.
fn is_connection(linker: &Linker<'_>, scope: Scope, form: FormId) -> bool {
    has_role(linker, scope, form, Role::Connection)
}

/// True if a value of a form may have a type with a role.
fn has_role(linker: &Linker<'_>, scope: Scope, form: FormId, role: Role) -> bool {
    linker
        .values
        .members(linker.eval(scope, form).value)
        .iter()
        .any(|val| linker.types_through(*val).into_iter().any(|ty| linker.library.role(ty) == Some(role)))
}

/// True if a form is the result of a site, as it is, awaited, unwrapped or entered.
fn is_result_of(linker: &Linker<'_>, file: FileId, form: FormId, site: SiteRef, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(file);
    match facts.form(form) {
        Form::Await(inner) | Form::Try(inner) => is_result_of(linker, file, inner, site, depth),
        Form::Field(inner, _) => is_result_of(linker, file, inner, site, depth),
        Form::Result(call) if file.site_ref(call) == site => true,
        Form::Result(call) => {
            let site_facts = facts.site(call);
            match (site_facts.kind, facts.form(site_facts.callee)) {
                (SiteKind::Enter, _) => is_result_of(linker, file, site_facts.callee, site, depth),
                (SiteKind::Call, Form::Attr(base, _)) => is_result_of(linker, file, base, site, depth),
                _ => false,
            }
        }
        _ => false,
    }
}

/// Returns the position at which the connection of a variable is dropped, closed, returned to its pool or moved. If
/// there is none, it is the end of the block, or in Python the last use.
fn end_of_life(linker: &Linker<'_>, file: FileId, var: VarId, bound_at: At) -> u32 {
    let facts = linker.program.facts(file);
    let name = facts.var(var).name;
    let index = linker.program.index_of(file);
    let mut end = u32::MAX;
    let mut last = bound_at.position;
    for (mention, _) in index.mentions_named(name).iter() {
        if !linker.mentions_var(file.var_ref(var), mention) {
            continue;
        }
        if let Mention::Arg(site, arg) = mention {
            let site_facts = facts.site(site);
            let span = facts.args_of(site)[arg as usize].span;
            // `f(conn)` moves it, `f(&mut conn)` does not.
            let by_value = (span.end - span.start) as usize == facts.text(name).len();
            let is_given_up = match facts.language {
                Language::Rust => by_value && site_facts.kind == SiteKind::Call,
                _ => {
                    matches!(facts.form(site_facts.callee), Form::Attr(base, _) if is_pool(linker, file, site_facts.at, base))
                }
            };
            if is_given_up {
                end = end.min(site_facts.at.position);
            }
            last = last.max(site_facts.at.position);
        }
    }
    for site_facts in facts.sites.iter() {
        if let Form::Attr(base, method) = facts.form(site_facts.callee)
            && facts.form(base) == Form::Var(var)
            && facts.body_of(site_facts.at) == facts.var(var).body
        {
            last = last.max(site_facts.at.position);
            // The methods that end a transaction consume it.
            let ends = facts.language == Language::Rust && matches!(facts.text(method), "commit" | "rollback");
            if ends || matches!(facts.text(method), "close" | "release") {
                end = end.min(site_facts.at.position);
            }
        }
    }
    // A `move` closure or block that captures the variable moves it.
    for (id, body) in facts.bodies.iter().enumerate() {
        let moves = body.flags.has(BodyFlags::MOVE) && matches!(body.kind, BodyKind::Lambda | BodyKind::AsyncBlock);
        let id = BodyId(id as u32);
        let inside = |at: At| facts.body_of(at) == id;
        let captures = moves
            && facts.sites.iter().any(|site_facts| {
                inside(site_facts.at)
                    && (reads_var(linker, file, site_facts.callee, var, MAX_FORM_DEPTH)
                        || facts
                            .args
                            .iter()
                            .skip(site_facts.args.start as usize)
                            .take(site_facts.args.len as usize)
                            .any(|arg| reads_var(linker, file, arg.value, var, MAX_FORM_DEPTH)))
            });
        if captures {
            let taker = facts.sites.iter().enumerate().find(|(index, site_facts)| {
                facts.body_of(site_facts.at) == facts.var(var).body
                    && facts
                        .args_of(SiteId(*index as u32))
                        .into_iter()
                        .any(|arg| matches!(facts.form(arg.value), Form::Callable(literal) | Form::Run(literal) if literal == id))
            });
            end = end.min(taker.map_or(bound_at.position, |(_, row)| row.at.position.saturating_sub(1)));
        }
    }
    if facts.language == Language::Python { end.min(last) } else { end }
}

/// True if a value of a form may be a pool.
fn is_pool(linker: &Linker<'_>, file: FileId, at: At, form: FormId) -> bool {
    has_role(linker, Scope { file, at, env: EnvId::NONE }, form, Role::Pool)
}

/// True if a form reads a variable.
fn reads_var(linker: &Linker<'_>, file: FileId, form: FormId, var: VarId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(file);
    match facts.form(form) {
        Form::Var(read) => read == var,
        Form::Attr(base, _) | Form::Await(base) | Form::Try(base) | Form::Field(base, _) | Form::Star(base) => {
            reads_var(linker, file, base, var, depth)
        }
        _ => false,
    }
}

/// Returns the other sites of the file in a live range.
fn sites_in_range<'l>(linker: &'l Linker<'_>, site: SiteRef, range: LiveRange) -> impl Iterator<Item = SiteRef> + 'l {
    let facts = linker.program.facts(site.file);
    let file = site.file;
    facts.sites.iter().enumerate().filter_map(move |(index, site_facts)| {
        if site_facts.at.position <= range.from || site_facts.at.position >= range.to || index == site.index() {
            return None;
        }
        let mut region = site_facts.at.region;
        while let Some(id) = region.get() {
            if id == range.region {
                return Some(file.site_ref(SiteId(index as u32)));
            }
            region = facts.region(id).parent;
        }
        None
    })
}

/// Returns the first await of a body in a live range.
fn first_await_in(linker: &Linker<'_>, body: BodyRef, site: SiteRef, range: LiveRange) -> Option<SiteRef> {
    sites_in_range(linker, site, range).find(|later| {
        let site_facts = linker.program.site(*later);
        let waits = site_facts.flags.has(SiteFlags::AWAITED)
            || site_facts.flags.has(SiteFlags::ASYNC)
            || site_facts.kind == SiteKind::Await;
        waits && linker.program.body_of(site.file, site_facts.at) == body
    })
}

/// A second connection of a pool, taken while the first is alive.
struct SecondConnection {
    /// The call in the body that holds the first connection.
    site: SiteRef,
    /// The path of the row that takes it.
    path: PathId,
    /// True if the call takes it itself, not a function that it calls.
    is_direct: bool,
}

/// Returns a second connection of the same pool that a body takes in the live range of the first.
fn find_second_connection(
    linker: &Linker<'_>,
    site: SiteRef,
    range: LiveRange,
    takers: &FxHashSet<SiteRef>,
) -> Option<SecondConnection> {
    let pool = pool_of(linker, site)?;
    let connection_path = connection_taken_at(linker, site)?.path;
    for later in sites_in_range(linker, site, range) {
        if linker.program.body_of_site(later) != linker.program.body_of_site(site) {
            continue;
        }
        if takers.contains(&later) && pool_of(linker, later) == Some(pool) {
            let path = connection_taken_at(linker, later)?.path;
            return Some(SecondConnection { site: later, path, is_direct: true });
        }
        if queries_pool(linker, later, &[pool]) {
            return Some(SecondConnection { site: later, path: connection_path, is_direct: true });
        }
        let mut visited = FxHashSet::default();
        if let Some(path) = find_taker_in_callees(linker, later, &[pool], takers, DEPTH, &mut visited) {
            return Some(SecondConnection { site: later, path: path.unwrap_or(connection_path), is_direct: false });
        }
    }
    None
}

/// Returns `Some` if a function that a site runs takes a connection of one of the pools: the path of the row, or `None`
/// in it if the function calls a query method of the pool itself (`pool.fetch(…)`).
fn find_taker_in_callees(
    linker: &Linker<'_>,
    site: SiteRef,
    pools: &[Pool],
    takers: &FxHashSet<SiteRef>,
    depth: u32,
    visited: &mut FxHashSet<BodyRef>,
) -> Option<Option<PathId>> {
    let depth = depth.checked_sub(1)?;
    for target in &linker.targets(site, EnvId::NONE).list {
        let Target::Body { body, kind, with_receiver, .. } = *target else { continue };
        let awaited = linker.program.site(site).flags.has(SiteFlags::AWAITED);
        if !(kind == TargetKind::Call || kind == TargetKind::Construct && awaited) {
            continue;
        }
        let pools = pools_in_callee(linker, site, pools, body, with_receiver);
        if pools.is_empty() || !visited.insert(body) {
            continue;
        }
        let (facts, body_id) = linker.program.facts_and_id(body);
        for (index, site_facts) in facts.sites.iter().enumerate() {
            if facts.body_of(site_facts.at) != body_id {
                continue;
            }
            let call = body.file.site_ref(SiteId(index as u32));
            if runs_only_without_connection(linker, call, site, body, with_receiver) {
                continue;
            }
            if takers.contains(&call) {
                if pool_of(linker, call).is_some_and(|pool| pools.contains(&pool)) {
                    return connection_taken_at(linker, call).map(|taken| Some(taken.path));
                }
            } else if queries_pool(linker, call, &pools) {
                return Some(None);
            } else if let Some(path) = find_taker_in_callees(linker, call, &pools, takers, depth, visited) {
                return Some(path);
            }
        }
    }
    None
}

/// Returns the pools of a caller as its callee knows them: pools in fields and module variables, and the parameters to
/// which the call passes pools.
pub(crate) fn pools_in_callee(
    linker: &Linker<'_>,
    site: SiteRef,
    pools: &[Pool],
    body: BodyRef,
    with_receiver: bool,
) -> Vec<Pool> {
    let mut known: Vec<Pool> = pools.iter().copied().filter(|pool| is_known_to_all(linker, *pool)).collect();
    let params = linker.program.params_of(body);
    for (arg_index, arg) in linker.program.args_of(site).iter().enumerate() {
        let is_pool = pool_of_form(linker, linker.scope_of(site, EnvId::NONE), arg.value)
            .is_some_and(|pool| pools.contains(&pool));
        if is_pool
            && let Some(index) = linker.param_for(site, arg_index as u32, body, with_receiver)
            && let Some(param) = params.get(index as usize)
        {
            known.push(Pool::Local(body.file, param.var));
        }
    }
    known
}

/// True if other bodies reach a pool under the same name: it is in a field, or in a variable of a class or module.
fn is_known_to_all(linker: &Linker<'_>, pool: Pool) -> bool {
    match pool {
        Pool::Stored(_) => true,
        Pool::Local(file, var) => {
            let facts = linker.program.facts(file);
            matches!(facts.body(facts.var(var).body).kind, BodyKind::Class | BodyKind::Module)
        }
    }
}

/// True if a site runs a query on a pool itself, which takes a connection for it: `query.fetch_one(&pool).await`,
/// `await pool.fetch(query)`.
fn queries_pool(linker: &Linker<'_>, site: SiteRef, pools: &[Pool]) -> bool {
    let facts = linker.program.facts(site.file);
    let site_facts = linker.program.site(site);
    let name = facts.text(site_facts.name);
    let is_query = ["fetch", "execute"].iter().any(|verb| name.starts_with(verb));
    if site_facts.kind != SiteKind::Call || !is_query || !site_facts.flags.has(SiteFlags::AWAITED) {
        return false;
    }
    let scope = linker.scope_of(site, EnvId::NONE);
    let receiver = linker.receiver_form(site);
    let args = linker.program.args_of(site);
    args.iter().map(|arg| arg.value).chain(receiver).any(|form| {
        pool_of_form(linker, scope, form).is_some_and(|pool| pools.contains(&pool))
            && has_role(linker, scope, form, Role::Pool)
    })
}

/// True if a site runs only if its body gets no connection as an argument (`if conn is None:`), and `call` passes one.
fn runs_only_without_connection(
    linker: &Linker<'_>,
    site: SiteRef,
    call: SiteRef,
    body: BodyRef,
    with_receiver: bool,
) -> bool {
    let Some(guard) = linker.branch_guard(site) else { return false };
    guard.tests_absence()
        && linker
            .argument_for_param(call, body, guard.param, with_receiver)
            .is_some_and(|form| is_connection(linker, linker.scope_of(call, EnvId::NONE), form))
}

/// Returns the pool on which a method is called, as far as names show.
pub(crate) fn pool_of(linker: &Linker<'_>, site: SiteRef) -> Option<Pool> {
    pool_of_form(linker, linker.scope_of(site, EnvId::NONE), linker.receiver_form(site)?)
}

/// Returns the pool that a form is, as far as names show.
pub(crate) fn pool_of_form(linker: &Linker<'_>, scope: Scope, form: FormId) -> Option<Pool> {
    if let Some(held) = lock_place(linker, scope, form) {
        return Some(Pool::Stored(held));
    }
    let facts = linker.program.facts(scope.file);
    match facts.form(form) {
        Form::Var(var) => {
            // `let pool = pool.clone();`
            let mut assigns = facts.assigns_of(var);
            match (assigns.next(), assigns.next()) {
                (Some(assign), None) if !matches!(facts.form(assign.value), Form::Var(value) if value == var) => {
                    cloned_form(facts, assign.value)
                        .and_then(|original| pool_of_form(linker, Scope { at: assign.at, ..scope }, original))
                        .or(Some(Pool::Local(scope.file, var)))
                }
                _ => Some(Pool::Local(scope.file, var)),
            }
        }
        Form::Result(_) => cloned_form(facts, form).and_then(|original| pool_of_form(linker, scope, original)),
        _ => None,
    }
}

/// Returns the form that a call clones (`pool.clone()`, Rust). A clone of a pool is the same pool.
fn cloned_form(facts: &FileFacts, form: FormId) -> Option<FormId> {
    let Form::Result(site) = facts.form(form) else { return None };
    match facts.form(facts.site(site).callee) {
        Form::Attr(base, name) if facts.text(name) == "clone" && facts.language == Language::Rust => Some(base),
        _ => None,
    }
}

/// The variable or field that stores a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pool {
    /// A field, or a variable of a module.
    Stored(LockPlace),
    /// A parameter or local variable.
    Local(FileId, VarId),
}
