//! Tests of the rounds of fixing and their verification, with fixes that replace one text by another.

use std::fs;

use blocklint_core::{Edit, Fix, Place, Span};
use blocklint_project::{Request, discover};
use camino::Utf8PathBuf;

use super::make::TextOf;
use super::*;
use crate::{RuleArguments, load_models};

struct Folder {
    _kept: tempfile::TempDir,
    path: Utf8PathBuf,
}

impl Folder {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let kept = tempfile::Builder::new().prefix("blocklint-").tempdir().expect("a folder");
        let path = fs::canonicalize(kept.path()).expect("there");
        let path = Utf8PathBuf::from_path_buf(path).expect("UTF-8");
        fs::write(path.join("blocklint.toml"), "").expect("written");
        for (name, bytes) in files {
            fs::write(path.join(name), bytes).expect("written");
        }
        Folder { _kept: kept, path }
    }

    /// Applies the fixes of `make` in memory.
    fn fix(&self, allowed: Applicability, make: &Make<'_>) -> FixResult {
        let request = Request { current: &self.path, paths: std::slice::from_ref(&self.path), isolated: false };
        let project = discover(request).expect("a project");
        let models = load_models(&project, &self.path).expect("models");
        let rules = Rules::new(&project.configuration, RuleArguments::default(), &self.path).expect("rules");
        let levels =
            Levels { severity: blocklint_core::Severity::Note, confidence: blocklint_core::Confidence::Medium };
        fix_with(
            FixRequest {
                project: &project,
                models: &models,
                rules: &rules,
                levels,
                include_aside: true,
                allowed,
                containment: Default::default(),
            },
            make,
        )
        .expect("threads")
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path.join(name)).expect("read")
    }
}

/// Attaches a fix to each finding whose line contains `old`: it is replaced by `new`, and an import is added.
fn swap(
    old: &'static str,
    new: &'static str,
    import: Option<&'static str>,
    applicability: Applicability,
) -> impl Fn(&Remedies, &mut [Finding], &TextOf<'_>) + Sync {
    move |_, findings, text_of| {
        for finding in findings {
            let text = text_of(&finding.place.path).expect("a text");
            let at = finding.place.span.start as usize;
            if !text[at..].starts_with(old) || finding.fix.is_some() {
                continue;
            }
            let edit = |start: usize, end: usize, content: &str| Edit {
                place: Place::unlocated(Arc::clone(&finding.place.path), Span::new(start as u32, end as u32)),
                content: content.to_owned(),
            };
            let mut edits = vec![edit(at, at + old.len(), new)];
            if let Some(import) = import.filter(|import| !text.contains(import.trim())) {
                let top = if text.starts_with('#') { text.find('\n').map_or(0, |end| end + 1) } else { 0 };
                edits.insert(0, edit(top, top, import));
            }
            finding.fix = Some(Fix { title: "Swap".to_owned(), applicability, edits });
        }
    }
}

const SLEEPS: &str = "import time\n\n\nasync def a():\n    time.sleep(1)\n    time.sleep(2)  # two\n\n\nasync def b():\n    time.sleep(3)\n";

const TO_AWAIT: (&str, &str) = ("time.sleep(", "await asyncio.sleep(");

fn to_await() -> impl Fn(&Remedies, &mut [Finding], &TextOf<'_>) + Sync {
    swap(TO_AWAIT.0, TO_AWAIT.1, Some("import asyncio\n"), Applicability::Safe)
}

fn after(fixed: &FixResult, index: usize) -> &str {
    &fixed.changes[index].text_after
}

