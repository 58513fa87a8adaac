//! `blocklint models list`.

use std::collections::HashMap;

use blocklint_core::Language;
use blocklint_models::{LayerKind, verified};
use serde::Serialize;

use super::{layer_name, models_here, print, table};
use crate::CLEAN;
use crate::arguments::{ListModels, TextFormat};
use crate::messages::Failure;

/// One model file.
#[derive(Serialize)]
struct Listed {
    language: &'static str,
    library: String,
    rows: usize,
    /// The version it was last checked against; empty if it was not.
    verified: String,
    layer: &'static str,
    file: String,
}

pub(super) fn list(list: &ListModels) -> Result<u8, Failure> {
    let models = models_here(list.isolated, &list.environment)?;
    let versions: HashMap<String, String> =
        verified().into_iter().map(|record| (format!("rules/models/{}", record.file), record.version)).collect();
    let mut listed = Vec::new();
    for language in Language::ALL.iter().filter(|language| list.language.is_none_or(|only| only == **language)) {
        for (kind, layer) in models.lang(*language).layers() {
            for (info, rows) in layer.files().iter().zip(layer.rows_by_file()) {
                let known = versions.get(&info.label).filter(|_| kind == LayerKind::BuiltIn);
                listed.push(Listed {
                    language: language.as_str(),
                    library: info.libraries.first().cloned().unwrap_or_default(),
                    rows,
                    verified: known.cloned().unwrap_or_default(),
                    layer: layer_name(kind),
                    file: info.label.clone(),
                });
            }
        }
    }
    listed.sort_by(|a, b| {
        (a.language, a.library.to_lowercase(), &a.file).cmp(&(b.language, b.library.to_lowercase(), &b.file))
    });
    match list.output_format {
        TextFormat::Json => {
            let text = serde_json::to_string_pretty(&listed).map_err(Failure::new)?;
            print(&format!("{text}\n"))?;
        }
        TextFormat::Text => print(&text(&listed))?,
    }
    Ok(CLEAN)
}

fn text(listed: &[Listed]) -> String {
    let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    let rows: Vec<Vec<String>> = listed
        .iter()
        .map(|of| {
            vec![
                of.language.to_owned(),
                or_dash(&of.library),
                of.rows.to_string(),
                or_dash(&of.verified),
                of.layer.to_owned(),
                of.file.clone(),
            ]
        })
        .collect();
    let total: usize = listed.iter().map(|of| of.rows).sum();
    let heads = ["language", "library", "rows", "verified", "layer", "file"];
    format!("{}{} files, {total} rows\n", table(&heads, &rows), listed.len())
}
