//! Finds the code that moves to another thread with a call: the bodies that the call runs, and the first call or value
//! in them that is bound to the present thread, loop or task.
//!
//! The search goes forward from one call and runs only for fixes. Calls with unknown targets do not prevent a move.

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

/// The cache of this module for one program.
#[derive(Default)]
struct Memo {
    moved: RefCell<BoundCache>,
}

/// The greatest number of bodies that are searched for one call.
const MAX_BODIES: usize = 300;
/// The greatest number of blocks around a call that are searched.
const MAX_BLOCKS: usize = 4;
/// The greatest number of overrides of one method that are searched.
const MAX_OVERRIDES: usize = 16;

/// The code that moves to another thread with a call.
#[derive(Clone, Debug, Default)]
pub struct MovedCode {
    /// The project's functions that the call runs, nearest first.
    pub functions: Vec<(FileId, Span)>,
    /// The number of functions, at the start of the list, that the calls run directly.
    pub direct: usize,
    /// The first call or value that cannot move to another thread.
    pub bound: Option<BoundCall>,
    /// The first call that reads the context of the calling task, which not every handover copies to the thread.
    pub asks_context: Option<BoundCall>,
}

/// Returns the code that moves to another thread with a call. The result and the `with` blocks around the call can also
/// be reasons why it cannot move.
pub fn code_moved_with_call(linker: &Linker<'_>, site: SiteRef) -> MovedCode {
    let mut moved = code_moved_by(linker, vec![site]);
    if moved.bound.is_none() {
        moved.bound =
            made_for_one_thread(linker, site).map(|ty| bound_to_path(linker, site, Bound::Thread, BoundUse::Made, ty));
    }
    let region = linker.program.site(site).at.region;
    add_settings_of_blocks(linker, site, region, &mut moved);
    if moved.bound.is_none() {
        moved.bound = instance_bound_to_loop(linker, site).or_else(|| returns_loop_awaitable(linker, site));
    }
    moved
}

/// Adds the settings of the `with` blocks around a region, which the moved code would leave. Settings of the context
/// are kept apart, because most handovers copy the context to the thread.
fn add_settings_of_blocks(linker: &Linker<'_>, site: SiteRef, region: RegionId, moved: &mut MovedCode) {
    if moved.bound.is_some() {
        return;
    }
    let around = with_blocks::settings_of_blocks_around(linker, site, region);
    let (context, others): (Vec<_>, Vec<_>) =
        around.into_iter().partition(|setting| matches!(setting.to, Bound::Context | Bound::ContextRead));
    moved.bound = others.into_iter().next();
    moved.asks_context = moved.asks_context.take().or_else(|| context.into_iter().next());
}

/// Returns the type of a call's result if the result can be awaited: a future, a task, a coroutine. If a thread created
/// it, the loop that waits for it would not be notified (Python).
fn returns_loop_awaitable(linker: &Linker<'_>, site: SiteRef) -> Option<BoundCall> {
    let row = linker.program.site(site);
    if linker.program.language(site.file) != Language::Python || row.flags.has(SiteFlags::DISCARDED) {
        return None;
    }
    let result = linker.result(site, EnvId::NONE).value;
    let call = linker.values.members(result).iter().find_map(|val| match *val {
        Val::Coroutine { body, .. } => Some(linker.qualified_name(body)),
        Val::Library { ty, .. } if linker.library.bound(ty) == Some(Bound::Loop) => {
            Some(linker.library.text(ty).to_string())
        }
        _ => None,
    })?;
    Some(bound_call(linker, site, Bound::Loop, BoundUse::Returned, call))
}

/// Returns the class of a new instance, if the class has coroutine methods. Its locks, queues or clients are often
/// bound to the loop in which they are created, and its constructor rarely blocks itself (Python).
fn instance_bound_to_loop(linker: &Linker<'_>, site: SiteRef) -> Option<BoundCall> {
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
    Some(bound_call(linker, site, Bound::Loop, BoundUse::Made, call))
}

