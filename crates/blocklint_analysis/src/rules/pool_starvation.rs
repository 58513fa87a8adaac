//! Connections of a pool that are held where others wait for one: over an `await`, when they were waited for on the thread that
//! must go on first, and while one more of the same pool is taken.

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Language, Mistake, RuleCode, Severity, Starved};
use blocklint_facts::{At, BodyFlags, BodyKind, Flow, Form, FormId, RegionId, RegionKind, SiteFlags, SiteKind, VarId};
use blocklint_flow::search::locks::lock_place;
use blocklint_link::calls::targets::{Target, TargetKind};
use blocklint_link::imports::library_reach::LibraryReach;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, FileId, PathId, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::EnvId;
use blocklint_models::{Role, TypeExpr, Uses};
use rustc_hash::FxHashSet;

use crate::rules::job_waits_for_own_pool::own_jobs;
use crate::rules::mistakes::MistakeSearch;

/// Returns the findings of this rule, but of work that is handed over without a bound.
pub(crate) fn findings(search: &mut MistakeSearch<'_, '_, '_, '_>) -> Vec<RawFinding> {
    let (linker, rule, reach) = (search.linker, RuleCode::POOL_STARVATION, search.reach);
    let all = search.attempt(rule, || pool_holds(linker, reach).into_iter().chain(own_jobs(linker, reach)).collect());
    let finding = |one: PoolHold| {
        let call = linker.library.text(one.path).to_string();
        search.finding((rule, Mistake::Starves(one.starved)), one.site, call, one.severity, one.confidence)
    };
    all.into_iter().map(finding).collect()
}

/// One connection that is held too long.
#[derive(Clone, Debug)]
pub(crate) struct PoolHold {
    /// Where it is taken.
    pub(crate) site: SiteRef,
    /// The path of the call that takes it.
    pub(crate) path: PathId,
    /// The reason why others wait.
    pub(crate) starved: Starved,
    /// How bad.
    pub(crate) severity: Severity,
    /// How sure.
    pub(crate) confidence: Confidence,
}

/// Where a connection is taken from a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    /// The call.
    pub(crate) site: SiteRef,
    /// Its row's path.
    pub(crate) path: PathId,
    /// It holds the thread until there is one.
    pub(crate) blocks: bool,
}

/// Where a connection is alive: within a region, from a position to another one.
#[derive(Clone, Copy, Debug)]
struct Alive {
    region: RegionId,
    from: u32,
    to: u32,
}

/// Calls followed from a body that holds a connection.
const DEPTH: u32 = 3;

/// Returns all such connections of the program, in order.
pub(crate) fn pool_holds(linker: &Linker<'_>, reach: &LibraryReach) -> Vec<PoolHold> {
    let taken = taken_from_pools(linker, reach);
    let takers: FxHashSet<SiteRef> = taken.iter().map(|taken| taken.site).collect();
    let mut found = Vec::new();
    for one in taken {
        let body = linker.program.body_of_site(one.site);
        let row = linker.program.body(body);
        if linker.program.is_test(one.site.file) || row.flags.has(BodyFlags::TEST) {
            continue;
        }
        let is_async = matches!(row.flow, Flow::Coroutine | Flow::AsyncGenerator);
        let spans = alive(linker, one.site);
        if let Some(other) = spans.iter().find_map(|span| taken_meanwhile(linker, one.site, *span, &takers)) {
            found.push(PoolHold {
                site: other.0,
                path: other.1,
                starved: Starved::SecondConnection { first: linker.written_site(one.site) },
                severity: Severity::Error,
                confidence: if other.2 { Confidence::High } else { Confidence::Medium },
            });
        }
        if one.blocks
            && is_async
            && let Some(awaited) = spans.iter().find_map(|span| awaited_within(linker, body, one.site, *span))
        {
            found.push(PoolHold {
                site: one.site,
                path: one.path,
                starved: Starved::OverAwait { awaited: linker.written_site(awaited) },
                severity: Severity::Error,
                confidence: Confidence::High,
            });
        }
    }
    found.sort_by_key(|one| one.site);
    found.dedup_by_key(|one| one.site);
    found
}

