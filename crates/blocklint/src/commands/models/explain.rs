//! `blocklint models explain NAME`: the model rows for a path, or the record of a library.

use blocklint_core::Language;
use blocklint_models::{LanguageModels, Models, written};

use super::{layer_name, load_models_here, print};
use crate::CLEAN;
use crate::arguments::ExplainModel;
use crate::messages::Failure;

/// The number of paths below a path that are listed.
const MAX_MEMBERS: usize = 200;

pub(super) fn explain(explain: &ExplainModel) -> Result<u8, Failure> {
    let models = load_models_here(explain.isolated, &explain.environment)?;
    let languages: Vec<Language> = Language::ALL
        .iter()
        .copied()
        .filter(|language| explain.language.is_none_or(|only| only == *language))
        .collect();
    let mut text = String::new();
    for &language in &languages {
        text.push_str(&describe_path(models.lang(language), &explain.name));
    }
    if text.is_empty() {
        for &language in &languages {
            text.push_str(&describe_library(models.lang(language), &explain.name));
        }
    }
    if text.is_empty() {
        return Err(Failure::new(describe_unknown_name(&models, &languages, &explain.name)));
    }
    print(&text)?;
    Ok(CLEAN)
}

/// Returns the rows for a path, in the order of precedence.
fn describe_path(models: &LanguageModels, name: &str) -> String {
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
    for matched in models.calls(&path).iter().chain(models.properties(&path).iter()).chain(models.marks(&path).iter()) {
        row("call", matched.path, matched.origin(), matched.layer, written::call_row(matched.row, language));
    }
    for matched in models.ty(&path).iter().flat_map(|rows| rows.iter()) {
        row("type", matched.path, matched.origin(), matched.layer, written::type_row(matched.row, language));
    }
    for matched in models.handovers(&path).iter() {
        row("handover", matched.path, matched.origin(), matched.layer, written::handover_row(matched.row, language));
    }
    let paths_below = paths_below(models, &path);
    if text.is_empty() && paths_below.is_empty() {
        return String::new();
    }
    let alias = if path == name { String::new() } else { format!(", another spelling of `{path}`") };
    let mut head = format!("`{name}` ({language}){alias}\n{text}");
    if !paths_below.is_empty() {
        head.push_str(&format!("\nrows below it: {}\n", paths_below.len()));
        for member in paths_below.iter().take(MAX_MEMBERS) {
            head.push_str(&format!("    {member}\n"));
        }
        if paths_below.len() > MAX_MEMBERS {
            head.push_str(&format!("    … and {} more\n", paths_below.len() - MAX_MEMBERS));
        }
    }
    head
}

/// Returns the paths of rows below a path, as `requests.Session.get` below `requests.Session`.
fn paths_below(models: &LanguageModels, path: &str) -> Vec<String> {
    let prefix = format!("{path}{}", blocklint_models::separator(models.language()));
    let mut paths: Vec<String> = models
        .layers()
        .flat_map(|(_, layer)| (0..layer.files().len()).flat_map(|file| layer.paths_of_file(file)))
        .filter(|known| known.starts_with(&prefix))
        .map(str::to_owned)
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Returns the model files of a library, by its name in the package registry, with the paths of their rows.
fn describe_library(models: &LanguageModels, name: &str) -> String {
    let mut text = String::new();
    for (kind, layer) in models.layers() {
        for (index, info) in layer.files().iter().enumerate() {
            if !info.libraries.iter().any(|library| library.eq_ignore_ascii_case(name)) {
                continue;
            }
            let paths = layer.paths_of_file(index);
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

/// Returns the error message for a name without rows, with a similar library or path as suggestion.
fn describe_unknown_name(models: &Models, languages: &[Language], name: &str) -> String {
    let mut known: Vec<String> = Vec::new();
    for &language in languages {
        let models_of_language = models.lang(language);
        let last = blocklint_models::last_name(name, language);
        for (_, layer) in models_of_language.layers() {
            known.extend(layer.files().iter().flat_map(|info| info.libraries.iter().cloned()));
            if let Some((index, _)) = layer.name(last) {
                known.extend(layer.patterns_of_name(index).map(|pattern| pattern.path.to_owned()));
            }
        }
    }
    match blocklint_models::nearest(name, known.iter().map(String::as_str)) {
        Some(similar) => format!("no model describes `{name}`; did you mean `{similar}`?"),
        None => format!("no model describes `{name}`"),
    }
}
