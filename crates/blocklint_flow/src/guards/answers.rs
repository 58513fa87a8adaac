//! What calls say of conditions, remembered: one call enters a body once for each of its labels.

use std::cell::RefCell;

use blocklint_link::effect::guard::{Guard, Guards};
use blocklint_link::program::ids::{BodyRef, SiteRef};
use rustc_hash::FxHashMap;

use crate::callers::Caller;
use crate::guards::Conditions;
use crate::guards::decide::Answer;

/// What calls say, as far as they were asked: one call enters a body once for each of its labels.
#[derive(Default)]
pub(crate) struct Told {
    guards: Guards,
    answers: FxHashMap<(Caller, BodyRef, u32), Answer>,
}

/// Whether a call rules out that a site of what it calls is reached.
pub(crate) type Outs = FxHashMap<(Caller, BodyRef, SiteRef), bool>;

/// Whether sites stand under conditions at all.
pub(crate) type Conditional = RefCell<FxHashMap<SiteRef, bool>>;

impl Conditions<'_, '_> {
    /// What a call says to a guard, found once.
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
