//! The project root: the folder whose files one run analyses.

use std::fs;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

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

/// The nearest folder at or above `common` that holds `[tool.blocklint]` in a pyproject.toml, a
/// `blocklint.toml` or `.git`; `common` itself where there is none.
pub fn project_root(common: &Utf8Path) -> Utf8PathBuf {
    let marks = |folder: &&Utf8Path| {
        folder.join(".git").exists()
            || folder.join("blocklint.toml").is_file()
            || has_table(&folder.join("pyproject.toml"))
    };
    common.ancestors().find(marks).unwrap_or(common).to_path_buf()
}

/// Whether the pyproject.toml has `[tool.blocklint]`. One that does not parse counts where it seems
/// to, so that its error is told and not passed over.
pub(crate) fn has_table(pyproject: &Utf8Path) -> bool {
    let Ok(text) = fs::read_to_string(pyproject) else { return false };
    if !text.contains("blocklint") {
        return false;
    }
    match toml::de::DeTable::parse(&text) {
        Ok(table) => {
            let tool = table.get_ref().get("tool").and_then(|tool| tool.get_ref().as_table());
            tool.is_some_and(|tool| tool.contains_key("blocklint"))
        }
        Err(_) => text.contains("[tool.blocklint"),
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
