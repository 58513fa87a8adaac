//! Sinks of `Mono.create(sink -> sink.success(load()))` that the lambda completes on the subscriber's thread (Java).

use blocklint_facts::{BodyId, Form, SiteId};

use crate::lang::java::words as idioms;
use crate::linker::Linker;
use crate::program::ids::{FileId, SiteRef};
use crate::program::occurrences::Mention;
use crate::values::value::EnvId;

/// The maximal nesting of lambdas into which a sink is followed.
const MAX_NESTED_LAMBDAS: u32 = 4;

impl Linker<'_> {
    /// True if the lambda of a source completes the sink directly and not in a callback. Then all items arrive on the
    /// subscriber's thread.
    pub(crate) fn completes_sink_directly(&self, source: SiteRef) -> bool {
        let facts = self.program.facts(source.file);
        let [only, ..] = self.program.args_of(source)[..] else { return false };
        let Form::Callable(body) = facts.form(only.value) else { return false };
        let [sink] = facts.params_of(body) else { return false };
        (0..facts.sites.len()).map(|index| SiteId(index as u32)).any(|site| {
            let site_facts = facts.site(site);
            (facts.body_of(site_facts.at) == body
                || self.runs_within(source.file, facts.body_of(site_facts.at), body, MAX_NESTED_LAMBDAS))
                && idioms::completes_sink(facts.text(site_facts.name))
                && self
                    .receiver_form(source.file.site_ref(site))
                    .is_some_and(|receiver| facts.form(receiver) == Form::Var(sink.var))
        })
    }

    /// True if each use of a nested lambda runs it during a call in the outer body: `transaction(configuration -> …)`.
    fn runs_within(&self, file: FileId, inner: BodyId, outer: BodyId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let facts = self.program.facts(file);
        let uses = self.program.index_of(file).uses_of_callable(inner);
        let mut uses = uses.iter().peekable();
        uses.peek().is_some()
            && uses.all(|(mention, _)| {
                let Mention::Arg(site, arg) = mention else { return false };
                let around = facts.body_of(facts.site(site).at);
                let argument_use = self.argument_use(file.site_ref(site), arg, EnvId::NONE);
                argument_use.called
                    && argument_use.handed.is_empty()
                    && !argument_use.on_chain
                    && (around == outer || self.runs_within(file, around, outer, depth))
            })
    }
}
