//! `blocklint check --add-ignore`: ignore comments are written where they have an effect, and only once.

use crate::support::{Project, Run};

fn said(code: i32, out: &str) -> Run {
    Run { code: Some(code), out: out.to_owned(), err: String::new() }
}

/// Runs `--add-ignore`, and checks that nothing is found afterwards and that a second run changes nothing. Returns the
/// file.
fn ignored(file: &str, text: &str, count: usize, option: &str) -> String {
    let project = Project::new(&[(file, text)]);
    let findings = if count == 1 { "1 finding".to_owned() } else { format!("{count} findings") };
    let told = format!("Ignored {findings} in 1 file:\n- {file}: {count}\n");
    assert_eq!(project.run(&["check", option]), said(0, &told));
    let after = project.read(file);
    let run = project.run(&["check", "--output-format", "concise"]);
    assert_eq!((run.code, run.out.starts_with("No findings")), (Some(0), true), "{}\n{after}", run.out);
    assert_eq!(project.run(&["check", option]), said(0, "Nothing to ignore.\n"));
    assert_eq!(project.read(file), after);
    after
}

#[test]
fn comments_are_placed_in_python() {
    let text = "import time\n\nasync def f(x):\n    time.sleep(1)\n    y = x  # noqa: E501\n    time.sleep(2)  # why\n    time.sleep(x.a_long_name.of_something.that_takes.nearly_all.of_the_line.there_is)\n    if x: time.sleep(3); open('x').read()\n";
    insta::assert_snapshot!(ignored("a.py", text, 5, "--add-ignore=start-up only"), @r"
    import time

    async def f(x):
        time.sleep(1)  # blocklint: ignore[BLT101] start-up only
        y = x  # noqa: E501
        time.sleep(2)  # why  # blocklint: ignore[BLT101] start-up only
        # blocklint: ignore[BLT101] start-up only
        time.sleep(x.a_long_name.of_something.that_takes.nearly_all.of_the_line.there_is)
        # blocklint: ignore[BLT101, BLT104] start-up only
        if x: time.sleep(3); open('x').read()
    ");
}

#[test]
fn existing_comments_get_the_new_rule() {
    let text =
        "import time\n\nasync def f():\n    # blocklint: ignore[BLT104] small\n    time.sleep(1); open('x').read()\n";
    insta::assert_snapshot!(ignored("a.py", text, 1, "--add-ignore"), @r"
    import time

    async def f():
        # blocklint: ignore[BLT104, BLT101] small
        time.sleep(1); open('x').read()
    ");
}

#[test]
fn strings_and_continued_lines_are_not_broken() {
    let text = "import time\n\nasync def f(x):\n    y = 1 + \\\n        time.sleep(1)\n    z = 1 + \\\n        time.sleep(1) + \\\n        2\n";
    let project = Project::new(&[("a.py", text)]);
    let run = project.run(&["check", "--add-ignore"]);
    // The comment is on the last line of a continued statement, also for a finding in the middle of it.
    assert_eq!(run.out, "Ignored 2 findings in 1 file:\n- a.py: 2\n", "{}", run.err);
    let after = project.read("a.py");
    let expected = text.replacen("time.sleep(1)\n", "time.sleep(1)  # blocklint: ignore[BLT101]\n", 1);
    assert_eq!(after, expected.replace("        2\n", "        2  # blocklint: ignore[BLT101]\n"));
    assert_eq!(project.run(&["check"]), said(0, "No findings.\n"));
    let text = "import time\n\nasync def f(x):\n    return f\"\"\"\n{time.sleep(1)}\n\"\"\"\n";
    let project = Project::new(&[("a.py", text)]);
    let run = project.run(&["check", "--add-ignore"]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), "Nothing to ignore.\n"), "{}", run.err);
    assert_eq!(project.read("a.py"), text);
}

