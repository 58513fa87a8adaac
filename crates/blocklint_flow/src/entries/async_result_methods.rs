//! Asynchronous methods (Java): they return at once and deliver their result later, through a future or a handler whose
//! callbacks run on an event loop. Their callers run on the event loop, too. If the project has no caller, as in a
//! client library, only the signature shows that.

use blocklint_core::{Context, Language, Runtime, last_name};
use blocklint_facts::{BodyKind, Flow, FormId};
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, PathId};
use blocklint_link::values::value::Val;
use blocklint_models::{HandoverContext, Role, Runs, Selector, Via};

/// Returns the runtime whose event loops call an asynchronous method, if only tests call it in the project. `None` for
/// any other method.
pub(crate) fn runtime_of_async_result(linker: &Linker<'_>, body: BodyRef) -> Option<Option<Runtime>> {
    let facts = linker.program.facts(body.file);
    let body_facts = linker.program.body(body);
    if facts.language != Language::Java
        || body_facts.kind != BodyKind::Function
        || body_facts.flow != Flow::Sync
        || body_facts.class.get().is_none()
        || linker.program.is_test(body.file)
    {
        return None;
    }
    let runtime = runtime_by_result(linker, body).or_else(|| runtime_by_handler(linker, body))?;
    let is_called = linker.uses_of_body(body).iter().any(|body_use| !linker.program.is_test(body_use.file()));
    (!is_called).then_some(runtime)
}

/// Returns the runtime of a method whose declared result is a future with callbacks on an event loop.
fn runtime_by_result(linker: &Linker<'_>, body: BodyRef) -> Option<Option<Runtime>> {
    let returns = linker.program.body(body).returns;
    if returns.is_none() {
        return None;
    }
    let declared = linker.annotation(linker.signature_scope(body), returns);
    linker.values.members(declared.value).into_iter().find_map(|val| match val {
        Val::Library { ty, .. } if linker.library.role(ty) == Some(Role::Future) => {
            runtime_of_loop_row(linker, linker.library.member(ty, lang::java::names::FUTURE_OPERATOR), |_| true)
        }
        _ => None,
    })
}

/// Returns the runtime of a method with a handler parameter, to which a library passes the result on its event loops.
/// The last parameter is read first, because it mostly is the handler. In generated code a context follows the handler.
fn runtime_by_handler(linker: &Linker<'_>, body: BodyRef) -> Option<Option<Runtime>> {
    let annotations = linker.program.params_of(body).iter().rev().map(|param| param.annotation);
    annotations
        .filter(|annotation| !annotation.is_none())
        .find_map(|annotation| runtime_of_handler(linker, body, annotation))
}

/// Returns the runtime of a declared type that is a handler of results: `Handler<AsyncResult<User>>`.
fn runtime_of_handler(linker: &Linker<'_>, body: BodyRef, annotation: FormId) -> Option<Option<Runtime>> {
    let declared = linker.annotation(linker.signature_scope(body), annotation);
    linker.values.members(declared.value).into_iter().find_map(|val| {
        let Val::Library { ty, args, .. } = val else { return None };
        let argument = linker.values.nth(args, 0)?;
        let takes_result = linker.values.members(argument).into_iter().any(
            |val| matches!(val, Val::Library { ty, .. } if lang::java::names::is_result_of_future(last_name(&linker.library.text(ty)))),
        );
        if !takes_result {
            return None;
        }
        let method = linker.library.ty(ty)?.functional()?.to_owned();
        runtime_of_loop_row(linker, linker.library.member(ty, &method), |via| via == Some(Via::Override))
    })
}

/// Returns the runtime of the first handover row of a path that runs a callable on an event loop and whose selector
/// `wanted` accepts.
fn runtime_of_loop_row(
    linker: &Linker<'_>,
    path: PathId,
    wanted: impl Fn(Option<Via>) -> bool,
) -> Option<Option<Runtime>> {
    linker.library.handovers(path).iter().find_map(|matched| {
        let row = matched.row;
        let via = match row.selector {
            Selector::Via(via) => Some(via),
            Selector::Argument(_) => None,
        };
        (wanted(via) && row.context == HandoverContext::Is(Runs::In(Context::EventLoop))).then_some(row.runtime)
    })
}