/// True if a class of the project, or one of its bases, has coroutine methods.
fn has_coroutines(linker: &Linker<'_>, class: ClassRef) -> bool {
    let is_async = |flow: Flow| matches!(flow, Flow::Coroutine | Flow::AsyncGenerator);
    linker.mro(class).iter().any(|ancestor| match *ancestor {
        Ancestor::Class(class) => {
            let (facts, of_id) = linker.program.facts_and_id(class);
            facts.bodies.iter().any(|row| row.class == of_id && is_async(row.flow))
        }
        _ => false,
    })
}

fn bound_to_path(linker: &Linker<'_>, site: SiteRef, to: Bound, how: BoundUse, path: PathId) -> BoundCall {
    bound_call(linker, site, to, how, linker.library.text(path).to_string())
}

/// Returns the call at a site as a bound call, which cannot move to another thread. `call` is its name in messages.
pub(crate) fn bound_call(linker: &Linker<'_>, site: SiteRef, to: Bound, how: BoundUse, call: String) -> BoundCall {
    let path = Arc::clone(&linker.program.files[site.file.index()].path);
    BoundCall { to, how, call, place: Place::unlocated(path, linker.program.site(site).span) }
}

/// Returns the type of a call's result if objects of this type work only in the thread that creates them.
fn made_for_one_thread(linker: &Linker<'_>, site: SiteRef) -> Option<PathId> {
    for_one_thread(linker, linker.result(site, EnvId::NONE).value).first().copied()
}

/// Returns the spans of the `with` blocks and loops around a call, the innermost first, each with the code that moves
/// to another thread with the whole block. A `with` whose item is the call counts as a block around it.
pub fn blocks_with_moved_code(linker: &Linker<'_>, site: SiteRef) -> Vec<(Span, MovedCode)> {
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
        let mut sites: Vec<SiteRef> =
            all.filter(|of| *of != site && is_moved_code(linker.program.site(*of).kind)).collect();
        sites.insert(0, site);
        let made = sites.iter().copied().find_map(|of| Some((of, type_left_behind(linker, of, span)?)));
        let mut moved = code_moved_by(linker, sites);
        if moved.bound.is_none() {
            moved.bound = made.map(|(of, ty)| bound_to_path(linker, of, Bound::Thread, BoundUse::Made, ty));
        }
        // Settings of outer blocks do not move with the block.
        add_settings_of_blocks(linker, site, facts.region(region).parent, &mut moved);
        (span, moved)
    };
    blocks.take(MAX_BLOCKS).map(with_sites).collect()
}

/// Returns the code that moves to another thread with the body around a call, a lambda or a method.
pub fn code_moved_with_body(linker: &Linker<'_>, site: SiteRef) -> MovedCode {
    let facts = linker.program.facts(site.file);
    let body = facts.body_of(linker.program.site(site).at);
    let all = (0..facts.sites.len() as u32).map(SiteId);
    let sites_of_body =
        all.filter(|&site_id| facts.body_of(facts.site(site_id).at) == body && is_moved_code(facts.site(site_id).kind));
    code_moved_by(linker, sites_of_body.map(|site_id| site.file.site_ref(site_id)).collect())
}

/// Returns the first call in the method around a site, lambdas included, that a row binds to its thread. Operators of
/// one reactive chain that set and remove such a value run in one thread only as long as none of them moves.
pub fn bound_call_in_method(linker: &Linker<'_>, site: SiteRef) -> Option<BoundCall> {
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
    let inside =
        |site_id: &SiteId| span.contains(facts.site(*site_id).span) && is_moved_code(facts.site(*site_id).kind);
    (0..facts.sites.len() as u32).map(SiteId).filter(inside).map(|site_id| site.file.site_ref(site_id)).find_map(
        |inner_site| {
            linker.targets(inner_site, EnvId::NONE).list.iter().find_map(|target| match *target {
                Target::Row { path, .. } => walk
                    .row_bound(inner_site, path)
                    .filter(|to| *to == Bound::Thread)
                    .map(|to| bound_to_path(linker, inner_site, to, BoundUse::Called, path)),
                _ => None,
            })
        },
    )
}

