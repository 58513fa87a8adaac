//! Integrations that run blocklint for people: GitHub's annotations and the hooks of pre-commit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Folder(tempfile::tempdir().expect("a folder"));
        fs::create_dir(folder.0.path().join(".git")).expect("made");
        for (file, text) in files {
            let path = folder.0.path().join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
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
}

fn service() -> Folder {
    let store = "import requests\n\ndef load(key):\n    return requests.get('x' + key, timeout=5)\n";
    let main = "import os, time\nfrom app.store import load\n\nasync def handler(key):\n    return load(\n        key,\n    )\n\n\
                async def other():\n    time.sleep(1), os.stat('100%')\n    open('x')\n";
    Folder::new(&[
        ("app/__init__.py", ""),
        ("app/store.py", store),
        ("app/a,b.py", main),
        ("app/gen.py", "import time\nasync def f():\n    time.sleep(1)\n"),
        ("pyproject.toml", "[tool.blocklint]\nexclude = ['gen.py']\n"),
    ])
}

#[test]
fn annotations_stand_at_their_lines_with_their_severity() {
    let folder = service();
    let (code, out) = folder.run(&["check", "--output-format", "github", "--min-severity", "note"]);
    assert_eq!(code, Some(1));
    let lines = out.lines().collect::<Vec<_>>();
    let file = folder.path().join("app/a%2Cb.py").to_str().expect("UTF-8").replace(':', "%3A");
    let starts = [
        format!(
            "::error title=blocklint (BLT102),file={file},line=5,col=12,endLine=7,endColumn=6::app/a,b.py:5:12: BLT102 "
        ),
        format!(
            "::error title=blocklint (BLT101),file={file},line=10,col=5,endLine=10,endColumn=18::app/a,b.py:10:5: BLT101 "
        ),
        format!("::notice title=blocklint (BLT104),file={file},line=10,col=20,"),
        format!("::warning title=blocklint (BLT104),file={file},line=11,col=5,"),
    ];
    assert_eq!(lines.len(), 5, "{out}");
    for (line, start) in lines.iter().zip(&starts) {
        assert!(line.starts_with(start.as_str()), "{line}\n{start}");
    }
    assert!(lines[0].contains("%0Apath: handler → load → requests.get%0Ahelp: "), "{out}");
    assert_eq!(lines[4], "Found 4 findings with 4 causes.");
}

/// Returns the arguments of a hook in `.pre-commit-hooks.yaml`, and true if it gets names of files.
fn hook(id: &str) -> (Vec<String>, bool) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.pre-commit-hooks.yaml");
    let text = fs::read_to_string(file).expect("the hooks");
    let hooks = text.split("\n- id: ").skip(1);
    let hook = hooks.filter_map(|hook| hook.split_once('\n')).find(|(name, _)| *name == id).expect("the hook").1;
    let value = |key: &str| hook.lines().find_map(|line| line.trim().strip_prefix(key));
    let entry = value("entry: blocklint ").expect("it runs blocklint");
    assert_eq!(value("language: "), Some("python"));
    assert_eq!(value("require_serial: "), Some("true"), "each run reads the whole project");
    (entry.split(' ').map(str::to_owned).collect(), value("pass_filenames: ") != Some("false"))
}

#[test]
fn the_hook_reports_findings_elsewhere_with_a_cause_in_changed_files() {
    let folder = service();
    let (arguments, named) = hook("blocklint");
    assert!(named);
    let found = |files: &[&str]| {
        let mut all = arguments.iter().map(String::as_str).collect::<Vec<_>>();
        all.extend(["--output-format", "concise"].iter().chain(files));
        let (code, out) = folder.run(&all);
        let places = out.lines().filter_map(|line| line.split_once(": BLT")).map(|(place, _)| place.to_owned());
        (code, places.collect::<Vec<_>>())
    };
    assert_eq!(found(&["app/store.py"]), (Some(1), vec!["app/a,b.py:5:12".to_owned()]));
    assert_eq!(found(&["app/__init__.py"]), (Some(0), vec![]));
    assert_eq!(found(&["app/gen.py"]), (Some(0), vec![]), "what is excluded stays so, though pre-commit names it");
}

#[test]
fn the_other_hook_reports_the_whole_project() {
    let (arguments, named) = hook("blocklint-project");
    assert!(!named);
    let (code, out) = service().run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(
        (code, out.lines().find(|line| line.starts_with("Found "))),
        (
            Some(1),
            Some(
                "Found 3 findings with 3 causes; 1 more below `warning`/`medium` (show it with --min-severity note --min-confidence low)."
            )
        )
    );
}