#[test]
fn comments_are_placed_in_rust_and_java() {
    let text = "pub async fn f() {\n    let x = std::fs::read_to_string(\n        \"x\",\n    );\n    std::thread::sleep(std::time::Duration::from_secs(1));\r\n}\n";
    insta::assert_snapshot!(ignored("lib.rs", text, 2, "--add-ignore"), @r#"
    pub async fn f() {
        // blocklint: ignore[BLT104]
        let x = std::fs::read_to_string(
            "x",
        );
        std::thread::sleep(std::time::Duration::from_secs(1)); // blocklint: ignore[BLT101]
    }
    "#);
    let text = "import io.netty.channel.*;\nclass H extends ChannelInboundHandlerAdapter {\n  @Override\n  public void channelRead(ChannelHandlerContext c, Object m) throws Exception {\n    Thread.sleep(1000);\n  }\n}\n";
    insta::assert_snapshot!(ignored("H.java", text, 1, "--add-ignore=measured"), @r"
    import io.netty.channel.*;
    class H extends ChannelInboundHandlerAdapter {
      @Override
      public void channelRead(ChannelHandlerContext c, Object m) throws Exception {
        Thread.sleep(1000); // blocklint: ignore[BLT101] measured
      }
    }
    ");
}

#[test]
fn only_shown_findings_are_ignored() {
    let text = "import time\n\nasync def f():\n    time.sleep(1)\n    open('x').read()\n";
    let project = Project::new(&[("a.py", text), ("b.py", text)]);
    let one = said(0, "Ignored 1 finding in 1 file:\n- a.py: 1\n");
    assert_eq!(project.run(&["check", "--select", "BLT101", "a.py", "--add-ignore"]), one);
    assert_eq!(project.read("a.py"), text.replace("sleep(1)", "sleep(1)  # blocklint: ignore[BLT101]"));
    assert_eq!(project.read("b.py"), text);
    project.run(&["baseline", "create"]);
    assert_eq!(project.run(&["check", "--add-ignore"]), said(0, "Nothing to ignore.\n"));
    let refused = project.run(&["check", "--add-ignore=two\nlines"]);
    assert_eq!(refused.code, Some(2));
}

#[test]
fn a_file_of_another_encoding_keeps_it() {
    let project = Project::new(&[]);
    let text = b"# coding: latin-1\nimport time\nasync def f():\n    time.sleep(1)  # \xe9\r\n".to_vec();
    std::fs::write(project.path().join("a.py"), &text).expect("written");
    assert_eq!(project.run(&["check", "--add-ignore"]), said(0, "Ignored 1 finding in 1 file:\n- a.py: 1\n"));
    let after = std::fs::read(project.path().join("a.py")).expect("read");
    let expected = [&text[..text.len() - 2], b"  # blocklint: ignore[BLT101]\r\n"].concat();
    assert_eq!(String::from_utf8_lossy(&after), String::from_utf8_lossy(&expected));
}

/// A call with findings of two rules, of which only the worse one is shown.
const TWO: &str = "import sqlite3\nimport shutil\n\n\ndef backup():\n    sqlite3.connect('x').backup(None)\n    shutil.copytree('a', 'b')\n\n\nasync def f():\n    backup()\n";

#[test]
fn findings_that_a_comment_reveals_are_ignored_too() {
    let project = Project::new(&[("a.py", TWO)]);
    let first = project.run(&["check", "--output-format", "concise"]);
    assert_eq!(first.out.lines().filter(|line| line.contains(": BLT")).count(), 1, "{}", first.out);
    let told =
        "Ignored 2 findings in 1 file:\n- a.py:\n    1 × BLT103 (blocking-database)\n    1 × BLT104 (blocking-file)\n";
    assert_eq!(project.run(&["check", "--add-ignore", "--show-fixes"]), said(0, told));
    assert!(
        project.read("a.py").ends_with("    backup()  # blocklint: ignore[BLT103, BLT104]\n"),
        "{}",
        project.read("a.py")
    );
    assert_eq!(project.run(&["check"]), said(0, "No findings.\n"));
    // Findings of a baseline or of an earlier state get no comment.
    project.write("a.py", TWO);
    project.commit();
    project.write("b.py", &TWO.replace("def f", "def g"));
    let run = project.run(&["check", "--changed", "--add-ignore"]);
    assert_eq!(run.out, "Ignored 2 findings in 1 file:\n- b.py: 2\n", "{}", run.err);
    assert_eq!(project.read("a.py"), TWO);
    let quiet = project.run(&["check", "-q", "--add-ignore"]);
    assert_eq!((quiet.code, quiet.out.as_str()), (Some(0), ""));
}

#[test]
fn files_are_named_from_where_the_user_is() {
    let project = Project::new(&[("pkg/a.py", "import time\nasync def f():\n    time.sleep(1)\n")]);
    let run = project.run(&["check", "--add-ignore", "pkg"]);
    assert_eq!(run.out, "Ignored 1 finding in 1 file:\n- pkg/a.py: 1\n");
}

#[test]
fn unreadable_files_are_reported_and_unchanged() {
    let broken = "import time\n\nasync def g():\n    time.sleep(1)\n\ndef f(:\n";
    let project = Project::new(&[("a.py", "import time\n\nasync def f():\n    time.sleep(1)\n"), ("b.py", broken)]);
    let run = project.run(&["check", "--add-ignore"]);
    assert!(
        run.err.contains(
            "b.py:6: BLT902 not ignored: a comment cannot suppress this finding, because the file was not read"
        ),
        "{run:?}"
    );
    assert_eq!(run.code, Some(0), "{run:?}");
}
