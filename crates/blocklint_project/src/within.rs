//! Reads files only if they are in a folder even when symbolic links are followed. A repository is untrusted, so its
//! links must not make a run read files elsewhere.

use std::fs;

use camino::Utf8Path;

use blocklint_core::UnreadFile;

use crate::read;

/// The greatest size of a manifest, lock file or list of installed files, in bytes.
const MAX_SIZE: u64 = 32_000_000;

/// True if a path exists and is in a folder, with symbolic links followed.
pub fn lies_within(path: &Utf8Path, folder: &Utf8Path) -> bool {
    match (fs::canonicalize(path), fs::canonicalize(folder)) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => false,
    }
}

/// True if a path is a symbolic link whose target is outside of a folder, or missing.
pub(crate) fn leads_out(path: &Utf8Path, folder: &Utf8Path) -> bool {
    path.is_symlink() && !lies_within(path, folder)
}

/// Returns the text of a file of bounded size that is in a folder, with symbolic links followed.
pub(crate) fn read_text_within(path: &Utf8Path, folder: &Utf8Path) -> Option<String> {
    if !path.is_file() || !lies_within(path, folder) {
        return None;
    }
    read_text(path).ok()
}

/// Returns the text of a file of bounded size.
///
/// # Errors
///
/// The reason why it cannot be read.
pub fn read_text(path: &Utf8Path) -> Result<String, String> {
    let bytes = read(path, MAX_SIZE).map_err(|why| match why {
        UnreadFile::Unreadable(why) => why,
        UnreadFile::TooLarge { size, .. } => format!("{size} bytes are more than the {MAX_SIZE} that are read"),
    })?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_out_of_the_folder_are_not_read() {
        let (inside, outside) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let of = |folder: &tempfile::TempDir| Utf8Path::from_path(folder.path()).expect("UTF-8").to_path_buf();
        let (inside, outside) = (of(&inside), of(&outside));
        fs::write(inside.join("a.toml"), "a").expect("written");
        fs::write(outside.join("a.toml"), "b").expect("written");
        symlink("a.toml", inside.join("near.toml")).expect("linked");
        symlink(outside.join("a.toml"), inside.join("far.toml")).expect("linked");
        symlink(&outside, inside.join("folder")).expect("linked");
        symlink("nowhere", inside.join("dangling.toml")).expect("linked");
        let text = |path: &str| read_text_within(&inside.join(path), &inside);
        assert_eq!((text("a.toml").as_deref(), text("near.toml").as_deref()), (Some("a"), Some("a")));
        for path in ["far.toml", "folder/a.toml", "dangling.toml", "absent.toml", ".", "../a.toml"] {
            assert_eq!(text(path), None, "{path}");
        }
        let out = |path: &str| leads_out(&inside.join(path), &inside);
        assert!(out("far.toml") && out("dangling.toml") && !out("near.toml") && !out("a.toml"));
    }
}
