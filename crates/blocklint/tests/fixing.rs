//! `check --fix`, `--unsafe-fixes` and `--diff`, by the real binary.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

struct Project {
    folder: tempfile::TempDir,
}

/// What a run said and how it ended.
#[derive(Debug)]
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

const BEFORE: &str = "import time\n\n\nasync def a():\n    time.sleep(1)  # a nap\n    return open('x').read()\n";
const SAFE: &str = "import asyncio\nimport time\n\n\nasync def a():\n    await asyncio.sleep(1)  # a nap\n    return open('x').read()\n";

impl Project {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let project = Project { folder: tempfile::tempdir().expect("a folder") };
        fs::write(project.path("blocklint.toml"), "").expect("written");
        for (file, bytes) in files {
            fs::write(project.path(file), bytes).expect("written");
        }
        project
    }

    fn path(&self, file: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).expect("it exists").join(file)
    }

    fn text(&self, file: &str) -> String {
        String::from_utf8(fs::read(self.path(file)).expect("read")).expect("UTF-8")
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
        command.env_clear().current_dir(self.path("")).arg("check").args(arguments).stdin(Stdio::null());
        let output = command.output().expect("it starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

fn last_lines(run: &Run, count: usize) -> Vec<&str> {
    let lines = run.out.lines().collect::<Vec<_>>();
    lines[lines.len().saturating_sub(count)..].to_vec()
}

#[test]
fn a_plain_run_says_what_can_be_fixed_and_changes_nothing() {
    let project = Project::new(&[("a.py", BEFORE.as_bytes())]);
    let run = project.run(&["--output-format", "concise"]);
    let offer = "[*] 1 fixable with --fix (2 hidden fixes can be enabled with --unsafe-fixes).";
    assert_eq!(last_lines(&run, 2), ["Found 3 findings with 3 causes.", offer]);
    let run = project.run(&["--output-format", "concise", "--unsafe-fixes"]);
    assert_eq!(last_lines(&run, 1), ["[*] 3 fixable with --fix."]);
    assert_eq!(project.text("a.py"), BEFORE);
}

#[test]
fn fix_applies_what_is_safe_and_reports_what_remains() {
    let project = Project::new(&[("a.py", BEFORE.as_bytes())]);
    let run = project.run(&["--fix", "--output-format", "concise"]);
    assert_eq!((run.code, run.err.as_str()), (Some(1), ""));
    assert!(run.out.starts_with("a.py:7:12: BLT104"), "places are those of the new file: {}", run.out);
    let hidden = "No fixes available (2 hidden fixes can be enabled with --unsafe-fixes).";
    assert_eq!(last_lines(&run, 2), ["Found 3 findings (1 fixed, 2 remaining).", hidden]);
    assert_eq!(project.text("a.py"), SAFE);
    let again = project.run(&["--fix", "--output-format", "concise"]);
    assert_eq!(last_lines(&again, 2)[0], "Found 2 findings (0 fixed, 2 remaining).");
    assert_eq!(project.text("a.py"), SAFE);
}

#[test]
fn what_is_fixed_wholly_is_clean() {
    let text = "import time\n\n\nasync def a():\n    time.sleep(1)\n";
    for (arguments, code) in [
        (&["--fix"][..], 0),
        (&["--fix", "--exit-non-zero-on-fix"], 1),
        (&["--diff"], 1),
        (&["--diff", "--exit-zero"], 0),
    ] {
        let project = Project::new(&[("a.py", text.as_bytes())]);
        let run = project.run(arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}: {run:?}");
        if arguments[0] == "--fix" {
            assert_eq!(run.out, "Found 1 finding (1 fixed, 0 remaining).\n");
        }
    }
}

#[test]
fn diff_prints_what_would_change_and_writes_nothing() {
    let project = Project::new(&[("a.py", BEFORE.as_bytes())]);
    let run = project.run(&["--diff"]);
    let diff = "--- a.py\n+++ a.py\n@@ -1,6 +1,7 @@\n+import asyncio\n import time\n \n \n async def a():\n\
                -    time.sleep(1)  # a nap\n+    await asyncio.sleep(1)  # a nap\n     return open('x').read()\n";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(1), diff, "Would fix 1 finding.\n"));
    // It wins over --fix, as in ruff.
    assert_eq!(project.run(&["--diff", "--fix"]).out, diff);
    assert_eq!(project.text("a.py"), BEFORE);
    let clean = Project::new(&[("a.py", b"x = 1\n")]).run(&["--diff"]);
    assert_eq!((clean.code, clean.out.as_str(), clean.err.as_str()), (Some(0), "", "No findings would be fixed.\n"));
}

