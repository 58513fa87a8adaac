//! Findings about ignore comments (unused, malformed, without a reason), and their removal by `--fix`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

struct Folder(tempfile::TempDir);

const MAIN: &str = "import asyncio
import time


async def handler():
    time.sleep(1)  # blocklint: ignore[BLT101, BLT102] the driver has no other way
    await asyncio.sleep(1)  # noqa: E501, BLT101
    await asyncio.sleep(1)  # type: ignore  # blocklint: ignore[BLT101]  # fmt: skip
    # blocklint: ignore[BLT104]
    await asyncio.sleep(1)
";

const FIXED: &str = "import asyncio
import time


async def handler():
    time.sleep(1)  # blocklint: ignore[BLT101] the driver has no other way
    await asyncio.sleep(1)  # noqa: E501
    await asyncio.sleep(1)  # type: ignore  # fmt: skip
    await asyncio.sleep(1)
";

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Folder(tempfile::tempdir().expect("a folder"));
        for (file, text) in files {
            fs::write(folder.path().join(file), text).expect("written");
        }
        folder
    }

    fn path(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).expect("it exists")
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
        command.env_clear().current_dir(self.path()).args(arguments).stdin(Stdio::null());
        let output = command.output().expect("it starts");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    /// Returns the rows and codes of findings: `6 901`.
    fn found(&self, arguments: &[&str]) -> Vec<String> {
        let (code, out, err) = self.run(&[&["check", "--output-format", "concise"], arguments].concat());
        assert!(code == Some(0) || code == Some(1), "{err}");
        let found = out.lines().filter_map(|line| {
            let (place, rest) = line.split_once(": BLT")?;
            Some(format!("{} {}", place.split(':').nth(1)?, &rest[..3]))
        });
        found.collect()
    }
}

#[test]
fn unused_comments_count_and_fix_removes_them() {
    let folder = Folder::new(&[("blocklint.toml", ""), ("main.py", MAIN)]);
    assert_eq!(folder.found(&[]), ["6 901", "7 901", "8 901", "9 901"]);
    let (code, out, _) = folder.run(&["check", "--diff"]);
    assert!(code == Some(1) && out.contains("-    # blocklint: ignore[BLT104]\n"), "{out}");
    let (code, out, err) = folder.run(&["check", "--fix"]);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert_eq!(fs::read_to_string(folder.path().join("main.py")).expect("there"), FIXED);
    assert_eq!(folder.found(&[]), [] as [&str; 0]);
}

#[test]
fn comments_that_may_be_used_are_not_reported() {
    let folder = Folder::new(&[("blocklint.toml", ""), ("main.py", MAIN)]);
    let nothing = [] as [&str; 0];
    assert_eq!(folder.found(&["--isolated"]), nothing, "what the configuration says of models is not known");
    assert_eq!(folder.found(&["--exclude", "other"]), nothing);
    assert_eq!(folder.found(&["--extend-exclude", "other"]), nothing);
    assert_eq!(folder.found(&["--ignore", "BLT901"]), nothing);
    assert_eq!(folder.found(&["--select", "BLT901"]), nothing, "no other rule is selected");
    assert_eq!(folder.found(&["--select", "BLT102,BLT901"]), ["6 901"]);
    assert_eq!(
        folder.found(&["main.py"]),
        ["6 901", "7 901", "8 901", "9 901"],
        "the project is analysed all the same"
    );
    fs::write(folder.path().join("broken.py"), "def f(:\n").expect("written");
    assert_eq!(folder.found(&["--ignore", "BLT902"]), nothing, "what another file does is not known");
    fs::remove_file(folder.path().join("broken.py")).expect("removed");
    fs::write(folder.path().join("broken.rs"), "fn f( {\n").expect("written");
    assert_eq!(folder.found(&["--ignore", "BLT902"]).len(), 4, "it is no Python");
    let loose = Folder::new(&[("main.py", MAIN)]);
    assert_eq!(loose.found(&["main.py"]), nothing, "a file of no project may be a part of one");
    assert_eq!(loose.found(&["."]).len(), 4, "a folder that is named is taken for a whole");
}

