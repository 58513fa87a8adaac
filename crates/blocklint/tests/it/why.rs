//! `blocklint why PATH:LINE`, with the real binary.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use serde_json::Value;

/// Returns the output of the command for the line with the needle, in a project with these files.
fn why(files: &[(&str, &str)], file: &str, needle: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("blocklint.toml"), "").expect("written");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }
    let text = files.iter().find(|(name, _)| *name == file).expect("a file of the project").1;
    let line = text.lines().position(|line| line.contains(needle)).expect("a line with the needle") + 1;
    let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
    command.env_clear().current_dir(folder.path()).args(["why", &format!("{file}:{line}")]).stdin(Stdio::null());
    let output = command.output().expect("it starts");
    let out = String::from_utf8(output.stdout).expect("utf-8") + &String::from_utf8(output.stderr).expect("utf-8");
    format!("{}exit {}\n", without_model_lines(&out), output.status.code().unwrap_or(-1))
}

/// Returns the text without line numbers of model files, because they change with every new row.
fn without_model_lines(text: &str) -> String {
    let line = |line: &str| match line.split_once(".toml:") {
        Some((before, after)) => format!("{before}.toml{}", after.trim_start_matches(|c: char| c.is_ascii_digit())),
        None => line.to_owned(),
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

const STORE: &str = "\
import requests

class Store:
    def __init__(self):
        self.http = requests.Session()

    def load(self, key, wait=5):
        return self.http.get(key, timeout=wait)
";

const APP: &str = "\
from store import Store

store = Store()

async def handler():
    store.load('a')
";

#[test]
fn a_finding_placed_on_the_line() {
    assert_snapshot!(why(&[("store.py", STORE), ("app.py", APP)], "app.py", "store.load('a')"));
}

#[test]
fn a_cause_in_a_helper_belongs_to_the_findings_elsewhere() {
    assert_snapshot!(why(&[("store.py", STORE), ("app.py", APP)], "store.py", "self.http.get"));
}

#[test]
fn many_findings_are_counted() {
    let callers: String = (0..8).map(|at| format!("async def caller_{at}():\n    store.load('k')\n\n")).collect();
    let app = format!("from store import Store\nstore = Store()\n\n{callers}");
    let text = why(&[("store.py", STORE), ("app.py", &app)], "store.py", "self.http.get");
    assert_eq!(text.matches("  finding   ").count(), 5, "{text}");
    assert!(text.contains("and 3 more findings\n"), "{text}");
}

#[test]
fn a_hand_over_carries_no_effects() {
    let app = "\
import asyncio
import time

def job():
    time.sleep(1)

async def handler():
    await asyncio.to_thread(job)
";
    assert_snapshot!("handed_to_a_thread", why(&[("app.py", app)], "app.py", "to_thread"));
    assert_snapshot!("job_of_a_thread", why(&[("app.py", app)], "app.py", "time.sleep"));
}

#[test]
fn an_ignore_comment_ends_the_explanation() {
    let app = "\
import time

def job():
    time.sleep(1)

async def handler():
    job()  # blocklint: ignore[BLT101] measured

def calibrated():
    time.sleep(2)  # blocklint: ignore[BLT101] once a day

async def other():
    calibrated()
";
    assert_snapshot!("cut_at_the_call", why(&[("app.py", app)], "app.py", "job()  #"));
    assert_snapshot!("cut_by_the_caller", why(&[("app.py", app)], "app.py", "time.sleep(1)"));
    assert_snapshot!("cut_at_the_cause", why(&[("app.py", app)], "app.py", "time.sleep(2)"));
    assert_snapshot!("silenced_callee", why(&[("app.py", app)], "app.py", "    calibrated()"));
}

#[test]
fn an_unknown_receiver_has_a_reason() {
    let app = "\
async def handler(client):
    client.fetch('a')
    {}.get('a')
";
    assert_snapshot!("unknown_receiver", why(&[("app.py", app)], "app.py", "client.fetch"));
    assert_snapshot!("method_of_a_dict", why(&[("app.py", app)], "app.py", "{}.get"));
}

#[test]
fn conditions_are_shown_or_not() {
    let app = "\
import queue

q = queue.Queue()

def poll(block):
    first = q.get(block=False)
    second = q.get(timeout=0)
    return q.get(block)

async def handler():
    poll(True)
    poll(False)
";
    for (name, needle) in [
        ("shown", "block=False"),
        ("no_time", "timeout=0"),
        ("left_to_a_parameter", "q.get(block)"),
        ("ruled_out_by_an_argument", "poll(False)"),
    ] {
        assert_snapshot!(name, why(&[("app.py", app)], "app.py", needle));
    }
}

#[test]
fn where_effects_end() {
    let app = "\
import asyncio
import time
from fastapi import FastAPI

app = FastAPI()

def unused():
    time.sleep(1)

def listed():
    time.sleep(2)

HANDLERS = {'a': listed}

@app.get('/report')
def report():
    time.sleep(3)

async def other():
    time.sleep(4)

async def handler():
    await other()
    asyncio.create_task(other())

time.sleep(5)
";
    for (name, needle) in [
        ("no_caller", "time.sleep(1)"),
        ("kept", "time.sleep(2)"),
        ("registered_for_a_worker", "time.sleep(3)"),
        ("decorator", "@app.get"),
        ("awaited", "await other()"),
        ("only_made", "create_task"),
        ("top_level", "time.sleep(5)"),
    ] {
        assert_snapshot!(name, why(&[("app.py", app)], "app.py", needle));
    }
}

#[test]
fn implicit_calls_speak_where_code_stands_behind_them() {
    let app = "\
import time

class Store:
    size = 3

    @property
    def rows(self):
        time.sleep(1)
        return []

async def handler(store: Store):
    print(store.rows, store.size)
    store.size
";
    assert_snapshot!("property", why(&[("app.py", app)], "app.py", "print(store.rows"));
    assert_snapshot!("plain_attribute", why(&[("app.py", app)], "app.py", "    store.size"));
}

#[test]
fn rust_and_java_lines() {
    let rust = "\
fn nap() {
    std::thread::sleep(std::time::Duration::from_secs(2));
}

async fn handler() {
    tokio::task::spawn_blocking(|| nap()).await;
    nap();
}
";
    assert_snapshot!("rust_hand_over", why(&[("main.rs", rust)], "main.rs", "spawn_blocking"));
    assert_snapshot!("rust_finding", why(&[("main.rs", rust)], "main.rs", "    nap();"));
    let java = "\
package app;
import java.util.concurrent.ExecutorService;
public class Job {
    private ExecutorService pool;
    void run() throws Exception {
        pool.submit(() -> this.nap());
    }
    void nap() throws Exception { Thread.sleep(1000); }
}
";
    assert_snapshot!("java_hand_over", why(&[("Job.java", java)], "Job.java", "pool.submit"));
}

#[test]
fn a_line_without_calls_says_where_it_stands() {
    assert_snapshot!("no_site", why(&[("app.py", "x = 1\n\ny = x\n")], "app.py", "y = x"));
    assert_snapshot!("broken_file", why(&[("app.py", "def broken(:\n    x = (\n")], "app.py", "x = ("));
    let app = "\
import time

# Sleeps for as long as it is told.

def nap(seconds):
    # A moment is enough.
    time.sleep(
        seconds,
    )

async def handler():
    nap(5)
";
    let at = |line: u32| in_folder(&[("app.py", app)], ".", &["why", &format!("app.py:{line}")]).1;
    assert!(at(1).starts_with("app.py:1 an import outside of any function of module `app`\n"), "{}", at(1));
    let comment = at(3);
    assert!(comment.starts_with("app.py:3 a comment outside of any function of module `app`\n"), "{comment}");
    assert!(comment.contains("the nearest function is function `app.nap` (app.py:5:5)\n"), "{comment}");
    assert!(at(4).starts_with("app.py:4 a blank line outside of any function of module `app`\n"), "{}", at(4));
    assert!(at(6).starts_with("app.py:6 a comment in function `app.nap`\n"), "{}", at(6));
    let inside = at(8);
    assert!(inside.contains("continues with the call of `time.sleep` (app.py:7:5)\n"), "{inside}");
    assert!(inside.contains("to BLT101 at app.py:12:5\n"), "{inside}");
    let (code, _, err) = in_folder(&[("app.py", app)], ".", &["why", "app.py:99"]);
    assert_eq!((code, err.trim()), (2, "error: app.py:99: no such line"));
}

/// Returns the exit code, output and messages of a command in a folder of a project without a marker file.
fn in_folder(files: &[(&str, &str)], folder: &str, arguments: &[&str]) -> (i32, String, String) {
    let project = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = project.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }
    run(&project.path().join(folder), arguments)
}

fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
    let output =
        command.env_clear().current_dir(folder).args(arguments).stdin(Stdio::null()).output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("utf-8");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// A package that is imported from the project root, by a file in a sub-folder.
const IMPORTED: &[(&str, &str)] = &[
    ("shop/__init__.py", ""),
    ("shop/store.py", "import time\n\ndef load():\n    time.sleep(3)\n"),
    ("service/api/main.py", "from shop.store import load\n\nasync def handler():\n    load()\n"),
];

#[test]
fn the_project_is_that_of_check() {
    for mark in [None, Some(("blocklint.toml", "")), Some((".git/HEAD", "ref: refs/heads/main\n"))] {
        let files: Vec<(&str, &str)> = IMPORTED.iter().copied().chain(mark).collect();
        let (_, found, _) = in_folder(&files, ".", &["check", "--output-format", "concise", "--no-cache"]);
        assert!(found.contains("service/api/main.py:4:5: BLT101"), "{mark:?}: {found}");
        let (code, said, err) = in_folder(&files, ".", &["why", "service/api/main.py:4"]);
        assert_eq!((code, err.as_str()), (0, ""), "{mark:?}");
        assert!(said.contains("finding   service/api/main.py:4:5: BLT101"), "{mark:?}: {said}");
        let (_, said, _) = in_folder(&files, ".", &["why", "shop/store.py:4"]);
        assert!(said.contains("the call that blocks is here"), "{mark:?}: {said}");
        if mark.is_some() {
            let (_, said, _) = in_folder(&files, "service/api", &["why", "main.py:4", "../../shop/store.py:4"]);
            assert_eq!(said.matches("finding   main.py:4:5: BLT101").count(), 2, "{mark:?}: {said}");
        }
    }
    // In a folder with several repositories each one is a project.
    let files: Vec<(String, &str)> = IMPORTED.iter().map(|(path, text)| (format!("mono/{path}"), *text)).collect();
    let mut files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    files.push(("mono/.git/HEAD", "ref: refs/heads/main\n"));
    let (_, said, _) = in_folder(&files, ".", &["why", "mono/service/api/main.py:4"]);
    assert!(said.contains("finding   mono/service/api/main.py:4:5: BLT101"), "{said}");
}

