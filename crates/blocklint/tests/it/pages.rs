//! Pages of the documentation that are made from code or data.

use std::fs;
use std::path::Path;

/// Holds that a page of `docs` is what is made now; with UPDATE set it is written. `part` is the module of the test that asks.
pub(crate) fn assert_current(page: &str, current: &str, part: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, current).expect("the page is written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == current, "docs/{page} is out of date; run `UPDATE=1 cargo test --workspace --test it {part}::`");
}
