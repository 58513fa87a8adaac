//! Answers requests about one file (code actions, hover, code lenses, call hierarchy) from a [`View`].

use lsp_server::Request;
use serde_json::Value;

use crate::analysis::FilePath;
use crate::protocol::{
    CallHierarchyIncomingCallsParams, CallHierarchyOutgoingCallsParams, CallHierarchyPrepareParams, CodeAction,
    CodeActionParams, CodeLensParams, HoverParams, RequestError, Uri, code, parse_params, to_value,
};
use crate::view::View;
use crate::{actions, hierarchy, hover, lenses};

/// Returns the URI of the file that a request is about.
pub(crate) fn request_uri(request: &Request) -> Option<Uri> {
    let string_at = |pointer: &str| request.params.pointer(pointer).and_then(Value::as_str);
    let uri = string_at("/textDocument/uri").or_else(|| string_at("/item/uri")).or_else(|| string_at("/data/uri"))?;
    Some(Uri(uri.to_owned()))
}

/// True if a request is about one file and [`answer`] handles it.
pub(crate) fn is_file_request(method: &str) -> bool {
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
pub(crate) fn answer(view: &View, path: &FilePath, request: Request) -> Result<Value, RequestError> {
    match request.method.as_str() {
        "textDocument/codeAction" => {
            let request_params: CodeActionParams = parse_params(request.params)?;
            to_value(actions::code_actions(view, path, request_params.range, request_params.context.only.as_deref()))
        }
        "codeAction/resolve" => {
            let action: CodeAction = parse_params(request.params)?;
            to_value(actions::resolve(view, action)?)
        }
        "textDocument/hover" => {
            let request_params: HoverParams = parse_params(request.params)?;
            let offset = view.offset(path, request_params.text_document_position_params.position);
            to_value(offset.and_then(|offset| hover::hover_at(view, path, offset)))
        }
        "textDocument/codeLens" => {
            let _: CodeLensParams = parse_params(request.params)?;
            to_value(if view.settings.code_lens { lenses::code_lenses(view, path) } else { Vec::new() })
        }
        "textDocument/prepareCallHierarchy" => {
            let request_params: CallHierarchyPrepareParams = parse_params(request.params)?;
            let offset = view.offset(path, request_params.text_document_position_params.position);
            let item = offset.and_then(|offset| hierarchy::prepare(view, path, offset));
            to_value(item.map(|item| vec![item]))
        }
        "callHierarchy/incomingCalls" => {
            let request_params: CallHierarchyIncomingCallsParams = parse_params(request.params)?;
            to_value(hierarchy::incoming_calls(view, &request_params.item))
        }
        "callHierarchy/outgoingCalls" => {
            let request_params: CallHierarchyOutgoingCallsParams = parse_params(request.params)?;
            to_value(hierarchy::outgoing_calls(view, &request_params.item))
        }
        method => Err(RequestError::new(code::METHOD_NOT_FOUND, format!("no such request: {method}"))),
    }
}
