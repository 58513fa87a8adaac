//! Each signal has a fixture section that lists it in `signals`, and so fails without it.

use std::collections::BTreeSet;
use std::fs;

use blocklint_engine::SIGNALS;
use blocklint_test::parse_document;
use camino::{Utf8Path, Utf8PathBuf};

#[test]
fn every_signal_has_a_section() {
    let fixtures = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let mut folders = vec![fixtures];
    let mut documents: Vec<Utf8PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir_utf8().expect("a folder of fixtures") {
            let path = entry.expect("an entry").into_path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension() == Some("md") {
                documents.push(path);
            }
        }
    }
    let mut held: BTreeSet<String> = BTreeSet::new();
    for path in &documents {
        let text = fs::read_to_string(path).expect("a document");
        held.extend(parse_document(path, &text).projects.into_iter().flat_map(|project| project.options.signals));
    }
    let without: Vec<&str> = SIGNALS.iter().map(|signal| signal.name).filter(|name| !held.contains(*name)).collect();
    assert!(without.is_empty(), "no section says `signals = [...]` of: {}", without.join(", "));
    let unknown: Vec<&String> =
        held.iter().filter(|name| !SIGNALS.iter().any(|signal| signal.name == **name)).collect();
    assert!(unknown.is_empty(), "sections speak of what is no signal: {unknown:?}");
}
