//! Messages of a run and options of all commands: colour, verbosity, stdin, threads, completions, unreadable files.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

struct Folder(tempfile::TempDir);

#[derive(Debug, PartialEq, Eq)]
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Folder(tempfile::Builder::new().prefix("run-output-").tempdir().expect("a folder"));
        fs::write(folder.0.path().join("blocklint.toml"), "").expect("written");
        for (file, text) in files {
            let path = folder.0.path().join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
        folder
    }

    fn path(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).expect("it exists")
    }

    fn run(&self, arguments: &[&str]) -> Run {
        self.with(arguments, &[], None)
    }

    fn with(&self, arguments: &[&str], environment: &[(&str, &str)], stdin: Option<&str>) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
        command.env_clear().envs(environment.iter().copied()).current_dir(self.path()).args(arguments);
        command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        if let (Some(text), Some(mut pipe)) = (stdin, child.stdin.take()) {
            // A run that reads no stdin closes it.
            let _ = pipe.write_all(text.as_bytes());
        }
        let output = child.wait_with_output().expect("it ends");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// One cause behind three functions, one behind one that holds longer, and one behind one.
fn ranked() -> Folder {
    Folder::new(&[(
        "a.py",
        "import time, requests\n\ndef once():\n    time.sleep(300)\n\ndef shared():\n    requests.get('x', timeout=2)\n\n\
         async def a():\n    once()\n\nasync def b():\n    shared()\n\nasync def c():\n    shared()\n\nasync def d():\n    shared()\n\n\
         async def e():\n    time.sleep(1)\n",
    )])
}

#[test]
fn causes_are_ranked_by_the_functions_that_they_free() {
    let run = ranked().run(&["check"]);
    let at = |text: &str| run.out.find(text).unwrap_or_else(|| panic!("{text} is missing in\n{}", run.out));
    assert!(at("cause 1 of 3: `requests.get` at a.py:7:5") < at("time.sleep"), "{}", run.out);
    assert!(at("can block the event loop for 300 s") < at("for 1 s"), "then what holds longest: {}", run.out);
    assert!(
        run.out.ends_with("Begin with `requests.get` at a.py:7:5: one edit there clears 3 of 5 findings.\n"),
        "{}",
        run.out
    );
    let one = Folder::new(&[("a.py", "import time\nasync def f(): time.sleep(1)\n")]).run(&["check"]);
    assert!(!one.out.contains("Begin with"), "{}", one.out);
}

#[test]
fn causes_are_counted_where_that_is_asked() {
    let folder = ranked();
    let run = folder.run(&["check", "--statistics=cause"]);
    let lines: Vec<&str> = run.out.lines().take(3).collect();
    let expected = [
        "3  3 functions    2 s  requests.get  a.py:7:5",
        "1  1 function   300 s  time.sleep    a.py:4:5",
        "1  1 function     1 s  time.sleep    a.py:22:5",
    ];
    assert_eq!(lines, expected, "{}", run.out);
    let json: Value =
        serde_json::from_str(&folder.run(&["check", "--statistics=cause", "--output-format", "json"]).out)
            .expect("JSON");
    assert_eq!(
        (&json[0]["call"], &json[0]["count"], &json[0]["mends"], &json[0]["reach"]),
        (&"requests.get".into(), &3.into(), &3.into(), &3.into())
    );
    assert_eq!(folder.run(&["check", "--statistics"]).out.lines().next(), Some("3\tBLT102\tblocking-network"));
}

#[test]
fn max_findings_limits_the_shown_findings() {
    let folder = ranked();
    let run = folder.run(&["check", "--output-format", "concise", "--max-findings", "2"]);
    let (shown, last) = run.out.split_at(run.out.find("Found").expect("a last line"));
    assert_eq!(shown.lines().count(), 2);
    assert!(shown.lines().all(|line| line.contains("requests.get")), "those of the first cause: {shown}");
    assert!(last.starts_with("Found 5 findings with 3 causes, of which 3 are not shown (--max-findings)."), "{last}");
    assert_eq!(run.code, Some(1));
    assert_eq!(folder.run(&["check", "--max-findings", "0"]).code, Some(2));
}

