//! Thread locks (`threading.Lock`, `std::sync::Mutex`). Taking a lock gets no label, because short critical sections
//! are normal. Two cases are mistakes: a lock that is held over a blocking call makes other takers wait, which adds
//! waits to the search; and a lock that a coroutine holds over an `await` can deadlock the loop, which the rule
//! `lock-held-across-await` reports.

pub(crate) mod acquired;

use crate::search::rust_lock_lifetimes;
use blocklint_core::{Effect, Hold, Language, Severity};
use blocklint_facts::{BodyKind, Flow, Form, FormId, RegionId, RegionKind, SiteFlags, SiteId, SiteKind, VarKind};
use blocklint_link::calls::targets::Target;
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::effect::label::LabelHold;
use blocklint_link::linker::{LOW_STEPS, Linker};
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, Name, PathId, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::syntax::regions::function_around;
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::Role;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::best_path::Paths;
use crate::graph::marks::Marks;
use crate::graph::{EdgeTarget, FlowEdge, SinkSite};
use crate::search::Search;

pub use crate::search::rust_lock_lifetimes::{binding_of_guard, is_in_else, is_moved_before};

/// The most variables that are followed from an expression to its lock.
const MAX_LOCK_DEPTH: u32 = 4;

/// The most callers through which a function is followed to the worker thread that runs it.
const MAX_CALLER_DEPTH: u32 = 6;

/// The variable or field that stores a lock, or a pool of threads or connections. All values of one place are treated
/// as one lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LockPlace {
    /// A field, under the topmost base class that assigns it.
    Field(ClassRef, Name),
    /// A module's variable.
    Global(FileId, Name),
}

impl LockPlace {
    /// Returns the name of the field or variable.
    pub fn name(self) -> Name {
        match self {
            LockPlace::Field(_, name) | LockPlace::Global(_, name) => name,
        }
    }
}

/// A thread lock that a coroutine holds over an `await`.
#[derive(Clone, Copy, Debug)]
pub struct HeldOverAwait {
    /// The call or block that takes the lock.
    pub taken: SiteRef,
    /// The first await while the lock is held.
    pub awaited: SiteRef,
    /// The lock's type.
    pub ty: PathId,
}

/// Returns the lock type of a form; `None` if its value is no lock.
pub(crate) fn lock_type(linker: &Linker<'_>, scope: Scope, form: FormId) -> Option<PathId> {
    linker.values.members(linker.eval(scope, form).value).iter().find_map(|val| match *val {
        Val::Library { .. } | Val::Instance { .. } => {
            linker.types_through(*val).into_iter().find(|&ty| linker.library.role(ty).is_some_and(Role::is_lock))
        }
        _ => None,
    })
}

/// Returns the variable or field that stores the value of a form, if it has a name: `self.lock`.
pub fn lock_place(linker: &Linker<'_>, scope: Scope, form: FormId) -> Option<LockPlace> {
    lock_place_within(linker, scope, form, MAX_LOCK_DEPTH)
}

/// Returns the variable or field that stores the value of a form. At most `depth` variables are followed.
pub(crate) fn lock_place_within(linker: &Linker<'_>, scope: Scope, form: FormId, depth: u32) -> Option<LockPlace> {
    let depth = depth.checked_sub(1)?;
    let facts = linker.program.facts(scope.file);
    match facts.form(form) {
        Form::Attr(base, sym) => {
            let name = linker.program.global(scope.file, sym)?;
            linker.values.members(linker.eval(scope, base).value).iter().find_map(|val| match *val {
                Val::Instance { class, .. } | Val::Class(class) => {
                    Some(LockPlace::Field(assigning_class(linker, class, name), name))
                }
                Val::Module(file) => Some(LockPlace::Global(file, name)),
                _ => None,
            })
        }
        Form::Var(var) => {
            let var_facts = facts.var(var);
            if matches!(var_facts.kind, VarKind::Param(_)) {
                return None;
            }
            let owner = facts.body(var_facts.body);
            let name = linker.program.global(scope.file, var_facts.name)?;
            let mut assigns = facts.assigns_of(var);
            if let Some(first) = assigns.next()
                && let Form::Import(import) = facts.form(first.value)
            {
                let import = facts.import(import);
                let module = blocklint_link::lang::python::names::module_named(linker, scope.file, &import);
                let (Val::Module(file), Some(name)) = (module, linker.program.global(scope.file, import.name)) else {
                    return None;
                };
                return Some(LockPlace::Global(file, name));
            }
            if owner.parent.is_none() {
                return Some(LockPlace::Global(scope.file, name));
            }
            if let Some(class) = owner.class.get().filter(|_| owner.kind == BodyKind::Class) {
                return Some(LockPlace::Field(scope.file.class_ref(class), name));
            }
            let mut assigns = facts.assigns_of(var);
            let only = assigns.next().filter(|row| row.value.is_some())?;
            if assigns.next().is_some() {
                return None;
            }
            lock_place_within(linker, Scope { at: only.at, ..scope }, only.value, depth)
        }
        Form::Result(made) if facts.language == Language::Rust => {
            lock_place_within(linker, scope, rust_lock_lifetimes::pointee_form(facts, made)?, depth)
        }
        Form::Try(inner) if facts.language == Language::Rust => lock_place_within(linker, scope, inner, depth),
        _ => None,
    }
}

