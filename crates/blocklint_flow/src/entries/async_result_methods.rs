//! Java: methods that return at once and deliver their result later, through a future or a handler whose callbacks run
//! on an event loop. Their callers run on such a loop too. If the project has no caller, as in a client library, only
//! the signature shows it.

use blocklint_core::{Context, Language, Runtime, last_name};
use blocklint_facts::{BodyKind, Flow, FormId};
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, PathId};
use blocklint_link::values::value::Val;
use blocklint_models::{HandoverContext, Role, Runs, Via};

/// Returns the runtime whose loops call a method that answers later, if nothing but tests is seen to call it.
pub(crate) fn answers_later(linker: &Linker<'_>, body: BodyRef) -> Option<Option<Runtime>> {
    let facts = linker.program.facts(body.file);
    let row = linker.program.body(body);
    if facts.language != Language::Java
        || row.kind != BodyKind::Function
        || row.flow != Flow::Sync
        || row.class.get().is_none()
        || linker.program.is_test(body.file)
    {
        return None;
    }
    let runtime = by_result(linker, body).or_else(|| by_handler(linker, body))?;
    let is_called = linker.uses_of_body(body).iter().any(|of| !linker.program.is_test(of.file()));
    (!is_called).then_some(runtime)
}

/// Returns the runtime of a method whose declared result is a future of such a library.
fn by_result(linker: &Linker<'_>, body: BodyRef) -> Option<Option<Runtime>> {
    let returns = linker.program.body(body).returns;
    if returns.is_none() {
        return None;
    }
    let declared = linker.annotation(linker.signature_scope(body), returns);
    linker.values.members(declared.value).into_iter().find_map(|val| match val {
        Val::Library { ty, .. } if linker.library.role(ty) == Some(Role::Future) => {
            on_loop(linker, linker.library.member(ty, lang::java::names::FUTURE_OPERATOR), |_| true)
        }
        _ => None,
    })
}

/// Returns the runtime of a method with a parameter that takes the result and whose method such a library calls on its
/// loops. Most often it is the last; what is generated from a description of an interface has the context behind it.
fn by_handler(linker: &Linker<'_>, body: BodyRef) -> Option<Option<Runtime>> {
    let annotations = linker.program.params_of(body).iter().rev().map(|param| param.annotation);
    annotations.filter(|annotation| !annotation.is_none()).find_map(|annotation| takes_result(linker, body, annotation))
}

fn takes_result(linker: &Linker<'_>, body: BodyRef, annotation: FormId) -> Option<Option<Runtime>> {
    let declared = linker.annotation(linker.signature_scope(body), annotation);
    linker.values.members(declared.value).into_iter().find_map(|val| {
        let Val::Library { ty, args, .. } = val else { return None };
        let given = linker.values.nth(args, 0)?;
        let takes_result = linker.values.members(given).into_iter().any(
            |of| matches!(of, Val::Library { ty, .. } if lang::java::names::is_result_of_future(last_name(&linker.library.text(ty)))),
        );
        if !takes_result {
            return None;
        }
        let method = linker.library.ty(ty)?.functional()?.to_owned();
        on_loop(linker, linker.library.member(ty, &method), |via| via == Some(Via::Override))
    })
}

/// Returns the runtime of the first row of a path that states that something runs on an event loop.
fn on_loop(linker: &Linker<'_>, path: PathId, wanted: impl Fn(Option<Via>) -> bool) -> Option<Option<Runtime>> {
    linker.library.handovers(path).iter().find_map(|found| {
        let row = found.row;
        let via = match row.selector {
            blocklint_models::Selector::Via(via) => Some(via),
            blocklint_models::Selector::Argument(_) => None,
        };
        (wanted(via) && row.context == HandoverContext::Is(Runs::In(Context::EventLoop))).then_some(row.runtime)
    })
}
