//! The code that a call would take along to another thread: the bodies that it runs, and the first thing below it that belongs to the
//! thread, loop or task in which it is called now.
//!
//! Asked for edits only, forward from one call, so its cost is that of the call's own callees. Calls with unknown targets do not
//! forbid the move.

use crate::with_blocks;
use blocklint_link::syntax::regions;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use blocklint_core::{Bound, BoundCall, BoundUse, Context, Language, Place, Span};
use blocklint_facts::{At, BodyKind, FileFacts, Flow, Form, FormId, RegionId, RegionKind, SiteFlags, SiteId, SiteKind};
use blocklint_models::{
    Argument, Asks, Concurrency, Condition, HandoverContext, HandoverRow, Role, Runs, Selector, Subject, Test,
};
use rustc_hash::{FxHashMap, FxHashSet};

use blocklint_flow::entries::root::{Root, RootKind, Roots};
use blocklint_link::calls::targets::{Target, TargetKind};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::linker::Linker;
use blocklint_link::models::row_match::ConditionResult;
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, PathId, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::{BoundId, EnvId, Val, ValueId};

/// Answers of this file that are kept for one program.
#[derive(Default)]
struct Memo {
    /// Code that calls would take along to another thread.
    moved: RefCell<BoundCache>,
}

/// The number of bodies after which the rest of the code that a call runs is not looked at.
const MOST_BODIES: usize = 300;
/// Blocks around a call that are looked at.
const MOST_BLOCKS: usize = 4;
/// Implementations of one method that are looked at.
const MOST_OVERRIDES: usize = 16;

/// The code that a call runs.
#[derive(Clone, Debug, Default)]
pub struct MovedCode {
    /// The project's functions that run during it, nearest first.
    pub functions: Vec<(FileId, Span)>,
    /// How many of them, the first ones, the calls themselves run.
    pub direct: usize,
    /// The first thing in them, or the call itself, that cannot move to another thread.
    pub bound: Option<BoundCall>,
    /// The first thing that asks the context of the calling task, which not every handover to a thread copies.
    pub asks_context: Option<BoundCall>,
}

/// Returns the code that a call runs, as far as it is known, with the bond of its result to a thread.
pub fn moved_with(linker: &Linker<'_>, site: SiteRef) -> MovedCode {
    let mut moved = code_moved_by(linker, vec![site]);
    if moved.bound.is_none() {
        moved.bound =
            made_for_one_thread(linker, site).map(|ty| bound(linker, site, Bound::Thread, BoundUse::Made, ty));
    }
    let region = linker.program.site(site).at.region;
    stays_behind(linker, site, region, &mut moved);
    if moved.bound.is_none() {
        moved.bound = makes_for_the_loop(linker, site).or_else(|| returns_loop_awaitable(linker, site));
    }
    moved
}

/// Adds what the `with` blocks around a place set, and what moves from there leaves behind. A thread is mostly given a copy of the context.
fn stays_behind(linker: &Linker<'_>, site: SiteRef, region: RegionId, moved: &mut MovedCode) {
    if moved.bound.is_some() {
        return;
    }
    let around = with_blocks::around(linker, site, region);
    let (context, others): (Vec<_>, Vec<_>) =
        around.into_iter().partition(|of| matches!(of.to, Bound::Context | Bound::ContextRead));
    moved.bound = others.into_iter().next();
    moved.asks_context = moved.asks_context.take().or_else(|| context.into_iter().next());
}

/// Returns the type of a call's result if the result is awaited: a future, a task, a coroutine. An edit to a thread would create it
/// there, and the loop that waits for it would not be notified. [Python]
fn returns_loop_awaitable(linker: &Linker<'_>, site: SiteRef) -> Option<BoundCall> {
    let row = linker.program.site(site);
    if linker.program.language(site.file) != Language::Python || row.flags.has(SiteFlags::DISCARDED) {
        return None;
    }
    let given = linker.result(site, EnvId::NONE).value;
    let call = linker.values.members(given).iter().find_map(|val| match *val {
        Val::Coroutine { body, .. } => Some(linker.qualified_name(body)),
        Val::Library { ty, .. } if linker.library.bound(ty) == Some(Bound::Loop) => {
            Some(linker.library.text(ty).to_string())
        }
        _ => None,
    })?;
    Some(bound_at(linker, site, Bound::Loop, BoundUse::Returned, call))
}

