//! Writing changed files: each whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::sync::Arc;

use camino::Utf8Path;

use super::Change;

/// A file that was not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritten {
    /// Its path.
    pub path: Arc<Utf8Path>,
    /// Why: a clause that completes "not fixed: …".
    pub reason: String,
}

/// Writes the changes. A file keeps its mode; where its path is a symbolic link, the file it leads to is written if it lies
/// below `root`: what lies elsewhere belongs to others. A file that no longer holds what was read, or that may not be
/// written, is left as it is and told.
pub fn write(changes: &[Change], root: &Utf8Path) -> Vec<Unwritten> {
    let unwritten = changes.iter().filter_map(|change| {
        let reason = write_one(change, root).err()?;
        Some(Unwritten { path: Arc::clone(&change.path), reason })
    });
    unwritten.collect()
}

fn write_one(change: &Change, root: &Utf8Path) -> Result<(), String> {
    let told = |error: io::Error| error.to_string();
    // Replacing a link would cut it; replacing the file behind it does not.
    let target = change.path.canonicalize_utf8().map_err(told)?;
    let is_link = change.path.symlink_metadata().map_err(told)?.file_type().is_symlink();
    if is_link && !target.starts_with(root.canonicalize_utf8().map_err(told)?) {
        return Err(format!("it is a link that leaves the project, to {target}"));
    }
    // A file may be replaced in a folder that may be written, even where the file itself may not.
    let mode = fs::metadata(&target).map_err(told)?.permissions();
    if mode.readonly() {
        return Err("it is read-only".to_owned());
    }
    fs::OpenOptions::new().write(true).open(&target).map_err(told)?;
    let folder = target.parent().ok_or("it lies in no folder")?;
    let mut new = tempfile::Builder::new().prefix(".blocklint-").tempfile_in(folder).map_err(told)?;
    new.write_all(&change.after).map_err(told)?;
    new.as_file().set_permissions(mode).map_err(told)?;
    new.as_file().sync_all().map_err(told)?;
    // As late as can be: what someone saves meanwhile must not be lost.
    if fs::read(&target).map_err(told)? != change.before {
        return Err("the file changed meanwhile".to_owned());
    }
    new.persist(&target).map_err(|error| told(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    fn change(path: Utf8PathBuf) -> Change {
        let text = Arc::from("");
        let (before, after) = (b"old\n".to_vec(), b"new\n".to_vec());
        Change { path: path.into(), before, after, text_before: Arc::clone(&text), text_after: text, mended: 1 }
    }

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).expect("UTF-8");
        (folder, path)
    }

    fn names(folder: &Utf8Path) -> usize {
        fs::read_dir(folder).expect("listed").count()
    }

    #[test]
    fn a_file_that_changed_meanwhile_is_left() {
        let (_kept, folder) = folder();
        let path = folder.join("a.py");
        fs::write(&path, "newer\n").expect("written");
        let unwritten = write(&[change(path.clone())], &folder);
        assert_eq!(unwritten.len(), 1);
        assert_eq!(unwritten[0].reason, "the file changed meanwhile");
        assert_eq!(fs::read(&path).expect("read"), b"newer\n");
        assert_eq!(names(&folder), 1, "nothing is left behind");
        assert_eq!(write(&[change(folder.join("gone.py"))], &folder).len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn mode_and_links_are_kept() {
        use std::os::unix::fs::PermissionsExt;
        let (_kept, folder) = folder();
        let (path, link) = (folder.join("a.py"), folder.join("link.py"));
        fs::write(&path, "old\n").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).expect("set");
        std::os::unix::fs::symlink("a.py", &link).expect("linked");
        assert_eq!(write(&[change(link.clone())], &folder), []);
        assert_eq!(fs::read(&path).expect("read"), b"new\n");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o750);
        assert!(fs::symlink_metadata(&link).expect("there").file_type().is_symlink());
        assert_eq!(names(&folder), 2);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_may_not_be_written_is_left() {
        let (_kept, folder) = folder();
        let path = folder.join("a.py");
        fs::write(&path, "old\n").expect("written");
        let mut mode = fs::metadata(&path).expect("there").permissions();
        mode.set_readonly(true);
        fs::set_permissions(&path, mode).expect("set");
        let unwritten = write(&[change(path.clone())], &folder);
        assert_eq!(unwritten.iter().map(|file| file.reason.as_str()).collect::<Vec<_>>(), ["it is read-only"]);
        assert_eq!(fs::read(&path).expect("read"), b"old\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leaves_the_project_is_not_followed() {
        let ((_kept, folder), (_other, elsewhere)) = (folder(), folder());
        let (link, path) = (folder.join("a.py"), elsewhere.join("a.py"));
        fs::write(&path, "old\n").expect("written");
        std::os::unix::fs::symlink(&path, &link).expect("linked");
        let unwritten = write(&[change(link)], &folder);
        assert!(unwritten[0].reason.starts_with("it is a link that leaves the project"), "{}", unwritten[0].reason);
        assert_eq!(fs::read(&path).expect("read"), b"old\n");
    }
}
