//! The entry points that reach a finding, in JSON and in `why`, with the real binary.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Returns the output of the binary in a project with these files.
fn run(files: &[(&str, &str)], arguments: &[&str]) -> String {
    let folder = tempfile::Builder::new().prefix("reached-by-").tempdir().expect("a folder");
    fs::write(folder.path().join("blocklint.toml"), "").expect("written");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
    command.env_clear().current_dir(folder.path()).args(arguments).stdin(Stdio::null());
    String::from_utf8(command.output().expect("it starts").stdout).expect("utf-8")
}

/// Returns the kinds of entries that reach the function of each finding, with their routes: `get_user: request GET
/// /users/{id}`.
fn kinds(files: &[(&str, &str)]) -> Vec<String> {
    let all = ["check", "--output-format", "json", "--min-severity", "note", "--min-confidence", "low"];
    let text = run(files, &[&all[..], &["--include-aside"]].concat());
    let findings: Vec<Value> = serde_json::from_str(&text).expect("an array");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let entry = |entry: &Value| match text(&entry["route"]) {
        route if route.is_empty() => text(&entry["kind"]),
        route => format!("{} {route}", text(&entry["kind"])),
    };
    let line = |finding: &Value| {
        let function = text(&finding["function"]);
        let function = function.rsplit(['.', ':']).next().unwrap_or_default().to_owned();
        let entries: Vec<String> = finding["reached_by"].as_array().into_iter().flatten().map(entry).collect();
        format!("{function}: {}", entries.join(", "))
    };
    let mut found: Vec<String> = findings.iter().map(line).collect();
    found.sort();
    found
}

const PYTHON: &str = "\
import asyncio
import threading
import time
import click
from fastapi import FastAPI

app = FastAPI()

@app.get('/users/{id}')
async def get_user(id):
    await of_request_and_start()

@app.websocket('/ws')
async def talk(socket):
    time.sleep(1)

@app.on_event('startup')
async def begin():
    await of_request_and_start()
    await of_start()
    asyncio.create_task(of_task())
    await first_of_cycle()

@app.on_event('shutdown')
async def end():
    await of_stop()

async def of_request_and_start():
    time.sleep(1)

async def of_start():
    time.sleep(1)

async def of_stop():
    time.sleep(1)

async def of_task():
    time.sleep(1)

async def first_of_cycle():
    await second_of_cycle()

async def second_of_cycle():
    time.sleep(1)
    await first_of_cycle()

async def _nothing():
    await below_nothing()

async def below_nothing():
    time.sleep(1)

@click.command()
def command():
    asyncio.run(of_command())

async def of_command():
    time.sleep(1)

def given(function):
    kept.append(function)

async def of_keeper():
    time.sleep(1)

given(of_keeper)
";

#[test]
fn python_has_each_kind() {
    let test = "from app import of_stop, of_test\n\nasync def test_it():\n    await of_stop()\n    await of_test()\n";
    let more = "\nasync def of_test():\n    time.sleep(1)\n";
    let app = format!("{PYTHON}{more}");
    let found = kinds(&[("app.py", &app), ("tests/test_app.py", test)]);
    let expected = [
        "below_nothing: none",
        "of_command: command",
        "of_keeper: unknown",
        "of_request_and_start: request GET /users/{id}, start",
        "of_start: start",
        "of_stop: stop, test",
        "of_task: task",
        "of_test: test, unknown",
        "second_of_cycle: start",
        "talk: request WEBSOCKET /ws",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_public_function_of_a_library_may_be_called_from_elsewhere() {
    let found = kinds(&[("library.py", "import time\n\nasync def load():\n    time.sleep(1)\n")]);
    assert_eq!(found, ["load: unknown"]);
}

#[test]
fn a_constructor_runs_when_its_class_is_made() {
    let app = "\
import time
from fastapi import FastAPI

app = FastAPI()

async def helper():
    time.sleep(1)

class Job:
    async def run(self):
        await helper()

job = Job()

@app.on_event('startup')
async def begin():
    await job.run()

@app.post('/jobs')
async def make():
    await Job().run()
";
    assert_eq!(kinds(&[("app.py", app)]), ["helper: request POST /jobs, start"]);
}

#[test]
fn the_address_of_a_server_is_no_route() {
    let app = "\
import asyncio
import time

async def answer(reader, writer):
    time.sleep(1)

async def main():
    await asyncio.start_server(answer, '0.0.0.0', 80)

asyncio.run(main())
";
    let found = kinds(&[("app.py", app)]);
    assert!(found.iter().all(|line| !line.contains("0.0.0.0")) && !found.is_empty(), "{found:?}");
}

#[test]
fn a_main_that_is_driven_is_the_start() {
    let app = "import asyncio\nimport time\n\nasync def main():\n    time.sleep(1)\n\nasyncio.run(main())\n";
    assert_eq!(kinds(&[("app.py", app)]), ["main: start"]);
}

#[test]
fn rust_has_routes_tasks_and_a_main() {
    let main = "\
use axum::{Router, routing::get};
use std::{thread::sleep, time::Duration};

async fn list() {
    of_request();
}

fn of_request() {
    sleep(Duration::from_secs(1));
}

async fn of_main() {
    sleep(Duration::from_secs(1));
}

async fn of_task() {
    sleep(Duration::from_secs(1));
}

async fn unused() {
    sleep(Duration::from_secs(1));
}

#[tokio::main]
async fn main() {
    of_main().await;
    tokio::spawn(of_task());
    let app: Router = Router::new().route(\"/users\", get(list));
    let listener = tokio::net::TcpListener::bind(\"0.0.0.0:80\").await.unwrap();
    axum::serve(listener, app).await.unwrap();
}
";
    let manifest = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\ntokio = \"1\"\naxum = \"0.7\"\n";
    let found = kinds(&[("Cargo.toml", manifest), ("src/main.rs", main)]);
    assert_eq!(found, ["list: request GET /users", "of_main: start", "of_task: task", "unused: none"]);
}

#[test]
fn java_has_routes_with_the_path_of_their_class() {
    let users = "\
package acme;

import jakarta.annotation.PostConstruct;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

@RestController
@RequestMapping(\"/api\")
class Users {
    @GetMapping(\"/users\")
    Mono<String> list() throws Exception {
        Thread.sleep(1000);
        return Mono.empty();
    }
}
";
    let found = kinds(&[("src/main/java/acme/Users.java", users)]);
    assert_eq!(found, ["list: request GET /api/users"]);
}

#[test]
fn why_says_it_in_one_line() {
    let text = run(&[("app.py", PYTHON)], &["why", "app.py:29"]);
    assert!(text.contains("reached   by request (GET /users/{id} in app.py:10), start (begin in app.py:18)"), "{text}");
}
