//! The types of the protocol, re-exported in one place because they change between versions of their crate; conversions
//! of parameters, results and edits.

#[cfg(test)]
pub(crate) use gen_lsp_types::ServerCapabilities;
pub(crate) use gen_lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyIncomingCallsParams, CallHierarchyItem, CallHierarchyOutgoingCall,
    CallHierarchyOutgoingCallsParams, CallHierarchyPrepareParams, Code, CodeAction, CodeActionKind, CodeActionParams,
    CodeLens, CodeLensParams, Command, Contents, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity,
    DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams, DocumentDiagnosticParams,
    ExecuteCommandParams, FileChangeType, Hover, HoverParams, Location, MarkupContent, MarkupKind,
    Message as MessageText, Position, PublishDiagnosticsParams, Range, SymbolKind, TextDocumentContentChangeEvent,
    TextEdit, Uri, WorkspaceDiagnosticParams, WorkspaceEdit,
};

use lsp_server::{Notification, Request, RequestId, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Error codes of the protocol.
pub(crate) mod code {
    pub(crate) const PARSE_ERROR: i32 = -32700;
    pub(crate) const INVALID_REQUEST: i32 = -32600;
    pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
    pub(crate) const INVALID_PARAMS: i32 = -32602;
    pub(crate) const INTERNAL_ERROR: i32 = -32603;
    pub(crate) const REQUEST_CANCELLED: i32 = -32800;
    pub(crate) const CONTENT_MODIFIED: i32 = -32801;
}

/// The error of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RequestError {
    pub(crate) code: i32,
    pub(crate) message: String,
}

impl RequestError {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        RequestError { code, message: message.into() }
    }

    pub(crate) fn cancelled() -> Self {
        RequestError::new(code::REQUEST_CANCELLED, "cancelled")
    }

    pub(crate) fn outdated() -> Self {
        RequestError::new(code::CONTENT_MODIFIED, "the text has changed")
    }
}

/// Parses the parameters of a message.
///
/// # Errors
///
/// If they do not have the shape that the protocol defines.
pub(crate) fn parse_params<T: DeserializeOwned>(params: Value) -> Result<T, RequestError> {
    serde_json::from_value(params).map_err(|error| RequestError::new(code::INVALID_PARAMS, error.to_string()))
}

/// Serialises the result of a request.
pub(crate) fn to_value(result: impl Serialize) -> Result<Value, RequestError> {
    serde_json::to_value(result).map_err(|error| RequestError::new(code::INTERNAL_ERROR, error.to_string()))
}

pub(crate) fn response(id: RequestId, result: Result<Value, RequestError>) -> Response {
    match result {
        Ok(value) => Response::new_ok(id, value),
        Err(RequestError { code, message }) => Response::new_err(id, code, message),
    }
}

pub(crate) fn notification(method: &str, params: Value) -> Notification {
    Notification::new(method.to_owned(), params)
}

pub(crate) fn request(id: i32, method: &str, params: Value) -> Request {
    Request::new(RequestId::from(id), method.to_owned(), params)
}

/// The edits of one document: its URI, its version, and the edits.
pub(crate) type DocumentEdits = (Uri, Option<i32>, Vec<TextEdit>);

/// Returns the edits of some documents as a workspace edit, with document versions if the client supports them.
pub(crate) fn workspace_edit(documents: Vec<DocumentEdits>, versioned: bool) -> WorkspaceEdit {
    use gen_lsp_types::{DocumentChange, Edit, OptionalVersionedTextDocumentIdentifier, TextDocumentEdit};
    if !versioned {
        let changes = documents.into_iter().map(|(uri, _, edits)| (uri, edits)).collect();
        return WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() };
    }
    let change = |(uri, version, edits): DocumentEdits| {
        let text_document = OptionalVersionedTextDocumentIdentifier {
            version,
            text_document_identifier: gen_lsp_types::TextDocumentIdentifier { uri },
        };
        let edits = edits.into_iter().map(Edit::TextEdit).collect();
        DocumentChange::TextDocumentEdit(TextDocumentEdit { text_document, edits })
    };
    WorkspaceEdit { document_changes: Some(documents.into_iter().map(change).collect()), ..WorkspaceEdit::default() }
}
