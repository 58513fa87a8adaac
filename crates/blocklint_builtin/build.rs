//! Reads and checks every model file of `rules/models` and writes one table per language.
//!
//! An error in a model fails the build with the message that users get for a model file of their own.

#[allow(dead_code, unused_imports, unreachable_pub, missing_docs)]
#[path = "../blocklint_models/src/format/mod.rs"]
mod format;

use std::path::{Path, PathBuf};
use std::{env, error::Error, fs, process};

use blocklint_core::Language;

fn main() {
    if let Err(problem) = run() {
        for line in problem.to_string().lines() {
            println!("cargo::error={line}");
        }
        process::exit(1);
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../rules/models");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../blocklint_models/src/format");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut paths = Vec::new();
    if root.is_dir() {
        collect_model_files(&root, &mut paths)?;
    }
    paths.sort();
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for path in &paths {
        let text = fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()))?;
        let relative = path.strip_prefix(&root)?.to_string_lossy().replace('\\', "/");
        let (file, file_errors) =
            format::read_file(&format!("rules/models/{relative}"), &text, format::Origin::BuiltIn);
        files.extend(file);
        errors.extend(file_errors);
    }
    errors.extend(format::check_layer(&files, format::Origin::BuiltIn, &format::NoDeclarations));
    errors.extend(format::check_kinds(&files));
    errors.sort();
    errors.dedup();
    if !errors.is_empty() {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        return Err(lines.join("\n").into());
    }
    fs::write(out.join("verified.toml"), read_records(&root)?)?;
    for language in Language::ALL {
        let bytes = format::compile(&files, *language)?.to_bytes()?;
        // A table that cannot be read must fail the build and not a user's run.
        format::Layer::from_bytes(Vec::leak(bytes.clone()))?;
        fs::write(out.join(format!("{language}.models")), bytes)?;
    }
    Ok(())
}

/// Adds every model file below a folder to `paths`. Hidden folders (`.expected`) and records of verified models contain
/// no models.
fn collect_model_files(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_dir() && !hidden {
            collect_model_files(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") && !hidden && !is_record(&path) {
            paths.push(path);
        }
    }
    Ok(())
}

/// True if the file is a record of verified models (`VERIFIED*.toml`).
fn is_record(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("VERIFIED"))
}

/// Returns the records of verified models of all languages, as one text.
fn read_records(root: &Path) -> Result<String, Box<dyn Error>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(root)? {
        paths.extend(Some(entry?.path()).filter(|path| is_record(path)));
    }
    paths.sort();
    paths.iter().map(|path| Ok(fs::read_to_string(path)?)).collect()
}
