//! Follows docs/teach.md: writes its files, runs its commands, and compares their output with the page.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Returns the fenced blocks of the page, each as language and text.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let mut parts = page.split("```");
    let mut found = Vec::new();
    while let (Some(_), Some(block)) = (parts.next(), parts.next()) {
        found.push(block.split_once('\n').expect("a block begins with its language"));
    }
    found
}

fn blocklint(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
    command.current_dir(folder).args(arguments).env("NO_COLOR", "1").output().expect("the program runs")
}

#[test]
fn commands_of_the_page_print_its_output() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/teach.md")).expect("the page");
    let blocks = blocks(&page);
    let all = |language: &str| -> Vec<&str> {
        blocks.iter().filter(|(of, _)| *of == language).map(|(_, text)| *text).collect()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    let model = all("toml")[0];
    let name = page.split("## 2.").nth(1).and_then(|part| part.split('`').nth(1)).expect("the model's name");
    let configuration = all("toml").into_iter().find(|text| text.starts_with("[tool.blocklint]")).expect("one");
    write(name, model);
    write("pyproject.toml", configuration);
    write("app.py", all("python")[0]);
    for arguments in [vec!["models", "check", name], vec!["models", "check", "--shipped", name]] {
        let output = blocklint(folder.path(), &arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let shown = all("console")[0];
    let (command, expected) = shown.split_once('\n').expect("a command and what it prints");
    let arguments: Vec<&str> = command.trim_start_matches("$ blocklint ").split(' ').collect();
    let output = blocklint(folder.path(), &arguments);
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}