/// Returns the topmost base class that assigns a field.
fn assigning_class(linker: &Linker<'_>, class: ClassRef, name: Name) -> ClassRef {
    let mro = linker.mro(class);
    let assigning = mro.iter().rev().find_map(|ancestor| match *ancestor {
        Ancestor::Class(base)
            if linker.own_member(base, name).is_some() || !linker.own_assigns(base, name).is_empty() =>
        {
            Some(base)
        }
        _ => None,
    });
    assigning.unwrap_or(class)
}

/// Returns the `with` blocks around a site with their context managers, innermost first.
fn with_blocks_around(linker: &Linker<'_>, site: SiteRef) -> Vec<(RegionId, FormId)> {
    let facts = linker.program.facts(site.file);
    let mut blocks = Vec::new();
    let mut region_id = linker.program.site(site).at.region;
    while let Some(id) = region_id.get() {
        let region = facts.region(id);
        if region.kind == RegionKind::With && region.test.is_some() {
            blocks.push((id, region.test));
        }
        region_id = region.parent;
    }
    blocks
}

/// Returns the thread locks that coroutines hold over an `await`: in a `with` block, or between `acquire()` and
/// `release()` (Python).
pub fn find_locks_held_over_await(linker: &Linker<'_>) -> Vec<HeldOverAwait> {
    let mut held_locks = Vec::new();
    for file in linker.reported_files() {
        let facts = linker.program.facts(file);
        acquired::add_acquired_locks(linker, file, &mut held_locks);
        if !facts.regions.iter().any(|region| region.kind == RegionKind::With && region.test.is_some()) {
            continue;
        }
        // The first await in each `with` block of a coroutine.
        let mut awaited: FxHashMap<RegionId, SiteRef> = FxHashMap::default();
        for (index, site_facts) in facts.sites.iter().enumerate() {
            if !site_facts.flags.has(SiteFlags::AWAITED) && !site_facts.flags.has(SiteFlags::ASYNC) {
                continue;
            }
            let site = file.site_ref(SiteId(index as u32));
            let flow = facts.body(facts.body_of(site_facts.at)).flow;
            if !matches!(flow, Flow::Coroutine | Flow::AsyncGenerator) {
                continue;
            }
            for (region, _) in with_blocks_around(linker, site) {
                awaited.entry(region).or_insert(site);
            }
        }
        let mut regions: Vec<_> = awaited.into_iter().collect();
        regions.sort();
        for (region, awaited) in regions {
            let block = facts.region(region);
            let scope = Scope { file, at: linker.program.site(awaited).at, env: EnvId::NONE };
            let Some(ty) = lock_type(linker, scope, block.test) else { continue };
            // The `Enter` site of the block takes the lock.
            let taken = facts.sites.iter().enumerate().find(|(_, site)| {
                site.kind == SiteKind::Enter && site.callee == block.test && facts.body_of(site.at) == block.body
            });
            let Some((index, enter)) = taken else { continue };
            if enter.flags.has(SiteFlags::ASYNC) {
                continue;
            }
            let taken = file.site_ref(SiteId(index as u32));
            held_locks.push(HeldOverAwait { taken, awaited, ty });
        }
    }
    held_locks
}

