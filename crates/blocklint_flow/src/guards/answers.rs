//! Cache of the answers whether a call's arguments meet a guard. One call is asked once for each label of the body that it enters.

use blocklint_link::effect::guard::{Guard, Guards};
use blocklint_link::program::ids::BodyRef;
use rustc_hash::FxHashMap;

use crate::callers::Caller;
use crate::guards::Conditions;
use crate::guards::decide::Answer;

/// Answers of calls, as far as they were asked.
#[derive(Default)]
pub(crate) struct GuardAnswers {
    guards: Guards,
    answers: FxHashMap<(Caller, BodyRef, u32), Answer>,
}

impl Conditions<'_, '_> {
    /// Returns the answer of a call to a guard, found once.
    pub(crate) fn cached_answer(
        &self,
        caller: Caller,
        body: BodyRef,
        guard: &Guard,
        find: impl FnOnce() -> Answer,
    ) -> Answer {
        let key = {
            let told = &mut *self.told.borrow_mut();
            let key = (caller, body, told.guards.id(guard));
            if let Some(known) = told.answers.get(&key) {
                return known.clone();
            }
            key
        };
        let answer = find();
        self.told.borrow_mut().answers.insert(key, answer.clone());
        answer
    }
}
