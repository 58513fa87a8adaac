//! Reads an annotated directory of `tests/fixtures/projects/` as a project.

use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};

use crate::{Project, ProjectFile, project::Source};

/// Reads the directory `folder` as a project whose name, in messages and tests, is `origin`.
///
/// # Errors
///
/// If a file or folder cannot be read, or its name is not UTF-8.
pub fn read_directory(folder: &Utf8Path, origin: &Utf8Path) -> io::Result<Project> {
    let mut paths = Vec::new();
    collect_files(folder, &mut paths)?;
    paths.sort();
    let mut project = Project { name: origin.to_string(), origin: origin.to_owned(), line: 1, ..Project::default() };
    for path in paths {
        let contents = fs::read(&path)?;
        let relative = path.strip_prefix(folder).map_err(io::Error::other)?.to_owned();
        let source = Source { path: origin.join(&relative), blocks: Vec::new() };
        project.files.push(ProjectFile { path: relative, contents, source });
    }
    Ok(project)
}

fn collect_files(folder: &Utf8Path, paths: &mut Vec<Utf8PathBuf>) -> io::Result<()> {
    for entry in folder.read_dir_utf8()? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            collect_files(entry.path(), paths)?
        } else {
            paths.push(entry.path().to_owned())
        }
    }
    Ok(())
}
