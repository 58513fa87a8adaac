//! `check --fix` and `--diff`: which files are written, and which stay unchanged.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A temporary folder that is a project root.
struct Project {
    folder: tempfile::TempDir,
}

struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let project = Project { folder: tempfile::tempdir().expect("a folder") };
        project.write("blocklint.toml", b"");
        for (file, text) in files {
            project.write(file, text.as_bytes());
        }
        project
    }

    fn path(&self, file: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).expect("it exists").join(file)
    }

    fn write(&self, file: &str, bytes: &[u8]) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, bytes).expect("written");
    }

    fn read(&self, file: &str) -> Vec<u8> {
        fs::read(self.path(file)).expect("it is there")
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
        command.env_clear().current_dir(self.path("")).args(arguments).stdin(Stdio::null());
        let Output { status, stdout, stderr } = command.output().expect("it starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("utf-8");
        Run { code: status.code(), out: text(stdout), err: text(stderr) }
    }
}

const SLEEPS: &str = "import time\n\n\nasync def handler():\n    time.sleep(1)\n";
const SLEPT: &str = "import asyncio\nimport time\n\n\nasync def handler():\n    await asyncio.sleep(1)\n";
/// A file with a safe fix, an unsafe fix, and a finding without a fix.
const ALL: &str = "import asyncio\nimport time\n\n\ndef load(name):\n    return open(name).read()\n\n\n\
                   async def handler(name):\n    time.sleep(1)\n    with open(name):\n        \
                   await asyncio.sleep(0)\n        return load(name)\n";

#[test]
fn safe_fixes_are_applied_and_counted() {
    let project = Project::new(&[("main.py", ALL)]);
    let told = project.run(&["check", "--output-format", "concise"]);
    assert_eq!(told.code, Some(1));
    let hint = "Found 3 findings with 3 causes.\n\
                [*] 1 fixable with --fix (1 hidden fix can be enabled with --unsafe-fixes).\n";
    assert!(told.out.ends_with(hint), "{}", told.out);
    let fixed = project.run(&["check", "--fix", "--output-format", "concise"]);
    assert_eq!(fixed.code, Some(1));
    let closing = "Found 3 findings (1 fixed, 2 remaining).\n\
                   No fixes available (1 hidden fix can be enabled with --unsafe-fixes).\n";
    assert!(fixed.out.ends_with(closing), "{}", fixed.out);
    let fixed = project.run(&["check", "--fix", "--unsafe-fixes", "--output-format", "concise"]);
    assert!(fixed.out.ends_with("Found 2 findings (1 fixed, 1 remaining).\n"), "{}", fixed.out);
    let once = project.read("main.py");
    project.run(&["check", "--fix", "--unsafe-fixes"]);
    assert_eq!(project.read("main.py"), once, "a second run changes nothing");
    assert!(String::from_utf8_lossy(&once).contains("return await asyncio.to_thread(load, name)"));
}

#[test]
fn the_exit_code_is_0_if_nothing_remains() {
    let project = Project::new(&[("main.py", SLEEPS)]);
    let fixed = project.run(&["check", "--fix"]);
    let told = "Fixed 1 finding in 1 file:\n- main.py: 1\nFound 1 finding (1 fixed, 0 remaining).\n";
    assert_eq!((fixed.code, &*fixed.out, &*fixed.err), (Some(0), told, ""));
    assert_eq!(project.read("main.py"), SLEPT.as_bytes());
    project.write("main.py", SLEEPS.as_bytes());
    assert_eq!(project.run(&["check", "--fix", "--exit-non-zero-on-fix"]).code, Some(1));
}

#[test]
fn the_files_that_were_fixed_are_named_and_their_rules_where_that_is_asked() {
    let project = Project::new(&[("main.py", SLEEPS), ("sub/b.py", &format!("{SLEEPS}    time.sleep(2)\n"))]);
    let fixed = project.run(&["check", "--fix", "--show-fixes"]);
    let told = "Fixed 3 findings in 2 files:\n- main.py:\n    1 × BLT101 (blocking-sleep)\n- sub/b.py:\n    2 × BLT101 (blocking-sleep)\n\
                Found 3 findings (3 fixed, 0 remaining).\n";
    assert_eq!((fixed.code, &*fixed.out), (Some(0), told));
    // Output for programs has only the data.
    project.write("main.py", SLEEPS.as_bytes());
    assert_eq!(project.run(&["check", "--fix", "--show-fixes", "--output-format", "json"]).out, "[]\n");
}