/// Returns the class with coroutines of which a call makes an instance. Its locks, queues or clients are often bound to the loop in
/// which they are created, and its constructor rarely takes the time itself. [Python]
fn makes_for_the_loop(linker: &Linker<'_>, site: SiteRef) -> Option<BoundCall> {
    if linker.program.language(site.file) != Language::Python {
        return None;
    }
    let callee = linker.callee(site, EnvId::NONE).value;
    let class = linker.values.members(callee).iter().find_map(|val| match *val {
        Val::Class(class) if has_coroutines(linker, class) => Some(class),
        _ => None,
    })?;
    let facts = linker.program.facts(class.file);
    let call = facts.text(linker.program.class(class).name).to_owned();
    Some(bound_at(linker, site, Bound::Loop, BoundUse::Made, call))
}

/// True if a class of the project, or one that it derives from, has methods that are coroutines.
fn has_coroutines(linker: &Linker<'_>, class: ClassRef) -> bool {
    let is_async = |flow: Flow| matches!(flow, Flow::Coroutine | Flow::AsyncGenerator);
    linker.mro(class).iter().any(|ancestor| match *ancestor {
        Ancestor::Class(of) => {
            let (facts, of_id) = linker.program.facts_and_id(of);
            facts.bodies.iter().any(|row| row.class == of_id && is_async(row.flow))
        }
        _ => false,
    })
}

fn bound(linker: &Linker<'_>, site: SiteRef, to: Bound, how: BoundUse, path: PathId) -> BoundCall {
    bound_at(linker, site, to, how, linker.library.text(path).to_string())
}

/// Returns the call at a site as one that cannot move, under a name for people.
pub(crate) fn bound_at(linker: &Linker<'_>, site: SiteRef, to: Bound, how: BoundUse, call: String) -> BoundCall {
    let path = Arc::clone(&linker.program.files[site.file.index()].path);
    BoundCall { to, how, call, place: Place::unlocated(path, linker.program.site(site).span) }
}

/// Returns the type of the result of a call, if that works only in the thread in which it is made.
fn made_for_one_thread(linker: &Linker<'_>, site: SiteRef) -> Option<PathId> {
    for_one_thread(linker, linker.result(site, EnvId::NONE).value).first().copied()
}

/// Returns the `with` blocks and loops around a call, and those that it is the item of, each with what would move as a
/// whole: by their spans, the innermost first.
pub fn blocks_with(linker: &Linker<'_>, site: SiteRef) -> Vec<(Span, MovedCode)> {
    let (facts, site_id) = linker.program.facts_and_id(site);
    let row = linker.program.site(site);
    let body = facts.body_of(row.at);
    let is_block = |kind| matches!(kind, RegionKind::With | RegionKind::Loop);
    let around: Vec<RegionId> =
        regions::around(facts, row.at.region).filter(|&region| facts.region(region).body == body).collect();
    let entered = linker.program.regions_in(site.file.body_ref(body)).find(|&region| {
        let of = facts.region(region);
        of.kind == RegionKind::With && facts.form(of.test) == Form::Result(site_id)
    });
    let blocks = entered.into_iter().chain(around).filter(|&region| is_block(facts.region(region).kind));
    let with_sites = |region: RegionId| {
        let span = facts.region(region).span;
        let inside = |&of: &SiteId| span.contains(facts.site(of).span);
        let all = (0..facts.sites.len() as u32).map(SiteId).filter(inside).map(|of| site.file.site_ref(of));
        let mut sites: Vec<SiteRef> = all.filter(|of| *of != site && moves(linker.program.site(*of).kind)).collect();
        sites.insert(0, site);
        let made = sites.iter().copied().find_map(|of| Some((of, left_behind(linker, of, span)?)));
        let mut moved = code_moved_by(linker, sites);
        if moved.bound.is_none() {
            moved.bound = made.map(|(of, ty)| bound(linker, of, Bound::Thread, BoundUse::Made, ty));
        }
        // Settings of an outer block do not move along.
        stays_behind(linker, site, facts.region(region).parent, &mut moved);
        (span, moved)
    };
    blocks.take(MOST_BLOCKS).map(with_sites).collect()
}

