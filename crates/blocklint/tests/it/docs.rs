//! The commands of README.md and docs are run: those in `sh` and `console` blocks, in a copy of a project that they
//! fit. A block that cannot be run says why, in a comment above it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::support::repository;

/// Pages that another test follows step by step, and the file of that test, which runs their `console` blocks.
const FOLLOWED: [(&str, &str); 2] = [("docs/adoption.md", "adoption.rs"), ("docs/teach.md", "teach.rs")];
/// Languages of blocks without commands. A new language must be added here or to the shells.
const NO_SHELL: [&str; 13] =
    ["", "elisp", "java", "json", "lua", "md", "py", "python", "rs", "rust", "text", "toml", "yaml"];
const SHELLS: [&str; 2] = ["sh", "console"];
/// The beginning of the comment above a block that is not run.
const NOT_RUN: &str = "<!-- not run: ";

/// A fenced block.
struct Block<'p> {
    language: &'p str,
    text: &'p str,
    /// The reason why it is not run.
    not_run: Option<&'p str>,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let (mut rest, mut at) = (page, 0);
    while let Some(fence) = rest.find("\n```") {
        let above = page[..at + fence].trim_end().lines().last().unwrap_or_default();
        let block = &rest[fence + 4..];
        let end = block.find("\n```").expect("a block ends");
        let (language, text) = block[..end].split_once('\n').unwrap_or((&block[..end], ""));
        let not_run = above.strip_prefix(NOT_RUN).and_then(|reason| reason.strip_suffix(" -->"));
        found.push(Block { language, text, not_run });
        let next = fence + 4 + end + 4;
        (rest, at) = (&rest[next..], at + next);
    }
    found
}

/// Returns the commands of a block.
fn commands<'p>(block: &Block<'p>) -> Vec<&'p str> {
    let lines = block.text.lines().filter(|line| !line.trim().is_empty());
    match block.language {
        "console" => lines.filter_map(|line| line.strip_prefix("$ ")).collect(),
        _ => lines.collect(),
    }
}

/// Returns the paths and texts of README.md and all pages of docs.
fn pages() -> Vec<(String, String)> {
    let docs = fs::read_dir(repository().join("docs")).expect("docs").map(|entry| entry.expect("an entry").path());
    let mut names: Vec<String> = docs
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| format!("docs/{}", path.file_name().and_then(|name| name.to_str()).expect("UTF-8")))
        .collect();
    names.push("README.md".to_owned());
    names.sort();
    let read = |name: String| {
        let text = fs::read_to_string(repository().join(&name)).expect("a page");
        (name, text)
    };
    names.into_iter().map(read).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        // A folder is the cache of an earlier run.
        if entry.file_type().expect("a type").is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
        }
    }
}

/// A shop in a repository.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&repository().join("tests/browser/shop"), folder.path());
    fs::create_dir(folder.path().join("src")).expect("made");
    fs::write(folder.path().join("src/main.rs"), "fn main() {}\n").expect("written");
    for arguments in ["init -q -b main", "add -A", "-c user.name=a -c user.email=a@b commit -q -m x"] {
        let mut git = Command::new("git");
        let done = git.args(arguments.split(' ')).current_dir(folder.path()).status().expect("git starts");
        assert!(done.success(), "{arguments}");
    }
    folder
}