#[test]
fn every_line_that_is_reported_in_the_examples_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    copy(&examples, folder.path());
    const LEVELS: [&str; 7] =
        ["--min-severity", "note", "--min-confidence", "low", "--include-aside", "--output-format", "json"];
    let (_, out, _) = run(folder.path(), &[&["check", "--no-cache"], &LEVELS[..]].concat());
    let findings: Vec<Value> = serde_json::from_str(&out).expect("findings");
    assert!(findings.len() > 10, "{out}");
    let mut asked: Vec<(String, String, bool)> = Vec::new();
    for finding in &findings {
        let place = |of: &Value| format!("{}:{}", of["filename"].as_str().expect("a file"), of["location"]["row"]);
        let code = finding["code"].as_str().expect("a code").to_owned();
        asked.push((place(finding), code.clone(), true));
        for step in
            finding["trace"].as_array().expect("steps").iter().chain(finding["causes"].as_array().expect("causes"))
        {
            asked.push((place(step), code.clone(), false));
        }
    }
    let places: Vec<&str> = asked.iter().map(|(place, ..)| place.as_str()).collect();
    let (code, out, err) = run(folder.path(), &[&["why"], &LEVELS[..], &places[..]].concat());
    assert_eq!((code, err.as_str()), (0, ""));
    let lines: Vec<Value> = serde_json::from_str(&out).expect("explanations");
    assert_eq!(lines.len(), asked.len());
    for ((place, code, stands), line) in asked.iter().zip(&lines) {
        let named =
            line["findings"].as_array().expect("findings").iter().any(|one| {
                one["code"] == code.as_str() && one["hidden"].is_null() && (!stands || one["part"].is_null())
            });
        assert!(named, "{place} {code}: {line:#}");
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir_all(&to).expect("made");
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).expect("copied");
        }
    }
}

