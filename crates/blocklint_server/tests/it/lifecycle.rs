//! The lifecycle from `initialize` to `exit`, and errors that must not end the server.

use std::time::Duration;

use blocklint_engine::{Containment, Fault};
use blocklint_server::{Ended, Hooks};
use serde_json::{Value, json};

use crate::client::{APP, Client, HELPER, Start, range};

#[test]
fn a_server_says_what_it_can_and_ends_when_asked() {
    let mut client = Client::new(&[], Start::pulling());
    assert_eq!(client.capabilities["positionEncoding"], "utf-16");
    assert_eq!(client.capabilities["textDocumentSync"]["change"], 2);
    assert_eq!(client.capabilities["diagnosticProvider"]["interFileDependencies"], true);
    assert_eq!(client.capabilities["codeActionProvider"]["codeActionKinds"][1], "source.fixAll.blocklint");
    let id = client.ask("shutdown", Value::Null);
    assert!(client.answer(&id).response_result.is_ok());
    let id = client.ask("textDocument/hover", json!({}));
    assert_eq!(client.refusal(&id).0, -32600, "nothing is answered after shutdown");
    client.notify("exit", Value::Null);
    assert_eq!(client.join(), Ended::Shutdown);
}

#[test]
fn a_client_that_goes_away_ends_the_server() {
    assert_eq!(Client::new(&[], Start::pushing()).join(), Ended::Abruptly);
    let mut client = Client::new(&[], Start::pushing());
    client.notify("exit", Value::Null);
    assert_eq!(client.join(), Ended::Abruptly);
}

#[test]
fn unknown_requests_fail_without_other_effects() {
    let mut client = Client::new(&[("work.py", HELPER), ("app.py", APP)], Start::pulling());
    let id = client.ask("textDocument/completion", json!({}));
    assert_eq!(client.refusal(&id).0, -32601);
    let id = client.ask("textDocument/codeAction", json!({ "textDocument": { "uri": client.uri("app.py") } }));
    assert_eq!(client.refusal(&id).0, -32602);
    let id = client.ask("workspace/executeCommand", json!({ "command": "blocklint.nothing" }));
    assert_eq!(client.refusal(&id).0, -32602);
    client.notify("textDocument/didOpen", json!({ "textDocument": 3 }));
    client.notify("$/unknown", json!([]));
    client.open("app.py", APP);
    assert_eq!(client.pulled("app.py").len(), 1);
    assert_eq!(client.end(), Ended::Shutdown);
}

#[test]
fn a_panic_in_one_request_is_an_error_of_that_request() {
    let panics: fn(&str) = |method| assert_ne!(method, "textDocument/hover", "on purpose");
    let start = Start { hooks: Hooks { on_request: Some(panics), ..Hooks::default() }, ..Start::pulling() };
    let mut client = Client::new(&[("work.py", HELPER), ("app.py", APP)], start);
    client.open("app.py", APP);
    for _ in 0..5 {
        let position = json!({ "line": 4, "character": 6 });
        let params = json!({ "textDocument": { "uri": client.uri("app.py") }, "position": position });
        let id = client.ask("textDocument/hover", params);
        let (code, message) = client.refusal(&id);
        assert_eq!(code, -32603);
        assert!(message.contains("on purpose"), "{message}");
    }
    assert_eq!(client.pulled("app.py").len(), 1);
    assert!(!client.actions("app.py", &range(4, 6, 6), None).is_empty());
    assert_eq!(client.end(), Ended::Shutdown);
}

#[test]
fn a_function_whose_analysis_fails_is_left_out_and_reported() {
    let containment = Containment { fault: Some(Fault { function: "other", stalls: false }), ..Containment::default() };
    let hooks = Hooks { containment, ..Hooks::default() };
    let app = format!("{APP}\n\nasync def other():\n    work.pause()\n");
    let mut client = Client::new(&[("work.py", HELPER), ("app.py", &app)], Start { hooks, ..Start::pulling() });
    client.open("app.py", &app);
    let told = client.await_notified("window/showMessage", |_| true);
    let said = "`app.other` was left out of the analysis, please report it: a fault that a test asked for";
    assert!(told["message"].as_str().is_some_and(|message| message.contains(said)), "{told}");
    let found = client.pulled("app.py");
    let of =
        |code: &str| found.iter().filter(|one| one["code"] == code).map(|one| &one["range"]["start"]["line"]).collect();
    let (blocking, left_out): (Vec<_>, Vec<_>) = (of("BLT101"), of("BLT902"));
    assert_eq!((blocking, left_out), (vec![&json!(4)], vec![&json!(7)]), "{found:?}");
    assert_eq!(client.end(), Ended::Shutdown);
}

#[test]
fn a_request_that_waits_can_be_cancelled_and_the_others_are_answered() {
    let mut client = Client::new(&[("work.py", HELPER), ("app.py", APP)], Start::pulling());
    client.open("app.py", APP);
    let params = json!({ "previousResultIds": [] });
    // In this mode the workspace has no diagnostics, so the request waits.
    let held = client.ask("workspace/diagnostic", params);
    assert_eq!(client.pulled("app.py").len(), 1);
    assert!(!client.is_answered(&held, Duration::from_millis(100)));
    client.notify("$/cancelRequest", json!({ "id": held }));
    assert_eq!(client.refusal(&held).0, -32800);
    assert_eq!(client.end(), Ended::Shutdown);
}