/// Returns the code that the body around a call, a lambda or a method, runs as a whole.
pub fn body_with(linker: &Linker<'_>, site: SiteRef) -> MovedCode {
    let facts = linker.program.facts(site.file);
    let body = facts.body_of(linker.program.site(site).at);
    let all = (0..facts.sites.len() as u32).map(SiteId);
    let own = all.filter(|&of| facts.body_of(facts.site(of).at) == body && moves(facts.site(of).kind));
    code_moved_by(linker, own.map(|of| site.file.site_ref(of)).collect())
}

/// Returns the first call in the method around a site, lambdas and all, that belongs to its thread by a row: what the
/// operators of one chain set and remove is of one thread as long as none of them moves.
pub fn bound_beside(linker: &Linker<'_>, site: SiteRef) -> Option<BoundCall> {
    let facts = linker.program.facts(site.file);
    let mut method = facts.body_of(linker.program.site(site).at);
    while let Some(parent) = facts.body(method).parent.get() {
        if !matches!(facts.body(parent).kind, BodyKind::Function | BodyKind::Lambda) {
            break;
        }
        method = parent;
    }
    let span = facts.body(method).span;
    let walk = Walk::new(linker);
    let inside = |of: &SiteId| span.contains(facts.site(*of).span) && moves(facts.site(*of).kind);
    (0..facts.sites.len() as u32).map(SiteId).filter(inside).map(|of| site.file.site_ref(of)).find_map(|of| {
        linker.targets(of, EnvId::NONE).list.iter().find_map(|target| match *target {
            Target::Row { path, .. } => walk
                .row_bound(of, path)
                .filter(|to| *to == Bound::Thread)
                .map(|to| bound(linker, of, to, BoundUse::Called, path)),
            _ => None,
        })
    })
}

/// Returns the type of the result of a call in a block, if it works only in the thread in which it is made, and code
/// outside of the block uses such a value.
fn left_behind(linker: &Linker<'_>, site: SiteRef, block: Span) -> Option<PathId> {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site);
    if !matches!(row.kind, SiteKind::Call | SiteKind::New) {
        return None;
    }
    let ty = made_for_one_thread(linker, site)?;
    let is_of_type = |at: At, form: FormId| {
        held_in_one_thread(linker, Scope { file: site.file, at, env: EnvId::NONE }, form).any(|of| of == ty)
    };
    let body = facts.body_of(row.at);
    let is_used_by = |of: SiteId| {
        let other = facts.site(of);
        let is_outside = facts.body_of(other.at) == body && !block.contains(other.span);
        is_outside
            && (linker.receiver_form(site.file.site_ref(of)).is_some_and(|form| is_of_type(other.at, form))
                || facts.args_of(of).iter().any(|argument| is_of_type(other.at, argument.value)))
    };
    let is_given_back =
        || facts.exits.iter().any(|exit| facts.body_of(exit.at) == body && is_of_type(exit.at, exit.value));
    let is_used = || (0..facts.sites.len() as u32).map(SiteId).any(is_used_by);
    (is_kept(linker, site) || is_given_back() || is_used()).then_some(ty)
}

/// Returns the types of a value that work only in the thread in which it was made.
fn held_in_one_thread(linker: &Linker<'_>, scope: Scope, form: FormId) -> impl Iterator<Item = PathId> {
    for_one_thread(linker, linker.eval(scope, form).value).into_iter()
}

fn for_one_thread(linker: &Linker<'_>, value: ValueId) -> Vec<PathId> {
    let members = linker.values.members(value);
    let held = members.iter().filter(|member| !linker.receiver_passes(&[in_any_thread()], **member));
    let types = held.flat_map(|member| linker.types_through(*member));
    types.filter(|&ty| linker.library.bound(ty) == Some(Bound::Thread)).collect()
}

