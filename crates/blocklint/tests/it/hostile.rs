//! Untrusted checkouts: no program of their git configuration is run, and no file outside of them is read or written.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::support::{Project, Run};

const APP: &str = "import time\n\nasync def handler():\n    time.sleep(1)\n";
const CHANGES: [&str; 4] = ["--changed", "--staged", "--since=HEAD", "--since=HEAD~1"];

/// A repository with two commits, in which a program leaves a file if it is run.
struct Hostile {
    project: Project,
    trace: PathBuf,
    elsewhere: tempfile::TempDir,
}

impl Hostile {
    fn new() -> Self {
        let project = Project::new(&[(".gitignore", ".blocklint_cache\n"), ("app.py", APP), ("more.py", "x = 1\n")]);
        project.commit();
        project.write("more.py", "x = 2\n");
        project.commit();
        let elsewhere = tempfile::tempdir().expect("a folder");
        Hostile { project, trace: elsewhere.path().join("trace"), elsewhere }
    }

    /// Returns a command that leaves the file.
    fn command(&self) -> String {
        format!("touch {}; cat", self.trace.display())
    }

    fn set(&self, key: &str, value: &str) {
        self.project.git(&["config", key, value]);
    }

    /// Sets the times of all files so that git must compare their contents.
    fn touch(&self) {
        for file in ["app.py", "more.py", "late.py"] {
            if self.project.path().join(file).exists() {
                self.project.write(file, &format!("{}# later\n", self.project.read(file)));
            }
        }
    }

    /// True if plain git runs the program; otherwise the test would prove nothing.
    fn git_runs_it(&self, arguments: &[&str]) -> bool {
        let mut git = std::process::Command::new("git");
        git.args(arguments).current_dir(self.project.path()).env("HOME", self.project.path());
        git.output().expect("git starts");
        fs::remove_file(&self.trace).is_ok()
    }

    /// Runs all kinds of comparison, and returns their runs.
    fn compare(&self) -> Vec<Run> {
        let check = |change: &&str| self.project.run(&["check", "--no-cache", "--output-format", "concise", change]);
        let runs: Vec<Run> = CHANGES.iter().map(check).collect();
        assert!(!self.trace.exists(), "something was run");
        runs
    }
}

#[test]
fn filters_and_drivers_of_a_checkout_are_not_run() {
    let hostile = Hostile::new();
    let command = hostile.command();
    let keys = [
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.evil.command",
        "diff.evil.textconv",
        "diff.external",
        "merge.evil.driver",
        "core.pager",
        "core.editor",
        "core.askPass",
        "core.sshCommand",
        "core.gitProxy",
        "core.alternateRefsCommand",
        "credential.helper",
        "gpg.program",
        "alias.ls-files",
        "alias.cat-file",
    ];
    // A required filter that fails would stop git before it runs others.
    for key in keys.into_iter().filter(|key| *key != "filter.evil.process") {
        hostile.set(key, &command);
    }
    hostile.project.write(".git/info/attributes", "*.py filter=evil diff=evil merge=evil\n");
    hostile.project.write(".gitattributes", "*.py filter=evil diff=evil merge=evil\n");
    hostile.touch();
    assert!(hostile.git_runs_it(&["diff", "HEAD"]), "git itself runs it");
    for process in [false, true] {
        if process {
            hostile.set("filter.evil.process", &command);
        }
        let runs = hostile.compare();
        assert!(runs.iter().all(|run| run.code == Some(0)), "{runs:?}");
    }
    hostile.project.write("late.py", &APP.replace("handler", "late"));
    let run = &hostile.compare()[0];
    assert!(run.code == Some(1) && run.out.contains("late.py:4:5: BLT101"), "{run:?}");
}

