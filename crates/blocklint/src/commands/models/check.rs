//! `blocklint models check FILE…`: checks model files for mistakes.

use std::fs;

use blocklint_models::{Origin, check_files};
use camino::{Utf8Path, Utf8PathBuf};

use super::print;
use crate::messages::{Failure, error};
use crate::{CLEAN, FOUND};

pub(super) fn check(paths: &[Utf8PathBuf], shipped: bool) -> Result<u8, Failure> {
    let mut files = Vec::new();
    for path in paths {
        collect_toml_files(path, &mut files)?;
    }
    if files.is_empty() {
        return Err(Failure::new("no `*.toml` file is in the folder"));
    }
    let mut sources = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).map_err(|error| Failure::new(format!("{file}: {error}")))?;
        sources.push((file.as_str(), text));
    }
    let origin = if shipped { Origin::Shipped } else { Origin::User };
    let texts = sources.iter().map(|(label, text)| (*label, text.as_str()));
    match check_files(texts, origin) {
        Ok(read) => {
            let rows: usize = read.iter().map(|file| file.row_count()).sum();
            print(&format!(
                "{} {}, {rows} rows, no mistakes\n",
                read.len(),
                if read.len() == 1 { "file" } else { "files" }
            ))?;
            Ok(CLEAN)
        }
        Err(errors) => {
            for message in &errors {
                error(message);
            }
            Ok(FOUND)
        }
    }
}

/// Adds a file, or all `*.toml` files below a folder, to `files`.
fn collect_toml_files(path: &Utf8Path, files: &mut Vec<Utf8PathBuf>) -> Result<(), Failure> {
    if !path.is_dir() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    let entries = path.read_dir_utf8().and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut paths: Vec<Utf8PathBuf> = entries
        .map_err(|error| Failure::new(format!("{path}: {error}")))?
        .iter()
        .map(|entry| entry.path().to_path_buf())
        .collect();
    paths.sort();
    for entry_path in paths {
        // Links to folders are not followed, because they may form a cycle.
        if entry_path.is_dir() && !entry_path.is_symlink() {
            collect_toml_files(&entry_path, files)?;
        } else if entry_path.extension() == Some("toml") {
            files.push(entry_path);
        }
    }
    Ok(())
}
