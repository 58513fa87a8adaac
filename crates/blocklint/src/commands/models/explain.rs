//! `blocklint models explain NAME`.

use blocklint_core::Language;
use blocklint_models::{LanguageModels, Models, written};

use super::{layer_name, models_here, print};
use crate::CLEAN;
use crate::arguments::ExplainModel;
use crate::messages::Failure;

/// Paths of a library that are shown.
const MOST: usize = 200;

pub(super) fn explain(explain: &ExplainModel) -> Result<u8, Failure> {
    let models = models_here(explain.isolated, &explain.environment)?;
    let languages: Vec<Language> =
        Language::ALL.iter().copied().filter(|of| explain.language.is_none_or(|only| only == *of)).collect();
    let mut text = String::new();
    for &language in &languages {
        text.push_str(&of_path(models.lang(language), &explain.name));
    }
    if text.is_empty() {
        for &language in &languages {
            text.push_str(&of_library(models.lang(language), &explain.name));
        }
    }
    if text.is_empty() {
        return Err(Failure::new(unknown(&models, &languages, &explain.name)));
    }
    print(&text)?;
    Ok(CLEAN)
}

/// Returns every row that speaks of a path, those that decide first.
fn of_path(models: &LanguageModels, name: &str) -> String {
    let language = models.language();
    let path = models.canonical(name);
    let mut text = String::new();
    let mut row = |table: &str, pattern: &str, origin: (&str, u32), layer, keys: Vec<String>| {
        let (file, line) = origin;
        text.push_str(&format!("\n[[{table}]] {pattern}\n  {file}:{line} ({})\n", layer_name(layer)));
        for key in keys {
            text.push_str(&format!("    {key}\n"));
        }
    };
    for found in models.calls(&path).iter().chain(models.properties(&path).iter()).chain(models.marks(&path).iter()) {
        row("call", found.path, found.origin(), found.layer, written::call_row(found.row, language));
    }
    for found in models.ty(&path).iter().flat_map(|rows| rows.iter()) {
        row("type", found.path, found.origin(), found.layer, written::type_row(found.row, language));
    }
    for found in models.handovers(&path).iter() {
        row("handover", found.path, found.origin(), found.layer, written::handover_row(found.row, language));
    }
    let members = members(models, &path);
    if text.is_empty() && members.is_empty() {
        return String::new();
    }
    let alias = if path == name { String::new() } else { format!(", another spelling of `{path}`") };
    let mut head = format!("`{name}` ({language}){alias}\n{text}");
    if !members.is_empty() {
        head.push_str(&format!("\nrows below it: {}\n", members.len()));
        for member in members.iter().take(MOST) {
            head.push_str(&format!("    {member}\n"));
        }
        if members.len() > MOST {
            head.push_str(&format!("    … and {} more\n", members.len() - MOST));
        }
    }
    head
}

/// Paths of rows below a path.
fn members(models: &LanguageModels, path: &str) -> Vec<String> {
    let prefix = format!("{path}{}", blocklint_models::separator(models.language()));
    let mut found: Vec<String> = models
        .layers()
        .flat_map(|(_, layer)| (0..layer.files().len()).flat_map(|file| layer.paths_of_file(file)))
        .filter(|known| known.starts_with(&prefix))
        .map(str::to_owned)
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Returns the record of a library by its name in the registry.
fn of_library(models: &LanguageModels, name: &str) -> String {
    let mut text = String::new();
    for (kind, layer) in models.layers() {
        for (at, info) in layer.files().iter().enumerate() {
            if !info.libraries.iter().any(|library| library.eq_ignore_ascii_case(name)) {
                continue;
            }
            let paths = layer.paths_of_file(at);
            text.push_str(&format!("{name} ({}, {})\n  {}\n", models.language(), layer_name(kind), info.label));
            if let Some(docs) = &info.docs {
                text.push_str(&format!("  {docs}\n"));
            }
            if let Some(range) = &info.version {
                text.push_str(&format!("  versions {range}\n"));
            }
            text.push_str(&format!("  paths: {}\n", paths.len()));
            for path in paths {
                text.push_str(&format!("    {path}\n"));
            }
        }
    }
    text
}

/// That nothing is known, with the nearest library or last name.
fn unknown(models: &Models, languages: &[Language], name: &str) -> String {
    let mut known: Vec<String> = Vec::new();
    for &language in languages {
        let of = models.lang(language);
        let last = blocklint_models::last_name(name, language);
        for (_, layer) in of.layers() {
            known.extend(layer.files().iter().flat_map(|info| info.libraries.iter().cloned()));
            if let Some((index, _)) = layer.name(last) {
                known.extend(layer.named(index).map(|found| found.path.to_owned()));
            }
        }
    }
    match blocklint_models::nearest(name, known.iter().map(String::as_str)) {
        Some(near) => format!("no model speaks of `{name}`; did you mean `{near}`?"),
        None => format!("no model speaks of `{name}`"),
    }
}