/// Returns the calls that take a connection from a pool, in order.
pub(crate) fn taken_from_pools<'a>(linker: &Linker<'a>, reach: &LibraryReach) -> Vec<Taken> {
    let mut sites: Vec<SiteRef> = Vec::new();
    for &language in Language::ALL {
        let of_pool = |path: &&str| {
            let id = linker.library.path(language, path);
            linker.library.split(id).is_some_and(|(of, _)| linker.library.role(of) == Some(Role::Pool))
        };
        let wanted = |paths: Vec<&'a str>| paths.into_iter().filter(of_pool).collect();
        sites.extend(linker.sites_of_rows(reach, language, Uses::RETURNS, &[SiteKind::Call], wanted));
    }
    sites.retain(|&site| linker.is_site_in_focus(site));
    sites.sort();
    sites.into_iter().filter_map(|site| taken_at(linker, site)).collect()
}

/// True if a site enters or leaves the result of another one.
pub(crate) fn enters(linker: &Linker<'_>, site: SiteRef, given: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site);
    matches!(row.kind, SiteKind::Enter | SiteKind::Leave)
        && matches!(facts.form(row.callee), Form::Result(of) if site.file.site_ref(of) == given)
}

/// Returns the connection that a site takes from a pool.
pub(crate) fn taken_at(linker: &Linker<'_>, site: SiteRef) -> Option<Taken> {
    linker.targets(site, EnvId::NONE).list.iter().find_map(|target| {
        let Target::Row { path, .. } = *target else { return None };
        let (of, _) = linker.library.split(path)?;
        if linker.library.role(of) != Some(Role::Pool) {
            return None;
        }
        let language = linker.library.language(path);
        let calls = linker.library.calls(path);
        calls.with(|row| row.returns.is_some()).find_map(|row| {
            let of = row.row.returns.as_ref()?;
            if names_connection(linker, language, of) {
                let blocks = calls.effect().any(|row| row.row.held().is_some());
                let waits = calls.iter().any(|row| row.row.is_async == Some(true));
                return (blocks || waits).then_some(Taken { site, path, blocks });
            }
            // A call that lends a connection takes it where its result is entered or awaited.
            let lease = linker.library.path(language, of.path()?);
            let rows = linker.library.ty(lease)?;
            let lends = |of: Option<&TypeExpr>| of.is_some_and(|of| names_connection(linker, language, of));
            if !lends(rows.enters()) && !lends(rows.awaits()) {
                return None;
            }
            let enter = linker.library.path(language, &format!("{}.__enter__", of.path()?));
            let blocks = linker.library.calls(enter).effect().any(|row| row.row.held().is_some());
            Some(Taken { site, path, blocks })
        })
    })
}

/// True if a type is a connection, or holds one.
fn names_connection(linker: &Linker<'_>, language: Language, of: &TypeExpr) -> bool {
    match of {
        TypeExpr::Path { path, arguments } => {
            linker.library.role(linker.library.path(language, path)) == Some(Role::Connection)
                || arguments.iter().any(|of| names_connection(linker, language, of))
        }
        TypeExpr::Union(parts) | TypeExpr::Tuple(parts) => {
            parts.iter().any(|of| names_connection(linker, language, of))
        }
        _ => false,
    }
}

/// Returns where what a site takes is alive in its own body.
fn alive(linker: &Linker<'_>, site: SiteRef) -> Vec<Alive> {
    let facts = linker.program.facts(site.file);
    let at = linker.program.site(site).at;
    let body = facts.body_of(at);
    let mut found = Vec::new();
    for (id, region) in facts.regions.iter().enumerate() {
        if region.body == body && region.kind == RegionKind::With && leads_to(linker, site.file, region.test, site, 6) {
            let region = RegionId(id as u32);
            found.push(Alive { region, from: at.position, to: u32::MAX });
        }
    }
    for assign in facts.assigns.iter() {
        let Form::Var(var) = facts.form(assign.target) else { continue };
        if facts.body_of(assign.at) != body
            || facts.var(var).body != body
            || !leads_to(linker, site.file, assign.value, site, 6)
            || !is_connection(linker, Scope { file: site.file, at: assign.at, env: EnvId::NONE }, assign.value)
        {
            continue;
        }
        let to = let_go(linker, site.file, var, assign.at);
        found.push(Alive { region: assign.at.region, from: assign.at.position, to });
    }
    found
}

/// True if a value is a connection of a pool.
fn is_connection(linker: &Linker<'_>, scope: Scope, form: FormId) -> bool {
    has_role(linker, scope, form, Role::Connection)
}

