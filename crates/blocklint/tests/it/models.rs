//! `blocklint models`, and the records of verified built-in models.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::sha256::digest_of_model;
use crate::support::repository;

fn blocklint(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
    command.current_dir(folder).args(arguments).env("NO_COLOR", "1").output().expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn write(folder: &Path, name: &str, content: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, content).expect("a file");
}

/// Collects the model files below `rules/models` by path.
fn model_files(folder: &Path, below: &str, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name.starts_with('.') || name.starts_with("VERIFIED") {
            continue;
        }
        let inside = if below.is_empty() { name } else { format!("{below}/{name}") };
        if path.is_dir() {
            model_files(&path, &inside, found);
        } else if inside.ends_with(".toml") {
            found.insert(inside, digest_of_model(&fs::read_to_string(&path).expect("a model")));
        }
    }
}

/// Returns the file and hash of every record.
fn recorded() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(repository().join("rules/models")).expect("a folder") {
        let path = entry.expect("an entry").path();
        if !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("VERIFIED")) {
            continue;
        }
        let mut file = String::new();
        for line in fs::read_to_string(&path).expect("a record").lines() {
            let value = |key: &str| {
                let quoted = line.strip_prefix(key)?.strip_prefix(" = \"")?;
                quoted.strip_suffix('"').map(str::to_owned)
            };
            if let Some(name) = value("file") {
                file = name;
            } else if let Some(hash) = value("sha256") {
                found.insert(file.clone(), hash);
            }
        }
    }
    found
}

/// Returns the reason why a model needs no record, as for standard libraries, which other tests check.
fn needs_no_record(file: &str) -> Option<&'static str> {
    match file {
        "rust/std.toml" => Some("the standard library; its names are those of the toolchain"),
        _ if file.starts_with("python/stdlib/") => Some("the standard library; verify_stdlib.py asks interpreters"),
        _ => None,
    }
}

#[test]
fn every_model_was_verified_as_it_stands() {
    let mut files = BTreeMap::new();
    model_files(&repository().join("rules/models"), "", &mut files);
    assert!(files.len() > 100, "the models are found");
    let records = recorded();
    let mut wrong = Vec::new();
    for (file, hash) in &files {
        match records.get(file) {
            Some(known) if known == hash => {}
            Some(_) => wrong.push(format!("{file}: changed since it was verified")),
            None if needs_no_record(file).is_some() => {}
            None => wrong.push(format!("{file}: was never verified")),
        }
    }
    let gone = records.keys().filter(|file| !files.contains_key(*file));
    wrong.extend(gone.map(|file| format!("{file}: is recorded, but is no model")));
    let how = "run rules/models/verify_<language>.py --write FILE";
    assert!(wrong.is_empty(), "{how}\n{}", wrong.join("\n"));
}

#[test]
fn every_record_names_what_it_checked() {
    let records: BTreeSet<String> = recorded().into_keys().collect();
    for record in blocklint_models::verified() {
        assert!(records.contains(&record.file));
        assert!(!record.version.is_empty() && record.rows > 0, "{}", record.file);
        assert!(
            record.checked > 0 || record.unchecked > 0,
            "{}: nothing was looked up, and nothing says why",
            record.file
        );
    }
}

#[test]
fn list_shows_rows_versions_and_the_users_own_files() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "pyproject.toml", "[tool.blocklint]\nmodels = [\"ours.toml\"]\n");
    write(
        folder.path(),
        "ours.toml",
        "schema = 1\nlanguage = \"python\"\n[[call]]\npath = \"shop.db.load\"\neffect = \"database\"\n",
    );
    let output = blocklint(folder.path(), &["models", "list", "--language", "python"]);
    let shown = text(&output.stdout);
    assert!(output.status.success());
    let ours = shown.lines().find(|line| line.ends_with("ours.toml")).expect("the user's file");
    assert_eq!(ours.split_whitespace().collect::<Vec<_>>(), ["python", "-", "1", "-", "user", "ours.toml"]);
    let known =
        blocklint_models::verified().into_iter().find(|record| record.file.starts_with("python/")).expect("one");
    let line = shown.lines().find(|line| line.ends_with(&format!("rules/models/{}", known.file))).expect("its line");
    assert!(line.contains(&known.version), "{line}");
    let json = blocklint(folder.path(), &["models", "list", "--output-format", "json"]);
    let listed: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert!(listed.as_array().is_some_and(|all| all.iter().any(|one| one["layer"] == "user" && one["rows"] == 1)));
}

#[test]
fn check_reports_mistakes_with_their_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = "schema = 1\nlanguage = \"python\"\n[[call]]\npath = \"shop.load\"\neffect = \"database\"\n";
    write(folder.path(), "models/good.toml", good);
    let output = blocklint(folder.path(), &["models", "check", "models"]);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(0), "1 file, 1 rows, no mistakes\n"));
    write(folder.path(), "models/bad.toml", &good.replace("effect", "efect"));
    let output = blocklint(folder.path(), &["models", "check", "models"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("models/bad.toml:5: [[call]] efect: unknown key `efect`; did you mean `effect`?")
    );
    // A model file in a package must name its library and the address of its documentation.
    let output = blocklint(folder.path(), &["models", "check", "--shipped", "models/good.toml"]);
    assert!(text(&output.stderr).contains("missing key `library`"));
    assert_eq!(blocklint(folder.path(), &["models", "check", "nowhere.toml"]).status.code(), Some(2));
}

#[test]
fn explain_shows_the_rows_that_decide_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let shown = |arguments: &[&str]| {
        let output = blocklint(folder.path(), arguments);
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, out, _) = shown(&["models", "explain", "time.sleep"]);
    assert_eq!(code, Some(0));
    assert!(out.starts_with("`time.sleep` (python)\n\n[[call]] time.sleep\n  rules/models/python/"), "{out}");
    assert!(out.contains("    effect = \"sleep\"\n") && out.contains("asyncio = \"asyncio.sleep\""), "{out}");
    let (code, out, _) = shown(&["models", "explain", "std::fs::read"]);
    assert!(code == Some(0) && out.contains("(rust)") && out.contains("effect = \"file\""), "{out}");
    let (code, _, err) = shown(&["models", "explain", "time.slep"]);
    assert_eq!((code, err.as_str()), (Some(2), "error: no model describes `time.slep`\n"));
}

#[test]
fn verify_reads_a_package_and_reports_wrong_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "lib/acme/__init__.py", "def load(path, timeout=None): ...\nasync def fetch(): ...\n");
    let model = "schema = 1\nlanguage = \"python\"\nlibrary = \"acme\"\n[[call]]\npath = \"acme.{load,save}\"\neffect = \"file\"\n";
    write(folder.path(), "acme.toml", model);
    let arguments = ["models", "verify", "lib", "--model", "acme.toml", "--library-version", "1.2"];
    let output = blocklint(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stdout),
        "acme.toml:5: acme.save: `acme` has no `save`\nacme 1.2: 1 rows, 2 names checked, 0 exempt (0 unchecked), 1 problems\n"
    );
    write(folder.path(), "acme.toml", &model.replace("{load,save}", "load"));
    assert_eq!(blocklint(folder.path(), &arguments).status.code(), Some(0));
    assert_eq!(blocklint(folder.path(), &["models", "verify", "gone", "--model", "acme.toml"]).status.code(), Some(2));
}
