//! The answers to requests that are about one file, from one view.

use lsp_server::Request;
use serde_json::Value;

use crate::analysis::FilePath;
use crate::protocol::{
    CallHierarchyIncomingCallsParams, CallHierarchyOutgoingCallsParams, CallHierarchyPrepareParams, CodeAction,
    CodeActionParams, CodeLensParams, HoverParams, Refused, Uri, code, params, value,
};
use crate::view::View;
use crate::{actions, hierarchy, hover, lenses};

/// Returns the address of the file that a request is about.
pub(crate) fn subject(request: &Request) -> Option<Uri> {
    let at = |pointer: &str| request.params.pointer(pointer).and_then(Value::as_str);
    let uri = at("/textDocument/uri").or_else(|| at("/item/uri")).or_else(|| at("/data/uri"))?;
    Some(Uri(uri.to_owned()))
}

/// True if a request is about one file and answered here.
pub(crate) fn is_known(method: &str) -> bool {
    matches!(
        method,
        "textDocument/codeAction"
            | "codeAction/resolve"
            | "textDocument/hover"
            | "textDocument/codeLens"
            | "textDocument/prepareCallHierarchy"
            | "callHierarchy/incomingCalls"
            | "callHierarchy/outgoingCalls"
    )
}

/// Answers a request about a file.
pub(crate) fn answer(view: &View, path: &FilePath, request: Request) -> Result<Value, Refused> {
    match request.method.as_str() {
        "textDocument/codeAction" => {
            let asked: CodeActionParams = params(request.params)?;
            value(actions::of_range(view, path, asked.range, asked.context.only.as_deref()))
        }
        "codeAction/resolve" => {
            let action: CodeAction = params(request.params)?;
            value(actions::resolved(view, action)?)
        }
        "textDocument/hover" => {
            let asked: HoverParams = params(request.params)?;
            let offset = view.offset(path, asked.text_document_position_params.position);
            value(offset.and_then(|offset| hover::at(view, path, offset)))
        }
        "textDocument/codeLens" => {
            let _: CodeLensParams = params(request.params)?;
            value(if view.settings.code_lens { lenses::of_file(view, path) } else { Vec::new() })
        }
        "textDocument/prepareCallHierarchy" => {
            let asked: CallHierarchyPrepareParams = params(request.params)?;
            let offset = view.offset(path, asked.text_document_position_params.position);
            let item = offset.and_then(|offset| hierarchy::prepare(view, path, offset));
            value(item.map(|item| vec![item]))
        }
        "callHierarchy/incomingCalls" => {
            let asked: CallHierarchyIncomingCallsParams = params(request.params)?;
            value(hierarchy::incoming(view, &asked.item))
        }
        "callHierarchy/outgoingCalls" => {
            let asked: CallHierarchyOutgoingCallsParams = params(request.params)?;
            value(hierarchy::outgoing(view, &asked.item))
        }
        other => Err(Refused::new(code::METHOD_NOT_FOUND, format!("no such request: {other}"))),
    }
}
