//! Source files and the documents that specify them (`Specifies:`): each document lists its files, and each file of the
//! linker, the flow and the rules is in the list of a document.

use std::collections::BTreeMap;
use std::fs;

use blocklint_test::parse_document;
use camino::{Utf8Path, Utf8PathBuf};

/// The folders whose files need a document, as documents write them.
const SPECIFIED_FOLDERS: [&str; 5] = ["link/", "flow/", "mending/", "rules/", "analysis/rules/"];

/// Files and folders that no document can specify, each with the reason. A folder ends with `/`; an entry that begins
/// with `/` is a file name in any folder.
const UNSPECIFIED: [(&str, &str); 5] = [
    ("/tables.rs", "declarations of tables, without code"),
    (
        "link/linker/",
        "the tables that all answers come from; crates/blocklint/tests/it/{edited,recursion}.rs hold them",
    ),
    (
        "mending/rewriting/",
        "answers of `blocklint ask`, no findings; crates/blocklint/tests/it/ask.rs and docs/ask.md hold them",
    ),
    ("link/program/ids.rs", "numbers of bodies and classes"),
    ("rules/rule.rs", "the type of a row in the list of rules"),
];

fn repository() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the files below `folder` with an extension, by path.
fn files_below(folder: &Utf8Path, extension: &str) -> Vec<Utf8PathBuf> {
    let mut folders = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir_utf8().unwrap_or_else(|error| panic!("{folder}: {error}")) {
            let path = entry.expect("an entry").into_path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension() == Some(extension) => files.push(path),
                false => {}
            }
        }
    }
    files.sort();
    files
}

/// Returns the path, from the repository's root, of a file in the list of a document.
fn full_path(named: &str) -> String {
    let (first, rest) = named.split_once('/').unwrap_or((named, ""));
    match repository().join(format!("crates/blocklint_{first}/src")).is_dir() && rest.ends_with(".rs") {
        true => format!("crates/blocklint_{first}/src/{rest}"),
        false => named.to_owned(),
    }
}

/// True if a file has only declarations and re-exports of modules.
fn is_list_of_modules(text: &str) -> bool {
    let code = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    let starts = ["mod ", "pub mod ", "pub(crate) mod ", "pub(super) mod ", "use ", "pub use ", "pub(crate) use ", "#"];
    let code: Vec<&str> = code.collect();
    // The lines of a `use` over several lines have only names and braces.
    let continues = |line: &str| line.chars().all(|sign| sign.is_alphanumeric() || "_:, {};*".contains(sign));
    code.iter().all(|line| starts.iter().any(|start| line.starts_with(start)) || continues(line))
}

/// Returns the documents of the fixtures: the path from the repository's root, and the listed files with their lines.
fn documents() -> Vec<(String, Vec<(String, u32)>)> {
    let root = repository();
    let paths = files_below(&root.join("tests/fixtures"), "md");
    let documents =
        paths.into_iter().filter(|path| !path.as_str().contains("/projects/") && !path.ends_with("README.md"));
    let read = |path: Utf8PathBuf| {
        let name = path.strip_prefix(&root).expect("below the root").to_string();
        let text = fs::read_to_string(&path).expect("a document");
        let named = parse_document(&path, &text).specifies.into_iter().map(|file| (file.path, file.line));
        (name, named.collect())
    };
    documents.map(read).collect()
}

/// Returns the files that need a document, as documents write them.
fn files_to_specify() -> Vec<String> {
    let mut files = Vec::new();
    for folder in SPECIFIED_FOLDERS {
        let (name, below) = folder.split_once('/').expect("a crate and a folder");
        let source = repository().join(format!("crates/blocklint_{name}/src"));
        for path in files_below(&source.join(below), "rs") {
            if !is_list_of_modules(&fs::read_to_string(&path).expect("a source file")) {
                files.push(format!("{name}/{}", path.strip_prefix(&source).expect("below the source")));
            }
        }
    }
    files
}

/// True if `path`, an entry of [`UNSPECIFIED`], matches a file.
fn excuses(path: &str, file: &str) -> bool {
    file == path || (path.ends_with('/') && file.starts_with(path)) || (path.starts_with('/') && file.ends_with(path))
}

fn is_excused(file: &str) -> bool {
    UNSPECIFIED.iter().any(|(path, _)| excuses(path, file))
}

#[test]
fn each_document_names_files_that_exist() {
    let mut wrong = Vec::new();
    for (document, named) in documents() {
        if named.is_empty() {
            wrong.push(format!(
                "{document}: add a paragraph below the title: Specifies: `link/…`, the files that its sections test"
            ));
        }
        for (path, line) in named {
            let full = full_path(&path);
            let there = repository().join(&full);
            if !(there.is_file() || (full.ends_with('/') && there.is_dir())) {
                wrong.push(format!("{document}:{line}: {full} does not exist: name the file that its code moved to"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn each_source_file_is_named_by_a_document() {
    let mut documents_of: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (document, named) in documents() {
        for (path, _) in named {
            documents_of.entry(full_path(&path)).or_default().push(document.clone());
        }
    }
    let files = files_to_specify();
    assert!(files.len() > 150, "only {} files were found", files.len());
    let unnamed = files.iter().filter(|file| !is_excused(file) && !documents_of.contains_key(&full_path(file)));
    let wrong: Vec<String> = unnamed
        .map(|file| {
            let full = full_path(file);
            format!("{full} is specified by no document: add `{file}` to the paragraph `Specifies:` of the one in tests/fixtures that tests it")
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn excuses_are_needed() {
    let files = files_to_specify();
    for (path, _) in UNSPECIFIED {
        assert!(files.iter().any(|file| excuses(path, file)), "{path} needs no excuse");
    }
}

#[test]
fn lists_of_modules_are_told_from_code() {
    assert!(is_list_of_modules("//! Doc.\n\npub mod a;\nmod b;\n\npub use a::{\n    One, Two,\n};\n"));
    assert!(!is_list_of_modules("mod a;\n\nfn run() {}\n"));
    assert!(!is_list_of_modules("pub struct A(u32);\n"));
}
