//! `blocklint models check FILE…`.

use std::fs;

use blocklint_models::{Origin, check_files};
use camino::{Utf8Path, Utf8PathBuf};

use super::print;
use crate::messages::{Failure, error};
use crate::{CLEAN, FOUND};

pub(super) fn check(paths: &[Utf8PathBuf], shipped: bool) -> Result<u8, Failure> {
    let mut files = Vec::new();
    for path in paths {
        collect(path, &mut files)?;
    }
    if files.is_empty() {
        return Err(Failure::new("no `*.toml` file is there"));
    }
    let mut sources = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).map_err(|why| Failure::new(format!("{file}: {why}")))?;
        sources.push((file.as_str(), text));
    }
    let origin = if shipped { Origin::Shipped } else { Origin::User };
    let texts = sources.iter().map(|(label, text)| (*label, text.as_str()));
    match check_files(texts, origin) {
        Ok(read) => {
            let rows: usize = read.iter().map(|of| of.row_count()).sum();
            print(&format!(
                "{} {}, {rows} rows, no mistakes\n",
                read.len(),
                if read.len() == 1 { "file" } else { "files" }
            ))?;
            Ok(CLEAN)
        }
        Err(errors) => {
            for line in &errors {
                error(line);
            }
            Ok(FOUND)
        }
    }
}

/// Returns a file, or all `*.toml` below a folder.
fn collect(path: &Utf8Path, files: &mut Vec<Utf8PathBuf>) -> Result<(), Failure> {
    if !path.is_dir() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    let entries = path.read_dir_utf8().and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut paths: Vec<Utf8PathBuf> = entries
        .map_err(|why| Failure::new(format!("{path}: {why}")))?
        .iter()
        .map(|entry| entry.path().to_path_buf())
        .collect();
    paths.sort();
    for below in paths {
        // A link may lead in a circle.
        if below.is_dir() && !below.is_symlink() {
            collect(&below, files)?;
        } else if below.extension() == Some("toml") {
            files.push(below);
        }
    }
    Ok(())
}