/// Runs a command of a page; returns the exit code and stderr.
fn run(command: &str, folder: &Path) -> (Option<i32>, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_blocklint")).parent().expect("a folder").to_owned();
    let system = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(std::iter::once(program).chain(env::split_paths(&system))).expect("a path");
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).env_clear().env("PATH", &path).current_dir(folder).stdin(Stdio::null());
    let output = shell.output().expect("a shell");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn every_command_runs() {
    let (mut count, mut reasons) = (0, 0);
    for (page, text) in pages() {
        let folder = project();
        for block in blocks(&text) {
            if !SHELLS.contains(&block.language) {
                assert!(
                    NO_SHELL.contains(&block.language),
                    "{page}: whether `{}` is a shell is not known",
                    block.language
                );
                assert_eq!(block.not_run, None, "{page}: nothing runs a block of `{}`", block.language);
                continue;
            }
            let commands = commands(&block);
            assert!(!commands.is_empty(), "{page}: a block without a command:\n{}", block.text);
            if let Some(reason) = block.not_run {
                assert!(reason.split(' ').count() > 2, "{page}: `{reason}` is no reason");
                reasons += 1;
                continue;
            }
            if block.language == "console" && FOLLOWED.iter().any(|(followed, _)| *followed == page) {
                continue;
            }
            for command in commands {
                let (code, err) = run(command, folder.path());
                // There may be findings, but no other errors.
                let finds = !command.contains('|') && command.starts_with("blocklint check");
                let expected: &[i32] = if finds { &[0, 1] } else { &[0] };
                assert!(code.is_some_and(|code| expected.contains(&code)), "{page}: {command}: {code:?} {err}");
                assert!(!err.contains("error:") && !err.contains("warning:"), "{page}: {command}: {err}");
                count += 1;
            }
        }
        if page == "docs/output.md" {
            for made in ["gl-code-quality-report.json", "blocklint.xml", "blocklint.bash", "man/blocklint-check.1"] {
                assert!(folder.path().join(made).is_file(), "{made}");
            }
        }
    }
    assert!(count >= 18, "{count} commands");
    assert!(reasons <= 8, "{reasons} blocks are not run");
}

#[test]
fn followed_pages_have_a_test_that_reads_them() {
    for (page, test) in FOLLOWED {
        let text = fs::read_to_string(repository().join("crates/blocklint/tests/it").join(test)).expect("a test");
        assert!(text.contains(&format!("{page}\")")) && text.contains("\"console\""), "{test} does not follow {page}");
    }
}

#[test]
fn blocks_and_their_reasons_are_read() {
    let page = "# A\n\n<!-- not run: needs a network -->\n\n```sh\nx\n```\n\n```console\n$ a\nout\n```\n";
    let found = blocks(page);
    let [first, second] = found.as_slice() else { panic!("{}", found.len()) };
    assert_eq!((first.language, first.not_run, commands(first)), ("sh", Some("needs a network"), vec!["x"]));
    assert_eq!((second.language, second.not_run, commands(second)), ("console", None, vec!["a"]));
}

/// The formats of the page are those of the program.
#[test]
fn every_format_is_documented() {
    let page = fs::read_to_string(repository().join("docs/output.md")).expect("a page");
    let help = Command::new(env!("CARGO_BIN_EXE_blocklint")).args(["check", "--help"]).output().expect("it starts");
    let help = String::from_utf8(help.stdout).expect("UTF-8");
    let at = help.find("--output-format").expect("the option");
    let values = help[at..].split("Possible values:").nth(1).expect("its values");
    let formats = values.lines().map(str::trim).filter_map(|line| line.strip_prefix("- "));
    let formats: Vec<&str> = formats.filter_map(|line| line.split(':').next()).take(10).collect();
    assert_eq!(formats.len(), 10, "{help}");
    for format in formats {
        assert!(page.contains(&format!("| `{format}` |")), "{format}");
    }
}

#[test]
fn the_last_line_is_quoted_as_it_is() {
    let page = fs::read_to_string(repository().join("docs/output.md")).expect("a page");
    let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
    command
        .env_clear()
        .current_dir(repository().join("tests/browser/shop"))
        .args(["check", "--no-cache"])
        .stdin(Stdio::null());
    let output = String::from_utf8(command.output().expect("it starts").stdout).expect("UTF-8");
    let last = output.lines().last().expect("a line");
    assert!(last.starts_with("Begin with ") && page.contains(last), "docs/output.md should quote: {last}");
}
