//! The formats for programs besides JSON and SARIF, and properties of all formats.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

const FORMATS: [&str; 10] =
    ["full", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "rdjson", "html"];

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Folder(tempfile::Builder::new().prefix("formats-").tempdir().expect("a folder"));
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
        command.env_clear().current_dir(self.path()).args(["check", "--output-format"]).args(arguments);
        let output = command.stdin(Stdio::null()).output().expect("it starts");
        (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8"))
    }

    fn read(&self, format: &str) -> Value {
        serde_json::from_str(&self.run(&[format]).1).expect("JSON")
    }
}

/// Two files of a package below the repository's root; one finding twice in one function, one behind a helper, one
/// fixable by one edit, and characters of several bytes before one.
fn service() -> Folder {
    Folder::new(&[
        ("app/store.py", "import requests\n\ndef load(key):\n    return requests.get(key, timeout=5)\n"),
        (
            "app/main.py",
            "import asyncio, time\nfrom store import load\n\nasync def handler(key):\n    é = 'ü'; load(key)\n    time.sleep(1)\n    \
             time.sleep(1)\n\nasync def other(key):\n    return load(\n        key,\n    )\n",
        ),
    ])
}

#[test]
fn exit_codes_are_those_of_the_run_in_every_format() {
    let (dirty, clean) = (service(), Folder::new(&[("a.py", "x = 1\n")]));
    for format in FORMATS {
        assert_eq!(dirty.run(&[format]).0, Some(1), "{format}");
        assert_eq!(dirty.run(&[format, "--exit-zero"]).0, Some(0), "{format}");
        assert_eq!(clean.run(&[format]).0, Some(0), "{format}");
        assert_eq!(clean.run(&[format, "nowhere.py"]).0, Some(2), "{format}");
        assert_eq!(clean.run(&[format, "--select", "BLT9000"]).0, Some(2), "{format}");
    }
}

#[test]
fn a_run_that_writes_into_a_file_says_how_many_there_are() {
    let folder = service();
    let told = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
        command
            .env_clear()
            .current_dir(folder.path())
            .args(["check", "--no-cache"])
            .args(arguments)
            .stdin(Stdio::null());
        let output = command.output().expect("it starts");
        assert!(output.stdout.is_empty());
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    for format in FORMATS {
        let said = told(&["--output-format", format, "-o", "report"]);
        assert!(
            said.starts_with("Found 4 findings with ") && said.ends_with("Written to report.\n"),
            "{format}: {said}"
        );
    }
    assert!(told(&["--select", "BLT601", "-o", "report"]).starts_with("No findings"));
    assert_eq!(told(&["-q", "-o", "report"]), "");
}

#[test]
fn a_file_is_replaced_whole_or_not_at_all() {
    let folder = service();
    let file = folder.path().join("out/report");
    for format in FORMATS {
        let to = ["--output-file", "out/report"];
        let (code, out) = folder.run(&[&[format][..], &to].concat());
        assert_eq!((code, out.as_str()), (Some(2), ""), "{format}: there is no folder to write into");
    }
    fs::create_dir(folder.path().join("out")).expect("made");
    for format in FORMATS {
        let (_, expected) = folder.run(&[format]);
        fs::write(&file, "something longer than any report ".repeat(20_000)).expect("written");
        let (code, out) = folder.run(&[format, "-o", "out/report"]);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{format}");
        assert_eq!(fs::read_to_string(&file).expect("a report"), expected, "{format}");
    }
    let left: Vec<_> = fs::read_dir(folder.path().join("out")).expect("a folder").collect();
    assert_eq!(left.len(), 1, "nothing else is left: {left:?}");
}

#[cfg(unix)]
#[test]
fn links_and_devices_are_written_through() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = service();
    assert_eq!(folder.run(&["concise", "-o", "/dev/null"]).0, Some(1));
    assert!(!fs::metadata("/dev/null").expect("a device").is_file());
    let (link, target) = (folder.path().join("link"), folder.path().join("target.txt"));
    fs::write(&target, "old").expect("written");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).expect("set");
    symlink(&target, &link).expect("a link");
    assert_eq!(folder.run(&["concise", "-o", "link"]).0, Some(1));
    assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
    assert!(fs::read_to_string(&target).expect("text").contains("BLT102"));
    assert_eq!(fs::metadata(&target).expect("a file").permissions().mode() & 0o777, 0o640);
}

#[test]
fn jsonl_holds_the_objects_of_json() {
    let folder = service();
    let (_, lines) = folder.run(&["jsonl"]);
    let objects: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert!(objects.len() >= 4);
    assert_eq!(Value::Array(objects), folder.read("json"));
    let clean = Folder::new(&[("a.py", "x = 1\n")]);
    assert_eq!(clean.run(&["jsonl"]).1, "");
}

