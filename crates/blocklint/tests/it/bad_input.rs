//! Runs over malformed input: the program reports each such file or folder in one line, and analyses the rest.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

/// A blocking call that must be found after malformed code.
const SLEEP: &str = "import time\nasync def after():\n    time.sleep(1)\n";

struct Folder(tempfile::TempDir);

struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Folder {
    /// Returns a project with one valid file, whose finding every run must show.
    fn new() -> Self {
        let folder = Folder(tempfile::Builder::new().prefix("bad-input-").tempdir().expect("a folder"));
        folder.write("blocklint.toml", "");
        folder.write("sound.py", SLEEP);
        folder
    }

    fn path(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).expect("it exists")
    }

    fn write(&self, file: &str, contents: impl AsRef<[u8]>) {
        let path = self.path().join(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, contents).expect("written");
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
        command.env_clear().current_dir(self.path()).args(arguments).stdin(Stdio::null());
        let output = command.output().expect("it starts");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Runs `check` in each format, which must exit with 1 and report the valid file. Returns the run in format
    /// `concise`.
    fn check(&self) -> Run {
        for format in ["full", "json"] {
            let run = self.run(&["check", "--output-format", format]);
            assert_eq!(run.code, Some(1), "{format}: {}", run.err);
            assert!(run.out.contains("sound.py"), "{format}: {}", run.out);
        }
        let run = self.run(&["check", "--output-format", "concise"]);
        assert_eq!(run.code, Some(1), "{}", run.err);
        assert!(run.has("sound.py:3:5: BLT101 "), "{}", run.out);
        run
    }
}

impl Run {
    fn has(&self, start: &str) -> bool {
        self.out.lines().any(|line| line.starts_with(start))
    }

    /// Returns the message of the only BLT902 finding of a file.
    fn note(&self, file: &str) -> Option<&str> {
        let mut lines =
            self.out.lines().filter(|line| line.starts_with(&format!("{file}:")) && line.contains(" BLT902 "));
        let one = lines.next().map(|line| line.split_once(" BLT902 ").map_or("", |(_, text)| text));
        assert_eq!(lines.next(), None, "one line for {file}");
        one
    }

    /// Returns the number of BLT101 findings after the malformed part.
    fn sleeps(&self, file: &str) -> usize {
        self.out.lines().filter(|line| line.starts_with(&format!("{file}:")) && line.contains(" BLT101 ")).count()
    }
}

#[test]
fn files_with_invalid_bytes_are_reported() {
    let folder = Folder::new();
    folder.write("latin.py", [b"# caf\xe9\n", SLEEP.as_bytes()].concat());
    folder.write("cookie.py", [b"# -*- coding: latin-1 -*-\n# caf\xe9\n", SLEEP.as_bytes()].concat());
    folder.write("mark.py", [b"\xef\xbb\xbf", SLEEP.replace('\n', "\r\n").as_bytes()].concat());
    folder.write("return.py", SLEEP.replace('\n', "\r"));
    folder.write("nul.py", format!("x = '\0'\n\0\n{SLEEP}"));
    folder.write("python2.py", format!("print 'x'\n{SLEEP}exec 'x'\n"));
    folder.write("utf16.py", SLEEP.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    folder.write("empty.py", "");
    folder.write("every.py", (0..=255).cycle().take(20_000).collect::<Vec<u8>>());
    let run = folder.check();
    assert_eq!(run.note("latin.py"), Some("a byte here is not valid UTF-8"));
    assert_eq!(run.note("nul.py"), Some("the file contains NUL bytes"));
    assert!(run.note("python2.py").is_some_and(|note| note.ends_with("this looks like Python 2")), "{}", run.out);
    for file in ["cookie.py", "mark.py", "return.py", "empty.py"] {
        assert_eq!(run.note(file), None, "{file}");
    }
    for file in ["utf16.py", "every.py"] {
        assert!(run.note(file).is_some(), "{file}: {}", run.out);
    }
    for file in ["latin.py", "cookie.py", "nul.py", "python2.py"] {
        assert_eq!(run.sleeps(file), 1, "{file}: {}", run.out);
    }
    // A byte order mark is no column, and each kind of line break ends a line.
    assert!(run.has("mark.py:3:5: BLT101 ") && run.has("return.py:3:5: BLT101 "), "{}", run.out);
    assert_eq!(run.err, "");
}

#[test]
fn folders_pipes_and_devices_are_not_read() {
    let folder = Folder::new();
    let path = folder.path();
    fs::create_dir(path.join("loop")).expect("made");
    symlink("..", path.join("loop/up")).expect("linked");
    symlink("self.py", path.join("self.py")).expect("linked");
    symlink("nowhere", path.join("dangling.py")).expect("linked");
    folder.write("folder.py/inner.py", SLEEP);
    let run = folder.check();
    let told = "warning: dangling.py: skipped: No such file or directory
warning: loop/up: skipped: the link leads back to a folder that contains it
warning: self.py: skipped: Too many levels of symbolic links
";
    assert_eq!(run.err, told);
    assert_eq!(run.sleeps("folder.py/inner.py"), 1, "a folder may be called so");
    // A pipe on the command line is not opened, because that would wait for its writer.
    let made = Command::new("mkfifo").arg(path.join("pipe.py")).status().expect("mkfifo starts");
    assert!(made.success());
    let run = folder.run(&["check", "--output-format", "concise", "pipe.py"]);
    assert_eq!((run.code, run.note("pipe.py")), (Some(0), Some("not read: not a regular file")));
}

#[test]
fn unreadable_for_all_but_root() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.write("closed.py", SLEEP);
    folder.write("shut/inner.py", SLEEP);
    let (closed, shut) = (folder.path().join("closed.py"), folder.path().join("shut"));
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("changed");
    mode(&closed, 0);
    mode(&shut, 0);
    let root_reads_all = File::open(&closed).is_ok();
    let run = folder.check();
    mode(&shut, 0o755);
    if root_reads_all {
        assert_eq!((run.sleeps("closed.py"), run.sleeps("shut/inner.py")), (1, 1), "{}", run.out);
    } else {
        assert_eq!(run.note("closed.py"), Some("not read: Permission denied"));
        assert_eq!(run.err, "warning: shut: skipped: Permission denied\n");
    }
}