#[test]
fn hooks_and_monitors_of_a_checkout_are_not_run() {
    let hostile = Hostile::new();
    let script = hostile.project.path().join(".git/evil");
    fs::write(&script, format!("#!/bin/sh\n{}\n", hostile.command())).expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&script, mode).expect("set");
    let hooks = hostile.project.path().join(".git/evil-hooks");
    fs::create_dir(&hooks).expect("made");
    for hook in ["post-index-change", "reference-transaction", "fsmonitor-watchman", "post-checkout", "pre-auto-gc"] {
        fs::copy(&script, hooks.join(hook)).expect("copied");
    }
    hostile.project.write(".git/more", &format!("[core]\n\thooksPath = {}\n", hooks.display()));
    // The configuration is in another file that the first one includes.
    hostile.set("include.path", "more");
    hostile.set("core.fsmonitor", &script.display().to_string());
    hostile.touch();
    assert!(hostile.git_runs_it(&["status"]), "git itself runs it");
    hostile.compare();
}

#[test]
fn missing_objects_of_a_partial_clone_are_not_fetched() {
    let hostile = Hostile::new();
    hostile.set("remote.origin.url", &format!("ext::touch {}", hostile.trace.display()));
    hostile.set("remote.origin.promisor", "true");
    hostile.set("remote.origin.partialCloneFilter", "blob:none");
    hostile.set("protocol.ext.allow", "always");
    hostile.set("extensions.partialClone", "origin");
    let id = hostile.project.git(&["rev-parse", "HEAD~1:more.py"]);
    let id = id.trim();
    let object = hostile.project.path().join(".git/objects").join(&id[..2]).join(&id[2..]);
    fs::remove_file(object).expect("it was loose");
    assert!(hostile.git_runs_it(&["cat-file", "-p", id]), "git itself runs it");
    let runs = hostile.compare();
    let lacking = &runs[3];
    assert_eq!((lacking.code, lacking.out.as_str()), (Some(2), ""), "{lacking:?}");
    assert!(
        lacking.err.contains("in a partial clone `git diff` with that commit fetches the missing objects"),
        "{lacking:?}"
    );
    assert!(runs[..3].iter().all(|run| run.code == Some(0)), "{runs:?}");
}

#[test]
fn a_repository_in_a_folder_of_a_clone_configures_nothing() {
    let hostile = Hostile::new();
    // A hostile clone with a folder that git treats as a bare repository.
    let inner = hostile.project.path().join("inner");
    hostile.project.write("inner/blocklint.toml", "");
    hostile.project.write("inner/app.py", APP);
    for part in ["HEAD", "objects", "refs"] {
        let from = hostile.project.path().join(".git").join(part);
        let copied = std::process::Command::new("cp").arg("-r").arg(from).arg(&inner).status().expect("cp starts");
        assert!(copied.success());
    }
    let config = format!("[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = \"{}\"\n", hostile.command());
    hostile.project.write("inner/config", &config);
    let run = hostile.project.run(&["check", "--changed", "inner"]);
    assert!(!hostile.trace.exists(), "something was run");
    assert_eq!(run.code, Some(2), "{run:?}");
}

#[test]
fn a_filter_that_is_configured_is_not_needed_either() {
    // A comparison works without running the filter, because git's index has the state of the file.
    let hostile = Hostile::new();
    hostile.set("filter.upper.clean", "sed s/time/TIME/");
    hostile.project.write(".gitattributes", "*.py filter=upper\n");
    hostile.project.write("late.py", &APP.replace("handler", "late"));
    hostile.project.commit();
    for run in &hostile.compare()[..3] {
        assert!(run.code == Some(0) && run.out.contains("findings were there already"), "{run:?}");
    }
}

