//! Connections of a pool that are held where others wait for one: over an `await`, when they were waited for on the thread that
//! must go on first, and while one more of the same pool is taken.

use blocklint_core::{Confidence, Language, Severity};
use blocklint_facts::{At, BodyFlags, BodyKind, Flow, Form, FormId, RegionId, RegionKind, SiteFlags, SiteKind, VarId};
use blocklint_models::{Role, TypeExpr, Uses};
use rustc_hash::FxHashSet;

use crate::graph::finding::Starved;
use crate::link::Link;
use crate::link::eval::Scope;
use crate::link::reach::Reach;
use crate::link::targets::{Edge, Target};
use crate::link::value::EnvId;
use crate::program::ids::{BodyRef, FileId, PathId, SiteRef};
use crate::program::index::Mention;

/// One connection that is held too long.
#[derive(Clone, Debug)]
pub(crate) struct PoolHold {
    /// Where it is taken.
    pub(crate) site: SiteRef,
    /// The path of the call that takes it.
    pub(crate) path: PathId,
    /// What starves whom.
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

/// All such connections of the program, in order.
pub(crate) fn pool_holds(link: &Link<'_>, reach: &Reach) -> Vec<PoolHold> {
    let taken = link.taken_from_pools(reach);
    let takers: FxHashSet<SiteRef> = taken.iter().map(|taken| taken.site).collect();
    let mut found = Vec::new();
    for one in taken {
        let facts = link.program.facts(one.site.file);
        let body = link.program.body_of_site(one.site);
        let row = facts.body(body.body);
        if link.program.is_test(one.site.file) || row.flags.has(BodyFlags::TEST) {
            continue;
        }
        let is_async = matches!(row.flow, Flow::Coroutine | Flow::AsyncGenerator);
        let spans = link.alive(one.site);
        if let Some(other) = spans.iter().find_map(|span| link.taken_meanwhile(one.site, *span, &takers)) {
            found.push(PoolHold {
                site: other.0,
                path: other.1,
                starved: Starved::Second { first: one.site },
                severity: Severity::Error,
                confidence: if other.2 { Confidence::High } else { Confidence::Medium },
            });
        }
        if one.blocks
            && is_async
            && let Some(awaited) = spans.iter().find_map(|span| link.awaited_within(body, one.site, *span))
        {
            found.push(PoolHold {
                site: one.site,
                path: one.path,
                starved: Starved::OverAwait { awaited },
                severity: Severity::Error,
                confidence: Confidence::High,
            });
        }
    }
    found.sort_by_key(|one| one.site);
    found.dedup_by_key(|one| one.site);
    found
}

impl<'a> Link<'a> {
    /// The calls that take a connection from a pool, in order.
    pub(crate) fn taken_from_pools(&self, reach: &Reach) -> Vec<Taken> {
        let mut sites: Vec<SiteRef> = Vec::new();
        for &language in Language::ALL {
            let of_pool = |path: &&str| {
                let id = self.library.path(language, path);
                self.library.split(id).is_some_and(|(of, _)| self.library.role(of) == Some(Role::Pool))
            };
            let wanted = |paths: Vec<&'a str>| paths.into_iter().filter(of_pool).collect();
            sites.extend(self.sites_of_rows(reach, language, Uses::RETURNS, &[SiteKind::Call], wanted));
        }
        sites.sort();
        sites.into_iter().filter_map(|site| self.taken_at(site)).collect()
    }

    /// Whether a site enters or leaves what another one gives.
    pub(crate) fn enters(&self, site: SiteRef, given: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let row = facts.site(site.site);
        site.file == given.file
            && matches!(row.kind, SiteKind::Enter | SiteKind::Leave)
            && facts.form(row.callee) == Form::Result(given.site)
    }

    /// What a site takes from a pool.
    pub(crate) fn taken_at(&self, site: SiteRef) -> Option<Taken> {
        self.targets(site, EnvId::NONE).list.iter().find_map(|target| {
            let Target::Row { path, .. } = *target else { return None };
            let (of, _) = self.library.split(path)?;
            if self.library.role(of) != Some(Role::Pool) {
                return None;
            }
            let language = self.library.language(path);
            let calls = self.library.calls(path);
            calls.with(|row| row.returns.is_some()).find_map(|row| {
                let of = row.row.returns.as_ref()?;
                if self.names_connection(language, of) {
                    let blocks = calls.effect().any(|row| row.row.held().is_some());
                    let waits = calls.iter().any(|row| row.row.is_async == Some(true));
                    return (blocks || waits).then_some(Taken { site, path, blocks });
                }
                // What lends one: it is taken where that is entered or awaited.
                let lease = self.library.path(language, of.path()?);
                let rows = self.library.ty(lease)?;
                let lends = |of: Option<&TypeExpr>| of.is_some_and(|of| self.names_connection(language, of));
                if !lends(rows.enters()) && !lends(rows.awaits()) {
                    return None;
                }
                let enter = self.library.path(language, &format!("{}.__enter__", of.path()?));
                let blocks = self.library.calls(enter).effect().any(|row| row.row.held().is_some());
                Some(Taken { site, path, blocks })
            })
        })
    }

