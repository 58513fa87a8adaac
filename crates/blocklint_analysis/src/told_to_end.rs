//! Waits for the end of a thread that was told to end just before: `self._stop.set()`, then `self._thread.join()`.

use blocklint_facts::{Form, SiteFlags, SiteKind};

use crate::ids::SiteRef;
use crate::link::Link;
use crate::names;

impl Link<'_> {
    /// Whether something before a site, in the same body, tells others to end: a call (`event.set()`, `server.shutdown()`,
    /// `queue.put(None)`), or a flag that is set (`self._running = False`); or waits until they say that they have.
    pub(crate) fn is_told_to_end(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let here = facts.site(site.site).at;
        let body = facts.body_of(here);
        let index = self.program.index_of(site.file);
        let called_before = |names: &[&str], none_given: bool| {
            let syms = names.iter().filter_map(|text| self.program.local(site.file, self.program.name(text)?));
            syms.flat_map(|sym| index.sites_named(sym)).any(|&told| {
                let row = facts.site(told);
                row.kind == SiteKind::Call
                    && row.at.position < here.position
                    && facts.body_of(row.at) == body
                    && matches!(facts.form(row.callee), Form::Attr(..))
                    && (!none_given || {
                        let given = facts.args_of(told);
                        let mut given = given.iter();
                        given.next().is_some_and(|arg| facts.form(arg.value) == Form::None) && given.next().is_none()
                    })
            })
        };
        // `await finished.wait()`, where somebody has `finished.set`.
        let awaited_before = || {
            let syms = names::WAITS.iter().filter_map(|text| self.program.local(site.file, self.program.name(text)?));
            syms.flat_map(|sym| index.sites_named(sym)).any(|&waited| {
                let row = facts.site(waited);
                let Form::Attr(event, _) = facts.form(row.callee) else { return false };
                row.flags.has(SiteFlags::AWAITED)
                    && row.at.position < here.position
                    && facts.body_of(row.at) == body
                    && facts.forms.iter().any(|form| match form {
                        Form::Attr(base, name) => {
                            facts.form(base) == facts.form(event) && names::TELLS_TO_END.contains(&facts.text(name))
                        }
                        _ => false,
                    })
            })
        };
        called_before(names::TELLS_TO_END, false)
            || awaited_before()
            || called_before(names::GIVES_SENTINEL, true)
            || facts.assigns.iter().any(|row| {
                matches!(facts.form(row.target), Form::Attr(..))
                    && matches!(facts.form(row.value), Form::Bool(_))
                    && facts.body_of(row.at) == body
                    && row.at.position < here.position
            })
    }
}
