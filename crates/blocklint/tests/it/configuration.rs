//! `[tool.blocklint]` and the options that win over it, through the real binary; and the reference of its keys.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use blocklint_project::KEYS;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Folder(tempfile::tempdir().expect("a folder"));
        for (file, text) in files {
            folder.write(file, text);
        }
        folder
    }

    /// A service of three files with one finding each, and a library that blocks.
    fn service(configuration: &str) -> Self {
        let main =
            "import time\nfrom gen import helper_pb2\nasync def f():\n    time.sleep(1)\n    helper_pb2.work()\n";
        Folder::new(&[
            ("pyproject.toml", &format!("[project]\nname = 'x'\n\n[tool.blocklint]\n{configuration}")),
            ("main.py", main),
            ("gen/helper_pb2.py", "import requests\ndef work():\n    requests.get('x', timeout=1)\n"),
            ("tests/test_a.py", "async def test():\n    open('x')\n"),
            ("tests/deep/test_b.py", "import subprocess\nasync def test():\n    subprocess.run(['x'])\n"),
        ])
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.path().join(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn path(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).expect("it exists")
    }

    fn run_in(&self, folder: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
        command.env_clear().current_dir(self.path().join(folder)).args(arguments).stdin(Stdio::null());
        let output = command.output().expect("it starts");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    /// Where findings stand and of which rules: `main.py:4 101`.
    fn found(&self, arguments: &[&str]) -> Vec<String> {
        self.found_in("", arguments)
    }

    fn found_in(&self, folder: &str, arguments: &[&str]) -> Vec<String> {
        let (code, out, err) = self.run_in(folder, &[&["check", "--output-format", "concise"], arguments].concat());
        assert!(code == Some(0) || code == Some(1), "{err}");
        let found = out.lines().filter_map(|line| {
            let (place, rest) = line.split_once(": BLT")?;
            let (place, _column) = place.rsplit_once(':')?;
            Some(format!("{place} {}", &rest[..3]))
        });
        found.collect()
    }
}

const ALL: [&str; 4] = ["main.py:4 101", "main.py:5 102", "tests/deep/test_b.py:3 105", "tests/test_a.py:2 104"];

#[test]
fn rules_of_the_file_hold_until_the_command_line_speaks() {
    let note = ["--min-severity", "note"];
    let found =
        |configuration: &str, arguments: &[&str]| Folder::service(configuration).found(&[&note, arguments].concat());
    assert_eq!(found("", &[]), ALL);
    assert_eq!(found("select = ['BLT101']", &[]), ALL[..1]);
    assert_eq!(found("select = ['BLT101']\nextend-select = ['blocking-network']", &[]), ALL[..2]);
    assert_eq!(found("ignore = ['BLT104', 'BLT105']", &[]), ALL[..2]);
    assert_eq!(found("ignore = ['BLT1']", &["--select", "BLT101,BLT102"]), ALL[..2]);
    assert_eq!(found("select = ['BLT101']", &["--extend-select", "BLT102"]), ALL[..2]);
    assert_eq!(found("select = ['BLT101', 'BLT102']", &["--ignore", "BLT102"]), ALL[..1]);
    assert_eq!(found("ignore = ['BLT1']", &["--isolated"]), ALL);
}

#[test]
fn levels_of_the_file_hold_until_the_command_line_speaks() {
    let folder = Folder::service("min-severity = 'error'\nmin-confidence = 'high'");
    assert_eq!(folder.found(&[]), ALL[..2]);
    assert_eq!(folder.found(&["--min-severity", "note"]), ALL);
    let (_, out, _) = folder.run_in("", &["check"]);
    assert!(out.contains("below `error`/`high`"), "{out}");
}

#[test]
fn per_file_ignores_hide_what_stands_there_and_cut_nothing() {
    let note = ["--min-severity", "note"];
    let folder = Folder::service("[tool.blocklint.per-file-ignores]\n'tests/*' = ['ALL']\n'gen/**' = ['BLT102']\n");
    assert_eq!(folder.found(&note), ALL[..2], "what blocks in gen/ still blocks main.py");
    assert_eq!(folder.found_in("tests", &note), [] as [&str; 0], "patterns count from the project root");
    let folder = Folder::service("per-file-ignores = { '!main.py' = ['blocking-file'], 'test_b.py' = ['BLT105'] }");
    assert_eq!(folder.found(&note), ALL[..2]);
}

#[test]
fn what_is_excluded_is_not_read() {
    let note = ["--min-severity", "note"];
    for exclude in ["'gen', 'tests/deep'", "'*_pb2.py', 'deep/'", "'./gen/*', '**/deep/*.py'"] {
        let folder = Folder::service(&format!("exclude = [{exclude}]"));
        let rest = [ALL[0], ALL[3]];
        assert_eq!(folder.found(&note), rest, "{exclude}: no trace goes through it");
        let (_, out, err) = folder.run_in("", &["check", "--min-severity", "note", "gen/helper_pb2.py", "main.py"]);
        assert!(out.contains("BLT102"), "a file that is named is read: {out}{err}");
        let forced = ["--force-exclude", "gen/helper_pb2.py", "main.py", "tests/deep/test_b.py"];
        assert_eq!(folder.found(&[&note[..], &forced].concat()), rest[..1]);
        assert_eq!(folder.found(&[&note[..], &["tests"]].concat()), rest[1..]);
    }
    let folder = Folder::service("exclude = ['tests']\nextend-exclude = ['gen']");
    assert_eq!(folder.found(&note), ALL[..1]);
    assert_eq!(folder.found(&[&note[..], &["--exclude", "main.py"]].concat()), ALL[2..]);
    assert_eq!(folder.found(&[&note[..], &["--extend-exclude", "main.py"]].concat()), [] as [&str; 0]);
    let above = folder.found_in(
        "gen",
        &["..", "--exclude", "../main.py", "--isolated", "--include-aside", "--min-severity", "error"],
    );
    assert!(above.len() == 1 && above[0].ends_with("test_b.py:3 105"), "patterns count from the folder: {above:?}");
    assert_eq!(folder.found(&[&note[..], &["tests/deep"]].concat()), ALL[2..3], "a folder that is named is read");
}

#[test]
fn a_wrong_rule_or_pattern_names_its_place() {
    let folder = Folder::service("select = [\n  'BLT101',\n  'blocking-slep',\n]\nper-file-ignores = { 'x' = ['X9'] }");
    let (code, out, err) = folder.run_in("", &["check"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    let expected = "error: pyproject.toml:7: [tool.blocklint] select: unknown rule `blocking-slep`; did you mean `blocking-sleep`?
error: pyproject.toml:9: [tool.blocklint] per-file-ignores: unknown rule `X9`; expected a code (`BLT101`), a prefix (`BLT1`), a name (`blocking-sleep`) or `ALL`\n";
    assert_eq!(err, expected);
    let (code, _, err) = Folder::service("").run_in("", &["check", "--exclude", "a/{b"]);
    assert!(code == Some(2) && err.contains("`a/{b` is no pattern"), "{err}");
}

#[test]
fn findings_whose_trace_lies_in_the_paths_are_reported_when_asked() {
    let folder = Folder::service("");
    let helper = "gen/helper_pb2.py";
    assert_eq!(folder.found(&[helper]), [] as [&str; 0]);
    assert_eq!(folder.found(&["--trace-in-paths", helper]), ALL[1..2]);
    assert_eq!(folder.found(&["--trace-in-paths", "gen"]), ALL[1..2]);
    assert_eq!(folder.found(&["--trace-in-paths", "main.py"]), ALL[..2]);
    // Also where only another cause behind the same call lies there.
    folder.write("second.py", "import requests\ndef more():\n    requests.post('x')\n");
    let both = "import requests, second\ndef work():\n    requests.get('x')\n    second.more()\n";
    folder.write(helper, both);
    assert_eq!(folder.found(&["--trace-in-paths", "second.py"]), ALL[1..2]);
}

#[test]
fn a_table_below_the_project_root_is_told_to_hold_for_its_folder_only() {
    let folder = Folder::service("ignore = ['BLT1']");
    folder.write("tests/pyproject.toml", "[tool.blocklint]\nmin-severity = 'note'\n");
    folder.write("gen/pyproject.toml", "[tool.other]\n");
    let (code, _, err) = folder.run_in("", &["check"]);
    let told =
        "tests/pyproject.toml: its `[tool.blocklint]` holds only for runs on this folder; the project root is above it";
    assert_eq!((code, err), (Some(0), format!("warning: {told}\n")));
    assert_eq!(folder.run_in("", &["check", "--isolated", "--exit-zero"]).2, "");
    assert_eq!(folder.found(&["tests"]), [ALL[2], ALL[3]]);
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_reference_lists_every_key() {
    let mut text = String::from(
        "# Configuration\n\nEvery key of `[tool.blocklint]` in the pyproject.toml of the project root. An unknown key or a wrong \
         value is an error\nthat names file, line and key. Options of the command line win, as in ruff: `--select` replaces \
         what the file selects and\nignores, `--ignore` and `--extend-select` change it. `--isolated` ignores the file.\n\nThis \
         page is generated from the program's own table of keys.\n\n| key | value | default | option |\n| --- | --- | --- | --- |\n",
    );
    for key in KEYS {
        let option = key.option.map_or(String::new(), |option| format!("`{option}`"));
        text += &format!("| [`{}`](#{}) | {} | {} | {option} |\n", key.name, key.name, key.value, key.default);
    }
    for key in KEYS {
        let table = if key.example.starts_with('[') { "" } else { "[tool.blocklint]\n" };
        text += &format!("\n## {}\n\n{}\n\n```toml\n{table}{}\n```\n", key.name, wrapped(key.says), key.example);
    }
    let file = repository().join("docs/configuration.md");
    if env::var("UPDATE").is_ok_and(|value| value == "1") {
        fs::write(&file, text).expect("the reference is written");
    } else {
        let kept = fs::read_to_string(&file).unwrap_or_default();
        assert!(kept == text, "run this test with UPDATE=1 to renew docs/configuration.md, which should be\n{text}");
    }
}

/// Every example of the reference is one the program takes.
#[test]
fn the_examples_of_the_reference_are_right() {
    for key in KEYS {
        let folder = Folder::service("");
        let table = if key.example.starts_with('[') { "" } else { "[tool.blocklint]\n" };
        folder.write("pyproject.toml", &format!("{table}{}\n", key.example));
        folder.write("blocking/a.toml", "schema = 1\nlanguage = \"python\"\nlibrary = \"a\"\n");
        let (code, _, err) = folder.run_in("", &["check", "--exit-zero"]);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{}", key.name);
    }
}

/// Text in lines of at most 120 characters.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("a line");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > 120 {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines.join("\n")
}
