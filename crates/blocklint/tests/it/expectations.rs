//! `docs/expectations.md` names the test of each expectation: each row has one, and each one is there.

use std::fs;

use crate::support::repository;

fn read(path: &str) -> Option<String> {
    fs::read_to_string(repository().join(path)).ok()
}

/// Returns the texts in backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// True if the test that a text refers to exists; `None` if the text refers to no test.
fn is_there(name: &str) -> Option<bool> {
    if let Some((file, test)) = name.split_once("::") {
        let folder = match file {
            "render" => "blocklint_output",
            "discovery" => "blocklint_project",
            _ => "blocklint",
        };
        let text = read(&format!("crates/{folder}/tests/it/{file}.rs"));
        return Some(text.is_some_and(|text| text.contains(&format!("fn {test}()"))));
    }
    let file = match name {
        _ if name.starts_with("test_") && name.ends_with(".py") => format!("tests/neighbours/{name}"),
        _ if name.ends_with(".rs") || name.starts_with("tests/") => name.to_owned(),
        _ if name.ends_with(".md") => format!("tests/fixtures/{name}"),
        _ => return None,
    };
    Some(read(&file).is_some())
}

#[test]
fn every_row_names_tests_that_are_there() {
    let page = read("docs/expectations.md").expect("the page");
    let mut rows = 0;
    for part in ["## Must", "## Should", "## Beside other tools"] {
        let table = page.split(&format!("{part}\n\n")).nth(1).and_then(|rest| rest.split("\n\n").next());
        for row in table.expect("a table").lines().skip(2) {
            let held = row.trim_end_matches(" |").rsplit(" | ").next().expect("a cell");
            let tests: Vec<_> = quoted(held).filter_map(|name| Some((name, is_there(name)?))).collect();
            assert!(!tests.is_empty(), "no test holds: {row}");
            for (name, is_there) in tests {
                assert!(is_there, "{name} is not there: {row}");
            }
            // A test within a file of tests.
            for name in quoted(held).filter(|name| name.starts_with("test_") && !name.ends_with(".py")) {
                let file = quoted(held).find(|file| file.ends_with(".py")).expect("its file");
                let text = read(&format!("tests/neighbours/{file}")).unwrap_or_default();
                assert!(text.contains(&format!("def {name}(")), "{file} has no {name}");
            }
            assert!(!row.contains("**not yet**"), "what is not met stands in its own table: {row}");
            rows += 1;
        }
    }
    assert!(rows >= 70, "{rows} rows");
}