/// Returns the type of a call's result in a block, if such objects work only in the thread that makes them and code
/// outside of the block uses one.
fn type_left_behind(linker: &Linker<'_>, site: SiteRef, block: Span) -> Option<PathId> {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site);
    if !matches!(row.kind, SiteKind::Call | SiteKind::New) {
        return None;
    }
    let ty = made_for_one_thread(linker, site)?;
    let is_of_type = |at: At, form: FormId| {
        held_in_one_thread(linker, Scope { file: site.file, at, env: EnvId::NONE }, form)
            .any(|held_type| held_type == ty)
    };
    let body = facts.body_of(row.at);
    let is_used_by = |site_id: SiteId| {
        let other_facts = facts.site(site_id);
        let is_outside = facts.body_of(other_facts.at) == body && !block.contains(other_facts.span);
        is_outside
            && (linker.receiver_form(site.file.site_ref(site_id)).is_some_and(|form| is_of_type(other_facts.at, form))
                || facts.args_of(site_id).iter().any(|argument| is_of_type(other_facts.at, argument.value)))
    };
    let is_given_back =
        || facts.exits.iter().any(|exit| facts.body_of(exit.at) == body && is_of_type(exit.at, exit.value));
    let is_used = || (0..facts.sites.len() as u32).map(SiteId).any(is_used_by);
    (is_kept(linker, site) || is_given_back() || is_used()).then_some(ty)
}

/// Returns the types of a value whose objects work only in the thread that made them.
fn held_in_one_thread(linker: &Linker<'_>, scope: Scope, form: FormId) -> impl Iterator<Item = PathId> {
    for_one_thread(linker, linker.eval(scope, form).value).into_iter()
}

fn for_one_thread(linker: &Linker<'_>, value: ValueId) -> Vec<PathId> {
    let members = linker.values.members(value);
    let single_threaded = members.iter().filter(|member| !linker.receiver_passes(&[usable_in_any_thread()], **member));
    let types = single_threaded.flat_map(|member| linker.types_through(*member));
    types.filter(|&ty| linker.library.bound(ty) == Some(Bound::Thread)).collect()
}

