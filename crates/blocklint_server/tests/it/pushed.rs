//! Diagnostics that the server pushes.

use blocklint_server::Ended;
use serde_json::{Value, json};

use crate::client::{APP, Client, HELPER, Start, range};

#[test]
fn a_finding_comes_with_its_path() {
    let mut client = Client::new(&[("work.py", HELPER), ("app.py", APP)], Start::pushing());
    client.open("app.py", APP);
    let all = client.pushed("app.py", Some(1));
    assert_eq!(all.len(), 1, "{all:#?}");
    let found = &all[0];
    assert_eq!(found["range"], range(4, 4, 16));
    assert_eq!((&found["code"], &found["source"]), (&json!("BLT101"), &json!("blocklint")));
    let message = found["message"].as_str().expect("words");
    assert!(message.contains("path: handler → pause → time.sleep"), "{message}");
    let related = found["relatedInformation"].as_array().expect("the trace");
    assert_eq!(related.len(), 1);
    assert_eq!(related[0]["location"]["uri"], json!(client.uri("work.py")));
    assert_eq!(related[0]["location"]["range"], range(4, 4, 17));
    assert_eq!(client.end(), Ended::Shutdown);
}

#[test]
fn a_client_without_related_information_reads_the_path_in_the_message() {
    let start = Start { capabilities: json!({}), ..Start::pushing() };
    let mut client = Client::new(&[("work.py", HELPER), ("app.py", APP)], start);
    client.open("app.py", APP);
    let all = client.pushed("app.py", Some(1));
    assert_eq!(all[0]["relatedInformation"], Value::Null);
    assert!(all[0]["message"].as_str().is_some_and(|message| message.contains("work.py:5: `pause` calls")), "{all:#?}");
}

#[test]
fn an_unsaved_helper_decides_about_another_open_file() {
    let mut client = Client::new(&[("work.py", HELPER), ("app.py", APP)], Start::pushing());
    client.open("app.py", APP);
    client.open("work.py", HELPER);
    assert_eq!(client.pushed("app.py", Some(1)).len(), 1);
    client.change("work.py", 2, "def pause():\n    pass\n");
    assert_eq!(client.pushed("app.py", Some(1)), [] as [Value; 0], "the helper blocks no more");
    client.change("work.py", 3, HELPER);
    assert_eq!(client.pushed("app.py", Some(1)).len(), 1);
    // A file that is closed without being saved has its text on disk.
    client.change("work.py", 4, "def pause():\n    pass\n");
    assert_eq!(client.pushed("app.py", Some(1)).len(), 0);
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": client.uri("work.py") } }));
    assert_eq!(client.pushed("app.py", Some(1)).len(), 1);
}

#[test]
fn a_closed_file_has_no_diagnostics() {
    let mut client = Client::new(&[("work.py", HELPER), ("app.py", APP)], Start::pushing());
    client.open("app.py", APP);
    assert_eq!(client.pushed("app.py", Some(1)).len(), 1);
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": client.uri("app.py") } }));
    assert_eq!(client.pushed("app.py", None), [] as [Value; 0]);
}

#[test]
fn the_whole_workspace_is_pushed_where_it_is_asked_for() {
    let start = Start { options: json!({ "settings": { "diagnosticMode": "workspace" } }), ..Start::pushing() };
    let mut client = Client::new(&[("work.py", HELPER), ("app.py", APP)], start);
    assert_eq!(client.pushed("app.py", None).len(), 1, "it was not opened");
    client.open("work.py", HELPER);
    client.change("work.py", 2, "def pause():\n    pass\n");
    assert_eq!(client.pushed("app.py", None), [] as [Value; 0]);
}

#[test]
fn rust_and_java_are_served_alike() {
    let rust = "async fn handler() {\n    std::thread::sleep(std::time::Duration::from_secs(1));\n}\n";
    let java = "import reactor.core.publisher.Mono;\n\nclass A {\n    Mono<String> get() {\n        return Mono.fromSupplier(() -> \
                load());\n    }\n\n    String load() {\n        Thread.sleep(1000);\n        return \"\";\n    }\n}\n";
    let manifest = "[package]\nname = 'a'\nversion = '0.1.0'\nedition = '2021'\n\n[dependencies]\ntokio = '1'\n";
    let files = [("Cargo.toml", manifest), ("src/lib.rs", rust), ("j/A.java", java)];
    let mut client = Client::new(&files, Start::pushing());
    client.open("src/lib.rs", rust);
    let all = client.pushed("src/lib.rs", Some(1));
    assert_eq!((all.len(), &all[0]["code"]), (1, &json!("BLT101")));
    client.open("j/A.java", java);
    let all = client.pushed("j/A.java", Some(1));
    assert_eq!((all.len(), &all[0]["code"]), (1, &json!("BLT101")), "{all:#?}");
}

#[test]
fn syntax_errors_are_reported_until_they_are_fixed() {
    let mut client = Client::new(&[("app.py", "x = 1\n")], Start::pushing());
    client.open("app.py", "x = (\n");
    let all = client.pushed("app.py", Some(1));
    assert_eq!(all[0]["code"], "BLT902");
    client.change("app.py", 2, "x = (1)\n");
    assert_eq!(client.pushed("app.py", Some(2)), [] as [Value; 0]);
}
