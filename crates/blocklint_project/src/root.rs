//! The project root: the folder whose files one run analyses.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use crate::configuration::is_marked;

/// The path from the file system's root, without `.` and `..`; links are not followed.
pub fn absolute(current: &Utf8Path, path: &Utf8Path) -> Utf8PathBuf {
    let mut clean = Utf8PathBuf::new();
    for component in current.join(path).components() {
        match component {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

/// The deepest folder that holds all of these.
pub(crate) fn common(folders: &[Utf8PathBuf]) -> Option<Utf8PathBuf> {
    let (first, rest) = folders.split_first()?;
    let holds = |candidate: &&Utf8Path| rest.iter().all(|folder| folder.starts_with(candidate));
    first.ancestors().find(holds).map(Utf8Path::to_path_buf)
}

/// The nearest folder at or above `common` that holds configuration, a `blocklint.toml` (also an empty one) or `.git`, and
/// `true`; `common` itself where there is none.
pub fn project_root(common: &Utf8Path) -> (Utf8PathBuf, bool) {
    let marks = |folder: &&Utf8Path| folder.join(".git").exists() || is_marked(folder);
    match common.ancestors().find(marks) {
        Some(folder) => (folder.to_path_buf(), true),
        None => (common.to_path_buf(), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_absolute_and_plain() {
        let absolute = |path: &str| absolute(Utf8Path::new("/a/b"), Utf8Path::new(path)).into_string();
        assert_eq!(absolute("."), "/a/b");
        assert_eq!(absolute("./c/../d.py"), "/a/b/d.py");
        assert_eq!(absolute("../../../x"), "/x");
        assert_eq!(absolute("/y/./z"), "/y/z");
    }

    #[test]
    fn the_common_folder_is_the_deepest_one() {
        let common = |folders: &[&str]| {
            let folders = folders.iter().map(Utf8PathBuf::from).collect::<Vec<_>>();
            common(&folders).map(Utf8PathBuf::into_string)
        };
        assert_eq!(common(&["/a/b/c", "/a/b/d", "/a/b"]).as_deref(), Some("/a/b"));
        assert_eq!(common(&["/a/bc", "/a/b"]).as_deref(), Some("/a"));
        assert_eq!(common(&[]), None);
    }
}