#[test]
fn bytes_that_no_edit_covers_stay() {
    let windows = format!("\u{feff}{}", BEFORE.replace('\n', "\r\n"));
    let latin = b"# coding: latin-1\nimport time\n\nname = '\xfc'\n\n\nasync def a():\n    time.sleep(1)\n";
    let project = Project::new(&[("a.py", windows.as_bytes()), ("b.py", latin)]);
    let run = project.run(&["--fix"]);
    assert_eq!(run.err, "");
    assert_eq!(project.text("a.py"), format!("\u{feff}{}", SAFE.replace('\n', "\r\n")));
    let fixed = b"# coding: latin-1\nimport time\nimport asyncio\n\nname = '\xfc'\n\n\nasync def a():\n    await asyncio.sleep(1)\n";
    assert_eq!(fs::read(project.path("b.py")).expect("read"), fixed);
}

#[test]
fn only_findings_that_are_reported_are_fixed() {
    let project = Project::new(&[("a.py", BEFORE.as_bytes()), ("b.py", BEFORE.as_bytes())]);
    project.run(&["--fix", "b.py"]);
    assert_eq!((project.text("a.py").as_str(), project.text("b.py").as_str()), (BEFORE, SAFE));
    project.run(&["--fix", "--ignore", "BLT101"]);
    assert_eq!(project.text("a.py"), BEFORE);
    let ignored = BEFORE.replace("# a nap", "# blocklint: ignore[BLT101] on purpose");
    fs::write(project.path("a.py"), &ignored).expect("written");
    project.run(&["--fix"]);
    assert_eq!(project.text("a.py"), ignored);
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_written_fails_the_run() {
    let project = Project::new(&[("a.py", BEFORE.as_bytes())]);
    let path = project.path("a.py");
    let mut mode = fs::metadata(&path).expect("there").permissions();
    mode.set_readonly(true);
    fs::set_permissions(&path, mode).expect("set");
    let run = project.run(&["--fix", "--output-format", "concise"]);
    assert_eq!((run.code, run.err.as_str()), (Some(2), "error: a.py: not fixed: it is read-only\n"));
    assert_eq!(
        last_lines(&run, 2)[0],
        "Found 3 findings (0 fixed, 3 remaining).",
        "what is found is told all the same"
    );
    assert_eq!(project.text("a.py"), BEFORE);
}

#[test]
fn notebooks_are_left_as_they_are() {
    let cell = serde_json::json!({
        "cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [],
        "source": "import time\nasync def a():\n    time.sleep(1)\n",
    });
    let notebook =
        serde_json::json!({ "cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4 }).to_string();
    let project = Project::new(&[("a.ipynb", notebook.as_bytes())]);
    let run = project.run(&["--fix", "--unsafe-fixes"]);
    assert_eq!(last_lines(&run, 1), ["Found 1 finding (0 fixed, 1 remaining)."]);
    assert_eq!(project.text("a.ipynb"), notebook);
}

#[test]
fn json_carries_fixes_in_ruff_s_shape() {
    let project = Project::new(&[("a.py", BEFORE.as_bytes())]);
    let run = project.run(&["--output-format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
    let fix = &json[0]["fix"];
    assert_eq!(fix["applicability"], "safe");
    assert!(fix["message"].is_string());
    let edits = fix["edits"].as_array().expect("edits");
    assert_eq!(edits[0]["content"], "import asyncio\n");
    assert_eq!(edits[0]["location"], serde_json::json!({ "row": 1, "column": 1 }));
    assert_eq!(edits[1]["location"]["row"], 5);
    assert_eq!(edits[1]["end_location"]["row"], 5);
}
