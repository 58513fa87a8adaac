//! `--since`, `--changed` and `--staged`: findings compared with an earlier state in git.

use crate::support::{Project, Run};

const HELPER: &str =
    "import time\nimport requests\n\ndef load():\n    return requests.get('u')\n\ndef wait():\n    time.sleep(3)\n";
const APP: &str = "import helper\n\nasync def handler():\n    helper.load()\n\nasync def calm():\n    pass\n";

fn project() -> Project {
    let project = Project::new(&[("helper.py", HELPER), ("app.py", APP), (".gitignore", ".blocklint_cache\n")]);
    project.commit();
    project
}

fn check(project: &Project, arguments: &[&str]) -> Run {
    project.run(&[&["check", "--output-format", "concise"], arguments].concat())
}

/// Returns the findings, by file and rule.
fn found(run: &Run) -> Vec<String> {
    let findings = run.out.lines().filter(|line| line.contains(": BLT"));
    let short = |line: &str| {
        let mut parts = line.split(':');
        let file = parts.next().expect("a file").to_owned();
        let rule = line.split(": BLT").nth(1).and_then(|rest| rest.get(..3)).expect("a rule");
        format!("{file} BLT{rule}")
    };
    findings.map(short).collect()
}

#[test]
fn without_changes_there_are_no_new_findings() {
    let project = project();
    assert_eq!(check(&project, &[]).code, Some(1));
    for option in ["--changed", "--staged", "--since=HEAD"] {
        let run = check(&project, &[option]);
        assert_eq!((run.code, found(&run).len()), (Some(0), 0), "{option}: {}", run.out);
        assert!(run.out.contains("where 1 finding was there already."), "{}", run.out);
    }
}

#[test]
fn hidden_findings_are_counted_only_if_they_are_new() {
    let project = project();
    // Two old hidden findings: one that only tests reach, and one below the levels.
    let test = "import time\nimport pytest\n\n@pytest.mark.asyncio\nasync def test_it():\n    time.sleep(1)\n";
    let brief = "import os\n\nasync def g():\n    os.stat('x')\n";
    project.write("tests/test_it.py", test);
    project.write("brief.py", brief);
    project.commit();
    let all = check(&project, &[]).out;
    assert!(all.contains("; 1 more below ") && all.contains("Left aside: 1 finding "), "{all}");
    let none = check(&project, &["--changed"]).out;
    assert_eq!(none, "No findings.\nCompared with the last commit, where 1 finding was there already.\n");
    project.write("tests/test_more.py", &test.replace("test_it", "test_more"));
    project.write("more.py", brief);
    let more = check(&project, &["--changed"]).out;
    assert!(more.starts_with("No findings; 1 finding below ") && more.contains("Left aside: 1 finding "), "{more}");
}

#[test]
fn an_old_helper_newly_reached_is_reported_where_it_is_reached() {
    let project = project();
    project.replace("app.py", "    pass\n", "    helper.wait()\n");
    let run = check(&project, &["--changed"]);
    assert_eq!((run.code, found(&run)), (Some(1), vec!["app.py BLT101".to_owned()]), "{}", run.out);
    assert!(run.out.contains("Compared with the last commit, where 1 finding was there already."), "{}", run.out);
}

#[test]
fn a_new_line_in_an_old_helper_is_reported_at_its_old_callers() {
    let project = project();
    // Nothing in app.py changes.
    project.replace("helper.py", "def load():\n", "def load():\n    time.sleep(1)\n");
    let run = check(&project, &["--changed"]);
    // The old call is the worse one, and the new call is a cause of its finding.
    assert_eq!(found(&run), ["app.py BLT102"]);
    assert!(project.run(&["check", "--changed"]).out.contains("`time.sleep`"), "{}", run.out);
    // The rule of the old finding, with another call.
    project.git(&["checkout", "-q", "."]);
    project.replace("helper.py", "def load():\n", "def load():\n    requests.post('u')\n");
    let run = project.run(&["check", "--changed"]);
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("the change adds `requests.post` behind it, in `load`"), "{}", run.out);
    // One more call of the same function.
    project.git(&["checkout", "-q", "."]);
    project.replace("helper.py", "def load():\n", "def load():\n    requests.get('v')\n");
    let run = project.run(&["check", "--changed"]);
    assert!(run.out.contains("the change adds `requests.get` behind it, in `load`"), "{}", run.out);
}

