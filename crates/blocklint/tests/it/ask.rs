//! `blocklint ask`: questions about names, and the example of its page.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Project, repository};

/// Returns the first line of the output, and the answers to questions about a project.
fn asked(project: &Project, questions: &[Value]) -> (Value, Vec<Value>) {
    let lines: String = questions.iter().map(|question| format!("{question}\n")).collect();
    let (first, answers) = told(project, &lines);
    (
        serde_json::from_str(&first).expect("JSON"),
        answers.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect(),
    )
}

fn told(project: &Project, questions: &str) -> (String, Vec<String>) {
    let mut command = project.command(&["ask"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("its input").write_all(questions.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    let mut lines = String::from_utf8(output.stdout).expect("UTF-8").lines().map(str::to_owned).collect::<Vec<_>>();
    (lines.remove(0), lines)
}

/// Returns the place of a text in a file, the n-th from 0.
fn place(project: &Project, file: &str, text: &str, number: usize) -> Value {
    let source = project.read(file);
    let start = source.match_indices(text).nth(number).expect("it stands there").0;
    let row = source[..start].matches('\n').count() + 1;
    let column = start - source[..start].rfind('\n').map_or(0, |end| end + 1) + 1;
    json!({
        "filename": project.path().join(file),
        "location": { "row": row, "column": column },
        "end_location": { "row": row, "column": column + text.len() },
    })
}

fn about(ask: &str, mut place: Value) -> Value {
    place["ask"] = ask.into();
    if ask == "function" || ask == "class" {
        place.as_object_mut().expect("an object").remove("end_location");
    }
    place
}

/// Returns the rows of places.
fn rows(places: &Value) -> Vec<u64> {
    let list = places.as_array().expect("a list");
    list.iter().map(|place| place["location"]["row"].as_u64().expect("a row")).collect()
}

#[test]
fn the_example_of_the_page_holds() {
    let page = fs::read_to_string(repository().join("docs/ask.md")).expect("the page");
    let block = |language: &str, number: usize| {
        let begin = format!("```{language}\n");
        let rest = page.split(&begin).nth(number + 1).expect("a block");
        rest.split("```").next().expect("its end").to_owned()
    };
    let project = Project::new(&[("app.py", &block("python", 0))]);
    let root = project.path().to_str().expect("UTF-8").to_owned();
    let (first, answers) = told(&project, &block("json", 0).replace("/project", &root));
    assert!(first.contains("\"version\":1"), "{first}");
    let parsed = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
    let found: Vec<Value> = answers.iter().map(|line| parsed(&line.replace(&root, "/project"))).collect();
    assert_eq!(found, block("json", 1).lines().map(parsed).collect::<Vec<_>>());
}

#[test]
fn files_are_listed_with_their_modules() {
    let project = Project::new(&[("shop/__init__.py", ""), ("shop/old.py", "print 'a'\n")]);
    let (first, _) = asked(&project, &[]);
    let files = first["files"].as_array().expect("files");
    let found: Vec<_> = files.iter().map(|file| (file["module"].as_str(), file["unread"].as_bool())).collect();
    assert_eq!(found, [(Some("shop"), Some(false)), (Some("shop.old"), Some(true))]);
}

const STORES: &str = "class Store:\n    def load(self):\n        return 1\n\n\nclass Small(Store):\n    def load(self):\n        return 2\n\n\nclass Other:\n    def load(self):\n        return 3\n";
const USES: &str = "from stores import Other, Small, Store as Shop\n\n\ndef one(shop: Shop, small: Small, other: Other, load):\n    shop.load()\n    small.load()\n    other.load()\n    load()\n    keep(shop.load)\n\n\ndef two(of: Small | Other):\n    of.load()\n\n\nShop.load = None\n\n\nasync def three(unknown):\n    await unknown.load()\n    unknown.load(1, 2)\n";

#[test]
fn a_method_changes_with_its_overrides_and_all_their_uses() {
    let project = Project::new(&[("stores.py", STORES), ("uses.py", USES)]);
    let question = about("function", place(&project, "stores.py", "load", 0));
    let answer = &asked(&project, &[question]).1[0];
    assert_eq!(rows(&answer["family"]), [2, 7]);
    let uses = answer["uses"].as_array().expect("uses");
    let found: Vec<_> =
        uses.iter().map(|of| (of["location"]["row"].as_u64(), of["means"].as_str(), of["target"].as_bool())).collect();
    let row = |row: u64, means: &'static str, target| (Some(row), Some(means), Some(target));
    // A call that is awaited already, or has too many arguments for the methods, has another receiver.
    assert_eq!(
        found,
        [
            row(5, "family", false),
            row(6, "family", false),
            row(9, "family", false),
            row(13, "either", false),
            row(16, "family", true)
        ]
    );
}

#[test]
fn a_decorator_hides_no_use() {
    let text = "from others import hidden\n\n\n@hidden\ndef load():\n    return 1\n\n\ndef run(load):\n    load()\n\n\nload()\n";
    let project = Project::new(&[("app.py", text)]);
    let answer = &asked(&project, &[about("function", place(&project, "app.py", "load", 0))]).1[0];
    assert_eq!((rows(&answer["uses"]), answer["uses"][0]["means"].as_str()), (vec![13], Some("family")));
}

#[test]
fn exports_are_reported() {
    let files = [
        ("shop/__init__.py", "from shop.work import load\n\n__all__ = ['Store']\n"),
        ("shop/work.py", "__all__ = ['load']\n\n\ndef load():\n    pass\n"),
    ];
    let project = Project::new(&files);
    let question = about("function", place(&project, "shop/work.py", "load", 1));
    let answer = &asked(&project, &[question]).1[0];
    assert_eq!(rows(&answer["shown"]), [1, 1]);
}

#[test]
fn a_variable_is_followed_through_imports() {
    let files = [
        (
            "db.py",
            "import threading\n\nclient = threading.Lock()\n\n\ndef reset():\n    global client\n    client = None\n",
        ),
        (
            "app.py",
            "from db import client as of\nimport db\n\n\ndef run():\n    of.acquire()\n    db.client.release()\n    client = 1\n    return client\n",
        ),
    ];
    let project = Project::new(&files);
    let answer = &asked(&project, &[about("variable", place(&project, "app.py", "of", 1))]).1[0];
    assert_eq!((rows(&answer["targets"]), rows(&answer["uses"])), (vec![3, 8], vec![6, 7]));
}

#[test]
fn an_attribute_is_that_of_its_class() {
    let files = [(
        "app.py",
        "class A:\n    def __init__(self):\n        self.client = open('a')\n\n\nclass B(A):\n    def run(self, other):\n        self.client.read()\n        other.client.read()\n\n\nclass C:\n    client = 1\n",
    )];
    let project = Project::new(&files);
    let answer = &asked(&project, &[about("variable", place(&project, "app.py", "self.client", 1))]).1[0];
    assert_eq!(
        (rows(&answer["targets"]), rows(&answer["uses"]), rows(&answer["unknown"])),
        (vec![3], vec![8], vec![9])
    );
}

#[test]
fn a_call_in_a_lock_belongs_to_its_thread() {
    let files = [(
        "app.py",
        "import threading\nimport time\n\nlock = threading.RLock()\n\n\nasync def root():\n    with lock:\n        time.sleep(1)\n    time.sleep(2)\n",
    )];
    let project = Project::new(&files);
    let questions = ["time.sleep(1)", "time.sleep(2)"].map(|call| about("thread", place(&project, "app.py", call, 0)));
    let answers = asked(&project, &questions).1;
    assert!(answers[0]["bound"]["reason"].as_str().is_some_and(|reason| reason.contains("Lock")), "{}", answers[0]);
    assert_eq!(answers[1]["bound"], Value::Null);
}

#[test]
fn a_question_without_an_answer_says_so() {
    let project = Project::new(&[("app.py", "import os\n")]);
    let questions = [
        json!({ "ask": "weather" }),
        about("function", place(&project, "app.py", "os", 0)),
        json!({ "ask": "path", "path": "app" }),
    ];
    let answers = asked(&project, &questions).1;
    assert!(answers[0]["error"].is_string() && answers[1]["error"].is_string());
    assert_eq!(answers[2]["meanings"][0]["kind"], "module");
}

#[test]
fn imports_stand_where_fixes_put_them() {
    let project = Project::new(&[("app.py", "")]);
    let imports = json!([{ "module": "asyncio", "name": null }, { "module": "os", "name": "path" }]);
    let question =
        json!({ "ask": "imports", "text": "\"\"\"About.\"\"\"\n\nimport time\n\nprint(1)\n", "imports": imports });
    let text = &asked(&project, &[question]).1[0]["text"];
    assert_eq!(text, "\"\"\"About.\"\"\"\n\nimport asyncio\nimport time\nfrom os import path\n\nprint(1)\n");
}