#[test]
fn gitlab_counts_from_the_repository_and_tells_findings_apart() {
    let folder = service();
    let issues = folder.read("gitlab");
    let issues = issues.as_array().expect("an array");
    assert_eq!(issues.len(), 4);
    let mut fingerprints = BTreeSet::new();
    for issue in issues {
        let keys: Vec<&str> = issue.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(keys, ["check_name", "description", "severity", "fingerprint", "location"]);
        assert!(fingerprints.insert(issue["fingerprint"].as_str().expect("text")), "{issue}");
        assert!(["info", "minor", "major", "critical", "blocker"].contains(&issue["severity"].as_str().expect("text")));
    }
    let of = |check: &str| issues.iter().find(|issue| issue["check_name"] == check).expect("one").clone();
    assert_eq!(
        of("BLT102")["location"],
        json!({ "path": "app/main.py", "positions": { "begin": { "line": 5, "column": 14 }, "end": { "line": 5, "column": 23 } } })
    );
    assert_eq!(of("BLT102")["severity"], "major");
    // The paths do not depend on the current folder.
    let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
    command.env_clear().current_dir(folder.path().join("app")).args(["check", "--output-format", "gitlab"]);
    let below: Value =
        serde_json::from_slice(&command.stdin(Stdio::null()).output().expect("it starts").stdout).expect("JSON");
    assert_eq!(below[0]["location"]["path"], "app/main.py");
    assert_eq!(Folder::new(&[("a.py", "")]).run(&["gitlab"]).1, "[]\n");
}

/// As <https://github.com/reviewdog/reviewdog/tree/master/proto/rdf> defines it: columns count bytes from 1.
#[test]
fn rdjson_counts_bytes_and_suggests_what_is_whole() {
    let folder = service();
    let result = folder.read("rdjson");
    assert_eq!((&result["source"]["name"], &result["severity"]), (&json!("blocklint"), &json!("ERROR")));
    let all = result["diagnostics"].as_array().expect("an array");
    assert_eq!(all.len(), 4);
    let network = all.iter().find(|one| one["code"]["value"] == "BLT102").expect("one");
    let range = json!({ "start": { "line": 5, "column": 16 }, "end": { "line": 5, "column": 25 } });
    assert_eq!(network["location"], json!({ "path": "app/main.py", "range": range }));
    assert_eq!(network["related_locations"][0]["location"]["path"], "app/store.py");
    assert!(network["message"].as_str().expect("text").contains("\npath: handler → load → requests.get"), "{network}");
    let sleep = all.iter().find(|one| one["code"]["value"] == "BLT101").expect("one");
    assert_eq!(
        sleep["suggestions"][0]["text"].as_str().map(|text| text.contains("asyncio.sleep")),
        Some(true),
        "{sleep}"
    );
    assert_eq!(
        Folder::new(&[("a.py", "")]).read("rdjson"),
        json!({ "source": { "name": "blocklint" }, "diagnostics": [] })
    );
}

#[test]
fn junit_has_a_failed_test_for_each_finding() {
    let folder = service();
    let (_, text) = folder.run(&["junit"]);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for tag in ["<testsuites ", "<testsuite ", "<testcase ", "<failure "] {
        counts.insert(tag, text.matches(tag).count());
    }
    assert_eq!(counts.into_values().collect::<Vec<_>>(), [4, 4, 1, 1], "{text}");
    assert!(text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"), "{text}");
    assert!(
        text.contains("<testsuites name=\"blocklint\" tests=\"4\" skipped=\"0\" failures=\"4\" errors=\"0\""),
        "{text}"
    );
    assert!(text.contains("classname=\"app/main.py\" file=\"app/main.py\" line=\"5\" column=\"14\""), "{text}");
    let (code, clean) = Folder::new(&[("a.py", "")]).run(&["junit"]);
    assert_eq!(code, Some(0));
    assert!(clean.contains("tests=\"1\" skipped=\"0\" failures=\"0\"") && clean.contains("No findings"), "{clean}");
    assert_eq!(folder.run(&["junit"]).1, text, "and nothing that changes from run to run");
}

/// The requirements of GitLab's parser of reports, from its source and its manual.
#[test]
fn gitlab_s_reader_takes_each_object() {
    let text = json!({ "type": "string", "minLength": 1 });
    let position = json!({
        "type": "object",
        "required": ["line", "column"],
        "properties": { "line": { "type": "integer", "minimum": 1 }, "column": { "type": "integer", "minimum": 1 } },
    });
    let schema = json!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["description", "check_name", "fingerprint", "severity", "location"],
            "properties": {
                "description": text,
                "check_name": text,
                "fingerprint": text,
                "severity": { "enum": ["info", "minor", "major", "critical", "blocker"] },
                "location": {
                    "type": "object",
                    "required": ["path", "positions"],
                    "properties": {
                        "path": { "type": "string", "pattern": "^[^./]" },
                        "positions": {
                            "type": "object",
                            "required": ["begin"],
                            "properties": { "begin": position, "end": position },
                        },
                    },
                },
            },
        },
    });
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let report = service().read("gitlab");
    assert!(report.as_array().is_some_and(|issues| issues.len() >= 4), "{report}");
    let wrong: Vec<String> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(!validator.is_valid(&json!([{ "description": "x" }])));
}