#[test]
fn moved_findings_are_not_new() {
    let project = project();
    let moved = HELPER.replace("def load():\n    return requests.get('u')\n\n", "")
        + "\n\ndef load():\n    return requests.get(\n        'u',\n    )\n";
    project.write("helper.py", &moved);
    project.write("app.py", &format!("# a comment\n\n{APP}"));
    assert_eq!(found(&check(&project, &["--changed"])), Vec::<String>::new());
    // A helper, or a whole file, with another name.
    project.write("helper.py", &moved.replace("load", "fetch"));
    project.write("app.py", &APP.replace("load", "fetch"));
    assert_eq!(found(&check(&project, &["--changed"])), Vec::<String>::new());
    std::fs::rename(project.path().join("app.py"), project.path().join("web.py")).expect("renamed");
    assert_eq!(found(&check(&project, &["--changed"])), Vec::<String>::new());
}

#[test]
fn since_looks_from_the_merge_base_on() {
    let project = project();
    project.git(&["checkout", "-q", "-b", "feature"]);
    project.replace("app.py", "    pass\n", "    helper.wait()\n");
    project.commit();
    project.git(&["checkout", "-q", "main"]);
    // Findings that the other branch added meanwhile do not count.
    project.write("theirs.py", "import time\nasync def g():\n    time.sleep(1)\n");
    project.commit();
    project.git(&["checkout", "-q", "feature"]);
    project.write("mine.py", "async def f():\n    open('x')\n");
    let run = check(&project, &["--since", "main"]);
    assert_eq!(found(&run), ["app.py BLT101", "mine.py BLT104"], "{}", run.out);
    assert!(
        run.out.contains("Compared with the merge base ")
            && run.out.contains(" of main, where 1 finding was there already."),
        "{}",
        run.out
    );
    // With paths only findings in these are reported.
    assert_eq!(found(&check(&project, &["--since", "main", "mine.py"])), ["mine.py BLT104"]);
}

#[test]
fn staged_is_what_the_commit_will_hold() {
    let project = project();
    project.replace("app.py", "    pass\n", "    helper.wait()\n");
    assert_eq!(found(&check(&project, &["--staged"])), Vec::<String>::new(), "nothing is staged");
    project.git(&["add", "app.py"]);
    assert_eq!(found(&check(&project, &["--staged"])), ["app.py BLT101"]);
    // Unstaged changes are ignored: a fix, and a new file.
    project.replace("app.py", "    helper.wait()\n", "    pass\n");
    project.write("new.py", "import time\nasync def g():\n    time.sleep(1)\n");
    let run = check(&project, &["--staged"]);
    assert_eq!(found(&run), ["app.py BLT101"], "{}", run.out);
    assert_eq!(found(&check(&project, &["--changed"])), ["new.py BLT101"]);
    // A staged file that is deleted in the work tree.
    project.git(&["add", "new.py"]);
    std::fs::remove_file(project.path().join("new.py")).expect("removed");
    assert_eq!(found(&check(&project, &["--staged"])), ["app.py BLT101", "new.py BLT101"]);
}

#[test]
fn a_repository_without_a_commit_has_everything_new() {
    let project = Project::new(&[("helper.py", HELPER), ("app.py", APP)]);
    project.git(&["init", "-q"]);
    assert_eq!(found(&check(&project, &["--changed"])), ["app.py BLT102"]);
    assert_eq!(found(&check(&project, &["--staged"])), Vec::<String>::new());
    project.git(&["add", "-A"]);
    assert_eq!(found(&check(&project, &["--staged"])), ["app.py BLT102"]);
}

#[test]
fn a_project_may_be_a_folder_of_a_repository() {
    let project = Project::new(&[("web/blocklint.toml", ""), ("web/helper.py", HELPER), ("web/app é.py", APP)]);
    project.commit();
    project.replace("web/app é.py", "    pass\n", "    helper.wait()\n");
    let run = check(&project, &["--changed", "web"]);
    assert_eq!(found(&run), ["web/app é.py BLT101"], "{}", run.out);
}

#[test]
fn comparisons_that_cannot_be_made_are_errors() {
    let project = Project::new(&[("app.py", APP)]);
    let error = |project: &Project, arguments: &[&str], says: &str| {
        let run = check(project, arguments);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{}", run.err);
        assert!(run.err.contains(says), "{}", run.err);
    };
    error(&project, &["--changed"], "is not in the work tree of a git repository");
    project.commit();
    project.commit();
    error(&project, &["--since", "nowhere"], "error: --since: git knows no commit `nowhere`");
    error(&project, &["--since=--output=x"], "git knows no commit `--output=x`");
    project.git(&["checkout", "-q", "--orphan", "alone"]);
    // Without a new file the commit would have the same hash within the same second.
    project.write("other.py", "");
    project.commit();
    error(&project, &["--since", "main"], "`main` and HEAD have no common commit");
    let clone = Project::new(&[]);
    let from = format!("file://{}", project.path().display());
    project.git(&["checkout", "-q", "main"]);
    clone.git(&["clone", "-q", "--depth", "1", &from, "inner"]);
    let inner = clone.path().join("inner");
    let run = clone.command(&["check", "--since", "HEAD~1"]).current_dir(inner).output().expect("it starts");
    let told = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(told.contains("this clone is shallow"), "{told}");
    let mut without = project.command(&["check", "--changed"]);
    let told = without.env("PATH", "").output().expect("it starts");
    assert!(String::from_utf8_lossy(&told.stderr).contains("git is needed to compare"));
}

