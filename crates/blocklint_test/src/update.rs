//! Rewrites the pinned output (`snapshot` and `fix` blocks) of a document.

use std::fs;
use std::sync::Mutex;

use camino::Utf8Path;

use crate::run::difference;
use crate::{Pin, Project, parse_document};

/// A lock for rewrites, because sections of one document run in parallel and each rewrite moves lines.
static WRITING: Mutex<()> = Mutex::new(());

/// Writes output that differs from the pinned output into the document at `file` if `rewrite`; else fails with the
/// diff.
///
/// # Errors
///
/// The diff if `rewrite` is false; else if the document cannot be written or has changed.
pub fn update_pinned(
    project: &Project,
    pin: Pin,
    rendered: &str,
    file: &Utf8Path,
    rewrite: bool,
) -> Result<(), String> {
    if !rewrite {
        return Err(difference(project, pin, rendered));
    }
    let _writing = WRITING.lock().map_err(|_| "another rewrite failed".to_owned())?;
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let document = parse_document(&project.origin, &text);
    let snapshot = document
        .projects
        .iter()
        .find(|candidate| candidate.name == project.name)
        .and_then(|section| section.pinned(pin))
        .ok_or_else(|| format!("{file}: the section `{}` is gone", project.name))?;
    if rendered.lines().any(|line| line.starts_with("```")) {
        return Err(format!("{file}:{}: the output holds a fence and cannot be pinned", snapshot.line));
    }
    let first = snapshot.line as usize - 1;
    let end = first + snapshot.text.lines().count();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (Some(before), Some(after)) = (lines.get(..first), lines.get(end..)) else {
        return Err(format!("{file}: the section `{}` moved", project.name));
    };
    let text = format!("{}{rendered}{}", before.concat(), after.concat());
    fs::write(file, text).map_err(|error| format!("{file}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_pinned_block_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = Utf8Path::from_path(folder.path()).expect("UTF-8").join("a.md");
        let text =
            "# T\n\n## A\n\n```py\n```\n\n```snapshot\n```\n\n## B\n\n```py\n```\n\n```snapshot\nold\nold\n```\nend\n";
        fs::write(&file, text).expect("written");
        let document = parse_document(Utf8Path::new("a.md"), text);
        // The first rewrite moves the lines of the second section.
        for (project, new) in document.projects.iter().zip(["one\ntwo\n", "three\n"]) {
            assert!(
                update_pinned(project, Pin::Snapshot, new, &file, false).expect_err("differs").contains("UPDATE=1")
            );
            update_pinned(project, Pin::Snapshot, new, &file, true).expect("rewritten");
        }
        let expected = text.replace("```snapshot\n```", "```snapshot\none\ntwo\n```").replace("old\nold", "three");
        assert_eq!(fs::read_to_string(&file).expect("read"), expected);
    }
}
