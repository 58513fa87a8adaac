//! Diagnostics that the client pulls.

use blocklint_server::Ended;
use serde_json::{Value, json};

use crate::client::{APP, Client, HELPER, Start};

#[test]
fn unchanged_diagnostics_are_not_sent_again() {
    let mut client = Client::new(&[("work.py", HELPER), ("app.py", APP)], Start::pulling());
    client.open("app.py", APP);
    let document = json!({ "uri": client.uri("app.py") });
    let first = client.request("textDocument/diagnostic", json!({ "textDocument": document }));
    assert_eq!((&first["kind"], first["items"].as_array().map(Vec::len)), (&json!("full"), Some(1)));
    let params = json!({ "textDocument": document, "previousResultId": first["resultId"] });
    let again = client.request("textDocument/diagnostic", params);
    assert_eq!(again, json!({ "kind": "unchanged", "resultId": first["resultId"] }));
    assert!(client.notified.iter().all(|of| of.method != "textDocument/publishDiagnostics"), "nothing is pushed");
    assert_eq!(client.end(), Ended::Shutdown);
}

#[test]
fn an_answer_is_that_of_the_last_text() {
    let mut client = Client::new(&[("work.py", HELPER), ("app.py", APP)], Start::pulling());
    client.open("app.py", APP);
    let params = json!({ "textDocument": { "uri": client.uri("app.py") } });
    let before = client.ask("textDocument/diagnostic", params.clone());
    for version in 2..30 {
        let text = if version % 2 == 0 { APP.replace("work.pause()", "pass") } else { format!("{APP}\n") };
        client.change("app.py", version, &text);
    }
    let after = client.ask("textDocument/diagnostic", params);
    let items =
        |answer: lsp_server::Response| answer.response_result.expect("a report")["items"].as_array().map(Vec::len);
    assert_eq!(items(client.answer(&after)), Some(1), "version 29 calls it");
    assert!(items(client.answer(&before)).is_some(), "each request is answered");
    client.change("app.py", 30, "");
    assert_eq!(client.pulled("app.py"), [] as [Value; 0]);
}

#[test]
fn a_client_is_told_to_pull_again_when_another_file_changes_what_it_knows() {
    let mut client = Client::new(&[("work.py", HELPER), ("app.py", APP)], Start::pulling());
    client.open("app.py", APP);
    client.open("work.py", HELPER);
    assert_eq!(client.pulled("app.py").len(), 1);
    client.change("work.py", 2, "def pause():\n    pass\n");
    client.await_asked("workspace/diagnostic/refresh");
    assert_eq!(client.pulled("app.py").len(), 0);
}

#[test]
fn a_file_outside_of_every_folder_has_none() {
    let start = Start { folders: vec!["in"], ..Start::pulling() };
    let mut client = Client::new(&[("in/work.py", HELPER), ("out/app.py", APP)], start);
    client.open("out/app.py", APP);
    assert_eq!(client.pulled("out/app.py"), [] as [Value; 0]);
    let document = json!({ "uri": "untitled:Untitled-1", "languageId": "python", "version": 1, "text": APP });
    client.notify("textDocument/didOpen", json!({ "textDocument": document }));
    let report = client.request("textDocument/diagnostic", json!({ "textDocument": { "uri": "untitled:Untitled-1" } }));
    assert_eq!(report["items"], json!([]));
}

#[test]
fn without_a_folder_a_file_brings_its_own_project() {
    let start = Start { folders: Vec::new(), ..Start::pulling() };
    let mut client = Client::new(&[("shop/work.py", HELPER), ("shop/app.py", APP)], start);
    client.open("shop/app.py", APP);
    assert_eq!(client.pulled("shop/app.py").len(), 1);
}
