//! The linker: names to definitions, receivers to types, calls to targets and to the rows of models, each on demand and remembered.
//! Never who runs a body, nor whether what it does matters.

pub(crate) mod focus;
pub mod layer_memo;
pub mod program_tables;
pub mod work;

use crate::calls::passed_as_argument;
use crate::models::stored_callbacks;
use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use blocklint_core::Language;
use blocklint_facts::{AssignId, BodyId, FormId, ImportId, RegionId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::calls::param_summary::{Summary, Uses};
use crate::calls::targets::Targets;
use crate::classes::hierarchy::{Hierarchy, Mro};
use crate::linker::program_tables::Tables;
use crate::models::library::Library;
use crate::program::Program;
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, PathId, SiteRef, VarRef};
use crate::values::value::{EnvId, Val, ValueId, Values, Why};

/// A value and how many inferred steps led to it: 0 is by definitions and declared types, each `medium` step counts
/// one, a `low` one three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typed {
    /// The value.
    pub value: ValueId,
    /// Inferred steps, at most [`LOW_STEPS`].
    pub inferred_steps: u8,
}

/// Steps from which a path is `low`.
pub const LOW_STEPS: u8 = 3;

/// Steps of one site's resolution: lookups of variables, attributes and results.
/// A value that goes round through a field and the methods that fill it takes some hundreds where a class has many relatives.
const FUEL: u32 = 1500;

/// What is being computed, to meet recursion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Query {
    Var(VarRef, EnvId),
    Alias(ClassRef),
    Attr(Val, Name),
    Assign(FileId, AssignId, EnvId),
    Field(ClassRef, Name),
    Return(BodyRef, EnvId),
    Yield(BodyRef, EnvId),
    Result(SiteRef, EnvId),
    Param(VarRef),
    Annotation(FileId, FormId, RegionId),
    Import(FileId, ImportId),
    Bases(ClassRef),
    Mro(ClassRef),
    Summary(BodyRef, u32),
    Targets(SiteRef, EnvId),
    Callee(SiteRef, EnvId),
    Below(ClassRef, Name),
    /// What is kept in a component of a record, of what it is declared to be.
    Component(VarRef, ValueId),
}

/// A task in few words, but for [`Query::Attr`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key(u64, u64);

impl Hash for Key {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0);
        state.write_u64(self.1);
    }
}

impl Query {
    /// Its key, or the one by which an attribute is remembered.
    #[inline]
    fn key(self) -> Result<Key, (Val, Name)> {
        let key = |kind: u64, of: u64, c: u32| Ok(Key(of, kind << 32 | u64::from(c)));
        let row = |file: FileId, id: u32| u64::from(file.0) << 32 | u64::from(id);
        match self {
            Query::Attr(of, name) => Err((of, name)),
            Query::Var(var, env) => key(0, var.number(), env.0),
            Query::Alias(class) => key(1, class.number(), 0),
            Query::Assign(file, assign, env) => key(2, row(file, assign.0), env.0),
            Query::Field(class, name) => key(3, class.number(), name.0),
            Query::Return(body, env) => key(4, body.number(), env.0),
            Query::Yield(body, env) => key(5, body.number(), env.0),
            Query::Result(site, env) => key(6, site.number(), env.0),
            Query::Param(var) => key(7, var.number(), 0),
            Query::Annotation(file, form, region) => key(8, row(file, form.0), region.0),
            Query::Import(file, import) => key(9, row(file, import.0), 0),
            Query::Bases(class) => key(10, class.number(), 0),
            Query::Mro(class) => key(11, class.number(), 0),
            Query::Summary(body, param) => key(12, body.number(), param),
            Query::Targets(site, env) => key(13, site.number(), env.0),
            Query::Callee(site, env) => key(14, site.number(), env.0),
            Query::Below(class, name) => key(15, class.number(), name.0),
            Query::Component(var, of) => key(16, var.number(), of.0),
        }
    }
}

/// What is known of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueryState {
    /// It is being computed.
    Running,
    /// What it gives.
    Known(Typed),
}

/// Assignments to an attribute of objects that are no receiver, with the object's class.
pub(crate) type ExternalAssigns = Rc<[(ClassRef, FileId, AssignId)]>;

/// Assignments to a name of modules, with the module.
pub(crate) type OfModules = Rc<[(FileId, FileId, AssignId)]>;