/// True if the result of a call is stored in an attribute, so that it outlives the call.
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
        let code = walk.code_at_site(site);
        walk.add_code(&code)
    });
    let direct = walk.bodies.len();
    let mut at = 0;
    while bound.is_none() && at < walk.bodies.len() && at < MAX_BODIES {
        let body = walk.bodies[at];
        at += 1;
        let code_of_body = walk.code_of_body(body);
        bound = walk.add_code(&code_of_body.code);
        walk.below.push(code_of_body);
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

/// Cached facts about sites and bodies, because many calls run the same helpers.
#[derive(Default)]
pub(crate) struct BoundCache {
    /// The calls and uses of each body of a file, with those of its lambdas and generator expressions.
    sites: FxHashMap<FileId, Rc<Vec<Vec<SiteId>>>>,
    code_of_site: FxHashMap<SiteRef, Rc<CodeAtPlace>>,
    code_of_body: FxHashMap<BodyRef, Rc<BodyCode>>,
}

/// The use of a value of a bound type.
type BoundValue = (PathId, Bound, SiteRef);

/// The code that runs at a site or in a body.
#[derive(Clone, Default)]
struct CodeAtPlace {
    /// The bodies that run, up to the first bound call.
    entered: Vec<BodyRef>,
    values: Vec<BoundValue>,
    /// The first call that is bound.
    bound: Option<BoundCall>,
    /// The first call that reads the context.
    asks_context: Option<BoundCall>,
}

/// The calls and values of one body.
struct BodyCode {
    sites: Vec<SiteRef>,
    code: CodeAtPlace,
    /// The bound types of values that it makes and does not store.
    made: OnceCell<Vec<PathId>>,
    /// A connection that it makes for one thread and stores.
    kept: OnceCell<Option<BoundCall>>,
}

/// True if a site of this kind runs code or uses a value, so that it is part of the moved code.
fn is_moved_code(kind: SiteKind) -> bool {
    !matches!(kind, SiteKind::Import | SiteKind::Await | SiteKind::Operator | SiteKind::Drop)
        && !kind.keeps_no_operand()
}

/// The search through the code that calls run.
struct Walk<'l, 'a> {
    linker: &'l Linker<'a>,
    roots: Roots<'l, 'a>,
    visited: FxHashSet<BodyRef>,
    bodies: Vec<BodyRef>,
    /// Uses of values of bound types. They are judged at the end, when all makers of such values are known.
    values: Vec<BoundValue>,
    /// The code of the searched bodies, in order.
    below: Vec<Rc<BodyCode>>,
    /// The sites that move.
    own: Vec<SiteRef>,
    /// The first call that reads the context.
    asks_context: Option<BoundCall>,
}

impl<'l, 'a> Walk<'l, 'a> {
    fn new(linker: &'l Linker<'a>) -> Self {
        Walk {
            linker,
            roots: Roots::new(linker),
            visited: FxHashSet::default(),
            bodies: Vec::new(),
            values: Vec::new(),
            below: Vec::new(),
            own: Vec::new(),
            asks_context: None,
        }
    }

    fn cache(&self) -> &RefCell<BoundCache> {
        &self.linker.layer_memo::<Memo>().moved
    }

    /// Adds the bodies and values of some code, and returns its first bound call.
    fn add_code(&mut self, code: &CodeAtPlace) -> Option<BoundCall> {
        for &body in &code.entered {
            if self.visited.insert(body) && self.bodies.len() < MAX_BODIES {
                self.bodies.push(body);
            }
        }
        self.values.extend_from_slice(&code.values);
        self.asks_context = self.asks_context.take().or_else(|| code.asks_context.clone());
        code.bound.clone()
    }

    /// Returns the calls and uses in a body and in the nested bodies that run with it.
    fn sites_of(&self, body: BodyRef) -> Vec<SiteRef> {
        let known = self.cache().borrow().sites.get(&body.file).cloned();
        let of_file = known.unwrap_or_else(|| {
            let sites = Rc::new(sites_by_body(self.linker.program.facts(body.file)));
            self.cache().borrow_mut().sites.insert(body.file, Rc::clone(&sites));
            sites
        });
        let sites_of_body = of_file.get(body.index()).into_iter().flatten();
        sites_of_body.map(|&site| body.file.site_ref(site)).collect()
    }

    fn code_of_body(&self, body: BodyRef) -> Rc<BodyCode> {
        if let Some(known) = self.cache().borrow().code_of_body.get(&body) {
            return Rc::clone(known);
        }
        let sites = self.sites_of(body);
        let mut code = CodeAtPlace::default();
        for &site in &sites {
            let at_site = self.code_at_site(site);
            code.entered.extend_from_slice(&at_site.entered);
            code.values.extend_from_slice(&at_site.values);
            code.asks_context = code.asks_context.take().or_else(|| at_site.asks_context.clone());
            code.bound.clone_from(&at_site.bound);
            if code.bound.is_some() {
                break;
            }
        }
        let code_of_body = Rc::new(BodyCode { sites, code, made: OnceCell::new(), kept: OnceCell::new() });
        self.cache().borrow_mut().code_of_body.insert(body, Rc::clone(&code_of_body));
        code_of_body
    }

    /// Returns the code that a site runs, with its first bound call.
    fn code_at_site(&self, site: SiteRef) -> Rc<CodeAtPlace> {
        if let Some(known) = self.cache().borrow().code_of_site.get(&site) {
            return Rc::clone(known);
        }
        let mut code = CodeAtPlace::default();
        code.bound = self.bound_by_targets(site, &mut code.entered);
        if code.bound.as_ref().is_some_and(|bound| bound.to == Bound::ContextRead) {
            code.asks_context = code.bound.take();
        }
        if code.bound.is_none() {
            self.add_used_values(site, &mut code.values);
            // The maker of a loaded object does not show the needs of its code.
            let loaded = code.values.iter().find(|(_, to, _)| *to == Bound::Loaded);
            code.bound = loaded.map(|&(ty, to, site)| bound_to_path(self.linker, site, to, BoundUse::Used, ty));
        }
        let code = Rc::new(code);
        self.cache().borrow_mut().code_of_site.insert(site, Rc::clone(&code));
        code
    }

    fn bound_by_targets(&self, site: SiteRef, entered: &mut Vec<BodyRef>) -> Option<BoundCall> {
        let linker = self.linker;
        for target in linker.targets(site, EnvId::NONE).list.iter() {
            match *target {
                Target::Body { body, kind: TargetKind::Call | TargetKind::Consume, .. } => {
                    if let Some(bound) = self.enter_body(site, body, entered) {
                        return Some(bound);
                    }
                }
                Target::Overrides { class, name } => {
                    for &body in linker.overrides(class, name).iter().take(MAX_OVERRIDES) {
                        if let Some(bound) = self.enter_body(site, body, entered) {
                            return Some(bound);
                        }
                    }
                }
                Target::Row { path, .. } => {
                    if let Some(to) = self.row_bound(site, path) {
                        return Some(bound_to_path(linker, site, to, BoundUse::Called, path));
                    }
                }
                Target::Body { .. } => {}
            }
        }
        None
    }

    /// Adds a body that a site runs. Returns a bound call if the body declares that the loop runs it.
    fn enter_body(&self, site: SiteRef, body: BodyRef, entered: &mut Vec<BodyRef>) -> Option<BoundCall> {
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
            return Some(bound_call(self.linker, site, Bound::Loop, BoundUse::Called, call));
        }
        entered.push(body);
        None
    }

    /// Returns the bond to a thread, loop or task that the rows of a path give a site.
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
        (asks || handed.iter().any(|row| runs_on_own_loop(row.row))).then_some(Bound::Loop)
    }

    /// True if a call is in a `try` block. Code that tries if a loop is running handles the error.
    fn is_tried(&self, site: SiteRef) -> bool {
        let facts = self.linker.program.facts(site.file);
        let region = self.linker.program.site(site).at.region;
        regions::around(facts, region).any(|region| facts.region(region).kind == RegionKind::Try)
    }

    /// Adds the receiver of a call, if its type is bound.
    fn add_used_values(&self, site: SiteRef, values: &mut Vec<BoundValue>) {
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
                    && !freed(&usable_in_any_thread())
                {
                    values.push((ty, to, site));
                }
            }
        }
    }

    /// Adds the arguments of a moved call whose types work in one thread only, because the moved code may use them.
    fn remember_passed_values(&mut self, site: SiteRef) {
        let linker = self.linker;
        for argument in linker.program.args_of(site).iter() {
            let scope = linker.scope_of(site, EnvId::NONE);
            if let Some(ty) = held_in_one_thread(linker, scope, argument.value).next() {
                self.values.push((ty, Bound::Thread, site));
            }
        }
    }

    /// Returns the first argument of a single moved call that works in one thread only. Objects that the moved code
    /// makes are other ones.
    fn passed_from_outside(&self) -> Option<BoundCall> {
        let [own] = self.own[..] else { return None };
        let argument = self.values.iter().find(|(_, to, site)| *site == own && *to == Bound::Thread);
        argument.map(|&(ty, to, site)| bound_to_path(self.linker, site, to, BoundUse::Used, ty))
    }

    /// Returns the first use of a value of a bound type that the moved code does not make itself.
    fn value_from_outside(&self) -> Option<BoundCall> {
        let mut own: Option<Vec<PathId>> = None;
        self.values.iter().find_map(|&(ty, to, site)| {
            let own = own.get_or_insert_with(|| self.types_made());
            let library = &self.linker.library;
            let is_own = own.iter().any(|&made| library.is_subtype(made, ty) || library.is_subtype(ty, made));
            (!is_own).then(|| bound_to_path(self.linker, site, to, BoundUse::Used, ty))
        })
    }

    /// Returns a connection that a searched body makes for one thread and stores for later calls.
    fn kept_connection(&self) -> Option<BoundCall> {
        self.below
            .iter()
            .find_map(|body| body.kept.get_or_init(|| kept_connection_among(self.linker, &body.sites)).clone())
    }

    /// Returns the bound types of values that the searched bodies make and do not store.
    fn types_made(&self) -> Vec<PathId> {
        let below = self.below.iter().flat_map(|body| {
            let types_of_body = body
                .made
                .get_or_init(|| body.sites.iter().flat_map(|&site| types_made_at(self.linker, site)).collect());
            types_of_body.iter().copied()
        });
        // The result of a single moved call returns to the old thread, so it does not count.
        let own_types =
            self.own.iter().filter(|_| self.own.len() > 1).flat_map(|&site| types_made_at(self.linker, site));
        below.chain(own_types).collect()
    }
}