#[test]
fn a_comment_that_cannot_be_read_says_what_was_meant() {
    let text = "import time\nasync def f():\n    time.sleep(1)  # blocklint: ingore[BLT101]\n    time.sleep(1)  # noqa: BLT1O1, BLT110\n";
    let folder = Folder::new(&[("blocklint.toml", ""), ("main.py", text)]);
    let (code, out, _) = folder.run(&["check", "--select", "BLT903"]);
    assert_eq!(code, Some(1));
    for line in [
        "warning[BLT903]: comment cannot be read: `ingore` is not a blocklint directive",
        "unknown rules `BLT1O1` and `BLT110` in a comment",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
    // Each format has the suggestion, also those that show messages only.
    for format in ["concise", "full", "github", "json"] {
        let (_, out, _) = folder.run(&["check", "--select", "BLT903", "--output-format", format]);
        for suggestion in ["; write `blocklint: ignore[BLT101]`", "; did you mean `BLT101` instead of `BLT1O1`"] {
            assert!(out.contains(suggestion), "{format}: {out}");
        }
    }
}

#[test]
fn a_comment_at_one_cause_says_which_line_silences_all() {
    let text = "import time


def pause():
    time.sleep(1)COMMENT


def rest():
    time.sleep(2)


def load():
    pause()
    rest()


async def handler():
    load()


async def other():
    rest()
";
    let folder = Folder::new(&[("blocklint.toml", "")]);
    let notes = |comment: &str| -> Vec<String> {
        fs::write(folder.path().join("main.py"), text.replace("COMMENT", comment)).expect("written");
        let (_, out, _) = folder.run(&["check", "--no-cache"]);
        out.lines().filter(|line| line.contains("another cause of it")).map(|line| line.trim().to_owned()).collect()
    };
    assert_eq!(notes(""), [] as [&str; 0]);
    let said = "= note: a comment in `main.pause` suppresses another cause of it; `blocklint: ignore[BLT101]` on this line suppresses all of them";
    assert_eq!(notes("  # blocklint: ignore[BLT101] short"), [said], "the finding of `other` never had it");
    fs::write(
        folder.path().join("main.py"),
        text.replace("COMMENT", "  # blocklint: ignore[BLT101]")
            .replace("    load()\n", "    load()  # blocklint: ignore[BLT101]\n")
            .replace("async def other():\n    rest()\n", ""),
    )
    .expect("written");
    assert_eq!(folder.found(&["--select", "BLT101"]), [] as [&str; 0]);
}

#[test]
fn a_reason_is_asked_for_where_the_configuration_demands_it() {
    let text = "import time\nasync def f():\n    time.sleep(1)  # blocklint: ignore[BLT101]\n";
    let folder = Folder::new(&[("blocklint.toml", ""), ("main.py", text)]);
    assert_eq!(folder.found(&[]), [] as [&str; 0]);
    assert_eq!(folder.found(&["--config", "require-reason=true"]), ["3 904"]);
    fs::write(folder.path().join("blocklint.toml"), "require-reason = true\n").expect("written");
    assert_eq!(folder.found(&[]), ["3 904"]);
    let (_, out, _) = folder.run(&["check"]);
    assert!(out.contains("suppression without a reason"), "{out}");
}

#[test]
fn findings_about_comments_have_their_own_place_and_fingerprint() {
    let text = "async def f():\n    pass  # blocklint: ignore[BLT101]\n    pass  # blocklint: ignore[BLT101]\n";
    let folder = Folder::new(&[("blocklint.toml", ""), ("main.py", text)]);
    let (_, out, _) = folder.run(&["check", "--output-format", "json"]);
    let found: Vec<serde_json::Value> = serde_json::from_str(&out).expect("JSON");
    assert_eq!(found.len(), 2);
    assert_ne!(found[0]["fingerprint"], found[1]["fingerprint"]);
    assert_eq!(found[0]["location"]["column"], 11);
    assert_eq!(found[0]["fix"]["applicability"], "safe");
}