/// A site, the body it calls, a parameter of that, and whether its receiver is one that the site does not list.
pub(crate) type ArgumentKey = (SiteRef, BodyRef, u32, bool);

/// Functions by their variables, sorted.
pub(crate) type Functions = Rc<[(VarId, BodyId)]>;

/// A shared list of bodies.
pub(crate) type Bodies = Rc<[BodyRef]>;

/// The targets of sites. They are asked for far more often than found, mostly for all callers of a body: those
/// stand in a row for each file.
pub(crate) struct TargetsMemo {
    /// By file, then by site; empty for a file of which nothing was asked yet.
    plain: Vec<Box<[Option<Rc<Targets>>]>>,
    bound: FxHashMap<(SiteRef, EnvId), Rc<Targets>>,
    len: usize,
}

impl TargetsMemo {
    fn new(program: &Program<'_>) -> Self {
        TargetsMemo {
            plain: program.files.iter().map(|_| Box::default()).collect(),
            bound: FxHashMap::default(),
            len: 0,
        }
    }

    /// What was kept for a site.
    #[inline]
    pub(crate) fn get(&self, site: SiteRef, env: EnvId) -> Option<&Rc<Targets>> {
        if env == EnvId::NONE {
            self.plain[site.file.index()].get(site.index())?.as_ref()
        } else {
            self.bound.get(&(site, env))
        }
    }

    /// Keeps the targets of a site; its file has this many.
    pub(crate) fn keep(&mut self, site: SiteRef, env: EnvId, targets: Rc<Targets>, sites: usize) {
        self.len += 1;
        if env != EnvId::NONE {
            self.bound.insert((site, env), targets);
            return;
        }
        let of_file = &mut self.plain[site.file.index()];
        if of_file.is_empty() {
            *of_file = (0..sites).map(|_| None).collect();
        }
        of_file[site.index()] = Some(targets);
    }
}