#[test]
fn all_fixes_of_a_file_share_one_import_and_a_second_run_changes_nothing() {
    let folder = Folder::new(&[("a.py", SLEEPS.as_bytes())]);
    let fixed = folder.fix(Applicability::Safe, &to_await());
    let expected = format!("import asyncio\n{}", SLEEPS.replace(TO_AWAIT.0, TO_AWAIT.1));
    assert_eq!(after(&fixed, 0), expected);
    assert_eq!((fixed.findings.len(), fixed.refused.len(), fixed.remaining.len()), (3, 0, 0));
    assert_eq!(folder.text("a.py"), SLEEPS, "nothing is written unasked");
    assert_eq!(write(&fixed.changes, &folder.path), []);
    assert_eq!(folder.text("a.py"), expected);
    assert_eq!(folder.fix(Applicability::Safe, &to_await()).changes, []);
}

#[test]
fn files_keep_their_line_endings_mark_and_encoding() {
    let windows = [b"\xef\xbb\xbf".as_slice(), SLEEPS.replace('\n', "\r\n").as_bytes()].concat();
    let latin =
        b"# -*- coding: latin-1 -*-\nimport time\n\nname = 'M\xfcller'\n\n\nasync def a():\n    time.sleep(1)\n";
    let folder = Folder::new(&[("a.py", &windows), ("b.py", latin)]);
    let fixed = folder.fix(Applicability::Safe, &to_await());
    assert_eq!((fixed.findings.len(), fixed.remaining.len()), (4, 0));
    assert_eq!(write(&fixed.changes, &folder.path), []);
    let bytes = fs::read(folder.path.join("a.py")).expect("read");
    let expected =
        format!("\u{feff}import asyncio\r\n{}", SLEEPS.replace(TO_AWAIT.0, TO_AWAIT.1).replace('\n', "\r\n"));
    assert_eq!(String::from_utf8(bytes).expect("UTF-8"), expected);
    let expected = b"# -*- coding: latin-1 -*-\nimport asyncio\nimport time\n\nname = 'M\xfcller'\n\n\nasync def a():\n    await asyncio.sleep(1)\n";
    assert_eq!(fs::read(folder.path.join("b.py")).expect("read"), expected);
}

#[test]
fn unsafe_fixes_are_applied_on_request_and_display_ones_never() {
    let folder = Folder::new(&[("a.py", SLEEPS.as_bytes())]);
    for (applicability, allowed, applied) in [
        (Applicability::Unsafe, Applicability::Safe, 0),
        (Applicability::Unsafe, Applicability::Unsafe, 3),
        (Applicability::Display, Applicability::Display, 0),
    ] {
        let make = swap(TO_AWAIT.0, TO_AWAIT.1, Some("import asyncio\n"), applicability);
        assert_eq!(
            folder.fix(allowed, &make).findings.len(),
            applied,
            "{applicability:?} where {allowed:?} are allowed"
        );
    }
}

/// Runs fixes of several calls, of which one breaks a promise, and checks that only this one is taken back.
fn taken_back(bad: &'static str, import: Option<&'static str>) -> (FixResult, String) {
    let folder = Folder::new(&[("a.py", SLEEPS.as_bytes())]);
    let good = to_await();
    let bad = swap("time.sleep(2)", bad, import, Applicability::Safe);
    let make = move |remedies: &Remedies, findings: &mut [Finding], text_of: &TextOf<'_>| {
        bad(remedies, findings, text_of);
        good(remedies, findings, text_of);
    };
    let fixed = folder.fix(Applicability::Safe, &make);
    let reasons = fixed.refused.iter().map(|refused| refused.reason.clone()).collect::<Vec<_>>();
    assert_eq!(fixed.findings.len(), 2, "{reasons:?}");
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    let kept = format!("import asyncio\n{}", SLEEPS.replace(TO_AWAIT.0, TO_AWAIT.1))
        .replace("await asyncio.sleep(2)", "time.sleep(2)");
    assert_eq!(after(&fixed, 0), kept);
    assert_eq!(fixed.remaining.len(), 1);
    (fixed, reasons.concat())
}

#[test]
fn a_fix_after_which_the_file_does_not_parse_is_taken_back() {
    let (_, reason) = taken_back("await (asyncio.sleep(2)", None);
    assert!(reason.starts_with("the file would no longer parse: "), "{reason}");
}

