//! Folders, files on disk, settings and reports of the whole workspace.

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{APP, Client, HELPER, Start};

const HARMLESS: &str = "def pause():\n    pass\n";

#[test]
fn each_folder_is_a_project_and_folders_come_and_go() {
    let files = [("a/work.py", HELPER), ("a/app.py", APP), ("b/work.py", HARMLESS), ("b/app.py", APP)];
    let mut client = Client::new(&files, Start { folders: vec!["a", "b"], ..Start::pulling() });
    client.open("a/app.py", APP);
    client.open("b/app.py", APP);
    assert_eq!((client.pulled("a/app.py").len(), client.pulled("b/app.py").len()), (1, 0));
    let folder = |client: &Client, name: &str| json!([{ "uri": client.uri(name), "name": name }]);
    let event = json!({ "added": [], "removed": folder(&client, "a") });
    client.notify("workspace/didChangeWorkspaceFolders", json!({ "event": event }));
    assert_eq!(client.pulled("a/app.py").len(), 0);
    let event = json!({ "added": folder(&client, "a"), "removed": [] });
    client.notify("workspace/didChangeWorkspaceFolders", json!({ "event": event }));
    assert_eq!(client.pulled("a/app.py").len(), 1);
}

#[test]
fn files_that_change_on_disk_count() {
    let mut client = Client::new(&[("work.py", HARMLESS), ("app.py", APP)], Start::pulling());
    client.open("app.py", APP);
    assert_eq!(client.pulled("app.py").len(), 0);
    let changed = |client: &mut Client, path: &str, kind: u32| {
        let changes = json!([{ "uri": client.uri(path), "type": kind }]);
        client.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
        client.pulled("app.py").len()
    };
    client.write("work.py", HELPER);
    assert_eq!(changed(&mut client, "work.py", 2), 1, "changed");
    std::fs::remove_file(client.folder.path().join("work.py")).expect("removed");
    assert_eq!(changed(&mut client, "work.py", 3), 0, "deleted");
    client.write("work.py", HELPER);
    assert_eq!(changed(&mut client, "work.py", 1), 1, "created");
    // A change on disk does not affect an open file.
    client.write("app.py", "");
    assert_eq!(changed(&mut client, "app.py", 2), 1);
    client.write("pyproject.toml", "[tool.blocklint]\nignore = ['BLT101']\n");
    assert_eq!(changed(&mut client, "pyproject.toml", 1), 0, "configuration");
    client.write("pyproject.toml", "[tool.blocklint]\nignored = ['BLT101']\n");
    assert_eq!(changed(&mut client, "pyproject.toml", 2), 1, "a configuration that is wrong is left out");
    let told = client.await_notified("window/showMessage", |_| true);
    let message = told["message"].as_str().expect("words");
    assert!(message.contains("pyproject.toml:2") && message.contains("did you mean `ignore`"), "{message}");
}

#[test]
fn settings_are_asked_for_and_hold_when_they_change() {
    let mut start = Start::pulling();
    start.capabilities["workspace"]["configuration"] = json!(true);
    start.capabilities["workspace"]["didChangeConfiguration"] = json!({ "dynamicRegistration": true });
    start.capabilities["workspace"]["didChangeWatchedFiles"] = json!({ "dynamicRegistration": true });
    let mut client = Client::new(&[("work.py", HELPER), ("app.py", APP)], start);
    let registered = client.await_asked("client/registerCapability");
    assert_eq!(registered.params["registrations"].as_array().map(Vec::len), Some(2));
    let asked = client.await_asked("workspace/configuration");
    assert_eq!(asked.params["items"], json!([{ "scopeUri": client.uri(""), "section": "blocklint" }]));
    client.open("app.py", APP);
    assert_eq!(client.pulled("app.py").len(), 1);
    for (settings, expected) in [
        (json!({ "ignore": ["BLT101"] }), 0),
        (json!({ "select": ["blocking-file"] }), 0),
        (json!({ "minSeverity": "warning" }), 1),
        (json!({ "enable": false }), 0),
        (json!({}), 1),
    ] {
        client.settings = settings.clone();
        client.notify("workspace/didChangeConfiguration", json!({ "settings": null }));
        client.await_asked("workspace/configuration");
        assert_eq!(client.pulled("app.py").len(), expected, "{settings}");
    }
    client.settings = json!({ "minSeverity": "terrible" });
    client.notify("workspace/didChangeConfiguration", json!({ "settings": null }));
    let told = client.await_notified("window/showMessage", |_| true);
    assert!(told["message"].as_str().is_some_and(|message| message.contains("`terrible` is none of")), "{told}");
}

#[test]
fn settings_may_come_with_the_change() {
    let mut client = Client::new(&[("work.py", HELPER), ("app.py", APP)], Start::pulling());
    client.open("app.py", APP);
    assert_eq!(client.pulled("app.py").len(), 1);
    let settings = json!({ "blocklint": { "ignore": ["BLT101"] } });
    client.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
    assert_eq!(client.pulled("app.py").len(), 0);
    client.notify("workspace/didChangeConfiguration", json!({ "settings": {} }));
    assert_eq!(client.pulled("app.py").len(), 0, "an empty object says nothing");
}

#[test]
fn a_report_of_the_workspace_waits_for_news() {
    let start = Start { options: json!({ "settings": { "diagnosticMode": "workspace" } }), ..Start::pulling() };
    let mut client = Client::new(&[("work.py", HELPER), ("app.py", APP)], start);
    assert_eq!(client.capabilities["diagnosticProvider"]["workspaceDiagnostics"], true);
    let report = client.request("workspace/diagnostic", json!({ "previousResultIds": [] }));
    let items = report["items"].as_array().expect("a list").clone();
    assert_eq!(items.len(), 1, "{report:#}");
    assert_eq!((&items[0]["uri"], &items[0]["kind"]), (&json!(client.uri("app.py")), &json!("full")));
    let known = json!([{ "uri": items[0]["uri"], "value": items[0]["resultId"] }]);
    let held = client.ask("workspace/diagnostic", json!({ "previousResultIds": known, "partialResultToken": "t" }));
    client.open("work.py", HELPER);
    assert_eq!(client.pulled("work.py").len(), 0);
    assert!(!client.is_answered(&held, Duration::from_millis(100)), "nothing is new");
    client.change("work.py", 2, HARMLESS);
    let part = client.await_notified("$/progress", |params| params["token"] == "t");
    assert_eq!(part["value"]["items"][0]["items"], json!([]), "its problem is gone");
    assert_eq!(client.answer(&held).response_result.expect("a report"), json!({ "items": [] }));
    let _: Value = client.request("shutdown", Value::Null);
}

#[test]
fn files_that_git_ignores_are_not_read() {
    let files = [(".gitignore", "gen/\n"), ("gen/app.py", APP), ("gen/work.py", HELPER)];
    let mut client = Client::new(&files, Start::pulling());
    client.open("gen/app.py", APP);
    assert_eq!(client.pulled("gen/app.py").len(), 0);
}
