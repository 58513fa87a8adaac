//! Answers of the linker and of the flow are remembered by the query kernel: a map that remembers by hand forgets to look at cuts.

use std::fs;

use crate::layers::{add_files, crates};

/// Files that may keep something in a `RefCell`, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("blocklint_flow/src/callers/mod.rs", "closures that were found on the way, with the calls that make them"),
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

/// The crates that ask queries.
const CRATES: [&str; 2] = ["blocklint_flow/src", "blocklint_link/src"];

/// Returns the lines that remember by hand: what is kept in a `RefCell`.
fn by_hand(text: &str) -> impl Iterator<Item = (usize, &str)> {
    const SIGNS: [&str; 1] = ["RefCell<"];
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    lines.filter(|(_, line)| !line.starts_with("//") && SIGNS.iter().any(|sign| line.contains(sign)))
}

#[test]
fn linker_and_flow_remember_by_the_kernel_only() {
    let mut files = Vec::new();
    for folder in CRATES {
        let before = files.len();
        add_files(&crates().join(folder), &mut files);
        assert!(files.len() > before + 50, "{folder} holds no sources");
    }
    let mut wrong = Vec::new();
    for file in files {
        let name = file.strip_prefix(crates()).expect("below").to_string_lossy().replace('\\', "/");
        if EXCEPTIONS.iter().any(|(exception, _)| *exception == name) {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a source file");
        wrong.extend(by_hand(&text).map(|(line, text)| format!("{name}:{line}: {text}")));
    }
    assert!(wrong.is_empty(), "use a `Table` of linker/query.rs:\n{}", wrong.join("\n"));
}

#[test]
fn a_memo_by_hand_is_noticed() {
    assert_eq!(by_hand("    known: RefCell<FxHashMap<Name, bool>>,").count(), 1);
    assert_eq!(by_hand("// known: RefCell<FxHashMap<Name, bool>>\nknown: Table<Name, bool, Plain>,").count(), 0);
}

#[test]
fn each_exception_is_one() {
    for (name, reason) in EXCEPTIONS {
        let text = fs::read_to_string(crates().join(name)).expect(name);
        assert!(by_hand(&text).count() > 0, "{name} remembers nothing by hand any more: {reason}");
    }
}
