//! Rewrites what a document pins.

use std::fs;
use std::sync::Mutex;

use camino::Utf8Path;

use crate::run::difference;
use crate::{Differing, Project, parse_document};

/// Sections of one document are run side by side; each rewrite reads the lines as the last one left them.
static WRITING: Mutex<()> = Mutex::new(());

/// Handles what differs from what the project pins: writes it into the document at `file` if `rewrite`, else fails with
/// the difference.
///
/// # Errors
///
/// The difference, or what keeps the document from being written.
pub fn update_pinned(project: &Project, differing: &Differing, file: &Utf8Path, rewrite: bool) -> Result<(), String> {
    if !rewrite {
        return Err(difference(project, differing));
    }
    let rendered = differing.text.as_str();
    let _writing = WRITING.lock().map_err(|_| "another rewrite failed".to_owned())?;
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let document = parse_document(&project.origin, &text);
    let pinned = document
        .projects
        .iter()
        .find(|other| other.name == project.name)
        .and_then(|section| section.pinned(differing.block))
        .ok_or_else(|| format!("{file}: the section `{}` is gone", project.name))?;
    if rendered.lines().any(|line| line.starts_with("```")) {
        return Err(format!("{file}:{}: the output holds a fence and cannot be pinned", pinned.line));
    }
    let first = pinned.line as usize - 1;
    let behind = first + pinned.text.lines().count();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (Some(before), Some(after)) = (lines.get(..first), lines.get(behind..)) else {
        return Err(format!("{file}: the section `{}` moved", project.name));
    };
    let text = format!("{}{rendered}{}", before.concat(), after.concat());
    fs::write(file, text).map_err(|error| format!("{file}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Block;

    #[test]
    fn only_the_pinned_block_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = Utf8Path::from_path(folder.path()).expect("UTF-8").join("a.md");
        let text = "# T\n\n## A\n\n```py\n```\n\n```snapshot\n```\n\n## B\n\n```py\n```\n\n```snapshot\nold\nold\n```\n\n```fix\nolder\n```\nend\n";
        fs::write(&file, text).expect("written");
        let document = parse_document(Utf8Path::new("a.md"), text);
        let [a, b] = &document.projects[..] else { panic!("two sections") };
        // Each rewrite moves the lines of what follows.
        for (project, block, new) in
            [(a, Block::Output, "one\ntwo\n"), (b, Block::Output, "three\n"), (b, Block::Fix, "four\nfive\n")]
        {
            let differing = Differing { block, text: new.to_owned() };
            assert!(update_pinned(project, &differing, &file, false).expect_err("differs").contains("UPDATE=1"));
            update_pinned(project, &differing, &file, true).expect("rewritten");
        }
        let expected = text.replace("```snapshot\n```", "```snapshot\none\ntwo\n```").replace("old\nold", "three");
        let expected = expected.replace("older", "four\nfive");
        assert_eq!(fs::read_to_string(&file).expect("read"), expected);
    }
}
