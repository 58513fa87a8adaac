//! Command line basics with the real binary, in a neutral environment: exit codes, help, messages, JSON.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A temporary folder that is a project root.
struct Project {
    folder: tempfile::TempDir,
}

/// The output of a run and its exit code.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let project = Project { folder: tempfile::tempdir().expect("a folder") };
        project.write("blocklint.toml", "");
        for (file, text) in files {
            project.write(file, text);
        }
        project
    }

    fn path(&self) -> PathBuf {
        fs::canonicalize(self.folder.path()).expect("it exists")
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path().join(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
        command.env_clear().current_dir(self.path()).args(arguments).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let Output { status, stdout, stderr } = self.command(arguments).output().expect("it starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("utf-8");
        Run { code: status.code(), out: text(stdout), err: text(stderr) }
    }
}

fn run(code: i32, out: &str, err: &str) -> Run {
    Run { code: Some(code), out: out.to_owned(), err: err.to_owned() }
}

#[test]
fn nothing_to_read_fails_the_run() {
    let project = Project::new(&[("notes.txt", "")]);
    let told = "error: nothing was read: no Python, Rust or Java file found under the given paths\n";
    assert_eq!(project.run(&["check"]), run(2, "", told));
    assert_eq!(project.run(&["check", "--output-format", "json"]), run(2, "", told));
}

#[test]
fn a_path_that_does_not_exist_fails_the_run_after_the_rest() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let run = project.run(&["check", "a.py", "nowhere.py"]);
    assert_eq!((run.code, run.err.as_str()), (Some(2), "error: nowhere.py: no such file or folder\n"));
    assert_eq!(run.out, "No findings in the paths that exist: 0 functions that must not block in 1 file.\n");
    // If no other path is given, no summary of findings is printed.
    let run = project.run(&["check", "nowhere.py"]);
    let told = "error: nowhere.py: no such file or folder\n";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(2), "", told));
    // A program gets a complete document, and exit code 2.
    let run = project.run(&["check", "nowhere.py", "--output-format", "json"]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(2), "[]\n", told));
}

#[test]
fn help_is_short_or_long_and_fits() {
    let project = Project::new(&[]);
    for command in [&[][..], &["check"], &["baseline"], &["baseline", "create"], &["rule"], &["why"], &["config"]] {
        let said = |how: &str| {
            let run = project.run(&[command, &[how]].concat());
            assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{command:?}");
            run.out
        };
        let (short, long) = (said("-h"), said("--help"));
        assert!(short.lines().count() < long.lines().count(), "{command:?}: {short}");
        for line in short.lines().chain(long.lines()) {
            assert!(line.chars().count() <= 100, "{command:?}: {line}");
        }
    }
    // The list of commands has one line for each.
    let short = project.run(&["-h"]).out;
    let commands = short.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("commands");
    assert!(commands.lines().all(|line| line.starts_with("  ") && !line.starts_with("   ")), "{commands}");
    // Options without effect on a baseline are not listed.
    let create = project.run(&["baseline", "create", "--help"]).out;
    for option in ["--without-signal", "--stdin-filename", "--fix", "--since", "--show-settings"] {
        assert!(!create.contains(option), "{option}: {create}");
    }
    assert!(create.contains("--force") && create.contains("--baseline <"), "{create}");
}

#[test]
fn a_wrong_selector_fails_the_run_with_a_suggestion() {
    let project = Project::new(&[]);
    let run = project.run(&["check", "--select", "BLT101,blocking-netwrk", "--ignore", "X1"]);
    assert_eq!(run.code, Some(2));
    assert!(
        run.err.starts_with("error: unknown rule `blocking-netwrk`; did you mean `blocking-network`?\n"),
        "{}",
        run.err
    );
    assert!(run.err.contains("unknown rule `X1`"), "all of them are told: {}", run.err);
}

