//! Functions that only build and return a publisher: their own code runs on the thread that builds the chain (`Mono<User> find(id)`).

use blocklint_core::{Context, Language, Runtime};
use blocklint_facts::{BodyKind, Flow};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::reactive::BodyUse;
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::Role;

/// True if a function's declared result is a publisher, and at least one of its callers must not block.
pub(crate) fn assembles(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    let row = linker.program.body(body);
    if facts.language == Language::Rust {
        return row.kind == BodyKind::Function && linker.returns_future(body) && !runs_only_aside(linker, body, DEPTH);
    }
    if facts.language != Language::Java || row.kind != BodyKind::Function || row.flow != Flow::Sync {
        return false;
    }
    linker.declared_role(body) == Some(Role::Publisher) && !runs_only_aside(linker, body, DEPTH)
}

/// Returns the call that makes a chain of the result of this call: `just(f())`.
pub fn chain_factory_of(linker: &Linker<'_>, site: SiteRef) -> Option<SiteRef> {
    let facts = linker.program.facts(site.file);
    let uses = linker.program.uses_of_result(site);
    let given = uses.iter().find_map(|(mention, _)| match mention {
        Mention::Arg(taker, _) => Some(site.file.site_ref(taker)),
        _ => None,
    })?;
    if facts.body_of(linker.program.site(given).at) != facts.body_of(linker.program.site(site).at)
        || linker.is_publisher(linker.result(site, EnvId::NONE).value)
    {
        return None;
    }
    linker.makes_chain(given).then_some(given)
}

/// Callers of callers that are asked.
const DEPTH: u32 = 6;

/// True if every known call stands in a test, or in code that runs where it may block.
fn runs_only_aside(linker: &Linker<'_>, body: BodyRef, depth: u32) -> bool {
    let mut asked = CallerQuery { seen: Vec::new(), any: false };
    asked.only_aside(linker, body, depth) && asked.any
}

/// A question that goes from callers to their callers.
struct CallerQuery {
    /// Those that are asked already: calls in a circle count for nothing.
    seen: Vec<BodyRef>,
    /// True if any call stands where it may block.
    any: bool,
}

impl CallerQuery {
    fn only_aside(&mut self, linker: &Linker<'_>, body: BodyRef, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        self.seen.push(body);
        let uses = linker.uses_of_body(body);
        !uses.is_empty()
            && !linker.program.is_test(body.file)
            && uses.iter().all(|of| {
                let is_aside = linker.program.is_test(of.file())
                    || match *of {
                        BodyUse::Call(site) => {
                            let caller = linker.program.body_of_site(site);
                            stands_in_worker(linker, caller)
                                || linker.program.language(site.file) == Language::Java
                                    && caller != body
                                    && (waits_for(linker, caller, site) || linker.is_marked_blocking(caller))
                        }
                        BodyUse::Passed(site, arg) => is_worker_argument(linker, site, arg),
                    };
                self.any |= is_aside;
                is_aside
                    || matches!(*of, BodyUse::Call(site) if self.is_called_aside(linker, linker.program.body_of_site(site), depth))
            })
    }

    /// True if a method without registration runs where it may block because all its own callers do (Java).
    fn is_called_aside(&mut self, linker: &Linker<'_>, caller: BodyRef, depth: u32) -> bool {
        let facts = linker.program.facts(caller.file);
        facts.language == Language::Java
            && linker.program.body(caller).kind == BodyKind::Function
            && (self.seen.contains(&caller)
                || linker.registered(caller).is_none() && self.only_aside(linker, caller, depth))
    }
}

/// True if a method without registration waits itself for the chain that a call in it returns: `find(id).block()`
/// (Java).
fn waits_for(linker: &Linker<'_>, caller: BodyRef, site: SiteRef) -> bool {
    linker.program.body(caller).kind == BodyKind::Function
        && linker.registered(caller).is_none()
        && linker.is_waited_for_in_body(site)
}

/// True if a lambda is handed to a worker, or stands where a chain was moved to one.
fn stands_in_worker(linker: &Linker<'_>, body: BodyRef) -> bool {
    if linker.program.body(body).kind != BodyKind::Lambda {
        return false;
    }
    let mentions = linker.program.uses_of_callable(body);
    !mentions.is_empty()
        && mentions.iter().all(|(mention, _)| match mention {
            Mention::Arg(site, arg) => is_worker_argument(linker, body.file.site_ref(site), arg),
            _ => false,
        })
}

fn is_worker_argument(linker: &Linker<'_>, site: SiteRef, arg: u32) -> bool {
    let passing = linker.argument_use(site, arg, EnvId::NONE);
    if passing.on_chain {
        return linker.is_moved_away(site);
    }
    !passing.handed.is_empty() && passing.handed.iter().all(|(context, _)| *context == Context::Worker)
}

/// Returns the machinery of assembled publishers, as their library's rows state for its operators.
pub(crate) fn runtime_of_publisher(linker: &Linker<'_>, body: BodyRef) -> Option<Runtime> {
    let declared = linker.annotation(linker.signature_scope(body), linker.program.body(body).returns);
    linker.values.members(declared.value).into_iter().find_map(|val| match val {
        Val::Library { ty, .. } => {
            let map = linker.library.member(ty, "map");
            linker.library.handovers(map).iter().find_map(|row| row.runtime)
        }
        _ => None,
    })
}
