//! Keeps the table of libraries in the documentation current: `UPDATE=1 cargo test -p blocklint --test libraries`.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use blocklint_core::Language;
use blocklint_models::{Models, Verified, verified};

#[test]
fn the_table_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/libraries.md");
    let current = page();
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &current).expect("the page is written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == current,
        "docs/libraries.md is out of date; run `UPDATE=1 cargo test -p blocklint --test libraries`"
    );
}

fn page() -> String {
    let mut text = String::from(
        "# What is known of which library\n\n\
         Made from `rules/models` and its records by a test; `blocklint models list` prints the same with the files a project\n\
         brings, `blocklint models explain NAME` every row of a name. *Checked* counts the names that were looked up in the\n\
         library's own sources, of the version beside it; *unchecked* those that cannot be (generated at run time, compiled\n\
         without stubs), for which the row says why.\n",
    );
    let records: HashMap<String, Verified> = verified().into_iter().map(|of| (of.file.clone(), of)).collect();
    let models = Models::builtin();
    for language in Language::ALL {
        let mut rows: Vec<(String, String)> = Vec::new();
        let mut total = 0;
        for (_, layer) in models.lang(*language).layers() {
            for (info, count) in layer.files().iter().zip(layer.rows_by_file()) {
                total += count;
                let library = info.libraries.join(", ");
                let record = info.label.strip_prefix("rules/models/").and_then(|file| records.get(file));
                let cells = match record {
                    Some(of) => format!("{} | {} | {}", of.version, of.checked, of.unchecked),
                    None => "– | – | –".to_owned(),
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

fn title(language: Language) -> &'static str {
    match language {
        Language::Python => "Python",
        Language::Rust => "Rust",
        Language::Java => "Java",
    }
}