#[test]
fn neither_the_work_tree_nor_the_index_is_touched() {
    let project = project();
    project.replace("app.py", "    pass\n", "    helper.wait()\n");
    project.git(&["add", "app.py"]);
    project.write("new.py", "x = 1\n");
    let state = || {
        let index = std::fs::read(project.path().join(".git/index")).expect("the index");
        (index, project.git(&["--no-optional-locks", "status", "--porcelain"]), project.read("app.py"))
    };
    let before = state();
    for option in ["--changed", "--staged", "--since=HEAD"] {
        check(&project, &[option, "--no-cache"]);
    }
    assert_eq!(state(), before);
}

#[test]
fn comparisons_work_with_the_baseline_and_the_cache() {
    let project = project();
    project.run(&["baseline", "create"]);
    project.replace("app.py", "    pass\n", "    helper.wait()\n");
    for _ in 0..2 {
        let run = check(&project, &["--changed"]);
        assert_eq!(run, check(&project, &["--changed", "--no-cache"]));
        assert_eq!(found(&run), ["app.py BLT101"]);
        assert!(run.out.contains("1 finding in the baseline.\nCompared with the last commit.\n"), "{}", run.out);
    }
}

#[test]
fn staged_findings_stand_where_the_staged_text_has_them() {
    let project = project();
    project.replace("app.py", "    pass\n", "    helper.wait()\n");
    project.git(&["add", "app.py"]);
    project.write("app.py", &format!("# not staged\n# yet\n{}", project.read("app.py")));
    let run = project.run(&["check", "--staged"]);
    assert!(run.out.contains("app.py:7:5") && run.out.contains("7 |     helper.wait()"), "{}", run.out);
}

/// A project with a submodule that holds the helper.
fn with_submodule() -> (Project, Project) {
    let helper = Project::new(&[("helper.py", HELPER)]);
    helper.commit();
    let project = Project::new(&[("app.py", "from lib import helper\n\nasync def handler():\n    helper.load()\n")]);
    project.git(&["init", "-q"]);
    let from = helper.path();
    let from = from.to_str().expect("UTF-8");
    project.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from, "lib"]);
    std::fs::remove_file(project.path().join("lib/blocklint.toml")).expect("removed");
    project.git(&["-C", "lib", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-a", "-m", "x"]);
    project.commit();
    (project, helper)
}

#[test]
fn a_change_in_a_submodule_counts() {
    let (project, _helper) = with_submodule();
    assert_eq!(found(&check(&project, &[])), ["app.py BLT102"]);
    for option in ["--changed", "--staged", "--since=HEAD"] {
        assert_eq!(found(&check(&project, &[option])), [] as [&str; 0], "{option}: nothing changed");
    }
    project.replace("lib/helper.py", "return requests.get('u')", "time.sleep(1)");
    assert_eq!(found(&check(&project, &["--changed"])), ["app.py BLT101"], "in the work tree of the submodule");
    assert_eq!(found(&check(&project, &["--staged"])), [] as [&str; 0], "its commit is not staged");
    project.git(&["-C", "lib", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-a", "-m", "x"]);
    assert_eq!(found(&check(&project, &["--changed"])), ["app.py BLT101"], "committed there, not here");
    assert_eq!(found(&check(&project, &["--staged"])), [] as [&str; 0]);
    project.git(&["add", "lib"]);
    assert_eq!(found(&check(&project, &["--staged"])), ["app.py BLT101"], "staged");
    project.commit();
    assert_eq!(found(&check(&project, &["--changed"])), [] as [&str; 0]);
    assert_eq!(found(&check(&project, &["--since=HEAD~1"])), ["app.py BLT101"]);
}

#[test]
fn a_submodule_that_is_new_brings_what_it_holds() {
    let (project, _helper) = with_submodule();
    let empty = project.git(&["hash-object", "-t", "tree", "/dev/null"]);
    let commit = project.git(&["commit-tree", empty.trim(), "-m", "empty"]);
    project.git(&["branch", "start", commit.trim()]);
    project.git(&["reset", "-q", "--soft", "start"]);
    assert_eq!(found(&check(&project, &["--changed"])), ["app.py BLT102"]);
}