/// Returns the `with` blocks and `acquire()` calls that take a lock (Python).
fn find_takers(linker: &Linker<'_>, lock: LockPlace) -> Vec<SiteRef> {
    let (LockPlace::Field(_, name) | LockPlace::Global(_, name)) = lock;
    let mut takers = Vec::new();
    for name in linker.with_aliases(name) {
        for &(file, sym) in linker.program.occurrences(name) {
            let facts = linker.program.facts(file);
            let mut sites: Vec<SiteRef> = Vec::new();
            for (mention, _) in linker.program.index_of(file).mentions_named(sym).iter() {
                if let Mention::Operand(site) = mention
                    && facts.site(site).kind == SiteKind::Enter
                    && !facts.site(site).flags.has(SiteFlags::ASYNC)
                {
                    sites.push(file.site_ref(site));
                }
            }
            if let Some(acquire) = linker.program.name("acquire").and_then(|name| linker.program.local(file, name)) {
                for &site in linker.program.index_of(file).sites_named(acquire) {
                    let is_on_lock = match facts.form(facts.site(site).callee) {
                        Form::Attr(receiver, _) => match facts.form(receiver) {
                            Form::Attr(_, field) => field == sym,
                            Form::Var(var) => facts.var(var).name == sym,
                            _ => false,
                        },
                        _ => false,
                    };
                    if is_on_lock && facts.site(site).kind == SiteKind::Call {
                        sites.push(file.site_ref(site));
                    }
                }
            }
            takers.extend(sites.into_iter().filter(|&site| {
                let site_facts = linker.program.site(site);
                let form = match facts.form(site_facts.callee) {
                    Form::Attr(receiver, _) if site_facts.kind == SiteKind::Call => receiver,
                    _ => site_facts.callee,
                };
                let site_lock = linker.attempt_site(site, || {
                    lock_place_within(linker, linker.scope_of(site, EnvId::NONE), form, MAX_LOCK_DEPTH)
                });
                site_lock == Some(Some(lock))
            }));
        }
    }
    takers.sort();
    takers.dedup();
    takers
}

impl<'l, 'a> Search<'l, 'a> {
    /// Adds a wait at each site that takes a lock which other code holds over a blocking call. Returns true if it added
    /// any.
    pub(crate) fn add_lock_waits(&mut self) -> bool {
        let held_locks = self.locks_held_over_blocking_calls();
        let mut locks: Vec<(LockPlace, SiteRef)> = held_locks.into_iter().collect();
        locks.sort();
        let mut any = false;
        for (lock, holding) in locks {
            for site in find_takers(self.linker, lock) {
                let linker = self.linker;
                any |= linker.attempt_site(site, || self.add_wait(site, holding)) == Some(true);
            }
        }
        any | self.add_rust_lock_waits()
    }

    /// Adds waits for Rust locks, which are held as long as their `MutexGuard` is alive. Returns true if it added any.
    fn add_rust_lock_waits(&mut self) -> bool {
        let (held_locks, taking) = self.rust_locks_held_over_blocking_calls();
        if held_locks.is_empty() {
            return false;
        }
        let mut any = false;
        for (lock, site) in rust_lock_lifetimes::find_all_takers(self.linker) {
            // A site that holds its lock over a blocking call has a finding of its own.
            if let Some(&holding) = held_locks.get(&lock).filter(|_| !taking.contains(&site)) {
                any |= self.add_wait(site, holding);
            }
        }
        any
    }

    /// Returns two results: the locks that a worker thread holds over a long blocking call, each with the first of
    /// these calls, and all calls that take a lock and hold it over a blocking call on any thread (Rust).
    fn rust_locks_held_over_blocking_calls(&self) -> (FxHashMap<LockPlace, SiteRef>, FxHashSet<SiteRef>) {
        let linker = self.linker;
        let mut held_locks: FxHashMap<LockPlace, SiteRef> = FxHashMap::default();
        let mut taking: FxHashSet<SiteRef> = FxHashSet::default();
        let mut visited: FxHashSet<SiteRef> = FxHashSet::default();
        let mut paths = None;
        for labelled_body in &self.graph.labelled_bodies {
            let label = self.graph.labels.get(labelled_body.label);
            if label.severity == Severity::Note || label.effect == Effect::Cpu {
                continue;
            }
            for edge in &labelled_body.edges {
                let is_rust = linker.program.language(edge.site.file) == Language::Rust;
                if !is_rust || edge.steps >= LOW_STEPS || !visited.insert(edge.site) {
                    continue;
                }
                for (taken, lock) in rust_lock_lifetimes::locks_held_at(linker, edge.site) {
                    taking.insert(taken);
                    // Reading one file is short, but a loop over files is long.
                    let paths = paths.get_or_insert_with(|| Paths::new(linker, &self.graph));
                    let is_long = label.severity == Severity::Error
                        || paths
                            .best_path(*edge)
                            .iter()
                            .any(|edge| rust_lock_lifetimes::is_repeated(linker, edge.site, taken));
                    let around = linker.program.body_of_site(edge.site);
                    if is_long
                        && rust_lock_lifetimes::runs_on_worker(
                            &self.conditions.callers,
                            linker,
                            around,
                            MAX_CALLER_DEPTH,
                        )
                    {
                        held_locks
                            .entry(lock)
                            .and_modify(|first| *first = (*first).min(edge.site))
                            .or_insert(edge.site);
                    }
                }
            }
        }
        (held_locks, taking)
    }

