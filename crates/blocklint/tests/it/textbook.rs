//! The first programs that people try: each section of `tests/textbook/first_minutes.md` is a project that is checked
//! without options. Also findings that only tests and commands reach, which are shown if there are no others.

use std::fs;
use std::path::Path;

use crate::support::{Project, Run};

/// A section of the document.
struct Snippet<'t> {
    name: &'t str,
    /// Places in the main file as `CODE:LINE`, one of which must be reported; empty if there must be no finding.
    wanted: Vec<&'t str>,
    /// The paths and texts of the files, the main file first.
    files: Vec<(&'t str, String)>,
}

/// Returns the files of a section: for each a line with the path in backticks, then a block.
fn files_of(part: &str) -> Vec<(&str, String)> {
    let mut files = Vec::new();
    let mut lines = part.lines();
    while let Some(line) = lines.next() {
        let Some(path) = line.strip_prefix('`').and_then(|rest| rest.strip_suffix("`:")) else { continue };
        let block = lines.by_ref().skip_while(|line| !line.starts_with("```")).skip(1);
        let text: String = block.take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
        files.push((path, text));
    }
    files
}

fn snippets(document: &str) -> Vec<Snippet<'_>> {
    let body = document.split("\n## Manifests").next().unwrap_or(document);
    let sections = body.split("\n### ").skip(1);
    let snippet = |section| {
        let section: &str = section;
        let (name, rest) = section.split_once('\n').expect("a heading");
        let rest = rest.split("\n## ").next().unwrap_or(rest);
        let wanted = rest.lines().find_map(|line| line.strip_prefix("Wanted: ")).expect("what is wanted");
        let wanted = if wanted == "nothing" { "" } else { wanted };
        let wanted = wanted.split('`').map(str::trim).filter(|place| !place.is_empty()).collect();
        Snippet { name, wanted, files: files_of(rest) }
    };
    sections.map(snippet).collect()
}

/// Returns the places in the main file that a run without options reports.
fn reported(project: &Project, main: &str) -> Vec<String> {
    let run = project.run(&["check", "--no-cache", "--isolated", "--output-format", "json", "."]);
    let found: serde_json::Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err));
    let main = project.path().join(main);
    let of_main = found
        .as_array()
        .expect("an array")
        .iter()
        .filter(|one| one["filename"].as_str().is_some_and(|file| Path::new(file) == main));
    of_main.map(|one| format!("{}:{}", one["code"].as_str().expect("a code"), one["location"]["row"])).collect()
}

#[test]
fn findings_of_first_programs_are_reported() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/textbook/first_minutes.md");
    let document = fs::read_to_string(path).expect("the document");
    let manifests = files_of(document.split_once("\n## Manifests").expect("the manifests").1);
    let snippets = snippets(&document);
    assert_eq!(snippets.len(), 67, "all sections are read");
    let mut wrong = Vec::new();
    for Snippet { name, wanted, files } in &snippets {
        let main = files.first().expect("a file").0;
        let manifest = if name.starts_with("rust") { "Cargo.toml" } else { "pom.xml" };
        let project = Project::new(&[]);
        files.iter().for_each(|(file, text)| project.write(file, text));
        for (file, text) in manifests.iter().filter(|(file, _)| !name.starts_with("python") && *file == manifest) {
            project.write(file, text);
        }
        let found = reported(&project, main);
        let fits = match wanted.is_empty() {
            true => found.is_empty(),
            false => found.iter().any(|place| wanted.contains(&place.as_str())),
        };
        if !fits {
            wrong.push(format!("{name}: wanted {wanted:?}, found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} are not as wanted:\n{}", wrong.len(), snippets.len(), wrong.join("\n"));
}

const COMMAND: &str = "import argparse\nimport asyncio\nimport time\n\n\nasync def main():\n    argparse.ArgumentParser().parse_args()\n    \
                       time.sleep(1)\n\n\nasyncio.run(main())\n";

fn check(project: &Project, arguments: &[&str]) -> Run {
    project.run(&[&["check", "--no-cache"], arguments].concat())
}

#[test]
fn findings_of_tests_and_commands_are_shown_if_there_are_no_others() {
    let project = Project::new(&[("tool.py", COMMAND)]);
    let run = check(&project, &["--output-format", "concise"]);
    assert!(run.out.contains("tool.py:8:5: BLT101"), "{}", run.out);
    assert!(run.out.contains("No findings."), "{}", run.out);
    let why = "Shown because nothing else was found: 1 finding that would be left aside, because it runs in a command of a command line.";
    assert!(run.out.contains(why), "{}", run.out);
    assert_eq!(run.code, Some(0), "what is left aside counts for nothing");
    let json = check(&project, &["--output-format", "json"]);
    assert_eq!(json.code, Some(0));
    assert!(json.out.contains("\"aside\": \"it runs in a command of a command line\""), "{}", json.out);
    assert_eq!(check(&project, &["--include-aside"]).code, Some(1), "asked for, it counts");
    for format in ["sarif", "gitlab", "junit", "rdjson", "github"] {
        let run = check(&project, &["--output-format", format]);
        assert!(!run.out.contains("tool.py"), "{format} opens alerts: {}", run.out);
    }
}

#[test]
fn findings_of_tests_and_commands_are_hidden_if_there_are_others() {
    let handler = "import time\n\n\nasync def handler():\n    time.sleep(1)\n";
    let project = Project::new(&[("tool.py", COMMAND), ("server.py", handler)]);
    let run = check(&project, &["--output-format", "concise"]);
    assert!(run.out.contains("server.py:5:5"), "{}", run.out);
    assert!(!run.out.contains("tool.py"), "{}", run.out);
    assert!(run.out.contains("Left aside: 1 finding"), "{}", run.out);
    assert_eq!(run.code, Some(1));
}

#[test]
fn a_project_without_functions_that_must_not_block_says_so() {
    let project = Project::new(&[("a.py", "import time\n\n\ndef f():\n    time.sleep(1)\n"), ("b.py", "x = 1\n")]);
    let run = check(&project, &["--output-format", "concise"]);
    assert_eq!(run.out, "No findings: 0 functions that must not block in 2 files.\n");
    let told = check(&project, &["-v"]);
    assert!(told.err.contains("0 functions that must not block"), "{}", told.err);
    project.write("b.py", "import time\n\n\nasync def f():\n    time.sleep(1)\n");
    let told = check(&project, &["-v"]);
    assert!(told.err.contains("1 function that must not block"), "{}", told.err);
}
