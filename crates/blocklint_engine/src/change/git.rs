//! Queries of git through its own program. The work tree, the index and the configuration stay as they are.
//!
//! A checkout may configure programs: filters of `.gitattributes`, `core.fsmonitor`, `diff.external`, what fetches a
//! missing object. An unpacked archive brings its own `.git/config`. So git is asked for what it stores (`ls-tree`,
//! `ls-files --stage`, `cat-file`) and never to look at the work tree, as `git diff` and `git status` would;
//! [`worktree`](super::worktree) does that.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};
use std::thread;

use camino::{Utf8Path, Utf8PathBuf};

use super::worktree::{IndexStat, Staged};

/// A repository, as seen from one of its folders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Git<'g> {
    folder: &'g Utf8Path,
}

/// The entries of a tree or of the index: paths below the folder to the numbers of their content.
pub(super) type Entries = BTreeMap<Utf8PathBuf, String>;

/// The files of a tree.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) files: Entries,
    /// Folders that are other repositories, with the commits that are meant of these.
    pub(super) submodules: Entries,
}

impl<'g> Git<'g> {
    /// Returns the repository in which the folder lies.
    ///
    /// # Errors
    ///
    /// That it lies in none, or that there is no git.
    pub(super) fn at(folder: &'g Utf8Path) -> Result<Self, String> {
        let git = Git { folder };
        let output = git.output(&["rev-parse", "--is-inside-work-tree"])?;
        if output.status.success() && output.stdout.starts_with(b"true") {
            return Ok(git);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        match said.contains("not a git repository") || output.status.success() {
            true => Err(format!("{folder} lies in the work tree of no git repository")),
            false => Err(told(&output)),
        }
    }

    /// Returns the repository of a submodule in a folder: one that lies in the folder itself, or among this one's own. A
    /// folder that names a repository elsewhere, or is not checked out, has none.
    pub(super) fn submodule<'s>(self, folder: &'s Utf8Path) -> Option<Git<'s>> {
        let (real, inside) = (folder.canonicalize_utf8().ok()?, self.folder.canonicalize_utf8().ok()?);
        if !real.starts_with(inside) || !folder.join(".git").exists() {
            return None;
        }
        let git = Git::at(folder).ok()?;
        let stored = |git: Git<'_>| {
            let path = git.text(&["rev-parse", "--path-format=absolute", "--git-common-dir"]).ok()?;
            Utf8PathBuf::from(path).canonicalize_utf8().ok()
        };
        let (own, of_submodule) = (stored(self)?, stored(git)?);
        (of_submodule.starts_with(real) || of_submodule.starts_with(own)).then_some(git)
    }

    /// Returns the commit that a name means.
    ///
    /// # Errors
    ///
    /// That there is none.
    pub(super) fn commit(self, name: &str) -> Result<String, String> {
        let output =
            self.output(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")])?;
        if output.status.success() {
            return Ok(line(&output.stdout));
        }
        let shallow = if self.is_shallow() { "; this clone is shallow: fetch it first" } else { "" };
        Err(format!("git knows no commit `{name}`{shallow}"))
    }

    /// Returns the commit at which the current one left another.
    ///
    /// # Errors
    ///
    /// That they have no common one, as in a shallow clone.
    pub(super) fn merge_base(self, name: &str, commit: &str) -> Result<String, String> {
        let output = self.output(&["merge-base", commit, "HEAD"])?;
        if output.status.success() {
            return Ok(line(&output.stdout));
        }
        Err(match self.is_shallow() {
            true => format!(
                "`{name}` and HEAD have no common commit in this shallow clone; `git fetch --unshallow` (in GitHub's checkout `fetch-depth: 0`) gets it"
            ),
            false => format!("`{name}` and HEAD have no common commit"),
        })
    }

    fn is_shallow(self) -> bool {
        let output = self.output(&["rev-parse", "--is-shallow-repository"]);
        output.is_ok_and(|output| output.stdout.starts_with(b"true"))
    }

    /// Returns the last commit, or the empty tree before the first.
    pub(super) fn head(self) -> Result<String, String> {
        match self.commit("HEAD") {
            Ok(commit) => Ok(commit),
            Err(_) => self.text(&["hash-object", "-t", "tree", "--stdin"]),
        }
    }

    /// Returns the files of a commit below the folder.
    pub(super) fn tree(self, commit: &str) -> Result<Tree, String> {
        let bytes = self.bytes(&["ls-tree", "-r", "-z", commit])?;
        let mut tree = Tree::default();
        for (about, path) in records(&bytes) {
            let mut words = about.split(' ');
            match (words.next(), words.next(), words.next()) {
                (_, Some("commit"), Some(id)) => {
                    tree.submodules.insert(path, id.to_owned());
                }
                // The content of a link is the path that it leads to.
                (Some(mode), Some("blob"), Some(id)) if mode != "120000" => {
                    tree.files.insert(path, id.to_owned());
                }
                _ => {}
            }
        }
        Ok(tree)
    }

    /// Returns the staged files below the folder, and the metadata that git stored of each when it was staged. A file
    /// in conflict has none.
    pub(super) fn index(self) -> Result<(Tree, Staged), String> {
        let bytes = self.bytes(&["ls-files", "-t", "--stage", "--debug", "-z"])?;
        let (mut tree, mut staged) = (Tree::default(), Staged::new(self.index_time()));
        // The metadata of a file stands behind the zero byte that ends its record, before the next record.
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
            let seen = IndexStat::parse(&part[..part.len() - record.len()]);
            if let (Some(path), Some(seen)) = (last.take(), seen) {
                staged.seen.insert(path, seen);
            }
            let Some((about, path)) = record.split_once('\t') else { continue };
            let (path, mut words) = (Utf8PathBuf::from(path), about.split(' '));
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

    /// Returns the bytes under these numbers, in their order.
    ///
    /// # Errors
    ///
    /// Where one is not there, as in a partial clone: nothing is fetched.
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
            .map_err(|error| missing(&error))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let wanted = ids.iter().map(|id| format!("{id}\n")).collect::<String>();
        let writer = thread::spawn(move || input.map(|mut input| input.write_all(wanted.as_bytes())));
        let mut output = BufReader::new(output.ok_or("git gives no output")?);
        let read = ids.iter().map(|id| one_blob(&mut output, id)).collect();
        drop(output);
        let _ = writer.join();
        let _ = child.wait();
        read
    }

    fn text(self, arguments: &[&str]) -> Result<String, String> {
        self.bytes(arguments).map(|bytes| line(&bytes))
    }

    fn bytes(self, arguments: &[&str]) -> Result<Vec<u8>, String> {
        let output = self.output(arguments)?;
        if output.status.success() { Ok(output.stdout) } else { Err(told(&output)) }
    }

    fn output(self, arguments: &[&str]) -> Result<Output, String> {
        self.command(arguments).stdin(Stdio::null()).output().map_err(|error| missing(&error))
    }

    fn command(self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        // Asking writes nothing, and nothing that the repository configures is run. That no command here looks at files or
        // fetches is what holds this; these make sure of it, also for a repository that lies in a folder of another one.
        command.args([
            "--no-pager",
            "--no-optional-locks",
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.hooksPath=/dev/null",
        ]);
        command.args(["-c", "safe.bareRepository=explicit", "-c", "core.quotePath=false"]);
        // A missing object would be fetched, by the programs and from the address that the configuration names.
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
        command.env("LC_ALL", "C").current_dir(self.folder).args(arguments);
        command
    }
}

