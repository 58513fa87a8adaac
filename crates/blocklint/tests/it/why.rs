//! `blocklint why PATH:LINE`, with the real binary.

use std::fs;
use std::process::{Command, Stdio};

use insta::assert_snapshot;

/// What the command says of a line of a project whose files these are; the line is the one that holds the needle.
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

/// The same text where the lines of model files are left out: they move with every row that is added above.
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
fn a_comment_ends_it() {
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
fn a_line_without_calls_is_an_error() {
    assert_snapshot!("no_site", why(&[("app.py", "x = 1\n\ny = x\n")], "app.py", "y = x"));
    assert_snapshot!("broken_file", why(&[("app.py", "def broken(:\n    x = (\n")], "app.py", "x = ("));
}