/// True if the result of a call is kept beyond the call: in an attribute.
fn is_kept(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    linker.program.uses_of_result(site).iter().any(|(mention, _)| match mention {
        Mention::Assign(assign) => matches!(facts.form(facts.assign(assign).target), Form::Attr(..)),
        _ => false,
    })
}

pub(crate) fn code_moved_by(linker: &Linker<'_>, sites: Vec<SiteRef>) -> MovedCode {
    let mut walk = Walk::new(linker);
    let mut bound = sites.iter().find_map(|&site| {
        let looked = walk.look(site);
        walk.take(&looked)
    });
    let direct = walk.bodies.len();
    let mut at = 0;
    while bound.is_none() && at < walk.bodies.len() && at < MOST_BODIES {
        let body = walk.bodies[at];
        at += 1;
        let of_body = walk.of_body(body);
        bound = walk.take(&of_body.looked);
        walk.below.push(of_body);
    }
    for &site in &sites {
        walk.remember_passed_values(site);
    }
    walk.own = sites;
    let bound = bound
        .or_else(|| walk.passed_from_outside())
        .or_else(|| walk.value_from_outside())
        .or_else(|| walk.kept_connection());
    let functions = walk.bodies.iter().map(|body| (body.file, linker.program.body(*body).span)).collect();
    MovedCode { functions, direct, bound, asks_context: walk.asks_context }
}

/// The facts about sites and bodies that are kept, because many calls lead to the same helpers.
#[derive(Default)]
pub(crate) struct BoundCache {
    /// The calls and uses of each body of a file, with those of what is written inside of it and runs with it.
    sites: FxHashMap<FileId, Rc<Vec<Vec<SiteId>>>>,
    of_site: FxHashMap<SiteRef, Rc<CodeAtPlace>>,
    of_body: FxHashMap<BodyRef, Rc<OfBody>>,
}

/// The use of a value of a bound type.
type BoundValue = (PathId, Bound, SiteRef);

/// The code that runs at a place.
#[derive(Clone, Default)]
struct CodeAtPlace {
    /// The bodies that are run, up to what is bound.
    entered: Vec<BodyRef>,
    values: Vec<BoundValue>,
    /// The first thing that is bound itself.
    bound: Option<BoundCall>,
    /// The first thing that asks the context.
    asks_context: Option<BoundCall>,
}

/// The calls and values of a body itself.
struct OfBody {
    sites: Vec<SiteRef>,
    looked: CodeAtPlace,
    /// The bound types of which it makes values that it does not keep.
    made: OnceCell<Vec<PathId>>,
    /// A connection that it makes for one thread and keeps.
    kept: OnceCell<Option<BoundCall>>,
}

/// True if a site of this kind runs something, or uses a value, where it stands.
fn moves(kind: SiteKind) -> bool {
    !matches!(kind, SiteKind::Import | SiteKind::Await | SiteKind::Operator | SiteKind::Drop)
        && !kind.keeps_no_operand()
}

struct Walk<'l, 'a> {
    linker: &'l Linker<'a>,
    roots: Roots<'l, 'a>,
    seen: FxHashSet<BodyRef>,
    bodies: Vec<BodyRef>,
    /// Uses of values of bound types: decided once all is known that makes such values.
    values: Vec<BoundValue>,
    /// The facts about the bodies, in their order.
    below: Vec<Rc<OfBody>>,
    /// The sites that move themselves.
    own: Vec<SiteRef>,
    /// The first thing that asks the context.
    asks_context: Option<BoundCall>,
}

impl<'l, 'a> Walk<'l, 'a> {
    fn new(linker: &'l Linker<'a>) -> Self {
        Walk {
            linker,
            roots: Roots::new(linker),
            seen: FxHashSet::default(),
            bodies: Vec::new(),
            values: Vec::new(),
            below: Vec::new(),
            own: Vec::new(),
            asks_context: None,
        }
    }

    fn known(&self) -> &RefCell<BoundCache> {
        &self.linker.layer_memo::<Memo>().moved
    }