#[test]
fn a_diff_changes_nothing() {
    let project = Project::new(&[("main.py", SLEEPS), ("sub/b.py", SLEEPS)]);
    let would = project.run(&["check", "--diff"]);
    assert_eq!((would.code, &*would.err), (Some(1), "Would fix 2 findings.\n"));
    assert!(would.out.starts_with("--- main.py\n+++ main.py\n@@ -1,5 +1,6 @@\n+import asyncio\n import time\n"));
    assert!(would.out.contains("--- sub/b.py\n+++ sub/b.py\n"));
    assert_eq!(project.read("main.py"), SLEEPS.as_bytes());
    project.run(&["check", "--fix"]);
    let none = project.run(&["check", "--diff"]);
    assert_eq!((none.code, &*none.out, &*none.err), (Some(0), "", "No findings would be fixed.\n"));
}

#[test]
fn a_diff_applies() {
    let project = Project::new(&[("main.py", ALL)]);
    let diff = project.run(&["check", "--diff", "--unsafe-fixes"]).out;
    project.write("a.diff", diff.as_bytes());
    let patched = Command::new("git").args(["apply", "-p0", "a.diff"]).current_dir(project.path("")).output();
    // Without git this cannot be tested.
    if let Ok(patched) = patched {
        assert!(patched.status.success(), "{}", String::from_utf8_lossy(&patched.stderr));
        let patched = project.read("main.py");
        project.write("main.py", ALL.as_bytes());
        project.run(&["check", "--fix", "--unsafe-fixes"]);
        assert_eq!(project.read("main.py"), patched);
    }
}

#[test]
fn encodings_marks_and_line_ends_stay() {
    let project = Project::new(&[]);
    let windows = |text: &str| text.replace('\n', "\r\n");
    project.write("crlf.py", windows(SLEEPS).as_bytes());
    project.write("bom.py", format!("\u{feff}{SLEEPS}").as_bytes());
    let latin = |text: &str| [b"# -*- coding: latin-1 -*-\n# \xe9\n".as_slice(), text.as_bytes()].concat();
    project.write("latin.py", &latin(SLEEPS));
    project.write("bare.py", SLEEPS.trim_end().as_bytes());
    let fixed = project.run(&["check", "--fix"]);
    assert_eq!((fixed.code, &*fixed.err), (Some(0), ""));
    assert_eq!(project.read("crlf.py"), windows(SLEPT).as_bytes());
    assert_eq!(project.read("bom.py"), format!("\u{feff}{SLEPT}").as_bytes());
    assert_eq!(project.read("latin.py"), latin(SLEPT));
    assert_eq!(project.read("bare.py"), SLEPT.trim_end().as_bytes());
}

#[test]
fn bytes_that_are_no_text_are_not_touched() {
    let project = Project::new(&[]);
    let bytes = [SLEEPS.as_bytes(), b"# \xff\n"].concat();
    project.write("main.py", &bytes);
    let fixed = project.run(&["check", "--fix", "--output-format", "concise"]);
    assert_eq!(fixed.code, Some(1));
    assert!(fixed.err.contains("main.py:5: BLT101 not fixed: the file has bytes"), "{}", fixed.err);
    assert_eq!(project.read("main.py"), bytes);
}

#[cfg(unix)]
#[test]
fn modes_and_links_stay() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new(&[("real/main.py", SLEEPS), ("locked/main.py", SLEEPS)]);
    fs::set_permissions(project.path("real/main.py"), fs::Permissions::from_mode(0o755)).expect("set");
    fs::set_permissions(project.path("locked/main.py"), fs::Permissions::from_mode(0o444)).expect("set");
    std::os::unix::fs::symlink("real/main.py", project.path("link.py")).expect("linked");
    let fixed = project.run(&["check", "--fix", "link.py", "locked"]);
    assert_eq!(fixed.code, Some(2), "a file that cannot be written is an error");
    assert!(fixed.err.contains("error: locked/main.py: not fixed: it is read-only"), "{}", fixed.err);
    assert!(project.path("link.py").is_symlink());
    assert_eq!(project.read("real/main.py"), SLEPT.as_bytes());
    assert_eq!(project.read("locked/main.py"), SLEEPS.as_bytes());
    let mode = fs::metadata(project.path("real/main.py")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    let left = fs::read_dir(project.path("real")).expect("listed").count();
    assert_eq!(left, 1, "no temporary file is left");
}

