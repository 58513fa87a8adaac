//! `blocklint baseline`: findings of the baseline are not reported again.

use crate::support::{Project, Run};

const APP: &str = "import time\nimport requests\n\nasync def handler():\n    time.sleep(1)\n    requests.get('u')\n\n\nasync def other():\n    time.sleep(2)\n    time.sleep(3)\n";

fn project() -> Project {
    Project::new(&[("app.py", APP), ("lib.rs", "pub async fn f() { std::thread::sleep(D); }\n")])
}

fn made() -> Project {
    let project = project();
    let run = project.run(&["baseline", "create"]);
    assert_eq!(run, said(0, "Wrote blocklint-baseline.json: 5 findings in 2 files.\n"));
    project
}

fn said(code: i32, out: &str) -> Run {
    Run { code: Some(code), out: out.to_owned(), err: String::new() }
}

fn check(project: &Project) -> Run {
    project.run(&["check", "--output-format", "concise"])
}

const HIDDEN: &str = "No findings.\n5 findings in the baseline.\n";

#[test]
fn findings_of_the_baseline_are_not_reported() {
    let project = made();
    insta::assert_snapshot!(project.read("blocklint-baseline.json"), @r#"
    {
      "version": 1,
      "min-severity": "warning",
      "min-confidence": "medium",
      "findings": {
        "app.py": [
          { "rule": "BLT101", "function": "app.handler", "cause": "time.sleep", "count": 1 },
          { "rule": "BLT101", "function": "app.other", "cause": "time.sleep", "count": 2 },
          { "rule": "BLT102", "function": "app.handler", "cause": "requests.get", "count": 1 }
        ],
        "lib.rs": [
          { "rule": "BLT101", "function": "f", "cause": "std::thread::sleep", "count": 1 }
        ]
      }
    }
    "#);
    assert_eq!(check(&project), said(0, HIDDEN));
    assert_eq!(project.run(&["check", "--strict-baseline", "--output-format", "json"]), said(0, "[]\n"));
    let shown = project.run(&["check", "--no-baseline", "--output-format", "concise"]);
    assert_eq!((shown.code, shown.out.lines().filter(|line| line.contains("BLT")).count()), (Some(1), 5));
}

#[test]
fn baselined_findings_may_move_to_other_lines() {
    let project = made();
    let (first, second) = APP.split_once("\n\n\n").expect("two functions");
    let (head, handler) = first.split_once("\n\n").expect("imports");
    project.write(
        "app.py",
        &format!("# moved\n\n{head}\n\n{second}\n\n{}\n", handler.replace("(1)", "(\n        1,\n    )")),
    );
    assert_eq!(check(&project), said(0, HIDDEN));
    // The entries of a renamed file still match.
    std::fs::rename(project.path().join("app.py"), project.path().join("service.py")).expect("renamed");
    assert_eq!(check(&project), said(0, HIDDEN));
}

#[test]
fn one_more_finding_of_an_entry_is_reported() {
    let project = made();
    project.replace("app.py", "    time.sleep(3)\n", "    time.sleep(3)\n    time.sleep(4)\n");
    let run = check(&project);
    assert_eq!(run.code, Some(1));
    assert_eq!(run.out.lines().filter(|line| line.contains("BLT101")).count(), 1, "{}", run.out);
    assert!(run.out.ends_with("5 findings in the baseline.\n"), "{}", run.out);
    project.replace("app.py", "    time.sleep(4)\n", "    open('x').read()\n");
    assert!(check(&project).out.contains("BLT104"), "another rule in the same function is new");
}

#[test]
fn a_baseline_only_shrinks_without_force() {
    let project = made();
    let refused = project.run(&["baseline", "create"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.err.contains("`blocklint baseline prune` makes it smaller, and `--force` replaces it"),
        "{}",
        refused.err
    );
    let unchanged = "Nothing to remove from blocklint-baseline.json: 5 findings in 2 files.\n";
    assert_eq!(project.run(&["baseline", "prune"]), said(0, unchanged));
    // One finding is fixed, and another one is new.
    project.replace("app.py", "    time.sleep(3)\n", "    requests.get('v')\n");
    assert_eq!(
        project.run(&["baseline", "prune"]),
        said(0, "Removed 1 finding from blocklint-baseline.json, which now has 4 findings in 2 files.\n")
    );
    assert_eq!(check(&project).code, Some(1), "pruning adds nothing");
    assert_eq!(
        project.run(&["baseline", "create", "--force"]),
        said(0, "Wrote blocklint-baseline.json: 5 findings in 2 files.\n")
    );
    assert_eq!(check(&project), said(0, HIDDEN));
}

#[test]
fn stale_entries_are_reported_and_fail_in_ci() {
    let project = made();
    project.replace("app.py", "    time.sleep(2)\n    time.sleep(3)\n", "    pass\n");
    let told = "No findings.\n3 findings in the baseline.\n2 findings of the baseline are gone; `blocklint baseline prune` removes them.\n";
    assert_eq!(check(&project), said(0, told));
    assert_eq!(project.run(&["check", "--strict-baseline", "--output-format", "concise"]), said(1, told));
    let json = project.run(&["check", "--strict-baseline", "--output-format", "json"]);
    assert_eq!((json.code, json.out.as_str()), (Some(1), "[]\n"));
    assert!(json.err.contains("2 findings of the baseline are gone"), "{}", json.err);
    // A run over other paths cannot know if an entry is stale.
    for arguments in
        [&["lib.rs"][..], &["--select", "BLT102"], &["--min-severity", "error"], &["--min-confidence", "high"]]
    {
        let run = project.run(&[&["check", "--strict-baseline", "--output-format", "concise"], arguments].concat());
        assert_eq!((run.code, run.out.contains("gone")), (Some(0), false), "{arguments:?}: {}", run.out);
    }
    let show = project.run(&["baseline", "show"]);
    assert!(show.out.contains("app.py: BLT101 `time.sleep` in `app.other` (2 times) [gone]\n"), "{}", show.out);
    assert!(show.out.ends_with("The baseline holds 5 findings in 2 files, 2 of them gone.\n"), "{}", show.out);
    let rows: serde_json::Value =
        serde_json::from_str(&project.run(&["baseline", "show", "--output-format", "json"]).out).expect("JSON");
    assert_eq!(rows[1]["stale"], 2, "{rows}");
}

#[test]
fn a_folder_below_the_root_uses_the_file_at_the_root() {
    let project = project();
    project.write("pkg/deep/more.py", "import time\nasync def g():\n    time.sleep(1)\n");
    let below = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        let output = command.current_dir(project.path().join("pkg")).output().expect("it starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    };
    let made = below(&["baseline", "create", ".."]);
    assert_eq!(made, said(0, "Wrote ../blocklint-baseline.json: 6 findings in 3 files.\n"));
    assert!(project.path().join("blocklint-baseline.json").is_file());
    assert!(!project.path().join("pkg/blocklint-baseline.json").exists());
    let hidden = "No findings.\n1 finding in the baseline.\n";
    assert_eq!(below(&["check"]), said(0, hidden));
    assert_eq!(check(&project), said(0, "No findings.\n6 findings in the baseline.\n"));
    // Findings outside of the paths are not in the baseline, and a warning says so.
    std::fs::remove_file(project.path().join("blocklint-baseline.json")).expect("removed");
    let part = below(&["baseline", "create"]);
    assert_eq!(part.out, "Wrote ../blocklint-baseline.json: 1 finding in 1 file.\n");
    assert!(part.err.contains("the baseline contains only findings under the given paths"), "{}", part.err);
}

#[test]
fn sarif_marks_baselined_findings_as_unchanged() {
    let project = made();
    project.replace("app.py", "    time.sleep(3)\n", "    time.sleep(3)\n    requests.get('v')\n");
    let log: serde_json::Value =
        serde_json::from_str(&project.run(&["check", "--output-format", "sarif"]).out).expect("JSON");
    let results = log["runs"][0]["results"].as_array().expect("results");
    let states: Vec<_> = results.iter().map(|result| result["baselineState"].as_str().expect("a state")).collect();
    assert_eq!(states.iter().filter(|state| **state == "unchanged").count(), 5, "{states:?}");
    assert_eq!(states.iter().filter(|state| **state == "new").count(), 1, "{states:?}");
    for result in results {
        let suppressed = result["suppressions"][0]["kind"] == "external";
        assert_eq!(suppressed, result["baselineState"] == "unchanged", "{result}");
    }
}

#[test]
fn the_baseline_file_may_have_another_name() {
    let project = project();
    project.write("pyproject.toml", "[tool.blocklint]\nbaseline = \"ci/old.json\"\n");
    let missing = check(&project);
    assert_eq!(missing.code, Some(2));
    assert!(
        missing.err.contains("ci/old.json: no such file; `blocklint baseline create` makes one"),
        "{}",
        missing.err
    );
    project.write("ci/README", "");
    assert_eq!(project.run(&["baseline", "create"]).out, "Wrote ci/old.json: 5 findings in 2 files.\n");
    assert_eq!(check(&project), said(0, HIDDEN));
    assert_eq!(project.run(&["baseline", "create", "--baseline", "other.json"]).code, Some(0));
    assert_eq!(project.run(&["check", "--baseline", "other.json", "--output-format", "concise"]), said(0, HIDDEN));
    project.write("pyproject.toml", "[tool.blocklint]\nbaseline = \"../old.json\"\n");
    let outside = check(&project);
    assert_eq!(outside.code, Some(2));
    assert!(
        outside.err.contains("pyproject.toml:2") && outside.err.contains("no file inside the project"),
        "{}",
        outside.err
    );
}

#[test]
fn a_malformed_baseline_is_an_error_at_its_line() {
    let project = made();
    project.replace("blocklint-baseline.json", "    \"lib.rs\"", "=======\n    \"lib.rs\"");
    let run = check(&project);
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
    assert!(run.err.starts_with("error: blocklint-baseline.json:11: not a baseline:"), "{}", run.err);
}

#[test]
fn a_change_that_lets_it_grow_fails_in_ci() {
    let project = made();
    project.commit();
    let strict =
        |project: &Project| project.run(&["check", "--strict-baseline", "--since", "HEAD", "--output-format", "json"]);
    assert_eq!(strict(&project), said(0, "[]\n"));
    project.replace("app.py", "    time.sleep(3)\n", "    time.sleep(3)\n    requests.get('v')\n");
    project.run(&["baseline", "create", "--force"]);
    let run = strict(&project);
    assert_eq!((run.code, run.out.as_str()), (Some(1), "[]\n"));
    assert_eq!(run.err, "error: blocklint-baseline.json: the change adds 1 finding to the baseline\n");
    // Renaming the baseline is no growth.
    project.git(&["checkout", "-q", "."]);
    project.git(&["mv", "app.py", "service.py"]);
    project.run(&["baseline", "create", "--force"]);
    assert!(project.read("blocklint-baseline.json").contains("service.py"));
    assert_eq!(strict(&project), said(0, "[]\n"));
}

#[test]
fn a_baseline_of_notes_hides_findings_that_a_fix_reveals() {
    const APP: &str = "import helper\n\nasync def handler():\n    helper.load()\n";
    const HELPER: &str =
        "import time\n\ndef load():\n    time.sleep(1)\n    with open('x') as f:\n        return f.read()\n";
    for (options, code) in [(&["baseline", "create"][..], 1), (&["baseline", "create", "--min-severity", "note"], 0)] {
        let project = Project::new(&[("app.py", APP), ("helper.py", HELPER)]);
        project.run(options);
        assert_eq!(check(&project).code, Some(0), "{options:?}");
        project.write("helper.py", &HELPER.replace("    time.sleep(1)\n", ""));
        let run = check(&project);
        assert_eq!((run.code, run.out.contains("app.py:4:5: BLT104 ")), (Some(code), code == 1), "{}", run.out);
        // A finding of an added line near the call is still new.
        project.write(
            "helper.py",
            &HELPER.replace("time.sleep(1)", "input()").replace("import time", "import subprocess"),
        );
        let run = check(&project);
        assert_eq!((run.code, run.out.contains("app.py:4:5: BLT109 ")), (Some(1), true), "{}", run.out);
    }
}
