//! Writes changed files: whole or not at all.

use std::fs;
use std::io::Write;

use camino::{Utf8Path, Utf8PathBuf};

use super::FixedFile;

/// Writes one file. It is written beside the old one and takes its place at once, with its mode, encoding, byte-order
/// mark and line endings; a link stays one, and the file it leads to is written.
///
/// # Errors
///
/// One line, without the path: what keeps the file from being written, among others that its bytes are no longer those
/// that were read.
pub fn write(file: &FixedFile, root: &Utf8Path) -> Result<(), String> {
    let text = |error: std::io::Error| error.to_string();
    let target = target(&file.path, root)?;
    let bytes = blocklint_python::encode_like(&file.read, &file.after)
        .ok_or("what would be written cannot be said in the file's encoding")?;
    let now = fs::read(&target).map_err(text)?;
    if now != *file.read {
        return Err("it changed while it was looked at; nothing was written".to_owned());
    }
    let permissions = fs::metadata(&target).map_err(text)?.permissions();
    if permissions.readonly() {
        return Err("it is read-only".to_owned());
    }
    let folder = target.parent().ok_or("it has no folder")?;
    let mut beside = tempfile::Builder::new().prefix(".blocklint-").tempfile_in(folder).map_err(text)?;
    beside.write_all(&bytes).map_err(text)?;
    beside.as_file().set_permissions(permissions).map_err(text)?;
    beside.as_file().sync_all().map_err(text)?;
    beside.persist(&target).map_err(|error| error.error.to_string())?;
    Ok(())
}

/// The file that a path leads to. A link that leaves the project is not followed: what lies there belongs to others.
fn target(path: &Utf8Path, root: &Utf8Path) -> Result<Utf8PathBuf, String> {
    let real = path.canonicalize_utf8().map_err(|error| error.to_string())?;
    let is_link = fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_symlink());
    if is_link {
        let root = root.canonicalize_utf8().map_err(|error| error.to_string())?;
        if !real.starts_with(&root) {
            return Err(format!("it is a link that leaves the project, to {real}"));
        }
    }
    Ok(real)
}