#[test]
fn a_file_of_50_mb_is_skipped_and_is_no_reason_to_fail() {
    let folder = Folder::new();
    File::create(folder.path().join("huge.py")).expect("made").set_len(50 << 20).expect("grown");
    let run = folder.check();
    assert_eq!(run.note("huge.py"), Some("skipped: 52.4 MB is more than `max-file-size` (8 MB)"));
    let alone = folder.run(&["check", "--output-format", "concise", "huge.py"]);
    assert_eq!((alone.code, alone.note("huge.py").is_some()), (Some(0), true), "{}", alone.out);
}

#[test]
fn deep_python_does_not_end_the_run() {
    const LEVELS: usize = 10_000;
    let nested = |open: &str, close: &str| format!("x = {}a{}\n{SLEEP}", open.repeat(LEVELS), close.repeat(LEVELS));
    let folder = Folder::new();
    let deep = [
        ("lists.py", nested("[", "]")),
        ("lambdas.py", nested("lambda: ", "")),
        ("nots.py", nested("not ", "")),
        ("calls.py", nested("f(", ")")),
        ("ifs.py", {
            let ifs: String = (0..3_000).map(|level| format!("{}if a:\n", " ".repeat(level))).collect();
            format!("{ifs}{}b()\n{SLEEP}", " ".repeat(3_000))
        }),
    ];
    for (file, text) in &deep {
        folder.write(file, text);
    }
    let long = [
        ("parentheses.py", nested("(", ")")),
        ("sum.py", format!("x = a{}\n{SLEEP}", " + a".repeat(100_000))),
        ("links.py", format!("x = a{}\n{SLEEP}", ".b()".repeat(100_000))),
        ("typed.py", format!("import requests\nx = requests.get('u'){}\n{SLEEP}", ".b()".repeat(100_000))),
        ("attributes.py", format!("x = a{}\n{SLEEP}", ".b".repeat(100_000))),
        ("parts.py", format!("def f(a):\n    a{}\n{SLEEP}", "[0]".repeat(100_000))),
    ];
    for (file, text) in &long {
        folder.write(file, text);
    }
    let run = folder.check();
    for (file, _) in &deep {
        assert_eq!(run.note(file), Some("nested too deep: the inner code was left out"), "{}", run.out);
    }
    for (file, _) in deep.iter().chain(&long) {
        assert_eq!(run.sleeps(file), 1, "{file}: {}", run.out);
    }
    for (file, _) in &long {
        assert_eq!(run.note(file), None);
    }
    assert_eq!(run.err, "");
}

