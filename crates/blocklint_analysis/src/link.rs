//! The linker: names to definitions, receivers to types, calls to targets, each on demand and remembered.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{AssignId, FormId, ImportId, RegionId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::hierarchy::{Hierarchy, Mro};
use crate::ids::{BodyRef, ClassRef, FileId, Name, PathId, SiteRef, VarRef};
use crate::library::Library;
use crate::program::Program;
use crate::summary::{Summary, Uses};
use crate::targets::Targets;
use crate::value::{EnvId, Val, ValueId, Values, Why};

/// A value and how many inferred steps led to it: 0 is by definitions and declared types, each `medium` step counts
/// one, a `low` one three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typed {
    /// The value.
    pub value: ValueId,
    /// Inferred steps, at most [`LOW_STEPS`].
    pub steps: u8,
}

/// Steps from which a path is `low`.
pub(crate) const LOW_STEPS: u8 = 3;

/// Steps of one site's resolution: lookups of variables, attributes and results.
const FUEL: u32 = 400;

/// What is being computed, to meet recursion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Task {
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
}

/// Names, values and edges of one program, computed when asked for.
pub struct Link<'a> {
    /// The files.
    pub program: &'a Program<'a>,
    /// What models say.
    pub library: Library<'a>,
    /// Interned values.
    pub values: Values,
    pub(crate) hierarchy: Hierarchy,
    /// Names under which an import binds another name.
    pub(crate) import_aliases: FxHashMap<Name, Vec<Name>>,
    pub(crate) alias_names: FxHashSet<Name>,
    memo: RefCell<FxHashMap<Task, Typed>>,
    pub(crate) bases: RefCell<FxHashMap<ClassRef, Rc<[Val]>>>,
    pub(crate) mros: RefCell<FxHashMap<ClassRef, Rc<Mro>>>,
    pub(crate) targets: RefCell<FxHashMap<(SiteRef, EnvId), Rc<Targets>>>,
    pub(crate) summaries: RefCell<FxHashMap<(BodyRef, u32), Rc<Summary>>>,
    pub(crate) uses: RefCell<FxHashMap<FileId, Rc<Uses>>>,
    pub(crate) modules: RefCell<FxHashMap<(PathId, String), Val>>,
    pub(crate) asking: RefCell<FxHashMap<FileId, Rc<crate::loop_tests::Asking>>>,
    pub(crate) ask_names: RefCell<FxHashMap<Language, Rc<[Name]>>>,
    pub(crate) answering: RefCell<FxHashMap<Language, Rc<FxHashSet<Name>>>>,
    pub(crate) foreign: RefCell<FxHashMap<Name, Rc<[(ClassRef, FileId, AssignId)]>>>,
    pub(crate) derived: RefCell<FxHashMap<ClassRef, Rc<[ClassRef]>>>,
    pub(crate) overrides: RefCell<FxHashMap<(ClassRef, Name), Rc<[BodyRef]>>>,
    pub(crate) method_kinds: RefCell<FxHashMap<BodyRef, crate::members::MethodKind>>,
    busy: RefCell<FxHashSet<Task>>,
    /// Raised whenever a recursion was cut; what was computed meanwhile is not remembered.
    cuts: Cell<u32>,
    fuel: Cell<u32>,
}

impl<'a> Link<'a> {
    /// A linker without memory yet.
    pub fn new(program: &'a Program<'a>, library: Library<'a>) -> Self {
        let hierarchy = Hierarchy::new(program);
        let import_aliases = crate::names::import_aliases(program);
        Link {
            program,
            library,
            values: Values::default(),
            hierarchy,
            alias_names: import_aliases.values().flatten().copied().collect(),
            import_aliases,
            memo: RefCell::default(),
            bases: RefCell::default(),
            mros: RefCell::default(),
            targets: RefCell::default(),
            summaries: RefCell::default(),
            uses: RefCell::default(),
            modules: RefCell::default(),
            asking: RefCell::default(),
            ask_names: RefCell::default(),
            answering: RefCell::default(),
            foreign: RefCell::default(),
            derived: RefCell::default(),
            overrides: RefCell::default(),
            method_kinds: RefCell::default(),
            busy: RefCell::default(),
            cuts: Cell::new(0),
            fuel: Cell::new(FUEL),
        }
    }

    /// Remembers what a task gives, unless a recursion or the end of the fuel cut it short.
    pub(crate) fn remember(&self, task: Task, compute: impl FnOnce() -> Typed) -> Typed {
        if let Some(&known) = self.memo.borrow().get(&task) {
            return known;
        }
        self.guarded(task, self.unknown(Why::Cycle), self.unknown(Why::Bound), compute, |typed| {
            self.memo.borrow_mut().insert(task, *typed);
        })
    }

    /// Runs a task that is not running already, with a step of fuel.
    pub(crate) fn guarded<T>(
        &self,
        task: Task,
        cycle: T,
        exhausted: T,
        compute: impl FnOnce() -> T,
        keep: impl FnOnce(&T),
    ) -> T {
        if self.busy.borrow().is_empty() {
            self.fuel.set(FUEL);
        }
        let Some(fuel) = self.fuel.get().checked_sub(1) else {
            self.cuts.set(self.cuts.get() + 1);
            return exhausted;
        };
        if !self.busy.borrow_mut().insert(task) {
            self.cuts.set(self.cuts.get() + 1);
            return cycle;
        }
        self.fuel.set(fuel);
        let before = self.cuts.get();
        let result = compute();
        let mut busy = self.busy.borrow_mut();
        busy.remove(&task);
        // The outermost task met every cycle from its own start, so what it found is final.
        if self.cuts.get() == before || busy.is_empty() {
            drop(busy);
            keep(&result);
        }
        result
    }

    /// An unknown value.
    pub(crate) fn unknown(&self, why: Why) -> Typed {
        Typed { value: self.values.unknown(why), steps: 0 }
    }

    /// A certain value of one member.
    pub(crate) fn known(&self, member: Val) -> Typed {
        Typed { value: self.values.one(member), steps: 0 }
    }

    /// The union of typed values; the steps are the most of any.
    pub(crate) fn join(&self, parts: &[Typed]) -> Typed {
        match parts {
            [] => self.unknown(Why::Expression),
            [one] => *one,
            _ => Typed {
                value: self.values.join(&parts.iter().map(|part| part.value).collect::<Vec<_>>()),
                steps: parts.iter().map(|part| part.steps).max().unwrap_or(0),
            },
        }
    }

    /// Applies a function to each member and joins what it gives.
    pub(crate) fn map(&self, typed: Typed, mut each: impl FnMut(Val) -> Typed) -> Typed {
        let parts: Vec<Typed> = self.values.members(typed.value).iter().map(|&member| each(member)).collect();
        let joined = self.join(&parts);
        Typed { value: joined.value, steps: joined.steps.max(typed.steps) }
    }

    /// The same value, with at least one inferred step.
    pub(crate) fn inferred(&self, typed: Typed) -> Typed {
        Typed { steps: typed.steps.max(1), ..typed }
    }

    /// How many values were remembered, for `--timings` and tests.
    pub fn memo_len(&self) -> usize {
        self.memo.borrow().len() + self.targets.borrow().len()
    }
}
