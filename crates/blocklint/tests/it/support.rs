//! Helpers: temporary projects in which the real binary runs, and the files of this repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Returns the root of this repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Adds the files below a folder that have an extension, in order.
pub(crate) fn add_files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut paths = entries.map(|entry| entry.expect("an entry").path()).collect::<Vec<_>>();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add_files(&path, extension, found);
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
}

/// Returns the files below a folder of this repository that have an extension, sorted, by path from its root.
pub(crate) fn files_below(folder: &str, extension: &str) -> Vec<String> {
    let root = repository();
    let mut found = Vec::new();
    add_files(&root.join(folder), extension, &mut found);
    let relative =
        |path: PathBuf| path.strip_prefix(&root).expect("below the root").to_str().expect("UTF-8").replace('\\', "/");
    let mut paths: Vec<String> = found.into_iter().map(relative).collect();
    paths.sort();
    paths
}

/// A folder that is a project of its own.
pub(crate) struct Project(tempfile::TempDir);

/// The output of a run and its exit code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Project {
    /// Creates a project with these files; `blocklint.toml` marks its root.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let project = Project(tempfile::Builder::new().prefix("adopt-").tempdir().expect("a folder"));
        project.write("blocklint.toml", "");
        files.iter().for_each(|(file, text)| project.write(file, text));
        project
    }

    pub(crate) fn path(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).expect("it exists")
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.path().join(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path().join(file)).expect("read")
    }

    pub(crate) fn replace(&self, file: &str, old: &str, new: &str) {
        let text = self.read(file);
        assert!(text.contains(old), "{file} has no `{old}`");
        self.write(file, &text.replace(old, new));
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
        // git needs HOME, and is found by PATH.
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("HOME", self.path()).current_dir(self.path());
        command.args(arguments).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        told(self.command(arguments).output().expect("it starts"))
    }

    /// Runs git, which must succeed.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("HOME", self.path()).current_dir(self.path());
        command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]).args(arguments);
        let run = told(command.output().expect("git starts"));
        assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.err);
        run.out
    }

    /// Commits all files.
    pub(crate) fn commit(&self) {
        if !self.path().join(".git").exists() {
            self.git(&["init", "-q"]);
        }
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    }
}

fn told(output: Output) -> Run {
    let Output { status, stdout, stderr } = output;
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Run { code: status.code(), out: text(stdout), err: text(stderr) }
}
