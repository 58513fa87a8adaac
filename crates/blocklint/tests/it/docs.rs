//! The commands of the documentation are run: those in `sh` blocks of the pages about output, in a copy of the project that they speak of.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

const PAGES: [&str; 2] = ["output.md", "html-report.md"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The lines of all `sh` blocks of a page.
fn commands(page: &str) -> Vec<&str> {
    let blocks = page.split("\n```sh\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    blocks.flat_map(str::lines).collect()
}

#[test]
fn every_command_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir(repository().join("tests/browser/shop")).expect("the shop") {
        let entry = entry.expect("an entry");
        // A cache, where somebody ran it there.
        if entry.file_type().expect("a type").is_dir() {
            continue;
        }
        fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("copied");
    }
    let program = Path::new(env!("CARGO_BIN_EXE_blocklint")).parent().expect("a folder").to_owned();
    let system = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(std::iter::once(program).chain(env::split_paths(&system))).expect("a path");
    let mut run = 0;
    for page in PAGES {
        let text = fs::read_to_string(repository().join("docs").join(page)).expect("a page");
        for command in commands(&text) {
            let output = Command::new("sh")
                .args(["-c", command])
                .env_clear()
                .env("PATH", &path)
                .current_dir(folder.path())
                .stdin(Stdio::null())
                .output()
                .expect("a shell");
            let err = String::from_utf8_lossy(&output.stderr);
            // Findings are found, but nothing else goes wrong.
            let expected: &[i32] = if command.contains("generate") || command.contains('|') { &[0] } else { &[1] };
            assert!(output.status.code().is_some_and(|code| expected.contains(&code)), "{page}: {command}: {err}");
            assert!(!err.contains("error:") && !err.contains("warning:"), "{page}: {command}: {err}");
            run += 1;
        }
    }
    assert!(run >= 13, "{run} commands");
    for made in
        ["gl-code-quality-report.json", "blocklint.xml", "report.html", "blocklint.bash", "man/blocklint-check.1"]
    {
        assert!(folder.path().join(made).is_file(), "{made}");
    }
}

/// What the page says of formats is what the program knows.
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
