//! The folders of the analysis are layers: each names only those below it.

use std::fs;
use std::path::{Path, PathBuf};

/// The layers from below; those beside each other do not name each other either.
const LAYERS: &[&[&str]] = &[
    &["code"],
    &["idioms"],
    &["program"],
    &["labels"],
    &["link"],
    &["entries"],
    &["conditions"],
    &["graph"],
    &["judge"],
    &["search"],
    &["rules"],
    &["findings"],
    &["explain"],
];

fn floor(folder: &str) -> Option<usize> {
    LAYERS.iter().position(|floor| floor.contains(&folder))
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

/// The folders that a text names: `link` in `crate::link::Link`.
fn named(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")).flat_map(|(at, line)| {
        line.split("crate::").skip(1).filter_map(move |rest| {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            floor(&rest[..end]).map(|_| (at + 1, &rest[..end]))
        })
    })
}

#[test]
fn no_layer_names_one_above_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&source, &mut all);
    let mut arrows = 0;
    let mut wrong = Vec::new();
    for file in &all {
        let relative = file.strip_prefix(&source).expect("below the source");
        let own = relative.components().next().and_then(|part| part.as_os_str().to_str()).expect("a name");
        let Some(own_floor) = floor(own) else {
            assert_eq!(own, "lib.rs", "a folder that is no layer");
            continue;
        };
        let text = fs::read_to_string(file).expect("a source file");
        for (line, folder) in named(&text) {
            arrows += 1;
            let below = floor(folder).is_some_and(|floor| floor < own_floor);
            if folder != own && !below {
                wrong.push(format!("{}:{line}: `{own}` names `{folder}`", relative.display()));
            }
        }
    }
    assert!(arrows > 500, "the arrows were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_are_found() {
    let found: Vec<_> =
        named("use crate::link::Link;\n// crate::judge\nlet x: crate::graph::Way = crate::other::y;").collect();
    assert_eq!(found, [(1, "link"), (3, "graph")]);
}
