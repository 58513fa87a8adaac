//! Output for programs: the JSON objects field by field, and statistics in ruff's shape.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Folder(tempfile::Builder::new().prefix("machine-output-").tempdir().expect("a folder"));
        fs::write(folder.path().join("blocklint.toml"), "").expect("written");
        for (file, text) in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
        folder
    }

    fn path(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).expect("it exists")
    }

    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
        command.env_clear().current_dir(self.path()).args(arguments).stdin(Stdio::null());
        let output = command.output().expect("it starts");
        (output.status.code().expect("it ends"), String::from_utf8(output.stdout).expect("UTF-8"))
    }

    fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let (_, text) = self.run(&[&["check", "--output-format", "json"], arguments].concat());
        serde_json::from_str(&text).expect("an array")
    }
}

const SERVICE: &[(&str, &str)] = &[
    (
        "app/store.py",
        "import requests\n\nclass Store:\n    def __init__(self):\n        self.http = requests.Session()\n\n    \
         def load(self, key):\n        é = 1; return self.http.get(key, timeout=5)\n",
    ),
    ("app/__init__.py", ""),
    (
        "app/main.py",
        "import os, time\nfrom app.store import Store\n\nstore = Store()\n\ndef fetch(key):\n    \
         return store.load(key)\n\nasync def handler(key):\n    time.sleep(2.5); return fetch(key)\n\nasync def other(key):\n    \
         fetch(key)\n    os.stat(key)\n    for line in open(key): pass\n    os.system(\n        key)\n",
    ),
];

/// Every field of one finding, those of ruff first.
#[test]
fn a_finding_has_every_field() {
    let folder = Folder::new(SERVICE);
    let at = |row: u32, column: u32| json!({ "row": row, "column": column });
    let file = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let findings = folder.json(&[]);
    let found = findings.iter().find(|finding| finding["code"] == "BLT102" && finding["location"]["row"] == 10);
    let mut found = found.expect("the request behind `fetch`").clone();
    let fingerprint = found["fingerprint"].take();
    let expected = json!({
        "cell": null,
        "code": "BLT102",
        "end_location": at(10, 39),
        "filename": file("app/main.py"),
        "fix": {
            "applicability": "unsafe",
            "edits": [
                {
                    "content": "import asyncio\n",
                    "end_location": at(1, 1),
                    "filename": file("app/main.py"),
                    "location": at(1, 1),
                },
                {
                    "content": "await asyncio.to_thread(fetch, ",
                    "end_location": at(10, 35),
                    "filename": file("app/main.py"),
                    "location": at(10, 29),
                },
            ],
            "message": "Run in a thread with `asyncio.to_thread`",
        },
        "no_fix": null,
        "location": at(10, 29),
        "message": found["message"],
        "name": "blocking-network",
        "noqa_row": 10,
        "severity": "error",
        "url": null,
        "confidence": "high",
        "effect": "network",
        "kind": "network-request",
        "takes": null,
        "context": "event-loop",
        "function": "app.main.handler",
        "hold": 5.0,
        "causes": [{
            "filename": file("app/store.py"),
            "location": at(8, 23),
            "function": "app.store.Store.load",
            "call": "requests.Session.get",
            "reach": 2,
        }],
        "trace": [
            {
                "filename": file("app/main.py"),
                "location": at(10, 29),
                "end_location": at(10, 39),
                "function": "app.main.handler",
                "call": "app.main.fetch",
            },
            {
                "filename": file("app/main.py"),
                "location": at(7, 12),
                "end_location": at(7, 27),
                "function": "app.main.fetch",
                "call": "app.store.Store.load",
            },
            {
                "filename": file("app/store.py"),
                "location": at(8, 23),
                "end_location": at(8, 52),
                "function": "app.store.Store.load",
                "call": "requests.Session.get",
            },
        ],
        "reasons": [],
        "reached_by": [{"kind": "unknown", "entry": "app.main.handler", "filename": file("app/main.py"), "row": 9}],
        "fingerprint": null,
        "confirmed": null,
    });
    assert_eq!(found, expected);
    let fingerprint = fingerprint.as_str().expect("text");
    assert!(fingerprint.len() == 16 && fingerprint.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')));
    assert!(found["message"].as_str().is_some_and(|text| text.contains("for up to 5 s")), "{}", found["message"]);
}

#[test]
fn a_hold_is_seconds_a_word_or_nothing() {
    let folder = Folder::new(SERVICE);
    let findings = folder.json(&["--min-severity", "note"]);
    let holds: BTreeMap<(String, u64), Value> = findings
        .iter()
        .filter(|finding| finding["filename"].as_str().is_some_and(|name| name.ends_with("main.py")))
        .map(|finding| {
            let code = finding["code"].as_str().expect("text").to_owned();
            ((code, finding["location"]["row"].as_u64().expect("a row")), finding["hold"].clone())
        })
        .collect();
    let expected = [
        (("BLT101", 10), json!(2.5)),
        (("BLT102", 10), json!(5.0)),
        (("BLT102", 13), json!(5.0)),
        (("BLT104", 14), json!("brief")),
        (("BLT104", 15), Value::Null),
        (("BLT105", 16), json!("unbounded")),
    ];
    assert_eq!(holds, expected.map(|((code, row), hold)| ((code.to_owned(), row), hold)).into());
}

/// Findings are listed by path, offset and rule, whatever their causes.
#[test]
fn findings_are_in_order() {
    let folder = Folder::new(SERVICE);
    let key = |finding: &Value| {
        let at = &finding["location"];
        let text = |name: &str| finding[name].as_str().expect("text").to_owned();
        (text("filename"), at["row"].as_u64(), at["column"].as_u64(), text("code"))
    };
    let keys: Vec<_> = folder.json(&["--min-severity", "note"]).iter().map(key).collect();
    assert!(keys.len() >= 6 && keys.is_sorted(), "{keys:?}");
}

#[test]
fn what_was_not_read_has_the_same_fields() {
    let folder = Folder::new(&[("bad.py", "def\n"), ("a.py", "import time\nasync def f(): time.sleep(1)\n")]);
    let findings = folder.json(&[]);
    let [sleep, unread] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!(unread["code"], "BLT902");
    let names = |object: &Value| object.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(unread), names(sleep));
    let expected =
        [("effect", Value::Null), ("context", Value::Null), ("hold", Value::Null), ("noqa_row", Value::Null)];
    for (field, value) in expected {
        assert_eq!(unread[field], value, "{field}");
    }
    assert_eq!((&unread["trace"], &unread["causes"]), (&json!([]), &json!([])));
}