#[test]
fn usage_errors_are_2() {
    let project = Project::new(&[]);
    for wrong in [&["check", "--min-severity", "bad"][..], &["check", "--nonsense"], &["frob"], &[]] {
        assert_eq!(project.run(wrong).code, Some(2), "{wrong:?}");
    }
    assert_eq!(project.run(&["--help"]).code, Some(0));
}

#[test]
fn a_wrong_configuration_fails_the_run_unless_isolated() {
    let project = Project::new(&[("a.py", "")]);
    project.write("pyproject.toml", "[project]\nname = 'x'\n\n[tool.blocklint]\nmax-file-sise = 1\nmodels = 3\n");
    let wrong = project.run(&["check"]);
    let told = "error: pyproject.toml:5: [tool.blocklint] max-file-sise: unknown key `max-file-sise`; did you mean `max-file-size`?
error: pyproject.toml:6: [tool.blocklint] models: expected a path or a list of paths, found an integer
";
    assert_eq!(wrong, run(2, "", told));
    assert_eq!(project.run(&["check", "--isolated"]).code, Some(0));
}

#[test]
fn a_file_that_is_not_read_is_a_note_that_never_fails_the_run() {
    let project = Project::new(&[("a.py", "x = 12345678\n")]);
    project.write("pyproject.toml", "[tool.blocklint]\nmax-file-size = 10\n");
    let line = "a.py:1:1: BLT902 skipped: 13 bytes is more than `max-file-size` (10 bytes)\n";
    let concise = ["check", "--output-format", "concise"];
    assert_eq!(project.run(&concise), run(0, &format!("{line}Found 1 finding.\n"), ""));
    let strict =
        [&concise[..], &["--min-severity", "error", "--min-confidence", "high", "--select", "BLT101"]].concat();
    assert_eq!(project.run(&strict).out, format!("{line}Found 1 finding.\n"));
    assert_eq!(
        project.run(&[&concise[..], &["--ignore", "BLT902"]].concat()).out,
        "No findings: 0 functions that must not block in 1 file.\n"
    );
    assert_eq!(project.run(&["check", "--statistics"]).out, "1\tBLT902\tunreadable-source\nFound 1 finding.\n");
}

#[test]
fn json_is_an_array_whatever_happens() {
    let project = Project::new(&[("a.py", "x = 12345678\n")]);
    project.write("pyproject.toml", "[tool.blocklint]\nmax-file-size = 10\n");
    let out = project.run(&["check", "--output-format", "json"]).out;
    let findings: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let finding = &findings[0];
    assert_eq!(finding["filename"], project.path().join("a.py").to_str().expect("utf-8"));
    assert_eq!(finding["code"], "BLT902");
    assert_eq!(finding["fingerprint"].as_str().map(str::len), Some(16));
    let counted = project.run(&["check", "--statistics", "--output-format", "json"]).out;
    let counted: serde_json::Value = serde_json::from_str(&counted).expect("JSON");
    assert_eq!(counted[0]["count"], 1);
}

#[cfg(unix)]
#[test]
fn each_broken_link_is_one_line_and_the_rest_goes_on() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    std::os::unix::fs::symlink("loop.py", project.path().join("loop.py")).expect("linked");
    let told = "warning: loop.py: skipped: Too many levels of symbolic links\n";
    assert_eq!(project.run(&["check"]), run(0, "No findings: 0 functions that must not block in 1 file.\n", told));
}

#[test]
fn pages_are_shown_by_code_and_name() {
    let project = Project::new(&[]);
    let by_code = project.run(&["rule", "BLT101"]);
    assert_eq!((by_code.code, by_code.out.lines().next()), (Some(0), Some("# blocking-sleep (BLT101)")));
    assert_eq!(project.run(&["rule", "blocking-sleep"]), by_code);
    let all = project.run(&["rule", "--all"]);
    assert!(all.out.starts_with(&by_code.out), "the pages stand in the order of their codes");
    let pages = all.out.lines().filter(|line| line.starts_with("# ") && line.contains(" (BLT")).count();
    let told = all.out.matches("\n## How to fix it\n\n**Fix:** ").count();
    assert!(all.code == Some(0) && pages == told && pages > 15, "{pages} pages, {told} tell how to mend it");
    let unknown = "error: unknown rule `blocking-slep`; did you mean `blocking-sleep`?\n";
    assert_eq!(project.run(&["rule", "blocking-slep"]), run(2, "", unknown));
    // The message has a code and a name.
    let none = project.run(&["rule"]);
    assert_eq!((none.code, none.err.contains("<RULE|--all|--severity>")), (Some(2), true), "{}", none.err);
}

