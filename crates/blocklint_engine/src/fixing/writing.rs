//! Writes changed files atomically: each file completely or not at all, and files of one fix all or none.

use std::fs;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use super::Change;

/// A file that was not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritten {
    /// Its path.
    pub path: Arc<Utf8Path>,
    /// The reason, as a clause that completes "not fixed: …".
    pub reason: String,
}

/// Writes changes that belong together. The new text of each file is first written to a temporary file in its folder,
/// then all are moved into place, so that a failed write is known before any file changes. If one cannot be written,
/// none is, and files that were replaced already are restored. A file keeps its mode, and its owner if that may be set.
/// If its path is a symbolic link, the target is written if it lies below `root`, because files elsewhere belong to
/// others. A file that has changed since it was read, or that may not be written, is left as it is and reported.
/// Temporary files of a stopped run in these folders are removed.
pub fn write(changes: &[Change], root: &Utf8Path) -> Vec<Unwritten> {
    let mut reasons: Vec<Option<String>> = vec![None; changes.len()];
    let mut staged = Vec::new();
    for (change, reason) in changes.iter().zip(&mut reasons) {
        match stage(change, root).and_then(|staged| check_unchanged(change, &staged).map(|()| staged)) {
            Ok(staged_file) => staged.push(staged_file),
            Err(why) => *reason = Some(why),
        }
    }
    if reasons.iter().all(Option::is_none) {
        let mut done: Vec<(&Change, Utf8PathBuf)> = Vec::new();
        for ((change, staged_file), reason) in changes.iter().zip(staged).zip(&mut reasons) {
            let target = staged_file.target.clone();
            match replace_file(change, staged_file) {
                Ok(()) => done.push((change, target)),
                Err(why) => {
                    *reason = Some(why);
                    break;
                }
            }
        }
        if reasons.iter().all(Option::is_none) {
            return Vec::new();
        }
        for (change, target) in done {
            restore_file(change, &target, root);
        }
    }
    let failed = changes.iter().zip(&reasons).find(|(_, reason)| reason.is_some());
    let with = failed.map_or(root, |(change, _)| change.path.strip_prefix(root).unwrap_or(&change.path)).to_owned();
    let unwritten = changes.iter().zip(reasons).map(|(change, reason)| {
        let reason = reason.unwrap_or_else(|| format!("it changes together with {with}"));
        Unwritten { path: Arc::clone(&change.path), reason }
    });
    unwritten.collect()
}

/// Restores a file, because another file of its group could not be written.
fn restore_file(change: &Change, target: &Utf8Path, root: &Utf8Path) {
    let back = Change {
        path: Arc::from(target),
        before: change.after.clone(),
        after: change.before.clone(),
        text_before: Arc::clone(&change.text_after),
        text_after: Arc::clone(&change.text_before),
        fixed: 0,
    };
    // If this fails too, nothing more can be done: the disk is full, or the folder is gone.
    let _ = stage(&back, root).and_then(|staged| replace_file(&back, staged));
}

/// The prefix of the names of temporary files; the process id follows.
const PREFIX: &str = ".blocklint-";

/// A temporary file with the new content, in the folder of the file that it will replace.
struct Staged {
    target: Utf8PathBuf,
    new: tempfile::NamedTempFile,
}

fn error_text(error: io::Error) -> String {
    error.to_string()
}

fn stage(change: &Change, root: &Utf8Path) -> Result<Staged, String> {
    // The target of a symbolic link is replaced, and not the link itself.
    let target = change.path.canonicalize_utf8().map_err(error_text)?;
    let is_link = change.path.symlink_metadata().map_err(error_text)?.file_type().is_symlink();
    if is_link && !target.starts_with(root.canonicalize_utf8().map_err(error_text)?) {
        return Err(format!("it is a link that leaves the project, to {target}"));
    }
    // Replacing a file needs only permission for its folder, so permission for the file is checked first.
    let metadata = fs::metadata(&target).map_err(error_text)?;
    if metadata.permissions().readonly() {
        return Err("it is read-only".to_owned());
    }
    fs::OpenOptions::new().write(true).open(&target).map_err(error_text)?;
    let folder = target.parent().ok_or("its path has no folder")?;
    remove_leftover_files(folder);
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let mut new = tempfile::Builder::new().prefix(&prefix).tempfile_in(folder).map_err(error_text)?;
    new.write_all(&change.after).map_err(error_text)?;
    // The owner is set first, because a change of the owner may clear bits of the mode.
    keep_owner(new.as_file(), &metadata)?;
    new.as_file().set_permissions(metadata.permissions()).map_err(error_text)?;
    new.as_file().sync_all().map_err(error_text)?;
    Ok(Staged { target, new })
}