/// Returns a connection that one of these calls makes for one thread and that is stored.
fn kept_connection_among(linker: &Linker<'_>, sites: &[SiteRef]) -> Option<BoundCall> {
    sites.iter().find_map(|&site| {
        let kind = linker.program.site(site).kind;
        if !matches!(kind, SiteKind::Call | SiteKind::New) || !is_kept(linker, site) {
            return None;
        }
        let ty = made_for_one_thread(linker, site).filter(|&ty| linker.library.role(ty) == Some(Role::Connection))?;
        Some(bound_to_path(linker, site, Bound::Thread, BoundUse::Made, ty))
    })
}

/// Returns the bound types of the new value that a library call returns, if it is not stored.
fn types_made_at(linker: &Linker<'_>, site: SiteRef) -> Vec<PathId> {
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
    let mut types_of_result = types(linker.result(site, EnvId::NONE).value);
    types_of_result.retain(|&ty| linker.library.bound(ty).is_some());
    if types_of_result.is_empty() {
        return types_of_result;
    }
    // A result of the same type is made from the receiver: `query.limit(20)`.
    let receiver = linker.receiver_form(site).map(|form| linker.eval(linker.scope_of(site, EnvId::NONE), form).value);
    let from = receiver.map(types).unwrap_or_default();
    types_of_result.retain(|ty| !from.contains(ty));
    types_of_result
}