#[test]
fn pages_are_objects_for_programs_and_explain_is_another_name() {
    let project = Project::new(&[]);
    for arguments in [&["BLT101"][..], &["--all"], &["--all", "--output-format", "json"], &["nonsense"]] {
        let said = |verb: &str| project.run(&[&[verb], arguments].concat());
        assert_eq!(said("explain"), said("rule"), "{arguments:?}");
    }
    let json = |arguments: &[&str]| -> serde_json::Value {
        let run = project.run(&[&["rule", "--output-format", "json"], arguments].concat());
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
        serde_json::from_str(&run.out).expect("JSON")
    };
    let (one, all) = (json(&["blocking-sleep"]), json(&["--all"]));
    assert_eq!(all[0], one);
    assert_eq!(all.as_array().map(Vec::len), Some(blocklint_rules::RULES.len()));
    let page = project.run(&["rule", "BLT101"]).out;
    for (field, value) in [
        ("code", "BLT101"),
        ("name", "blocking-sleep"),
        ("linter", "blocklint"),
        ("effect", "sleep"),
        ("explanation", page.as_str()),
    ] {
        assert_eq!(one[field], value, "{field}");
    }
    assert_eq!(one["async_codes"], serde_json::json!(["ASYNC200", "ASYNC251"]));
    assert_eq!(one["url"], serde_json::Value::Null, "a build that is no release has no address");
}

#[test]
fn the_version_is_printed_by_command_and_option() {
    let project = Project::new(&[]);
    let version = project.run(&["version"]);
    assert_eq!(version, project.run(&["--version"]));
    assert_eq!(version.out, format!("blocklint {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn timings_go_to_stderr_part_by_part() {
    let run = Project::new(&[("a.py", "")]).run(&["check", "--timings"]);
    let parts = run.err.lines().filter_map(|line| line.split_whitespace().next()).collect::<Vec<_>>();
    assert_eq!(parts, ["discover", "parse", "facts", "link", "solve", "output", "total", "work"]);
    assert_eq!(run.out, "No findings: 0 functions that must not block in 1 file.\n");
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_read_enough_is_no_error() {
    let project = Project::new(&[]);
    let mut child =
        project.command(&["rule", "BLT104"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn a_line_is_named_by_path_and_number() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let run = project.run(&["why", "a.py"]);
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("expected PATH:LINE"), "{}", run.err);
}

#[test]
fn findings_without_a_cause_are_counted_apart_from_unreadable_files() {
    let project = Project::new(&[
        (
            "a.py",
            "import threading\nlock = threading.Lock()\nasync def f(): pass\nasync def g():\n    with lock:\n        await f()\n",
        ),
        ("bad.py", "def\n"),
    ]);
    let out = project.run(&["check"]).out;
    let headings =
        out.lines().filter(|line| line.starts_with("findings ") || line.starts_with("files ")).collect::<Vec<_>>();
    assert_eq!(headings, ["findings without a cause elsewhere", "files that were not fully read or analysed"], "{out}");
    assert!(!out.contains("blocks here"), "{out}");
    let findings = project.run(&["check", "--output-format", "json"]).out;
    let findings: serde_json::Value = serde_json::from_str(&findings).expect("JSON");
    assert_eq!((&findings[0]["code"], &findings[0]["noqa_row"]), (&"BLT601".into(), &5.into()));
    assert_eq!(findings[1]["noqa_row"], serde_json::Value::Null);
}
