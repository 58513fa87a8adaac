//! Implicit calls: each row of the languages' tables has a section in `tests/fixtures/implicit-calls.md` with a
//! finding, which needs both directions of the row.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use blocklint_core::Language;
use blocklint_link::lang::names_of_implicit_calls;

#[test]
fn each_implicit_call_has_a_section_with_a_finding() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("tests/fixtures/implicit-calls.md")).expect("the fixtures");
    let sections: Vec<(&str, &str)> = text.split("\n## ").skip(1).filter_map(|part| part.split_once('\n')).collect();
    let titles: BTreeSet<&str> = sections.iter().map(|(title, _)| *title).collect();
    let names: BTreeSet<&str> = Language::ALL.iter().flat_map(|&language| names_of_implicit_calls(language)).collect();
    assert!(names.len() > 8, "{names:?}");
    assert_eq!(titles, names, "sections and rows differ");
    for (title, body) in sections {
        assert!(body.contains("error: [") && body.contains("ok\n"), "{title} has no finding, or no call without one");
    }
}
