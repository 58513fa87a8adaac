//! Use together with ruff: the table of its rules in the documentation is current. `.ci/neighbours` runs the real ruff.

use std::fmt::Write;
use std::fs;
use std::process::{Command, Stdio};

use blocklint_rules::async_codes;

use crate::pages::{assert_part_current, read_page};

/// `UPDATE=1 cargo test --workspace --test it ruff::` renews it.
#[test]
fn the_table_of_codes_is_current() {
    let mut table =
        String::from("| code | in ruff | reports | here | and besides |\n| --- | --- | --- | --- | --- |\n");
    for known in async_codes() {
        let ruff = known.ruff.as_deref().map_or("–".to_owned(), |name| format!("`{name}`"));
        let here = match known.rules.as_slice() {
            [] => "–".to_owned(),
            rules => rules.join(", "),
        };
        let _ = writeln!(table, "| {} | {ruff} | {} | {here} | {} |", known.code, known.says, known.beyond);
    }
    assert_part_current("ruff.md", "codes", &table, "ruff");
}

#[test]
fn the_page_says_what_ruff_users_need() {
    let page = read_page("ruff.md");
    for part in ["external = [\"BLT\"]", "ignore = [\"ASYNC2\"]", "RUF100", "RUF102", "astral-sh/ruff/issues/283"] {
        assert!(page.contains(part), "{part}");
    }
}

/// A call for which each code is reported.
const CALLS: [(&str, &str); 14] = [
    ("ASYNC210", "requests.get('https://a')"),
    ("ASYNC210", "httpx.get('https://a')"),
    ("ASYNC211", "pool.request('GET', 'https://a')"),
    ("ASYNC212", "client.get('https://a')"),
    ("ASYNC220", "subprocess.Popen(['a'])"),
    ("ASYNC221", "subprocess.run(['a'])"),
    ("ASYNC222", "os.waitpid(1, 0)"),
    ("ASYNC230", "open(path)"),
    ("ASYNC232", "open(path).read()"),
    ("ASYNC240", "os.path.exists('a')"),
    ("ASYNC240", "path.read_text()"),
    ("ASYNC250", "input()"),
    ("ASYNC251", "time.sleep(1)"),
    ("ASYNC200", "shutil.rmtree('a')"),
];

#[test]
fn a_code_counts_for_the_calls_it_is_about() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("blocklint.toml"), "min-severity = 'note'\nmin-confidence = 'low'\n")
        .expect("written");
    let found = |noqa: bool| -> Vec<String> {
        let mut text = String::from(
            "import os, shutil, subprocess, time\nfrom pathlib import Path\nimport httpx, requests, urllib3\n\n\n\
             async def handler(path: Path, pool: urllib3.PoolManager, client: httpx.Client):\n",
        );
        for (code, call) in CALLS {
            let _ = writeln!(text, "    {call}{}", if noqa { format!("  # noqa: {code}") } else { String::new() });
        }
        fs::write(folder.path().join("main.py"), text).expect("written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
        command.env_clear().current_dir(folder.path()).stdin(Stdio::null());
        let output = command.args(["check", "--output-format", "concise"]).output().expect("it starts");
        let out = String::from_utf8(output.stdout).expect("UTF-8");
        out.lines().filter(|line| line.contains(": BLT")).map(str::to_owned).collect()
    };
    let first = 7;
    let without = found(false);
    for (at, (_, call)) in CALLS.iter().enumerate() {
        let place = format!("main.py:{}:", first + at);
        assert!(without.iter().any(|line| line.starts_with(&place)), "{call}: {without:?}");
    }
    assert_eq!(found(true), [] as [&str; 0]);
}
