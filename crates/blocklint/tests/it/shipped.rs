//! Models that libraries ship in their packages: where they are found, and how far they are trusted.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

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

const APP: &str = "import acme\nimport time\n\nasync def handler():\n    acme.load()\n    time.sleep(1)\n";
const MODEL: &str = "schema = 1\nlanguage = \"python\"\nlibrary = \"acme-billing\"\nroots = [\"acme\"]\n\
                     docs = \"https://acme.example\"\n[[call]]\npath = \"acme.load\"\neffect = \"database\"\n";

/// Installs a package that ships a model into the site packages of an environment.
fn install(site: &Path, model: &str) {
    write(site, "acme/__init__.py", "def load(): ...\n");
    write(site, "acme/data/blocklint/acme.toml", model);
    let about = "acme_billing-1.2.dist-info";
    write(
        site,
        &format!("{about}/entry_points.txt"),
        "[console_scripts]\nx = acme:load\n\n[blocklint.models]\nacme = acme.data\n",
    );
    let record = format!(
        "acme/__init__.py,sha256=x,1\nacme/data/blocklint/acme.toml,sha256=x,1\n{about}/RECORD,,\nacme_extra.py,,\n"
    );
    write(site, &format!("{about}/RECORD"), &record);
}

fn project(model: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "pyproject.toml", "[tool.blocklint]\n");
    write(folder.path(), "app.py", APP);
    write(folder.path(), ".venv/pyvenv.cfg", "version = 3.12\n");
    install(&folder.path().join(".venv/lib/python3.12/site-packages"), model);
    folder
}

fn found(folder: &Path, more: &[&str]) -> (String, String) {
    let output = blocklint(folder, &[&["check", "--output-format", "concise"], more].concat());
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_package_in_the_projects_environment_is_known() {
    let folder = project(MODEL);
    let (out, err) = found(folder.path(), &[]);
    assert!(out.contains("app.py:5:5: BLT103"), "{out}{err}");
    assert_eq!(err, "");
    let output = blocklint(folder.path(), &["models", "explain", "acme.load"]);
    let shown = text(&output.stdout);
    assert!(shown.contains("site-packages/acme/data/blocklint/acme.toml:7 (shipped)"), "{shown}");
}

#[test]
fn the_package_is_above_the_built_in_model_path_by_path() {
    let folder = project(MODEL);
    write(
        folder.path(),
        "app.py",
        "import time\nimport subprocess\n\nasync def handler():\n    time.sleep(1)\n    subprocess.run([])\n",
    );
    let site = folder.path().join(".venv/lib/python3.12/site-packages");
    // A package with the name of a module that a built-in model describes.
    let model = "schema = 1\nlanguage = \"python\"\nlibrary = \"time\"\ndocs = \"https://time.example\"\n\
                 [[call]]\npath = \"time.sleep\"\neffect = \"none\"\n";
    write(&site, "time/blocklint/time.toml", model);
    write(&site, "time-1.0.dist-info/entry_points.txt", "[blocklint.models]\ntime = time\n");
    write(&site, "time-1.0.dist-info/RECORD", "time/__init__.py,,\n");
    let (out, err) = found(folder.path(), &[]);
    assert!(!out.contains("app.py:5") && out.contains("app.py:6:5: BLT105"), "{out}{err}");
}

#[test]
fn the_users_file_is_above_what_a_package_ships() {
    let folder = project(MODEL);
    write(
        folder.path(),
        "ours.toml",
        "schema = 1\nlanguage = \"python\"\n[[call]]\npath = \"acme.load\"\neffect = \"none\"\n",
    );
    write(folder.path(), "pyproject.toml", "[tool.blocklint]\nmodels = [\"ours.toml\"]\n");
    let (out, _) = found(folder.path(), &[]);
    assert!(!out.contains("app.py:5"), "{out}");
    assert!(out.contains("app.py:6:5: BLT101"), "{out}");
}

#[test]
fn a_package_speaks_only_of_its_own_names() {
    let foreign = "[[call]]\npath = \"time.sleep\"\neffect = \"none\"\n";
    let folder = project(&format!("{MODEL}{foreign}"));
    let (out, err) = found(folder.path(), &[]);
    assert!(out.contains("app.py:5:5: BLT103") && out.contains("app.py:6:5: BLT101"), "{out}");
    assert!(err.contains("acme.toml:10: [[call]] path: `time.sleep`"), "{err}");
    assert!(err.contains("; shipped by acme_billing, left out"), "{err}");
    // A package cannot describe other names by claiming them in `roots`.
    let folder = project(&format!("{}{foreign}", MODEL.replace("[\"acme\"]", "[\"acme\", \"time\"]")));
    let (out, err) = found(folder.path(), &[]);
    assert!(!out.contains("app.py:5") && out.contains("app.py:6:5: BLT101"), "{out}");
    assert!(err.contains("`time` is not one of the package's own names (acme, acme_extra)"), "{err}");
}

#[test]
fn a_row_with_a_mistake_is_left_out_with_a_warning() {
    let folder = project(&format!("{MODEL}[[call]]\npath = \"acme.save\"\nefect = \"file\"\n"));
    let output = blocklint(folder.path(), &["check", "--output-format", "concise"]);
    assert_eq!(output.status.code(), Some(1), "findings, no failure");
    assert!(text(&output.stdout).contains("app.py:5:5: BLT103"));
    assert!(text(&output.stderr).contains("did you mean `effect`?"));
}

#[test]
fn a_package_cannot_name_the_folder_of_another() {
    let folder = project(MODEL);
    let site = folder.path().join(".venv/lib/python3.12/site-packages");
    write(&site, "evil-1.0.dist-info/entry_points.txt", "[blocklint.models]\nevil = acme.data\n");
    write(&site, "evil-1.0.dist-info/RECORD", "evil/__init__.py,,\n");
    let (_, err) = found(folder.path(), &[]);
    assert!(err.contains("models are named in `acme.data`, which is not the package's own"), "{err}");
}

#[test]
fn an_environment_outside_is_opened_only_where_the_user_names_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let outside = tempfile::tempdir().expect("a folder");
    write(folder.path(), "app.py", APP);
    install(&outside.path().join("lib/python3.12/site-packages"), MODEL);
    let (out, _) = found(folder.path(), &[]);
    assert!(!out.contains("BLT103"), "{out}");
    let (out, _) = found(folder.path(), &["--environment", &outside.path().to_string_lossy()]);
    assert!(out.contains("app.py:5:5: BLT103"), "{out}");
    let (_, err) = found(folder.path(), &["--environment", "nowhere"]);
    assert!(err.contains("nowhere: no such folder"), "{err}");
}