    /// Whether a type is a connection, or holds one.
    fn names_connection(&self, language: Language, of: &TypeExpr) -> bool {
        match of {
            TypeExpr::Path { path, arguments } => {
                self.library.role(self.library.path(language, path)) == Some(Role::Connection)
                    || arguments.iter().any(|of| self.names_connection(language, of))
            }
            TypeExpr::Union(parts) | TypeExpr::Tuple(parts) => {
                parts.iter().any(|of| self.names_connection(language, of))
            }
            _ => false,
        }
    }

    /// Where what a site takes is alive in its own body.
    fn alive(&self, site: SiteRef) -> Vec<Alive> {
        let facts = self.program.facts(site.file);
        let at = facts.site(site.site).at;
        let body = facts.body_of(at);
        let mut found = Vec::new();
        for (id, region) in facts.regions.iter().enumerate() {
            if region.body == body && region.kind == RegionKind::With && self.leads_to(site.file, region.test, site, 6)
            {
                let region = RegionId(id as u32);
                found.push(Alive { region, from: at.position, to: u32::MAX });
            }
        }
        for assign in facts.assigns.iter() {
            let Form::Var(var) = facts.form(assign.target) else { continue };
            if facts.body_of(assign.at) != body
                || facts.var(var).body != body
                || !self.leads_to(site.file, assign.value, site, 6)
                || !self.is_connection(Scope { file: site.file, at: assign.at, env: EnvId::NONE }, assign.value)
            {
                continue;
            }
            let to = self.let_go(site.file, var, assign.at);
            found.push(Alive { region: assign.at.region, from: assign.at.position, to });
        }
        found
    }

    /// Whether a value is a connection of a pool.
    fn is_connection(&self, scope: Scope, form: FormId) -> bool {
        self.has_role(scope, form, Role::Connection)
    }

    /// Whether a value may be of a type that plays a role.
    fn has_role(&self, scope: Scope, form: FormId, role: Role) -> bool {
        self.values
            .members(self.eval(scope, form).value)
            .iter()
            .any(|val| self.types_through(*val).into_iter().any(|ty| self.library.role(ty) == Some(role)))
    }

