//! Caches of `blocklint_link` and `blocklint_flow`: answers are stored in tables of the query kernel, because a plain
//! map in a `RefCell` would ignore cuts.

use std::fs;

use crate::layers::{add_files, crates_folder};

/// Files that may have a `RefCell`, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "blocklint_flow/src/callers/mod.rs",
        "closures that are found while callers are followed, with the calls that make them",
    ),
    ("blocklint_flow/src/guards/answers.rs", "interned guards"),
    (
        "blocklint_flow/src/lifecycle/entry_points.rs",
        "Rust's unused functions, which their own map keeps behind `&mut`",
    ),
    ("blocklint_flow/src/search/suppressions.rs", "a record of the comments that were used"),
    ("blocklint_link/src/linker/frames.rs", "the kernel"),
    ("blocklint_link/src/linker/query.rs", "the kernel"),
    ("blocklint_link/src/linker/round.rs", "the kernel"),
    ("blocklint_link/src/models/library.rs", "rows of models, which no query of a program is asked for"),
    ("blocklint_link/src/values/value.rs", "interned values"),
];

/// The crates that use queries.
const CRATES: [&str; 2] = ["blocklint_flow/src", "blocklint_link/src"];

/// Returns the lines with a `RefCell`, which caches answers without the query kernel.
fn find_manual_caches(text: &str) -> impl Iterator<Item = (usize, &str)> {
    const SIGNS: [&str; 1] = ["RefCell<"];
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    lines.filter(|(_, line)| !line.starts_with("//") && SIGNS.iter().any(|sign| line.contains(sign)))
}

#[test]
fn linker_and_flow_cache_answers_in_the_query_kernel_only() {
    let mut files = Vec::new();
    for folder in CRATES {
        let before = files.len();
        add_files(&crates_folder().join(folder), &mut files);
        assert!(files.len() > before + 50, "{folder} holds no sources");
    }
    let mut wrong = Vec::new();
    for file in files {
        let name = file.strip_prefix(crates_folder()).expect("below").to_string_lossy().replace('\\', "/");
        if EXCEPTIONS.iter().any(|(exception, _)| *exception == name) {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a source file");
        wrong.extend(find_manual_caches(&text).map(|(line, text)| format!("{name}:{line}: {text}")));
    }
    assert!(wrong.is_empty(), "use a `Table` of linker/query.rs:\n{}", wrong.join("\n"));
}

#[test]
fn a_manual_cache_is_found() {
    assert_eq!(find_manual_caches("    known: RefCell<FxHashMap<Name, bool>>,").count(), 1);
    assert_eq!(
        find_manual_caches("// known: RefCell<FxHashMap<Name, bool>>\nknown: Table<Name, bool, Plain>,").count(),
        0
    );
}

#[test]
fn each_exception_still_has_a_manual_cache() {
    for (name, reason) in EXCEPTIONS {
        let text = fs::read_to_string(crates_folder().join(name)).expect(name);
        assert!(find_manual_caches(&text).count() > 0, "{name} has no manual cache any more: {reason}");
    }
}