/// True if a value may be of a type that plays a role.
fn has_role(linker: &Linker<'_>, scope: Scope, form: FormId, role: Role) -> bool {
    linker
        .values
        .members(linker.eval(scope, form).value)
        .iter()
        .any(|val| linker.types_through(*val).into_iter().any(|ty| linker.library.role(ty) == Some(role)))
}

/// True if a form is the result of a site, unwrapped.
fn leads_to(linker: &Linker<'_>, file: FileId, form: FormId, site: SiteRef, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(file);
    match facts.form(form) {
        Form::Await(inner) | Form::Try(inner) => leads_to(linker, file, inner, site, depth),
        Form::Field(inner, _) => leads_to(linker, file, inner, site, depth),
        Form::Result(of) if file.site_ref(of) == site => true,
        Form::Result(of) => {
            let row = facts.site(of);
            match (row.kind, facts.form(row.callee)) {
                (SiteKind::Enter, _) => leads_to(linker, file, row.callee, site, depth),
                (SiteKind::Call, Form::Attr(base, _)) => leads_to(linker, file, base, site, depth),
                _ => false,
            }
        }
        _ => false,
    }
}

/// Returns the position at which a variable gives up its value: it is dropped, closed, returned or moved away. Else the
/// end of its block, or in Python its last use.
fn let_go(linker: &Linker<'_>, file: FileId, var: VarId, at: At) -> u32 {
    let facts = linker.program.facts(file);
    let name = facts.var(var).name;
    let index = linker.program.index_of(file);
    let mut end = u32::MAX;
    let mut last = at.position;
    for (mention, _) in index.mentions_named(name).iter() {
        if !linker.mentions_var(file.var_ref(var), mention) {
            continue;
        }
        if let Mention::Arg(site, arg) = mention {
            let row = facts.site(site);
            let span = facts.args_of(site)[arg as usize].span;
            // `f(conn)` takes it, `f(&mut conn)` does not.
            let by_value = (span.end - span.start) as usize == facts.text(name).len();
            let gives_back = match facts.language {
                Language::Rust => by_value && row.kind == SiteKind::Call,
                _ => matches!(facts.form(row.callee), Form::Attr(base, _) if is_pool(linker, file, row.at, base)),
            };
            if gives_back {
                end = end.min(row.at.position);
            }
            last = last.max(row.at.position);
        }
    }
    for row in facts.sites.iter() {
        if let Form::Attr(base, method) = facts.form(row.callee)
            && facts.form(base) == Form::Var(var)
            && facts.body_of(row.at) == facts.var(var).body
        {
            last = last.max(row.at.position);
            // A transaction ends by its method, and takes itself along.
            let ends = facts.language == Language::Rust && matches!(facts.text(method), "commit" | "rollback");
            if ends || matches!(facts.text(method), "close" | "release") {
                end = end.min(row.at.position);
            }
        }
    }
    // A closure or block that takes what it captures takes it away.
    for (id, body) in facts.bodies.iter().enumerate() {
        let moves = body.flags.has(BodyFlags::MOVE) && matches!(body.kind, BodyKind::Lambda | BodyKind::AsyncBlock);
        let id = blocklint_facts::BodyId(id as u32);
        let inside = |at: At| facts.body_of(at) == id;
        let captures = moves
            && facts.sites.iter().any(|row| {
                inside(row.at)
                    && (form_names(linker, file, row.callee, var, 6)
                        || facts
                            .args
                            .iter()
                            .skip(row.args.start as usize)
                            .take(row.args.len as usize)
                            .any(|arg| form_names(linker, file, arg.value, var, 6)))
            });
        if captures {
            let taker = facts.sites.iter().enumerate().find(|(at, row)| {
                facts.body_of(row.at) == facts.var(var).body
                    && facts
                        .args_of(blocklint_facts::SiteId(*at as u32))
                        .into_iter()
                        .any(|arg| matches!(facts.form(arg.value), Form::Callable(of) | Form::Run(of) if of == id))
            });
            end = end.min(taker.map_or(at.position, |(_, row)| row.at.position.saturating_sub(1)));
        }
    }
    if facts.language == Language::Python { end.min(last) } else { end }
}

fn is_pool(linker: &Linker<'_>, file: FileId, at: At, form: FormId) -> bool {
    has_role(linker, Scope { file, at, env: EnvId::NONE }, form, Role::Pool)
}

/// True if a form reads a variable.
fn form_names(linker: &Linker<'_>, file: FileId, form: FormId, var: VarId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(file);
    match facts.form(form) {
        Form::Var(of) => of == var,
        Form::Attr(base, _) | Form::Await(base) | Form::Try(base) | Form::Field(base, _) | Form::Star(base) => {
            form_names(linker, file, base, var, depth)
        }
        _ => false,
    }
}

