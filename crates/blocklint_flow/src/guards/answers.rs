//! Cache of guard answers: how the arguments of a call decide a guard. Without it, a call would decide the same guard
//! for each label of the body that it enters.

use std::cell::RefCell;

use blocklint_link::effect::guard::{Guard, Guards};
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::program::ids::BodyRef;

use crate::callers::Caller;
use crate::guards::Conditions;
use crate::guards::decide::Answer;

/// The answers of calls to guards.
#[derive(Default)]
pub(crate) struct GuardAnswers {
    /// The numbers of the guards. A guard itself is expensive to hash.
    numbers: RefCell<Guards>,
    /// The answers by call, entered body and number of the guard.
    by_call: Table<(Caller, BodyRef, u32), Answer, Plain>,
}

impl Conditions<'_, '_> {
    /// Returns the answer of a call to a guard, from the cache or by `find`.
    pub(crate) fn cached_answer(
        &self,
        caller: Caller,
        body: BodyRef,
        guard: &Guard,
        find: impl FnMut() -> Answer,
    ) -> Answer {
        let number = self.answers.numbers.borrow_mut().id(guard);
        self.linker.query(&self.answers.by_call, (caller, body, number), || Answer::Unknown, find)
    }
}