#[test]
fn a_vendored_crate_is_known_and_one_of_a_registry_where_it_is_locked() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n";
    write(folder.path(), "Cargo.toml", manifest);
    write(folder.path(), "src/main.rs", "async fn handler() {\n    acme_db::load();\n}\n");
    let ship = |place: &Path| {
        let manifest = "[package]\nname = \"acme-db\"\nversion = \"1.0.0\"\n[package.metadata.blocklint]\nmodels = [\"blocklint.toml\"]\n";
        write(place, "Cargo.toml", manifest);
        let model = "schema = 1\nlanguage = \"rust\"\nlibrary = \"acme-db\"\ndocs = \"https://acme.example\"\n\
                     [[call]]\npath = \"acme_db::load\"\neffect = \"database\"\n";
        write(place, "blocklint.toml", model);
    };
    let registry = tempfile::tempdir().expect("a folder");
    ship(&registry.path().join("acme-db-1.0.0"));
    let named = registry.path().to_string_lossy().into_owned();
    let (out, _) = found(folder.path(), &["--environment", &named]);
    assert!(!out.contains("BLT103"), "it is not locked: {out}");
    write(folder.path(), "Cargo.lock", "[[package]]\nname = \"acme-db\"\nversion = \"1.0.0\"\n");
    let (out, _) = found(folder.path(), &["--environment", &named]);
    assert!(out.contains("src/main.rs:2:14: BLT103"), "{out}");
    ship(&folder.path().join("vendor/acme-db"));
    let (out, _) = found(folder.path(), &[]);
    assert!(out.contains("src/main.rs:2:14: BLT103"), "{out}");
}
