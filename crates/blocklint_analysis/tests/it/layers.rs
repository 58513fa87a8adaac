//! The folders of the analysis are layers: each names only those below it.

use std::fs;
use std::path::{Path, PathBuf};

/// The layers from below, each with the crate that it lies in; cargo holds the order of the crates.
const LAYERS: &[(&str, &str)] = &[
    ("code", "blocklint_link"),
    ("idioms", "blocklint_link"),
    ("program", "blocklint_link"),
    ("labels", "blocklint_link"),
    ("link", "blocklint_link"),
    ("entries", "blocklint_flow"),
    ("conditions", "blocklint_flow"),
    ("graph", "blocklint_flow"),
    ("judge", "blocklint_flow"),
    ("search", "blocklint_flow"),
    ("rules", "blocklint_analysis"),
    ("findings", "blocklint_analysis"),
    ("explain", "blocklint_analysis"),
];

/// How paths into these crates begin.
const ROOTS: &[&str] = &["crate::", "blocklint_link::", "blocklint_flow::"];

fn floor(folder: &str) -> Option<usize> {
    LAYERS.iter().position(|(layer, _)| *layer == folder)
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the crate") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The folders that a text names: `link` in `crate::link::Link` and in `blocklint_link::link::Link`.
fn named(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")).flat_map(|(at, line)| {
        ROOTS.iter().flat_map(move |root| {
            line.split(root).skip(1).filter_map(move |rest| {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                floor(&rest[..end]).map(|_| (at + 1, &rest[..end]))
            })
        })
    })
}

#[test]
fn no_layer_names_one_above_it() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of the crates");
    let mut arrows = 0;
    let mut wrong = Vec::new();
    for (own_floor, (own, of)) in LAYERS.iter().enumerate() {
        let source = crates.join(of).join("src");
        let mut all = Vec::new();
        files(&source.join(own), &mut all);
        assert!(!all.is_empty(), "no file of {own}");
        for file in &all {
            let relative = file.strip_prefix(&source).expect("below the source");
            let text = fs::read_to_string(file).expect("a source file");
            for (line, folder) in named(&text) {
                arrows += 1;
                let below = floor(folder).is_some_and(|floor| floor < own_floor);
                if folder != *own && !below {
                    wrong.push(format!("{}:{line}: `{own}` names `{folder}`", relative.display()));
                }
            }
        }
    }
    assert!(arrows > 500, "the arrows were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_folder_is_a_layer() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of the crates");
    for of in ["blocklint_link", "blocklint_flow", "blocklint_analysis"] {
        for entry in fs::read_dir(crates.join(of).join("src")).expect("the sources of a crate") {
            let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
            assert!(name == "lib.rs" || LAYERS.contains(&(name.as_str(), of)), "{of}/src/{name} is no layer");
        }
    }
}

#[test]
fn names_are_found() {
    let found: Vec<_> =
        named("use crate::link::Link;\n// crate::judge\nlet x: blocklint_flow::graph::Way = crate::other::y;")
            .collect();
    assert_eq!(found, [(1, "link"), (3, "graph")]);
}