#[test]
fn options_and_environment_decide_about_colour() {
    let folder = ranked();
    let coloured = |arguments: &[&str], environment: &[(&str, &str)]| {
        folder.with(&[&["check"], arguments].concat(), environment, None).out.contains('\u{1b}')
    };
    assert!(!coloured(&[], &[]), "not into a pipe");
    assert!(coloured(&["--color", "always"], &[]) && coloured(&["--color=always"], &[("NO_COLOR", "1")]));
    assert!(coloured(&[], &[("FORCE_COLOR", "1")]) && coloured(&[], &[("FORCE_COLOR", "1"), ("NO_COLOR", "1")]));
    assert!(!coloured(&[], &[("FORCE_COLOR", "0")]) && !coloured(&[], &[("FORCE_COLOR", "")]));
    assert!(!coloured(&["--color", "never"], &[("FORCE_COLOR", "1")]));
    for format in ["json", "jsonl", "sarif", "gitlab", "junit", "rdjson", "html", "github"] {
        assert!(!coloured(&["--color", "always", "--output-format", format], &[]), "{format}");
    }
    assert!(!coloured(&["--color", "always", "-o", "out"], &[]));
    let text = fs::read_to_string(folder.path().join("out")).expect("a file");
    assert!(text.contains("BLT102") && !text.contains('\u{1b}'));
    let links = |environment| {
        folder.with(&["check", "--color", "always"], environment, None).out.contains("\u{1b}]8;;file:///")
    };
    assert!(links(&[("FORCE_HYPERLINK", "1")]));
    assert!(!links(&[]));
}

#[test]
fn quiet_and_verbose_change_the_amount_of_output() {
    let folder = ranked();
    fs::write(folder.path().join("skipped.pyi"), "").expect("written");
    let paths = ["check", "a.py", "skipped.pyi", "--output-format", "concise"];
    let with = |more: &[&str]| folder.run(&[&paths[..], more].concat());
    let plain = with(&[]);
    assert!(plain.err.contains("warning: skipped.pyi") && plain.out.contains("Found 5 findings"), "{plain:?}");
    let quiet = with(&["-q"]);
    assert_eq!((quiet.code, quiet.out.lines().count(), quiet.err.as_str()), (Some(1), 5, ""));
    let silent = with(&["-qq"]);
    assert_eq!((silent.code, silent.out.as_str(), silent.err.as_str()), (Some(1), "", ""));
    let failed = folder.run(&["check", "-qq", "nowhere.py"]);
    assert_eq!((failed.code, failed.err.as_str()), (Some(2), "error: nowhere.py: no such file or folder\n"));
    let verbose = with(&["-v"]);
    assert_eq!(verbose.out, plain.out);
    assert!(
        verbose.err.contains("info: project root ")
            && verbose.err.contains("1 files (1 python), of which 1 are reported"),
        "{}",
        verbose.err
    );
    assert!(!verbose.err.contains("solve") && with(&["-vv"]).err.contains("solve"));
    assert_eq!(with(&["-q", "-v"]).code, Some(2));
}

#[test]
fn stdin_takes_the_place_of_a_file() {
    let folder = Folder::new(&[("work.py", "import time\n\ndef pause():\n    time.sleep(1)\n"), ("app.py", "x = 1\n")]);
    let text = "from work import pause\n\nasync def f():\n    pause()\n";
    let check =
        |file: &str| folder.with(&["check", "--output-format", "full", "-", "--stdin-filename", file], &[], Some(text));
    for file in ["app.py", "./app.py", "new.py"] {
        let run = check(file);
        assert_eq!((run.code, run.err.as_str()), (Some(1), ""), "{run:?}");
        let name = file.trim_start_matches("./");
        assert!(run.out.contains(&format!("{name}:4:5")) && run.out.contains("work.py:4:5"), "{}", run.out);
        assert!(run.out.contains("4 |     pause()"), "the frames show what was given: {}", run.out);
    }
    let bare = folder.with(&["check", "--output-format", "full", "--stdin-filename", "app.py"], &[], Some(text));
    assert_eq!(bare, check("app.py"), "`-` may be left out");
    assert_eq!(fs::read_to_string(folder.path().join("app.py")).expect("text"), "x = 1\n");
    for wrong in [
        &["-"][..],
        &["app.py", "--stdin-filename", "app.py"],
        &["-", "app.py", "--stdin-filename", "app.py"],
        &["-", "--fix", "--stdin-filename", "app.py"],
    ] {
        let run = folder.with(&[&["check"], wrong].concat(), &[], Some(text));
        assert_eq!((run.code, run.err.starts_with("error: ")), (Some(2), true), "{wrong:?} {run:?}");
    }
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let folder = ranked();
    let all = folder.run(&["check"]).out;
    for threads in ["1", "3"] {
        assert_eq!(folder.run(&["check", "-j", threads]).out, all);
        assert_eq!(folder.run(&["check", "--threads", threads]).out, all);
    }
    assert_eq!(folder.run(&["check", "-j", "0"]).code, Some(2));
}

