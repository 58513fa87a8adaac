//! Open documents: changes of their text, and positions in all encodings.

use serde_json::{Value, json};

use crate::client::{Client, Start, range};

const TEXT: &str = "import time\n\n\nasync def handler():\n    x = 'é𝄞'; time.sleep(1)\n";

fn at(encodings: &[&str]) -> Value {
    let mut start = Start::pulling();
    start.capabilities["general"] = json!({ "positionEncodings": encodings });
    let mut client = Client::new(&[("app.py", "")], start);
    client.open("app.py", TEXT);
    client.pulled("app.py")[0]["range"].clone()
}

#[test]
fn columns_count_in_the_encoding_that_was_agreed() {
    assert_eq!(at(&["utf-16"]), range(4, 15, 28));
    assert_eq!(at(&["utf-32"]), range(4, 14, 27));
    assert_eq!(at(&["utf-8", "utf-16"]), range(4, 18, 31));
}

#[test]
fn changes_are_applied_one_after_the_other() {
    let mut client = Client::new(&[("app.py", "")], Start::pulling());
    client.open("app.py", "");
    let insert =
        |line: u32, character: u32, text: &str| json!({ "range": range(line, character, character), "text": text });
    let changes = json!([
        insert(0, 0, "async def handler():\n    time.sleep(1)\n"),
        insert(0, 0, "import time\r\n\r\n"),
        insert(3, 4, "x = 'é𝄞'; "),
        { "range": range(3, 10, 12), "text": "" },
    ]);
    let document = json!({ "uri": client.uri("app.py"), "version": 2 });
    client.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    let all = client.pulled("app.py");
    assert_eq!(all[0]["range"], range(3, 13, 26), "{all:#?}");
}

#[test]
fn a_buffer_is_text_whatever_encoding_it_declares_for_the_disk() {
    let text = "# coding: latin-1\nimport time\n\n\nasync def handler():\n    x = 'é'; time.sleep(1)\n";
    let mut client = Client::new(&[("app.py", "")], Start::pulling());
    client.open("app.py", text);
    let all = client.pulled("app.py");
    assert_eq!((all.len(), &all[0]["range"]), (1, &range(5, 13, 26)), "{all:#?}");
}

#[test]
fn with_run_on_save_an_edit_waits_for_the_save() {
    let start = Start { options: json!({ "settings": { "run": "onSave" } }), ..Start::pulling() };
    let mut client = Client::new(&[("app.py", "")], start);
    client.open("app.py", "");
    client.change("app.py", 2, TEXT);
    assert_eq!(client.pulled("app.py"), [] as [Value; 0]);
    client.write("app.py", TEXT);
    client.notify("textDocument/didSave", json!({ "textDocument": { "uri": client.uri("app.py") } }));
    assert_eq!(client.pulled("app.py").len(), 1);
}
