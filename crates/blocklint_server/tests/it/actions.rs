//! Code actions: quick fixes, fix-all, ignore comments, and the jump to the blocking call.

use serde_json::{Value, json};

use crate::client::{APP, Client, HELPER, Start, applied, range};

const DIRECT: &str =
    "import time\n\n\nasync def handler():\n    time.sleep(1)\n\n\nasync def other():\n    time.sleep(2)\n";

fn titled<'v>(actions: &'v [Value], part: &str) -> &'v Value {
    let found = actions.iter().find(|action| action["title"].as_str().is_some_and(|title| title.contains(part)));
    found.unwrap_or_else(|| panic!("no `{part}` among {actions:#?}"))
}

#[test]
fn a_safe_fix_is_preferred_and_removes_the_finding() {
    let mut client = Client::new(&[("app.py", "")], Start::pulling());
    client.open("app.py", DIRECT);
    let actions = client.actions("app.py", &range(4, 6, 6), None);
    let fix = actions.iter().find(|action| action["isPreferred"] == true).expect("a safe fix");
    assert_eq!((&fix["kind"], &fix["diagnostics"][0]["code"]), (&json!("quickfix"), &json!("BLT101")));
    assert_eq!(fix["edit"]["documentChanges"][0]["textDocument"], json!({ "uri": client.uri("app.py"), "version": 1 }));
    let new = applied(DIRECT, &fix["edit"]);
    assert!(new.contains("await asyncio.sleep(1)") && new.contains("import asyncio"), "{new}");
    client.change("app.py", 2, &new);
    assert_eq!(client.pulled("app.py").len(), 1, "the other one is left");
}

#[test]
fn fix_all_applies_all_safe_fixes_of_a_file() {
    let mut client = Client::new(&[("app.py", "")], Start::pulling());
    client.open("app.py", DIRECT);
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
    let actions = client.actions("app.py", &whole, Some(&["source.fixAll"]));
    assert_eq!((actions.len(), &actions[0]["kind"]), (1, &json!("source.fixAll.blocklint")), "{actions:#?}");
    let new = applied(DIRECT, &actions[0]["edit"]);
    assert_eq!(new.matches("await asyncio.sleep(").count(), 2, "{new}");
    client.change("app.py", 2, &new);
    assert_eq!(client.pulled("app.py").len(), 0);
    let quick = client.actions("app.py", &whole, Some(&["source.organizeImports"]));
    assert!(quick.is_empty(), "{quick:#?}");
}

#[test]
fn an_edit_is_resolved_for_the_text_that_it_was_offered_for() {
    let mut start = Start::pulling();
    start.capabilities["textDocument"]["codeAction"] = json!({ "resolveSupport": { "properties": ["edit"] } });
    let mut client = Client::new(&[("app.py", "")], start);
    client.open("app.py", DIRECT);
    let mut actions = client.actions("app.py", &range(0, 0, 0), Some(&["source.fixAll.blocklint"]));
    let action = actions.remove(0);
    assert_eq!(action["edit"], Value::Null);
    let resolved = client.request("codeAction/resolve", action.clone());
    assert!(applied(DIRECT, &resolved["edit"]).contains("await asyncio.sleep(1)"));
    client.change("app.py", 2, &format!("\n{DIRECT}"));
    let id = client.ask("codeAction/resolve", action);
    assert_eq!(client.refusal(&id).0, -32801);
}

#[test]
fn ignore_comments_are_written_and_extended() {
    let mut client = Client::new(&[("app.py", "")], Start::pulling());
    client.open("app.py", DIRECT);
    let actions = client.actions("app.py", &range(4, 6, 6), Some(&["quickfix"]));
    let new = applied(DIRECT, &titled(&actions, "Ignore BLT101")["edit"]);
    assert!(new.contains("    time.sleep(1)  # blocklint: ignore[BLT101]\n"), "{new}");
    client.change("app.py", 2, &new);
    assert_eq!(client.pulled("app.py").len(), 1);
    let other = DIRECT.replace("time.sleep(1)", "time.sleep(1)  # blocklint: ignore[BLT104]");
    client.change("app.py", 3, &other);
    let actions = client.actions("app.py", &range(4, 6, 6), None);
    let new = applied(&other, &titled(&actions, "Ignore BLT101")["edit"]);
    assert!(new.contains("# blocklint: ignore[BLT104, BLT101]"), "{new}");
}