fn one_blob(output: &mut impl BufRead, id: &str) -> Result<Vec<u8>, String> {
    let gone = || {
        format!("git has no content for {id}; in a partial clone `git diff` with that commit fetches what is missing")
    };
    let mut about = String::new();
    output.read_line(&mut about).map_err(|error| error.to_string())?;
    let mut words = about.split_ascii_whitespace().skip(1);
    let size =
        words.next().filter(|kind| *kind == "blob").and(words.next()).and_then(|size| size.parse::<usize>().ok());
    // A line ends each.
    let mut bytes = vec![0; size.ok_or_else(gone)? + 1];
    output.read_exact(&mut bytes).map_err(|_| gone())?;
    bytes.pop();
    Ok(bytes)
}

/// Records that end with a zero byte: words, a tab, a path. Paths that are not UTF-8 are passed over, as in the walk.
fn records(bytes: &[u8]) -> impl Iterator<Item = (&str, Utf8PathBuf)> {
    bytes.split(|byte| *byte == 0).filter_map(|record| {
        let (about, path) = std::str::from_utf8(record).ok()?.split_once('\t')?;
        Some((about, Utf8PathBuf::from(path)))
    })
}

fn line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

fn told(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it failed");
    format!("git: {}", first.trim_start_matches("fatal: "))
}

fn missing(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "git is needed to compare, and is not installed".to_owned(),
        _ => format!("git: {error}"),
    }
}
