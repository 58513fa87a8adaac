//! The README shows the output of its commands (`UPDATE=1` rewrites it), and CONTRIBUTING.md shows real files.

use std::process::{Command, Stdio};
use std::{env, fs};

use crate::support::repository;

/// The beginning of the comment above a block with output: `<!-- the output of \`blocklint …\` -->`.
const MARK: &str = "<!-- the output of `blocklint ";
const BLOCK: &str = "` -->\n\n```text\n";
const END: &str = "```\n";

/// Returns the exit code, the output and the errors of a run in the repository, in a neutral environment.
fn run(arguments: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
    command.env_clear().current_dir(repository()).args(arguments.split(' ')).stdin(Stdio::null());
    let output = command.output().expect("it starts");
    let text = |bytes| String::from_utf8(bytes).expect("utf-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_readme_shows_what_its_commands_print() {
    let file = repository().join("README.md");
    let readme = fs::read_to_string(&file).expect("a README");
    let (mut updated, mut rest, mut shown) = (String::new(), readme.as_str(), 0);
    while let Some(mark) = rest.find(MARK) {
        let arguments = mark + MARK.len();
        let block = arguments + rest[arguments..].find(BLOCK).expect("a block follows the mark");
        let start = block + BLOCK.len();
        let end = start + rest[start..].find(END).expect("the block ends");
        let (_, printed, errors) = run(&rest[arguments..block]);
        assert_eq!(errors, "", "{}", &rest[arguments..block]);
        updated += &rest[..start];
        updated += &printed;
        rest = &rest[end..];
        shown += 1;
    }
    updated += rest;
    assert!(shown >= 2, "the README shows {shown} outputs");
    if env::var("UPDATE").is_ok_and(|value| value == "1") {
        fs::write(&file, updated).expect("the README is written");
    } else {
        assert!(readme == updated, "run this test with UPDATE=1 to renew the README, which should be\n{updated}");
    }
}

#[test]
fn the_readme_lists_every_rule() {
    let readme = fs::read_to_string(repository().join("README.md")).expect("a README");
    let pages = fs::read_dir(repository().join("rules")).expect("the rules' pages");
    let names: Vec<String> = pages
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("utf-8"))
        .filter_map(|file| file.strip_suffix(".md").map(str::to_owned))
        .collect();
    assert!(names.len() >= 19, "{names:?}");
    for (code, name) in names.iter().filter_map(|page| page.split_once('-')) {
        assert!(readme.contains(&format!("| {code} | {name} | ")), "the README's table lacks {code} {name}");
    }
}

#[test]
fn the_first_example_tells_the_whole_story() {
    let (code, printed, _) = run("check examples/service");
    assert_eq!(code, Some(1), "the README says that it exits with 1");
    // The stalled function, the hold, the path through three files, the call, and the advice.
    for part in [
        "async function `quote`",
        "for up to 30 s",
        "examples/service/main.py:22:17",
        "examples/service/pricing.py:27:22",
        "examples/service/rates.py:14:20",
        "path: quote → price_in → latest → self.session.get",
        "help: ",
    ] {
        assert!(printed.contains(part), "{part} is missing in\n{printed}");
    }
}

/// Returns the first code block of a language after a text.
fn block<'t>(text: &'t str, behind: &str, language: &str) -> &'t str {
    let rest = &text[text.find(behind).expect("the text stands there")..];
    let fence = format!("```{language}\n");
    let rest = &rest[rest.find(&fence).expect("a block") + fence.len()..];
    &rest[..rest.find("```").expect("the block ends")]
}

#[test]
fn the_first_recipe_shows_what_the_files_hold() {
    let read = |file: &str| fs::read_to_string(repository().join(file)).expect("a file");
    let recipes = read("CONTRIBUTING.md");
    let row = block(&recipes, "**1. Write the row**", "toml");
    assert!(read("rules/models/python/stdlib/subprocess.toml").contains(row), "{row}");
    let fixture = block(&recipes, "**2. Write the expectation**", "py");
    assert!(read("tests/fixtures/rules/blocking-subprocess.md").contains(fixture), "{fixture}");
}