const COUNTED: &str = "import subprocess, time
async def f():
    time.sleep(1)
    time.sleep(2)
    time.sleep(3)
    time.sleep(4)
    time.sleep(5)
    time.sleep(6)
    time.sleep(7)
    time.sleep(8)
    time.sleep(9)
    time.sleep(10)
    open('x')
    subprocess.run(['x'])
";

/// `ruff check --statistics` (0.17) prints for its own rules over the same file:
///
/// ```text
/// 10    ASYNC251    blocking-sleep-in-async-function
///  1    ASYNC230    blocking-open-call-in-async-function
///  1    ASYNC221    run-process-in-async-function
/// Found 12 errors.
/// ```
///
/// counts to the right, columns by tabulators (here four spaces), the most frequent first.
#[test]
fn statistics_are_ruff_s() {
    let folder = Folder::new(&[("a.py", COUNTED)]);
    let (code, text) = folder.run(&["check", "--statistics"]);
    let expected = "10\tBLT101\tblocking-sleep\n 1\tBLT104\tblocking-file\n 1\tBLT105\tblocking-subprocess\n";
    assert_eq!((code, text), (1, format!("{expected}Found 12 findings with 12 causes.\n")));
    let (code, text) = folder.run(&["check", "--statistics", "--exit-zero", "--output-format", "json"]);
    let row = |code: &str, name: &str, count: u32| json!({ "code": code, "name": name, "count": count, "fixable": false, "fixable_count": 0 });
    let expected = json!([
        row("BLT101", "blocking-sleep", 10),
        row("BLT104", "blocking-file", 1),
        row("BLT105", "blocking-subprocess", 1),
    ]);
    assert_eq!((code, serde_json::from_str::<Value>(&text).expect("JSON")), (0, expected));
    // Only shown findings are counted.
    let (_, text) = folder.run(&["check", "--statistics", "--min-severity", "error", "--select", "BLT104,BLT105"]);
    assert!(text.starts_with("1\tBLT105\tblocking-subprocess\nFound 1 finding with 1 cause"), "{text}");
    let (code, text) = folder.run(&["check", "--statistics", "--select", "BLT103", "--output-format", "json"]);
    assert_eq!((code, text.as_str()), (0, "[]\n"));
}

const LOCKED: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\ntokio = \"1\"\n",
    ),
    (
        "src/lib.rs",
        "use std::sync::{Arc, Mutex};\n\npub struct App {\n    names: Arc<Mutex<Vec<String>>>,\n}\n\nimpl App {\n    pub async fn refresh(&self) {\n        \
         let names = self.names.clone();\n        let _ = tokio::task::spawn_blocking(move || {\n            let held = names.lock().unwrap();\n            \
         for name in held.iter() {\n                std::fs::read(name).unwrap();\n            }\n        })\n        .await;\n    }\n\n    \
         pub async fn count(&self) -> usize {\n        self.names.lock().unwrap().len()\n    }\n}\n",
    ),
];

#[test]
fn findings_have_the_places_that_hold_a_lock_and_that_wait_for_it() {
    let folder = Folder::new(LOCKED);
    let found = folder.json(&[]);
    let [waits] = &found[..] else { panic!("one finding: {found:?}") };
    assert_eq!((&waits["code"], &waits["location"]["row"]), (&json!("BLT106"), &json!(20)));
    let held = &waits["held_by"];
    assert_eq!((&held["location"]["row"], &held["function"]), (&json!(13), &json!("App::refresh")), "{held}");
    let (_, full) = folder.run(&["check"]);
    assert!(full.contains("::: src/lib.rs:13:26"), "{full}");
    assert!(full.contains("`refresh` holds the lock over `std::fs::read`"), "{full}");
    let (_, sarif) = folder.run(&["check", "--output-format", "sarif"]);
    let sarif: Value = serde_json::from_str(&sarif).expect("SARIF");
    let related = &sarif["runs"][0]["results"][0]["relatedLocations"];
    let of_holder = related.as_array().expect("places").last().expect("one");
    assert_eq!(of_holder["physicalLocation"]["region"]["startLine"], 13, "{related}");
    // The second run uses the cache.
    assert_eq!(folder.json(&[]), found);
}