#[test]
fn a_fix_after_which_the_finding_stays_is_taken_back() {
    let (_, reason) = taken_back("time.sleep(20)", None);
    assert_eq!(reason, "the finding would still be there");
}

#[test]
fn a_fix_that_brings_another_finding_is_taken_back() {
    let (_, reason) = taken_back("open('x').read()", None);
    assert!(reason.starts_with("it would bring a new finding: BLT1"), "{reason}");
}

#[test]
fn a_fix_that_forgets_to_await_is_taken_back() {
    let (_, reason) = taken_back("asyncio.sleep(2)", None);
    assert_eq!(reason, "it would leave the coroutine of `sleep` in `a.a` un-awaited");
    let (_, reason) = taken_back("b()", None);
    assert_eq!(reason, "it would leave the coroutine of `b` in `a.a` un-awaited");
}

#[test]
fn fixes_that_overlap_take_rounds() {
    let text =
        "import time\n\n\ndef nap(x):\n    time.sleep(x)\n    return x\n\n\nasync def a():\n    nap(nap(nap(1)))\n";
    let folder = Folder::new(&[("a.py", text.as_bytes())]);
    let make = |_: &Remedies, findings: &mut [Finding], text_of: &TextOf<'_>| {
        for finding in findings {
            let text = text_of(&finding.place.path).expect("a text");
            let span = finding.place.span;
            let call = &text[span.start as usize..span.end as usize];
            let Some(argument) = call.strip_prefix("nap(").and_then(|rest| rest.strip_suffix(')')) else { continue };
            let content = format!("await asyncio.to_thread(nap, {argument})");
            let mut edits = vec![Edit { place: finding.place.clone(), content }];
            if !text.contains("import asyncio") {
                let place = Place::unlocated(Arc::clone(&finding.place.path), Span::new(0, 0));
                edits.push(Edit { place, content: "import asyncio\n".to_owned() });
            }
            finding.fix = Some(Fix { title: String::new(), applicability: Applicability::Unsafe, edits });
        }
    };
    let fixed = folder.fix(Applicability::Unsafe, &make);
    // The file is as a formatter leaves it, and stays so.
    let inner = "nap, await asyncio.to_thread(nap, await asyncio.to_thread(nap, 1))";
    let nested = &format!("await asyncio.to_thread(\n        {inner}\n    )");
    assert_eq!(after(&fixed, 0), format!("import asyncio\n{}", text.replace("nap(nap(nap(1)))", nested)));
    assert_eq!((fixed.findings.len(), fixed.remaining.len()), (3, 0));
}

#[test]
fn only_named_and_unchanged_files_are_fixed() {
    let folder = Folder::new(&[("a.py", SLEEPS.as_bytes()), ("b.py", b"x = 1\n")]);
    // The texts are first read when the fixes are made; here an editor saves the file just before.
    let (path, inner) = (folder.path.join("a.py"), to_await());
    let make = move |remedies: &Remedies, findings: &mut [Finding], text_of: &TextOf<'_>| {
        inner(remedies, findings, text_of);
        fs::write(&path, "import time\n").expect("written");
    };
    let fixed = folder.fix(Applicability::Safe, &make);
    assert_eq!(fixed.changes, []);
    assert!(fixed.refused.iter().all(|refused| refused.reason == "the file changed while it was analysed"));
    assert_eq!(fixed.refused.len(), 3);
    assert_eq!(folder.text("a.py"), "import time\n");
}

#[test]
fn a_file_saved_after_it_was_fixed_is_not_overwritten() {
    let folder = Folder::new(&[("a.py", SLEEPS.as_bytes())]);
    let fixed = folder.fix(Applicability::Safe, &to_await());
    fs::write(folder.path.join("a.py"), "import time\n").expect("written");
    let unwritten = write(&fixed.changes, &folder.path);
    assert_eq!(unwritten.iter().map(|file| file.reason.as_str()).collect::<Vec<_>>(), ["the file changed meanwhile"]);
    assert_eq!(folder.text("a.py"), "import time\n");
}
