//! The struct [`Linker`]: the program, the models, interned values and the memo tables of all queries. Callers and
//! severity are decided in `blocklint_flow`.

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

/// A value and the number of inferred steps that led to it. A value that follows from definitions and declared types
/// has 0 steps; each `medium` step counts one, each `low` step three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typed {
    /// The value.
    pub value: ValueId,
    /// Inferred steps, at most [`LOW_STEPS`].
    pub inferred_steps: u8,
}

impl Typed {
    /// The union without members: the value of a query that depends on itself and has no answer yet.
    pub(crate) const NEVER: Typed = Typed { value: ValueId::NEVER, inferred_steps: 0 };
}

/// The number of inferred steps from which confidence is `low`.
pub const LOW_STEPS: u8 = 3;

/// Resolves the names, values and calls of one program, on demand.
pub struct Linker<'a> {
    /// The files.
    pub program: &'a Program<'a>,
    /// The rows of the models.
    pub library: Library<'a>,
    /// Interned values.
    pub values: Values,
    /// Tables that are read once from all files.
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
    /// The files whose findings this run reports, and the part of the program that is searched for them.
    pub(crate) focus: Focus,
    /// Memo tables of the layers above.
    layer_memos: LayerMemos,
    /// The current unit of work, and the watchdog.
    pub(crate) work: Work,
}

/// The payload of a panic that ends a run whose result is not wanted any more.
#[derive(Clone, Copy, Debug)]
pub struct Stopped;

impl<'a> Linker<'a> {
    /// Returns a linker without any answer.
    pub fn new(program: &'a Program<'a>, library: Library<'a>) -> Self {
        let tables = ProgramTables::new(program);
        Linker::with_tables(program, library, tables)
    }

    /// Returns a linker without any answer, with tables that were read for an earlier linker and are still valid.
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

    /// Ends the run on this linker soon after the flag is set, by a panic that carries [`Stopped`] and that no panic
    /// hook prints. Do not use the linker after that. Only the first flag has an effect.
    pub fn stop_when(&self, flag: Arc<AtomicBool>) {
        let _ = self.stop.set(flag);
    }

    /// Ends the run if its result is not wanted any more, and the current unit of work if it takes too long.
    #[inline]
    pub fn check_cancelled(&self) {
        self.work.count_step();
        if self.stop.get().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            std::panic::resume_unwind(Box::new(Stopped));
        }
    }

    /// Returns the memo table of type `T` that a layer above keeps for this program.
    pub fn layer_memo<T: Default + Any>(&self) -> &T {
        self.layer_memos.get()
    }

    /// Returns an unknown value with the reason why it is unknown.
    pub(crate) fn unknown(&self, why: Why) -> Typed {
        Typed { value: self.values.unknown(why), inferred_steps: 0 }
    }

    /// Returns a value of one member, without inferred steps.
    pub(crate) fn known(&self, member: Val) -> Typed {
        Typed { value: self.values.one(member), inferred_steps: 0 }
    }

    /// Returns the union of typed values, with the largest number of steps among them.
    pub(crate) fn join(&self, parts: &[Typed]) -> Typed {
        match parts {
            [] => self.unknown(Why::Expression),
            [part] => *part,
            _ => Typed {
                value: self.values.join(&parts.iter().map(|part| part.value).collect::<SmallVec<[ValueId; 8]>>()),
                inferred_steps: parts.iter().map(|part| part.inferred_steps).max().unwrap_or(0),
            },
        }
    }

    /// Applies a function to each member and returns the union of its results.
    pub(crate) fn map(&self, typed: Typed, mut each: impl FnMut(Val) -> Typed) -> Typed {
        let members = self.values.members(typed.value);
        if let [member] = *members {
            let mapped = each(member);
            return Typed { value: mapped.value, inferred_steps: mapped.inferred_steps.max(typed.inferred_steps) };
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

    /// True if a body, or a body around it, is built or run for tests only: a lambda in a test.
    pub fn is_inside_tests(&self, body: BodyRef) -> bool {
        let outer = |body: &BodyRef| self.program.body(*body).parent.get().map(|parent| body.file.body_ref(parent));
        std::iter::successors(Some(body), outer).any(|body| self.is_for_tests(body))
    }

    /// Returns the value with at least one inferred step.
    pub(crate) fn inferred(&self, typed: Typed) -> Typed {
        Typed { inferred_steps: typed.inferred_steps.max(1), ..typed }
    }
}
