//! Finds the project root: the folder whose files a run analyses.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use crate::configuration::is_project_folder;

/// Returns an absolute path without `.` and `..`. Symbolic links are not followed.
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

/// Returns the deepest folder that contains all of these folders.
pub(crate) fn common_ancestor(folders: &[Utf8PathBuf]) -> Option<Utf8PathBuf> {
    let (first, rest) = folders.split_first()?;
    let contains_all = |candidate: &&Utf8Path| rest.iter().all(|folder| folder.starts_with(candidate));
    first.ancestors().find(contains_all).map(Utf8Path::to_path_buf)
}

/// Returns the project root of a folder, and true if the root is marked.
///
/// A folder is marked if it has configuration, a `blocklint.toml` (even an empty one), or `.git`. The root is the
/// nearest marked folder at or above `common`. If there is none, it is the outermost folder with members
/// (`[workspace]`, `<modules>`, `settings.gradle`), else the nearest Rust crate or Java module, else `common` itself.
pub fn project_root(common: &Utf8Path) -> (Utf8PathBuf, bool) {
    let marks = |folder: &&Utf8Path| folder.join(".git").exists() || is_project_folder(folder);
    match common.ancestors().find(marks) {
        Some(folder) => (folder.to_path_buf(), true),
        None => {
            let with_members = common.ancestors().filter(|folder| has_members(folder)).last();
            let nearest = || common.ancestors().find(|folder| MANIFESTS.iter().any(|name| folder.join(name).is_file()));
            (with_members.or_else(nearest).unwrap_or(common).to_path_buf(), false)
        }
    }
}

/// Returns the nearest project of its own at or above `folder` and below the project root `above`. It has
/// configuration, or, if `above` is not marked, it is a git repository. A run on this folder has it as project root; a
/// run on `above` has not.
pub fn project_within(folder: &Utf8Path, above: &Utf8Path, is_above_marked: bool) -> Option<Utf8PathBuf> {
    let is_own = |folder_above: &&Utf8Path| {
        is_project_folder(folder_above) || !is_above_marked && folder_above.join(".git").exists()
    };
    let mut below =
        folder.ancestors().take_while(|folder_above| *folder_above != above && folder_above.starts_with(above));
    below.find(is_own).map(Utf8Path::to_path_buf)
}

/// Manifests of Rust crates and Java modules.
const MANIFESTS: &[&str] = &["Cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts"];

/// True if a folder has a workspace or build with members below it.
fn has_members(folder: &Utf8Path) -> bool {
    let has_line = |name: &str, word: &str| {
        std::fs::read_to_string(folder.join(name))
            .is_ok_and(|text| text.lines().any(|line| line.trim_start().starts_with(word)))
    };
    has_line("Cargo.toml", "[workspace")
        || has_line("pom.xml", "<modules>")
        || ["settings.gradle", "settings.gradle.kts"].iter().any(|name| folder.join(name).is_file())
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
    fn without_a_mark_the_workspace_is_the_project() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Utf8PathBuf::from_path_buf(folder.path().canonicalize().expect("it exists")).expect("UTF-8");
        let inner = root.join("crates/app/src");
        std::fs::create_dir_all(&inner).expect("made");
        std::fs::write(root.join("crates/app/Cargo.toml"), "[package]\nname = \"app\"\n").expect("written");
        assert_eq!(project_root(&inner), (root.join("crates/app"), false));
        std::fs::write(root.join("Cargo.toml"), "[workspace]\nmembers = [\"crates/*\"]\n").expect("written");
        assert_eq!(project_root(&inner), (root.clone(), false));
        std::fs::create_dir(root.join("crates/app/.git")).expect("made");
        assert_eq!(project_root(&inner), (root.join("crates/app"), true));
    }

    #[test]
    fn the_common_folder_is_the_deepest_one() {
        let common = |folders: &[&str]| {
            let folders = folders.iter().map(Utf8PathBuf::from).collect::<Vec<_>>();
            common_ancestor(&folders).map(Utf8PathBuf::into_string)
        };
        assert_eq!(common(&["/a/b/c", "/a/b/d", "/a/b"]).as_deref(), Some("/a/b"));
        assert_eq!(common(&["/a/bc", "/a/b"]).as_deref(), Some("/a"));
        assert_eq!(common(&[]), None);
    }
}
