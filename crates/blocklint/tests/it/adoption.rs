//! Follows docs/adoption.md: writes and commits its files, runs its commands, and compares their output with the page.

use std::fs;
use std::path::Path;

use crate::support::Project;

/// Returns the fenced blocks of the page, each as language and text.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let mut parts = page.split("```");
    let mut found = Vec::new();
    while let (Some(_), Some(block)) = (parts.next(), parts.next()) {
        found.push(block.split_once('\n').expect("a block begins with its language"));
    }
    found
}

/// Splits a command line into words; one of them may be quoted.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("a word").push(c),
        }
    }
    words
}

#[test]
fn commands_of_the_page_print_its_output() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/adoption.md");
    let page = fs::read_to_string(path).expect("the page");
    let project = Project::new(&[("README", "")]);
    let mut committed = false;
    let mut ran = 0;
    for (language, text) in blocks(&page) {
        match language {
            "python" => match text.split_once('\n') {
                Some((first, rest)) if first.starts_with("# ") => project.write(&first[2..], rest),
                // The page shows a part of a file that a command wrote.
                _ => assert!(project.read("app.py").ends_with(text), "{}", project.read("app.py")),
            },
            "json" => assert_eq!(project.read("blocklint-baseline.json"), text),
            "console" => {
                if !committed {
                    project.commit();
                    committed = true;
                }
                let (command, expected) = text.split_once('\n').expect("a command and what it prints");
                let arguments = words(command.strip_prefix("$ blocklint ").expect("a command"));
                let run = project.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
                assert_eq!(run.err, "", "{command}");
                assert_eq!(run.out, expected, "{command}");
                ran += 1;
            }
            other => panic!("a block of `{other}`"),
        }
    }
    assert!(ran >= 8, "{ran}");
}