    /// Takes along what runs at a place; what is bound there.
    fn take(&mut self, looked: &CodeAtPlace) -> Option<BoundCall> {
        for &body in &looked.entered {
            if self.seen.insert(body) && self.bodies.len() < MOST_BODIES {
                self.bodies.push(body);
            }
        }
        self.values.extend_from_slice(&looked.values);
        self.asks_context = self.asks_context.take().or_else(|| looked.asks_context.clone());
        looked.bound.clone()
    }

    /// Returns the calls and uses in a body and in the nested bodies that run with it.
    fn sites_of(&self, body: BodyRef) -> Vec<SiteRef> {
        let known = self.known().borrow().sites.get(&body.file).cloned();
        let of_file = known.unwrap_or_else(|| {
            let sites = Rc::new(sites_by_body(self.linker.program.facts(body.file)));
            self.known().borrow_mut().sites.insert(body.file, Rc::clone(&sites));
            sites
        });
        let own = of_file.get(body.index()).into_iter().flatten();
        own.map(|&site| body.file.site_ref(site)).collect()
    }

    fn of_body(&self, body: BodyRef) -> Rc<OfBody> {
        if let Some(known) = self.known().borrow().of_body.get(&body) {
            return Rc::clone(known);
        }
        let sites = self.sites_of(body);
        let mut looked = CodeAtPlace::default();
        for &site in &sites {
            let at_site = self.look(site);
            looked.entered.extend_from_slice(&at_site.entered);
            looked.values.extend_from_slice(&at_site.values);
            looked.asks_context = looked.asks_context.take().or_else(|| at_site.asks_context.clone());
            looked.bound.clone_from(&at_site.bound);
            if looked.bound.is_some() {
                break;
            }
        }
        let of_body = Rc::new(OfBody { sites, looked, made: OnceCell::new(), kept: OnceCell::new() });
        self.known().borrow_mut().of_body.insert(body, Rc::clone(&of_body));
        of_body
    }

    /// Returns the bodies that a site runs, and adds the bound things that it does itself.
    fn look(&self, site: SiteRef) -> Rc<CodeAtPlace> {
        if let Some(known) = self.known().borrow().of_site.get(&site) {
            return Rc::clone(known);
        }
        let mut looked = CodeAtPlace::default();
        looked.bound = self.look_for_calls(site, &mut looked.entered);
        if looked.bound.as_ref().is_some_and(|bound| bound.to == Bound::ContextRead) {
            looked.asks_context = looked.bound.take();
        }
        if looked.bound.is_none() {
            self.use_of_value(site, &mut looked.values);
            // The maker of a loaded object does not show the needs of its code.
            let loaded = looked.values.iter().find(|(_, to, _)| *to == Bound::Loaded);
            looked.bound = loaded.map(|&(ty, to, site)| bound(self.linker, site, to, BoundUse::Used, ty));
        }
        let looked = Rc::new(looked);
        self.known().borrow_mut().of_site.insert(site, Rc::clone(&looked));
        looked
    }

    fn look_for_calls(&self, site: SiteRef, entered: &mut Vec<BodyRef>) -> Option<BoundCall> {
        let linker = self.linker;
        for target in linker.targets(site, EnvId::NONE).list.iter() {
            match *target {
                Target::Body { body, kind: TargetKind::Call | TargetKind::Consume, .. } => {
                    if let Some(bound) = self.enter(site, body, entered) {
                        return Some(bound);
                    }
                }
                Target::Overrides { class, name } => {
                    for &body in linker.overrides(class, name).iter().take(MOST_OVERRIDES) {
                        if let Some(bound) = self.enter(site, body, entered) {
                            return Some(bound);
                        }
                    }
                }
                Target::Row { path, .. } => {
                    if let Some(to) = self.row_bound(site, path) {
                        return Some(bound(linker, site, to, BoundUse::Called, path));
                    }
                }
                Target::Body { .. } => {}
            }
        }
        None
    }