/// Returns the calls and uses of each body of a file, with those of its lambdas and generator expressions.
fn sites_by_body(facts: &FileFacts) -> Vec<Vec<SiteId>> {
    let mut sites = vec![Vec::new(); facts.bodies.len()];
    for site in (0..facts.sites.len() as u32).map(SiteId) {
        let row = facts.site(site);
        if !is_moved_code(row.kind) {
            continue;
        }
        let mut body_id = facts.body_of(row.at);
        loop {
            sites[body_id.0 as usize].push(site);
            let body = facts.body(body_id);
            let inner = matches!(body.kind, BodyKind::Lambda | BodyKind::GeneratorExpression);
            match body.parent.get().filter(|_| inner) {
                Some(parent) => body_id = parent,
                None => break,
            }
        }
    }
    sites
}

/// Returns the condition that any thread may use the receiver: `state = "any-thread"` in models.
fn usable_in_any_thread() -> Condition {
    let tests = vec![Test::State("any-thread".to_owned())];
    Condition { subject: Subject::Argument(Argument::Receiver), tests }
}

/// True if the event loop of this thread runs the callable that a row describes.
fn runs_on_own_loop(row: &HandoverRow) -> bool {
    matches!(row.selector, Selector::Argument(_))
        && matches!(row.context, HandoverContext::Is(Runs::In(Context::EventLoop)))
}
