//! Sinks that are fed where the chain is subscribed to: `Mono.create(sink -> sink.success(load()))`.

use blocklint_facts::{Form, SiteId};

use crate::idioms::java as idioms;
use crate::link::Link;
use crate::program::ids::SiteRef;

impl Link<'_> {
    /// Whether the literal that a source gives its sink to ends it itself, not in what it hands over: all that is emitted comes on
    /// the thread of the subscriber.
    pub(super) fn ends_sink_itself(&self, source: SiteRef) -> bool {
        let facts = self.program.facts(source.file);
        let [only, ..] = facts.args_of(source.site)[..] else { return false };
        let Form::Callable(body) = facts.form(only.value) else { return false };
        let [sink] = facts.params_of(body) else { return false };
        (0..facts.sites.len()).map(|at| SiteId(at as u32)).any(|site| {
            let row = facts.site(site);
            facts.body_of(row.at) == body
                && idioms::ends_sink(facts.text(row.name))
                && self
                    .receiver_form(SiteRef { site, ..source })
                    .is_some_and(|of| facts.form(of) == Form::Var(sink.var))
        })
    }
}
