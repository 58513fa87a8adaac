//! Layers of the analysis: a folder imports only from layers below its own.

use std::fs;
use std::path::{Path, PathBuf};

/// The layers, the lowest first, each with its folders and its crate. Cargo checks the order of the crates.
/// Most folders of the linker are one layer, because values, calls, classes and languages call each other in circles.
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

/// The beginnings of paths into these crates; `crate::` is the crate of the file.
const ROOTS: &[&str] = &["crate::", "blocklint_link::", "blocklint_flow::"];

/// Modules of plain word lists, from which every layer may import.
const WORD_LISTS: [&str; 4] = ["conventions", "words", "words_of", "builtins"];

fn layer_of(crate_name: &str, folder: &str) -> Option<usize> {
    LAYERS.iter().position(|(folders, of_layer)| *of_layer == crate_name && folders.contains(&folder))
}

/// Returns the folder of the crates.
pub(crate) fn crates_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of the crates")
}

/// Adds the Rust files below a folder.
pub(crate) fn add_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the crate") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            add_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Returns the line, the crate and the first folder of each path in a text: 1, `blocklint_link` and `linker` for
/// `use blocklint_link::linker::Linker`.
fn paths_in<'t>(crate_name: &'t str, text: &'t str) -> impl Iterator<Item = (usize, &'t str, &'t str)> {
    text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")).flat_map(move |(index, line)| {
        ROOTS.iter().flat_map(move |root| {
            line.split(root).skip(1).filter_map(move |rest| {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(rest.len());
                let path = &rest[..end];
                let target = if *root == "crate::" { crate_name } else { root.trim_end_matches("::") };
                let folder = path.split("::").next().unwrap_or(path);
                let is_import =
                    layer_of(target, folder).is_some() && !path.split("::").any(|part| WORD_LISTS.contains(&part));
                is_import.then_some((index + 1, target, folder))
            })
        })
    })
}

#[test]
fn no_layer_imports_from_a_higher_layer() {
    let crates = crates_folder();
    let mut imports = 0;
    let mut wrong = Vec::new();
    for (own_layer, (folders, crate_name)) in LAYERS.iter().enumerate() {
        let source = crates.join(crate_name).join("src");
        for own in *folders {
            let mut files = Vec::new();
            add_files(&source.join(own), &mut files);
            assert!(!files.is_empty(), "no file of {own}");
            for file in &files {
                let relative = file.strip_prefix(&source).expect("below the source");
                let text = fs::read_to_string(file).expect("a source file");
                for (line, target, folder) in paths_in(crate_name, &text) {
                    imports += 1;
                    if layer_of(target, folder).is_some_and(|layer| layer > own_layer) {
                        wrong.push(format!(
                            "{crate_name}/{}:{line}: `{own}` imports from `{folder}`",
                            relative.display()
                        ));
                    }
                }
            }
        }
    }
    assert!(imports > 500, "the imports were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_folder_belongs_to_a_layer() {
    let crates = crates_folder();
    for crate_name in ["blocklint_link", "blocklint_flow", "blocklint_analysis"] {
        for entry in fs::read_dir(crates.join(crate_name).join("src")).expect("the sources of a crate") {
            let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
            // Files next to `lib.rs` are plain data of the whole crate.
            assert!(
                name.ends_with(".rs") || layer_of(crate_name, &name).is_some(),
                "{crate_name}/src/{name} belongs to no layer"
            );
        }
    }
}

#[test]
fn paths_of_layers_are_found_in_code_but_not_in_comments() {
    let text = "use crate::judge::Judge;\n// crate::search\nuse crate::lang::java::conventions::X;\n\
                let x: blocklint_link::program::Program = crate::other::y;";
    let found: Vec<_> = paths_in("blocklint_flow", text).collect();
    assert_eq!(found, [(1, "blocklint_flow", "judge"), (4, "blocklint_link", "program")]);
}
