//! LSP capabilities: those that the server announces, and those that it reads from the client.

use serde_json::{Value, json};

use crate::text::Encoding;

/// The command of `workspace/executeCommand` that shows a location.
pub(crate) const GO_TO: &str = "blocklint.goTo";
/// The command of `workspace/executeCommand` that returns a description of the server.
pub(crate) const DEBUG_INFORMATION: &str = "blocklint.debugInformation";

/// The code action kind for all safe fixes of a file.
pub(crate) const FIX_ALL: &str = "source.fixAll.blocklint";

/// The capabilities of the client that this server uses.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Client {
    pub(crate) encoding: Encoding,
    pub(crate) pulls_diagnostics: bool,
    pub(crate) refreshes_diagnostics: bool,
    pub(crate) refreshes_lenses: bool,
    pub(crate) related_information: bool,
    pub(crate) resolves_edits: bool,
    pub(crate) versioned_edits: bool,
    pub(crate) progress: bool,
    pub(crate) configuration: bool,
    pub(crate) registers_configuration: bool,
    pub(crate) registers_watchers: bool,
    pub(crate) shows_documents: bool,
    /// The client-side commands that it offers, as rust-analyzer's clients announce them.
    pub(crate) commands: Vec<String>,
}

impl Client {
    /// Reads the parameters of `initialize`.
    pub(crate) fn new(initialize: &Value) -> Self {
        let capabilities = &initialize["capabilities"];
        let has = |pointer: &str| capabilities.pointer(pointer).and_then(Value::as_bool).unwrap_or_default();
        let words = |pointer: &str| -> Vec<String> {
            let list = capabilities.pointer(pointer).and_then(Value::as_array);
            list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Client {
            encoding: Encoding::negotiated(&words("/general/positionEncodings")),
            pulls_diagnostics: capabilities.pointer("/textDocument/diagnostic").is_some_and(Value::is_object),
            refreshes_diagnostics: has("/workspace/diagnostics/refreshSupport"),
            refreshes_lenses: has("/workspace/codeLens/refreshSupport"),
            related_information: has("/textDocument/publishDiagnostics/relatedInformation")
                || has("/textDocument/diagnostic/relatedInformation"),
            resolves_edits: words("/textDocument/codeAction/resolveSupport/properties")
                .iter()
                .any(|property| property == "edit"),
            versioned_edits: has("/workspace/workspaceEdit/documentChanges"),
            progress: has("/window/workDoneProgress"),
            configuration: has("/workspace/configuration"),
            registers_configuration: has("/workspace/didChangeConfiguration/dynamicRegistration"),
            registers_watchers: has("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            shows_documents: has("/window/showDocument/support"),
            commands: words("/experimental/commands"),
        }
    }
}

/// Returns the result of `initialize`.
pub(crate) fn initialize_result(client: &Client, workspace_diagnostics: bool) -> Value {
    let mut capabilities = json!({
        "positionEncoding": client.encoding.as_str(),
        "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
        "workspace": { "workspaceFolders": { "supported": true, "changeNotifications": true } },
        "codeActionProvider": { "codeActionKinds": ["quickfix", FIX_ALL], "resolveProvider": true },
        "codeLensProvider": { "resolveProvider": false },
        "hoverProvider": true,
        "callHierarchyProvider": true,
        "executeCommandProvider": { "commands": [GO_TO, DEBUG_INFORMATION] },
    });
    if client.pulls_diagnostics {
        capabilities["diagnosticProvider"] = json!({
            "identifier": "blocklint",
            "interFileDependencies": true,
            "workspaceDiagnostics": workspace_diagnostics,
            "workDoneProgress": true,
        });
    }
    json!({
        "capabilities": capabilities,
        "serverInfo": { "name": "blocklint", "version": env!("CARGO_PKG_VERSION") },
    })
}

/// Returns the registrations of `client/registerCapability`: watched files, and changes of settings.
pub(crate) fn registrations(client: &Client) -> Vec<Value> {
    let mut registrations = Vec::new();
    if client.registers_watchers {
        let globs = [
            "**/*.{py,ipynb,rs,java}",
            "**/*.{toml,xml,gradle,kts,cfg,lock,sh,service}",
            "**/{requirements*.txt,requirements*.in,Procfile,Dockerfile*,docker-compose*,compose*.y*ml}",
            "**/{.gitignore,.ignore}",
        ];
        let watchers: Vec<Value> = globs.iter().map(|glob| json!({ "globPattern": glob })).collect();
        registrations.push(json!({
            "id": "blocklint-watched-files",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": { "watchers": watchers },
        }));
    }
    if client.registers_configuration {
        registrations.push(json!({
            "id": "blocklint-configuration",
            "method": "workspace/didChangeConfiguration",
            "registerOptions": { "section": "blocklint" },
        }));
    }
    registrations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ServerCapabilities;

    #[test]
    fn capabilities_round_trip_through_protocol_types() {
        for pulls_diagnostics in [false, true] {
            let client = Client { pulls_diagnostics, ..Client::default() };
            let sent = initialize_result(&client, true)["capabilities"].clone();
            let read: ServerCapabilities = serde_json::from_value(sent.clone()).expect("capabilities");
            let again = serde_json::to_value(read).expect("JSON");
            for (key, value) in sent.as_object().expect("an object") {
                assert_eq!(again.get(key), Some(value), "{key}");
            }
        }
    }

    #[test]
    fn client_capabilities_are_read_from_initialize() {
        let client = Client::new(&json!({ "capabilities": {
            "general": { "positionEncodings": ["utf-16", "utf-8"] },
            "textDocument": {
                "diagnostic": {},
                "codeAction": { "resolveSupport": { "properties": ["edit"] } },
            },
            "experimental": { "commands": ["blocklint.showReferences"] },
        } }));
        assert_eq!(client.encoding, Encoding::Utf8);
        assert!(client.pulls_diagnostics && client.resolves_edits && !client.progress);
        assert_eq!(client.commands, ["blocklint.showReferences"]);
        assert_eq!(Client::new(&json!({})), Client::default());
    }
}
