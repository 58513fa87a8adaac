//! Functions that build and return a publisher or a future (`Mono<User> find(id)`). Their own code runs on the thread
//! that builds the chain.

use blocklint_core::{Context, Language, Runtime};
use blocklint_facts::{BodyKind, Flow};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, SiteRef};
use blocklint_link::program::occurrences::Mention;
use blocklint_link::reactive::BodyUse;
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::Role;

/// True if a function declares a publisher (Java) or a future (Rust) as its result, and not all its callers run where
/// they may block.
pub(crate) fn is_publisher_factory(linker: &Linker<'_>, body: BodyRef) -> bool {
    let facts = linker.program.facts(body.file);
    let body_facts = linker.program.body(body);
    if facts.language == Language::Rust {
        return body_facts.kind == BodyKind::Function
            && linker.returns_future(body)
            && !runs_only_where_blocking_is_allowed(linker, body, DEPTH);
    }
    if facts.language != Language::Java || body_facts.kind != BodyKind::Function || body_facts.flow != Flow::Sync {
        return false;
    }
    linker.declared_role(body) == Some(Role::Publisher) && !runs_only_where_blocking_is_allowed(linker, body, DEPTH)
}

/// Returns the call that makes a chain of the result of a call: `Mono.just(…)` for `f()` in `Mono.just(f())`.
pub fn chain_factory_of(linker: &Linker<'_>, site: SiteRef) -> Option<SiteRef> {
    let facts = linker.program.facts(site.file);
    let uses = linker.program.uses_of_result(site);
    let taker = uses.iter().find_map(|(mention, _)| match mention {
        Mention::Arg(taker, _) => Some(site.file.site_ref(taker)),
        _ => None,
    })?;
    if facts.body_of(linker.program.site(taker).at) != facts.body_of(linker.program.site(site).at)
        || linker.is_publisher(linker.result(site, EnvId::NONE).value)
    {
        return None;
    }
    linker.makes_chain(taker).then_some(taker)
}

/// The most calls up to the callers that are checked.
const DEPTH: u32 = 6;

/// True if a function has known calls, and all of them are in tests or in code that may block.
fn runs_only_where_blocking_is_allowed(linker: &Linker<'_>, body: BodyRef, depth: u32) -> bool {
    let mut query = CallerQuery { visited: Vec::new(), has_blocking_call: false };
    query.may_all_block(linker, body, depth) && query.has_blocking_call
}

/// A search for callers that must not block, from callers to their callers.
struct CallerQuery {
    /// The bodies whose callers have been checked. A recursive call counts as one that may block.
    visited: Vec<BodyRef>,
    /// True if some call is in a test or in code that may block.
    has_blocking_call: bool,
}

impl CallerQuery {
    /// True if all uses of a body are in tests or in code that may block.
    fn may_all_block(&mut self, linker: &Linker<'_>, body: BodyRef, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        self.visited.push(body);
        let uses = linker.uses_of_body(body);
        !uses.is_empty()
            && !linker.program.is_test(body.file)
            && uses.iter().all(|body_use| {
                let may_block = linker.program.is_test(body_use.file())
                    || match *body_use {
                        BodyUse::Call(site) => {
                            let caller = linker.program.body_of_site(site);
                            is_worker_lambda(linker, caller)
                                || linker.program.language(site.file) == Language::Java
                                    && caller != body
                                    && (waits_for_result(linker, caller, site) || linker.has_blocking_annotation(caller))
                        }
                        BodyUse::Passed(site, arg) => is_worker_argument(linker, site, arg),
                    };
                self.has_blocking_call |= may_block;
                may_block
                    || matches!(*body_use, BodyUse::Call(site) if self.has_callers_that_may_block(linker, linker.program.body_of_site(site), depth))
            })
    }

    /// True if a method without registration may block, because all its own callers may (Java).
    fn has_callers_that_may_block(&mut self, linker: &Linker<'_>, caller: BodyRef, depth: u32) -> bool {
        let facts = linker.program.facts(caller.file);
        facts.language == Language::Java
            && linker.program.body(caller).kind == BodyKind::Function
            && (self.visited.contains(&caller)
                || linker.registered(caller).is_none() && self.may_all_block(linker, caller, depth))
    }
}

/// True if a method without registration waits for the chain that a call in it returns: `find(id).block()` (Java).
fn waits_for_result(linker: &Linker<'_>, caller: BodyRef, site: SiteRef) -> bool {
    linker.program.body(caller).kind == BodyKind::Function
        && linker.registered(caller).is_none()
        && linker.is_waited_for_in_body(site)
}

/// True if all calls that take a lambda run it on a worker, also an operator behind `subscribeOn(elastic)`.
fn is_worker_lambda(linker: &Linker<'_>, body: BodyRef) -> bool {
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

/// True if a call runs its argument only on a worker.
fn is_worker_argument(linker: &Linker<'_>, site: SiteRef, arg: u32) -> bool {
    let passing = linker.argument_use(site, arg, EnvId::NONE);
    if passing.on_chain {
        return linker.is_moved_away(site);
    }
    !passing.handed.is_empty() && passing.handed.iter().all(|(context, _)| *context == Context::Worker)
}

/// Returns the runtime of the publisher that a function declares as its result, from the library's row for the operator
/// `map`.
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