#[test]
fn deep_or_malformed_rust_and_java_does_not_end_the_run() {
    const SLEEPS: &str = "std::thread::sleep(std::time::Duration::from_secs(1));";
    let folder = Folder::new();
    let rust = |before: String| format!("async fn f(x: X) {{ {before} {SLEEPS} }}\n");
    let java = |before: String| {
        let head = "import io.netty.channel.*;\nclass H extends ChannelInboundHandlerAdapter {\n";
        let method = "public void channelRead(ChannelHandlerContext c, Object m) throws Exception";
        format!("{head}  {method} {{ {before} Thread.sleep(1000); }}\n}}\n")
    };
    let nested = |open: &str, close: &str| format!("{}a{}", open.repeat(10_000), close.repeat(10_000));
    let deep = [
        ("calls.rs", rust(format!("let y = {};", nested("f(", ")")))),
        ("arrays.rs", rust(format!("let y = {};", nested("[", "]")))),
        ("closures.rs", rust(format!("let y = {};", nested("|| ", "")))),
        ("ifs.rs", rust(format!("{}{}", "if x { ".repeat(3_000), "}".repeat(3_000)))),
        ("Calls.java", java(format!("Object y = {};", nested("f(", ")")))),
        ("Lambdas.java", java(format!("Object y = {};", nested("() -> ", "")))),
        ("Ifs.java", java(format!("{}{}", "if (x) { ".repeat(3_000), "}".repeat(3_000)))),
    ];
    let long = [
        ("parentheses.rs", rust(format!("let y = {};", nested("(", ")")))),
        ("sum.rs", rust(format!("let y = x{};", " + x".repeat(100_000)))),
        ("links.rs", rust(format!("x{};", ".b()".repeat(100_000)))),
        ("Sum.java", java(format!("int y = 1{};", " + 1".repeat(100_000)))),
        ("Links.java", java(format!("m{};", ".b()".repeat(100_000)))),
        ("Mark.java", format!("\u{feff}{}", java(String::new()).replace('\n', "\r\n"))),
    ];
    for (file, text) in deep.iter().chain(&long) {
        folder.write(file, text);
    }
    let latin = |text: String| text.chars().map(|c| c as u8).collect::<Vec<u8>>();
    folder.write("latin.rs", latin(rust("let y = \"caf\u{e9}\";".to_owned())));
    folder.write("Latin.java", latin(java("String y = \"caf\u{e9}\";".to_owned())));
    let run = folder.check();
    for file in ["latin.rs", "Latin.java"] {
        assert_eq!(run.note(file), Some("a byte here is not valid UTF-8"), "{}", run.out);
        assert_eq!(run.sleeps(file), 1, "{}", run.out);
    }
    for (file, _) in &deep {
        let note = "nested more than 1500 levels deep; what lies deeper was not read";
        assert_eq!(run.note(file), Some(note), "{file}: {}", run.out);
    }
    for (file, _) in deep.iter().chain(&long) {
        assert_eq!(run.sleeps(file), 1, "{file}: {}", run.out);
    }
    for (file, _) in &long {
        assert_eq!(run.note(file), None);
    }
}

/// Runs the program `times` times while another thread calls `change` repeatedly.
fn while_changing(folder: &Folder, times: usize, change: impl Fn(usize) + Sync, look: impl Fn(Run)) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for turn in 0.. {
                if done.load(Ordering::Relaxed) {
                    return;
                }
                change(turn);
            }
        });
        let runs = (0..times).map(|time| ["full", "concise", "json"][time % 3]).collect::<Vec<_>>();
        let runs = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for format in runs {
                look(folder.run(&["check", "--output-format", format]));
            }
        }));
        done.store(true, Ordering::Relaxed);
        if let Err(panic) = runs {
            std::panic::resume_unwind(panic);
        }
    });
}

fn expect_sound(run: Run) {
    assert_eq!(run.code, Some(1), "{}\n{}", run.out, run.err);
    assert!(run.out.contains("sound.py"), "{}", run.out);
    let harmless = |line: &str| line.starts_with("warning: ") && line.contains(": skipped: ");
    assert!(run.err.lines().all(harmless), "{}", run.err);
    assert!(!run.out.contains("inside blocklint"), "{}", run.out);
}

#[test]
fn files_that_change_while_they_are_read_do_not_end_the_run() {
    let folder = Folder::new();
    let long = format!("{}# é\n{SLEEP}", "x = 1\n".repeat(2_000));
    let texts = [long.as_str(), "", SLEEP, "# ééééé\r\n", "async def f():\n    import time; time.sleep(9)"];
    folder.write("moving.py", &long);
    let path = folder.path().join("moving.py");
    let change = |turn: usize| fs::write(&path, texts[turn % texts.len()]).expect("written");
    while_changing(&folder, 12, change, expect_sound);
}

#[test]
fn folders_that_vanish_do_not_end_the_run() {
    let folder = Folder::new();
    let path = folder.path().join("coming");
    let change = |_: usize| {
        for number in 0..20 {
            let below = path.join(format!("p{number}"));
            fs::create_dir_all(&below).expect("made");
            fs::write(below.join("a.py"), SLEEP).expect("written");
        }
        fs::remove_dir_all(&path).expect("removed");
    };
    while_changing(&folder, 12, change, expect_sound);
}
