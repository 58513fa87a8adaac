//! Hover, code lenses and the call hierarchy.

use serde_json::{Value, json};

use crate::client::{APP, Client, HELPER, Start, range};

const OTHER: &str =
    "import work\n\n\nasync def second():\n    work.pause()\n\n\nasync def third():\n    work.pause()\n";

fn client(options: Value) -> Client {
    let files = [("work.py", HELPER), ("app.py", APP), ("other.py", OTHER)];
    let mut client = Client::new(&files, Start { options, ..Start::pulling() });
    client.open("work.py", HELPER);
    client.open("app.py", APP);
    client
}

fn hover(client: &mut Client, path: &str, line: u32, character: u32) -> Value {
    let position = json!({ "line": line, "character": character });
    client.request("textDocument/hover", json!({ "textDocument": { "uri": client.uri(path) }, "position": position }))
}

#[test]
fn a_flagged_call_is_explained_with_its_path() {
    let mut client = client(json!({}));
    let shown = hover(&mut client, "app.py", 4, 6);
    let text = shown["contents"]["value"].as_str().expect("Markdown");
    assert!(text.contains("**BLT101** blocking-sleep"), "{text}");
    assert!(text.contains(&format!("[work.py:5]({}#L5)", client.uri("work.py"))), "{text}");
    assert!(text.contains("which blocks"), "{text}");
    assert_eq!(shown["range"], range(4, 4, 16));
    assert_eq!(hover(&mut client, "app.py", 0, 3), Value::Null);
}

#[test]
fn a_blocking_call_says_whom_it_stalls() {
    let mut client = client(json!({}));
    let shown = hover(&mut client, "work.py", 4, 6);
    let text = shown["contents"]["value"].as_str().expect("Markdown");
    for name in ["handler", "second", "third"] {
        assert!(text.contains(name), "{text}");
    }
}

#[test]
fn a_rule_in_a_comment_shows_its_page() {
    let mut client = client(json!({}));
    let text = "x = 1  # blocklint: ignore[BLT101, blocking-file] because\n";
    client.change("app.py", 2, text);
    let shown = hover(&mut client, "app.py", 0, 29);
    assert!(shown["contents"]["value"].as_str().is_some_and(|page| page.starts_with("# blocking-sleep (BLT101)")));
    assert_eq!(shown["range"], range(0, 27, 33));
    let shown = hover(&mut client, "app.py", 0, 45);
    assert!(shown["contents"]["value"].as_str().is_some_and(|page| page.starts_with("# blocking-file (BLT104)")));
    assert_eq!(hover(&mut client, "app.py", 0, 55), Value::Null);
}

#[test]
fn a_helper_says_how_many_it_stalls() {
    let lenses = |client: &mut Client| {
        let uri = client.uri("work.py");
        client.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }))
    };
    let mut with = client(json!({ "settings": { "codeLens": true } }));
    let shown = lenses(&mut with);
    assert_eq!(shown.as_array().map(Vec::len), Some(1), "{shown:#}");
    assert_eq!(shown[0]["command"]["title"], "stalls 3 async functions");
    assert_eq!(shown[0]["range"], range(3, 4, 9));
    let mut without = client(json!({}));
    assert_eq!(lenses(&mut without), json!([]));
}

#[test]
fn the_hierarchy_goes_along_the_paths_that_block() {
    let mut client = client(json!({}));
    let position = json!({ "line": 4, "character": 6 });
    let document = json!({ "uri": client.uri("work.py") });
    let items =
        client.request("textDocument/prepareCallHierarchy", json!({ "textDocument": document, "position": position }));
    assert_eq!(items[0]["name"], "pause");
    let incoming = client.request("callHierarchy/incomingCalls", json!({ "item": items[0] }));
    let mut names: Vec<&str> =
        incoming.as_array().expect("a list").iter().filter_map(|call| call["from"]["name"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["handler", "second", "third"]);
    let outgoing = client.request("callHierarchy/outgoingCalls", json!({ "item": items[0] }));
    assert_eq!((&outgoing[0]["to"]["name"], &outgoing[0]["fromRanges"][0]), (&json!("time.sleep"), &range(4, 4, 17)));
    let from = &incoming[0]["from"];
    let outgoing = client.request("callHierarchy/outgoingCalls", json!({ "item": from }));
    assert_eq!(outgoing[0]["to"]["name"], "pause");
}
