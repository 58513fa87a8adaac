//! States of an object that a parameter decides: `with urlopen(url) as response: response.read()`.

use blocklint_models::{Argument, Condition, Subject, Test};

use crate::labels::label::{Guard, Question, Source};
use crate::link::Link;
use crate::link::rows::Shown;
use crate::link::value::{BoundId, EnvId, Val};
use crate::program::ids::SiteRef;

impl Link<'_> {
    /// The parameter that decides whether a condition `state = …` on a receiver is met, where the call that made the receiver
    /// stands in the same body and a parameter of that body decides what it makes.
    pub(crate) fn state_by_param(&self, site: SiteRef, condition: &Condition, receiver: BoundId) -> Option<Guard> {
        let (Subject::Argument(Argument::Receiver), [Test::State(state)]) = (&condition.subject, &condition.tests[..])
        else {
            return None;
        };
        let Val::Library { made: Some(made), .. } = self.values.single(receiver) else { return None };
        if self.program.body_of_site(made) != self.program.body_of_site(site) {
            return None;
        }
        self.values.members(self.callee(made, EnvId::NONE).value).iter().find_map(|val| {
            let (Val::External(path) | Val::Method { path, .. }) = *val else { return None };
            let rows = self.rows_at(path, made);
            rows.with(|row| row.state.is_some()).find_map(|row| match &row.when[..] {
                [when] if row.state.as_deref() == Some(state) && row.unless.is_empty() => {
                    match self.shown(when, made, BoundId::NONE, EnvId::NONE) {
                        Shown::Param(index) => {
                            Some(Guard::new(index, Source::Exempt, Question::Condition(when.clone()), false))
                        }
                        _ => None,
                    }
                }
                _ => None,
            })
        })
    }
}
