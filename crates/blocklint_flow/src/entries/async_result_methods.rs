//! Java: methods that answer later, through a future whose callbacks run on an event loop or through a handler of a result: who
//! calls them goes on at once and is itself on such a loop. Where nobody in the project calls one, as in a client or an
//! implementation that is written for others, its signature is all that says so.

use blocklint_core::{Context, Language, Runtime, last_name};
use blocklint_facts::{BodyKind, Flow, FormId};
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, PathId};
use blocklint_link::values::value::Val;
use blocklint_models::{HandoverContext, Role, Runs, Via};

/// The runtime whose loops call a method that answers later, if nothing but tests is seen to call it.
pub(crate) fn answers_later(link: &Linker<'_>, body: BodyRef) -> Option<Option<Runtime>> {
    let facts = link.program.facts(body.file);
    let row = link.program.body(body);
    if facts.language != Language::Java
        || row.kind != BodyKind::Function
        || row.flow != Flow::Sync
        || row.class.get().is_none()
        || link.program.is_test(body.file)
    {
        return None;
    }
    let runtime = by_result(link, body).or_else(|| by_handler(link, body))?;
    let is_called = link.uses_of_body(body).iter().any(|of| !link.program.is_test(of.file()));
    (!is_called).then_some(runtime)
}

/// By a declared result that is a future of such a library.
fn by_result(link: &Linker<'_>, body: BodyRef) -> Option<Option<Runtime>> {
    let returns = link.program.body(body).returns;
    if returns.is_none() {
        return None;
    }
    let declared = link.annotation(link.signature_scope(body), returns);
    link.values.members(declared.value).into_iter().find_map(|val| match val {
        Val::Library { ty, .. } if link.library.role(ty) == Some(Role::Future) => {
            on_loop(link, link.library.member(ty, lang::java::names::CONTINUES), |_| true)
        }
        _ => None,
    })
}

/// By a parameter that takes a result, and whose method such a library calls on its loops. Most often it is the last; what is
/// generated from a description of an interface has the context behind it.
fn by_handler(link: &Linker<'_>, body: BodyRef) -> Option<Option<Runtime>> {
    let annotations = link.program.params_of(body).iter().rev().map(|param| param.annotation);
    annotations.filter(|annotation| !annotation.is_none()).find_map(|annotation| takes_result(link, body, annotation))
}

fn takes_result(link: &Linker<'_>, body: BodyRef, annotation: FormId) -> Option<Option<Runtime>> {
    let declared = link.annotation(link.signature_scope(body), annotation);
    link.values.members(declared.value).into_iter().find_map(|val| {
        let Val::Library { ty, args, .. } = val else { return None };
        let given = link.values.nth(args, 0)?;
        let takes_result = link.values.members(given).into_iter().any(
            |of| matches!(of, Val::Library { ty, .. } if lang::java::names::is_result_of_future(last_name(&link.library.text(ty)))),
        );
        if !takes_result {
            return None;
        }
        let method = link.library.ty(ty)?.functional()?.to_owned();
        on_loop(link, link.library.member(ty, &method), |via| via == Some(Via::Override))
    })
}

/// The runtime of the first row of a path that says that something runs on an event loop.
fn on_loop(link: &Linker<'_>, path: PathId, wanted: impl Fn(Option<Via>) -> bool) -> Option<Option<Runtime>> {
    link.library.handovers(path).iter().find_map(|found| {
        let row = found.row;
        let via = match row.selector {
            blocklint_models::Selector::Via(via) => Some(via),
            blocklint_models::Selector::Argument(_) => None,
        };
        (wanted(via) && row.context == HandoverContext::Is(Runs::In(Context::EventLoop))).then_some(row.runtime)
    })
}
