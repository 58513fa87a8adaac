//! Reads an annotated directory as a project.

use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};

use crate::{Project, ProjectFile, project::Source};

/// Reads the directory `folder`; messages and the name of the test call it `origin`.
///
/// # Errors
///
/// A file or folder that cannot be read or whose name is no UTF-8.
pub fn read_directory(folder: &Utf8Path, origin: &Utf8Path) -> io::Result<Project> {
    let mut paths = Vec::new();
    list(folder, &mut paths)?;
    paths.sort();
    let mut project = Project { name: origin.to_string(), origin: origin.to_owned(), line: 1, ..Project::default() };
    for path in paths {
        let contents = fs::read(&path)?;
        let below = path.strip_prefix(folder).map_err(io::Error::other)?.to_owned();
        let source = Source { path: origin.join(&below), blocks: Vec::new() };
        project.files.push(ProjectFile { path: below, contents, source });
    }
    Ok(project)
}

fn list(folder: &Utf8Path, paths: &mut Vec<Utf8PathBuf>) -> io::Result<()> {
    for entry in folder.read_dir_utf8()? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => list(entry.path(), paths)?,
            false => paths.push(entry.path().to_owned()),
        }
    }
    Ok(())
}