/// Returns an error if a file has changed since it was read.
fn check_unchanged(change: &Change, staged: &Staged) -> Result<(), String> {
    if fs::read(&staged.target).map_err(error_text)? == change.before {
        Ok(())
    } else {
        Err("the file changed meanwhile".to_owned())
    }
}

fn replace_file(change: &Change, staged: Staged) -> Result<(), String> {
    // Checked again as late as possible, so that a change which an editor saves meanwhile is not lost.
    check_unchanged(change, &staged)?;
    staged.new.persist(&staged.target).map_err(|error| error_text(error.error))?;
    Ok(())
}

/// Sets the owner of a new file to that of the file that it replaces, because a run as root must not change owners.
#[cfg(unix)]
fn keep_owner(new: &fs::File, old: &fs::Metadata) -> Result<(), String> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let new_owner = new.metadata().map_err(error_text)?;
    let (user, group) = (old.uid(), old.gid());
    if (new_owner.uid(), new_owner.gid()) == (user, group) {
        return Ok(());
    }
    fchown(new, Some(user), Some(group))
        .map_err(|error| format!("it belongs to another user, and the new file's owner could not be set: {error}"))
}

#[cfg(not(unix))]
fn keep_owner(_new: &fs::File, _old: &fs::Metadata) -> Result<(), String> {
    Ok(())
}

/// Removes temporary files of stopped runs. Files of a running process stay.
fn remove_leftover_files(folder: &Utf8Path) {
    /// If it is unknown that a process has ended, a file of this age is removed.
    const OLD: Duration = Duration::from_secs(60 * 60);
    let Ok(entries) = folder.read_dir_utf8() else { return };
    for entry in entries.flatten() {
        let Some(rest) = entry.file_name().strip_prefix(PREFIX) else { continue };
        let Some(Ok(process)) = rest.split_once('-').map(|(process, _)| process.parse::<u32>()) else { continue };
        let has_proc = Utf8Path::new("/proc/self").exists();
        let runs = if has_proc {
            Utf8PathBuf::from(format!("/proc/{process}")).exists()
        } else {
            let changed = entry.metadata().and_then(|metadata| metadata.modified());
            !changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > OLD))
        };
        if !runs {
            // Another run may have taken it away already.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: Utf8PathBuf) -> Change {
        let text = Arc::from("");
        let (before, after) = (b"old\n".to_vec(), b"new\n".to_vec());
        Change { path: path.into(), before, after, text_before: Arc::clone(&text), text_after: text, fixed: 1 }
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
    fn a_file_that_changed_meanwhile_is_not_written() {
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
    fn files_of_a_group_are_all_written_or_none() {
        let (_kept, folder) = folder();
        let paths = ["a.py", "b.py", "c.py"].map(|name| folder.join(name));
        for path in &paths {
            fs::write(path, "old\n").expect("written");
        }
        fs::write(&paths[1], "newer\n").expect("written");
        let unwritten = write(&paths.clone().map(change), &folder);
        let reasons: Vec<_> = unwritten.iter().map(|file| file.reason.as_str()).collect();
        let together = "it changes together with b.py";
        assert_eq!(reasons, [together, "the file changed meanwhile", together]);
        assert_eq!(fs::read(&paths[0]).expect("read"), b"old\n");
        assert_eq!(fs::read(&paths[2]).expect("read"), b"old\n");
        restore_file(
            &Change { before: b"even older\n".to_vec(), after: b"old\n".to_vec(), ..change(paths[2].clone()) },
            &paths[2],
            &folder,
        );
        assert_eq!(fs::read(&paths[2]).expect("read"), b"even older\n");
        assert_eq!(names(&folder), 3, "nothing is left behind");
    }

    #[test]
    fn temporary_files_of_stopped_runs_are_removed() {
        let (_kept, folder) = folder();
        let path = folder.join("a.py");
        fs::write(&path, "old\n").expect("written");
        // No process has the number 0; this one runs.
        let (left, ours) =
            (folder.join(".blocklint-0-abc"), folder.join(format!(".blocklint-{}-abc", std::process::id())));
        fs::write(&left, "half").expect("written");
        fs::write(&ours, "half").expect("written");
        assert_eq!(write(&[change(path)], &folder), []);
        assert!(!left.exists() || cfg!(not(target_os = "linux")));
        assert!(ours.exists());
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
    fn a_read_only_file_is_not_written() {
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
