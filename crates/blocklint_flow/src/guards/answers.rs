//! Cache of the answers whether a call's arguments meet a guard. One call is asked once for each label of the body that it enters.

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
    /// Numbers of the guards that were asked about: a guard itself is dear to hash.
    numbers: RefCell<Guards>,
    /// The answers by call, entered body and number of the guard.
    known: Table<(Caller, BodyRef, u32), Answer, Plain>,
}

impl Conditions<'_, '_> {
    /// Returns the answer of a call to a guard, found once.
    pub(crate) fn cached_answer(
        &self,
        caller: Caller,
        body: BodyRef,
        guard: &Guard,
        find: impl FnMut() -> Answer,
    ) -> Answer {
        let number = self.answers.numbers.borrow_mut().id(guard);
        self.linker.query(&self.answers.known, (caller, body, number), || Answer::Unseen, find)
    }
}
