//! Versions of dependencies: the files from which they are read, and findings for ranges with several behaviours.

use std::fs;
use std::process::Command;

const ENDPOINT: &str = r#"
from fastapi import FastAPI
from pydantic import BaseModel

app = FastAPI()

class Client(BaseModel):
    name: str

@app.get("/clients", response_model=list[Client])
def list_clients(db):
    return db.query(Row).all()
"#;

/// Returns the findings of the endpoint among some other files.
fn told(files: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    for (file, text) in [("blocklint.toml", ""), ("main.py", ENDPOINT)].iter().chain(files) {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
    command.env_clear().current_dir(&folder);
    let out = command.args(["check", "--min-severity", "note", "--output-format", "full"]).output().expect("it starts");
    String::from_utf8(out.stdout).expect("utf-8")
}

#[test]
fn each_place_says_which_way_a_response_takes() {
    let manifest =
        ("pyproject.toml", "[project]\nname = \"shop\"\ndependencies = [\"fastapi>=0.100\", \"pydantic\"]\n");
    let metadata = |package: &str| format!(".venv/lib/python3.11/site-packages/{package}.dist-info/METADATA");
    for (files, way) in [
        (vec![manifest], "while it is serialised"),
        (vec![("requirements.txt", "fastapi==0.115.2\n")], "rendered in Python"),
        (vec![("requirements/base.txt", "fastapi[all] == 0.115.2 ; python_version > '3.8'\n")], "rendered in Python"),
        (vec![manifest, ("uv.lock", "[[package]]\nname = \"fastapi\"\nversion = \"0.129.2\"\n")], "rendered in Python"),
        (
            vec![manifest, ("poetry.lock", "[[package]]\nname = \"pydantic\"\nversion = \"1.10.27\"\n")],
            "pydantic 1 converts",
        ),
        (vec![manifest, (&metadata("fastapi-0.115.2"), "")], "rendered in Python"),
        // A lock file has precedence over installed packages.
        (
            vec![
                manifest,
                (&metadata("fastapi-0.115.2"), ""),
                ("uv.lock", "[[package]]\nname = \"fastapi\"\nversion = \"0.135.0\"\n"),
            ],
            "while it is serialised",
        ),
        (
            vec![("pyproject.toml", "[project]\nname = \"shop\"\ndependencies = [\"fastapi<0.130\"]\n")],
            "rendered in Python",
        ),
    ] {
        let said = told(&files);
        assert!(said.contains(way), "{files:?}: {said}");
    }
}

#[test]
fn a_version_range_with_several_behaviours_is_reported() {
    let of = |dependencies: &str| {
        told(&[("pyproject.toml", &format!("[project]\nname = \"shop\"\ndependencies = [{dependencies}]\n"))])
    };
    let both = of("\"fastapi>=0.110\", \"pydantic>=1.10,<3\"");
    assert!(both.contains("`pyproject.toml` also allows versions of fastapi that render the JSON in Python"), "{both}");
    assert!(both.contains("`pyproject.toml` also allows version 1 of pydantic"), "{both}");
    let one = of("\"fastapi>=0.130\", \"pydantic>=2.7\"");
    assert!(one.contains("while it is serialised") && !one.contains("also allows"), "{one}");
}
