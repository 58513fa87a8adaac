//! Living beside ruff: the table of its rules in the documentation is that of the program. `.ci/neighbours` tries the real ruff.

use std::fmt::Write;

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
