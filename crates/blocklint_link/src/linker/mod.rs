//! The linker: names to definitions, receivers to types, calls to targets and to the rows of models, each on demand and remembered.
//! Callers and severity are decided in `blocklint_flow`.

pub mod ask_first;
pub(crate) mod budget;
pub(crate) mod focus;
pub mod frames;
pub mod layer_memo;
pub mod program_tables;
pub mod query;
pub mod round;
pub(crate) mod tables;
pub mod work;

use std::any::Any;
use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;

use crate::classes::hierarchy::Hierarchy;
use crate::linker::budget::Budget;
use crate::linker::focus::Focus;
use crate::linker::frames::Frames;
use crate::linker::layer_memo::LayerMemos;
use crate::linker::program_tables::ProgramTables;
use crate::linker::tables::Tables;
use crate::linker::work::Work;
use crate::models::library::Library;
use crate::program::Program;
use crate::program::ids::BodyRef;
use crate::values::value::{Val, ValueId, Values, Why};

/// A value and how many inferred steps led to it: 0 is by definitions and declared types, each `medium` step counts
/// one, a `low` one three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typed {
    /// The value.
    pub value: ValueId,
    /// Inferred steps, at most [`LOW_STEPS`].
    pub inferred_steps: u8,
}

impl Typed {
    /// The value of a query that has no answer yet because it asked for itself.
    pub(crate) const NEVER: Typed = Typed { value: ValueId::NEVER, inferred_steps: 0 };
}

/// Steps from which a path is `low`.
pub const LOW_STEPS: u8 = 3;

/// Names, values and edges of one program, computed when asked for.
pub struct Linker<'a> {
    /// The files.
    pub program: &'a Program<'a>,
    /// The rows of the models.
    pub library: Library<'a>,
    /// Interned values.
    pub values: Values,
    /// Tables that were read once from all files.
    pub(crate) program_tables: ProgramTables,
    /// Classes and bodies by their names.
    pub hierarchy: Arc<Hierarchy>,
    /// The answers of all queries.
    pub(crate) tables: Tables<'a>,
    /// The steps that queries may spend.
    pub(crate) budget: Budget,
    /// The queries that are running.
    pub(crate) frames: Frames,
    /// Set when the result of the run is not wanted any more.
    stop: OnceCell<Arc<AtomicBool>>,
    /// The files whose findings this run is asked for, and the part of the program that is searched for them.
    pub(crate) focus: Focus,
    /// Answers of the layers above.
    layer_memos: LayerMemos,
    /// The unit at hand, and the watchdog.
    pub(crate) work: Work,
}

/// The payload of a panic that ends a run whose result is not wanted any more.
#[derive(Clone, Copy, Debug)]
pub struct Stopped;

impl<'a> Linker<'a> {
    /// Returns a linker that knows no answer yet.
    pub fn new(program: &'a Program<'a>, library: Library<'a>) -> Self {
        let tables = ProgramTables::new(program);
        Linker::with_tables(program, library, tables)
    }

    /// Returns a linker with tables that were read before and still hold.
    pub fn with_tables(program: &'a Program<'a>, library: Library<'a>, program_tables: ProgramTables) -> Self {
        let values = Values::new(library.digests());
        Linker {
            program,
            library,
            values,
            hierarchy: Arc::clone(&program_tables.hierarchy),
            program_tables,
            tables: Tables::new(program),
            budget: Budget::default(),
            frames: Frames::default(),
            stop: OnceCell::new(),
            focus: Focus::default(),
            layer_memos: LayerMemos::default(),
            work: Work::default(),
        }
    }

    /// Ends the run on this linker soon after the flag is set, by a panic that carries [`Stopped`] and that no hook
    /// prints. The linker is not to be used after that. Only the first flag counts.
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

    /// Returns an unknown value.
    pub(crate) fn unknown(&self, why: Why) -> Typed {
        Typed { value: self.values.unknown(why), inferred_steps: 0 }
    }

    /// Returns a certain value of one member.
    pub(crate) fn known(&self, member: Val) -> Typed {
        Typed { value: self.values.one(member), inferred_steps: 0 }
    }

    /// Returns the union of typed values; the steps are the most of any.
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

    /// Applies a function to each member and returns the union of its results.
    pub(crate) fn map(&self, typed: Typed, mut each: impl FnMut(Val) -> Typed) -> Typed {
        let members = self.values.members(typed.value);
        if let [one] = *members {
            let given = each(one);
            return Typed { value: given.value, inferred_steps: given.inferred_steps.max(typed.inferred_steps) };
        }
        if typed.value == ValueId::NEVER {
            return typed;
        }
        let parts: SmallVec<[Typed; 8]> = members.iter().map(|&member| each(member)).collect();
        let joined = self.join(&parts);
        Typed { value: joined.value, inferred_steps: joined.inferred_steps.max(typed.inferred_steps) }
    }

    /// Returns the module that declares each Rust file.
    pub(crate) fn rust_parents(&self) -> &crate::lang::rust::modules::Parents {
        self.tables.rust.parents.get_or_init(|| crate::lang::rust::modules::parents(self))
    }

    /// True if a body is built or run for tests only.
    pub fn is_for_tests(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        self.program.is_test(body.file)
            || self.program.body(body).flags.has(blocklint_facts::BodyFlags::TEST)
            || crate::lang::semantics(facts.language).is_test_module(self, body.file)
    }

    /// True if a body, or one around it, is built or run for tests only: a lambda in a test.
    pub fn is_inside_tests(&self, body: BodyRef) -> bool {
        let around = |of: &BodyRef| self.program.body(*of).parent.get().map(|parent| of.file.body_ref(parent));
        std::iter::successors(Some(body), around).any(|of| self.is_for_tests(of))
    }

    /// Returns the value with at least one inferred step.
    pub(crate) fn inferred(&self, typed: Typed) -> Typed {
        Typed { inferred_steps: typed.inferred_steps.max(1), ..typed }
    }
}
