//! Tests of discovery on small folders: files, roots, links, units, import roots, crates.

use std::fs;

use blocklint_project::{CrateRootKind, Project, Request, discover};
use camino::{Utf8Path, Utf8PathBuf};

/// A folder of files, removed at the end of its test.
struct Folder {
    _guard: tempfile::TempDir,
    path: Utf8PathBuf,
}

impl Folder {
    fn new(files: &[&str]) -> Self {
        let guard = tempfile::tempdir().expect("a folder");
        let real = fs::canonicalize(guard.path()).expect("it exists");
        let folder = Folder { path: Utf8PathBuf::from_path_buf(real).expect("utf-8"), _guard: guard };
        for file in files {
            folder.write(file, "");
        }
        folder
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path.join(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn discover(&self, paths: &[&str]) -> Project {
        let paths = paths.iter().map(Utf8PathBuf::from).collect::<Vec<_>>();
        discover(Request { current: &self.path, paths: &paths, isolated: false }).expect("no configuration is wrong")
    }
}

fn files(project: &Project) -> String {
    project.files.iter().map(|file| file.relative.as_str()).collect::<Vec<_>>().join(" ")
}

fn reported(project: &Project) -> String {
    let reported = project.files.iter().filter(|file| file.reported);
    reported.map(|file| file.relative.as_str()).collect::<Vec<_>>().join(" ")
}

fn relative(paths: &[Utf8PathBuf], folder: &Utf8Path) -> String {
    let relative = paths.iter().map(|path| path.strip_prefix(folder).unwrap_or(path).as_str());
    relative.map(|path| if path.is_empty() { "." } else { path }).collect::<Vec<_>>().join(" ")
}

#[test]
fn only_files_of_the_three_languages_are_read_in_order() {
    let folder = Folder::new(&["b.py", "a/z.rs", "a/B.java", "a/stub.pyi", "a/notes.txt", "c.PY"]);
    assert_eq!(files(&folder.discover(&[])), "a/B.java a/z.rs b.py");
}

#[test]
fn installed_libraries_are_skipped() {
    let folder = Folder::new(&[
        "app.py",
        "node_modules/x/y.py",
        "lib/site-packages/z.py",
        "myenv/pyvenv.cfg",
        "myenv/lib/a.py",
        ".hidden/b.py",
        "__pycache__/c.py",
    ]);
    assert_eq!(files(&folder.discover(&[])), "app.py");
}

#[test]
fn ignore_files_are_obeyed_with_and_without_git() {
    let folder = Folder::new(&["app.py", "gen/out.py", "tools/old.py", "tools/new.py"]);
    folder.write(".gitignore", "gen/\n");
    folder.write("tools/.ignore", "old.py\n");
    assert_eq!(files(&folder.discover(&[])), "app.py tools/new.py");
    folder.write(".git/HEAD", "");
    assert_eq!(files(&folder.discover(&[])), "app.py tools/new.py");
}

#[test]
fn named_paths_are_read_even_if_ignored() {
    let folder = Folder::new(&["app.py", "gen/out.py", "gen/more.py", ".hidden/b.py"]);
    folder.write(".gitignore", "gen/\n");
    folder.write(".git/HEAD", "");
    let project = folder.discover(&["gen/out.py"]);
    assert_eq!((files(&project).as_str(), reported(&project).as_str()), ("app.py gen/out.py", "gen/out.py"));
    let project = folder.discover(&["gen"]);
    assert_eq!(files(&project), "app.py gen/more.py gen/out.py");
    assert_eq!(reported(&folder.discover(&[".hidden"])), ".hidden/b.py");
}

#[test]
fn paths_select_reported_files_and_the_root_analysed_files() {
    let folder = Folder::new(&["a/x.py", "a/deep/y.py", "ab/z.py"]);
    folder.write("pyproject.toml", "[tool.blocklint]\n");
    let project = folder.discover(&["a/deep", "./a/../ab/z.py"]);
    assert_eq!(project.root, folder.path);
    assert_eq!(files(&project), "a/deep/y.py a/x.py ab/z.py");
    assert_eq!(reported(&project), "a/deep/y.py ab/z.py");
}

#[test]
fn the_root_is_the_nearest_marked_folder_else_the_common_one() {
    let folder = Folder::new(&["one/two/three/x.py", "one/two/four/y.py", "one/pyproject.toml"]);
    let root = |paths: &[&str]| folder.discover(paths).root.strip_prefix(&folder.path).expect("below").to_string();
    assert_eq!(root(&["one/two/three", "one/two/four/y.py"]), "one/two");
    folder.write("one/pyproject.toml", "[tool.blocklint]\n");
    assert_eq!(root(&["one/two/three"]), "one");
    folder.write("one/two/blocklint.toml", "");
    assert_eq!(root(&["one/two/three"]), "one/two");
    folder.write("one/two/three/.git", "gitdir: elsewhere");
    assert_eq!(root(&["one/two/three/x.py"]), "one/two/three");
}

#[test]
fn a_path_that_does_not_exist_does_not_stop_the_rest() {
    let folder = Folder::new(&["a/x.py"]);
    let project = folder.discover(&["a", "nowhere"]);
    assert_eq!((reported(&project).as_str(), relative(&project.missing, &folder.path).as_str()), ("x.py", "nowhere"));
    let project = folder.discover(&["nowhere"]);
    assert!(project.files.is_empty(), "nothing is walked for a path that does not exist");
}

#[test]
fn a_named_file_needs_a_language() {
    let folder = Folder::new(&["notes.txt"]);
    folder.write("script", "#!/usr/bin/env python3\n");
    folder.write("shell", "#!/bin/sh\n");
    let project = folder.discover(&["script", "notes.txt", "shell"]);
    assert_eq!(files(&project), "script");
    let problems = project.problems.iter().map(|problem| problem.relative_to(&folder.path)).collect::<Vec<_>>();
    let message = "skipped: not a Python, Rust or Java file";
    assert_eq!(problems, [format!("notes.txt: {message}"), format!("shell: {message}")]);
}

#[cfg(unix)]
#[test]
fn each_dangling_link_is_one_problem() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new(&["pkg/a.py"]);
    let link = |target: &str, at: &str| symlink(target, folder.path.join(at)).expect("linked");
    link("..", "pkg/up");
    link("me.py", "me.py");
    link("gone.py", "dangling.py");
    link("gone", "nothing");
    link("pkg/a.py", "same.py");
    let project = folder.discover(&[]);
    assert_eq!(files(&project), "pkg/a.py", "a file is read once");
    let problems = project.problems.iter().map(|problem| problem.relative_to(&folder.path)).collect::<Vec<_>>();
    assert_eq!(
        problems,
        [
            "dangling.py: skipped: No such file or directory",
            "me.py: skipped: Too many levels of symbolic links",
            "pkg/up: skipped: the link leads back to a folder that contains it",
        ]
    );
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_project_is_read_only_where_it_is_named() {
    use std::os::unix::fs::symlink;
    let elsewhere = Folder::new(&["real.py", "Cargo.toml", "all/c.py"]);
    let folder = Folder::new(&["pkg/a.py"]);
    for (target, link) in [("real.py", "b.py"), ("Cargo.toml", "Cargo.toml"), ("all", "all"), ("real.py", "run.sh")] {
        symlink(elsewhere.path.join(target), folder.path.join(link)).expect("linked");
    }
    let told = |project: &Project| -> Vec<String> {
        project.problems.iter().map(|problem| problem.relative_to(&folder.path)).collect()
    };
    let project = folder.discover(&[]);
    assert_eq!(files(&project), "pkg/a.py");
    let manifest = "Cargo.toml: skipped: the link leads out of the project";
    let source = "b.py: skipped: the link leads out of the project; it is read where the link is named";
    assert_eq!(told(&project), [manifest, source]);
    assert!(!project.is_whole, "what it holds may be what a comment is for");
    let project = folder.discover(&[".", "b.py"]);
    assert_eq!((files(&project).as_str(), told(&project)), ("b.py pkg/a.py", vec![manifest.to_owned()]));
    let project = folder.discover(&["all", "."]);
    assert_eq!(files(&project), "all/c.py pkg/a.py", "a folder as well");
}

#[cfg(unix)]
#[test]
fn a_link_within_the_project_is_read_at_the_link() {
    let folder = Folder::new(&["blocklint.toml", "a.py", ".hidden/real.py"]);
    let named = folder.path.join("pkg");
    fs::create_dir(&named).expect("made");
    std::os::unix::fs::symlink("../.hidden/real.py", named.join("b.py")).expect("linked");
    fs::write(folder.path.join(".gitignore"), "/pkg\n").expect("written");
    let project = folder.discover(&["pkg"]);
    assert_eq!((files(&project).as_str(), project.problems.as_slice()), ("a.py pkg/b.py", &[][..]));
}

#[cfg(unix)]
#[test]
fn an_ignore_file_that_leads_out_is_not_read() {
    use std::os::unix::fs::symlink;
    let elsewhere = Folder::new(&[]);
    fs::write(elsewhere.path.join("ignores"), "a.py\n").expect("written");
    let folder = Folder::new(&["a.py", "inner/a.py"]);
    let (ignores, inner) = (folder.path.join(".gitignore"), folder.path.join("inner/.ignore"));
    symlink(elsewhere.path.join("ignores"), &inner).expect("linked");
    let project = folder.discover(&[]);
    assert_eq!(files(&project), "a.py", "{:?}", project.problems);
    assert!(project.problems[0].relative_to(&folder.path).starts_with("inner/.ignore: its folder is skipped"));
    fs::remove_file(&inner).expect("removed");
    // A file that never ends is not read.
    symlink("/dev/zero", &ignores).expect("linked");
    let project = folder.discover(&[]);
    assert_eq!(files(&project), "a.py inner/a.py");
    assert!(project.problems[0].relative_to(&folder.path).starts_with(".gitignore: no ignore file of the project"));
    fs::remove_file(&ignores).expect("removed");
    // A link to another one of the project is obeyed.
    fs::write(folder.path.join("ignores"), "/inner\n").expect("written");
    symlink("ignores", &ignores).expect("linked");
    let project = folder.discover(&[]);
    assert_eq!((files(&project).as_str(), project.problems.len()), ("a.py", 0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_utf_8_is_one_problem() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new(&["a.py"]);
    fs::write(folder.path.as_std_path().join(std::ffi::OsStr::from_bytes(b"\xff.py")), "").expect("written");
    let project = folder.discover(&[]);
    assert_eq!(files(&project), "a.py");
    assert_eq!(project.problems.len(), 1);
    assert!(project.problems[0].message.contains("not UTF-8"));
}

#[test]
fn units_are_the_nearest_folders_with_a_manifest() {
    let folder = Folder::new(&[
        "svc/pyproject.toml",
        "svc/app/x.py",
        "svc/requirements-dev.txt",
        "tool.py",
        "j/pom.xml",
        "j/A.java",
    ]);
    let project = folder.discover(&[]);
    let units = project.units.iter().map(|unit| unit.folder.clone()).collect::<Vec<_>>();
    assert_eq!(relative(&units, &folder.path), ". j svc");
    let of = |name: &str| project.files.iter().find(|file| file.relative == name).expect("found").unit;
    assert_eq!((of("tool.py"), of("j/A.java"), of("svc/app/x.py")), (0, 1, 2));
    assert_eq!(project.units[2].manifests.len(), 2);
}

#[test]
fn import_roots_and_module_names() {
    let folder = Folder::new(&[
        "svc/setup.py",
        "svc/src/shop/__init__.py",
        "svc/src/shop/db/__init__.py",
        "svc/src/shop/db/core.py",
        "ns/plain/pkg/__init__.py",
        "ns/plain/pkg/m.py",
        "loose/script.py",
    ]);
    let project = folder.discover(&[]);
    assert_eq!(relative(&project.import_roots, &folder.path), ". ns/plain svc svc/src");
    let module = |name: &str| {
        let file = project.files.iter().find(|file| file.relative == name).expect("found");
        project.module_name(file).expect("a Python file")
    };
    assert_eq!(module("svc/src/shop/db/core.py"), "shop.db.core");
    assert_eq!(module("svc/src/shop/db/__init__.py"), "shop.db");
    assert_eq!(module("ns/plain/pkg/m.py"), "pkg.m");
    assert_eq!(module("loose/script.py"), "loose.script");
}

#[test]
fn a_project_root_that_is_a_package_is_imported_by_its_name() {
    let folder = Folder::new(&["outer/__init__.py", "outer/inner/__init__.py", "outer/inner/m.py"]);
    let project = folder.discover(&["outer/inner"]);
    assert_eq!(project.root, folder.path.join("outer/inner"));
    assert_eq!(project.base, folder.path);
    let file = project.files.iter().find(|file| file.relative == "outer/inner/m.py").expect("found");
    assert_eq!(project.module_name(file).as_deref(), Some("outer.inner.m"));
}

#[test]
fn crates_have_names_and_roots() {
    let folder = Folder::new(&[
        "core/src/lib.rs",
        "core/src/inner.rs",
        "core/tests/it.rs",
        "core/tests/common/mod.rs",
        "core/build.rs",
        "tool/src/main.rs",
        "tool/src/bin/extra.rs",
        "tool/src/bin/big/main.rs",
        "loose/src/main.rs",
    ]);
    folder.write("Cargo.toml", "[workspace]\nmembers = ['core', 'tool']\n");
    folder.write(
        "core/Cargo.toml",
        "[package]\nname = 'my-core'\n[dependencies]\nold-log = { package = 'log', version = '1' }\n",
    );
    folder.write("tool/Cargo.toml", "[package]\nname = 'tool'\n[lib]\nname = 'toolkit'\npath = 'src/main.rs'\n");
    let project = folder.discover(&[]);
    let names = project.crates.iter().map(|found| format!("{}/{}", found.package, found.library)).collect::<Vec<_>>();
    assert_eq!(names, ["my-core/my_core", "loose/loose", "tool/toolkit"]);
    let roots = |at: usize| {
        let roots = project.crates[at].roots.iter();
        roots.map(|root| (root.path.strip_prefix(&folder.path).expect("below").as_str(), root.kind)).collect::<Vec<_>>()
    };
    assert_eq!(
        roots(0),
        [
            ("core/build.rs", CrateRootKind::Build),
            ("core/src/lib.rs", CrateRootKind::Library),
            ("core/tests/it.rs", CrateRootKind::Test)
        ]
    );
    assert_eq!(
        roots(2),
        [
            ("tool/src/bin/big/main.rs", CrateRootKind::Binary),
            ("tool/src/bin/extra.rs", CrateRootKind::Binary),
            ("tool/src/main.rs", CrateRootKind::Library),
            ("tool/src/main.rs", CrateRootKind::Binary),
        ]
    );
    assert_eq!(project.crates[0].renamed, [("old_log".to_owned(), "log".to_owned())]);
}

#[test]
fn a_manifest_that_does_not_parse_is_one_problem() {
    let folder = Folder::new(&["src/main.rs"]);
    folder.write("Cargo.toml", "[package\n");
    let project = folder.discover(&[]);
    assert_eq!(project.problems.len(), 1);
    assert_eq!(project.crates.len(), 1, "the folder is a crate all the same");
}

#[test]
fn java_roots_lie_above_packages() {
    let folder = Folder::new(&[
        "m/src/main/java/com/A.java",
        "m/src/main/java/com/b/B.java",
        "m/src/test/java/com/T.java",
        "X.java",
    ]);
    assert_eq!(relative(&folder.discover(&[]).java_roots, &folder.path), "m/src/main/java m/src/test/java");
}

#[test]
fn models_of_the_configuration_are_files_and_folders_beside_it() {
    let folder = Folder::new(&["app/x.py", "models/b.toml", "models/sub/a.toml", "models/readme.md", "one.toml"]);
    folder.write("pyproject.toml", "[tool.blocklint]\nmodels = ['one.toml', 'models']\nmax-file-size = '1MB'\n");
    let project = folder.discover(&["app"]);
    assert_eq!(relative(&project.configuration.models, &folder.path), "one.toml models/b.toml models/sub/a.toml");
    assert_eq!(project.configuration.max_file_size, 1_000_000);
    let isolated = discover(Request { current: &folder.path, paths: &[], isolated: true }).expect("nothing is read");
    assert_eq!((isolated.configuration.models.len(), isolated.configuration.max_file_size), (0, 8_000_000));
}

#[test]
fn a_wrong_key_ends_the_run_with_its_place() {
    let folder = Folder::new(&["x.py"]);
    folder.write("pyproject.toml", "[tool.blocklint]\n\nseverities = 'note'\n");
    let errors = discover(Request { current: &folder.path, paths: &[], isolated: false }).expect_err("wrong");
    assert_eq!(errors.len(), 1);
    assert!(
        errors[0].relative_to(&folder.path).starts_with("pyproject.toml:3: [tool.blocklint] severities: unknown key")
    );
}

#[test]
fn programs_have_the_versions_of_their_lock_file() {
    let folder = Folder::new(&["tool/src/main.rs", "core/src/lib.rs", "own/src/lib.rs"]);
    folder.write("Cargo.toml", "[workspace]\nmembers = ['core', 'own', 'tool']\n");
    let asked = "[dependencies]\ntokio = '1'\nold = { package = 'tokio', version = '0.2' }\nhyper = { git = '…' }\nlog = '0.3'\n";
    folder.write("tool/Cargo.toml", &format!("[package]\nname = 'tool'\n{asked}"));
    folder.write("core/Cargo.toml", &format!("[package]\nname = 'core'\n{asked}"));
    folder.write("own/Cargo.toml", &format!("[package]\nname = 'own'\npublish = false\n{asked}"));
    let locked = [("tokio", "0.2.25"), ("tokio", "1.38.0"), ("hyper", "1.4.1"), ("log", "0.4.2")];
    let locked = locked.map(|(name, version)| format!("[[package]]\nname = '{name}'\nversion = '{version}'\n"));
    folder.write("Cargo.lock", &locked.concat());
    let project = folder.discover(&[]);
    let oldest = |package: &str| {
        let own = project.crates.iter().find(|found| found.package == package).expect("a crate");
        let dependencies = own.dependencies.iter().flatten();
        dependencies.map(|of| format!("{} {}", of.name, of.oldest.as_deref().unwrap_or("?"))).collect::<Vec<_>>()
    };
    // A version line that is not in the lock file keeps the version of the manifest.
    let built = ["hyper 1.4.1", "log 0.3", "old 0.2.25", "tokio 1.38.0"];
    assert_eq!(oldest("tool"), built);
    assert_eq!(oldest("own"), built);
    assert_eq!(oldest("core"), ["hyper ?", "log 0.3", "old 0.2", "tokio 1"], "others build it with other versions");
}