/// Names, values and edges of one program, computed when asked for.
pub struct Linker<'a> {
    /// The files.
    pub program: &'a Program<'a>,
    /// What models say.
    pub library: Library<'a>,
    /// Interned values.
    pub values: Values,
    /// What was read once from all files.
    pub(crate) tables: Tables,
    /// Classes and bodies by their names.
    pub hierarchy: Arc<Hierarchy>,
    /// The Rust module tree, once somebody asked.
    rust_parents: std::cell::OnceCell<crate::lang::rust::modules::Parents>,
    /// The methods of library traits that files of Rust import, by name.
    pub(crate) trait_methods: RefCell<FxHashMap<(FileId, Name), Option<PathId>>>,
    /// What glob imports of Rust bring to a body under a name.
    pub(crate) globs: RefCell<crate::lang::rust::modules::Globs>,
    memo: RefCell<FxHashMap<Key, QueryState>>,
    attrs: RefCell<FxHashMap<(Val, Name), QueryState>>,
    pub(crate) bases: RefCell<FxHashMap<ClassRef, Rc<[Val]>>>,
    pub(crate) mros: RefCell<FxHashMap<ClassRef, Rc<Mro>>>,
    pub(crate) targets: RefCell<TargetsMemo>,
    /// Library types by whether iterating over them enters a row.
    pub(crate) iterated: RefCell<FxHashMap<PathId, bool>>,
    /// What a site runs of which nothing is known; many are.
    pub(crate) no_targets: Rc<Targets>,
    pub(crate) during: OnceCell<stored_callbacks::During>,
    /// Python: the names of sites that iterate.
    pub(crate) iterating: OnceCell<FxHashSet<Name>>,
    pub(crate) summaries: RefCell<FxHashMap<(BodyRef, u32), Rc<Summary>>>,
    pub(crate) uses: RefCell<FxHashMap<FileId, Rc<Uses>>>,
    /// Where the bearers of one name are called.
    pub(crate) by_name: RefCell<FxHashMap<Name, Rc<crate::calls::sites_by_name::SitesByName>>>,
    pub(crate) by_name_near: RefCell<FxHashMap<Name, Rc<crate::calls::sites_by_name::SitesByName>>>,
    /// By import root and dotted path.
    pub(crate) modules: RefCell<FxHashMap<&'a str, FxHashMap<String, Val>>>,
    /// The import root that the files of a folder lie under.
    pub(crate) own_roots: RefCell<FxHashMap<&'a str, &'a str>>,
    /// The modules whose names a file imports with `*`.
    pub(crate) stars: RefCell<FxHashMap<FileId, Rc<[Val]>>>,
    pub(crate) foreign: RefCell<FxHashMap<Name, ExternalAssigns>>,
    pub(crate) given: RefCell<FxHashMap<Name, passed_as_argument::Given>>,
    pub(crate) makers: RefCell<FxHashMap<Name, passed_as_argument::ConstructorCalls>>,
    pub(crate) first_sites: RefCell<FxHashMap<Name, Rc<[SiteRef]>>>,
    /// Python: assignments to names of modules from elsewhere, by name: `settings.store = Store()`.
    pub(crate) of_modules: RefCell<FxHashMap<Name, OfModules>>,
    /// Entries of literal tables that are being looked at: a table may name itself.
    pub(crate) entries: RefCell<FxHashSet<(FileId, FormId)>>,
    pub(crate) additions: RefCell<FxHashMap<FileId, Rc<crate::values::container_elements::Additions>>>,
    pub(crate) adding: RefCell<FxHashMap<Language, Rc<[Name]>>>,
    pub(crate) chains: crate::reactive::ChainMemo,
    /// Java: what names mean that neither their file nor a class around binds.
    pub(crate) java_names: RefCell<FxHashMap<(FileId, blocklint_facts::Sym), Typed>>,
    /// Java: the methods of libraries' interfaces that a lambda can implement.
    pub(crate) functional_names: std::cell::OnceCell<FxHashSet<&'a str>>,
    /// Java: whether a call may mean several methods.
    pub(crate) means_several: RefCell<FxHashMap<SiteRef, bool>>,
    /// Java: the names of types and of what they derive from.
    pub(crate) java_type_names: RefCell<FxHashMap<Val, Option<Rc<str>>>>,
    /// Java: whether a call means a method of a derived class.
    pub(crate) meant: RefCell<FxHashMap<(SiteRef, BodyRef), bool>>,
    /// Java: how many lambdas implement an interface.
    pub(crate) lambdas: RefCell<FxHashMap<ClassRef, usize>>,
    /// Java: the modules of the project's build.
    pub(crate) java_modules: std::cell::OnceCell<crate::lang::java::build_modules::Modules>,
    /// Python: whether a key of a body's `**kwargs` is changed before a call reads it.
    pub(crate) changed_keys: RefCell<FxHashMap<(SiteRef, blocklint_facts::VarId), bool>>,
    /// The literals that forms can be at sites.
    pub(crate) reaching: RefCell<crate::values::reaching_constants::Remembered>,
    /// Python: what calls take from dictionaries that they unpack.
    pub(crate) unpacked: RefCell<crate::lang::python::kwargs::Unpacked>,
    /// What sites pass to parameters of bodies, with a receiver that they do not list or without.
    pub(crate) passed: RefCell<FxHashMap<ArgumentKey, Option<FormId>>>,
    /// The functions of a file by the variables that hold them.
    pub(crate) functions: RefCell<FxHashMap<FileId, Functions>>,
    /// Names by whether anybody assigns an attribute of that name.
    pub(crate) assigned_attrs: RefCell<FxHashMap<Name, bool>>,
    /// Java: the qualified names of classes.
    pub(crate) java_class_names: RefCell<FxHashMap<ClassRef, Rc<str>>>,
    /// Java: the names of members that classes have, by name.
    pub(crate) java_members: std::cell::OnceCell<Vec<bool>>,
    pub(crate) derived: RefCell<FxHashMap<ClassRef, Rc<[ClassRef]>>>,
    pub(crate) overrides: RefCell<FxHashMap<(ClassRef, Name), Bodies>>,
    /// Rust: the methods of one name in all impl blocks of one trait for one type.
    pub(crate) same_in_impls: RefCell<FxHashMap<BodyRef, Bodies>>,
    pub(crate) method_kinds: RefCell<FxHashMap<BodyRef, crate::classes::method_kind::MethodKind>>,
    /// The ends of functions with the branches that they stand under.
    pub(crate) ends: RefCell<FxHashMap<BodyRef, Rc<[crate::guards::branch::End]>>>,
    /// Java: the literals that fields always hold.
    pub(crate) literal_fields: RefCell<FxHashMap<VarRef, Option<crate::effect::constant::Constant>>>,
    /// Python: classes of which libraries make instances of requests, on an event loop.
    pub(crate) parsed: std::cell::OnceCell<FxHashSet<ClassRef>>,
    /// Java: the methods with an annotation that makes them run during calls.
    pub(crate) listeners: RefCell<FxHashMap<PathId, Vec<BodyRef>>>,
    /// Java: the methods that make objects for a container.
    pub(crate) providers: std::cell::OnceCell<Vec<crate::lang::java::injection::Provider>>,
    /// Java: where the project's classes are deployed.
    pub(crate) deployments: std::cell::OnceCell<crate::lang::java::deployment::Deployments>,
    /// Java: whether a module answers requests on a servlet container's threads, by its path.
    pub(crate) servlets: RefCell<FxHashMap<String, bool>>,
    /// Java: whether something shows that a module answers requests on event loops, by its path.
    pub(crate) on_loops: RefCell<FxHashMap<String, bool>>,
    /// Python: whether files that import no runtime run on Twisted's reactor.
    pub(crate) on_twisted: std::cell::OnceCell<bool>,
    /// The runtimes of files of which no row says more.
    pub(crate) runtimes: RefCell<FxHashMap<FileId, Option<blocklint_core::Runtime>>>,
    /// Java: the fields whose callables methods run.
    pub(crate) fields_run: RefCell<FxHashMap<BodyRef, Rc<[VarRef]>>>,
    /// Java: the types of models that classes of the project are.
    pub(crate) modelled_classes: RefCell<FxHashMap<ClassRef, Option<PathId>>>,
    /// The running tasks that the memo does not hold.
    busy: RefCell<FxHashSet<Key>>,
    /// How many tasks are running.
    running: Cell<u32>,
    /// How many questions for an object's state wait for each other.
    pub(crate) states_asked: Cell<u32>,
    /// Raised whenever a recursion was cut; what was computed meanwhile is not remembered.
    cuts: Cell<u32>,
    fuel: Cell<u32>,
    /// Whether what is remembered for all is being looked for, at the cost of nobody's site.
    afresh: Cell<bool>,
    /// Told when nobody waits for the answer any more.
    stop: std::cell::OnceCell<Arc<AtomicBool>>,
    /// What this run is asked about.
    pub(crate) asked: focus::Focus,
    /// Answers of the layers above.
    layer_memos: crate::linker::layer_memo::LayerMemos,
    /// The unit at hand, and the watchdog.
    pub(crate) work: work::Work,
}

