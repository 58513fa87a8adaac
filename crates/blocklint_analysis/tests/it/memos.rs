//! Answers of the linker are remembered by its query kernel: a map that remembers by hand forgets to look at cuts.

use std::fs;
use std::path::Path;

use crate::layers::add_files;

/// Files that may keep something in a `RefCell`, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("linker/query.rs", "the kernel"),
    ("linker/round.rs", "the kernel"),
    ("models/library.rs", "rows of models, which no query of a program is asked for"),
    ("values/value.rs", "interned values"),
];

/// Returns the lines that remember by hand: what is kept in a `RefCell`, and what looks at the count of cuts.
fn by_hand(text: &str) -> impl Iterator<Item = (usize, &str)> {
    const SIGNS: [&str; 2] = ["RefCell<", "budget.cuts()"];
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    lines.filter(|(_, line)| !line.starts_with("//") && SIGNS.iter().any(|sign| line.contains(sign)))
}

#[test]
fn the_linker_remembers_by_its_kernel_only() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crates").join("blocklint_link/src");
    let mut files = Vec::new();
    add_files(&source, &mut files);
    assert!(files.len() > 50, "{} holds no linker", source.display());
    let mut wrong = Vec::new();
    for file in files {
        let name = file.strip_prefix(&source).expect("below").to_string_lossy().replace('\\', "/");
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
    assert_eq!(by_hand("let before = self.budget.cuts();").count(), 1);
    assert_eq!(by_hand("// known: RefCell<FxHashMap<Name, bool>>\nknown: Table<Name, bool, Always>,").count(), 0);
}

#[test]
fn each_exception_is_one() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crates").join("blocklint_link/src");
    for (name, reason) in EXCEPTIONS {
        let text = fs::read_to_string(source.join(name)).expect(name);
        assert!(by_hand(&text).count() > 0, "{name} remembers nothing by hand any more: {reason}");
    }
}
