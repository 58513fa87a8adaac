//! `blocklint models list`: the model files of all layers, with their rows and verified versions.

use std::collections::HashMap;

use blocklint_core::Language;
use blocklint_models::{LayerKind, verified};
use serde::Serialize;

use super::{layer_name, load_models_here, print, table};
use crate::CLEAN;
use crate::arguments::{ListModels, TextFormat};
use crate::messages::Failure;

/// A model file, as a line of the table or an object of the JSON.
#[derive(Serialize)]
struct ModelFile {
    language: &'static str,
    library: String,
    rows: usize,
    /// The version of the library that the model was last verified against; empty if it was not.
    verified: String,
    layer: &'static str,
    file: String,
}

pub(super) fn list(list: &ListModels) -> Result<u8, Failure> {
    let models = load_models_here(list.isolated, &list.environment)?;
    let versions: HashMap<String, String> =
        verified().into_iter().map(|record| (format!("rules/models/{}", record.file), record.version)).collect();
    let mut model_files = Vec::new();
    for language in Language::ALL.iter().filter(|language| list.language.is_none_or(|only| only == **language)) {
        for (kind, layer) in models.lang(*language).layers() {
            for (info, rows) in layer.files().iter().zip(layer.rows_by_file()) {
                let verified_version = versions.get(&info.label).filter(|_| kind == LayerKind::BuiltIn);
                model_files.push(ModelFile {
                    language: language.as_str(),
                    library: info.libraries.first().cloned().unwrap_or_default(),
                    rows,
                    verified: verified_version.cloned().unwrap_or_default(),
                    layer: layer_name(kind),
                    file: info.label.clone(),
                });
            }
        }
    }
    model_files.sort_by(|a, b| {
        (a.language, a.library.to_lowercase(), &a.file).cmp(&(b.language, b.library.to_lowercase(), &b.file))
    });
    match list.output_format {
        TextFormat::Json => {
            let text = serde_json::to_string_pretty(&model_files).map_err(Failure::new)?;
            print(&format!("{text}\n"))?;
        }
        TextFormat::Text => print(&files_table(&model_files))?,
    }
    Ok(CLEAN)
}

fn files_table(model_files: &[ModelFile]) -> String {
    let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    let rows: Vec<Vec<String>> = model_files
        .iter()
        .map(|file| {
            vec![
                file.language.to_owned(),
                or_dash(&file.library),
                file.rows.to_string(),
                or_dash(&file.verified),
                file.layer.to_owned(),
                file.file.clone(),
            ]
        })
        .collect();
    let total: usize = model_files.iter().map(|file| file.rows).sum();
    let heads = ["language", "library", "rows", "verified", "layer", "file"];
    format!("{}{} files, {total} rows\n", table(&heads, &rows), model_files.len())
}
