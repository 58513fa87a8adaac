//! Sinks that are fed where the chain is subscribed to: `Mono.create(sink -> sink.success(load()))`.

use blocklint_facts::{BodyId, Form, SiteId};

use crate::lang::java::words as idioms;
use crate::linker::Linker;
use crate::program::ids::{FileId, SiteRef};
use crate::program::occurrences::Mention;
use crate::values::value::EnvId;

/// Literals in one another that a sink is followed into.
const NESTED: u32 = 4;

impl Linker<'_> {
    /// True if the lambda of a source completes the sink itself, and not from a callback: then all items come on the thread of the
    /// subscriber.
    pub(crate) fn ends_sink_itself(&self, source: SiteRef) -> bool {
        let facts = self.program.facts(source.file);
        let [only, ..] = self.program.args_of(source)[..] else { return false };
        let Form::Callable(body) = facts.form(only.value) else { return false };
        let [sink] = facts.params_of(body) else { return false };
        (0..facts.sites.len()).map(|at| SiteId(at as u32)).any(|site| {
            let row = facts.site(site);
            (facts.body_of(row.at) == body || self.runs_within(source.file, facts.body_of(row.at), body, NESTED))
                && idioms::completes_sink(facts.text(row.name))
                && self
                    .receiver_form(source.file.site_ref(site))
                    .is_some_and(|of| facts.form(of) == Form::Var(sink.var))
        })
    }

    /// True if a literal in a body runs during the call that it is passed to: `transaction(configuration -> …)`.
    fn runs_within(&self, file: FileId, inner: BodyId, outer: BodyId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let facts = self.program.facts(file);
        let uses = self.program.index_of(file).uses_of_callable(inner);
        let mut uses = uses.iter().peekable();
        uses.peek().is_some()
            && uses.all(|(mention, _)| {
                let Mention::Arg(site, arg) = mention else { return false };
                let around = facts.body_of(facts.site(site).at);
                let passing = self.passing(file.site_ref(site), arg, EnvId::NONE);
                passing.called
                    && passing.handed.is_empty()
                    && !passing.on_chain
                    && (around == outer || self.runs_within(file, around, outer, depth))
            })
    }
}
