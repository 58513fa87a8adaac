//! Fixes for Java: each kind of edit has an example in `tests/fixtures/java-compile/before`, and the fixed code is in
//! `src/main/java`, where it is compiled with the real libraries.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use blocklint_core::{Applicability, Confidence, Severity};
use blocklint_engine::{Containment, FixRequest, FixResult, Levels, RuleArguments, Rules, fix, load_models};
use blocklint_java::Shape;
use blocklint_project::{Request, discover};
use camino::Utf8Path;

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/java-compile")
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("readable").file_name().into_string().expect("a name"));
    names.filter_map(|name| name.strip_suffix(".java").map(str::to_owned)).collect()
}

fn fixed(root: &Utf8Path) -> FixResult {
    let paths = [root.to_owned()];
    let project = discover(Request { current: root, paths: &paths, isolated: true }).expect("a project");
    let models = load_models(&project, root).expect("models");
    let arguments = RuleArguments { select: &[], extend_select: &[], ignore: &[] };
    let rules = Rules::new(&project.configuration, arguments, root).expect("rules");
    let levels = Levels { severity: Severity::Note, confidence: Confidence::Medium };
    let request = FixRequest {
        project: &project,
        models: &models,
        rules: &rules,
        levels,
        include_aside: true,
        allowed: Applicability::Unsafe,
        containment: Containment::default(),
    };
    fix(request).expect("it runs")
}

#[test]
fn every_shape_has_an_example() {
    let shapes: BTreeSet<String> = Shape::ALL.iter().map(|shape| format!("{shape:?}")).collect();
    assert_eq!(names_in(&project().join("before")), shapes);
    assert_eq!(names_in(&project().join("src/main/java")), shapes);
}

#[test]
fn examples_are_what_the_fixes_make() {
    let update = std::env::var_os("UPDATE").is_some();
    for shape in Shape::ALL {
        let name = format!("{shape:?}.java");
        let folder = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(folder.path()).expect("UTF-8").canonicalize_utf8().expect("there");
        fs::copy(project().join("before").join(&name), root.join(&name)).expect("copied");
        let done = fixed(&root);
        assert!(done.refused.is_empty(), "{shape:?}: {:?}", done.refused);
        assert!(done.remaining.is_empty(), "{shape:?}: {:?}", done.remaining);
        let titles: BTreeSet<&str> =
            done.findings.iter().filter_map(|finding| finding.fix.as_ref()).map(|fix| &*fix.title).collect();
        let titles: Vec<&str> = titles.into_iter().collect();
        assert_eq!(titles, [shape.title()]);
        let [change] = &done.changes[..] else { panic!("{shape:?}: {:?}", done.changes) };
        let kept = project().join("src/main/java").join(&name);
        if update {
            fs::write(&kept, &change.after).expect("written");
        }
        assert_eq!(&*change.text_after, fs::read_to_string(&kept).unwrap_or_default(), "{shape:?}; UPDATE=1 renews it");
    }
}

/// Runs in CI only, because it needs a JDK and Maven with its downloads.
#[test]
#[ignore = "needs Maven and its repository"]
fn examples_compile() {
    let target = tempfile::tempdir().expect("a folder");
    for part in ["pom.xml", "src"] {
        let status = Command::new("cp").arg("-r").arg(project().join(part)).arg(target.path()).status();
        assert!(status.expect("copied").success());
    }
    let built = Command::new("mvn").args(["-q", "-B", "compile"]).current_dir(target.path()).output();
    let built = built.expect("mvn runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stdout));
    let classes = fs::read_dir(target.path().join("target/classes")).expect("classes").count();
    assert!(classes >= Shape::ALL.len(), "{classes} classes");
}
