//! Java: methods that are there to show how a thread is held, as their own names and those beside them say.

use blocklint_core::Effect;
use blocklint_facts::BodyKind;

use crate::graph::Way;
use crate::idioms::java as idioms;
use crate::judge::java_slight::function_around;
use crate::link::Link;
use crate::program::ids::{BodyRef, SiteRef};
use crate::program::index::Mention;

impl Link<'_> {
    /// Whether a way begins in a method that shows something: one that sleeps and is named for it, one beside others of which it is
    /// the wrong one by its name, or one that says it blocks beside another that says it does not.
    pub(crate) fn is_shown_on_purpose(&self, root: BodyRef, ways: &[Way], effect: Effect) -> bool {
        let facts = self.program.facts(root.file);
        let Some(at) = function_around(facts, root.body) else { return false };
        let row = facts.body(at);
        let Some(class) = row.class.get().filter(|_| row.kind == BodyKind::Function) else { return false };
        let name = facts.text(row.name);
        let beside = |wanted: &dyn Fn(&str) -> bool| {
            facts.bodies.iter().enumerate().any(|(of, other)| {
                of != at.index()
                    && other.class.get() == Some(class)
                    && other.kind == BodyKind::Function
                    && wanted(facts.text(other.name))
            })
        };
        match () {
            () if idioms::says_it_sleeps(name) => effect == Effect::Sleep && ways.len() == 1,
            () if idioms::says_it_is_wrong(name) => beside(&|other| last_word(other) == last_word(name)),
            () if idioms::says_it_blocks(name) => beside(&idioms::says_it_does_not),
            () => false,
        }
    }

    /// Whether a file is read by what a timer of the chain itself does now and then: a job of the program's own, for which nobody waits.
    pub(crate) fn is_little_of_timer(&self, root: BodyRef, effect: Effect) -> bool {
        effect == Effect::File
            && self.program.facts(root.file).body(root.body).kind == BodyKind::Lambda
            && self.program.index_of(root.file).uses_of_callable(root.body).iter().any(|(mention, _)| {
                let Mention::Arg(taker, _) = mention else { return false };
                let taker = SiteRef { file: root.file, site: taker };
                self.source_of_chain(taker) == Some(idioms::INTERVAL)
            })
    }
}

/// The last word of a name: `Search` of `blockingSearch`.
fn last_word(name: &str) -> &str {
    name.rfind(char::is_uppercase).map_or(name, |at| &name[at..])
}