    /// Returns the locks that a `with` block holds over a long blocking call, each with the first of these calls
    /// (Python).
    fn locks_held_over_blocking_calls(&self) -> FxHashMap<LockPlace, SiteRef> {
        let linker = self.linker;
        let mut held_locks: FxHashMap<LockPlace, SiteRef> = FxHashMap::default();
        let mut visited: FxHashSet<SiteRef> = FxHashSet::default();
        let mut paths = None;
        for labelled_body in &self.graph.labelled_bodies {
            let label = self.graph.labels.get(labelled_body.label);
            // Warnings are left out: a lock that is held over one file access, or over a message that fits into a
            // buffer, is soon released.
            let is_long = label.severity == Severity::Error;
            if label.effect == Effect::Cpu || !is_long {
                continue;
            }
            for edge in &labelled_body.edges {
                if edge.steps >= LOW_STEPS || !visited.insert(edge.site) {
                    continue;
                }
                for (_, form) in with_blocks_around(linker, edge.site) {
                    let scope = Scope { at: linker.program.site(edge.site).at, file: edge.site.file, env: EnvId::NONE };
                    if lock_type(linker, scope, form).is_none() {
                        continue;
                    }
                    let paths = paths.get_or_insert_with(|| Paths::new(linker, &self.graph));
                    let is_certain = paths.cost_from(linker, &self.graph, edge).is_some_and(|cost| cost.steps <= 2);
                    if let Some(lock) = lock_place_within(linker, scope, form, MAX_LOCK_DEPTH).filter(|_| is_certain) {
                        held_locks
                            .entry(lock)
                            .and_modify(|first| *first = (*first).min(edge.site))
                            .or_insert(edge.site);
                    }
                }
            }
        }
        held_locks
    }

    /// Adds the wait of a site for a lock that is held over the blocking call at `holding`. Returns true if a row
    /// describes the site.
    fn add_wait(&mut self, site: SiteRef, holding: SiteRef) -> bool {
        let linker = self.linker;
        // A function does not wait for a lock that it holds itself.
        if linker.program.body_of_site(site) == linker.program.body_of_site(holding) {
            return false;
        }
        for target in &linker.targets(site, EnvId::NONE).list {
            let Target::Row { path, receiver, property, .. } = *target else { continue };
            let Some(lock_sink) = linker.lock_sink(site, path, receiver, property) else { continue };
            let mut label = lock_sink.label;
            label.severity = Severity::Warning;
            label.hold = LabelHold::Fixed(Hold::Unstated);
            let Some(label) = self.suppressions.suppress_at_site(linker.program, site, label) else { continue };
            let label_id = self.graph.labels.id(label.clone());
            let sink = self.graph.sinks.len() as u32;
            self.graph.sinks.push(SinkSite {
                site,
                row: lock_sink.row,
                path,
                label: label_id,
                held_by: Some(holding),
                wraps: None,
            });
            *self.graph.sink_rows_at.entry(site).or_default() += 1;
            let edge = FlowEdge {
                site,
                arg: None,
                next: EdgeTarget::Sink(sink),
                steps: 1,
                shared: false,
                marks: Marks::default(),
            };
            self.propagate_to_site(site, EnvId::NONE, label, edge);
            return true;
        }
        false
    }
}

/// Returns the function that makes the blocking call during which a lock is held. For a closure it is the enclosing
/// function.
pub fn function_holding(linker: &Linker<'_>, holding: SiteRef) -> BodyRef {
    let body = linker.program.body_of_site(holding);
    let (facts, body_id) = linker.program.facts_and_id(body);
    body.file.body_ref(function_around(facts, body_id))
}

/// Returns the name of [`function_holding`], for messages.
pub fn name_of_function_holding(linker: &Linker<'_>, holding: SiteRef) -> String {
    blocklint_core::last_name(&linker.qualified_name(function_holding(linker, holding))).to_owned()
}
