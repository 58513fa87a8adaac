//! Rules of one language in neutral files of the linker and the flow analysis. New rules belong to a folder of the
//! language (`lang/python/`, `lifecycle/rust/`) or a file that is named after it (`phase_java.rs`). This test counts
//! the older ones, so that they only get fewer.

use std::fs;
use std::path::Path;

use crate::layers::{add_files, crates_folder};

/// The greatest allowed numbers for each crate: lines that compare with a language (`Language::Python`), lines that call
/// code of a language directly (`lang::rust::…`), and lines with a name of a special method in a string (`"__enter__"`).
/// Lower a number after a rule has moved.
const ALLOWED: [(&str, [usize; 3]); 2] = [("blocklint_link", [112, 68, 33]), ("blocklint_flow", [160, 49, 11])];

const LANGUAGES: [&str; 3] = ["python", "rust", "java"];

/// True for files that belong to one language by the name of a folder or by a part of the file's own name.
fn is_of_language(relative: &Path) -> bool {
    relative.components().any(|part| {
        let name = part.as_os_str().to_string_lossy();
        name == "lang" || name.trim_end_matches(".rs").split('_').any(|word| LANGUAGES.contains(&word))
    })
}

/// Returns the code of a line, without a comment on a line of its own.
fn code(line: &str) -> &str {
    if line.trim_start().starts_with("//") { "" } else { line }
}

fn compares_with_language(line: &str) -> bool {
    ["Language::Python", "Language::Rust", "Language::Java"].iter().any(|path| code(line).contains(path))
}

fn calls_code_of_language(line: &str) -> bool {
    LANGUAGES.iter().any(|language| code(line).contains(&format!("lang::{language}::")))
}

fn has_special_method(line: &str) -> bool {
    code(line).match_indices("\"__").any(|(start, _)| {
        let rest = &line[start + 1..];
        rest.find('"').is_some_and(|end| rest[..end].ends_with("__") && end > 4)
    })
}

#[test]
fn neutral_files_get_no_more_rules_of_one_language() {
    for (crate_name, allowed) in ALLOWED {
        let source = crates_folder().join(crate_name).join("src");
        let mut files = Vec::new();
        add_files(&source, &mut files);
        files.retain(|file| !is_of_language(file.strip_prefix(&source).expect("below the source")));
        assert!(files.len() > 20, "only {} neutral files were found", files.len());
        let mut counts = [0; 3];
        for file in &files {
            let text = fs::read_to_string(file).expect("a source file");
            for line in text.lines() {
                counts[0] += usize::from(compares_with_language(line));
                counts[1] += usize::from(calls_code_of_language(line));
                counts[2] += usize::from(has_special_method(line));
            }
        }
        let help = "move the rule into a folder of its language, as ARCHITECTURE.md says (\"A language answers through \
                    one trait\")";
        assert!(
            counts.iter().zip(allowed).all(|(count, most)| *count <= most),
            "{crate_name} has {counts:?} such lines, and {allowed:?} are allowed: {help}"
        );
    }
}

#[test]
fn lines_are_counted_in_code_but_not_in_comments() {
    assert!(compares_with_language("if language == Language::Java {"));
    assert!(!compares_with_language("    // Language::Java"));
    assert!(calls_code_of_language("use crate::lang::rust::names;"));
    assert!(has_special_method("name == \"__enter__\""));
    assert!(!has_special_method("name.starts_with(\"__\")"));
    assert!(is_of_language(Path::new("lifecycle/phase_java.rs")) && is_of_language(Path::new("lang/mod.rs")));
    assert!(!is_of_language(Path::new("search/sinks.rs")));
}