    /// Returns a body that the site runs; bound if it declares that the loop runs it.
    fn enter(&self, site: SiteRef, body: BodyRef, entered: &mut Vec<BodyRef>) -> Option<BoundCall> {
        let row = self.linker.program.body(body);
        if row.flow == Flow::Coroutine || row.flow == Flow::AsyncGenerator {
            return None;
        }
        let is_loops = |root: Root| {
            root.context == Context::EventLoop && root.kind == RootKind::Promised
                || root.kind == RootKind::Registered && root.context == Context::EventLoop && !row.decorators.is_empty()
        };
        if row.kind == BodyKind::Function && self.roots.find_root(body).is_some_and(is_loops) {
            let call = self.linker.qualified_name(body);
            return Some(bound_at(self.linker, site, Bound::Loop, BoundUse::Called, call));
        }
        entered.push(body);
        None
    }

    /// Returns the bond to a thread, loop or task that a site has by the rows of its path.
    fn row_bound(&self, site: SiteRef, path: PathId) -> Option<Bound> {
        let linker = self.linker;
        let calls = linker.library.calls(path);
        let mut stated = calls.with(|row| row.bound.is_some());
        let stated = stated.find(|row| linker.conditions_hold(&row.when, &row.unless, site, EnvId::NONE));
        if let Some(row) = stated {
            // A call that belongs to a block moves with the block (`entered`).
            return row.bound.filter(|bound| !matches!(bound, Bound::Nothing | Bound::Block));
        }
        let handed = linker.library.handovers(path);
        let asks = calls.iter().any(|row| {
            // Calls that start coroutines; calls that start functions in threads have a handover row for them.
            row.asks == Some(Asks::RunningLoop) && !self.is_tried(site)
                || row.concurrency == Some(Concurrency::Unbounded) && handed.is_empty()
        });
        (asks || handed.iter().any(|row| is_loops(row.row))).then_some(Bound::Loop)
    }

    /// True if the error of a call is expected: code that tries whether a loop runs knows another way.
    fn is_tried(&self, site: SiteRef) -> bool {
        let facts = self.linker.program.facts(site.file);
        let region = self.linker.program.site(site).at.region;
        regions::around(facts, region).any(|region| facts.region(region).kind == RegionKind::Try)
    }

    /// The uses of values whose type is bound.
    fn use_of_value(&self, site: SiteRef, values: &mut Vec<BoundValue>) {
        let linker = self.linker;
        let Some(form) = linker.receiver_form(site) else { return };
        let value = linker.eval(linker.scope_of(site, EnvId::NONE), form).value;
        let freed = |condition: &Condition| {
            linker.condition_result(condition, site, BoundId::NONE, EnvId::NONE) == ConditionResult::Yes
        };
        for member in linker.values.members(value).iter() {
            for ty in linker.types_through(*member) {
                if let Some(to) = linker.library.bound(ty)
                    && !matches!(to, Bound::Nothing | Bound::Block)
                    && !freed(&in_any_thread())
                {
                    values.push((ty, to, site));
                }
            }
        }
    }

    /// Adds the arguments of a call that moves whose types work in one thread only: the code that it runs may use it.
    fn remember_passed_values(&mut self, site: SiteRef) {
        let linker = self.linker;
        for argument in linker.program.args_of(site).iter() {
            let scope = linker.scope_of(site, EnvId::NONE);
            if let Some(ty) = held_in_one_thread(linker, scope, argument.value).next() {
                self.values.push((ty, Bound::Thread, site));
            }
        }
    }

    /// Returns the first value that a call by itself is given: what is made below it is another one.
    fn passed_from_outside(&self) -> Option<BoundCall> {
        let [own] = self.own[..] else { return None };
        let given = self.values.iter().find(|(_, to, site)| *site == own && *to == Bound::Thread);
        given.map(|&(ty, to, site)| bound(self.linker, site, to, BoundUse::Used, ty))
    }

    /// Returns the first use of a value of a bound type that nothing below the call makes for itself.
    fn value_from_outside(&self) -> Option<BoundCall> {
        let mut own: Option<Vec<PathId>> = None;
        self.values.iter().find_map(|&(ty, to, site)| {
            let own = own.get_or_insert_with(|| self.made());
            let library = &self.linker.library;
            let is_own = own.iter().any(|&made| library.is_subtype(made, ty) || library.is_subtype(ty, made));
            (!is_own).then(|| bound(self.linker, site, to, BoundUse::Used, ty))
        })
    }