#[cfg(unix)]
#[test]
fn files_that_one_fix_changes_are_written_together_or_not_at_all() {
    use std::os::unix::fs::PermissionsExt;
    let manifest = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\n\
                    tokio = { version = \"1\", features = [\"full\"] }\n";
    let main = "mod store;\n\nasync fn handler(name: String) -> std::io::Result<String> {\n    store::load(&name)\n}\n";
    let store = "pub(crate) fn load(name: &str) -> std::io::Result<String> {\n    std::fs::read_to_string(name)\n}\n";
    let files = [("Cargo.toml", manifest), ("src/main.rs", main), ("src/store.rs", store), ("a.py", SLEEPS)];
    let project = Project::new(&files);
    let mode = |mode| {
        fs::set_permissions(project.path("src/store.rs"), fs::Permissions::from_mode(mode)).expect("set");
    };
    mode(0o444);
    let fixed = project.run(&["check", "--fix", "--unsafe-fixes"]);
    assert_eq!(fixed.code, Some(2), "{}", fixed.out);
    assert!(fixed.err.contains("src/store.rs: not fixed: it is read-only"), "{}", fixed.err);
    assert!(fixed.err.contains("src/main.rs: not fixed: it changes together with src/store.rs"), "{}", fixed.err);
    assert_eq!(project.read("src/main.rs"), main.as_bytes(), "half of a fix does not compile");
    assert_eq!(project.read("a.py"), SLEPT.as_bytes(), "what has nothing to do with it is written");
    mode(0o644);
    let fixed = project.run(&["check", "--fix", "--unsafe-fixes"]);
    assert_eq!(fixed.code, Some(0), "{}{}", fixed.out, fixed.err);
    assert!(String::from_utf8_lossy(&project.read("src/main.rs")).contains("store::load(&name).await"));
    assert!(String::from_utf8_lossy(&project.read("src/store.rs")).contains("pub(crate) async fn load"));
}

#[cfg(unix)]
#[test]
fn a_link_that_leaves_the_project_is_not_followed() {
    let elsewhere = Project::new(&[("main.py", SLEEPS)]);
    let project = Project::new(&[]);
    std::os::unix::fs::symlink(elsewhere.path("main.py"), project.path("link.py")).expect("linked");
    let fixed = project.run(&["check", "--fix", "link.py"]);
    assert_eq!(fixed.code, Some(2));
    assert!(fixed.err.contains("link that leaves the project"), "{}", fixed.err);
    assert_eq!(elsewhere.read("main.py"), SLEEPS.as_bytes());
}

#[test]
fn only_selected_rules_and_paths_are_fixed() {
    let project = Project::new(&[("a.py", SLEEPS), ("b.py", SLEEPS)]);
    project.run(&["check", "--fix", "a.py"]);
    assert_eq!(project.read("a.py"), SLEPT.as_bytes());
    assert_eq!(project.read("b.py"), SLEEPS.as_bytes());
    project.run(&["check", "--fix", "--ignore", "BLT101"]);
    assert_eq!(project.read("b.py"), SLEEPS.as_bytes());
    let silenced = SLEEPS.replace("sleep(1)", "sleep(1)  # blocklint: ignore[BLT101]");
    project.write("b.py", silenced.as_bytes());
    project.run(&["check", "--fix"]);
    assert_eq!(project.read("b.py"), silenced.as_bytes());
}

#[test]
fn json_carries_the_edits() {
    let project = Project::new(&[("main.py", SLEEPS)]);
    let told = project.run(&["check", "--output-format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&told.out).expect("json");
    let fix = &json[0]["fix"];
    assert_eq!(fix["applicability"], "safe");
    assert_eq!(fix["message"], "Replace with `await asyncio.sleep(…)`");
    let edit = |at: usize| (fix["edits"][at]["content"].clone(), fix["edits"][at]["location"].clone());
    assert_eq!(edit(0), ("import asyncio\n".into(), serde_json::json!({ "row": 1, "column": 1 })));
    assert_eq!(edit(1), ("await asyncio.sleep".into(), serde_json::json!({ "row": 5, "column": 5 })));
    assert_eq!(fix["edits"][1]["end_location"], serde_json::json!({ "row": 5, "column": 15 }));
}

#[test]
fn a_diff_wins_over_fix_and_may_end_well() {
    let project = Project::new(&[("main.py", SLEEPS)]);
    let diff = project.run(&["check", "--diff"]).out;
    assert_eq!(project.run(&["check", "--diff", "--fix"]).out, diff);
    assert_eq!(project.run(&["check", "--diff", "--exit-zero"]).code, Some(0));
    assert_eq!(project.read("main.py"), SLEEPS.as_bytes());
    let file = project.run(&["check", "--diff", "--output-file", "a.diff"]);
    assert_eq!((file.code, file.out.as_str()), (Some(1), ""));
    assert_eq!(project.read("a.diff"), diff.as_bytes());
}

#[test]
fn unsafe_fixes_are_counted_on_request() {
    let project = Project::new(&[("main.py", ALL)]);
    let told = project.run(&["check", "--unsafe-fixes", "--output-format", "concise"]);
    assert!(told.out.ends_with("\n[*] 2 fixable with --fix.\n"), "{}", told.out);
    assert_eq!(project.read("main.py"), ALL.as_bytes());
}

#[test]
fn places_after_fixing_are_those_of_the_new_files() {
    let project = Project::new(&[("main.py", ALL)]);
    let fixed = project.run(&["check", "--fix", "--output-format", "concise"]);
    assert!(fixed.out.starts_with("main.py:11:10: BLT104"), "{}", fixed.out);
}

#[test]
fn notebooks_are_left_as_they_are() {
    let cell = serde_json::json!({
        "cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": SLEEPS,
    });
    let notebook =
        serde_json::json!({ "cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4 }).to_string();
    let project = Project::new(&[("a.ipynb", &notebook)]);
    let run = project.run(&["check", "--fix", "--unsafe-fixes"]);
    assert!(run.out.ends_with("Found 1 finding (0 fixed, 1 remaining).\n"), "{}", run.out);
    assert_eq!(project.read("a.ipynb"), notebook.as_bytes());
}

#[test]
fn findings_that_only_tests_and_commands_reach_are_fixed_on_request() {
    let sleeps = |main: &str| format!("import asyncio\nimport time\n\n\nasync def main():\n    time.sleep(1)\n{main}");
    let started = "\n\nif __name__ == \"__main__\":\n    asyncio.run(main())\n";
    let aside = [
        ("tests/test_app.py", sleeps("\n\nasync def test_it():\n    await main()\n")),
        ("scripts/import_all.py", sleeps(started)),
        ("examples/first.py", sleeps("")),
        ("tool.py", sleeps(started)),
    ];
    let mut files: Vec<(&str, &str)> = aside.iter().map(|(file, text)| (*file, text.as_str())).collect();
    files.push(("app.py", SLEEPS));
    let project = Project::new(&files);

    // The finding of the command is shown, although it is not fixed.
    let run = project.run(&["check", "--fix"]);
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    assert!(run.out.contains("(1 fixed, 1 remaining)"), "{}", run.out);
    assert_eq!(project.read("app.py"), SLEPT.as_bytes());
    for (file, text) in &aside {
        assert_eq!(String::from_utf8_lossy(&project.read(file)), *text, "{file}");
    }

    let run = project.run(&["check", "--fix", "--include-aside"]);
    for (file, text) in &aside {
        let asleep = text.replace("    time.sleep(1)", "    await asyncio.sleep(1)");
        assert_eq!(String::from_utf8_lossy(&project.read(file)), asleep, "{file}: {}{}", run.out, run.err);
    }
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
}