#[test]
fn where_a_line_ends_in_a_string_the_comment_stands_above() {
    let text = "import subprocess\n\n\nasync def handler():\n    subprocess.run(\"\"\"\nls\n\"\"\", shell=True)\n";
    let mut client = Client::new(&[("app.py", "")], Start::pulling());
    client.open("app.py", text);
    let actions = client.actions("app.py", &range(4, 6, 6), None);
    let new = applied(text, &titled(&actions, "Ignore BLT105")["edit"]);
    assert!(new.contains("\n    # blocklint: ignore[BLT105]\n    subprocess.run("), "{new}");
    client.change("app.py", 2, &new);
    assert_eq!(client.pulled("app.py").len(), 0);
}

#[test]
fn clients_with_the_command_can_ask_for_a_reason() {
    let mut start = Start::pulling();
    start.capabilities["experimental"] = json!({ "commands": ["blocklint.ignoreWithReason"] });
    let mut client = Client::new(&[("app.py", "")], start);
    client.open("app.py", DIRECT);
    let actions = client.actions("app.py", &range(4, 6, 6), None);
    let action = titled(&actions, "with a reason");
    let argument = &action["command"]["arguments"][0];
    assert_eq!((&argument["rule"], &argument["version"]), (&json!("BLT101"), &json!(1)));
    assert_eq!(argument["edits"][0]["newText"], "  # blocklint: ignore[BLT101]");
}

#[test]
fn an_action_jumps_to_the_blocking_call() {
    let mut client = Client::new(&[("work.py", HELPER), ("app.py", APP)], Start::pulling());
    client.open("app.py", APP);
    let actions = client.actions("app.py", &range(4, 6, 6), None);
    let command = titled(&actions, "Go to the blocking call `time.sleep`")["command"].clone();
    client.request(
        "workspace/executeCommand",
        json!({ "command": command["command"], "arguments": command["arguments"] }),
    );
    let shown = client.await_asked("window/showDocument").params;
    assert_eq!((&shown["uri"], &shown["selection"]), (&json!(client.uri("work.py")), &range(4, 4, 17)));
}

#[test]
fn settings_switch_actions_off() {
    let settings = json!({
        "fixAll": false,
        "codeAction": { "fixViolation": { "enable": false }, "disableRuleComment": { "enable": false } },
    });
    let start = Start { options: json!({ "settings": settings }), ..Start::pulling() };
    let mut client = Client::new(&[("app.py", "")], start);
    client.open("app.py", DIRECT);
    assert!(client.actions("app.py", &range(4, 6, 6), None).is_empty());
    assert!(client.actions("app.py", &range(4, 6, 6), Some(&["source.fixAll"])).is_empty());
}

#[test]
fn a_fix_over_two_files_changes_both() {
    let manifest = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\ntokio = { version = \"1\", features = [\"full\"] }\n";
    let store = "pub fn load(name: &str) -> std::io::Result<String> {\n    std::fs::read_to_string(name)\n}\n";
    let main = "mod store;\n\nasync fn handler(name: &str) -> std::io::Result<String> {\n    store::load(name)\n}\n";
    let files = [("Cargo.toml", manifest), ("src/store.rs", store), ("src/main.rs", main)];
    let mut client = Client::new(&files, Start::pulling());
    client.open("src/main.rs", main);
    let actions = client.actions("src/main.rs", &range(3, 13, 13), Some(&["quickfix"]));
    let edit = &titled(&actions, "Make `load` `async`")["edit"];
    let of_file = |name: &str| {
        let changes = edit["documentChanges"].as_array().expect("changes");
        let uri = client.uri(name);
        let change = changes.iter().find(|change| change["textDocument"]["uri"] == uri).expect("the file's");
        json!({ "documentChanges": [change] })
    };
    assert!(applied(main, &of_file("src/main.rs")).contains("store::load(name).await\n"), "{edit}");
    let new = applied(store, &of_file("src/store.rs"));
    assert!(new.starts_with("pub async fn load(") && new.contains("tokio::fs::read_to_string(name).await"), "{new}");
}