#[test]
fn a_run_that_read_nothing_is_an_error() {
    let empty = Folder::new(&[("notes.txt", "")]);
    let run = empty.run(&["check"]);
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
    assert_eq!(run.err, "error: nothing was read: no Python, Rust or Java file found under the given paths\n");
    assert_eq!(empty.run(&["check", "--output-format", "json"]).code, Some(2));
    // A folder without sources in a project with some: a user who gives this path expects files to be read.
    let project = Folder::new(&[("a.py", ""), ("docs/x.md", ""), ("b.pyi", "")]);
    assert_eq!(project.run(&["check", "docs"]).code, Some(2));
    // Hooks pass files of all kinds, also excluded ones.
    let run = project.run(&["check", "b.pyi"]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), "No findings: 0 functions that must not block in 1 file.\n"));
    assert_eq!(project.run(&["check", "--force-exclude", "--exclude", "a.py", "a.py"]).code, Some(0));
}

#[cfg(unix)]
#[test]
fn unreadable_paths_are_reported_once() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new(&[("a.py", "x = 1\n"), ("closed/b.py", "x = 1\n")]);
    symlink(folder.path().join("gone.py"), folder.path().join("dangling.py")).expect("a link");
    symlink(folder.path(), folder.path().join("loop")).expect("a link");
    let run = folder.run(&["check"]);
    assert_eq!(run.err.matches("dangling.py").count(), 1, "{}", run.err);
    assert!(run.err.lines().all(|line| line.starts_with("warning: ")), "{}", run.err);
    assert_eq!(run.code, Some(0));
    // A broken link on the command line is reported as a missing path.
    let run = folder.run(&["check", "dangling.py"]);
    assert_eq!((run.code, run.err.as_str()), (Some(2), "error: dangling.py: no such file or folder\n"));
    let closed = folder.path().join("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("set");
    // Permissions do not stop the root user.
    let is_closed = fs::read_dir(&closed).is_err();
    let run = folder.run(&["check", ".", "a.py"]);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).expect("set");
    if is_closed {
        assert_eq!((run.err.matches("closed").count(), run.code), (1, Some(0)), "{}", run.err);
    }
}

#[test]
fn completions_and_manual_pages_know_every_option() {
    let folder = Folder::new(&[]);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = folder.run(&["generate-shell-completion", shell]);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
        assert!(run.out.contains("max-findings"), "{shell}");
        let lists_values = ["bash", "zsh", "fish"].contains(&shell);
        assert!(!lists_values || run.out.contains("rdjson"), "{shell}");
    }
    assert_eq!(folder.run(&["generate-shell-completion", "tcl"]).code, Some(2));
    let page = folder.run(&["generate-man-page"]).out;
    assert!(page.contains(".TH blocklint 1") && page.contains("blocklint\\-check(1)"), "{page}");
    assert_eq!(folder.run(&["generate-man-page", "--output-folder", "man"]).code, Some(0));
    let check = fs::read_to_string(folder.path().join("man/blocklint-check.1")).expect("a page");
    assert!(check.contains("\\-\\-stdin\\-filename") && check.contains("Code Quality"), "{check}");
    assert!(folder.path().join("man/blocklint-models-verify.1").is_file());
    assert!(!folder.path().join("man/blocklint-debug.1").exists(), "what is hidden has no page");
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_nothing_behind() {
    use std::os::unix::process::ExitStatusExt;
    let folder = Folder::new(&[]);
    for module in 0..400 {
        let text = "async def f():\n    open('x').read()\n".repeat(150);
        fs::write(folder.path().join(format!("m{module}.py")), text).expect("written");
    }
    let report = folder.path().join("report.json");
    fs::write(&report, "old").expect("written");
    let mut ended = false;
    for _ in 0..20 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
        command.env_clear().current_dir(folder.path()).args(["check", "--output-format", "json", "-o", "report.json"]);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        // The signal is sent when the temporary file exists.
        let is_writing = || {
            let entries = fs::read_dir(folder.path()).expect("a folder");
            entries.filter_map(Result::ok).any(|entry| entry.file_name().to_string_lossy().starts_with(".blocklint-"))
        };
        while !is_writing() && child.try_wait().expect("it runs").is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).stderr(Stdio::null()).status();
        let status = child.wait().expect("it ends");
        assert!(!is_writing(), "nothing is left behind");
        if status.signal() == Some(2) {
            assert_eq!(fs::read_to_string(&report).expect("the report"), "old", "what was there is as it was");
            ended = true;
            break;
        }
        fs::write(&report, "old").expect("written");
    }
    assert!(ended, "it was quicker than Ctrl-C twenty times");
}