#[test]
fn what_is_hidden_says_what_would_show_it() {
    let app = "\
import time
from pathlib import Path

async def handler():
    time.sleep(1)  # blocklint: ignore[BLT101] measured
    time.sleep(2)
    Path('a').exists()
";
    let hidden = |files: &[(&str, &str)], arguments: &[&str]| {
        let said = in_folder(files, ".", &[&["why"], arguments].concat()).1;
        said.lines().filter_map(|line| line.trim().strip_prefix("hidden    ").map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(hidden(&[("app.py", app)], &["app.py:5"]), ["suppressed by a comment: measured"]);
    assert_eq!(hidden(&[("app.py", app)], &["app.py:6"]), [] as [&str; 0]);
    let below = ["below the shown levels; `--min-severity note` shows it"];
    assert_eq!(hidden(&[("app.py", app)], &["app.py:7"]), below);
    assert_eq!(hidden(&[("app.py", app)], &["app.py:7", "--min-severity", "note"]), [] as [&str; 0]);
    let unselected = ["the rule is not selected; `--extend-select BLT101` reports it"];
    assert_eq!(hidden(&[("app.py", app)], &["app.py:6", "--ignore", "BLT101"]), unselected);
    let of_file = ("blocklint.toml", "[per-file-ignores]\n\"app.py\" = [\"BLT101\"]\n");
    let silenced = ["`per-file-ignores` of the configuration suppresses it"];
    assert_eq!(hidden(&[("app.py", app), of_file], &["app.py:6"]), silenced);
    let test = "import time\n\nasync def test_nap():\n    time.sleep(2)\n";
    let aside = hidden(&[("tests/test_app.py", test), ("app.py", app)], &["tests/test_app.py:4"]);
    assert_eq!(aside.len(), 1, "{aside:?}");
    assert!(aside[0].contains("`--include-aside` shows it with severity"), "{aside:?}");
    // Findings of a baseline.
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("app.py"), app).expect("written");
    run(folder.path(), &["baseline", "create", "--no-cache"]);
    let said = run(folder.path(), &["why", "app.py:6"]).1;
    assert!(said.contains("hidden    the baseline holds it; `--no-baseline` shows it\n"), "{said}");
}

#[test]
fn a_file_that_is_not_read_says_why() {
    let app = "import time\n\nasync def handler():\n    time.sleep(2)\n";
    let said = |files: &[(&str, &str)], path: &str| in_folder(files, ".", &["why", &format!("{path}:4")]).1;
    let excluded = [("gen/app.py", app), ("blocklint.toml", "exclude = [\"gen\"]\n"), ("main.py", "")];
    for (files, path, why) in [
        (&excluded[..], "gen/app.py", "`gen` of `exclude` matches it"),
        (
            &[("out/app.py", app), (".gitignore", "out/\n"), ("main.py", "")],
            "out/app.py",
            "`out/` of .gitignore ignores it",
        ),
        (&[(".cache/app.py", app), ("main.py", "")], ".cache/app.py", "`.cache` is hidden"),
        (&[("node_modules/app.py", app), ("main.py", "")], "node_modules/app.py", "it is in `node_modules`"),
    ] {
        let said = said(files, path);
        assert!(said.contains(&format!("`check` does not read this file unless it is named: {why}")), "{said}");
        assert!(said.contains(&format!("finding   {path}:4:5: BLT101")), "{said}");
    }
    for (path, why) in
        [("notes.txt", "not a Python, Rust or Java file"), ("a.pyi", "a stub has no code"), ("b.py", "no such file")]
    {
        let (code, _, err) =
            in_folder(&[("notes.txt", "x\n"), ("a.pyi", "x = 1\n")], ".", &["why", &format!("{path}:1")]);
        assert_eq!((code, err.trim()), (2, format!("error: {path}: {why}").as_str()));
    }
    let manifest = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let nap = "pub async fn nap() {\n    std::thread::sleep(std::time::Duration::from_secs(2));\n}\n";
    let lib = "pub mod used;\n// pub mod old;\n";
    let files = [("Cargo.toml", manifest), ("src/lib.rs", lib), ("src/used.rs", nap), ("src/old.rs", nap)];
    let said = in_folder(&files, ".", &["why", "src/old.rs:2"]).1;
    assert!(said.contains("the file is not part of the program: no `mod` declares it"), "{said}");
    let said = in_folder(&files, ".", &["why", "src/used.rs:2"]).1;
    assert!(!said.contains("not part of the program") && said.contains("BLT101"), "{said}");
}

#[test]
fn a_definition_is_explained_as_a_whole() {
    let app = "\
import asyncio
import time

def load():
    read()

def read():
    time.sleep(3)

def unused():
    time.sleep(4)

async def handler():
    load()
    await other()

async def other():
    await asyncio.sleep(1)
";
    for (name, needle) in [
        ("definition_of_a_helper", "def load"),
        ("definition_of_a_coroutine", "def handler"),
        ("definition_of_what_nobody_calls", "def unused"),
        ("definition_of_a_quiet_coroutine", "def other"),
    ] {
        assert_snapshot!(name, why(&[("app.py", app)], "app.py", needle));
    }
}

#[test]
fn callers_that_count_come_before_those_in_tests() {
    let app = "import time\n\ndef load():\n    time.sleep(3)\n";
    let calls = |prefix: &str, count: usize| {
        let each = (0..count).map(|at| format!("def {prefix}_{at}():\n    load()\n\n"));
        each.fold("from app import load\n\n".to_owned(), |text, call| text + &call)
    };
    let (tests, jobs) = (calls("test", 8), calls("job", 6));
    let files = [("app.py", app), ("tests/test_app.py", tests.as_str()), ("work.py", jobs.as_str())];
    for (line, listed, count) in [("app.py:3", "called by function", 10), ("app.py:4", "silent    ", 10 + 1)] {
        let said = in_folder(&files, ".", &["why", line]).1;
        let (last_job, first_test) = (said.rfind("`work.job_"), said.find("test_app.test_"));
        assert!(last_job.is_some() && last_job < first_test, "{line}: {said}");
        assert_eq!(said.matches(listed).count(), count, "{line}: {said}");
    }
}

#[test]
fn a_doubt_is_named() {
    let app = "\
import time

class Store:
    def read(self):
        raise NotImplementedError

class Memory(Store):
    def read(self):
        return 1

class Remote(Store):
    def read(self):
        time.sleep(3)

class Empty(Store):
    def read(self):
        return None

class Null(Store):
    def read(self):
        return 0

async def handler(store: Store):
    store.read()

async def guess(thing):
    thing.only_here()

class Once:
    def only_here(self):
        time.sleep(1)
";
    let said = in_folder(&[("app.py", app)], ".", &["why", "app.py:24", "app.py:27"]).1;
    assert!(
        said.contains("unsure    `store.read` may run one of 4, of which 1 blocks (`app.Remote.read`) and 3 do not (`app.Memory.read`"),
        "{said}"
    );
    assert!(said.contains("unsure    the receiver of `thing.only_here` is unknown"), "{said}");
}

/// Returns line, confidence and the names of the signals of each finding that `check` reports with these arguments.
fn reasons_of(files: &[(&str, &str)], arguments: &[&str]) -> Vec<(u64, String, Vec<String>)> {
    let lowest = ["check", "--output-format", "json", "--min-severity", "note", "--min-confidence", "low"];
    let out = in_folder(files, ".", &[&lowest[..], arguments].concat()).1;
    let report: Value = serde_json::from_str(&out).expect("JSON");
    let findings = report["findings"].as_array().or(report.as_array()).expect("findings").iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let names = |finding: &Value| {
        finding["reasons"].as_array().into_iter().flatten().map(|reason| text(&reason["name"])).collect()
    };
    findings
        .map(|finding| (finding["location"]["row"].as_u64().unwrap_or(0), text(&finding["confidence"]), names(finding)))
        .collect()
}

#[test]
fn reasons_are_the_signals_that_decided() {
    let test = "\
import asyncio
from pathlib import Path

async def test_it(path: Path):
    path.write_text('')
    await asyncio.create_subprocess_exec('cat', path)
";
    let files = [("tests/test_app.py", test)];
    let decided = |by: &str| vec![(5, "high".to_owned(), vec![by.to_owned()])];
    assert_eq!(reasons_of(&files, &[]), decided("in-tests"));
    // If the first signal is switched off, the next one decides.
    assert_eq!(reasons_of(&files, &["--without-signal", "in-tests"]), decided("prepares-a-process"));
}

#[test]
fn a_signal_of_a_condition_is_no_reason_where_the_caller_decides_it() {
    let others: String = (2..25).map(|n| format!("    elif kind == 'k{n}':\n        return {n}\n")).collect();
    let app = format!(
        "import time\n\ndef pick(kind):\n    if kind == 'k1':\n        return 1\n{others}    elif kind == 'last':\n        \
         time.sleep(3)\n\nasync def any_of_them(kind):\n    pick(kind)\n\nasync def last():\n    pick('last')\n"
    );
    let found = reasons_of(&[("app.py", &app)], &[]);
    let [(_, unsure, of_unsure), (_, sure, of_sure)] = &found[..] else { panic!("two findings: {found:?}") };
    assert_eq!(unsure, "low");
    assert!(of_unsure.iter().any(|name| name == "one-value-of-many"), "{found:?}");
    assert_eq!((sure.as_str(), of_sure.len()), ("high", 0), "{found:?}");
}

#[test]
fn programs_get_the_same_facts() {
    let files = [("store.py", STORE), ("app.py", APP)];
    let (_, out, _) = in_folder(&files, ".", &["why", "store.py:8", "app.py:6", "--output-format", "json"]);
    let lines: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(lines[0]["findings"][0]["part"], "the call that blocks is here");
    assert_eq!(lines[0]["sites"][0]["models"][0]["path"], "requests.Session.get");
    assert_eq!(lines[1]["findings"][0]["code"], "BLT102");
    assert_eq!(lines[1]["findings"][0]["part"], Value::Null);
    assert_eq!(lines[1]["stands"], "in async function `app.handler`");
    let (code, _, err) = in_folder(&files, ".", &["why", "app.py:6", "--output-format", "sarif"]);
    assert_eq!((code, err.trim()), (2, "error: an explanation is written in the formats `full` and `json`"));
}