/// Returns the sites of a body that stand where something is alive.
fn sites_within<'l>(linker: &'l Linker<'_>, site: SiteRef, span: Alive) -> impl Iterator<Item = SiteRef> + 'l {
    let facts = linker.program.facts(site.file);
    let file = site.file;
    facts.sites.iter().enumerate().filter_map(move |(at, row)| {
        if row.at.position <= span.from || row.at.position >= span.to || at == site.index() {
            return None;
        }
        let mut region = row.at.region;
        while let Some(id) = region.get() {
            if id == span.region {
                return Some(file.site_ref(blocklint_facts::SiteId(at as u32)));
            }
            region = facts.region(id).parent;
        }
        None
    })
}

/// Returns the first thing that a body awaits where something is alive.
fn awaited_within(linker: &Linker<'_>, body: BodyRef, site: SiteRef, span: Alive) -> Option<SiteRef> {
    sites_within(linker, site, span).find(|of| {
        let row = linker.program.site(*of);
        let waits = row.flags.has(SiteFlags::AWAITED) || row.flags.has(SiteFlags::ASYNC) || row.kind == SiteKind::Await;
        waits && linker.program.body_of(site.file, row.at) == body
    })
}

/// Returns a further connection of the same pool that is taken where one is alive: the call, its row, and whether it
/// stands there itself.
fn taken_meanwhile(
    linker: &Linker<'_>,
    site: SiteRef,
    span: Alive,
    takers: &FxHashSet<SiteRef>,
) -> Option<(SiteRef, PathId, bool)> {
    let pool = pool_of(linker, site)?;
    let first = taken_at(linker, site)?.path;
    for of in sites_within(linker, site, span) {
        if linker.program.body_of_site(of) != linker.program.body_of_site(site) {
            continue;
        }
        if takers.contains(&of) && pool_of(linker, of) == Some(pool) {
            return Some((of, taken_at(linker, of)?.path, true));
        }
        if asks_pool(linker, of, &[pool]) {
            return Some((of, first, true));
        }
        let mut seen = FxHashSet::default();
        if let Some(path) = takes_behind(linker, of, &[pool], takers, DEPTH, &mut seen) {
            return Some((of, path.unwrap_or(first), false));
        }
    }
    None
}

/// Returns the row by which what a site runs takes a connection of a pool; no row where the pool is asked to do
/// something itself.
fn takes_behind(
    linker: &Linker<'_>,
    site: SiteRef,
    pools: &[Pool],
    takers: &FxHashSet<SiteRef>,
    depth: u32,
    seen: &mut FxHashSet<BodyRef>,
) -> Option<Option<PathId>> {
    let depth = depth.checked_sub(1)?;
    for target in &linker.targets(site, EnvId::NONE).list {
        let Target::Body { body, kind, with_receiver, .. } = *target else { continue };
        let awaited = linker.program.site(site).flags.has(SiteFlags::AWAITED);
        if !(kind == TargetKind::Call || kind == TargetKind::Construct && awaited) {
            continue;
        }
        let pools = pools_there(linker, site, pools, body, with_receiver);
        if pools.is_empty() || !seen.insert(body) {
            continue;
        }
        let (facts, body_id) = linker.program.facts_and_id(body);
        for (at, row) in facts.sites.iter().enumerate() {
            if facts.body_of(row.at) != body_id {
                continue;
            }
            let of = body.file.site_ref(blocklint_facts::SiteId(at as u32));
            if is_for_want_of_one(linker, of, site, body, with_receiver) {
                continue;
            }
            if takers.contains(&of) {
                if pool_of(linker, of).is_some_and(|of| pools.contains(&of)) {
                    return taken_at(linker, of).map(|taken| Some(taken.path));
                }
            } else if asks_pool(linker, of, &pools) {
                return Some(None);
            } else if let Some(path) = takes_behind(linker, of, &pools, takers, depth, seen) {
                return Some(path);
            }
        }
    }
    None
}