    /// Whether a form is the result of a site, unwrapped.
    fn leads_to(&self, file: FileId, form: FormId, site: SiteRef, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let facts = self.program.facts(file);
        match facts.form(form) {
            Form::Await(inner) | Form::Try(inner) => self.leads_to(file, inner, site, depth),
            Form::Field(inner, _) => self.leads_to(file, inner, site, depth),
            Form::Result(of) if of == site.site => true,
            Form::Result(of) => {
                let row = facts.site(of);
                match (row.kind, facts.form(row.callee)) {
                    (SiteKind::Enter, _) => self.leads_to(file, row.callee, site, depth),
                    (SiteKind::Call, Form::Attr(base, _)) => self.leads_to(file, base, site, depth),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// The position at which a variable gives up what it holds: it is dropped, closed, given back or moved away. Else the end of
    /// its block, or in Python its last use.
    fn let_go(&self, file: FileId, var: VarId, at: At) -> u32 {
        let facts = self.program.facts(file);
        let name = facts.var(var).name;
        let index = self.program.index_of(file);
        let mut end = u32::MAX;
        let mut last = at.position;
        for (mention, _) in index.mentions_named(name).iter() {
            if !self.mentions_var(file, mention, var) {
                continue;
            }
            if let Mention::Arg(site, arg) = mention {
                let row = facts.site(site);
                let span = facts.args_of(site)[arg as usize].span;
                // `f(conn)` takes it, `f(&mut conn)` does not.
                let by_value = (span.end - span.start) as usize == facts.text(name).len();
                let gives_back = match facts.language {
                    Language::Rust => by_value && row.kind == SiteKind::Call,
                    _ => matches!(facts.form(row.callee), Form::Attr(base, _) if self.is_pool(file, row.at, base)),
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
                        && (self.form_names(file, row.callee, var, 6)
                            || facts
                                .args
                                .iter()
                                .skip(row.args.start as usize)
                                .take(row.args.len as usize)
                                .any(|arg| self.form_names(file, arg.value, var, 6)))
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

    fn is_pool(&self, file: FileId, at: At, form: FormId) -> bool {
        self.has_role(Scope { file, at, env: EnvId::NONE }, form, Role::Pool)
    }

    /// Whether a form reads a variable.
    fn form_names(&self, file: FileId, form: FormId, var: VarId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let facts = self.program.facts(file);
        match facts.form(form) {
            Form::Var(of) => of == var,
            Form::Attr(base, _) | Form::Await(base) | Form::Try(base) | Form::Field(base, _) | Form::Star(base) => {
                self.form_names(file, base, var, depth)
            }
            _ => false,
        }
    }

    /// The sites of a body that stand where something is alive.
    fn sites_within(&self, site: SiteRef, span: Alive) -> impl Iterator<Item = SiteRef> + '_ {
        let facts = self.program.facts(site.file);
        let file = site.file;
        facts.sites.iter().enumerate().filter_map(move |(at, row)| {
            if row.at.position <= span.from || row.at.position >= span.to || at == site.site.index() {
                return None;
            }
            let mut region = row.at.region;
            while let Some(id) = region.get() {
                if id == span.region {
                    return Some(SiteRef { file, site: blocklint_facts::SiteId(at as u32) });
                }
                region = facts.region(id).parent;
            }
            None
        })
    }

    /// The first thing that a body awaits where something is alive.
    fn awaited_within(&self, body: BodyRef, site: SiteRef, span: Alive) -> Option<SiteRef> {
        let facts = self.program.facts(site.file);
        self.sites_within(site, span).find(|of| {
            let row = facts.site(of.site);
            let waits =
                row.flags.has(SiteFlags::AWAITED) || row.flags.has(SiteFlags::ASYNC) || row.kind == SiteKind::Await;
            waits && facts.body_of(row.at) == body.body
        })
    }

    /// A further connection of the same pool that is taken where one is alive: the call, its row, and whether it stands there
    /// itself.
    fn taken_meanwhile(
        &self,
        site: SiteRef,
        span: Alive,
        takers: &FxHashSet<SiteRef>,
    ) -> Option<(SiteRef, PathId, bool)> {
        let pool = self.pool_of(site)?;
        let first = self.taken_at(site)?.path;
        for of in self.sites_within(site, span) {
            if self.program.body_of_site(of) != self.program.body_of_site(site) {
                continue;
            }
            if takers.contains(&of) && self.pool_of(of) == Some(pool) {
                return Some((of, self.taken_at(of)?.path, true));
            }
            if self.asks_pool(of, &[pool]) {
                return Some((of, first, true));
            }
            let mut seen = FxHashSet::default();
            if let Some(path) = self.takes_behind(of, &[pool], takers, DEPTH, &mut seen) {
                return Some((of, path.unwrap_or(first), false));
            }
        }
        None
    }

    /// The row by which what a site runs takes a connection of a pool; no row where the pool is asked to do something itself.
    fn takes_behind(
        &self,
        site: SiteRef,
        pools: &[Pool],
        takers: &FxHashSet<SiteRef>,
        depth: u32,
        seen: &mut FxHashSet<BodyRef>,
    ) -> Option<Option<PathId>> {
        let depth = depth.checked_sub(1)?;
        for target in &self.targets(site, EnvId::NONE).list {
            let Target::Body { body, edge, with_receiver, .. } = *target else { continue };
            let awaited = self.program.facts(site.file).site(site.site).flags.has(SiteFlags::AWAITED);
            if !(edge == Edge::Call || edge == Edge::Construct && awaited) {
                continue;
            }
            let pools = self.pools_there(site, pools, body, with_receiver);
            if pools.is_empty() || !seen.insert(body) {
                continue;
            }
            let facts = self.program.facts(body.file);
            for (at, row) in facts.sites.iter().enumerate() {
                if facts.body_of(row.at) != body.body {
                    continue;
                }
                let of = SiteRef { file: body.file, site: blocklint_facts::SiteId(at as u32) };
                if self.is_for_want_of_one(of, site, body, with_receiver) {
                    continue;
                }
                if takers.contains(&of) {
                    if self.pool_of(of).is_some_and(|of| pools.contains(&of)) {
                        return self.taken_at(of).map(|taken| Some(taken.path));
                    }
                } else if self.asks_pool(of, &pools) {
                    return Some(None);
                } else if let Some(path) = self.takes_behind(of, &pools, takers, depth, seen) {
                    return Some(path);
                }
            }
        }
        None
    }

    /// What a body knows pools by that its caller knows: what fields and modules hold, and parameters that are given one.
    pub(crate) fn pools_there(&self, site: SiteRef, pools: &[Pool], body: BodyRef, with_receiver: bool) -> Vec<Pool> {
        let mut there: Vec<Pool> = pools.iter().copied().filter(|pool| self.is_known_to_all(*pool)).collect();
        let facts = self.program.facts(site.file);
        let params = self.program.facts(body.file).params_of(body.body);
        for (at, arg) in facts.args_of(site.site).iter().enumerate() {
            let is_one = self
                .pool_by(self.scope_of(site, EnvId::NONE), arg.value)
                .is_some_and(|pool| pools.contains(&pool));
            if is_one
                && let Some(index) = self.param_for(site, at as u32, body, with_receiver)
                && let Some(param) = params.get(index as usize)
            {
                there.push(Pool::Local(body.file, param.var));
            }
        }
        there
    }

    /// Whether other bodies know a pool by the same name: a field by its bare name does too.
    fn is_known_to_all(&self, pool: Pool) -> bool {
        match pool {
            Pool::Held(_) => true,
            Pool::Local(file, var) => {
                let facts = self.program.facts(file);
                matches!(facts.body(facts.var(var).body).kind, BodyKind::Class | BodyKind::Module)
            }
        }
    }

    /// Whether a site has a pool do something, for which it takes a connection and waits for it: `query.fetch_one(&pool).await`,
    /// `await pool.fetch(query)`.
    fn asks_pool(&self, site: SiteRef, pools: &[Pool]) -> bool {
        let facts = self.program.facts(site.file);
        let row = facts.site(site.site);
        let name = facts.text(row.name);
        let asks = ["fetch", "execute"].iter().any(|verb| name.starts_with(verb));
        if row.kind != SiteKind::Call || !asks || !row.flags.has(SiteFlags::AWAITED) {
            return false;
        }
        let scope = self.scope_of(site, EnvId::NONE);
        let receiver = self.receiver_form(site);
        let args = facts.args_of(site.site);
        args.iter().map(|arg| arg.value).chain(receiver).any(|form| {
            self.pool_by(scope, form).is_some_and(|pool| pools.contains(&pool)) && self.has_role(scope, form, Role::Pool)
        })
    }

    /// Whether a site runs only where its body is given no connection (`if conn is None:`), and the call of that body gives it
    /// one.
    fn is_for_want_of_one(&self, site: SiteRef, call: SiteRef, body: BodyRef, with_receiver: bool) -> bool {
        let Some(guard) = self.branch_guard(site) else { return false };
        guard.asks_for_nothing()
            && self
                .passed_with(call, body, guard.param, with_receiver)
                .is_some_and(|form| self.is_connection(self.scope_of(call, EnvId::NONE), form))
    }

    /// Which pool a site takes from, as far as names tell.
    pub(crate) fn pool_of(&self, site: SiteRef) -> Option<Pool> {
        self.pool_by(self.scope_of(site, EnvId::NONE), self.receiver_form(site)?)
    }

    /// Which pool a form is, as far as names tell.
    pub(crate) fn pool_by(&self, scope: Scope, form: FormId) -> Option<Pool> {
        if let Some(held) = self.holder(scope, form) {
            return Some(Pool::Held(held));
        }
        let facts = self.program.facts(scope.file);
        match facts.form(form) {
            Form::Var(var) => {
                // `let pool = pool.clone();`
                let mut assigns = facts.assigns_of(var);
                match (assigns.next(), assigns.next()) {
                    (Some(assign), None) if !matches!(facts.form(assign.value), Form::Var(of) if of == var) => self
                        .cloned(facts, assign.value)
                        .and_then(|of| self.pool_by(Scope { at: assign.at, ..scope }, of))
                        .or(Some(Pool::Local(scope.file, var))),
                    _ => Some(Pool::Local(scope.file, var)),
                }
            }
            Form::Result(_) => self.cloned(facts, form).and_then(|of| self.pool_by(scope, of)),
            _ => None,
        }
    }

    /// What a form is a copy of, which shares what it holds.
    fn cloned(&self, facts: &blocklint_facts::FileFacts, form: FormId) -> Option<FormId> {
        let Form::Result(site) = facts.form(form) else { return None };
        match facts.form(facts.site(site).callee) {
            Form::Attr(base, name) if facts.text(name) == "clone" && facts.language == Language::Rust => Some(base),
            _ => None,
        }
    }
}

/// One pool, as far as names tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pool {
    /// What a field or a module holds.
    Held(crate::search::locks::Holder),
    /// A parameter or local.
    Local(FileId, VarId),
}
