//! Tests of running a project.

use camino::Utf8Path;

use super::*;
use crate::fake::FakeEngine;
use crate::{parse_document, read_directory};

fn parse_first(text: &str) -> Project {
    parse_document(Utf8Path::new("a.md"), text).projects.remove(0)
}

fn run_failing(text: &str) -> String {
    run(&parse_first(text), Some(&FakeEngine), None, &[]).expect_err(text)
}

#[test]
fn projects_with_met_expectations_pass() {
    let text =
        "# T\n```py\nslow()  # error: [blocking-sleep]\n```\n`b.py`:\n```py\nfile()  # warning: [blocking-file]\n```\n";
    assert_eq!(run(&parse_first(text), Some(&FakeEngine), None, &[]), Ok(Vec::new()));
}

#[test]
fn differences_have_their_line_of_the_document() {
    let text = "# T\n\n```py\nx()  # ok\n```\n\nprose\n\n```py\nslow()\n```\n";
    assert_eq!(
        run_failing(text),
        "a.md:10: unexpected finding\n    error: [blocking-sleep] high \"handler → load → m.sleep\"\n    \
         at column 1: message 101\n    | slow()"
    );
}

#[test]
fn a_project_without_an_expectation_fails() {
    assert!(run_failing("# T\n\n```py\nx()\n```\n").starts_with("a.md:1: nothing is expected here"));
    let suppressed = "# T\n```py\nx()  # blocklint: ignore[BLT101] a reason\n```\n";
    assert_eq!(run(&parse_first(suppressed), Some(&FakeEngine), None, &[]), Ok(Vec::new()));
}

#[test]
fn options_reach_the_checker() {
    let text = "# T\n```toml\nmin-severity = \"error\"\n```\n```py\nfile()  # ok\n```\n";
    assert_eq!(run(&parse_first(text), Some(&FakeEngine), None, &[]), Ok(Vec::new()));
}

#[test]
fn fix_blocks_are_compared_with_the_result_of_the_fixes() {
    let text = |pinned: &str| format!("# T\n```py\nx()  # ok\n```\n\n```fix\n{pinned}```\n");
    assert_eq!(run(&parse_first(&text("fixed main.py\n")), Some(&FakeEngine), None, &[]), Ok(Vec::new()));
    let different = run(&parse_first(&text("- x\n")), Some(&FakeEngine), None, &[]).expect("passes");
    assert_eq!(different, [(Pin::Fix, "fixed main.py\n".to_owned())]);
}

#[test]
fn faults_of_fixes_fail_the_project() {
    let text = "# T\n```py\nslow()  # error: [blocking-sleep]\nbreaks()\n```\n";
    assert_eq!(run_failing(text), "a.md:1: main.py would not parse");
}

#[test]
fn errors_of_the_run_do_not_mention_the_temporary_folder() {
    assert_eq!(run_failing("# T\n```py\nrefuse()  # ok\n```\n"), "a.md:1: ./main.py: refused");
}

#[test]
fn output_is_compared_without_the_folder() {
    let text = |pinned: &str| format!("# T\n```py\nslow()  # error: [blocking-sleep]\n```\n```snapshot\n{pinned}```\n");
    assert_eq!(run(&parse_first(&text("main.py:1: message 101\n")), Some(&FakeEngine), None, &[]), Ok(Vec::new()));
    let project = parse_first(&text("old\n"));
    let (pin, rendered) = run(&project, Some(&FakeEngine), None, &[]).expect("passes").pop().expect("differs");
    assert_eq!(rendered, "main.py:1: message 101\n");
    let difference = difference(&project, pin, &rendered);
    assert!(difference.contains("-old\n+main.py:1: message 101\n"), "{difference}");
}

#[test]
fn without_an_engine_only_the_form_is_checked() {
    assert_eq!(run(&parse_first("# T\n```py\nslow()  # ok\n```\n"), None, None, &[]), Ok(Vec::new()));
    assert!(run(&parse_first("# T\n```py\nslow()\n```\n"), None, None, &[]).is_err());
}

#[test]
fn a_directory_is_a_project() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = Utf8Path::from_path(folder.path()).expect("UTF-8");
    std::fs::create_dir(root.join("sub")).expect("made");
    std::fs::write(root.join("main.py"), "slow()  # error: [blocking-sleep]\nslow()\n").expect("written");
    std::fs::write(root.join("sub/raw.py"), b"\xff\xfe\n").expect("written");
    let project = read_directory(root, Utf8Path::new("projects/p")).expect("read");
    assert_eq!(project.files.len(), 2);
    let error = run(&project, Some(&FakeEngine), None, &[]).expect_err("one is not expected");
    assert!(error.starts_with("projects/p/main.py:2: unexpected finding"), "{error}");
}

#[test]
fn a_mismatch_is_followed_by_the_explanation_of_its_line() {
    let text = "# T\n\n```py\n# ok\nslow()  # explain\nslow()\n```\n";
    let message = run_failing(text);
    assert!(message.contains("a.md:4: expected no finding here"), "{message}");
    // The code of the line is explained, not the comment above it, and no temporary folder is named.
    assert!(message.contains("\n    main.py:2 is explained\n"), "{message}");
    assert!(message.contains("\n    main.py:3 is explained\n"), "{message}");
}

#[test]
fn kept_folders_have_the_files_from_before_the_fixes() {
    let kept = std::cell::RefCell::new(Vec::new());
    let keep = |folder: &Utf8Path| kept.borrow_mut().push(folder.to_owned());
    let text = "# T\n```py\nslow()  # error: [blocking-sleep]\n```\n";
    assert_eq!(run(&parse_first(text), Some(&FakeEngine), Some(&keep), &[]), Ok(Vec::new()));
    let [folder] = &kept.take()[..] else { panic!("one folder is kept") };
    let written = std::fs::read_to_string(folder.join("main.py")).expect("kept");
    assert_eq!(written, "slow()  # error: [blocking-sleep]\n");
    std::fs::remove_dir_all(folder).expect("removed");
}