/// What a panic carries that ends a run of which nobody wants the result any more.
#[derive(Clone, Copy, Debug)]
pub struct Stopped;

impl<'a> Linker<'a> {
    /// A linker without memory yet.
    pub fn new(program: &'a Program<'a>, library: Library<'a>) -> Self {
        let tables = Tables::new(program);
        Linker::with_tables(program, library, tables)
    }

    /// The same, with tables that were read before and still hold.
    pub fn with_tables(program: &'a Program<'a>, library: Library<'a>, tables: Tables) -> Self {
        Linker {
            program,
            library,
            values: Values::default(),
            hierarchy: Arc::clone(&tables.hierarchy),
            tables,
            rust_parents: std::cell::OnceCell::new(),
            trait_methods: RefCell::default(),
            globs: RefCell::default(),
            memo: RefCell::default(),
            attrs: RefCell::default(),
            ends: RefCell::default(),
            literal_fields: RefCell::default(),
            parsed: std::cell::OnceCell::new(),
            listeners: RefCell::default(),
            providers: std::cell::OnceCell::new(),
            deployments: std::cell::OnceCell::new(),
            servlets: RefCell::default(),
            on_loops: RefCell::default(),
            on_twisted: std::cell::OnceCell::new(),
            runtimes: RefCell::default(),
            modelled_classes: RefCell::default(),
            fields_run: RefCell::default(),
            running: Cell::new(0),
            states_asked: Cell::new(0),
            bases: RefCell::default(),
            mros: RefCell::default(),
            targets: RefCell::new(TargetsMemo::new(program)),
            iterated: RefCell::default(),
            during: OnceCell::new(),
            iterating: OnceCell::new(),
            no_targets: Rc::new(Targets { unknown: true, ..Targets::default() }),
            summaries: RefCell::default(),
            uses: RefCell::default(),
            by_name: RefCell::default(),
            by_name_near: RefCell::default(),
            modules: RefCell::default(),
            own_roots: RefCell::default(),
            stars: RefCell::default(),
            foreign: RefCell::default(),
            given: RefCell::default(),
            makers: RefCell::default(),
            first_sites: RefCell::default(),
            of_modules: RefCell::default(),
            entries: RefCell::default(),
            additions: RefCell::default(),
            adding: RefCell::default(),
            chains: crate::reactive::ChainMemo::default(),
            java_names: RefCell::default(),
            functional_names: std::cell::OnceCell::new(),
            means_several: RefCell::default(),
            java_type_names: RefCell::default(),
            meant: RefCell::default(),
            lambdas: RefCell::default(),
            java_modules: std::cell::OnceCell::new(),
            changed_keys: RefCell::default(),
            reaching: RefCell::default(),
            unpacked: RefCell::default(),
            passed: RefCell::default(),
            functions: RefCell::default(),
            assigned_attrs: RefCell::default(),
            java_class_names: RefCell::default(),
            java_members: std::cell::OnceCell::new(),
            derived: RefCell::default(),
            overrides: RefCell::default(),
            same_in_impls: RefCell::default(),
            method_kinds: RefCell::default(),
            busy: RefCell::default(),
            cuts: Cell::new(0),
            fuel: Cell::new(FUEL),
            afresh: Cell::new(false),
            stop: std::cell::OnceCell::new(),
            asked: focus::Focus::default(),
            layer_memos: crate::linker::layer_memo::LayerMemos::default(),
            work: work::Work::default(),
        }
    }

