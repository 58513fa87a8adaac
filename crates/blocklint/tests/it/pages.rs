//! Helpers for pages of the documentation that are generated from code or data.

use std::fs;
use std::path::{Path, PathBuf};

/// Checks that a page of `docs` is current; with UPDATE set it is written. `part` is the module of the test.
pub(crate) fn assert_current(page: &str, current: &str, part: &str) {
    let path = path(page);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, current).expect("the page is written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == current, "docs/{page} is out of date; run `UPDATE=1 cargo test --workspace --test it {part}::`");
}

fn path(page: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page)
}

/// A page of `docs/`.
pub(crate) fn read_page(page: &str) -> String {
    fs::read_to_string(path(page)).unwrap_or_else(|error| panic!("docs/{page}: {error}"))
}

/// Checks the text between `<!-- PART -->` and `<!-- end of PART -->` of a page; with UPDATE set it is written.
pub(crate) fn assert_part_current(page: &str, part: &str, text: &str, module: &str) {
    let whole = read_page(page);
    let (start, end) = (format!("<!-- {part} -->\n\n"), format!("\n<!-- end of {part} -->"));
    let from = whole.find(&start).unwrap_or_else(|| panic!("docs/{page} has no `{part}`")) + start.len();
    let to = whole.find(&end).unwrap_or_else(|| panic!("`{part}` of docs/{page} has no end"));
    if std::env::var("UPDATE").is_ok_and(|value| value == "1") {
        fs::write(path(page), format!("{}{text}{}", &whole[..from], &whole[to..])).expect("written");
        return;
    }
    let current = whole[from..to] == *text;
    assert!(
        current,
        "`UPDATE=1 cargo test --workspace --test it {module}::` renews docs/{page}, which should say\n{text}"
    );
}
