//! Notebooks: findings have the cell and its lines in every format.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Folder(tempfile::tempdir().expect("a folder"));
        fs::write(folder.path().join("blocklint.toml"), "").expect("written");
        for (file, text) in files {
            fs::write(folder.path().join(file), text).expect("written");
        }
        folder
    }

    fn path(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).expect("it exists")
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
        command.env_clear().current_dir(self.path()).args(arguments).stdin(Stdio::null());
        let output = command.output().expect("it starts");
        (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8"))
    }

    fn check(&self, format: &str) -> String {
        self.run(&["check", "--output-format", format]).1
    }
}

/// Returns a notebook of Markdown (`# …`) and code cells; every second source is a list of lines.
fn notebook(cells: &[&str]) -> String {
    let cells = cells.iter().enumerate().map(|(at, source)| {
        let lines = source.split_inclusive('\n').collect::<Vec<_>>();
        let source = if at % 2 == 0 { json!(lines) } else { json!(source) };
        match lines.first().is_some_and(|line| line.starts_with("# ")) {
            true => json!({ "cell_type": "markdown", "metadata": {}, "source": source }),
            false => json!({
                "cell_type": "code", "metadata": {}, "source": source, "execution_count": null,
                "outputs": [{ "output_type": "stream", "name": "stdout", "text": ["async def f(): time.sleep(1)"] }],
            }),
        }
    });
    let cells = cells.collect::<Vec<_>>();
    json!({ "cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5 }).to_string()
}

fn demo() -> Folder {
    let cells = [
        "# Title",
        "%matplotlib inline\nimport time, helper\n!pip install x\nhelper?",
        "%%bash\nsleep 1",
        "async def é():\n    x = 'é'; time.sleep(1)\n    helper.load()",
        "time.sleep(3)\nawait é()\ntime.sleep(4)",
        "async def g():\n    # blocklint: ignore[BLT101] demo\n    time.sleep(2)\n    await é()",
    ];
    let helper = "import requests\ndef load():\n    requests.get('x', timeout=5)\n";
    Folder::new(&[("demo.ipynb", &notebook(&cells)), ("helper.py", helper), ("stub.pyi", "async def f(): open('x')\n")])
}

#[test]
fn lines_name_the_cell() {
    let out = demo().check("concise");
    let places = out.lines().filter_map(|line| line.split_once(": BLT")).map(|(place, _)| place).collect::<Vec<_>>();
    assert_eq!(places, ["demo.ipynb:cell 4:2:14", "demo.ipynb:cell 4:3:5"], "{out}");
}

#[test]
fn noqa_applies_to_its_own_line_of_a_cell() {
    let cells = [
        "import time\nasync def f():\n    time.sleep(1)  # noqa",
        "async def g():  # noqa\n    time.sleep(1)\n    # noqa",
        "async def h():\n    time.sleep(1)  # blocklint: ignore BLT101",
    ];
    let out = Folder::new(&[("demo.ipynb", &notebook(&cells))]).check("concise");
    let found = out
        .lines()
        .filter_map(|line| Some(line.split_once(": BLT")?.0.to_owned() + " " + &line.split_once(": BLT")?.1[..3]));
    let expected = ["demo.ipynb:cell 2:2:5 101", "demo.ipynb:cell 3:2:5 101", "demo.ipynb:cell 3:2:20 903"];
    assert_eq!(found.collect::<Vec<_>>(), expected, "{out}");
}

#[test]
fn frames_show_the_cell_s_own_lines() {
    let out = demo().check("full");
    assert!(out.contains("--> demo.ipynb:cell 4:2:14\n"), "{out}");
    assert!(out.contains("2 |     x = 'é'; time.sleep(1)\n"), "{out}");
    assert!(out.contains("::: helper.py:3:5\n"), "{out}");
}

#[test]
fn objects_carry_the_cell_beside_the_row() {
    let findings: Vec<Value> = serde_json::from_str(&demo().check("json")).expect("JSON");
    let [sleep, load] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!((&sleep["cell"], &sleep["location"]), (&json!(4), &json!({ "row": 2, "column": 14 })));
    assert_eq!(sleep["end_location"], json!({ "row": 2, "column": 27 }));
    assert_eq!((&load["trace"][0]["cell"], load["trace"][1].get("cell")), (&json!(4), None));
    assert_eq!(load["function"], "demo.é");
}

#[test]
fn services_get_the_cell_too() {
    let folder = demo();
    let github = folder.check("github");
    let file = folder.path().join("demo.ipynb");
    let file = file.to_str().expect("UTF-8");
    let start = format!("::error title=blocklint (BLT101),file={file}::demo.ipynb:cell 4:2:14: BLT101 ");
    assert!(github.lines().any(|line| line.starts_with(&start)), "{github}");
    let sarif: Value = serde_json::from_str(&folder.check("sarif")).expect("JSON");
    let regions = sarif["runs"][0]["results"].as_array().expect("results").iter().map(|result| {
        let region = &result["locations"][0]["physicalLocation"]["region"];
        (region["properties"]["cell"].clone(), region["startLine"].clone(), result["suppressions"].is_array())
    });
    let cell = |cell: u32, row: u32, silenced| (json!(cell), json!(row), silenced);
    assert_eq!(regions.collect::<Vec<_>>(), [cell(4, 2, false), cell(4, 3, false), cell(6, 3, true)]);
}

#[test]
fn a_line_of_a_cell_can_be_asked_about() {
    let (code, out) = demo().run(&["why", "demo.ipynb:cell 4:2"]);
    assert_eq!(code, Some(0));
    assert!(out.starts_with("demo.ipynb:cell 4:2 in async function `demo.é`\n"), "{out}");
    assert!(out.contains("\ndemo.ipynb:cell 4:2:14: call `time.sleep` in async function `demo.é`\n"), "{out}");
    assert_eq!(demo().run(&["why", "demo.ipynb:cell 1:1"]).0, Some(2));
}

#[test]
fn a_stub_is_no_code() {
    let folder = demo();
    let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
    let run = command.env_clear().current_dir(folder.path()).args(["check", "stub.pyi"]).output().expect("it starts");
    let told = String::from_utf8(run.stderr).expect("UTF-8");
    assert!(told.starts_with("warning: stub.pyi: skipped: a stub has no code\n"), "{told}");
    assert_eq!(run.status.code(), Some(0));
}

#[test]
fn a_broken_notebook_is_a_note() {
    let broken = notebook(&["x = (\n", "import time\nasync def f(): time.sleep(1)"]);
    let folder = Folder::new(&[("a.ipynb", "{"), ("b.ipynb", &broken)]);
    let out = folder.check("concise");
    assert!(out.starts_with("a.ipynb:1:1: BLT902 not read: not JSON: EOF while parsing"), "{out}");
    assert!(out.contains("\nb.ipynb:cell 2:1:1: BLT902 syntax error: "), "{out}");
}
