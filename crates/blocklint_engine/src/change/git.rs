//! Read-only queries of git by running its program: commits, trees, the index, blobs, submodules.
//!
//! A checkout may configure programs that git runs: filters of `.gitattributes`, `core.fsmonitor`, `diff.external`, a
//! remote helper that fetches a missing object. An unpacked archive brings its own `.git/config`. Therefore git is only
//! run for stored objects (`ls-tree`, `ls-files --stage`, `cat-file`), and never looks at the work tree, as
//! `git diff` and `git status` do; [`worktree`](super::worktree) compares the work tree.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};
use std::thread;

use camino::{Utf8Path, Utf8PathBuf};

use super::worktree::{IndexStat, Staged};

/// A repository, with the folder in which git runs. Paths are relative to this folder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Git<'g> {
    folder: &'g Utf8Path,
}

/// The entries of a tree or of the index: object ids by path.
pub(super) type Entries = BTreeMap<Utf8PathBuf, String>;

/// The files of a tree.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) files: Entries,
    /// The folders of submodules, with the ids of their commits.
    pub(super) submodules: Entries,
}

impl<'g> Git<'g> {
    /// Returns the repository that contains the folder.
    ///
    /// # Errors
    ///
    /// If the folder is in no work tree, or if git is not installed.
    pub(super) fn at(folder: &'g Utf8Path) -> Result<Self, String> {
        let git = Git { folder };
        let output = git.output(&["rev-parse", "--is-inside-work-tree"])?;
        if output.status.success() && output.stdout.starts_with(b"true") {
            return Ok(git);
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        if stderr.contains("not a git repository") || output.status.success() {
            Err(format!("{folder} is not in the work tree of a git repository"))
        } else {
            Err(git_message(&output))
        }
    }

    /// Returns the repository of a submodule that is checked out in a folder. Its objects must be in the folder itself
    /// or in the `.git` folder of this repository; `None` if they are elsewhere.
    pub(super) fn submodule<'s>(self, folder: &'s Utf8Path) -> Option<Git<'s>> {
        let (real_folder, own_folder) = (folder.canonicalize_utf8().ok()?, self.folder.canonicalize_utf8().ok()?);
        if !real_folder.starts_with(own_folder) || !folder.join(".git").exists() {
            return None;
        }
        let git = Git::at(folder).ok()?;
        let object_folder = |git: Git<'_>| {
            let path = git.text(&["rev-parse", "--path-format=absolute", "--git-common-dir"]).ok()?;
            Utf8PathBuf::from(path).canonicalize_utf8().ok()
        };
        let (own_objects, submodule_objects) = (object_folder(self)?, object_folder(git)?);
        (submodule_objects.starts_with(real_folder) || submodule_objects.starts_with(own_objects)).then_some(git)
    }

    /// Returns the id of the commit to which a name refers.
    ///
    /// # Errors
    ///
    /// If there is no such commit.
    pub(super) fn commit(self, name: &str) -> Result<String, String> {
        let output =
            self.output(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")])?;
        if output.status.success() {
            return Ok(trimmed_text(&output.stdout));
        }
        let shallow = if self.is_shallow() { "; this clone is shallow: fetch it first" } else { "" };
        Err(format!("git knows no commit `{name}`{shallow}"))
    }

    /// Returns the merge base of HEAD and another commit.
    ///
    /// # Errors
    ///
    /// If the two have no common commit, as in a shallow clone.
    pub(super) fn merge_base(self, name: &str, commit: &str) -> Result<String, String> {
        let output = self.output(&["merge-base", commit, "HEAD"])?;
        if output.status.success() {
            return Ok(trimmed_text(&output.stdout));
        }
        Err(if self.is_shallow() {
            format!(
                "`{name}` and HEAD have no common commit in this shallow clone; `git fetch --unshallow` (in GitHub's checkout `fetch-depth: 0`) gets it"
            )
        } else {
            format!("`{name}` and HEAD have no common commit")
        })
    }

    fn is_shallow(self) -> bool {
        let output = self.output(&["rev-parse", "--is-shallow-repository"]);
        output.is_ok_and(|output| output.stdout.starts_with(b"true"))
    }

    /// Returns the id of HEAD, or of the empty tree if there is no commit yet.
    pub(super) fn head(self) -> Result<String, String> {
        match self.commit("HEAD") {
            Ok(commit) => Ok(commit),
            Err(_) => self.text(&["hash-object", "-t", "tree", "--stdin"]),
        }
    }

    /// Returns the files and submodules of a commit, below the folder.
    pub(super) fn tree(self, commit: &str) -> Result<Tree, String> {
        let bytes = self.bytes(&["ls-tree", "-r", "-z", commit])?;
        let mut tree = Tree::default();
        for (fields, path) in parse_records(&bytes) {
            let mut words = fields.split(' ');
            match (words.next(), words.next(), words.next()) {
                (_, Some("commit"), Some(id)) => {
                    tree.submodules.insert(path, id.to_owned());
                }
                // Symbolic links are skipped, because their content is a path.
                (Some(mode), Some("blob"), Some(id)) if mode != "120000" => {
                    tree.files.insert(path, id.to_owned());
                }
                _ => {}
            }
        }
        Ok(tree)
    }

    /// Returns the staged files and submodules below the folder, and the metadata that git stored when each file was
    /// staged. A file in conflict has no metadata.
    pub(super) fn index(self) -> Result<(Tree, Staged), String> {
        let bytes = self.bytes(&["ls-files", "-t", "--stage", "--debug", "-z"])?;
        let (mut tree, mut staged) = (Tree::default(), Staged::new(self.index_time()));
        // The metadata of a file follows the zero byte that ends the file's record, before the next record.
        let mut last: Option<Utf8PathBuf> = None;
        for part in bytes.split(|byte| *byte == 0) {
            let Ok(part) = std::str::from_utf8(part) else {
                last = None;
                continue;
            };
            let mut record = part;
            while record.starts_with("  ") {
                record = record.split_once('\n').map_or("", |(_, rest)| rest);
            }
            let stat = IndexStat::parse(&part[..part.len() - record.len()]);
            if let (Some(path), Some(stat)) = (last.take(), stat) {
                staged.stats.insert(path, stat);
            }
            let Some((fields, path)) = record.split_once('\t') else { continue };
            let (path, mut words) = (Utf8PathBuf::from(path), fields.split(' '));
            match (words.next(), words.next(), words.next(), words.next()) {
                (_, Some("160000"), Some(id), _) => {
                    tree.submodules.insert(path, id.to_owned());
                }
                (tag, Some(mode), Some(id), Some("0")) if mode != "120000" => {
                    if tag == Some("S") {
                        staged.left_out.insert(path.clone());
                    }
                    last = Some(path.clone());
                    tree.files.insert(path, id.to_owned());
                }
                _ => {}
            }
        }
        Ok((tree, staged))
    }

    /// Returns the time at which the index was written.
    fn index_time(self) -> Option<std::time::SystemTime> {
        let path = self.text(&["rev-parse", "--git-path", "index"]).ok()?;
        std::fs::metadata(self.folder.join(path)).ok()?.modified().ok()
    }

    /// Returns the contents of these blobs, in order.
    ///
    /// # Errors
    ///
    /// If a blob is missing, as in a partial clone, because nothing is fetched.
    pub(super) fn blobs(self, ids: &[String]) -> Result<Vec<Vec<u8>>, String> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut child = self
            .command(&["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| cannot_run_git(&error))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let requests = ids.iter().map(|id| format!("{id}\n")).collect::<String>();
        let writer = thread::spawn(move || input.map(|mut input| input.write_all(requests.as_bytes())));
        let mut output = BufReader::new(output.ok_or("git printed nothing")?);
        let read = ids.iter().map(|id| read_blob(&mut output, id)).collect();
        drop(output);
        let _ = writer.join();
        let _ = child.wait();
        read
    }

    fn text(self, arguments: &[&str]) -> Result<String, String> {
        self.bytes(arguments).map(|bytes| trimmed_text(&bytes))
    }

    fn bytes(self, arguments: &[&str]) -> Result<Vec<u8>, String> {
        let output = self.output(arguments)?;
        if output.status.success() { Ok(output.stdout) } else { Err(git_message(&output)) }
    }

    fn output(self, arguments: &[&str]) -> Result<Output, String> {
        self.command(arguments).stdin(Stdio::null()).output().map_err(|error| cannot_run_git(&error))
    }

    fn command(self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        // No command here looks at files or fetches, so git runs nothing that the repository configures. These options
        // are a second safeguard, also against a bare repository in a folder of another one.
        command.args([
            "--no-pager",
            "--no-optional-locks",
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.hooksPath=/dev/null",
        ]);
        command.args(["-c", "safe.bareRepository=explicit", "-c", "core.quotePath=false"]);
        // Without these, git would fetch a missing object with the programs and from the address in the configuration.
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
        command.env("LC_ALL", "C").current_dir(self.folder).args(arguments);
        command
    }
}

fn read_blob(output: &mut impl BufRead, id: &str) -> Result<Vec<u8>, String> {
    let missing_blob = || {
        format!(
            "git has no content for {id}; in a partial clone `git diff` with that commit fetches the missing \
                 objects"
        )
    };
    let mut header = String::new();
    output.read_line(&mut header).map_err(|error| error.to_string())?;
    let mut words = header.split_ascii_whitespace().skip(1);
    let size =
        words.next().filter(|kind| *kind == "blob").and(words.next()).and_then(|size| size.parse::<usize>().ok());
    // One more byte: a line break ends each blob.
    let mut bytes = vec![0; size.ok_or_else(missing_blob)? + 1];
    output.read_exact(&mut bytes).map_err(|_| missing_blob())?;
    bytes.pop();
    Ok(bytes)
}

/// Parses records that end with a zero byte: fields, a tab, a path. Paths that are not UTF-8 are skipped, as in the
/// walk.
fn parse_records(bytes: &[u8]) -> impl Iterator<Item = (&str, Utf8PathBuf)> {
    bytes.split(|byte| *byte == 0).filter_map(|record| {
        let (fields, path) = std::str::from_utf8(record).ok()?.split_once('\t')?;
        Some((fields, Utf8PathBuf::from(path)))
    })
}

fn trimmed_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

/// Returns the first line of git's error output.
fn git_message(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let first_line = stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or("it failed");
    format!("git: {}", first_line.trim_start_matches("fatal: "))
}

/// Returns the message for a git that cannot be run.
fn cannot_run_git(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "git is needed to compare, and is not installed".to_owned(),
        _ => format!("git: {error}"),
    }
}
