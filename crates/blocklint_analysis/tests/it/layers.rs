//! The folders of the analysis: those that are layers name only layers below them.

use std::fs;
use std::path::{Path, PathBuf};

/// The layers from below, each with the folders that it consists of and the crate that holds it. Cargo holds the order of the crates.
///
/// Most folders of the linker are subjects of one component: values, calls, classes and languages ask each other in circles.
const LAYERS: &[(&[&str], &str)] = &[
    (&["syntax"], "blocklint_link"),
    (&["program"], "blocklint_link"),
    (&["effect"], "blocklint_link"),
    (
        &["linker", "values", "classes", "calls", "guards", "models", "imports", "reactive", "lang", "display"],
        "blocklint_link",
    ),
    (&["callers"], "blocklint_flow"),
    (&["entries"], "blocklint_flow"),
    (&["lifecycle"], "blocklint_flow"),
    (&["guards"], "blocklint_flow"),
    (&["graph"], "blocklint_flow"),
    (&["judge"], "blocklint_flow"),
    (&["search"], "blocklint_flow"),
    (&["rules"], "blocklint_analysis"),
    (&["findings"], "blocklint_analysis"),
    (&["explain"], "blocklint_analysis"),
];

/// How paths into these crates begin; `crate::` means the crate of the file.
const ROOTS: &[&str] = &["crate::", "blocklint_link::", "blocklint_flow::"];

/// Modules of plain word lists, which every layer may name.
const WORD_LISTS: [&str; 4] = ["conventions", "words", "words_of", "builtins"];

fn layer_of(of: &str, folder: &str) -> Option<usize> {
    LAYERS.iter().position(|(folders, of_layer)| *of_layer == of && folders.contains(&folder))
}

/// Returns the folder of the crates.
pub(crate) fn crates() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of the crates")
}

/// Adds the Rust files below a folder.
pub(crate) fn add_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the crate") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            add_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns the line, the crate and the first folder of each path that a text names: 1, `blocklint_link` and `linker` of
/// `use blocklint_link::linker::Linker`.
fn paths<'t>(of: &'t str, text: &'t str) -> impl Iterator<Item = (usize, &'t str, &'t str)> {
    text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")).flat_map(move |(at, line)| {
        ROOTS.iter().flat_map(move |root| {
            line.split(root).skip(1).filter_map(move |rest| {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(rest.len());
                let path = &rest[..end];
                let named = if *root == "crate::" { of } else { root.trim_end_matches("::") };
                let folder = path.split("::").next().unwrap_or(path);
                let counts =
                    layer_of(named, folder).is_some() && !path.split("::").any(|part| WORD_LISTS.contains(&part));
                counts.then_some((at + 1, named, folder))
            })
        })
    })
}

#[test]
fn no_layer_names_one_above_it() {
    let crates = crates();
    let mut arrows = 0;
    let mut wrong = Vec::new();
    for (own_layer, (folders, of)) in LAYERS.iter().enumerate() {
        let source = crates.join(of).join("src");
        for own in *folders {
            let mut all = Vec::new();
            add_files(&source.join(own), &mut all);
            assert!(!all.is_empty(), "no file of {own}");
            for file in &all {
                let relative = file.strip_prefix(&source).expect("below the source");
                let text = fs::read_to_string(file).expect("a source file");
                for (line, named, folder) in paths(of, &text) {
                    arrows += 1;
                    if layer_of(named, folder).is_some_and(|layer| layer > own_layer) {
                        wrong.push(format!("{of}/{}:{line}: `{own}` names `{folder}`", relative.display()));
                    }
                }
            }
        }
    }
    assert!(arrows > 500, "the arrows were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_folder_belongs_to_a_layer() {
    let crates = crates();
    for of in ["blocklint_link", "blocklint_flow", "blocklint_analysis"] {
        for entry in fs::read_dir(crates.join(of).join("src")).expect("the sources of a crate") {
            let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
            // Files beside `lib.rs` are plain data of the whole crate.
            assert!(name.ends_with(".rs") || layer_of(of, &name).is_some(), "{of}/src/{name} belongs to no layer");
        }
    }
}

#[test]
fn names_are_found() {
    let text = "use crate::judge::Judge;\n// crate::search\nuse crate::lang::java::conventions::X;\n\
                let x: blocklint_link::program::Program = crate::other::y;";
    let found: Vec<_> = paths("blocklint_flow", text).collect();
    assert_eq!(found, [(1, "blocklint_flow", "judge"), (4, "blocklint_link", "program")]);
}