    /// Ends what runs on this link, by a panic that carries [`Stopped`] and is told to no hook, soon after the flag is
    /// set. The link is not to be used after that. Only the first flag counts.
    pub fn stop_when(&self, flag: Arc<AtomicBool>) {
        let _ = self.stop.set(flag);
    }

    /// Ends the run if its result is not wanted any more, and the unit at hand if it takes too long.
    #[inline]
    pub fn check_cancelled(&self) {
        self.work.step();
        if self.stop.get().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            std::panic::resume_unwind(Box::new(Stopped));
        }
    }

    /// Returns the answers of type `T` that a layer above keeps for this program.
    pub fn layer_memo<T: Default + Any>(&self) -> &T {
        self.layer_memos.of()
    }

    /// Remembers what a task gives, unless a recursion or the end of the fuel cut it short.
    #[inline]
    pub(crate) fn remember(&self, task: Query, compute: impl FnOnce() -> Typed) -> Typed {
        match task.key() {
            Ok(key) => self.remember_in(&self.memo, key, compute),
            Err(attr) => self.remember_in(&self.attrs, attr, compute),
        }
    }

    #[inline]
    fn remember_in<K: Hash + Eq + Copy>(
        &self,
        memo: &RefCell<FxHashMap<K, QueryState>>,
        key: K,
        compute: impl FnOnce() -> Typed,
    ) -> Typed {
        match memo.borrow_mut().entry(key) {
            Entry::Occupied(known) => match *known.get() {
                QueryState::Known(known) => return known,
                QueryState::Running => {
                    return self.unknown(if self.spend_step(false) { Why::Cycle } else { Why::Bound });
                }
            },
            Entry::Vacant(unknown) => {
                if !self.spend_step(true) {
                    return self.unknown(Why::Bound);
                }
                unknown.insert(QueryState::Running);
            }
        }
        let (typed, is_whole) = self.run(compute);
        let mut memo = memo.borrow_mut();
        if is_whole {
            memo.insert(key, QueryState::Known(typed));
        } else {
            memo.remove(&key);
        }
        typed
    }

    /// Runs a task that is not running already, with a step of fuel.
    pub(crate) fn guarded<T>(
        &self,
        task: Query,
        cycle: T,
        exhausted: T,
        compute: impl FnOnce() -> T,
        keep: impl FnOnce(&T),
    ) -> T {
        let Ok(key) = task.key() else { return exhausted };
        let starts = self.busy.borrow_mut().insert(key);
        if !self.spend_step(starts) {
            if starts {
                self.busy.borrow_mut().remove(&key);
            }
            return exhausted;
        }
        if !starts {
            return cycle;
        }
        let (result, is_whole) = self.run(compute);
        self.busy.borrow_mut().remove(&key);
        if is_whole {
            keep(&result);
        }
        result
    }

    /// Whether there was a step of fuel; it is used up only by a task that starts. What does not start is a cut.
    fn spend_step(&self, starts: bool) -> bool {
        if self.running.get() == 0 {
            self.fuel.set(FUEL);
        }
        let left = self.fuel.get().checked_sub(1);
        match left {
            Some(left) if starts => self.fuel.set(left),
            _ => self.cuts.set(self.cuts.get() + 1),
        }
        left.is_some()
    }

    /// Runs a task; says whether nothing was cut meanwhile, so that what it found is final.
    fn run<T>(&self, compute: impl FnOnce() -> T) -> (T, bool) {
        self.check_cancelled();
        let before = self.cuts.get();
        self.running.set(self.running.get() + 1);
        let result = compute();
        let outer = self.running.get() - 1;
        self.running.set(outer);
        // The outermost task met every cycle from its own start, so what it found is final too.
        (result, self.cuts.get() == before || outer == 0)
    }

    /// Begins to look for what is remembered for all, not at the cost of the site that asks first; not within another such search.
    /// Gives what fuel that site has left.
    pub(crate) fn enter_global_query(&self) -> Option<u32> {
        (!self.afresh.replace(true)).then(|| self.fuel.get())
    }

    /// A site's fuel for one more of what is looked for.
    pub(crate) fn refuel(&self) {
        self.fuel.set(FUEL);
    }

    /// Goes on with the site that asked.
    pub(crate) fn leave_global_query(&self, left: u32) {
        self.fuel.set(left);
        self.afresh.set(false);
    }

    /// How often a recursion or the end of the fuel cut something short.
    pub(crate) fn cut_count(&self) -> u32 {
        self.cuts.get()
    }

    /// An unknown value.
    pub(crate) fn unknown(&self, why: Why) -> Typed {
        Typed { value: self.values.unknown(why), inferred_steps: 0 }
    }

    /// A certain value of one member.
    pub(crate) fn known(&self, member: Val) -> Typed {
        Typed { value: self.values.one(member), inferred_steps: 0 }
    }

    /// The union of typed values; the steps are the most of any.
    pub(crate) fn join(&self, parts: &[Typed]) -> Typed {
        match parts {
            [] => self.unknown(Why::Expression),
            [one] => *one,
            _ => Typed {
                value: self.values.join(&parts.iter().map(|part| part.value).collect::<SmallVec<[ValueId; 8]>>()),
                inferred_steps: parts.iter().map(|part| part.inferred_steps).max().unwrap_or(0),
            },
        }
    }

    /// Applies a function to each member and joins what it gives.
    pub(crate) fn map(&self, typed: Typed, mut each: impl FnMut(Val) -> Typed) -> Typed {
        let members = self.values.members(typed.value);
        if let [one] = *members {
            let given = each(one);
            return Typed { value: given.value, inferred_steps: given.inferred_steps.max(typed.inferred_steps) };
        }
        let parts: SmallVec<[Typed; 8]> = members.iter().map(|&member| each(member)).collect();
        let joined = self.join(&parts);
        Typed { value: joined.value, inferred_steps: joined.inferred_steps.max(typed.inferred_steps) }
    }

    /// The module that declares each Rust file.
    pub(crate) fn rust_parents(&self) -> &crate::lang::rust::modules::Parents {
        self.rust_parents.get_or_init(|| crate::lang::rust::modules::parents(self))
    }

    /// Whether a body is built or run for tests only.
    pub fn is_for_tests(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        self.program.is_test(body.file)
            || self.program.body(body).flags.has(blocklint_facts::BodyFlags::TEST)
            || crate::lang::semantics(facts.language).is_test_module(self, body.file)
    }

    /// The same value, with at least one inferred step.
    pub(crate) fn inferred(&self, typed: Typed) -> Typed {
        Typed { inferred_steps: typed.inferred_steps.max(1), ..typed }
    }

    /// How many values were remembered, for `--timings` and tests.
    pub fn memo_len(&self) -> usize {
        self.memo.borrow().len() + self.attrs.borrow().len() + self.targets.borrow().len
    }
}
