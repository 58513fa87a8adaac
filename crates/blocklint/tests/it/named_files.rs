//! Files that ARCHITECTURE.md, CONTRIBUTING.md and `docs/*.md` refer to exist, and the types of the glossary are in the
//! files that it lists.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::{files_below, repository};

/// A generated document with names of Java libraries, some of which end with `.rs`.
const GENERATED: &str = "docs/libraries.md";

/// Returns the files of all crates and the folders around them, from the repository's root: `crates/blocklint/src`.
fn crate_paths() -> BTreeSet<String> {
    let files = files_below("crates", "rs");
    let paths = files.iter().flat_map(|path| Path::new(path).ancestors());
    paths.map(|path| path.to_string_lossy().into_owned()).collect()
}

/// Returns the documents with their text.
fn documents() -> Vec<(String, String)> {
    let mut found = vec!["ARCHITECTURE.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    found.extend(files_below("docs", "md"));
    found.retain(|path| path != GENERATED);
    let with_text = |path: String| {
        let text = fs::read_to_string(repository().join(&path)).expect("a document");
        (path, text)
    };
    found.into_iter().map(with_text).collect()
}

/// Returns the paths of sources that a text names outside of its examples, with their lines.
fn named_paths(text: &str) -> Vec<(usize, &str)> {
    let mut is_example = false;
    let mut named = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        if content.trim_start().starts_with("```") {
            is_example = !is_example;
        } else if !is_example {
            let words = content.split(|c: char| !c.is_ascii_alphanumeric() && !"_./<>*-".contains(c));
            let paths = words.map(|word| word.trim_end_matches(['.', '/']).trim_start_matches("../"));
            let sources = paths.filter(|path| path.starts_with("crates/") || path.ends_with(".rs"));
            named.extend(sources.map(|path| (line, path)));
        }
    }
    named
}

/// True if a segment of a path matches; `*` and `<language>` match any text.
fn is_part(named: &str, part: &str) -> bool {
    let Some(start) = named.find(['*', '<']) else { return named == part };
    let end =
        if named[start..].starts_with('*') { start + 1 } else { named.find('>').map_or(named.len(), |at| at + 1) };
    let (before, after) = (&named[..start], &named[end..]);
    part.len() >= before.len() + after.len() && part.starts_with(before) && part.ends_with(after)
}

/// True if a path is equal to a name, or ends with a name that begins below a crate: `linker/query.rs`. Documents
/// of tests write `link/` for the sources of a crate.
fn is_path(named: &str, path: &str) -> bool {
    if let Some(rest) = named.strip_prefix("link/") {
        return is_path(&format!("crates/blocklint_link/src/{rest}"), path);
    }
    let (mut names, mut parts) = (named.rsplit('/'), path.rsplit('/'));
    let ends_alike = names.by_ref().all(|name| parts.next().is_some_and(|part| is_part(name, part)));
    ends_alike && (!named.starts_with("crates/") || parts.next().is_none())
}

#[test]
fn documents_name_files_that_exist() {
    let paths = crate_paths();
    let (mut count, mut missing) = (0, Vec::new());
    for (document, text) in documents() {
        for (line, named) in named_paths(&text) {
            count += 1;
            if !paths.iter().any(|path| is_path(named, path)) {
                missing.push(format!("{document}:{line}: {named}"));
            }
        }
    }
    assert!(count > 100, "only {count} paths were found");
    assert!(missing.is_empty(), "no such file:\n{}", missing.join("\n"));
}

#[test]
fn the_glossary_names_types_that_exist() {
    let paths = crate_paths();
    let text = fs::read_to_string(repository().join("ARCHITECTURE.md")).expect("a document");
    let glossary = text.split("\n## ").find(|section| section.starts_with("Glossary\n")).expect("a glossary");
    let rows: Vec<&str> = glossary.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    assert!(rows.len() >= 13, "only {} words", rows.len());
    for row in rows {
        let cells: Vec<&str> = row.split(" | ").collect();
        let [_, _, types, sources] = cells[..] else { panic!("no four cells: {row}") };
        for (name, source) in types.split(", ").zip(sources.split(", ")) {
            let (name, source) = (name.trim_matches('`'), source.trim_matches([' ', '|', '`']));
            let defined = paths.iter().filter(|path| is_path(source, path)).any(|path| {
                let code = fs::read_to_string(repository().join(path)).expect("a source");
                let forms = ["struct", "enum", "trait", "fn"];
                // A macro generates some enums; in its input the name is alone on a line.
                code.lines().any(|line| line.trim() == format!("{name} {{"))
                    || forms.iter().any(|form| {
                        let definition = format!("{form} {name}");
                        let mut found = code.match_indices(&definition).map(|(at, _)| &code[at + definition.len()..]);
                        found.any(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
                    })
            });
            assert!(defined, "{source} has no {name}");
        }
    }
}

#[test]
fn paths_are_found_and_compared() {
    let text = "See [it](../crates/a/src/b.rs) and `c.rs`.\n```sh\nd.rs\n```\ncrates/*/tests/it/.\n";
    assert_eq!(named_paths(text), [(1, "crates/a/src/b.rs"), (1, "c.rs"), (5, "crates/*/tests/it")]);
    assert!(is_path("b/c.rs", "crates/a/b/c.rs") && !is_path("b/c.rs", "crates/a/bb/c.rs"));
    assert!(is_path("crates/*/tests", "crates/a/tests") && !is_path("crates/tests", "crates/a/crates/tests"));
    assert!(is_path("<rule>.rs", "crates/a/locks.rs") && !is_path("<rule>.rs", "crates/a/locks.md"));
}
