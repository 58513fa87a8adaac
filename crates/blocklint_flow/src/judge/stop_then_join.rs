//! Signal `told-to-end`: waits for a thread that was asked to stop just before, as in `self._stop.set()`, then
//! `self._thread.join()`.

use blocklint_facts::{FileFacts, Form, SiteFlags, SiteId};
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::SiteRef;

/// True if code before a site, in the same body, asks other threads to end: a call (`event.set()`, `server.shutdown()`,
/// `queue.put(None)`), a flag (`self._running = False`), or a wait for an event that the threads set at their end.
pub(crate) fn was_asked_to_end(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let site_at = linker.program.site(site).at;
    let body = facts.body_of(site_at);
    let is_method = |&call: &SiteId| matches!(facts.form(facts.site(call).callee), Form::Attr(..));
    linker.calls_before(site, lang::words::STOP_METHODS).any(|call| is_method(&call))
        || linker.calls_before(site, lang::words::WAIT_METHODS).any(|call| awaits_event_set_here(facts, call))
        || linker
            .calls_before(site, lang::words::SENTINEL_METHODS)
            .filter(is_method)
            .any(|call| passes_none_alone(facts, call))
        || facts.assigns.iter().any(|assignment| {
            matches!(facts.form(assignment.target), Form::Attr(..))
                && matches!(facts.form(assignment.value), Form::Bool(_))
                && facts.body_of(assignment.at) == body
                && assignment.at.position < site_at.position
        })
}

/// True if `None` is the only argument of a call.
fn passes_none_alone(facts: &FileFacts, call: SiteId) -> bool {
    let args = facts.args_of(call);
    let mut args = args.iter();
    args.next().is_some_and(|arg| facts.form(arg.value) == Form::None) && args.next().is_none()
}

/// True if a site awaits an event that the same file sets: `await finished.wait()`, and `finished.set` elsewhere in the
/// file.
fn awaits_event_set_here(facts: &FileFacts, wait: SiteId) -> bool {
    let site_facts = facts.site(wait);
    let Form::Attr(event, _) = facts.form(site_facts.callee) else { return false };
    let event = facts.form(event);
    site_facts.flags.has(SiteFlags::AWAITED)
        && facts.forms.iter().any(|form| match form {
            Form::Attr(base, name) => {
                facts.form(base) == event && lang::words::STOP_METHODS.contains(&facts.text(name))
            }
            _ => false,
        })
}