/// Returns the pools of a caller that its callee knows too: those in fields and modules, and those that are passed to
/// parameters.
pub(crate) fn pools_there(
    linker: &Linker<'_>,
    site: SiteRef,
    pools: &[Pool],
    body: BodyRef,
    with_receiver: bool,
) -> Vec<Pool> {
    let mut there: Vec<Pool> = pools.iter().copied().filter(|pool| is_known_to_all(linker, *pool)).collect();
    let params = linker.program.params_of(body);
    for (at, arg) in linker.program.args_of(site).iter().enumerate() {
        let is_one =
            pool_by(linker, linker.scope_of(site, EnvId::NONE), arg.value).is_some_and(|pool| pools.contains(&pool));
        if is_one
            && let Some(index) = linker.param_for(site, at as u32, body, with_receiver)
            && let Some(param) = params.get(index as usize)
        {
            there.push(Pool::Local(body.file, param.var));
        }
    }
    there
}

/// True if other bodies know a pool by the same name: a field by its bare name does too.
fn is_known_to_all(linker: &Linker<'_>, pool: Pool) -> bool {
    match pool {
        Pool::Held(_) => true,
        Pool::Local(file, var) => {
            let facts = linker.program.facts(file);
            matches!(facts.body(facts.var(var).body).kind, BodyKind::Class | BodyKind::Module)
        }
    }
}

/// True if a site has a pool do something, for which it takes a connection and waits for it: `query.fetch_one(&pool).await`,
/// `await pool.fetch(query)`.
fn asks_pool(linker: &Linker<'_>, site: SiteRef, pools: &[Pool]) -> bool {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site);
    let name = facts.text(row.name);
    let asks = ["fetch", "execute"].iter().any(|verb| name.starts_with(verb));
    if row.kind != SiteKind::Call || !asks || !row.flags.has(SiteFlags::AWAITED) {
        return false;
    }
    let scope = linker.scope_of(site, EnvId::NONE);
    let receiver = linker.receiver_form(site);
    let args = linker.program.args_of(site);
    args.iter().map(|arg| arg.value).chain(receiver).any(|form| {
        pool_by(linker, scope, form).is_some_and(|pool| pools.contains(&pool))
            && has_role(linker, scope, form, Role::Pool)
    })
}

/// True if a site runs only where its body is given no connection (`if conn is None:`), and that call passes one.
fn is_for_want_of_one(linker: &Linker<'_>, site: SiteRef, call: SiteRef, body: BodyRef, with_receiver: bool) -> bool {
    let Some(guard) = linker.branch_guard(site) else { return false };
    guard.tests_absence()
        && linker
            .argument_for_param(call, body, guard.param, with_receiver)
            .is_some_and(|form| is_connection(linker, linker.scope_of(call, EnvId::NONE), form))
}

/// Returns the pool that a site takes from, as far as names show.
pub(crate) fn pool_of(linker: &Linker<'_>, site: SiteRef) -> Option<Pool> {
    pool_by(linker, linker.scope_of(site, EnvId::NONE), linker.receiver_form(site)?)
}

/// Returns the pool that a form is, as far as names show.
pub(crate) fn pool_by(linker: &Linker<'_>, scope: Scope, form: FormId) -> Option<Pool> {
    if let Some(held) = lock_place(linker, scope, form) {
        return Some(Pool::Held(held));
    }
    let facts = linker.program.facts(scope.file);
    match facts.form(form) {
        Form::Var(var) => {
            // `let pool = pool.clone();`
            let mut assigns = facts.assigns_of(var);
            match (assigns.next(), assigns.next()) {
                (Some(assign), None) if !matches!(facts.form(assign.value), Form::Var(of) if of == var) => {
                    cloned(facts, assign.value)
                        .and_then(|of| pool_by(linker, Scope { at: assign.at, ..scope }, of))
                        .or(Some(Pool::Local(scope.file, var)))
                }
                _ => Some(Pool::Local(scope.file, var)),
            }
        }
        Form::Result(_) => cloned(facts, form).and_then(|of| pool_by(linker, scope, of)),
        _ => None,
    }
}

/// Returns the object that a form is a copy of; the copy shares its content.
fn cloned(facts: &blocklint_facts::FileFacts, form: FormId) -> Option<FormId> {
    let Form::Result(site) = facts.form(form) else { return None };
    match facts.form(facts.site(site).callee) {
        Form::Attr(base, name) if facts.text(name) == "clone" && facts.language == Language::Rust => Some(base),
        _ => None,
    }
}

/// One pool, as far as names show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pool {
    /// The pool of a field or a module.
    Held(blocklint_flow::search::locks::LockPlace),
    /// A parameter or local.
    Local(FileId, VarId),
}
