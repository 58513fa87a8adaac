//! What git tells, through its own program. The work tree, the index and the configuration stay as they are.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};
use std::thread;

use camino::{Utf8Path, Utf8PathBuf};

/// A repository, as seen from one of its folders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Git<'g> {
    folder: &'g Utf8Path,
}

/// The entries of a tree or of the index: paths below the folder to the numbers of what they hold.
pub(super) type Entries = BTreeMap<Utf8PathBuf, String>;

/// What a tree holds.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) files: Entries,
    /// Folders that are other repositories.
    pub(super) submodules: Vec<Utf8PathBuf>,
}

impl<'g> Git<'g> {
    /// The repository in which the folder lies.
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

    /// The commit that a name means.
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

    /// The commit at which the current one left another.
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

    /// The last commit, or the empty tree before the first.
    pub(super) fn head(self) -> Result<String, String> {
        match self.commit("HEAD") {
            Ok(commit) => Ok(commit),
            Err(_) => self.text(&["hash-object", "-t", "tree", "--stdin"]),
        }
    }

    /// What a commit holds below the folder.
    pub(super) fn tree(self, commit: &str) -> Result<Tree, String> {
        let bytes = self.bytes(&["ls-tree", "-r", "-z", commit])?;
        let mut tree = Tree::default();
        for (about, path) in records(&bytes) {
            let mut words = about.split(' ');
            match (words.next(), words.next(), words.next()) {
                (_, Some("commit"), _) => tree.submodules.push(path),
                // What a link holds is the path that it leads to.
                (Some(mode), Some("blob"), Some(id)) if mode != "120000" => {
                    tree.files.insert(path, id.to_owned());
                }
                _ => {}
            }
        }
        Ok(tree)
    }

    /// What is staged below the folder. A file in conflict is not.
    pub(super) fn index(self) -> Result<Tree, String> {
        let bytes = self.bytes(&["ls-files", "--stage", "-z"])?;
        let mut tree = Tree::default();
        for (about, path) in records(&bytes) {
            let mut words = about.split(' ');
            match (words.next(), words.next(), words.next()) {
                (Some("160000"), ..) => tree.submodules.push(path),
                (Some(mode), Some(id), Some("0")) if mode != "120000" => {
                    tree.files.insert(path, id.to_owned());
                }
                _ => {}
            }
        }
        Ok(tree)
    }

    /// Paths below the folder in which two states differ: a commit and the work tree; with `--cached` a commit and the index;
    /// without a commit the index and the work tree.
    pub(super) fn differing(self, what: &[&str]) -> Result<Vec<Utf8PathBuf>, String> {
        let always = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--relative"];
        let arguments: Vec<&str> =
            always.iter().chain(&["--ignore-submodules=all"]).chain(what).chain(&["--"]).copied().collect();
        let bytes = self.bytes(&arguments)?;
        let paths = bytes.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        Ok(paths.filter_map(|path| std::str::from_utf8(path).ok()).map(Utf8PathBuf::from).collect())
    }

    /// The bytes under these numbers, in their order.
    ///
    /// # Errors
    ///
    /// Where one is not there, as in a partial clone that cannot fetch it.
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
        // Nothing that the repository configures is run, and asking writes nothing.
        command.args(["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"]);
        command.env("LC_ALL", "C").current_dir(self.folder).args(arguments);
        command
    }
}

fn one_blob(output: &mut impl BufRead, id: &str) -> Result<Vec<u8>, String> {
    let gone = || format!("git cannot give the content of {id}; is this a partial clone?");
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
