//! `[tool.blocklint]` and the options that win over it, through the real binary; and the reference of its keys.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use blocklint_project::KEYS;

use crate::support::repository;

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

    /// Returns the lines and rules of findings: `main.py:4 101`.
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
fn excluded_files_are_not_read() {
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
    // The finding is reported too if only another cause of its call is in the paths.
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

/// The page up to its table of keys.
const HEAD: &str = "# Configuration

In the project root, in a file of its own or in one that is there already. The first of these that holds configuration is read:

| file | table |
| --- | --- |
| `.blocklint.toml` | the whole file |
| `blocklint.toml` | the whole file |
| `pyproject.toml` | `[tool.blocklint]` |
| `Cargo.toml` | `[workspace.metadata.blocklint]`, else `[package.metadata.blocklint]` with more than the `models` that a crate ships |

An unknown key or a wrong value is an error that names file, line and key, and what was probably meant. `blocklint config` lists the keys,
`blocklint config KEY` describes one, `blocklint check --show-settings` shows what holds, and `--show-files` whose findings are reported.

Editors complete and check a `blocklint.toml` with its [JSON schema](../schemas/blocklint.schema.json), which `blocklint config --schema`
prints: put `#:schema https://…/blocklint.schema.json` with the schema's address into its first line.

## What is read

The **project root** is the nearest folder, at or above the paths' common folder, that holds configuration or `.git`; where there is neither, the
outermost workspace of Rust or Java (`[workspace]`, Maven's modules, `settings.gradle`), else the nearest crate or module. One run has one
configuration; one in a folder below the project root is not read, and said so.

What wins, from the last to the first:

1. options of the command line, as in ruff: `--select` replaces what was selected and ignored before, `--ignore` and `--extend-select`
   change it;
2. `--config 'key=value'`, as often as needed, with the value in TOML: `--config 'select=[\"BLT1\"]'`;
3. the file that is found, or the one that `--config FILE` names in its place;
4. the file that it extends, and so on;
5. the defaults.

`--isolated` leaves out what is found; `--config 'key=value'` holds all the same.

**A configuration is untrusted.** It runs nothing and writes nothing. What is found in a repository names no file out of it (out of the
project root, where there is no `.git`), whatever links lead there: `extend` and `models` that do are errors. To allow it, name the file
on the command line: `blocklint check --config FILE`. Files of more than 1 MB, lists of more than 1,000 rules or patterns, and
more than 16 files that extend one another are errors.

**So is the rest of a repository.** A source file or a manifest that is a link out of the project root is not read, and said so; one that is
named (`blocklint check link.py`) is, and so is what lies in a folder that is named. Ignore files, environments, caches and baselines behind such
a link are not read or written either. `--since`, `--changed` and `--staged` ask git only for what it stores: no filter, driver, hook or monitor
that `.gitattributes` or `.git/config` names is run, and what a partial clone lacks is not fetched.

## Keys

This part is generated from the program's own table of keys.

| key | value | default | option |
| --- | --- | --- | --- |
";

#[test]
fn the_reference_lists_every_key() {
    let mut text = String::from(HEAD);
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

#[test]
fn one_file_of_a_folder_is_read_and_the_others_are_told() {
    let folder = Folder::new(&[("main.py", "import time\nasync def f():\n    time.sleep(1)\n    open('x')\n")]);
    let note = ["--min-severity", "note"];
    let both = ["main.py:3 101", "main.py:4 104"];
    assert_eq!(folder.found(&note), both);
    // From the file with the lowest precedence to the one with the highest.
    folder.write("Cargo.toml", "[workspace]\n[workspace.metadata.blocklint]\nselect = ['BLT101']\n");
    assert_eq!(folder.found(&note), both[..1], "Cargo.toml");
    folder.write("pyproject.toml", "[tool.blocklint]\nselect = ['BLT104']\n");
    assert_eq!(folder.found(&note), both[1..], "pyproject.toml");
    folder.write("blocklint.toml", "select = ['BLT101']\n");
    assert_eq!(folder.found(&note), both[..1], "blocklint.toml");
    folder.write(".blocklint.toml", "select = ['BLT104']\n");
    assert_eq!(folder.found(&note), both[1..], ".blocklint.toml");
    let (_, _, err) = folder.run_in("", &["check"]);
    let told = |file: &str| err.contains(&format!("{file}: its configuration is not read: `.blocklint.toml` decides"));
    assert!(told("blocklint.toml") && told("pyproject.toml") && told("Cargo.toml"), "{err}");
}

#[test]
fn a_crate_s_own_table_is_read_unless_it_only_ships_models() {
    let folder = Folder::new(&[
        ("Cargo.toml", "[package]\nname = 'a'\n[package.metadata.blocklint]\nmin-severity = 'note'\n"),
        ("main.py", "async def f():\n    open('x')\n"),
    ]);
    assert_eq!(folder.found(&[]), ["main.py:2 104"]);
    folder.write("Cargo.toml", "[package]\nname = 'a'\n[package.metadata.blocklint]\nmodels = ['no.toml']\n");
    assert_eq!(folder.run_in("", &["check"]).2, "", "what it ships is for those who use it");
    folder.write("Cargo.toml", "[package]\nname = 'a'\n[package.metadata.blocklint]\nmin-sevrity = 'note'\n");
    let (code, _, err) = folder.run_in("", &["check"]);
    let expected = "error: Cargo.toml:4: [package.metadata.blocklint] min-sevrity: unknown key `min-sevrity`; did you mean `min-severity`?\n";
    assert_eq!((code, err.as_str()), (Some(2), expected));
}

#[test]
fn a_file_of_its_own_names_its_mistakes_without_a_table() {
    let folder = Folder::new(&[("blocklint.toml", "\nselct = ['BLT1']\n"), ("main.py", "")]);
    let (code, _, err) = folder.run_in("", &["check"]);
    let expected = "error: blocklint.toml:2: selct: unknown key `selct`; did you mean `select`?\n";
    assert_eq!((code, err.as_str()), (Some(2), expected));
    folder.write("blocklint.toml", "select = [");
    let (code, _, err) = folder.run_in("", &["check"]);
    assert!(code == Some(2) && err.starts_with("error: blocklint.toml:1: not TOML: "), "{err}");
}

#[test]
fn a_file_extends_another_one() {
    let folder = Folder::service("extend = 'configs/base.toml'\nextend-select = ['BLT102']\nextend-exclude = ['deep']");
    folder.write(
        "configs/base.toml",
        "extend = 'more.toml'\nselect = ['BLT101', 'BLT105']\nmin-severity = 'error'\nper-file-ignores = { 'a' = ['ALL'] }\n",
    );
    folder.write("configs/more.toml", "min-severity = 'note'\nmin-confidence = 'low'\nextend-exclude = ['x']\n");
    assert_eq!(folder.found(&[]), ALL[..2]);
    let (code, out, _) = folder.run_in("", &["check", "--show-settings"]);
    let expected = [
        "# configuration: pyproject.toml",
        "# extends: configs/base.toml",
        "# extends: configs/more.toml",
        "select = [\"BLT101\", \"BLT105\"]  # configs/base.toml:",
        "extend-select = [\"BLT102\"]  # pyproject.toml:",
        "extend-exclude = [\"x\", \"deep\"]  # configs/more.toml:3, ",
        "min-severity = \"error\"  # ",
        "min-confidence = \"low\"  # configs/more.toml:2",
        "per-file-ignores = { \"a\" = [\"ALL\"] }  # ",
        "require-reason = false  # default",
    ];
    let is_shown = |line: &&str| out.lines().any(|shown| shown.starts_with(line));
    assert!(code == Some(0) && expected.iter().all(is_shown), "{out}");
    // The shown configuration is a valid configuration.
    let values = |out: &str| -> String {
        let lines = out.lines().filter(|line| !line.starts_with('#'));
        lines.map(|line| format!("{}\n", line.split("  # ").next().expect("a value"))).collect()
    };
    let shown = values(&out);
    folder.write("shown.toml", &shown);
    let (_, again, err) = folder.run_in("", &["check", "--show-settings", "--config", "shown.toml"]);
    assert_eq!(values(&again), shown, "{again}{err}");
}

#[test]
fn options_are_among_the_settings_that_are_shown() {
    let folder = Folder::service("select = ['BLT104']\nignore = ['BLT105']\nexclude = ['a']\nmin-severity = 'error'");
    let shown = |arguments: &[&str]| {
        let (code, out, err) = folder.run_in("", &[&["check", "--show-settings"], arguments].concat());
        assert_eq!((code, err.as_str()), (Some(0), ""), "{arguments:?}");
        out
    };
    let holds = |out: &str, lines: &[&str]| {
        for line in lines {
            assert!(out.lines().any(|shown| shown == *line), "{line}: {out}");
        }
    };
    let file = ["select = [\"BLT104\"]  # pyproject.toml:5", "ignore = [\"BLT105\"]  # pyproject.toml:6"];
    holds(&shown(&[]), &file);
    let out = shown(&["--select", "BLT1,BLT2", "--extend-exclude", "b", "--min-confidence", "high", "--include-aside"]);
    let given = [
        "select = [\"BLT1\", \"BLT2\"]  # --select",
        "ignore = []  # default",
        "exclude = [\"a\"]  # pyproject.toml:7",
        "extend-exclude = [\"b\"]  # --extend-exclude",
        "min-severity = \"error\"  # pyproject.toml:8",
        "min-confidence = \"high\"  # --min-confidence",
        "# --include-aside",
    ];
    holds(&out, &given);
    let out = shown(&["--ignore", "BLT2", "--config", "min-severity='note'", "--exclude", "c", "--baseline", "x.json"]);
    let given = [
        "select = [\"BLT104\"]  # pyproject.toml:5",
        "ignore = [\"BLT105\", \"BLT2\"]  # pyproject.toml:6, --ignore",
        "min-severity = \"note\"  # --config",
        "exclude = [\"c\"]  # --exclude",
    ];
    holds(&out, &given);
    assert!(
        out.lines().any(|line| line.starts_with("baseline = ") && line.ends_with("x.json\"  # --baseline")),
        "{out}"
    );
    // A persona sets the two levels and --include-aside; explicit options win over it.
    let out = shown(&["--persona", "auditor", "--min-severity", "warning"]);
    let given =
        ["min-severity = \"warning\"  # --min-severity", "min-confidence = \"low\"  # --persona", "# --include-aside"];
    holds(&out, &given);
}

#[test]
fn a_file_may_name_a_persona() {
    let folder = Folder::service("persona = 'auditor'");
    folder.write("more.py", "import os, time\nasync def g():\n    os.stat('x')\n    time.sleep(1)\n");
    folder.write("tests/test_a.py", "import time\nasync def test_a():\n    time.sleep(1)\n");
    let all = ["--min-severity", "note", "--min-confidence", "low", "--include-aside"];
    let expected = |arguments: &[&str]| folder.found(&[&["--isolated"], arguments].concat());
    assert_eq!(folder.found(&[]), expected(&all));
    assert!(folder.found(&[]).iter().any(|found| found.starts_with("tests/")), "{:?}", folder.found(&[]));
    // The command line and explicit keys win over the persona.
    assert_eq!(folder.found(&["--persona", "regular"]), expected(&[]));
    assert_eq!(
        folder.found(&["--min-severity", "error"]),
        expected(&["--min-severity", "error", "--min-confidence", "low", "--include-aside"])
    );
    let shown = |lines: &[&str]| {
        let (_, out, _) = folder.run_in("", &["check", "--show-settings"]);
        for line in lines {
            assert!(out.lines().any(|shown| shown == *line), "{line}: {out}");
        }
    };
    shown(&["persona = \"auditor\"  # pyproject.toml:5", "min-severity = \"note\"  # pyproject.toml:5"]);
    folder.write("base.toml", "min-severity = 'error'\nmin-confidence = 'high'\n");
    folder.write(
        "pyproject.toml",
        "[tool.blocklint]\nextend = 'base.toml'\nmin-confidence = 'high'\npersona = 'pedantic'\n",
    );
    assert_eq!(folder.found(&[]), expected(&["--min-severity", "note", "--min-confidence", "high"]));
    shown(&["min-severity = \"note\"  # pyproject.toml:4", "min-confidence = \"high\"  # pyproject.toml:3"]);
    folder.write("pyproject.toml", "[tool.blocklint]\npersona = 'pedant'\n");
    let (code, _, err) = folder.run_in("", &["check"]);
    assert!(code == Some(2) && err.contains("did you mean `\"pedantic\"`?"), "{err}");
}

#[test]
fn a_persona_is_a_name_for_levels() {
    let folder = Folder::service("min-severity = 'error'");
    folder.write("more.py", "import os, time\nasync def g():\n    os.stat('x')\n    time.sleep(1)\n");
    folder.write("tests/test_a.py", "import time\nasync def test_a():\n    time.sleep(1)\n");
    let found = |arguments: &[&str]| {
        let all = [&["check", "--output-format", "concise"], arguments].concat();
        let (_, out, err) = folder.run_in("", &all);
        assert_eq!(err, "", "{arguments:?}");
        out.lines().filter(|line| line.contains(": BLT")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(found(&["--persona", "regular"]), found(&["--min-severity", "warning", "--min-confidence", "medium"]));
    let pedantic = found(&["--persona", "pedantic"]);
    assert_eq!(pedantic, found(&["--min-severity", "note", "--min-confidence", "medium"]));
    assert!(pedantic.len() > found(&["--persona", "regular"]).len(), "{pedantic:?}");
    let auditor = found(&["--persona", "auditor"]);
    assert_eq!(auditor, found(&["--min-severity", "note", "--min-confidence", "low", "--include-aside"]));
    assert!(auditor.iter().any(|line| line.starts_with("tests/")), "{auditor:?}");
    assert_eq!(
        found(&["--persona", "auditor", "--min-severity", "error", "--min-confidence", "high"]).len(),
        found(&["--min-severity", "error", "--min-confidence", "high", "--include-aside"]).len()
    );
}

#[test]
fn cyclic_or_missing_extended_files_are_errors_at_their_place() {
    let wrong = |extend: &str, files: &[(&str, &str)], said: &str| {
        let folder = Folder::service(&format!("extend = {extend}"));
        files.iter().for_each(|(file, text)| folder.write(file, text));
        let (code, _, err) = folder.run_in("", &["check"]);
        assert!(code == Some(2) && err.contains(said), "{extend}: {err}");
    };
    wrong("'no.toml'", &[], "pyproject.toml:5: [tool.blocklint] extend: `no.toml`: no such file");
    wrong("1", &[], "pyproject.toml:5: [tool.blocklint] extend: expected a path, found an integer");
    wrong("'a.toml'", &[("a.toml", "extend = 'pyproject.toml'")], "a.toml:1: extend: it leads back to a file");
    wrong("'a.toml'", &[("a.toml", "select = 1")], "a.toml:1: select: expected a list of rules");
    let chain: Vec<(String, String)> =
        (0..40).map(|at| (format!("{at}.toml"), format!("extend = '{}.toml'", at + 1))).collect();
    let chain: Vec<(&str, &str)> = chain.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    wrong("'0.toml'", &chain, "more than 16 files extend one another");
}

#[test]
fn only_files_that_the_user_names_are_read_outside_of_the_project() {
    let outside = Folder::new(&[
        ("secret.toml", "select = ['BLT104']\nmin-severity = 'note'\n"),
        ("models/a.toml", "schema = 1\nlanguage = \"python\"\nlibrary = \"a\"\n"),
    ]);
    let path = outside.path();
    let path = path.to_str().expect("UTF-8");
    let refused = |configuration: &str| {
        let folder = Folder::service(configuration);
        let (code, _, err) = folder.run_in("", &["check"]);
        assert!(code == Some(2) && err.contains("is outside of"), "{configuration}: {err}");
        assert!(err.contains("pyproject.toml:5: [tool.blocklint]"), "{err}");
        folder
    };
    refused(&format!("extend = '{path}/secret.toml'"));
    refused(&format!("models = '{path}/models'"));
    refused(&format!("models = ['{path}/models/a.toml']"));
    let folder = Folder::service("");
    folder.write("mine.toml", &format!("extend = '{path}/secret.toml'\nmodels = '{path}/models'\n"));
    assert_eq!(folder.found(&["--config", "mine.toml"]), ALL[3..], "the user named the file that asks for it");
    // Links out of the project are not followed.
    #[cfg(unix)]
    for link in ["extend = 'link.toml'", "models = 'link.toml'", "models = 'linked'"] {
        let folder = Folder::service(link);
        let make = |from: &str, to: &str| std::os::unix::fs::symlink(from, folder.path().join(to)).expect("a link");
        make(&format!("{path}/secret.toml"), "link.toml");
        make(&format!("{path}/models"), "linked");
        let (code, _, err) = folder.run_in("", &["check"]);
        assert!(code == Some(2) && err.contains("is outside of"), "{link}: {err}");
    }
    // Within one repository folders may share a file.
    let repository = Folder::new(&[
        (".git/HEAD", ""),
        ("base.toml", "min-severity = 'note'\n"),
        ("service/blocklint.toml", "extend = '../base.toml'\n"),
        ("service/main.py", "async def f():\n    open('x')\n"),
    ]);
    assert_eq!(repository.found_in("service", &[]), ["main.py:2 104"]);
}

#[test]
fn the_command_line_names_a_file_or_a_key() {
    let folder = Folder::service("select = ['BLT101']\nmin-severity = 'error'");
    folder.write("other.toml", "select = ['BLT104']\nmin-severity = 'note'\n");
    assert_eq!(folder.found(&["--config", "other.toml"]), ALL[3..]);
    assert_eq!(folder.found(&["--config", "select=['BLT102']"]), ALL[1..2]);
    assert_eq!(folder.found(&["--config", "extend-select = [\"BLT102\"]"]), ALL[..2]);
    assert_eq!(folder.found(&["--config", "other.toml", "--config", "select=['BLT1']"]), ALL);
    assert_eq!(folder.found(&["--isolated", "--config", "select=['BLT101']"]), ALL[..1]);
    assert_eq!(folder.found(&["--config", "select=['BLT101']", "--select", "BLT102"]), ALL[1..2]);
    assert_eq!(folder.found(&["--config", "per-file-ignores.'main.py'=['BLT1']"]), [] as [&str; 0]);
    for (values, said) in [
        (&["nowhere.toml"][..], "--config: `nowhere.toml` is neither a file nor `key=value`"),
        (&["tests"], "--config: `tests` is a folder"),
        (&["other.toml", "pyproject.toml"], "is a second file"),
        (&["min-severity=note"], "(a shell takes `min-severity=\"note\"` in single quotes)"),
        (&["select=BLT101"], "(a shell takes `select=[\"BLT101\"]` in single quotes)"),
        (&["selct=['BLT101']"], "--config: selct: unknown key `selct`; did you mean `select`?"),
        (&["select=['BLT999']"], "--config: select: unknown rule `BLT999`"),
        (&["extend='other.toml'"], "extending a file from the command line is `--config FILE`"),
        (&["--isolated", "other.toml"], "`--isolated` reads none"),
    ] {
        let mut arguments = vec!["check"];
        for value in values {
            arguments.extend(if value.starts_with("--") { vec![*value] } else { vec!["--config", value] });
        }
        let (code, _, err) = folder.run_in("", &arguments);
        assert!(code == Some(2) && err.contains(said), "{values:?}: {err}");
    }
}

#[test]
fn files_of_any_size_are_read_only_where_the_user_says_so() {
    let folder = Folder::service("max-file-size = '16MB'");
    assert_eq!(folder.run_in("", &["check"]).0, Some(1));
    folder.write("blocklint.toml", "max-file-size = '16_000_001'");
    let (code, _, err) = folder.run_in("", &["check"]);
    assert_eq!(code, Some(2));
    assert!(err.starts_with("error: blocklint.toml:1: max-file-size: more than 16000000 bytes are read only"), "{err}");
    assert_eq!(folder.run_in("", &["check", "--config", "blocklint.toml"]).0, Some(1));
    assert_eq!(folder.run_in("", &["check", "--isolated", "--config", "max-file-size='1GB'"]).0, Some(1));
}

#[test]
fn a_hostile_configuration_ends_soon() {
    let list = |entry: &str, count: usize| format!("[{}]", vec![format!("'{entry}'"); count].join(","));
    let globs: String = (0..50_000).map(|at| format!("'{at}/**/*.py',")).collect();
    let keys: String = (0..60_000).map(|at| format!("key{at} = 1\n")).collect();
    let braces = format!("exclude = ['{}']", "{a,b}".repeat(10_000));
    for (configuration, said) in [
        (format!("exclude = [{globs}]"), "50000 patterns are more than the 1000 that are read"),
        (
            format!("exclude = {0}\nextend-exclude = {0}", list("a/**/*.py", 600)),
            "1200 patterns of excluded files are more than the 1000 that are read",
        ),
        (format!("select = {}", list("A", 500_000)), "kB of configuration are more than the 1000 kB that are read"),
        (format!("select = {}", list("BLT1", 100_000)), "100000 rules are more than the 1000 that are read"),
        (keys, "more mistakes"),
        (format!("select = {}", "[".repeat(400_000)), "not TOML"),
        (format!("x = {}", "{a=".repeat(100_000)), "not TOML"),
        (braces, "is no pattern"),
    ] {
        for file in ["blocklint.toml", "pyproject.toml"] {
            let table = if file == "pyproject.toml" { "[tool.blocklint]\n" } else { "" };
            let folder = Folder::new(&[(file, &format!("{table}{configuration}")), ("main.py", "")]);
            let started = std::time::Instant::now();
            let (code, _, err) = folder.run_in("", &["check"]);
            let short: String = err.chars().take(300).collect();
            assert!(code == Some(2) && err.contains(said), "{said}: {short}");
            assert!(started.elapsed().as_secs_f64() < 10.0, "{said}: {:?}", started.elapsed());
            assert!(err.len() < 200_000, "{said}: {} bytes", err.len());
        }
    }
    // The number of patterns that is read costs no noticeable time.
    let most: String = (0..1_000).map(|at| format!("'{at}/**/*.py',")).collect();
    let folder = Folder::new(&[("blocklint.toml", &format!("exclude = [{most}]")), ("main.py", "")]);
    let started = std::time::Instant::now();
    assert_eq!(folder.run_in("", &["check"]).0, Some(0));
    assert!(started.elapsed().as_secs_f64() < 10.0, "{:?}", started.elapsed());
}

#[test]
fn files_that_would_be_reported_are_shown() {
    let folder = Folder::service("exclude = ['deep']");
    let (code, out, _) = folder.run_in("", &["check", "--show-files"]);
    assert_eq!((code, out.as_str()), (Some(0), "gen/helper_pb2.py\nmain.py\ntests/test_a.py\n"));
    let (_, out, _) = folder.run_in("tests", &["check", "--show-files", "."]);
    assert_eq!(out, "test_a.py\n");
}

#[test]
fn keys_are_listed_and_described() {
    let folder = Folder::new(&[]);
    let (code, out, _) = folder.run_in("", &["config"]);
    assert_eq!((code, out.lines().count()), (Some(0), KEYS.len()));
    let (_, out, _) = folder.run_in("", &["config", "max-file-size"]);
    assert!(
        out.starts_with("max-file-size\n\nLonger files are skipped") && out.contains("Default: `\"8MB\"`"),
        "{out}"
    );
    let (_, out, _) = folder.run_in("", &["config", "select", "--output-format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((value["name"].as_str(), value["option"].as_str()), (Some("select"), Some("--select")));
    let (code, _, err) = folder.run_in("", &["config", "selct"]);
    assert_eq!((code, err.as_str()), (Some(2), "error: unknown key `selct`; did you mean `select`?\n"));
    let (code, _, err) = folder.run_in("", &["config", "min-sev"]);
    assert_eq!((code, err.as_str()), (Some(2), "error: unknown key `min-sev`; did you mean `min-severity`?\n"));
}

/// `UPDATE=1 cargo test --workspace --test it configuration::` renews it.
#[test]
fn the_schema_is_current_and_means_what_the_program_reads() {
    let (_, text, _) = Folder::new(&[]).run_in("", &["config", "--schema"]);
    let file = repository().join("schemas/blocklint.schema.json");
    if env::var("UPDATE").is_ok_and(|value| value == "1") {
        fs::create_dir_all(file.parent().expect("a parent")).expect("made");
        fs::write(&file, &text).expect("the schema is written");
    } else {
        assert!(
            fs::read_to_string(&file).unwrap_or_default() == text,
            "run this test with UPDATE=1 to renew the schema"
        );
    }
    let schema = serde_json::from_str(&text).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let is_valid = |text: &str| {
        let table: toml::Table = text.parse().expect("TOML");
        validator.is_valid(&serde_json::to_value(table).expect("JSON"))
    };
    for key in KEYS {
        assert!(is_valid(&key.example.replace("[tool.blocklint.", "[")), "{}", key.example);
    }
    for wrong in ["selct = []", "select = 'ALL'", "min-severity = 'worse'", "require-reason = 1", "max-file-size = -1"]
    {
        assert!(!is_valid(wrong), "{wrong}");
        let folder = Folder::new(&[("blocklint.toml", wrong), ("main.py", "")]);
        assert_eq!(folder.run_in("", &["check"]).0, Some(2), "{wrong}");
    }
}

/// The program accepts every example of the reference.
#[test]
fn the_examples_of_the_reference_are_right() {
    for key in KEYS {
        let folder = Folder::service("");
        let table = if key.example.starts_with('[') { "" } else { "[tool.blocklint]\n" };
        folder.write("pyproject.toml", &format!("{table}{}\n", key.example));
        if key.name == "extend" {
            folder.write("configs/blocklint.toml", "ignore = ['BLT104']\n");
        }
        if key.name == "baseline" {
            folder.write("ci/of_ci.toml", "");
            assert_eq!(folder.run_in("", &["baseline", "create"]).0, Some(0));
        }
        folder.write("blocking/a.toml", "schema = 1\nlanguage = \"python\"\nlibrary = \"a\"\n");
        let (code, _, err) = folder.run_in("", &["check", "--exit-zero"]);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{}", key.name);
    }
}

/// Wraps a text to lines of at most 120 characters.
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

/// The entry for SchemaStore: its examples are valid, its counterexamples are not, and every key has an example.
#[test]
fn the_entry_for_schemastore_is_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    let read = |file: &Path| fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let schema: serde_json::Value = serde_json::from_str(&read(&folder.join("blocklint.schema.json"))).expect("JSON");
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#", "what SchemaStore takes");
    assert_eq!(schema["$id"], "https://www.schemastore.org/blocklint.json");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let examples = |part: &str| -> Vec<toml::Table> {
        let files = fs::read_dir(folder.join("schemastore").join(part)).expect("a folder");
        files.map(|file| read(&file.expect("a file").path()).parse().expect("TOML")).collect()
    };
    let is_valid = |table: &toml::Table| validator.is_valid(&serde_json::to_value(table).expect("JSON"));
    let (right, wrong) = (examples("test"), examples("negative_test"));
    assert!(right.iter().all(is_valid) && wrong.len() >= 2 && !wrong.iter().any(is_valid));
    for key in KEYS.iter().filter(|key| key.name != "extend") {
        assert!(right.iter().any(|table| table.contains_key(key.name)), "{} has no example", key.name);
    }
    let entry: serde_json::Value =
        serde_json::from_str(&read(&folder.join("schemastore/catalog-entry.json"))).expect("JSON");
    assert_eq!(entry["url"], schema["$id"]);
    assert_eq!(entry["fileMatch"], serde_json::json!(["blocklint.toml", ".blocklint.toml"]));
}