    /// Returns a connection that a body below makes for one thread and keeps for later calls.
    fn kept_connection(&self) -> Option<BoundCall> {
        self.below.iter().find_map(|body| body.kept.get_or_init(|| kept_in(self.linker, &body.sites)).clone())
    }

    /// Returns the bound types of which the bodies below make values that they do not keep.
    fn made(&self) -> Vec<PathId> {
        let below = self.below.iter().flat_map(|body| {
            let made =
                body.made.get_or_init(|| body.sites.iter().flat_map(|&site| made_at(self.linker, site)).collect());
            made.iter().copied()
        });
        // A call alone moves no value that it returns.
        let own = self.own.iter().filter(|_| self.own.len() > 1).flat_map(|&site| made_at(self.linker, site));
        below.chain(own).collect()
    }
}

/// Returns a connection that one of these calls makes for one thread, and that is kept.
fn kept_in(linker: &Linker<'_>, sites: &[SiteRef]) -> Option<BoundCall> {
    sites.iter().find_map(|&site| {
        let kind = linker.program.site(site).kind;
        if !matches!(kind, SiteKind::Call | SiteKind::New) || !is_kept(linker, site) {
            return None;
        }
        let ty = made_for_one_thread(linker, site).filter(|&ty| linker.library.role(ty) == Some(Role::Connection))?;
        Some(bound(linker, site, Bound::Thread, BoundUse::Made, ty))
    })
}

/// Returns the bound types of a value that a call of a library makes and that is not kept.
fn made_at(linker: &Linker<'_>, site: SiteRef) -> Vec<PathId> {
    let row = linker.program.site(site);
    if !matches!(row.kind, SiteKind::Call | SiteKind::New) || is_kept(linker, site) {
        return Vec::new();
    }
    if !linker.targets(site, EnvId::NONE).list.iter().any(|target| matches!(target, Target::Row { .. })) {
        return Vec::new();
    }
    let types = |value: ValueId| -> Vec<PathId> {
        linker.values.members(value).iter().flat_map(|member| linker.types_through(*member)).collect()
    };
    let mut given = types(linker.result(site, EnvId::NONE).value);
    given.retain(|&ty| linker.library.bound(ty).is_some());
    if given.is_empty() {
        return given;
    }
    // A result of the same type is made from the receiver: `query.limit(20)`.
    let receiver = linker.receiver_form(site).map(|form| linker.eval(linker.scope_of(site, EnvId::NONE), form).value);
    let from = receiver.map(types).unwrap_or_default();
    given.retain(|ty| !from.contains(ty));
    given
}

/// Returns the calls and uses of each body of a file, with those of its lambdas and generator expressions.
fn sites_by_body(facts: &FileFacts) -> Vec<Vec<SiteId>> {
    let mut found = vec![Vec::new(); facts.bodies.len()];
    for site in (0..facts.sites.len() as u32).map(SiteId) {
        let row = facts.site(site);
        if !moves(row.kind) {
            continue;
        }
        let mut of = facts.body_of(row.at);
        loop {
            found[of.0 as usize].push(site);
            let body = facts.body(of);
            let inner = matches!(body.kind, BodyKind::Lambda | BodyKind::GeneratorExpression);
            match body.parent.get().filter(|_| inner) {
                Some(parent) => of = parent,
                None => break,
            }
        }
    }
    found
}

/// True if the receiver was made so that any thread may use it: `state = "any-thread"` in models.
fn in_any_thread() -> Condition {
    let tests = vec![Test::State("any-thread".to_owned())];
    Condition { subject: Subject::Argument(Argument::Receiver), tests }
}

/// True if a row hands an argument to the loop of this thread.
fn is_loops(row: &HandoverRow) -> bool {
    matches!(row.selector, Selector::Argument(_))
        && matches!(row.context, HandoverContext::Is(Runs::In(Context::EventLoop)))
}
