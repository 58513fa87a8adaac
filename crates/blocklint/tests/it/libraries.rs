//! Keeps the table of libraries in the documentation current: `UPDATE=1 cargo test --workspace --test it libraries::`.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::pages::assert_current;
use crate::sha256::digest_of_model;
use blocklint_core::Language;
use blocklint_models::{Models, Verified, verified};

#[test]
fn the_table_is_current() {
    assert_current("libraries.md", &page(), "libraries");
}

fn page() -> String {
    let mut text = String::from(
        "# What is known of which library\n\n\
         Made from `rules/models` and its records by a test; `blocklint models list` prints the same with the files a project\n\
         brings, `blocklint models explain NAME` every row of a name. *Checked* counts the names that were looked up in the\n\
         library's own sources, of the version beside it (of Python's standard library in interpreters); *unchecked* those that cannot be (generated at run time, compiled\n\
         without stubs), for which the row says why.\n",
    );
    let records: HashMap<String, Verified> = verified().into_iter().map(|of| (of.file.clone(), of)).collect();
    let standard = standard_library();
    let models = Models::builtin();
    for language in Language::ALL {
        let mut rows: Vec<(String, String)> = Vec::new();
        let mut total = 0;
        for (_, layer) in models.lang(*language).layers() {
            for (info, count) in layer.files().iter().zip(layer.rows_by_file()) {
                total += count;
                let library = info.libraries.join(", ");
                let file = info.label.strip_prefix("rules/models/").unwrap_or(&info.label);
                let of_standard = file.strip_prefix("python/stdlib/");
                let cells = match (records.get(file), of_standard.and_then(|name| standard.names.get(name))) {
                    (Some(of), _) => format!("{} | {} | {}", of.version, of.checked, of.unchecked),
                    (None, Some(checked)) => format!("{} | {checked} | –", standard.versions),
                    (None, None) => "– | – | –".to_owned(),
                };
                let library = match of_standard.and_then(|name| name.strip_suffix(".toml")) {
                    Some(part) => format!("{library}: {part}"),
                    None => library,
                };
                rows.push((library.to_lowercase(), format!("| {library} | {count} | {cells} |")));
            }
        }
        rows.sort();
        let _ = write!(
            text,
            "\n## {}\n\n{} files, {total} rows.\n\n| library | rows | verified version | checked | unchecked |\n\
             | --- | ---: | --- | ---: | ---: |\n",
            title(*language),
            rows.len()
        );
        for (_, row) in rows {
            text.push_str(&row);
            text.push('\n');
        }
    }
    text
}

/// The results of `verify_stdlib.py`.
struct Standard {
    /// The interpreters, from the oldest to the newest.
    versions: String,
    /// The number of checked names by file, without files that changed since.
    names: HashMap<String, String>,
}

fn standard_library() -> Standard {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rules/models");
    let text = fs::read_to_string(models.join(".expected/stdlib.txt")).unwrap_or_default();
    let asked = text.lines().filter_map(|line| line.strip_prefix("Python ")?.split(':').next());
    let asked: Vec<&str> = asked.collect();
    let versions = match (asked.first(), asked.last()) {
        (Some(first), Some(last)) => format!("{first} to {last}"),
        _ => "–".to_owned(),
    };
    let names = text.lines().filter_map(|line| {
        let (file, found) = line.split_once(": ")?;
        let (count, digest) = found.split_once(" paths and aliases, sha256 ")?;
        let content = fs::read_to_string(models.join("python/stdlib").join(file)).ok()?;
        digest_of_model(&content).starts_with(digest).then(|| (file.to_owned(), count.to_owned()))
    });
    Standard { versions, names: names.collect() }
}

fn title(language: Language) -> &'static str {
    match language {
        Language::Python => "Python",
        Language::Rust => "Rust",
        Language::Java => "Java",
    }
}