#[test]
fn nothing_outside_is_read_or_written_through_links() {
    let hostile = Hostile::new();
    let outside = hostile.elsewhere.path();
    let secret = "import time\n\nasync def secret():\n    time.sleep(7)\n";
    fs::write(outside.join("secret.py"), secret).expect("written");
    let link = |target: &str, at: &str| {
        symlink(outside.join(target), hostile.project.path().join(at)).expect("linked");
    };
    link("secret.py", "link.py");
    let run = hostile.project.run(&["check", "--output-format", "concise"]);
    assert!(!run.out.contains("secret"), "{run:?}");
    assert_eq!(run.err.matches("link.py: skipped: the link leads out of the project").count(), 1, "{run:?}");
    let run = hostile.project.run(&["check", "--output-format", "concise", "link.py"]);
    assert!(run.out.contains("link.py:4:5: BLT101") && run.err.is_empty(), "it was named: {run:?}");

    // A baseline that is a link is neither read nor written.
    let run = hostile.project.run(&["baseline", "create"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let own = hostile.project.path().join("blocklint-baseline.json");
    let theirs = outside.join("baseline.json");
    fs::rename(&own, &theirs).expect("moved");
    let before = fs::read(&theirs).expect("read");
    link("baseline.json", "blocklint-baseline.json");
    hostile.project.write("app.py", "");
    for command in [&["check"][..], &["baseline", "prune"], &["baseline", "create", "--force"], &["baseline", "show"]] {
        let run = hostile.project.run(command);
        assert!(run.code == Some(2) && run.err.contains("a link out of the project"), "{run:?}");
    }
    assert_eq!(fs::read(&theirs).expect("read"), before);
    let run = hostile.project.run(&["baseline", "prune", "--baseline", "blocklint-baseline.json"]);
    assert_eq!(run.code, Some(0), "it was named: {run:?}");
    assert_ne!(fs::read(&theirs).expect("read"), before);
}

#[test]
fn files_outside_that_a_manifest_refers_to_are_not_read() {
    let hostile = Hostile::new();
    let outside = hostile.elsewhere.path();
    fs::write(outside.join("pyproject.toml"), "[tool.blocklint]\nignore = ['ALL']\n").expect("written");
    fs::write(outside.join("blocklint.toml"), "ignore = ['ALL']\n").expect("written");
    let path = hostile.project.path();
    fs::remove_file(path.join("blocklint.toml")).expect("removed");
    symlink(outside.join("pyproject.toml"), path.join("pyproject.toml")).expect("linked");
    let run = hostile.project.run(&["check", "--output-format", "concise"]);
    assert!(run.code == Some(1) && run.out.contains("app.py:4:5: BLT101"), "{run:?}");
    assert!(run.err.contains("pyproject.toml: skipped: the link leads out of the project"), "{run:?}");
    // A file with this tool's name is a request by the user, so it is an error.
    symlink(outside.join("blocklint.toml"), path.join("blocklint.toml")).expect("linked");
    let run = hostile.project.run(&["check"]);
    assert!(run.code == Some(2) && run.err.contains("is outside of"), "{run:?}");
}

#[test]
fn pipes_and_endless_files_are_not_read() {
    let hostile = Hostile::new();
    let version = {
        hostile.project.run(&["check"]);
        let cache = hostile.project.path().join(".blocklint_cache");
        let entries = fs::read_dir(&cache).expect("listed").flatten().map(|entry| entry.path());
        entries.into_iter().find(|path| path.is_dir()).expect("the folder of this version")
    };
    let kept: Vec<PathBuf> = fs::read_dir(&version).expect("listed").flatten().map(|entry| entry.path()).collect();
    assert!(!kept.is_empty());
    for file in kept {
        fs::remove_file(&file).expect("removed");
        symlink("/dev/zero", &file).expect("linked");
    }
    for name in ["setup.cfg", "uv.lock", "requirements.txt", "ruff.toml", "Cargo.lock", "Dockerfile", "zero.py"] {
        symlink("/dev/zero", hostile.project.path().join(name)).expect("linked");
    }
    let run = hostile.project.run(&["check", "--diff", "--output-format", "concise"]);
    assert!(run.code == Some(1) && run.out.contains("app.py"), "{run:?}");
}
